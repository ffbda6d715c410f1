"""The base of all function classes: their two forms of call.

``XFunction(*settings)(*tensors)`` and ``XFunction.apply(*tensors, *scalars)``. No autograd node is created where no
tensor requires a gradient.
"""

from __future__ import annotations

import difflib
import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.function import FunctionMeta

from thnn._binding.arguments import convert_scalar
from thnn._header import Module
from thnn._torch import (
    dynamo_disable,
    functorch_active,
    in_transform,
    is_tracing,
    node_apply,
    recording_mode,
)

_MISSING: Any = object()
_is_grad_enabled = torch.is_grad_enabled


class _FunctionMeta(FunctionMeta):
    """The metaclass of all function classes. Since it is not torch's own, torch.compile does not trace their forward.
    It also makes an autograd node call the `backward` of its class directly, without torch's method that looks
    `backward` up in each call.
    """

    _backward_cls: Any
    backward: Any

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:  # noqa: N805
        super().__init__(name, bases, members)
        cls._backward_cls.apply = cls.backward
        if "backward" in members:
            dynamo_disable(cls.backward)


class FunctionBase(torch.autograd.Function, metaclass=_FunctionMeta):
    """Base class of all function classes.

    ``XFunction(*settings)`` creates a reusable object that is called with the tensors; ``XFunction.apply(*tensors,
    *scalars)`` creates no such object. Settings are the scalars and, before them, running statistics. Both forms
    accept keywords with the names in THNN.h; optional tensors may be omitted or None.

    Inside ``torch.autocast``, tensors of float16 and bfloat16 are cast to float32 and computed in it, as by
    ``torch.amp.custom_fwd(cast_inputs=torch.float32)``; running statistics, which a call updates, are not cast.
    """

    module: ClassVar[Module]
    source: ClassVar[str] = ""
    has_second_derivatives: ClassVar[bool] = True
    # Names in the order of `apply`, and the number of tensors among them.
    _names: ClassVar[tuple[str, ...]] = ()
    _tensor_count: ClassVar[int] = 0
    # Running statistics, which a call updates. `apply` takes them as the last tensors, an object as settings, like
    # scalars.
    _running: ClassVar[tuple[str, ...]] = ()
    _call_tensor_count: ClassVar[int] = 0  # tensors that an object is called with
    _arity: ClassVar[int] = 0  # arguments of `apply`
    _optional: ClassVar[frozenset[str]] = frozenset()
    _aliases: ClassVar[Mapping[str, str]] = {}
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _constants: ClassVar[tuple[str, ...]] = ()  # tensors without a gradient
    _constant_positions: ClassVar[tuple[int, ...]] = ()
    compute: ClassVar[Callable[..., Any]]  # the forward without an autograd node
    __signature__: ClassVar[inspect.Signature]
    _enter: ClassVar[Callable[..., Any]]  # torch.autograd.Function.apply, which creates the autograd node

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._arity = len(cls._names)
        cls._call_tensor_count = cls._tensor_count - len(cls._running)
        cls._constant_positions = tuple(cls._names.index(name) for name in cls._constants)
        cls.__signature__ = cls._signature(cls._names[cls._call_tensor_count :])
        if node_apply is not None:
            cls._enter = node_apply.__get__(None, cls)
        else:
            cls._enter = super().apply
        if "forward" in cls.__dict__ and "compute" not in cls.__dict__:
            # A subclass that overrides forward only: its forward also serves calls without a gradient.
            cls.compute = staticmethod(lambda *args: (cls._enter(*args),))

    @classmethod
    def _signature(cls, names: Sequence[str]) -> inspect.Signature:
        """The signature of the constructor, for help() and inspect."""
        empty = inspect.Parameter.empty
        parameters: list[inspect.Parameter] = []
        by_keyword = False
        for name in names:
            default = cls._defaults.get(name, empty)
            # Python allows no positional argument without a default after one with a default.
            by_keyword |= default is empty and any(p.default is not empty for p in parameters)
            kind = inspect.Parameter.KEYWORD_ONLY if by_keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(inspect.Parameter(_identifier(name), kind, default=default))
        return inspect.Signature(parameters)

    @dynamo_disable
    def __new__(cls, *scalars: Any, **keywords: Any) -> Any:
        return super().__new__(cls)

    def __init__(self, *settings: Any, **keywords: Any) -> None:
        names = self._names[self._call_tensor_count :]
        if len(settings) > len(names):
            raise TypeError(f"{type(self).__name__}: {self._too_many(len(settings), names)}")
        for name, value in zip(names, settings):
            if isinstance(value, Tensor) and name not in self._running:
                raise TypeError(f"{type(self).__name__}: {name}: expected a scalar, got a tensor")
            if name in keywords:
                raise TypeError(f"{type(self).__name__}: {name} was given twice")
            keywords[name] = value
        self._keywords = self._canonical(keywords)
        for name in names:
            if not (name in self._keywords or name in self._defaults or name in self._optional):
                raise TypeError(f"{type(self).__name__}: {name} is missing; takes {self._spelled(names)}")
        forward = self.module.forward
        assert forward is not None
        for argument in forward.scalars:
            if self._keywords.get(argument.name) is not None:
                convert_scalar(forward, argument, self._keywords[argument.name])
        self._settings = tuple(self._keywords.get(n, self._defaults.get(n)) for n in names)
        self._tensors_by_keyword = any(n in self._names[: self._call_tensor_count] for n in self._keywords)

    def __call__(self, *tensors: Any, **keywords: Any) -> Any:
        if len(tensors) == self._call_tensor_count and not keywords and not self._tensors_by_keyword:
            return self.apply(*tensors, *self._settings)
        return self.apply(*tensors, **{**self._keywords, **self._canonical(keywords)})

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.__dict__)

    def __repr__(self) -> str:
        settings = ", ".join(f"{k}={v!r}" for k, v in self._keywords.items() if not isinstance(v, Tensor))
        return f"{type(self).__name__}({settings})"

    @classmethod
    def _canonical(cls, keywords: Mapping[str, Any]) -> dict[str, Any]:
        renamed = {}
        for key, value in keywords.items():
            name = cls._aliases.get(key, key)
            if name not in cls._names:
                near = difflib.get_close_matches(key, cls._names, 1)
                hint = f"did you mean {near[0]}?" if near else f"takes {cls._spelled(cls._names)}"
                raise TypeError(f"{cls.__name__}: unexpected keyword {key!r}; {hint}")
            if name in renamed:
                raise TypeError(f"{cls.__name__}: {name} was given twice")
            renamed[name] = value
        return renamed

    @classmethod
    def _spelled(cls, names: Sequence[str]) -> str:
        """The arguments of a call as text for error messages: (input, kW, kH, ceil_mode=False)."""
        words = []
        for name in names:
            default = cls._defaults.get(name, _MISSING)
            if name in cls._optional and default is _MISSING:
                default = None
            words.append(name if default is _MISSING else f"{name}={default!r}")
        return f"({', '.join(words)})"

    @classmethod
    def _too_many(cls, count: int, names: Sequence[str]) -> str:
        if not names:
            return f"takes no settings; give the tensors in the call: {cls.__name__}()(...)"
        excess = count - len(names)
        many = (
            f"{excess} argument{'s' if excess != 1 else ''} too many; "
            if excess > 0
            else "too many arguments; "
        )
        return many + f"takes {cls._spelled(names)}"

    @classmethod
    def _bind(cls, args: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of `apply`, with defaults filled in."""
        bound = cls._canonical(keywords)
        rest = list(args)
        for position, name in enumerate(cls._names):
            if not rest:
                break
            if name in bound:
                # Positional arguments skip names given by keyword: legacy callers rely on that.
                continue
            is_tensor_slot = position < cls._tensor_count
            if (
                is_tensor_slot
                and name in cls._optional
                and not (rest[0] is None or isinstance(rest[0], Tensor))
            ):
                continue
            bound[name] = rest.pop(0)
        if rest:
            raise TypeError(f"{cls.__name__}: {cls._too_many(len(args), cls._names)}")
        values = []
        for name in cls._names:
            value = bound.get(name, _MISSING)
            if value is _MISSING:
                if name in cls._optional:
                    value = None
                elif name in cls._defaults:
                    value = cls._defaults[name]
                else:
                    raise TypeError(f"{cls.__name__}: {name} is missing; takes {cls._spelled(cls._names)}")
            values.append(value)
        return tuple(values)

    @classmethod
    @dynamo_disable
    def apply(cls, *args: Any, **keywords: Any) -> Any:
        """Computes the function; arguments are the tensors, then the scalars, in the order of THNN.h."""
        if keywords or len(args) != cls._arity:
            args = cls._bind(args, keywords)
        if in_transform():
            cls._refuse_transforms(args)
        try:
            if _is_grad_enabled() and cls._wants_gradient(args):
                return cls._enter(*args)
            return cls.compute(*args)[0]
        except TypeError:
            # C rejects float16 and bfloat16 with a TypeError, so autocast is queried only here, and costs a successful
            # call nothing.
            cast = cast_for_autocast(args[: cls._call_tensor_count])
            if cast is None:
                raise
            return cls.apply(*cast, *args[cls._call_tensor_count :])

    @classmethod
    def _wants_gradient(cls, args: tuple[Any, ...]) -> bool:
        """Whether any tensor requires a gradient; NotImplementedError if one of `_constants` does."""
        try:
            for tensor in args[: cls._tensor_count]:
                if tensor is not None and tensor.requires_grad:
                    break
            else:
                return False
            for position in cls._constant_positions:
                tensor = args[position]
                if tensor is not None and tensor.requires_grad:
                    name = cls._names[position]
                    raise NotImplementedError(
                        f"{cls.__name__}: {name}: the gradient by {name} is not implemented"
                    )
        except AttributeError:
            return False  # not a tensor: the error of the C function names it
        return True

    @classmethod
    def _refuse_transforms(cls, args: tuple[Any, ...]) -> None:
        """Raises NotImplementedError inside function transforms (torch.func), whose results would silently be wrong."""
        if is_tracing():
            raise NotImplementedError(f"{cls.__name__}: cannot be recorded by torch.jit.trace")
        if (mode := recording_mode()) is not None:
            raise NotImplementedError(f"{cls.__name__}: does not work inside {mode}")
        if functorch_active():
            raise NotImplementedError(
                f"{cls.__name__}: torch.func transforms are not supported; use torch.autograd"
            )
        for name, value in zip(cls._names, args):
            if isinstance(value, Tensor) and forward_ad.unpack_dual(value).tangent is not None:
                raise NotImplementedError(
                    f"{cls.__name__}: {name}: forward-mode derivatives are not implemented"
                )


def cast_for_autocast(tensors: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments with float16 and bfloat16 tensors cast to float32; None outside of autocast or without such
    tensors.

    The rule of ``torch.amp.custom_fwd(cast_inputs=torch.float32)``.
    """
    is_cast = [
        isinstance(t, Tensor)
        and t.dtype in (torch.float16, torch.bfloat16)
        and torch.is_autocast_enabled(t.device.type)
        for t in tensors
    ]
    if not any(is_cast):
        return None
    return tuple(t.float() if cast else t for t, cast in zip(tensors, is_cast))


def _identifier(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _restore(cls: type[FunctionBase], state: dict[str, Any]) -> FunctionBase:
    function = cls.__new__(cls)
    function.__dict__.update(state)
    return function


class Criterion(FunctionBase):
    """Base of the criterion classes."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self._target: Any = _MISSING
        if args and isinstance(args[0], Tensor):
            self._target, args = args[0], args[1:]
        super().__init__(*args, **keywords)

    def __call__(self, *tensors: Any, **keywords: Any) -> Any:
        if self._target is _MISSING:
            return super().__call__(*tensors, **keywords)
        # PyTorch 0.1.1: the target belongs to the object, the loss has one dimension.
        if "target" in keywords:
            raise TypeError(f"{type(self).__name__}: target was given twice")
        return super().__call__(*tensors, target=self._target, **keywords).reshape(1)
