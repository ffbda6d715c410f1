"""
The two branches of a network
=============================

A network with batch normalization and dropout computes one thing in training and another in inference.
`thnn.graph.fork` makes both from one model, with shared parameters, and draws them.
"""

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
# The drawing is a Mermaid flowchart, which Markdown pages and code hosts show as a picture.

fork = graph.fork(model, images[:2])
print(graph.draw(fork, target="infer"))

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
