"""A picture as SVG.

Each row has at most one operator per lane: train on the left, infer on the right, shared in the middle. Variables are
in the middle, too, beside the operators that use them. The gaps between rows, and the tracks outside of the lanes, are
for edges, so that no edge crosses an operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from xml.sax.saxutils import escape, quoteattr

from thnn.graph.net import BRANCHES
from thnn.graph.picture import SHARED, Block, Picture, VariableGroup

_BLOCK = 46.0  # height of an operator
_LINE = 17.0  # height of a variable's line
_GAP = 44.0  # between rows
_GUTTER = 80.0  # between lanes
_TRACK = 12.0  # between parallel lines
_CHARACTER = 7.9  # width of an average character of 13 px, rounded up
_LONGEST = 44  # characters of a line; the tooltip has the whole text

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
class _Rectangle:
    x: float  # centre
    y: float  # top
    width: float
    height: float


class _Layout:
    """Positions and sizes of all elements of a picture."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.rows = _rows(picture)
        lanes = {n: picture.lane(n) for n in (SHARED, *BRANCHES)}
        self.width = {
            n: max((_width([b.title, b.detail]) for b in blocks), default=0) for n, blocks in lanes.items()
        }
        self.forked = bool(lanes["train"] or lanes["infer"])
        self.groups: dict[int, list[VariableGroup]] = {}
        for group in picture.groups:
            first = min(b.row for b in (*group.readers, *group.writers))
            self.groups.setdefault(first, []).append(group)
        trunk = len(lanes[SHARED])
        beside = [s for k, groups in self.groups.items() if k < trunk for s in groups]
        middle = [s for k, groups in self.groups.items() if k >= trunk for s in groups]
        # The middle lane is as wide as its operators, or as the variables between the branches.
        group_width = max((_width(s.lines) for s in middle), default=0)
        half = max(self.width[SHARED] if lanes[SHARED] else 0, group_width) / 2
        self._tracks()
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
        self.rectangles: dict[int, _Rectangle] = {}
        self.top: list[float] = []
        self.bottom: list[float] = []
        y = 64.0
        self.fork_top = self.fork_bottom = y
        for k, row in enumerate(self.rows):
            if k == trunk and self.forked:
                y += 30 if trunk else 16
                self.fork_top = y - 34
            groups = self.groups.get(k, [])
            stack = sum(len(s.lines) * _LINE + 14 for s in groups) + 10 * max(len(groups) - 1, 0)
            height = max(_BLOCK, stack)
            self.top.append(y)
            for block in row:
                width = (
                    _width([block.title, block.detail]) if block.kind == "input" else self.width[block.lane]
                )
                self.rectangles[id(block)] = _Rectangle(
                    self.x[block.lane], y + (height - _BLOCK) / 2, width, _BLOCK
                )
            at = y + (height - stack) / 2
            for group in groups:
                width, tall = _width(group.lines), len(group.lines) * _LINE + 14
                x = self.beside + width / 2 if k < trunk else self.x[SHARED]
                self.rectangles[id(group)] = _Rectangle(x, at, width, tall)
                at += tall + 10
            y += height
            self.bottom.append(y)
            y += _GAP
        self.fork_bottom = y - _GAP + 18
        self.height = self.fork_bottom + 56

    def _tracks(self) -> None:
        """Assigns a track to each edge that passes a row: on the left, on the right, or beside the shared lane."""
        self.track: dict[tuple[int, int], tuple[str, int]] = {}
        taken: dict[str, list[list[tuple[int, int]]]] = {"left": [], "right": [], "inner": []}
        for block in self.picture.blocks:
            for source in block.before:
                between = {b.lane for row in self.rows[source.row + 1 : block.row] for b in row}
                if between.isdisjoint((source.lane, block.lane)):
                    continue
                side = {"train": "left", "infer": "right", SHARED: "inner"}[block.lane]
                span = source.row, block.row
                tracks = taken[side]
                free = (
                    k for k, spans in enumerate(tracks) if all(span[1] <= a or b <= span[0] for a, b in spans)
                )
                k = next(free, len(tracks))
                if k == len(tracks):
                    tracks.append([])
                tracks[k].append(span)
                self.track[id(source), id(block)] = side, k
        self.track_count = {side: len(tracks) for side, tracks in taken.items()}

    def track_x(self, side: str, k: int) -> float:
        if side == "left":
            return self.left - 16 - k * _TRACK
        if side == "right":
            return self.right + 16 + k * _TRACK
        return self.x[SHARED] - self.width[SHARED] / 2 - 16 - k * _TRACK


