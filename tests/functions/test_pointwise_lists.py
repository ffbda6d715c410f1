"""The lists of point-wise functions and criteria compile as C, as C++, and with maps of lambdas, as on a device."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LISTS = ("generic/activation/pointwise.c", "generic/criterion/elementwise.c")
COMPILERS = {
    "C": ["cc", "-xc", "-std=gnu11", "-fopenmp"],
    "C++": ["c++", "-xc++", "-std=c++17", "-fopenmp"],
    "C++ with lambdas": ["c++", "-xc++", "-std=c++17", "-include", "lambdas.h"],
}

# The macros of elementwise/map.h as a library for a device would define them: each expression is the body of a lambda.
LAMBDAS = """
#include "runtime/kernel.h"
#include "elementwise/map.h"
#undef THNN_MAP2
#undef THNN_MAP3
#undef THNN_MAP4
#undef THNN_SUM2
#undef THNN_SUM3
template <class F, class... T> void map(THNNState *, const THNNTensor *, F, T...) {}
template <class F, class... T> double sum(THNNState *, F, T...) { return 0; }
#define THNN_MAP2(y, output, a, first, ...) \\
  map(state, output, [=](const real a) { return (real)(__VA_ARGS__); }, first)
#define THNN_MAP3(y, output, a, first, b, second, ...) \\
  map(state, output, [=](const real a, const real b) { return (real)(__VA_ARGS__); }, first, second)
#define THNN_MAP4(y, output, a, first, b, second, c, third, ...) \\
  map(state, output, [=](const real a, const real b, const real c) { return (real)(__VA_ARGS__); }, \\
      first, second, third)
#define THNN_SUM2(total, a, first, b, second, ...) \\
  total = sum(state, [=](const real a, const real b) { return (real)(__VA_ARGS__); }, first, second)
#define THNN_SUM3(total, a, first, b, second, c, third, ...) \\
  total = sum(state, [=](const real a, const real b, const real c) { return (real)(__VA_ARGS__); }, \\
              first, second, third)
"""

# An entry of each kind of arguments.
ENTRIES = """
#include "runtime/kernel.h"
#include "pointwise.h"
POINTWISE(Abs, (), FROM_INPUT, th_abs(x), x > 0 ? g : x < 0 ? -g : 0)
POINTWISE(ELU, (SCALAR(alpha), INPLACE), FROM_OUTPUT, x > 0 ? x : alpha * (th_exp(x) - 1), y > 0 ? g : g * (y + alpha))
POINTWISE(HardTanh, (SCALAR(min_val), SCALAR(max_val), INPLACE), FROM_INPUT,
          x < min_val ? min_val : x > max_val ? max_val : x, x > min_val && x < max_val ? g : 0,
          THNN_CHECK(min_val_ <= max_val_, min_val, "expected at most max_val, %g, got %g", max_val_, min_val_))
POINTWISE(LogSigmoid, (BUFFER(buffer)), FROM_INPUT, (x < 0 ? x : 0) - th_log(1 + th_exp_le0(-th_abs(x))),
          g * th_sigmoid(-x))
POINTWISE_OUTPUT(Sqrt, (SCALAR(eps)), (real)sqrt(x))
POINTWISE_GRAD_INPUT(Sqrt, (), FROM_OUTPUT, y == 0 ? 0 : g / (2 * y))
COST(L1Cost, th_abs(x), x > 0 ? norm : x < 0 ? -norm : 0)
CRITERION(MarginCriterion, (SCALAR(margin)), x * t < margin ? margin - x * t : 0, x * t < margin ? -norm * t : 0)
"""


def compile_(folder: Path, language: str, real: str, source: Path) -> None:
    command, *flags = COMPILERS[language]
    if shutil.which(command) is None:
        pytest.skip(f"no {command}")
    includes = [
        f"-I{folder}",
        *(f"-I{ROOT / path}" for path in ("lib/THNN", "lib/THNN/generated", "generic")),
    ]
    defines = ["-DTHNN_ARCH=default", f"-DTHNN_REAL_IS_{real}"]
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function"]
    run = subprocess.run(
        [command, *flags, "-fsyntax-only", *warnings, *defines, *includes, str(source)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("real", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize("language", COMPILERS)
def test_lists_compile(language: str, real: str, tmp_path: Path) -> None:
    (tmp_path / "lambdas.h").write_text(LAMBDAS)
    for path in LISTS:
        compile_(tmp_path, language, real, ROOT / path)


@pytest.mark.parametrize("language", COMPILERS)
def test_every_kind_of_entry_compiles(language: str, tmp_path: Path) -> None:
    (tmp_path / "lambdas.h").write_text(LAMBDAS)
    source = tmp_path / "entries.c"
    source.write_text(ENTRIES)
    compile_(tmp_path, language, "FLOAT", source)
