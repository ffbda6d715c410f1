"""Convolutions allocate no column buffer: in every layer, a call uses a small amount of scratch memory per thread."""

from __future__ import annotations

import json
import sys

import pytest
from new_process import python

# In a separate process, since the peak is of the whole process. All tensors are allocated, and all threads have
# run, before the first reading of the peak.
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
_SCRATCH = 2 * _MIB  # per thread
_SLACK = 2 * _MIB  # stacks, and pages of code that run for the first time


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB")
@pytest.mark.parametrize(
    ("module", "input", "weight", "output", "scalars", "buffers"),
    [
        # Columns would take 18, 18, 16 and 27 MiB.
        ("SpatialConvolutionMM", (2, 32, 128, 128), (32, 32, 3, 3), (2, 32, 128, 128), (3, 3, 1, 1, 1, 1), 2),
        (
            "SpatialDilatedConvolution",
            (2, 32, 128, 128),
            (32, 32, 3, 3),
            (2, 32, 128, 128),
            (3, 3, 1, 1, 2, 2, 2, 2),
            1,
        ),
        (
            "SpatialFullConvolution",
            (2, 64, 64, 64),
            (64, 64, 4, 4),
            (2, 64, 128, 128),
            (4, 4, 2, 2, 1, 1, 0, 0),
            1,
        ),
        (
            "VolumetricDilatedConvolution",
            (2, 16, 16, 32, 32),
            (16, 16, 3, 3, 3),
            (2, 16, 16, 32, 32),
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
    arguments = json.dumps([module, input, weight, output, scalars])
    bytes_used = json.loads(python("-c", _SCRIPT.replace("BUFFERS", str(buffers)), arguments))
    packed = 4 * 2  # bytes per element of weight: packed weights and their gradient, in float32
    for size in weight:
        packed *= size
    assert bytes_used <= 2 * _SCRATCH + packed + _SLACK


# A thread that has no scratch memory yet, in a process that can allocate no more memory.
_EXHAUSTED = """
import ctypes, resource, threading
import torch, thnn

torch.set_num_threads(1)
input = torch.randn(1, 1000, 3, 3, dtype=torch.float64)
output, expected = torch.empty_like(input), input.softmax(1)
compute = thnn.type2backend[torch.float64].SoftMax_updateOutput
compute(0, torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64))  # imports all that it needs
malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

def call():
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), before[1]))
    try:
        size = 1 << 26
        while size >= 1 << 16:
            if not malloc(size):
                size //= 2
        compute(0, input, output)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)

thread = threading.Thread(target=call)
thread.start()
thread.join()
assert torch.allclose(output, expected)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS and /proc")
def test_scratch_memory_without_heap_memory() -> None:
    python("-c", _EXHAUSTED)


# Element-wise functions and soft-max need little stack, even where elements are copied.
_SMALL_STACK = """
import threading
import torch, thnn

torch.set_num_threads(1)
dtype = torch.{}
backend = thnn.type2backend[dtype]
input = torch.rand(64, 40, dtype=dtype).t()
output, loss = torch.empty(40, 64, dtype=dtype), torch.empty(1, dtype=dtype)
weights = torch.rand(40, 64, dtype=dtype)

def call():
    backend.Tanh_updateOutput(0, input, output)
    backend.Tanh_updateGradInput(0, input, input, output, input)
    backend.BCECriterion_updateOutput(0, input, input, loss, True, weights)
    backend.BCECriterion_updateGradInput(0, input, input, output, True, weights)
    backend.SoftMax_updateOutput(0, input, output)
    backend.SoftMax_updateGradInput(0, input, input, output, input)

call()
threading.stack_size(65536)
thread = threading.Thread(target=call)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_small_stack(dtype: str) -> None:
    python("-c", _SMALL_STACK.format(dtype))
