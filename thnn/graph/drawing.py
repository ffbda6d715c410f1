"""draw: the two branches of a net or a fork, as SVG or as text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import torch
from torch import Tensor, fx

from thnn.graph.forks import Branch, Fork, _assign, _set_grad_enabled, node_name
from thnn.graph.net import BRANCHES, Net
from thnn.graph.operators import Operator, label
from thnn.graph.views import depends_on_mode

SHARED = "shared"


@dataclass(eq=False)
class Box:
    """An operator, or an input on the way to a shared one."""

    title: str
    detail: str  # second line
    note: str  # what the pointer shows
    lane: str  # shared, train or infer
    kind: str = "operator"  # or input
    kin: str = ""  # the same for what corresponds in the two branches
    before: list[Box] = field(default_factory=list)
    active: bool = False
    row: int = 0

    @property
    def text(self) -> str:
        return f"{self.title}  {self.detail}".rstrip()


@dataclass(eq=False)
class Store:
    """Variables that the same operators use in the same way; each is in one store."""

    kind: str  # parameter, statistic or input
    lines: list[str]
    readers: list[Box]
    writers: list[Box]
    active: bool = False


@dataclass
class Picture:
    """What there is to draw."""

    name: str
    boxes: list[Box]  # in an order in which they can run, lane by lane
    stores: list[Store]
    target: str = ""

    def lane(self, name: str) -> list[Box]:
        return [b for b in self.boxes if b.lane == name]


def draw(
    net_or_fork: Net | Fork,
    path: str | os.PathLike[str] | None = None,
    *,
    target: str | tuple[str, str] | None = None,
) -> str | None:
    """Shows a net or a fork: what is shared, the branches for training and for inference, and each variable once.

    Arguments:
        net_or_fork: Net or Fork
        path: path of the SVG file that is written; None: a text is returned instead
        target: what is highlighted, with all that it takes: 'train' or 'infer' for a whole branch; a variable of the
            net, or a module or function of the fork, for both branches; or (branch, name)

    Returns the text if no path is given. In it, a * marks what is highlighted.

    Errors: TypeError for what is neither; ValueError for a target that does not exist, and for a path whose ending
    names another format than SVG.
    """
    if isinstance(net_or_fork, Net):
        picture = _of_net(net_or_fork, target)
    elif isinstance(net_or_fork, Fork):
        picture = _of_fork(net_or_fork, target)
    else:
        raise TypeError(f"draw: expected a Net or a Fork, got {type(net_or_fork).__name__}")
    if path is None:
        return _text(picture)
    if Path(path).suffix.lower() not in ("", ".svg"):
        raise ValueError(f"draw: path: expected the name of an SVG file, got {os.fspath(path)!r}")
    Path(path).write_text(_svg(picture), encoding="utf-8")
    return None


def _split(target: Any) -> tuple[tuple[str, ...], str | None]:
    """Branches and name of a target."""
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


def _group(uses: dict[tuple[str, str], tuple[list[Box], list[Box]]]) -> list[Store]:
    """Stores out of (kind, line) -> its readers and writers."""
    stores: dict[Any, Store] = {}
    for (kind, line), (readers, writers) in uses.items():
        key = kind, tuple(map(id, readers)), tuple(map(id, writers))
        store = stores.setdefault(key, Store(kind, [], readers, writers))
        store.lines.append(line)
    for store in stores.values():
        store.active = any(b.active for b in (*store.readers, *store.writers))
    return list(stores.values())


# What a net consists of.


def _of_net(net: Net, target: Any) -> Picture:
    branches, name = _split(target)
    active: set[Operator] = set()
    for branch in branches:
        if name is None:
            active.update(net.branch(branch))  # type: ignore[arg-type]
        elif len(branches) == 1 or name not in net._train_only or branch == "train":
            active.update(net.plan(branch, name))  # type: ignore[arg-type]
    shared = set(net.shared())
    boxes: dict[Operator, Box] = {}
    makers: dict[tuple[str, str], Box] = {}
    inputs: dict[str, Box] = {}
    uses: dict[tuple[str, str], tuple[list[Box], list[Box]]] = {}
    for branch in BRANCHES:
        for operator in net.branch(branch):  # type: ignore[arg-type]
            if operator in boxes:
                continue
            lane = SHARED if operator in shared else branch
            mode = [
                f"{m}={v}" for m, v in operator.attributes.items() if m in ("is_infer", "train", "training")
            ]
            box = Box(
                label(operator.kind), ", ".join([*operator.writes[:1], *mode]), repr(operator), lane,
                kin=str(operator.writes[:1]), active=operator in active,
            )  # fmt: skip
            for variable in operator.reads:
                if variable in net._writers:
                    maker = makers.get((branch, variable)) or makers[SHARED, variable]
                    if maker not in box.before:
                        box.before.append(maker)
                    continue
                value = net.scope[variable].value
                if value is None and lane == SHARED:
                    source = inputs.setdefault(variable, Box(variable, "", "fed", SHARED, "input"))
                    source.active |= box.active
                    box.before.append(source)
                    continue
                if value is None and variable in inputs:
                    box.before.append(inputs[variable])
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
                readers.append(box)
                if variable in operator.updates:
                    writers.append(box)
            boxes[operator] = box
            makers |= {(lane, n): box for n in operator.writes}
    for module in [o for o in boxes if isinstance(o.kind, torch.nn.Module)]:
        _add_module(
            uses, boxes[module], module.kind, f"{boxes[module].detail.split(',')[0]}.", bool(module.forks)
        )
    picture = Picture("net", [*inputs.values(), *boxes.values()], _group(uses))
    picture.target = _title(branches, name)
    return picture


def _title(branches: Sequence[str], name: str | None) -> str:
    return " ".join([" and ".join(branches), *([name] if name else [])]).strip()


def _add_module(uses: Any, box: Box, module: torch.nn.Module, prefix: str, updates: bool) -> None:
    for kind, members in (("parameter", module.named_parameters()), ("statistic", module.named_buffers())):
        for name, value in members:
            readers, writers = uses.setdefault((kind, f"{prefix}{name} {_size(value)}"), ([], []))
            if box not in readers:
                readers.append(box)
            if updates and kind == "statistic" and box not in writers:
                writers.append(box)


# What a fork consists of.


def _of_fork(fork: Fork, target: Any) -> Picture:
    branches, name = _split(target)
    twins = _matches(fork.train, fork.infer)
    known = dict(fork.module.named_parameters(remove_duplicate=False)), dict(fork.module.named_buffers())
    boxes: dict[fx.Node, Box] = {}
    uses: dict[tuple[str, str], tuple[list[Box], list[Box]]] = {}
    order: list[Box] = []
    found = False
    for branch_name, branch in (("train", fork.train), ("infer", fork.infer)):
        wanted = _wanted(branch, name) if branch_name in branches else set()
        found |= bool(wanted)
        for node in branch.graph.nodes:
            if node.op in ("output", "get_attr") or node.target is _set_grad_enabled:
                continue
            if branch_name == "infer" and node in twins:
                box = boxes[node] = boxes[twins[node]]
                box.active |= node in wanted
                continue
            common = node in twins.values()
            box = boxes[node] = _box(fork, branch, node, SHARED if common else branch_name)
            box.active = node in wanted
            order.append(box)
            for source in node.all_input_nodes:
                if source.op == "get_attr" and not str(source.target).startswith("module"):
                    continue  # a constant
                if source.op == "get_attr":
                    path = str(source.target).removeprefix("module.")
                    value = known[0].get(path, known[1].get(path))
                    kind = "parameter" if path in known[0] else "statistic"
                    line = f"{path} {_size(value)}" if value is not None else path
                    readers, writers = uses.setdefault((kind, line), ([], []))
                    if node.target is not _assign:
                        readers.append(box)
                    if node.args[:1] == (source,) and (node.target is _assign or _in_place(node)):
                        writers.append(box)
                elif boxes[source] not in box.before:
                    box.before.append(boxes[source])
            if node.op == "call_module":
                # A folded pair has the parameters of both.
                for part in node.meta.get("folded", (node,)):
                    module = fork.module.get_submodule(
                        str(part.target).removeprefix("module").removeprefix(".")
                    )
                    path = node_name(part)
                    prefix = "" if path == "module" else f"{path}."
                    _add_module(uses, box, module, prefix, branch.training and depends_on_mode(module))
    if name is not None and not found:
        raise ValueError(f"draw: target: there is no module or function {name!r} in {' or '.join(branches)}")
    return Picture(type(fork.module).__name__, order, _group(uses), _title(branches, name))


def _in_place(node: fx.Node) -> bool:
    return node.op == "call_method" and str(node.target).endswith("_") and not str(node.target).endswith("__")


def _box(fork: Fork, branch: Branch, node: fx.Node, lane: str) -> Box:
    size, dtype = fork.sizes.get(node.name, ((), None)) if lane != "train" else ((), None)
    shown = "x".join(map(str, size))
    if node.op == "placeholder":
        return Box(str(node.target), shown, "input", lane, "input")
    parts = node.meta.get("folded", (node,))
    names = ", ".join(node_name(part) for part in parts)
    if node.op != "call_module":
        return Box(names, shown, f"{names}: {dtype}" if dtype else names, lane, kin=names)
    modules = [
        fork.module.get_submodule(str(part.target).removeprefix("module").removeprefix(".")) for part in parts
    ]
    title = " + ".join(type(m).__name__ for m in modules)
    return Box(
        title,
        names,
        "; ".join(map(repr, modules)) + (f": {shown}" if shown else ""),
        lane,
        kin=f"{node_name(parts[0])}:module",
    )


def _matches(train: Branch, infer: Branch) -> dict[fx.Node, fx.Node]:
    """Nodes of `infer` that compute what a node of `train` does, from the same -> that node."""
    root = train._root
    waiting: dict[Any, list[fx.Node]] = {}
    for node in train.graph.nodes:
        waiting.setdefault((node.op, str(node.target)), []).append(node)
    twins: dict[fx.Node, fx.Node] = {}
    for node in infer.graph.nodes:
        if node.op == "output" or any(n not in twins for n in node.all_input_nodes):
            continue
        if node.op == "call_module":
            if node.target.startswith("folded"):
                continue
            if any(depends_on_mode(m) for m in root.module.get_submodule(node.target[7:]).modules()):
                continue
        args = repr(fx.node.map_arg((node.args, node.kwargs), lambda n: twins[n]))
        candidates = waiting.get((node.op, str(node.target)), [])
        for other in candidates:
            if repr((other.args, other.kwargs)) == args:
                candidates.remove(other)
                twins[node] = other
                break
    return twins


def _wanted(branch: Branch, name: str | None) -> set[fx.Node]:
    """The nodes that a target takes."""
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


# Text.


def _text(picture: Picture) -> str:
    def mark(active: bool) -> str:
        return "* " if active else "  "

    lines = [picture.name + (f", highlighted: {picture.target}" if picture.target else "")]
    names = {}
    for lane in (SHARED, *BRANCHES):
        boxes = picture.lane(lane)
        if boxes:
            lines.append(lane)
        for k, box in enumerate(boxes, 1):
            names[box] = f"{lane} {k}"
            sources = ", ".join(names[b] for b in box.before)
            lines.append(f"  {mark(box.active)}{k:2} {box.text}" + (f"  <- {sources}" if sources else ""))
    if picture.stores:
        lines.append("variables, shared by all")
    for store in picture.stores:
        users = ", ".join(names[b] for b in store.readers) or "nobody"
        changed = f"; updated by {', '.join(names[b] for b in store.writers)}" if store.writers else ""
        lines.extend(
            f"  {mark(store.active)}{store.kind} {line}  -> {users}{changed}" for line in store.lines
        )
    return "\n".join(lines) + "\n"


# SVG. Each row has at most one operator per lane: train on the left, infer on the right, and in the middle what is
# shared: operators, above the fork; variables, beside the operators that use them. Gaps between rows, and tracks
# outside of the lanes, are free for lines, so that no line crosses a box.

_BOX = 46.0  # height of an operator
_LINE = 17.0  # height of a variable's line
_GAP = 44.0  # between rows
_GUTTER = 80.0  # between lanes
_TRACK = 12.0  # between parallel lines
_CHARACTER = 7.9  # width, at most, of most of a text of 13 px
_LONGEST = 44  # characters shown; the pointer shows the rest

_COLORS = {
    SHARED: ("#475569", "#f1f5f9"),
    "train": ("#b45309", "#fff7ed"),
    "infer": ("#0f766e", "#f0fdfa"),
    "input": ("#1d4ed8", "#eff6ff"),
    "parameter": ("#6d28d9", "#f5f3ff"),
    "statistic": ("#be185d", "#fdf2f8"),
}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _width(texts: Iterable[str]) -> float:
    return max((len(_short(t)) for t in texts), default=0) * _CHARACTER + 28


@dataclass
class _Place:
    x: float  # centre
    y: float  # top
    width: float
    height: float


class _Layout:
    """Where everything is."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.rows = _rows(picture)
        lanes = {n: picture.lane(n) for n in (SHARED, *BRANCHES)}
        self.width = {
            n: max((_width([b.title, b.detail]) for b in boxes), default=0) for n, boxes in lanes.items()
        }
        self.forked = bool(lanes["train"] or lanes["infer"])
        self.stores: dict[int, list[Store]] = {}
        for store in picture.stores:
            first = min(b.row for b in (*store.readers, *store.writers))
            self.stores.setdefault(first, []).append(store)
        trunk = len(lanes[SHARED])
        beside = [s for k, stores in self.stores.items() if k < trunk for s in stores]
        middle = [s for k, stores in self.stores.items() if k >= trunk for s in stores]
        # Middle lane: as wide as what is shared, or as the variables between the branches.
        store_width = max((_width(s.lines) for s in middle), default=0)
        half = max(self.width[SHARED] if lanes[SHARED] else 0, store_width) / 2
        self._tracks(trunk)
        left = self.width["train"] + _GUTTER if self.forked else 0
        self.left = 24 + self.track_count["left"] * _TRACK + (16 if self.track_count["left"] else 0)
        inner = max(self.track_count["inner"] * _TRACK + 16 + self.width[SHARED] / 2, half)
        self.x = {"train": self.left + self.width["train"] / 2}
        self.x[SHARED] = max(self.left + left + half, self.left + inner)
        self.x["infer"] = self.x[SHARED] + half + _GUTTER + self.width["infer"] / 2
        self.beside = self.x[SHARED] + self.width[SHARED] / 2 + _GUTTER / 2
        edge = self.x[SHARED] + half
        if beside:
            edge = max(edge, self.beside + max(_width(s.lines) for s in beside))
        if self.forked:
            edge = max(edge, self.x["infer"] + self.width["infer"] / 2)
        self.right = edge
        self.total_width = (
            edge + 24 + self.track_count["right"] * _TRACK + (16 if self.track_count["right"] else 0)
        )
        # From top to bottom.
        self.places: dict[int, _Place] = {}
        self.top: list[float] = []
        self.bottom: list[float] = []
        y = 64.0
        self.fork_top = self.fork_bottom = y
        for k, row in enumerate(self.rows):
            if k == trunk and self.forked:
                y += 30 if trunk else 16
                self.fork_top = y - 34
            stores = self.stores.get(k, [])
            stack = sum(len(s.lines) * _LINE + 14 for s in stores) + 10 * max(len(stores) - 1, 0)
            height = max(_BOX, stack)
            self.top.append(y)
            for box in row:
                width = _width([box.title, box.detail]) if box.kind == "input" else self.width[box.lane]
                self.places[id(box)] = _Place(self.x[box.lane], y + (height - _BOX) / 2, width, _BOX)
            at = y + (height - stack) / 2
            for store in stores:
                width, tall = _width(store.lines), len(store.lines) * _LINE + 14
                x = self.beside + width / 2 if k < trunk else self.x[SHARED]
                self.places[id(store)] = _Place(x, at, width, tall)
                at += tall + 10
            y += height
            self.bottom.append(y)
            y += _GAP
        self.fork_bottom = y - _GAP + 18
        self.height = self.fork_bottom + 56

    def _tracks(self, trunk: int) -> None:
        """A track for each line that passes a row: on the left, on the right, or beside the shared operators."""
        self.track: dict[tuple[int, int], tuple[str, int]] = {}
        taken: dict[str, list[list[tuple[int, int]]]] = {"left": [], "right": [], "inner": []}
        for box in self.picture.boxes:
            for source in box.before:
                between = {b.lane for row in self.rows[source.row + 1 : box.row] for b in row}
                if between.isdisjoint((source.lane, box.lane)):
                    continue
                side = {"train": "left", "infer": "right", SHARED: "inner"}[box.lane]
                span = source.row, box.row
                tracks = taken[side]
                free = (
                    k for k, spans in enumerate(tracks) if all(span[1] <= a or b <= span[0] for a, b in spans)
                )
                k = next(free, len(tracks))
                if k == len(tracks):
                    tracks.append([])
                tracks[k].append(span)
                self.track[id(source), id(box)] = side, k
        self.track_count = {side: len(tracks) for side, tracks in taken.items()}

    def track_x(self, side: str, k: int) -> float:
        if side == "left":
            return self.left - 16 - k * _TRACK
        if side == "right":
            return self.right + 16 + k * _TRACK
        return self.x[SHARED] - self.width[SHARED] / 2 - 16 - k * _TRACK


