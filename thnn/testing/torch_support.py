"""Checks of every function with torch's machinery, and a table of their results.

    python -m thnn torch-support [REGEX ...]

A check calls the class of a function inside one part of torch and compares the results, and the gradients if there are
any, with the results and gradients of plain calls. It raises AssertionError for a difference, NotImplementedError where
thnn refuses.
"""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from thnn._classes import function_classes
from thnn._functions.base import FunctionBase
from thnn._header import Function
from thnn._operators import calls
from thnn._operators.differentiation import pull_back
from thnn.testing.cases import arguments, cases
from thnn.testing.cases.model import SampleInput


class Call(NamedTuple):
    """A call of a class: all its arguments, and the positions (`moved`) of the tensors that can be differentiated."""

    cls: type[FunctionBase]
    values: tuple[Any, ...]
    moved: tuple[int, ...]

    @property
    def primals(self) -> tuple[Tensor, ...]:
        return tuple(self.values[k] for k in self.moved)

    def __call__(self, *tensors: Tensor) -> Any:
        """The outputs, with the differentiable tensors replaced. Tensors that a call updates are cloned."""
        values = [v.clone() if isinstance(v, Tensor) else v for v in self.values]
        for k, tensor in zip(self.moved, tensors):
            values[k] = tensor
        if "generator" in self.cls._names:
            torch.manual_seed(0)
        return self.cls.apply(*values)

    def loss(self, *tensors: Tensor) -> Tensor:
        """A weighted sum of the outputs: its gradients are different for each element."""
        outputs = self(*tensors)
        total = torch.zeros((), dtype=torch.float64)
        for y in outputs if isinstance(outputs, tuple) else (outputs,):
            weights = torch.linspace(0.5, 1.5, max(y.numel(), 1), dtype=y.dtype)[: y.numel()]
            total = total + (y * weights.reshape(y.shape)).sum()
        return total

    def leaves(self) -> tuple[Tensor, ...]:
        return tuple(t.clone().requires_grad_() for t in self.primals)

    def gradients(self) -> tuple[Tensor, ...]:
        leaves = self.leaves()
        return torch.autograd.grad(self.loss(*leaves), leaves)


def call_of(cls: type[FunctionBase], sample: SampleInput, **settings: Any) -> Call:
    """The call of a class with a sample of its case, in float64."""
    made: dict[str, Any] = {**arguments(cases()[cls.module.name], sample), **settings}
    values = cls._bind((), {n: made[n] for n in cls._names if n in made})
    moved = tuple(
        k
        for k, name in enumerate(cls._names[: cls._tensor_count])
        if isinstance(values[k], Tensor) and values[k].is_floating_point() and name not in _constant(cls)
    )
    return Call(cls, values, moved)


def _constant(cls: type[FunctionBase]) -> frozenset[str]:
    return frozenset(cls._constants)


def samples_of(cls: type[FunctionBase]) -> list[SampleInput]:
    """The samples of the case that have elements and gradients."""
    return [s for s in cases()[cls.module.name].samples if s.differentiable and s.name != "empty"]


def assert_same(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9, equal_nan=True)


