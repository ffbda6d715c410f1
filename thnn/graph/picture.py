"""The content of a picture of a net or a fork: operators in lanes, and groups of variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, fx

from thnn.graph.branch import Branch, node_name, set_caller_grad_enabled
from thnn.graph.forks import Fork
from thnn.graph.mode_views import depends_on_mode
from thnn.graph.net import BRANCHES, Net
from thnn.graph.operators import Operator, label
from thnn.graph.tracing import assign_buffer

SHARED = "shared"


@dataclass(eq=False)
class Block:
    """An operator, or an input: any input of a fork, or an input of a net that shared operators read."""

    title: str
    detail: str  # second line
    lane: str  # shared, train or infer
    kind: str = "operator"  # or input
    before: list[Block] = field(default_factory=list)
    active: bool = False

    @property
    def text(self) -> str:
        return f"{self.title}  {self.detail}".rstrip()


@dataclass(eq=False)
class VariableGroup:
    """Variables that the same operators use in the same way; each is in one group."""

    kind: str  # parameter, statistic or input
    lines: list[str]
    readers: list[Block]
    writers: list[Block]
    active: bool = False


@dataclass
class Picture:
    """The content of a picture."""

    name: str
    blocks: list[Block]  # in order of execution
    groups: list[VariableGroup]
    target: str = ""

    def lane(self, name: str) -> list[Block]:
        return [b for b in self.blocks if b.lane == name]


def _split_target(target: Any) -> tuple[tuple[str, ...], str | None]:
    """The branches and the name of a target."""
    if target is None:
        return (), None
    if isinstance(target, str):
        return ((target,), None) if target in BRANCHES else (BRANCHES, target)
    if isinstance(target, tuple) and len(target) == 2 and all(isinstance(t, str) for t in target):
        if target[0] not in BRANCHES:
            raise ValueError(f"draw: target: expected 'train' or 'infer', got {target[0]!r}")
        return (target[0],), target[1]
    raise TypeError(f"draw: target: expected a name or (branch, name), got {target!r}")


def _size(value: Tensor) -> str:
    return "(" + ", ".join(map(str, value.shape)) + ")"


def _group(uses: dict[tuple[str, str], tuple[list[Block], list[Block]]]) -> list[VariableGroup]:
    """Groups of the variables (kind, line) with equal readers and writers."""
    groups: dict[Any, VariableGroup] = {}
    for (kind, line), (readers, writers) in uses.items():
        key = kind, tuple(map(id, readers)), tuple(map(id, writers))
        group = groups.setdefault(key, VariableGroup(kind, [], readers, writers))
        group.lines.append(line)
    for group in groups.values():
        group.active = any(b.active for b in (*group.readers, *group.writers))
    return list(groups.values())


def picture_of_net(net: Net, target: Any) -> Picture:
    """The picture of a net; `target` as in `draw`."""
    branches, name = _split_target(target)
    active: set[Operator] = set()
    for branch in branches:
        if name is None:
            active.update(net.branch(branch))  # type: ignore[arg-type]
        elif len(branches) == 1 or name not in net._train_only or branch == "train":
            active.update(net.plan(branch, name))  # type: ignore[arg-type]
    shared = set(net.shared())
    blocks: dict[Operator, Block] = {}
    makers: dict[tuple[str, str], Block] = {}
    inputs: dict[str, Block] = {}
    uses: dict[tuple[str, str], tuple[list[Block], list[Block]]] = {}
    for branch in BRANCHES:
        for operator in net.branch(branch):  # type: ignore[arg-type]
            if operator in blocks:
                continue
            lane = SHARED if operator in shared else branch
            mode = [
                f"{m}={v}" for m, v in operator.attributes.items() if m in ("is_infer", "train", "training")
            ]
            detail = ", ".join([*operator.writes[:1], *mode])
            block = Block(label(operator.kind), detail, lane, active=operator in active)
            for variable in operator.reads:
                if variable in net._writers:
                    maker = makers.get((branch, variable)) or makers[SHARED, variable]
                    if maker not in block.before:
                        block.before.append(maker)
                    continue
                value = net.scope[variable].value
                if value is None and lane == SHARED:
                    source = inputs.setdefault(variable, Block(variable, "", SHARED, "input"))
                    source.active |= block.active
                    block.before.append(source)
                    continue
                if value is None and variable in inputs:
                    block.before.append(inputs[variable])
                    continue
                kind = (
                    "input"
                    if value is None
                    else "parameter"
                    if net.scope[variable].trainable
                    else "statistic"
                )
                line = variable if value is None else f"{variable} {_size(value)}"
                readers, writers = uses.setdefault((kind, line), ([], []))
                readers.append(block)
                if variable in operator.updates:
                    writers.append(block)
            blocks[operator] = block
            makers |= {(lane, n): block for n in operator.writes}
    for module in [o for o in blocks if isinstance(o.kind, torch.nn.Module)]:
        _add_module(
            uses,
            blocks[module],
            module.kind,
            f"{blocks[module].detail.split(',')[0]}.",
            bool(module.forks),
        )
    picture = Picture("net", [*inputs.values(), *blocks.values()], _group(uses))
    picture.target = _title(branches, name)
    return picture


def _title(branches: Sequence[str], name: str | None) -> str:
    return " ".join([" and ".join(branches), *([name] if name else [])]).strip()


def _add_module(uses: Any, block: Block, module: torch.nn.Module, prefix: str, updates: bool) -> None:
    for kind, members in (("parameter", module.named_parameters()), ("statistic", module.named_buffers())):
        for name, value in members:
            readers, writers = uses.setdefault((kind, f"{prefix}{name} {_size(value)}"), ([], []))
            if block not in readers:
                readers.append(block)
            if updates and kind == "statistic" and block not in writers:
                writers.append(block)


def picture_of_fork(fork: Fork, target: Any) -> Picture:
    """The picture of a fork; `target` as in `draw`."""
    branches, name = _split_target(target)
    counterparts = _matches(fork.train, fork.infer)
    known = dict(fork.module.named_parameters(remove_duplicate=False)), dict(fork.module.named_buffers())
    blocks: dict[fx.Node, Block] = {}
    uses: dict[tuple[str, str], tuple[list[Block], list[Block]]] = {}
    order: list[Block] = []
    found = False
    for branch_name, branch in (("train", fork.train), ("infer", fork.infer)):
        wanted = _wanted(branch, name) if branch_name in branches else set()
        found |= bool(wanted)
        for node in branch.graph.nodes:
            if node.op in ("output", "get_attr") or node.target is set_caller_grad_enabled:
                continue
            if branch_name == "infer" and node in counterparts:
                block = blocks[node] = blocks[counterparts[node]]
                block.active |= node in wanted
                continue
            common = node in counterparts.values()
            block = blocks[node] = _block_of(fork, node, SHARED if common else branch_name)
            block.active = node in wanted
            order.append(block)
            for source in node.all_input_nodes:
                if source.op == "get_attr" and not str(source.target).startswith("module"):
                    continue  # a constant
                if source.op == "get_attr":
                    path = str(source.target).removeprefix("module.")
                    value = known[0].get(path, known[1].get(path))
                    kind = "parameter" if path in known[0] else "statistic"
                    line = f"{path} {_size(value)}" if value is not None else path
                    readers, writers = uses.setdefault((kind, line), ([], []))
                    if node.target is not assign_buffer:
                        readers.append(block)
                    if node.args[:1] == (source,) and (node.target is assign_buffer or _in_place(node)):
                        writers.append(block)
                elif blocks[source] not in block.before:
                    block.before.append(blocks[source])
            if node.op == "call_module":
                # A folded pair has the parameters of both.
                for part in node.meta.get("folded", (node,)):
                    module = fork.module.get_submodule(
                        str(part.target).removeprefix("module").removeprefix(".")
                    )
                    path = node_name(part)
                    prefix = "" if path == "module" else f"{path}."
                    _add_module(uses, block, module, prefix, branch.training and depends_on_mode(module))
    if name is not None and not found:
        raise ValueError(f"draw: target: there is no module or function {name!r} in {' or '.join(branches)}")
    return Picture(type(fork.module).__name__, order, _group(uses), _title(branches, name))


def _in_place(node: fx.Node) -> bool:
    return node.op == "call_method" and str(node.target).endswith("_") and not str(node.target).endswith("__")


def _block_of(fork: Fork, node: fx.Node, lane: str) -> Block:
    size, _ = fork.sizes.get(node.name, ((), None)) if lane != "train" else ((), None)
    shown = "x".join(map(str, size))
    if node.op == "placeholder":
        return Block(str(node.target), shown, lane, "input")
    parts = node.meta.get("folded", (node,))
    names = ", ".join(node_name(part) for part in parts)
    if node.op != "call_module":
        return Block(names, shown, lane)
    modules = [
        fork.module.get_submodule(str(part.target).removeprefix("module").removeprefix(".")) for part in parts
    ]
    return Block(" + ".join(type(m).__name__ for m in modules), names, lane)


def _matches(train: Branch, infer: Branch) -> dict[fx.Node, fx.Node]:
    """Maps each node of `infer` to the node of `train` with the same operation and inputs, if there is one."""
    root = train._root
    waiting: dict[Any, list[fx.Node]] = {}
    for node in train.graph.nodes:
        waiting.setdefault((node.op, str(node.target)), []).append(node)
    counterparts: dict[fx.Node, fx.Node] = {}
    for node in infer.graph.nodes:
        if node.op == "output" or any(n not in counterparts for n in node.all_input_nodes):
            continue
        if node.op == "call_module":
            if node.target.startswith("folded"):
                continue
            if any(depends_on_mode(m) for m in root.module.get_submodule(node.target[7:]).modules()):
                continue
        args = repr(fx.node.map_arg((node.args, node.kwargs), lambda n: counterparts[n]))
        candidates = waiting.get((node.op, str(node.target)), [])
        for other in candidates:
            if repr((other.args, other.kwargs)) == args:
                candidates.remove(other)
                counterparts[node] = other
                break
    return counterparts


def _wanted(branch: Branch, name: str | None) -> set[fx.Node]:
    """The nodes that a target depends on, itself included."""
    nodes = list(branch.graph.nodes)
    waiting = [
        n
        for n in nodes
        if (n.op == "output" if name is None else name in [node_name(p) for p in n.meta.get("folded", (n,))])
    ]
    wanted: set[fx.Node] = set()
    while waiting:
        node = waiting.pop()
        if node not in wanted:
            wanted.add(node)
            waiting.extend(node.all_input_nodes)
    return wanted
