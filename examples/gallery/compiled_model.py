"""
A model compiled with backend="thnn"
====================================

`torch.compile(model, backend="thnn")` replaces functional calls as well, which `thnn.convert` does not see: `F.relu`,
`torch.flatten`, additions in place. It compiles in about a second, since no code is generated.
"""

import time
from collections.abc import Callable

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.manual_seed(0)


class Residual(nn.Module):
    """Two convolutions and a shortcut, with functional calls as many models have them."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1)
        self.first, self.first_norm = nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.second, self.second_norm = nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.head = nn.Linear(32 * 64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.stem(x))
        y = F.relu(self.first_norm(self.first(x)))
        x = F.relu(x + self.second_norm(self.second(y)))
        return self.head(torch.flatten(F.max_pool2d(x, 4), 1))


model = Residual()
images, classes = torch.randn(8, 3, 32, 32), torch.randint(10, (8,))

# %%
# The backend needs no import of thnn: torch finds it by its entry point.

compiled = torch.compile(model, backend="thnn")
begin = time.perf_counter()
loss = F.cross_entropy(compiled(images), classes)
loss.backward()
print(f"first step, with the compilation: {time.perf_counter() - begin:.2f} s")
torch.testing.assert_close(loss, F.cross_entropy(model(images), classes))

# %%
# Steps of both, the fastest of ten.


def fastest(function: Callable[[Tensor], Tensor]) -> float:
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        F.cross_entropy(function(images), classes).backward()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


steps = {"torch": fastest(model), "backend='thnn'": fastest(compiled)}
for name, milliseconds in steps.items():
    print(f"{name:<16} {milliseconds:6.2f} ms")
figure, axes = plt.subplots(figsize=(4, 3), layout="constrained")
axes.bar(list(steps), list(steps.values()), color=["#e69f00", "#0072b2"])
axes.set_ylabel("milliseconds of a step")
axes.spines[["top", "right"]].set_visible(False)

# %%
# `thnn.convert(model, images, trace=True)` makes a plain module in the same way, and its report tells what was
# replaced, what was fused, and why the rest was not. [Models with functional calls](../compile.md) describes both.

import thnn  # noqa: E402

print(thnn.convert(model, images, trace=True))
