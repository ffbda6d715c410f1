"""Every function against the table of cases, and tests that the checks find errors."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import thnn
from thnn.testing import check as _check
from thnn.testing.case_runner import CaseRunner, Failed, compare
from thnn.testing.cases import cases
from thnn.testing.cases.makers import normal
from thnn.testing.cases.model import Case, ErrorInput, SampleInput
from thnn.testing.checks import values
from thnn.testing.error_inputs import check_error_input
from thnn.testing.torch_support import representatives

ROOT = Path(__file__).resolve().parent.parent.parent
PLAN = list(_check.plan())


# One test per module and kind of check, since most checks take less time than pytest takes for a test.
GROUPS = {
    f"{module}: {kind}": list(checks)
    for (module, kind), checks in itertools.groupby(PLAN, key=lambda check: (check.module, check.check))
}


# `make quick` has the modules that stand for their kinds.
QUICK = {cls.module.name for cls in representatives().values()}


@pytest.mark.parametrize(
    "checks",
    [
        pytest.param(checks, id=name, marks=[pytest.mark.slow] if checks[0].module not in QUICK else [])
        for name, checks in GROUPS.items()
    ],
)
def test_entry(checks: list[_check.Check]) -> None:
    results = [_check.run_check(check) for check in checks]
    failures = [f"{result.sample}: {result.message}" for result in results if not result.ok]
    assert not failures, "\n".join(failures)


def test_every_function_has_a_case() -> None:
    names = [
        name
        for m in thnn.modules().values()
        for name in (*([m.name] if m.forward else []), *(f.name for f in m.others))
    ]
    assert list(cases()) == names


def test_an_incomplete_case_is_an_error() -> None:
    whole = cases()["Tanh"]
    for change, rule in (
        ({"samples": whole.samples[:1]}, "no sample 'empty'"),
        ({"samples": (*whole.samples, whole.samples[0])}, "two samples with one name"),
        ({"rows": ()}, "no row of the benchmark"),
        (
            {"samples": tuple(replace(s, differentiable=False) for s in whole.samples)},
            "no sample whose gradients can be checked",
        ),
    ):
        with pytest.raises(ValueError, match=f"case Tanh: {rule}"):
            replace(whole, **change)


@pytest.mark.parametrize("case", cases().values(), ids=lambda c: c.name)
def test_first_sample_has_all_arguments(case: Case) -> None:
    # Checks replace each argument of the first sample by wrong values, so it must have all arguments.
    first = CaseRunner(case, case.samples[0])
    for name, value in first.values.items():
        assert value is not None, f"{name} is missing in the first sample"
        assert not isinstance(value, Tensor) or value.numel() > 1, f"{name} of the first sample is too small"
    for sample in case.samples:
        if sample.differentiable and case.phase is None:
            assert CaseRunner(case, sample).leaves()


def test_names_of_rows_differ() -> None:
    names = [row.name for case in cases().values() for row in case.rows]
    assert len(names) == len(set(names))
    for case in cases().values():
        for row in case.rows:
            assert row.judged in row.phases
            assert row.fraction is None or row.judged in {**row.bytes_moved, **row.flops}


def test_names_of_checks_differ() -> None:
    assert len({str(check) for check in PLAN}) == len(PLAN)


# --- the checks can fail --------------------------------------------------------------------------------------


def fails(check: Any, case: Case, what: SampleInput | ErrorInput) -> str:
    with pytest.raises(Failed) as failure:
        check(case, what)
    return str(failure.value)


TANH = cases()["Tanh"]


def test_a_wrong_value_is_named() -> None:
    def wrong(input: Tensor) -> Tensor:
        output = torch.tanh(input)
        return output.index_put((torch.tensor(1), torch.tensor(2)), output[1, 2] + 1e-9)

    text = fails(
        values.check_reference, replace(TANH, reference=wrong), SampleInput("s", {"input": normal(2, 3)})
    )
    assert re.match(
        r"Tanh_updateOutput: output\[1, 2\]: got -?0\.\d+, expected -?0\.\d+ \(1 of 6 values wrong", text
    )


def test_a_wrong_shape_is_named() -> None:
    with pytest.raises(Failed, match=re.escape("f: y: has shape (2, 3), expected (6,)")):
        compare("f: y", torch.zeros(2, 3), torch.zeros(6), 1.0)


def test_memory_that_has_the_right_values_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(runner: CaseRunner, function: Any, row: Any) -> None:
        """Stands for a kernel that writes nothing, where new memory has the right values."""
        if not row["output" if function.phase == "updateOutput" else "gradInput"].numel():
            original(runner, function, row)

    original = CaseRunner.call
    monkeypatch.setattr(CaseRunner, "call", call)
    row = SampleInput("s", {"input": normal(3, 4)})
    text = fails(partial(values.check_large, dtype=torch.float64), TANH, row)
    assert re.match(r"Tanh_updateOutput with every size one smaller: output\[0, 0\]: got nan, ", text)


@pytest.mark.parametrize(
    ("got", "expected"),
    [(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (math.inf, -math.inf), (1.0, math.inf)],
)
def test_nan_and_infinity_are_equal_to_themselves_only(got: float, expected: float) -> None:
    values = torch.tensor([got, 1.0])
    compare("f: y", values, values.clone(), 0.0)
    with pytest.raises(Failed):
        compare("f: y", values, torch.tensor([expected, 1.0]), 1.0)


class Cubes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3


class Slanted(Cubes):
    """Cubes, with a derivative that is wrong in one place."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        slope = 3 * x**2
        return g * slope.index_put((torch.tensor(1), torch.tensor(0)), slope[1, 0] + 0.5)


