"""A picture as the text of a Mermaid flowchart, which code hosts, editors and MkDocs draw."""

from __future__ import annotations

import re

from thnn._table import printable
from thnn.graph.net import BRANCHES
from thnn.graph.picture import SHARED, Picture

_STYLES = {
    SHARED: "fill:#f1f5f9,stroke:#475569,color:#0f172a",
    "train": "fill:#fff7ed,stroke:#b45309,color:#0f172a",
    "infer": "fill:#f0fdfa,stroke:#0f766e,color:#0f172a",
    "input": "fill:#eff6ff,stroke:#1d4ed8,color:#0f172a",
    "parameter": "fill:#f5f3ff,stroke:#6d28d9,color:#0f172a",
    "statistic": "fill:#fdf2f8,stroke:#be185d,color:#0f172a",
}


def to_mermaid(picture: Picture) -> str:
    """Operators in a frame per lane with solid arrows between them, and variables with dotted arrows. Elements that the
    target does not depend on are faint."""
    lines = ["flowchart TB"]
    classes: dict[str, list[str]] = {}
    names = {id(block): f"b{k}" for k, block in enumerate(picture.blocks)}

    def add(name: str, kind: str, active: bool) -> None:
        classes.setdefault(kind, []).append(name)
        if picture.target and not active:
            classes.setdefault("faint", []).append(name)

    for lane in (SHARED, *BRANCHES):
        if blocks := picture.lane(lane):
            lines.append(f"  subgraph {lane}")
            for block in blocks:
                label = _label([part for part in (block.title, block.detail) if part])
                lines.append(f"    {names[id(block)]}[{label}]")
                add(names[id(block)], "input" if block.kind == "input" else lane, block.active)
            lines.append("  end")
    for k, group in enumerate(picture.groups):
        lines.append(f"  v{k}([{_label(group.lines)}])")
        add(f"v{k}", group.kind, group.active)
    for block in picture.blocks:
        lines += [f"  {names[id(source)]} --> {names[id(block)]}" for source in block.before]
    for k, group in enumerate(picture.groups):
        lines += [f"  v{k} -.-> {names[id(block)]}" for block in group.readers]
        lines += [f"  {names[id(block)]} -. updates .-> v{k}" for block in group.writers]
    styles = {**_STYLES, "faint": "opacity:0.4"}
    for kind, members in classes.items():
        lines += [f"  classDef {kind} {styles[kind]}", f"  class {','.join(members)} {kind}"]
    return "\n".join(lines) + "\n"


def _label(lines: list[str]) -> str:
    """Lines as quoted text, in which only letters, digits and harmless signs stand for themselves."""
    text = "<br/>".join(
        re.sub(r"[^\w .,:=+()/-]", lambda found: f"#{ord(found[0])};", printable(line)) for line in lines
    )
    return f'"{text}"'
