"""Layers: ``torch.nn`` modules that compute with thnn.

Each layer has the constructor, parameters, buffers and ``state_dict`` of the torch layer of the same name and can
replace it.
"""

from __future__ import annotations

from thnn.nn.batch_normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from thnn.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from thnn.nn.linear import Linear
from thnn.nn.sync_batch_normalization import SyncBatchNorm, convert_sync_batchnorm, revert_sync_batchnorm

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Linear",
    "SyncBatchNorm",
    "convert_sync_batchnorm",
    "revert_sync_batchnorm",
]
