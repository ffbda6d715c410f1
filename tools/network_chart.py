"""Draws docs/networks.png, the chart of the README: networks against torch, from the tables of the performance pages.

    python -m tools.network_chart

A bar is torch's time divided by thnn's, each in the better of its memory layouts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"AMD EPYC (Zen 4)": "performance-amd.md", "Intel Xeon of 2023": "performance-xeon.md"}
_TASKS = ("training step", "inference")
# Blue and orange of Okabe and Ito, whom colour-blind readers can tell apart.
_COLORS = ("#0072b2", "#e69f00")


def ratios(page: str) -> dict[tuple[str, str], float]:
    """By network and task, how many times as fast as torch thnn is in the table of a page."""
    found = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        row = re.fullmatch(rf"networks (.+) ({'|'.join(_TASKS)})", cells[0])
        if row is not None:
            # torch, torch channels-last, thnn, thnn channels-last: milliseconds, empty where there is one layout.
            times = [float(cell) if cell else float("inf") for cell in cells[2:6]]
            found[row[1], row[2]] = min(times[:2]) / min(times[2:])
    return found


def draw(path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    machines = {name: ratios((ROOT / "docs" / page).read_text("utf-8")) for name, page in PAGES.items()}
    networks = list(dict.fromkeys(network for found in machines.values() for network, _ in found))
    figure, panels = plt.subplots(ncols=2, sharey=True, figsize=(9, 3.2), layout="constrained")
    axes: Any
    for axes, task in zip(panels, _TASKS):
        for offset, (name, found), color in zip((0, 0.38), machines.items(), _COLORS):
            places = [p + offset for p in range(len(networks))]
            bars = axes.barh(places, [found[n, task] for n in networks], 0.36, label=name, color=color)
            axes.bar_label(bars, fmt="%.2f", fontsize=7, padding=2)
        axes.axvline(1, color="black", linewidth=0.8)
        axes.set_title(task, fontsize=10)
        axes.set_xlabel("times as fast as torch 2.13", fontsize=9)
        axes.margins(x=0.12)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks([p + 0.19 for p in range(len(networks))], networks, fontsize=9)
    panels[0].invert_yaxis()
    panels[1].legend(fontsize=8, frameon=False, loc="upper right")
    figure.savefig(path, dpi=120, metadata={"Software": None})


if __name__ == "__main__":
    draw(ROOT / "docs" / "networks.png")
