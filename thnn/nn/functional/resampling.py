"""Interpolation and grid samplers: the functions of ``torch.nn.functional`` of the same names, computed by thnn.

Inputs are float32, float64, float16 or bfloat16. Errors: TypeError for other types, ValueError
for wrong dimensions and settings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn._binding.arguments import to_bool
from thnn._classes import function_classes
from thnn.nn.functional._per_axis import check_output_sizes, per_axis, scaled

_interpolation = function_classes["InterpolationFunction"]
_sample2d = function_classes["SpatialGridSamplerBilinearFunction"]
_sample3d = function_classes["VolumetricGridSamplerBilinearFunction"]

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """A sequence (N, C, L), image (N, C, H, W) or volume (N, C, D, H, W) in another size.

    `mode` is 'nearest', or 'linear', 'bilinear', 'trilinear' by the number of axes; torch computes other modes. See
    torch.nn.functional.interpolate.
    """
    dims = input.dim() - 2
    linear = mode in _LINEAR
    if antialias or not (linear or mode == "nearest"):
        return F.interpolate(
            input,
            size,
            scale_factor,
            mode,
            align_corners,
            recompute_scale_factor,
            antialias,
        )
    expected = {_LINEAR[mode]} if linear else {1, 2, 3}
    if dims not in expected:
        raise ValueError(
            f"input: expected {' or '.join(str(d + 2) for d in sorted(expected))} dimensions (N, C, ...) for"
            f" mode={mode!r}, got shape {tuple(input.shape)}"
        )
    if align_corners is not None and not linear:
        raise ValueError(f"align_corners: expected None for mode={mode!r}, got {align_corners}")
    sizes, scales = _sizes(input.shape[2:], size, scale_factor, recompute_scale_factor)
    is_aligned = align_corners is not None and to_bool("align_corners", align_corners)
    if is_aligned:
        scales = (0.0,) * dims  # with aligned corners only the sizes determine the positions
    output: Tensor = _interpolation.apply(
        input, *[1] * (3 - dims), *sizes, linear, is_aligned, *[0.0] * (3 - dims), *scales
    )
    return output


def _sizes(
    given: Sequence[int],
    size: int | Sequence[int] | None,
    scale_factor: float | Sequence[float] | None,
    recompute_scale_factor: bool | None,
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The output size, and for each axis the number of input elements per output element; 0: the quotient of the
    sizes, by the C function."""
    dims = len(given)
    if (size is None) == (scale_factor is None):
        raise ValueError(f"size, scale_factor: expected one of them, got {size!r} and {scale_factor!r}")
    if size is not None:
        if recompute_scale_factor:
            raise ValueError("recompute_scale_factor: expected False or None where a size is given, got True")
        return per_axis("size", size, dims), (0.0,) * dims
    factors = per_axis("scale_factor", scale_factor, dims)
    if not all(0 < factor < math.inf for factor in factors):
        raise ValueError(f"scale_factor: expected positive numbers, got {scale_factor}")
    sizes = tuple(scaled(length, factor) for length, factor in zip(given, factors))
    check_output_sizes("scale_factor", sizes)
    return sizes, (0.0,) * dims if recompute_scale_factor else tuple(1 / factor for factor in factors)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """An image (N, C, H, W) or volume (N, C, D, H, W) at the positions of a grid (N, oH, oW, 2) or (N, oD, oH, oW, 3).

    thnn computes mode='bilinear' with padding_mode='zeros', torch the rest. Without align_corners the grid is scaled
    by size / (size - 1). See torch.nn.functional.grid_sample.
    """
    dims = input.dim() - 2
    if dims not in (2, 3):
        raise ValueError(f"input: expected 4 or 5 dimensions (N, C, ...), got shape {tuple(input.shape)}")
    align_corners = align_corners is not None and to_bool("align_corners", align_corners)
    sizes = input.shape[:1:-1]  # width first, as in the grid
    if (
        mode != "bilinear"
        or padding_mode != "zeros"
        or not (align_corners or all(size > 1 for size in sizes))
    ):
        return F.grid_sample(input, grid, mode, padding_mode, align_corners)
    if not align_corners:
        # Python numbers: a tensor of the factors would be copied to the device in each call.
        coordinates = zip(grid.unbind(-1), sizes)
        grid = torch.stack([x * (size / (size - 1)) for x, size in coordinates], dim=-1)
    output: Tensor = (_sample2d.apply if dims == 2 else _sample3d.apply)(input, grid)
    return output