def _rows(picture: Picture) -> list[list[Block]]:
    """The blocks by row; counterparts in the two branches share a row."""
    rows = [[block] for block in picture.lane(SHARED)]
    train, infer = picture.lane("train"), picture.lane("infer")
    matcher = SequenceMatcher(
        None, [b.counterpart for b in train], [b.counterpart for b in infer], autojunk=False
    )
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            rows.extend([t, i] for t, i in zip(train[a:b], infer[c:d]))
        else:
            rows.extend([block] for block in (*train[a:b], *infer[c:d]))
    for k, blocks in enumerate(rows):
        for block in blocks:
            block.row = k
    return rows


def to_svg(picture: Picture) -> str:
    """The SVG document of a picture."""
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
    for block in picture.blocks:
        kind = "input" if block.kind == "input" else block.lane
        out.append(
            _rectangle(
                layout.rectangles[id(block)],
                [block.title, block.detail],
                kind,
                block.note,
                dim and not block.active,
            )
        )
    for group in picture.groups:
        note = "\n".join(group.lines)
        out.append(
            _rectangle(layout.rectangles[id(group)], group.lines, group.kind, note, dim and not group.active)
        )
    out.append(_legend(picture, height))
    out.append("</svg>\n")
    return "\n".join(out)


def _edges(picture: Picture, layout: _Layout, dim: bool) -> list[str]:
    lines: list[tuple[bool, str]] = []
    for block in picture.blocks:
        to = layout.rectangles[id(block)]
        for source in block.before:
            start = layout.rectangles[id(source)]
            active = block.active and source.active
            bottom, top = start.y + start.height, to.y
            track = layout.track.get((id(source), id(block)))
            low, high = layout.bottom[source.row], layout.top[block.row]
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
    for group in picture.groups:
        place = layout.rectangles[id(group)]
        for block in dict.fromkeys((*group.readers, *group.writers)):
            to = layout.rectangles[id(block)]
            side = 1 if to.x > place.x else -1
            x1, x2 = place.x + side * place.width / 2, to.x - side * to.width / 2
            y1 = place.y + place.height / 2
            y2 = min(max(y1, to.y + 8), to.y + to.height - 8)
            middle = (x1 + x2) / 2
            curve = f"M{x1:.1f} {y1:.1f} C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
            strong = block.active or not dim
            if block in group.readers:
                lines.append((block.active, _path(curve, strong, thin=True)))
            if block in group.writers:
                back = f"M{x2:.1f} {y2:.1f} C{middle:.1f} {y2:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
                lines.append((block.active, _path(back, strong, thin=True)))
    return [line for _, line in sorted(lines, key=lambda pair: pair[0])]


def _path(curve: str, strong: bool, thin: bool = False) -> str:
    name, color = ("on", "#0f172a") if strong else ("off", "#94a3b8")
    return (
        f'<path d="{curve}" fill="none" stroke="{color}" stroke-width="{1 if thin else 1.5}"'
        f' marker-end="url(#to-{name})"/>'
    )


def _rounded(points: list[tuple[float, float]], radius: float = 8) -> str:
    """A path of horizontal and vertical lines with rounded corners."""
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


def _rectangle(place: _Rectangle, lines: Sequence[str], kind: str, note: str, faint: bool) -> str:
    color, fill = _COLORS[kind]
    lines = [line for line in lines if line]
    is_block = place.height == _BLOCK and kind not in ("parameter", "statistic")
    dash = ' stroke-dasharray="5 3"' if kind == "statistic" else ""
    radius = 8 if is_block else 4
    step = _LINE
    y = place.y + place.height / 2 - (len(lines) - 1) * step / 2 + 4.5
    texts = "".join(
        f'<text x="{place.x:.1f}" y="{y + k * step:.1f}" text-anchor="middle" fill="{color}"'
        f"{' font-weight=' + quoteattr('bold') if is_block and k == 0 else ''}>{_xml(_short(line))}</text>"
        for k, line in enumerate(lines)
    )
    return (
        f'<g class="{kind}{"" if faint else " active"}" opacity="{0.4 if faint else 1}"><title>{_xml(note)}</title>'
        f'<rect x="{place.x - place.width / 2:.1f}" y="{place.y:.1f}" width="{place.width:.1f}"'
        f' height="{place.height:.1f}" rx="{radius}" fill="{fill}" stroke="{color}" stroke-width="1.5"{dash}/>'
        f"{texts}</g>"
    )


def _legend(picture: Picture, height: float) -> str:
    kinds = [k for k in ("input", "parameter", "statistic") if any(s.kind == k for s in picture.groups)]
    if any(s.writers for s in picture.groups):
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
    """Escaped text; control characters, which XML cannot represent, become U+FFFD."""
    return escape("".join(c if c in "\n\t" or (c >= " " and c.isprintable()) else "\ufffd" for c in text))
