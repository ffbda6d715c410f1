"""Subclasses that take the place of the class of a module: made at run time, but copied and pickled like others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

_ORIGINAL = "_thnn_original"


def subclass(
    original: type[nn.Module],
    bases: tuple[type, ...],
    members: Mapping[str, Any],
    make: Callable[..., type[nn.Module]],
    arguments: tuple[Any, ...],
) -> type[nn.Module]:
    """A class with the name of `original`, its first base. ``make(*arguments)`` makes it again, where a module of it is
    copied or unpickled."""

    def reduce(self: Any, protocol: Any) -> Any:
        # After an object without arguments come its state, and nothing else.
        _, _, *state = super(made, self).__reduce_ex__(2)  # type: ignore[arg-type]
        return (_new, (make, arguments), *state)

    made = type(
        original.__name__,
        (original, *bases),
        {
            "__module__": original.__module__,
            "__qualname__": original.__qualname__,
            "__doc__": original.__doc__,
            "__reduce_ex__": reduce,
            _ORIGINAL: original,
            **members,
        },
    )
    return made


def original_of(cls: type) -> type[nn.Module] | None:
    """The class in whose place `subclass` has put another; None for other classes."""
    found: type[nn.Module] | None = vars(cls).get(_ORIGINAL)
    return found


def _new(make: Callable[..., type[nn.Module]], arguments: tuple[Any, ...]) -> nn.Module:
    cls = make(*arguments)
    return cls.__new__(cls)
