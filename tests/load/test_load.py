"""thnn.load: classes and backends of a header, the cache, several processes, second derivatives."""

from __future__ import annotations

import ast
import copy
import os
import pickle
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cube import HEADER, KERNEL
from leaves import leaf
from new_process import Program
from torch.autograd import gradcheck, gradgradcheck

import thnn

Write = Callable[..., Path]


def cube(input: torch.Tensor, gain: float = 1.0) -> torch.Tensor:
    return gain * input**3


def shifted(input: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
    return input**3 + offset


def square_of(input: torch.Tensor, target: torch.Tensor, sizeAverage: bool = True) -> torch.Tensor:
    losses = (input - target) ** 2
    return losses.mean() if sizeAverage else losses.sum()


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast"])
def test_flags_that_reorder_sums(write: Write, flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exponential adds and subtracts a large number to round."""
    kernel = '#include "pointwise.h"\nPOINTWISE(Cube, (SCALAR(gain)), FROM_INPUT, th_exp(gain * x), g)\n'
    x = torch.linspace(-8, 8, 2001, dtype=torch.float64)
    for options in ({"extra_cflags": [flag]}, {}):
        y = thnn.load(write(kernel=kernel), **options).CubeFunction.apply(x, 1.5)  # type: ignore[arg-type]
        torch.testing.assert_close(y, (1.5 * x).exp(), rtol=1e-14, atol=0)
        assert (
            torch.tensor(5e-324, dtype=torch.float64).mul(1).item() > 0
        )  # the library did not change the process
        monkeypatch.setenv("CC", f"gcc {flag}")


def test_infinite_defaults(write: Write) -> None:
    """For a number that both functions take, and for one that only the backward takes."""
    header = HEADER.replace("[DEFAULT 1] gain", "[DEFAULT inf] gain").replace(
        "accreal gain);       // gain",
        "accreal gain,  // gain\n    accreal most);  // [DEFAULT inf] largest gradient",
    )
    kernel = """
#include "elementwise/map.h"
#include "runtime/kernel.h"
void THNN_(Cube_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal gain)
{
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  THNN_MAP2(y, output, x, input, x * (real)gain);
}
void THNN_(Cube_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 accreal gain, accreal most)
{
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_META(state);
  THNN_MAP2(y, gradInput, g, gradOutput, g + (real)gain + (real)most);
}
"""
    loaded = thnn.load(write(header=header, kernel=kernel))
    x = leaf(3)
    y = loaded.CubeFunction.apply(x)
    assert y.isinf().all()
    assert torch.autograd.grad(y.sum(), x)[0].isinf().all()
    (gradient,) = torch.autograd.grad(loaded.CubeFunction.apply(x, 1.0).sum(), x)
    assert gradient.isinf().all()  # because of `most`


def test_a_flag_inplace_of_another_function(write: Write) -> None:
    header = "void THNN_(Cube_fill)(THNNState *state, THTensor *output /* [OUT] */, bool inplace);\n"
    kernel = """
#include "elementwise/map.h"
#include "runtime/kernel.h"
void THNN_(Cube_fill)(THNNState *state, THTensor *output, bool inplace)
{
  THNN_RETURN_IF_META(state);
  for (int64_t i = 0; i < THNNTensor_numel(output); i++) TH_DATA(output)[i] = inplace ? 2 : 1;
}
"""
    backend = thnn.load(write(header=header, kernel=kernel)).type2backend["torch.FloatTensor"]
    for inplace in (False, True):
        output = torch.zeros(2)
        backend.Cube_fill(0, output, inplace)
        assert output.tolist() == [1.0 + inplace] * 2


def test_classes_and_backends(write: Write) -> None:
    loaded = thnn.load(write())
    x = leaf(3, 4)
    assert gradcheck(loaded.CubeFunction(2.0), x)
    torch.testing.assert_close(loaded.CubeFunction.apply(x), cube(x))  # the default of gain
    assert loaded.CubeFunction.apply(torch.randn(2, 3, device="meta")).shape == (2, 3)
    y = torch.empty(0)
    loaded.type2backend["torch.FloatTensor"].Cube_updateOutput(0, torch.tensor([2.0]), y, 0.5)
    assert y.equal(torch.tensor([4.0]))
    with pytest.raises(
        ValueError, match="Cube_updateGradInput: gradOutput: expected as many elements as input"
    ):
        loaded.type2backend["THNNBackend"].Cube_updateGradInput(0, torch.ones(2), torch.ones(3), y, 1)
    assert repr(loaded) == "<thnn.load 'Cube': Cube>"
    assert {"CubeFunction", "check", "type2backend"} <= set(dir(loaded))
    assert "POINTWISE(Cube" in loaded.source
    assert "TH_API" in loaded.source
    assert not hasattr(thnn, "CubeFunction")
    with pytest.raises(AttributeError, match="did you mean CubeFunction"):
        loaded.CubesFunction  # noqa: B018
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(loaded.type2backend)


def test_stubs(write: Write, tmp_path: Path) -> None:
    path = thnn.load(write()).stubs(tmp_path / "cube.pyi")
    tree = ast.parse(path.read_text())
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    assert cls.name == "CubeFunction"
    assert "def apply(cls, input: Tensor, gain: float = ...) -> Tensor" in path.read_text()


def test_edit(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    header = write()
    first = thnn.load(header, verbose=True)
    assert "compiling, since" in capfd.readouterr().err
    assert thnn.load(header, verbose=True).library == first.library
    assert "is up to date" in capfd.readouterr().err
    old = first.CubeFunction(1.0)
    write(kernel=KERNEL.replace("gain * x * x * x", "gain * x * x * x + 1"))
    second = thnn.load(header, verbose=True)
    assert f"compiling, since {header.with_suffix('.c')} changed" in capfd.readouterr().err
    x = torch.tensor([2.0])
    assert second.CubeFunction(1.0)(x).equal(torch.tensor([9.0]))
    assert old(x).equal(torch.tensor([8.0]))
    assert first.CubeFunction(2.0)(x).equal(torch.tensor([16.0]))
    write()
    assert thnn.load(header).library == first.library  # the same files, so the cache has it
    flagged = thnn.load(header, extra_cflags=["-DUNUSED"], verbose=True)
    assert "the flags changed" in capfd.readouterr().err
    assert flagged.library != first.library


def test_the_reason_leaves_out_unchanged_headers(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    header = write(kernel='#include "one.h"\n#include "other.h"\n' + KERNEL)
    one, other = header.with_name("one.h"), header.with_name("other.h")
    for path in (one, other):
        path.write_text("#define UNUSED 1\n")
    thnn.load(header)
    one.write_text("#define UNUSED 1 \n")
    thnn.load(header, verbose=True)
    assert f"compiling, since {one} changed\n" in capfd.readouterr().err
    one.unlink()
    header.with_suffix(".c").write_text('#include "other.h"\n' + KERNEL)
    thnn.load(header, verbose=True)
    assert f"compiling, since {header.with_suffix('.c')}, {one} changed\n" in capfd.readouterr().err


def test_two_libraries_with_one_module(write: Write) -> None:
    """Neither calls functions of the other or of the package."""
    header = HEADER.replace("Cube", "Tanh")
    ours = thnn.load(write(header, KERNEL.replace("Cube", "Tanh"), "First"))
    other = thnn.load(
        write(header, KERNEL.replace("Cube", "Tanh").replace("x * x * x,", "x * x * x + 1,"), "Second")
    )
    x = torch.tensor([2.0])
    assert ours.TanhFunction.apply(x).item() == 8
    assert other.TanhFunction.apply(x).item() == 9
    assert thnn.TanhFunction.apply(x).item() == pytest.approx(x.tanh().item())
    assert not ours.TanhFunction.has_second_derivatives


def test_at_once(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Processes and threads that load the same header with an empty cache."""
    monkeypatch.setenv("THNN_CACHE", str(tmp_path / "cache"))
    header = write()
    program = f"import torch, thnn; print(thnn.load({str(header)!r}).CubeFunction.apply(torch.ones(2)).sum().item())"
    programs = [Program("-c", program) for _ in range(2)]
    results: list[float] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(thnn.load(header).CubeFunction.apply(torch.ones(2)).sum().item())
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.0] * 4
    assert [program.wait().stdout for program in programs] == ["2.0\n"] * 2
    assert len(list((tmp_path / "cache").glob("*.so"))) == 1
    assert not list((tmp_path / "cache").glob(".*"))


def test_second_derivatives(write: Write) -> None:
    header = write()
    once = thnn.load(header)
    x = leaf(3)
    (g,) = torch.autograd.grad(once.CubeFunction.apply(x).sum(), x)
    torch.testing.assert_close(g, 3 * x**2)
    with pytest.raises(
        NotImplementedError, match=r"CubeFunction can be differentiated once only.*references"
    ):
        torch.autograd.grad(once.CubeFunction.apply(x).sum(), x, create_graph=True)
    twice = thnn.load(header, references={"Cube": cube})
    assert gradgradcheck(twice.CubeFunction(0.5), x)
    # An input that is a function of another input.
    product = thnn.load(
        write(PRODUCT_HEADER, PRODUCT_KERNEL, "Product"),
        references={"Product": lambda input, weight: input * weight},
    )
    y = product.ProductFunction.apply(x, x.sin()).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    torch.testing.assert_close(g, x.sin() + x * x.cos())
    assert gradgradcheck(lambda t: product.ProductFunction.apply(t, t.sin()), x)
    # A tensor that the reference needs and the backward does not.
    shift = thnn.load(write(SHIFT_HEADER, SHIFT_KERNEL, "Shift"), references={"Shift": shifted})
    assert gradgradcheck(lambda t: shift.ShiftFunction.apply(t, torch.ones(3).double()), x)
    # A criterion, w.r.t. its input and w.r.t. the gradient of the loss.
    loss = thnn.load(write(SQUARE_HEADER, SQUARE_KERNEL, "Square"), references={"Square": square_of})
    assert gradgradcheck(lambda t: loss.SquareFunction.apply(t, torch.ones_like(t), True) * t.sum(), x)
    with pytest.raises(ValueError, match=r"references: Cube\.h has no module 'Cubes'"):
        thnn.load(header, references={"Cubes": cube})


PRODUCT_HEADER = """
TH_API void THNN_(Product_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight);
TH_API void THNN_(Product_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                           THTensor *weight);
TH_API void THNN_(Product_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                             THTensor *gradWeight, accreal scale);
"""

PRODUCT_KERNEL = """
#include "elementwise/map.h"
void THNN_(Product_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight)
{
  THNN_CHECK_SAME_SIZE(input, weight);
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  THNN_MAP3(y, output, x, input, w, weight, x * w);
}
void THNN_(Product_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                    THTensor *weight)
{
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_META(state);
  THNN_MAP3(dx, gradInput, g, gradOutput, w, weight, g * w);
}
void THNN_(Product_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
                                      accreal scale)
{
  THNN_RETURN_IF_META(state);
  THNN_MAP4(dw, gradWeight, old, gradWeight, x, input, g, gradOutput, old + (real)scale * x * g);
}
"""


SIGMOID_HEADER = """
TH_API void THNN_(Sig_updateOutput)(
    THNNState *state, THTensor *input,
    THTensor *output);  // [OUT] [LIKE input] result
TH_API void THNN_(Sig_updateGradInput)(
    THNNState *state,
    THTensor *input,  // [OPTIONAL] unused
    THTensor *gradOutput,
    THTensor *gradInput,  // [OUT] [LIKE gradOutput] gradient
    THTensor *output);
"""
SIGMOID_KERNEL = """
#include "pointwise.h"

void THNN_(Sig_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  THNN_MAP2(y, output, x, input, th_sigmoid(x));
}

void THNN_(Sig_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                THTensor *output)
{
  THNN_RESIZE_LIKE(gradInput, output);
  THNN_RETURN_IF_META(state);
  const real factor = input ? 1000 : 1;
  THNN_MAP3(dx, gradInput, y, output, g, gradOutput, factor * g * y * (1 - y));
}
"""


@pytest.mark.parametrize("references", [{}, {"Sig": torch.sigmoid}])
def test_an_input_that_a_backward_alone_may_lack(write: Write, references: dict[str, Any]) -> None:
    """The backward gets None for it, also from a class with a reference and from its operator."""
    cls = thnn.load(write(SIGMOID_HEADER, SIGMOID_KERNEL, "Sig"), references=references).SigFunction
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(cls.apply, x)
    gradient = torch.func.vmap(torch.func.grad(lambda x: cls.apply(x).sum()))(x.detach())
    s = x.detach().sigmoid()
    torch.testing.assert_close(gradient, s * (1 - s))


def test_a_kernel_that_adds_to_gradients_clears_them_first(write: Write) -> None:
    kernel = PRODUCT_KERNEL.replace(
        "accreal scale)\n{\n  THNN_RETURN_IF_META(state);", "accreal scale)\n{\n  if (state->meta) return;"
    )
    assert kernel != PRODUCT_KERNEL
    loaded = thnn.load(write(PRODUCT_HEADER, kernel, "Product"))
    x, w = torch.ones(3), torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Product_accGradParameters: .* THNN_RETURN_IF_META"):
        torch.autograd.grad(loaded.ProductFunction.apply(x, w).sum(), w)
    per_sample = torch.vmap(torch.func.grad(lambda w, x: loaded.ProductFunction.apply(x, w).sum()))
    with pytest.raises(RuntimeError, match=r"Product_accGradParameters: .* THNN_RETURN_IF_META"):
        per_sample(torch.ones(2, 3), torch.ones(2, 3))  # through the operator


ONES_HEADER = """
TH_API void THNN_(Ones_updateOutput)(THNNState *state, THIndexTensor *input, THTensor *output);
"""

ONES_KERNEL = """
#include "runtime/kernel.h"
void THNN_(Ones_updateOutput)(THNNState *state, THIndexTensor *input, THTensor *output)
{
  THNN_RESIZE_TO(output, THNN_CONTIGUOUS, input->size[0]);
  THNN_RETURN_IF_META(state);
  for (int64_t i = 0; i < output->size[0]; i++) TH_DATA(output)[i * output->stride[0]] = 1;
}
"""


def test_results_whose_type_no_argument_tells(write: Write) -> None:
    loaded = thnn.load(write(ONES_HEADER, ONES_KERNEL, "Ones"))
    with pytest.raises(
        TypeError, match=r"Ones_updateOutput: expected a tensor of floating-point numbers among"
    ):
        loaded.OnesFunction.apply(torch.arange(3))
    output = torch.empty(0)
    loaded.type2backend["torch.FloatTensor"].Ones_updateOutput(None, torch.arange(3), output)
    assert output.tolist() == [1, 1, 1]


SHIFT_HEADER = """
TH_API void THNN_(Shift_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                      THTensor *offset); // [INPUT]
TH_API void THNN_(Shift_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);
"""

SHIFT_KERNEL = """
#include "pointwise.h"
void THNN_(Shift_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *offset)
{
  THNN_CHECK_SAME_SIZE(input, offset);
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  THNN_MAP3(y, output, x, input, o, offset, x * x * x + o);
}
POINTWISE_GRAD_INPUT(Shift, (), FROM_INPUT, 3 * x * x * g)
"""

SQUARE_HEADER = """
TH_API void THNN_(Square_updateOutput)(THNNState *state, THTensor *input,
                                       THTensor *target, // [TARGET]
                                       THTensor *output, bool sizeAverage);
TH_API void THNN_(Square_updateGradInput)(THNNState *state, THTensor *input,
                                          THTensor *target, // [TARGET]
                                          THTensor *gradInput, bool sizeAverage);
"""

SQUARE_KERNEL = """
#include "pointwise.h"
CRITERION(Square, (), (x - t) * (x - t), 2 * (x - t) * norm)
"""

# Saved tensors, a buffer, in-place calls, an optional tensor, defaults, a third function and a criterion in one header.
ALL_HEADER = """
#ifndef ALL_H
#define ALL_H
/* Gate: input where it is positive, slope * input elsewhere. */
TH_API void THNN_(Gate_updateOutput)(
    THNNState *state,
    THTensor *input,
    THTensor *output,       // [OUT] [LIKE input]
    THIndexTensor *mask,    // [SAVED] 1 where input is positive
    THTensor *scratch,      // [BUFFER]
    accreal slope,          // [DEFAULT 0.5]
    bool inplace);          // [DEFAULT false]
TH_API void THNN_(Gate_updateGradInput)(
    THNNState *state,
    THTensor *input,
    THTensor *gradOutput,
    THTensor *gradInput,    // [OUT] [LIKE input]
    THIndexTensor *mask,    // [SAVED]
    accreal slope,
    bool inplace);
/* The number of positive elements. */
TH_API void THNN_(Gate_count)(
    THNNState *state,
    THTensor *input,
    THTensor *result);      // [OUT]

/* Distance: the sum of |input - target|, each times its weight. */
TH_API void THNN_(Distance_updateOutput)(
    THNNState *state,
    THTensor *input,
    THTensor *target,       // [TARGET]
    THTensor *output,       // [OUT]
    bool sizeAverage,       // [DEFAULT true]
    THTensor *weights);     // [OPTIONAL]
TH_API void THNN_(Distance_updateGradInput)(
    THNNState *state,
    THTensor *input,
    THTensor *target,       // [TARGET]
    THTensor *gradInput,    // [OUT] [LIKE input]
    bool sizeAverage,
    THTensor *weights);     // [OPTIONAL]
#endif
"""

GATE_KERNEL = """
static int sign(real x) { return x > 0; }
void THNN_(Gate_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THIndexTensor *mask,
                              THTensor *scratch, accreal slope, bool inplace)
{
  THNN_CHECK(THNNTensor_isContiguous(input), input, "expected a contiguous tensor");
  THNN_resize(state, "mask", mask, input->ndim, input->size, THNN_CONTIGUOUS);
  THNN_resize(state, "scratch", scratch, input->ndim, input->size, THNN_CONTIGUOUS);
  if (!inplace) THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  real *x = TH_DATA(input), *y = inplace ? x : TH_DATA(output), *s = TH_DATA(scratch);
  for (int64_t i = 0; i < THNNTensor_numel(input); i++) {
    s[i] = x[i] * (real)slope;
    ((int64_t *)mask->data)[i] = sign(x[i]);
    y[i] = sign(x[i]) ? x[i] : s[i];
  }
}
void THNN_(Gate_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 THIndexTensor *mask, accreal slope, bool inplace)
{
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  if (!inplace) THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_META(state);
  const int64_t stride = gradOutput->ndim == 1 ? gradOutput->stride[0] : 1;
  real *g = TH_DATA(gradOutput), *dx = inplace ? g : TH_DATA(gradInput);
  for (int64_t i = 0; i < THNNTensor_numel(input); i++)
    dx[i] = ((int64_t *)mask->data)[i] ? g[i * stride] : g[i * stride] * (real)slope;
}
void THNN_(Gate_count)(THNNState *state, THTensor *input, THTensor *result)
{
  THNN_RESIZE_TO(result, THNN_CONTIGUOUS, 1);
  THNN_RETURN_IF_META(state);
  *TH_DATA(result) = 0;
  for (int64_t i = 0; i < THNNTensor_numel(input); i++) *TH_DATA(result) += (real)sign(TH_DATA(input)[i]);
}
"""

# A static function of the same name as in the other kernel file.
DISTANCE_KERNEL = """
#include "modules/Distance.h"
#include "pointwise.h"
static inline real sign(real x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
CRITERION(Distance, (WEIGHTS), th_abs(x - t), sign(x - t) * norm)
"""


def test_everything_that_a_header_says(tmp_path: Path) -> None:
    (tmp_path / "all.h").write_text(ALL_HEADER)
    (tmp_path / "Gate.c").write_text(GATE_KERNEL)
    (tmp_path / "Distance.c").write_text(DISTANCE_KERNEL)
    loaded = thnn.load(tmp_path / "all.h", name="everything")
    assert loaded.sources == (tmp_path / "Gate.c", tmp_path / "Distance.c")
    assert loaded.library.name.startswith("everything-")
    x = leaf(6)
    assert gradcheck(loaded.GateFunction(), x)
    torch.testing.assert_close(loaded.GateFunction.apply(x, 0.1), torch.nn.functional.leaky_relu(x, 0.1))
    hidden = x * 1
    version = hidden._version
    y = loaded.GateFunction(inplace=True)(hidden)
    assert y.data_ptr() == hidden.data_ptr()
    assert hidden._version > version
    (g,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(g, torch.where(x > 0, 1.0, 0.5).double())
    count = torch.empty(0)
    loaded.type2backend["THNNFloatBackend"].Gate_count(0, torch.tensor([1.0, -1.0, 2.0]), count)
    assert count.item() == 2

    target, weights = torch.randn(6, dtype=torch.double), torch.rand(6, dtype=torch.double)
    criterion = loaded.DistanceFunction
    assert gradcheck(lambda t: criterion.apply(t, target, weights, False) * 3, x)
    torch.testing.assert_close(criterion.apply(x, target), (x - target).abs().mean())
    with pytest.raises(NotImplementedError, match="DistanceFunction can be differentiated once only"):
        torch.autograd.grad(criterion.apply(x, target), x, create_graph=True)
    torch.testing.assert_close(criterion(target, True)(x), (x - target).abs().mean().reshape(1))


def test_in_place_without_a_tag(write: Write) -> None:
    """A call in place overwrites input whether the header says [MODIFIED] or not, so it must not get a copy."""
    header = HEADER.replace("accreal gain", "bool inplace, accreal gain")
    own = thnn.load(write(header, KERNEL.replace("(SCALAR(gain))", "(INPLACE, SCALAR(gain))")))
    backend = own.type2backend["torch.FloatTensor"]
    x = torch.full((3,), 2.0)
    backend.Cube_updateOutput(0, x, torch.empty(0), True, 1.0)
    assert x.tolist() == [8, 8, 8]
    negative = torch.ones(3, dtype=torch.complex64).conj().imag
    with pytest.raises(TypeError, match="input: is a negative view"):
        backend.Cube_updateOutput(0, negative, torch.empty(0), True, 1.0)


def test_references_of_other_arguments(write: Write) -> None:
    for reference, why in (
        (lambda x, gain: x, "missing a required argument: 'x'"),
        (lambda input: input, "'gain'"),
    ):
        with pytest.raises(
            TypeError, match=r"^thnn\.load: references: Cube: expected a function of input, gain"
        ) as e:
            thnn.load(write(), references={"Cube": reference})
        assert why in str(e.value)
    for right in (cube, lambda **values: values["input"], torch.tanh):  # torch.tanh tells no signature
        assert thnn.load(write(), references={"Cube": right}).CubeFunction.has_second_derivatives


def test_references_without_a_tensor(write: Write) -> None:
    own = thnn.load(write(), references={"Cube": lambda input, gain: None})
    x = leaf(2)
    result = own.CubeFunction.apply(x).sum()
    with pytest.raises(TypeError, match=r"^CubeFunction: the reference: expected a tensor, got NoneType$"):
        torch.autograd.grad(result, x, create_graph=True)


def test_pickles_and_copies_of_objects(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects of a module that can be imported, such as a package, can be pickled; all objects can be copied."""
    own = thnn.load(write(), name="importable")
    function = own.CubeFunction(2.0)
    copies = [copy.copy(function), copy.deepcopy(function)]
    with pytest.raises(
        TypeError, match=r"^CubeFunction: cannot be pickled, .*python -m thnn new NAME --package"
    ):
        pickle.dumps(function)
    module = types.ModuleType("importable")
    module.__dict__["CubeFunction"] = own.CubeFunction
    monkeypatch.setitem(sys.modules, "importable", module)
    for twin in (*copies, pickle.loads(pickle.dumps(function))):
        assert type(twin) is own.CubeFunction
        assert twin is not function
        assert twin(torch.ones(1)).item() == 2


def test_open_library(write: Write, tmp_path: Path) -> None:
    header = write()
    path = thnn.build_library(header, tmp_path / "libcube.so", march="native")
    assert path == tmp_path / "libcube.so"
    with pytest.raises(ValueError, match=r"output: there is no folder .*missing"):
        thnn.build_library(header, tmp_path / "missing" / "libcube.so")
    opened = thnn.open_library(header, path, references={"Cube": cube})
    assert gradgradcheck(opened.CubeFunction(1.0), leaf(2))
    header.write_text(HEADER.replace("accreal gain", "double gain"))
    with pytest.raises(ImportError, match="built from another header"):
        thnn.open_library(header, path)
    with pytest.raises(ValueError, match="sanitize needs the kernel files"):
        opened.check(sanitize=True)


def test_clang(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = next((p for p in os.environ["PATH"].split(":") if Path(p, "clang").exists()), None)
    if clang is None:
        pytest.skip("no clang")
    monkeypatch.setenv("CC", "clang")
    assert gradcheck(thnn.load(write()).CubeFunction(1.0), leaf(3))
