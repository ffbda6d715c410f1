"""SelfDataParallel: a network on several devices of one process."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import nn

from thnn._torch import BatchNormBase
from thnn.parallel._joint_batch_norm import (
    batch_normalizations,
    synchronize,
)
from thnn.parallel._moving_statistics import MOVING_STATISTICS, MovingStatistics
from thnn.parallel._replica_group import ReplicaGroup, run_replicas
from thnn.parallel._replicas import Replicas
from thnn.parallel._scatter import batch_size, even_sizes, scatter

Device = torch.device | str | int


class SelfDataParallel(nn.Module):
    """Runs a network on several devices, each with a part of the batch; by default batch normalization is over the
    whole batch.

        network = thnn.parallel.SelfDataParallel(network, ["cuda:0", "cuda:1"])
        criterion = thnn.parallel.DataParallelCriterion(torch.nn.CrossEntropyLoss())
        outputs = network(images)  # a list, one per device
        criterion(outputs, labels).backward()

    Each call replicates the module (replicas share its parameters), scatters the batch, and runs one thread per
    device. It returns the list of the outputs of the replicas, in the order of the devices and on them. With
    moving_statistics='sync', outputs, gradients and running statistics equal those of the module on the whole batch.

    Arguments:
        module: nn.Module: the network; its parameters stay where they are
        devices: devices, which may repeat: ["cpu", "cpu"]
        moving_statistics: how a batch on K devices is normalized and updates the running statistics of a layer.
            'sync': every replica normalizes with the statistics of the whole batch, which update the running
            statistics once. With each of the other choices a replica normalizes with the statistics of its part; of
            the K updated running statistics new_k, the layer gets
            'first': the first device's
            'last': the last device's
            'mean': their mean
            'sum': old + sum(new_k - old), the sum of all updates. See `equivalent_decay`.
        dim: int: the dimension of the inputs that is the batch

    Call: inputs and keywords may be tensors, and tuples, lists and dicts of them; each tensor is split along `dim` as
    by torch.tensor_split: into sizes that differ by at most 1, the larger ones first. With fewer samples than devices
    the last devices are idle, and the list is shorter; an empty batch goes to the first. Tensors without dimensions,
    and objects that are not tensors, go to all devices.

    Synchronized layers are thnn.nn.BatchNorm1d/2d/3d and torch.nn.BatchNorm1d/2d/3d, and classes derived from them
    whose forward calls the forward of the base class. Changes of other buffers in the first replica are kept, as in
    torch's DataParallel. On the CPU all replicas draw from one random generator (dropout, for example), in random
    order.

    state_dict and load_state_dict have the keys of the module itself, without a prefix. train(), eval(), to() and
    parameters() act on the module.

    Threads have the caller's grad mode, inference mode, autocast, default device, streams and context variables.
    Replicas on the CPU divide torch's number of threads among them.

    Errors: TypeError for a module, device or dim of another type, and for sparse and nested inputs; ValueError for an
    empty list of devices, a device that does not exist or has no memory (meta), another moving_statistics, a
    SyncBatchNorm or SelfDataParallel in the network, inputs without a batch or of different sizes. An exception in a
    replica aborts the others and is raised unchanged. If replicas do not run the same layers of batch normalization in
    the same order, ValueError names the layer.
    """

    def __init__(
        self,
        module: nn.Module,
        devices: Sequence[Device],
        moving_statistics: Literal["sync", "first", "last", "mean", "sum"] = "sync",
        dim: int = 0,
    ) -> None:
        super().__init__()
        if not isinstance(module, nn.Module):
            raise TypeError(f"SelfDataParallel: module: expected an nn.Module, got {type(module).__name__}")
        try:
            self.dim = operator.index(dim)
        except TypeError:
            raise TypeError(f"SelfDataParallel: dim: expected an integer, got {type(dim).__name__}") from None
        self.module = module
        self.devices = _devices(devices)
        self.moving_statistics = moving_statistics
        self._layers()

    def extra_repr(self) -> str:
        dim = f", dim={self.dim}" if self.dim else ""
        return f"devices={[str(d) for d in self.devices]}, moving_statistics={self.moving_statistics!r}{dim}"

    def _layers(self) -> dict[str, BatchNormBase]:
        """The layers of batch normalization; ValueError if the network, which may have changed, is not supported."""
        if self.moving_statistics not in MOVING_STATISTICS:
            raise ValueError(
                f"SelfDataParallel: moving_statistics: expected one of {MOVING_STATISTICS},"
                f" got {self.moving_statistics!r}"
            )
        for name, part in self.module.named_modules():
            if isinstance(part, SelfDataParallel):
                raise ValueError(
                    f"SelfDataParallel: {name!r} is a SelfDataParallel, too; they cannot be nested"
                    if name
                    else "SelfDataParallel: module: expected another module, got a SelfDataParallel"
                )
        return batch_normalizations(self.module)

    def forward(self, *inputs: Any, **keywords: Any) -> list[Any]:
        layers = self._layers()
        count = batch_size("SelfDataParallel", (inputs, keywords), self.dim)
        if count is None:
            raise ValueError("SelfDataParallel: expected an input with a batch, got none")
        sizes = even_sizes(count, len(self.devices))
        devices = self.devices[: len(sizes)]
        group = ReplicaGroup(devices)
        parts = scatter((inputs, keywords), sizes, devices, self.dim)
        replicas = Replicas(self.module, devices)
        moving = None
        if self.moving_statistics == "sync":
            synchronize(replicas, layers, group)
        else:
            moving = MovingStatistics(self.moving_statistics, replicas, layers)
        jobs = [
            functools.partial(replica, *part, **words)
            for replica, (part, words) in zip(replicas.roots, parts)
        ]
        outputs = run_replicas(group, jobs)
        replicas.keep_buffers()
        if moving is not None:
            moving.combine()
        return outputs

    def state_dict(self, *args: Any, **keywords: Any) -> Any:
        return self.module.state_dict(*args, **keywords)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        return self.module.load_state_dict(state_dict, strict, assign)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Inserts the prefix that torch expects when this module is part of another one."""
        for key in [k for k in state_dict if k.startswith(prefix)]:
            state_dict[f"{prefix}module.{key[len(prefix) :]}"] = state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, *args)


def _devices(devices: Sequence[Device]) -> tuple[torch.device, ...]:
    if devices is None or isinstance(devices, (str, int, torch.device)):
        raise TypeError(f"SelfDataParallel: devices: expected a list, got {devices!r}")
    result = tuple(_device(name) for name in devices)
    if not result:
        raise ValueError("SelfDataParallel: devices: expected one or more, got none")
    return result


def _device(name: Device) -> torch.device:
    """The device with its index: 'cuda:0' for 'cuda'."""
    if isinstance(name, bool) or not isinstance(name, (str, int, torch.device)):
        raise TypeError(
            f"SelfDataParallel: devices: expected names, numbers or torch.device, got {type(name).__name__}"
        )
    try:
        device = torch.empty(0, device=torch.device(name)).device
    except (RuntimeError, AssertionError) as error:  # AssertionError if torch was built without the device
        reason = str(error).splitlines()[0]
        raise ValueError(f"SelfDataParallel: devices: {name!r} is not available: {reason}") from None
    if device.type == "meta":
        raise ValueError(f"SelfDataParallel: devices: {name!r} has no memory")
    return device
