"""Every function class inside torch's machinery, and the operators themselves."""

from __future__ import annotations

from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from new_process import python
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

import thnn
from thnn._functions.base import FunctionBase
from thnn._operators import calls, shapes
from thnn._operators.operators import Operators
from thnn.testing.torch_support import CHECKS, FACTS, call_of, kind_of, representatives, samples_of

NAMES = [*thnn.function_classes]
OF_KINDS = [cls.__name__ for cls in representatives().values()]

# Refused combinations: (check, class) -> a part of the message.
RANDOM = "use randomness='different'"
STATISTICS = "cannot update one tensor by every element"
REFUSED = {
    (check, name): reason
    for check in ("vmap", "vmap(grad)")
    for name, reason in {
        "RReLUFunction": RANDOM,
        "BatchNormalizationFunction": STATISTICS,
        "BatchNormalizationReLUFunction": STATISTICS,
        "BatchNormalizationAddFunction": STATISTICS,
    }.items()
}
# Checks that depend on the module: its schema, the sizes of its results, the tag or formula of its tangents. The other
# checks run for a class of each kind; the command torch-support runs all for every class.
OF_MODULES = ("opcheck", "export", "jvp")
# Static shapes are a special case of dynamic ones, which test_compiled checks.
TESTED = dict.fromkeys(
    (name, check)
    for check in CHECKS
    if check not in ("compile", "compile dynamic")
    for name in (NAMES if check in OF_MODULES else OF_KINDS)
) | dict.fromkeys((name, check) for check, name in REFUSED)


def out_of_place(cls: type[FunctionBase]) -> dict[str, Any]:
    return {"inplace": False} if "inplace" in cls._names else {}


def slow_unless_of_kinds(name: str, *others: str) -> Any:
    """The parameters of a test; `make quick` has the classes that stand for their kinds."""
    return pytest.param(name, *others, marks=[] if name in OF_KINDS else pytest.mark.slow)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "check"), [slow_unless_of_kinds(*pair) for pair in TESTED])
def test_function(name: str, check: str) -> None:
    cls = thnn.function_classes[name]
    call = call_of(cls, samples_of(cls)[0], **out_of_place(cls))
    if (check, name) in REFUSED:
        with pytest.raises(NotImplementedError, match=REFUSED[check, name]):
            CHECKS[check](call)
    else:
        CHECKS[check](call)


def test_every_fact_makes_a_kind() -> None:
    """A fact that held for no class, or for all, would be misspelt."""
    kinds = [kind_of(cls).split(", ") for cls in thnn.function_classes.values()]
    assert {kind[0] for kind in kinds} == {"linear", "bilinear", "constant", "formula"}
    for fact in FACTS:
        assert 0 < sum(fact in kind for kind in kinds) < len(kinds), fact


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [slow_unless_of_kinds(name) for name in NAMES])
def test_compiled(name: str) -> None:
    """As one graph, with all sizes dynamic."""
    cls = thnn.function_classes[name]
    CHECKS["compile dynamic"](call_of(cls, samples_of(cls)[0], **out_of_place(cls)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["Square", "Tanh", "LogSoftMax", "Linear", "SmoothL1", "BatchNormalization", "GRUFused"]
)
def test_forward_mode_over_forward_mode(name: str) -> None:
    w = torch.linspace(-1, 2, 12, dtype=torch.float64).sin().reshape(3, 4)
    x = torch.linspace(0.3, 1, 4, dtype=torch.float64)
    apply = getattr(thnn, f"{name}{'Criterion' * (name == 'SmoothL1')}Function").apply
    functions = {
        "Linear": lambda z: apply(w * z, w * z),
        "SmoothL1": lambda z: apply(w * z**3, w),
        "BatchNormalization": lambda z: apply(w * z**2, None, None, None, None, True, 0.1, 1e-5),
        "GRUFused": lambda z: apply(w[:1].repeat(1, 3) * z[0], w[1:2].repeat(1, 3), None, None, z[None]),
    }
    f = functions.get(name, lambda z: apply((w * z)[:2] ** 2))
    func = torch.func
    expected = func.jacfwd(func.jacrev(f))(x)
    assert expected.any()
    torch.testing.assert_close(func.jacfwd(func.jacfwd(f))(x), expected)
    torch.testing.assert_close(func.jacrev(func.jacfwd(f))(x), expected)
    third = func.jvp(func.jacrev(func.jacrev(f)), (x,), (x,))[1]

    def second(z: Tensor) -> Any:
        return func.jvp(lambda y: func.jvp(f, (y,), (x,))[1], (z,), (x,))[1]

    torch.testing.assert_close(second(x), expected @ x @ x)
    torch.testing.assert_close(func.jvp(second, (x,), (x,))[1], third @ x @ x)
    with pytest.raises(NotImplementedError, match=f"{name}.*: forward mode over forward mode over"):
        func.jacfwd(func.jacfwd(func.vmap(f)))(x[None])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    ["ClassNLLCriterion", "SpatialClassNLLCriterion", "MultiLabelMarginCriterion", "SpatialCrossMapLRN",
     "SpatialMaxPooling", "GRUFused"],
)  # fmt: skip
def test_forward_mode_over_vmap(name: str) -> None:
    cls = thnn.function_classes[f"{name}Function"]
    call = call_of(cls, samples_of(cls)[0], **out_of_place(cls))
    x = tuple(torch.stack([p, p.cos()]) for p in call.primals)
    t = tuple(p.sin() for p in x)
    found = torch.func.jvp(torch.vmap(call.loss), x, t)[1]
    for k in range(2):
        one = torch.func.jvp(call.loss, tuple(p[k] for p in x), tuple(p[k] for p in t))[1]
        torch.testing.assert_close(found[k], one)


