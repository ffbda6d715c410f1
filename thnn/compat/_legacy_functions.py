"""Legacy functions: subclasses of torch.autograd.Function with a non-static forward, which torch refuses to call.

    class Scale(Function):
        def __init__(self, factor): ...
        def forward(self, input): ...
        def backward(self, grad_output): ...

    y = Scale(2)(x)

Until PyTorch 0.3 the instance was the node of the graph, and its methods got tensors that were not Variables. Here each
call makes a node whose class derives from the legacy class, so that ``self`` has the methods of torch's ``ctx`` and
``y.grad_fn`` is an instance of the legacy class. The methods get detached tensors, and the gradient mode is the
caller's in `forward` and enabled in `backward`: code that wraps the tensors in new Variables can differentiate them.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from thnn._torch import dynamo_disable, increment_version

_ABSENT: Any = object()
_refuse_init: Any = Function.__init__
_refuse_call: Any = Function.__call__


class _Base(Function):
    """torch's ``ctx`` as legacy functions know it: tensors without history, and no deprecation warnings.

    A call turns the called instance, too, into an instance of the class of its node; its `saved_tensors` are the
    node's.
    """

    def __init__(self) -> None:
        pass  # torch makes the node, which takes over the attributes of the called instance

    def _context(self, name: str) -> Any:
        node = self.__dict__["_thnn_node"]()
        if node is None:
            raise ValueError(f"{type(self).__name__}.{name}: the graph of the call does not exist any more")
        return getattr(Function, name).__get__(node)

    @property
    def needs_input_grad(self) -> Any:  # type: ignore[override]
        """Whether each input requires a gradient."""
        return self._context("needs_input_grad")[1:]  # without the first argument of _forward

    @property
    def saved_variables(self) -> Any:
        """The saved tensors with their history."""
        return self._context("saved_tensors")[:-1]  # without the result of _Inputs

    @property
    def saved_tensors(self) -> Any:  # type: ignore[override]
        """The saved tensors without history."""
        return tuple(None if t is None else t.detach() for t in self.saved_variables)

    def mark_shared_storage(self, *pairs: Any) -> None:
        """No effect: autograd tracks shared storages by itself."""


class _Inputs(Function):
    """An empty tensor with the history of the inputs of a legacy function."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        return torch.empty(0)


