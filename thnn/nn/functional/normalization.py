"""Normalization: the functions of ``torch.nn.functional`` of the same names, computed by thnn.

Inputs are float32, float64, float16 or bfloat16. Errors: TypeError for other types, ValueError
for wrong sizes and settings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from thnn._binding.arguments import in_float32, to_bool
from thnn._classes import function_classes

_batch_normalization = function_classes["BatchNormalizationFunction"]
_group_normalization = function_classes["GroupNormalizationFunction"]
_layer_normalization = function_classes["LayerNormalizationFunction"]
_rms_normalization = function_classes["RMSNormalizationFunction"]
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


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalization of each of `num_groups` groups of channels of each sample of an input (N, C, ...).

    ValueError for a number of groups that does not divide C. Source: Wu and He 2018.
    """
    output: Tensor = _group_normalization.apply(input, weight, bias, num_groups, eps)
    return output


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalization of each channel of each sample of an input (N, C, ...); by the running statistics, as in batch
    normalization, if `use_input_stats` is False.

    The running statistics that are given are updated by the mean of the statistics of the samples, of variances the
    unbiased ones. ValueError for one element per channel, and for one of the two running statistics without the other.
    Source: Ulyanov, Vedaldi and Lempitsky 2016.
    """
    if not to_bool("use_input_stats", use_input_stats):
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if input.dim() < 2:
        raise ValueError(f"input: expected at least 2 dimensions (N, C, ...), got shape {tuple(input.shape)}")
    samples, channels, *sizes = input.shape
    if math.prod(sizes) == 1:
        raise ValueError(
            f"input: expected more than 1 element per channel of a sample, got shape {tuple(input.shape)}"
        )
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean, running_var: expected both or neither, got one of them")
    if running_mean is None or running_var is None or samples == 0:
        return group_norm(input, max(channels, 1), weight, bias, eps)
    vectors = {"weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var}
    for name, vector in vectors.items():
        if vector is not None and vector.shape != (channels,):
            raise ValueError(
                f"{name}: expected one value per channel, ({channels},), got {tuple(vector.shape)}"
            )
    # The channels of all samples as the channels of one sample.
    repeated = (None if v is None else v.repeat(samples) for v in (weight, bias))
    mean, variance = running_mean.repeat(samples), running_var.repeat(samples)
    output: Tensor = _batch_normalization.apply(
        input.reshape(1, samples * channels, *sizes), *repeated, mean, variance, True, momentum, eps
    )
    with torch.no_grad():
        running_mean.copy_(mean.reshape(samples, channels).mean(0))
        running_var.copy_(variance.reshape(samples, channels).mean(0))
    return output.reshape(input.shape)


def _row_dims(input: Tensor, normalized_shape: Sequence[int]) -> int:
    """The number of dimensions of a row, whose sizes the input must have."""
    dims, shape = len(normalized_shape), tuple(normalized_shape)
    if not dims or tuple(input.shape[-dims:]) != shape:
        raise ValueError(
            f"normalized_shape: expected the last sizes of input, of shape {tuple(input.shape)}, got {shape}"
        )
    return dims


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalization of each row of the last dimensions of an input (..., *normalized_shape).

    ValueError for an input with other last sizes. Source: Ba, Kiros and Hinton 2016.
    """
    output: Tensor = _layer_normalization.apply(input, weight, bias, _row_dims(input, normalized_shape), eps)
    return output


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """input / sqrt(mean(input^2) + eps) * weight for each row of the last dimensions of an input
    (..., *normalized_shape).

    `eps` is that of the arithmetic if it is None: torch.finfo(torch.float64).eps for float64, else
    torch.finfo(torch.float32).eps. ValueError for an input with other last sizes. Source: Zhang and Sennrich 2019.
    """
    dims = _row_dims(input, normalized_shape)
    if eps is None:
        eps = torch.finfo(torch.float64 if input.dtype == torch.float64 else torch.float32).eps
    output: Tensor = _rms_normalization.apply(input, weight, dims, eps)
    return output


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """input / (k + alpha * mean of the squares of `size` neighbouring channels)^beta, for an input (N, C, ...).

    Source: Krizhevsky, Sutskever and Hinton 2012; the mean counts channels that do not exist as 0.
    """
    if input.dim() < 3:
        raise ValueError(f"input: expected at least 3 dimensions (N, C, ...), got shape {tuple(input.shape)}")
    (input,) = in_float32(input)
    output: Tensor
    if input.dim() == 4:
        output = _response_normalization.apply(input, size, alpha, beta, k)
        return output
    output = _response_normalization.apply(input.flatten(2).unsqueeze(-1), size, alpha, beta, k)
    return output.reshape(input.shape)
