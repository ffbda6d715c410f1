"""Differentiable collectives over the devices of one process: `AllReduce` and `Broadcast`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def ordered_sum(tensors: Sequence[Tensor]) -> Tensor:
    """The sum in the order of the tensors, on the device of the first: its bits depend on nothing else."""
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor.to(total.device)
    return total


class AllReduce(torch.autograd.Function):
    """Sum over devices: ``AllReduce.apply(*tensors)`` takes a tensor per device and returns the sum on each device.

    Shapes: any, equal for all tensors, as is the element type; devices may repeat. Returns a tuple of as many tensors,
    the i-th on the device of the i-th argument; none shares memory with another or with an argument.
    Backward: the gradient of each argument is the sum of the gradients of all outputs; differentiable any number of
    times. The sum is in the order of the arguments, on the device of the first: equal calls give equal bits.

    Errors: TypeError for an argument that is not a tensor; ValueError without arguments, and for different shapes or
    element types.
    """

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        if not tensors:
            raise ValueError("AllReduce: expected a tensor per device, got none")
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"AllReduce: argument {i}: expected a tensor, got {type(tensor).__name__}")
        first = tensors[0]
        for what, values in (
            ("one shape", [tuple(t.shape) for t in tensors]),
            ("one element type", [t.dtype for t in tensors]),
        ):
            for i, value in enumerate(values):
                if value != values[0]:
                    raise ValueError(
                        f"AllReduce: expected {what}, got {values[0]} and, as argument {i}, {value}"
                    )
        total = ordered_sum(tensors)
        if total is first:
            total = total.clone()
        return (total, *(total.to(t.device, copy=True) for t in tensors[1:]))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return AllReduce.apply(*gradients)


class Broadcast(torch.autograd.Function):
    """Copies of tensors on several devices: ``Broadcast.apply(devices, *tensors)``.

    Returns all tensors on the first device, then all on the second, and so on. A tensor on its own device is not
    copied. Backward: the gradients from all devices, added in the order of the devices, not in the order in which the
    threads of the devices computed them.
    """

    @staticmethod
    def forward(ctx: Any, devices: Sequence[torch.device], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.homes = [t.device for t in tensors]
        ctx.set_materialize_grads(False)
        moved: dict[tuple[int, torch.device], Tensor] = {}
        result = []
        for device in devices:
            for i, tensor in enumerate(tensors):
                if (i, device) not in moved:
                    moved[i, device] = tensor.to(device)
                result.append(moved[i, device].detach())
        return tuple(result)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> Any:
        summed: list[Tensor | None] = []
        for i, home in enumerate(ctx.homes):
            given = [g for g in gradients[i :: len(ctx.homes)] if g is not None]
            summed.append(ordered_sum([given[0].to(home), *given[1:]]) if given else None)
        return None, *summed
