"""The update of running statistics, for the layers and ``thnn.batch_norm``, and the checks of its settings.

    running = (1 - weight) * running + weight * batch

The weight of a batch is ``momentum`` in torch's convention, 1 - ``decay``; 1 / (number of batches) for a cumulative
average; 1 for a first batch that replaces the initial values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

import torch
from torch import Tensor

from thnn._torch import in_transform, recomputation_ends

_T = TypeVar("_T")
FirstBatch = Literal["blend", "initialize"]
FIRST_BATCH: Final = ("blend", "initialize")


def fraction(where: str, name: str, value: Any) -> float:
    """The value as a float from 0 to 1; TypeError or ValueError otherwise."""
    result = not_negative(where, name, value)
    if result > 1:
        raise ValueError(f"{where}: {name}: expected a number from 0 to 1, got {value!r}")
    return result


def not_negative(where: str, name: str, value: Any) -> float:
    """The value as a float of at least 0; TypeError or ValueError otherwise."""
    if type(value) is float and value >= 0:
        return value
    result = number(where, name, value)
    if not result >= 0:
        raise ValueError(f"{where}: {name}: expected a number that is not negative, got {value!r}")
    return result


def number(where: str, name: str, value: Any) -> float:
    """The value as a float; TypeError if it is not a number, ValueError for integers beyond the range of float64."""
    if isinstance(value, Tensor) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"{where}: {name}: expected a number, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{where}: {name}: exceeds the range of float64") from None


def complement(value: float) -> float:
    """1 - value, which converts momentum to decay and back; rounded, so that 0.9 gives 0.1, not 0.09999999999999998."""
    return round(1 - value, 15)


def weight_of_batch(momentum: float | None, first_batch: str, batches: Tensor | None) -> float | Tensor:
    """The weight of the next batch; `batches` is the number of batches before it (num_batches_tracked).

    Unless it is the fixed momentum, it is a tensor if the call is recorded, since a number would become a constant of
    the recording, and on devices other than the CPU, so that the host need not wait for the device.
    """
    if momentum is not None and first_batch == "blend":
        return momentum
    if first_batch not in FIRST_BATCH:
        raise ValueError(
            f"BatchNormalization: first_batch: expected one of {FIRST_BATCH}, got {first_batch!r}"
        )
    if batches is None:
        raise ValueError(
            "BatchNormalization: num_batches_tracked: expected the number of previous batches, got None"
        )
    if batches.device.type != "cpu" or torch.compiler.is_compiling() or in_transform():
        weight = (
            1 / (batches.double() + 1)
            if momentum is None
            else torch.full_like(batches, momentum, dtype=torch.float64)
        )
        return torch.where(batches == 0, 1.0, weight) if first_batch == "initialize" else weight
    before = int(batches)
    if before == 0 and first_batch == "initialize":
        return 1.0
    return momentum if momentum is not None else 1 / (before + 1)


def update(running: Tensor, batch: Tensor, weight: float | Tensor) -> None:
    """Updates a running statistic by the batch statistic; weight 1 replaces it, even if it is NaN."""
    if batch.dtype is not running.dtype:  # `to` takes time even if it changes nothing
        batch = batch.to(running.dtype)
    if isinstance(weight, Tensor):
        running.copy_(torch.where(weight == 1, batch, torch.lerp(running, batch, weight.to(running.dtype))))
    elif weight == 1:
        running.copy_(batch)
    else:
        running.lerp_(batch, weight)


def updated_by(
    function: Callable[[Tensor | None, Tensor | None, float], _T],
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: float | Tensor,
) -> _T:
    """The result of function(running_mean, running_var, weight), which updates the running statistics by C functions.

    These take a number, which the host would have to read from a tensor. With a weight of 1, the old running statistics
    may be NaN, and 0 * NaN is NaN. In both cases the function gets vectors of zeros and a weight of 1.
    """
    if running_mean is None or running_var is None or not (isinstance(weight, Tensor) or weight == 1):
        return function(running_mean, running_var, weight)  # type: ignore[arg-type]
    mean, variance = torch.zeros_like(running_mean), torch.zeros_like(running_var)

    def update_both() -> None:
        update(running_mean, mean, weight)
        update(running_var, variance, weight)

    return _with_update(lambda: function(mean, variance, 1.0), update_both)


def _with_update(function: Callable[[], _T], update_both: Callable[[], None]) -> _T:
    """The result of a function that computes statistics, which `update_both` then uses."""
    try:
        result = function()
    except recomputation_ends:  # raised after the computation, when an autograd function saves its inputs
        update_both()
        raise
    update_both()
    return result


def normalize_by_batch(
    apply: Callable[..., Tensor],
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float | Tensor,
    eps: float,
    unbiased: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Output, mean and variance of a batch in training, which updates the running statistics with weight `momentum`.

    `apply` is the method of a batch normalization class. With momentum 1 and vectors of zeros as running statistics,
    these become the mean and the unbiased variance of the batch.
    """
    is_written = not torch.compiler.is_compiling() and not torch.is_inference_mode_enabled()
    if is_written and (running_mean.is_inference() or running_var.is_inference()):
        # torch's own error would come after the update of the running mean.
        raise ValueError(
            "BatchNormalization: running statistics: inference tensors cannot be changed outside of inference mode"
        )
    mean, variance = torch.zeros_like(running_mean), torch.zeros_like(running_var)

    def update_both() -> None:
        if not unbiased:
            count = input.numel() // max(mean.numel(), 1)
            variance.mul_((count - 1) / max(count, 1))
        update(running_mean, mean, momentum)
        update(running_var, variance, momentum)

    output = _with_update(lambda: apply(input, weight, bias, mean, variance, True, 1.0, eps), update_both)
    return output, mean, variance
