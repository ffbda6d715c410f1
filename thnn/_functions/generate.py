"""One differentiable autograd class per module of the header that forms a class.

``_make_function_class`` and ``_make_function_class_criterion`` turn a module of the header model into a class. As
``dataclasses`` does, they write the Python source of its ``compute``, ``forward`` and ``backward``, since a loop
over arguments would cost more than small kernels do; ``cls.source`` is that source. Arguments of the C functions
are matched by name: a backward function gets the values of the forward's arguments of the same names. `base.py`
implements the calls of a class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thnn._binding.call import flag, results_of
from thnn._binding.context import GRADIENT, TRANSFORM, read_context
from thnn._binding.library import ALLOCATE, THNN, Library
from thnn._derivatives import rule as _derivatives
from thnn._derivatives.rule import Reference
from thnn._functions.base import Criterion, FunctionBase
from thnn._functions.documentation import docstring
from thnn._header import Function as HeaderFunction
from thnn._header import HeaderError, Module
from thnn._operators.source import Lines, backward_call, compile_source, letters_of, tuple_text
from thnn._plan import (
    Source,
    backward_sources,
    forward_sources,
    gradients_of,
    passed_to_backwards,
    read_by_backwards,
)
from thnn._torch import increment_version


def _make_function_class(
    module: Module, name: str | None = None, library: Library = THNN, reference: Reference | None = None
) -> type[FunctionBase]:
    """The autograd class of a module that maps inputs (and parameters) to an output.

    Raises HeaderError if the value of an argument of a backward function is not known, and for several outputs.
    """
    return _make(module, name or module.name + "Function", library, reference, criterion=False)


def _make_function_class_criterion(
    module: Module, name: str | None = None, library: Library = THNN, reference: Reference | None = None
) -> type[FunctionBase]:
    """The autograd class of a criterion: a loss of one element, whose backward multiplies gradInput by the incoming
    gradient.

    Besides the two forms of call of all classes, a criterion has that of PyTorch 0.1.1, target first:
    ``XCriterionFunction(target, *scalars, weight=None)(input)``, which returns a tensor of size (1).
    """
    return _make(module, name or module.name + "Function", library, reference, criterion=True)


def _make(
    module: Module, cls_name: str, library: Library, reference: Reference | None, criterion: bool
) -> type[FunctionBase]:
    plan = _plan(module, keeps_inputs=reference is not None)
    rule = _derivatives.rule(module, library, cls_name, reference)
    code = Lines()
    _write_compute(code, plan)
    code.add("", 0)
    _write_forward(code, plan)
    code.add("", 0)
    _write_backward(
        code, plan, _derivatives.values(rule, ["gradOutput", *plan.keep, *plan.variables]), criterion
    )
    source = "\n".join(code.lines) + "\n"
    namespace: dict[str, Any] = {
        "ALLOCATE": ALLOCATE,
        "flag": flag,
        "check_in_place": _derivatives.check_in_place,
        "check_overwritable": _derivatives.check_overwritable,
        "read_context": read_context,
        "GRADIENT": GRADIENT,
        "TRANSFORM": TRANSFORM,
        "rule": rule,
        "increment_version": increment_version,
        "updateOutput": library.bind(plan.forward),
        **_callers(plan, library, criterion),
    }
    compile_source(cls_name, source, namespace)
    members: dict[str, Any] = {
        "__module__": "thnn",
        "__doc__": docstring(module, plan.inputs, [*plan.scalars], plan.options),
        "module": module,
        "_library": library,
        "_rule": staticmethod(rule),
        "_reference": reference,
        "source": source,
        "has_second_derivatives": _derivatives.has_second_derivatives(module, library, reference),
        **{name: staticmethod(namespace[name]) for name in ("compute", "forward", "backward")},
        **_descriptions(plan),
    }
    bases = (Criterion,) if criterion else (FunctionBase,)
    cls: type[FunctionBase] = type(cls_name, bases, members)
    namespace["through_operators"] = cls._backward_through_operators
    return cls


# Modules whose backward computes the same gradient from the output in place of the input, under a condition on the
# scalars. The class saves the output then, as torch does for relu: mostly the next layer saves it, too, and the caller
# may change the input.
_OUTPUT_FOR_INPUT: Mapping[str, str] = {"Threshold": "threshold == val == 0"}


class _Plan(NamedTuple):
    """The names that the source of a class is written from."""

    module: Module
    forward: HeaderFunction
    inputs: list[str]  # the tensors that the forward reads
    scalars: dict[str, str]  # in THNN.h -> in Python
    output: str
    saved: list[str]
    options: list[str]  # arguments of Python alone, after the scalars
    keep: list[str]  # the tensors that autograd saves for the backward
    sizes: frozenset[str]  # those of `keep` of which the backward reads the size and type alone

    @property
    def variables(self) -> list[str]:
        return [*self.scalars.values()]

    @property
    def parameters(self) -> str:
        """The arguments of `apply`, as the text of a parameter list."""
        return ", ".join(self.inputs + self.variables + self.options)

    @property
    def has_inplace(self) -> bool:
        return "inplace" in self.scalars

    @property
    def returns_indices(self) -> bool:
        return "indices" in self.saved

    @property
    def result(self) -> str:
        """The expression of the result of `apply`."""
        if self.returns_indices:
            return f"({self.output}, indices) if return_indices else {self.output}"
        return self.output

    def gradients(self) -> list[str | None]:
        """The name of the gradient by each input, None for an input without one."""
        found = {of: name for f in self.module.backwards for name, of in gradients_of(f, self.inputs).items()}
        return [found.get(name) for name in self.inputs]


def _plan(module: Module, keeps_inputs: bool) -> _Plan:
    """The plan of a module's class; HeaderError if the module does not form one."""
    forward = module.forward
    if forward is None:
        raise ValueError(f"{module.name} has no updateOutput")
    inputs = [a.name for a in forward.tensors("input", "target", "parameter")]
    outputs = [a.name for a in forward.tensors("output")]
    if len(outputs) > 1:
        raise HeaderError(
            forward.location,
            f"{forward.name}: expected one output for a class, got {', '.join(outputs)}; the functions of a backend"
            " write all of them",
        )
    if not outputs:
        raise HeaderError(
            forward.location, f"{forward.name}: expected an output, a tensor with [OUT], got none"
        )
    for function in module.backwards:
        if not gradients_of(function, inputs):
            raise HeaderError(
                function.location,
                f"{function.name}: expected a gradient by an argument of {forward.name}, such as"
                f" {'gradWeight' if function.phase == 'accGradParameters' else 'gradInput'}, got none",
            )
    saved = [a.name for a in forward.tensors("saved")]
    options = [a.name for a in forward.arguments if a.role == "generator"]
    keep = read_by_backwards(module, keeps_inputs)
    return _Plan(
        module,
        forward,
        inputs,
        {a.name: a.variable for a in forward.scalars},
        outputs[0],
        saved,
        options + ["return_indices"] * ("indices" in saved),
        keep,
        # References and [DERIVATIVE] rules need the values; formulas need only the sizes.
        frozenset() if keeps_inputs or forward.derivative else frozenset(keep) - passed_to_backwards(module),
    )


