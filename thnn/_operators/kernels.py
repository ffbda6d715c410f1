"""C functions as the kernels of operators: Python functions that change none of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from thnn._binding.call import planned
from thnn._binding.library import Library
from thnn._header import Function
from thnn._plan import CallPlan, ClassPlan, Source, gradients_of
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


def forward_kernel(plan: ClassPlan, library: Library) -> Callable[..., Any]:
    """updateOutput as the kernel of an operator: a function of its tensors, scalars and generators, in this order, that
    changes none of them.

    It returns the outputs, the saved tensors and changed copies of the running statistics, with an empty tensor in
    place of an absent one. In evaluation, optional saved tensors and running statistics are absent.
    """
    forward, sources = plan.forward
    running = [a.name for a in forward.running]
    generators = [a.name for a in forward.arguments if a.role == "generator"]
    names = [*plan.inputs, *plan.operator_scalars, *generators]
    if plan.in_place is not None:
        sources = {**sources, "inplace": Source(constant=False)}
    results = [plan.output, *plan.saved]
    optional = [n for n in plan.saved if n in plan.optional]
    train_at = names.index("train") if "train" in names and (optional or running) else -1
    running_at = [names.index(name) for name in running]
    bound = library.bind(forward)
    call = evaluate = planned(bound, CallPlan(forward, sources), names)
    if train_at >= 0:
        # A result that is given, and is None.
        absent = {n: Source("g", _ABSENT) for n in optional if sources[n].letter == "g"}
        evaluate = planned(bound, CallPlan(forward, {**sources, **absent}), [*names, _ABSENT])
    order = _order(CallPlan(forward, sources).results, results)
    check = _checking_given(forward, names, [n for n in plan.inputs if n not in plan.optional])

    def kernel(*values: Any) -> Any:
        check(values)
        if train_at >= 0 and not values[train_at]:
            return packed([*order(evaluate((*values, None))), *(None for _ in running)], values[0])
        if not running:
            return packed(order(call(values)), values[0])
        given = list(values)
        for k in running_at:
            given[k] = None if values[k] is None else values[k].clone()
        return packed([*order(call(tuple(given))), *(given[k] for k in running_at)], values[0])

    return dynamo_disable(kernel)  # torch.compile meets it where a graph breaks, as at backward()


_ABSENT = "<absent>"  # the value None, which follows the arguments


def _order(found: Sequence[str], wanted: Sequence[str]) -> Callable[[Any], Sequence[Any]]:
    """A function of the results of a call that returns them in the order in which they are wanted."""
    if len(found) == 1:
        return lambda result: (result,)
    if list(found) == list(wanted):
        return lambda results: results
    positions = [found.index(name) for name in wanted]
    return lambda results: [results[k] for k in positions]


def _checking_given(
    function: Function, names: Sequence[str], required: Sequence[str], scaled: bool = False
) -> Callable[[Sequence[Any]], None]:
    """`check_given` as a function of the arguments of a kernel."""
    positions = [names.index(name) for name in required]

    def check(values: Sequence[Any]) -> None:
        for k in positions:
            if values[k] is None:
                break
        else:
            if not scaled or values[0].dim() == 0:
                return
        check_given(function.name, scaled, **{name: values[k] for name, k in zip(required, positions)})

    return check


def packed(results: Sequence[Any], like: Tensor) -> Any:
    """The results of an operator, with an empty tensor in place of None."""
    if len(results) == 1:
        return like.new_empty(0) if results[0] is None else results[0]
    return tuple([like.new_empty(0) if r is None else r for r in results])


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


def backward_kernels(plan: ClassPlan, library: Library) -> list[BackwardKernel]:
    """The backward functions of a module, for its operators."""
    arguments = (*plan.keep, *plan.operator_scalars)
    names = ["gradOutput", *arguments]
    required = ["gradOutput", *(n for n in plan.keep if n not in plan.optional)]
    factor = "gradOutput" if plan.module.is_criterion else None
    kernels = []
    for call in plan.backwards:
        gradients = gradients_of(call.function, plan.inputs)
        check = _checking_given(call.function, names, required, plan.module.is_criterion)
        planned_call = planned(library.bind(call.function), call, names, factor)
        run = _backward(planned_call, _order(call.results, list(gradients)), check)
        kernels.append(BackwardKernel(call.function, arguments, gradients, call.sources, run))
    return kernels


def _backward(
    call: Callable[..., Any], order: Callable[[Any], Sequence[Any]], check: Callable[..., None]
) -> Callable[..., Any]:
    def kernel(*values: Any) -> Any:
        check(values)
        return packed(order(call(values)), values[0])

    return dynamo_disable(kernel)
