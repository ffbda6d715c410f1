"""The wheel: one for all versions of Python, built without torch, usable from C."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from built_tree import BuiltTree
from new_process import python

import thnn

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(command, cwd=cwd, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(built_tree: BuiltTree) -> Path:
    return built_tree.wheel


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it."""
    target = tmp_path_factory.mktemp("site")
    run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, wheel),
        cwd=target,
    )
    return target


def test_wheel(built_tree: BuiltTree, wheel: Path) -> None:
    version = (ROOT / "VERSION").read_text().strip()
    assert re.fullmatch(rf"thnn-{version}-cp310-abi3-linux_\w+\.whl", wheel.name)
    names = set(zipfile.ZipFile(wheel).namelist())
    headers = [*(ROOT / "lib/THNN").glob("*.h"), ROOT / "lib/THNN/runtime/function_table.c"]
    headers += [
        p for folder in ("runtime", "simd", "elementwise") for p in (ROOT / "lib/THNN" / folder).glob("*.h")
    ]
    cuda = ROOT / "lib/THCUNN"
    headers += [cuda / "function_table.cu", *(cuda / "runtime").iterdir()]
    headers += [p for folder in ("simd", "elementwise") for p in (cuda / folder).glob("*.h")]
    headers += [cuda / "emulation" / name for name in ("cuda.h", "cuda.cpp", "narrow_types.h", "observer.h")]
    templates = ROOT / "thnn" / "_load" / "templates"
    carried = {
        *built_tree.python_files,
        *(str(p.relative_to(ROOT)) for p in templates.iterdir() if p.is_file()),
        "thnn/py.typed",
        "thnn/libTHNN.so",
        "thnn/_C.abi3.so",
        "thnn/libroofline.so",
        *(f"thnn/include/{p.relative_to(ROOT)}" for p in headers),
        "thnn/include/generic/THNN.h",
        "thnn/include/generic/pointwise.h",
    }
    assert {n for n in names if ".dist-info/" not in n} == carried
    assert any(n.endswith("licenses/LICENSE") for n in names)


def test_the_command(installed: Path) -> None:
    listed = run(installed / "bin" / "thnn", "list", "Tanh", cwd=installed, PYTHONPATH=str(installed))
    assert listed == run(sys.executable, "-m", "thnn", "list", "Tanh", cwd=installed)


def test_no_file_names_the_folder_of_the_build(built_tree: BuiltTree) -> None:
    """Wheels that are built in different folders are the same; messages of torch name files of the binding."""
    with zipfile.ZipFile(built_tree.wheel) as archive:
        named = [name for name in archive.namelist() if str(built_tree.root).encode() in archive.read(name)]
    assert not named


def test_a_free_threaded_python_has_a_binding_for_its_version() -> None:
    """Such a Python has no limited API, which setuptools would refuse, and imports no `.abi3.so`."""
    program = """
import sysconfig
sysconfig.get_config_vars().update(Py_GIL_DISABLED=1, EXT_SUFFIX=".cpython-314t-x86_64-linux-gnu.so")
import setuptools
from distutils.core import run_setup
project = run_setup("setup.py", stop_after="commandline")
assert not any(extension.py_limited_api for extension in project.ext_modules)
assert not project.get_command_obj("bdist_wheel").py_limited_api
from tools.build import LIBRARIES
print(LIBRARIES[1])
"""
    assert run(sys.executable, "-c", program, cwd=ROOT) == "_C.cpython-314t-x86_64-linux-gnu.so\n"


def test_the_binding_compiles_without_the_limited_api(tmp_path: Path) -> None:
    source = tmp_path / "_C.c"
    run(sys.executable, ROOT / "tools/emit_binding.py", ROOT / "lib/binding", source, cwd=tmp_path)
    options = ("-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-function")
    includes = (f"-I{ROOT / 'lib'}", f"-I{sysconfig.get_path('include')}")
    run("cc", *options, "-D_CFFI_NO_LIMITED_API=", *includes, source, cwd=tmp_path)


def test_libraries_need_neither_torch_nor_python(installed: Path) -> None:
    needed = {}
    for name in ("libTHNN.so", "_C.abi3.so", "libroofline.so"):
        dynamic = run("readelf", "-d", installed / "thnn" / name, cwd=installed)
        needed[name] = set(re.findall(r"\(NEEDED\).*\[(.*?)\]", dynamic))
        assert not re.findall(r"\((?:RUNPATH|RPATH)\)", dynamic)
    loaders = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    assert needed["libTHNN.so"] <= {
        "libgomp.so.1",
        "libm.so.6",
        "libpthread.so.0",
        "libc.so.6",
        *loaders,
    }
    assert needed["libroofline.so"] <= needed["libTHNN.so"]
    assert needed["_C.abi3.so"] <= {"libc.so.6", *loaders}


def test_installed_package_works(installed: Path) -> None:
    program = """
import pathlib, torch, thnn
here = pathlib.Path.cwd()
assert pathlib.Path(thnn.__file__).is_relative_to(here), thnn.__file__
assert pathlib.Path(thnn.THNN_H_PATH) == here / "thnn/include/generic/THNN.h"
assert len(thnn.parse_header(thnn.THNN_H_PATH)) == len(thnn.functions())
x = torch.randn(5, requires_grad=True)
thnn.TanhFunction.apply(x).sum().backward()
torch.testing.assert_close(x.grad, 1 - x.detach().tanh() ** 2)
print(thnn.__version__)
"""
    out = python("-c", program, cwd=installed, PYTHONPATH=str(installed))
    assert out.strip() == (ROOT / "VERSION").read_text().strip()
    done = subprocess.run(
        [sys.executable, "-m", "thnn", "regenerate"],
        cwd=installed,
        env={**os.environ, "PYTHONPATH": str(installed)},
        text=True,
        capture_output=True,
    )
    assert done.returncode == 1
    assert "source tree" in done.stderr


