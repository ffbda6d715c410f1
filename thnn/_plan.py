"""The plan of the calls of a module, from the header model only: where the value of each argument of its C functions
comes from, which results a class returns, and which tensors it saves. lib/binding/plan.c interprets it.

Arguments are matched by name: a backward function gets the values of the forward's arguments of the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thnn._header import Argument, Function, HeaderError, Module, literal


class Source(NamedTuple):
    """The origin of the value of an argument of a C function."""

    # Of `results_of`. For 'e', 'z' and 's', `variable` is the tensor that determines the new one; for 'g' it is the
    # given tensor, or None for one that the call allocates.
    letter: str = "."
    variable: str | None = None  # an object of the caller
    dimension: int | None = None  # the value is this size of it
    constant: Any = None

    def __str__(self) -> str:
        if self.variable is None:
            return "as requested" if self.letter == "g" else literal(self.constant)
        name = self.variable if self.dimension is None else f"size {self.dimension} of {self.variable}"
        return {"e": "empty like ", "z": "zeros like ", "s": "scalar of the type of "}.get(
            self.letter, ""
        ) + name


class OutputForInput(NamedTuple):
    """The condition under which a module's gradient is the same function of the output as of the input: the scalar is
    at least `least`, a number or another scalar; without a scalar always."""

    scalar: str = ""
    least: float | str = 0
    # The class saves the output where both scalars are 0, as torch does for relu: the next layer mostly saves it, too,
    # and the caller may change the input.
    is_saved_at_0: bool = False

    def holds(self, values: Mapping[str, Any]) -> bool:
        if not self.scalar:
            return True
        least = values[self.least] if isinstance(self.least, str) else self.least
        return bool(values[self.scalar] >= least)


# By the names of modules of the package. In-place calls with a gradient require the condition, and traced code keeps
# the output where it holds.
OUTPUT_FOR_INPUT: Mapping[str, OutputForInput] = {
    "CELU": OutputForInput("alpha"),
    "ELU": OutputForInput("alpha"),
    "HardTanh": OutputForInput(),
    "LeakyReLU": OutputForInput("negval"),
    "RReLU": OutputForInput("lower"),
    "SELU": OutputForInput(),
    "Threshold": OutputForInput("threshold", least="val", is_saved_at_0=True),
}


class CallPlan(NamedTuple):
    """A call of a C function by a class: the origin of each argument after the state."""

    function: Function
    sources: Mapping[str, Source]

    @property
    def letters(self) -> str:
        return "".join(self.sources[a.name].letter for a in self.function.after_state)

    @property
    def results(self) -> list[str]:
        return [a.name for a in self.function.after_state if self.sources[a.name].letter != "."]

    def __str__(self) -> str:
        rows = [f"    {a.name}: {self.sources[a.name]}" for a in self.function.after_state]
        return "\n".join([f"{self.function.name} -> {', '.join(self.results)}", *rows])


class ClassPlan(NamedTuple):
    """The calls of the autograd class of a module. Names are those of the header; scalars have those of Python, too."""

    module: Module
    forward: CallPlan
    in_place: CallPlan | None
    backwards: list[CallPlan]
    inputs: list[str]  # the tensors that the forward reads
    scalars: dict[str, str]  # in THNN.h -> in Python
    output: str
    saved: list[str]
    options: list[str]  # arguments of Python only, after the scalars
    keep: list[str]  # the tensors that autograd saves for the backward
    sizes: frozenset[str]  # those of `keep` of which the backward reads the size and type only
    output_for_input: OutputForInput | None

    @property
    def saves_output_at_0(self) -> list[str]:
        """The class saves the output in place of the input where these scalars are 0."""
        condition = self.output_for_input
        if condition is None or not condition.is_saved_at_0:
            return []
        return [n for n in (condition.scalar, condition.least) if isinstance(n, str)]

    @property
    def variables(self) -> list[str]:
        return [*self.scalars.values()]

    @property
    def operator_scalars(self) -> list[str]:
        """The scalars of operators, which change none of their arguments."""
        return [v for v in self.variables if v != "inplace"]

    @property
    def optional(self) -> frozenset[str]:
        """The tensors of the forward that may be absent."""
        return frozenset(a.name for a in self.forward.function.tensors() if a.is_optional)

    @property
    def parameters(self) -> list[str]:
        """The arguments of `apply`."""
        return [*self.inputs, *self.variables, *self.options]

    @property
    def kept_values(self) -> list[str]:
        """The objects from which the backward functions take their arguments."""
        return ["gradOutput", *self.keep, *self.variables]

    def gradients(self) -> list[str | None]:
        """The name of the gradient w.r.t. each input, None for an input without one."""
        found = {
            of: name
            for call in self.backwards
            for name, of in gradients_of(call.function, self.inputs).items()
        }
        return [found.get(name) for name in self.inputs]

    def __str__(self) -> str:
        kept = [f"size of {name}" if name in self.sizes else name for name in self.keep]
        if self.saves_output_at_0:
            kept[0] += f" ({self.output} where {' and '.join(self.saves_output_at_0)} are 0)"
        lines = [f"apply({', '.join(self.parameters)})", "", str(self.forward)]
        if self.in_place is not None:
            lines.append(f"    in place: {self.output} is {self.in_place.sources[self.output]}")
        lines.append(f"saves {', '.join(kept) or 'nothing'}")
        for call in self.backwards:
            lines += ["", str(call)]
        return "\n".join(lines)


def class_plan(
    module: Module, keeps_inputs: bool, output_for_input: OutputForInput | None = None
) -> ClassPlan:
    """The plan of a module's class; with `keeps_inputs` the backward gets all inputs.

    Raises HeaderError if the module does not have a class: several outputs or none, a backward without a gradient, or
    an argument of a backward whose value is not known.
    """
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
    scalars = {a.name: a.variable for a in forward.scalars}
    options = [a.name for a in forward.arguments if a.role == "generator"]
    keep = read_by_backwards(module, keeps_inputs)
    sources = forward_sources(module)
    in_place = {**sources, outputs[0]: Source("g", inputs[0])} if "inplace" in scalars else None
    return ClassPlan(
        module,
        CallPlan(forward, sources),
        None if in_place is None else CallPlan(forward, in_place),
        [CallPlan(f, backward_sources(module, f, inputs, keep, scalars)) for f in module.backwards],
        inputs,
        scalars,
        outputs[0],
        saved,
        options + ["return_indices"] * ("indices" in saved),
        keep,
        # References and [DERIVATIVE] rules need the values; formulas need only the sizes.
        frozenset() if keeps_inputs or forward.derivative else frozenset(keep) - passed_to_backwards(module),
        output_for_input,
    )


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
