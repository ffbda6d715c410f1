"""Functions of THNN.h that torch's own operators compute for CUDA tensors: convolutions, Linear, and
all steps of LSTM and GRU.

The CUDA library has no kernels of them. torch chooses among cuDNN's and cuBLAS's algorithms, and follows its own
settings of TF32, determinism and benchmarking.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import torch

from thnn._cuda.functions import FUNCTIONS
from thnn._header.registry import functions


@functools.cache
def _signature(name: str) -> tuple[Callable[..., torch.Tensor | None], tuple[str, ...], int]:
    """The function, the names of its arguments without the state, and the position of its output, if it has one."""
    compute = FUNCTIONS.get(name)
    if compute is None:
        raise NotImplementedError(f"{name}: there is no such function for CUDA tensors")
    arguments = functions()[name].after_state
    position = next((i for i, a in enumerate(arguments) if a.role in ("output", "gradInput")), -1)
    return compute, tuple(a.name for a in arguments), position


@contextlib.contextmanager
def _without_onednn(is_emulated: bool) -> Iterator[None]:
    """Switches off oneDNN in an emulation, where torch computes on the CPU.

    Its convolutions of float16 and bfloat16 on CPUs with AMX end the process for some dilations near 2^31 (torch 2.13).
    """
    onednn: Any = torch.backends.mkldnn
    if not is_emulated or not onednn.enabled:
        yield
        return
    onednn.enabled = False
    try:
        yield
    finally:
        onednn.enabled = True


def compute_by_torch(name: str, values: Sequence[Any], new: Collection[int]) -> None:
    """Computes a function of arguments that have been checked, and whose outputs have their sizes.

    `values` are those of the arguments without the state. An output at one of the positions `new` takes over the
    memory of the tensor that torch has made, if that has the same strides; otherwise the output is written. Raises
    NotImplementedError for a function that neither the CUDA library nor torch has.
    """
    compute, names, position = _signature(name)
    device = next(v.device.type for v in values if isinstance(v, torch.Tensor))
    if torch.is_autocast_enabled(device):
        with torch.autocast(device, enabled=False):
            compute_by_torch(name, values, new)
        return
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass(), _without_onednn(device == "cpu"):
        result = compute(**dict(zip(names, values)))
        if result is None:
            return
        output = values[position]
        if position in new and result.stride() == output.stride():
            output.set_(result)
        else:
            output.copy_(result)
