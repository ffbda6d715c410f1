"""The plan of the calls of a module, from the header model alone: where the value of each argument of its C functions
comes from.

Arguments are matched by name: a backward function gets the values of the forward's arguments of the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thnn._header import Argument, Function, HeaderError, Module, literal


class Source(NamedTuple):
    """The origin of the value of an argument of a C function; its text is the expression in Python."""

    # Of `results_of`. For 'e', 'z' and 's', `variable` is the tensor that determines the new one; for 'g' it is
    # ALLOCATE, or None if the result is absent.
    letter: str = "."
    variable: str | None = None  # an argument of the caller
    dimension: int | None = None  # the value is this size of it
    constant: Any = None

    def __str__(self) -> str:
        if self.variable is None:
            return "ALLOCATE" if self.letter == "g" else literal(self.constant)
        return self.variable if self.dimension is None else f"{self.variable}.shape[{self.dimension}]"


def forward_sources(module: Module) -> dict[str, Source]:
    """The sources of the arguments of updateOutput, without the state."""
    forward = module.forward
    assert forward is not None
    inputs = [a.name for a in forward.tensors("input", "target", "parameter")]
    outputs = [a.name for a in forward.tensors("output")]
    is_inplace = any(a.name == "inplace" for a in forward.scalars)
    types = {a.name: a.type for a in forward.arguments}
    sources = {}
    for argument in forward.after_state:
        like = inputs[0] if is_inplace and argument.name == outputs[0] else argument.like
        if argument.role == "buffer":
            source = Source()
        elif argument.role not in ("output", "saved"):
            source = Source(variable=argument.variable)
        elif module.is_criterion and (argument.role == "output" or like in outputs):
            source = Source("s", inputs[0]) if argument.type == types[inputs[0]] else Source("g")
        elif like in inputs and argument.type == types[like]:
            source = Source("e", like)
        else:
            source = Source("g")
        sources[argument.name] = source
    return sources


def backward_sources(
    module: Module,
    function: Function,
    inputs: Sequence[str],
    keep: Sequence[str],
    scalars: Mapping[str, str],
) -> dict[str, Source]:
    """The sources of the arguments of a backward function, without the state; a new tensor is a gradient."""
    gradients = gradients_of(function, inputs)
    passed = passed_to_backwards(module)
    sources = {}
    for argument in function.after_state:
        name = argument.name
        if name in gradients:
            source = Source("e" if argument.role == "gradInput" else "z", template_of(module, argument))
        elif argument.role == "buffer" or (argument.role == "gradInput" and argument.is_optional):
            source = Source()
        elif argument.role == "gradOutput":
            source = Source(variable="gradOutput")
        elif name == "inplace" and name in scalars:
            # Not in place: the incoming gradient belongs to autograd and must not be overwritten.
            source = Source(constant=False)
        elif (name in keep and name in passed) or name in scalars:
            source = Source(variable=scalars.get(name, name))
        elif argument.is_optional:
            source = Source()
        elif argument.size is not None:
            tensor = "gradOutput" if argument.size.tensor == "output" else argument.size.tensor
            source = Source(variable=tensor, dimension=argument.size.dimension)
        elif argument.default is not None:
            source = Source(constant=argument.default)
        else:
            raise HeaderError(
                argument.location,
                f"{function.name} has the argument {name}, which {function.module}_updateOutput does not have",
            )
        sources[name] = source
    return sources


def read_by_backwards(module: Module, all_inputs: bool) -> list[str]:
    """The tensors of the forward that a backward reads: arguments of the C functions, and tensors that determine the
    sizes of gradients; with `all_inputs` also all others that the forward takes."""
    forward = module.forward
    assert forward is not None
    wanted: set[str | None] = {*passed_to_backwards(module)}
    wanted |= {
        template_of(module, a) for f in module.backwards for a in f.tensors("gradInput", "gradParameter")
    }
    wanted |= {
        a.size.tensor for f in module.backwards for a in f.arguments if a.size and a.size.tensor != "output"
    }
    tensors = [
        a.name
        for roles in (("input", "target", "parameter"), ("output",), ("saved",))
        for a in forward.tensors(*roles)
    ]
    if all_inputs:
        wanted |= {a.name for a in forward.tensors("input", "target", "parameter")}
    return [n for n in tensors if n in wanted]


def passed_to_backwards(module: Module) -> frozenset[str]:
    """The arguments of the backward functions, without inputs of the forward that are optional in a backward alone: it
    gets None for them."""
    forward = module.forward
    assert forward is not None
    required = {a.name for a in forward.tensors("input", "target", "parameter") if not a.is_optional}
    return frozenset(
        a.name for f in module.backwards for a in f.arguments if not (a.is_optional and a.name in required)
    )


def template_of(module: Module, gradient: Argument) -> str | None:
    """The tensor of the forward that a new gradient is sized as: that of which it is the gradient, or an output of the
    same size which the backward reads, so that the other need not be saved."""
    assert module.forward is not None
    passed = passed_to_backwards(module)
    if gradient.gradient_of not in passed:
        for output in module.forward.tensors("output"):
            if output.name in passed and output.like == gradient.gradient_of:
                return output.name
    return gradient.gradient_of


def gradients_of(function: Function, inputs: Sequence[str]) -> dict[str, str]:
    """The gradients that a backward function computes, by name, with the tensor that each is the gradient of."""
    # accGradParameters of some modules has an argument gradInput that it does not use.
    roles = ("gradParameter",) if function.phase == "accGradParameters" else ("gradInput", "gradParameter")
    return {
        a.name: a.gradient_of
        for a in function.arguments
        if a.is_tensor and a.role in roles and a.gradient_of and a.gradient_of in inputs
    }
