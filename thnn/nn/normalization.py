"""LocalResponseNorm."""

from __future__ import annotations

import torch
from torch import Tensor

from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional.normalization import local_response_norm


class LocalResponseNorm(torch.nn.LocalResponseNorm):
    __doc__ = layer_doc(
        "LocalResponseNorm",
        "input / (k + alpha * mean of the squares of size neighbouring channels)^beta",
        "input and output (N, C, ...)",
        "SpatialCrossMapLRNFunction",
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)
