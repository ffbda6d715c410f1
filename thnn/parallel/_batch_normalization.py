"""Batch normalization that the replicas of a network have in common.

In a replica the layer's `_compute` leads here. Each replica finds the statistics of its part of the batch; they meet;
the last to come merges all parts and updates the running statistics; each normalizes its part. Then they meet once
more, to make one autograd node of all parts. It has to be one: torch runs the backward of all CPU nodes in one thread,
where replicas that waited for each other would wait forever.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from thnn._batch_norm import phases
from thnn._batch_norm import statistics as _statistics
from thnn._torch import BatchNormBase
from thnn.nn.batch_normalization import _BatchNorm
from thnn.nn.sync_batch_normalization import SyncBatchNorm
from thnn.parallel._replicas import Replicas
from thnn.parallel._sums import add_up
from thnn.parallel._team import Team

MOVING_STATISTICS = ("sync", "first", "last", "mean", "sum")


def batch_normalizations(module: nn.Module) -> dict[str, BatchNormBase]:
    """The layers of batch normalization in a network, by what messages call them.

    ValueError for those which meet other processes: their replicas would meet them in an order of chance.
    """
    layers = {}
    for name, layer in module.named_modules():
        if not isinstance(layer, BatchNormBase):
            continue
        label = f"{name!r} ({type(layer).__name__})" if name else type(layer).__name__
        if isinstance(layer, (nn.SyncBatchNorm, SyncBatchNorm)):
            raise ValueError(
                f"SelfDataParallel: {label} synchronizes processes, which replicas in one process cannot take part in;"
                " thnn.nn.revert_sync_batchnorm makes an ordinary layer of it"
            )
        layers[label] = layer
    return layers


# Normalization across devices


def synchronize(replicas: Replicas, layers: dict[str, BatchNormBase], team: Team) -> None:
    """Has the replicas of each layer normalize the whole batch together."""
    for label, layer in layers.items():
        for rank, replica in enumerate(replicas.of(layer)):
            kind: Any = type(replica)
            replica.__class__ = _joint_class(kind)
            replica._compute = functools.partial(_compute, replica, kind, label, team, rank)  # type: ignore[assignment]


@functools.cache
def _joint_class(kind: Any) -> type[nn.Module]:
    """The class with torch's forward replaced by thnn's, which leads to `_compute`; its own forward stays in front."""
    bases = (kind,) if issubclass(kind, _BatchNorm) else (kind, _BatchNorm)
    members: dict[str, Any] = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    if kind.forward not in (BatchNormBase.forward, _BatchNorm.forward):
        members["forward"] = _checked
    return type(kind.__name__, bases, members)


def _checked(self: Any, *arguments: Any, **keywords: Any) -> Any:
    """A forward of somebody else's, which may or may not call the one that it overrides."""
    self._calls = 0
    output = super(type(self), self).forward(*arguments, **keywords)
    if not self._calls and (self.training or self.running_mean is None):
        raise NotImplementedError(
            f"layer {self._compute.args[2]}: its class has a forward of its own that does not call"
            " super().forward(input): it cannot be synchronized"
        )
    return output


class _Part(NamedTuple):
    """What one replica brings to the first meeting."""

    input: Tensor
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    statistics: Tensor
    momentum: float
    recorded: bool  # an autograd node is wanted


def _compute(
    layer: Any,
    kind: Any,
    label: str,
    team: Team,
    rank: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    train: bool,
    momentum: float,
) -> Tensor:
    """What a layer's `_compute` does, over the parts of all replicas."""
    layer._calls = 1
    if not train:
        if issubclass(kind, _BatchNorm):
            return kind._compute(layer, input, weight, bias, running_mean, running_var, False, momentum)
        return F.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, layer.eps)
    vectors = (weight, bias, running_mean, running_var)
    _check(f"layer {label}", layer.num_features, input, vectors)
    relu = layer.activation == "relu"
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
            phases.statistics(input),
            momentum,
            recorded,
        )
        merge = functools.partial(_merge, label, layer.eps, layer.unbiased)
        mean, inverse, count, recorded = team.meet(rank, f"layer {label}", part, merge)
        output = phases.normalize(input, weight, bias, mean, inverse, relu)
    if recorded:
        join = functools.partial(_join, count, layer.eps, relu)
        value = (input, weight, bias, output, mean, inverse)
        output = team.meet(rank, f"layer {label}", value, join)
    return output


