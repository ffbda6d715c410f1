"""BatchNorm1d, BatchNorm2d, BatchNorm3d."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar, Final

import torch
from torch import Tensor

from thnn._batch_norm import running_statistics as _statistics
from thnn._batch_norm.activation import ACTIVATIONS, Activation, limit_of, rectified
from thnn._batch_norm.running_statistics import FirstBatch
from thnn._binding.context import increment
from thnn._classes import function_classes
from thnn._torch import (
    BatchNormBase,
    increment_version,
    is_dynamo_compiling,
    recomputation_ends,
    traces_attributes,
)
from thnn.nn._errors import layer_error, wrong_count
from thnn.nn._layer import layer_forward, recorded, torch_forward
from thnn.nn.functional import activation as F

_batch_normalization = function_classes["BatchNormalizationFunction"].apply
_rectified_batch_normalization = function_classes["BatchNormalizationReLUFunction"].apply

# The default momentum, identified by `is`: a literal might be the same object as an explicit 0.1.
_MOMENTUM: Final = float("0.1")

_DOC = """Batch normalization of {what}; drop-in replacement for ``torch.nn.{name}``.

    output = (input - mean) / sqrt(variance + eps) * weight + bias

    Mean and biased variance are taken from the batch in training, in evaluation from the running statistics. Each batch
    in training updates the running statistics, with its unbiased variance:
    new = (1 - momentum) * old + momentum * batch.

    Shapes: input {shapes}, output the same; weight, bias, running_mean, running_var (C). float32, float64, float16
    or bfloat16; with an input of a half type the vectors may be float32.

    Arguments, torch's first:
        num_features: int: C
        eps: float: added to the variance
        momentum: float or None: weight of a batch in the running statistics, from 0 to 1; None: cumulative average
        affine: bool: whether there are weight (initially 1) and bias (initially 0)
        track_running_stats: bool: False: no running statistics; evaluation uses the statistics of the batch, too
        device, dtype: of parameters and buffers
        bias: bool: False: affine without a bias
        decay: float: 1 - momentum, the convention of Paddle, TensorFlow and Keras:
            new = decay * old + (1 - decay) * batch
        unbiased: bool: False: running_var is updated with the biased variance
        first_batch: 'blend' or 'initialize': the first batch after reset_running_stats() is blended with the initial
            0 and 1, or replaces them
        update_statistics: bool: False: training does not update running statistics and num_batches_tracked
        activation: None, 'relu' or 'relu6': applied to the output, fused

    The options are attributes and may be changed at any time; `decay` is 1 - `momentum`. An assigned momentum is not
    checked, as in torch; a negative or NaN eps is an error in the next call.
    The keys of state_dict are the same as in torch.nn.{name}: each layer loads the state of the other.

    Errors: ValueError for both momentum and decay, numbers out of range, an input with other dimensions or channels,
    one value per channel in training; TypeError for an input of a type that is not among these, or does not fit the
    parameters. After an error nothing is updated.
    Source: Ioffe and Szegedy 2015, algorithms 1 and 2. Conventions: docs/batch-normalization.md.
    """


class _BatchNorm(BatchNormBase):
    """Base class of the layers. A subclass defines its dimensions, `_dims`, and may override `_compute`."""

    # The numbers of dimensions of an input, each with its description: tuples, which torch 2.6 exports as constants.
    _dims: ClassVar[tuple[tuple[int, str], ...]] = ()
    # Defaults for layers that were created by torch, perhaps pickled by torch 0.3, and got this class later.
    track_running_stats: bool = True
    unbiased: bool = True
    first_batch: FirstBatch = "blend"
    update_statistics: bool = True
    activation: Activation | None = None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = _MOMENTUM,
        affine: bool = True,
        track_running_stats: bool = True,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
        decay: float | None = None,
        unbiased: bool = True,
        first_batch: FirstBatch = "blend",
        update_statistics: bool = True,
        activation: Activation | None = None,
    ) -> None:
        name = type(self).__name__
        try:
            num_features = operator.index(num_features)
        except TypeError:
            raise TypeError(
                f"{name}: num_features: expected an integer, got {type(num_features).__name__}"
            ) from None
        if num_features < 0:
            raise ValueError(f"{name}: num_features: expected 0 or more, got {num_features}")
        eps = _statistics.not_negative(name, "eps", eps)
        if decay is not None:
            if momentum is not _MOMENTUM:
                raise ValueError(
                    f"{name}: momentum, decay: expected one of them, since decay is 1 - momentum;"
                    f" got momentum={momentum!r}, decay={decay!r}"
                )
            momentum = _statistics.complement(_statistics.fraction(name, "decay", decay))
        elif momentum is not None:
            momentum = _statistics.fraction(name, "momentum", momentum)
        if first_batch not in _statistics.FIRST_BATCH:
            raise ValueError(
                f"{name}: first_batch: expected one of {_statistics.FIRST_BATCH}, got {first_batch!r}"
            )
        if activation not in ACTIVATIONS:
            raise ValueError(f"{name}: activation: expected one of {ACTIVATIONS}, got {activation!r}")
        for option, value in (("unbiased", unbiased), ("update_statistics", update_statistics)):
            if not isinstance(value, bool):
                raise TypeError(f"{name}: {option}: expected True or False, got {type(value).__name__}")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        if not bias:  # before torch 2.13, torch's layer has no such argument
            self.register_parameter("bias", None)
        self.unbiased = unbiased
        self.first_batch = first_batch
        self.update_statistics = update_statistics
        self.activation = activation

    def reset_parameters(self) -> None:
        """Sets the running statistics and the parameters to their initial values."""
        self.reset_running_stats()
        for parameter, value in ((self.weight, 1.0), (self.bias, 0.0)):
            if parameter is not None:
                torch.nn.init.constant_(parameter, value)

    @property
    def decay(self) -> float | None:
        """1 - momentum; None for a cumulative average."""
        return None if self.momentum is None else _statistics.complement(self.momentum)

    @decay.setter
    def decay(self, value: float) -> None:
        decay = _statistics.fraction(type(self).__name__, "decay", value)
        self.momentum = _statistics.complement(decay)

    def extra_repr(self) -> str:
        text = super().extra_repr()
        for name in ("unbiased", "first_batch", "update_statistics", "activation"):
            value = getattr(self, name)
            if value != getattr(_BatchNorm, name):
                text += f", {name}={value!r}"
        return text

    def _takes(self, dims: int) -> bool:
        return dims in [taken for taken, _ in self._dims]

    def _check_input_dim(self, input: Tensor) -> None:
        if not isinstance(input, Tensor):
            raise TypeError(f"{type(self).__name__}: input: expected a tensor, got {type(input).__name__}")
        if not self._takes(input.dim()):
            size = "of a nested tensor" if input.is_nested else tuple(input.shape)
            raise ValueError(
                f"{type(self).__name__}: input: expected {' or '.join(text for _, text in self._dims)},"
                f" got {input.dim()} dimensions {size}"
            )

    def _options_beyond_torch(self) -> str:
        """The options in use that torch's layer lacks, except the option that convert() sets; '' if there are none."""
        names: tuple[str, ...] = ("unbiased", "first_batch", "update_statistics", "activation")
        if self.__dict__.get("_fused"):
            names = names[:-1]
        used = [n for n in names if getattr(self, n) != getattr(_BatchNorm, n)]
        return "uses " + ", ".join(used) if used else ""

    def _fuse(self, activation: Activation, entry: Any) -> None:
        """Includes an activation; `entry` is the line of the layer in the Report of convert()."""
        self.activation, self._fused = activation, entry

    def _separate(self) -> Any:
        """Undoes _fuse(), and returns its entry."""
        del self.activation
        return self.__dict__.pop("_fused")

    def _remove_options(self) -> None:
        """Removes the attributes that the constructor and _fuse() add, which torch's layer lacks."""
        for name in ("unbiased", "first_batch", "update_statistics", "activation", "_fused"):
            self.__dict__.pop(name, None)

    def forward(self, input: Tensor) -> Tensor:
        try:
            self._check_input_dim(input)
            try:
                # Read directly, since five calls of nn.Module.__getattr__ cost as much as a small kernel.
                parameters, buffers = self._parameters, self._buffers
                weight, bias = parameters["weight"], parameters["bias"]
                running_mean, running_var = buffers["running_mean"], buffers["running_var"]
                batches = buffers["num_batches_tracked"]
            except KeyError:
                # Parametrized, pruned or sharded layers store them elsewhere; pickles of torch 0.3 count no batches.
                weight, bias = self.weight, self.bias
                running_mean, running_var = self.running_mean, self.running_var
                batches = getattr(self, "num_batches_tracked", None)
            if not self.training:
                by_batch = running_mean is None and running_var is None
                return self._compute(input, weight, bias, running_mean, running_var, by_batch, 0.0)
            if running_mean is None or not self.track_running_stats or not self.update_statistics:
                return self._compute(input, weight, bias, None, None, True, 0.0)
            momentum: Any = self.momentum
            if momentum is None or self.first_batch != "blend":
                momentum = _statistics.weight_of_batch(momentum, self.first_batch, batches)
            try:
                output = self._compute(input, weight, bias, running_mean, running_var, True, momentum)
            except recomputation_ends:  # after the update of the running statistics
                _increment(batches)
                raise
        except (TypeError, ValueError, NotImplementedError):
            if (found := recorded(self, input)) is not None:
                return found
            raise
        _increment(batches)
        return output

    def _compute(
        self,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        train: bool,
        momentum: Any,
    ) -> Tensor:
        """The output, normalized by the statistics of the batch if `train`, which also updates the running statistics
        if they are given; otherwise by the running statistics.

        `momentum` is the weight of this batch, a number or a tensor. Only the options `unbiased` and `activation` take
        effect here.
        """
        activation, unbiased = self.activation, self.unbiased
        if train and input.numel() == 0 and self._takes(input.dim()):
            # Like torch's layers, which leave the running statistics unchanged then.
            empty = torch.nn.functional.batch_norm(input, None, None, weight, bias, True, 0.0, self.eps)
            limit = limit_of(activation)
            return empty if limit is None else rectified(empty, limit)
        apply = _batch_normalization if activation is None else _function_with(activation)
        try:
            if (
                not train
                or running_mean is None
                or running_var is None
                or (
                    unbiased
                    and (type(momentum) is float or not isinstance(momentum, Tensor))
                    and momentum != 1
                )
            ):
                return apply(input, weight, bias, running_mean, running_var, train, momentum, self.eps)
            return _statistics.normalize_by_batch(
                apply, input, weight, bias, running_mean, running_var, momentum, self.eps, unbiased
            )[0]
        except (TypeError, ValueError, NotImplementedError) as error:
            if isinstance(error, ValueError) and input.shape[1] != self.num_features:
                raise wrong_count(self, "channels", "num_features", self.num_features, input, 1) from None
            raise layer_error(self, error, {}) from None

    def _torch_forward(self, input: Tensor) -> Any:
        """`torch_forward`, with the activation that torch's layer lacks."""
        if self.training and (reason := self._options_beyond_torch()):
            raise NotImplementedError(
                f"{type(self).__name__}: {reason}, which torch.onnx.export does not know"
            )
        output, limit = torch_forward(self, input), limit_of(self.activation)
        return output if limit is None else rectified(output, limit)


