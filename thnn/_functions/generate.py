"""One differentiable autograd class per module of the header that forms a class.

``_make_function_class`` and ``_make_function_class_criterion`` turn a module of the header model into a class. As
``dataclasses`` does, they write the Python source of its ``compute``, ``forward`` and ``backward``, since a loop
over arguments would cost more than small kernels do; ``cls.source`` is that source. Arguments of the C functions
are matched by name: a backward function gets the values of the forward's arguments of the same names. `base.py`
implements the calls of a class.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from thnn._binding.call import flag, results_of
from thnn._binding.context import GRADIENT, TRANSFORM, read_context
from thnn._binding.library import ALLOCATE, THNN, Library
from thnn._functions import derivatives as _derivatives
from thnn._functions.base import Criterion, FunctionBase
from thnn._functions.derivatives import Reference
from thnn._functions.documentation import docstring
from thnn._header import Argument, HeaderError, Module, literal
from thnn._header import Function as HeaderFunction
from thnn._torch import dynamo_disable, increment_version


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


class _Lines:
    """Lines of a function being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, line: str, indent: int = 1) -> None:
        self.lines.append("    " * indent + line)

    def flags(self, inplace: bool, returns_indices: bool) -> None:
        """Checks of the flags that Python itself reads: they have to be True or False."""
        if inplace:
            self.add("if inplace is not True and inplace is not False:")
            self.add("inplace = flag(updateOutput.function, 'inplace', inplace)", 2)
        if returns_indices:
            self.add("if return_indices is not True and return_indices is not False:")
            self.add("raise TypeError('return_indices: expected True or False')", 2)

    def check_given(self, function: HeaderFunction, required: Sequence[str], scaled: bool = False) -> None:
        """Checks of the tensors of an operator."""
        conditions = [f"{name} is None" for name in required] + ["gradOutput.dim() != 0"] * scaled
        self.add(f"if {' or '.join(conditions)}:")
        self.add(f"check_given({function.name!r}, {scaled}, {', '.join(f'{n}={n}' for n in required)})", 2)

    def results(self, names: Sequence[str], optional: Collection[str], like: str) -> None:
        """Returns the results of an operator, with an empty tensor in place of None."""
        results = [f"{like}.new_empty(0) if {n} is None else {n}" if n in optional else n for n in names]
        self.add(f"return {results[0] if len(results) == 1 else _tuple(results)}")

    def call(
        self,
        function: HeaderFunction,
        sources: Mapping[str, Source],
        indent: int = 1,
        scaled: bool = False,
        caller: str = "",
    ) -> None:
        """Adds one C call, which assigns its results.

        `sources` are those of all arguments. `scaled`: the call is that of a criterion's gradient, which is multiplied
        by `gradOutput`. `caller`: the name of the function, if it is not that of the phase.
        """
        arguments = function.after_state
        expressions = [str(sources[a.name]) for a in arguments] + ["gradOutput"] * scaled
        targets = ", ".join(a.name for a in arguments if sources[a.name].letter != ".")
        self.add(f"{targets} = {caller or 'call_' + function.phase}({_tuple(expressions)})", indent)


def _letters(function: HeaderFunction, sources: Mapping[str, Source]) -> str:
    return "".join(sources[a.name].letter for a in function.after_state)


def _tuple(names: Sequence[str]) -> str:
    return "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")"


def _compile(cls_name: str, source: str, namespace: dict[str, Any]) -> dict[str, Any]:
    filename = f"<thnn {cls_name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), namespace)
    return namespace


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
    code = _Lines()
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
    _compile(cls_name, source, namespace)
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
        found = {of: name for f in self.module.backwards for name, of in _gradients(f, self.inputs).items()}
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
        if not _gradients(function, inputs):
            raise HeaderError(
                function.location,
                f"{function.name}: expected a gradient by an argument of {forward.name}, such as"
                f" {'gradWeight' if function.phase == 'accGradParameters' else 'gradInput'}, got none",
            )
    saved = [a.name for a in forward.tensors("saved")]
    options = [a.name for a in forward.arguments if a.role == "generator"]
    keep = _read_by_backwards(module, keeps_inputs)
    return _Plan(
        module,
        forward,
        inputs,
        {a.name: a.variable for a in forward.scalars},
        outputs[0],
        saved,
        options + ["return_indices"] * ("indices" in saved),
        keep,
        # A reference and the rules of [DERIVATIVE] tags read values, a formula does not.
        frozenset() if keeps_inputs or forward.derivative else frozenset(keep) - _passed(module),
    )


