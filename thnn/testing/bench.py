"""``python -m thnn bench``: thnn and torch in one run.

Every row of the table of cases is timed with up to three implementations (torch, thnn and, if the row has one,
`Row.other`), each with contiguous and, if a tensor has 4 or 5 dimensions, with channels-last tensors. These calls take
turns in short blocks, so that other load on the machine slows all of them; the best and the median block are reported.
Results are compared before the calls are timed. The rooflines are measured in the same run: a copy of as many bytes as
the row moves takes turns with the calls, and the peak rate of fused multiply-adds is measured as well.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import platform
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from thnn import _roofline as roofline
from thnn._binding import library as _library
from thnn._binding.backend import type2backend
from thnn._classes import PACKAGE, Registry
from thnn._header.registry import header_called, hint, pattern_of
from thnn.testing import bench_cuda
from thnn.testing import bench_networks as _bench_networks
from thnn.testing import bench_sync as _bench_sync
from thnn.testing.cases import cases, cases_of, find_device
from thnn.testing.cases.model import Case, Row
from thnn.testing.cases.overhead import OVERHEADS, SMALL_CALLS, Overhead, SmallCall
from thnn.testing.measure import judge, measure
from thnn.testing.peers import PEERS
from thnn.testing.timing import (
    CHANNELS_LAST,
    CONTIGUOUS,
    Measurement,
    alternate,
    take_turns,
)

# The OpenMP runtime and malloc read these variables when the process starts. The first binds threads to cores.
_BOUND_THREADS = {"OMP_PROC_BIND": "true"}
# Like thnn.keep_freed_memory(), but from the start: otherwise page faults would be timed.
_KEPT_MEMORY = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MALLOC_TOP_PAD_": str(1 << 28),
}


def restart_with(environment: Mapping[str, str]) -> None:
    """Restarts this command with the environment variables, unless they are set already."""
    if all(os.environ.get(k) == v for k, v in environment.items()):
        return
    os.execve(sys.executable, [sys.executable, "-m", "thnn", *sys.argv[1:]], {**os.environ, **environment})


# Cores with a common last-level cache pass a cache line within this time.
_NEAR_NS = 100.0
_PLOT_SUFFIXES = (".png", ".svg", ".pdf")
_LEGEND = (
    "fwd: forward without a graph, fb: forward with one and backward; best times; ratio: torch's time / thnn's, both "
    "contiguous; then the fraction of the roofline where the row has one; met or MISSED: the row's goal"
)


def main(options: argparse.Namespace) -> int:
    """Runs the command; exit status 1 when a goal was missed, 2 when no row matches."""
    restart_with(_BOUND_THREADS if options.return_freed_memory else _BOUND_THREADS | _KEPT_MEMORY)
    try:
        pattern = pattern_of(options.pattern)
    except ValueError as error:
        options.parser.error(str(error))
    if header := header_called(options.pattern):
        print(
            f"rows of thnn that match {options.pattern!r}; for those of the header: {header}", file=sys.stderr
        )
    for option, package in (("plot", "matplotlib"), ("markdown", "tabulate")):
        if getattr(options, option) and importlib.util.find_spec(package) is None:
            options.parser.error(f"--{option} needs {package}: pip install {package}")
    if options.plot and Path(options.plot).suffix not in _PLOT_SUFFIXES:
        options.parser.error(
            f"--plot: expected a name that ends in {' or '.join(_PLOT_SUFFIXES)}, got {options.plot!r}"
        )
    files = [Path(f).resolve() for f in (options.json, options.markdown, options.plot) if f and f != "-"]
    if len(set(files)) < len(files):
        options.parser.error("--json, --markdown, --plot: expected a file each, got one twice")
    try:
        device = find_device(PACKAGE, options.device)
    except ValueError as error:
        options.parser.error(str(error))
    torch.set_num_threads(options.threads)
    prints_json = options.json == "-"
    say = functools.partial(print, file=sys.stderr if prints_json else sys.stdout, flush=True)
    measurements: list[Measurement] = []
    for measurement in _measurements(device, pattern, options, say):
        if not measurements:
            say(_LEGEND)
        if device.type == "cpu" and options.threads > 1:
            measurement.exchange_ns = round(roofline.exchange_seconds() * 1e9, 1)
        measurements.append(measurement)
        say(line(measurement))
    if not measurements:
        options.parser.error(f"no row matches {options.pattern!r}; {hint(options.pattern)}")
    facts = machine(options.threads, device)
    exchanges = [m.exchange_ns for m in measurements if m.exchange_ns]
    if exchanges:
        facts["cache line between two cores"] = f"{min(exchanges):.0f} to {max(exchanges):.0f} ns"
        explanation = (
            f"; above {_NEAR_NS:.0f} ns they have no cache in common, and many rows are slower (docs/performance.md)"
            if max(exchanges) > _NEAR_NS
            else ""
        )
        say(f"a cache line took {facts['cache line between two cores']} between two cores{explanation}")
    if options.json:
        content = {"machine": facts, "measurements": [asdict(m, dict_factory=_fields) for m in measurements]}
        text = json.dumps(content, indent=1) + "\n"
        if prints_json:
            print(text, end="")
        else:
            Path(options.json).write_text(text)
    if options.markdown:
        Path(options.markdown).write_text(markdown(measurements, facts))
    if options.plot:
        plot(measurements, facts, options.plot)
    missed = [m for m in measurements if m.met is False]
    for m in missed:
        say(f"missed: {m.row} {m.phase}: {'; '.join(m.goals)}")
    return 1 if missed else 0


def _measurements(
    device: torch.device, pattern: re.Pattern[str], options: argparse.Namespace, say: Callable[[str], None]
) -> Iterator[Measurement]:
    """The measurements of all rows that match the pattern; on a GPU only the table of cases and the networks, with
    `options.dtype` only the table of cases."""
    for case in cases_of(PACKAGE, str(device)).values():
        for row in case.rows:
            if pattern.search(row.name) or pattern.search(case.module):
                yield from _measured(case, row, options.rounds, options.dtype)
    if options.dtype is not None:
        return
    if device.type == "cpu":
        yield from _overheads(pattern, options)
    for network in _bench_networks.matching(pattern, device):
        yield _bench_networks.measure(network, options.rounds, options.compile, say)
        if network.mode == _bench_networks.TRAINING and device.type == "cpu":
            say(_bench_networks.time_by_function(network))


def _overheads(pattern: re.Pattern[str], options: argparse.Namespace) -> Iterator[Measurement]:
    """The measurements of calls on small tensors, of layers and graphs around functions, and between processes."""
    for overhead in OVERHEADS:
        if pattern.search(overhead.name):
            yield measure_overhead(overhead, options.rounds)
    for small_call in SMALL_CALLS:
        if pattern.search(small_call.name):
            yield from measure_small_call(small_call, options.rounds)
    if pattern.search(_RAW_ROW):
        yield measure_raw_call(options.rounds)
    for name in _bench_sync.matching(pattern):
        yield _bench_sync.measure(name, options.rounds)


def _measured(case: Case, row: Row, rounds: int, dtype: str | None) -> list[Measurement]:
    """The measurements of a row on the device of the case; of a row of float32 in `dtype`, unless that is None."""
    if dtype is not None:
        return measure(case, row, rounds, dtype) if row.dtype == "float32" else []
    if case.device.type == "cpu":
        return measure(case, row, rounds)
    return bench_cuda.measure(case, row, rounds)


def bench_loaded(
    registry: Registry,
    rounds: int = 15,
    device: str = "cpu",
    threads: int | None = None,
    dtype: str | None = None,
) -> bool:
    """Times and prints the rows of the cases of loaded functions, in `dtype` unless that is None; returns whether every
    goal is met."""
    if threads is not None:
        restart_with(_BOUND_THREADS | _KEPT_MEMORY)
        torch.set_num_threads(threads)
    found = cases_of(registry, device)  # raises an error before anything is printed
    print(_LEGEND, flush=True)
    met = True
    for case in found.values():
        for row in case.rows:
            for measurement in _measured(case, row, rounds, dtype):
                met = met and measurement.met is not False
                print(line(measurement), flush=True)
    return met


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if name != "blocks"}


def machine(threads: int, device: torch.device) -> dict[str, str]:
    """The machine and the versions on which the benchmark runs."""
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    if device.type == "cuda":
        return {"gpu": torch.cuda.get_device_name(device), "cpu": _library.cpu_name(), **versions}
    return {
        "cpu": _library.cpu_name(),
        "instruction set": _library.cpu_capability(),
        "threads": str(threads),
        **versions,
        "peak float32": f"{roofline.peak_flops(torch.float32) / 1e9:.0f} GFLOP/s",
        "peak float64": f"{roofline.peak_flops(torch.float64) / 1e9:.0f} GFLOP/s",
    }


_RAW_ROW = "raw call, 8 tensors"


def measure_raw_call(rounds: int) -> Measurement:
    """Times a backend call with eight tensors of two to four values against torch.empty_like."""
    x = torch.randn(2, 2)
    tensors = [x, torch.empty_like(x), *(torch.ones(2) for _ in range(6))]
    call = type2backend["torch.FloatTensor"].BatchNormalization_updateOutput
    timings = take_turns(
        {
            "torch contiguous": lambda: torch.empty_like(x),
            "thnn contiguous": lambda: call(0, *tensors, False, 0.1, 1e-5),
        },
        rounds,
    )
    return judge(
        Row(
            _RAW_ROW, sample=next(iter(cases().values())).samples[0], phases=("fwd",), judged="fwd", ratio=0.4
        ),
        "fwd",
        timings,
    )


def measure_overhead(overhead: Overhead, rounds: int) -> Measurement:
    """Times a layer, operator or graph against the calls that it is built on."""
    calls = overhead.make()
    timings = alternate(calls, rounds)
    pairs = list(zip(*(timings[name].blocks for name in calls)))
    m = Measurement(overhead.name, overhead.phase, timings, met=True)
    more = statistics.median(ours - base for base, ours in pairs) * 1e6
    share = statistics.median(ours / base for base, ours in pairs) - 1
    for value, goal, text in (
        (more, overhead.microseconds, f"{more:.2f} of {overhead.microseconds} µs more"),
        (share, overhead.share, f"{share:.1%} of {overhead.share or 0:.0%} more"),
    ):
        if goal is not None:
            m.goals.append(text)
            m.met = m.met and value <= goal
    return m


def measure_small_call(call: SmallCall, rounds: int) -> list[Measurement]:
    """Times a call on small tensors against torch's, without a gradient and with forward and backward."""
    ours, theirs, wanted = call.make()
    gradient = torch.ones_like(ours())
    found = []
    for phase, goal in (("fwd", call.forward), ("fb", call.both)):
        calls = {f"torch {CONTIGUOUS}": theirs, f"thnn {CONTIGUOUS}": ours}
        if phase == "fb":
            calls = {
                name: functools.partial(_gradients, function, wanted, gradient)
                for name, function in calls.items()
            }
        with torch.set_grad_enabled(phase == "fb"):
            timings = take_turns(calls, rounds)
        ratio = timings[f"torch {CONTIGUOUS}"].best / timings[f"thnn {CONTIGUOUS}"].best
        m = Measurement(call.name, phase, timings, met=ratio >= goal)
        m.ratio = ratio
        m.goals.append(f"{ratio:.2f} of {goal:g} against torch")
        found.append(m)
    return found


