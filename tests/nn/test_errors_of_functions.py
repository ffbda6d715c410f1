"""Errors of thnn.nn.functional: each wrong argument of each function raises an error that names both."""

from __future__ import annotations

import inspect
import pickle
import re
import types
import typing
from collections.abc import Callable, Iterator, Sequence
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
            *(
                "sigmoid",
                "softplus",
                "softshrink",
                "tanh",
                "celu",
                "gelu",
                "hardsigmoid",
                "hardswish",
                "mish",
            ),
            *("selu", "silu", "softsign", "tanhshrink"),
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
            "hinge_embedding_loss",
            "huber_loss",
            "kl_div",
            "l1_loss",
            "mse_loss",
            "poisson_nll_loss",
            "smooth_l1_loss",
            "soft_margin_loss",
        )
    },
    "binary_cross_entropy_with_logits": {
        "input": MATRIX,
        "target": torch.rand(3, 4),
        "weight": VECTOR,
        "pos_weight": VECTOR,
        "reduction": "mean",
    },
    "gaussian_nll_loss": {
        "input": MATRIX,
        "target": torch.rand(3, 4),
        "var": torch.ones(3, 4),
        "reduction": "mean",
    },
    "cosine_embedding_loss": {
        "input1": MATRIX,
        "input2": torch.rand(3, 4),
        "target": torch.ones(3),
        "margin": 0.5,
        "reduction": "mean",
    },
    "pairwise_distance": {"x1": MATRIX, "x2": torch.rand(3, 4), "p": 2.0, "eps": 1e-6},
    "triplet_margin_loss": {
        "anchor": MATRIX,
        "positive": torch.rand(3, 4),
        "negative": torch.rand(3, 4),
        "margin": 0.5,
        "reduction": "mean",
    },
    "margin_ranking_loss": {
        "input1": MATRIX,
        "input2": torch.rand(3, 4),
        "target": torch.ones(3, 4),
        "margin": 0.5,
        "reduction": "mean",
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
    "group_norm": {"input": MATRIX, "num_groups": 2, "weight": VECTOR, "bias": VECTOR, "eps": 1e-5},
    "instance_norm": {
        "input": SERIES,
        "running_mean": torch.rand(3),
        "running_var": torch.rand(3),
        "weight": torch.rand(3),
        "bias": torch.rand(3),
        "use_input_stats": True,
        "momentum": 0.1,
        "eps": 1e-5,
    },
    "layer_norm": {"input": MATRIX, "normalized_shape": (4,), "weight": VECTOR, "bias": VECTOR, "eps": 1e-5},
    "rms_norm": {"input": MATRIX, "normalized_shape": (4,), "weight": VECTOR, "eps": 1e-5},
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


# Arguments whose truth value torch's Python reads, so that it takes any object.
READ_AS_TRUTH = {"_stacklevel", "size_average", "reduce", "recompute_scale_factor", "antialias"}


def settings_of(name: str) -> Iterator[tuple[str, set[Any]]]:
    """The arguments of a function that are not checked as torch's Python reads them, with the types that they may
    have."""
    for argument, hint in typing.get_type_hints(getattr(F, name)).items():
        if argument not in {"return", *READ_AS_TRUTH}:
            is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
            members = typing.get_args(hint) if is_union else (hint,)
            yield argument, {typing.get_origin(member) or member for member in members}


def given(name: str, **changed: Any) -> dict[str, Any]:
    """The right arguments of a function, copied, with some changed."""
    right = {key: v.clone() if isinstance(v, torch.Tensor) else v for key, v in CALLS[name].items()}
    return {**right, **changed}


@pytest.mark.parametrize("name", F.__all__)
def test_no_argument_of_another_type_is_taken(name: str) -> None:
    values = {types.NoneType: None, str: "x", Sequence: [], dict: {}, complex: 1j, object: object()}
    for argument, kinds in settings_of(name):
        for kind, value in values.items():
            if kind in kinds:
                continue
            with pytest.raises(TypeError) as error:
                getattr(F, name)(**given(name, **{argument: value}))
            assert str(error.value).startswith(f"{name}: {argument}: expected "), (argument, value)


@pytest.mark.parametrize("name", F.__all__)
def test_flags_are_bools_or_0_or_1(name: str) -> None:
    function = getattr(F, name)
    for argument, kinds in settings_of(name):
        if bool not in kinds:
            continue
        for value in (0, 1):
            function(**given(name, **{argument: value}))
        for value in (2, -1, 2**63):
            with pytest.raises(
                ValueError, match=f"^{name}: {argument}: expected True or False, got int {value}$"
            ):
                function(**given(name, **{argument: value}))
        for tensor in (torch.tensor(True), torch.tensor([1, 0])):
            with pytest.raises(TypeError, match=f"^{name}: {argument}: expected a bool"):
                function(**given(name, **{argument: tensor}))


@pytest.mark.parametrize("name", F.__all__)
def test_numbers_out_of_range(name: str) -> None:
    function, texts = getattr(F, name), []
    for argument, kinds in settings_of(name):
        for value in (2**63, -(2**63) - 1, 10**400, 1e308):
            if not kinds & {int, float} or (type(value) is float and float not in kinds):
                continue
            try:
                function(**given(name, **{argument: value}))
            except (TypeError, ValueError, IndexError) as error:
                texts.append((argument, str(error)))
    for argument, text in texts:
        assert re.match(rf"{name}: .*\b{argument}\b", text)


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
        (
            lambda: F.embedding(ROWS, MATRIX, torch.tensor(1)),
            "embedding: padding_idx: expected an integer, got a tensor",
        ),
        (
            lambda: F.softmax(VECTOR, torch.tensor(0.5)),
            "softmax: dim: expected an integer or None, got Tensor tensor(0.5000)",
        ),
        (
            lambda: F.max_pool2d(IMAGE, 2, dilation=2, return_indices=None),
            "max_pool2d: return_indices: expected a bool, got NoneType None",
        ),
        (
            lambda: F.log_softmax(VECTOR, 0.5),
            "log_softmax: dim: expected an integer or None, got float 0.5",
        ),
        (
            lambda: F.softmax(VECTOR, 0, dtype=2.5),
            "softmax: dtype: expected a torch.dtype or None, got float 2.5",
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
                lambda factor=factor: F.interpolate(IMAGE, scale_factor=factor),
                ValueError,
                f"interpolate: scale_factor: expected output sizes from 1 to 2^31 - 1, got int {size}",
            )
            for factor, size in ((2**63, 2**66), (0.01, 0))
        ),
        (
            lambda: F.fractional_max_pool2d(IMAGE, 2, output_ratio=0.01),
            ValueError,
            "fractional_max_pool2d: output_ratio: expected output sizes from 1 to 2^31 - 1, got int 0",
        ),
        (
            lambda: F.fractional_max_pool3d(VOLUME, 2, 3, _random_samples=VECTOR[0]),
            ValueError,
            "fractional_max_pool3d: _random_samples: expected 3 numbers for each plane, got one number",
        ),
        (
            lambda: F.fractional_max_pool3d(VOLUME, 2, 3, _random_samples=torch.rand(2, 3, 2)),
            ValueError,
            "fractional_max_pool3d: _random_samples: expected 3 numbers for each plane, shape (2, 3, 3),"
            " got shape (2, 3, 2)",
        ),
        (
            lambda: F.max_unpool2d(IMAGE, IMAGE.long(), 2, -1),
            ValueError,
            "max_unpool2d: kernel_size, stride, padding: expected output sizes from 1 to 2^31 - 1, got int -5",
        ),
        *(
            (
                lambda lambd=lambd: F.softshrink(VECTOR, lambd),
                ValueError,
                f"softshrink: lambd: expected at least 0 and a finite number, got {lambd}",
            )
            for lambd in (-1, float("nan"), float("inf"))
        ),
        (
            lambda: F.smooth_l1_loss(VECTOR, VECTOR, beta=float("nan")),
            ValueError,
            "smooth_l1_loss: beta: expected at least 0, got nan",
        ),
        (
            lambda: F.elu(VECTOR, -(2**70)),
            ValueError,
            "elu: alpha: int -1180591620717411303424 is out of range",
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


@pytest.mark.parametrize(
    ("name", "argument"),
    [("relu", "input"), ("conv2d", "weight"), ("nll_loss", "weight"), ("embedding", "input")],
)
def test_tensors_whose_memory_was_freed(name: str, argument: str) -> None:
    arguments = given(name)
    arguments[argument].untyped_storage().resize_(0)
    with pytest.raises(TypeError, match=f"^{name}: {argument}: has no memory"):
        getattr(F, name)(**arguments)


def test_functions_can_be_pickled_and_compiled() -> None:
    assert pickle.loads(pickle.dumps(F.relu)) is F.relu
    compiled = torch.compile(lambda x: F.softmax(F.relu(x), 1), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(MATRIX), torch.softmax(MATRIX, 1))
