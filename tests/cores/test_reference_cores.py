"""The cores against the reference cores: plain loops with the same interface, called by the same kernel files.

The build makes a second library of generic/*/*.c and lib/THNN/*/reference.c. Both run the small samples of every case:
plain loops have no branches for large ones, with which test_cases.py compares the cores.
"""

from __future__ import annotations

import pytest
import torch

from thnn._binding.backend import Backend
from thnn._binding.library import DOUBLE, FLOAT, Library
from thnn.testing.case_runner import TIGHT, CaseRunner, compare
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
def test_fast_and_reference_cores_agree(case: Case, reference: Library) -> None:
    for sample in case.samples:
        if sample.differentiable:
            runner = CaseRunner(case, sample)
            fast = runner.defined(runner.run())
            runner.backend = Backend("THNNReferenceBackend", DOUBLE, reference)
            plain = runner.run()
            for key, tensor in fast.items():
                compare(f"{case.name}_{key}, {sample.name}", tensor, plain[key], TIGHT)


def test_the_reference_library_is_another_one(reference: Library) -> None:
    assert reference.capability == "default"
    x = torch.randn(64, 64)
    backend = Backend("THNNReferenceBackend", FLOAT, reference)
    y = torch.empty(0)
    backend.Tanh_updateOutput(0, x, y)
    torch.testing.assert_close(y, x.tanh())
