"""Tests of the CUDA library: in its emulation, which `make emulate` builds and selects, or on a GPU."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch

from thnn.testing.check import exact_torch

EMULATED = os.environ.get("THNN_CUDA_EMULATE", "0") not in ("", "0")
_OF_THE_EMULATION = [
    f"test_{name}.py" for name in ("emulation", "functions_by_torch", "loaded", "races", "traffic")
]


def _has_gpu() -> bool:
    if not torch.cuda.is_available():
        return False
    from thnn._binding.device import device_types

    return "cuda" in device_types()


ON_GPU = not EMULATED and _has_gpu()
_IGNORED = ["test_gpu.py"] if EMULATED else ["test_*.py"]
collect_ignore_glob = _OF_THE_EMULATION if ON_GPU else _IGNORED


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    """On a GPU, tests create their tensors there, and torch computes convolutions exactly and repeatably."""
    if not ON_GPU:
        yield
        return
    with torch.device("cuda"), exact_torch():
        yield