@pytest.mark.filterwarnings("ignore")
def test_forward_mode_over_vmap_of_batch_normalization() -> None:
    x = torch.linspace(-1, 5, 24, dtype=torch.float64).sin().reshape(2, 4, 3)

    def f(u: Tensor) -> Any:
        return thnn.BatchNormalizationFunction.apply(u, None, None, None, None, True, 0.1, 1e-5)

    found = torch.func.jvp(torch.vmap(f), (x,), (x.cos(),))[1]
    for k in range(2):
        torch.testing.assert_close(found[k], torch.func.jvp(f, (x[k],), (x[k].cos(),))[1])


def test_random_functions_under_vmap() -> None:
    x = torch.randn(3, 4)
    found = torch.vmap(lambda v: thnn.RReLUFunction.apply(v, 0.1, 0.3, True), randomness="different")(x)
    torch.testing.assert_close(found[x > 0], x[x > 0])
    assert bool(((found[x <= 0] / x[x <= 0]) > 0.09).all())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.needs_torch(
    "2.11", "torch.compile cannot trace the repr of an object, which torch.vmap asks for"
)
def test_vmap_in_compiled_code(capfd: pytest.CaptureFixture[str]) -> None:
    """By the rule of plain code, of which torch does not warn, and with its refusals."""

    def compiled(f: Any, **options: Any) -> Any:
        def mapped(x: Tensor) -> Any:
            return torch.vmap(f, **options)(x)

        torch.compiler.reset()
        return torch.compile(mapped, fullgraph=True, backend="aot_eager")

    x = torch.linspace(-2, 1, 24).reshape(2, 3, 4)
    torch.testing.assert_close(compiled(thnn.TanhFunction())(x), x.tanh())
    assert "batching rule" not in capfd.readouterr().err
    function = thnn.RReLUFunction(0.1, 0.3, True)
    with pytest.raises(Exception, match=RANDOM):
        compiled(function)(x)
    assert compiled(function, randomness="different")(x).shape == x.shape


def test_in_place_calls_write_the_input() -> None:
    x = torch.randn(5)
    graph = make_fx(lambda t: thnn.ThresholdFunction.apply(t, 0, 0, True) * 2)(x.clone())
    given = x.clone()
    torch.testing.assert_close(graph(given), 2 * x.relu())
    torch.testing.assert_close(given, x.relu())

    function = thnn.LeakyReLUFunction(0.1, True)

    def loss(t: Tensor) -> Tensor:
        return (function(t * 2) ** 2).sum()

    expected = torch.func.grad(lambda t: (torch.nn.functional.leaky_relu(t * 2, 0.1) ** 2).sum())(x)
    torch.testing.assert_close(torch.func.grad(loss)(x), expected)
    leaf = x.clone().requires_grad_()
    torch.compiler.reset()
    torch.compile(loss, fullgraph=True, backend="aot_eager")(leaf).backward()
    torch.testing.assert_close(leaf.grad, expected)


