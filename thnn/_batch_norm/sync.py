"""``SyncBatchNormalizationFunction``: batch normalization of a batch whose parts are in several places.

The forward gathers the statistics of the parts, the backward the sums of their gradients: one exchange each. Everybody
merges what it has been given in the same order, and so has the same statistics to the bit. Between processes the
exchange is ``thnn._batch_norm.communicator.ProcessExchange``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from thnn._batch_norm import phases as _batch_phases
from thnn._batch_norm import statistics as _statistics
from thnn._batch_norm.communicator import Exchange, Place, exchange_of, values
from thnn._batch_norm.function import BatchNormalization, BatchNormalizationFunction
from thnn._binding.call import flag
from thnn._header.registry import modules
from thnn._torch import dynamo_disable, in_transform

_NAME = "SyncBatchNormalization"
_DTYPES = (torch.float32, torch.float64)
_is_grad_enabled = torch.is_grad_enabled


class SyncBatchNormalizationFunction(BatchNormalization):
    """Batch normalization in which the parts of a batch in all processes of a group are one batch.

    SyncBatchNormalizationFunction(running_mean, running_var, train, momentum, eps, process_group=None)(
        input, weight, bias)
    SyncBatchNormalizationFunction.apply(
        input, weight, bias, running_mean, running_var, train, momentum, eps, process_group=None)

    In training mean and variance are those of all parts, so that output, running statistics (the same bits in all
    processes) and the gradient by input are what one process has for all parts in one batch. The gradients by weight
    and bias are the sums over the own part, of which DistributedDataParallel makes the mean. Parts may differ in size
    and layout, and be empty. One collective in the forward, one in the backward if input requires a gradient. In
    evaluation, in a group of one and outside of the group it is BatchNormalizationFunction, and nobody is asked.

    Arguments (tensors, then scalars, in the order of ``apply``):
        input: (N, C) or (N, C, ...), float32 or float64; N may differ, and be 0
        weight, bias: (C), optional
        running_mean, running_var: (C), optional in training
        train: bool: statistics of the batch, or the running ones
        momentum: share of the batch in the running statistics
        eps: added to the variance
        process_group: group of torch.distributed, or None for all processes. All of its processes have to call.

    Errors, beyond those of BatchNormalizationFunction: ValueError where the processes of the group do not agree on the
    layer, the direction, the number of channels or the element type, and in all others where one refuses its arguments;
    RuntimeError where one is gone or has not come within the timeout of the group. One value per channel means one in
    all parts together.
    Source of merging: Chan, Golub and LeVeque 1979.
    """

    __module__ = "thnn"

    module = modules()["BatchNormalization"]
    _names: ClassVar[tuple[str, ...]] = (*BatchNormalization._names, "process_group")
    _defaults: ClassVar[Mapping[str, Any]] = {"process_group": None}

    @classmethod
    @dynamo_disable
    def apply(cls, *args: Any, **keywords: Any) -> Tensor:
        """Computes the function; arguments are the tensors, then the scalars, in the order above."""
        if keywords or len(args) != cls._arity:
            # All but the last, which has a default: how most callers call, and binding costs more than small kernels.
            args = (
                (*args, None) if not keywords and len(args) == cls._arity - 1 else cls._bind(args, keywords)
            )
        train = args[5]
        if train is not True and train is not False:
            train = flag(cls.module.functions["updateOutput"], "train", train)
        exchange = exchange_of(args[8])
        if exchange is None or not train:
            return BatchNormalizationFunction.apply(*args[:5], train, *args[6:8])
        input, weight, bias, running_mean, running_var, _, momentum, eps, _ = args
        return synchronized(input, weight, bias, running_mean, running_var, momentum, eps, exchange)

    @staticmethod
    def compute(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        momentum: float,
        eps: float,
        unbiased: bool,
        relu: bool,
        exchange: Exchange,
        layer: str,
        statistics: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Output, mean, inverse deviation, and number of values per channel (1) of all parts; `statistics` are those
        of the own part."""
        parts = exchange.gather(statistics, Place(layer, "forward", values(input)))
        merged = _batch_phases.merge_statistics(parts)
        mean, inverse = _batch_phases.save_statistics(
            merged,
            _batch_phases.statistics_dtype(input),
            running_mean,
            running_var,
            momentum,
            eps,
            unbiased,
        )
        output = _batch_phases.normalize(input, weight, bias, mean, inverse, relu)
        return output, mean, inverse, merged[-1:]

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, weight: Tensor | None, bias: Tensor | None, settings: tuple[Any, ...]
    ) -> Tensor:
        output, *ctx.statistics = SyncBatchNormalizationFunction.compute(input, weight, bias, *settings)
        _, _, _, eps, _, relu, exchange, layer, _ = settings
        ctx.save_for_backward(input, weight, bias)
        ctx.settings = eps, relu, exchange, layer
        return output

    @staticmethod
    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias = ctx.saved_tensors
        eps, relu, exchange, layer = ctx.settings
        mean, inverse, count = ctx.statistics
        needs = ctx.needs_input_grad
        place = Place(layer, "backward", values(input))
        if _is_grad_enabled():
            # What is exchanged differs from that of a backward that is not recorded.
            place = place._replace(phase="backward with create_graph")
            return (
                *_gradients(
                    needs, gradOutput, input, weight, bias, ctx.statistics, eps, relu, exchange, place
                ),
                None,
            )
        sums = _batch_phases.grad_sums(input, gradOutput, weight, bias, mean, inverse, relu)
        gradInput = None
        if needs[0]:
            # Divided here, since `count` may be in the memory of a device.
            means = exchange.gather(sums, place).sum(0).div_(count)
            gradInput = _batch_phases.grad_input(
                input, gradOutput, weight, bias, mean, inverse, means, 1.0, relu
            )
        total, product = sums.chunk(2)
        gradWeight = (product * inverse).to(weight.dtype) if needs[1] else None
        gradBias = total.to(bias.dtype) if needs[2] else None
        return gradInput, gradWeight, gradBias, None


