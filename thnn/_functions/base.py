"""The base of all function classes: their two forms of call.

``XFunction(*settings)(*tensors)`` and ``XFunction.apply(*tensors, *scalars)``. No autograd node is created where no
tensor requires a gradient.
"""

from __future__ import annotations

import copy
import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import torch
from torch import Tensor

from thnn._binding.arguments import REAL_NUMBERS, cast_for_autocast, convert_scalar
from thnn._binding.context import CONSTANT, GRADIENT, PLAIN, make_context_of_call
from thnn._binding.library import THNN, Library
from thnn._binding.plan import backward_method
from thnn._header import Module
from thnn._operators import calls
from thnn._operators.calls import define
from thnn._operators.model import OperatorCall
from thnn._operators.operators import Operators
from thnn._plan import ClassPlan
from thnn._spelling import did_you_mean
from thnn._torch import has_backward_class, in_onnx_export, is_dynamo_compiling, node_apply

_MISSING: Any = object()
_NUMBERS = (bool, int, float)
_PLAIN_TYPES = {"bool": (bool,), **dict.fromkeys(REAL_NUMBERS, (float, int))}
_LEAST_INT, _LARGEST_INT = -(1 << 31), (1 << 31) - 1  # of an int in C
_OF_0_3 = "; there is no {} of PyTorch 0.3: see docs/migration.md#which-header"
_OVERRIDDEN = "overrides forward or backward, which no transform of torch sees"
_is_grad_enabled = torch.is_grad_enabled


_call_planned_backward = backward_method()


def _make_node(cls: type[FunctionBase]) -> Any:
    """The autograd function of a class, with its name. It calls `backward` directly, without torch's method that looks
    `backward` up in each call."""
    members = {"forward": staticmethod(cls.forward), "backward": staticmethod(cls.backward)}
    node: Any = type(cls.__name__, (torch.autograd.Function,), {"__module__": cls.__module__, **members})
    if not has_backward_class:
        return node
    made: Any = node._backward_cls
    # A slot, since the dictionary of an object takes longer to create and to free than a small kernel.
    own: dict[str, Any] = {"__module__": cls.__module__, "__slots__": ("scalars",), "apply": cls.backward}
    if not inspect.isfunction(cls.backward):  # of C, which would not become a method
        own |= {"apply": _call_planned_backward, "planned_backward": staticmethod(cls.backward)}
    node._backward_cls = type(made.__name__, (made,), own)
    return node