def _write_output(code: Lines, plan: _Plan) -> None:
    """Writes the call of updateOutput."""
    caller = "(call_in_place if inplace else call_updateOutput)" if plan.has_inplace else ""
    code.call(plan.forward, forward_sources(plan.module), caller=caller)


def _write_compute(code: Lines, plan: _Plan) -> None:
    code.add(f"def compute({plan.parameters}):", 0)
    code.flags(plan.has_inplace, plan.returns_indices)
    if plan.has_inplace:
        code.add("if inplace:")
        code.add(f"check_overwritable(updateOutput.function, {plan.inputs[0]})", 2)
    _write_output(code, plan)
    if plan.has_inplace:
        code.add("if inplace:")
        code.add(f"increment_version(({plan.inputs[0]},))", 2)
    code.add(f"return {tuple_text([plan.result, plan.output, *plan.saved])}")


def _write_forward(code: Lines, plan: _Plan) -> None:
    """Writes the forward of torch.autograd.Function. It does not call `compute`, since a Python call costs more than
    the smallest kernels."""
    code.add(f"def forward(ctx, {plan.parameters}):", 0)
    code.flags(plan.has_inplace, plan.returns_indices)
    if plan.has_inplace:
        code.add("if inplace:")
        code.add(f"check_in_place(updateOutput.function, {plan.inputs[0]}, {tuple_text(plan.variables)})", 2)
    _write_output(code, plan)
    if plan.has_inplace:
        code.add("if inplace:")
        code.add(f"ctx.mark_dirty({plan.inputs[0]})", 2)
    if plan.returns_indices:
        code.add("if return_indices:")
        code.add("ctx.mark_non_differentiable(indices)", 2)
    # After an in-place forward the saved input holds the output, from which the backward gets the same gradient. A
    # tensor whose size alone is read is saved as `data`: the caller may change its elements before the backward.
    saved = [f"{name}.data" if name in plan.sizes else name for name in plan.keep]
    replaced = _OUTPUT_FOR_INPUT.get(plan.module.name)
    if replaced is not None:
        saved[0] = f"{plan.output} if {replaced} else {saved[0]}"
    code.add(f"ctx.save_for_backward({', '.join(saved)})")
    code.add(f"ctx.scalars = {tuple_text(plan.variables)}")
    code.add(f"return {plan.result}")


