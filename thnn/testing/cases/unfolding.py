"""Images as columns of their patches, and back."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import expanded, normal
from thnn.testing.cases.model import Case, ErrorInput, Row, SampleInput


def _im2col(
    input: Tensor, kH: int, kW: int, dH: int, dW: int, padH: int, padW: int, sH: int, sW: int
) -> Tensor:
    return F.unfold(input, (kH, kW), (dH, dW), (padH, padW), (sH, sW))


def _col2im(
    input: Tensor,
    outputHeight: int,
    outputWidth: int,
    kH: int,
    kW: int,
    dH: int,
    dW: int,
    padH: int,
    padW: int,
    sH: int,
    sW: int,
) -> Tensor:
    return F.fold(input, (outputHeight, outputWidth), (kH, kW), (dH, dW), (padH, padW), (sH, sW))


_Pair = tuple[int, int]


def _scalars(kernel: _Pair, dilation: _Pair, padding: _Pair, stride: _Pair) -> dict[str, int]:
    pairs = {"k": kernel, "d": dilation, "pad": padding, "s": stride}
    return {f"{name}{axis}": value for name, pair in pairs.items() for axis, value in zip("HW", pair)}


def _samples(columns: bool) -> tuple[SampleInput, ...]:
    """The same geometries for Im2Col and Col2Im; all pairs are (height, width)."""

    def sample(
        name: str,
        shape: tuple[int, ...],
        kernel: _Pair,
        dilation: _Pair = (1, 1),
        padding: _Pair = (0, 0),
        stride: _Pair = (1, 1),
        small: bool = True,
    ) -> SampleInput:
        *outer, height, width = shape
        arguments: dict[str, Any] = _scalars(kernel, dilation, padding, stride)
        if columns:
            windows = 1
            for size, k, d, p, s in zip((height, width), kernel, dilation, padding, stride):
                windows *= (size + 2 * p - d * (k - 1) - 1) // s + 1
            shape = (*outer[:-1], outer[-1] * kernel[0] * kernel[1], windows)
            arguments |= {"outputHeight": height, "outputWidth": width}
        return SampleInput(name, {"input": normal(*shape), **arguments}, differentiable=small)

    return (
        sample("batch", (2, 3, 5, 6), (2, 3), padding=(1, 0), stride=(1, 2)),
        sample("batchless", (3, 5, 6), (3, 2), padding=(0, 1), stride=(2, 1)),
        sample("dilation", (2, 2, 7, 8), (2, 3), (3, 2), (1, 2), (2, 3)),
        sample("kernel 1", (2, 3, 3, 4), (1, 1)),
        sample("kernel 1, padding 1", (1, 2, 2, 3), (1, 1), padding=(1, 1)),
        sample("stride above kernel", (1, 2, 9, 8), (1, 2), stride=(4, 3)),
        sample("padding beyond the kernel", (1, 2, 3, 2), (2, 2), padding=(4, 3), stride=(2, 1)),
        sample("padding beyond a dilated kernel", (1, 2, 3, 4), (2, 3), (2, 3), (5, 7), (3, 2)),
        sample("kernel of the image", (2, 2, 4, 5), (4, 5)),
        sample("one row", (2, 2, 1, 7), (1, 3), padding=(0, 1)),
        sample("sizes 1", (1, 1, 1, 1), (1, 1)),
        sample("empty", (0, 3, 5, 6), (2, 3), padding=(1, 0), stride=(1, 2)),
        sample("many channels", (2, 37, 9, 11), (3, 3), padding=(1, 1), small=False),
        sample("large kernel", (1, 1, 90, 97), (80, 91), padding=(3, 2), small=False),
        sample("large kernel and stride", (2, 1, 70, 131), (60, 100), stride=(3, 2), small=False),
        sample("wide images", (1, 2, 4, 9001), (2, 3), padding=(1, 1), stride=(1, 2), small=False),
    )


_GEOMETRY = (
    ("kernel 0", {"kW": 0}),
    ("kernel below 0", {"kH": -3}),
    ("dilation 0", {"dW": 0}),
    ("dilation below 0", {"dH": -1}),
    ("padding below 0", {"padW": -1}),
    ("padding far below 0", {"padH": -(2**31)}),
    ("stride 0", {"sH": 0}),
    ("stride below 0", {"sW": -1}),
    ("huge kernel", {"kW": 2**31 - 1, "kH": 2**31 - 1}),
    ("huge dilation", {"dW": 2**31 - 1}),
    ("overflowing padding", {"padW": 2**31 - 1, "padH": 2**31 - 1}),
)
_PHASES = ("updateOutput", "updateGradInput")
_ROW = (4, 64, 56, 56)
_ROW_SCALARS = _scalars((3, 3), (1, 1), (1, 1), (1, 1))

IM2COL = Case(
    module="Im2Col",
    reference=_im2col,
    samples=_samples(columns=False),
    error_inputs=(
        *(ErrorInput(name, change, ValueError, phase=p) for p in _PHASES for name, change in _GEOMETRY),
        ErrorInput("a matrix", {"input": normal(5, 6)}, ValueError, "input"),
        ErrorInput("five dimensions", {"input": normal(1, 2, 3, 5, 6)}, ValueError, "input"),
        ErrorInput("no channels", {"input": normal(2, 0, 5, 6)}, ValueError, "input"),
        ErrorInput("no pixels", {"input": normal(2, 3, 0, 6)}, ValueError, "input"),
        ErrorInput("image smaller than the kernel", {"input": normal(2, 3, 5, 2)}, ValueError),
        ErrorInput(
            "2**64 rows",
            {"input": expanded(1, 2**34, 1, 1), "kH": 2**30, "kW": 1, "padH": 2**29, "padW": 0},
            ValueError,
            "input",
        ),
        ErrorInput("other height", {"inputHeight": 9}, ValueError, "gradOutput", "updateGradInput"),
        ErrorInput("width 0", {"inputWidth": 0}, ValueError, "inputWidth", "updateGradInput"),
        ErrorInput("images", {"gradOutput": normal(2, 3, 5, 6)}, ValueError, "gradOutput", "updateGradInput"),
    ),
    rows=(Row("Im2Col 3x3 (4,64,56,56)", SampleInput("row", {"input": normal(*_ROW), **_ROW_SCALARS})),),
)

COL2IM = Case(
    module="Col2Im",
    reference=_col2im,
    samples=_samples(columns=True),
    error_inputs=(
        *(ErrorInput(name, change, ValueError, phase=p) for p in _PHASES for name, change in _GEOMETRY),
        ErrorInput("a vector", {"input": normal(18)}, ValueError, "input"),
        ErrorInput("four dimensions", {"input": normal(1, 2, 18, 12)}, ValueError, "input"),
        ErrorInput("no rows", {"input": normal(2, 0, 12)}, ValueError, "input"),
        ErrorInput("rows of no kernel", {"input": normal(2, 17, 12)}, ValueError, "input"),
        ErrorInput("a column less", {"input": normal(2, 18, 11)}, ValueError, "input"),
        ErrorInput("height 0", {"outputHeight": 0}, ValueError, "outputHeight"),
        ErrorInput("width below 0", {"outputWidth": -6}, ValueError, "outputWidth"),
        ErrorInput("other height", {"outputHeight": 9}, ValueError, "input"),
        ErrorInput("huge image", {"outputHeight": 2**31 - 1, "outputWidth": 2**31 - 1}, ValueError),
        ErrorInput("columns", {"gradOutput": normal(18, 12)}, ValueError, "gradOutput", "updateGradInput"),
    ),
    rows=(
        Row(
            "Col2Im 3x3 (4,576,3136)",
            SampleInput(
                "row",
                {"input": normal(4, 576, 3136), "outputHeight": 56, "outputWidth": 56, **_ROW_SCALARS},
            ),
        ),
    ),
)


def _unfolded_copy(
    finput: Tensor,
    input: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    nInputPlane: int,
    inputWidth: int,
    inputHeight: int,
    outputWidth: int,
    outputHeight: int,
) -> dict[str, Tensor]:
    if nInputPlane == 0:
        return {"finput": finput}
    return {"finput": F.unfold(input, (kH, kW), 1, (padH, padW), (dH, dW))}


def _unfolded_acc(
    finput: Tensor,
    input: Tensor,
    kW: int,
    kH: int,
    dW: int,
    dH: int,
    padW: int,
    padH: int,
    nInputPlane: int,
    inputWidth: int,
    inputHeight: int,
    outputWidth: int,
    outputHeight: int,
) -> dict[str, Tensor]:
    if nInputPlane == 0:
        return {"input": input}
    return {"input": input + F.fold(finput, (inputHeight, inputWidth), (kH, kW), 1, (padH, padW), (dH, dW))}


def _unfolded(
    name: str,
    shape: tuple[int, int, int],
    kernel: _Pair,
    stride: _Pair = (1, 1),
    padding: _Pair = (0, 0),
    small: bool = True,
) -> SampleInput:
    """Kernel, stride and padding are (width, height)."""
    channels, height, width = shape
    oW, oH = ((n + 2 * p - k) // d + 1 for n, k, d, p in zip((width, height), kernel, stride, padding))
    arguments: dict[str, Any] = {
        "finput": normal(channels * kernel[0] * kernel[1], oH * oW),
        "input": normal(*shape),
    }
    arguments |= {"kW": kernel[0], "kH": kernel[1], "dW": stride[0], "dH": stride[1]}
    arguments |= {"padW": padding[0], "padH": padding[1], "nInputPlane": channels}
    arguments |= {"inputWidth": width, "inputHeight": height, "outputWidth": oW, "outputHeight": oH}
    return SampleInput(name, arguments, differentiable=small)


_UNFOLDED_SAMPLES = (
    _unfolded("image", (3, 5, 6), (2, 3), (1, 2), (1, 0)),
    _unfolded("stride above kernel", (2, 9, 8), (2, 1), (3, 4)),
    _unfolded("padding beyond the kernel", (2, 3, 2), (2, 2), (1, 2), (3, 4)),
    _unfolded("kernel of the image", (2, 4, 5), (5, 4)),
    _unfolded("sizes 1", (1, 1, 1), (1, 1)),
    _unfolded("empty", (0, 5, 6), (2, 3)),
    _unfolded("large", (37, 29, 31), (3, 3), (1, 1), (1, 1), small=False),
)


def _unfolded_error_inputs(phase: str) -> tuple[ErrorInput, ...]:
    changes: tuple[tuple[str, dict[str, Any]], ...] = (
        ("kernel 0", {"kW": 0}),
        ("stride 0", {"dH": 0}),
        ("padding below 0", {"padW": -1}),
        ("huge kernel", {"kW": 2**31 - 1}),
        ("other channels", {"nInputPlane": 2}),
        ("channels below 0", {"nInputPlane": -3}),
        ("other width", {"inputWidth": 7}),
        ("other height", {"inputHeight": 6}),
        ("other width of the output", {"outputWidth": 4}),
        ("other height of the output", {"outputHeight": 3}),
        ("a batch", {"input": normal(1, 3, 5, 6)}),
        ("columns of other size", {"finput": normal(18, 13)}),
        ("columns as a vector", {"finput": normal(270)}),
    )
    return tuple(ErrorInput(name, change, ValueError, phase=phase) for name, change in changes)


UNFOLDED_COPY = Case(
    module="unfolded",
    phase="copy",
    reference=_unfolded_copy,
    samples=_UNFOLDED_SAMPLES,
    error_inputs=_unfolded_error_inputs("copy"),
)

UNFOLDED_ACC = Case(
    module="unfolded",
    phase="acc",
    reference=_unfolded_acc,
    samples=_UNFOLDED_SAMPLES,
    error_inputs=_unfolded_error_inputs("acc"),
)
