"""Floating-point operations of convolutions and Linear, for ``torch.utils.flop_counter.FlopCounterMode``.

As torch counts: two per multiplication with an element of the weight, none for the bias and none for other modules. The
forward and each of the two backward functions have the same count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thnn._binding.library import THNN
from thnn._operators.model import OperatorModel
from thnn._torch import dispatch_modes

# Modules whose weight has the output channels, or in a transposed convolution the input channels, as first dimension.
_COUNTED = frozenset(
    {
        "Linear",
        "Convolution",
        "FullConvolution",
        "SpatialConvolutionMM",
        "SpatialDilatedConvolution",
        "SpatialFullConvolution",
        "SpatialFullDilatedConvolution",
        "TemporalConvolution",
        "TemporalRowConvolution",
        "VolumetricConvolution",
        "VolumetricConvolutionMM",
        "VolumetricDilatedConvolution",
        "VolumetricFullConvolution",
        "VolumetricFullDilatedConvolution",
    }
)  # fmt: skip


def _dense(input: Sequence[int], weight: Sequence[int], output: Sequence[int]) -> int:
    return math.prod(output) * math.prod(weight[1:])


def _dense_transposed(input: Sequence[int], weight: Sequence[int], output: Sequence[int]) -> int:
    return math.prod(input) * math.prod(weight[1:])


# The multiplications of modules with other weights. The last three dimensions of input and output are an image.
_OTHERS: Mapping[str, Callable[[Sequence[int], Sequence[int], Sequence[int]], int]] = {
    # weight: (multiplier, input channels, kH, kW)
    "SpatialDepthWiseConvolution": lambda input, weight, output: math.prod(output) * math.prod(weight[2:]),
    # weight: one kernel per output pixel
    "SpatialConvolutionLocal": lambda input, weight, output: math.prod(output[:-3]) * math.prod(weight),
    # weight: (connections, kH, kW)
    "SpatialConvolutionMap": lambda input, weight, output: (
        math.prod(output[:-3]) * math.prod(output[-2:]) * math.prod(weight)
    ),
    "SpatialFullConvolutionMap": lambda input, weight, output: (
        math.prod(input[:-3]) * math.prod(input[-2:]) * math.prod(weight)
    ),
}


def register(operators: OperatorModel) -> None:
    """Registers the counts of a module, also with the active counters, which copied torch's table when created."""
    name = operators.module.name
    if operators.library is not THNN or (name not in _COUNTED and name not in _OTHERS):
        return
    is_transposed = "adjW" in operators.given or "aW" in operators.given
    # Each element of the output, or of a transposed convolution's input, takes one filter of multiplications.
    multiplications = _OTHERS.get(name, _dense_transposed if is_transposed else _dense)
    from torch.utils import flop_counter

    counts = {operators.forward: _count(operators.given, 0, multiplications)}
    counts.update((o, _count(operators.kept, 1, multiplications)) for o in operators.backwards)
    for operator, count in counts.items():
        packet = operator.overloadpacket
        flop_counter.register_flop_formula(packet)(count)
        for mode in dispatch_modes():
            counter = getattr(mode, "counter", None)
            if isinstance(counter, flop_counter.FlopCounterMode):
                counter.flop_registry[packet] = flop_counter.flop_registry[packet]


def _count(names: list[str], first: int, multiplications: Callable[..., int]) -> Callable[..., int]:
    """The count as a function of the shapes of an operator's arguments; `first` is 1 if gradOutput precedes `names`."""
    input_at, weight_at = names.index("input") + first, names.index("weight") + first

    def count(*shapes: Any, out_shape: Any = None, **_: Any) -> int:
        return 2 * multiplications(shapes[input_at], shapes[weight_at], shapes[0] if first else out_shape)

    return count
