"""Operators of loaded functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from cube import KERNEL
from new_process import python
from test_load import SQUARE_HEADER, SQUARE_KERNEL, cube

import thnn


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # of torch 2.15's opcheck
def test_operators(write: Callable[..., Path]) -> None:
    header = write()
    loaded = thnn.load(header, references={"Cube": cube})
    cls = loaded.CubeFunction
    x = torch.randn(4, 3, dtype=torch.float64)

    def apply(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = cls.apply(x, 2.0)
        return result

    compiled = torch.compile(apply, fullgraph=True, dynamic=True, backend="aot_eager")
    leaf = x.clone().requires_grad_()
    compiled(leaf).sum().backward()
    torch.testing.assert_close(leaf.grad, 6 * x * x)
    torch.testing.assert_close(torch.vmap(apply)(x), cube(x, 2.0))
    torch.testing.assert_close(torch.func.jvp(apply, (x,), (torch.ones_like(x),))[1], 6 * x * x)
    hessian = torch.func.hessian(lambda x: apply(x).sum())(x[0])
    torch.testing.assert_close(hessian, torch.diag(12 * x[0]))
    torch.library.opcheck(cls._operator, (leaf, 2.0))
    # Without a reference there is one derivative; the library has separate operators.
    once = thnn.load(header)
    assert torch.func.grad(lambda x: once.CubeFunction.apply(x).sum())(x).shape == x.shape
    assert once.CubeFunction._operator is not cls._operator
    with pytest.raises(NotImplementedError, match="can be differentiated once only"):
        torch.func.jvp(once.CubeFunction.apply, (x,), (x,))


_PROGRAM = """
import sys, torch, thnn
x = torch.ones(3)
for folder, *macros in zip(sys.argv[2::3], sys.argv[3::3], sys.argv[4::3]):
    first, second = (
        thnn.load(f"{folder}/{name}/Own.h", extra_cflags=[f"-I{folder}", "-D", f"MACRO={macro}"])
        for name, macro in zip("ab", macros)
    )
    if sys.argv[1] == "save":
        class Program(torch.nn.Module):
            def forward(self, x):
                return first.CubeFunction.apply(x, 2.0)
        torch.export.save(torch.export.export(Program(), (x,)), folder + "/saved")
    else:
        # In another order: names of operators must not depend on it.
        thnn.register_operators(second)
        thnn.register_operators(first)
        print(torch.export.load(folder + "/saved").module()(x).tolist())
"""


# The part of the files in which two libraries differ: kernel files, included files, and values of a macro.
_KERNELS = {
    "kernel file": (("", "10 *"), ("", ""), (1, 1)),
    "included file": (("FACTOR", "FACTOR"), ("#define FACTOR", "#define FACTOR 10 *"), (1, 1)),
    "macro": (("MACRO *", "MACRO *"), ("", ""), (1, 10)),
}


@pytest.mark.needs_torch("2.9", "torch.export traces no attributes that a module computes")
def test_a_saved_program_finds_the_operators_of_its_library(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    header, arguments = write(), []
    for part, (factors, texts, macros) in _KERNELS.items():
        arguments += [str(tmp_path / part), *map(str, macros)]
        for name, factor, included in zip("ab", factors, texts):
            folder = tmp_path / part / name
            folder.mkdir(parents=True)
            (folder / "Own.h").write_text(header.read_text())
            (folder / "factor.h").write_text(included)
            text = header.with_suffix(".c").read_text()
            assert "x * x * x" in text
            text = '#include "factor.h"\n' + text.replace("x * x * x", f"{factor} x * x * x")
            (folder / "Own.c").write_text(text)
    for action, printed in (("save", ""), ("load", 3 * "[2.0, 2.0, 2.0]\n")):
        assert python("-c", _PROGRAM, action, *arguments) == printed


def test_namespaces_of_packages(write: Callable[..., Path], tmp_path: Path) -> None:
    """Libraries that `build_library` compiled from the same files elsewhere have the same operators, others do not."""
    namespaces = []
    for folder, factor in (("a", ""), ("b", "10 *"), ("c", "")):
        (tmp_path / folder).mkdir()
        header = write(kernel=KERNEL.replace("x * x * x", f"{factor} x * x * x"), name=f"{folder}/Cube")
        library = thnn.build_library(header, header.with_name("libcube.so"))
        opened = thnn.open_library(header, library)
        assert opened.CubeFunction.apply(torch.ones(1)).item() == (10 if factor else 1)
        namespaces.append(opened.CubeFunction._library.operator_namespace)
    assert namespaces[0] == namespaces[2] != namespaces[1]


@pytest.mark.parametrize("factor", [0.5, float("inf")])
def test_the_operator_of_a_criterion(write: Callable[..., Path], factor: float) -> None:
    """Its kernel multiplies the gradient, since the library may not read the factor."""
    loaded = thnn.load(write(SQUARE_HEADER, SQUARE_KERNEL, "Square"))
    thnn.register_operators(loaded)
    x, target = torch.randn(4, 3), torch.randn(4, 3)
    (backward,) = loaded.SquareFunction._operators.backwards
    found = backward(torch.tensor(factor), x, target, True)
    expected = factor * backward(torch.tensor(1.0), x, target, True)
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
