"""C functions as the kernels of operators: Python functions that change none of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from thnn._binding.call import results_of
from thnn._binding.library import ALLOCATE, Library
from thnn._derivatives.rule import Reference
from thnn._header import Function, Module
from thnn._operators.source import Lines, backward_call, compile_source, letters_of
from thnn._plan import Source, backward_sources, forward_sources, gradients_of, read_by_backwards
from thnn._torch import dynamo_disable


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
    code = Lines()
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
    code: Lines,
    function: Function,
    sources: Mapping[str, Source],
    library: Library,
    scaled: bool = False,
) -> Callable[..., Any]:
    """The function of the source, which calls a C function."""
    call = results_of(library.bind(function), letters_of(function, sources), scaled=scaled)
    namespace = {f"call_{function.phase}": call, "check_given": check_given, "ALLOCATE": ALLOCATE}
    compile_source(function.name, "\n".join(code.lines) + "\n", namespace)
    kernel: Callable[..., Any] = namespace[function.name]
    return dynamo_disable(kernel)  # torch.compile meets it where a graph breaks, as at backward()


class BackwardKernel(NamedTuple):
    """A backward function as the kernel of an operator: a function of gradOutput, the tensors of the forward that
    backward functions read, and the scalars."""

    function: Function
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
    keep = read_by_backwards(module, all_inputs=reference is not None)
    arguments = (*keep, *(v for v in scalars.values() if v != "inplace"))
    kernels = []
    for function in module.backwards:
        gradients = gradients_of(function, inputs)
        code = Lines()
        code.add(f"def {function.name}(gradOutput, {', '.join(arguments)}):", 0)
        criterion = module.is_criterion
        code.check_given(function, ["gradOutput", *(n for n in keep if n not in optional)], criterion)
        sources = backward_sources(module, function, inputs, keep, scalars)
        backward_call(code, function, sources, {}, criterion)
        code.results([*gradients], [*gradients], "gradOutput")
        run = _kernel(code, function, sources, library, scaled=criterion)
        kernels.append(BackwardKernel(function, arguments, gradients, sources, run))
    return kernels