class _Module(torch.nn.Module):
    """The call as a module, whose scalars are constants."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.cls = call.cls  # not its method `apply`, which torch 2.6 takes for that of another class
        self.count = call.cls._tensor_count
        self.scalars = call.values[self.count :]

    def forward(self, *tensors: Any) -> Any:
        return self.cls.apply(*tensors, *self.scalars)


def _tensors(call: Call) -> tuple[Any, ...]:
    values = call.values[: call.cls._tensor_count]
    return tuple(v.clone() if isinstance(v, Tensor) else v for v in values)


def _compiled(call: Call, dynamic: bool, backend: str = "aot_eager") -> None:
    """Outputs, gradients and updated tensors of the compiled call, as one graph."""
    torch.compiler.reset()
    module = _Module(call)
    found = []
    for function in (torch.compile(module, fullgraph=True, dynamic=dynamic, backend=backend), module):
        tensors, leaves = [*_tensors(call)], call.leaves()
        for k, leaf in zip(call.moved, leaves):
            tensors[k] = leaf
        torch.manual_seed(0)
        outputs = _outputs(function(*tensors))
        total: Any = sum((y * y).sum() for y in outputs)
        gradients = torch.autograd.grad(total, leaves) if leaves else ()
        found.append(([y.detach() for y in outputs], gradients, [t for t in tensors if t is not None]))
    assert_same(*found)


def _outputs(results: Any) -> tuple[Tensor, ...]:
    return results if isinstance(results, tuple) else (results,)


def compile_static(call: Call) -> None:
    _compiled(call, dynamic=False)


def compile_dynamic(call: Call) -> None:
    _compiled(call, dynamic=True)


def export(call: Call) -> None:
    """Non-strict export, save, load, and the call of the loaded program."""
    program = torch.export.export(_Module(call), _tensors(call), strict=False)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    torch.manual_seed(0)
    found = loaded(*_tensors(call))
    torch.manual_seed(0)
    assert_same(found, _Module(call)(*_tensors(call)))


def jit_trace(call: Call) -> None:
    traced = torch.jit.trace(_OneInput(call), call.values[0], check_trace=False)
    torch.manual_seed(0)
    assert_same(traced(call.values[0]), call(*call.primals))


def make_fx(call: Call) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx as trace

    graph = trace(call.__call__)(*call.primals)
    other = tuple(t * 0.75 for t in call.primals)
    torch.manual_seed(0)
    assert_same(graph(*other), call(*other))


def fake(call: Call) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    expected = _outputs(call(*call.primals))
    with FakeTensorMode() as mode:
        values = [mode.from_tensor(v) if isinstance(v, Tensor) else v for v in call.values]
        found = _outputs(call.cls.apply(*values))
    for a, b in zip(found, expected):
        assert a.shape == b.shape and a.stride() == b.stride() and a.dtype == b.dtype


def meta(call: Call) -> None:
    expected = _outputs(call(*call.primals))
    values = [v.to("meta") if isinstance(v, Tensor) else v for v in call.values]
    for a, b in zip(_outputs(call.cls.apply(*values)), expected):
        assert a.is_meta and a.shape == b.shape


def symbolic_trace(call: Call) -> None:
    graph = torch.fx.symbolic_trace(_OneInput(call))
    torch.manual_seed(0)
    assert_same(graph(call.values[0]), call(*call.primals))


class _OneInput(torch.nn.Module):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self.module = _Module(call)
        self.others = _tensors(call)[1:]

    def forward(self, input: Tensor) -> Any:
        return self.module(input, *self.others)


def checkpoint(call: Call) -> None:
    from torch.utils.checkpoint import checkpoint as run

    leaves = call.leaves()
    loss = run(call.loss, *leaves, use_reentrant=False)
    assert_same(torch.autograd.grad(loss, leaves), call.gradients())


def autocast(call: Call) -> None:
    """Inputs of bfloat16 are computed as outside of autocast, and with a tensor of float32 among them in float32."""
    single = [v.float() if isinstance(v, Tensor) and v.is_floating_point() else v for v in call.values]
    narrow = [
        v.bfloat16() if isinstance(v, Tensor) and v.is_floating_point() and k not in _running(call) else v
        for k, v in enumerate(single)
    ]
    changed = [k for k, v in enumerate(narrow) if v is not single[k]]
    expected = [y.dtype for y in _outputs(call.cls.apply(*narrow))]
    with torch.autocast("cpu", torch.bfloat16):
        assert [y.dtype for y in _outputs(call.cls.apply(*narrow))] == expected
        # Normalizations take vectors of float32.
        if len(changed) > 1 and not any(a.is_mixed for a in _forward(call.cls).arguments):
            mixed = [single[k] if k == changed[-1] else v for k, v in enumerate(narrow)]
            for y in _outputs(call.cls.apply(*mixed)):
                assert y.dtype in (torch.float32, torch.int64), y.dtype


def _running(call: Call) -> set[int]:
    return {call.cls._names.index(n) for n in call.cls._running}


def func_grad(call: Call) -> None:
    argnums = tuple(range(len(call.moved)))
    assert_same(torch.func.grad(call.loss, argnums)(*call.primals), call.gradients())


def func_vjp(call: Call) -> None:
    _, pull = pull_back(call.loss, *call.primals)
    assert_same(pull(torch.ones((), dtype=torch.float64)), call.gradients())


def _directions(call: Call) -> tuple[Tensor, ...]:
    return tuple(torch.linspace(-1, 1, t.numel(), dtype=t.dtype).reshape(t.shape) for t in call.primals)


def func_jvp(call: Call) -> None:
    directions = _directions(call)
    transformed: Any = torch.func.jvp(call.loss, call.primals, directions)
    expected = sum((g * d).sum() for g, d in zip(call.gradients(), directions))
    assert_same(transformed[1], expected)


def _batches(call: Call) -> tuple[Tensor, ...]:
    return tuple(torch.stack([t, t * 0.75, t * 0.5]) for t in call.primals)


def func_vmap(call: Call) -> None:
    batches = _batches(call)
    expected = [call(*one) for one in zip(*batches)]
    found: Any = torch.func.vmap(call.__call__)(*batches)
    for a, b in zip(_outputs(found), zip(*(_outputs(e) for e in expected))):
        assert_same(a, torch.stack(b))


def func_vmap_grad(call: Call) -> None:
    argnums = tuple(range(len(call.moved)))
    batches = _batches(call)
    found = torch.func.vmap(torch.func.grad(call.loss, argnums))(*batches)
    expected = [call._replace(values=_with(call, one)).gradients() for one in zip(*batches)]
    for a, b in zip(found, zip(*expected)):
        assert_same(a, torch.stack(b))


def _with(call: Call, tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    values = list(call.values)
    for k, tensor in zip(call.moved, tensors):
        values[k] = tensor
    return tuple(values)


def func_jacrev(call: Call) -> None:
    found = torch.func.jacrev(call.loss, tuple(range(len(call.moved))))(*call.primals)
    assert_same(found, call.gradients())


def func_hessian(call: Call) -> None:
    """The Hessian times a direction: forward over reverse, as torch.func.hessian computes it, against a second
    backward."""
    directions = _directions(call)
    argnums = tuple(range(len(call.moved)))
    found: Any = torch.func.jvp(torch.func.grad(call.loss, argnums), call.primals, directions)
    leaves = call.leaves()
    gradients = torch.autograd.grad(call.loss(*leaves), leaves, create_graph=True)
    total: Any = sum((g * d).sum() for g, d in zip(gradients, directions))
    expected = (
        torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
        if total.requires_grad
        else [torch.zeros_like(t) for t in leaves]
    )
    assert_same(tuple(found[1]), tuple(expected))
    # torch.func.hessian itself, whose columns torch.vmap computes.
    if "generator" not in call.cls._names and not call.cls._running:
        blocks: Any = torch.func.hessian(call.loss, argnums)(*call.primals)
        for row, product in zip(blocks, expected):
            found_product = sum(
                (b * d).sum([*range(b.dim() - d.dim(), b.dim())]) for b, d in zip(row, directions)
            )
            assert_same(found_product, product)


def opcheck(call: Call) -> None:
    """torch's own checks of an operator: schema, autograd registration, fake tensors, ahead-of-time tracing."""
    calls.define(call.cls)
    given = list(call.values)
    if call.cls._call.returns_indices:
        given.pop()
    if call.cls._call.inplace_at >= 0:
        del given[call.cls._call.inplace_at]
    for k, leaf in zip(call.moved, call.leaves()):
        given[k] = leaf
    tests = ("test_schema", "test_faketensor", "test_aot_dispatch_static")
    torch.library.opcheck(call.cls._operator, tuple(given), test_utils=tests)
    raw = tuple(v.detach() if isinstance(v, Tensor) else v for v in given)
    torch.library.opcheck(call.cls._operators.forward, raw, test_utils=("test_schema", "test_faketensor"))