def _write_output(code: _Lines, plan: _Plan) -> None:
    """Writes the call of updateOutput."""
    caller = "(call_in_place if inplace else call_updateOutput)" if plan.has_inplace else ""
    code.call(plan.forward, forward_sources(plan.module), caller=caller)


def _write_compute(code: _Lines, plan: _Plan) -> None:
    code.add(f"def compute({plan.parameters}):", 0)
    code.flags(plan.has_inplace, plan.returns_indices)
    if plan.has_inplace:
        code.add("if inplace:")
        code.add(f"check_overwritable(updateOutput.function, {plan.inputs[0]})", 2)
    _write_output(code, plan)
    if plan.has_inplace:
        code.add("if inplace:")
        code.add(f"increment_version(({plan.inputs[0]},))", 2)
    code.add(f"return {_tuple([plan.result, plan.output, *plan.saved])}")


def _write_forward(code: _Lines, plan: _Plan) -> None:
    """Writes the forward of torch.autograd.Function. It does not call `compute`, since a Python call costs more than
    the smallest kernels."""
    code.add(f"def forward(ctx, {plan.parameters}):", 0)
    code.flags(plan.has_inplace, plan.returns_indices)
    if plan.has_inplace:
        code.add("if inplace:")
        code.add(f"check_in_place(updateOutput.function, {plan.inputs[0]}, {_tuple(plan.variables)})", 2)
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
    code.add(f"ctx.scalars = {_tuple(plan.variables)}")
    code.add(f"return {plan.result}")


def _write_backward(code: _Lines, plan: _Plan, of_rule: Sequence[str], criterion: bool) -> None:
    """Writes the backward of torch.autograd.Function; `of_rule` are the arguments of the rule."""
    code.add("def backward(ctx, gradOutput, *_):", 0)
    if plan.keep:
        code.add(f"{_tuple(plan.keep)} = ctx.saved_tensors")
    if plan.scalars:
        code.add(f"{_tuple(plan.variables)} = ctx.scalars")
    order = plan.gradients()
    rest = ["None"] * len(plan.variables + plan.options)
    code.add("context = read_context()")
    code.add("if context == TRANSFORM:")
    tensors, numbers = _tuple(plan.keep), _tuple([v for v in plan.variables if v != "inplace"])
    code.add(f"return through_operators(ctx.needs_input_grad, gradOutput, (*{tensors}, *{numbers}))", 2)
    code.add("if context == GRADIENT:")
    code.add(f"gradients = rule(ctx.needs_input_grad, {', '.join(f'{v}={v}' for v in of_rule)})", 2)
    code.add(f"return {_tuple([f'gradients.get({g!r})' if g else 'None' for g in order] + rest)}", 2)
    produced = list(dict.fromkeys(filter(None, order)))
    # A backward with one gradient is called only if that gradient is needed.
    needs = {n: f"needs[{i}]" for i, n in enumerate(plan.inputs)} if len(produced) > 1 else {}
    if needs:
        code.add("needs = ctx.needs_input_grad")
        code.add(f"{' = '.join(produced)} = None")
    for function in plan.module.backwards:
        sources = backward_sources(plan.module, function, plan.inputs, plan.keep, plan.scalars)
        _backward_call(code, function, sources, needs, criterion)
    code.add(f"return {_tuple([g or 'None' for g in order] + rest)}")


