"""The functions by name.

Each takes the arguments of the header by name. A function with an output returns a new tensor, and does not write the
output among its arguments. A function with gradients of parameters adds to these arguments, and returns None. A
function with several outputs writes them, and returns None.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from thnn._cuda import convolution, linear, recurrent

FUNCTIONS: dict[str, Callable[..., torch.Tensor | None]] = {
    **convolution.FUNCTIONS,
    **linear.FUNCTIONS,
    **recurrent.FUNCTIONS,
}
