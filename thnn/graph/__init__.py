"""Nets that fork at batch normalization into a branch for training and a branch for inference.

``Net`` consists of operators on named variables. ``fork`` traces a torch module by torch.fx. ``draw`` draws a net or a
fork. Both branches use the same parameters and statistics, so nothing is copied or switched between training and
inference:

    net = thnn.graph.Net()
    net.new_var("weight", torch.randn(10, 64) * 0.1)
    net.new_var("scale", torch.ones(10))
    net.new_var("bias", torch.zeros(10))
    net.append_op(thnn.graph.Operator("Linear", input="x", weight="weight", output="h"))
    thnn.graph.batch_norm_layer(net, "h", "y", "scale", "bias")
    net.train("y", x=batch)
    net.infer("y", x=other)

    branches = thnn.graph.fork(model, example)
    branches.train(batch)
    branches.infer(other)
"""

from __future__ import annotations

from thnn.graph.branch import Branch
from thnn.graph.drawing import draw
from thnn.graph.forks import Fork, fork
from thnn.graph.net import Net, batch_norm_layer
from thnn.graph.operators import Operator
from thnn.graph.variables import Scope, Variable

__all__ = ["Branch", "Fork", "Net", "Operator", "Scope", "Variable", "batch_norm_layer", "draw", "fork"]


def __dir__() -> list[str]:
    return __all__
