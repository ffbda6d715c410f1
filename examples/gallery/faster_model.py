"""
A published model, faster
=========================

One line puts the layers of thnn into a torch model. This program trains ResNet-18 both ways on the same batch: the
losses agree, and a step takes less time.
"""

import copy
import time

import matplotlib.pyplot as plt
import torch
from torch import nn

import thnn
from thnn.testing.networks import NETWORKS

torch.manual_seed(0)
network = NETWORKS["ResNet-18"]
original = network.make()
converted = copy.deepcopy(original)

# %%
# The line. Parameters, `state_dict` and hooks stay; the report tells what happened to each layer, and why.

report = thnn.convert(converted)
print("\n".join(str(report).splitlines()[:8]))

# %%
# Ten steps of training with each. Both get the same images, so the losses are the same up to rounding.

images, classes = torch.randn(16, 3, 32, 32), torch.randint(10, (16,))
times: dict[str, list[float]] = {"torch": [], "thnn": []}
losses: dict[str, list[float]] = {"torch": [], "thnn": []}
models = {"torch": original, "thnn": converted}
optimizers = {name: torch.optim.SGD(model.parameters(), lr=0.001) for name, model in models.items()}
for _ in range(10):
    for name, model in models.items():
        begin = time.perf_counter()
        loss = nn.functional.cross_entropy(model(images), classes)
        optimizers[name].zero_grad()
        loss.backward()
        optimizers[name].step()
        times[name].append(time.perf_counter() - begin)
        losses[name].append(loss.item())
for name in models:
    print(f"{name:<6} {1e3 * min(times[name]):5.1f} ms per step, last loss {losses[name][-1]:.5f}")

# %%
# The times are those of the machine that built this page. [Performance](../performance.md) has tables of measured
# networks.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(losses["torch"], color="#e69f00", label="torch")
left.plot(losses["thnn"], "--", color="#0072b2", label="thnn")
left.set(xlabel="step", ylabel="loss")
left.legend(frameon=False)
right.bar(list(times), [1e3 * min(t) for t in times.values()], color=["#e69f00", "#0072b2"])
right.set_ylabel("milliseconds of a training step")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
