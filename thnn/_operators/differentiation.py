"""The autograd functions of a module over its operators, which torch.func can transform and torch.compile trace.

The C functions compute first derivatives. Higher derivatives and forward mode follow from the rule of the module
(`rules.py`), whose gradients are linear in gradOutput: the pull-back of the rule w.r.t. gradOutput, applied to
tangents, is the tangent of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._derivatives.formulas import LINEAR_IN
from thnn._operators import rules
from thnn._operators.model import OperatorModel
from thnn._torch import below_forward_level, call_node, in_vmap, transforms


def _save(ctx: Any, values: Sequence[Any], tensors: int) -> None:
    """Saves values, of which the first are tensors or None, for backward and for forward mode."""
    ctx.save_for_backward(*values[:tensors])
    ctx.save_for_forward(*values[:tensors])
    ctx.scalars = values[tensors:]


def _saved(ctx: Any, names: Sequence[str]) -> dict[str, Any]:
    return dict(zip(names, (*ctx.saved_tensors, *ctx.scalars)))


def pull_back(f: Callable[..., Any], *primals: Tensor) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """torch.func.vjp, with one type of result."""
    found: Any = torch.func.vjp(f, *primals)
    return found


def push_forward(f: Callable[..., Any], primals: Sequence[Tensor], tangents: Sequence[Tensor]) -> Any:
    """The tangents of f: the pull-back of its pull-back, which is linear in the gradient. Unlike torch.func.jvp it
    works within forward mode."""
    outputs, pull = pull_back(f, *primals)
    zeros = tuple(torch.zeros_like(o) for o in outputs)
    tangent: Any = torch.func.vjp(pull, zeros)[1](tuple(tangents))
    return tangent[0]


def tangents_of(
    name: str, function: Callable[..., Any], values: Mapping[str, Any], tangents: Sequence[Any]
) -> Any:
    """function(values, tangents), computed so that outer levels of forward mode see its tangents, too.

    Raises NotImplementedError if a torch.vmap is between the levels and the function.
    """
    active = transforms()
    if active is None:
        raise NotImplementedError(f"{name}: forward mode does not work with torch {torch.__version__}")
    if active.count("Jvp") < 2:
        return function(values, tangents)
    if active[-1] != "Jvp":
        raise NotImplementedError(
            f"{name}: forward mode over forward mode over torch.vmap is not supported; use forward over reverse mode,"
            " such as torch.func.jacfwd(torch.func.jacrev(f))"
        )
    return below_forward_level(function, values, tangents)


def _needs(operators: OperatorModel, mask: int) -> tuple[bool, ...]:
    """For each tensor of the forward, whether its gradient is needed."""
    return tuple(bool(mask >> k & 1) for k in range(len(operators.tensors)))


def make_node(operators: OperatorModel) -> Any:
    """The autograd function of a forward; its attribute `backward_node` is the autograd function of the gradients."""
    o = operators
    name = o.cls.__name__
    variables = ["gradOutput", *o.kept]

    class Backward(torch.autograd.Function):
        """(mask of needed gradients, gradOutput, *values in the order of `kept`) -> the gradients that are needed."""

        generate_vmap_rule = True

        @staticmethod
        def forward(mask: int, gradOutput: Tensor, *kept: Any) -> tuple[Tensor, ...]:
            return tuple(o.gradients(_needs(o, mask), gradOutput, kept).values())

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.needs = _needs(o, inputs[0])
            ctx.set_materialize_grads(False)
            _save(ctx, inputs[1:], 1 + o.kept_tensors)

        @staticmethod
        def backward(ctx: Any, *of: Tensor | None) -> tuple[Any, ...]:
            values = _saved(ctx, variables)
            gradients = [
                torch.zeros_like(values[o.template_of[n]]) if g is None else g
                for n, g in zip(o.wanted_gradients(ctx.needs, values), of)
            ]
            if rules.is_multilinear(o):
                wanted = {n: ctx.needs_input_grad[1 + k] for k, n in enumerate(["gradOutput", *o.kept])}
                found = _by_products(o, ctx.needs, values, gradients, wanted)
            else:
                f, names = _gradients_as_function(o, ctx.needs, values)
                _, pull = pull_back(f, *(values[n] for n in names))
                found = dict(zip(names, pull(tuple(gradients))))
            return None, *(found.get(n) for n in ("gradOutput", *o.kept))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> tuple[Tensor, ...]:
            def of(values: Mapping[str, Any], tangents: Sequence[Any]) -> Any:
                given = dict(zip(("gradOutput", *o.kept), tangents))
                if rules.is_multilinear(o):
                    return _tangents_of_products(o, ctx.needs, values, given)
                f, names = _gradients_as_function(o, ctx.needs, values)
                moved = [torch.zeros_like(values[n]) if given[n] is None else given[n] for n in names]
                return push_forward(f, [values[n] for n in names], moved)

            results: tuple[Tensor, ...] = tangents_of(name, of, _saved(ctx, variables), tangents[1:])
            return results

    class Forward(torch.autograd.Function):
        generate_vmap_rule = True
        backward_node = Backward

        @staticmethod
        def forward(*values: Any) -> Any:
            return o.decomposed_forward(*values)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            outputs = output if isinstance(output, tuple) else (output,)
            results = dict(zip(o.results, outputs))
            values = {**dict(zip(o.given, inputs)), **results}
            if values.get("train", True):
                # The call updates the tensors themselves afterwards, and the gradients do not depend on them.
                values.update((a.name, None) for a in o.modified)
            else:
                values.update((a.name, None) for a in o.saved if a.is_optional)
            if o.keeps_output(values):
                # A copy, since the caller may change the output in place; inductor removes it where it is not needed.
                values["input"] = outputs[0].clone()
            ctx.set_materialize_grads(False)
            ctx.shape = outputs[0].shape
            # Results without a derivative have the tangent None, but zeros if they are batched, since torch.vmap loses
            # the marks of mark_non_differentiable().
            ctx.zeros = [t.shape if in_vmap(t) and t.is_floating_point() else None for t in outputs[1:]]
            _save(ctx, [values[n] for n in o.kept], o.kept_tensors)
            constant = [t for n, t in results.items() if n not in {a.name for a in o.outputs}]
            ctx.mark_non_differentiable(*constant, *outputs[len(o.results) :])

        @staticmethod
        def backward(ctx: Any, gradOutput: Tensor | None, *_: Any) -> tuple[Any, ...]:
            if gradOutput is None:
                return (None,) * len(o.given)
            values = _saved(ctx, o.kept)
            found = rules.apply_backward(o, ctx.needs_input_grad[: len(o.tensors)], gradOutput, values)
            named = {o.gradient_of[g]: value for g, value in found.items()}
            return tuple(named.get(n) for n in o.given)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            def of(values: Mapping[str, Any], tangents: Sequence[Any]) -> Any:
                given = {a.name: t for a, t in zip(o.tensors, tangents) if isinstance(t, Tensor)}
                for n in given:
                    if n not in o.differentiable:
                        raise NotImplementedError(f"{name}: {n}: the derivative by {n} is not implemented")
                linear_in = o.library.fact(LINEAR_IN, o.module)
                if linear_in is not None and linear_in(values) in given:
                    found = call_node(o.node, *({**values, **given}.get(n) for n in o.given))
                    return found[0] if isinstance(found, tuple) else found
                needs = tuple(a.name in given for a in o.tensors)
                names = o.wanted_gradients(needs, values)

                def f(gradOutput: Tensor) -> tuple[Tensor, ...]:
                    found = o.rule(needs, gradOutput, **values)
                    return tuple(found[n] for n in names)

                like = next(iter(given.values()))
                _, pull = pull_back(f, like.new_zeros(ctx.shape))
                (tangent,) = pull(tuple(given[o.gradient_of[n]] for n in names))
                return tangent

            tangent = tangents_of(name, of, _saved(ctx, o.kept), tangents)
            zeros = [None if shape is None else tangent.new_zeros(shape) for shape in ctx.zeros]
            return (tangent, *zeros) if zeros else tangent

    Forward.__name__ = Forward.__qualname__ = name
    Backward.__name__ = Backward.__qualname__ = f"{name}Gradients"
    return Forward


def _gradients_as_function(
    o: OperatorModel, needs: Sequence[bool], values: Mapping[str, Any]
) -> tuple[Callable[..., tuple[Tensor, ...]], list[str]]:
    """The gradients as a function of gradOutput and the tensors that they depend on, and the names of these tensors."""
    constant = {a.name for a in (*o.saved, *o.modified)}
    names = ["gradOutput"]
    for n in o.kept:
        value = values[n]
        is_variable = n in o.differentiable or n in {a.name for a in o.outputs}
        if isinstance(value, Tensor) and value.is_floating_point() and is_variable and n not in constant:
            names.append(n)
    gradients = o.wanted_gradients(needs, values)

    def f(*tensors: Tensor) -> tuple[Tensor, ...]:
        found = o.rule(needs, **{**values, **dict(zip(names, tensors))})
        return tuple(found[n] for n in gradients)

    return f, names


# A multilinear module: output = input * weight + bias, gradInput = gradOutput * weight, gradWeight = input * gradOutput
# and gradBias = 1 * gradOutput, where * is the product of the module or one of its adjoints. [DERIVATIVE linear]: input
# and gradOutput only. [DERIVATIVE constant]: gradInput = gradOutput * slope, where gradOutput is one number.


def _split(
    o: OperatorModel, needs: Sequence[bool], values: Mapping[str, Any], of: Sequence[Any]
) -> dict[str, Any]:
    """Values in the order of the needed gradients, by the names of input, weight and bias."""
    names = o.wanted_gradients(needs, values)
    return {o.gradient_of[n]: v for n, v in zip(names, of)}


def _one(o: OperatorModel, name: str) -> tuple[bool, ...]:
    return tuple(a.name == name for a in o.tensors)


def _product(o: OperatorModel, values: Mapping[str, Any], **tensors: Any) -> Tensor:
    """The forward with other tensors."""
    given = {**values, **tensors}
    results = call_node(o.node, *(given.get(n) for n in o.given))
    return results if isinstance(results, Tensor) else results[0]


def _gradient(o: OperatorModel, name: str, values: Mapping[str, Any], **tensors: Any) -> Tensor:
    """The gradient of one tensor with other tensors."""
    given = {**values, **tensors}
    gradOutput = given.pop("gradOutput")
    (found,) = rules.apply_backward(o, _one(o, name), gradOutput, given).values()
    return found


def _by_products(
    o: OperatorModel,
    needs: Sequence[bool],
    values: Mapping[str, Any],
    gradients: Sequence[Tensor],
    wanted: Mapping[str, bool],
) -> dict[str, Tensor]:
    """The gradients of the backward functions' results w.r.t. gradOutput, input and weight."""
    of = _split(o, needs, values, gradients)
    if o.module.is_criterion:
        if not wanted["gradOutput"]:
            return {}
        slopes = rules.apply_backward(o, needs, torch.ones_like(values["gradOutput"]), values)
        return {"gradOutput": sum((g * s).sum() for g, s in zip(gradients, slopes.values()))}  # type: ignore[dict-item]
    bias = values.get("bias")
    no_bias = None if bias is None else torch.zeros_like(bias)
    found: dict[str, Tensor] = {}
    if wanted["gradOutput"]:
        parts = []
        if "input" in of:
            parts.append(_product(o, values, input=of["input"], bias=no_bias))
        if "weight" in of or "bias" in of:
            by_weight = of["weight"] if "weight" in of else torch.zeros_like(values["weight"])
            parts.append(_product(o, values, weight=by_weight, bias=of.get("bias", no_bias)))
        found["gradOutput"] = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    if wanted.get("input") and "weight" in of:
        found["input"] = _gradient(o, "input", values, weight=of["weight"])
    if wanted.get("weight") and "input" in of:
        found["weight"] = _gradient(o, "weight", values, input=of["input"])
    return found


def _tangents_of_products(
    o: OperatorModel, needs: Sequence[bool], values: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Tensor, ...]:
    """The tangents of the backward functions' results, from the tangents of gradOutput, input and weight."""
    results = []
    other = {"gradInput": "weight", "gradWeight": "input", "gradBias": None}
    for gradient in o.wanted_gradients(needs, values):
        of = o.gradient_of[gradient]
        parts = []
        if given["gradOutput"] is not None:
            parts.append(_gradient(o, of, values, gradOutput=given["gradOutput"]))
        factor = other.get(gradient) if not o.module.is_criterion else None
        if factor is not None and given.get(factor) is not None:
            parts.append(_gradient(o, of, values, **{factor: given[factor]}))
        results.append(
            sum(parts[1:], parts[0]) if parts else torch.zeros_like(values[o.template_of[gradient]])
        )
    return tuple(results)
