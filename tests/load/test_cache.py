"""The cache of thnn.load: edits during a load, damaged files, included files, forked processes, paths."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
import torch
from cube import HEADER, KERNEL

import thnn
from thnn._load import compiling, loaded, parsing
from thnn._load.recipe import Recipe

Write = Callable[..., Path]

NUMBER_KERNEL = (
    '#include "pointwise.h"\n#include INCLUDED\nPOINTWISE(Cube, (SCALAR(gain)), FROM_INPUT, NUMBER * x, g)\n'
)


def at_one(module: thnn.LoadedModule) -> float:
    return module.CubeFunction.apply(torch.ones(1)).item()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THNN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


OTHER_HEADER = HEADER.replace("accreal gain", "bool inplace, accreal gain").replace(
    "// [DEFAULT 1] gain", "// [DEFAULT 2] gain"
)
OTHER_KERNEL = KERNEL.replace("(SCALAR(gain))", "(INPLACE, SCALAR(gain))")


@pytest.mark.parametrize("moment", ["before the build", "during the compilation"])
def test_an_edit_during_a_load(
    write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    header = write()
    name = "build" if moment == "before the build" else "compile_into"
    original, edits = getattr(loaded, name), [None]

    def edit_and(*arguments: object) -> object:
        if edits:
            edits.pop()
            write(OTHER_HEADER, OTHER_KERNEL)
        return original(*arguments)

    monkeypatch.setattr(loaded, name, edit_and)
    for _ in range(2):  # compiled, and from the cache
        own = thnn.load(header)
        assert own.CubeFunction.apply(torch.ones(1), False).item() == 2
    assert len(list(cache.glob("*.so"))) == 1


@pytest.mark.parametrize("suffix", [".so", ".json", ".model", ".gch"])
def test_damaged_files_are_written_anew(write: Write, cache: Path, suffix: str) -> None:
    header, kernel = write(), KERNEL
    loaded = [thnn.load(header)]
    for content in (b"", b"garbage", None, b"\x80\x04]q\x00K\x01a."):
        damaged = list(cache.rglob(f"*{suffix}"))
        assert damaged
        for path in damaged:
            whole = path.read_bytes()
            path.unlink()  # the open library remains as it is
            path.write_bytes(whole[: len(whole) // 2] if content is None else content)
        if suffix == ".gch":
            kernel += "\n"
            write(kernel=kernel)
        loaded.append(thnn.load(header))
        assert [at_one(module) for module in loaded] == [1] * len(loaded), content


def test_fork_during_a_load(write: Write) -> None:
    header = write()
    thnn.load(header)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with compiling._building:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        thnn.load(header)
        os._exit(0)
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("way", ["-I", "-iquote", "CPATH", "-include", "macro"])
def test_edits_of_included_files(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    folder = tmp_path / "with space $ #"
    folder.mkdir()
    number = folder / "number.h"
    flags = {
        "-I": ["-I", str(folder)],
        "-iquote": ["-iquote", str(folder)],
        "-include": ["-include", str(number)],
    }
    if way == "CPATH":
        monkeypatch.setenv("CPATH", str(folder))
    included = f'"{number}"' if way == "macro" else "" if way == "-include" else "<number.h>"
    kernel = NUMBER_KERNEL.replace(
        "#include INCLUDED", f"#define F {included}\n#include F" if included else ""
    )
    if way == "-iquote":
        kernel = kernel.replace("<number.h>", '"number.h"')
    header = write(kernel=kernel)
    for value in (1, 2, 3):
        number.write_text(f"#define NUMBER {value}\n")
        assert at_one(thnn.load(header, extra_cflags=flags.get(way, []))) == value


def test_a_lookup_does_no_work_of_a_compilation(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load from the cache hashes the files once, and neither parses nor compiles. A compilation hashes them twice."""
    hashed, original = [], Recipe.parts

    def parts(recipe: Recipe) -> dict[str, str]:
        hashed.append(recipe)
        return original(recipe)

    def no_work(*arguments: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(Recipe, "parts", parts)
    header = write()
    first = thnn.load(header)
    assert len(hashed) == 2
    monkeypatch.setattr(compiling, "run_compiler", no_work)
    monkeypatch.setattr(thnn._header, "parse_header", no_work)
    again = thnn.load(header)
    assert len(hashed) == 3
    assert again.library == first.library
    assert again.CubeFunction is again.CubeFunction


@pytest.mark.parametrize("name", ["größe", 'a"quote', "back\\slash", "tab\tin", "a b'c", "%s{}$x#"])
def test_paths(write: Write, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    header = write(name=f"{name}/Cube")
    assert at_one(thnn.load(header)) == 1
    header.with_name("number.h").write_text("#define NUMBER 1\n")
    write(kernel=NUMBER_KERNEL.replace("INCLUDED", '"number.h"'), name=f"{name}/Cube")
    assert at_one(thnn.load(header)) == 1
    header.with_name("number.h").write_text("#define NUMBER 2\n")
    assert at_one(thnn.load(header)) == 2


def test_trimming(write: Write, tmp_path: Path, cache: Path) -> None:
    def load(name: str) -> thnn.LoadedModule:
        (tmp_path / name).mkdir(exist_ok=True)
        return thnn.load(write(name=f"{name}/{name}"))

    def age(days: float) -> None:
        for path in cache.rglob("*"):
            os.utime(path, (time.time() - days * 86400,) * 2)

    old, used = load("Old"), load("Used")
    foreign = {cache / name for name in ("notes.txt", "other.so", "other-20240101.json")}
    leftovers = {cache / ".thnn-build-a", next(cache.glob("headers-*")) / ".thnn-build-b"}
    for path in foreign:
        path.write_text("")
    for path in leftovers:
        path.mkdir()
        (path / "file").write_text("")
    unused_header = cache / "headers-0" / "standard.h.gch"
    unused_header.parent.mkdir()
    unused_header.write_text("")

    age(29)
    load("Third")
    assert all(path.exists() for path in (old.library, unused_header, *leftovers))
    age(31)
    load("Used")
    assert old.library.exists()  # a load from the cache removes nothing
    load("Fourth")
    names = sorted(re.sub("-[0-9a-f]{20}", "", str(p.relative_to(cache))) for p in cache.rglob("*"))
    kept = [f"{name}.{kind}" for name in ("Fourth", "Used") for kind in ("json", "json", "model", "so")]
    headers = ["headers", "headers-0", *(f"headers/standard.{kind}" for kind in ("h", "h.gch", "size"))]
    assert names == sorted([*kept, *headers, *(path.name for path in foreign)])
    assert at_one(old) == at_one(load("Old")) == at_one(used) == 1


@pytest.mark.parametrize("suffix", [".so", ".json", ".gch", ".model"])
def test_trimming_while_another_process_loads(
    write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Another process removes a file just before a load reads it; the load makes it again, or does without."""
    original, removed = compiling.mark_used, []

    def remove(path: Path) -> None:
        original(path)
        if path.suffix == suffix and path.exists():
            path.unlink()
            removed.append(path)

    header = write()
    thnn.load(header)
    for module in (compiling, parsing):
        monkeypatch.setattr(module, "mark_used", remove)
    if suffix == ".gch":
        write(kernel=KERNEL + "\n")
    assert at_one(thnn.load(header)) == 1
    assert removed