def test_a_wrong_gradient_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CaseRunner, "apply", lambda self, leaves: Slanted.apply(leaves["input"]))
    sample = SampleInput("s", {"input": normal(2, 3)})
    text = fails(values.check_gradients, TANH, sample)
    found = re.fullmatch(r"TanhFunction: by input\[1, 0\]: numeric (-?\d\S*), analytic (-?\d\S*)", text)
    assert found
    assert float(found[1]) != pytest.approx(float(found[2]), rel=1e-3)


class Lost(Cubes):
    """Cubes, with a gradient that has no derivative."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return g * (3 * x**2).detach()


def test_a_wrong_second_gradient_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CaseRunner, "apply", lambda self, leaves: Lost.apply(leaves["input"]))
    text = fails(values.check_second_gradients, TANH, SampleInput("s", {"input": normal(2, 3)}))
    assert re.match(r"gradients of TanhFunction: by input\[\d, \d\]: numeric -?\d\S*, analytic 0", text)


def test_an_accepted_error_input_is_named() -> None:
    text = fails(check_error_input, TANH, ErrorInput("a matrix", {"input": normal(2, 3)}, ValueError))
    assert text == "Tanh_updateOutput with a matrix: expected ValueError, but the call succeeded"
    linear = cases()["Linear"]
    text = fails(check_error_input, linear, ErrorInput("a vector", {"weight": normal(5)}, TypeError))
    assert text.startswith(
        "Linear_updateOutput with a vector: expected TypeError, got ValueError: Linear_updateOutput"
    )


BROKEN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/state.h"

/* Stands in for the kernel of the library, wrong in the way that BREAK says. It calls nothing of the library, which
   is loaded after it. */
void THNN_DoubleTanh_updateGradInput(THNNState *state, THNNTensor *input, THNNTensor *gradOutput,
                                     THNNTensor *gradInput, THNNTensor *output)
{
  const char *how = getenv("BREAK");
  state->status = THNN_OK;
  state->requestCount = 0;
  size_t bytes = sizeof(int64_t) * gradOutput->ndim;
  const char *dx_first = gradInput->data, *g_first = gradOutput->data, *y_first = output->data;
  long apart[] = {dx_first - g_first, dx_first - y_first}, length = 8;
  for (int d = 0; d < gradOutput->ndim; d++) length *= gradOutput->size[d];
  for (int i = 0; i < 2; i++)
    if (gradInput->ndim > 0 && apart[i] != 0 && labs(apart[i]) < length) {
      state->status = THNN_VALUE_ERROR;
      strcpy(state->message, "Tanh_updateGradInput: gradInput: overlaps");
      return;
    }
  for (int d = 0; d < gradInput->ndim; d++)
    if (gradInput->size[d] > 1 && gradInput->stride[d] == 0) {
      state->status = THNN_VALUE_ERROR;
      strcpy(state->message, "Tanh_updateGradInput: gradInput: elements share an address");
      return;
    }
  if (strcmp(how, "checks") && (output->ndim != gradOutput->ndim || memcmp(output->size, gradOutput->size, bytes))) {
    state->status = THNN_VALUE_ERROR;
    strcpy(state->message, "Tanh_updateGradInput: gradOutput: expected the size of output");
    return;
  }
  if (gradInput->ndim != gradOutput->ndim || memcmp(gradInput->size, gradOutput->size, bytes)) {
    THNNRequest *r = &state->requests[state->requestCount++];
    r->argument = gradInput->argument;
    r->like = gradOutput->argument;
    r->layout = THNN_CONTIGUOUS;
    r->ndim = gradOutput->ndim;
    memcpy(r->size, gradOutput->size, bytes);
    state->status = THNN_RESIZE;
  }
  if (state->meta || state->status != THNN_OK) return;
  int64_t n = 1;
  for (int d = 0; d < gradOutput->ndim; d++) n *= gradOutput->size[d];
  for (int64_t i = 0; i < n; i++) {
    int64_t at[3] = {0, 0, 0}, rest = i;
    const THNNTensor *t[] = {gradOutput, output, gradInput};
    for (int d = gradOutput->ndim - 1; d >= 0; d--) {
      for (int k = 0; k < 3; k++) at[k] += rest % gradOutput->size[d] * t[k]->stride[d];
      rest /= gradOutput->size[d];
    }
    if (!strcmp(how, "strides")) at[0] = i;
    double g = ((double *)gradOutput->data)[at[0]], y = ((double *)output->data)[at[1]];
    double *dx = (double *)gradInput->data + at[2];
    double slope = g * (1 - y * y);
    if (!strcmp(how, "value") && i == n - 1) slope += 1e-9;
    *dx = !strcmp(how, "stale") ? *dx * 0 + slope : slope;
  }
}
"""