def _check(name: str, num_features: int, input: Tensor, vectors: Sequence[Tensor | None]) -> None:
    if input.shape[1] != num_features:
        raise ValueError(f"{name}: input: expected {num_features} channels, got {tuple(input.shape)}")
    if not input.is_floating_point():
        raise TypeError(f"{name}: input: expected floating-point numbers, got {input.dtype}")
    for vector in vectors:
        if vector is not None and vector.dtype not in (input.dtype, phases.statistics_dtype(input)):
            raise TypeError(
                f"{name}: input: expected {vector.dtype} as its parameters are, got {input.dtype}"
            )


def _merge(
    label: str, eps: float, unbiased: bool, parts: list[_Part]
) -> list[tuple[Tensor, Tensor, float, bool]]:
    """Mean and inverse deviation of the whole batch, on each device; updates the running statistics of the first."""
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
        home = first.input.device
        merged = phases.merge_statistics(torch.stack([part.statistics.to(home) for part in parts]))
        try:
            mean, inverse = phases.save_statistics(
                merged,
                phases.statistics_dtype(first.input),
                first.running_mean,
                first.running_var,
                first.momentum,
                eps,
                unbiased,
            )
        except ValueError as error:
            raise ValueError(f"layer {label}: {error}") from None
        count = float(merged[-1])
        return [
            (mean.to(part.input.device), inverse.to(part.input.device), count, recorded) for part in parts
        ]


def _join(count: float, eps: float, relu: bool, values: list[tuple[Any, ...]]) -> Sequence[Tensor]:
    inputs, weights, biases, outputs, means, inverses = zip(*values)
    with torch.enable_grad():
        made = (outputs, means, inverses, count, eps, relu)
        joint: tuple[Tensor, ...] = JointBatchNormalization.apply(made, *inputs, *weights, *biases)
    return joint


class JointBatchNormalization(torch.autograd.Function):
    """The node of one layer in all replicas: its forward has been computed by them already.

    Arguments: (outputs, means, inverse deviations, values per channel, eps, relu), then the inputs of all replicas,
    all weights, all biases. Differentiable twice.
    """

    @staticmethod
    def forward(ctx: Any, made: tuple[Any, ...], *tensors: Tensor | None) -> tuple[Tensor, ...]:
        outputs, *ctx.made = made
        ctx.save_for_backward(*tensors)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradOutputs: Tensor) -> Any:
        means, inverses, count, eps, relu = ctx.made
        K = len(gradOutputs)
        tensors = ctx.saved_tensors
        inputs, weights, biases = tensors[:K], tensors[K : 2 * K], tensors[2 * K :]
        needs = ctx.needs_input_grad[1:]
        parts = list(zip(inputs, gradOutputs, weights, biases, means, inverses))
        if torch.is_grad_enabled():
            if relu:
                gradOutputs = tuple(
                    g.masked_fill(phases.normalize(x, w, b, mean, inv, False) <= 0, 0)
                    for x, g, w, b, mean, inv in parts
                )
            return None, *_gradients(needs, gradOutputs, inputs, weights, biases, eps)
        sums = [phases.grad_sums(x, g, w, b, mean, inv, relu) for x, g, w, b, mean, inv in parts]
        total = add_up(sums) if any(needs[:K]) else None
        gradients: list[Tensor | None] = [None] * (3 * K)
        for k, (x, g, w, b, mean, inv) in enumerate(parts):
            if needs[k]:
                assert total is not None
                of_all = total.to(x.device)
                gradients[k] = phases.grad_input(x, g, w, b, mean, inv, of_all, count, relu)
            total_k, product_k = sums[k].chunk(2)
            if needs[K + k]:
                gradients[K + k] = (product_k * inv).to(w.dtype)
            if needs[2 * K + k]:
                gradients[2 * K + k] = total_k.to(b.dtype)
        return None, *gradients