class FunctionBase:
    """Base class of all function classes.

    ``XFunction(*settings)`` creates a reusable object that is called with the tensors; ``XFunction.apply(*tensors,
    *scalars)`` creates no such object. Settings are the scalars and, before them, running statistics. Both forms
    accept keywords with the names in THNN.h; optional tensors may be omitted or None.

    Inside ``torch.autocast``, tensors of float16 and bfloat16 in a call with tensors of another type are cast to
    float32 and computed in it, as by ``torch.amp.custom_fwd(cast_inputs=torch.float32)``. Running statistics, which a
    call updates, are not cast.
    """

    module: ClassVar[Module]
    plan: ClassVar[ClassPlan]
    has_second_derivatives: ClassVar[bool] = True
    # Names in the order of `apply`, and the number of tensors among them.
    _names: ClassVar[tuple[str, ...]] = ()
    _tensor_count: ClassVar[int] = 0
    # Running statistics, which a call updates. `apply` takes them as the last tensors, an object as settings, like
    # scalars.
    _running: ClassVar[tuple[str, ...]] = ()
    _call_tensor_count: ClassVar[int] = 0  # tensors that an object is called with
    _arity: ClassVar[int] = 0  # arguments of `apply`
    # Types of the settings that need no conversion, values of omitted settings, and the number that must be given.
    _setting_types: ClassVar[tuple[tuple[type, ...], ...]] = ()
    _last_settings: ClassVar[tuple[Any, ...]] = ()
    _needed_settings: ClassVar[int] = 0
    _refusal: ClassVar[Callable[..., NoReturn]]  # `apply` of an object with settings
    # All settings of an object, the number that was given or, if they were converted, these by name, and whether one is
    # a tensor of the call.
    _settings: tuple[Any, ...]
    _given: int
    _named: dict[str, Any] | None = None
    _tensors_by_keyword = False
    _optional: ClassVar[frozenset[str]] = frozenset()
    _aliases: ClassVar[Mapping[str, str]] = {}
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _constants: ClassVar[tuple[str, ...]] = ()  # tensors without a gradient
    _constant_positions: ClassVar[tuple[int, ...]] = ()
    compute: ClassVar[Callable[..., Any]]  # the forward without an autograd node
    __signature__: ClassVar[inspect.Signature]
    forward: ClassVar[Callable[..., Any]]
    backward: ClassVar[Callable[..., Any]]
    # The context of a call (thnn/_binding/context.py).
    _context_of: ClassVar[Callable[[tuple[Any, ...]], int]]
    _node: ClassVar[Any]  # the autograd function, a class of its own
    _enter: ClassVar[Callable[..., Any]]  # torch.autograd.Function.apply, which creates the autograd node

    # Operators (thnn/_operators), defined at the first use.
    _library: ClassVar[Library] = THNN
    # The rule of derivatives (thnn/_derivatives/rule.py); None: derivatives are products of the C functions.
    _rule: ClassVar[Callable[..., Any] | None] = None
    # The forward in torch operations, of a class that is written by hand (thnn/_operators/decompositions.py).
    _decomposition: ClassVar[Callable[..., Any] | None] = None
    # The function in torch operations that was given to thnn.load.
    _reference: ClassVar[Callable[..., Any] | None] = None
    _operators: ClassVar[Any]
    _operator: ClassVar[Any]  # the operator of torch.library
    _transformed: ClassVar[Callable[..., Any]]  # the same for torch.func and forward mode
    _call: ClassVar[OperatorCall]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._arity = len(cls._names)
        cls._call_tensor_count = cls._tensor_count - len(cls._running)
        cls._refusal = staticmethod(_refusal_of(cls.__name__))
        cls._constant_positions = tuple(cls._names.index(name) for name in cls._constants)
        cls._context_of = make_context_of_call(cls._tensor_count, cls._constant_positions)
        cls.__signature__ = cls._signature(cls._names[cls._call_tensor_count :])
        if hasattr(cls, "forward"):
            cls._node = node = _make_node(cls)
            cls._enter = node.apply if node_apply is None else node_apply.__get__(None, node)
        if "module" in cls.__dict__:
            cls._describe_settings()
            cls._describe_operator()
        elif not {"forward", "backward", "compute"}.isdisjoint(cls.__dict__):
            cls._call = cls._call._replace(is_overridden=True)
        if "forward" in cls.__dict__ and "compute" not in cls.__dict__:
            # A subclass that overrides forward only: its forward also serves calls without a gradient.
            cls.compute = staticmethod(cls._enter)

    @classmethod
    def _describe_settings(cls) -> None:
        forward = cls.module.forward
        assert forward is not None
        kinds = {a.name: _PLAIN_TYPES.get(a.type, (int,)) for a in forward.scalars}
        names = cls._names[cls._call_tensor_count :]
        cls._setting_types = tuple(kinds.get(n, ()) for n in names)
        cls._last_settings = tuple(cls._defaults.get(n) for n in names)
        needed = [k for k, n in enumerate(names, 1) if n not in cls._defaults and n not in cls._optional]
        cls._needed_settings = max(needed, default=0)

    @classmethod
    def _describe_operator(cls) -> None:
        forward, names = cls.module.forward, cls._names
        assert forward is not None
        count = len(forward.tensors("output", "saved"))
        cls._call = OperatorCall(
            arity=cls._arity,
            scalars=tuple((names.index(a.name), a.name) for a in forward.scalars if a.name in names),
            constants=cls._constant_positions,
            inplace_at=names.index("inplace") if "inplace" in names else -1,
            train_at=names.index("train") if "train" in names else -1,
            returns_indices="return_indices" in names,
            output_count=len(forward.tensors("output")),
            result_count=count + len(forward.running),
            updated=tuple((names.index(a.name), count + k) for k, a in enumerate(forward.running)),
        )

    @classmethod
    def _make_operators(cls, namespace: str) -> Any:
        """The operators of the class, defined in a namespace of torch.ops."""
        return Operators(cls, namespace)

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

    def __init__(self, *settings: Any, **keywords: Any) -> None:
        if not keywords and self._keep_plain(settings):
            return
        names = self._names[self._call_tensor_count :]
        if len(settings) > len(names):
            raise TypeError(f"{type(self).__name__}: {self._too_many(len(settings), names)}")
        for name, value in zip(names, settings):
            if isinstance(value, Tensor) and name not in self._running:
                raise TypeError(f"{type(self).__name__}: {name}: expected a scalar, got a tensor")
            if name in keywords:
                raise TypeError(f"{type(self).__name__}: {name} was given twice")
            keywords[name] = value
        named = self._named = self._canonical(keywords, names)
        if named:
            # The class method would compute with the defaults.
            self.apply = self._refusal  # type: ignore[method-assign]
        for name in names:
            if not (name in named or name in self._defaults or name in self._optional):
                raise TypeError(f"{type(self).__name__}: {name} is missing; takes {self._spelled(names)}")
        forward = self.module.forward
        assert forward is not None
        for argument in forward.scalars:
            value = named.get(argument.name)
            if value is not None:
                converted = convert_scalar(forward, argument, value)
                if type(value) not in _NUMBERS:
                    named[argument.name] = converted
        self._settings = tuple(named.get(n, self._defaults.get(n)) for n in names)
        self._tensors_by_keyword = any(n in self._names[: self._call_tensor_count] for n in named)

    def _keep_plain(self, settings: tuple[Any, ...]) -> bool:
        """Keeps settings that need no conversion, the usual ones, in a small part of the time that others take. Returns
        False for others."""
        types, count = self._setting_types, len(settings)
        if not self._needed_settings <= count <= len(types):
            return False
        for value, plain in zip(settings, types):
            kind = type(value)
            if kind not in plain or (kind is int and not _LEAST_INT <= value <= _LARGEST_INT):
                return False
        self._settings = settings if count == len(types) else settings + self._last_settings[count:]
        self._given = count
        if count:
            # The class method would compute with the defaults.
            self.apply = self._refusal  # type: ignore[method-assign]
        return True

    @property
    def _keywords(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        if self._named is not None:
            return self._named
        return dict(zip(self._names[self._call_tensor_count :], self._settings[: self._given]))

    def __call__(self, *tensors: Any, **keywords: Any) -> Any:
        if len(tensors) == self._call_tensor_count and not keywords and not self._tensors_by_keyword:
            return type(self).apply(*tensors, *self._settings)
        return type(self).apply(*tensors, **{**self._keywords, **self._canonical(keywords)})

    @property
    def _state(self) -> dict[str, Any]:
        """The attributes, without the refusal, which cannot be pickled."""
        return {name: value for name, value in self.__dict__.items() if name != "apply"}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._state)

    # Also for classes that cannot be pickled.
    def __copy__(self) -> FunctionBase:
        return _restore(type(self), self._state)

    def __deepcopy__(self, memo: dict[int, Any]) -> FunctionBase:
        return _restore(type(self), copy.deepcopy(self._state, memo))

    def __repr__(self) -> str:
        settings = ", ".join(f"{k}={v!r}" for k, v in self._keywords.items() if not isinstance(v, Tensor))
        return f"{type(self).__name__}({settings})"

    @classmethod
    def _canonical(cls, keywords: Mapping[str, Any], settings: Sequence[str] | None = None) -> dict[str, Any]:
        """Keywords with the names in THNN.h. Errors in keywords of the constructor list its `settings`."""
        renamed = {}
        for key, value in keywords.items():
            name = cls._aliases.get(key, key)
            if name not in cls._names:
                hint = did_you_mean(key, cls._names) or f"; {cls._takes(settings)}"
                if key == cls._setting_of_0_3():
                    hint += _OF_0_3.format(key)
                raise TypeError(f"{cls.__name__}: unexpected keyword {key!r}{hint}")
            if name in renamed:
                raise TypeError(f"{cls.__name__}: {name} was given twice")
            renamed[name] = value
        return renamed

    @classmethod
    def _spelled(cls, names: Sequence[str]) -> str:
        """The arguments of a call as text for error messages: (input, bias or None, kW, kH, ceil_mode=False). An
        optional tensor before an argument without a default is written `bias or None`: `bias=None` would suggest that
        the rest have defaults, too."""
        words: list[str] = []
        default_follows = True
        for name in reversed(names):
            default = cls._defaults.get(name, _MISSING)
            if default is not _MISSING:
                words.append(f"{name}={default!r}")
            elif name in cls._optional:
                words.append(f"{name}=None" if default_follows else f"{name} or None")
            else:
                words.append(name)
                default_follows = False
        return f"({', '.join(reversed(words))})"

    @classmethod
    def _takes(cls, settings: Sequence[str] | None = None) -> str:
        """The arguments of `apply`, or the settings of the constructor, for error messages."""
        if settings is None:
            return f"takes {cls._spelled(cls._names)}"
        if not settings:
            return f"takes no settings; give the tensors in the call: {cls.__name__}()(...)"
        return f"takes {cls._spelled(settings)}"

    @classmethod
    def _setting_of_0_3(cls) -> str:
        """The setting that PyTorch 0.3 added, which thnn does not have; '' if there is none."""
        if cls.module.name in ("SoftMax", "LogSoftMax"):
            return "dim"
        return "reduce" if "sizeAverage" in cls._names else ""

    @classmethod
    def _too_many(cls, count: int, names: Sequence[str]) -> str:
        excess = count - len(names)
        many = (
            f"{excess} argument{'s' if excess != 1 else ''} too many; "
            if excess > 0
            else "too many arguments; "
        )
        later = cls._setting_of_0_3()
        return (many if names else "") + cls._takes(names) + (_OF_0_3.format(later) if later else "")

    @classmethod
    def _bind(cls, args: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of `apply`, with defaults filled in."""
        bound = cls._canonical(keywords)
        rest = list(args)
        for position, name in enumerate(cls._names):
            if not rest:
                break
            is_tensor_slot = position < cls._tensor_count
            if name in bound:
                # Legacy callers give an optional tensor by keyword, and the arguments after it by position.
                if is_tensor_slot and name in cls._optional:
                    continue
                raise TypeError(f"{cls.__name__}: {name} was given twice")
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
            if name in bound:
                values.append(bound[name])
            elif name in cls._optional:
                values.append(None)
            elif name in cls._defaults:
                values.append(cls._defaults[name])
            else:
                raise TypeError(f"{cls.__name__}: {name} is missing; takes {cls._spelled(cls._names)}")
        return tuple(values)

    @classmethod
    def apply(cls, *args: Any, **keywords: Any) -> Any:
        """Computes the function; arguments are the tensors, then the scalars, in the order of THNN.h."""
        if is_dynamo_compiling():
            return cls._traced_apply(*args, **keywords)
        if keywords or len(args) != cls._arity:
            args = cls._bind(args, keywords)
        try:
            context = cls._context_of(args)
            if context == PLAIN:
                return cls.compute(*args)
            if context == GRADIENT:
                return cls._enter(*args)
        except (TypeError, ValueError):
            if any(isinstance(a, torch.fx.Proxy) for a in args) or calls.takes_shards(cls, args):
                return cls._through_operator(args)
            # C rejects tensors of several types with a TypeError, so autocast is queried only here, and costs a
            # successful call nothing.
            cast = cast_for_autocast(args[: cls._call_tensor_count])
            if cast is None:
                raise
            return cls.apply(*cast, *args[cls._call_tensor_count :])
        if context == CONSTANT:
            cls._wants_gradient(args)  # raises the error
        return cls._through_operator(args)

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
                    backward = f"{cls.module.name}_updateGradInput"
                    why = "" if cls.module.backwards else f": {backward} is not declared"
                    raise NotImplementedError(
                        f"{cls.__name__}: {name}: the gradient by {name} is not implemented{why}"
                    )
        except AttributeError:
            return False  # not a tensor: the error of the C function names it
        return True

    @classmethod
    def _through_operator(cls, args: tuple[Any, ...]) -> Any:
        """`apply` by way of the operator, which every tracer and transform of torch knows."""
        call = define(cls)
        if call.is_overridden:
            raise NotImplementedError(f"{cls.__name__}: {_OVERRIDDEN}")
        if in_onnx_export():
            raise NotImplementedError(
                f"{cls.__name__}: torch.onnx.export knows the layers of thnn.nn, but no functions of thnn"
            )
        if _is_grad_enabled() and not any(isinstance(a, torch.fx.Proxy) for a in args):
            cls._wants_gradient(args)
        if torch.compiler.is_compiling():
            return _call_operator(call, cls._operator, args)
        return _call_operator(call, lambda *given: calls.run(cls, given), args)

    @classmethod
    def _backward_through_operators(
        cls, needs: Sequence[bool], gradOutput: Tensor, kept: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The results of `backward` inside a transform; `kept` are the values that backward functions read."""
        return calls.gradients(cls, needs, gradOutput, kept)

    @classmethod
    def _traced_apply(cls, *args: Any, **keywords: Any) -> Any:
        """`apply` as torch.compile traces it. Compiled code checks in each call every global name and every attribute
        of the class that this function reads: all but the operator is in the OperatorCall, a constant."""
        call = define(cls)
        if keywords or len(args) != call.arity:
            args = cls._bind(args, keywords)
        for position, name in call.scalars:
            if not isinstance(args[position], (bool, int, float)):
                # torch.compile makes tensors of NumPy's scalars. After this error it runs the call uncompiled.
                raise TypeError(
                    f"{cls.__name__}: {name}: torch.compile needs a bool, int or float of Python; call .item() before"
                )
        if call.is_overridden:
            raise NotImplementedError(f"{cls.__name__}: {_OVERRIDDEN}")
        for position in call.constants:
            if args[position] is not None and args[position].requires_grad and torch.is_grad_enabled():
                cls._wants_gradient(args)
        return _call_operator(call, cls._operator, args)


def _call_operator(call: OperatorCall, operator: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The results of `apply`, computed by the operator, which changes none of its arguments."""
    inplace = call.inplace_at >= 0 and args[call.inplace_at]
    given = args[: len(args) - 1] if call.returns_indices else args
    if call.inplace_at >= 0:
        given = given[: call.inplace_at] + given[call.inplace_at + 1 :]
    if inplace:
        # The operator saves its input for the backward.
        given = (given[0].clone(), *given[1:])
    results = operator(*given)
    output = results[0] if call.result_count > 1 else results
    for position, result in call.updated:
        if args[position] is not None and (call.train_at < 0 or args[call.train_at]):
            args[position].copy_(results[result])
    if inplace:
        # Under autocast the input keeps its values, as in a plain call, which overwrites only the cast.
        return args[0].copy_(output) if args[0].dtype is output.dtype else output
    if call.returns_indices and args[-1]:
        return output, results[1]
    if call.output_count > 1:
        return tuple(results[k] for k in range(call.output_count))
    return output


def _identifier(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _refusal_of(name: str) -> Callable[..., NoReturn]:
    """`apply` of an object with settings. A function: torch.compile of older releases traces no functools.partial."""

    def refuse(*args: Any, **keywords: Any) -> NoReturn:
        raise TypeError(
            f"{name}: apply: does not take the settings of an object; call the object with the tensors"
        )

    return refuse


def _restore(cls: type[FunctionBase], state: dict[str, Any]) -> FunctionBase:
    function = cls.__new__(cls)
    function.__dict__.update(state)
    if function._keywords:
        function.apply = cls._refusal  # type: ignore[method-assign]
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
