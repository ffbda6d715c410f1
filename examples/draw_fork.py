"""Draws the two branches of a torch model as a Mermaid flowchart, with the branch for inference highlighted, and
prints them as text.

python examples/draw_fork.py [--fold] [--output FILE]
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from thnn import graph


class Residual(nn.Module):
    """Two convolutions with a shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.path(x))


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the fork of a small residual network.")
    parser.add_argument("--fold", action="store_true", help="fold batch normalization into convolutions")
    parser.add_argument("--output", default="fork.md", metavar="FILE", help="the picture (default fork.md)")
    options = parser.parse_args()

    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), Residual(8), nn.Dropout(0.2), nn.Flatten(), nn.Linear(8 * 8 * 8, 10)
    )
    fork = graph.fork(model, torch.zeros(2, 1, 8, 8), fold=options.fold)
    graph.draw(fork, options.output, target="infer")
    print(graph.draw(fork, target="infer"), end="")
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
