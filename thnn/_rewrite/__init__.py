"""Graphs of torch.fx rewritten to call thnn: the backend of torch.compile, and blocks of a model for `thnn.convert`.

`counterparts` lists the operations of torch that thnn computes, `trial` tells why it cannot compute a call, `patterns`
lists the calls that are joined, `rewriting` applies both to a graph. `backend` and `blocks` get graphs, from Dynamo and
from torch.fx.
"""
