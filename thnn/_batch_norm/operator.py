"""``thnn.batch_norm``: batch normalization as an operator that updates estimates of mean and variance."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from thnn._batch_norm import running_statistics as _statistics
from thnn._batch_norm import stages
from thnn._batch_norm.function import BatchNormalizationFunction
from thnn._binding.arguments import (
    ELEMENT_DTYPES,
    EXPECTED_DTYPES,
    NARROW_DTYPES,
    address_of,
    cast_for_autocast,
)
from thnn._binding.call import invoke
from thnn._binding.library import ALLOCATE, ANY, THNN
from thnn._header.registry import modules
from thnn._operators.saved_copy import saved_copy
from thnn._torch import functorch_active, in_transform, increment_version

_NAME = "batch_norm"
_MIXED = {(torch.float32, narrow) for narrow in NARROW_DTYPES}  # types of a vector and of x
_apply = BatchNormalizationFunction.apply
_forward = THNN.bind(modules()["BatchNormalization"].functions["updateOutput"])


class BatchNormOutput(NamedTuple):
    """The results of ``thnn.batch_norm``."""

    y: Tensor
    """the result, with the size and layout of x"""
    batch_mean: Tensor | None
    """mean of the batch (C); None if is_infer"""
    batch_var: Tensor | None
    """biased variance of the batch (C); None if is_infer"""
    saved_mean: Tensor
    """estimated_mean itself"""
    saved_var: Tensor
    """estimated_var itself"""


def batch_norm(
    x: Tensor,
    scale: Tensor | None,
    bias: Tensor | None,
    estimated_mean: Tensor,
    estimated_var: Tensor,
    *,
    is_infer: bool = False,
    use_global_est: bool = False,
    epsilon: float = 1e-6,
    momentum: float = 0.99,
    batch_id: int | None = None,
    out: Tensor | None = None,
) -> BatchNormOutput:
    """Batch normalization that updates estimates of mean and variance in place.

        y = (x - mean) / sqrt(variance + epsilon) * scale + bias
        estimated = estimated * momentum + (1 - momentum) * batch

    Training normalizes by mean and variance of the batch and updates the estimates with them. All variances are biased
    (divided by the number of values): batch_var, estimated_var, and the one that normalizes. They are variances; some
    descriptions of the operator call them deviations.

    Shapes: x (N, C) or (N, C, ...); scale, bias, estimated_mean, estimated_var (C). float32, float64,
    float16 or bfloat16, one type for all, except that the vectors may be float32 with an x of a half type.

    Arguments:
        x: Tensor: the batch
        scale: Tensor or None: factor of each channel; None: 1
        bias: Tensor or None: added to each channel; None: 0
        estimated_mean: Tensor: updated in training
        estimated_var: Tensor: updated in training
        is_infer: bool: normalize by the estimates and update nothing; use_global_est and batch_id have no effect
        use_global_est: bool: normalize by the estimates in training, too, with their values before the update by this
            batch. They are constants for the derivative. With batch_id 0, normalize by the statistics of this batch,
            as constants.
        epsilon: float: added to the variance; 0 or more
        momentum: float: weight of the old estimates, from 0 to 1 (1 minus the momentum of torch and THNN)
        batch_id: int or None: number of the batch: batch 0 replaces the estimates, even if they are NaN; others and
            None do not
        out: Tensor or None: receives y; sized as x, and may be x itself. As everywhere in torch, a result in `out`
            cannot be differentiated.

    Returns BatchNormOutput, a named tuple (y, batch_mean, batch_var, saved_mean, saved_var). saved_mean and saved_var
    are the tensors estimated_mean and estimated_var. y is twice differentiable w.r.t. x, scale and bias; the returned
    statistics are constants.

    Errors: TypeError for other types; ValueError for wrong sizes, one value per channel in training, numbers out of
    range, written memory (estimates in training, out) that is shared, `out` while an argument requires a gradient
    (unless inside no_grad); NotImplementedError for estimates that require a gradient. Nothing is written then.
    Source: Ioffe and Szegedy 2015; the design of Paddle's batch_norm_op. Conventions: docs/batch-normalization.md.
    """
    is_infer, use_global_est = _flag("is_infer", is_infer), _flag("use_global_est", use_global_est)
    epsilon = _statistics.not_negative(_NAME, "epsilon", epsilon)
    momentum = _statistics.fraction(_NAME, "momentum", momentum)
    is_first = _is_first(batch_id)
    try:
        _check(x, scale, bias, estimated_mean, estimated_var, out, is_infer)
    except TypeError:
        cast = cast_for_autocast((x, scale, bias))
        if cast is None:
            raise
        x, scale, bias = cast
        return batch_norm(
            x, scale, bias, estimated_mean, estimated_var, is_infer=is_infer, use_global_est=use_global_est,
            epsilon=epsilon, momentum=momentum, batch_id=batch_id, out=out,
        )  # fmt: skip
    except RuntimeError:  # raised by torch, since a nested tensor has no size
        _refuse_nested(
            x=x, scale=scale, bias=bias, estimated_mean=estimated_mean, estimated_var=estimated_var, out=out
        )
        raise

    if out is not None and (torch.compiler.is_compiling() or in_transform()):
        raise NotImplementedError(f"{_NAME}: out: is not supported by torch.compile and inside transforms")
    if not is_infer and not torch.compiler.is_compiling() and functorch_active():
        raise NotImplementedError(
            f"{_NAME}: estimates cannot be updated inside transforms of torch.func; use is_infer=True"
        )
    apply = _apply if out is None else _into(out)
    weight = 1.0 if is_first else 1 - momentum
    if is_infer:
        y = apply(x, scale, bias, estimated_mean, estimated_var, False, 0.0, epsilon)
        return BatchNormOutput(y, None, None, estimated_mean, estimated_var)
    if use_global_est:
        mean, variance = _mean_and_variance(x)
        # Copies, since later batches update the estimates before the backward.
        constants = (mean, variance) if is_first else (estimated_mean, estimated_var)
        y = apply(x, scale, bias, *(saved_copy(c) for c in constants), False, 0.0, epsilon)
        _statistics.update(estimated_mean, mean, weight)
        _statistics.update(estimated_var, variance, weight)
    else:
        y, mean, variance = _statistics.normalize_by_batch(
            apply, x, scale, bias, estimated_mean, estimated_var, weight, epsilon, unbiased=False
        )
    return BatchNormOutput(y, mean, variance, estimated_mean, estimated_var)


def _into(out: Tensor) -> Callable[..., Tensor]:
    """`BatchNormalizationFunction.apply` with the output written to `out`."""

    def apply(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor,
        running_var: Tensor,
        *settings: Any,
    ) -> Tensor:
        vectors = weight, bias, running_mean, running_var
        saved = (ALLOCATE, ALLOCATE) if settings[0] else (None, None)
        invoke(_forward, ANY, (input, out, *vectors, *saved, *settings))
        if not out.is_inference():
            increment_version((out,))
        return out

    return apply


def _mean_and_variance(x: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        channels, dtype = x.shape[1], stages.statistics_dtype(x)
        if torch.compiler.is_compiling() or in_transform():  # neither sees calls of C functions
            dims = [d for d in range(x.dim()) if d != 1]
            variance, mean = torch.var_mean(x.double(), dims, correction=0)
            return mean.to(dtype), variance.to(dtype)
        statistics = stages.statistics(x)
        mean, variance = statistics[:channels], statistics[channels:-1] / statistics[-1]
        return mean.to(dtype), variance.to(dtype)


def _flag(name: str, value: Any) -> bool:
    if value is not True and value is not False:
        raise TypeError(f"{_NAME}: {name}: expected True or False, got {type(value).__name__}")
    return value


def _is_first(batch_id: Any) -> bool:
    if batch_id is None:
        return False
    try:
        number = operator.index(batch_id)
    except TypeError:
        raise TypeError(
            f"{_NAME}: batch_id: expected an integer or None, got {type(batch_id).__name__}"
        ) from None
    if number < 0:
        raise ValueError(f"{_NAME}: batch_id: expected 0 or more, got {number}")
    return number == 0


def _check(
    x: Tensor,
    scale: Tensor | None,
    bias: Tensor | None,
    estimated_mean: Tensor,
    estimated_var: Tensor,
    out: Tensor | None,
    is_infer: bool,
) -> None:
    """Raises all errors of arguments before anything is written."""
    _check_is_tensor("x", x)
    dtype, device, size = x.dtype, x.device, x.shape
    if dtype is not torch.float32 and dtype is not torch.float64 and dtype not in ELEMENT_DTYPES:
        raise TypeError(f"{_NAME}: x: expected {EXPECTED_DTYPES}, got {dtype}")
    if x.layout is not torch.strided:
        raise TypeError(f"{_NAME}: x: expected a dense tensor, got layout {x.layout}")
    if len(size) < 2:
        raise ValueError(f"{_NAME}: x: expected 2 dimensions (N, C) or more, got {tuple(size)}")
    vector = size[1:2]
    tensors = {"x": x}
    if scale is not None:
        _check_like("scale", scale, dtype, device, vector)
        tensors["scale"] = scale
    if bias is not None:
        _check_like("bias", bias, dtype, device, vector)
        tensors["bias"] = bias
    _check_like("estimated_mean", estimated_mean, dtype, device, vector)
    _check_like("estimated_var", estimated_var, dtype, device, vector)
    tensors["estimated_mean"], tensors["estimated_var"] = estimated_mean, estimated_var
    if out is not None:
        _check_like("out", out, dtype, device, size)
        tensors["out"] = out
    if torch.is_grad_enabled():
        for name in ("estimated_mean", "estimated_var"):
            if tensors[name].requires_grad:
                raise NotImplementedError(f"{_NAME}: {name}: the gradient w.r.t. {name} is not implemented")
        if out is not None:
            for name, tensor in tensors.items():
                if tensor.requires_grad:
                    raise ValueError(
                        f"{_NAME}: out: cannot be differentiated, but {name} requires a gradient"
                    )
        if (
            not torch.compiler.is_compiling()
            and x.is_inference()
            and any(t.requires_grad for t in tensors.values())
        ):
            raise ValueError(f"{_NAME}: x: inference tensors cannot be differentiated; clone it")
    if not is_infer:
        if x.numel() <= size[1]:
            raise ValueError(
                f"{_NAME}: x: expected more than 1 value per channel when training, got {tuple(size)}"
            )
        for name in () if torch.compiler.is_compiling() else ("estimated_mean", "estimated_var"):
            if tensors[name].is_inference() and not torch.is_inference_mode_enabled():
                raise ValueError(
                    f"{_NAME}: {name}: inference tensors cannot be changed outside of inference mode"
                )
    written: tuple[str, ...] = ("out",) if out is not None else ()
    if not is_infer:
        written += ("estimated_mean", "estimated_var")
    if written and not torch.compiler.is_compiling() and not in_transform():  # tensors have no address there
        _check_written(written, tensors)


def _refuse_nested(**tensors: Tensor | None) -> None:
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor) and tensor.is_nested:
            raise TypeError(f"{_NAME}: {name}: expected a dense tensor, got a nested one") from None


def _check_written(names: Sequence[str], tensors: Mapping[str, Tensor]) -> None:
    """Raises ValueError for written tensors that share memory with others.

    Vectors share memory if they have an address in common, other tensors if their address ranges overlap.
    """
    spans = {name: _span(tensor) for name, tensor in tensors.items()}
    for name in names:
        tensor, (start, stop) = tensors[name], spans[name]
        if not tensor.is_contiguous() and any(n > 1 and not s for n, s in zip(tensor.shape, tensor.stride())):
            raise ValueError(f"{_NAME}: {name}: two of its elements share an address")
        for other, (first, last) in spans.items():
            if (
                first < stop
                and start < last
                and other != name
                and _share(name, tensor, other, tensors[other])
            ):
                raise ValueError(f"{_NAME}: {name}: must not share memory with {other}")


def _span(tensor: Tensor) -> tuple[int, int]:
    """The first address and the one after the last; (0, 0) for a tensor without memory."""
    start, count = address_of(tensor), tensor.numel()
    if start == 0 or count == 0:
        return 0, 0
    if not tensor.is_contiguous():
        count = 1 + sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride()))
    return start, start + count * tensor.element_size()


def _share(name: str, a: Tensor, other: str, b: Tensor) -> bool:
    """Whether two tensors with overlapping spans share memory; `out` may be x."""
    if name == "out" and other == "x":
        return a.data_ptr() != b.data_ptr() or a.stride() != b.stride()
    if a.dim() != 1 or b.dim() != 1:
        return True
    first, second = (
        {
            byte
            for start in range(v.data_ptr(), v.data_ptr() + len(v) * stride, stride)
            for byte in range(start, start + v.element_size())
        }
        for v in (a, b)
        for stride in [max(v.stride(0), 1) * v.element_size()]
    )
    return not first.isdisjoint(second)


def _check_is_tensor(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{_NAME}: {name}: expected a tensor, got {type(value).__name__}")


def _check_like(name: str, tensor: Any, dtype: torch.dtype, device: torch.device, size: torch.Size) -> None:
    """Raises an error unless a tensor has this type (or float32 for a vector with x of a half type), device and
    size."""
    _check_is_tensor(name, tensor)
    if tensor.dtype is not dtype and (name == "out" or (tensor.dtype, dtype) not in _MIXED):
        raise TypeError(f"{_NAME}: {name}: expected {dtype}, the type of x, got {tensor.dtype}")
    if tensor.device != device:
        raise TypeError(f"{_NAME}: {name}: expected a tensor on {device}, as x, got {tensor.device}")
    if tensor.shape != size:
        raise ValueError(f"{_NAME}: {name}: expected size {tuple(size)}, got {tuple(tensor.shape)}")