def _increment(batches: Tensor | None) -> None:
    """Adds 1 to num_batches_tracked, if a layer has it.

    `add_(1)` takes ten times as long, as much as a small kernel.
    """
    if batches is None:
        return
    if is_dynamo_compiling() or not increment(batches):
        batches.add_(1)
    else:
        increment_version((batches,))


def _function_with(activation: str) -> Callable[..., Tensor]:
    """The function that computes batch normalization and an activation; ValueError for an unknown activation."""
    limit_of(activation)
    return _RECTIFIED[activation]


def _rectified(limit: float | None, *arguments: Any) -> Tensor:
    """Batch normalization and relu; marks the output for FusedReLU and FusedReLU6."""
    output: Tensor = _rectified_batch_normalization(*arguments, limit)
    if is_dynamo_compiling():
        if not traces_attributes:
            return output  # relu and relu6 of their output change nothing
        output = output.view_as(output)  # torch.compile cannot set attributes of one of several results
    output._thnn_rectified = limit, _version(output)  # type: ignore[attr-defined]
    return output


_RECTIFIED: Final = {a: functools.partial(_rectified, limit_of(a)) for a in ACTIVATIONS if a is not None}


def _version(output: Tensor) -> int | None:
    """The number of in-place changes of the tensor, None where torch does not count them."""
    if is_dynamo_compiling() or output.is_inference():
        return None
    return output._version


