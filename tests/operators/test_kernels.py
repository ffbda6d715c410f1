"""The kernels in C of operators, compared with their kernels in Python."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import thnn
from thnn._functions.base import FunctionBase
from thnn._operators import calls
from thnn._torch import operator_functions
from thnn.testing.torch_support import call_of, samples_of

# Operators whose kernels are in Python: their functions draw random numbers, or their classes are written by hand.
IN_PYTHON = {"RReLU_updateOutput", "LSTMFused_updateOutput", "GRUFused_updateOutput"}


def is_in_c(name: str) -> bool:
    """True if torch's table of kernels has one in C for the operator on the CPU."""
    (line,) = [n for n in torch._C._dispatch_dump(name).splitlines() if n.startswith("CPU:")]
    return "operators.c" in line


def operators_of(cls: type[FunctionBase]) -> Any:
    calls.define(cls)
    return cls._operators


def kernels_of(cls: type[FunctionBase]) -> list[tuple[Any, Callable[..., Any]]]:
    """The operators of the C functions of a class with their kernels in Python."""
    o = operators_of(cls)
    return [(o.forward, o._forward), *((op, k.run) for op, k in zip(o.backwards, o.kernels))]


def tensors(results: Any) -> Sequence[Tensor]:
    return results if isinstance(results, tuple) else (results,)


