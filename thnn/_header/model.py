"""The model of a header: immutable functions and arguments.

Only the model that `parse_header` returns has the locations of declarations; the generated model has none.
"""

from __future__ import annotations

import hashlib
import keyword
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from thnn._table import html_table

from .roles import BACKWARD_PHASES, TAG_OF_ROLE, Context, Role, decide, gradient_of, split_name

TENSOR_TYPES = frozenset({"THTensor*", "THAccrealTensor*", "THIndexTensor*", "THIntegerTensor*"})

#: Types of numbers that the binding passes.
NUMBER_TYPES = ("accreal", "double", "int", "int64_t", "long", "THIndex_t", "bool")

#: Largest number of characters of the source line that an error quotes.
_EXCERPT = 160


def literal(value: object) -> str:
    """The value of a field as source text: its repr(), or a call for an infinite number, whose repr() is a name."""
    return f"float({str(value)!r})" if isinstance(value, float) and math.isinf(value) else repr(value)


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file; lines and columns count from 1, columns in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class HeaderError(ValueError):
    """A header that cannot be parsed.

    The text reads `file:line:column: message`, then the offending line and a caret under the column.
    """

    __module__ = "thnn"  # as tracebacks name it

    def __init__(self, location: Location, message: str, source_line: str = "") -> None:
        super().__init__(location, message, source_line)
        self.location = location
        self.message = message
        self.source_line = source_line

    def __str__(self) -> str:
        text = f"{self.location}: {self.message}" if self.location.file else self.message
        if not self.source_line:
            return text
        column = self.location.column - 1
        start = max(0, column - _EXCERPT // 2) if len(self.source_line) > _EXCERPT else 0
        excerpt = self.source_line[start : start + _EXCERPT]
        # Tabs are kept, so that the caret stands under its column however wide they are shown.
        indent = "".join("\t" if c == "\t" else " " for c in excerpt[: column - start])
        return f"{text}\n{excerpt}\n{indent}^"


UNKNOWN = Location("", 1, 1)


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a tensor of the forward along a dimension (-1: the last), which a backward takes as a number."""

    tensor: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a function; `type` has the star and no const: 'THTensor*', 'int'."""

    type: str
    name: str
    role: Role
    is_optional: bool = False
    is_modified: bool = False  # [MODIFIED]: an existing tensor that the call may write
    is_mixed: bool = False  # [MIXED]: may be float32 in a call of float16 or bfloat16
    like: str | None = None  # an earlier argument of the same shape
    default: bool | int | float | None = None  # value of a number that callers may omit
    # For a number that only the backward takes: the tensor and dimension whose size it is.
    size: Size | None = None
    doc: str = field(default="", compare=False, repr=False)  # the comment without its tags
    location: Location = field(default=UNKNOWN, compare=False, repr=False)

    @property
    def is_tensor(self) -> bool:
        """Whether the argument is a tensor of any element type."""
        return self.type in TENSOR_TYPES

    @property
    def variable(self) -> str:
        """The name as Python source spells it: 'lambda_' for 'lambda', mostly the name itself."""
        return f"{self.name}_" if keyword.iskeyword(self.name) or self.name in ("self", "cls") else self.name

    @property
    def gradient_of(self) -> str | None:
        """The name of the tensor that the argument is the gradient of: 'weight' for 'gradWeight', None for 'weight'."""
        return gradient_of(self.name)

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(frozen=True, repr=False)
class Function:
    """One function of the library, `<module>_<phase>`."""

    name: str
    arguments: tuple[Argument, ...]
    doc: str = field(default="", compare=False)
    family: str = field(default="", compare=False)  # '' in a header without families
    derivative: str = field(
        default="", compare=False
    )  # the kind in its [DERIVATIVE] tag: 'linear', 'bilinear', 'constant', 'none' (the module has no class) or ''
    location: Location = field(default=UNKNOWN, compare=False)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"

    def _repr_html_(self) -> str:
        rows = [(a.name, a.type, a.role, "optional" if a.is_optional else "") for a in self.arguments]
        return html_table((self.name, "type", "role", ""), rows)

    @cached_property
    def module(self) -> str:
        """'SpatialConvolutionMM' for 'SpatialConvolutionMM_updateOutput'."""
        return split_name(self.name)[0]

    @cached_property
    def phase(self) -> str:
        """'updateOutput' for 'SpatialConvolutionMM_updateOutput', '' for a name without '_'."""
        return split_name(self.name)[1]

    @property
    def after_state(self) -> tuple[Argument, ...]:
        """The arguments without the state, in header order."""
        return tuple(a for a in self.arguments if a.role != "state")

    def argument(self, name: str) -> Argument | None:
        """The argument called `name`, None if there is none."""
        return next((a for a in self.arguments if a.name == name), None)

    def tensors(self, *roles: Role) -> tuple[Argument, ...]:
        """The tensors that have one of `roles` (all tensors if none is given), in header order."""
        return tuple(a for a in self.arguments if a.is_tensor and (not roles or a.role in roles))

    @property
    def running(self) -> tuple[Argument, ...]:
        """The parameters that a call updates, such as running statistics, in header order."""
        return tuple(a for a in self.tensors("parameter") if a.is_modified)

    @cached_property
    def written(self) -> tuple[Argument, ...]:
        """The tensors that a call writes, in header order; a [MODIFIED] tensor may be written only in some modes."""
        is_backward = self.phase in BACKWARD_PHASES

        def is_written(argument: Argument) -> bool:
            if argument.role == "output":
                return not is_backward
            if argument.role == "saved":
                return self.phase == "updateOutput"
            return argument.is_modified or argument.role in ("gradInput", "gradParameter")

        return tuple(a for a in self.arguments if a.is_tensor and is_written(a))

    @property
    def scalars(self) -> tuple[Argument, ...]:
        """The numbers and flags, in header order (no state, no generator)."""
        return tuple(a for a in self.arguments if a.role == "scalar")

    def declaration(self) -> str:
        """The C declaration, with the tags that names do not imply; parsing it gives an equal function."""
        if not self.arguments:
            return f"TH_API void THNN_({self.name})(void);\n"
        lines = [f"TH_API void THNN_({self.name})("]
        for i, argument in enumerate(self.arguments):
            base = argument.type.rstrip("*")
            stars = argument.type[len(base) :]
            end = ");" if i == len(self.arguments) - 1 else ","
            code = f"          {base} {stars}{argument.name}{end}"
            tags = " ".join(f"[{tag}]" for tag in self._tags(argument))
            lines.append(f"{code:<38} // {tags}" if tags else code)
        return "\n".join(lines) + "\n"

    def _tags(self, argument: Argument) -> list[str]:
        tags = []
        if argument.is_tensor:
            own = {a.name: a.role for a in self.arguments if a.is_tensor and a.gradient_of is None}
            names = {a.name for a in self.arguments}
            # Parsed without its module, the declaration must give the same role. So the tag is the first one
            # for which decide() returns the role whether a backward reads the tensor or not.
            contexts = [Context(self.name, names, own=own, read_later=later) for later in (set(), {"buffer"})]
            for tag in ("", TAG_OF_ROLE[argument.role], "SCRATCH"):
                given = {tag} if tag else set()
                if all(decide(argument.name, given, c) == argument.role for c in contexts):
                    break
            if tag:
                tags.append(tag)
        if argument.is_optional:
            tags.append("OPTIONAL")
        if argument.is_modified:
            tags.append("MODIFIED")
        if argument.is_mixed:
            tags.append("MIXED")
        if argument.like is not None:
            tags.append(f"LIKE {argument.like}")
        if argument.default is not None:
            tags.append(f"DEFAULT {str(argument.default).lower()}")
        if argument.size is not None:
            tags.append(f"SIZE {argument.size.tensor} {argument.size.dimension}")
        return tags


@dataclass(frozen=True, slots=True)
class Module:
    """The functions that share the name before the last '_', by phase, in header order."""

    name: str
    functions: Mapping[str, Function] = field(hash=False)

    @property
    def family(self) -> str:
        """The family of its functions: 'pooling'."""
        return next(iter(self.functions.values())).family

    @property
    def forward(self) -> Function | None:
        """`updateOutput`, None if the module has none or has no class."""
        function = self.functions.get("updateOutput")
        return None if function is None or function.derivative == "none" else function

    @property
    def grad_input(self) -> Function | None:
        """`updateGradInput`."""
        return self.functions.get("updateGradInput")

    @property
    def acc_grad_parameters(self) -> Function | None:
        """`accGradParameters`."""
        return self.functions.get("accGradParameters")

    @property
    def backward(self) -> Function | None:
        """`backward`, the fused form of the other two."""
        return self.functions.get("backward")

    @property
    def backwards(self) -> tuple[Function, ...]:
        """The functions updateGradInput, accGradParameters and backward of the module; none without a forward."""
        functions = (self.grad_input, self.acc_grad_parameters, self.backward) if self.forward else ()
        return tuple(f for f in functions if f is not None)

    @property
    def others(self) -> tuple[Function, ...]:
        """The functions that are neither forward nor backward; without a forward, all."""
        of_class = (self.forward, *self.backwards)
        return tuple(f for f in self.functions.values() if f not in of_class)

    @property
    def is_criterion(self) -> bool:
        """True if the output is a loss; gradInput is then multiplied by the gradient w.r.t. the loss."""
        forward, grad_input = self.forward, self.grad_input
        if self.name.endswith("Criterion") or (forward is not None and bool(forward.tensors("target"))):
            return True
        return grad_input is not None and any(a.is_optional for a in grad_input.tensors("gradOutput"))


def group_modules(functions: Iterable[Function]) -> dict[str, Module]:
    """The modules that `functions` make up, by name, in the order of their first functions."""
    groups: dict[str, dict[str, Function]] = {}
    for function in functions:
        groups.setdefault(function.module, {})[function.phase] = function
    return {name: Module(name, MappingProxyType(phases)) for name, phases in groups.items()}


def digest(functions: Iterable[Function]) -> str:
    """A short hash of names, types, roles, [OPTIONAL] and [MIXED] of all functions and arguments, without comments.

    A library and a model with the same digest were generated from the same declarations.
    """
    text = "".join(f"{f!r} {[(a.role, a.is_optional, a.is_mixed) for a in f.arguments]}\n" for f in functions)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
