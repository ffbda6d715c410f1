"""``python -m tools.matrix 2.6.0 2.15.0``: the tests with several releases of torch, each with the installed wheel.

Builds the wheel once, without torch. For each release a virtual environment in build/matrix gets the wheel, torch and
the packages of the tests from the registry, with the first of the Pythons that this release of torch supports.
`nightly` is the pre-release of the index in the environment variable TORCH_NIGHTLY_INDEX. The tests run in a copy of
the tree without the package, so that Python imports the wheel; the tests of the tree itself (tools, documents, cores)
are left out, with --quick also the slow ones. Prints a table, and with --page writes it between the markers of
docs/versions.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "versions.md"
BEGIN, END = "<!-- table of python -m tools.matrix -->\n", "<!-- end of the table -->\n"
FOLDERS = (
    "batch_norm",
    "binding",
    "compat",
    "functions",
    "graph",
    "header",
    "load",
    "nn",
    "operators",
    "parallel",
    "rewrite",
)
PYTHONS = tuple(f"python3.{minor}" for minor in (13, 12, 11, 10, 14))
NEEDS = "needs torch "  # the reasons of tests/conftest.py begin with it


class Row(NamedTuple):
    torch: str
    python: str
    tests: str  # "all" or "quick"
    passed: int
    by_version: dict[str, int]  # reason -> tests that were skipped because of the release of torch
    skipped: int  # for other reasons
    failed: list[str]


def _python(executable: str, code: str) -> str | None:
    """The output of a program; None if it fails, as a shim of a version that is not chosen does."""
    try:
        done = subprocess.run([executable, "-c", code], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _environment(release: str, pythons: Sequence[str], wheel: Path, folder: Path) -> Path:
    """Makes the virtual environment of a release with the first Python that torch supports; returns its Python."""
    nightly = release == "nightly"
    index = os.environ.get("TORCH_NIGHTLY_INDEX", "") if nightly else ""
    torch = (
        ["--pre", "torch", *(["--index-url", index] if index else [])] if nightly else [f"torch=={release}"]
    )
    failures = []
    for python in pythons:
        if _python(python, "import venv") is None:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        executable = folder / "bin" / "python"
        pip = [str(executable), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*pip, *torch], capture_output=True, text=True)
        if done.returncode == 0:
            subprocess.run([*pip, f"{wheel}[test]"], check=True)
            return executable
        failures.append(f"{python}: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
    raise SystemExit(
        f"torch {release} cannot be installed:\n" + "\n".join(failures or ["no Python was found"])
    )


def _row(report: Path, torch: str, python: str, tests: str = "all") -> Row:
    passed, skipped, by_version, failed = 0, 0, dict[str, int](), list[str]()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(name)
        elif skip is None:
            passed += 1
        elif (reason := skip.get("message", "")).startswith(NEEDS):
            by_version[reason] = by_version.get(reason, 0) + 1
        else:
            skipped += 1
    return Row(torch, python, tests, passed, by_version, skipped, failed)


def _run(release: str, pythons: Sequence[str], wheel: Path, tree: Path, jobs: int, quick: bool) -> Row:
    folder = ROOT / "build" / "matrix" / release
    python = str(_environment(release, pythons, wheel, folder))
    versions = _python(python, "import sys, torch; print(torch.__version__, sys.version.split()[0])")
    if versions is None:
        raise SystemExit(f"torch {release} cannot be imported")
    report = folder / "report.xml"
    tests = [f"tests/{name}" for name in FOLDERS] + (["-m", "not slow"] if quick else [])
    options = [
        "-q",
        "-n",
        str(jobs),
        "--dist",
        "loadgroup",
        "--no-loadscope-reorder",
        f"--junit-xml={report}",
    ]
    subprocess.run([python, "-m", "pytest", *options, *tests], cwd=tree, check=False)
    torch, version = versions.split()
    return _row(report, torch, version, "quick" if quick else "all")


def _table(rows: Sequence[Row]) -> str:
    lines = [
        "| torch | Python | tests | passed | skipped by release | skipped otherwise | failed |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        counts = r.passed, sum(r.by_version.values()), r.skipped, len(r.failed)
        lines.append(f"| {r.torch} | {r.python} | {r.tests} | {' | '.join(map(str, counts))} |")
    reasons = sorted({(reason, r.torch, n) for r in rows for reason, n in r.by_version.items()})
    lines += ["", *(f"- torch {torch}, {n} tests: {reason}" for reason, torch, n in reasons)]
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.matrix", description=__doc__.split("\n\n")[0])
    parser.add_argument("torch", nargs="+", help="releases of torch, such as 2.6.0, or nightly")
    parser.add_argument("--pythons", nargs="+", default=PYTHONS, help="interpreters, the preferred one first")
    parser.add_argument("--jobs", type=int, default=2, help="processes of tests (default 2)")
    parser.add_argument("--quick", action="store_true", help="only the tests of make quick")
    parser.add_argument("--page", action="store_true", help="write the table into docs/versions.md")
    options = parser.parse_args(arguments)
    dist, tree = ROOT / "build" / "matrix" / "dist", ROOT / "build" / "matrix" / "tree"
    for folder in (dist, tree):
        shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(dist), str(ROOT)], check=True)
    (wheel,) = dist.glob("*.whl")
    ignored = shutil.ignore_patterns("thnn", "build", ".*", "__pycache__", "site", "*.so")
    shutil.copytree(
        ROOT, tree, ignore=lambda folder, names: ignored(folder, names) if folder == str(ROOT) else []
    )
    rows = [
        _run(release, options.pythons, wheel, tree, options.jobs, options.quick) for release in options.torch
    ]
    table = _table(rows)
    print(table)
    for row in rows:
        for name in row.failed:
            print(f"failed with torch {row.torch}: {name}")
    if options.page:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return 1 if any(row.failed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
