"""Errors of thnn.nn.functional: each wrong argument of each function raises an error that names both."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

import thnn.nn.functional as F

VECTOR, MATRIX, SERIES = torch.rand(4), torch.rand(3, 4), torch.rand(2, 3, 8)
IMAGE, VOLUME = torch.rand(2, 3, 8, 8), torch.rand(2, 3, 8, 8, 8)
CLASSES, ROWS = torch.tensor([0, 1, 2]), torch.tensor([[0, 1], [2, 2]])
WEIGHTS = {1: torch.rand(3, 3, 2), 2: torch.rand(3, 3, 2, 2), 3: torch.rand(3, 3, 2, 2, 2)}
INPUTS = {1: SERIES, 2: IMAGE, 3: VOLUME}

# Right arguments of each function, which the test replaces one by one.
CALLS: dict[str, dict[str, Any]] = {
    **{
        name: {"input": MATRIX}
        for name in (
            *("elu", "hardshrink", "hardtanh", "leaky_relu", "logsigmoid", "relu", "relu6", "rrelu"),
            *("sigmoid", "softplus", "softshrink", "tanh"),
        )
    },
    **{name: {"input": MATRIX, "dim": 1} for name in ("glu", "softmax", "softmin", "log_softmax")},
    "threshold": {"input": MATRIX, "threshold": 0.5, "value": 0.25},
    "prelu": {"input": MATRIX, "weight": VECTOR},
    "linear": {"input": MATRIX, "weight": torch.rand(5, 4), "bias": torch.rand(5)},
    **{
        name: {"input": MATRIX, "target": torch.rand(3, 4), "reduction": "mean"}
        for name in (
            "binary_cross_entropy",
            "kl_div",
            "l1_loss",
            "mse_loss",
            "smooth_l1_loss",
            "soft_margin_loss",
        )
    },
    **{
        name: {"input": MATRIX, "target": CLASSES, "weight": VECTOR, "reduction": "mean"}
        for name in ("cross_entropy", "multi_margin_loss", "nll_loss")
    },
    "multilabel_margin_loss": {"input": MATRIX, "target": torch.full((3, 4), -1), "reduction": "mean"},
    "batch_norm": {
        "input": MATRIX,
        "running_mean": VECTOR,
        "running_var": VECTOR,
        "weight": VECTOR,
        "bias": VECTOR,
        "momentum": 0.1,
        "eps": 1e-5,
    },
    "local_response_norm": {"input": IMAGE, "size": 3, "alpha": 1e-4, "beta": 0.75, "k": 1.0},
    "pad": {"input": IMAGE, "pad": (1, 1, 1, 1), "mode": "reflect"},
    "interpolate": {
        "input": IMAGE,
        "size": None,
        "scale_factor": 2,
        "mode": "bilinear",
        "align_corners": False,
    },
    "grid_sample": {
        "input": IMAGE,
        "grid": torch.rand(2, 4, 4, 2),
        "mode": "bilinear",
        "align_corners": True,
    },
    "embedding": {"input": ROWS, "weight": MATRIX, "padding_idx": 0, "max_norm": 1.0, "norm_type": 2.0},
    "embedding_bag": {
        "input": ROWS.flatten(),
        "weight": MATRIX,
        "offsets": torch.tensor([0, 2]),
        "max_norm": 1.0,
        "mode": "sum",
        "padding_idx": 0,
    },
    **{
        f"conv{d}d": {
            "input": INPUTS[d],
            "weight": WEIGHTS[d],
            "bias": torch.rand(3),
            "stride": 1,
            "padding": 0,
            "dilation": 1,
            "groups": 1,
        }
        for d in (1, 2, 3)
    },
    **{
        f"conv_transpose{d}d": {
            "input": INPUTS[d],
            "weight": WEIGHTS[d],
            "bias": torch.rand(3),
            "stride": 2,
            "padding": 0,
            "dilation": 1,
            "groups": 1,
            "output_padding": 1,
        }
        for d in (1, 2, 3)
    },
    **{
        f"max_pool{d}d": {"input": INPUTS[d], "kernel_size": 2, "stride": 2, "padding": 0, "dilation": 1}
        for d in (1, 2, 3)
    },
    **{f"avg_pool{d}d": {"input": INPUTS[d], "kernel_size": 2, "stride": 2, "padding": 0} for d in (1, 2, 3)},
    **{
        f"lp_pool{d}d": {"input": INPUTS[d], "norm_type": 2.0, "kernel_size": 2, "stride": 2}
        for d in (1, 2, 3)
    },
    **{f"adaptive_avg_pool{d}d": {"input": INPUTS[d], "output_size": 3} for d in (1, 2, 3)},
    **{f"adaptive_max_pool{d}d": {"input": INPUTS[d], "output_size": 3} for d in (1, 2)},
    **{
        f"fractional_max_pool{d}d": {
            "input": INPUTS[d],
            "kernel_size": 2,
            "output_size": 3,
            "output_ratio": None,
        }
        for d in (2, 3)
    },
    **{
        f"max_unpool{d}d": {
            "input": INPUTS[d],
            "indices": torch.zeros(INPUTS[d].shape, dtype=torch.int64),
            "kernel_size": 2,
            "stride": 2,
            "padding": 0,
        }
        for d in (1, 2, 3)
    },
}

WRONG_TENSORS: list[Any] = [
    *(None, "x", 3, [1.0]),
    *(torch.tensor(1.0), torch.rand(7), torch.rand(3, 4, 1, 2, 1, 2, 1), torch.rand(0)),
    *(torch.ones(3, 4, dtype=torch.int64), torch.rand(2, 3, 8, 8).half()),
]
WRONG_SETTINGS: list[Any] = [
    None,
    "x",
    -1,
    10**12,
    2.5,
    float("nan"),
    [],
    [1, 2, 3, 4, 5],
    VECTOR,
    {},
    object(),
]


def test_every_function_has_calls() -> None:
    assert CALLS.keys() == {*F.__all__}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", F.__all__)
def test_errors_name_function_and_argument(name: str) -> None:
    function, right = getattr(F, name), CALLS[name]
    arguments = {*inspect.signature(function).parameters}
    function(**right)
    errors = []
    for argument, value in right.items():
        for wrong in WRONG_TENSORS if isinstance(value, torch.Tensor) else WRONG_SETTINGS:
            given = {key: v.clone() if isinstance(v, torch.Tensor) else v for key, v in right.items()}
            try:
                function(**{**given, argument: wrong})
            except (TypeError, ValueError, IndexError, NotImplementedError) as error:
                errors.append((error, argument, wrong))
    assert len(errors) > len(right)
    for error, argument, wrong in errors:
        text = str(error)
        assert text.startswith(f"{name}: "), (argument, wrong, text)
        words = {*re.findall(r"\w+", text.removeprefix(f"{name}: "))}
        assert words & arguments or isinstance(error, NotImplementedError), (argument, wrong, text)
        assert "_update" not in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.relu("x"), "relu: input: expected a tensor, got str 'x'"),
        (lambda: F.softmax(VECTOR, "x"), "softmax: dim: expected an integer or None, got str 'x'"),
        (
            lambda: F.max_pool2d(IMAGE, 2.5),
            "max_pool2d: kernel_size: expected an integer or a sequence of integers, got float 2.5",
        ),
        (lambda: F.pad(IMAGE, 3), "pad: pad: expected a sequence of integers, got int 3"),
        (
            lambda: F.interpolate(torch.nested.nested_tensor([IMAGE[0]] * 2), scale_factor=2),
            "interpolate: input: expected a dense tensor, got a nested one",
        ),
        (
            lambda: F.softmin(torch.quantize_per_tensor(VECTOR, 0.1, 0, torch.quint8), 0),
            "softmin: input: expected a tensor that is not quantized, got torch.quint8",
        ),
        (F.relu, "relu() missing 1 required positional argument: 'input'"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # torch warns that nested and quantized tensors may change
def test_types(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: F.lp_pool2d(IMAGE, 0, 2),
            ValueError,
            "lp_pool2d: norm_type: expected a number other than 0, got 0",
        ),
        (
            lambda: F.pad(IMAGE, (1, 1, 1, 1), "reflect", 3.0),
            ValueError,
            "pad: value: expected None or 0 for mode='reflect', got 3.0",
        ),
        (
            lambda: F.pad(torch.rand(1, 2, 3), (3, -1), "circular"),
            ValueError,
            "pad: expected at most the 2 elements that remain along dimension -1 for mode='circular', got [3, -1]",
        ),
        *(
            (
                lambda last=last: F.embedding_bag(
                    torch.arange(3), torch.rand(3, 2), torch.tensor([0, last]), include_last_offset=True
                ),
                IndexError,
                f"embedding_bag: offsets: expected a last offset from 0 to 3, got {last}",
            )
            for last in (-1, 4)
        ),
    ],
)
def test_values(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


def test_functions_can_be_pickled_and_compiled() -> None:
    assert pickle.loads(pickle.dumps(F.relu)) is F.relu
    compiled = torch.compile(lambda x: F.softmax(F.relu(x), 1), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(MATRIX), torch.softmax(MATRIX, 1))
