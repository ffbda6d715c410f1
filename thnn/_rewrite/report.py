"""Reports of what thnn computes in a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from thnn._table import aligned, html_table


class Layer(NamedTuple):
    """A layer or a call in a report: its name in the model, the name of its class or function, and a remark."""

    name: str
    kind: str
    remark: str = ""


class Report(NamedTuple):
    """The changes that ``convert`` or ``revert`` made to a model, or that the backend of torch.compile made to a graph;
    ``print(report)`` shows them as a table.

    ``replaced`` has what thnn computes now: the layers that changed their class, and the calls of functions that were
    not fused. ``fused`` has the layers and calls that were joined with a neighbour, the one of the remark. ``left`` has
    what torch computes, with the reason: layers, calls, and modules whose forward computes something besides its
    layers. ``apart`` has neighbours that a fusion would have joined, with the reason why not. The table has one line
    for all entries of ``left`` and ``apart`` of one kind and remark.
    """

    replaced: tuple[Layer, ...]
    fused: tuple[Layer, ...]
    left: tuple[Layer, ...]
    apart: tuple[Layer, ...] = ()

    def __str__(self) -> str:
        """A line for each layer, and one with the number of layers in each section."""
        return "\n".join([*aligned(self._rows()), self._counts()])

    def _repr_html_(self) -> str:
        return f"{html_table(('', 'layer', 'kind', 'remark'), self._rows())}<p>{self._counts()}</p>"

    def _sections(self) -> dict[str, tuple[Layer, ...]]:
        return self._asdict()

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (title, *layer)
            for title, layers in self._sections().items()
            for layer in (_joined(layers) if title in ("left", "apart") else layers)
        ]

    def _counts(self) -> str:
        sections = self._sections().items()
        return ", ".join(f"{len(layers)} {title}" for title, layers in sections if layers or title != "apart")


def _joined(layers: tuple[Layer, ...]) -> Iterator[Layer]:
    """One entry for all layers of one class with one remark."""
    names: dict[tuple[str, str], list[str]] = {}
    for layer in layers:
        names.setdefault((layer.kind, layer.remark), []).append(layer.name)
    for (kind, remark), (first, *others) in names.items():
        yield Layer(f"{first} and {len(others)} more" if others else first, kind, remark)
