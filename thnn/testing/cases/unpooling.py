"""Max unpooling: each input goes to the place that its maximum came from."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn.testing.cases.makers import given, normal
from thnn.testing.cases.model import Case, ErrorInput, Maker, Row, SampleInput

_PHASES = ("updateOutput", "updateGradInput")


def _scattered(input: Tensor, positions: Tensor, size: tuple[int, ...]) -> Tensor:
    """Zeros of `size`, with input at positions of the last dimensions; the last of equal positions counts.

    As in torch, the gradient reaches every input, even one that another input overwrote.
    """
    shape = (*input.shape[: -len(size)], *size)
    flat, source = positions.flatten(-len(size)), input.flatten(-len(size))
    order = torch.arange(flat.shape[-1], device=flat.device).expand_as(flat)
    # The last input at each position; scatter_reduce over indices in row order.
    last = flat.new_full((*flat.shape[:-1], math.prod(size)), -1).scatter_reduce(-1, flat, order, "amax")
    is_last = last.gather(-1, flat) == order
    kept = torch.where(is_last, source, source - source.detach())
    return input.new_zeros(last.shape).scatter_add(-1, flat, kept).reshape(shape)


def _spatial(input: Tensor, indices: Tensor, owidth: int, oheight: int) -> Tensor:
    return _scattered(input, indices, (oheight, owidth))


def _positions(*shape: int, size: int) -> Maker:
    """Different positions in each plane."""

    def maker(generator: torch.Generator) -> Tensor:
        planes, count = math.prod(shape[:-2]), shape[-2] * shape[-1]
        rows = [torch.randperm(size, generator=generator)[:count] for _ in range(planes)]
        return torch.stack(rows).reshape(shape) if rows else torch.empty(shape, dtype=torch.int64)

    return maker


def _image(
    name: str, shape: tuple[int, ...], height: int, width: int, indices: Maker | None = None
) -> SampleInput:
    indices_of = indices or _positions(*shape, size=height * width)
    arguments = {"input": normal(*shape), "indices": indices_of, "owidth": width, "oheight": height}
    return SampleInput(name, arguments, differentiable=indices is None)


def _pooled_positions(*shape: int, kernel: int) -> Maker:
    """Positions as a max pooling leaves them."""

    def maker(generator: torch.Generator) -> Tensor:
        _, indices = F.max_pool2d(torch.randn(shape, generator=generator), kernel, return_indices=True)
        return indices

    return maker


def _any_positions(*shape: int, size: int) -> Maker:
    """Positions that may be equal, unordered."""
    return lambda generator: torch.randint(size, shape, generator=generator)


_MOVED = 8 * 64 * (28 * 28 * 12.0 + 56 * 56 * 4.0)

SPATIAL_MAX_UNPOOLING = Case(
    module="SpatialMaxUnpooling",
    reference=_spatial,
    baseline=lambda input, indices, owidth, oheight: F.max_unpool2d(
        input, indices, (2, 2), output_size=(oheight, owidth)
    ),
    samples=(
        _image("batch", (2, 3, 2, 3), 4, 6),
        _image("batchless", (3, 3, 2), 5, 4),
        _image("sizes 1", (1, 1, 1, 1), 1, 1),
        _image("one row", (2, 2, 1, 3), 1, 7),
        _image("one column", (2, 2, 3, 1), 7, 1),
        _image("size of the input", (1, 2, 2, 3), 2, 3),
        _image("empty", (0, 3, 2, 3), 4, 6),
        _image("equal positions", (2, 3, 4, 5), 4, 6, _any_positions(2, 3, 4, 5, size=4)),
        _image("many planes", (3, 37, 14, 15), 28, 30, _pooled_positions(3, 37, 28, 30, kernel=2)),
        _image("large planes", (1, 2, 130, 255), 260, 511, _pooled_positions(1, 2, 260, 511, kernel=2)),
        _image("large planes, equal positions", (3, 90, 100), 300, 301, _any_positions(3, 90, 100, size=999)),
        _image("large planes, any order", (3, 90, 100), 300, 301, _any_positions(3, 90, 100, size=90300)),
    ),
    error_inputs=(
        *(
            ErrorInput(f"{name} {value}", {name: value}, ValueError, name, p)
            for p in _PHASES
            for name in ("owidth", "oheight")
            for value in (0, -2)
        ),
        ErrorInput("a matrix", {"input": normal(6, 7)}, ValueError, "input"),
        ErrorInput("no pixels", {"input": normal(2, 3, 0, 3)}, ValueError, "input"),
        ErrorInput("other indices", {"indices": _positions(2, 3, 3, 2, size=24)}, ValueError, "indices"),
        ErrorInput(
            "other gradOutput",
            {"gradOutput": normal(2, 3, 6, 4)},
            ValueError,
            "gradOutput",
            "updateGradInput",
        ),
        *(
            ErrorInput(
                f"index {i}",
                {"indices": given([[[[0, 1, 2], [3, i, 4]]] * 3] * 2, torch.int64)},
                IndexError,
                "indices",
                p,
            )
            for p in _PHASES
            for i in (24, -1, 2**32, -(2**63), 2**63 - 1)
        ),
    ),
    rows=(
        Row(
            "SpatialMaxUnpooling 56x56 (8,64,28,28)",
            _image("row", (8, 64, 28, 28), 56, 56, _pooled_positions(8, 64, 56, 56, kernel=2)),
            bytes_moved={"fwd": _MOVED, "fb": 2 * _MOVED},
            ratio=1.3,
            fraction=0.5,
        ),
    ),
)


def _volumetric(
    input: Tensor,
    indices: Tensor,
    oT: int,
    oW: int,
    oH: int,
    dT: int,
    dW: int,
    dH: int,
    pT: int,
    pW: int,
    pH: int,
) -> Tensor:
    size, position = (oT, oH, oW), torch.zeros_like(indices)
    for axis, (stride, padding) in enumerate(((dT, pT), (dH, pH), (dW, pW))):
        start = torch.arange(input.shape[axis - 3], device=input.device) * stride - padding
        start = start.reshape([-1 if d == axis else 1 for d in range(3)])
        position = position * size[axis] + start + (indices >> 8 * axis & 255)
    return _scattered(input, position, size)


def _elements(*shape: int, kernel: tuple[int, int, int], padding: tuple[int, int, int]) -> Maker:
    """Packed elements of a kernel; `padding` is skipped at the beginning of each axis."""

    def maker(generator: torch.Generator) -> Tensor:
        packed = torch.zeros(shape, dtype=torch.int64)
        for axis in range(3):
            element = torch.randint(kernel[axis], shape, generator=generator)
            first = element.narrow(axis - 3, 0, 1)
            first.clamp_(min=padding[axis])
            packed += element << 8 * axis
        return packed

    return maker


def _volume(
    name: str,
    shape: tuple[int, ...],
    size: tuple[int, int, int],
    stride: tuple[int, int, int],
    kernel: tuple[int, int, int],
    padding: tuple[int, int, int] = (0, 0, 0),
    small: bool = True,
) -> SampleInput:
    """Sizes, strides, kernels and padding are depth, height, width."""
    arguments = {"input": normal(*shape), "indices": _elements(*shape, kernel=kernel, padding=padding)}
    scalars: dict[str, int] = {}
    for prefix, values in (("o", size), ("d", stride), ("p", padding)):
        scalars |= {prefix + letter: value for letter, value in zip("THW", values, strict=True)}
    return SampleInput(name, {**arguments, **scalars}, differentiable=small)


_VOLUME_MOVED = 4 * 32 * (8 * 28 * 28 * 12.0 + 16 * 56 * 56 * 4.0)

VOLUMETRIC_MAX_UNPOOLING = Case(
    module="VolumetricMaxUnpooling",
    reference=_volumetric,
    samples=(
        _volume("batch", (2, 2, 2, 3, 2), (4, 6, 5), (2, 2, 2), (2, 2, 2)),
        _volume("batchless", (2, 2, 2, 3), (4, 7, 9), (2, 3, 3), (2, 3, 2)),
        _volume("padding", (2, 2, 2, 3, 2), (3, 5, 3), (2, 2, 2), (2, 2, 2), (1, 1, 1)),
        _volume("sizes 1", (1, 1, 1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        _volume("empty", (0, 2, 2, 3, 2), (4, 6, 5), (2, 2, 2), (2, 2, 2)),
        _volume("overlapping windows", (2, 2, 3, 3, 4), (5, 5, 6), (1, 1, 1), (3, 3, 3), small=False),
        _volume("many planes", (2, 19, 3, 7, 8), (6, 14, 17), (2, 2, 2), (2, 2, 2), small=False),
        _volume("large planes", (1, 2, 15, 25, 24), (30, 50, 49), (2, 2, 2), (2, 2, 2), small=False),
    ),
    error_inputs=(
        *(
            ErrorInput(f"{name} {value}", {name: value}, ValueError, name, p)
            for p in _PHASES
            for name, value in (("oT", 0), ("oH", -1), ("dW", 0), ("dT", -1), ("pH", -1))
        ),
        ErrorInput("an image", {"input": normal(2, 6, 7)}, ValueError, "input"),
        *(
            ErrorInput(f"{name} too small", {name: size}, IndexError, "indices")
            for name, size in (("oT", 1), ("oW", 2), ("oH", 3))
        ),
        *(
            ErrorInput(f"{name} too large", {name: 2}, IndexError, "indices", p, of=0)
            for p in _PHASES
            for name in ("pT", "pW", "pH")
        ),
        *(
            ErrorInput(
                f"index {i}",
                {"indices": given([[[[[0, 0]] * 3, [[1, i]] * 3]] * 2] * 2, torch.int64)},
                IndexError,
                "indices",
                p,
            )
            for p in _PHASES
            for i in (-1, 4, 3 << 16, 1 << 24, 2**62)
        ),
    ),
    rows=(
        Row(
            "VolumetricMaxUnpooling 16x56x56 (4,32,8,28,28)",
            _volume("row", (4, 32, 8, 28, 28), (16, 56, 56), (2, 2, 2), (2, 2, 2)),
            bytes_moved={"fwd": _VOLUME_MOVED, "fb": 2 * _VOLUME_MOVED},
            ratio=1.3,
            fraction=0.5,
        ),
    ),
)
