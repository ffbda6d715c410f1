"""The functions by name.

The parameters of each are tensors of the header, by their names, and at last `scalars`: the names and the values of the
other arguments. It returns new tensors, for the results in the order of the header: `thnn._cuda` writes them to the
arguments of the call, or adds gradients of parameters to these arguments. The functions of the steps of LSTM and GRU
write their results themselves, and return None.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from thnn._cuda import convolution, linear, recurrent

Results = tuple[torch.Tensor | None, ...] | None

FUNCTIONS: dict[str, Callable[..., Results]] = {
    **convolution.FUNCTIONS,
    **linear.FUNCTIONS,
    **recurrent.FUNCTIONS,
}
