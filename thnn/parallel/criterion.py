"""DataParallelCriterion: the loss of the outputs of SelfDataParallel."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from thnn._functions.base import FunctionBase
from thnn.parallel._collectives import ordered_sum
from thnn.parallel._replica_group import ReplicaGroup, run_replicas
from thnn.parallel._replicas import Replicas
from thnn.parallel._scatter import batch_size, scatter, tensors, zip_map

_REDUCTIONS = ("mean", "sum")


class DataParallelCriterion(nn.Module):
    """The loss of outputs on several devices: computed on each device and combined into the loss of the whole batch.

        criterion = thnn.parallel.DataParallelCriterion(torch.nn.CrossEntropyLoss())
        loss = criterion(outputs, labels)  # outputs: a list, as SelfDataParallel returns

    Targets are split along dimension 0 as the outputs are, and each device computes criterion(output, *targets) in a
    thread. Losses without dimensions are combined on the device of the first output,

        'mean': sum(count_k * loss_k) / sum(count_k)        'sum': sum(loss_k)

    where count_k is the number of samples on device k or, for class indices and losses that weight or ignore classes
    (torch's CrossEntropyLoss and NLLLoss, thnn's ClassNLLCriterion and SpatialClassNLLCriterion), the sum of the
    weights of its samples (or pixels). The result equals the criterion of the whole batch. A device with count 0
    contributes nothing. Losses with dimensions, as with reduction='none', are concatenated along dimension 0. Tuples,
    lists and dicts of losses are combined leaf by leaf.

    Arguments:
        criterion: nn.Module or function (output, *targets) -> loss; a module's parameters and buffers are shared
        reduction: 'mean', 'sum', or None: the criterion's (`reduction` in torch, `sizeAverage` in thnn), or 'mean'
        count: function (output, *targets) -> number or tensor without dimensions; replaces the count above

    Errors: TypeError for a criterion or count that cannot be called and for outputs that are not a list; ValueError for
    another reduction, no outputs, outputs without a batch, and targets whose size is not the sum of the outputs' sizes.
    Exceptions of the criterion are raised unchanged.
    """

    def __init__(
        self,
        criterion: Callable[..., Any],
        reduction: Literal["mean", "sum"] | None = None,
        count: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__()
        if not callable(criterion):
            raise TypeError(
                f"DataParallelCriterion: criterion: expected a module or function, got {type(criterion).__name__}"
            )
        if reduction is not None and reduction not in _REDUCTIONS:
            raise ValueError(
                f"DataParallelCriterion: reduction: expected one of {_REDUCTIONS} or None, got {reduction!r}"
            )
        if count is not None and not callable(count):
            raise TypeError(
                f"DataParallelCriterion: count: expected a function or None, got {type(count).__name__}"
            )
        self.criterion = criterion
        self.reduction = reduction
        self.count = count

    def extra_repr(self) -> str:
        own = [] if isinstance(self.criterion, nn.Module) else [f"criterion={self.criterion!r}"]
        return ", ".join([*own, f"reduction={self._reduction()!r}"])

    def _reduction(self) -> str:
        if self.reduction is not None:
            return self.reduction
        if isinstance(self.criterion, FunctionBase):
            return "mean" if _setting(self.criterion, "sizeAverage", True) else "sum"
        return "sum" if getattr(self.criterion, "reduction", "mean") == "sum" else "mean"

    def forward(self, outputs: Sequence[Any], *targets: Any, **keywords: Any) -> Any:
        if not isinstance(outputs, (list, tuple)):
            raise TypeError(
                "DataParallelCriterion: outputs: expected a list, one per device,"
                f" got {type(outputs).__name__}"
            )
        if not outputs:
            raise ValueError("DataParallelCriterion: outputs: expected one or more, got none")
        sizes = []
        for output in outputs:
            size = batch_size("DataParallelCriterion: outputs", output)
            if size is None:
                raise ValueError(
                    "DataParallelCriterion: outputs: expected tensors with a batch, got one without dimensions"
                )
            sizes.append(size)
        size = batch_size("DataParallelCriterion: targets", (targets, keywords))
        if size not in (None, sum(sizes)):
            raise ValueError(
                f"DataParallelCriterion: targets: expected {' + '.join(map(str, sizes))} samples, as of the outputs,"
                f" got {size}"
            )
        devices = [next(tensors(output)).device for output in outputs]
        parts = scatter((targets, keywords), sizes, devices)
        if isinstance(self.criterion, nn.Module):
            criteria: list[Any] = list(Replicas(self.criterion, devices).roots)
        else:
            criteria = [self.criterion] * len(outputs)
        jobs = [
            functools.partial(self._part, *arguments) for arguments in zip(criteria, outputs, parts, sizes)
        ]
        done = run_replicas(ReplicaGroup(devices), jobs)
        counts = [count for _, count in done]
        return zip_map(functools.partial(self._combine, counts), [loss for loss, _ in done])

    def _part(self, criterion: Any, output: Any, part: Any, size: int) -> tuple[Any, Any]:
        """Loss and count of one device."""
        targets, keywords = part
        if self._reduction() == "sum":
            count: Any = size
        elif self.count is not None:
            count = self.count(output, *targets, **keywords)
        else:
            count = _count(criterion, (*targets, *keywords.values()), size)
        return criterion(output, *targets, **keywords), count

    def _combine(self, counts: list[Any], losses: list[Any]) -> Any:
        for loss in losses:
            if not isinstance(loss, Tensor):
                raise TypeError(
                    f"DataParallelCriterion: criterion: expected it to return tensors, got {type(loss).__name__}"
                )
        home = losses[0].device
        if losses[0].dim():
            return torch.cat([loss.to(home) for loss in losses])
        if self._reduction() == "sum":
            return ordered_sum(losses)
        weights = [torch.as_tensor(c, device=home).to(losses[0].dtype) for c in counts]
        # The mean loss of no samples is NaN, and 0 * NaN is NaN.
        weighted = [torch.where(w == 0, 0, loss.to(home) * w) for loss, w in zip(losses, weights)]
        return ordered_sum(weighted) / ordered_sum(weights)


def _setting(criterion: FunctionBase, name: str, default: Any) -> Any:
    return criterion._keywords.get(name, default)


def _count(criterion: Any, targets: Sequence[Any], size: int) -> Any:
    """The divisor of the mean of a loss: the number of samples, or the sum of their weights."""
    if isinstance(criterion, (nn.CrossEntropyLoss, nn.NLLLoss)):
        weight, ignored = criterion.weight, criterion.ignore_index
    elif isinstance(criterion, FunctionBase) and type(criterion).module.name.endswith("ClassNLLCriterion"):
        weight, ignored = _setting(criterion, "weights", None), _setting(criterion, "ignore_index", -100)
    else:
        return size
    target = next((t for t in targets if isinstance(t, Tensor)), None)
    if target is None or target.is_floating_point():
        return size
    counted = target != ignored
    if weight is None:
        return counted.sum()
    return weight.to(target.device)[torch.where(counted, target, 0)].mul(counted).sum()
