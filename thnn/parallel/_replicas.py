"""Replicas of a module, one per device, that share its parameters."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from thnn.parallel._sums import Broadcast

_Buffers = dict[tuple[nn.Module, str], Tensor]


class Replicas:
    """Copies of the tree of modules under `module`, one per device.

    Parameters: those of the module, moved where they are not there yet; gradients of all replicas arrive at the module,
    added in the order of the devices. Buffers: the first replica has the module's own as long as they are on its
    device; all others are copies.
    """

    def __init__(self, module: nn.Module, devices: Sequence[torch.device]) -> None:
        self.module = module
        self._modules = list(module.modules())
        for original in self._modules:
            _check(original)
        self._given: _Buffers = {}
        parameters = _parameters_on(module, devices)
        self._copies = [
            self._copy(device, parameters[rank], rank == 0) for rank, device in enumerate(devices)
        ]
        self.roots = [copies[module] for copies in self._copies]

    def of(self, original: nn.Module) -> list[nn.Module]:
        """The replicas of one module in the tree, by device."""
        return [copies[original] for copies in self._copies]

    def _copy(
        self, device: torch.device, parameters: dict[Tensor, Tensor], first: bool
    ) -> dict[nn.Module, nn.Module]:
        # torch's own protocol for this: modules that cache their parameters, as RNNs do, take part in it.
        copies = {original: original._replicate_for_data_parallel() for original in self._modules}
        buffers: dict[Tensor, Tensor] = {}
        for original, copy in copies.items():
            for name, child in original._modules.items():
                copy._modules[name] = None if child is None else copies[child]
            for name, parameter in original._parameters.items():
                if parameter is not None:
                    setattr(copy, name, parameters[parameter])
                    copy.__dict__.pop(name, None)
                copy._parameters[name] = None if parameter is None else parameters[parameter]
            for name, buffer in original._buffers.items():
                if buffer is None:
                    continue
                if buffer not in buffers:
                    buffers[buffer] = buffer if first and buffer.device == device else own(buffer, device)
                copy._buffers[name] = buffers[buffer]
                if first:
                    self._given[original, name] = buffers[buffer]
        return copies

    def part_buffers(self, original: nn.Module) -> None:
        """Gives each replica of one module buffers of its own, which `keep_buffers` leaves alone."""
        for name, buffer in original._buffers.items():
            self._given.pop((original, name), None)
            if buffer is not None:
                for copy in self.of(original):
                    given = copy._buffers[name]
                    assert given is not None
                    copy._buffers[name] = own(buffer, given.device)

    def keep_buffers(self) -> None:
        """What the first replica has done to its buffers is done to those of the module."""
        for (original, name), given in self._given.items():
            value, buffer = self._copies[0][original]._buffers.get(name), original._buffers[name]
            assert buffer is not None
            if value is not given:  # assigned
                original._buffers[name] = None if value is None else value.to(buffer.device)
            elif given is not buffer and (original.training or given._version > 0):
                # torch does not count the writes of its normalization, which are made in training only.
                with torch.no_grad():
                    buffer.copy_(given)


def own(buffer: Tensor, device: torch.device) -> Tensor:
    """A copy whose writes are counted from 0, in inference mode, too."""
    with torch.inference_mode(False):
        return buffer.detach().to(device, copy=True)


def _check(module: nn.Module) -> None:
    if isinstance(module, torch.jit.ScriptModule):
        raise NotImplementedError(f"{type(module).__name__}: scripted modules cannot be replicated")
    if isinstance(module, nn.modules.lazy.LazyModuleMixin) and module.has_uninitialized_params():
        raise ValueError(f"{type(module).__name__} has parameters without a size: run the module once before")


def _parameters_on(module: nn.Module, devices: Sequence[torch.device]) -> list[dict[Tensor, Tensor]]:
    """For each device: the parameters of the module as they are there."""
    learning: list[Tensor] = []
    others: list[Tensor] = []
    for parameter in module.parameters():
        (learning if parameter.requires_grad and torch.is_grad_enabled() else others).append(parameter)
    there: dict[torch.device, dict[Tensor, Tensor]] = {d: {p: p.to(d) for p in others} for d in devices}
    copies = Broadcast.apply(tuple(devices), *learning) if learning else ()
    n = len(learning)
    return [
        {**there[device], **dict(zip(learning, copies[rank * n : (rank + 1) * n]))}
        for rank, device in enumerate(devices)
    ]
