"""Memory of all functions: `make memory`.

python -m tools.memory faults    each allocation of a call fails once: the call raises MemoryError or torch's error, or
                                 gives the right result, and the next call is right
python -m tools.memory repeat    calls of all classes, forward and backward, whose memory must not grow
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from thnn.testing.case_runner import CaseRunner, compare, outputs_of, same_bits
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case
from tools.progress import progress
from tools.soak import resident

_SOURCE = Path(__file__).with_name("failing_malloc.c")
_SHIM = "THNN_FAILING_MALLOC"

# Results by name; the names are those of CaseRunner.run.
Call = Callable[[], dict[str, Tensor]]


def _with_shim(build: Path) -> int:
    """Runs this command again with the allocator of failing_malloc.c; returns its status."""
    build.mkdir(parents=True, exist_ok=True)
    library = build / "libfailing_malloc.so"
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, "-o", str(library), str(_SOURCE)], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), _SHIM: str(library)}
    return subprocess.run([sys.executable, "-m", "tools.memory", *sys.argv[1:]], env=environment).returncode


def _in_new_thread(call: Call) -> dict[str, Tensor]:
    """The results of a call on a new thread, which has no scratch memory yet; raises the errors of the call."""
    results: list[dict[str, Tensor]] = []
    errors: list[BaseException] = []

    def run() -> None:
        torch.set_num_threads(1)
        try:
            results.append(call())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0].with_traceback(None)
    return results[0]


def _by_class(runner: CaseRunner) -> dict[str, Tensor]:
    """Outputs and gradients of the class."""
    leaves = runner.leaves()
    outputs = outputs_of(runner.apply(leaves))
    results = {f"apply.output {k}": t.detach() for k, t in enumerate(outputs)}
    with_gradient = [t for t in outputs if t.requires_grad]
    if with_gradient:
        factors = [torch.ones_like(t) for t in with_gradient]
        found = torch.autograd.grad(with_gradient, [*leaves.values()], factors, allow_unused=True)
        results |= {f"apply.gradient {n}": g for n, g in zip(leaves, found) if g is not None}
    return results


def faults(names: list[str]) -> int:
    """Lets each allocation of each call fail. Returns the exit status."""
    shim = ctypes.CDLL(os.environ[_SHIM])
    shim.failing_arm.argtypes, shim.failing_disarm.restype = [ctypes.c_long], ctypes.c_long
    torch.empty(1).tolist()
    counts: Counter[str] = Counter()
    begin = time.monotonic()
    failures = 0
    for case in progress([c for c in cases().values() if not names or c.name in names], "functions"):
        runner = CaseRunner(case, case.samples[0], torch.float32)
        kinds: dict[str, Call] = {"functions": runner.run}
        if runner.has_class:
            kinds["class"] = lambda runner=runner: _by_class(runner)  # type: ignore[misc]
        defined = {*runner.expected()}
        for kind, call in kinds.items():
            try:
                counts += _faults_of_call(runner, call, shim, defined)
            except Exception as error:  # noqa: PERF203
                failures += 1
                tqdm.write(f"{case.name}, {kind}: {type(error).__name__}: {error}")
    print(
        f"{sum(counts.values())} failed allocations in {time.monotonic() - begin:.0f} s: "
        + ", ".join(f"{kind}: {count}" for kind, count in counts.most_common())
        + f"; wrong: {failures}"
    )
    return 1 if failures else 0


def _faults_of_call(runner: CaseRunner, call: Call, shim: ctypes.CDLL, defined: set[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    first = _in_new_thread(call)
    expected = {k: t for k, t in first.items() if k in defined or k.startswith("apply.")}

    def armed(n: int) -> tuple[dict[str, Tensor], int]:
        """The results of a call whose allocation n fails, and the number of its allocations."""
        if not shim.failing_arm(n):
            raise ValueError("the libraries of thnn are not loaded")
        try:
            return _in_new_thread(call), shim.failing_disarm()
        finally:
            shim.failing_disarm()

    _, total = armed(0)
    for n in range(1, total + 1):
        try:
            got, _ = armed(n)
        except MemoryError:
            counts["MemoryError"] += 1
        except (RuntimeError, ValueError) as error:
            # The functions of the backend raise ValueError, with the size of the output that torch cannot allocate.
            if "can't allocate memory" not in str(error):
                raise
            counts[f"torch's {type(error).__name__}"] += 1
        else:
            # A convolution without shared scratch memory is computed by another algorithm, with other rounding.
            for key, tensor in expected.items():
                compare(f"without allocation {n} of {total}: {key}", got[key], tensor, runner.case.tolerance)
            counts["right result"] += 1
        same_bits(runner, f" after allocation {n} of {total} failed", _in_new_thread(call), expected)
    return counts


def _growth(call: Callable[[], None], count: int) -> tuple[float, int]:
    """The memory in MiB and the number of Python objects that calls add."""
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    for _ in range(count):
        call()
    gc.collect()
    return resident() - before, len(gc.get_objects()) - objects


def _is_leak(mib: float, objects: int) -> bool:
    return mib > 0.5 or objects > 100


def repeat(names: list[str], count: int) -> int:
    """Calls each class, forward and backward, and compares the memory of the process. Returns the exit status."""
    torch.set_num_threads(2)
    begin, failures = time.monotonic(), 0
    start = 0.0
    classes = [c for c in cases().values() if c.phase is None and (not names or c.name in names)]
    for case in progress(classes, "classes"):
        call = _repeated(case)
        for _ in range(max(100, count // 10)):
            call()
        start = start or resident()
        # Memory that grows once is that of code and of free blocks: a leak grows again.
        grown = [_growth(call, count)]
        if _is_leak(*grown[0]):
            grown.append(_growth(call, count))
        if _is_leak(*grown[-1]):
            failures += 1
            text = ", then ".join(
                f"{mib:.2f} MiB and {objects} Python objects more" for mib, objects in grown
            )
            tqdm.write(f"{case.name}: {count} calls, twice: {text}")
    seconds = time.monotonic() - begin
    print(
        f"{len(classes)} classes, {count} calls each in {seconds:.0f} s: {start:.0f} MiB at the start,"
        f" {resident():.0f} MiB at the end; with growth: {failures}"
    )
    return 1 if failures else 0


def _repeated(case: Case) -> Callable[[], None]:
    """A call of the class with its first sample, and of its backward."""
    runner = CaseRunner(case, case.samples[0], torch.float32)
    leaves = runner.leaves()
    factors = [torch.ones_like(t) for t in outputs_of(runner.apply(leaves))]

    def call() -> None:
        outputs = outputs_of(runner.apply(leaves))
        if outputs[0].requires_grad:
            with contextlib.suppress(NotImplementedError):
                torch.autograd.grad(outputs[0], [*leaves.values()], factors[0], allow_unused=True)

    return call


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.memory", description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=["faults", "repeat"])
    parser.add_argument("name", nargs="*", help="only these modules and functions")
    parser.add_argument("--calls", type=int, default=10_000, help="of each class, for repeat")
    given = parser.parse_args()
    if given.command == "repeat":
        return repeat(given.name, given.calls)
    if _SHIM not in os.environ:
        return _with_shim(Path("build/memory"))
    return faults(given.name)


if __name__ == "__main__":
    sys.exit(main())
