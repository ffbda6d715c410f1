"""Functions of THNN.h that torch's own operators compute for CUDA tensors: convolutions and Linear.

The CUDA library has no kernels of them. torch chooses among cuDNN's and cuBLAS's algorithms, and follows its own
settings of TF32, determinism and benchmarking.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch

from thnn._cuda.functions import FUNCTIONS
from thnn._header import Function


def compute_by_torch(function: Function, values: Sequence[Any], new: Collection[int]) -> None:
    """Computes a function of arguments that have been checked, and whose outputs have their sizes.

    `values` are those of the arguments without the state. An output at one of the positions `new` takes over the
    memory of the tensor that torch has made, if that has the same strides; otherwise the output is written. Raises
    NotImplementedError for a function that neither the CUDA library nor torch has.
    """
    compute = FUNCTIONS.get(function.name)
    if compute is None:
        raise NotImplementedError(f"{function.name}: there is no such function for CUDA tensors")
    arguments = function.after_state
    device = next(v.device.type for v in values if isinstance(v, torch.Tensor))
    with torch.no_grad(), torch.autocast(device, enabled=False), torch._C.DisableTorchFunctionSubclass():
        result = compute(**{a.name: v for a, v in zip(arguments, values)})
        if result is None:
            return
        position = next(i for i, a in enumerate(arguments) if a.role in ("output", "gradInput"))
        output = values[position]
        if position in new and result.stride() == output.stride():
            output.set_(result)
        else:
            output.copy_(result)
