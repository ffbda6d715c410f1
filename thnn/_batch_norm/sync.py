"""``SyncBatchNormalizationFunction``: batch normalization of a batch whose parts are in several processes.

The forward gathers the statistics of the parts, the backward the sums of their gradients: one collective each. All
processes merge the same vectors in the same order, so that their statistics have the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from thnn._batch_norm import formula, stages
from thnn._batch_norm import running_statistics as _statistics
from thnn._batch_norm.communicator import Communicator, Tag, communicator_of, payload_of
from thnn._batch_norm.function import BatchNormalization, BatchNormalizationFunction
from thnn._binding.arguments import (
    ELEMENT_DTYPES,
    EXPECTED_DTYPES,
    NARROW_DTYPES,
    cast_for_autocast,
    not_dense,
)
from thnn._binding.call import flag
from thnn._header.registry import modules
from thnn._torch import dynamo_disable, in_transform

_NAME = "SyncBatchNormalization"
_is_grad_enabled = torch.is_grad_enabled


class SyncBatchNormalizationFunction(BatchNormalization):
    """Batch normalization in which the parts of a batch in all processes of a group are one batch.

    SyncBatchNormalizationFunction(running_mean, running_var, train, momentum, eps, process_group=None)(
        input, weight, bias)
    SyncBatchNormalizationFunction.apply(
        input, weight, bias, running_mean, running_var, train, momentum, eps, process_group=None)

    In training, mean and variance are taken over all parts: output, running statistics (the same bits in all processes)
    and dL/dinput are equal to those of one process with the whole batch. The gradients w.r.t. weight and bias are sums
    over the part of the process; DistributedDataParallel averages them. Parts may differ in size and layout, and be
    empty. The forward has one collective, and so has the backward if input requires a gradient. In evaluation, in a
    group of one and outside of the group it is BatchNormalizationFunction, without a collective.

    Arguments (tensors, then scalars, in the order of ``apply``):
        input: (N, C) or (N, C, ...), float32, float64, float16 or bfloat16; N may
            differ, and be 0
        weight, bias: (C), optional; of the type of input, or float32 for an input of float16 or bfloat16
        running_mean, running_var: (C), optional in training; likewise
        train: bool: statistics of the batch, or the running ones
        momentum: weight of the batch in the running statistics
        eps: added to the variance
        process_group: group of torch.distributed, or None for all processes. All processes of the group have to call.

    Errors, beyond those of BatchNormalizationFunction: ValueError if the processes of the group are in different
    layers, some in the forward and others in the backward, or differ in the number of channels or the element type, and
    in all other processes if one of them rejects its arguments; RuntimeError if a process is gone or does not arrive
    within the timeout of the group. The error for one value per channel counts the values of all parts.
    Source of the merged statistics: Chan, Golub and LeVeque 1979.
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
            # The usual call omits only process_group; binding costs more than a small kernel.
            args = (
                (*args, None) if not keywords and len(args) == cls._arity - 1 else cls._bind(args, keywords)
            )
        train = args[5]
        if train is not True and train is not False:
            train = flag(cls.module.functions["updateOutput"], "train", train)
        communicator = communicator_of(args[8])
        if communicator is None or not train:
            return BatchNormalizationFunction.apply(*args[:5], train, *args[6:8])
        input, weight, bias, running_mean, running_var, _, momentum, eps, _ = args
        return synchronized(input, weight, bias, running_mean, running_var, momentum, eps, communicator)

    @staticmethod
    def _normalize(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        momentum: float,
        eps: float,
        unbiased: bool,
        limit: float | None,
        communicator: Communicator,
        layer: str,
        statistics: Tensor,
        output: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Output, mean, inverse deviation, and number of values per channel (1) of all parts.

        `statistics` are the statistics of this process's part. The caller allocates `output`, since the allocation can
        fail and has to precede the update of the running statistics.
        """
        parts = communicator.all_gather(statistics, Tag(layer, "forward", payload_of(input)))
        merged = stages.merge_statistics(parts)
        mean, inverse = stages.save_statistics(
            merged,
            stages.statistics_dtype(input),
            running_mean,
            running_var,
            momentum,
            eps,
            unbiased,
        )
        stages.normalize(input, weight, bias, mean, inverse, limit, output)
        return output, mean, inverse, merged[-1:]

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, weight: Tensor | None, bias: Tensor | None, settings: tuple[Any, ...]
    ) -> Tensor:
        output, *ctx.statistics = SyncBatchNormalizationFunction._normalize(input, weight, bias, *settings)
        _, _, _, eps, _, limit, communicator, layer, _, _ = settings
        ctx.save_for_backward(input, weight, bias)
        ctx.settings = eps, limit, communicator, layer
        return output

    @staticmethod
    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias = ctx.saved_tensors
        eps, limit, communicator, layer = ctx.settings
        mean, inverse, count = ctx.statistics
        needs = ctx.needs_input_grad
        tag = Tag(layer, "backward", payload_of(input))
        if _is_grad_enabled():
            # The messages differ from those of a backward without create_graph.
            tag = tag._replace(operation="backward with create_graph")
            part = formula.Part(gradOutput, input, weight, bias, mean, inverse)
            if limit is not None:
                part = formula.relu_backward(part, limit)
            (gradients,) = formula.gradients(
                [part],
                [needs],
                eps,
                [count] if input.requires_grad else None,
                lambda vectors: [_AllReduce.apply(vectors[0], communicator, tag)],
            )
            return *gradients, None
        sums = stages.grad_sums(input, gradOutput, weight, bias, mean, inverse, limit)
        gradInput = None
        if needs[0]:
            # Divided on the device: grad_input takes the count as a Python number, and reading it from an accelerator
            # would wait for the device.
            means = communicator.all_gather(sums, tag).sum(0).div_(count)
            gradInput = stages.grad_input(input, gradOutput, weight, bias, mean, inverse, means, 1.0, limit)
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
    communicator: Communicator,
    layer: str = "SyncBatchNormalizationFunction",
    *,
    unbiased: bool = True,
    limit: float | None = None,
) -> Tensor:
    """Batch normalization in training over the parts of all members of `communicator`.

    `limit` is the limit of the relu that follows; None: no relu. Errors contain the name `layer`, which must be the
    same in all members.
    """
    cls = SyncBatchNormalizationFunction
    vectors = weight, bias, running_mean, running_var
    try:
        if in_transform():
            raise NotImplementedError(
                f"{cls.__name__}: does not work inside transforms of torch.func, tracing and recording modes"
            )
        if not (isinstance(input, Tensor) and input.dtype in NARROW_DTYPES):
            input, weight, bias = cast_for_autocast((input, weight, bias)) or (input, weight, bias)
        vectors = weight, bias, running_mean, running_var
        _check(input, vectors, momentum, eps)
        recorded = _is_grad_enabled() and cls._wants_gradient((input, *vectors))
        if recorded:
            _check_saved(input=input, weight=weight, bias=bias)
        with torch.no_grad():
            statistics = stages.statistics(input)
            output = torch.empty_like(input)
    except Exception as error:
        communicator.announce_error(layer, (input, *vectors), error)
        raise
    settings = (
        running_mean, running_var, momentum, eps, unbiased, limit, communicator, layer, statistics, output
    )  # fmt: skip
    if recorded:
        return cls._enter(input, weight, bias, settings)
    return cls._normalize(input, weight, bias, *settings)[0]


def _check(input: Tensor, vectors: tuple[Tensor | None, ...], momentum: float, eps: float) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(f"{_NAME}: input: expected a tensor, got {type(input).__name__}")
    if kind := not_dense(input):
        raise TypeError(f"{_NAME}: input: expected a dense tensor, got {kind}")
    if input.dim() < 2:
        raise ValueError(
            f"{_NAME}: input: expected 2 dimensions (N, C) or more, got {input.dim()} {tuple(input.shape)}"
        )
    if input.dtype not in ELEMENT_DTYPES:
        raise TypeError(f"{_NAME}: input: expected {EXPECTED_DTYPES}, got {input.dtype}")
    _statistics.number(_NAME, "momentum", momentum)
    _statistics.not_negative(_NAME, "eps", eps)
    expected = (input.shape[1],)
    allowed = {stages.statistics_dtype(input): None, input.dtype: None}  # in this order
    for name, vector in zip(("weight", "bias", "running_mean", "running_var"), vectors):
        if vector is None:
            continue
        if not isinstance(vector, Tensor):
            raise TypeError(f"{_NAME}: {name}: expected a tensor, got {type(vector).__name__}")
        if vector.dtype not in allowed:
            raise TypeError(f"{_NAME}: {name}: expected {' or '.join(map(str, allowed))}, got {vector.dtype}")
        if vector.shape != expected:
            raise ValueError(
                f"{_NAME}: {name}: expected one number per channel ({expected[0]}), got size {tuple(vector.shape)}"
            )


def _check_saved(**tensors: Tensor | None) -> None:
    """Raises ValueError for inference tensors. Autograd's own error would come after the update of running
    statistics."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.is_inference():
            raise ValueError(f"{_NAME}: {name}: inference tensors cannot be differentiated; clone it")


class _AllReduce(torch.autograd.Function):
    """The sum of the vectors of all members, differentiable any number of times."""

    @staticmethod
    def forward(ctx: Any, local: Tensor, communicator: Communicator, tag: Tag) -> Tensor:
        ctx.communicator, ctx.tag = communicator, tag._replace(operation="derivative of the backward")
        return communicator.all_gather(local, tag).sum(0)

    @staticmethod
    def backward(ctx: Any, gradOutput: Tensor) -> tuple[Tensor | None, ...]:
        return _AllReduce.apply(gradOutput, ctx.communicator, ctx.tag), None, None
