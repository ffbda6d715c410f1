"""Normalization: the functions of ``torch.nn.functional`` of the same names, computed by thnn.

Inputs are float32 or float64, on a CUDA device also float16 and bfloat16. Errors: TypeError for other types, ValueError
for wrong sizes and settings.
"""

from __future__ import annotations

from torch import Tensor

from thnn._classes import function_classes

_batch_normalization = function_classes["BatchNormalizationFunction"]
_response_normalization = function_classes["SpatialCrossMapLRNFunction"]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Batch normalization of an input (N, C, ...) by the batch statistics in training, else by the running statistics.

    In training the running statistics that are given are updated. ValueError for one value per channel in training.
    """
    output: Tensor = _batch_normalization.apply(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    return output


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """input / (k + alpha * mean of the squares of `size` neighbouring channels)^beta, for an input (N, C, ...).

    Source: Krizhevsky, Sutskever and Hinton 2012; the mean counts channels that do not exist as 0.
    """
    if input.dim() < 3:
        raise ValueError(f"input: expected at least 3 dimensions (N, C, ...), got shape {tuple(input.shape)}")
    output: Tensor
    if input.dim() == 4:
        output = _response_normalization.apply(input, size, alpha, beta, k)
        return output
    output = _response_normalization.apply(input.flatten(2).unsqueeze(-1), size, alpha, beta, k)
    return output.reshape(input.shape)
