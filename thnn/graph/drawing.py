"""draw: the two branches of a net or a fork, as a Mermaid flowchart or as text."""

from __future__ import annotations

import os
from pathlib import Path

from thnn._table import printable
from thnn.graph.forks import Fork
from thnn.graph.mermaid import to_mermaid
from thnn.graph.net import BRANCHES, Net
from thnn.graph.picture import SHARED, Picture, picture_of_fork, picture_of_net


def draw(
    net_or_fork: Net | Fork,
    path: str | os.PathLike[str] | None = None,
    *,
    target: str | tuple[str, str] | None = None,
) -> str | None:
    """Draws a net or a fork: shared operators, the branches for training and inference, and each variable once.

    Arguments:
        net_or_fork: Net or Fork
        path: path of the file to write, a Mermaid flowchart: .mmd, or in a block of Markdown: .md; None: return text
            instead
        target: the highlighted part, with its dependencies: 'train' or 'infer' for a whole branch; a variable of the
            net, or a module or function of the fork, for both branches; or (branch, name)

    Returns the text if `path` is None. It marks highlighted operators with a *.

    Errors: TypeError for another object; ValueError for a target that does not exist, and for a path with the suffix of
    another format.
    """
    if isinstance(net_or_fork, Net):
        picture = picture_of_net(net_or_fork, target)
    elif isinstance(net_or_fork, Fork):
        picture = picture_of_fork(net_or_fork, target)
    else:
        raise TypeError(f"draw: expected a Net or a Fork, got {type(net_or_fork).__name__}")
    if path is None:
        return _text(picture)
    suffix, chart = Path(path).suffix.lower(), to_mermaid(picture)
    if suffix not in (".mmd", ".md"):
        raise ValueError(f"draw: path: expected a name that ends in .mmd or .md, got {os.fspath(path)!r}")
    Path(path).write_text(f"```mermaid\n{chart}```\n" if suffix == ".md" else chart, encoding="utf-8")
    return None


def _text(picture: Picture) -> str:
    """The text of a picture: operators with their sources, then variables with their readers."""

    def mark(active: bool) -> str:
        return "* " if active else "  "

    lines = [picture.name + (f", highlighted: {picture.target}" if picture.target else "")]
    names = {}
    for lane in (SHARED, *BRANCHES):
        blocks = picture.lane(lane)
        if blocks:
            lines.append(lane)
        for k, block in enumerate(blocks, 1):
            names[block] = f"{lane} {k}"
            sources = ", ".join(names[b] for b in block.before)
            lines.append(f"  {mark(block.active)}{k:2} {block.text}" + (f"  <- {sources}" if sources else ""))
    if picture.groups:
        lines.append("variables, shared by all")
    for group in picture.groups:
        users = ", ".join(names[b] for b in group.readers) or "none"
        changed = f"; updated by {', '.join(names[b] for b in group.writers)}" if group.writers else ""
        lines.extend(
            f"  {mark(group.active)}{group.kind} {line}  -> {users}{changed}" for line in group.lines
        )
    return "\n".join(map(printable, lines)) + "\n"
