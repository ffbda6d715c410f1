"""
Batch normalization with small batches
======================================

A batch of few images has noisy statistics. This study follows them: the moving statistics of one layer, a network
trained with 2 images per step, the same with estimated statistics in training, and two devices with and without
synchronization.
"""

from typing import Literal

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn

import thnn
from thnn.parallel import SelfDataParallel

BLUE, ORANGE = "#0072b2", "#e69f00"
torch.manual_seed(0)

# %%
# Moving statistics
# -----------------
#
# Images have mean 3 and standard deviation 2. The moving statistics begin at mean 0 and variance 1; `decay` is the
# weight of the old ones. Large batches give a smooth curve, small ones a noisy one with the same limit.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for batch, color in ((2, ORANGE), (32, BLUE)):
    layer = thnn.nn.BatchNorm2d(1, decay=0.9)
    means, variances = [], []
    for _ in range(80):
        layer(3 + 2 * torch.randn(batch, 1, 2, 2))
        means.append(layer.state_dict()["running_mean"].item())
        variances.append(layer.state_dict()["running_var"].item())
    left.plot(means, color=color, label=f"{batch} images")
    right.plot(variances, color=color)
left.axhline(3, color="gray", linewidth=0.5)
right.axhline(4, color="gray", linewidth=0.5)
left.set(xlabel="step", ylabel="moving mean")
right.set(xlabel="step", ylabel="moving variance")
left.legend(frameon=False)

# %%
# Statistics of the batch, or estimated ones
# ------------------------------------------
#
# With `use_global_est=True` the operator `thnn.batch_norm` normalizes by the estimates in training, too. Two images per
# step then do not disturb one another. The task: tell two classes of noise images by their contrast.


def batch_of(size: int) -> tuple[Tensor, Tensor]:
    classes = torch.randint(2, (size,))
    return torch.randn(size, 1, 8, 8) * (1 + classes.view(-1, 1, 1, 1)), classes


class Network(nn.Module):
    """A convolution, batch normalization by the operator, and a linear layer."""

    def __init__(self, use_estimates: bool) -> None:
        super().__init__()
        self.convolution = thnn.nn.Conv2d(1, 8, 3)
        self.scale, self.bias = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))
        self.mean, self.variance = nn.Buffer(torch.zeros(8)), nn.Buffer(torch.ones(8))
        self.linear = thnn.nn.Linear(8, 2)
        self.use_estimates = use_estimates

    def forward(self, x: Tensor) -> Tensor:
        y = thnn.batch_norm(
            self.convolution(x),
            self.scale,
            self.bias,
            self.mean,
            self.variance,
            use_global_est=self.use_estimates,
            momentum=0.9,
        ).y
        return self.linear(y.abs().mean((2, 3)))


figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for use_estimates, color, label in ((False, ORANGE, "statistics of the batch"), (True, BLUE, "estimates")):
    torch.manual_seed(1)
    network = Network(use_estimates)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    smooth, curve = 0.7, []
    for _ in range(400):
        images, classes = batch_of(2)
        loss = nn.functional.cross_entropy(network(images), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth += 0.03 * (loss.item() - smooth)
        curve.append(smooth)
    axes.plot(curve, color=color, label=label)
    print(f"{label:<24} loss {curve[-1]:.3f}")
axes.set(xlabel="step of 2 images", ylabel="loss, smoothed")
axes.legend(frameon=False)

# %%
# Several devices
# ---------------
#
# Two devices have images of different brightness. Without synchronization each normalizes its part, and the difference
# between the devices is lost; with it, the layer sees the whole batch. [Batch normalization](../batch-normalization.md)
# describes the five ways in which devices update moving statistics.

images = torch.cat([torch.randn(4, 1, 4, 4), 5 + torch.randn(4, 1, 4, 4)])
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
ways: tuple[Literal["mean", "sync"], ...] = ("mean", "sync")
for how, color in zip(ways, (ORANGE, BLUE)):
    layer = thnn.nn.BatchNorm2d(1, decay=0.9)
    outputs = SelfDataParallel(layer, ["cpu", "cpu"], how)(images)
    values = torch.cat([y.flatten() for y in outputs]).tolist()
    axes.hist(values, bins=30, histtype="step", linewidth=2, color=color, label=f"moving_statistics='{how}'")
axes.set(xlabel="normalized value", ylabel="number of pixels")
axes.legend(frameon=False)
