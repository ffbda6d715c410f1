"""The functions by name.

Each takes the arguments of the header by name. A function with an output returns it, and does not write the output that
is among the arguments. One with gradients of parameters adds to those arguments, and returns None.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from thnn._cuda import convolution, linear

FUNCTIONS: dict[str, Callable[..., torch.Tensor | None]] = {**convolution.FUNCTIONS, **linear.FUNCTIONS}
