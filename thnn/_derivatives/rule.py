"""Second derivatives: gradients as operations that autograd can differentiate, for ``create_graph=True``.

The rule of a module follows from the [DERIVATIVE] tag of its updateOutput in the header, or is its formula in
`formulas/`. A module without either can be differentiated once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from thnn._binding.call import run
from thnn._binding.library import THNN, BoundFunction, Library
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


def rule(module: Module, library: Library, cls_name: str, reference: Reference | None = None) -> Rule:
    """The rule of a module: its gradients by name, from ``needs`` and the values that the rule's signature names.

    A `reference` takes precedence over the [DERIVATIVE] tag.
    """
    if reference is not None:
        return _by_reference(module, cls_name, reference)
    kind = module.forward.derivative if module.forward is not None else ""
    if kind:
        return _RULES[kind](module, library)
    return library.fact(FORMULAS, module) or _differentiable_once(module, library, cls_name)


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

    return _with_parameters(by_reference, ["gradOutput", *inputs, *(a.variable for a in forward.scalars)])


def values(rule: Rule, available: Sequence[str]) -> list[str]:
    """The names of the values that a rule takes; ValueError for a name that is not available."""
    names = list(inspect.signature(rule).parameters)[1:]
    missing = set(names) - set(available)
    if missing:
        raise ValueError(f"{rule.__name__} requires {sorted(missing)}, which the forward does not save")
    return names


def _bind(library: Library, module: Module, phase: str) -> BoundFunction:
    """A function that the [DERIVATIVE] tag of the module requires. Raises HeaderError without it."""
    forward, function = module.forward, module.functions.get(phase)
    assert forward is not None
    if function is None:
        raise HeaderError(
            forward.location, f"{forward.name}: [DERIVATIVE {forward.derivative}] needs {module.name}_{phase}"
        )
    return library.bind(function)


def _with_parameters(rule: Rule, names: Sequence[str]) -> Rule:
    """The rule, which takes arbitrary keywords, with a signature that lists `names`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    rule.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, kind) for n in ("needs", *names)]
    )
    return rule


def _linear(module: Module, library: Library) -> Rule:
    """[DERIVATIVE linear]: gradInput is linear in gradOutput and does not depend on input, so that its backward is the
    forward, applied to the incoming gradient. `like` is the input, of which only the size matters."""
    forward, grad_input = _bind(library, module, "updateOutput"), _bind(library, module, "updateGradInput")
    scalars = [a.name for a in forward.function.scalars]

    class GradInput(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, gradOutput: Tensor, like: Tensor, settings: dict[str, Any]) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(like)
            return run(grad_input, input=like, gradOutput=gradOutput, **settings)["gradInput"]

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            (like,) = ctx.saved_tensors
            return Output.apply(g, like, ctx.settings), None, None

    class Output(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, input: Tensor, like: Tensor, settings: dict[str, Any]) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(like)
            return run(forward, input=input, **settings)["output"]

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            (like,) = ctx.saved_tensors
            return GradInput.apply(g, like, ctx.settings), None, None

    def linear(needs: Any, gradOutput: Tensor, input: Tensor, **settings: Any) -> dict[str, Tensor]:
        return {"gradInput": GradInput.apply(gradOutput, input.detach(), settings)}

    return _with_parameters(linear, ["gradOutput", "input", *scalars])


def _constant(module: Module, library: Library) -> Rule:
    """[DERIVATIVE constant]: a criterion whose gradInput is gradOutput times a factor that is constant in
    input."""
    grad_input = _bind(library, module, "updateGradInput")

    def constant(needs: Any, gradOutput: Tensor, **given: Any) -> dict[str, Tensor]:
        with torch.no_grad():
            slope = run(grad_input, **given)["gradInput"]
        return {"gradInput": gradOutput * slope}

    arguments = grad_input.function.arguments
    names = [a.name for a in arguments if a.role not in ("state", "gradInput", "buffer")]
    return _with_parameters(constant, ["gradOutput", *names])


class _Settings(NamedTuple):
    """The arguments of a bilinear module besides input, weight and bias.

    `others` are its scalars and constant tensors, such as connTable. `no_bias` is a vector of zeros if the function
    requires a bias.
    """

    others: dict[str, Any]
    no_bias: Tensor | None


