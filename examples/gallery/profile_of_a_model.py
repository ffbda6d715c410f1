"""
The time of a step, by function
===============================

`thnn.profile` times each C function of a step and compares it with the roofline, the least time that the memory and the
arithmetic units of the machine allow.
"""

import torch
from torch import nn

import thnn
from thnn.testing.networks import NETWORKS

torch.manual_seed(0)
model = NETWORKS["MobileNetV2"].make()
images, classes = torch.randn(4, 3, 64, 64), torch.randint(10, (4,))


def loss(output: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(output, classes)


# %%
# Before the conversion no function of thnn runs: all time is outside of it.

before = thnn.profile(model, images, loss=loss, runs=3)
print(f"{1e3 * before.seconds:.0f} ms, of which {1e3 * before.outside:.0f} ms outside of thnn")

# %%
# After it, the table has a row per function: its calls, its time, the bytes of its tensors, the fraction of the
# roofline that it reaches, and the algorithm by which a convolution was computed.

thnn.convert(model)
after = thnn.profile(model, images, loss=loss, runs=3)
print(after)

# %%
# The same as a chart: the dark part of a bar is the time that the roofline allows.

after.plot()
