"""What torch.compile leaves to Python: whatever calls C functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy, set_code_exec_strategy

_F = TypeVar("_F", bound=Callable[..., Any])

_SKIP: Final = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)


def uncompiled(function: _F) -> _F:
    """Has torch.compile break the graph at calls of a function and look neither into it nor into what it calls.

    Otherwise it warns of every C function that it meets, and compiles what is around them once per layer. In place of
    torch.compiler.disable, which wraps the function and takes a second to import.
    """
    function._torchdynamo_disable = True  # type: ignore[attr-defined]
    function._torchdynamo_disable_msg = "it calls C functions of thnn"  # type: ignore[attr-defined]
    set_code_exec_strategy(function.__code__, _SKIP)
    return function
