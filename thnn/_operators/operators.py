"""The operators of a module: ``thnn::X`` and, without derivatives, one per C function: ``thnn::X_updateOutput``, ...

A program sees ``thnn::X`` (torch.export keeps it, so that an exported program can be trained); a compiler sees the
operators of the C functions, into which ``thnn::X`` decomposes. Operators change none of their arguments: for in-place
calls and running statistics the caller copies the results. The definitions take about a millisecond per class, so they
are made at the first use.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.arguments import cast_for_autocast, check_one_device
from thnn._binding.call import new_result
from thnn._binding.library import ALLOCATE
from thnn._header import Function
from thnn._operators import flops, shapes
from thnn._operators.differentiation import make_node
from thnn._operators.kernels import BackwardKernel, check_given, forward_kernel, packed
from thnn._operators.model import FunctionClass, OperatorModel
from thnn._operators.rules import rule_of
from thnn._torch import definitions

# Integers may be sizes of an input, which are symbolic where a tracer leaves them open.
_TYPES = {"bool": "bool", **dict.fromkeys(("int", "int64_t", "long", "THIndex_t"), "SymInt")}

_lock = threading.RLock()
_known: dict[tuple[str, str], Operators] = {}


def operators_of(cls: type[FunctionClass]) -> Operators:
    """The operators of a class; an earlier class with the same code and reference shares its operators.

    Two libraries whose files differ never share operators: the second one's namespace gets a number.
    """
    namespace = stem = cls._library.operator_namespace
    with _lock:
        for number in itertools.count(2):
            key = namespace, cls.module.name
            if key not in _known:
                _known[key] = cls._make_operators(namespace)
            found = _known[key]
            if found.library.path == cls._library.path and found.cls._reference is cls._reference:
                break
            namespace = f"{stem}_{number}"
    return found


class Operators(OperatorModel):
    """The operators of one class, and their definitions."""

    def __init__(self, cls: type[FunctionClass], namespace: str) -> None:
        super().__init__(cls)
        self.namespace = namespace
        with definitions(namespace) as self._definitions:
            self._define_all()

    # Hooks of the modules whose classes are written by hand.

    def _forward_kernel(self) -> Callable[..., Any]:
        """The kernel of the forward; its arguments are in the order of `given`."""
        return forward_kernel(self.cls.plan, self.library)

    def _make_node(self) -> Any:
        self.rule = rule_of(self)
        return make_node(self)

    def fake_results(self, values: Mapping[str, Any]) -> list[Any]:
        """Results of the forward without memory, None for absent ones."""
        forward, sources = self.cls.plan.forward
        found: dict[str, Any] = {}
        for argument in forward.after_state:
            name, source = argument.name, sources[argument.name]
            like = None if source.variable is None else values.get(source.variable)
            if source.letter == ".":
                found[name] = False if name == "inplace" else like
            elif source.letter == "g":
                is_absent = argument.is_optional and not values.get("train", True)
                found[name] = None if is_absent else ALLOCATE
            else:
                found[name] = new_result(argument, source.letter, like)
        row = [*found.values()]
        unknown = any(value is ALLOCATE for value in row)
        if unknown or not any(
            isinstance(n, torch.SymInt) for v in row if isinstance(v, Tensor) for n in v.shape
        ):
            # Even if all sizes are known, so that the function can raise its errors.
            allocated = shapes.outputs(self.library.bind(forward), row)
            for position, output in allocated.items():
                found[forward.after_state[position].name] = output.allocate(values[self.tensors[0].name])
        return [found[name] for name in self.results]

    # Definitions

    def _define_all(self) -> None:
        arguments = [
            *(f"{'Tensor?' if a.is_optional else 'Tensor'} {a.variable}" for a in self.tensors),
            *(f"{_TYPES.get(a.type, 'float')} {a.variable}" for a in self.scalars),
            *(f"Generator? {a.variable}" for a in self.generators),
        ]
        count = len(self.results) + len(self.modified)
        name = self.module.name
        forward = self.module.forward
        assert forward is not None
        results = [*self.results, *(a.name for a in self.modified)]
        self.forward = self._define(
            forward, arguments, len(results), self._forward_kernel(), self._fake_forward
        )
        self.backwards: list[Any] = []
        types = {name: text.split(" ")[0] for name, text in zip(self.given, arguments)}
        for kernel in self.kernels:
            parts = ["Tensor gradOutput"]
            for argument in kernel.arguments:
                optional = "?" if argument in self.optional else ""
                parts.append(f"{types.get(argument, 'Tensor' + optional)} {argument}")
            self.backwards.append(
                self._define(
                    kernel.function,
                    parts,
                    len(kernel.gradients),
                    kernel.run,
                    self._fake_gradients(kernel),
                    scaled=self.module.is_criterion,
                )
            )
        self.result_count = count
        self.node = self._make_node()
        definition = f"{name}({', '.join(arguments)}) -> {_returns(count)}"
        self._definitions.define(definition, tags=self._tags())
        self._definitions.impl(name, self._composite, "CompositeImplicitAutograd")
        qualified = f"{self.namespace}::{name}"
        for device in ("cpu", "cuda"):
            casting = functools.partial(self._in_autocast, device)
            self._definitions.impl(name, casting, f"Autocast{device.upper()}", with_keyset=True)
        self.operator = getattr(getattr(torch.ops, self.namespace), name).default
        # For torch.vmap in compiled code, which calls the operator; elsewhere torch.vmap meets `node`.
        rule = self._one_by_one(self.operator, forward.name)
        torch.library.register_vmap(qualified, rule, lib=self._definitions)
        flops.register(self)

    def _in_autocast(self, device: str, _keyset: Any, *values: Any) -> Any:
        """Casts tensors of float16 and bfloat16 to float32 if the C function does not take them with the others, as
        classes do."""
        given = [
            (a, v) for a, v in zip(self.tensors, values) if isinstance(v, Tensor) and v.is_floating_point()
        ]
        types = {v.dtype for a, v in given if not a.is_mixed}
        mixed = {v.dtype for a, v in given if a.is_mixed}
        if len(types) > 1 or not mixed <= {*types, torch.float32}:
            values = cast_for_autocast(values) or values
        with torch.autocast(device, enabled=False):
            return self.operator(*values)

    def _tags(self) -> tuple[torch.Tag, ...]:
        return (torch.Tag.nondeterministic_seeded,) if self.is_random else ()

    def _define(
        self,
        function: Function,
        arguments: Sequence[str],
        result_count: int,
        kernel: Callable[..., Any],
        fake: Callable[..., Any],
        scaled: bool = False,
    ) -> Any:
        name = function.name
        tags = self._tags() if function.phase == "updateOutput" else ()
        self._definitions.define(f"{name}({', '.join(arguments)}) -> {_returns(result_count)}", tags=tags)
        for device in ("CPU", "CUDA"):  # the binding chooses the library
            self._definitions.impl(name, kernel, device)
        qualified = f"{self.namespace}::{name}"
        fake = _checking(name, arguments, scaled, fake)
        torch.library.register_fake(qualified, fake, lib=self._definitions)
        operator = getattr(getattr(torch.ops, self.namespace), name).default
        torch.library.register_vmap(qualified, self._one_by_one(operator, name), lib=self._definitions)
        return operator

    def _fake_forward(self, *values: Any) -> Any:
        named = dict(zip(self.given, values))
        check_one_device(f"{self.module.name}_updateOutput", named)
        updated = [named[a.name] if named.get("train", True) else None for a in self.modified]
        copies = [None if t is None else torch.empty_like(t) for t in updated]
        return packed([*self.fake_results(named), *copies], values[0])

    def _fake_gradients(self, kernel: BackwardKernel) -> Callable[..., Any]:
        def fake(gradOutput: Tensor, *values: Any) -> Any:
            named = dict(zip(kernel.arguments, values))
            check_one_device(kernel.function.name, {"gradOutput": gradOutput, **named})
            sources = [named[name] for name in kernel.templates.values()]
            return packed([None if s is None else torch.empty_like(s) for s in sources], gradOutput)

        return fake

    def _composite(self, *values: Any) -> Any:
        # A program that was traced or exported may get tensors that require a gradient in any place.
        if torch.is_grad_enabled() and self.cls._wants_gradient(values):
            return self.node.apply(*values)
        return self.decomposed_forward(*values)

    def _one_by_one(self, operator: Any, name: str) -> Callable[..., Any]:
        """The rule of torch.vmap: a loop over the batch, right for every function."""
        is_forward = name.endswith("_updateOutput")

        def rule(info: Any, in_dims: Sequence[int | None], *values: Any) -> Any:
            if is_forward:
                self._check_vmap(info, in_dims, values)
            rows = [
                operator(*(v if d is None else v.select(d, i) for v, d in zip(values, in_dims)))
                for i in range(info.batch_size)
            ]
            if not rows:
                return _empty_batch(operator, in_dims, values)
            if isinstance(rows[0], Tensor):
                return torch.stack(rows), 0
            return tuple(torch.stack(column) for column in zip(*rows)), (0,) * len(rows[0])

        return rule

    def _check_vmap(self, info: Any, in_dims: Sequence[int | None], values: Sequence[Any]) -> None:
        named = dict(zip(self.given, zip(values, in_dims)))
        where = f"{self.module.name}_updateOutput: "
        if self.is_random and info.randomness != "different" and named.get("train", (True, None))[0]:
            raise NotImplementedError(
                f"{where}torch.vmap(randomness={info.randomness!r}) is not supported; use randomness='different'"
            )
        if not named.get("train", (True, None))[0]:
            return
        for argument in self.modified:
            value, dim = named[argument.name]
            if value is not None and dim is None:
                raise NotImplementedError(
                    f"{where}{argument.name}: torch.vmap cannot update one tensor by every element of its batch; pass"
                    " None or a batch of tensors, or evaluate"
                )


def _checking(
    name: str, arguments: Sequence[str], scaled: bool, function: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of the arguments of an operator with the checks of `check_given`."""
    required = [(k, a.removeprefix("Tensor ")) for k, a in enumerate(arguments) if a.startswith("Tensor ")]

    @functools.wraps(function)
    def checking(*values: Any) -> Any:
        check_given(name, scaled, **{argument: values[k] for k, argument in required})
        return function(*values)

    return checking


def _returns(count: int) -> str:
    return "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"


def _empty_batch(operator: Any, in_dims: Sequence[int | None], values: Sequence[Any]) -> Any:
    """The results of torch.vmap for no elements, whose sizes the kernel for tensors without memory finds."""
    given = list(values)
    for k, (value, dim) in enumerate(zip(values, in_dims)):
        if isinstance(value, Tensor):
            shape = [n for d, n in enumerate(value.shape) if d != dim]
            given[k] = torch.empty(shape, dtype=value.dtype, device="meta")
    device = next(v.device for v in values if isinstance(v, Tensor))
    results = operator(*given)
    if isinstance(results, Tensor):
        return torch.empty((0, *results.shape), dtype=results.dtype, device=device), 0
    empty = (torch.empty((0, *r.shape), dtype=r.dtype, device=device) for r in results)
    return tuple(empty), (0,) * len(results)
