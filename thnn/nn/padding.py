"""Layers of padding."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional.padding import pad

_SHAPES = {
    1: "input (N, C, W) or (C, W), output with W + left + right",
    2: "input (N, C, H, W) or (C, H, W), output with H + top + bottom and W + left + right",
    3: "input (N, C, D, H, W) or (C, D, H, W), output with the paddings of each axis added",
}


def _doc(name: str, function: str) -> str:
    what = (
        "Padding with the mirror image of the input, in which the outermost elements are not repeated"
        if "Reflection" in name
        else "Padding with the outermost elements of the input"
    )
    return layer_doc(name, what, _SHAPES[int(name[-2])], function, remarks="Negative padding crops.")


class _Pad(torch.nn.Module):
    padding: Any

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        # torch.compile traces this; before torch 2.11 it knows no types of the form A | B.
        mode = "reflect" if isinstance(self, (ReflectionPad1d, ReflectionPad2d)) else "replicate"
        return pad(input, self.padding, mode)


class ReflectionPad1d(_Pad, torch.nn.ReflectionPad1d):
    __doc__ = _doc("ReflectionPad1d", "TemporalReflectionPaddingFunction")


class ReflectionPad2d(_Pad, torch.nn.ReflectionPad2d):
    __doc__ = _doc("ReflectionPad2d", "SpatialReflectionPaddingFunction")


class ReplicationPad1d(_Pad, torch.nn.ReplicationPad1d):
    __doc__ = _doc("ReplicationPad1d", "TemporalReplicationPaddingFunction")


class ReplicationPad2d(_Pad, torch.nn.ReplicationPad2d):
    __doc__ = _doc("ReplicationPad2d", "SpatialReplicationPaddingFunction")


class ReplicationPad3d(_Pad, torch.nn.ReplicationPad3d):
    __doc__ = _doc("ReplicationPad3d", "VolumetricReplicationPaddingFunction")
