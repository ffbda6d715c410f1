"""
The two branches of a network
=============================

A network with batch normalization and dropout computes one thing in training and another in inference.
`thnn.graph.fork` makes both from one model, with shared parameters, and draws them.
"""

import re

import matplotlib.pyplot as plt
import torch
from torch import nn

from thnn import graph

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Flatten(),
    nn.Linear(8 * 8 * 8, 2),
)
images = torch.randn(64, 1, 8, 8)
classes = (images.mean((1, 2, 3)) > 0).long()

# %%
# `graph.draw` lists the operators of both branches and the variables that they share; a star marks what inference
# needs. With the name of a file, `graph.draw(fork, "fork.md")` writes the same as a Mermaid flowchart, which code hosts
# and notebooks show as a picture.

fork = graph.fork(model, images[:2])
text = graph.draw(fork, target="infer")
assert text is not None  # without a file
lines = text.splitlines()
print(*lines, sep="\n")

# %%
# The same lines as a picture: the operators before batch normalization are shared, and each branch normalizes in its
# own way. The variables in the middle exist once; training updates them, and inference reads them.

COLUMNS = {"shared": (0.0, "#cccccc"), "train": (-0.6, "#e69f00"), "infer": (0.6, "#56b4e9")}
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
places: dict[str, tuple[float, float]] = {}
readers: dict[str, list[str]] = {}
branch, stem = "", 0
for line in lines:
    if not line.startswith(" "):
        branch = line.split(",")[0]
    elif operator := re.match(r"[ *]+(\d+) (\w+)", line):
        step = int(operator[1])
        stem = step if branch == "shared" else stem
        x, color = COLUMNS[branch]
        y = float(-step if branch == "shared" else -stem - step)
        places[f"{branch} {step}"] = x, y
        box = {"boxstyle": "round,pad=0.4", "facecolor": color, "edgecolor": "none"}
        axes.text(x, y, operator[2], ha="center", va="center", bbox=box)
        for source in re.findall(r"(?:shared|train|infer) \d+", line):
            axes.annotate("", (x, y + 0.3), places[source], arrowprops={"arrowstyle": "->", "shrinkA": 14})
    elif variable := re.match(r"[ *]+\w+ \d+\.(\w+) .*-> ([^;]*)", line):
        readers.setdefault(variable[2], []).append(variable[1])
for names, variables in readers.items():
    x, y = places[names.split(", ")[0]]
    x, y = (0.0, y) if ", " in names else (x + 0.25, y + 0.2)
    axes.text(x, y, "\n".join(variables), ha="center", va="center", fontsize=8, color="gray")
axes.set(xlim=(-0.9, 0.9), ylim=(-stem - 5.6, -0.4))
axes.axis("off")

# %%
# The branch for training updates the parameters, and the branch for inference sees each update at once, without a
# call of `model.eval()`: the loss of both in one loop.

optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
curves: dict[str, list[float]] = {"train": [], "infer": []}
for _ in range(60):
    loss = nn.functional.cross_entropy(fork.train(images), classes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curves["train"].append(loss.item())
    with torch.no_grad():
        curves["infer"].append(nn.functional.cross_entropy(fork.infer(images), classes).item())
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(curves["train"], color="#e69f00", label="training, with dropout")
axes.plot(curves["infer"], color="#0072b2", label="inference, by moving statistics")
axes.set(xlabel="step", ylabel="loss")
axes.legend(frameon=False)
