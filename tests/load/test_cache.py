"""The cache of thnn.load: edits during a load, damaged files, included files, forked processes, paths."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
import torch
from cube import HEADER, KERNEL

import thnn
from thnn._header import parse_header
from thnn._header.registry import THNN_H_PATH
from thnn._load import compiling, loaded, parsing
from thnn._load.recipe import Recipe

Write = Callable[..., Path]

NUMBER_KERNEL = (
    '#include "pointwise.h"\n#include INCLUDED\nPOINTWISE(Cube, (SCALAR(gain)), FROM_INPUT, NUMBER * x, g)\n'
)


def at_one(module: thnn.LoadedModule) -> float:
    return module.CubeFunction.apply(torch.ones(1)).item()


@pytest.fixture(scope="session")
def precompiled(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The precompiled headers of a library, which take most of the time of its first load."""
    folder = tmp_path_factory.mktemp("precompiled")
    (folder / "Cube.h").write_text(HEADER)
    (folder / "Cube.c").write_text(KERNEL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THNN_CACHE", str(folder / "cache"))
        thnn.load(folder / "Cube.h")
    return [*(folder / "cache").glob("headers-*")]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precompiled: list[Path]) -> Path:
    """A cache that has the precompiled headers and nothing else."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    for file in precompiled:
        shutil.copy2(file, folder)
    monkeypatch.setenv("THNN_CACHE", str(folder))
    return folder


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


# Suffix, and new contents; None: the first half of the file. A precompiled header is known by its size.
DAMAGES: dict[str, list[bytes | None]] = {
    ".so": [b"", None],
    ".json": [b"", b"garbage", None, b"[1]"],
    ".gch": [None],
}


@pytest.mark.parametrize("suffix", DAMAGES)
def test_damaged_files_are_written_anew(write: Write, cache: Path, suffix: str) -> None:
    header, kernel = write(), KERNEL
    loaded = [thnn.load(header)]
    for content in DAMAGES[suffix]:
        damaged = list(cache.rglob(f"*{suffix}"))
        assert damaged
        for path in damaged:
            whole = path.read_bytes()
            path.unlink()  # the open library does not change
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
    for value in (1, 2):
        number.write_text(f"#define NUMBER {value}\n")
        assert at_one(thnn.load(header, extra_cflags=flags.get(way, []))) == value


@pytest.mark.parametrize("way", ["-I", "CPATH", "-iquote", "beside the kernel", "beside an included file"])
def test_a_file_that_would_now_be_found_first(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    flags = [f"-I{second}"]
    included = '"number.h"'
    if way == "-I":
        flags = [f"-I{first}", "-I", str(second)]
    elif way == "-iquote":
        flags = ["-iquote", str(first), f"-I{second}"]
    elif way == "CPATH":
        flags = ["-idirafter", str(second)]
        monkeypatch.setenv("CPATH", str(first))
    elif way == "beside the kernel":
        first = tmp_path
    else:
        included = f'"{first}/outer.h"'
        (first / "outer.h").write_text("#include NAME\n")
    (second / "number.h").write_text("#define NUMBER 1\n")
    kernel = '#define NAME "number.h"\n' + NUMBER_KERNEL.replace("INCLUDED", included)
    header = write(kernel=kernel)
    assert at_one(thnn.load(header, extra_cflags=flags)) == 1
    (first / "number.h").write_text("#define NUMBER 2\n")
    assert at_one(thnn.load(header, extra_cflags=flags)) == 2
    (first / "number.h").unlink()
    assert at_one(thnn.load(header, extra_cflags=flags)) == 1


def test_an_optional_file(write: Write, tmp_path: Path) -> None:
    kernel = """\
#if 1 && \\
  __has_include("optional.h")
