"""Functions of THNN.h that torch's own operators compute for CUDA tensors: convolutions, Linear, and
all steps of LSTM and GRU.

The CUDA library has no kernels for them. torch chooses among the algorithms of cuDNN and cuBLAS, and follows its own
settings of TF32, determinism and benchmarking.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import torch

from thnn._cuda.convolution import JOINT, Scalars
from thnn._cuda.functions import FUNCTIONS, Results
from thnn._header.registry import functions
from thnn._torch import without_torch_function

_Call = tuple[str, Sequence[Any], Collection[int]]  # thnn/_binding/library.py describes it: MissingCall


class _Signature(NamedTuple):
    compute: Callable[..., Results]
    tensors: Callable[[Sequence[Any]], tuple[Any, ...]]  # the arguments that `compute` takes
    first_scalar: int
    names: tuple[str, ...]  # of the scalars without `scale`, which is the last one
    results: tuple[int, ...]  # positions of the arguments that the results are for
    scale: int  # position of the factor of gradients of parameters; -1: the results are not such gradients

    def scalars(self, values: Sequence[Any]) -> Scalars:
        first = self.first_scalar
        return self.names, tuple(values[first : first + len(self.names)])


@functools.cache
def _signature(name: str) -> _Signature:
    compute = FUNCTIONS.get(name)
    if compute is None:
        raise NotImplementedError(f"{name}: there is no such function for CUDA tensors")
    arguments = functions()[name].after_state
    names = [a.name for a in arguments]
    taken = [n for n in inspect.signature(compute).parameters if n != "scalars"]
    scale = names.index("scale") if "scale" in names else -1
    roles = ("output", "gradInput") if scale < 0 else ("gradParameter",)
    return _Signature(
        compute,
        itemgetter(*map(names.index, taken)),
        sum(a.is_tensor for a in arguments),
        tuple(a.name for a in arguments if not a.is_tensor and a.name != "scale"),
        tuple(i for i, a in enumerate(arguments) if a.role in roles),
        scale,
    )


@contextlib.contextmanager
def _without_onednn() -> Iterator[None]:
    """Switches off oneDNN, for an emulation, where torch computes on the CPU.

    Its convolutions of float16 and bfloat16 on CPUs with AMX end the process for some dilations near 2^31 (torch 2.13).
    """
    onednn: Any = torch.backends.mkldnn
    if not onednn.enabled:
        yield
        return
    onednn.enabled = False
    try:
        yield
    finally:
        onednn.enabled = True


def compute_by_torch(calls: Sequence[_Call]) -> None:
    """Computes functions of arguments that have been checked, and whose outputs have their sizes: one call, or those of
    one backward.

    A call is a name, the arguments without the state, and the positions of new results. These are overwritten, even
    gradients of parameters. Raises NotImplementedError for a function that neither the CUDA library nor torch has.
    """
    device = calls[0][1][0].device.type
    if torch.is_autocast_enabled(device):
        with torch.autocast(device, enabled=False):
            compute_by_torch(calls)
    elif torch.is_grad_enabled():
        with torch.no_grad():
            compute_by_torch(calls)
    elif device == "cpu":
        with without_torch_function(), _without_onednn():
            _compute(calls)
    else:
        with without_torch_function():
            _compute(calls)


def _compute(calls: Sequence[_Call]) -> None:
    signatures = [_signature(name) for name, _, _ in calls]
    tensors = [s.tensors(values) for s, (_, values, _) in zip(signatures, calls)]
    joint = JOINT.get(tuple([name for name, _, _ in calls]))
    results: Sequence[Results]
    if joint is None:
        results = [
            s.compute(*t, s.scalars(values)) for s, t, (_, values, _) in zip(signatures, tensors, calls)
        ]
    else:
        results = joint(*tensors, signatures[0].scalars(calls[0][1]))
    for signature, (_, values, new), made in zip(signatures, calls, results):
        scale = values[signature.scale] if signature.scale >= 0 else None
        for position, result in zip(signature.results, made or ()):
            if result is not None:
                _store(values[position], result, position in new, scale)


def _store(output: torch.Tensor, result: torch.Tensor, is_new: bool, scale: float | None) -> None:
    """Writes a result, or adds `scale` times the result. A new tensor takes over the memory of a result with the same
    strides."""
    if scale is not None and not is_new:
        output.add_(result, alpha=scale)
        return
    if scale is not None and scale != 1:
        result = result * scale
    if is_new and result.stride() == output.stride():
        output.set_(result)  # type: ignore[call-overload]
    else:
        output.copy_(result)