def test_in_place_calls_inside_autocast() -> None:
    x = torch.linspace(-1, 1, 5).bfloat16()

    def call(t: Tensor) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return thnn.ThresholdFunction.apply(t, 0, 0, True)

    torch.compiler.reset()
    for f in (call, torch.compile(call, fullgraph=True, backend="aot_eager"), make_fx(call)(x.clone())):
        given = x.clone()
        assert torch.equal(f(given), x.relu())
        assert torch.equal(given, x.relu())


def test_an_empty_batch_of_vmap() -> None:
    weight = torch.randn(4, 3)
    found = torch.vmap(thnn.LinearFunction.apply, (0, None))(torch.randn(0, 2, 3), weight)
    assert found.shape == (0, 2, 4)
    pool = thnn.SpatialMaxPoolingFunction(2, 2, 2, 2, 0, 0, return_indices=True)
    output, indices = torch.vmap(pool, 1)(torch.randn(1, 0, 3, 4, 6))
    assert output.shape == indices.shape == (0, 1, 3, 2, 3)
    assert (output.dtype, indices.dtype) == (torch.float32, torch.int64)
    gradient = torch.vmap(torch.func.grad(lambda x: thnn.TanhFunction.apply(x).sum()))(torch.randn(0, 3))
    assert gradient.shape == (0, 3)


def test_subclasses_without_memory() -> None:
    class Wrapper(Tensor):
        @staticmethod
        def __new__(cls: Any, size: int) -> Any:
            return Tensor._make_wrapper_subclass(cls, (size,))

        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return torch.zeros(3)

    with pytest.raises(TypeError, match="Wrapper is a tensor subclass without memory of its own"):
        thnn.TanhFunction.apply(Wrapper(3))


def test_running_statistics_are_updated() -> None:
    x = torch.randn(4, 3)
    mean, var = torch.zeros(3), torch.ones(3)

    def normalize(x: Tensor, mean: Tensor, var: Tensor) -> Any:
        return thnn.BatchNormalizationFunction(mean, var, True, 0.5, 1e-5)(x, None, None)

    others = mean.clone(), var.clone()
    torch.testing.assert_close(make_fx(normalize)(x, mean, var)(x, *others), normalize(x, mean, var))
    torch.testing.assert_close(others[0], x.mean(0) / 2)
    torch.testing.assert_close(others[1], (1 + x.var(0)) / 2)


def test_several_outputs_and_indices() -> None:
    x = torch.randn(1, 1, 4, 4)
    pool = thnn.SpatialMaxPoolingFunction(2, 2, 2, 2, 0, 0, False, return_indices=True)
    for ours, expected in zip(torch.vmap(pool)(x[None]), pool(x)):
        assert torch.equal(ours[0], expected)
    cells = [torch.randn(2, 12), torch.randn(2, 12), None, None, torch.randn(2, 3)]
    for ours, expected in zip(
        make_fx(thnn.LSTMFusedFunction.apply)(*cells)(*cells), thnn.LSTMFusedFunction.apply(*cells)
    ):
        assert torch.equal(ours, expected)


def test_backward_inside_a_recorder() -> None:
    """The backward of a node that was made outside is recorded, too."""
    for cls, values in (
        (thnn.TanhFunction, (torch.randn(3),)),
        (thnn.LinearFunction, (torch.randn(2, 3), torch.randn(4, 3))),
        (thnn.BatchNormalizationFunction, (torch.randn(4, 3), None, None, None, None, True, 0.1, 1e-5)),
        (thnn.GRUFusedFunction, (torch.randn(2, 9), torch.randn(2, 9), None, None, torch.randn(2, 3))),
    ):
        x = values[0].clone().requires_grad_()
        y = cls.apply(x, *values[1:])

        gradient = partial(_gradient, x, y)
        recorded = make_fx(gradient)(torch.randn_like(y))
        g = torch.randn_like(y)
        torch.testing.assert_close(recorded(g), gradient(g))


def _gradient(x: Tensor, y: Tensor, g: Tensor) -> Tensor:
    return torch.autograd.grad(y, x, g, retain_graph=True)[0]


