"""A copy of a tensor that compiled code keeps for the backward.

To save memory, compiled code recomputes operations of the forward in the backward, even the clone of a tensor that has
been overwritten since; the clone then has the new values. A custom operator is not recomputed.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from thnn._torch import is_exporting, marked_constant


def saved_copy(tensor: Tensor) -> Tensor:
    """A copy of a tensor without a gradient, whose values the backward reads though the tensor may change."""
    # An exported program is not partitioned, and would need the operator where it is loaded.
    if torch.compiler.is_compiling() and not is_exporting():
        _define()
        copy: Tensor = torch.ops.thnn.saved_copy(tensor)
        return copy
    return tensor.clone()


@functools.cache
def _operator() -> torch.library.Library:
    """Defines the operator, for as long as the result exists."""
    library = torch.library.Library("thnn", "FRAGMENT")
    library.define("saved_copy(Tensor tensor) -> Tensor")
    library.impl("saved_copy", torch.clone, "CompositeExplicitAutograd")
    torch.library.register_fake("thnn::saved_copy", torch.clone, lib=library)
    return library


@marked_constant
def _define() -> bool:
    """Defines the operator at the first call, while torch.compile traces."""
    return bool(_operator())
