"""Functions of THNN.h that torch's own operators compute for CUDA tensors: convolutions and Linear.

The CUDA library has no kernels of them. torch chooses among cuDNN's and cuBLAS's algorithms, and follows its own
settings of TF32, determinism and benchmarking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from thnn._cuda.functions import FUNCTIONS
from thnn._header import Function


def compute_by_torch(function: Function, values: Sequence[Any]) -> None:
    """Computes a function of arguments that have been checked, and whose outputs have their sizes.

    `values` are those of the arguments without the state. Raises NotImplementedError for a function that neither the
    CUDA library nor torch has.
    """
    compute = FUNCTIONS.get(function.name)
    if compute is None:
        raise NotImplementedError(f"{function.name}: there is no such function for CUDA tensors")
    names = (a.name for a in function.after_state)
    with torch.no_grad():
        compute(**dict(zip(names, values)))
