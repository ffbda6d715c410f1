"""Derivatives of every class where its arguments depend on one another."""

from __future__ import annotations

import pytest
from dependent_inputs import check_derivatives

import thnn
from thnn._functions.generate import _make_function_class
from thnn.testing.case_runner import CaseRunner, outputs_of
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case

CASES = [case for case in cases().values() if case.phase is None]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_class(case: Case, tied: bool) -> None:
    if tied and case.module == "GaussianNLLCriterion":
        pytest.skip("its variances are not negative, as tied inputs are")
    for sample in case.samples:
        runner = CaseRunner(case, sample)
        leaves = {n: runner.values[n] for n in runner.differentiable}
        shapes = [t.shape for t in leaves.values()]
        if not sample.differentiable or not all(t.numel() for t in leaves.values()):
            continue
        if tied and len(set(shapes)) == len(shapes):
            continue
        check_derivatives(lambda given, r=runner: outputs_of(r.apply(given)), leaves, tied=tied)


def test_a_class_with_a_reference() -> None:
    for name in ("Linear", "PReLU"):
        case = cases()[name]
        runner = CaseRunner(case, case.samples[0])
        cls = _make_function_class(thnn.modules()[name], reference=case.reference)
        scalars = [runner.values[n] for n in cls._names[cls._tensor_count :]]
        check_derivatives(
            lambda given, c=cls, s=scalars: [c.apply(*given.values(), *s)],
            {n: runner.values[n] for n in runner.differentiable},
            tied=False,
        )
