"""What an argument of a THNN function is for, told from its name and its tags.

Everything here works on plain names: the tables, the rule that applies them (`decide`), and the few scalars
that a backward may ask for although the forward does not take them (`BACKWARD_SCALARS`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Literal

Role = Literal[
    "state",  # THNNState*
    "generator",  # THGenerator*
    "scalar",  # every other argument that is no tensor
    "input",
    "target",  # what a criterion compares the input with
    "parameter",  # weights, biases, running statistics
    "output",
    "gradOutput",  # gradient of an output
    "gradInput",  # gradient of an input (or of a target)
    "gradParameter",  # gradient of a parameter
    "saved",  # written by the forward, read by the backward
    "buffer",  # scratch: the values are worth nothing after the call
]

#: Tags that say the role outright; they win over names.
ROLE_TAGS: Mapping[str, Role] = {
    "INPUT": "input",
    "TARGET": "target",
    "PARAMETER": "parameter",
    "SAVED": "saved",
    "GRADOUTPUT": "gradOutput",
    "GRADINPUT": "gradInput",
    "GRADPARAMETER": "gradParameter",
}

#: The coarse tags of the 2016-2017 headers ([BUFFER] there also marks saved tensors); names win over them.
COARSE_TAGS: Mapping[str, Role] = {"OUT": "output", "BUFFER": "buffer"}

#: Every tag that the comments of a header may hold.
TAGS: frozenset[str] = frozenset({*ROLE_TAGS, *COARSE_TAGS, "OPTIONAL", "MODIFIED", "LIKE"})

#: The tag that gives a role to a tensor whose name does not.
TAG_OF_ROLE: Mapping[str, str] = {role: tag for tag, role in (*ROLE_TAGS.items(), *COARSE_TAGS.items())}

#: Roles that each tag can stand beside; a pair of tags without a common role contradicts itself.
_COMPATIBLE: Mapping[str, frozenset[Role]] = {
    **{tag: frozenset({role}) for tag, role in ROLE_TAGS.items()},
    "OUT": frozenset({"output", "saved", "buffer", "gradInput", "gradParameter"}),
    "BUFFER": frozenset({"buffer", "saved"}),
}

#: Conventional names of tensors. A number at the end does not count: bias1 is a bias.
_NAMES: Mapping[Role, tuple[str, ...]] = {
    "input": (
        *("hidden", "hx", "cell", "cx"),  # recurrent cells
        *("keys", "values", "sizes", "cumSumSizes", "runningKeys", "lastInput"),  # sparse rows
        *("idx", "grid", "connTable", "randomSamples"),
    ),
    "target": ("target",),
    "parameter": ("weight", "weights", "bias", "running_mean", "running_var"),
    "output": ("cy",),  # recurrent cells
    "saved": ("total_weight", "save_mean", "save_std", "noise", "isTarget", "storage"),
    "buffer": (
        *("finput", "fgradInput", "columns", "gradColumns", "ones"),  # convolutions
        *("count", "sorted", "normalizedValues"),  # tables
    ),
}
_ROLE_OF_NAME: Mapping[str, Role] = {name: role for role, names in _NAMES.items() for name in names}

#: Conventional families of names: addBuffer and gradWeightBuf2, input and inputHx, output and outputCell.
_PATTERNS: tuple[tuple[re.Pattern[str], Role], ...] = (
    (re.compile(r"(?:\w*[a-z0-9])?Buf(?:fer)?|buf(?:fer)?"), "buffer"),
    (re.compile(r"in(?:put)?(?:[A-Z]\w*)?"), "input"),
    (re.compile(r"output(?:[A-Z]\w*)?"), "output"),
)

#: Backward name -> forward name, where the recurrent cells of 2017 call one tensor by two names.
FORWARD_NAMES: Mapping[str, str] = {"cx": "cell", "cy": "outputCell", "storage": "hidden"}

_ROLE_OF_GRADIENT: Mapping[Role, Role] = {
    "input": "gradInput",
    "target": "gradInput",
    "parameter": "gradParameter",
    "output": "gradOutput",
}


#: Phases that differentiate the forward of their module, whose arguments must be known to it.
BACKWARD_PHASES: frozenset[str] = frozenset({"updateGradInput", "accGradParameters", "backward"})


@dataclass(frozen=True)
class BackwardScalar:
    """A scalar that a backward may take although the forward does not.

    With `tensor` set, it is the size of dimension `dim` of that tensor ('input' or 'output'); otherwise it is
    a setting of the backward alone, and `default` is the value that changes nothing.
    """

    meaning: str
    tensor: str | None = None
    dim: int | None = None
    default: float | None = None


def _sizes() -> dict[str, BackwardScalar]:
    axes = (("Width", "W", "width", -1), ("Height", "H", "height", -2), ("Depth", "T", "depth (time)", -3))
    table = {
        "nbatch": BackwardScalar("batch size", "input", 0),
        "nchannels": BackwardScalar("number of channels", "input", 1),
    }
    for word, letter, meaning, dim in axes:
        table["input" + word] = BackwardScalar(f"{meaning} of the input", "input", dim)
        for name in ("output" + word, "output" + letter, "osize" + letter, "o" + letter, "o" + word.lower()):
            table[name] = BackwardScalar(f"{meaning} of the output", "output", dim)
    return table


#: The conventional scalars of backward functions, by name.
BACKWARD_SCALARS: Mapping[str, BackwardScalar] = {
    "scale": BackwardScalar("factor of what is added to the gradients of parameters", default=1.0),
    "weightDecay": BackwardScalar("factor of the weights added to their gradient", default=0.0),
    **_sizes(),
}


@dataclass(frozen=True)
class Context:
    """What is known around an argument when its role is decided."""

    function: str
    names: Set[str]  # every argument of the function
    forward: Mapping[str, Role] = field(
        default_factory=dict
    )  # roles in the forward, unless this is the forward
    own: Mapping[str, Role] = field(default_factory=dict)  # roles of this function already decided
    read_later: Set[str] = frozenset()  # names that the backward functions of the module take


def split_name(function: str) -> tuple[str, str]:
    """Module and phase of a function: its name split at the last '_'; the phase is '' where there is none."""
    head, _, tail = function.rpartition("_")
    return (head, tail) if head and tail else (function, "")


def gradient_of(name: str) -> str | None:
    """The name that `name` is the gradient of: 'weight' for 'gradWeight', None for 'weight'."""
    if name.startswith("grad") and name[4:5].isupper():
        return name[4].lower() + name[5:]
    return None


def forward_name(name: str, forward: Set[str]) -> str | None:
    """What a forward with the argument names `forward` calls tensor `name`; None if it does not know it."""
    if name in forward:
        return name
    other = FORWARD_NAMES.get(name)
    return other if other in forward else None


def contradict(tag: str, other: str) -> bool:
    """Whether two role tags cannot both be true of one tensor."""
    return not _COMPATIBLE[tag] & _COMPATIBLE[other]


def decide(name: str, tags: Set[str], context: Context) -> Role | None:
    """The role of tensor `name`, or None where neither name, tags nor module tell."""
    for tag, role in ROLE_TAGS.items():
        if tag in tags:
            return role
    known = forward_name(name, context.forward.keys())
    found = context.forward[known] if known is not None else _by_name(name, tags, context)
    if found == "saved" and "OUT" in tags and _stands_alone(context.function):
        return "output"
    return found or next((COARSE_TAGS[tag] for tag in COARSE_TAGS if tag in tags), None)


def _stands_alone(function: str) -> bool:
    """Whether nothing is passed on to a function, or by it: what it makes is its result."""
    return split_name(function)[1] not in ("updateOutput", *BACKWARD_PHASES)


def _by_name(name: str, tags: Set[str], context: Context) -> Role | None:
    if name == "indices":
        return _role_of_indices(tags, context)
    if name == "buffer" and name in context.read_later:
        return "saved"
    role = _conventional(name)
    of = gradient_of(name)
    if role is not None or of is None:
        return role
    of_role = context.own.get(of) or context.forward.get(of) or _conventional(of)
    return None if of_role is None else _ROLE_OF_GRADIENT.get(of_role)


def _conventional(name: str) -> Role | None:
    name = name.rstrip("0123456789")
    role = _ROLE_OF_NAME.get(name)
    if role is None:
        role = next((role for pattern, role in _PATTERNS if pattern.fullmatch(name)), None)
    return role


def _role_of_indices(tags: Set[str], context: Context) -> Role:
    """Positions: made by a pooling, given to an unpooling, scratch of a sort."""
    if "sorted" in context.names:
        return "buffer"
    if "unpooling" in context.function.lower():
        return "input"
    if context.function.endswith("_updateOutput"):
        return "saved"
    return "buffer" if "BUFFER" in tags else "input"
