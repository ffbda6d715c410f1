"""The cores against the reference cores: plain loops with the same interface, called by the same kernel files.

The build makes a second library of generic/*/*.c and lib/THNN/*/reference.c. Both run the samples of every case.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from thnn._binding.backend import Backend
from thnn._binding.library import DOUBLE, FLOAT, Library
from thnn.testing.case_runner import CaseRunner, compare
from thnn.testing.cases import cases


def _samples() -> Iterator[tuple[str, str]]:
    for name, case in cases().items():
        yield from ((name, sample.name) for sample in case.samples)


@pytest.mark.parametrize(("name", "sample"), list(_samples()))
def test_fast_and_reference_cores_agree(name: str, sample: str, reference: Library) -> None:
    case = cases()[name]
    chosen = next(s for s in case.samples if s.name == sample)
    for flags, dtype, tolerance in ((DOUBLE, torch.float64, 1e-12), (FLOAT, torch.float32, case.tolerance)):
        runner = CaseRunner(case, chosen, dtype)
        fast = runner.defined(runner.run())
        runner.backend = Backend("THNNReferenceBackend", flags, reference)
        plain = runner.run()
        for key, tensor in fast.items():
            compare(f"{name}_{key}", tensor, plain[key], tolerance)


def test_the_reference_library_is_another_one(reference: Library) -> None:
    assert reference.capability == "default"
    x = torch.randn(64, 64)
    backend = Backend("THNNReferenceBackend", FLOAT, reference)
    y = torch.empty(0)
    backend.Tanh_updateOutput(0, x, y)
    torch.testing.assert_close(y, x.tanh())
