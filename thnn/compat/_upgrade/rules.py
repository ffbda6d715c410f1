"""The rules of `upgrade`, as a transformation of the program's concrete syntax tree."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import tokenize
import warnings
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from types import ModuleType
from typing import Any

import libcst as cst
import torch
from libcst import matchers as m
from libcst.metadata import (
    MetadataWrapper,
    ParentNodeProvider,
    PositionProvider,
    QualifiedNameProvider,
    ScopeProvider,
)

from thnn.compat import _classes
from thnn.compat._contents import CONTENTS, REGISTERED, WRITTEN_CLASSES
from thnn.compat._hints import hint
from thnn.compat._upgrade import tables
from thnn.compat._upgrade.findings import Finding, NotParsed, Upgraded
from thnn.compat._upgrade.gradients import functions_without_gradients
from thnn.compat._upgrade.values import (
    Values,
    bound,
    is_bytes,
    is_integer,
    is_integers,
    is_iterator,
    is_mask,
    is_scalar,
    keyword,
    literal,
    method_of,
    object_of,
)

_VARIABLE = "torch.autograd.Variable"
_FUNCTIONS = {
    f"torch.autograd{place}.{name}" for place in ("", ".function") for name in ("Function", "InplaceFunction")
}
#: The prefixes of the names that `thnn.compat.install` restores.
_RESTORED = (
    *("torch._thnn", "torch.nn._functions", "torch.nn.functions", "torch.nn.backends"),
    "torch.nn.functional._functions",
)
#: What `module._backend` has.
_REGISTERED = {
    *("register_function", *REGISTERED, *WRITTEN_CLASSES, *_classes.names()),
    *_classes.REGISTERED_0_1_1,
}
_INSTALL = "thnn.compat.install()"
_OWN = "import thnn", _INSTALL
#: libcst visits fewer levels before Python's limit of recursion.
_DEEPEST = 1000
_ASYNC_METHODS = {"cuda", "cpu", "type", "copy_", "_cuda", "_type"}
_OTHER_PYTHONS = (
    (re.compile(r"^\s*print\b\s*[^\s(=.]"), "a print statement of Python 2"),
    (re.compile(r"^\s*print\b.*%|^\s*print\s*>>"), "a print statement of Python 2"),
    (re.compile(r"^\s*except\b[^:]*,\s*\w+\s*:"), "an except clause of Python 2"),
    (re.compile(r"^\s*raise\s+\w+\s*,"), "a raise statement of Python 2"),
    (re.compile(r"^\s*exec\s+[^(]"), "an exec statement of Python 2"),
    (re.compile(r"\basync\b(?!\s+(def|for|with)\b)"), "async is a keyword of Python since 3.7: rename it"),
)


def apply_rules(text: str) -> Upgraded:
    """The result of all rules."""
    findings: list[Finding] = []
    text = _without_async(text, findings)
    try:
        if _is_deep(text):
            raise RecursionError
        return _changed(text, findings)
    except cst.ParserSyntaxError as error:
        raise _not_parsed(text, error.raw_line) from None
    except RecursionError:
        raise NotParsed("an expression is nested too deeply for libcst", 1) from None


def _is_deep(text: str) -> bool:
    """True if libcst would end the process or take minutes, since an expression is nested too deeply."""
    try:
        level: list[ast.AST] = [_parsed(text)]
    except (RecursionError, MemoryError):
        return True
    except (SyntaxError, ValueError) as error:
        return "too many nested" in str(error)  # libcst reports the others
    depth = 0
    while level and depth <= _DEEPEST:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth > _DEEPEST


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the program's strings
        return ast.parse(text)


def _changed(text: str, findings: list[Finding]) -> Upgraded:
    module = cst.parse_module(text)
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    providers = (PositionProvider, QualifiedNameProvider, ScopeProvider, ParentNodeProvider)
    metadata = wrapper.resolve_many(providers)
    rules = _Rules(module, metadata, findings)
    changed = module.visit(rules)
    findings.sort(key=lambda finding: finding.line)
    # libcst drops carriage returns at the end.
    ends = [len(code) - len(code.rstrip("\r")) for code in (text, module.code)]
    end = "\r" * (ends[0] - ends[1])
    return Upgraded(_spliced(text, module.code + end, changed.code + end), tuple(dict.fromkeys(findings)))


def _spliced(text: str, parsed: str, changed: str) -> str:
    """`changed` with the lines of `text` where `parsed` was not changed: libcst drops form feeds before statements."""
    lines, old, new = (list(io.StringIO(code)) for code in (text, parsed, changed))
    if text == parsed or len(lines) != len(old):
        return changed
    result: list[str] = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        result += lines[first:last] if kind == "equal" else new[start:end]
    return "".join(result)


def _not_parsed(text: str, line: int) -> NotParsed:
    """The error for a text that libcst refused at a line, which may lie after the one that Python refuses."""
    why = "not Python 3"
    try:
        _parsed(text)
    except SyntaxError as error:
        line = error.lineno or line
        if isinstance(error, TabError):
            why = "indented by tabs and by spaces, as only Python 2 allows"
    except ValueError:
        pass  # a null character
    lines = list(io.StringIO(text))
    refused = lines[line - 1].strip() if line <= len(lines) else ""
    why = next((why for pattern, why in _OTHER_PYTHONS if pattern.search(refused)), why)
    return NotParsed(f"line {line}: {refused!r}: {why}", line)


def _without_async(text: str, findings: list[Finding]) -> str:
    """`async=` as the keyword of calls, which is not Python since 3.7, so that no tree can be made of it."""
    if "async" not in text:
        return text
    lines = list(io.StringIO(text))  # not at form feeds, as the tokens count
    called: list[str] = []  # the name before each open bracket
    places: list[tuple[int, int]] = []
    previous = tokenize.TokenInfo(tokenize.NL, "", (1, 0), (1, 0), "")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string in ("(", "[", "{"):
                called.append(previous.string if token.string == "(" else "")
            elif token.string in (")", "]", "}"):
                called[-1:] = []
            elif (
                token.string == "="
                and previous.string == "async"
                and called[-1:]
                and (called[-1] in _ASYNC_METHODS)
            ):
                places.append(previous.start)
            previous = token
    except (tokenize.TokenError, SyntaxError):
        pass  # the parser reports it
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = f"{line[:column]}non_blocking{line[column + len('async') :]}"
    for row, _ in places:
        findings.append(Finding(row, "async=", "non_blocking=", "async is a keyword of Python since 3.7"))
    return "".join(lines)


def _short(code: str) -> str:
    """Code in one line of at most 70 characters."""
    code = " ".join(code.split())
    return code if len(code) <= 70 else f"{code[:67]}..."


class _Rules(cst.CSTTransformer):
    def __init__(self, module: cst.Module, metadata: Mapping[Any, Any], findings: list[Finding]) -> None:
        super().__init__()
        self.module, self.findings = module, findings
        self.positions = metadata[PositionProvider]
        self.values = Values(metadata)
        self.needs: list[cst.CSTNode] = []  # what needs thnn.compat.install
        text = module.code
        self.is_installed = "thnn.compat" in text
        self.without_gradients: set[cst.CSTNode] = set()
        if "volatile" in text:
            self.without_gradients = functions_without_gradients(module, self.values, _VARIABLE)

    # Reports

    def code(self, node: cst.CSTNode) -> str:
        return self.module.code_for_node(node)

    def note(self, node: cst.CSTNode, reason: str, old: str = "") -> None:
        line = self.positions[node].start.line
        self.findings.append(Finding(line, old or _short(self.code(node)), None, reason))

    def change(self, node: cst.CSTNode, new: Any, reason: str) -> Any:
        line = self.positions[node].start.line
        old, written = _short(self.code(node)), _short(self.code(new))
        self.findings.append(Finding(line, old, written, reason))
        return new

    # The modules of 2017

    def visit_Import(self, node: cst.Import) -> bool:
        for alias in node.names:
            self._imported(alias, self._dotted(alias.name), node)
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        if node.relative or node.module is None:
            return False
        module = self._dotted(node.module)
        if isinstance(node.names, cst.ImportStar):
            self._imported(node, module, node)
            return False
        for alias in node.names:
            self._imported(alias, f"{module}.{self._dotted(alias.name)}", node)
        return False

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        if (
            original_node.relative
            or original_node.module is None
            or isinstance(original_node.names, cst.ImportStar)
        ):
            return updated_node
        module = self._dotted(original_node.module)
        names = []
        for alias in original_node.names:
            new = tables.RENAMED.get(f"{module}.{self._dotted(alias.name)}")
            names.append(alias if new is None else alias.with_changes(name=cst.Name(new)))
        if all(a is b for a, b in zip(names, original_node.names)):
            return updated_node
        return self.change(original_node, updated_node.with_changes(names=names), "its name today")

    @staticmethod
    def _dotted(node: cst.BaseExpression) -> str:
        if isinstance(node, cst.Attribute):
            return f"{_Rules._dotted(node.value)}.{node.attr.value}"
        return node.value if isinstance(node, cst.Name) else ""

    def _imported(self, node: cst.CSTNode, name: str, statement: cst.CSTNode) -> None:
        if name.startswith(_RESTORED):
            self.needs.append(statement)
            parent, _, child = name.rpartition(".")
            if name not in CONTENTS and parent in CONTENTS and child not in CONTENTS[parent].names():
                self.note(statement, f"thnn.compat has no {name}{hint(parent, child)}")
        else:
            self._in_torch(statement, name)

    def _in_torch(self, node: cst.CSTNode, name: str) -> None:
        """A note if today's torch lacks a name."""
        if (
            not name.startswith("torch.")
            or name.startswith("torch.ops.")
            or name in tables.RENAMED
            or name in tables.OF_TORCH
        ):
            return
        found: Any = torch
        path = name.split(".")
        for depth, part in enumerate(path[1:], 2):
            prefix = ".".join(path[:depth])
            if not isinstance(found, ModuleType) and prefix not in tables.GONE:
                return
            if not hasattr(found, part) and not _is_module(prefix):
                use = tables.GONE.get(prefix)
                instead = f"; use {use}" if use else ""
                release = ".".join(torch.__version__.split(".")[:2])
                self.note(node, f"torch {release} has no {prefix}{instead}")
                return
            found = getattr(found, part, None)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        if not any(self.values.name(base.value) in _FUNCTIONS for base in node.bases):
            return
        for statement in node.body.body:
            if (
                isinstance(statement, cst.FunctionDef)
                and statement.name.value == "forward"
                and not any(
                    m.matches(d.decorator, m.Name("staticmethod") | m.Name("classmethod"))
                    for d in statement.decorators
                )
            ):
                self.needs.append(node)

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        if not self.needs or self.is_installed:
            return updated_node
        first = min(self.positions[need].start.line for need in self.needs)
        body = original_node.body
        place = max(i for i, s in enumerate(body) if self._first_line(s) <= first)
        is_import = [m.matches(s, m.SimpleStatementLine([m.Import() | m.ImportFrom()])) for s in body]
        if not is_import[place]:  # a class or use of a name: after the last import before it
            place = max((i + 1 for i in range(place) if is_import[i]), default=place)
        line = self._first_line(body[place])
        new: list[Any] = [cst.parse_statement(statement) for statement in _OWN]
        self.findings.append(
            Finding(line, "", "; ".join(_OWN), f"line {first} needs the modules and classes of 2017")
        )
        statements = list(updated_node.body)
        return updated_node.with_changes(body=[*statements[:place], *new, *statements[place:]])

    def _first_line(self, statement: cst.CSTNode) -> int:
        decorators = getattr(statement, "decorators", ())
        return int(min(self.positions[n].start.line for n in (statement, *decorators)))

    # Names

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        name = self.values.name(node)
        if name.startswith(_RESTORED):
            self.needs.append(node)
            return False
        if m.matches(node.value, m.Attribute(attr=m.Name("_backend"))) and node.attr.value in _REGISTERED:
            self.needs.append(node)
        if name:
            self._in_torch(node, name)
            return False  # the names in it are its modules
        return True

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        name = self.values.name(original_node)
        if name in tables.RENAMED:
            new = updated_node.with_changes(attr=cst.Name(tables.RENAMED[name]))
            return self.change(original_node, new, "its name today")
        if name in tables.OF_TORCH and self.values.is_torch(original_node):
            new = updated_node.with_changes(value=cst.Name("torch"))
            return self.change(original_node, new, "its place today")
        attribute = original_node.attr.value
        if attribute == "saved_variables" and m.matches(original_node.value, m.Name("ctx")):
            new = updated_node.with_changes(attr=cst.Name("saved_tensors"))
            return self.change(original_node, new, "its name today")
        if attribute == "volatile" and not name:
            self.note(original_node, "no effect today: compute in `with torch.no_grad():`")
        if attribute == "creator" and not name:
            self.note(original_node, "the node of a tensor is grad_fn since 0.2")
        return updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        name = self.values.name(original_node)
        new = tables.RENAMED.get(name)
        if new is None or original_node.value != name.rpartition(".")[2] or not self._is_read(original_node):
            return updated_node
        return self.change(original_node, updated_node.with_changes(value=new), "its name today")

    def _is_read(self, node: cst.Name) -> bool:
        """True for an expression, False for the name of an attribute, a keyword, a parameter or a function."""
        parent = self.values.parent(node)
        return all(getattr(parent, field, None) is not node for field in ("attr", "keyword", "name"))

    # Functions without gradients

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if original_node not in self.without_gradients:
            return updated_node
        decorator = cst.Decorator(cst.parse_expression("torch.no_grad()"))
        line = self.positions[original_node].start.line
        name = original_node.name.value
        self.findings.append(
            Finding(line, f"def {name}", f"@torch.no_grad() def {name}", "for its volatile Variables")
        )
        return updated_node.with_changes(decorators=[*updated_node.decorators, decorator])

    # Calls

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        name = self.values.name(original_node.func)
        if not name:
            return self._method(original_node, updated_node)
        if name == _VARIABLE:
            return self._variable(original_node, updated_node)
        if name in tables.REDUCING:
            return self._reduction(original_node, updated_node, tables.REDUCING[name])
        if name in tables.TRAINING:
            return self._training(original_node, updated_node, tables.TRAINING[name])
        if name in tables.ALIGNING:
            return self._aligned(original_node, updated_node, tables.ALIGNING[name])
        if name in tables.WITH_DIM:
            position = tables.WITH_DIM[name]
            if not _is_given(original_node, "dim", position):
                self.note(
                    original_node, "without dim it is 1 for tensors with 2 or 4 dimensions, else 0: write it"
                )
        elif name == "torch.arange":
            is_float = any(isinstance(a.value, cst.Float) for a in original_node.args)
            follows = self.values.parent(original_node)
            is_cast = isinstance(follows, cst.Attribute) and follows.attr.value in (
                *("type", "type_as", "to"), *tables.FLOATING, *tables.INTEGER
            )  # fmt: skip
            if not (is_float or is_cast or keyword(original_node, "out") or keyword(original_node, "dtype")):
                self.note(
                    original_node,
                    "was a FloatTensor, and is int64 for integers today: .float() if it matters",
                )
        elif name == "torch.load" and keyword(original_node, "weights_only") is None:
            self.note(
                original_node,
                "loads tensors and state dicts; for a whole module that you trust: weights_only=False",
            )
        elif name == "torch.is_tensor":
            self.note(original_node, "is True for Variables too since 0.4, when they became tensors")
        elif name.startswith("torch.") and name.removeprefix("torch.") in tables.NUMBERS_FIRST:
            return self._numbers_last(
                original_node, updated_node, name.removeprefix("torch."), is_method=False
            )
        return updated_node

    def _method(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        method, target = method_of(original), object_of(original)
        if target is None:
            return updated
        if method in tables.NUMBERS_FIRST_METHODS:
            return self._numbers_last(original, updated, method.removesuffix("_"), is_method=True)
        if method in tables.GONE_METHODS and not hasattr(torch.Tensor, method):
            self.note(original, f"tensors have no {method} today; use {tables.GONE_METHODS[method]}")
        if method in tables.MASKED and original.args and not original.args[0].star:
            mask = original.args[0]
            if m.matches(mask.value, m.Call(m.Attribute(attr=m.Name("byte")), [])):
                new_mask = _as_bool(updated.args[0].value)
                new = updated.with_changes(
                    args=[updated.args[0].with_changes(value=new_mask), *updated.args[1:]]
                )
                return self.change(original, new, "masks are bools since 1.2")
            if is_bytes(self.values, mask.value):
                self.note(original, "masks are bools since 1.2: .bool()")
        if method == "next" and not original.args and is_iterator(self.values, target):
            assert isinstance(updated.func, cst.Attribute)
            new = cst.Call(cst.Name("next"), [cst.Arg(updated.func.value)])
            return self.change(original, new, "iterators have no method next in Python 3")
        return updated

    def _variable(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Variable(x) and Variable(x, requires_grad=True) are what they were, without volatile."""
        volatile = keyword(original, "volatile")
        is_dropped = volatile is not None and (
            literal(volatile.value) == "False" or original in self.without_gradients
        )
        if volatile is not None and not is_dropped:
            self.note(original, "volatile has no effect today: compute in `with torch.no_grad():`")
            return updated
        if not is_dropped:
            return updated
        kept = [a for a in updated.args if a.keyword is None or a.keyword.value != "volatile"]
        return self.change(original, _with_arguments(updated, kept), "volatile was removed in 0.4")

    def _reduction(self, original: cst.Call, updated: cst.Call, parameters: Sequence[str]) -> cst.Call:
        given = bound(original, parameters)
        old = [] if given is None else [n for n in ("size_average", "reduce") if n in given]
        if given is None:
            if any(
                a.keyword is not None and a.keyword.value in ("size_average", "reduce") for a in original.args
            ):
                self.note(original, "size_average and reduce are reduction='mean', 'sum' or 'none' today")
            return updated
        if not old:
            return updated
        values = {name: literal(given[name].value) for name in old}
        if not set(values.values()) <= {"True", "False"}:
            self.note(original, "size_average and reduce are reduction='mean', 'sum' or 'none' today")
            return updated
        reduction = "mean"
        if values.get("reduce") == "False":
            reduction = "none"
        elif values.get("size_average") == "False":
            reduction = "sum"
        names = list(given)
        kept: list[cst.Arg] = []
        place = None
        for name, argument in zip(names, updated.args):
            if name in old:
                place = len(kept) if place is None else place
                continue
            if argument.keyword is None and place is not None:
                argument = _keyword(name, argument.value)  # noqa: PLW2901
            kept.append(argument)
        assert place is not None
        kept.insert(place, _keyword("reduction", cst.SimpleString(f'"{reduction}"')))
        new = _with_arguments(updated, kept)
        if len(m.findall(new, m.Comment())) < len(m.findall(updated, m.Comment())):
            self.note(original, f'these are reduction="{reduction}" today')  # a change would lose a comment
            return updated
        return self.change(original, new, "size_average and reduce are deprecated")

    def _training(self, original: cst.Call, updated: cst.Call, position: int) -> cst.Call:
        if _is_given(original, "training", position):
            return updated
        new = _with_arguments(updated, [*updated.args, _keyword("training", cst.Name("False"))])
        return self.change(original, new, "the default was False until 1.0: it drops nothing")

    def _aligned(self, original: cst.Call, updated: cst.Call, parameters: Sequence[str]) -> cst.Call:
        given = bound(original, parameters)
        if given is None or "align_corners" in given:
            return updated
        if parameters in tables.WITH_MODES:
            if "mode" not in given:
                return updated  # 'nearest'
            mode = literal(given["mode"].value)
            if mode is None:
                self.note(original, "the linear modes aligned the corners: align_corners=True for them")
            if mode not in tables.ALIGNED_MODES:
                return updated
        new = _with_arguments(updated, [*updated.args, _keyword("align_corners", cst.Name("True"))])
        return self.change(original, new, "the corners were aligned until 0.4, and are not by default")

    def _numbers_last(
        self, original: cst.Call, updated: cst.Call, function: str, *, is_method: bool
    ) -> cst.Call:
        """x.add_(a, y) is x.add_(y, alpha=a); torch.addmm(b, x, a, y, z) is torch.addmm(x, y, z, beta=b, alpha=a)."""
        names, tensors = tables.NUMBERS_FIRST[function]
        count = len(original.args) - tensors - (not is_method)
        if not 1 <= count <= len(names) or any(a.keyword is not None or a.star for a in original.args):
            return updated
        places = range(count) if is_method else (0, 2) if len(names) == 2 else (1,)
        numbers = dict(zip(places, names[:count]))
        last = [_keyword(name, updated.args[place].value) for place, name in numbers.items()]
        kept = [a for place, a in enumerate(updated.args) if place not in numbers]
        reason = "number comes" if count == 1 else "numbers come"
        return self.change(
            original, _with_arguments(updated, [*kept, *last]), f"the {reason} last, by keyword"
        )

    # Operators

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.BaseExpression:
        if m.matches(original_node, m.Subscript(slice=[m.SubscriptElement(m.Index(m.Integer("0")))])):
            return self._first_element(original_node, updated_node)
        for position, element in enumerate(original_node.slice):
            if not isinstance(element.slice, cst.Index):
                continue
            if m.matches(element.slice.value, m.Call(m.Attribute(attr=m.Name("byte")), [])):
                elements: list[Any] = list(updated_node.slice)
                index = elements[position].slice
                elements[position] = elements[position].with_changes(
                    slice=index.with_changes(value=_as_bool(index.value))
                )
                new = updated_node.with_changes(slice=elements)
                return self.change(original_node, new, "masks are bools since 1.2")
            if is_bytes(self.values, element.slice.value):
                self.note(original_node, "masks are bools since 1.2: .bool()")
        return updated_node

    def _first_element(self, original: cst.Subscript, updated: cst.Subscript) -> cst.BaseExpression:
        """x.data[0], also x.data.cpu()[0] and x.data.cpu().numpy()[0]."""
        parent = self.values.parent(original)
        if isinstance(parent, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)) and (
            getattr(parent, "target", None) is original
        ):
            return updated
        place, new, has_data = original.value, updated.value, False
        while True:
            if m.matches(place, m.Attribute(attr=m.Name("data"))):
                has_data = True
                place, new = place.value, new.value  # type: ignore[attr-defined]
            elif (
                isinstance(place, cst.Call)
                and not place.args
                and method_of(place) in ("cpu", "numpy")
                and (object_of(place) is not None)
            ):
                place, new = place.func.value, new.func.value  # type: ignore[attr-defined]
            else:
                break
        if not has_data or m.matches(place, m.Name("self")):
            return updated  # of the program's own object, not of a tensor
        if is_scalar(self.values, place):
            item = cst.Call(cst.Attribute(_parenthesized(new), cst.Name("item")))
            return self.change(
                original, _in_parentheses_of(updated, item), "a loss has no dimensions since 0.4"
            )
        self.note(
            original, f"an IndexError if {_short(self.code(place))} has no dimensions, as losses: .item()"
        )
        return updated

    def leave_BinaryOperation(
        self, original_node: cst.BinaryOperation, updated_node: cst.BinaryOperation
    ) -> cst.BaseExpression:
        left, right = original_node.left, original_node.right
        if isinstance(original_node.operator, cst.Divide):
            return self._division(original_node, updated_node)
        if isinstance(original_node.operator, cst.Subtract) and is_mask(self.values, right):
            if m.matches(left, m.Integer("1")):
                new = cst.UnaryOperation(
                    cst.BitInvert(), updated_node.right, original_node.lpar, original_node.rpar
                )
                return self.change(original_node, new, "comparisons are bools since 1.2, which have no -")
            if is_mask(self.values, left):
                self.note(original_node, "comparisons are bools since 1.2, which have no -: ^ or .byte()")
        return updated_node

    def _division(self, original: cst.BinaryOperation, updated: cst.BinaryOperation) -> cst.BaseExpression:
        left, right = original.left, original.right
        parent = self.values.parent(original)
        call = self.values.parent(parent) if isinstance(parent, cst.Arg) else None
        if isinstance(call, cst.Call) and (
            self.values.is_builtin(call.func, "range")
            or (
                object_of(call) is not None
                and method_of(call) in tables.TAKE_INTEGERS
                and not self.values.name(call.func)
            )
        ):
            old: Any = original.operator
            operator = cst.FloorDivide(old.whitespace_before, old.whitespace_after)
            new: Any = updated.with_changes(operator=operator)
            return self.change(original, new, "an integer is expected, and / returned one in Python 2")
        sides = is_integers(self.values, left), is_integers(self.values, right)
        if not any(sides):
            return updated
        is_exact = all(s or is_integer(self.values, side) for s, side in zip(sides, (left, right)))
        if not is_exact or not self.values.is_torch(original):
            self.note(
                original, 'integer tensors: if both are, torch.div(a, b, rounding_mode="trunc") is what / was'
            )
            return updated
        mode = _keyword("rounding_mode", cst.SimpleString('"trunc"'))
        arguments = [cst.Arg(updated.left), cst.Arg(updated.right), mode]
        function = cst.Attribute(cst.Name("torch"), cst.Name("div"))
        new = _with_arguments(cst.Call(function, lpar=original.lpar, rpar=original.rpar), arguments)
        return self.change(original, new, "/ of integer tensors is not an integer since 1.5")

    def leave_AugAssign(self, original_node: cst.AugAssign, updated_node: cst.AugAssign) -> cst.AugAssign:
        if isinstance(original_node.operator, cst.DivideAssign) and is_integers(
            self.values, original_node.target
        ):
            self.note(original_node, 'an error for integer tensors: x.div_(y, rounding_mode="trunc")')
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        """type(x) == Variable, which is never true since Variables are tensors."""
        comparison = updated_node.comparisons[0]
        kind = original_node.comparisons[0].comparator
        if (
            len(original_node.comparisons) != 1
            or not m.matches(original_node.left, m.Call(m.Name("type"), [m.Arg(keyword=None, star="")]))
            or not isinstance(comparison.operator, (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot))
        ):
            return updated_node
        name = self.values.name(kind)
        if name != _VARIABLE and not re.fullmatch(r"torch\.(cuda\.)?[A-Z][a-z]+Tensor", name):
            return updated_node
        value = updated_node.left.args[0].value  # type: ignore[attr-defined]
        test: Any = _with_arguments(
            cst.Call(cst.Name("isinstance")), [cst.Arg(value), cst.Arg(comparison.comparator)]
        )
        if isinstance(comparison.operator, (cst.NotEqual, cst.IsNot)):
            test = cst.UnaryOperation(cst.Not(), test)
        new = test.with_changes(lpar=original_node.lpar, rpar=original_node.rpar)
        return self.change(original_node, new, "the type of every tensor is torch.Tensor since 0.4")


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _is_given(call: cst.Call, name: str, position: int) -> bool:
    """Whether a call may give a parameter."""
    positional = [a for a in call.args if a.keyword is None]
    return keyword(call, name) is not None or any(a.star for a in call.args) or len(positional) > position


def _keyword(name: str, value: cst.BaseExpression) -> cst.Arg:
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=cst.Name(name), equal=equal)


def _with_arguments(call: cst.Call, arguments: Sequence[cst.Arg]) -> cst.Call:
    """A call with other arguments, separated as the call separates its arguments."""
    old = list(call.args)
    commas: list[Any] = [a.comma for a in old[:-1]] or [cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))]
    commas += [_without_comments(commas[-1])] * len(arguments)
    end = old[-1] if old else cst.Arg(cst.Name("x"))
    new: list[cst.Arg] = []
    for position, argument in enumerate(arguments):
        is_last = position == len(arguments) - 1
        comma = end.comma if is_last else commas[position]
        after = end.whitespace_after_arg if is_last else cst.SimpleWhitespace("")
        new.append(argument.with_changes(comma=comma, whitespace_after_arg=after))
    return call.with_changes(args=new)


def _without_comments(comma: cst.Comma) -> cst.Comma:
    space = comma.whitespace_after
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return comma
    line = cst.TrailingWhitespace(cst.SimpleWhitespace(""), None, space.first_line.newline)
    return comma.with_changes(whitespace_after=space.with_changes(first_line=line, empty_lines=[]))


def _in_parentheses_of(old: Any, new: Any) -> Any:
    """`new` with the parentheses of `old` around those it has."""
    return new.with_changes(lpar=[*old.lpar, *new.lpar], rpar=[*new.rpar, *old.rpar])


def _parenthesized(node: Any) -> Any:
    """An expression that a dot can follow."""
    if node.lpar or isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _as_bool(call: Any) -> Any:
    """x.bool() for x.byte()."""
    return call.with_changes(func=call.func.with_changes(attr=cst.Name("bool")))
