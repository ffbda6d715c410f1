"""The types of tensors in the definitions of kernels, which compilers cannot check: all tensors are one C type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from thnn._header import Function
from thnn._load.recipe import CompileError

_COMMENT_OR_STRING = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)
# Definitions under a condition of the preprocessor, which is not evaluated here, may be dead.
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*if.*?^[ \t]*#[ \t]*endif", re.DOTALL | re.MULTILINE)
_DEFINITION = re.compile(r"\bTHNN_\(\s*(\w+)\s*\)\s*\(([^(){};]*)\)\s*\{", re.ASCII)
_TENSOR = re.compile(r"\bTH(?:Accreal|Index|Integer)?Tensor\b", re.ASCII)


def check_tensor_types(functions: Iterable[Function], files: Iterable[Path]) -> None:
    """Raises CompileError for kernels whose tensors have other types than in the header.

    Macros are not expanded: definitions between #if and #endif, or with another number of arguments, are skipped.
    """
    declared = {f.name: f for f in functions}
    differences: list[str] = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # removed since it was compiled, so that the files are compiled again
            continue
        code = _CONDITIONAL.sub(_blank, _COMMENT_OR_STRING.sub(_blank, text))
        for match in _DEFINITION.finditer(code):
            function, arguments = declared.get(match[1]), match[2].split(",")
            if function is not None and len(arguments) == len(function.arguments):
                place = f"{path}:{1 + code.count(chr(10), 0, match.start())}"
                if difference := _difference(function, arguments, place):
                    differences.append(difference)
    if differences:
        raise CompileError("\n".join(differences))


def _difference(function: Function, arguments: Sequence[str], place: str) -> str:
    """The message for the first tensor of another type, '' if there is none."""
    for declared, argument in zip(function.arguments, arguments):
        spelled = _TENSOR.search(argument)
        if spelled is not None and f"{spelled[0]}*" != declared.type:
            return (
                f"{place}: THNN_({function.name}) has {' '.join(argument.split())!r}, but {declared.name!r} is declared"
                f" at {declared.location} as {declared.type!r}"
            )
    return ""


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
