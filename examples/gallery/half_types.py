"""
bfloat16 and float16
====================

Every function takes half types on the CPU, too: stored in 16 bits, computed in float32, each result rounded once.
"""

import copy

import matplotlib.pyplot as plt
import torch
from torch import nn

import thnn

torch.manual_seed(0)

# %%
# One rounding: the result is the nearest number of the type to the exact one, or its neighbour. The unit of the
# vertical axis is the distance between two neighbouring numbers of bfloat16.

x = torch.linspace(-4, 4, 2001).bfloat16()
exact = torch.nn.functional.gelu(x.double())
result = thnn.nn.functional.gelu(x)
spacing = torch.exp2(torch.floor(torch.log2(exact.abs().clamp_min(2.0**-126))) - 7)
errors = (result.double() - exact) / spacing
print(f"largest error of GELU: {errors.abs().max():.3f} of the distance between two numbers")
figure, axes = plt.subplots(figsize=(6, 2.5), layout="constrained")
axes.plot(x.float(), errors, ".", markersize=2, color="#0072b2")
axes.set(xlabel="input", ylabel="error / distance of numbers")

# %%
# Training in float32, in bfloat16, and in float32 with autocast: one model, one batch, three curves.

images, classes = torch.randn(32, 3, 16, 16), torch.randint(4, (32,))
first = [nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)]
model = nn.Sequential(*first, nn.Flatten(), nn.Linear(16 * 7 * 7, 4))
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for name, color in (("float32", "#0072b2"), ("bfloat16", "#e69f00"), ("autocast", "#009e73")):
    trained = copy.deepcopy(model)
    thnn.convert(trained)
    dtype = torch.bfloat16 if name == "bfloat16" else torch.float32
    trained.to(dtype)
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.02)
    curve = []
    for _ in range(40):
        with torch.autocast("cpu", torch.bfloat16, enabled=name == "autocast"):
            loss = thnn.nn.functional.cross_entropy(trained(images.to(dtype)), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss.item())
    print(f"{name:<9} loss {curve[-1]:.4f}")
    axes.plot(curve, color=color, label=name)
axes.set(xlabel="step", ylabel="loss")
axes.legend(frameon=False)

# %%
# [float16 and bfloat16](../half-types.md) says what is stored and computed in which type, and when to use which.
