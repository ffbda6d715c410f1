"""
A kernel, from nothing to a wheel
=================================

A function that torch does not have, in C: declared in the style of THNN.h, compiled in a second, differentiable,
checked, and packed as a wheel that needs no torch to build.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import torch

import thnn

# %%
# The declaration says what the arguments are, the kernel has the value and the gradient. It is SmeLU, a smooth ReLU
# that is quadratic between -1 and 1.

own = thnn.load(
    header="""
    /* SmeLU: 0 below -1, input above 1, (input + 1)^2 / 4 between. */
    TH_API void THNN_(SmeLU_updateOutput)(
        THNNState *state, THTensor *input, THTensor *output);  // [OUT] [LIKE input]
    TH_API void THNN_(SmeLU_updateGradInput)(
        THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);  // [OUT] [LIKE input]
    """,
    source="""
    #include "pointwise.h"
    THNN_ELEMENT static inline real value(real x) { return x <= -1 ? 0 : x >= 1 ? x : (x + 1) * (x + 1) / 4; }
    THNN_ELEMENT static inline real slope(real x) { return x <= -1 ? 0 : x >= 1 ? 1 : (x + 1) / 2; }
    POINTWISE(SmeLU, (), FROM_INPUT, value(x), slope(x) * g)
    """,
)

# %%
# It is a function of torch now: autograd, `gradcheck`, `torch.func` and `torch.compile` take it.

x = torch.linspace(-2, 2, 81, dtype=torch.float64, requires_grad=True)
smelu = own.SmeLUFunction.apply
print("gradcheck:", torch.autograd.gradcheck(smelu, x))
y = smelu(x)
(slope,) = torch.autograd.grad(y.sum(), x)
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot(x.detach(), y.detach(), color="#0072b2", label="SmeLU")
axes.plot(x.detach(), slope, color="#e69f00", label="slope")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)

# %%
# `python -m thnn new NAME --package` writes a project: header, kernel, tests, and a `pyproject.toml`. `python -m thnn
# check` compares values, gradients, strides, threads and memory with a reference; `pip wheel` builds the file that
# others install.


def run(module: str, *arguments: str, cwd: Path) -> str:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    print(run("thnn", "new", "Swoosh", "--package", cwd=folder))
    print(run("thnn", "check", "swoosh/src/swoosh/Swoosh.h", cwd=folder))
    run("pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "wheels", "./swoosh", cwd=folder)
    print(*(path.name for path in folder.glob("wheels/*")))

# %%
# [Custom functions](../own-functions.md) goes on from here.