def _take_rectified(input: Any, limit: float) -> bool:
    """True if relu with this limit would not change the input: batch normalization has applied one with a limit at most
    as large, and nothing has changed the tensor since.

    Removes the mark: after this relu, other code may change the tensor.
    """
    mark = getattr(input, "_thnn_rectified", None)
    if not isinstance(mark, tuple):  # none, or an attribute of a torch.fx.Proxy
        return False
    input._thnn_rectified = None
    return mark[0] <= limit and mark[1] == _version(input)


def fused_relu(input: Any, inplace: bool = False) -> Tensor:
    """relu, which passes on the outputs of batch normalization with an activation."""
    if _take_rectified(input, math.inf):
        return input
    if isinstance(input, torch.fx.Proxy):
        return _node(fused_relu, input, inplace)
    return F.relu(input, inplace)


def fused_relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6, which passes on the outputs of batch normalization with ``activation='relu6'``."""
    return fused_hardtanh(input, 0.0, 6.0, inplace)


def fused_hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """hardtanh, which passes on the outputs of batch normalization with an activation of tighter bounds."""
    if min_val <= 0 and _take_rectified(input, max_val):
        return input
    if isinstance(input, torch.fx.Proxy):
        return _node(fused_hardtanh, input, min_val, max_val, inplace)
    return F.hardtanh(input, min_val, max_val, inplace)


def _node(function: Callable[..., Tensor], input: Any, *settings: Any) -> Any:
    """The call as a node of torch.fx, which would otherwise trace the function."""
    return input.tracer.create_proxy("call_function", function, (input, *settings), {})


class FusedReLU(torch.nn.ReLU):
    """ReLU that passes on the outputs of batch normalization with an activation: thnn.convert() puts it in place of
    nn.ReLU.

    Shapes, dtypes, errors: as ``thnn.nn.ReLU``.
    """

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        if _take_rectified(input, math.inf):
            return input
        return F.relu(input, self.inplace)


class FusedReLU6(torch.nn.ReLU6):
    """ReLU6 that passes on the outputs of batch normalization with ``activation='relu6'``: thnn.convert() puts it in
    the place of nn.ReLU6.

    Shapes, dtypes, errors: as ``thnn.nn.ReLU6``.
    """

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        if self.min_val <= 0 and _take_rectified(input, self.max_val):
            return input
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class BatchNorm1d(_BatchNorm, torch.nn.BatchNorm1d):
    __doc__ = _DOC.format(name="BatchNorm1d", what="vectors or signals", shapes="(N, C) or (N, C, L)")
    _dims: ClassVar = ((2, "2 dimensions (N, C)"), (3, "3 dimensions (N, C, L)"))


class BatchNorm2d(_BatchNorm, torch.nn.BatchNorm2d):
    __doc__ = _DOC.format(name="BatchNorm2d", what="images", shapes="(N, C, H, W)")
    _dims: ClassVar = ((4, "4 dimensions (N, C, H, W)"),)


class BatchNorm3d(_BatchNorm, torch.nn.BatchNorm3d):
    __doc__ = _DOC.format(name="BatchNorm3d", what="volumes", shapes="(N, C, D, H, W)")
    _dims: ClassVar = ((5, "5 dimensions (N, C, D, H, W)"),)
