"""Random calls of all modules against their references, for a given time: `make soak MINUTES=10`.

python -m tools.soak --minutes 10               one call after the other
python -m tools.soak --minutes 10 --threads 8   the calls of 8 Python threads at once against the same calls one by one

A call is a sample of the table of cases with random changes: other sizes, scalars and flags, larger or smaller values,
another element type, strides of each tensor, numbers of threads. It is computed by the C functions and by the class;
float64 is compared with the reference to rounding, other types to the tolerance of the case. The seed and the number of
a call determine all of it. The first error ends the command, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import functools
import gc
import math
import random
import resource
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from thnn.testing.case_runner import (
    TIGHT,
    CaseRunner,
    Failed,
    accumulates,
    compare,
    in_place,
    outputs_of,
    same_bits,
)
from thnn.testing.cases import arguments, cases
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.checks.values import NARROW
from thnn.testing.error_inputs import ERRORS
from tools.progress import progress

# Elements of the largest tensor of a call: more would be fewer calls, and the rows of the table have large tensors.
LARGEST = 1 << 16
DTYPES = (torch.float64, torch.float64, torch.float32, torch.float32, torch.float16, torch.bfloat16)
# Errors of thnn and of references for arguments that contradict one another.
REFUSED = (*ERRORS, RuntimeError, AssertionError, ZeroDivisionError)


class Call:
    """Call `number` of a seed."""

    def __init__(self, seed: int, number: int, names: list[str]) -> None:
        self.seed, self.number, self.names = seed, number, names
        self.draw = random.Random(f"{seed} {number}")
        self.case: Case = cases()[self.draw.choice(names or [*cases()])]
        self.dtype = self.draw.choice(DTYPES)
        self.layout = self.draw.randrange(1 << 32)
        self.sample, self.changes = self._changed(self.draw.choice(self.case.samples))

    def __str__(self) -> str:
        real = str(self.dtype).removeprefix("torch.")
        return f"{self.case.name}, {self.sample.name!r} in {real}{''.join(f', {c}' for c in self.changes)}"

    @property
    def command(self) -> str:
        return " ".join(
            [
                "python -m tools.soak --seed",
                str(self.seed),
                "--first",
                str(self.number),
                "--calls 1",
                *self.names,
            ]
        )

    @property
    def exact(self) -> float:
        """The tolerance in float64. With changed arguments rounding errors of the reference may be large: those of a
        mean of equal elements, divided by a deviation of nearly 0."""
        return 1e-9 if self.changes else TIGHT

    def _changed(self, sample: SampleInput) -> tuple[SampleInput, list[str]]:
        """The sample after some random changes that the forward takes, and their descriptions."""
        values = arguments(self.case, sample, torch.float64)
        made: list[str] = []
        for _ in range(self.draw.randrange(5)):
            change, text = self._change(values)
            if text and self._is_taken(_sample_of(sample, change)):
                values = change
                made.append(text)
        return _sample_of(sample, values), made

    def _is_taken(self, sample: SampleInput) -> bool:
        try:
            runner = CaseRunner(self.case, sample)
            meta = runner.row(runner.forward, enter=_meta, output=_meta)
            runner.call(runner.forward, meta)
            tensors = [t for t in meta.values() if isinstance(t, Tensor)]
            if max((t.numel() for t in tensors), default=0) > LARGEST:
                return False
            runner.call(runner.forward, runner.row(runner.forward))
        except REFUSED:
            return False
        return True

    def _change(self, values: dict[str, Any]) -> tuple[dict[str, Any], str]:
        tensors = {n: v for n, v in values.items() if isinstance(v, Tensor)}
        numbers = [n for n, v in values.items() if isinstance(v, int) and not isinstance(v, bool)]
        # Only samples are in place: a function in place may be right for some arguments only.
        flags = [n for n, v in values.items() if isinstance(v, bool) and n != "inplace"]
        kind = self.draw.choice(["size", "size", "size", "number", "number", "flag", "scale", "equal"])
        if kind == "size":
            sizes = sorted({s for t in tensors.values() for s in t.shape if s})
            if not sizes:
                return values, ""
            old = self.draw.choice(sizes)
            new = self.draw.choice([1, old + 1, max(1, old - 1), 2 * old, self.draw.randint(1, 40)])
            # All dimensions of this size, or those of one tensor, or its first one alone.
            which = self.draw.choice(["all", *tensors])
            first = self.draw.random() < 0.5
            return {
                n: _resized(v, old, new, first) if n in tensors and which in ("all", n) else v
                for n, v in values.items()
            }, f"size {old} of {which} becomes {new}"
        if kind == "number" and numbers:
            name = self.draw.choice(numbers)
            number = self.draw.choice([0, 1, 2, 3, -1, values[name] + 1, values[name] - 1])
            return {**values, name: number}, f"{name} {number}"
        if kind == "flag" and flags:
            name = self.draw.choice(flags)
            return {**values, name: not values[name]}, f"{name} {not values[name]}"
        if kind == "scale":
            factor = self.draw.choice([1e-3, 0.125, 4.0, 20.0])
            return {
                n: v * factor if n == "input" and n in tensors and v.is_floating_point() else v
                for n, v in values.items()
            }, f"input times {factor}"
        # Equal elements are 0 after batch normalization, up to rounding: the slope of relu could be 0 or 1.
        kinked = ("BatchNormalizationReLU", "BatchNormalizationAdd")
        filled = [
            n for n, t in tensors.items() if t.numel() and (n, self.case.module in kinked) != ("input", True)
        ]
        if kind == "equal" and filled:
            name = self.draw.choice(filled)
            return {**values, name: torch.full_like(values[name], values[name].flatten()[0].item())}, (
                f"equal elements of {name}"
            )
        return values, ""

    def strided(self, name: str, tensor: Tensor) -> Tensor:
        """The same values with random strides: dimensions in any order, with gaps, at any offset."""
        draw = random.Random(zlib.crc32(f"{self.layout} {name}".encode()))
        if not tensor.dim() or tensor.is_meta or draw.random() < 0.25:
            return tensor
        order = draw.sample(range(tensor.dim()), tensor.dim())
        steps = [draw.choice([1, 1, 2]) for _ in order]
        offset = draw.randrange(3)
        sizes = [tensor.shape[d] * step + draw.randrange(3) for d, step in zip(order, steps)]
        memory = tensor.new_full(
            (math.prod(sizes) + offset,), math.nan if tensor.is_floating_point() else -77
        )[offset:].view(sizes)
        view = memory[tuple(slice(None, tensor.shape[d] * s, s) for d, s in zip(order, steps))]
        return view.permute([order.index(d) for d in range(tensor.dim())]).copy_(tensor)

    def output(self, shapes: dict[str, torch.Size], key: str, value: Tensor) -> Tensor:
        """An output of the right size with random strides, full of NaN, or of zeros where a call adds to it."""
        if key not in shapes:
            return value
        like = torch.full(
            shapes[key],
            0.0 if accumulates(key) else math.nan if value.is_floating_point() else -77,
            dtype=value.dtype,
        )
        return self.strided(key, like)

    def results(self, threads: int) -> dict[str, Tensor]:
        """The results of the C functions with this number of threads."""
        torch.set_num_threads(threads)
        runner = CaseRunner(self.case, self.sample, self.dtype)
        shapes = {k: t.shape for k, t in runner.run(_meta, _meta).items()}
        shared = any(in_place(f, runner.values) for f in runner.functions)
        return runner.run(self.strided, None if shared else functools.partial(self.output, shapes))

    def check(self) -> str:
        """Computes the call and compares it; returns the kind of the comparison."""
        runner = CaseRunner(self.case, self.sample, self.dtype)
        try:
            expected = runner.expected()
        except REFUSED as error:
            if isinstance(error, Failed):
                raise
            expected = None  # the reference is for fewer arguments than the function
        try:
            got = self.results(1)
        except ERRORS as error:
            if not str(error).startswith(tuple(f"{f.name}: " for f in runner.functions)):
                raise
            return "refused"
        if expected is not None:
            self._compare(runner, got, expected)
        kept = got.keys() if expected is None else expected.keys() & got.keys()
        first = {k: got[k] for k in kept}
        # Values of a result that the reference does not have are undefined.
        if expected is not None:
            for threads in (2, 5):
                same_bits(runner, f" with {threads} threads instead of 1", self.results(threads), first)
        if expected is None:
            return "without a reference"
        if runner.has_class and self.dtype is torch.float64:
            self._derivatives(runner)
        return "compared"

    def _compare(self, runner: CaseRunner, got: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
        tolerance = self.exact if self.dtype is torch.float64 else self.case.tolerance
        if self.dtype in (torch.float16, torch.bfloat16):
            tolerance += NARROW * torch.finfo(self.dtype).eps
        for key, tensor in expected.items():
            phase, name = key.split(".")
            what = f"{self.case.module}_{phase}: {name}"
            if not tensor.is_floating_point() or self.dtype is torch.float64:
                compare(what, got[key], tensor, tolerance, least=1.0)
                continue
            lowest = tensor == torch.finfo(torch.float64).min
            rounded = tensor.to(got[key].dtype).to(torch.float64)
            rounded[lowest] = (
                torch.tensor(torch.finfo(torch.float32).min).to(got[key].dtype).to(torch.float64)
            )
            if rounded.isfinite().equal(tensor.isfinite()):  # otherwise it overflows in this type
                compare(what, got[key], rounded, tolerance, least=1.0)

    def _derivatives(self, runner: CaseRunner) -> None:
        """The gradients of the class against those of the reference, and its second derivatives against those of the
        reference or finite differences: the reference may have constants instead of differentiable slopes."""
        leaves = runner.leaves()
        if not leaves or not all(t.numel() for t in leaves.values()):
            return
        second = runner.cls.has_second_derivatives

        def reference(tensors: dict[str, Tensor]) -> tuple[Tensor, ...]:
            runner.reseed()
            spelled = {a.name: a.variable for a in runner.forward.arguments}
            given = {spelled.get(n, n): v for n, v in {**runner.values, **tensors}.items()}
            result = self.case.reference(**given)
            output, made = result if isinstance(result, tuple) and len(result) == 2 else (result, {})
            return (output, *(made[a.name] for a in runner.forward.tensors("output")[1:]))

        def own(tensors: dict[str, Tensor]) -> tuple[Tensor, ...]:
            return outputs_of(runner.apply(tensors))

        name = runner.cls.__name__
        exact, found = _derived(reference, leaves, second), _derived(own, leaves, second)
        for n, gradient in found[0].items():
            compare(f"{name}: gradient w.r.t. {n}", gradient, exact[0][n], 10 * self.exact, least=1.0)
        if not all(bool(t.isfinite().all()) for t in leaves.values()):
            return  # finite differences could not decide
        try:
            for n, gradient in found[1].items():
                compare(
                    f"{name}: second derivative w.r.t. {n}", gradient, exact[1][n], 10 * self.exact, least=1.0
                )
        except Failed as failure:
            along = {n: _random(t, f"direction of {n}") for n, t in leaves.items()}
            slope = sum(float((d * along[n]).sum()) for n, d in found[1].items())
            numeric = []
            for step in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
                moved = [{n: t.detach() + h * along[n] for n, t in leaves.items()} for h in (step, -step)]
                try:
                    ahead, behind = (float(_total(_derived(own, there, False)[0])) for there in moved)
                except ERRORS:  # beyond the numbers that the function takes, such as probabilities
                    return
                numeric.append((ahead - behind) / (2 * step))
                # The difference of two rounded sums, and the change of the slope within a step.
                allowed = 1e-4 * abs(slope) + 1e-14 * (abs(ahead) + abs(behind)) / step
                if abs(slope - numeric[-1]) <= allowed:
                    return
            raise Failed(
                f"{failure}; along a direction got {slope}, by finite differences {numeric}"
            ) from failure


def _derived(
    function: Callable[[dict[str, Tensor]], tuple[Tensor, ...]], leaves: dict[str, Tensor], second: bool
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The gradients w.r.t. the leaves, and, if `second`, the derivatives of their random combination."""
    leaves = {n: t.detach().clone().requires_grad_() for n, t in leaves.items()}
    zeros = {n: torch.zeros_like(t).detach() for n, t in leaves.items()}
    outputs = [t for t in function(leaves) if t.requires_grad]
    if not outputs:
        return zeros, zeros
    factors = [_random(t, "output") for t in outputs]
    first = torch.autograd.grad(outputs, [*leaves.values()], factors, create_graph=second, allow_unused=True)
    gradients = {n: g for n, g in zip(leaves, first) if g is not None}
    with_graph = {n: g for n, g in gradients.items() if g.requires_grad}
    derivatives = zeros
    if with_graph:
        rest = torch.autograd.grad(_total(with_graph), [*leaves.values()], allow_unused=True)
        derivatives = {**zeros, **{n: d for n, d in zip(leaves, rest) if d is not None}}
    return {**zeros, **{n: g.detach() for n, g in gradients.items()}}, derivatives