def _rows(picture: Picture) -> list[list[Box]]:
    """Boxes row by row; what corresponds in the two branches is in one row."""
    rows = [[box] for box in picture.lane(SHARED)]
    train, infer = picture.lane("train"), picture.lane("infer")
    matcher = SequenceMatcher(None, [b.kin for b in train], [b.kin for b in infer], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            rows.extend([t, i] for t, i in zip(train[a:b], infer[c:d]))
        else:
            rows.extend([box] for box in (*train[a:b], *infer[c:d]))
    for k, boxes in enumerate(rows):
        for box in boxes:
            box.row = k
    return rows


def _svg(picture: Picture) -> str:
    layout = _Layout(picture)
    width, height = layout.total_width, layout.height
    dim = bool(picture.target)
    title = f"{picture.name}: {picture.target}" if picture.target else picture.name
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f"<title>{_xml(title)}</title>",
        "<defs>",
        *(
            f'<marker id="to-{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
            f' orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{color}"/></marker>'
            for name, color in (("on", "#0f172a"), ("off", "#94a3b8"))
        ),
        "</defs>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        f'<text x="24" y="34" font-size="16" font-weight="bold" fill="#0f172a">{_xml(_short(title))}</text>',
    ]
    if layout.forked:
        for lane in BRANCHES:
            if not picture.lane(lane):
                continue
            color, fill = _COLORS[lane]
            x, w = layout.x[lane], layout.width[lane]
            out.append(
                f'<rect x="{x - w / 2 - 12:.1f}" y="{layout.fork_top:.1f}" width="{w + 24:.1f}"'
                f' height="{layout.fork_bottom - layout.fork_top:.1f}" rx="12" fill="{fill}" opacity="0.8"/>'
                f'<text x="{x - w / 2:.1f}" y="{layout.fork_top + 18:.1f}" font-weight="bold"'
                f' fill="{color}">{lane}</text>'
            )
    out += _edges(picture, layout, dim)
    for box in picture.boxes:
        kind = "input" if box.kind == "input" else box.lane
        out.append(
            _rectangle(
                layout.places[id(box)], [box.title, box.detail], kind, box.note, dim and not box.active
            )
        )
    for store in picture.stores:
        note = "\n".join(store.lines)
        out.append(
            _rectangle(layout.places[id(store)], store.lines, store.kind, note, dim and not store.active)
        )
    out.append(_legend(picture, height))
    out.append("</svg>\n")
    return "\n".join(out)


