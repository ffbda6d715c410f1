"""SyncBatchNorm, and the conversion of a model to it and back."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn.utils import parametrize

from thnn._batch_norm import running_statistics as _statistics
from thnn._batch_norm.activation import Activation, limit_of
from thnn._batch_norm.communicator import check_process_group, communicator_of
from thnn._batch_norm.running_statistics import FirstBatch
from thnn._batch_norm.sync import synchronized
from thnn._torch import BatchNormBase, dynamo_disable
from thnn.nn.batch_normalization import _MOMENTUM, _BatchNorm

_M = TypeVar("_M", bound=torch.nn.Module)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all processes of a group; replaces ``torch.nn.SyncBatchNorm``.

    In training, mean and variance are taken over the batches of all processes; the running statistics have the same
    bits in all processes. The batches may differ in size and layout, and be empty. Each forward has one collective, and
    so has each backward if the input requires a gradient. Gradients w.r.t. weight and bias are sums over the batch of
    the process; DistributedDataParallel averages them. In evaluation, in a group of one, outside of the group and
    without torch.distributed the layer computes as BatchNorm1d, 2d and 3d, without a collective.

    Shapes: input (N, C) or (N, C, ...), output the same; weight, bias, running_mean, running_var (C). float32 or
    float64. Works on every device that the backend of the group supports, with float16 and bfloat16 on devices other
    than the CPU; on devices other than the CPU and CUDA it computes with torch operations.

    Arguments: as ``thnn.nn.BatchNorm2d``, and
        process_group: group of torch.distributed, or None for all processes. All processes of the group must call their
            layers in the same order. Threads must not share a group.

    Errors: as BatchNorm2d (the values per channel are counted over all processes); ValueError if the processes are in
    different layers or differ in the number of channels or the element type, and in all other processes if the layer
    rejects the input of one process; RuntimeError if a process is gone or does not arrive within the timeout of the
    group. The messages contain the rank, and the name of the layer in the model if convert_sync_batchnorm() created it.
    """

    process_group: Any = None
    # For a converted layer: its name in the model, and the state that revert_sync_batchnorm() restores.
    _qualified_name: str = ""
    _class_before: type[BatchNormBase] | None = None
    _state_before: dict[str, Any]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = _MOMENTUM,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
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
        check_process_group(process_group)
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            track_running_stats,
            device,
            dtype,
            bias=bias,
            decay=decay,
            unbiased=unbiased,
            first_batch=first_batch,
            update_statistics=update_statistics,
            activation=activation,
        )
        self.process_group = process_group

    @classmethod
    def convert_sync_batchnorm(cls, module: _M, process_group: Any = None) -> _M:
        """The same as ``thnn.nn.convert_sync_batchnorm``, as in torch's class."""
        return convert_sync_batchnorm(module, process_group)

    def __deepcopy__(self, memo: dict[int, Any]) -> SyncBatchNorm:
        memo[id(self.process_group)] = self.process_group  # groups cannot be copied
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def _check_input_dim(self, input: Tensor) -> None:
        try:
            self._check_call(input)
        except Exception as error:
            communicator = communicator_of(self.process_group) if self.training else None
            if communicator is not None:
                communicator.announce_error(self._label(), (self.weight, self.running_mean), error)
            raise

    def _check_call(self, input: Tensor) -> None:
        """Raises the errors of a forward that precede its collective."""
        limit_of(self.activation)
        if self.training and self.track_running_stats and self.update_statistics:
            _statistics.weight_of_batch(self.momentum, self.first_batch, self.num_batches_tracked)
        if not isinstance(input, Tensor):
            raise TypeError(f"SyncBatchNorm: input: expected a tensor, got {type(input).__name__}")
        if self._class_before is not None:
            self._class_before._check_input_dim(self, input)
        elif input.dim() < 2:
            raise ValueError(
                f"SyncBatchNorm: input: expected 2 dimensions (N, C) or more, got {input.dim()} {tuple(input.shape)}"
            )

    @dynamo_disable
    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input)

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
        # Evaluation has no collective, even without running statistics.
        communicator = communicator_of(self.process_group) if train and self.training else None
        if communicator is None:
            return super()._compute(input, weight, bias, running_mean, running_var, train, momentum)

        def update(mean: Tensor | None, var: Tensor | None, momentum: float) -> Tensor:
            return synchronized(
                input, weight, bias, mean, var, momentum, self.eps, communicator, self._label(),
                unbiased=self.unbiased, limit=limit_of(self.activation),
            )  # fmt: skip

        return _statistics.updated_by(update, running_mean, running_var, momentum)

    def _label(self) -> str:
        """The name of the layer in messages."""
        return f"SyncBatchNorm {self._qualified_name!r}" if self._qualified_name else "SyncBatchNorm"


