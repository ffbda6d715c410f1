"""Tests of the CUDA library: in its emulation, which `make emulate` builds and selects, or on a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from thnn._binding.device import EMULATION, device_types
from thnn.testing.check import exact_torch

_OF_THE_EMULATION = [
    f"test_{name}.py" for name in ("emulation", "functions_by_torch", "loaded", "races", "traffic")
]
ON_GPU = torch.cuda.is_available() and "cuda" in device_types()  # never in an emulation
_IGNORED = ["test_gpu.py"] if EMULATION else ["test_*.py"]
collect_ignore_glob = _OF_THE_EMULATION if ON_GPU else _IGNORED


@pytest.fixture(autouse=True)
def _device() -> Iterator[None]:
    """On a GPU, tests create their tensors there, and torch computes convolutions exactly and deterministically."""
    if not ON_GPU:
        yield
        return
    with torch.device("cuda"), exact_torch():
        yield