def _gradients(
    needs: Sequence[bool],
    gradOutputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor | None],
    biases: Sequence[Tensor | None],
    eps: float,
) -> list[Tensor | None]:
    """The gradients out of differentiable operations, from the inputs on: what the forward saved is no function of
    them to autograd."""
    K = len(inputs)
    dims = [d for d in range(inputs[0].dim()) if d != 1]
    wide = [x.to(phases.statistics_dtype(x)) for x in inputs]

    def total(tensors: Sequence[Tensor]) -> list[Tensor]:
        """The sum per channel over all replicas, on the device of each."""
        everything = add_up([t.sum(dims, keepdim=True) for t in tensors])
        return [everything.to(x.device) for x in inputs]

    def along(vector: Tensor) -> Tensor:
        return vector.reshape([1, -1] + [1] * (inputs[0].dim() - 2))

    n = sum(x.numel() for x in inputs) // max(inputs[0].shape[1], 1)
    centred = [x - s / n for x, s in zip(wide, total(wide))]
    inverse = [(s / n + eps).rsqrt() for s in total([c.square() for c in centred])]
    g = [gradOutput.to(x.dtype) for gradOutput, x in zip(gradOutputs, wide)]
    scale: list[Tensor] = [i if w is None else i * along(w) for i, w in zip(inverse, weights)]
    products = [a * c for a, c in zip(g, centred)]
    gradients: list[Tensor | None] = [None] * (3 * K)
    sums, product_sums = total(g), total(products)
    for k in range(K):
        if needs[k]:
            share = (sums[k] + centred[k] * inverse[k].square() * product_sums[k]) / n
            gradients[k] = ((g[k] - share) * scale[k]).to(inputs[k].dtype)
        weight, bias = weights[k], biases[k]
        if needs[K + k] and weight is not None:
            gradients[K + k] = (products[k].sum(dims, keepdim=True) * inverse[k]).reshape(-1).to(weight.dtype)
        if needs[2 * K + k] and bias is not None:
            gradients[2 * K + k] = g[k].sum(dims).to(bias.dtype)
    return gradients


# Moving statistics of devices that normalize alone


def _replaces(layer: Any) -> bool:
    """Whether a batch may replace the running statistics instead of moving them."""
    return layer.momentum is None or getattr(layer, "first_batch", "blend") == "initialize"


def equivalent_decay(decay: float, devices: int) -> float:
    """The decay with which moving_statistics='sum' over `devices` devices forgets as fast as one device with `decay`.

        equivalent_decay(decay, devices) = (devices + decay - 1) / devices = 1 - (1 - decay) / devices

    Summed over K devices, the updates of one batch leave 1 - K * (1 - decay) of the old statistics. With the equivalent
    decay they leave `decay`, and move them by (1 - decay) times the mean of the statistics of all parts: 'sum' with
    equivalent_decay(decay, K) is 'mean' with `decay`.

    decay: from 0 to 1; devices: 1 or more. ValueError for others, TypeError for what is no number.
    """
    decay = _statistics.fraction("equivalent_decay", "decay", decay)
    if isinstance(devices, bool) or not isinstance(devices, int):
        raise TypeError(f"equivalent_decay: devices: expected an integer, got {type(devices).__name__}")
    if devices < 1:
        raise ValueError(f"equivalent_decay: devices: expected 1 or more, got {devices}")
    return (devices + decay - 1) / devices


class MovingStatistics:
    """The running statistics of the layers while each device normalizes its part alone.

    Every replica of a layer gets running statistics of its own and updates them as the layer does; `settle` makes
    those of the layer of them.
    """

    def __init__(self, how: str, replicas: Replicas, layers: dict[str, BatchNormBase]) -> None:
        self._how = how
        # With the ranks of the replicas that have come to it.
        self._updated: dict[BatchNormBase, set[int]] = {}
        self._replicas = replicas
        for label, layer in layers.items():
            if not layer.training or layer.running_mean is None:
                continue
            if how == "sum" and _replaces(layer):
                raise ValueError(
                    f"SelfDataParallel: layer {label}: moving_statistics='sum' expected a layer whose updates can be"
                    " added; momentum=None and first_batch='initialize' replace what was there"
                )
            if layer.track_running_stats and getattr(layer, "update_statistics", True):
                self._watch(layer)

    def _watch(self, layer: BatchNormBase) -> None:
        updated = self._updated[layer] = set()
        self._replicas.part_buffers(layer)
        for rank, replica in enumerate(self._replicas.of(layer)):
            # Hooks are the layer's own until copied.
            replica._forward_pre_hooks = replica._forward_pre_hooks.copy()
            replica.register_forward_pre_hook(lambda module, inputs, rank=rank: updated.add(rank))

    @torch.no_grad()
    def settle(self) -> None:
        """Updates the layers from what those replicas have that came to them."""
        for layer, updated in self._updated.items():
            ranks = sorted(updated)
            if self._how == "first":
                ranks = [rank for rank in ranks if rank == 0]
            elif self._how == "last":
                ranks = ranks[-1:]
            if not ranks:
                continue
            buffers = [self._replicas.of(layer)[rank]._buffers for rank in ranks]

            def stacked(name: str, like: Tensor, buffers: Any = buffers) -> Tensor:
                return torch.stack([b[name].to(like.device) for b in buffers])

            for name in ("running_mean", "running_var"):
                old = layer._buffers[name]
                assert old is not None
                new = stacked(name, old)
                old.copy_(old + (new - old).sum(0) if self._how == "sum" else new.mean(0))
            batches = layer.num_batches_tracked
            if batches is not None:
                batches.copy_(stacked("num_batches_tracked", batches).max())