#define NUMBER 2
#else
#define NUMBER 1
#endif
"""
    header = write(kernel=kernel + NUMBER_KERNEL.replace("#include INCLUDED\n", ""))
    optional = tmp_path / "optional.h"
    for _ in range(2):
        assert at_one(thnn.load(header)) == 1
        optional.touch()
        assert at_one(thnn.load(header)) == 2
        optional.unlink()


@pytest.mark.parametrize("name", ["pointwise.h", "runtime/kernel.h", "math.h"])
def test_a_file_in_place_of_a_header_of_thnn(write: Write, tmp_path: Path, name: str) -> None:
    header = write(kernel="#include <math.h>\n" + KERNEL)
    assert at_one(thnn.load(header)) == 1
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(
        f'#include_next "{name}"\n#define x (x + 1)\n' if name != "math.h" else "#error here"
    )
    with pytest.raises(thnn.CompileError):
        thnn.load(header)


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
    monkeypatch.setattr(subprocess, "run", no_work)
    monkeypatch.setattr(thnn._header, "parse_header", no_work)
    again = thnn.load(header)
    assert len(hashed) == 3
    assert again.library == first.library
    assert again.CubeFunction is again.CubeFunction


def test_paths(write: Write, tmp_path: Path) -> None:
    name = "größe a\"quote back\\slash tab\tin b'c %s{}$x#"
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
    leftovers = {cache / ".thnn-build-a", cache / ".thnn-build-b"}
    for path in foreign:
        path.write_text("")
    for path in leftovers:
        path.mkdir()
        (path / "file").write_text("")
    unused_header = cache / f"headers-{'0' * 20}.h.gch"
    unused_header.write_text("")

    age(29)
    load("Third")
    assert all(path.exists() for path in (old.library, unused_header, *leftovers))
    age(31)
    load("Used")
    assert old.library.exists()  # a load from the cache removes nothing
    load("Fourth")
    names = sorted(re.sub("-[0-9a-f]{20}", "", str(p.relative_to(cache))) for p in cache.rglob("*"))
    kept = [f"{name}.{kind}" for name in ("Fourth", "Used") for kind in ("json", "json", "json", "so")]
    headers = [f"headers.{kind}" for kind in ("h", "h.gch", "size")]
    assert names == sorted([*kept, *headers, *(path.name for path in foreign)])
    assert at_one(old) == at_one(load("Old")) == at_one(used) == 1


@pytest.mark.parametrize("suffix", [".so", ".json", ".gch"])
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


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_a_cache_that_others_may_write_is_refused(write: Write, cache: Path, mode: int) -> None:
    header = write()
    thnn.load(header)
    cache.chmod(mode)
    with pytest.raises(
        ValueError, match=rf"cache {cache} .*other users may write to it: chmod go-w {cache}\)"
    ):
        thnn.load(header)
    cache.chmod(0o700)
    assert at_one(thnn.load(header)) == 1


def test_a_cache_of_another_user_is_refused(
    write: Write, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a package, which has its library elsewhere, does without the cache."""
    header = write()
    thnn.load(header)
    library = thnn.build_library(header, tmp_path / "libcube.so")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    read: list[Path] = []
    monkeypatch.setattr(parsing, "read", read.append)
    message = rf"cache {cache} cannot be used \(it belongs to the user {user}, not to {user + 1}\)"
    for load in (lambda: thnn.load(header), lambda: thnn.build_library(header, library)):
        with pytest.raises(ValueError, match=message):
            load()
    assert at_one(thnn.open_library(header, library)) == 1
    assert not read


# Each kind of file, and each way for a file that thnn opens and for one that the compiler opens. Without the library,
# the kernel is compiled, with the precompiled headers.
FOREIGN = [
    ("a link", (".json",)),
    ("a link", (".so", ".h", ".gch", ".size")),
    *((way, (".so", ".gch")) for way in ("a file that others may write", "a folder", "a pipe")),
]


@pytest.mark.parametrize(("way", "suffixes"), FOREIGN)
def test_files_of_others_are_replaced(write: Write, cache: Path, way: str, suffixes: tuple[str, ...]) -> None:
    """Such files may lie in a folder that others could once write to."""
    header = write()
    thnn.load(header)
    for number, path in enumerate([p for suffix in suffixes for p in cache.glob(f"*{suffix}")]):
        if way == "a link":
            path.rename(cache / f"target-{number}")
            path.symlink_to(cache / f"target-{number}")
        elif way == "a file that others may write":
            path.chmod(0o622)
        elif way == "a folder":
            path.unlink()
            path.mkdir()
            (path / "file").touch()
        else:
            path.unlink()
            os.mkfifo(path)
    assert at_one(thnn.load(header)) == 1
    for path in (p for suffix in suffixes for p in cache.glob(f"*{suffix}")):
        assert path.is_file()
        assert not path.is_symlink()
        assert not path.stat().st_mode & 0o022
    assert not [*cache.glob(".thnn-build-*")]


def test_the_model_is_kept_whole() -> None:
    functions = parse_header(THNN_H_PATH)
    kept = parsing.from_json(parsing.to_json(functions))
    assert [*map(parsing.asdict, kept)] == [*map(parsing.asdict, functions)]
    assert kept == functions


def test_a_full_disk(write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    header, before = write(), {*cache.iterdir()}
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(
        ValueError, match=rf"cache {cache} cannot be used \(No space left on device\); set THNN"
    ):
        thnn.load(header)
    assert {*cache.iterdir()} == before


def test_the_key_has_nothing_of_torch(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library serves every version of torch: neither its key nor the library names one."""
    asked: list[Recipe] = []
    original = Recipe.parts

    def parts(recipe: Recipe) -> dict[str, str]:
        asked.append(recipe)
        return original(recipe)

    monkeypatch.setattr(Recipe, "parts", parts)
    header = write()
    first = thnn.load(header)
    monkeypatch.setattr(torch, "__version__", "99.0")
    assert thnn.load(header).library == first.library
    text = repr(original(asked[0]))
    assert "the flags" in text
    assert not [word for word in ("torch", str(Path(torch.__file__).parent)) if word in text]
    needed = subprocess.run(
        ["readelf", "-d", first.library], capture_output=True, text=True, check=True
    ).stdout
    assert "libTHNN.so" in needed
    assert "torch" not in needed
    assert "c10" not in needed


def test_a_home_that_does_not_exist(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THNN_CACHE", "~no-such-user/x")
    with pytest.raises(ValueError, match="cache ~no-such-user/x cannot be used"):
        thnn.load(write())


@pytest.mark.parametrize("letter", ["n", "ñ"])
def test_long_names(write: Write, letter: str) -> None:
    """The cache shortens the names of headers in its file names."""
    header = write()
    one, other = (thnn.load(header, name=letter * 300 + end) for end in "ab")
    assert at_one(one) == at_one(other) == 1
    assert one.library != other.library
    assert one.__name__ == letter * 300 + "a"


def test_a_library_that_cannot_be_written(write: Write, tmp_path: Path) -> None:
    output = tmp_path / "folder"
    output.mkdir()
    with pytest.raises(ValueError, match=f"build_library: output: {output} cannot be written"):
        thnn.build_library(write(), output)
