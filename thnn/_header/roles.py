"""The role of each argument of a THNN function, from its name and its tags.

The tables and the function that applies them (`decide`) need only names and tags, not a parsed header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Literal

from .._spelling import did_you_mean, nearest

Role = Literal[
    "state",  # THNNState*
    "generator",  # THGenerator*
    "scalar",  # every other argument that is not a tensor
    "input",
    "target",  # a criterion compares the input with it
    "parameter",  # weights, biases, running statistics
    "output",
    "gradOutput",  # gradient of an output
    "gradInput",  # gradient of an input (or of a target)
    "gradParameter",  # gradient of a parameter
    "saved",  # written by the forward, read by the backward
    "buffer",  # temporary memory of the call
]

#: Tags that state the role; they take precedence over names.
ROLE_TAGS: Mapping[str, Role] = {
    "INPUT": "input",
    "TARGET": "target",
    "PARAMETER": "parameter",
    "SAVED": "saved",
    "GRADOUTPUT": "gradOutput",
    "GRADINPUT": "gradInput",
    "GRADPARAMETER": "gradParameter",
    # [BUFFER] would lose to the role that the name implies: `buffer` is 'saved' if a backward takes it.
    "SCRATCH": "buffer",
}

#: The coarse tags of the 2016-2017 headers ([BUFFER] there also marks saved tensors); names take precedence over them.
COARSE_TAGS: Mapping[str, Role] = {"OUT": "output", "BUFFER": "buffer"}

#: Tags of numbers; all other tags except OPTIONAL are tags of tensors.
SCALAR_TAGS: frozenset[str] = frozenset({"DEFAULT", "SIZE"})

#: Every tag that the comment of an argument may hold, with its operands: [LIKE name].
TAGS: Mapping[str, str] = {
    **dict.fromkeys((*ROLE_TAGS, *COARSE_TAGS, "OPTIONAL", "MODIFIED", "MIXED"), ""),
    "LIKE": "name",
    "DEFAULT": "value",
    "SIZE": "tensor dimension",
}

#: The tag that gives a role to a tensor whose name does not.
TAG_OF_ROLE: Mapping[str, str] = {role: tag for tag, role in (*ROLE_TAGS.items(), *COARSE_TAGS.items())}

#: Roles that each tag allows; two tags without a common role contradict each other.
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

#: Conventional patterns of names: addBuffer and gradWeightBuf2, input and inputHx, output and outputCell.
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


#: Gradient -> the tensor it belongs to, for the names of the recurrent cells of 2017. The gradient w.r.t. the gates of
#: an LSTM is the gradient w.r.t. input and hidden.
_GRADIENT_NAMES: Mapping[str, str] = {
    "gradInInput": "input",
    "gradInHidden": "hidden",
    "gradInputHx": "hx",
    "gradInputCx": "cell",
    "gradInGates": "input",
}

#: Phases that compute derivatives of a module's forward. The forward must have the arguments of these functions.
BACKWARD_PHASES: frozenset[str] = frozenset({"updateGradInput", "accGradParameters", "backward"})


def _sizes() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {
        "nbatch": ("SIZE", "input", "0"),
        "nchannels": ("SIZE", "input", "1"),
    }
    for word, letter, dimension in (("Width", "W", "-1"), ("Height", "H", "-2"), ("Depth", "T", "-3")):
        table["input" + word] = ("SIZE", "input", dimension)
        for name in ("output" + word, "output" + letter, "osize" + letter, "o" + letter, "o" + word.lower()):
            table[name] = ("SIZE", "output", dimension)
    return table


#: Tags that scalars of a backward have by convention if its forward does not take them: scale is [DEFAULT 1].
CONVENTIONAL_TAGS: Mapping[str, tuple[str, ...]] = {
    "scale": ("DEFAULT", "1"),
    "weightDecay": ("DEFAULT", "0"),
    **_sizes(),
}


@dataclass(frozen=True)
class Context:
    """The function around an argument whose role is being decided."""

    function: str
    names: Set[str]  # every argument of the function
    #: Roles in the forward, unless this is the forward.
    forward: Mapping[str, Role] = field(default_factory=dict)
    own: Mapping[str, Role] = field(default_factory=dict)  # roles of this function already decided
    read_later: Set[str] = frozenset()  # names that the backward functions of the module take


def split_name(function: str) -> tuple[str, str]:
    """Module and phase of a function: its name split at the last '_'; the phase is '' where there is none."""
    head, _, tail = function.rpartition("_")
    return (head, tail) if head and tail else (function, "")


def misspelt_phase(phase: str, others: Set[str]) -> str | None:
    """The phase of a forward or backward that is spelled nearly as `phase` and that the module lacks; None if there is
    none. `others` are the phases of the module. A longer name, such as backward2 or updateOutputGPU, is taken to be
    intended, unless it is a plural."""
    missing = [known for known in ("updateOutput", *BACKWARD_PHASES) if known not in others]
    # accUpdateGradParameters, a phase of 2017, is as near to accGradParameters as 0.85.
    near = nearest(phase, missing, 0.86, ignore_case=True) if phase.isalpha() else ""
    if not near or phase.lower().removeprefix(near.lower()) not in ("", "s", phase.lower()):
        return None
    return near


def gradient_of(name: str) -> str | None:
    """The name that `name` is the gradient of: 'weight' for 'gradWeight', None for 'weight'."""
    if name in _GRADIENT_NAMES:
        return _GRADIENT_NAMES[name]
    if name.startswith("grad") and name[4:5].isupper():
        return name[4].lower() + name[5:]
    return None


def gradient_hint(name: str, forward: Mapping[str, Role]) -> str:
    """'; did you mean gradInput?' for a name that is close to the gradient of a tensor of the forward, or ''."""
    if not name.lower().startswith("grad"):
        return ""
    gradients = [f"grad{n[0].upper()}{n[1:]}" for n, role in forward.items() if role in _ROLE_OF_GRADIENT]
    return "" if name in gradients else did_you_mean(name, gradients, 0.7)


def forward_name(name: str, forward: Set[str]) -> str | None:
    """The name that a forward with the argument names `forward` has for tensor `name`, None if it has none."""
    if name in forward:
        return name
    other = FORWARD_NAMES.get(name)
    return other if other in forward else None


def overwritten_in_place(function: str, names: Set[str]) -> str | None:
    """The tensor that a call with ``inplace`` overwrites, which counts as [MODIFIED] even without that tag.

    None without ``inplace``.
    """
    phase = split_name(function)[1]
    if "inplace" not in names or phase not in ("updateOutput", *BACKWARD_PHASES):
        return None
    return "input" if phase == "updateOutput" else "gradOutput"


def contradict(tag: str, other: str) -> bool:
    """Whether two different tags cannot both be true of one argument."""
    if {tag, other} == SCALAR_TAGS:
        return True
    return tag in _COMPATIBLE and other in _COMPATIBLE and not _COMPATIBLE[tag] & _COMPATIBLE[other]


def decide(name: str, tags: Set[str], context: Context) -> Role | None:
    """The role of tensor `name`, or None where neither name, tags nor module determine it."""
    for tag, role in ROLE_TAGS.items():
        if tag in tags:
            return role
    known = forward_name(name, context.forward.keys())
    found = context.forward[known] if known is not None else _by_name(name, tags, context)
    if found == "saved" and "OUT" in tags and _stands_alone(context.function):
        return "output"
    return found or next((COARSE_TAGS[tag] for tag in COARSE_TAGS if tag in tags), None)


def _stands_alone(function: str) -> bool:
    """Whether a function is neither forward nor backward, so that no other function reads its outputs."""
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
    """The role of `indices`: result of a pooling, input of an unpooling, temporary memory of a sort."""
    if "sorted" in context.names:
        return "buffer"
    if "unpooling" in context.function.lower():
        return "input"
    if context.function.endswith("_updateOutput"):
        return "saved"
    return "buffer" if "BUFFER" in tags else "input"
