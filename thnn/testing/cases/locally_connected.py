"""SpatialConvolutionLocal: convolution with separate filters at each output position."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import flops, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _local(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    inputWidth: int,
    inputHeight: int,
    outputWidth: int,
    outputHeight: int,
) -> Tensor:
    patches = F.unfold(input, (kH, kW), 1, (padH, padW), (dH, dW))
    filters = weight.reshape(outputHeight * outputWidth, bias.shape[0], -1)
    sums = torch.einsum("pok,...kp->...op", filters, patches)
    return sums.unflatten(-1, (outputHeight, outputWidth)) + bias


def _sample(
    name: str,
    shape: tuple[int, ...],
    outputs: int,
    kernel: tuple[int, int],
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
    flat: bool = True,
    small: bool = True,
) -> SampleInput:
    """Kernel, stride and padding are (width, height)."""
    inputs, height, width = shape[-3:]
    out = [(size + 2 * p - k) // d + 1 for size, k, d, p in zip((width, height), kernel, stride, padding)]
    oW, oH = out
    patch = (inputs, kernel[1], kernel[0])
    weight = (
        normal(oH * oW, outputs, patch[0] * patch[1] * patch[2]) if flat else normal(oH, oW, outputs, *patch)
    )
    arguments: dict[str, Any] = {"input": normal(*shape), "weight": weight, "bias": normal(outputs, oH, oW)}
    arguments |= {"kW": kernel[0], "kH": kernel[1], "dW": stride[0], "dH": stride[1]}
    arguments |= {"padW": padding[0], "padH": padding[1], "inputWidth": width, "inputHeight": height}
    arguments |= {"outputWidth": oW, "outputHeight": oH}
    return SampleInput(name, arguments, differentiable=small)


_GEOMETRY = (
    ("kernel 0", {"kW": 0}),
    ("kernel below 0", {"kH": -3}),
    ("stride 0", {"dH": 0}),
    ("stride below 0", {"dW": -1}),
    ("padding below 0", {"padW": -1}),
    ("huge kernel", {"kW": 2**31 - 1}),
    ("overflowing padding", {"padW": 2**31 - 1, "padH": 2**31 - 1}),
    ("other width", {"inputWidth": 7}),
    ("other height", {"inputHeight": 4}),
    ("other width of the output", {"outputWidth": 4}),
    ("height of the output far below 0", {"outputHeight": -(2**63)}),
)

SPATIAL_CONVOLUTION_LOCAL = Case(
    module="SpatialConvolutionLocal",
    reference=_local,
    samples=(
        _sample("batch", (2, 3, 5, 6), 4, (2, 3), (1, 2), (1, 0)),
        _sample("batchless", (3, 5, 4), 2, (2, 3), (2, 1), (0, 1)),
        _sample("weight of six dimensions", (2, 2, 4, 5), 3, (3, 2), padding=(1, 1), flat=False),
        _sample("six dimensions, batchless", (2, 4, 3), 2, (2, 2), flat=False),
        _sample("kernel 1, stride 2", (2, 3, 5, 4), 2, (1, 1), (2, 2)),
        _sample("stride above kernel", (1, 2, 9, 8), 2, (2, 1), (3, 4)),
        _sample("last columns unused", (1, 2, 6, 7), 2, (2, 3), (2, 2)),
        _sample("padding beyond the kernel", (1, 2, 3, 2), 2, (2, 2), (1, 2), (3, 4)),
        _sample("kernel of the image", (2, 3, 4, 5), 2, (5, 4)),
        _sample("sizes 1", (1, 1, 1, 1), 1, (1, 1)),
        _sample("empty", (0, 3, 5, 6), 4, (2, 3), (1, 2), (1, 0)),
        _sample("many images", (19, 5, 6, 7), 3, (3, 3), padding=(1, 1), small=False),
        _sample("many channels", (2, 35, 6, 5), 131, (3, 3), padding=(1, 1), small=False),
        _sample("patches in parts", (1, 40, 35, 35), 2, (33, 34), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=p)
            for p in ("updateOutput", "updateGradInput", "accGradParameters")
            for name, change in _GEOMETRY
        ),
        ErrorInput("input a matrix", {"input": normal(5, 6)}, ValueError, "input"),
        ErrorInput("no channels", {"input": normal(2, 0, 5, 6)}, ValueError, "input"),
        ErrorInput("other channels", {"input": normal(2, 4, 5, 6)}, ValueError, "weight"),
        ErrorInput("weight of four dimensions", {"weight": normal(5, 3, 4, 18)}, ValueError, "weight"),
        ErrorInput("weight of other positions", {"weight": normal(13, 4, 18)}, ValueError, "weight"),
        ErrorInput("bias a vector", {"bias": normal(4)}, ValueError, "bias"),
    ),
    rows=(
        Row(
            "SpatialConvolutionLocal 3x3 32-32 at 28, batch 8",
            _sample("row", (8, 32, 28, 28), 32, (3, 3), padding=(1, 1)),
            flops=flops(8 * 32 * 784 * 288),
        ),
    ),
)
