"""Functions that torch's operators compute for CUDA tensors."""

from __future__ import annotations

import pytest
import torch

from thnn._binding.extension import PACKAGE
from thnn._binding.library import Library
from thnn._cuda import compute_by_torch
from thnn._cuda.functions import FUNCTIONS
from thnn.testing.case_runner import TIGHT, CaseRunner, compare, written
from thnn.testing.cases import cases
from thnn.testing.cases.model import SampleInput

_EMULATION = PACKAGE / "libTHCUNN_emulation.so"
_CASES = {
    name: case for name, case in cases().items() if f"{name}_updateOutput" in FUNCTIONS or name in FUNCTIONS
}


@pytest.mark.skipif(not _EMULATION.exists(), reason=f"{_EMULATION.name} is not built")
def test_torch_computes_what_the_library_lacks() -> None:
    assert Library(_EMULATION).missing == set(FUNCTIONS)


def test_every_function_has_a_case() -> None:
    functions = {f.name for case in _CASES.values() for f in CaseRunner(case, case.samples[0]).functions}
    assert functions == set(FUNCTIONS)


def test_autocast_does_not_round_arguments() -> None:
    input, weight = torch.randn(4, 300), torch.randn(5, 300)
    plain, inside = torch.empty(4, 5), torch.empty(4, 5)
    compute_by_torch("Linear_updateOutput", (input, plain, weight, None, None), ())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        compute_by_torch("Linear_updateOutput", (input, inside, weight, None, None), ())
    assert torch.equal(plain, inside)


@pytest.mark.parametrize(
    ("module", "sample"),
    [pytest.param(name, s, id=f"{name}, {s.name}") for name, case in _CASES.items() for s in case.samples],
)
def test_results_are_those_of_the_kernels(module: str, sample: SampleInput) -> None:
    runner = CaseRunner(_CASES[module], sample)
    for function in runner.functions:
        row = runner.row(function)
        runner.call(function, row)
        outputs = [
            a
            for a in function.tensors("output", "gradInput")
            if row[a.name] is not None and not a.is_modified
        ]
        sums = [a for a in function.tensors("gradParameter") if row[a.name] is not None]
        for new in (False, True):
            given = runner.row(function)
            written_over = [*outputs, *sums] if new else outputs
            given |= {a.name: torch.zeros_like(row[a.name]) for a in sums}
            given |= {a.name: torch.full_like(row[a.name], torch.nan) for a in written_over}
            values = [given[a.name] for a in function.after_state]
            positions = [i for i, a in enumerate(function.after_state) if new and a in written_over]
            compute_by_torch(function.name, values, positions)
            for name in written(function, row):
                compare(f"{function.name}: {name}", given[name], row[name], TIGHT)
                assert given[name].stride() == row[name].stride()