# torch's own warning at the first use of forward mode.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_refusals() -> None:
    x = torch.randn(3)
    with pytest.raises(NotImplementedError, match=r"torch\.func\.functionalize"):
        torch.func.functionalize(thnn.TanhFunction.apply)(x)
    with pytest.raises(NotImplementedError, match="the gradient by target"):
        torch.func.grad(lambda t: thnn.MSECriterionFunction.apply(x, t))(x)
    with pytest.raises(NotImplementedError, match="derivative by target"):
        torch.func.jvp(lambda t: thnn.MSECriterionFunction.apply(x, t), (x,), (x,))

    class Overridden(thnn.TanhFunction):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

    with pytest.raises(NotImplementedError, match="Overridden: overrides forward"):
        torch.vmap(Overridden.apply)(x)
    with pytest.raises(NotImplementedError, match="Tanh_updateOutput: cannot be recorded by make_fx"):
        make_fx(lambda t: thnn.type2backend[t.type()].Tanh_updateOutput(0, t, torch.empty_like(t)))(x)


def test_errors_are_those_of_the_function() -> None:
    x = torch.randn(3)
    for call in (torch.vmap, lambda f: make_fx(f, tracing_mode="fake")):
        with pytest.raises(ValueError, match="SpatialMaxPooling_updateOutput: input"):
            call(thnn.SpatialMaxPoolingFunction(2, 2, 2, 2, 0, 0))(x)
    with pytest.raises(TypeError, match="kW: expected an integer, got str"):
        make_fx(lambda t: thnn.SpatialMaxPoolingFunction.apply(t, "2", 2, 2, 2, 0, 0))(
            torch.randn(1, 1, 4, 4)
        )


@pytest.mark.parametrize("setting", [2.0, "2", None, torch.tensor(2)])
def test_errors_for_settings_of_wrong_types(setting: Any) -> None:
    def pool(t: Tensor) -> Any:
        return thnn.SpatialMaxPoolingFunction.apply(t, setting, 2, 2, 2, 0, 0)

    x = torch.randn(2, 1, 4, 4)
    with pytest.raises(TypeError, match="kW: expected") as plain:
        pool(x)
    for f in (torch.vmap(pool), make_fx(pool)):
        with pytest.raises(TypeError) as found:
            f(x)
        assert str(found.value) == str(plain.value)


