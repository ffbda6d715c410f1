"""Functions that torch's operators compute for CUDA tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import thnn
from thnn._binding.device import EMULATION
from thnn._binding.extension import PACKAGE
from thnn._binding.library import Library
from thnn._cuda import compute_by_torch, convolution
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
    compute_by_torch([("Linear_updateOutput", (input, plain, weight, None, None), ())])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        compute_by_torch([("Linear_updateOutput", (input, inside, weight, None, None), ())])
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
            compute_by_torch([(function.name, values, positions)])
            for name in written(function, row):
                compare(f"{function.name}: {name}", given[name], row[name], TIGHT)
                assert given[name].stride() == row[name].stride()


Masks = list[tuple[bool, ...]]


@pytest.fixture
def masks(monkeypatch: pytest.MonkeyPatch) -> Masks:
    """The masks of the calls of torch's convolution_backward."""
    found: Masks = []
    backward = convolution._convolution_backward

    def record(*arguments: Any) -> Any:
        found.append(arguments[-1])
        return backward(*arguments)

    monkeypatch.setattr(convolution, "_convolution_backward", record)
    return found


@pytest.mark.parametrize("names", convolution.JOINT, ids=lambda names: names[0].split("_")[0])
@pytest.mark.parametrize("with_bias", [True, False])
def test_gradients_of_one_operator_are_those_of_two(
    names: tuple[str, str], with_bias: bool, masks: Masks
) -> None:
    case = _CASES[names[0].split("_")[0]]
    runner = CaseRunner(case, next(s for s in case.samples if s.arguments.get("bias") is not None))
    results = []
    for is_joint in (False, True):
        calls = []
        for function in runner.functions:
            if function.name in names:
                row = runner.row(function)
                if row.get("gradInput") is not None:
                    row["gradInput"] = torch.empty_like(row["input"])
                if not with_bias and "gradBias" in row:
                    row["gradBias"] = None
                calls.append((function.name, [row[a.name] for a in function.after_state], ()))
        for part in [calls] if is_joint else [calls[:1], calls[1:]]:
            compute_by_torch(part)
        results.append([values[2:4] for _, values, _ in calls])
    assert masks == [(True, False, False), (False, True, with_bias), (True, True, with_bias)]
    torch.testing.assert_close(*results)


@pytest.mark.skipif(not EMULATION, reason="no device library lacks functions")
def test_a_backward_calls_one_operator(masks: Masks) -> None:
    input, weight, bias = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3), torch.randn(4)
    inputs = [t.double().requires_grad_() for t in (input, weight, bias)]
    output = thnn.SpatialConvolutionMMFunction(3, 3, 1, 1, 1, 1)(*inputs)
    expected = torch.nn.functional.conv2d(*inputs, padding=1)
    gradient = torch.randn_like(output)
    actual = torch.autograd.grad(output, inputs, gradient)
    assert masks == [(True, True, True)]
    torch.testing.assert_close(actual, torch.autograd.grad(expected, inputs, gradient))
