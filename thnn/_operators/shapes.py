"""Sizes of the outputs of a C function for fake tensors, from the C function itself.

A call with meta tensors checks arguments and requests the sizes of outputs. For symbolic sizes, the function is called
with many sizes, and each size of an output is fitted as a product of terms k * floor((a * s + b) / c), one per size of
an input that it depends on. An integer among the arguments may be symbolic, too, as the output size of an interpolation
by a factor, and counts as a size. A formula that fails at one of further random sizes is rejected, and the sizes become
constants of the graph.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from thnn._binding.call import invoke
from thnn._binding.library import ALLOCATE, ANY, BoundFunction
from thnn._torch import without_modes

_SAMPLES, _CHECKS = 24, 8
_ERRORS = (TypeError, ValueError, IndexError, NotImplementedError)


class Output(NamedTuple):
    """Size, type and layout of a tensor that a call allocates; the sizes may be symbolic."""

    size: tuple[Any, ...]
    dtype: torch.dtype
    memory_format: torch.memory_format

    def allocate(self, like: Tensor) -> Tensor:
        return torch.empty(self.size, dtype=self.dtype, device=like.device, memory_format=self.memory_format)


class _Variable(NamedTuple):
    """A symbolic size: its number among the symbolic sizes of a call."""

    number: int


def _value(n: Any, sizes: Sequence[int]) -> Any:
    return sizes[n.number] if isinstance(n, _Variable) else n


class _Tensor(NamedTuple):
    """A tensor of a call: its sizes, and its strides in the trace, where only their order matters."""

    size: tuple[int | _Variable, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype

    def meta(self, sizes: Sequence[int]) -> Tensor:
        """A meta tensor with values of the symbolic sizes."""
        size = [_value(n, sizes) for n in self.size]
        stride = [*self.stride]
        if any(isinstance(n, _Variable) for n in self.size):
            step = 1
            for d in sorted(range(len(size)), key=lambda d: (stride[d], -d)):
                if stride[d]:
                    stride[d], step = step, step * max(size[d], 1)
        return torch.empty_strided(size, stride, dtype=self.dtype, device="meta")


class _Term(NamedTuple):
    """floor((a * size + b) / c)"""

    number: int
    a: int
    b: int
    c: int

    def at(self, sizes: Sequence[Any]) -> Any:
        size = sizes[self.number]
        if (self.a, self.b, self.c) == (1, 0, 1):
            return size
        total = self.a * size + self.b
        return total // self.c if self.c > 1 else total


# A factor and the terms that are multiplied with it.
_Product = tuple[int, tuple[_Term, ...]]


class _Found(NamedTuple):
    """The outputs of a call as functions of its symbolic sizes."""

    fixed: tuple[int, ...]  # sizes that become constants, after which the call is examined again
    equal: tuple[tuple[int, ...], ...]  # groups of sizes that the kernel requires to be equal
    outputs: tuple[tuple[int, tuple[_Product, ...], torch.dtype, torch.memory_format], ...]


def outputs(
    bound: BoundFunction, row: Sequence[Any], constants: Mapping[Any, int] = MappingProxyType({})
) -> dict[int, Output]:
    """The output for the position of each ALLOCATE among the arguments; raises the errors of the C function.

    `constants` are the values of sizes, by their expressions, that became constants of the graph.
    """
    # Each expression is a separate variable, even if it depends on others, as the output size of a layer does.
    symbols: dict[Any, Any] = {}
    for value in row:
        shape: Any = value.shape if isinstance(value, Tensor) else (value,)
        symbols.update((n.node.expr, n) for n in shape if _is_symbolic(n) and n.node.expr not in constants)
    numbers = {expression: _Variable(k) for k, expression in enumerate(symbols)}
    template = tuple(_template(value, {**numbers, **constants}) for value in row)
    if not symbols:
        return _call(bound, template, ())
    hints = tuple(_hint(n, 61 + 2 * k) for k, n in enumerate(symbols.values()))
    found = _fitted(bound, template, hints)
    sizes = [*symbols.values()]
    if found.fixed:
        values = {sizes[k].node.expr: int(sizes[k]) for k in found.fixed}
        return outputs(bound, row, {**constants, **values})
    for first, *others in found.equal:
        for other in others:
            torch._check(sizes[first] == sizes[other])
    return {
        position: Output(tuple(_product(p, sizes) for p in products), dtype, memory_format)
        for position, products, dtype, memory_format in found.outputs
    }


def _template(value: Any, numbers: Mapping[Any, _Variable | int]) -> Any:
    if not isinstance(value, Tensor):
        return _template_size(value, numbers) if isinstance(value, torch.SymInt) else value
    shape: Any = value.shape
    size = tuple(_template_size(n, numbers) for n in shape)
    return _Tensor(size, tuple(_hint(n, 1) for n in value.stride()), value.dtype)


def _template_size(n: Any, numbers: Mapping[Any, _Variable | int]) -> _Variable | int:
    return numbers[n.node.expr] if _is_symbolic(n) else int(n)


def _is_symbolic(n: Any) -> bool:
    return isinstance(n, torch.SymInt) and n.node.maybe_as_int() is None


def _hint(n: Any, otherwise: int) -> int:
    """The size that torch traces with; `otherwise` if it depends on data."""
    if not isinstance(n, torch.SymInt):
        return int(n)
    hint = n.node.hint
    return otherwise if hint is None else int(hint)


def _product(product: _Product, sizes: Sequence[Any]) -> Any:
    factor, terms = product
    result: Any = factor
    for k, term in enumerate(terms):
        result = term.at(sizes) if k == 0 and factor == 1 else result * term.at(sizes)
    return result


def _call(bound: BoundFunction, template: Sequence[Any], sizes: Sequence[int]) -> dict[int, Output]:
    """The outputs of a call with values of the symbolic sizes."""
    with without_modes(), torch.no_grad():
        values = [v.meta(sizes) if isinstance(v, _Tensor) else _value(v, sizes) for v in template]
        results = invoke(bound, ANY, values)
        return {
            position: Output(
                tuple(results[position].shape), results[position].dtype, _format(results[position])
            )
            for position, value in enumerate(template)
            if value is ALLOCATE
        }


def _format(tensor: Tensor) -> torch.memory_format:
    if not tensor.is_contiguous():
        for dims, memory_format in ((4, torch.channels_last), (5, torch.channels_last_3d)):
            if tensor.dim() == dims and tensor.is_contiguous(memory_format=memory_format):
                return memory_format
    return torch.contiguous_format


# Calls: the symbolic sizes of each, with its outputs.
_Line = list[tuple[tuple[int, ...], dict[int, Output]]]


@lru_cache(maxsize=1024)
def _fitted(bound: BoundFunction, template: Sequence[Any], hints: tuple[int, ...]) -> _Found:
    first = _call(bound, template, hints)
    groups, lines, fixed = _groups(bound, template, hints)
    if fixed:
        return _Found(fixed, (), ())
    everything = _Found(tuple(range(len(hints))), (), ())
    found = []
    for position, output in first.items():
        sizes_of = [_fit_size(position, d, hints, groups, lines) for d in range(len(output.size))]
        products = tuple(p for p in sizes_of if p is not None)
        formats = {o[position].memory_format for line in lines for _, o in line}
        if None in sizes_of or formats != {output.memory_format}:
            return everything
        found.append((position, products, output.dtype, output.memory_format))
    generator = random.Random(0)
    for _ in range(_CHECKS):
        sizes = [*hints]
        for group in groups:
            step = generator.randrange(300)
            for k in group:
                sizes[k] += step
        expected = _call(bound, template, sizes)
        for position, of_output, *_ in found:
            if expected[position].size != tuple(_product(p, sizes) for p in of_output):
                return everything
    return _Found((), tuple(groups), tuple(found))


def _groups(
    bound: BoundFunction, template: Sequence[Any], hints: tuple[int, ...]
) -> tuple[list[tuple[int, ...]], list[_Line], tuple[int, ...]]:
    """Groups of sizes that the kernel requires to be equal (most groups have one member), calls in which the sizes of
    each group grow by 0, 1, 2, ..., and the sizes that may not change."""
    groups: list[tuple[int, ...]] = []
    lines: list[_Line] = []
    fixed: list[int] = []
    for k in range(len(hints)):
        taken = {*fixed, *(n for group in groups for n in group)}
        if k in taken:
            continue
        equal = [n for n in range(k + 1, len(hints)) if n not in taken and hints[n] == hints[k]]
        for group in [(k,), *((k, n) for n in equal), *([(k, *equal)] if len(equal) > 1 else [])]:
            try:
                line: _Line = []
                for t in range(_SAMPLES):
                    sizes = tuple(h + t if n in group else h for n, h in enumerate(hints))
                    line.append((sizes, _call(bound, template, sizes)))
            except _ERRORS:
                continue
            groups.append(group)
            lines.append(line)
            break
        else:
            fixed.append(k)
    return groups, lines, tuple(fixed)


def _fit_size(
    position: int, d: int, hints: Sequence[int], groups: Sequence[Sequence[int]], lines: Sequence[_Line]
) -> _Product | None:
    """Size d of an output as a product of terms; None without a formula."""
    terms = []
    for (number, *_), line in zip(groups, lines):
        ys = [found[position].size[d] for _, found in line]
        if len(set(ys)) == 1:
            continue
        fit = _fit([sizes[number] for sizes, _ in line], ys)
        if fit is None:
            return None
        terms.append(_Term(number, *fit))
    size = lines[0][0][1][position].size[d]
    product = math.prod(term.at(hints) for term in terms)
    if product == 0 or size % product:
        return None
    return size // product, tuple(terms)


def _fit(xs: Sequence[int], ys: Sequence[int]) -> tuple[int, int, int] | None:
    """(a, b, c) with k * floor((a * x + b) / c) == y for all pairs and a number k; `xs` are consecutive numbers."""
    for k in sorted({math.gcd(*ys) or 1, 1}, reverse=True):
        zs = [y // k for y in ys]
        for c in range(1, len(zs) // 2):
            a = zs[c] - zs[0]
            if any(zs[t + c] - zs[t] != a for t in range(len(zs) - c)):
                continue
            for rest in range(c):
                b = c * zs[0] - a * xs[0] + rest
                if all((a * x + b) // c == z for x, z in zip(xs, zs)):
                    return a, b, c
    return None
