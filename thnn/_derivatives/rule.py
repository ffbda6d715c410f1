"""The rules of second derivatives and forward mode: gradients as operations that can be differentiated.

The rule of a module is its formula in `formulas/`. A module with a [DERIVATIVE] tag at its updateOutput in the header
needs none. A module without either can be differentiated once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.library import THNN, Library
from thnn._derivatives.formulas import FORMULAS
from thnn._derivatives.recomputation import recomputed_gradients
from thnn._header import Function, HeaderError, Module
from thnn._plan import OutputForInput
from thnn._torch import is_output_of_several

Rule = Callable[..., Mapping[str, Tensor]]
# A module's function in differentiable torch operations, called with the arguments of the forward by name.
Reference = Callable[..., Tensor]


def check_overwritable(function: Function, input: Any) -> None:
    """Raises ValueError if torch forbids to overwrite the input of an in-place forward, before anything is."""
    if isinstance(input, Tensor) and input.is_inference() and not torch.is_inference_mode_enabled():
        raise ValueError(
            f"{function.name}: input: inference tensors cannot be changed outside of inference mode"
        )


def check_in_place(
    function: Function,
    condition: OutputForInput | None,
    input: Tensor,
    scalars: Mapping[str, Any],
    *,
    reads_input: bool,
) -> None:
    """Raises ValueError where an in-place forward could not be differentiated, before anything is overwritten.

    `reads_input`: without a condition, the gradient is a function of the input only.
    """
    check_overwritable(function, input)
    where = f"{function.name}: input: "
    if input.requires_grad and input.is_leaf:
        raise ValueError(where + "a leaf that requires a gradient cannot be overwritten in place")
    base = input._base
    if base is not None and base.requires_grad and base.is_leaf:
        raise ValueError(where + "a view of a leaf that requires a gradient cannot be overwritten in place")
    if is_output_of_several(input):
        raise ValueError(
            where + "one of several outputs of an operation (unbind, split) cannot be overwritten in place"
        )
    if condition is None and reads_input:
        raise ValueError(
            where + "the gradient is a function of the input, which cannot be overwritten in place"
        )
    if condition is None or isinstance(condition.least, str):
        return  # C functions compare two scalars themselves
    name = condition.scalar
    try:
        holds = condition.holds({name: float(scalars[name])} if name else {})
    except (TypeError, ValueError, OverflowError):
        return  # the call of the forward reports the error
    if not holds:
        # The backward has only the output, from which it infers the sign of the input.
        raise ValueError(
            f"{function.name}: {name}: inplace needs {name} >= {condition.least} to be differentiated"
        )


def rule(module: Module, library: Library, cls_name: str, reference: Reference | None = None) -> Rule | None:
    """The rule of a module: its gradients by name, from ``needs`` and the values that the rule's signature names.

    A `reference` takes precedence over the [DERIVATIVE] tag. None for a module with that tag: the derivatives of its
    backward functions are calls of its C functions (thnn/_operators/differentiation.py).
    """
    if reference is not None:
        return _by_reference(module, cls_name, reference)
    forward = module.forward
    if forward is not None and forward.derivative:
        for phase in _NEEDED[forward.derivative]:
            if phase not in module.functions:
                raise HeaderError(
                    forward.location,
                    f"{forward.name}: [DERIVATIVE {forward.derivative}] needs {module.name}_{phase}",
                )
        return None
    return library.fact(FORMULAS, module) or _differentiable_once(module, library, cls_name)


# The functions that a [DERIVATIVE] tag requires.
_NEEDED: Mapping[str, Sequence[str]] = {
    "linear": ["updateGradInput"],
    "constant": ["updateGradInput"],
    "bilinear": ["updateGradInput", "accGradParameters"],
}


def has_second_derivatives(module: Module, library: Library, reference: Reference | None) -> bool:
    """True if the module can be differentiated twice."""
    has_tag = module.forward is not None and bool(module.forward.derivative)
    return reference is not None or has_tag or library.fact(FORMULAS, module) is not None


def _differentiable_once(module: Module, library: Library, cls_name: str) -> Rule:
    place = "a formula in thnn/_derivatives/formulas/" if library is THNN else "a formula in references={...}"

    def refuse(needs: Any, gradOutput: Tensor) -> dict[str, Tensor]:
        raise NotImplementedError(
            f"{cls_name} can be differentiated once only: {module.name}_updateOutput has neither a [DERIVATIVE] tag in"
            f" the header nor {place}"
        )

    return refuse


def _by_reference(module: Module, cls_name: str, reference: Reference) -> Rule:
    """The gradients of the same function in torch operations, by autograd."""
    forward = module.forward
    assert forward is not None
    inputs = [a.name for a in forward.tensors("input", "target", "parameter")]
    gradients = {
        a.gradient_of: a.name for f in module.backwards for a in f.tensors("gradInput", "gradParameter")
    }

    def by_reference(needs: Any, gradOutput: Tensor, **values: Any) -> dict[str, Tensor]:
        if values.get("inplace"):
            raise NotImplementedError(
                f"{cls_name}: if it is computed in place, it can be differentiated only once"
            )

        def outputs(*tensors: Tensor) -> tuple[Tensor]:
            output: Any = reference(**{**values, **dict(zip(inputs, tensors))})
            if not isinstance(output, Tensor):
                raise TypeError(f"{cls_name}: the reference: expected a tensor, got {type(output).__name__}")
            return (output,)

        tensors = [values[n] for n in inputs]
        wanted = [need and n in gradients for n, need in zip(inputs, needs)]
        found = recomputed_gradients(outputs, tensors, wanted, [gradOutput])
        return {gradients[n]: g for n, g in zip(inputs, found) if g is not None}

    names = ["needs", "gradOutput", *inputs, *(a.variable for a in forward.scalars)]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    by_reference.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return by_reference


def values(rule: Rule, available: Sequence[str]) -> list[str]:
    """The names of the values that a rule takes, all that are available for ``**values``; ValueError for a name that is
    not available."""
    parameters = [*inspect.signature(rule).parameters.values()][1:]
    if parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        return list(available)
    names = [p.name for p in parameters]
    missing = set(names) - set(available)
    if missing:
        raise ValueError(f"{rule.__name__} requires {sorted(missing)}, which the forward does not save")
    return names