def test_symbolic_sizes_follow_the_formula_of_the_function() -> None:
    """A size of an output is an expression, not a constant, through several layers."""
    x = torch.randn(2, 3, 17, 23)

    def network(x: Tensor) -> Tensor:
        y = thnn.SpatialConvolutionMMFunction.apply(x, torch.ones(4, 3, 3, 3), None, 3, 3, 2, 2, 1, 1)
        return thnn.SpatialMaxPoolingFunction.apply(y, 2, 2, 2, 2, 0, 0, True)

    graph = make_fx(network, tracing_mode="symbolic")(x)
    for size in ((5, 3, 40, 9), (1, 3, 12, 33)):
        other = torch.randn(size)
        torch.testing.assert_close(graph(other), network(other))
    node = next(n for n in graph.graph.nodes if "SpatialMaxPooling" in str(n.target))
    output = node.meta["val"][0]
    assert not any(shapes._is_symbolic(n) for n in output.shape[1:2])
    assert all(shapes._is_symbolic(output.shape[d]) for d in (0, 2, 3))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_nothing_is_compiled_again_for_other_values_of_settings(backend: str) -> None:
    """Sizes among the settings stay open, in the gradient as well."""
    torch.compiler.reset()

    def resample(x: Tensor) -> Any:
        height, width = x.shape[2:]
        y = thnn.SpatialUpSamplingBilinearFunction.apply(x, 2 * height, width + 3)
        return thnn.SpatialAdaptiveAveragePoolingFunction.apply(y, width // 2, height)

    compiled = torch.compile(resample, fullgraph=True, dynamic=True, backend=backend)
    for k, size in enumerate(((2, 3, 9, 8), (4, 3, 6, 11), (3, 3, 21, 16))):
        with torch._dynamo.config.patch(error_on_recompile=k > 0):
            x, peer = (torch.linspace(0, 9, 12096)[: prod(size)].reshape(size).sin() for _ in range(2))
            outputs = [f(t.requires_grad_()) for f, t in ((compiled, x), (resample, peer))]
            torch.testing.assert_close(*outputs)
            for output in outputs:
                output.square().sum().backward()
            torch.testing.assert_close(x.grad, peer.grad)


def test_nothing_is_compiled_again_for_another_batch_size() -> None:
    torch.compiler.reset()
    w = torch.randn(4, 3, 3, 3)

    def network(x: Tensor) -> Tensor:
        y = thnn.SpatialConvolutionMMFunction.apply(x, w, None, 3, 3, 1, 1, 1, 1)
        y = thnn.SpatialMaxPoolingFunction.apply(y, 2, 2, 2, 2, 0, 0)
        return thnn.LogSoftMaxFunction.apply(y.flatten(1))

    compiled = torch.compile(network, fullgraph=True, dynamic=True, backend="aot_eager")
    with torch._dynamo.config.patch(error_on_recompile=True):
        for n in (5, 7, 12):
            x = torch.randn(n, 3, 8, 8)
            torch.testing.assert_close(compiled(x), network(x))


@pytest.mark.slow
@pytest.mark.needs_torch("2.9", "objects of a class that compiled code makes")
def test_a_class_is_defined_while_torch_compiles() -> None:
    code = (
        "import torch, thnn\n"
        "f = lambda x: thnn.SqrtFunction.apply(thnn.TanhFunction()(x.abs()), 1e-3)\n"
        "x = torch.randn(3)\n"
        "assert torch.equal(torch.compile(f, fullgraph=True, backend='aot_eager')(x), f(x))\n"
    )
    python("-c", code)


@pytest.mark.slow
def test_threads_define_a_class_once() -> None:
    code = (
        "import threading, torch, thnn\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "barrier, x = threading.Barrier(8), torch.randn(2, 3)\n"
        "def call(cls):\n"
        "    barrier.wait()\n"
        "    return torch.vmap(cls())(x)\n"
        "for cls in (thnn.TanhFunction, thnn.SigmoidFunction, thnn.SquareFunction):\n"
        "    with ThreadPoolExecutor(8) as pool:\n"
        "        for found in pool.map(call, [cls] * 8):\n"
        "            assert torch.equal(found, cls()(x))\n"
    )
    python("-c", code)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_programs_refuse_the_gradient_by_a_constant() -> None:
    """Also if the tensor required none in the trace."""

    class Loss(torch.nn.Module):
        def forward(self, x: Tensor, target: Tensor) -> Tensor:
            return thnn.MSECriterionFunction.apply(x, target)  # type: ignore[no-any-return]

    x, target = torch.randn(2, 3).requires_grad_(), torch.randn(2, 3)
    for program in (
        torch.export.export(Loss(), (x, target)).module(),
        torch.jit.trace(Loss(), (x, target)),
        partial(torch.ops.thnn.MSECriterion, sizeAverage=True),
    ):
        program(x, target).backward()
        with pytest.raises(
            (NotImplementedError, RuntimeError), match="the gradient by target is not implemented"
        ):
            program(x, target.clone().requires_grad_())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_a_saved_program_is_loaded_by_another_process(tmp_path: Any) -> None:
    class Network(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return thnn.TanhFunction.apply(x)  # type: ignore[no-any-return]

    x = torch.randn(3)
    exported, traced = tmp_path / "exported.pt2", tmp_path / "traced.pt"
    torch.export.save(torch.export.export(Network(), (x,)), exported)
    torch.jit.trace(Network(), x).save(traced)
    code = (
        "import sys, torch, thnn\n"
        "thnn.register_operators()\n"
        "x = torch.ones(3)\n"
        "for f in (torch.export.load(sys.argv[1]).module(), torch.jit.load(sys.argv[2])):\n"
        "    torch.testing.assert_close(f(x), x.tanh())\n"
    )
    python("-W", "ignore", "-c", code, exported, traced)


def test_operators_are_defined_once() -> None:
    class Renamed(thnn.TanhFunction):  # type: ignore[name-defined, misc]
        pass

    calls.define(thnn.TanhFunction)
    assert calls.define(Renamed)
    assert Renamed._operator is thnn.TanhFunction._operator
    x = torch.randn(3)
    torch.testing.assert_close(torch.ops.thnn.Tanh(x), x.tanh())


def test_the_documents_name_all_checks_and_what_they_refuse() -> None:
    text = " ".join((Path(__file__).parents[2] / "docs" / "torch.md").read_text(encoding="utf-8").split())
    assert f"included: {', '.join(CHECKS)}." in text
    refused = [name.removesuffix("Function") for check, name in REFUSED if check == "vmap"]
    assert set(REFUSED) == {
        (check, f"{name}Function") for check in ("vmap", "vmap(grad)") for name in refused
    }
    assert f"except {', '.join(refused[:-1])} and {refused[-1]} in vmap and vmap(grad)," in text


@pytest.mark.filterwarnings("ignore")
def test_scalars_of_numpy_in_compiled_code() -> None:
    """Objects convert them; a call with one is not compiled."""
    x, slope = torch.randn(3, 4), np.float32(0.5)
    function = thnn.LeakyReLUFunction(slope, np.int64(0))
    assert repr(function) == "LeakyReLUFunction(negval=0.5, inplace=False)"

    def by_object(x: Tensor) -> Any:
        return function(x)

    def by_class(x: Tensor) -> Any:
        return thnn.LeakyReLUFunction.apply(x + 1, slope, False) + 1

    for call, fullgraph in ((by_object, True), (by_class, False)):
        compiled = torch.compile(call, fullgraph=fullgraph, backend="aot_eager")
        torch.testing.assert_close(compiled(x), call(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.needs_torch("2.9", "the errors of torch.compile leave out the text of an exception")
def test_scalars_of_numpy_are_refused_where_code_is_one_graph() -> None:
    torch.compiler.reset()
    x, slope = torch.randn(3, 4), np.float32(0.5)

    def by_class(x: Tensor) -> Any:
        return thnn.LeakyReLUFunction.apply(x, slope, False)

    def by_function(x: Tensor) -> Any:
        return thnn.nn.functional.leaky_relu(x, slope)

    for call in (by_class, by_function, thnn.nn.LeakyReLU(slope)):
        with pytest.raises(Exception, match=r"LeakyReLUFunction: negval: torch\.compile needs a bool"):
            torch.compile(call, fullgraph=True, backend="aot_eager")(x)


def test_definitions_that_fail_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no rule for vmap")

    with monkeypatch.context() as patch:
        patch.setattr(torch.library, "register_vmap", fail)
        with pytest.raises(RuntimeError, match="no rule for vmap"):
            Operators(thnn.TanhFunction, "thnn_repeated")
    assert not hasattr(torch.ops.thnn_repeated, "Tanh_updateOutput")
    made = Operators(thnn.TanhFunction, "thnn_repeated")
    x = torch.randn(3)
    torch.testing.assert_close(made.operator(x), x.tanh())


@pytest.mark.filterwarnings("ignore")
def test_tangents_where_the_backward_is_not_the_transpose() -> None:
    """Rows that the gradient leaves out or weights, and positions that several elements share."""
    F = thnn.nn.functional
    rows, places = torch.tensor([0, 1, 1]), torch.tensor([[[0, 0, 3]]])
    table, values = torch.randn(3, 3, dtype=torch.float64), torch.randn(1, 1, 3, dtype=torch.float64)
    functions: list[tuple[Any, Tensor]] = [
        (lambda w: F.embedding(rows, w, padding_idx=0), table),
        (lambda w: F.embedding(rows, w, scale_grad_by_freq=True), table),
        (lambda w: F.embedding_bag(rows[None], w, mode="sum", scale_grad_by_freq=True), table),
        (lambda w: F.embedding_bag(rows[None], w, mode="max"), table),
        (lambda z: F.max_unpool1d(z, places, 2), values),
    ]
    for f, x in functions:
        t = torch.randn_like(x)
        found = torch.func.jvp(f, (x,), (t,))[1]
        torch.testing.assert_close(found, (f(x + 1e-6 * t) - f(x - 1e-6 * t)) / 2e-6)
        twice = torch.func.jvp(lambda y, f=f, t=t: torch.func.jvp(f, (y,), (t,))[1], (x,), (t,))[1]
        assert not twice.any()