def test_installed_package_loads_a_header(installed: Path, tmp_path: Path) -> None:
    """Nothing but the wheel and compilers is needed, also in emulation, and nothing is written into the package."""
    variables = {"PYTHONPATH": str(installed), "THNN_CACHE": str(tmp_path / "cache")}
    before = {
        p: p.stat().st_mtime_ns for p in installed.rglob("*") if "__pycache__" not in p.parts and p.is_file()
    }
    python("-m", "thnn", "new", "Mine", cwd=tmp_path, **variables)
    for emulate in ("0", "1"):
        variables["THNN_CUDA_EMULATE"] = emulate
        shown = python("-m", "thnn", "check", "Mine.h", cwd=tmp_path, **variables)
        assert shown.endswith(" 0 failed\n")
    after = {
        p: p.stat().st_mtime_ns for p in installed.rglob("*") if "__pycache__" not in p.parts and p.is_file()
    }
    assert after == before


def test_package_of_a_new_module(installed: Path, tmp_path: Path) -> None:
    """The package that `new --package` writes: built with the wheel, installed, checked."""
    variables = {"PYTHONPATH": str(installed), "THNN_CACHE": str(tmp_path / "cache")}
    python("-m", "thnn", "new", "MyLayer", "--kind", "layer", "--package", cwd=tmp_path, **variables)
    pip = (sys.executable, "-m", "pip")
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels)
    march = "x86-64-v2" if platform.machine() == "x86_64" else "native"
    run(*pip, "wheel", *options, tmp_path / "my_layer", cwd=tmp_path, THNN_MARCH=march, **variables)
    (wheel,) = wheels.iterdir()
    assert re.fullmatch(r"my_layer-0\.1\.0-py3-none-linux_\w+\.whl", wheel.name)
    run(*pip, "install", "--quiet", "--no-deps", "--target", site, wheel, cwd=tmp_path)
    shutil.rmtree(tmp_path / "my_layer" / "src")
    variables["PYTHONPATH"] = f"{site}{os.pathsep}{installed}"
    test = tmp_path / "my_layer" / "test_MyLayer.py"
    python("-m", "pytest", "-q", "-c", os.devnull, test, cwd=tmp_path, **variables)


C_PROGRAM = r"""
#include <THNN/THNN.h>
#include <stdio.h>

int main(void)
{
  double memory[4] = {0, 1, 2, 3}, result[4];
  THDoubleTensor x, y;
  THNNTensor_init(&x, THNN_TYPE_DOUBLE, memory, 2, (int64_t[]){2, 2});
  THNNTensor_init(&y, THNN_TYPE_DOUBLE, result, 2, (int64_t[]){2, 2});
  THNN_DoubleLeakyReLU_updateOutput(NULL, &x, &y, 0.5, false);
  if (THNN_lastState()->status != THNN_OK) return 1;
  printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
  y.size[0] = 1;
  THNN_DoubleLeakyReLU_updateOutput(NULL, &x, &y, 0.5, false);
  printf("%d %lld\n", THNN_lastState()->status == THNN_RESIZE, (long long)THNN_lastState()->requests[0].size[0]);
  THNN_DoublePReLU_updateOutput(NULL, &x, &y, &x, 0);
  puts(THNN_lastState()->message);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["cc", "c++"])
def test_from_c(installed: Path, tmp_path: Path, compiler: str) -> None:
    source = tmp_path / "program.c"
    program = C_PROGRAM
    if compiler == "c++":
        program = program.replace("(int64_t[]){2, 2}", "sizes").replace(
            "int main(void)\n{", "int main()\n{\n  int64_t sizes[] = {2, 2};"
        )
    source.write_text(program)
    package = installed / "thnn"
    run(
        *(
            compiler,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-x",
            "c++" if compiler == "c++" else "c",
            source,
            "-x",
            "none",
        ),
        *(
            f"-I{package / 'include' / 'lib'}",
            package / "libTHNN.so",
            f"-Wl,-rpath,{package}",
            "-o",
            "program",
        ),
        cwd=tmp_path,
    )
    lines = run(tmp_path / "program", cwd=tmp_path).splitlines()
    assert lines[0] == "0 1 2 3"
    assert lines[1] == "1 2"
    assert lines[2].startswith("PReLU_updateOutput: weight: ")


def test_one_version() -> None:
    version = (ROOT / "VERSION").read_text().strip()
    assert thnn.__version__ == version
    assert importlib.metadata.version("thnn") == version
    assert f"\n## [{version}] - " in (ROOT / "CHANGELOG.md").read_text()


def test_every_package_is_pinned() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 has it")
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and line[0] != "#"]
    pins = dict(re.fullmatch(r"([\w.-]+)==([\w.]+)(?:; .*)?", line).groups() for line in lines)
    assert pins["torch"] == "2.13.0"
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    asked = [*settings["build-system"]["requires"], *project["dependencies"]]
    asked += [name for extra in project["optional-dependencies"].values() for name in extra]
    assert {re.match(r"[\w-]+", name)[0] for name in asked} <= pins.keys()