def _gradients(function: Callable[[], Tensor], wanted: Sequence[Tensor], gradient: Tensor) -> None:
    torch.autograd.grad(function(), wanted, gradient)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def line(m: Measurement) -> str:
    """A measurement on one line of the terminal."""
    times = "  ".join(f"{name} {t.best * 1e3:.4f}" for name, t in m.timings.items())
    verdict = {True: "met", False: "MISSED", None: ""}[m.met]
    fraction = f"  {m.fraction:.2f} of {m.roofline}" if m.fraction is not None else ""
    if m.other_ratio is not None:
        fraction += f"  {_number(m.other_ratio)} against thnn's alternative"
        if m.other_channels_last_ratio is not None:
            fraction += f", {_number(m.other_channels_last_ratio)} channels-last"
    if m.compile_ratio is not None:
        fraction += f"  {_number(m.compile_ratio)} against torch.compile"
    ratio = f"ratio {_number(m.ratio)}" if m.ratio is not None else "; ".join(m.goals)
    return f"{m.row:<42} {m.phase:<4} {times} ms  {ratio}{fraction} {verdict}".rstrip()


def markdown(measurements: Sequence[Measurement], facts: Mapping[str, str]) -> str:
    """The table of docs/performance.md."""
    from tabulate import tabulate

    headers = [
        "row", "phase", "torch ms", "torch channels-last ms", "thnn ms", "thnn channels-last ms", "torch call ms",
        "thnn call ms", "thnn.freeze ms", *(f"{name} ms" for name in PEERS), "ratio",
        "against torch's better layout", "channels-last ratio", "against thnn's alternative", "against torch.compile",
        "fraction of roofline", "roofline", "goal",
    ]  # fmt: skip
    body = []
    for m in measurements:
        times = [
            f"{m.timings[name].best * 1e3:.4f}" if name in m.timings else ""
            for name in (
                f"torch {CONTIGUOUS}",
                f"torch {CHANNELS_LAST}",
                f"thnn {CONTIGUOUS}",
                f"thnn {CHANNELS_LAST}",
                "torch call",
                "thnn call",
                _bench_networks.FROZEN,
                *PEERS,
            )
        ]
        goal = {True: "met", False: "missed", None: ""}[m.met]
        if m.goals:
            goal = f"{goal}: {'; '.join(m.goals)}"
        if f"thnn {CONTIGUOUS}" not in m.timings:  # an overhead, without a time of torch
            times[2] = f"{list(m.timings.values())[-1].best * 1e3:.4f}"
        ratios = [_number(v) for v in (m.ratio, m.best_ratio, m.channels_last_ratio)]
        others = [_number(v) for v in (m.other_ratio, m.other_channels_last_ratio) if v is not None]
        body.append(
            [
                *(m.row, m.phase, *times, *ratios, ", ".join(others), _number(m.compile_ratio)),
                *(_number(m.fraction), m.roofline, goal),
            ]
        )
    columns = [i for i in range(len(headers)) if any(line[i] for line in body)]
    headers, body = [headers[i] for i in columns], [[line[i] for i in columns] for line in body]
    machine_lines = "".join(f"- {name}: {value}\n" for name, value in facts.items())
    return f"{machine_lines}\n{tabulate(body, headers, tablefmt='github', disable_numparse=True)}\n"


