"""One differentiable autograd class per module of the header that has a class.

``_make_function_class`` and ``_make_function_class_criterion`` turn a module of the header model into a class. Its plan
(`_plan.py`; ``print(cls.plan)``) says where the arguments of the C functions come from, and the binding interprets
it: ``compute``, ``forward`` and ``backward`` are functions of lib/binding/plan.c. `base.py` implements the calls of a
class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from thnn._binding.arguments import to_bool
from thnn._binding.call import flag, planned
from thnn._binding.context import TRANSFORM
from thnn._binding.library import THNN, Library
from thnn._binding.plan import bind_class
from thnn._derivatives import rule as _derivatives
from thnn._derivatives.rule import Reference
from thnn._functions.base import Criterion, FunctionBase
from thnn._functions.documentation import docstring
from thnn._header import Module
from thnn._plan import OUTPUT_FOR_INPUT, ClassPlan, class_plan
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
    plan = class_plan(module, reference is not None, library.fact(OUTPUT_FOR_INPUT, module))
    rule = _derivatives.rule(module, library, cls_name, reference)
    of_rule = [] if rule is None else _derivatives.values(rule, plan.kept_values)
    gradients, rest = plan.gradients(), (None,) * len(plan.variables + plan.options)
    kept_names = (*plan.keep, *plan.operator_scalars)
    is_linear = plan.forward.function.derivative in ("linear", "constant")

    def differentiate(context: int, needs: Sequence[bool], values: tuple[Any, ...]) -> tuple[Any, ...]:
        named = dict(zip(plan.kept_values, values))
        if context == TRANSFORM or rule is None:
            kept = tuple(named[name] for name in kept_names)
            if context != TRANSFORM and is_linear:
                # The gradient requires one only if gradOutput does.
                kept = tuple(v.detach() if isinstance(v, Tensor) else v for v in kept)
            return cls._backward_through_operators(needs, named["gradOutput"], kept)
        found = rule(needs, **{name: named[name] for name in of_rule})
        return (*(found.get(name) if name else None for name in gradients), *rest)

    compute, forward, backward = _bind(plan, library, differentiate, criterion)
    members: dict[str, Any] = {
        "__module__": "thnn",
        "__doc__": docstring(module, plan.inputs, [*plan.scalars], plan.options),
        "module": module,
        "plan": plan,
        "_library": library,
        "_rule": None if rule is None else staticmethod(rule),
        "_reference": reference,
        "has_second_derivatives": _derivatives.has_second_derivatives(module, library, reference),
        "compute": compute,
        "forward": forward,
        "backward": backward,
        **_descriptions(plan),
    }
    cls: type[FunctionBase] = type(cls_name, (Criterion if criterion else FunctionBase,), members)
    return cls


def _bind(
    plan: ClassPlan, library: Library, differentiate: Callable[..., Any], criterion: bool
) -> Sequence[Callable[..., Any]]:
    """compute, forward and backward of a class (lib/binding/plan.h)."""
    function, parameters = plan.forward.function, plan.parameters
    updateOutput = library.bind(function)
    inplace_at = parameters.index("inplace") if plan.in_place is not None else -1
    indices_at = parameters.index("return_indices") if "return_indices" in parameters else -1

    def normalize(values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of `apply` with True or False for the flags that the binding reads."""
        given = list(values)
        if inplace_at >= 0:
            given[inplace_at] = flag(function, "inplace", given[inplace_at])
        if indices_at >= 0:
            given[indices_at] = to_bool("return_indices", given[indices_at])
        return tuple(given)

    calls: list[Any] = [
        planned(updateOutput, plan.forward, parameters),
        None if plan.in_place is None else planned(updateOutput, plan.in_place, parameters),
        normalize,
        lambda values: _derivatives.check_overwritable(function, values[0]),
        lambda values: increment_version((values[0],)),
        lambda values: _derivatives.check_in_place(
            function,
            plan.output_for_input,
            values[0],
            dict(zip(parameters, values)),
            # A function of a loaded header may compute its gradient from the result in place of the input.
            reads_input=library is THNN and plan.inputs[0] in plan.keep,
        ),
        differentiate,
    ]
    factor = "gradOutput" if criterion else None
    calls += [planned(library.bind(c.function), c, plan.kept_values, factor) for c in plan.backwards]
    return bind_class(plan, tuple(calls), inplace_at, indices_at)


def _descriptions(plan: ClassPlan) -> dict[str, Any]:
    """The attributes by which FunctionBase binds the arguments of a call."""
    forward = plan.forward.function
    return {
        "_names": (*plan.inputs, *plan.scalars, *plan.options),
        "_tensor_count": len(plan.inputs),
        "_optional": plan.optional,
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
