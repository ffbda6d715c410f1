"""Failing processes in synchronized batch normalization, at random: `make chaos TRIALS=100`.

In each trial two to four processes train a network with two layers over loopback, and one or two of them are killed,
stopped or delayed, raise an error or leave, before or after a collective of the forward, the first or the second
derivative. Every other process must end in time: with the right result, or with an error that names the layer and
whom it waited for. The parts are those of tests/batch_norm/test_sync_failures.py, which has fixed cases.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tools.progress import progress

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
AT_ONCE = 4  # trials: their processes share the processors, and a slow process looks like one that fails
ACTS = ("kill", "kill", "stop", "stop", "delay", "leave", "raise")


@functools.cache
def parts() -> Any:
    """The module with the processes."""
    sys.path[:0] = [str(TESTS), str(TESTS / "batch_norm")]
    return importlib.import_module("test_sync_failures")


def trial(seed: int, number: int) -> dict[str, Any]:
    """The arguments of the case of a trial."""
    draw = random.Random(f"{seed} {number}")
    size = draw.randint(2, 4)
    victims = sorted(draw.sample(range(size), draw.randint(1, min(2, size - 1))))
    step = draw.choice((0, 1, 2))
    return {
        "size": size,
        "victims": tuple(victims),
        "act": draw.choice(ACTS),
        "step": step,
        "collective": draw.randrange(8),
        # The processes agree on a length in the first step only.
        "at": draw.choice(("gather", "gathered") if step else ("agree", "gather", "gathered")),
        "host": draw.choice((None, None, victims[0])),
    }


def fault(
    arguments: dict[str, Any], struck: float | None, report: dict[str, Any] | None, seconds: float
) -> str:
    """The fault in the report of a process that did not fail itself; '' if the report is as promised."""
    if report is None:
        return "hangs"
    if "kind" not in report:
        return "" if report["steps"] == 4 else f"ended after {report['steps']} steps"
    if report["kind"] != "RuntimeError":
        return f"{report['kind']}: {report['text']}"
    if struck is None or arguments["act"] == "delay":
        return f"an error without a failure: {report['text']}"
    if not re.search(r"SyncBatchNorm '\w+'", report["text"]):
        return f"the error does not name the layer: {report['text']}"
    if not re.search(r"ranks? \d|in all ranks|the store of the group", report["text"]):
        return f"the error does not say whom the process waited for: {report['text']}"
    late = report["time"] - struck - seconds
    return f"the error came {late:.1f} s late: {report['text']}" if late > 0 else ""


def run(seed: int, numbers: list[int]) -> None:
    """The processes of some trials, in this process's folder. It must not have threads, which a fork would stop."""
    module = parts()
    module.CASES.clear()
    module.CASES.update({str(n): module.Case(**trial(seed, n)) for n in numbers})
    module.main(Path.cwd(), list(module.CASES))


def attempt(seed: int, numbers: Sequence[int]) -> dict[int, tuple[bool, list[str]]]:
    """Runs some trials at once. Of each: whether a process failed as planned, and the faults of the others."""
    module, found = parts(), dict[int, tuple[bool, list[str]]]()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", "-m", "tools.chaos", "--seed", str(seed), "--processes"]
        subprocess.run(
            [*command, *map(str, numbers)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            stderr=subprocess.DEVNULL,
        )
        for number in numbers:
            arguments, file = trial(seed, number), Path(folder, f"{number} struck")
            struck = float(file.read_text()) if file.exists() else None
            faults = []
            for rank in sorted({*range(arguments["size"])} - {*arguments["victims"]}):
                path = Path(folder, f"{number} {rank}")
                report = json.loads(path.read_text()) if path.exists() and path.stat().st_size else None
                if text := fault(arguments, struck, report, module.TIMEOUT + module.MARGIN):
                    faults.append(f"rank {rank} {text}")
            found[number] = struck is not None, faults
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first trial")
    parser.add_argument("--processes", nargs="+", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.processes:
        run(given.seed, given.processes)
        return 0
    begin, outcomes, survivors = time.monotonic(), Counter[str](), 0
    numbers = range(given.first, given.first + given.trials)
    bar = progress(None, "trials", given.trials)
    for first in numbers[::AT_ONCE]:
        found = attempt(given.seed, numbers[first - given.first :][:AT_ONCE])
        for number, outcome in found.items():
            has_failed, faults = outcome
            if faults and not has_failed:
                # The processes were so slow that they ran into the timeout before one could fail.
                outcomes["repeated alone"] += 1
                has_failed, faults = attempt(given.seed, [number])[number]
            case = trial(given.seed, number)
            if faults:
                tqdm.write("\n  ".join([f"trial {number}: {case}", *faults]))
                tqdm.write(f"repeat: python -m tools.chaos --seed {given.seed} --first {number} --trials 1")
                return 1
            survivors += case["size"] - len(case["victims"])
            outcomes[case["act"] if has_failed else "no failure"] += 1
            bar.update()
    bar.close()
    counts = ", ".join(f"{name} {count}" for name, count in outcomes.most_common())
    print(f"seed {given.seed}: {given.trials} trials in {time.monotonic() - begin:.0f} s: {counts}")
    print(
        f"{survivors} processes went on or ended in time, with the right result or an error that names the layer"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