def _write_backward(code: Lines, plan: _Plan, of_rule: Sequence[str], criterion: bool) -> None:
    """Writes the backward of torch.autograd.Function; `of_rule` are the arguments of the rule."""
    code.add("def backward(ctx, gradOutput, *_):", 0)
    if plan.keep:
        code.add(f"{tuple_text(plan.keep)} = ctx.saved_tensors")
    if plan.scalars:
        code.add(f"{tuple_text(plan.variables)} = ctx.scalars")
    order = plan.gradients()
    rest = ["None"] * len(plan.variables + plan.options)
    code.add("context = read_context()")
    code.add("if context == TRANSFORM:")
    tensors, numbers = tuple_text(plan.keep), tuple_text([v for v in plan.variables if v != "inplace"])
    code.add(f"return through_operators(ctx.needs_input_grad, gradOutput, (*{tensors}, *{numbers}))", 2)
    code.add("if context == GRADIENT:")
    code.add(f"gradients = rule(ctx.needs_input_grad, {', '.join(f'{v}={v}' for v in of_rule)})", 2)
    code.add(f"return {tuple_text([f'gradients.get({g!r})' if g else 'None' for g in order] + rest)}", 2)
    produced = list(dict.fromkeys(filter(None, order)))
    # A backward with one gradient is called only if that gradient is needed.
    needs = {n: f"needs[{i}]" for i, n in enumerate(plan.inputs)} if len(produced) > 1 else {}
    if needs:
        code.add("needs = ctx.needs_input_grad")
        code.add(f"{' = '.join(produced)} = None")
    for function in plan.module.backwards:
        sources = backward_sources(plan.module, function, plan.inputs, plan.keep, plan.scalars)
        backward_call(code, function, sources, needs, criterion)
    code.add(f"return {tuple_text([g or 'None' for g in order] + rest)}")


def _callers(plan: _Plan, library: Library, criterion: bool) -> dict[str, Any]:
    """C functions by the names that the generated source uses."""
    sources, bound = forward_sources(plan.module), library.bind(plan.forward)
    callers = {"call_updateOutput": results_of(bound, letters_of(plan.forward, sources))}
    if plan.has_inplace:
        in_place = letters_of(plan.forward, {**sources, plan.output: Source("g")})
        callers["call_in_place"] = results_of(bound, in_place)
    for function in plan.module.backwards:
        letters = letters_of(
            function, backward_sources(plan.module, function, plan.inputs, plan.keep, plan.scalars)
        )
        callers[f"call_{function.phase}"] = results_of(library.bind(function), letters, scaled=criterion)
    return callers


def _descriptions(plan: _Plan) -> dict[str, Any]:
    """The attributes by which FunctionBase binds the arguments of a call."""
    forward = plan.forward
    return {
        "_names": (*plan.inputs, *plan.scalars, *plan.options),
        "_tensor_count": len(plan.inputs),
        "_optional": frozenset(a.name for a in forward.tensors() if a.is_optional),
        "_aliases": {
            **({"weight": "weights"} if "weights" in plan.inputs else {}),
            **{variable: name for name, variable in plan.scalars.items() if variable != name},
        },
        "_defaults": {
            **{a.name: a.default for a in forward.scalars if a.default is not None},
            **{option: False if option == "return_indices" else None for option in plan.options},
        },
        "_constants": tuple(n for n, gradient in zip(plan.inputs, plan.gradients()) if gradient is None),
        "_running": tuple(a.name for a in forward.running),
    }
