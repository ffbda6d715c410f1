"""From the header model to the catalogue of functions in the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thnn._functions.documentation import describe
from thnn._header import Function, group_modules

BANNER = "<!-- Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. -->\n"


def emit_catalogue(functions: Sequence[Function]) -> str:
    """docs/functions.md: every module with its formula, shapes, arguments and C functions."""
    return "".join(_catalogue(functions))


def _catalogue(functions: Sequence[Function]) -> Iterator[str]:
    modules = group_modules(functions)
    yield BANNER + "\n# Functions\n\n"
    yield f"{len(functions)} functions in {len(modules)} modules, declared in `generic/THNN.h`.\n"
    for name, module in modules.items():
        yield f"\n## {name}\n"
        for function in module.functions.values():
            yield f"\n### {function.name}\n\n"
            if function.doc:
                yield f"```text\n{function.doc.strip()}\n```\n\n"
            for argument in function.arguments:
                if argument.role != "state":
                    label, _, rest = describe(argument).partition(": ")
                    yield f"- `{label}` ({argument.role}): {rest}\n"