def convert_sync_batchnorm(module: _M, process_group: Any = None) -> _M:
    """Converts every batch normalization in a model to SyncBatchNorm; returns the model.

    Converted are the layers of torch.nn (BatchNorm1d, 2d, 3d, SyncBatchNorm) and of thnn.nn, and classes derived from
    them; the model itself may be such a layer. Only the class of the layers changes: parameters, buffers, hooks, modes,
    options and references remain. Error messages contain the names of the layers in `module`.

    Arguments:
        module: the model, in each process of the group
        process_group: group of torch.distributed; None: all processes, or the group of a torch.nn.SyncBatchNorm

    Errors: TypeError for another type of module or group; ValueError, with nothing converted, for lazy layers before
    their first input, for parametrized layers, and for classes that override forward.
    """
    _check_module("convert_sync_batchnorm", module)
    check_process_group(process_group)
    layers = [(name, m) for name, m in module.named_modules() if isinstance(m, BatchNormBase)]
    for name, layer in layers:
        if isinstance(layer, torch.nn.modules.lazy.LazyModuleMixin) and layer.has_uninitialized_params():
            raise ValueError(f"convert_sync_batchnorm: {name!r}: is lazy; run it once before the conversion")
        if parametrize.is_parametrized(layer):
            raise ValueError(
                f"convert_sync_batchnorm: {name!r}: is parametrized; convert the layer before its parametrization"
            )
        if type(layer).forward not in _FORWARDS or "forward" in vars(layer):
            raise ValueError(
                f"convert_sync_batchnorm: {name!r}: {type(layer).__name__} has its own forward, which would be lost"
            )
    for name, layer in layers:
        state: dict[str, Any] = layer.__dict__
        if not isinstance(layer, SyncBatchNorm):
            before = {key: state[key] for key in _CONVERTED & state.keys()}
            state["_class_before"], state["_state_before"] = type(layer), before
            if isinstance(layer, _BatchNorm):
                state["_dims"] = layer._dims
            layer.__class__ = SyncBatchNorm
        state["_qualified_name"] = name
        if process_group is not None:
            state["process_group"] = process_group
    return module


# The methods that SyncBatchNorm.forward replaces.
_FORWARDS = (
    BatchNormBase.forward,
    torch.nn.SyncBatchNorm.forward,
    _BatchNorm.forward,
    SyncBatchNorm.forward,
)

# Attributes that the conversion changes or adds, besides _class_before and _state_before.
_CONVERTED = frozenset({"process_group", "_qualified_name", "_dims"})


def revert_sync_batchnorm(module: _M) -> _M:
    """Restores the classes of the layers that convert_sync_batchnorm() converted; returns the model.

    Parameters and buffers keep their current values. A SyncBatchNorm that was not converted does not change.

    Errors: TypeError for another type of module; ValueError, with nothing reverted, for parametrized layers.
    """
    _check_module("revert_sync_batchnorm", module)
    for name, layer in module.named_modules():
        if isinstance(layer, SyncBatchNorm) and parametrize.is_parametrized(layer):
            raise ValueError(
                f"revert_sync_batchnorm: {name!r}: is parametrized; remove the parametrization first"
            )
    for layer in module.modules():
        if isinstance(layer, SyncBatchNorm) and layer._class_before is not None:
            state: dict[str, Any] = layer.__dict__
            layer.__class__ = state.pop("_class_before")
            before = state.pop("_state_before")
            for key in _CONVERTED:
                state.pop(key, None)
            state.update(before)
    return module


def _check_module(where: str, module: Any) -> None:
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"{where}: module: expected a torch.nn.Module, got {type(module).__name__}")
