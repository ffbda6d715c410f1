"""Convolutions have no column buffer: whatever the layer, what a call takes is a small strip per thread."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent.parent

# In a process of its own, as the peak is that of a whole life. Every tensor is there, and the threads have run, before
# the peak is read first.
_SCRIPT = """
import json, resource, sys
import torch, thnn

module, input, weight, output, scalars = json.loads(sys.argv[1])
torch.set_num_threads(2)
backend = thnn.type2backend[torch.float32]
x, w, y = torch.ones(input), torch.ones(weight), torch.ones(output)
gradInput, gradWeight, gradBias, bias = x.clone(), w.clone(), torch.ones(y.shape[1]), torch.ones(y.shape[1])
buffers = [torch.empty(0), torch.empty(0)]
small = torch.ones(4, 4, 8, 8)
backend.SpatialConvolutionMM_updateOutput(
    0, small, small.clone(), torch.ones(4, 4, 3, 3), None, *buffers, 3, 3, 1, 1, 1, 1)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

before = peak()
getattr(backend, module + "_updateOutput")(0, x, y, w, bias, *buffers, *scalars)
getattr(backend, module + "_updateGradInput")(0, x, y, gradInput, w, *buffers[:BUFFERS], *scalars)
getattr(backend, module + "_accGradParameters")(0, x, y, gradWeight, gradBias, *buffers, *scalars, 1.0)
assert all(b.numel() == 0 for b in buffers)
print(json.dumps(peak() - before))
"""

_MIB = 1 << 20
_SCRATCH = 2 * _MIB  # of each thread
_SLACK = 2 * _MIB  # stacks, pages of code that run for the first time


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB")
@pytest.mark.parametrize(
    ("module", "input", "weight", "output", "scalars", "buffers"),
    [
        # Columns would take 110, 110, 54 and 28 MiB.
        ("SpatialConvolutionMM", (2, 64, 224, 224), (64, 64, 3, 3), (2, 64, 224, 224), (3, 3, 1, 1, 1, 1), 2),
        (
            "SpatialDilatedConvolution",
            (2, 64, 224, 224),
            (64, 64, 3, 3),
            (2, 64, 224, 224),
            (3, 3, 1, 1, 2, 2, 2, 2),
            1,
        ),
        (
            "SpatialFullConvolution",
            (2, 64, 112, 112),
            (64, 64, 4, 4),
            (2, 64, 224, 224),
            (4, 4, 2, 2, 1, 1, 0, 0),
            1,
        ),
        (
            "VolumetricDilatedConvolution",
            (2, 16, 16, 64, 64),
            (16, 16, 3, 3, 3),
            (2, 16, 16, 64, 64),
            (3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1),
            1,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_convolution_makes_no_columns(
    module: str,
    input: tuple[int, ...],
    weight: tuple[int, ...],
    output: tuple[int, ...],
    scalars: tuple[int, ...],
    buffers: int,
) -> None:
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            _SCRIPT.replace("BUFFERS", str(buffers)),
            json.dumps([module, input, weight, output, scalars]),
        ],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    packed = 4 * 2  # weights and their gradient, packed, floats
    for size in weight:
        packed *= size
    assert json.loads(result.stdout) <= 2 * _SCRATCH + packed + _SLACK