def _bilinear(module: Module, library: Library) -> Rule:
    """[DERIVATIVE bilinear]: the three products of a convolution are each other's derivatives.

        output = input * weight + bias       gradInput = gradOutput * weight
        gradWeight = input * gradOutput      gradBias = 1 * gradOutput

    where * is the bilinear product of the module or one of its adjoints, and the gradient of bias is summed over
    the same elements that bias is added to.
    """
    forward, grad_input = _bind(library, module, "updateOutput"), _bind(library, module, "updateGradInput")
    grad_parameters = _bind(library, module, "accGradParameters")
    scalars = [a.name for a in forward.function.scalars]
    constants = [a.name for a in forward.function.tensors("input") if a.name != "input"]
    bias_is_optional = any(a.name == "bias" and a.is_optional for a in forward.function.arguments)

    def also_takes(bound: BoundFunction, **tensors: Tensor | None) -> dict[str, Tensor | None]:
        """The tensors among `tensors` that the backward function has as arguments.

        accGradParameters needs at most the sizes of weight and bias.
        """
        return {name: t for name, t in tensors.items() if bound.function.argument(name) is not None}

    class Output(torch.autograd.Function):
        @staticmethod
        def forward(
            ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None, settings: _Settings
        ) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(input, weight, bias)
            return run(forward, input=input, weight=weight, bias=bias, **settings.others)["output"]

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            input, weight, bias = ctx.saved_tensors
            gradInput = GradInput.apply(g, input, weight, ctx.settings) if ctx.needs_input_grad[0] else None
            gradWeight, gradBias = None, None
            if any(ctx.needs_input_grad[1:3]):
                gradWeight, gradBias = GradParameters.apply(input, g, weight, bias, ctx.settings)
            return gradInput, gradWeight, gradBias, None

    class GradInput(torch.autograd.Function):
        @staticmethod
        def forward(
            ctx: Any, gradOutput: Tensor, like: Tensor, weight: Tensor, settings: _Settings
        ) -> Tensor:
            ctx.settings = settings
            ctx.save_for_backward(gradOutput, weight)
            given = also_takes(grad_input, weight=weight, bias=settings.no_bias)
            values = run(grad_input, input=like.detach(), gradOutput=gradOutput, **given, **settings.others)
            return values["gradInput"]

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            gradOutput, weight = ctx.saved_tensors
            by_gradOutput = by_weight = None
            if ctx.needs_input_grad[0]:
                by_gradOutput = Output.apply(g, weight, ctx.settings.no_bias, ctx.settings)
            if ctx.needs_input_grad[2]:
                by_weight, _ = GradParameters.apply(g, gradOutput, weight, None, ctx.settings)
            return by_gradOutput, None, by_weight, None

    class GradParameters(torch.autograd.Function):
        """gradWeight and gradBias; `weight` and `bias` give their sizes, and no gradBias is returned without a bias."""

        @staticmethod
        def forward(
            ctx: Any,
            input: Tensor,
            gradOutput: Tensor,
            weight: Tensor,
            bias: Tensor | None,
            settings: _Settings,
        ) -> tuple[Tensor | None, Tensor | None]:
            ctx.settings = settings
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(input, gradOutput, weight)
            like = bias if bias is not None else settings.no_bias
            gradients = {
                "gradWeight": torch.zeros_like(weight),
                "gradBias": None if like is None else torch.zeros_like(like),
            }
            given = also_takes(grad_parameters, weight=weight.detach(), bias=like)
            run(grad_parameters, input=input, gradOutput=gradOutput, **gradients, **given, **settings.others)
            return gradients["gradWeight"], gradients["gradBias"] if bias is not None else None

        @staticmethod
        def backward(ctx: Any, g: Tensor | None, g_bias: Tensor | None = None) -> Any:
            input, gradOutput, weight = ctx.saved_tensors
            by_input = by_gradOutput = None
            g_weight = torch.zeros_like(weight) if g is None else g
            if ctx.needs_input_grad[0] and g is not None:
                by_input = GradInput.apply(gradOutput, input, g, ctx.settings)
            if ctx.needs_input_grad[1]:
                bias = g_bias if g_bias is not None else ctx.settings.no_bias
                by_gradOutput = Output.apply(input, g_weight, bias, ctx.settings)
            return by_input, by_gradOutput, None, None, None

    def bilinear(
        needs: Any, gradOutput: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None, **others: Any
    ) -> dict[str, Tensor]:
        no_bias = None if bias is None or bias_is_optional else torch.zeros_like(bias)
        settings = _Settings(others, no_bias)
        gradients: dict[str, Tensor] = {}
        if needs[0]:
            gradients["gradInput"] = GradInput.apply(gradOutput, input, weight, settings)
        if any(needs[1:3]):
            gradWeight, gradBias = GradParameters.apply(input, gradOutput, weight, bias, settings)
            gradients["gradWeight"] = gradWeight
            if gradBias is not None:
                gradients["gradBias"] = gradBias
        return gradients

    return _with_parameters(bilinear, ["gradOutput", "input", "weight", "bias", *constants, *scalars])


_RULES: Mapping[str, Callable[[Module, Library], Rule]] = {
    "linear": _linear,
    "constant": _constant,
    "bilinear": _bilinear,
}
