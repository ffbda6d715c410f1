"""Running statistics of replicas that normalize their parts independently, combined after a forward pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from thnn._batch_norm import running_statistics as _statistics
from thnn._torch import BatchNormBase
from thnn.parallel._replicas import Replicas

MOVING_STATISTICS = ("sync", "first", "last", "mean", "sum")


def _replaces(layer: Any) -> bool:
    """Whether a batch may replace the running statistics."""
    return layer.momentum is None or getattr(layer, "first_batch", "blend") == "initialize"


def equivalent_decay(decay: float, devices: int) -> float:
    """The decay with which moving_statistics='sum' on `devices` devices gives the old statistics the weight `decay`.

        equivalent_decay(decay, devices) = (devices + decay - 1) / devices = 1 - (1 - decay) / devices

    The sum of the updates of K devices weights the old statistics with 1 - K * (1 - decay). With the equivalent decay
    that weight is `decay`, and the mean of the statistics of all parts has weight 1 - decay: 'sum' with
    equivalent_decay(decay, K) is 'mean' with `decay`.

    Arguments:
        decay: float: from 0 to 1
        devices: int: 1 or more

    Errors: ValueError for numbers out of range, TypeError for other types.
    """
    decay = _statistics.fraction("equivalent_decay", "decay", decay)
    if isinstance(devices, bool) or not isinstance(devices, int):
        raise TypeError(f"equivalent_decay: devices: expected an integer, got {type(devices).__name__}")
    if devices < 1:
        raise ValueError(f"equivalent_decay: devices: expected 1 or more, got {devices}")
    return (devices + decay - 1) / devices


class MovingStatistics:
    """The running statistics of layers whose replicas normalize their parts independently.

    Each replica of a layer has separate running statistics, from which `combine` computes the layer's.
    """

    def __init__(self, how: str, replicas: Replicas, layers: dict[str, BatchNormBase]) -> None:
        self._how = how
        # The ranks of the replicas that have run the layer.
        self._updated: dict[BatchNormBase, set[int]] = {}
        self._replicas = replicas
        for label, layer in layers.items():
            if not layer.training or layer.running_mean is None:
                continue
            if how == "sum" and _replaces(layer):
                raise ValueError(
                    f"SelfDataParallel: layer {label}: moving_statistics='sum' requires updates that can be"
                    " added, but momentum=None and first_batch='initialize' replace the running statistics"
                )
            if layer.track_running_stats and getattr(layer, "update_statistics", True):
                self._separate(layer)

    def _separate(self, layer: BatchNormBase) -> None:
        updated = self._updated[layer] = set()
        self._replicas.separate_buffers(layer)
        for rank, replica in enumerate(self._replicas.of(layer)):
            # The replica shares the dictionary of hooks with the layer.
            replica._forward_pre_hooks = replica._forward_pre_hooks.copy()
            replica.register_forward_pre_hook(lambda module, inputs, rank=rank: updated.add(rank))

    @torch.no_grad()
    def combine(self) -> None:
        """Updates the running statistics of each layer from the replicas that ran it."""
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
