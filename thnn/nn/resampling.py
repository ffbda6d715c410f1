"""Layers of up-sampling."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional.resampling import interpolate


class _Upsample(torch.nn.Module):
    size: Any
    scale_factor: Any
    mode: str
    align_corners: bool | None
    recompute_scale_factor: bool | None

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )


class Upsample(_Upsample, torch.nn.Upsample):
    __doc__ = layer_doc(
        "Upsample",
        "The input in another size, by nearest elements or by linear interpolation",
        "input (N, C, L), (N, C, H, W) or (N, C, D, H, W), output with the sizes given",
        "InterpolationFunction",
        remarks="Mode 'bicubic' is computed by torch.",
    )


class UpsamplingNearest2d(_Upsample, torch.nn.UpsamplingNearest2d):
    __doc__ = layer_doc(
        "UpsamplingNearest2d",
        "Images in another size, by nearest pixels",
        "input (N, C, H, W), output (N, C, oH, oW)",
        "InterpolationFunction",
    )


class UpsamplingBilinear2d(_Upsample, torch.nn.UpsamplingBilinear2d):
    __doc__ = layer_doc(
        "UpsamplingBilinear2d",
        "Images in another size, by linear interpolation with aligned corners",
        "input (N, C, H, W), output (N, C, oH, oW)",
        "InterpolationFunction",
    )
