"""Maxima of windows that slide over series and volumes."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import distinct, given, normal, whole
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput


def _temporal(input: Tensor, kW: int, dW: int) -> tuple[Tensor, dict[str, Tensor]]:
    seen = input.unfold(-2, kW, dW)
    best = seen.argmax(-1, keepdim=True)  # the first of equal values
    return seen.gather(-1, best).squeeze(-1), {"indices": best.squeeze(-1)}


def _series(name: str, shape: tuple[int, ...], kernel: int, stride: int, small: bool = True) -> SampleInput:
    maker = distinct(*shape) if small else normal(*shape)
    return SampleInput(name, {"input": maker, "kW": kernel, "dW": stride}, differentiable=small)


_PHASES = ("updateOutput", "updateGradInput")
_TEMPORAL_GEOMETRY = (
    ("kernel 0", {"kW": 0}),
    ("stride below 0", {"dW": -1}),
    ("kernel longer than the input", {"kW": 9}),
    ("huge kernel", {"kW": 2**31 - 1}),
)

TEMPORAL_MAX_POOLING = Case(
    module="TemporalMaxPooling",
    reference=_temporal,
    baseline=lambda input, kW, dW: F.max_pool1d(input.transpose(-1, -2), kW, dW).transpose(-1, -2),
    samples=(
        _series("series", (8, 3), 3, 2),
        _series("last frames unused", (8, 3), 3, 4),
        _series("stride above kernel", (9, 2), 2, 4),
        _series("overlap", (6, 2), 4, 1),
        _series("kernel 1", (4, 3), 1, 1),
        _series("one feature", (7, 1), 2, 2),
        _series("sizes 1", (1, 1), 1, 1),
        _series("batch", (2, 7, 3), 3, 2),
        _series("empty", (0, 7, 3), 3, 2),
        _series("many features", (3, 40, 130), 3, 2, small=False),
        _series("long kernel", (700, 3), 600, 7, small=False),
        SampleInput("equal values", {"input": whole(2, 9, 3), "kW": 3, "dW": 2}, differentiable=False),
        SampleInput(
            "only -inf", {"input": given([[-math.inf] * 4] * 3), "kW": 2, "dW": 1}, differentiable=False
        ),
    ),
    error_inputs=(
        *(
            ErrorInput(name, change, ValueError, phase=p)
            for p in _PHASES
            for name, change in _TEMPORAL_GEOMETRY
        ),
        ErrorInput("a vector", {"input": normal(7)}, ValueError, "input"),
        ErrorInput("no frames", {"input": normal(0, 3)}, ValueError),
        *(
            ErrorInput(
                f"index {i}",
                {"indices": given([[0, 1, 2], [0, i, 0], [1, 1, 2]], torch.int64)},
                IndexError,
                "indices",
                "updateGradInput",
            )
            for i in (3, -2, 2**32, 2**62)
        ),
    ),
    rows=(
        Row(
            "TemporalMaxPooling 2 s2 (32,512,256)",
            _series("row", (32, 512, 256), 2, 2, small=False),
            bytes_moved={"fwd": 32 * 512 * 256 * 10.0, "fb": 32 * 512 * 256 * 20.0},
        ),
    ),
)


def _volumetric(
    input: Tensor,
    kT: int,
    kW: int,
    kH: int,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    dilationT: int,
    dilationW: int,
    dilationH: int,
    ceilMode: bool = False,
) -> tuple[Tensor, dict[str, Tensor]]:
    stride, padding, dilation = (dT, dH, dW), (pT, pH, pW), (dilationT, dilationH, dilationW)
    H, W = input.shape[-2:]
    if input.numel() == 0:
        output = F.max_pool3d(
            input.new_zeros(1, *input.shape[1:]), (kT, kH, kW), stride, padding, dilation, ceilMode
        )[:0]
        return output, {"indices": torch.empty_like(output, dtype=torch.int64)}
    output, positions = F.max_pool3d(
        input, (kT, kH, kW), stride, padding, dilation, ceilMode, return_indices=True
    )
    packed = torch.zeros_like(positions)
    for axis, position in enumerate((positions // (H * W), positions // W % H, positions % W)):
        size = output.shape[axis - 3]
        start = torch.arange(size) * stride[axis] - padding[axis]
        shape = [1] * output.dim()
        shape[axis - 3] = size
        packed += (position - start.view(shape)) // dilation[axis] << 8 * axis
    return output, {"indices": packed}


def _volume(
    name: str,
    shape: tuple[int, ...],
    kernel: tuple[int, int, int],
    stride: tuple[int, int, int],
    padding: tuple[int, int, int] = (0, 0, 0),
    dilation: tuple[int, int, int] = (1, 1, 1),
    small: bool = True,
    **flags: bool,
) -> SampleInput:
    """Kernel, stride, padding and dilation are depth, width, height."""
    arguments: dict[str, Any] = {"input": distinct(*shape) if small else normal(*shape), **flags}
    for prefix, values in (("k", kernel), ("d", stride), ("p", padding), ("dilation", dilation)):
        arguments |= {f"{prefix}{letter}": value for letter, value in zip("TWH", values, strict=True)}
    return SampleInput(name, arguments, differentiable=small)


def _kernel_elements(*shape: int, value: int) -> Maker:
    """Indices that name the kernel element (1, 1, 1), except one in the middle, which is `value`."""

    def maker(generator: torch.Generator) -> Tensor:
        indices = torch.full(shape, 1 + (1 << 8) + (1 << 16))
        indices[1, 1, 1, 2, 3] = value
        return indices

    return maker


def _undilated(
    input: Tensor,
    kT: int,
    kW: int,
    kH: int,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
    ceilMode: bool = False,
) -> tuple[Tensor, dict[str, Tensor]]:
    return _volumetric(input, kT, kW, kH, dT, dW, dH, pT, pW, pH, 1, 1, 1, ceilMode)


def _without_dilation(*samples: SampleInput) -> tuple[SampleInput, ...]:
    return tuple(
        SampleInput(
            s.name, {n: v for n, v in s.arguments.items() if not n.startswith("dilation")}, s.differentiable
        )
        for s in samples
    )


_VOLUMES = (
    _volume("batch", (2, 2, 4, 5, 6), (2, 2, 3), (2, 1, 1), (1, 1, 1)),
    _volume("batchless", (2, 4, 3, 5), (2, 2, 2), (2, 2, 2)),
    _volume("ceilMode", (1, 2, 5, 5, 6), (2, 2, 2), (2, 3, 2), (1, 1, 1), ceilMode=True),
    _volume("sizes 1", (1, 1, 1, 1, 1), (1, 1, 1), (1, 1, 1)),
    _volume("empty", (0, 2, 4, 3, 5), (2, 2, 2), (2, 2, 2)),
    _volume("17 channels", (2, 17, 4, 5, 6), (2, 3, 2), (1, 2, 1), (1, 1, 1), small=False),
    _volume("2x2x2, stride 2", (2, 5, 6, 22, 38), (2, 2, 2), (2, 2, 2), small=False),
    _volume("3x3x3, stride 1", (2, 17, 6, 11, 13), (3, 3, 3), (1, 1, 1), (1, 1, 1), small=False),
    _volume("3x3x3, stride 2", (2, 17, 7, 21, 45), (3, 3, 3), (2, 2, 2), (1, 1, 1), small=False),
)
_VOLUME_GEOMETRY = (
    ("kT", 0),
    ("kW", -1),
    ("dH", 0),
    ("pT", 2),
    ("pW", -1),
    ("kH", 9),
    ("kH", 257),
    ("kW", 2**31 - 1),
)
_VOLUME_ERROR_INPUTS = (
    *(
        ErrorInput(f"{name} {value}", {name: value}, ValueError, phase=p)
        for p in _PHASES
        for name, value in _VOLUME_GEOMETRY
    ),
    ErrorInput("kernel beyond a byte", {"kW": 300, "input": normal(1, 1, 2, 2, 310)}, ValueError, "kW"),
    ErrorInput("an image", {"input": distinct(2, 6, 7)}, ValueError, "input"),
    ErrorInput(
        "gradOutput batchless", {"gradOutput": normal(2, 3, 5, 7)}, ValueError, phase="updateGradInput"
    ),
    *(
        ErrorInput(
            f"index {i}",
            {"indices": _kernel_elements(2, 2, 3, 5, 7, value=i)},
            IndexError,
            "indices",
            "updateGradInput",
        )
        for i in (2, 3 << 16, 1 << 24, -2, 2**32)
    ),
)
_VOLUME_BYTES = 4 * 32 * 16 * 56 * 56 * 5.5


def _volume_row(module: str, sample: SampleInput) -> Row:
    return Row(
        f"{module} 2x2x2 s2 (4,32,16,56,56)",
        sample,
        bytes_moved={"fwd": _VOLUME_BYTES, "fb": 2 * _VOLUME_BYTES},
        ratio=6,
        fraction=0.4,
    )


_VOLUME_ROW = _volume("row", (4, 32, 16, 56, 56), (2, 2, 2), (2, 2, 2), small=False)

VOLUMETRIC_MAX_POOLING = Case(
    module="VolumetricMaxPooling",
    reference=_undilated,
    baseline=lambda input, kT, kW, kH, dT, dW, dH, pT, pW, pH, ceilMode=False: F.max_pool3d(
        input, (kT, kH, kW), (dT, dH, dW), (pT, pH, pW), 1, ceilMode
    ),
    samples=_without_dilation(*_VOLUMES),
    error_inputs=_VOLUME_ERROR_INPUTS,
    rows=(_volume_row("VolumetricMaxPooling", _without_dilation(_VOLUME_ROW)[0]),),
)

VOLUMETRIC_DILATED_MAX_POOLING = Case(
    module="VolumetricDilatedMaxPooling",
    reference=_volumetric,
    baseline=lambda input, kT, kW, kH, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, ceilMode=False: (
        F.max_pool3d(
            input,
            (kT, kH, kW),
            (dT, dH, dW),
            (pT, pH, pW),
            (dilationT, dilationH, dilationW),
            ceilMode,
        )
    ),
    samples=(
        *_VOLUMES,
        _volume("dilation", (1, 2, 6, 5, 6), (2, 3, 2), (1, 1, 2), (1, 1, 0), (3, 2, 2)),
        _volume("dilation and padding 2", (1, 2, 9, 9, 10), (4, 5, 4), (2, 1, 2), (2, 2, 2), (2, 2, 3)),
    ),
    error_inputs=(
        *_VOLUME_ERROR_INPUTS,
        *(
            ErrorInput(f"{name} 0", {name: 0}, ValueError, phase=p)
            for p in _PHASES
            for name in ("dilationT", "dilationW", "dilationH")
        ),
    ),
    rows=(_volume_row("VolumetricDilatedMaxPooling", _VOLUME_ROW),),
)