CHECKS: Mapping[str, Callable[[Call], None]] = {
    "opcheck": opcheck,
    "compile": compile_static,
    "compile dynamic": compile_dynamic,
    "export": export,
    "jit.trace": jit_trace,
    "make_fx": make_fx,
    "FakeTensor": fake,
    "meta": meta,
    "symbolic_trace": symbolic_trace,
    "checkpoint": checkpoint,
    "autocast": autocast,
    "grad": func_grad,
    "vjp": func_vjp,
    "jvp": func_jvp,
    "vmap": func_vmap,
    "vmap(grad)": func_vmap_grad,
    "jacrev": func_jacrev,
    "hessian": func_hessian,
}


# The facts of a class that decide which parts of thnn/_functions and thnn/_operators serve it.
FACTS: Mapping[str, Callable[[type[FunctionBase]], bool]] = {
    "criterion": lambda cls: cls.module.is_criterion,
    "in place": lambda cls: "inplace" in cls._names,
    "running statistics": lambda cls: bool(_forward(cls).running),
    "random": lambda cls: any(a.role == "generator" for a in _forward(cls).arguments),
    "several outputs": lambda cls: len(_forward(cls).tensors("output")) > 1,
    "saved results": lambda cls: bool(_forward(cls).tensors("saved")),
    "indices given": lambda cls: any(
        a.type == "THIndexTensor*" for a in _forward(cls).tensors("input", "target", "parameter")
    ),
    "indices returned": lambda cls: "return_indices" in cls._names,
    "separate operators": lambda cls: (
        cls._make_operators.__func__ is not FunctionBase._make_operators.__func__  # type: ignore[attr-defined]
    ),
}