def plot(measurements: Sequence[Measurement], facts: Mapping[str, str], path: str) -> None:
    """Draws two bar charts with two bars per row: ratios to torch, in its default and in its better layout, on a
    logarithmic axis, and the fractions of the roofline that thnn and torch reach. Networks come first. Rows are forward
    + backward where it is measured."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with_backward = {m.row for m in measurements if m.phase == "fb"}
    shown = [m for m in measurements if m.ratio and (m.phase == "fb" or m.row not in with_backward)]
    shown.sort(key=lambda m: not m.row.startswith("networks "))  # networks first
    figure, (ratios, fractions) = plt.subplots(
        ncols=2, sharey=True, width_ratios=(3, 2), figsize=(12, 1.2 + 0.17 * len(shown)), layout="constrained"
    )
    thnn, other = "#2a6f97", "#a9d6e5"
    for axes, bars in (
        (ratios, (("torch's default layout", "ratio", thnn), ("torch's better layout", "best_ratio", other))),
        (fractions, (("thnn", "fraction", thnn), ("torch, default layout", "torch_fraction", other))),
    ):
        for offset, (label, attribute, color) in zip((0, 0.4), bars):
            values = [getattr(m, attribute) or 0 for m in shown]
            axes.barh([p + offset for p in range(len(shown))], values, height=0.4, label=label, color=color)
        axes.axvline(1, color="black", linewidth=0.8)
        axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    ratios.set_xscale("log")
    ticks = (0.5, 1, 2, 5, 10, 20)
    ratios.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ratios.xaxis.set_minor_formatter("")
    ratios.set_yticks([p + 0.2 for p in range(len(shown))], [m.row for m in shown], fontsize=7)
    ratios.set_ylim(len(shown), -0.5)
    ratios.set_xlabel("times faster than torch (best of interleaved blocks)")
    fractions.set_xlabel("fraction of the roofline")
    where = facts.get("gpu") or f"{facts['cpu']}, {facts['threads']} threads"
    figure.suptitle(f"{where}, torch {facts['torch']}", fontsize=9)
    figure.savefig(path, dpi=130)
