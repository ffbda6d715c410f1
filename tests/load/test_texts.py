"""thnn.load of a header and a kernel file that are texts, as in a notebook."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
import torch
from cube import HEADER, KERNEL
from torch.autograd import gradcheck

import thnn


def test_texts_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content decides what is compiled, and neither the folder nor the time."""
    monkeypatch.setenv("THNN_CACHE", str(tmp_path / "cache"))
    own = thnn.load(HEADER, source=KERNEL)
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(own.CubeFunction(1.5), x)
    assert own.__name__ == "Cube"
    assert thnn.load(HEADER, source=KERNEL, name="other").__name__ == "other"
    assert KERNEL in own.source
    monkeypatch.chdir(tmp_path)
    assert thnn.load(header=HEADER, source=KERNEL).library == own.library
    edited = thnn.load(HEADER, source=KERNEL.replace("gain * x * x * x,", "gain * x * x * x + 1,"))
    assert edited.CubeFunction.apply(torch.ones(1)).item() == 2
    assert own.CubeFunction.apply(torch.ones(1)).item() == 1
    # A damaged text is written again, and old texts are removed as libraries are.
    for path in (tmp_path / "cache").glob("text-*.[ch]"):
        path.write_text("damaged")
        os.utime(path, (time.time() - 31 * 86400,) * 2)
    assert thnn.load(HEADER, source=KERNEL).library == own.library
    thnn.load(HEADER, source=KERNEL + "\n")
    assert len([*(tmp_path / "cache").glob("text-*.[ch]")]) == 4


@pytest.mark.filterwarnings(
    "ignore:.torch.jit.script. is deprecated"
)  # the first forward derivative makes the warning
def test_modules_with_names_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts about a module of the package do not hold for a custom module of the same name."""
    monkeypatch.setenv("THNN_CACHE", str(tmp_path / "cache"))
    declaration = """
TH_API void THNN_(NAME_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal shift, bool inplace);
TH_API void THNN_(NAME_updateGradInput)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, accreal shift, bool inplace);
"""
    kernel = "POINTWISE(NAME, (SCALAR(shift), INPLACE), FROM_INPUT, x + shift, g)\n"
    names = ("LeakyReLU", "LookupTableBag", "Threshold")
    header = "".join(declaration.replace("NAME", name) for name in names)
    source = '#include "pointwise.h"\n' + "".join(kernel.replace("NAME", name) for name in names)
    own = thnn.load(
        header, source=source, references={"LookupTableBag": lambda input, shift, inplace: input + shift}
    )
    for name in names:
        x = torch.zeros(3, requires_grad=True)
        y = own.function_classes[f"{name}Function"].apply(x + 0, -1.0, True)
        y.backward(torch.ones(3))
        assert y.tolist() == [-1] * 3
        assert x.grad is not None
        assert x.grad.tolist() == [1] * 3
    one = torch.ones(3)
    _, tangent = torch.func.jvp(lambda x: own.LookupTableBagFunction.apply(x, -1.0, False), (one,), (one,))
    assert tangent.tolist() == [1] * 3


@pytest.mark.parametrize(
    ("header", "source", "error", "message"),
    [
        (HEADER.replace("accreal", "accrael", 1), KERNEL, thnn.HeaderError, r"^<header>:6:5: .*accrael"),
        ("", KERNEL, thnn.HeaderError, r"^<header>:1:1: the header declares no function"),
        ("Cube.h", KERNEL, thnn.HeaderError, r"^<header>:1:"),
        (HEADER, KERNEL.replace("3 * gain", "3 * gian"), thnn.CompileError, r"^<source>:3:.*gian"),
        (
            HEADER,
            "",
            thnn.CompileError,
            r"^Cube_updateOutput: declared at <header>:2:19, and no .*\(<source>\)",
        ),
        (
            HEADER,
            KERNEL + "int f(void) { return 3; }\n",
            thnn.CompileError,
            "^f: defined twice, since <source> is",
        ),
        (Path("Cube.h"), KERNEL, TypeError, r"header: expected a text, as source is given, got .*Path"),
        (HEADER, Path("Cube.c"), TypeError, r"source: expected a text, as source is given, got .*Path"),
        (HEADER, "\ud800", ValueError, "source: the text has characters that UTF-8 does not have"),
    ],
    ids=["type", "empty", "path", "kernel", "no kernel", "not static", "Path", "Path of source", "surrogate"],
)
def test_errors_name_header_and_source(
    header: str, source: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        thnn.load(header, source=source)
    assert re.search(message, str(raised.value), re.MULTILINE), str(raised.value)
    assert "text-" not in str(raised.value)


def test_errors_of_a_class_name_the_header() -> None:
    with pytest.raises(thnn.HeaderError, match=r"^<header>:2:"):
        thnn.load(HEADER.replace("input^3.", "input^3. [DERIVATIVE bilinear]"), source=KERNEL).CubeFunction(
            2.0
        )


def test_source_and_sources() -> None:
    with pytest.raises(ValueError, match="expected one of source, the text of a kernel file, and sources"):
        thnn.load(HEADER, "Cube.c", source=KERNEL)


def test_functions_of_a_text_have_no_cases() -> None:
    own = thnn.load(HEADER, source=KERNEL)
    with pytest.raises(ValueError, match=r"'Cube': Cube> was loaded from text, which has no file of cases"):
        own.check()


def test_a_text_without_the_other() -> None:
    with pytest.raises(ValueError, match=r"NUL; a header as text needs the text of its kernel, source, too$"):
        thnn.load(HEADER)


def test_a_reference_of_a_text_without_its_module() -> None:
    with pytest.raises(ValueError, match=r"references: <header> has no module 'Cubes'"):
        thnn.load(HEADER, source=KERNEL, references={"Cubes": lambda input, gain: input})
