"""How the operators may be sharded, so that the classes take DTensors.

DTensor asks for the placements of tensors with which each shard can be computed on its own, and redistributes tensors
that have others. Every operator takes replicated tensors; the rest follows from the roles of its arguments:

- point-wise functions take shards of any dimension;
- functions of one batch of images, sequences or samples take shards of the batch, with replicated parameters, whose
  gradients are then partial sums;
- batch normalization takes shards of the channels;
- Linear takes shards of its rows of weights (its outputs) and, without a bias, of its columns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from thnn._header import Module
from thnn._header.registry import modules
from thnn._operators.model import OperatorModel
from thnn._torch import use_numbers_of_each_call

Placements = Mapping[str, Any]


def _is_pointwise(module: Module) -> bool:
    """True for a function of each element of its input: all its tensors are sized as the input, and it does not sum
    over channels, as soft-maxima do."""
    forward = module.forward
    if forward is None or module.family != "activation" or module.name.endswith("SoftMax"):
        return False
    roles = {a.role for a in forward.after_state}
    return roles <= {"input", "output", "buffer", "scalar"} and forward.tensors("output")[0].like == "input"


POINTWISE = frozenset(name for name, module in modules().items() if _is_pointwise(module))
_NORMALIZATIONS = ("BatchNormalization", "BatchNormalizationReLU", "BatchNormalizationAdd")
#: The number of dimensions of a batch, by the beginning of a module's name.
_RANKS = {"Linear": 2, "Temporal": 3, "Spatial": 4, "Volumetric": 5}


def register(o: OperatorModel) -> None:
    """Registers the placements of the operators of a class."""
    if o.module.is_criterion or o.is_random:
        roles = _replicated
    elif o.module.name in POINTWISE:
        roles = _pointwise
    elif o.module.name in _NORMALIZATIONS:
        roles = _channels
    elif _is_batched(o.module):
        roles = _linear if o.module.name == "Linear" else _batch
    else:
        roles = _replicated
    results = [*o.results, *(f"new {a.name}" for a in o.modified)]
    _register(o.forward, o.given, results, functools.partial(roles, o))
    for operator, kernel in zip(o.backwards, o.kernels):
        _register(
            operator, ["gradOutput", *kernel.arguments], list(kernel.gradients), functools.partial(roles, o)
        )


def _register(
    operator: Any,
    names: Sequence[str],
    results: Sequence[str],
    placements: Callable[[Mapping[str, Any]], Iterator[Placements]],
) -> None:
    """Registers, beside replicated tensors, the placements by the names of arguments and results."""

    def acceptable(*values: Any) -> list[tuple[list[Any], list[Any]]]:
        given = dict(zip(names, values))
        found: list[Placements] = [{}, *placements(given)]
        return [
            (
                [placed.get(name, Replicate()) for name in results],
                [placed.get(n, Replicate()) if hasattr(v, "placements") else None for n, v in given.items()],
            )
            for placed in found
        ]

    register_sharding(operator)(acceptable)
    use_numbers_of_each_call(operator)


def _is_batched(module: Module) -> bool:
    """True for a function whose output, and saved tensors, have a row for each sample of one input."""
    forward = module.forward
    assert forward is not None
    inputs = [a.name for a in forward.tensors("input")]
    rows = {"input", *(a.name for a in forward.tensors("output"))}
    saved = (a.name == "indices" or a.like in rows for a in forward.tensors("saved"))
    named = any(module.name.startswith(prefix) for prefix in _RANKS) or "Convolution" in module.name
    return named and inputs == ["input"] and all(saved) and not forward.running


def _replicated(o: OperatorModel, values: Mapping[str, Any]) -> Iterator[Placements]:
    yield from ()


def _pointwise(o: OperatorModel, values: Mapping[str, Any]) -> Iterator[Placements]:
    tensors = {n: v for n, v in values.items() if hasattr(v, "placements")}
    for d in range(min(len(v.shape) for v in tensors.values())):
        yield dict.fromkeys((*tensors, *o.results, *o.gradient_of), Shard(d))


def _of_rows(o: OperatorModel) -> list[str]:
    """The tensors with a row for each sample."""
    return ["input", "gradOutput", "gradInput", *o.results]


def _batch(o: OperatorModel, values: Mapping[str, Any]) -> Iterator[Placements]:
    rank = next((r for prefix, r in _RANKS.items() if o.module.name.startswith(prefix)), None)
    if rank is None:  # of any number of dimensions
        rank = len(values["weight"].shape)
    # A single image or sequence has no batch.
    if all(len(values[n].shape) == rank for n in ("input", "gradOutput") if values.get(n) is not None):
        partial = [n for n, of in o.gradient_of.items() if of != "input"]
        yield {**dict.fromkeys(_of_rows(o), Shard(0)), **dict.fromkeys(partial, Partial())}


def _channels(o: OperatorModel, values: Mapping[str, Any]) -> Iterator[Placements]:
    names = [*values, *o.results, *(f"new {a.name}" for a in o.modified), *o.gradient_of]
    batches = ("input", "residual", "output", "gradOutput", "gradInput", "gradResidual")
    yield {n: Shard(1 if n in batches else 0) for n in names}


def _linear(o: OperatorModel, values: Mapping[str, Any]) -> Iterator[Placements]:
    yield from _batch(o, values)
    outputs = dict.fromkeys(("weight", "bias", "gradWeight", "gradBias"), Shard(0))
    yield {**outputs, **dict.fromkeys(("output", "gradOutput"), Shard(1)), "gradInput": Partial()}
    if values.get("bias") is None:
        columns = dict.fromkeys(("input", "weight", "gradInput", "gradWeight"), Shard(1))
        yield {**columns, "output": Partial()}
