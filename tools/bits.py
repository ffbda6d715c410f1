"""Records the results of the table of cases, and compares them on another processor or compiler:

python -m tools.bits record FILE     calls every function with every sample, and saves arguments and results
python -m tools.bits compare FILE    calls the functions with the arguments in FILE, and counts equal results
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from thnn.testing.case_runner import CaseRunner, largest_of
from thnn.testing.cases import cases

_LAST = ", channels last"


def _runners(names: list[str]) -> Iterator[tuple[str, CaseRunner]]:
    """A runner for each sample and element type, and its key in a file."""
    for case in cases().values():
        for sample in case.samples if not names or case.name in names else ():
            for dtype in (torch.float32, torch.float64):
                real = str(dtype).removeprefix("torch.")
                yield f"{case.name}, {sample.name}, {real}", CaseRunner(case, sample, dtype)


def _channels_last(name: str, tensor: Tensor) -> Tensor:
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def _results(runner: CaseRunner) -> dict[str, Tensor]:
    """The results in both layouts."""
    return {
        **runner.run(),
        **{key + _LAST: tensor for key, tensor in runner.run(_channels_last).items()},
    }


def record(path: Path, names: list[str]) -> None:
    records: dict[str, Any] = {}
    for key, runner in _runners(names):
        defined = runner.expected()
        results = {k: t for k, t in _results(runner).items() if k.removesuffix(_LAST) in defined}
        values = {name: value for name, value in runner.values.items() if isinstance(value, Tensor)}
        records[key] = {"values": values, "factors": runner.factors, "results": results}
    torch.save(records, path)
    print(f"recorded {sum(len(r['results']) for r in records.values())} results")


def compare(path: Path, names: list[str]) -> Counter[str]:
    """Prints each result that differs, and returns the numbers of results by kind."""
    records = torch.load(path)
    counts: Counter[str] = Counter()
    for key, runner in _runners(names):
        known = records[key]
        runner.values.update(known["values"])
        runner.factors = known["factors"]
        results = _results(runner)
        for name, expected in known["results"].items():
            kind, text = _difference(results[name], expected)
            counts[kind] += 1
            if text:
                print(f"{key}: {name}: {text}")
    for kind, count in counts.items():
        print(f"{kind}: {count}")
    return counts


def _difference(got: Tensor, expected: Tensor) -> tuple[str, str]:
    """A kind, and for results that are not equal the largest difference."""
    if got.shape != expected.shape:
        return "other shape", f"{tuple(got.shape)}, not {tuple(expected.shape)}"
    if got.equal(expected):
        return "equal", ""
    if not got.is_floating_point():
        return "other integers", f"{int((got != expected).sum())} of {got.numel()}"
    if not got.isfinite().equal(expected.isfinite()):
        return "other infinity or NaN", ""
    error = (got - expected).nan_to_num(0).abs().max().item()
    if error == 0:
        return "equal", ""
    number = torch.finfo(got.dtype)
    unit = number.eps * max(largest_of(expected), number.tiny)
    return "other rounding", f"{error / unit:.1f} eps of the largest element"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bits", description=__doc__)
    parser.add_argument("command", choices=["record", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("name", nargs="*", help="only these cases")
    given = parser.parse_args()
    torch.set_num_threads(1)
    {"record": record, "compare": compare}[given.command](given.file, given.name)


if __name__ == "__main__":
    main()
