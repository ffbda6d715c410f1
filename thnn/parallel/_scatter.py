"""Scattering of batches, and functions of structures: tensors, and tuples, lists and dicts of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.arguments import not_dense


def map_tensors(function: Callable[[Tensor], Any], value: Any) -> Any:
    """Applies `function` to each tensor in tuples, lists and dicts; other leaves stay unchanged."""
    return zip_map(
        lambda leaves: function(leaves[0]) if isinstance(leaves[0], Tensor) else leaves[0], [value]
    )


def zip_map(function: Callable[[list[Any]], Any], values: Sequence[Any]) -> Any:
    """One structure from several of the same form: each leaf is `function` of the corresponding leaves.

    Raises ValueError if the structures differ.
    """
    first = values[0]
    if not isinstance(first, (tuple, list, dict)):
        return function(list(values))
    keys = [
        v.keys() if isinstance(v, dict) else len(v) if isinstance(v, (tuple, list)) else None for v in values
    ]
    for value, key in zip(values, keys):
        if type(value) is not type(first) or key != keys[0]:
            raise ValueError(
                f"expected the same structure from all replicas, got {_describe(first)} and {_describe(value)}"
            )
    if isinstance(first, dict):
        items = {key: zip_map(function, [v[key] for v in values]) for key in first}
        return items if type(first) is dict else type(first)(items)
    parts = [zip_map(function, list(column)) for column in zip(*values)]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*parts)
    return type(first)(parts)


def _describe(value: Any) -> str:
    size = f" of {len(value)}" if isinstance(value, (tuple, list, dict)) else ""
    return type(value).__name__ + size


def tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in a structure."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)


def batch_size(where: str, value: Any, dim: int = 0) -> int | None:
    """The size along `dim` of the tensors in a structure; None if all are without dimensions, or there are none.

    Raises ValueError if the sizes differ, TypeError for sparse and nested tensors.
    """
    count: int | None = None
    for tensor in tensors(value):
        if kind := not_dense(tensor):
            raise TypeError(f"{where}: expected dense tensors, got {kind}")
        if tensor.dim() == 0:
            continue
        if not -tensor.dim() <= dim < tensor.dim():
            raise ValueError(f"{where}: expected tensors with a dimension {dim}, got {tuple(tensor.shape)}")
        if count is not None and tensor.shape[dim] != count:
            raise ValueError(
                f"{where}: expected tensors of the same size along dimension {dim}, got {count} and"
                f" {tensor.shape[dim]} {tuple(tensor.shape)}"
            )
        count = tensor.shape[dim]
    return count


def even_sizes(count: int, devices: int) -> list[int]:
    """The sizes of the parts, as from torch.tensor_split: they differ by at most 1, the larger ones first.

    At most `count` devices get a part, and at least one, which is empty for an empty batch.
    """
    parts = max(1, min(count, devices))
    return [count // parts + (rank < count % parts) for rank in range(parts)]


def scatter(value: Any, sizes: Sequence[int], devices: Sequence[torch.device], dim: int = 0) -> list[Any]:
    """The structure once per device, with the tensors split along `dim` into parts of the given sizes.

    Tensors without dimensions, and leaves that are not tensors, go to all devices.
    """

    def part(rank: int) -> Callable[[Tensor], Tensor]:
        start = sum(sizes[:rank])

        def split(tensor: Tensor) -> Tensor:
            piece = tensor.narrow(dim, start, sizes[rank]) if tensor.dim() else tensor
            # A copy to the CPU that did not block would be read before its end.
            return piece.to(devices[rank], non_blocking=devices[rank].type != "cpu")

        return split

    return [map_tensors(part(rank), value) for rank in range(len(sizes))]
