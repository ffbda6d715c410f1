"""The judgement of `make chaos` of the reports of processes."""

from __future__ import annotations

from typing import Any

import pytest

from tools.chaos import fault, trial

LATE = 12.5
SAID = "SyncBatchNorm 'wide', backward, 8 channels of torch.float64: rank 1 has not answered"
FAULTS: dict[str, tuple[dict[str, Any] | None, str]] = {
    "no report": (None, "hangs"),
    "an error of torch": (
        {"kind": "RuntimeError", "text": "connection closed", "time": 3.0},
        "does not name the layer",
    ),
    "nobody": (
        {"kind": "RuntimeError", "text": "SyncBatchNorm 'wide': failed", "time": 3.0},
        "does not say whom",
    ),
    "late": ({"kind": "RuntimeError", "text": SAID, "time": LATE}, "2.5 s late"),
    "wrong numbers": (
        {"kind": "AssertionError", "text": "not close", "time": 3.0},
        "AssertionError: not close",
    ),
    "too few steps": ({"steps": 3}, "ended after 3 steps"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    report, message = FAULTS[name]
    assert message in fault({"act": "kill"}, 0.0, report, LATE - 2.5)


def test_right_results_and_errors_in_time() -> None:
    error = {"kind": "RuntimeError", "text": SAID, "time": 3.0}
    assert fault({"act": "kill"}, 0.0, error, 10.0) == ""
    assert fault({"act": "kill"}, None, {"steps": 4}, 10.0) == ""
    assert "without a failure" in fault({"act": "delay"}, 0.0, error, 10.0)
    assert "without a failure" in fault({"act": "kill"}, None, error, 10.0)


def test_trials_are_repeated() -> None:
    assert [trial(3, n) for n in range(50)] == [trial(3, n) for n in range(50)]
    assert {trial(3, n)["act"] for n in range(50)} == {"kill", "stop", "delay", "leave", "raise"}