SCRIPT = """
import contextlib, io, json, os
from thnn.__main__ import main
from thnn.testing.check import Failed, plan

found = {}
for how in ("nothing", "value", "strides", "stale", "checks"):
    os.environ["BREAK"] = how
    found[how] = {}
    for check in plan(["Tanh"]):
        if check.sample in ("image", "updateGradInput, gradInput", "updateGradInput, gradOutput"):
            try:
                check.run()
            except Failed as failure:
                found[how][check.check] = str(failure)
os.environ["BREAK"] = "value"
with contextlib.redirect_stdout(io.StringIO()) as out:
    status = main(["check", "Tanh"])
print(json.dumps([found, status, out.getvalue()]))
"""


@pytest.mark.slow
def test_a_broken_kernel_is_found(tmp_path: Path) -> None:
    """The library with a wrong kernel is preloaded, so that the kernel replaces that of libTHNN.so."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not (ROOT / "lib" / "THNN").exists():
        pytest.skip("needs a C compiler and the source tree")
    source, library = tmp_path / "broken.c", tmp_path / "broken.so"
    source.write_text(textwrap.dedent(BROKEN))
    include = f"-I{ROOT / 'lib' / 'THNN'}"
    command = [compiler, "-shared", "-fPIC", "-O1", include, str(source), "-o", str(library)]
    subprocess.run(command, check=True, timeout=60)
    environment = {**os.environ, "LD_PRELOAD": str(library), "BREAK": "nothing"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    found, status, printed = json.loads(done.stdout)
    assert not found["nothing"]  # without BREAK the kernel is right
    assert re.match(
        r"Tanh_updateGradInput.*: gradInput\[.*\]: got .*, expected ", found["value"]["reference"]
    )
    assert found["strides"].keys() == {"layouts"}
    assert "contract" in found["stale"]
    assert found["checks"].keys() == {"error inputs"}
    assert "gradOutput with size" in found["checks"]["error inputs"]
    # The command
    assert status == 1
    assert "FAILED" in printed
    assert "Tanh_updateGradInput: gradInput[" in printed
