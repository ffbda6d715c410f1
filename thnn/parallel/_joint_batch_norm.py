"""Batch normalization over the parts of a batch in all replicas of a network.

The function `_compute` replaces the method `_compute` of the layers in the replicas. Each replica computes the
statistics of its part. At a first rendezvous one replica merges them and updates the running statistics; each
normalizes its part. At a second rendezvous one replica creates a single autograd node for all parts. With one node per
replica, which would have to wait for each other, the backward would deadlock: it runs all CPU nodes in one thread.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from thnn._batch_norm import formula, stages
from thnn._batch_norm.activation import limit_of
from thnn._batch_norm.running_statistics import updated_by
from thnn._binding.arguments import NARROW_DTYPES, cast_for_autocast
from thnn._torch import BatchNormBase
from thnn.nn.batch_normalization import _BatchNorm
from thnn.nn.sync_batch_normalization import SyncBatchNorm
from thnn.parallel._collectives import AllReduce, ordered_sum
from thnn.parallel._replica_group import ReplicaGroup
from thnn.parallel._replicas import Replicas


def batch_normalizations(module: nn.Module) -> dict[str, BatchNormBase]:
    """The layers of batch normalization in a network, by their names in messages.

    Raises ValueError for layers with collectives between processes: the replicas would call them in random order.
    """
    layers = {}
    for name, layer in module.named_modules():
        if not isinstance(layer, BatchNormBase):
            continue
        label = f"{name!r} ({type(layer).__name__})" if name else type(layer).__name__
        if isinstance(layer, (nn.SyncBatchNorm, SyncBatchNorm)):
            raise ValueError(
                f"SelfDataParallel: {label} synchronizes processes, which the replicas of one process cannot;"
                " convert it with thnn.nn.revert_sync_batchnorm"
            )
        layers[label] = layer
    return layers


def synchronize(replicas: Replicas, layers: dict[str, BatchNormBase], group: ReplicaGroup) -> None:
    """Makes the replicas of each layer normalize by the statistics of the whole batch."""
    for label, layer in layers.items():
        for rank, replica in enumerate(replicas.of(layer)):
            kind: Any = type(replica)
            replica.__class__ = _joint_class(kind)
            replica._compute = functools.partial(_compute, replica, kind, label, group, rank)  # type: ignore[assignment]


@functools.cache
def _joint_class(kind: Any) -> type[nn.Module]:
    """A subclass in which the forward of thnn's layers, which calls `_compute`, replaces torch's forward.

    If the class defines a forward, that forward runs and has to call this one by super(), which `_checked` verifies.
    """
    bases = (kind,) if issubclass(kind, _BatchNorm) else (kind, _BatchNorm)
    members: dict[str, Any] = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    if kind.forward not in (BatchNormBase.forward, _BatchNorm.forward):
        members["forward"] = _checked
    return type(kind.__name__, bases, members)


def _checked(self: Any, *arguments: Any, **keywords: Any) -> Any:
    """Calls the forward that a class outside of torch and thnn defines; it must call the forward of its base class."""
    self._calls = 0
    output = super(type(self), self).forward(*arguments, **keywords)
    if not self._calls and (self.training or self.running_mean is None):
        raise NotImplementedError(
            f"layer {self._compute.args[2]}: cannot be synchronized, since the forward of its class does not call"
            " super().forward(input)"
        )
    return output


class _Part(NamedTuple):
    """The contribution of a replica to the first rendezvous."""

    input: Tensor
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    statistics: Tensor
    momentum: Any  # a number or a tensor
    recorded: bool  # needs an autograd node


def _compute(
    layer: Any,
    kind: Any,
    label: str,
    group: ReplicaGroup,
    rank: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    train: bool,
    momentum: Any,
) -> Tensor:
    """`_BatchNorm._compute` over the parts of all replicas."""
    layer._calls = 1
    if not train:
        if issubclass(kind, _BatchNorm):
            return kind._compute(layer, input, weight, bias, running_mean, running_var, False, momentum)
        return F.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, layer.eps)
    if issubclass(kind, _BatchNorm) and input.dtype not in NARROW_DTYPES:
        input, weight, bias = cast_for_autocast((input, weight, bias)) or (input, weight, bias)
    vectors = (weight, bias, running_mean, running_var)
    _check(f"layer {label}", layer.num_features, input, vectors)
    limit = limit_of(layer.activation)
    recorded = torch.is_grad_enabled() and any(
        t is not None and t.requires_grad for t in (input, weight, bias)
    )
    with torch.no_grad():
        part = _Part(
            input,
            weight,
            bias,
            running_mean,
            running_var,
            stages.statistics(input),
            momentum,
            recorded,
        )
        merge = functools.partial(_merge, label, layer.eps, layer.unbiased)
        # Allocated before the update of the running statistics, since the allocation can fail.
        output = torch.empty_like(input)
        mean, inverse, count, recorded = group.rendezvous(rank, f"layer {label}", part, merge)
        stages.normalize(input, weight, bias, mean, inverse, limit, output)
    if recorded:
        join = functools.partial(_join, layer.eps, limit)
        value = (input, weight, bias, output, mean, inverse, count)
        output = group.rendezvous(rank, f"layer {label}", value, join)
    return output


def _check(name: str, num_features: int, input: Tensor, vectors: Sequence[Tensor | None]) -> None:
    if input.shape[1] != num_features:
        raise ValueError(f"{name}: input: expected {num_features} channels, got {tuple(input.shape)}")
    if not input.is_floating_point():
        raise TypeError(f"{name}: input: expected floating-point numbers, got {input.dtype}")
    for vector in vectors:
        if vector is not None and vector.dtype not in (input.dtype, stages.statistics_dtype(input)):
            raise TypeError(
                f"{name}: input: expected {vector.dtype}, the type of its parameters, got {input.dtype}"
            )


def _merge(
    label: str, eps: float, unbiased: bool, parts: list[_Part]
) -> list[tuple[Tensor, Tensor, Tensor, bool]]:
    """For each part, on its device: mean, inverse deviation and number of values per channel (1) of the whole batch,
    and whether autograd records. Updates the running statistics of the first replica.
    """
    first = parts[0]
    for rank, part in enumerate(parts):
        for what, expected, got in (
            ("channels", first.input.shape[1], part.input.shape[1]),
            ("element type", first.input.dtype, part.input.dtype),
        ):
            if got != expected:
                raise ValueError(
                    f"layer {label}: expected the same {what} in all replicas, got {expected} in"
                    f" replica 0 and {got} in replica {rank}"
                )
    recorded = any(part.recorded for part in parts)
    with torch.no_grad():
        home, dtype = first.input.device, stages.statistics_dtype(first.input)
        merged = stages.merge_statistics(torch.stack([part.statistics.to(home) for part in parts]))
        try:
            mean, inverse = updated_by(
                lambda mean, var, momentum: stages.save_statistics(
                    merged, dtype, mean, var, momentum, eps, unbiased
                ),
                first.running_mean,
                first.running_var,
                first.momentum,
            )
        except ValueError as error:
            raise ValueError(f"layer {label}: {error}") from None
        statistics = mean, inverse, merged[-1:]
        devices = [part.input.device for part in parts]
        there = {device: [t.to(device) for t in statistics] for device in devices}
        return [(*there[device], recorded) for device in devices]  # type: ignore[misc]


def _join(eps: float, limit: float | None, values: list[tuple[Any, ...]]) -> Sequence[Tensor]:
    inputs, weights, biases, outputs, means, inverses, counts = zip(*values)
    with torch.enable_grad():
        forward_results = (outputs, means, inverses, counts, eps, limit)
        joint: tuple[Tensor, ...] = JointBatchNormalization.apply(forward_results, *inputs, *weights, *biases)
    return joint


class JointBatchNormalization(torch.autograd.Function):
    """The autograd node of one layer in all replicas, which have computed its forward.

    Arguments: (outputs, means, inverse deviations, numbers of values per channel, eps, limit of relu or None), then the
    inputs of all replicas, all weights, all biases. Differentiable any number of times.
    """

    @staticmethod
    def forward(ctx: Any, forward_results: tuple[Any, ...], *tensors: Tensor | None) -> tuple[Tensor, ...]:
        outputs, *ctx.forward_results = forward_results
        ctx.save_for_backward(*tensors)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradOutputs: Tensor) -> Any:
        means, inverses, counts, eps, limit = ctx.forward_results
        K = len(gradOutputs)
        tensors = ctx.saved_tensors
        inputs, weights, biases = tensors[:K], tensors[K : 2 * K], tensors[2 * K :]
        needs = ctx.needs_input_grad[1:]
        arguments = zip(gradOutputs, inputs, weights, biases, means, inverses)
        parts = [formula.Part(*part) for part in arguments]
        if torch.is_grad_enabled():
            if limit is not None:
                parts = [formula.relu_backward(part, limit) for part in parts]
            found = formula.gradients(
                parts,
                [needs[k::K] for k in range(K)],
                eps,
                counts,
                lambda vectors: AllReduce.apply(*vectors),
            )
            return None, *(gradient for column in zip(*found) for gradient in column)
        sums = [
            stages.grad_sums(p.input, p.gradOutput, p.weight, p.bias, p.mean, p.inverse, limit) for p in parts
        ]
        total = ordered_sum(sums) if any(needs[:K]) else None
        gradients: list[Tensor | None] = [None] * (3 * K)
        for k, (g, x, w, b, mean, inverse) in enumerate(parts):
            if needs[k]:
                assert total is not None
                # Divided on the device, as in SyncBatchNormalizationFunction.
                of_batch = total.to(x.device) / counts[k]
                gradients[k] = stages.grad_input(x, g, w, b, mean, inverse, of_batch, 1.0, limit)
            total_k, product_k = sums[k].chunk(2)
            if needs[K + k]:
                assert w is not None
                gradients[K + k] = (product_k * inverse).to(w.dtype)
            if needs[2 * K + k]:
                assert b is not None
                gradients[2 * K + k] = total_k.to(b.dtype)
        return None, *gradients
