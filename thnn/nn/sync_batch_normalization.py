"""SyncBatchNorm, and the conversion of a model to it and back."""

from __future__ import annotations

import copy
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor
from torch.nn.utils import parametrize

from thnn._batch_norm import statistics as _statistics
from thnn._batch_norm.communicator import check_process_group, communicator_of
from thnn._batch_norm.statistics import FirstBatch
from thnn._batch_norm.sync import synchronized
from thnn._torch import BatchNormBase
from thnn.nn.batch_normalization import _MOMENTUM, _BatchNorm, _check_activation

_M = TypeVar("_M", bound=torch.nn.Module)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all processes of a group, in place of ``torch.nn.SyncBatchNorm``.

    In training mean and variance are those of the parts of the batch in all processes together; the running statistics
    are the same in all of them to the bit. Parts may differ in size and layout, and be empty. Each forward has one
    collective, and so has each backward if the input requires a gradient. Gradients by weight and bias are those of the
    own part: DistributedDataParallel makes the mean of them. In evaluation, in a group of one, outside of the group
    and without torch.distributed it computes as BatchNorm1d, 2d and 3d do, with nobody else.

    Shapes: input (N, C) or (N, C, ...), output the same; weight, bias, running_mean, running_var (C). float32 or
    float64. Works on CPU tensors, with any backend of torch.distributed.

    Arguments: those of ``thnn.nn.BatchNorm2d``, and
        process_group: group of torch.distributed, or None for all processes. All of its processes have to call the
            layer in the same order.

    Errors: those of BatchNorm2d (one value per channel counts over all parts); ValueError where the processes are not
    in the same layer, with the same number of channels and element type, and in all others where the layer refuses the
    input of one; RuntimeError where one is gone or has not come within the timeout of the group. They tell the layer by
    its name in the model, if convert_sync_batchnorm() made it, and the rank.
    """

    process_group: Any = None
    # Where it was converted: the name in the model, and what revert_sync_batchnorm() goes back to.
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
        activation: Literal["relu"] | None = None,
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
        """``thnn.nn.convert_sync_batchnorm``, where torch's class has it."""
        return convert_sync_batchnorm(module, process_group)

    def __deepcopy__(self, memo: dict[int, Any]) -> SyncBatchNorm:
        memo[id(self.process_group)] = (
            self.process_group
        )  # cannot be copied; the copy works with the same processes
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
        """Raises what the forward would raise before its collective."""
        _check_activation(self.activation)
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

    def _compute(
        self,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        train: bool,
        momentum: float,
    ) -> Tensor:
        # Evaluation has no collective, even without running statistics.
        communicator = communicator_of(self.process_group) if train and self.training else None
        if communicator is None:
            return super()._compute(input, weight, bias, running_mean, running_var, train, momentum)
        replaced = None
        if momentum == 1 and running_mean is not None and running_var is not None:
            # They may be NaN, which 0 * NaN would keep.
            replaced = running_mean, running_var
            running_mean, running_var = torch.zeros_like(running_mean), torch.zeros_like(running_var)
        output = synchronized(
            input, weight, bias, running_mean, running_var, momentum, self.eps, communicator, self._label(),
            unbiased=self.unbiased, relu=self.activation == "relu",
        )  # fmt: skip
        if replaced is not None and running_mean is not None and running_var is not None:
            _statistics.update(replaced[0], running_mean, 1)
            _statistics.update(replaced[1], running_var, 1)
        return output

    def _label(self) -> str:
        """What errors call it."""
        return f"SyncBatchNorm {self._qualified_name!r}" if self._qualified_name else "SyncBatchNorm"


def convert_sync_batchnorm(module: _M, process_group: Any = None) -> _M:
    """Makes every batch normalization in a model a SyncBatchNorm; returns the model.

    The layers are those of torch.nn (BatchNorm1d, 2d, 3d, SyncBatchNorm) and of thnn.nn, and classes derived from them;
    the model itself may be one. They are the same objects afterwards, with another class: parameters, buffers, hooks,
    modes, options and whatever refers to them stay. Errors name them as they are called in `module`.

    Arguments:
        module: the model, on each process of the group
        process_group: group of torch.distributed; None: all processes, or those that a torch.nn.SyncBatchNorm had

    Errors: TypeError for what is no module or no group; ValueError, with nothing converted, for lazy layers that have
    not seen an input, for parametrized layers, and for classes with a forward of their own.
    """
    _check_module("convert_sync_batchnorm", module)
    check_process_group(process_group)
    layers = [(name, m) for name, m in module.named_modules() if isinstance(m, BatchNormBase)]
    for name, layer in layers:
        if isinstance(layer, torch.nn.modules.lazy.LazyModuleMixin) and layer.has_uninitialized_params():
            raise ValueError(
                f"convert_sync_batchnorm: {name!r}: is lazy; its first input has to come before the conversion"
            )
        if parametrize.is_parametrized(layer):
            raise ValueError(f"convert_sync_batchnorm: {name!r}: is parametrized; convert it before that")
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


# Those that SyncBatchNorm's takes the place of.
_FORWARDS = (
    BatchNormBase.forward,
    torch.nn.SyncBatchNorm.forward,
    _BatchNorm.forward,
)

# What conversion writes over, or leaves behind, in the state of a layer.
_CONVERTED = frozenset({"process_group", "_qualified_name", "_dims"})


def revert_sync_batchnorm(module: _M) -> _M:
    """Undoes convert_sync_batchnorm(): every converted layer gets the class that it had; returns the model.

    All else stays, what training has changed included. A SyncBatchNorm that was made as such stays one.

    Errors: TypeError for what is no module; ValueError, with nothing reverted, for layers that are parametrized.
    """
    _check_module("revert_sync_batchnorm", module)
    for name, layer in module.named_modules():
        if isinstance(layer, SyncBatchNorm) and parametrize.is_parametrized(layer):
            raise ValueError(f"revert_sync_batchnorm: {name!r}: is parametrized; revert it before that")
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