def assert_equal(found: Any, expected: Any) -> None:
    """The same bits in the same layout, where it matters: of more than one element."""
    assert len(tensors(found)) == len(tensors(expected))
    for a, b in zip(tensors(found), tensors(expected)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.stride() == b.stride() or a.numel() <= 1
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def test_this_torch_has_the_functions() -> None:
    assert all(operator_functions())


def test_the_rule() -> None:
    thnn.register_operators()
    names = {
        op.name()
        for cls in thnn.function_classes.values()
        for op, _ in kernels_of(cls)
        if not is_in_c(op.name())
    }
    assert names == {f"thnn::{name}" for name in IN_PYTHON}


def with_gaps(t: Tensor) -> Tensor:
    wide = torch.full((*t.shape, 2), 7, dtype=t.dtype)
    wide[..., 0] = t
    return wide[..., 0]


def channels_last(t: Tensor) -> Tensor:
    return t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t


def as_float(t: Tensor) -> Tensor:
    return t.float() if t.is_floating_point() else t


def transposed(t: Tensor) -> Tensor:
    return t.mT.contiguous().mT if t.dim() >= 2 else t


FORMS = (torch.clone, as_float, with_gaps, channels_last, transposed)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("name", [*thnn.function_classes])
def test_results_are_those_of_python(name: str, form: Callable[[Tensor], Tensor]) -> None:
    cls = thnn.function_classes[name]
    o = operators_of(cls)
    for sample in samples_of(cls):
        call = call_of(cls, sample)
        named = {n: form(v) if isinstance(v, Tensor) else v for n, v in zip(cls._names, call.values)}
        given = [named[a.name] for a in (*o.tensors, *o.scalars)]
        if o.generators:
            continue
        expected = o._forward(*given)
        assert_equal(o.forward(*given), expected)
        results = dict(zip(o.results, tensors(expected)))
        by_variable = {a.variable: named[a.name] for a in (*o.tensors, *o.scalars)}
        if not named.get("train", True):
            results = {n: None if n in o.optional else r for n, r in results.items()}
        kept = [by_variable[n] if n in by_variable else results[n] for n in o.kept]
        gradient = form(torch.rand_like(tensors(expected)[0]))
        for (op, kernel), _ in zip(kernels_of(cls)[1:], o.kernels):
            assert_equal(op(gradient, *kept), kernel(gradient, *kept))


X, I = torch.randn(3, 4), torch.tensor([0, 1, 9])  # noqa: E741
ERRORS: dict[str, tuple[type[Exception], tuple[Any, ...]]] = {
    "ClassNLLCriterion": (IndexError, (X, I, None, True, -100)),
    "Linear": (TypeError, (X, torch.randn(2, 4, dtype=torch.float64), None)),
    "SpatialMaxPooling": (ValueError, (X[None], 2, 2, 2, 2, 7, 0, False)),
    "Tanh": (TypeError, (X.half(),)),
    "SpatialAveragePooling": (ValueError, (X[None], 2**40, 2, 2, 2, 0, 0, False, True)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_python(name: str) -> None:
    error, values = ERRORS[name]
    (op, kernel), *_ = kernels_of(thnn.function_classes[f"{name}Function"])
    assert is_in_c(op.name())
    with pytest.raises(error) as expected:
        kernel(*values)
    with pytest.raises(error) as found:
        op(*values)
    assert type(found.value) is type(expected.value)
    assert str(found.value) == str(expected.value)


ONE = torch.tensor(1.0)
WRONG_GRADIENTS: dict[str, tuple[type[Exception], str, tuple[Any, ...]]] = {
    "MSECriterion_updateGradInput": (
        ValueError,
        r"gradOutput: .*, got shape \(1,\)",
        (ONE[None], X, X, True),
    ),
    "AbsCriterion_updateGradInput": (ValueError, r"gradOutput: .*, got shape \(3, 4\)", (X, X, X, True)),
    "SpatialUpSamplingBilinear_updateGradInput": (TypeError, "input: expected a tensor", (X, None, 4, 4)),
    "Tanh_updateGradInput": (TypeError, "output: expected a tensor", (X, None)),
}


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("name", WRONG_GRADIENTS)
def test_wrong_tensors_of_gradients(name: str, device: str) -> None:
    thnn.register_operators()
    error, message, values = WRONG_GRADIENTS[name]
    given = [v.to(device) if isinstance(v, Tensor) else v for v in values]
    with pytest.raises(error, match=f"^{name}: {message}"):
        getattr(torch.ops.thnn, name)(*given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_errors_of_a_compiled_graph(backend: str) -> None:
    def loss(x: Tensor, target: Tensor) -> Any:
        return thnn.ClassNLLCriterionFunction.apply(thnn.LogSoftMaxFunction.apply(x), target)

    torch.compiler.reset()
    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    x = X.clone().requires_grad_()
    compiled(x, torch.tensor([0, 1, 2])).backward()
    for given in (X, x):
        with pytest.raises(IndexError, match="target: expected a class from 0 to 3") as plain:
            loss(given, I)
        with pytest.raises(IndexError) as found:
            compiled(given, I)
        assert str(found.value) == str(plain.value)


@pytest.mark.parametrize("factor", [float("inf"), float("nan"), 0.0, -2.0])
def test_gradient_factors(factor: float) -> None:
    """A factor that is not finite is left to Python."""
    _, (op, kernel) = kernels_of(thnn.ClassNLLCriterionFunction)
    x, target = X.log_softmax(1), torch.tensor([0, 1, 2])
    arguments = torch.tensor(factor), x, target, None, torch.tensor(3.0), True, -100
    assert_equal(op(*arguments), kernel(*arguments))


def test_running_statistics() -> None:
    """The operator changes copies, and only in training."""
    (op, kernel), _ = kernels_of(thnn.BatchNormalizationFunction)
    mean, var = torch.zeros(4), torch.ones(4)
    for train in (True, False):
        arguments = X, None, None, mean, var, train, 0.1, 1e-5
        assert_equal(op(*arguments), kernel(*arguments))
        assert torch.equal(mean, torch.zeros(4))
        assert op(*arguments)[3].shape == ((4,) if train else (0,))


def test_negative_and_conjugate_views() -> None:
    (op, _), *_ = kernels_of(thnn.TanhFunction)
    z = torch.randn(5, dtype=torch.complex64)
    assert z.conj().imag.is_neg()
    torch.testing.assert_close(op(z.conj().imag), z.conj().imag.tanh())


def resident() -> int:
    """The memory of the process in bytes, which falls again, unlike the maximum of getrusage."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
@pytest.mark.parametrize("fails", [False, True])
def test_memory_is_freed(fails: bool) -> None:
    (op, _), *_ = kernels_of(thnn.LinearFunction)
    weight, bias = torch.ones(1024, 1), torch.ones(1024)
    before = resident()
    for _ in range(100):  # 4 MB each
        given = torch.ones(1024, 1024)
        if fails:
            with pytest.raises(ValueError, match="weight"):
                op(given, weight, bias)
        else:
            op(given[:, :1], weight, bias)
    assert resident() - before < 100_000_000


def test_threads() -> None:
    """Threads that Python started, and calls with errors in all of them."""
    (op, _), *_ = kernels_of(thnn.ClassNLLCriterionFunction)
    expected = op(X, torch.tensor([0, 1, 2]), None, True, -100)[0]

    def call(k: int) -> Tensor:
        with pytest.raises(IndexError, match="at position 2"):
            op(X, I, None, True, -100)
        result: Tensor = op(X, torch.tensor([0, 1, 2]), None, True, -100)[0]
        return result

    with ThreadPoolExecutor(8) as pool:
        assert all(torch.equal(found, expected) for found in pool.map(call, range(100)))


def test_the_profile_has_the_functions_of_compiled_code() -> None:
    torch.compiler.reset()
    model = torch.compile(torch.nn.Sequential(thnn.nn.Linear(4, 3), thnn.nn.Tanh()), backend="aot_eager")
    model(X)
    found = {f.name for f in thnn.profile(model, X).functions}
    assert {"Linear_updateOutput", "Tanh_updateOutput", "Tanh_updateGradInput"} <= found


def test_a_torch_without_the_functions() -> None:
    code = (
        "import torch, thnn\n"
        "from thnn._binding.library import connect_operators\n"
        "assert connect_operators() and not connect_operators(False)\n"
        "f = torch.compile(lambda x: thnn.TanhFunction.apply(x), fullgraph=True, backend='aot_eager')\n"
        "x = torch.randn(3)\n"
        "assert torch.equal(f(x), thnn.TanhFunction.apply(x))\n"
        "lines = torch._C._dispatch_dump('thnn::Tanh_updateOutput').splitlines()\n"
        "assert 'operators.py' in next(n for n in lines if n.startswith('CPU:'))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=300).returncode == 0


def test_the_benchmark() -> None:
    command = "-m", "tools.bench_compiled", "--backends", "aot_eager", "--rounds", "1"
    printed = subprocess.run(
        [sys.executable, *command], check=True, timeout=600, capture_output=True, text=True
    )
    for mode in ("training step", "inference"):
        for library in ("thnn.nn", "torch.nn"):
            assert f"{mode}: {library} aot_eager" in printed.stdout