def synchronized(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    exchange: Exchange,
    layer: str = "SyncBatchNormalizationFunction",
    *,
    unbiased: bool = True,
    relu: bool = False,
) -> Tensor:
    """Batch normalization in training, of the parts of all members of `exchange` as one batch.

    `layer` stands for it in errors, and is what members have to agree upon.
    """
    cls = SyncBatchNormalizationFunction
    vectors = weight, bias, running_mean, running_var
    try:
        if in_transform():
            cls._refuse_transforms((input, *vectors))
        _check(input, vectors, momentum, eps)
        recorded = _is_grad_enabled() and cls._wants_gradient((input, *vectors))
        if recorded:
            _check_saved(input=input, weight=weight, bias=bias)
        with torch.no_grad():
            statistics = _batch_phases.statistics(input)
    except Exception as error:
        exchange.refuse(layer, (input, *vectors), error)
        raise
    settings = running_mean, running_var, momentum, eps, unbiased, relu, exchange, layer, statistics
    if recorded:
        return cls._enter(input, weight, bias, settings)
    return cls.compute(input, weight, bias, *settings)[0]


def _check(input: Tensor, vectors: tuple[Tensor | None, ...], momentum: float, eps: float) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(f"{_NAME}: input: expected a tensor, got {type(input).__name__}")
    if input.layout is not torch.strided or input.is_nested:
        kind = "a nested one" if input.is_nested else f"layout {input.layout}"
        raise TypeError(f"{_NAME}: input: expected a dense tensor, got {kind}")
    if input.dim() < 2:
        raise ValueError(
            f"{_NAME}: input: expected 2 dimensions (N, C) or more, got {input.dim()} {tuple(input.shape)}"
        )
    if input.dtype not in _DTYPES and (input.device.type == "cpu" or not input.dtype.is_floating_point):
        raise TypeError(f"{_NAME}: input: expected torch.float32 or torch.float64, got {input.dtype}")
    _statistics.number(_NAME, "momentum", momentum)
    _statistics.not_negative(_NAME, "eps", eps)
    expected = (input.shape[1],)
    dtype = _batch_phases.statistics_dtype(input)
    for name, vector in zip(("weight", "bias", "running_mean", "running_var"), vectors):
        if vector is None:
            continue
        if not isinstance(vector, Tensor):
            raise TypeError(f"{_NAME}: {name}: expected a tensor, got {type(vector).__name__}")
        if vector.dtype is not dtype:
            raise TypeError(f"{_NAME}: {name}: expected {dtype}, got {vector.dtype}")
        if vector.shape != expected:
            raise ValueError(
                f"{_NAME}: {name}: expected one number for each of {expected[0]} channels, got {tuple(vector.shape)}"
            )


def _check_saved(**tensors: Tensor | None) -> None:
    """Autograd would refuse them as well, but only after the running statistics have changed."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.is_inference():
            raise ValueError(f"{_NAME}: {name}: inference tensors cannot be differentiated; clone it")


class _Total(torch.autograd.Function):
    """The sum of the vectors of all members: a function of each of them."""

    @staticmethod
    def forward(ctx: Any, local: Tensor, exchange: Exchange, place: Place) -> Tensor:
        ctx.exchange, ctx.place = exchange, place._replace(phase="derivative of the backward")
        return exchange.gather(local, place).sum(0)

    @staticmethod
    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        return _Total.apply(gradOutput, ctx.exchange, ctx.place), None, None


def _gradients(
    needs: Any,
    gradOutput: Tensor,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    statistics: tuple[Tensor, Tensor, Tensor],
    eps: float,
    relu: bool,
    exchange: Exchange,
    place: Place,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients out of differentiable operations, with one exchange."""
    mean, inverse, count = statistics
    shape = [1, input.shape[1]] + [1] * (input.dim() - 2)
    dims = [d for d in range(input.dim()) if d != 1]

    def spread(vector: Tensor) -> Tensor:
        return vector.to(input.dtype).reshape(shape)

    g = gradOutput
    if relu:
        g = g * (_batch_phases.normalize(input, weight, bias, mean, inverse, True) > 0)
    centred = input - spread(mean)
    local = g.sum(dims, dtype=torch.float64), (g * centred).sum(dims, dtype=torch.float64)
    if input.requires_grad:
        # To autograd the saved mean is a constant. With it subtracted first, the sums of x and x * x make mean and
        # variance functions of the input without a loss of digits.
        moments = centred.sum(dims, dtype=torch.float64), centred.square().sum(dims, dtype=torch.float64)
        total, product, first, second = _Total.apply(torch.cat((*local, *moments)), exchange, place).chunk(4)
        offset = first / count
        inverse = (second / count - offset.square() + eps).rsqrt()
        centred = centred - spread(offset)
        local = local[0], local[1] - offset * local[0]
        product = product - offset * total
    gradInput = None
    if needs[0]:
        g = g - spread(total / count) - centred * spread(inverse.square() * product / count)
        gradInput = g * spread(inverse if weight is None else inverse * weight)
    gradWeight = (local[1] * inverse).to(weight.dtype) if needs[1] and weight is not None else None
    gradBias = local[0].to(bias.dtype) if needs[2] and bias is not None else None
    return gradInput, gradWeight, gradBias