def _edges(picture: Picture, layout: _Layout, dim: bool) -> list[str]:
    lines: list[tuple[bool, str]] = []
    for box in picture.boxes:
        to = layout.places[id(box)]
        for source in box.before:
            start = layout.places[id(source)]
            active = box.active and source.active
            bottom, top = start.y + start.height, to.y
            track = layout.track.get((id(source), id(box)))
            low, high = layout.bottom[source.row], layout.top[box.row]
            if track is None and start.x == to.x:
                points = [(start.x, bottom), (to.x, top)]
            elif track is None:
                points = [(start.x, bottom), (start.x, low + 14), (to.x, low + 14), (to.x, top)]
            else:
                x = layout.track_x(*track)
                points = [
                    (start.x, bottom), (start.x, low + 12), (x, low + 12), (x, high - 12), (to.x, high - 12),
                    (to.x, top),
                ]  # fmt: skip
            lines.append((active, _path(_rounded(points), active or not dim)))
    for store in picture.stores:
        place = layout.places[id(store)]
        for box in dict.fromkeys((*store.readers, *store.writers)):
            to = layout.places[id(box)]
            side = 1 if to.x > place.x else -1
            x1, x2 = place.x + side * place.width / 2, to.x - side * to.width / 2
            y1 = place.y + place.height / 2
            y2 = min(max(y1, to.y + 8), to.y + to.height - 8)
            middle = (x1 + x2) / 2
            curve = f"M{x1:.1f} {y1:.1f} C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
            strong = box.active or not dim
            if box in store.readers:
                lines.append((box.active, _path(curve, strong, thin=True)))
            if box in store.writers:
                back = f"M{x2:.1f} {y2:.1f} C{middle:.1f} {y2:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
                lines.append((box.active, _path(back, strong, thin=True)))
    return [line for _, line in sorted(lines, key=lambda pair: pair[0])]


