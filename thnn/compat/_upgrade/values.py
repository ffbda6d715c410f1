"""What an expression of a program certainly is: a loss or another number, integers, a mask.

The answers follow the bindings of names in the program's text. A name that is bound in any way that is not understood,
such as a parameter of a function, is none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import libcst as cst
from libcst import matchers as m
from libcst.metadata import (
    Assignment,
    ParentNodeProvider,
    QualifiedName,
    QualifiedNameProvider,
    QualifiedNameSource,
    ScopeProvider,
)

from thnn.compat._upgrade import tables

#: A kind of values: True if an expression certainly is of it, given the question for a part of it.
Kind = Callable[["Values", cst.BaseExpression], bool]


class Values:
    """The questions about the expressions of one program."""

    def __init__(self, metadata: Mapping[Any, Mapping[cst.CSTNode, Any]]) -> None:
        self._names = metadata[QualifiedNameProvider]
        self._scopes = metadata[ScopeProvider]
        self._parents = metadata[ParentNodeProvider]
        self._asked: set[tuple[Kind, int]] = set()

    def _qualified(self, node: cst.CSTNode) -> set[QualifiedName]:
        found = self._names.get(node, ())
        return set(found() if callable(found) else found)

    def name(self, node: cst.CSTNode) -> str:
        """The imported name that an expression is, 'torch.nn.functional.relu'; '' if it is none or not certain."""
        found = self._qualified(node) if _is_dotted(node) else set()
        imported = {n.name for n in found if n.source is QualifiedNameSource.IMPORT}
        if len(imported) != 1 or len(found) != 1:
            return ""
        return imported.pop().replace("torch.autograd.variable.", "torch.autograd.")

    def is_builtin(self, node: cst.CSTNode, name: str) -> bool:
        """Whether an expression is a function of Python."""
        found = self._qualified(node)
        return {(n.name, n.source) for n in found} == {(f"builtins.{name}", QualifiedNameSource.BUILTIN)}

    def is_torch(self, node: cst.CSTNode) -> bool:
        """Whether the name `torch` is the module in the scope of the expression."""
        scope = self._scopes.get(node)
        found = scope.get_qualified_names_for("torch") if scope is not None else set()
        return {n.name for n in found} == {"torch"}

    def parent(self, node: cst.CSTNode) -> Any:
        """The node that contains a node, or None."""
        return self._parents.get(node)

    def bindings(self, node: cst.BaseExpression) -> list[tuple[cst.BaseExpression, int | None]] | None:
        """The values that are assigned to a name or to an attribute of self, each with the position in it for an
        assignment to several names; None if there are others."""
        if isinstance(node, cst.Name):
            scope = self._scopes.get(node)
            if scope is None or node.value not in scope:
                return None
            found = []
            for assignment in scope[node.value]:
                target = self.parent(assignment.node) if isinstance(assignment, Assignment) else None
                if isinstance(target, cst.AugAssign) and _is_number(target.value):
                    continue  # x += 1 is of the kind of x
                value = self._assigned(assignment.node) if isinstance(assignment, Assignment) else None
                if value is None:
                    return None
                found.append(value)
            return found
        if m.matches(node, m.Attribute(value=m.Name("self"))):
            return self._of_self(node)
        return None

    def _assigned(self, target: cst.CSTNode) -> tuple[cst.BaseExpression, int | None] | None:
        parent = self.parent(target)
        position = None
        if isinstance(parent, cst.Element) and isinstance(self.parent(parent), cst.Tuple):
            elements = self.parent(parent)
            position = elements.elements.index(parent)
            parent = self.parent(elements)
        if isinstance(parent, cst.AssignTarget):
            statement = self.parent(parent)
            value = statement.value
            if position is not None and isinstance(value, cst.Tuple):
                return (value.elements[position].value, None) if position < len(value.elements) else None
            return value, position
        if isinstance(parent, (cst.AugAssign, cst.AnnAssign)) and parent.value is not None:
            return parent.value, position
        return None

    def _of_self(self, node: Any) -> list[tuple[cst.BaseExpression, int | None]] | None:
        place = node
        while place is not None and not isinstance(place, cst.ClassDef):
            place = self.parent(place)
        if place is None:
            return None
        found = []
        for attribute in m.findall(place, m.Attribute(value=m.Name("self"), attr=m.Name(node.attr.value))):
            if isinstance(
                self.parent(attribute), (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Element)
            ):
                value = self._assigned(attribute)
                if value is not None:
                    found.append(value)
                elif not isinstance(self.parent(self.parent(attribute)), (cst.Tuple, cst.List)):
                    return None
        return found or None

    def _all(self, kind: Kind, node: cst.BaseExpression) -> bool:
        """Whether all values that are assigned to a name are of a kind."""
        asked = kind, id(node)
        if asked in self._asked:
            return True  # x = x + 1: as the other values
        values = [
            v for v in self.bindings(node) or () if literal(v[0]) != "None"
        ]  # None until the first value
        if not values:
            return False
        self._asked.add(asked)
        try:
            return all(
                kind(self, value)
                if position is None
                else kind is is_integers and self._is_index(value, position)
                for value, position in values
            )
        finally:
            self._asked.discard(asked)

    def _is_index(self, value: cst.BaseExpression, position: int) -> bool:
        return position == 1 and method_of(value) in tables.WITH_INDICES  # NumPy's return no pairs


def _is_dotted(node: cst.CSTNode) -> bool:
    """Whether an expression is a name with attributes. The qualified name of f(x).y would be f.y."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def method_of(node: cst.BaseExpression) -> str:
    """The last name of the function that an expression calls: 'sum' of x.sum(); '' if it is not a call."""
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute):
            return node.func.attr.value
        if isinstance(node.func, cst.Name):
            return node.func.value
    return ""


