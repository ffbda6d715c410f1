"""
Revive a program of 2017
========================

Programs for PyTorch 0.1 to 0.3 called the functions of THNN directly. `thnn.compat` serves what they import, and
`thnn.compat.upgrade` mends the rest.
"""

import io
from contextlib import redirect_stdout

import matplotlib.pyplot as plt

import thnn

# A training loop as it was written then.
PROGRAM = """\
import torch
import torch.nn.functional as F
from torch.autograd import Variable
from torch.nn._functions.thnn.auto import Threshold

torch.manual_seed(0)
x = Variable(torch.randn(8, 4))
target = Variable(torch.randn(8, 1), volatile=False)
weight = Variable(torch.randn(1, 4), requires_grad=True)

for step in range(40):
    hidden = Threshold(0, 0, False)(F.linear(x, weight))
    loss = F.mse_loss(hidden, target, size_average=False)
    loss.backward()
    weight.data -= 0.01 * weight.grad.data
    weight.grad.data.zero_()
    print("loss %.4f" % loss.data[0])
"""

# %%
# The changes that it needs on today's torch, line by line. `python -m thnn upgrade FILE` prints the same, and
# `--write` changes the file.

result = thnn.compat.upgrade(PROGRAM)
print(result)

# %%
# The mended program. Nothing else in it is touched.

print(result.text)

# %%
# It runs on the torch of today, with the kernels of THNN.

with thnn.compat:  # type: ignore[attr-defined]
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(result.text, "program of 2017", "exec"), {})
lines = output.getvalue().splitlines()
print(*lines[:3], "...", lines[-1], sep="\n")
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot([float(line.split()[1]) for line in lines], color="#0072b2")
axes.set(xlabel="step", ylabel="loss")
axes.spines[["top", "right"]].set_visible(False)
