"""The calls of the modules of a model in a run on an example: their arguments, and their times."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.fx.node import map_aggregate

from thnn._rewrite.nested import tensors

# The first repetition is not counted.
_REPETITIONS = 6


class Example(NamedTuple):
    """A copy of a module, and the arguments of its first call."""

    module: nn.Module
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


def examples(model: nn.Module, inputs: Any, names: Iterable[str]) -> dict[str, Example]:
    """The first call of each of the modules with these names in a run of a copy of the model on `inputs`, one argument
    or a tuple of arguments. Modules that are not called are left out.

    The model, its running statistics and the generators of random numbers stay as they are. Raises what the model
    raises.
    """
    found: dict[str, Example] = {}
    probe = copy.deepcopy(model)

    def keep(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            if name not in found:
                found[name] = Example(module, *copied((args, keywords)))

        return hook

    handles = [
        probe.get_submodule(name).register_forward_pre_hook(keep(name), prepend=True, with_kwargs=True)
        for name in names
    ]
    with _same_random_numbers(probe):
        probe(*(inputs if isinstance(inputs, tuple) else (inputs,)))
    for handle in handles:
        handle.remove()
    return found


def _same_random_numbers(module: nn.Module) -> AbstractContextManager[None]:
    devices = {parameter.device for parameter in module.parameters() if parameter.is_cuda}
    return torch.random.fork_rng([*devices])


def copied(values: Any) -> Any:
    """The values, with tensors that a module may overwrite, which have a gradient if the given ones have."""

    def copy_of(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        with torch.enable_grad():
            return value.detach().requires_grad_(value.requires_grad).clone()

    return map_aggregate(values, copy_of)


def seconds(example: Example, classes: Sequence[type[nn.Module]]) -> list[float]:
    """The shortest times of a call of a module with each of these classes, with the backward where gradients are
    enabled.

    The classes take turns, so that another program on the machine slows down all of them.
    """
    modules = []
    for cls in classes:
        modules.append(copy.deepcopy(example.module))
        modules[-1].__class__ = cls
    best = [float("inf")] * len(modules)
    with _same_random_numbers(example.module):
        for repetition in range(_REPETITIONS):
            for k, module in enumerate(modules):
                arguments, keywords = copied((example.arguments, example.keywords))
                _wait(arguments)
                start = time.perf_counter()
                results = [r for r in tensors(module(*arguments, **keywords)) if r.requires_grad]
                if results:
                    torch.autograd.backward(results, [torch.ones_like(r) for r in results])
                _wait(arguments)
                if repetition:
                    best[k] = min(best[k], time.perf_counter() - start)
    return best


def _wait(arguments: Any) -> None:
    if any(tensor.is_cuda for tensor in tensors(arguments)):
        torch.cuda.synchronize()