def _total(gradients: dict[str, Tensor]) -> Tensor:
    return torch.stack([(g * _random(g, n)).sum() for n, g in gradients.items()]).sum()


def _random(like: Tensor, name: str) -> Tensor:
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    return torch.randn(like.shape, generator=generator, dtype=like.dtype)


def _sample_of(sample: SampleInput, values: dict[str, Any]) -> SampleInput:
    """The sample with these values, as makers of tensors, which a runner converts to its type."""
    makers = {n: functools.partial(_made, v) if isinstance(v, Tensor) else v for n, v in values.items()}
    return replace(sample, arguments=makers)


def _made(tensor: Tensor, generator: torch.Generator) -> Tensor:
    return tensor


def _resized(tensor: Tensor, old: int, new: int, first: bool) -> Tensor:
    """The tensor with size `new` in its dimensions of size `old`, or in the first of them. Repeated values are a little
    smaller each time, unless they are whole numbers, so that maxima stay unique."""
    for dim, size in enumerate(tensor.shape):
        if size == old:
            index = torch.arange(new)
            tensor = tensor.index_select(dim, index % old)
            if tensor.is_floating_point() and not tensor.equal(tensor.round()):
                shape = [new if d == dim else 1 for d in range(tensor.dim())]
                tensor = tensor * (1 - 2.0**-7 * (index // old).to(tensor.dtype) / new).reshape(shape)
            if first:
                break
    return tensor


def _meta(name: str, tensor: Tensor) -> Tensor:
    return tensor.to("meta")


def resident() -> float:
    """The memory of the process in MiB, after free memory has gone back to the system where the C library can do it."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _numbers(first: int, count: int, end: float) -> Iterator[int]:
    number = first
    while (number < first + count) if count else time.monotonic() < end:
        yield number
        number += 1


def soak(seed: int, first: int, count: int, minutes: float, names: list[str]) -> int:
    """Calls, one after the other. Returns the exit status."""
    begin = time.monotonic()
    kinds: Counter[str] = Counter()
    seen: set[str] = set()
    changed = 0
    state = {"warm": (0.0, 0)}
    for number in progress(_numbers(first, count, begin + 60 * minutes), "calls", count or None):
        call = Call(seed, number, names)
        try:
            kinds[call.check()] += 1
        except Exception as error:
            tqdm.write(f"call {number}: {call}: {type(error).__name__}: {error}\nrepeat: {call.command}")
            return 1
        seen.add(call.case.name)
        changed += bool(call.changes)
        if number - first == WARM:
            gc.collect()
            state["warm"] = (resident(), len(gc.get_objects()))
    gc.collect()
    total = sum(kinds.values())
    print(
        f"seed {seed}: {total} calls of {len(seen)} modules and functions in {time.monotonic() - begin:.0f} s"
    )
    print(
        ", ".join(f"{kind}: {n}" for kind, n in kinds.most_common()) + f"; with changed arguments: {changed}"
    )
    if total > WARM:
        rss, objects = state["warm"]
        print(f"after {WARM} calls: {rss:.0f} MiB, {objects} Python objects")
        print(f"at the end: {resident():.0f} MiB, {len(gc.get_objects())} Python objects")
    return 0


WARM = 1000
BATCH = 200


def concurrent(seed: int, first: int, minutes: float, threads: int, names: list[str]) -> int:
    """Calls of several Python threads at once, whose results must have the bits of the same calls one by one."""
    begin = time.monotonic()
    total, objects, rss = 0, 0, 0.0
    failures: list[str] = []
    bar = progress(None, "different calls")
    while time.monotonic() < begin + 60 * minutes and not failures:
        calls: list[Call] = []
        serial: list[dict[str, Tensor]] = []
        while len(calls) < BATCH:
            call = Call(seed, first, names)
            first += 1
            try:
                runner = CaseRunner(call.case, call.sample, call.dtype)
                expected = runner.expected()
                results = call.results(1)
            except REFUSED:
                continue
            calls.append(call)
            serial.append({k: t for k, t in results.items() if k in expected})
            bar.update()

        def work(index: int, calls: list[Call] = calls, serial: list[dict[str, Tensor]] = serial) -> None:
            draw = random.Random(f"{calls[0].number} {index}")
            for k in draw.sample(range(BATCH), BATCH):
                call = calls[k]
                try:
                    got = call.results(draw.choice([1, 2, 5]))
                    same_bits(CaseRunner(call.case, call.sample, call.dtype), "", got, serial[k])
                except Exception as error:
                    failures.append(
                        f"call {call.number}: {call}: {type(error).__name__}: {error}\n{call.command}"
                    )
                    return

        workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        total += BATCH * threads
        gc.collect()
        if not objects:
            objects, rss = len(gc.get_objects()), resident()
    bar.close()
    if failures:
        print(f"{failures[0]} --threads {threads}")
        return 1
    print(
        f"seed {seed}: {total} calls of {threads} threads in {time.monotonic() - begin:.0f} s, bits as one by one"
    )
    print(f"after the first {BATCH * threads} calls: {rss:.0f} MiB, {objects} Python objects")
    print(f"at the end: {resident():.0f} MiB, {len(gc.get_objects())} Python objects")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--calls", type=int, default=0, help="number of calls, instead of minutes")
    parser.add_argument("--threads", type=int, default=1, help="Python threads that call at once")
    parser.add_argument("name", nargs="*", help="only these modules and functions")
    given = parser.parse_args()
    if given.threads > 1:
        return concurrent(given.seed, given.first, given.minutes, given.threads, given.name)
    return soak(given.seed, given.first, given.calls, given.minutes, given.name)


if __name__ == "__main__":
    sys.exit(main())
