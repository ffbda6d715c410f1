"""Python functions that are written as text from the plan of a module, since a loop over arguments would cost more than
small kernels do."""

from __future__ import annotations

import linecache
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from thnn._header import Function
from thnn._plan import Source


class Lines:
    """Lines of a function being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, line: str, indent: int = 1) -> None:
        self.lines.append("    " * indent + line)

    def flags(self, inplace: bool, returns_indices: bool) -> None:
        """Checks of the flags that Python itself reads: they have to be True or False."""
        if inplace:
            self.add("if inplace is not True and inplace is not False:")
            self.add("inplace = flag(updateOutput.function, 'inplace', inplace)", 2)
        if returns_indices:
            self.add("if return_indices is not True and return_indices is not False:")
            self.add("raise TypeError('return_indices: expected True or False')", 2)

    def check_given(self, function: Function, required: Sequence[str], scaled: bool = False) -> None:
        """Checks of the tensors of an operator."""
        conditions = [f"{name} is None" for name in required] + ["gradOutput.dim() != 0"] * scaled
        self.add(f"if {' or '.join(conditions)}:")
        self.add(f"check_given({function.name!r}, {scaled}, {', '.join(f'{n}={n}' for n in required)})", 2)

    def results(self, names: Sequence[str], optional: Collection[str], like: str) -> None:
        """Returns the results of an operator, with an empty tensor in place of None."""
        results = [f"{like}.new_empty(0) if {n} is None else {n}" if n in optional else n for n in names]
        self.add(f"return {results[0] if len(results) == 1 else tuple_text(results)}")

    def call(
        self,
        function: Function,
        sources: Mapping[str, Source],
        indent: int = 1,
        scaled: bool = False,
        caller: str = "",
    ) -> None:
        """Adds one C call, which assigns its results.

        `sources` are those of all arguments. `scaled`: the call is that of a criterion's gradient, which is multiplied
        by `gradOutput`. `caller`: the name of the function, if it is not that of the phase.
        """
        arguments = function.after_state
        expressions = [str(sources[a.name]) for a in arguments] + ["gradOutput"] * scaled
        targets = ", ".join(a.name for a in arguments if sources[a.name].letter != ".")
        self.add(f"{targets} = {caller or 'call_' + function.phase}({tuple_text(expressions)})", indent)


def letters_of(function: Function, sources: Mapping[str, Source]) -> str:
    return "".join(sources[a.name].letter for a in function.after_state)


def tuple_text(names: Sequence[str]) -> str:
    return "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")"


def compile_source(cls_name: str, source: str, namespace: dict[str, Any]) -> dict[str, Any]:
    filename = f"<thnn {cls_name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), namespace)
    return namespace


def backward_call(
    code: Lines,
    function: Function,
    sources: Mapping[str, Source],
    needs: Mapping[str, str],
    criterion: bool,
) -> None:
    """Writes the call of one backward function, under the condition that one of its results is needed."""
    produced = [s.variable or "" for s in sources.values() if s.letter != "."]
    condition = " or ".join(needs[variable] for variable in produced if variable in needs)
    if condition:
        code.add(f"if {condition}:")
    code.call(function, sources, indent=2 if condition else 1, scaled=criterion)
