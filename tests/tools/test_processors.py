"""The C files compile for processors and systems on which the tests do not run (docs/processors.md)."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = (
    *("-fsyntax-only", "-std=gnu11", "-DTHNN_ARCH=default", "-DTHNN_REAL_IS_FLOAT", "-Wno-unknown-pragmas"),
    *("-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types"),
    *(f"-I{ROOT / folder}" for folder in ("lib/THNN", "lib/THNN/generated", "generic", "lib")),
)


def portable_branches() -> list[str]:
    # The headers of SSE2 include others, which a file on x86-64 then has without including them.
    return ["gcc", "-fopenmp", "-U__SSE2__", "-Werror=discarded-qualifiers"]


def aarch64() -> list[str]:
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("needs aarch64-linux-gnu-gcc (apt install gcc-aarch64-linux-gnu)")
    return ["aarch64-linux-gnu-gcc", "-fopenmp", "-Werror=discarded-qualifiers"]


def macos() -> list[str]:
    """The clang of zig, which comes with the headers of macOS."""
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        pytest.skip("needs zig (pip install ziglang)")
    zig = Path(package.origin).parent
    headers = (zig / "lib" / "include", zig / "lib" / "libc" / "include" / "any-darwin-any")
    target = ["-target", "arm64-apple-macos11", "-nostdinc", *(f"-isystem{path}" for path in headers)]
    return [str(zig / "zig"), "clang", *target, "-Xclang", "-fopenmp"]


@pytest.mark.parametrize("compiler", [portable_branches, aarch64, macos])
def test_c_files_compile(compiler: Callable[[], list[str]]) -> None:
    files = [*ROOT.glob("generic/*/*.c"), *ROOT.glob("lib/THNN/*/*.c"), *ROOT.glob("lib/roofline/*.c")]
    assert len(files) > 100
    done = subprocess.run([*compiler(), *FLAGS, *map(str, files)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Counts how often each iteration of a loop runs, for many numbers of iterations and threads, also inside other regions.
LOOPS = """
#include <stdio.h>
#include <string.h>
#include "runtime/openmp.h"
#include "runtime/parallel.h"

void omp_set_num_threads(int threads);

static int runs[100], teams[100];

int main(void)
{
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, most = 0;
  for (int threads = 1; threads < 6; threads++)
    for (int64_t tasks = 0; tasks <= 100; tasks++) {
      omp_set_num_threads(threads);
      memset(runs, 0, sizeof runs);
      THNN_PARALLEL_FOR(i, tasks, 1 << 20) {
        runs[i] += a + b + c + d + e + f + g + h;
        teams[i] = omp_get_num_threads();
        THNN_PARALLEL_FOR(j, 3, 1 << 20) runs[i] += (int)(tasks - i);
      }
      for (int64_t i = 0; i < 100; i++)
        if (runs[i] != (i < tasks ? 36 + 3 * (tasks - i) : 0)) return printf("%d %d\\n", threads, (int)tasks);
      for (int64_t i = 0; i < tasks; i++) {
        if (teams[i] != (tasks < threads ? tasks : threads)) return printf("%d threads\\n", teams[i]);
        if (teams[i] > most) most = teams[i];
      }
    }
  return most == 5 ? 0 : printf("%d threads at most\\n", most);
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_parallel_loops_run_on_libgomp(compiler: str, tmp_path: Path) -> None:
    """clang compiles loops for another OpenMP runtime, whose functions runtime/openmp.c defines."""
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    (tmp_path / "loops.c").write_text(LOOPS)
    runtime = ROOT / "lib" / "THNN" / "runtime"
    files = [tmp_path / "loops.c", runtime / "parallel.c", runtime / "openmp.c"]
    wrap = ["-Wl,--wrap=GOMP_parallel"] if compiler == "gcc" else []
    subprocess.run(
        [compiler, "-c", "-O1", "-std=gnu11", "-fopenmp", f"-I{runtime.parent}", *files],
        cwd=tmp_path,
        check=True,
    )
    subprocess.run([compiler, *tmp_path.glob("*.o"), *wrap, "-lgomp", "-pthread"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "a.out"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    needed = subprocess.run(["ldd", tmp_path / "a.out"], capture_output=True, text=True).stdout
    assert "libgomp" in needed
    assert "libomp" not in needed
