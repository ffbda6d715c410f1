"""Named variables, the scope that holds them, and the names under which operators refer to them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

Names = str | tuple[str, ...] | None


class Variable:
    """A named variable: a parameter or statistic, which keeps a value between runs, or a result, which does not.

    `value`, a tensor or None, may be assigned at any time, for the next run. A `trainable` variable is one of
    `Net.parameters`, and its floating-point value is set to require a gradient.

    Errors: TypeError for a value that is not a tensor; ValueError for the value of a trainable variable that cannot
    require a gradient: the result of tensors that require one, or an inference tensor.
    """

    __slots__ = ("_name", "_value", "trainable")

    def __init__(self, name: str, value: Tensor | None = None, trainable: bool = True) -> None:
        self._name = name
        self.trainable = trainable
        self.value = value

    @property
    def name(self) -> str:
        return self._name

    @property
    def value(self) -> Tensor | None:
        return self._value

    @value.setter
    def value(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"variable {self.name!r}: value: expected a tensor or None, got {type(value).__name__}"
            )
        if value is not None and self.trainable and value.is_floating_point():
            if not value.is_leaf:
                raise ValueError(
                    f"variable {self.name!r}: value: expected a leaf, got the result of tensors that require a"
                    " gradient; detach it, or create the variable with trainable=False"
                )
            if value.is_inference() and not torch.is_inference_mode_enabled():
                raise ValueError(
                    f"variable {self.name!r}: value: an inference tensor cannot require a gradient; clone it"
                )
            value.requires_grad_()
        self._value = value

    def __repr__(self) -> str:
        if self.value is None:
            return f"Variable({self.name!r})"
        kind = "parameter" if self.trainable else "statistic or constant"
        return f"Variable({self.name!r}, {tuple(self.value.shape)}, {kind})"


class Scope(Mapping[str, Variable]):
    """Variables by name. Nets with the same scope share its variables."""

    def __init__(self) -> None:
        self._variables: dict[str, Variable] = {}

    def new_var(self, name: str, value: Tensor | None = None, *, trainable: bool = True) -> Variable:
        """Adds a variable.

        Arguments:
            name: str: not yet in the scope
            value: Tensor or None: used without a copy; None for results of operators and for feeds
            trainable: bool: whether a floating-point value requires a gradient and is one of `Net.parameters`

        Errors: TypeError for a name that is not a string; ValueError for a name that is in use or empty; for the value,
        the same as `Variable`.
        """
        if not isinstance(name, str):
            raise TypeError(f"new_var: name: expected a string, got {type(name).__name__}")
        if not name:
            raise ValueError("new_var: name: expected a name, got an empty string")
        if name in self._variables:
            raise ValueError(f"new_var: name: variable {name!r} exists already")
        if isinstance(value, Tensor) and not value.is_floating_point():
            trainable = False
        variable = self._variables[name] = Variable(name, value, bool(trainable))
        return variable

    def new_parameter(
        self,
        name: str,
        size: Sequence[int],
        initialize: Callable[[Tensor], object],
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Variable:
        """Adds a trainable variable of a given size; `initialize`, of torch.nn.init for example, fills it in place.

        Errors: the same as new_var; TypeError and ValueError for a wrong size, TypeError if `initialize` is not
        callable.
        """
        try:
            sizes = tuple(map(operator.index, size))
        except TypeError:
            raise TypeError(f"new_parameter: size of {name!r}: expected integers, got {size!r}") from None
        if any(n < 0 for n in sizes):
            raise ValueError(f"new_parameter: size of {name!r}: expected 0 or more, got {sizes}")
        if not callable(initialize):
            raise TypeError(
                f"new_parameter: initialize of {name!r}: expected a function, got {type(initialize).__name__}"
            )
        value = torch.empty(sizes, dtype=dtype, device=device)
        with torch.no_grad():
            initialize(value)
        return self.new_var(name, value)

    def __getitem__(self, name: str) -> Variable:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return f"Scope({', '.join(self)})"


def names_of(where: str, value: Any) -> Names:
    """The name of a variable, given by name or as `Variable`; for a tuple or list, the tuple of names."""
    if isinstance(value, Variable):
        return value.name
    if isinstance(value, str):
        if not value:
            raise ValueError(f"{where}: expected the name of a variable, got an empty string")
        return value
    if isinstance(value, (tuple, list)) and value:
        return tuple(name_of(where, v) for v in value)
    raise TypeError(f"{where}: expected the name of a variable, got {type(value).__name__}")


def name_of(where: str, value: Any) -> str:
    name = names_of(where, value)
    if not isinstance(name, str):
        raise TypeError(f"{where}: expected the name of one variable, got {name!r}")
    return name


def flat_names(names: Any) -> Iterator[str]:
    for name in names:
        if isinstance(name, str):
            yield name
        elif name is not None:
            yield from name


def look_up(names: Names, values: Mapping[str, Any]) -> Any:
    if names is None:
        return None
    return values[names] if isinstance(names, str) else tuple(values[n] for n in names)