def _callers(plan: _Plan, library: Library, criterion: bool) -> dict[str, Any]:
    """The functions of C by the names that the source of the class calls them by."""
    sources, bound = forward_sources(plan.module), library.bind(plan.forward)
    callers = {"call_updateOutput": results_of(bound, _letters(plan.forward, sources))}
    if plan.has_inplace:
        in_place = _letters(plan.forward, {**sources, plan.output: Source("g")})
        callers["call_in_place"] = results_of(bound, in_place)
    for function in plan.module.backwards:
        letters = _letters(
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


def _read_by_backwards(module: Module, all_inputs: bool) -> list[str]:
    """The tensors of the forward that a backward reads: arguments of the C functions, and tensors that determine the
    sizes of gradients; with `all_inputs` also all others that the forward takes."""
    forward = module.forward
    assert forward is not None
    wanted: set[str | None] = {*_passed(module)}
    wanted |= {
        _template(module, a) for f in module.backwards for a in f.tensors("gradInput", "gradParameter")
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


def _passed(module: Module) -> frozenset[str]:
    """The arguments of the backward functions, without inputs of the forward that are optional in a backward alone: it
    gets None for them."""
    forward = module.forward
    assert forward is not None
    required = {a.name for a in forward.tensors("input", "target", "parameter") if not a.is_optional}
    return frozenset(
        a.name for f in module.backwards for a in f.arguments if not (a.is_optional and a.name in required)
    )


def _template(module: Module, gradient: Argument) -> str | None:
    """The tensor of the forward that a new gradient is sized as: that of which it is the gradient, or an output of the
    same size which the backward reads, so that the other need not be saved."""
    assert module.forward is not None
    passed = _passed(module)
    if gradient.gradient_of not in passed:
        for output in module.forward.tensors("output"):
            if output.name in passed and output.like == gradient.gradient_of:
                return output.name
    return gradient.gradient_of


def _gradients(function: HeaderFunction, inputs: Sequence[str]) -> dict[str, str]:
    """The gradients that a backward function computes, by name, with the tensor that each is the gradient of."""
    # accGradParameters of some modules has an argument gradInput that it does not use.
    roles = ("gradParameter",) if function.phase == "accGradParameters" else ("gradInput", "gradParameter")
    return {
        a.name: a.gradient_of
        for a in function.arguments
        if a.is_tensor and a.role in roles and a.gradient_of and a.gradient_of in inputs
    }


def check_given(name: str, scaled: bool, **tensors: Any) -> None:
    """Two checks of the tensors of an operator that no C function makes: torch passes None for any tensor, and the
    gradient w.r.t. a loss, gradOutput if `scaled`, is a factor of the C function's result.

    Raises TypeError for None, and ValueError for a factor with dimensions.
    """
    for argument, value in tensors.items():
        if value is None:
            raise TypeError(f"{name}: {argument}: expected a tensor, got None")
    if scaled and tensors["gradOutput"].dim() != 0:
        shape = tuple(tensors["gradOutput"].shape)
        raise ValueError(f"{name}: gradOutput: expected a tensor without dimensions, got shape {shape}")


def forward_kernel(module: Module, library: Library) -> Callable[..., Any]:
    """updateOutput as the kernel of an operator: a function of its tensors, scalars and generators, in this order, that
    changes none of them.

    It returns the outputs, the saved tensors and changed copies of the running statistics, with an empty tensor in
    place of an absent one. In evaluation, optional saved tensors and running statistics are absent.
    """
    forward = module.forward
    assert forward is not None
    tensors = forward.tensors("input", "target", "parameter")
    saved, running = forward.tensors("saved"), [a.name for a in forward.running]
    scalars = [a for a in forward.scalars if a.name != "inplace"]
    generators = [a for a in forward.arguments if a.role == "generator"]
    sources = forward_sources(module)
    if "inplace" in sources:
        sources["inplace"] = Source(constant=False)
    optional = [a.name for a in saved if a.is_optional]
    trains = any(a.name == "train" for a in forward.scalars) and bool(optional or running)
    code = _Lines()
    code.add(f"def {forward.name}({', '.join(a.variable for a in (*tensors, *scalars, *generators))}):", 0)
    code.check_given(forward, [a.name for a in tensors if not a.is_optional])
    if trains:
        sources.update((n, Source("g", "allocate")) for n in optional if sources[n].letter == "g")
        code.add("allocate = ALLOCATE if train else None")
    if trains and running:
        code.add("if train:")
    for name in running:
        code.add(f"{name} = None if {name} is None else {name}.clone()", 1 + trains)
    code.call(forward, sources)
    if trains and running:
        code.add("if not train:")
        code.add(f"{' = '.join(running)} = None", 2)
    results = [a.name for a in (*forward.tensors("output"), *saved)] + running
    code.results(results, [*optional, *running], tensors[0].name)
    return _kernel(code, forward, sources, library)


def _kernel(
    code: _Lines,
    function: HeaderFunction,
    sources: Mapping[str, Source],
    library: Library,
    scaled: bool = False,
) -> Callable[..., Any]:
    """The function of the source, which calls a C function."""
    call = results_of(library.bind(function), _letters(function, sources), scaled=scaled)
    namespace = {f"call_{function.phase}": call, "check_given": check_given, "ALLOCATE": ALLOCATE}
    _compile(function.name, "\n".join(code.lines) + "\n", namespace)
    kernel: Callable[..., Any] = namespace[function.name]
    return dynamo_disable(kernel)  # torch.compile meets it where a graph breaks, as at backward()


class BackwardKernel(NamedTuple):
    """A backward function as the kernel of an operator: a function of gradOutput, the tensors of the forward that
    backward functions read, and the scalars."""

    function: HeaderFunction
    arguments: tuple[str, ...]  # after gradOutput
    gradients: Mapping[str, str]  # the results: each gradient with the tensor that it is the gradient of
    sources: Mapping[str, Source]  # of the arguments of the C function
    run: Callable[..., Any]  # returns one gradient or a tuple; an empty tensor for that of an absent tensor

    @property
    def templates(self) -> Mapping[str, str]:
        """Each gradient with the argument that it is sized as."""
        return {name: self.sources[name].variable or of for name, of in self.gradients.items()}


def backward_kernels(module: Module, library: Library, reference: Reference | None) -> list[BackwardKernel]:
    """The backward functions of a module, for its operators."""
    forward = module.forward
    assert forward is not None
    inputs = [a.name for a in forward.tensors("input", "target", "parameter")]
    scalars = {a.name: a.variable for a in forward.scalars}
    optional = {a.name for a in forward.tensors() if a.is_optional}
    keep = _read_by_backwards(module, all_inputs=reference is not None)
    arguments = (*keep, *(v for v in scalars.values() if v != "inplace"))
    kernels = []
    for function in module.backwards:
        gradients = _gradients(function, inputs)
        code = _Lines()
        code.add(f"def {function.name}(gradOutput, {', '.join(arguments)}):", 0)
        criterion = module.is_criterion
        code.check_given(function, ["gradOutput", *(n for n in keep if n not in optional)], criterion)
        sources = backward_sources(module, function, inputs, keep, scalars)
        _backward_call(code, function, sources, {}, criterion)
        code.results([*gradients], [*gradients], "gradOutput")
        run = _kernel(code, function, sources, library, scaled=criterion)
        kernels.append(BackwardKernel(function, arguments, gradients, sources, run))
    return kernels


def backward_sources(
    module: Module,
    function: HeaderFunction,
    inputs: Sequence[str],
    keep: Sequence[str],
    scalars: Mapping[str, str],
) -> dict[str, Source]:
    """The sources of the arguments of a backward function, without the state; a new tensor is a gradient."""
    gradients = _gradients(function, inputs)
    passed = _passed(module)
    sources = {}
    for argument in function.after_state:
        name = argument.name
        if name in gradients:
            source = Source("e" if argument.role == "gradInput" else "z", _template(module, argument))
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


def _backward_call(
    code: _Lines,
    function: HeaderFunction,
    sources: Mapping[str, Source],
    needs: Mapping[str, str],
    criterion: bool,
) -> None:
    """Writes the call of one backward function, under the condition that one of its results is needed."""
    produced = [s.variable or "" for s in sources.values() if s.letter != "."]
    condition = " or ".join(needs[variable] for variable in produced if variable in needs)
    if condition:
        code.add(f"if {condition}:")
    code.call(function, sources, indent=2 if condition else 1, scaled=criterion)