def _path(curve: str, strong: bool, thin: bool = False) -> str:
    name, color = ("on", "#0f172a") if strong else ("off", "#94a3b8")
    return (
        f'<path d="{curve}" fill="none" stroke="{color}" stroke-width="{1 if thin else 1.5}"'
        f' marker-end="url(#to-{name})"/>'
    )


def _rounded(points: list[tuple[float, float]], radius: float = 8) -> str:
    """A line of horizontal and vertical pieces with round corners."""
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for a, b, c in zip(points, points[1:], points[2:]):
        pieces = []
        for p in (a, c):
            length = abs(p[0] - b[0]) + abs(p[1] - b[1])
            r = min(radius, length / 2) / length if length else 0.0
            pieces.append(f"{b[0] + (p[0] - b[0]) * r:.1f} {b[1] + (p[1] - b[1]) * r:.1f}")
        parts.append(f"L{pieces[0]} Q{b[0]:.1f} {b[1]:.1f} {pieces[1]}")
    parts.append(f"L{points[-1][0]:.1f} {points[-1][1]:.1f}")
    return " ".join(parts)


def _rectangle(place: _Place, lines: Sequence[str], kind: str, note: str, faint: bool) -> str:
    color, fill = _COLORS[kind]
    lines = [line for line in lines if line]
    is_box = place.height == _BOX and kind not in ("parameter", "statistic")
    dash = ' stroke-dasharray="5 3"' if kind == "statistic" else ""
    radius = 8 if is_box else 4
    step = _LINE
    y = place.y + place.height / 2 - (len(lines) - 1) * step / 2 + 4.5
    texts = "".join(
        f'<text x="{place.x:.1f}" y="{y + k * step:.1f}" text-anchor="middle" fill="{color}"'
        f"{' font-weight=' + quoteattr('bold') if is_box and k == 0 else ''}>{_xml(_short(line))}</text>"
        for k, line in enumerate(lines)
    )
    return (
        f'<g class="{kind}{"" if faint else " active"}" opacity="{0.4 if faint else 1}"><title>{_xml(note)}</title>'
        f'<rect x="{place.x - place.width / 2:.1f}" y="{place.y:.1f}" width="{place.width:.1f}"'
        f' height="{place.height:.1f}" rx="{radius}" fill="{fill}" stroke="{color}" stroke-width="1.5"{dash}/>'
        f"{texts}</g>"
    )


def _legend(picture: Picture, height: float) -> str:
    kinds = [k for k in ("input", "parameter", "statistic") if any(s.kind == k for s in picture.stores)]
    if any(s.writers for s in picture.stores):
        kinds.append("updated: arrows at both ends")
    x, parts = 24.0, []
    for kind in kinds:
        color, fill = _COLORS.get(kind, ("#475569", "#ffffff"))
        if kind in _COLORS:
            dash = ' stroke-dasharray="3 2"' if kind == "statistic" else ""
            parts.append(
                f'<rect x="{x:.1f}" y="{height - 31:.1f}" width="14" height="14" rx="3" fill="{fill}"'
                f' stroke="{color}"{dash}/>'
            )
            x += 20
        parts.append(f'<text x="{x:.1f}" y="{height - 19:.1f}" font-size="12" fill="#475569">{kind}</text>')
        x += len(kind) * 6.6 + 22
    return "".join(parts)


def _xml(text: str) -> str:
    """Text for XML: escaped, without the control characters that XML has no way to write."""
    return escape("".join(c if c in "\n\t" or (c >= " " and c.isprintable()) else "\ufffd" for c in text))
