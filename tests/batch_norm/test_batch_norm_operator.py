"""thnn.batch_norm: the operator with estimated statistics."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import thnn

SHAPE = (4, 3, 5, 2)


def batch(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) * 2 + 0.5).to(dtype)


def arguments(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    C = shape[1]
    return {
        "x": batch(*shape, seed=seed, dtype=dtype),
        "scale": batch(C, seed=seed + 1, dtype=dtype),
        "bias": batch(C, seed=seed + 2, dtype=dtype),
        "estimated_mean": batch(C, seed=seed + 3, dtype=dtype),
        "estimated_var": batch(C, seed=seed + 4, dtype=dtype).abs() + 0.5,
    }


def statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    dims = [d for d in range(x.dim()) if d != 1]
    return x.mean(dims), x.var(dims, correction=0)


def normalized(given: dict[str, Tensor], mean: Tensor, var: Tensor, epsilon: float) -> Tensor:
    # torch 2.11's F.batch_norm refuses an epsilon of 0.
    return torch.batch_norm(given["x"], given["scale"], given["bias"], mean, var, False, 0.0, epsilon, False)


def test_signature() -> None:
    parameters = inspect.signature(thnn.batch_norm).parameters
    positional = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == ["x", "scale", "bias", "estimated_mean", "estimated_var"]
    assert {n: p.default for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY} == {
        "is_infer": False, "use_global_est": False, "epsilon": 1e-6, "momentum": 0.99, "batch_id": None, "out": None
    }  # fmt: skip
    assert thnn.BatchNormOutput._fields == ("y", "batch_mean", "batch_var", "saved_mean", "saved_var")


@given(
    shape=st.lists(st.integers(1, 4), min_size=2, max_size=5).map(lambda s: (s[0] + 1, *s[1:])),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    is_infer=st.booleans(),
    use_global_est=st.booleans(),
    epsilon=st.sampled_from([0.0, 1e-6, 0.5]),
    momentum=st.sampled_from([0.0, 0.5, 0.99, 1.0]),
    batch_id=st.sampled_from([None, 0, 1, 7]),
    into=st.sampled_from(["nothing", "out", "x"]),
    seed=st.integers(0, 1000),
)
def test_against_the_formula(
    shape: tuple[int, ...],
    dtype: torch.dtype,
    is_infer: bool,
    use_global_est: bool,
    epsilon: float,
    momentum: float,
    batch_id: int | None,
    into: str,
    seed: int,
) -> None:
    given = arguments(*shape, seed=seed, dtype=dtype)
    before = {name: tensor.clone().double() for name, tensor in given.items()}
    out = {"nothing": None, "out": torch.full_like(given["x"], math.nan), "x": given["x"]}[into]
    result = thnn.batch_norm(
        **given,
        is_infer=is_infer,
        use_global_est=use_global_est,
        epsilon=epsilon,
        momentum=momentum,
        batch_id=batch_id,
        out=out,
    )
    mean, var = estimated = before["estimated_mean"], before["estimated_var"]
    batch_mean, batch_var = statistics(before["x"])
    if not is_infer:
        share = 1 if batch_id == 0 else 1 - momentum
        estimated = (1 - share) * mean + share * batch_mean, (1 - share) * var + share * batch_var
        if not use_global_est:
            mean, var = batch_mean, batch_var
        elif batch_id == 0:
            mean, var = estimated
    # If the deviation is as small as the rounding error of x, the outputs are not comparable.
    if var.min() > 1e-3:
        tolerance = {"rtol": 1e-3, "atol": 1e-3} if dtype == torch.float32 else {"rtol": 1e-7, "atol": 1e-7}
        torch.testing.assert_close(result.y.double(), normalized(before, mean, var, epsilon), **tolerance)
    assert result.saved_mean is given["estimated_mean"]
    assert result.saved_var is given["estimated_var"]
    near = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-12, "atol": 1e-12}
    for got, expected in zip((result.saved_mean, result.saved_var), estimated):
        torch.testing.assert_close(got.double(), expected, **near)
    if is_infer:
        assert result.batch_mean is None
        assert result.batch_var is None
    else:
        torch.testing.assert_close(result.batch_mean.double(), batch_mean, **near)
        torch.testing.assert_close(result.batch_var.double(), batch_var, **near)
    assert out is None or result.y is out
    if out is not given["x"]:
        assert torch.equal(given["x"].double(), before["x"])


def test_first_batch_replaces_any_estimates() -> None:
    for use_global_est in (False, True):
        given = arguments(*SHAPE)
        given["estimated_mean"].fill_(math.nan)
        given["estimated_var"].fill_(math.inf)
        result = thnn.batch_norm(**given, batch_id=0, use_global_est=use_global_est)
        torch.testing.assert_close(tuple(result[3:]), statistics(given["x"]))
        torch.testing.assert_close(result.y, normalized(given, *statistics(given["x"]), 1e-6))
        saved = result.saved_mean.clone()
        thnn.batch_norm(**given, batch_id=1, use_global_est=use_global_est)
        torch.testing.assert_close(given["estimated_mean"], saved)


def test_estimates_of_a_loop() -> None:
    """Training with inference after each step, which is the purpose of the operator."""
    x = [batch(*SHAPE, seed=k) for k in range(4)]
    mean, var = torch.empty(3, dtype=torch.float64), torch.empty(3, dtype=torch.float64)
    expected = None
    for k, one in enumerate(x):
        thnn.batch_norm(one, None, None, mean, var, momentum=0.75, batch_id=k)
        found = torch.stack(statistics(one))
        expected = found if expected is None else 0.75 * expected + 0.25 * found
        y = thnn.batch_norm(x[0], None, None, mean, var, is_infer=True).y
        torch.testing.assert_close(torch.stack([mean, var]), expected)
        torch.testing.assert_close(y, F.batch_norm(x[0], *expected, eps=1e-6))


@pytest.mark.parametrize(
    "options", [{}, {"is_infer": True}, {"use_global_est": True}, {"batch_id": 0}], ids=str
)
@pytest.mark.parametrize("absent", [(), ("scale",), ("bias",), ("scale", "bias")])
def test_derivatives(options: dict[str, Any], absent: tuple[str, ...]) -> None:
    given = arguments(4, 2, 3)
    wanted = [n for n in ("x", "scale", "bias") if n not in absent]
    mean, var = given["estimated_mean"], given["estimated_var"]

    def operator(*tensors: Tensor) -> Tensor:
        row = {**dict.fromkeys(absent), **dict(zip(wanted, tensors))}
        # New estimates for each call, since finite differences must not depend on earlier calls.
        return thnn.batch_norm(**row, estimated_mean=mean.clone(), estimated_var=var.clone(), **options).y

    tensors = [given[name].requires_grad_() for name in wanted]
    assert torch.autograd.gradcheck(operator, tensors)
    assert torch.autograd.gradgradcheck(operator, tensors)


def test_estimates_are_constants() -> None:
    """use_global_est: the gradient is the one of a fixed affine map, even if the estimates change before the
    backward."""
    given = arguments(*SHAPE)
    x = given["x"].requires_grad_()
    slope = given["scale"] / (given["estimated_var"] + 1e-6).sqrt()
    result = thnn.batch_norm(**given, use_global_est=True)
    thnn.batch_norm(**given, use_global_est=True)
    (gradient,) = torch.autograd.grad(result.y.sum(), x)
    torch.testing.assert_close(gradient, slope.reshape(1, 3, 1, 1).expand_as(x))
    # The caller may change the returned statistics of the batch, too.
    result = thnn.batch_norm(**given, use_global_est=True, batch_id=0)
    result.batch_var.zero_()
    torch.autograd.grad(result.y.sum(), x)
    assert not result.batch_mean.requires_grad
    assert not result.saved_var.requires_grad


def test_estimates_that_change_before_the_backward_of_infer() -> None:
    given = arguments(*SHAPE)
    given["x"].requires_grad_()
    y = thnn.batch_norm(**given, is_infer=True).y
    thnn.batch_norm(**given)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_estimates_anywhere_in_memory() -> None:
    x = batch(*SHAPE)
    table = torch.zeros(3, 2, dtype=torch.float64)
    thnn.batch_norm(x, None, None, *table.unbind(1), batch_id=0)
    torch.testing.assert_close(table, torch.stack(statistics(x), 1))


def test_out_keeps_its_layout_and_increments_its_version() -> None:
    given = arguments(*SHAPE)
    expected = thnn.batch_norm(**given, is_infer=True).y
    out = torch.empty(5, 2, 4, 3, dtype=torch.float64).permute(2, 3, 0, 1)
    strides, version = out.stride(), out._version
    assert thnn.batch_norm(**given, is_infer=True, out=out).y is out
    assert out.stride() == strides
    assert out._version > version
    torch.testing.assert_close(out, expected)
    with torch.inference_mode():
        inner = torch.empty_like(out)
        thnn.batch_norm(**given, is_infer=True, out=inner)
    assert torch.equal(inner, expected)
    # Without a graph, an input that requires a gradient is not an error.
    given["x"].requires_grad_()
    with torch.no_grad():
        assert thnn.batch_norm(**given, out=out).y is out


def test_meta() -> None:
    given = {name: tensor.to("meta") for name, tensor in arguments(*SHAPE).items()}
    for options in ({}, {"use_global_est": True}, {"is_infer": True}):
        assert thnn.batch_norm(**given, **options).y.shape == SHAPE
    with pytest.raises(ValueError, match="batch_norm: scale: expected size"):
        thnn.batch_norm(**{**given, "scale": torch.empty(4, device="meta", dtype=torch.float64)})


@pytest.mark.parametrize("is_infer", [False, True])
def test_layouts_give_the_same(is_infer: bool) -> None:
    given = arguments(*SHAPE, dtype=torch.float32)
    other = {**given, "estimated_mean": given["estimated_mean"].clone()}
    other["x"] = given["x"].contiguous(memory_format=torch.channels_last)
    a = thnn.batch_norm(**given, is_infer=is_infer)
    b = thnn.batch_norm(**other, is_infer=is_infer)
    assert b.y.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(a.y, b.y)
    torch.testing.assert_close(a.saved_mean, b.saved_mean)


def _with(**changes: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda given: {name: change(given) for name, change in changes.items()}


def _long(length: int) -> Callable[[dict[str, Any]], Tensor]:
    return lambda given: torch.ones(length, dtype=torch.float64)


def _memory_of(name: str) -> Callable[[dict[str, Any]], Tensor]:
    return lambda given: given[name].reshape(-1)[:3]


@torch.inference_mode()
def _of_inference(x: Tensor) -> Tensor:
    return x.clone()


REFUSED = {
    "a list": (_with(x=lambda g: [1.0]), TypeError, "x: expected a tensor, got list"),
    "int": (_with(x=lambda g: g["x"].int()), TypeError, "x: expected .*, got torch.int32"),
    "half": (_with(x=lambda g: g["x"].half()), TypeError, "scale: expected torch.float16, the type of x, got"),
    "a vector": (_with(x=lambda g: g["x"][0, 0, 0]), ValueError, r"x: expected 2 dimensions \(N, C\) or more"),
    "one value": (_with(x=lambda g: g["x"][:1, :, :1, :1]), ValueError, "x: expected more than 1 value per channel"),
    "no value": (_with(x=lambda g: g["x"][:0]), ValueError, "x: expected more than 1 value per channel"),
    "scale": (_with(scale=_long(4)), ValueError, r"scale: expected size \(3,\), got \(4,\)"),
    "scale float": (_with(scale=lambda g: torch.ones(3)), TypeError, "scale: expected torch.float64, the type of x"),
    "bias": (_with(bias=lambda g: torch.ones(1, 3, dtype=torch.float64)), ValueError, "bias: expected size"),
    "mean": (_with(estimated_mean=_long(2)), ValueError, "estimated_mean: expected size"),
    "var": (_with(estimated_var=_long(1)), ValueError, "estimated_var: expected size"),
    "var float": (_with(estimated_var=lambda g: torch.ones(3)), TypeError, "estimated_var: expected torch.float64"),
    "no mean": (_with(estimated_mean=lambda g: None), TypeError, "estimated_mean: expected a tensor, got NoneType"),
    "elsewhere": (_with(bias=lambda g: g["bias"].to("meta")), TypeError, "bias: expected a tensor on cpu, as x"),
    "epsilon": (_with(epsilon=lambda g: -1e-9), ValueError, "epsilon: expected a number that is not negative"),
    "epsilon NaN": (_with(epsilon=lambda g: math.nan), ValueError, "epsilon: expected"),
    "epsilon huge": (_with(epsilon=lambda g: 10**400), ValueError, "epsilon: exceeds the range of float64"),
    "sparse": (_with(x=lambda g: g["x"].to_sparse()), TypeError, "x: expected a dense tensor"),
    "mean of inference": (
        _with(estimated_mean=lambda g: _of_inference(g["estimated_mean"])), ValueError,
        "estimated_mean: inference tensors cannot be changed",
    ),
    "x of inference": (
        _with(x=lambda g: _of_inference(g["x"]), scale=lambda g: g["scale"].clone().requires_grad_()), ValueError,
        "x: inference tensors cannot be differentiated",
    ),
    "epsilon text": (_with(epsilon=lambda g: "0"), TypeError, "epsilon: expected a number, got str"),
    "momentum": (_with(momentum=lambda g: 1.01), ValueError, "momentum: expected a number from 0 to 1, got 1.01"),
    "momentum below": (_with(momentum=lambda g: -0.01), ValueError, "momentum: expected a number"),
    "momentum NaN": (_with(momentum=lambda g: math.nan), ValueError, "momentum: expected a number"),
    "batch_id": (_with(batch_id=lambda g: -1), ValueError, "batch_id: expected 0 or more, got -1"),
    "batch_id float": (_with(batch_id=lambda g: 0.5), TypeError, "batch_id: expected an integer or None, got float"),
    "is_infer": (_with(is_infer=lambda g: "no"), TypeError, "is_infer: expected True or False, got str"),
    "use_global_est": (_with(use_global_est=lambda g: 1), TypeError, "use_global_est: expected True or False"),
    "one for both": (
        _with(estimated_var=lambda g: g["estimated_mean"]), ValueError,
        "estimated_mean: must not share memory with estimated_var",
    ),
    "mean in x": (_with(estimated_mean=_memory_of("x")), ValueError, "estimated_mean: must not share memory with x"),
    "var is bias": (_with(estimated_var=lambda g: g["bias"]), ValueError, "estimated_var: must not share .* bias"),
    "mean expanded": (
        _with(estimated_mean=lambda g: g["bias"][:1].expand(3)), ValueError, "estimated_mean: two of its elements",
    ),
    "out": (_with(out=lambda g: g["x"].new_empty(4, 3, 5)), ValueError, "out: expected size"),
    "out float": (_with(out=lambda g: torch.empty(SHAPE)), TypeError, "out: expected torch.float64"),
    "out over x": (
        _with(out=lambda g: g["x"].as_strided(SHAPE, (10, 40, 2, 1))), ValueError,
        "out: must not share memory with x",
    ),
    "out with scale": (
        _with(x=lambda g: g["x"][:1, :, :, :1], out=lambda g: g["memory"][:15].view(1, 3, 5, 1),
              scale=lambda g: g["memory"][12:15]), ValueError, "out: must not share memory with scale",
    ),
    "out with mean": (
        _with(x=lambda g: g["x"][:1, :, :, :1], out=lambda g: g["memory"][:15].view(1, 3, 5, 1),
              estimated_mean=lambda g: g["memory"][12:15]), ValueError, "out: must not share .* estimated_mean",
    ),
    "out expanded": (
        _with(out=lambda g: g["x"].new_empty(1, 3, 5, 2).expand(SHAPE)), ValueError, "out: two of its elements",
    ),
    "out and gradient": (
        _with(scale=lambda g: g["scale"].clone().requires_grad_(), out=lambda g: torch.empty_like(g["x"])),
        ValueError, "out: cannot be differentiated, but scale requires a gradient",
    ),
    "gradient w.r.t. mean": (
        _with(estimated_mean=lambda g: g["estimated_mean"].clone().requires_grad_()), NotImplementedError,
        "estimated_mean: the gradient w.r.t. estimated_mean is not implemented",
    ),
}  # fmt: skip


@pytest.mark.parametrize("use_global_est", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_anything_is_written(name: str, use_global_est: bool) -> None:
    change, error, message = REFUSED[name]
    given: dict[str, Any] = {**arguments(*SHAPE), "memory": batch(15)}
    row = {**given, "use_global_est": use_global_est, **change(given)}
    del row["memory"]
    tensors = {k: v for k, v in {**given, **row}.items() if isinstance(v, Tensor) and v.device.type == "cpu"}
    before = {k: v.detach().clone() for k, v in tensors.items()}
    with pytest.raises(error, match=f"^batch_norm: {message}"):
        thnn.batch_norm(**row)
    for key, tensor in tensors.items():
        torch.testing.assert_close(tensor.detach(), before[key], rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", ["x", "scale", "estimated_mean"])
def test_nested_tensors_are_refused(name: str) -> None:
    given: dict[str, Any] = arguments(*SHAPE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that nested tensors are a prototype
        given[name] = torch.nested.nested_tensor(list(given[name]))
    with pytest.raises(TypeError, match=f"batch_norm: {name}: expected a dense tensor, got a nested one"):
        thnn.batch_norm(**given)


def test_inference_accepts_arguments_that_training_rejects() -> None:
    given = arguments(*SHAPE)
    single = {**given, "x": given["x"][:1, :, :1, :1]}
    expected = normalized(single, given["estimated_mean"], given["estimated_var"], 1e-6)
    torch.testing.assert_close(thnn.batch_norm(**single, is_infer=True).y, expected)
    shared = {**given, "estimated_var": given["estimated_mean"].abs_()}
    assert thnn.batch_norm(**shared, is_infer=True).y.isfinite().all()
    assert thnn.batch_norm(**{**given, "x": given["x"][:0]}, is_infer=True).y.shape == (0, 3, 5, 2)


@pytest.mark.parametrize("autocast", [False, True])
def test_an_x_of_a_half_type_is_computed_in_float32(autocast: bool) -> None:
    x = torch.randn(8, 3).bfloat16()
    scale, bias, mean, variance = torch.rand(3), torch.rand(3), torch.zeros(3), torch.ones(3)
    expected = thnn.batch_norm(x.float(), scale, bias, mean.clone(), variance.clone(), momentum=0.9)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        found = thnn.batch_norm(x, scale, bias, mean, variance, momentum=0.9)
    for actual, value in zip(found, (expected.y.bfloat16(), *expected[1:])):
        assert actual.equal(value)


def test_autocast_casts_vectors_of_another_type() -> None:
    x, scale = torch.randn(8, 3), torch.rand(3).bfloat16()
    vectors = torch.rand(3), torch.zeros(3), torch.ones(3)
    expected = thnn.batch_norm(x, scale.float(), *vectors, is_infer=True).y
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert thnn.batch_norm(x, scale, *vectors, is_infer=True).y.equal(expected)


def test_transforms_are_refused() -> None:
    given = arguments(*SHAPE)
    before = given["estimated_mean"].clone()
    x = given.pop("x")
    with pytest.raises(NotImplementedError, match=r"torch\.func"):
        torch.func.grad(lambda x: thnn.batch_norm(x, **given).y.sum())(x)
    assert torch.equal(given["estimated_mean"], before)


@pytest.mark.parametrize("use_global_est", [False, True])
def test_compiled(use_global_est: bool) -> None:
    given, other = arguments(*SHAPE), arguments(*SHAPE)
    compiled = torch.compile(
        functools.partial(thnn.batch_norm, use_global_est=use_global_est), backend="eager"
    )
    torch.testing.assert_close(compiled(**given), thnn.batch_norm(**other, use_global_est=use_global_est))
    torch._dynamo.reset()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["aot_eager_decomp_partition", "inductor"])
@pytest.mark.slow
def test_compiled_gradients_by_estimates_before_the_update(backend: str) -> None:
    """inductor gets the graphs of the other backend: it compiles one with, and one without estimates in the result."""
    compiled = torch.compile(thnn.batch_norm, fullgraph=True, backend=backend)
    others = [{"use_global_est": True, "batch_id": 0}, {"is_infer": True}]
    for options in ({}, {"use_global_est": True}, *(others if backend != "inductor" else [])):
        found = []
        for function in (thnn.batch_norm, compiled):
            given = arguments(*SHAPE)
            leaves = [given[n].requires_grad_() for n in ("x", "scale", "bias")]
            loss = function(**given, momentum=0.5, **options).y.sin().sum()
            estimates = given["estimated_mean"], given["estimated_var"]
            found.append([loss.detach(), *torch.autograd.grad(loss, leaves), *estimates])
        torch.testing.assert_close(*found)
    torch._dynamo.reset()
