"""Strides of inputs and outputs, and the shapes of meta tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from thnn.testing.case_runner import (
    LAYOUTS,
    TIGHT,
    CaseRunner,
    Enter,
    Failed,
    as_it_is,
    channels_last,
    clone_with_strides,
    compare,
    compare_all,
    in_place,
    largest_of,
    lay_out,
    outputs_of,
    written,
)
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.error_inputs import ERRORS


def _only(name: str, kind: str, n: str, tensor: Tensor) -> Tensor:
    return lay_out(kind, tensor) if n == name else tensor


def _all(kind: str, n: str, tensor: Tensor) -> Tensor:
    return lay_out(kind, tensor)


def check_layouts(case: Case, sample: SampleInput) -> None:
    """Results do not depend on the layout of the tensors that are read: each layout for one tensor at a time, then for
    all."""
    runner = CaseRunner(case, sample)
    everything = runner.run()
    expected = runner.defined(everything)

    forward = runner.made(everything)
    names: dict[str, Tensor] = {}
    changed: set[str] = set()  # written tensors, whose elements must not share an address
    for function in runner.functions:
        row = runner.row(function, {} if function is runner.forward else forward)
        names.update({n: v for n, v in row.items() if isinstance(v, Tensor)})
        changed.update(written(function, row))
    for name, tensor in names.items():
        if not sample.differentiable:
            continue  # too large to repeat the calls for each tensor
        for kind, (_, fits) in LAYOUTS.items():
            if fits(tensor):
                got = runner.run(functools.partial(_only, name, kind))
                compare_all(runner, f" with {name} {kind}", got, expected, TIGHT)
        for dim in range(tensor.dim()):
            if tensor.shape[dim] < 2 or name in changed:
                continue
            first = functools.partial(_first_everywhere, name, dim)
            try:
                plain = runner.run(functools.partial(_contiguous_first, name, dim))
            except ERRORS:
                continue  # sizes, offsets: repeated values contradict other arguments
            got = runner.run(first)
            for key, result in expected.items():
                # Repeated values may cancel to 0, so errors are relative to the results of the original values.
                where = f"{case.module}_{key.replace('.', ': ')} with {name} expanded in dimension {dim}"
                compare(where, got[key], plain[key], TIGHT, largest_of(result))
    for kind, (_, fits) in LAYOUTS.items():
        if any(fits(t) for t in names.values()):
            got = runner.run(functools.partial(_all, kind))
            compare_all(runner, f" with all tensors {kind}", got, expected, TIGHT)


def _first_everywhere(name: str, dim: int, n: str, tensor: Tensor) -> Tensor:
    return tensor.narrow(dim, 0, 1).expand(tensor.shape) if n == name and tensor.shape[dim] > 1 else tensor


def _contiguous_first(name: str, dim: int, n: str, tensor: Tensor) -> Tensor:
    return _first_everywhere(name, dim, n, tensor).contiguous()


def check_output_layouts(case: Case, sample: SampleInput) -> None:
    """Outputs of the right size keep their memory and strides; classes return channels-last for channels-last input."""
    runner = CaseRunner(case, sample)
    everything = runner.run()
    expected = runner.defined(everything)
    shared = {f"{f.phase}.{pair[1]}" for f in runner.functions if (pair := in_place(f, runner.values))}
    for kind, (_, fits) in LAYOUTS.items():
        if not any(fits(t) for t in everything.values()):
            continue
        given: dict[str, Tensor] = {}
        whole: dict[str, Tensor] = {}

        def output(
            key: str, value: Tensor, kind: str = kind, given: Any = given, whole: Any = whole
        ) -> Tensor:
            size = everything[key].shape
            stale = torch.full(size, math.nan if value.is_floating_point() else -99, dtype=value.dtype)
            if key.startswith("acc") or key.split(".")[1] in ("gradWeight", "gradBias"):
                stale = torch.zeros_like(stale)
            given[key] = lay_out(kind, stale)
            whole[key] = given[key].new_empty(0).set_(given[key].untyped_storage())
            return given[key]

        got = runner.run(output=output)
        compare_all(runner, f" into {kind} outputs", got, expected, TIGHT)
        for key, tensor in given.items():
            if key in shared:
                continue
            phase, name = key.split(".")
            where = f"{case.module}_{phase}: {name}, {kind}"
            now = got[key]
            kept = now.stride() == lay_out(kind, torch.zeros(now.shape)).stride()
            if not kept or now.untyped_storage().data_ptr() != whole[key].data_ptr():
                raise Failed(f"{where}: had the right size, but did not keep its memory and strides")
            rest = whole[key].clone()
            rest.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(0)
            clean = rest.isnan() if rest.is_floating_point() else rest == -99
            outside = torch.ones_like(rest, dtype=torch.bool)
            outside.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(False)
            if tensor.numel() and not bool(clean[outside].all()):
                raise Failed(f"{where}: memory between its elements was written")
    if not runner.has_class:
        return
    input = runner.values.get("input")  # None in a module of pairs, input1 and input2
    if input is None or input.dim() not in (4, 5) or in_place(runner.forward, runner.values):
        return
    if channels_last(input).is_contiguous():
        return  # one channel or one pixel: contiguous and channels-last are the same layout
    leaves = {n: (channels_last(t) if t.dim() == input.dim() else t) for n, t in runner.leaves().items()}
    leaves = {n: t.detach().requires_grad_() for n, t in leaves.items()}
    result = outputs_of(runner.apply(leaves))[0]
    memory_format = torch.channels_last if input.dim() == 4 else torch.channels_last_3d
    made = {"output": result} if result.dim() == input.dim() else {}
    factor = torch.ones_like(result)
    made["gradient w.r.t. input"] = torch.autograd.grad(result, leaves["input"], factor)[0]
    for name, tensor in made.items():
        if tensor.numel() and not tensor.is_contiguous(memory_format=memory_format):
            raise Failed(
                f"{runner.cls.__name__}: {name} of channels-last input {tuple(input.shape)}"
                f" has strides {tensor.stride()}"
            )


def check_meta(case: Case, sample: SampleInput) -> None:
    """Calls with meta tensors give the shapes, types and strides of calls with real tensors."""
    runner = CaseRunner(case, sample)
    ways: Mapping[str, Enter] = {
        "contiguous": as_it_is,
        "channels-last": functools.partial(_all, "channels-last"),
    }
    for layout, enter in ways.items():
        if layout == "channels-last" and not any(
            isinstance(v, Tensor) and v.dim() in (4, 5) for v in runner.values.values()
        ):
            continue
        real = runner.run(enter)
        meta = runner.run(
            lambda n, t, enter=enter: clone_with_strides(enter(n, t).to("meta")) if not t.is_meta else t,  # type: ignore[misc]
            lambda k, t: t.to("meta"),
        )
        for key, tensor in real.items():
            _same_form(f"{case.module}_{key.replace('.', ': ')}, {layout}", meta[key], tensor)
        if not runner.has_class:
            continue
        with torch.no_grad():
            given = {k: enter(k, v).clone() if isinstance(v, Tensor) else v for k, v in runner.values.items()}
            away = {
                k: clone_with_strides(v.to("meta")) if isinstance(v, Tensor) else v for k, v in given.items()
            }
            for a, b in zip(*(outputs_of(runner.cls.apply(**v)) for v in (away, given))):
                _same_form(f"{runner.cls.__name__}.apply, {layout}", a, b)


def _same_form(what: str, meta: Tensor, real: Tensor) -> None:
    for name, got, expected in (
        ("device", meta.device.type, "meta"),
        ("shape", tuple(meta.shape), tuple(real.shape)),
        ("type", meta.dtype, real.dtype),
        ("strides", meta.stride(), real.stride()),
    ):
        if got != expected:
            raise Failed(f"{what}: {name} of the meta result is {got}, of the real one {expected}")