def object_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """x of x.method(...), or None."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return node.func.value
    return None


def keyword(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument of a call with a keyword."""
    return next((a for a in call.args if a.keyword is not None and a.keyword.value == name), None)


def literal(node: cst.BaseExpression) -> str | None:
    """The text of True, False, None, or of a string without its quotes; None for other expressions."""
    if isinstance(node, cst.Name) and node.value in ("True", "False", "None"):
        return node.value
    if isinstance(node, cst.SimpleString):
        return str(node.evaluated_value)
    return None


def _is_number(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        return _is_number(node.expression)
    return isinstance(node, (cst.Integer, cst.Float))


def bound(call: cst.Call, parameters: Sequence[str]) -> dict[str, cst.Arg] | None:
    """The arguments of a call by the names of the parameters; None if that is not certain."""
    found: dict[str, cst.Arg] = {}
    for position, argument in enumerate(call.args):
        if argument.star or (argument.keyword is None and position >= len(parameters)):
            return None
        name = parameters[position] if argument.keyword is None else argument.keyword.value
        if name in found:
            return None
        found[name] = argument
    return found


def _reduces(call: cst.Call, name: str) -> bool:
    """Whether a loss with these arguments certainly returns one number."""
    arguments = bound(call, tables.REDUCING.get(name, ()))
    if arguments is None:
        return name in tables.OTHER_LOSSES and not any(a.keyword or a.star for a in call.args)
    reduce, reduction = arguments.get("reduce"), arguments.get("reduction")
    return (reduce is None or literal(reduce.value) == "True") and (
        reduction is None or literal(reduction.value) in ("mean", "sum")
    )


def _is_criterion(values: Values, node: cst.BaseExpression) -> bool:
    """An object of a loss of torch.nn that returns one number."""
    if isinstance(node, cst.Call):
        name = values.name(node.func)
        if name.startswith(tables.NN) and (name in tables.REDUCING or name in tables.OTHER_LOSSES):
            return _reduces(node, name)
        inner = object_of(node)
        return (
            inner is not None
            and method_of(node) in {"cuda", "cpu", *tables.FLOATING}
            and _is_criterion(values, inner)
        )
    return values._all(_is_criterion, node)


def is_scalar(values: Values, node: cst.BaseExpression) -> bool:
    """A tensor with one element, which had the size (1) in 2017 and has no dimensions today."""
    if isinstance(node, cst.Call):
        name = values.name(node.func)
        if name in tables.REDUCING or name in tables.OTHER_LOSSES:
            return name.startswith(tables.F) and _reduces(node, name)
        if name.startswith("torch.") and name.removeprefix("torch.") in tables.REDUCTIONS:
            return len(node.args) == 1 and not node.args[0].star
        if name == "torch.dot":
            return True
        if _is_criterion(values, node.func):
            return True
        inner = object_of(node)
        if inner is None or name:
            return False
        method = method_of(node)
        if method in tables.REDUCTIONS:
            return not node.args
        return method in {"clone", "cpu", "cuda", "detach", *tables.FLOATING} and is_scalar(values, inner)
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        return is_scalar(values, node.value)
    if isinstance(node, cst.UnaryOperation):
        return is_scalar(values, node.expression)
    if isinstance(node, cst.BinaryOperation):
        sides = node.left, node.right
        return any(is_scalar(values, s) for s in sides) and all(
            _is_number(s) or is_scalar(values, s) for s in sides
        )
    if isinstance(node, cst.IfExp):
        return is_scalar(values, node.body) and is_scalar(values, node.orelse)
    return values._all(is_scalar, node)


def is_integers(values: Values, node: cst.BaseExpression) -> bool:
    """A tensor of integers."""
    if isinstance(node, cst.Call):
        name = values.name(node.func)
        if name in tables.INTEGER_TYPES:
            return True
        if name == "torch.autograd.Variable":
            return bool(node.args) and is_integers(values, node.args[0].value)
        inner, method = object_of(node), method_of(node)
        if inner is None or name:
            return False
        if method in tables.INTEGER:
            return not node.args
        return method in tables.SAME and is_integers(values, inner)
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        return is_integers(values, node.value)
    if m.matches(node, m.Subscript(slice=[m.SubscriptElement(m.Index(m.Integer("1")))])):
        assert isinstance(node, cst.Subscript)
        return method_of(node.value) in tables.WITH_INDICES and _returns_indices(values, node.value)
    return values._all(is_integers, node)


def _returns_indices(values: Values, call: Any) -> bool:
    """Whether max, sort, ... are called for a dimension of a tensor, and so return indices. NumPy's max does not."""
    method = method_of(call)
    if values.name(call.func).startswith("torch."):
        return len(call.args) > 1 or method in {"sort", "topk"}
    is_tensor = method in {"kthvalue", "mode", "topk"} or keyword(call, "keepdim") is not None
    inner = object_of(call)
    return (
        (bool(call.args) or method == "sort")
        and inner is not None
        and (is_tensor or _is_tensor(values, inner))
    )


def _is_tensor(values: Values, node: cst.BaseExpression) -> bool:
    """A tensor, and not an array of NumPy."""
    if isinstance(node, cst.Call):
        inner = object_of(node)
        if values.name(node.func):
            return values.name(node.func) in (*tables.INTEGER_TYPES, "torch.autograd.Variable")
        if inner is None:
            return False
        method = method_of(node)
        if method in {
            "cpu",
            "cuda",
            "contiguous",
            "detach",
            "expand",
            "view_as",
            *tables.FLOATING,
            "byte",
            "long",
        }:
            return True
        return method in tables.SAME and _is_tensor(values, inner)
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        return True
    return values._all(_is_tensor, node)


def is_integer(values: Values, node: cst.BaseExpression) -> bool:
    """An integer of Python."""
    if isinstance(node, cst.Integer):
        return True
    if isinstance(node, cst.Call):
        if values.is_builtin(node.func, "len"):
            return True
        method = method_of(node)
        return object_of(node) is not None and (
            (method == "size" and len(node.args) == 1)
            or (method in tables.NUMBERS - {"item"} and not node.args)
        )
    if isinstance(node, cst.Subscript):
        return method_of(node.value) == "size" or m.matches(node.value, m.Attribute(attr=m.Name("shape")))
    return values._all(is_integer, node)


def has_no_gradient(values: Values, node: cst.BaseExpression) -> bool:
    """A number, or a tensor that was made of the data of Variables only."""
    if (
        isinstance(node, (cst.Integer, cst.Float, cst.SimpleString, cst.Comparison))
        or literal(node) is not None
    ):
        return True
    if isinstance(node, cst.Call):
        if any(values.is_builtin(node.func, name) for name in ("float", "int", "len", "str")):
            return True
        inner, method = object_of(node), method_of(node)
        if inner is None or values.name(node.func):
            return False
        if method in (*tables.NUMBERS, *tables.COMPARISONS, "size"):
            return True
        return has_no_gradient(values, inner) and all(has_no_gradient(values, a.value) for a in node.args)
    if isinstance(node, cst.Attribute):
        return node.attr.value in ("data", "shape") or values._all(has_no_gradient, node)
    if isinstance(node, cst.Subscript):
        return has_no_gradient(values, node.value)
    if isinstance(node, cst.BinaryOperation):
        return has_no_gradient(values, node.left) and has_no_gradient(values, node.right)
    if isinstance(node, cst.UnaryOperation):
        return has_no_gradient(values, node.expression)
    if isinstance(node, (cst.Tuple, cst.List)):
        return all(has_no_gradient(values, e.value) for e in node.elements)
    return values._all(has_no_gradient, node)


def is_mask(values: Values, node: cst.BaseExpression) -> bool:
    """The result of a comparison of tensors: bytes in 2017, bools today."""
    if isinstance(node, cst.Call):
        name, method = values.name(node.func), method_of(node)
        if name:
            return name.removeprefix("torch.") in tables.COMPARISONS and len(node.args) == 2
        inner = object_of(node)
        if inner is None:
            return False
        if method in tables.COMPARISONS:
            return len(node.args) == 1
        return method in tables.SAME and is_mask(values, inner)
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        return is_mask(values, node.value)
    if isinstance(node, cst.Comparison):
        sides = [node.left, *(c.comparator for c in node.comparisons)]
        operators = (
            cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual
        )  # fmt: skip
        return (
            len(sides) == 2
            and isinstance(node.comparisons[0].operator, operators)
            and any(m.matches(s, m.Attribute(attr=m.Name("data"))) or is_integers(values, s) for s in sides)
        )
    return values._all(is_mask, node)


def is_bytes(values: Values, node: cst.BaseExpression) -> bool:
    """A tensor of bytes that the program made."""
    if isinstance(node, cst.Call):
        if values.name(node.func) in tables.BYTE_TYPES:
            return True
        inner = object_of(node)
        if inner is None:
            return False
        method = method_of(node)
        return (method == "byte" and not node.args) or (method in tables.SAME and is_bytes(values, inner))
    return values._all(is_bytes, node)


def is_iterator(values: Values, node: cst.BaseExpression) -> bool:
    """The result of iter(...)."""
    if isinstance(node, cst.Call):
        return values.is_builtin(node.func, "iter") and len(node.args) == 1
    return values._all(is_iterator, node)
