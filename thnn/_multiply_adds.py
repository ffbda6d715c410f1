"""The multiply-adds of the modules with a weight, for thnn.profile and for torch's counter of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

# The multiply-adds of a call from the shapes of input, weight and output; each backward function has as many.
Count = Callable[[Sequence[int], Sequence[int], Sequence[int]], int]


def _filters(input: Sequence[int], weight: Sequence[int], output: Sequence[int]) -> int:
    """weight: a filter per output channel; each element of output takes one filter of multiply-adds."""
    return math.prod(output) * math.prod(weight[1:])


def _transposed(input: Sequence[int], weight: Sequence[int], output: Sequence[int]) -> int:
    """weight: a filter per input channel."""
    return math.prod(input) * math.prod(weight[1:])


# Modules whose limit may be arithmetic rather than memory bandwidth: all channels share each element of the input.
DENSE: Mapping[str, Count] = {
    "Linear": _filters,
    "Convolution": _filters,
    "FullConvolution": _transposed,
    "SpatialConvolutionMM": _filters,
    "SpatialDilatedConvolution": _filters,
    "SpatialFullConvolution": _transposed,
    "SpatialFullDilatedConvolution": _transposed,
    "TemporalConvolution": _filters,
    "TemporalRowConvolution": _filters,
    "VolumetricConvolution": _filters,
    "VolumetricConvolutionMM": _filters,
    "VolumetricDilatedConvolution": _filters,
    "VolumetricFullConvolution": _transposed,
    "VolumetricFullDilatedConvolution": _transposed,
}

# The last three dimensions of input and output are an image.
MULTIPLY_ADDS: Mapping[str, Count] = {
    **DENSE,
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