class _RefuseSecondDerivative(Function):
    """The gradients that the backward of a legacy function computed. Their derivative is an error.

    `history` are the tensors that the gradients depend on: autograd calls `backward` wherever it looks for a derivative
    w.r.t. one of them or a tensor that they depend on.
    """

    @staticmethod
    def forward(
        ctx: Any, name: str, gradients: Sequence[Tensor | None], *history: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        ctx.name = name
        return tuple(gradients)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise NotImplementedError(
            f"{ctx.name}.backward: legacy functions can be differentiated once only; for second derivatives make"
            " forward and backward static methods (docs/migration.md#functions-with-a-non-static-forward)"
        )


def _is_legacy(cls: type) -> bool:
    for base in cls.__mro__:
        if "forward" in base.__dict__:
            return not isinstance(base.__dict__["forward"], (staticmethod, classmethod))
    return False


def _alias(result: Tensor, is_input: bool) -> Tensor:
    """The output tensor for a result of forward. `data` has a separate version counter, so that autograd does not
    notice when the memory of the result is overwritten and restored before the backward, as until 0.3. An input or a
    view is detached, which shares the version counter: changes of an input are noticed."""
    return result.detach() if is_input or result._is_view() else result.data


def _forward(node: Any, call: tuple[Any, bool, Tensor | None], *inputs: Any) -> Any:
    """The static forward behind every legacy function. `call` is the instance, the gradient mode and the result of
    _Inputs, which is saved: autograd frees it with the graph."""
    instance, grad_enabled, history = call
    earlier = instance.__dict__.get("_thnn_node")
    node.__dict__ = {**instance.__dict__, "_thnn_node": weakref.ref(node)}
    if earlier is None or earlier() is not instance:  # not a node itself
        # Both see attributes that are set later, on the instance or on the node. Nodes of earlier calls keep theirs.
        instance.__dict__ = node.__dict__
        instance.__class__ = type(node)
    detached = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
    with torch.set_grad_enabled(grad_enabled):
        result = node.forward(*detached)
    results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    # mark_dirty, save_for_backward and mark_non_differentiable got detached tensors; torch needs the inputs and
    # outputs that correspond to them.
    of_input = {id(d): x for d, x in zip(detached, inputs) if isinstance(x, Tensor)}
    dirty = [id(t) for t in node.dirty_tensors or ()]
    marked = {id(t) for t in node.non_differentiable or ()}
    if not of_input.keys() >= {*dirty}:
        raise ValueError(f"{type(node).__name__}.mark_dirty: expected inputs of forward")
    # Other outputs are new tensors: a node whose attributes keep the result would otherwise keep itself alive.
    outputs = tuple(
        of_input[id(r)] if id(r) in dirty else _alias(r, id(r) in of_input) if isinstance(r, Tensor) else r
        for r in results
    )
    returned = {id(x) for x in outputs}
    for tensor in (of_input[i] for i in dirty):
        if id(tensor) not in returned:
            increment_version((tensor,))
    node.dirty_tensors = tuple(of_input[i] for i in dirty if id(of_input[i]) in returned)
    node.non_differentiable = tuple(x for r, x in zip(results, outputs) if id(r) in marked)
    replaced = {**{id(r): x for r, x in zip(results, outputs)}, **of_input}
    node.to_save = *(replaced.get(id(t), t) for t in node.to_save or ()), history
    return outputs if isinstance(result, (tuple, list)) else outputs[0]


def _backward(node: Any, *gradients: Any) -> Any:
    """The static backward behind every legacy function."""
    name = type(node).__name__
    if type(node).backward is Function.backward:
        raise NotImplementedError(f"{name}.backward: is not defined")
    with torch.enable_grad():
        result = node.backward(*(g.detach() if isinstance(g, Tensor) else g for g in gradients))
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    needed = node.needs_input_grad
    if any(r is not None for r in results[len(needed) :]):
        raise ValueError(f"{name}.backward: expected gradients of {len(needed)} inputs, got {len(results)}")
    if any(needed[len(results) :]):
        raise ValueError(
            f"{name}.backward: expected gradients of {len(needed)} inputs, got {len(results)};"
            f" input {needed.index(True, len(results))} requires one"
        )
    results = [*results[: len(needed)], *[None] * (len(needed) - len(results))]
    for position, gradient in enumerate(results):
        if gradient is None:
            continue
        if not isinstance(gradient, Tensor):
            raise TypeError(
                f"{name}.backward: gradient of input {position}: expected a tensor or None,"
                f" got {type(gradient).__name__}"
            )
        results[position] = gradient.detach()
    if torch.is_grad_enabled():  # create_graph=True
        history = node._context("saved_tensors")[-1]
        results = list(_RefuseSecondDerivative.apply(name, results, history, *gradients))
    return None, *results


def _driver(cls: type) -> Any:
    """The Function with static methods that makes the nodes of a legacy class. The class keeps it."""
    driver: Any = cls.__dict__.get("_thnn_driver")
    if driver is None:
        methods = {"forward": staticmethod(_forward), "backward": staticmethod(_backward)}
        driver = type(cls.__name__, (Function,), {"__module__": cls.__module__, **methods})
        of_node = {
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
            "__init__": _Base.__init__,
            "apply": driver._backward_cls.apply,  # Function.apply, which makes nodes, precedes it
            "_thnn_driver": driver,
        }
        driver._backward_cls = type(cls.__name__, (cls, _Base, driver._backward_cls), of_node)
        cls._thnn_driver = driver  # type: ignore[attr-defined]
    return driver


def _init(self: Any, *arguments: Any, **keywords: Any) -> None:
    if not _is_legacy(type(self)):
        _refuse_init(self, *arguments, **keywords)


@dynamo_disable
def _call(self: Any, *inputs: Any, **keywords: Any) -> Any:
    cls = type(self)
    if not _is_legacy(cls):
        return _refuse_call(self, *inputs, **keywords)
    if keywords:
        raise TypeError(f"{cls.__name__}.__call__: takes no keywords, got {', '.join(keywords)}")
    grad_enabled = torch.is_grad_enabled()
    history = _Inputs.apply(*inputs) if grad_enabled else None
    return _driver(cls).apply((self, grad_enabled, history), *inputs)


# NestedIOFunction, which torch still has, calls _do_forward.
_METHODS = {"__init__": _init, "__call__": _call, "_do_forward": _call}


def let_be_called(undo: ExitStack) -> None:
    """Legacy functions can be called until `undo` is closed. Their graphs can be differentiated afterwards, too."""
    for name, method in _METHODS.items():
        undo.callback(_restore, name, Function.__dict__.get(name, _ABSENT))
        setattr(Function, name, method)


def _restore(name: str, method: Any) -> None:
    if method is _ABSENT:
        delattr(Function, name)
    else:
        setattr(Function, name, method)
