"""Replicas of a module, one per device, that share its parameters."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from thnn.parallel._collectives import Broadcast

_Buffers = dict[tuple[nn.Module, str], Tensor]


class Replicas:
    """Replicas of a module and its submodules, one per device.

    Replicas use the parameters of the module, copied to other devices; the gradients of all replicas are added to the
    module's, in the order of the devices. Buffers are copies, except buffers of the first replica that are on its
    device.
    """

    def __init__(self, module: nn.Module, devices: Sequence[torch.device]) -> None:
        self.module = module
        self._modules = list(module.modules())
        for original in self._modules:
            _check(original)
        self._given: _Buffers = {}  # the initial buffers of the first replica
        parameters = _parameters_on(module, devices)
        self._copies = [
            self._copy(device, parameters[rank], rank == 0) for rank, device in enumerate(devices)
        ]
        self.roots = [copies[module] for copies in self._copies]

    def of(self, original: nn.Module) -> list[nn.Module]:
        """The replicas of one submodule, by device."""
        return [copies[original] for copies in self._copies]

    def _copy(
        self, device: torch.device, parameters: dict[Tensor, Tensor], first: bool
    ) -> dict[nn.Module, nn.Module]:
        # torch's method for DataParallel; modules that cache their parameters, such as RNNs, override it.
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
                    buffers[buffer] = buffer if first and buffer.device == device else copy_of(buffer, device)
                copy._buffers[name] = buffers[buffer]
                if first:
                    self._given[original, name] = buffers[buffer]
        return copies

    def separate_buffers(self, original: nn.Module) -> None:
        """Gives each replica of one submodule separate buffers, which `keep_buffers` ignores."""
        for name, buffer in original._buffers.items():
            self._given.pop((original, name), None)
            if buffer is not None:
                for copy in self.of(original):
                    given = copy._buffers[name]
                    assert given is not None
                    copy._buffers[name] = copy_of(buffer, given.device)

    def keep_buffers(self) -> None:
        """Copies the changed buffers of the first replica to the module."""
        for (original, name), given in self._given.items():
            value, buffer = self._copies[0][original]._buffers.get(name), original._buffers[name]
            assert buffer is not None
            if value is not given:  # the forward has assigned another tensor
                original._buffers[name] = None if value is None else value.to(buffer.device)
            elif given is not buffer and (original.training or given._version > 0):
                # The batch normalization of torch, which writes in training only, does not increment the version.
                with torch.no_grad():
                    buffer.copy_(given)


def copy_of(buffer: Tensor, device: torch.device) -> Tensor:
    """A copy of a buffer on a device, with version 0; a normal tensor in inference mode, too."""
    with torch.inference_mode(False):
        return buffer.detach().to(device, copy=True)


def _check(module: nn.Module) -> None:
    if isinstance(module, torch.jit.ScriptModule):
        raise NotImplementedError(f"{type(module).__name__}: scripted modules cannot be replicated")
    if isinstance(module, nn.modules.lazy.LazyModuleMixin) and module.has_uninitialized_params():
        raise ValueError(f"{type(module).__name__} has uninitialized parameters: run the module once before")


def _parameters_on(module: nn.Module, devices: Sequence[torch.device]) -> list[dict[Tensor, Tensor]]:
    """The parameters of the module on each device."""
    trainable: list[Tensor] = []
    others: list[Tensor] = []
    for parameter in module.parameters():
        (trainable if parameter.requires_grad and torch.is_grad_enabled() else others).append(parameter)
    there: dict[torch.device, dict[Tensor, Tensor]] = {d: {p: p.to(d) for p in others} for d in devices}
    copies = Broadcast.apply(tuple(devices), *trainable) if trainable else ()
    n = len(trainable)
    return [
        {**there[device], **dict(zip(trainable, copies[rank * n : (rank + 1) * n]))}
        for rank, device in enumerate(devices)
    ]
