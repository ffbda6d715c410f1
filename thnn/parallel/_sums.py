"""Sums over devices as autograd nodes: `AllReduce`, and `Broadcast`, whose backward is a sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def add_up(tensors: Sequence[Tensor]) -> Tensor:
    """The sum, added in order on the device of the first, so that its bits depend on nothing else."""
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor.to(total.device)
    return total


class AllReduce(torch.autograd.Function):
    """Sum over devices: ``AllReduce.apply(*tensors)`` takes a tensor from each and gives each the sum of all.

    Shapes: any, the same for all tensors, and one element type; devices may repeat. Returns a tuple with as many
    tensors, the i-th on the device of the i-th argument, none sharing memory with another or with an argument.
    Backward: each argument gets the sum of the gradients of all outputs; differentiable any number of times.
    Tensors are added in the order of the arguments, on the device of the first: the same call gives the same bits.

    Errors: TypeError for something that is no tensor; ValueError without any tensor, and for shapes or element types
    that differ.
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
        total = add_up(tensors)
        if total is first:
            total = total.clone()
        return (total, *(total.to(t.device, copy=True) for t in tensors[1:]))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return AllReduce.apply(*gradients)


class Broadcast(torch.autograd.Function):
    """Tensors on each of several devices: ``Broadcast.apply(devices, *tensors)``.

    Returns the tensors as the first device sees them, then as the second does, and so on. Where a tensor is there
    already its memory is used. Backward: the gradients from all devices, added in the order of the devices, whatever
    the threads that used them did first.
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
            summed.append(add_up([given[0].to(home), *given[1:]]) if given else None)
        return None, *summed
