"""The private names of torch: calls without each of them.

Groups of names are hidden at once, each in a new process, since one process imports thnn once.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from new_process import python

import thnn
from thnn import _torch

PACKAGE = Path(thnn.__file__).parent
# Without one of these every call is handled as inside a transform, so that other names would not be used.
OF_CONTEXT = (
    "torch._C:_are_functorch_transforms_active",
    "torch._C:_len_torch_dispatch_stack",
    "torch.autograd.forward_ad:_current_level",
)


def groups() -> list[list[str]]:
    """Every name of NAMES in one group."""
    first, *others = OF_CONTEXT
    rest = [name for name in _torch.NAMES if name not in (*OF_CONTEXT, *_torch.ALLOCATION)]
    return [rest, [first, *_torch.ALLOCATION], *([name] for name in others)]


CALLS = Path(__file__).with_name("calls_without_names.py")


@pytest.mark.parametrize("names", groups(), ids=lambda names: re.sub(r".*[:.]", "", names[0]))
def test_calls_without_names(names: list[str]) -> None:
    python("-W", "ignore", CALLS, timeout=600, THNN_WITHOUT=",".join(names))


def test_every_name_is_in_one_file() -> None:
    """No other file of the package reads a private name of a module of torch."""
    private = re.compile(
        r"\btorch(\.\w+)*\._(?!_)\w+|\bfrom torch(\.\w+)*\._\w+|\bfrom torch[\w.]* import (.*, )?_\w+"
    )
    found = []
    for path in PACKAGE.rglob("*.py"):
        if path.name == "_torch.py" or {"testing", "_generated"} & {*path.relative_to(PACKAGE).parts}:
            continue
        code = re.sub(r'"""[\s\S]*?"""|#.*|"[^"\n]*"', "", path.read_text(encoding="utf-8"))
        found += [(path.name, m[0]) for m in private.finditer(code) if m[0] != "torch._check"]
    assert found == []


def test_hidden_names_are_missing() -> None:
    code = "from thnn import _torch; print(sorted(_torch.missing_names()))"
    name = "torch._C:_increment_version"
    assert name in python("-c", code, THNN_WITHOUT=name)
    assert name not in _torch.missing_names()
