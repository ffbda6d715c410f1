"""Axes of so many elements that float32 cannot count fractions of them."""

from __future__ import annotations

import subprocess
import sys

import torch

# The gradient expects the readers of an input in a range of outputs. If an index lies outside of that range, it reads
# all outputs for each input; here that would take days.
FRACTIONAL_POOLING = """
import sys
import torch
import thnn

torch.set_default_device(sys.argv[1])
width, outputs = 18011783, 7831210
values = torch.randn(1, 2, width)
samples = torch.tensor([[0.39, 0.7]])
backend, state = thnn.type2backend[values], 0
output, indices, gradient = torch.empty(0), torch.empty(0, dtype=torch.int64), torch.empty(0)
size = (outputs, 1, 2, 1)
backend.SpatialFractionalMaxPooling_updateOutput(state, values, output, *size, indices, samples)
factors = torch.randn_like(output)
backend.SpatialFractionalMaxPooling_updateGradInput(state, values, factors, gradient, *size, indices)
expected = torch.zeros(2 * width, dtype=torch.float64).index_add(0, indices.flatten(), factors.flatten().double())
assert torch.allclose(gradient.flatten().double(), expected, atol=1e-5)
assert torch.equal(output.flatten(), values.flatten()[indices.flatten()])
"""


def test_fractional_pooling() -> None:
    device = str(torch.get_default_device())
    subprocess.run([sys.executable, "-c", FRACTIONAL_POOLING, device], check=True, timeout=300)
