"""What running statistics become after a batch: the one rule of the layers and of ``thnn.batch_norm``.

    running = (1 - share) * running + share * batch

The share of a batch is ``momentum`` as torch counts it, or 1 - ``decay``; 1 / (number of batches) for a cumulative
average; 1 for a first batch that replaces what was there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import torch
from torch import Tensor

FirstBatch = Literal["blend", "initialize"]
FIRST_BATCH: Final = ("blend", "initialize")


def fraction(where: str, name: str, value: Any) -> float:
    """A number from 0 to 1; TypeError or ValueError otherwise."""
    result = not_negative(where, name, value)
    if result > 1:
        raise ValueError(f"{where}: {name}: expected a number from 0 to 1, got {value!r}")
    return result


def not_negative(where: str, name: str, value: Any) -> float:
    """A number that is 0 or more; TypeError or ValueError otherwise."""
    if type(value) is float and value >= 0:
        return value
    result = number(where, name, value)
    if not result >= 0:
        raise ValueError(f"{where}: {name}: expected a number that is not negative, got {value!r}")
    return result


def number(where: str, name: str, value: Any) -> float:
    """A number; TypeError for what is none, ValueError for integers that no float64 can hold."""
    if isinstance(value, Tensor) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"{where}: {name}: expected a number, got {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{where}: {name}: too large for a number of float64") from None


def complement(value: float) -> float:
    """Momentum from decay and back: 0.1 for 0.9, rather than 0.09999999999999998."""
    return round(1 - value, 15)


def share(momentum: float | None, first_batch: str, batches: Tensor | None) -> float:
    """Share of the next batch, where `batches` counts those that the running statistics have seen."""
    if momentum is not None and first_batch == "blend":
        return momentum
    if first_batch not in FIRST_BATCH:
        raise ValueError(f"first_batch: expected one of {FIRST_BATCH}, got {first_batch!r}")
    if batches is None:
        raise ValueError("num_batches_tracked: expected the number of batches so far, got None")
    before = int(batches)
    if before == 0 and first_batch == "initialize":
        return 1.0
    return momentum if momentum is not None else 1 / (before + 1)


def update(running: Tensor, batch: Tensor, share: float) -> None:
    """Takes a batch into a running statistic; one of share 1 replaces whatever was there, NaN included."""
    if share == 1:
        running.copy_(batch)
    else:
        running.lerp_(batch, share)


def normalize_by_batch(
    apply: Callable[..., Tensor],
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    eps: float,
    unbiased: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Training that leaves the running statistics alone: the output, and mean and variance of the batch.

    `apply` is that of a batch normalization class. It blends unbiased variances, and with momentum 1 into vectors of
    zeros that leaves those of the batch.
    """
    if (running_mean.is_inference() or running_var.is_inference()) and not torch.is_inference_mode_enabled():
        # torch would refuse them as well, but after the first has changed.
        raise ValueError("running statistics: inference tensors cannot be changed outside of inference mode")
    mean, variance = torch.zeros_like(running_mean), torch.zeros_like(running_var)
    output = apply(input, weight, bias, mean, variance, True, 1.0, eps)
    if not unbiased:
        count = input.numel() // max(mean.numel(), 1)
        variance.mul_((count - 1) / max(count, 1))
    return output, mean, variance
