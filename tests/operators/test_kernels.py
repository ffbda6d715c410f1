"""The operators of C functions, compared with the classes, which do not call them."""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from new_process import python
from torch import Tensor

import thnn
from thnn._functions.base import FunctionBase
from thnn._operators import calls
from thnn.testing.torch_support import call_of, representatives, samples_of


def operators_of(cls: type[FunctionBase]) -> Any:
    calls.define(cls)
    return cls._operators


def tensors(results: Any) -> Sequence[Tensor]:
    return results if isinstance(results, tuple) else (results,)


def assert_equal(found: Any, expected: Any) -> None:
    """The same bits in the same layout, where it matters: of more than one element."""
    assert len(tensors(found)) == len(tensors(expected))
    for a, b in zip(tensors(found), tensors(expected)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.stride() == b.stride() or a.numel() <= 1
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


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


# The kernels see the same layouts in the table of cases; here the code that passes tensors to them does.
FORMS = (as_float, with_gaps, channels_last, transposed)
CALLS = [
    *((name, torch.clone) for name in thnn.function_classes),
    *((cls.__name__, form) for cls in representatives().values() for form in FORMS),
]


@pytest.mark.parametrize(("name", "form"), CALLS, ids=lambda value: getattr(value, "__name__", value))
def test_results_are_those_of_the_class(name: str, form: Callable[[Tensor], Tensor]) -> None:
    cls = thnn.function_classes[name]
    o = operators_of(cls)
    for sample in samples_of(cls):
        values = [form(v) if isinstance(v, Tensor) else v for v in call_of(cls, sample).values]
        forward = o.module.forward
        variables = [a.variable if (a := forward.argument(n)) else n for n in cls._names]
        named = dict(zip(variables, values))
        torch.manual_seed(0)
        results = dict(
            zip(
                [*o.results, *(f"new {a.name}" for a in o.modified)],
                tensors(o.forward(*(named[n] for n in o.given))),
            )
        )
        given = {**named, **{a.name: named[a.name].clone() for a in o.modified if named[a.name] is not None}}
        leaves = {n: given[n].detach().requires_grad_() for n in o.differentiable if given[n] is not None}
        given.update(leaves, **{n: False for n in ("inplace",) if n in named})
        torch.manual_seed(0)
        expected = tensors(cls.apply(*given.values()))
        assert_equal(tuple(results[a.name] for a in o.outputs), expected)
        for statistics in o.modified if named.get("train", True) else ():
            assert_equal(results[f"new {statistics.name}"], given[statistics.name])
        if not o.backwards or not leaves:
            continue
        gradient = form(torch.rand_like(expected[0]))
        wanted = dict(zip(leaves, torch.autograd.grad(expected[0], (*leaves.values(),), gradient)))
        if not named.get("train", True):
            results.update(dict.fromkeys(o.optional))
        kept = [named[n] if n in named else results[n] for n in o.kept]
        for operator, kernel in zip(o.backwards, o.kernels):
            for of, found in zip(kernel.gradients.values(), tensors(operator(gradient, *kept))):
                if of in wanted:
                    assert_equal(found, wanted[of])


X, I = torch.randn(3, 4), torch.tensor([0, 1, 9])  # noqa: E741
ERRORS: dict[str, tuple[type[Exception], tuple[Any, ...]]] = {
    "ClassNLLCriterion": (IndexError, (X, I, None, True, -100)),
    "Linear": (TypeError, (X, torch.randn(2, 4, dtype=torch.float64), None)),
    "SpatialMaxPooling": (ValueError, (X[None], 2, 2, 2, 2, 7, 0, False)),
    "Tanh": (TypeError, (X.int(),)),
    "SpatialAveragePooling": (ValueError, (X[None], 2**40, 2, 2, 2, 0, 0, False, True)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_the_class(name: str) -> None:
    error, values = ERRORS[name]
    cls = thnn.function_classes[f"{name}Function"]
    with pytest.raises(error) as expected:
        cls.apply(*values)
    with pytest.raises(error) as found:
        operators_of(cls).forward(*values)
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
        message, *_ = str(found.value).split("\n\nWhile executing")  # of torch 2.9
        assert message == str(plain.value)


@pytest.mark.parametrize("factor", [float("inf"), float("nan"), 0.0, -2.0])
def test_gradient_factors(factor: float) -> None:
    """A factor that is not finite is left to Python."""
    (operator,) = operators_of(thnn.ClassNLLCriterionFunction).backwards
    x, target = X.log_softmax(1).requires_grad_(), torch.tensor([0, 1, 2])
    loss = thnn.ClassNLLCriterionFunction.apply(x, target)
    (expected,) = torch.autograd.grad(loss, x, torch.tensor(factor))
    assert_equal(
        operator(torch.tensor(factor), x.detach(), target, None, torch.tensor(3.0), True, -100), expected
    )


def test_running_statistics() -> None:
    """The operator changes copies, and only in training."""
    operator = operators_of(thnn.BatchNormalizationFunction).forward
    mean, var = torch.zeros(4), torch.ones(4)
    for train in (True, False):
        results = operator(X, None, None, mean, var, train, 0.1, 1e-5)
        assert torch.equal(mean, torch.zeros(4)) and torch.equal(var, torch.ones(4))
        assert [len(r) for r in results[1:]] == [4 * train] * 4
        if train:
            torch.testing.assert_close(results[3], 0.1 * X.mean(0))


def test_negative_and_conjugate_views() -> None:
    op = operators_of(thnn.TanhFunction).forward
    z = torch.randn(5, dtype=torch.complex64)
    assert z.conj().imag.is_neg()
    torch.testing.assert_close(op(z.conj().imag), z.conj().imag.tanh())


def resident() -> int:
    """The memory of the process in bytes, which falls again, unlike the maximum of getrusage."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
@pytest.mark.parametrize("fails", [False, True])
def test_memory_is_freed(fails: bool) -> None:
    op = operators_of(thnn.LinearFunction).forward
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
    op = operators_of(thnn.ClassNLLCriterionFunction).forward
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


@pytest.mark.slow
def test_the_benchmark() -> None:
    printed = python("-m", "tools.bench_compiled", "--backends", "aot_eager", "--rounds", "1")
    for mode in ("training step", "inference"):
        for library in ("thnn.nn", "torch.nn"):
            assert f"{mode}: {library} aot_eager" in printed