def _forward(cls: type[FunctionBase]) -> Function:
    assert cls.module.forward is not None
    return cls.module.forward


def kind_of(cls: type[FunctionBase]) -> str:
    """The kind of a class, such as 'formula, in place': its derivative rule and `FACTS`.

    The machinery treats all classes of a kind alike, so a check of the machinery needs one class of each.
    """
    rule = _forward(cls).derivative or "formula"
    return ", ".join([rule, *(name for name, holds in FACTS.items() if holds(cls))])


def representatives() -> dict[str, type[FunctionBase]]:
    """The first class of each kind, in the order of the header."""
    found: dict[str, type[FunctionBase]] = {}
    for cls in function_classes.values():
        found.setdefault(kind_of(cls), cls)
    return found


def run(check: Callable[[Call], None], call: Call) -> str:
    """'yes', 'no' where thnn raises NotImplementedError, or the first line of another error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(copy.copy(call))
    except NotImplementedError:
        return "no"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    return "yes"


def main(modules: Sequence[str] = ()) -> int:
    """Prints a table of the functions and checks; returns 1 if a check fails."""
    torch.set_num_threads(1)
    failed = 0
    print(f"| function | {' | '.join(CHECKS)} |")
    print("|---" * (len(CHECKS) + 1) + "|")
    for cls in function_classes.values():
        if modules and cls.module.name not in modules:
            continue
        settings = {"inplace": False} if "inplace" in cls._names else {}
        call = call_of(cls, samples_of(cls)[0], **settings)
        cells = [run(check, call) for check in CHECKS.values()]
        failed += sum(cell not in ("yes", "no") for cell in cells)
        print(f"| {cls.module.name} | {' | '.join(cells)} |", flush=True)
    return int(failed > 0)
