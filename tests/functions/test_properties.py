"""Properties that hold for all shapes, strides and types: hypothesis searches for counterexamples."""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

import thnn
from thnn.testing.case_runner import TIGHT, CaseRunner, compare_all
from thnn.testing.cases import cases
from thnn.testing.cases.makers import along, classes, constant, distinct, normal, uniform
from thnn.testing.cases.model import Maker, SampleInput
from thnn.testing.error_inputs import ERRORS

dtypes = st.sampled_from([torch.float32, torch.float64])
small = st.integers(1, 5)


def shapes(
    least: int, most: int, sizes: st.SearchStrategy[int] = small
) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(sizes, min_size=least, max_size=most).map(tuple)


def strided(seed: int, name: str, tensor: Tensor) -> Tensor:
    """The same values with random strides: dimensions in any order, with gaps, at any offset."""
    choice = torch.Generator().manual_seed(zlib.crc32(f"{seed} {name}".encode()))

    def draw(count: int) -> int:
        return int(torch.randint(count, (), generator=choice))

    if not seed or not tensor.dim() or draw(4) == 0:
        return tensor
    order = torch.randperm(tensor.dim(), generator=choice).tolist()
    steps = [1 + draw(2) for _ in order]
    size = [tensor.shape[d] * step + draw(3) for d, step in zip(order, steps)]
    memory = torch.full(size, math.nan if tensor.is_floating_point() else -77, dtype=tensor.dtype)
    view = memory[tuple(slice(None, tensor.shape[d] * step, step) for d, step in zip(order, steps))]
    view = view.permute([order.index(d) for d in range(tensor.dim())])
    assert view.shape == tensor.shape
    return view.copy_(tensor)


layouts = st.integers(0, 2**32).map(lambda seed: functools.partial(strided, seed))


def check(
    module: str, arguments: dict[str, Any], dtype: torch.dtype, enter: Callable[[str, Tensor], Tensor]
) -> None:
    """A sample in some type and layout against the reference."""
    case = cases()[module]
    runner = CaseRunner(case, SampleInput(str(arguments.keys()), arguments), dtype)
    tolerance = TIGHT if dtype is torch.float64 else case.tolerance
    expected = runner.expected()
    for key, tensor in expected.items():
        if tensor.is_floating_point() and dtype is torch.float32:
            lowest = tensor == torch.finfo(torch.float64).min
            expected[key] = tensor.masked_fill(lowest, torch.finfo(torch.float32).min)
    compare_all(runner, "", runner.run(enter), expected, tolerance)


POINTWISE: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "Threshold": st.builds(
        lambda t, v, i: {"threshold": t, "val": min(t, v) if i else v, "inplace": i},
        st.sampled_from([-0.5, 0.0, 0.25]),
        st.sampled_from([-3.0, 0.0, 7.0]),
        st.booleans(),
    ),
    "LeakyReLU": st.builds(
        lambda n, i: {"negval": n, "inplace": i}, st.sampled_from([0.0, 0.01, 0.5]), st.booleans()
    ),
    "Sigmoid": st.just({}),
    "Tanh": st.just({}),
}


@pytest.mark.parametrize("module", POINTWISE)
@given(data=st.data(), shape=shapes(0, 6, st.integers(0, 5)), dtype=dtypes, enter=layouts)
def test_pointwise(
    module: str, data: st.DataObject, shape: tuple[int, ...], dtype: torch.dtype, enter: Any
) -> None:
    check(module, {"input": normal(*shape, scale=3), **data.draw(POINTWISE[module])}, dtype, enter)


@pytest.mark.parametrize("module", POINTWISE)
@given(data=st.data(), count=st.integers(0, 40000), start=st.integers(0, 70), dtype=dtypes)
@settings(max_examples=25)
def test_pointwise_of_any_length(
    module: str, data: st.DataObject, count: int, start: int, dtype: torch.dtype
) -> None:
    """The result for an element depends neither on its position in memory nor on its neighbours."""
    scalars = data.draw(POINTWISE[module])
    scalars.pop("inplace", None)
    whole = torch.randn(count + start, generator=torch.Generator().manual_seed(count), dtype=dtype) * 4
    apply = thnn.function_classes[module + "Function"].apply
    assert torch.equal(apply(whole[start:], **scalars), apply(whole, **scalars)[start:])
    backwards = apply(whole.flip(0), **scalars).flip(0)
    assert torch.equal(backwards, apply(whole, **scalars))


@pytest.mark.parametrize("module", ["SoftMax", "LogSoftMax"])
@given(
    shape=shapes(1, 4, st.integers(0, 9)),
    scale=st.sampled_from([0.1, 1.0, 4.0]),
    dtype=dtypes,
    enter=layouts,
)
def test_softmax(module: str, shape: tuple[int, ...], scale: float, dtype: torch.dtype, enter: Any) -> None:
    check(module, {"input": normal(*shape, scale=scale)}, dtype, enter)


@given(
    batch=st.integers(0, 40),
    channels=st.integers(0, 40),
    rest=shapes(0, 4, st.integers(1, 6)),
    given_weight=st.booleans(),
    given_bias=st.booleans(),
    train=st.booleans(),
    momentum=st.sampled_from([0.0, 0.1, 1.0]),
    eps=st.sampled_from([1e-3, 0.1]),
    dtype=dtypes,
    enter=layouts,
)
def test_batch_normalization(
    batch: int,
    channels: int,
    rest: tuple[int, ...],
    given_weight: bool,
    given_bias: bool,
    train: bool,
    momentum: float,
    eps: float,
    dtype: torch.dtype,
    enter: Any,
) -> None:
    # With few values the gradient is a small difference of large terms, too inaccurate in float32.
    assume(not train or batch * math.prod(rest) > (1 if dtype is torch.float64 else 5))
    C = channels
    arguments = {
        "input": normal(batch, C, *rest),
        "weight": normal(C) if given_weight else None,
        "bias": normal(C) if given_bias else None,
        "running_mean": normal(C),
        "running_var": uniform(C, low=0.5, high=2),
        "train": train,
        "momentum": momentum,
        "eps": eps,
    }
    check("BatchNormalization", arguments, dtype, enter)


@st.composite
def windows(draw: st.DrawFn, legal: bool = True) -> tuple[tuple[int, ...], dict[str, Any]]:
    """A shape of images, and windows on it."""
    shape = (*draw(shapes(1, 2, st.integers(1, 4))), draw(st.integers(1, 12)), draw(st.integers(1, 12)))
    kW, kH = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    scalars = {
        "kW": kW,
        "kH": kH,
        "dW": draw(st.integers(1, 5)),
        "dH": draw(st.integers(1, 5)),
        "padW": draw(st.integers(0, kW // 2)),
        "padH": draw(st.integers(0, kH // 2)),
        "ceil_mode": draw(st.booleans()),
    }
    if legal:
        assume(outputs(shape[-1], scalars, "W") > 0 and outputs(shape[-2], scalars, "H") > 0)
    return shape, scalars


def outputs(size: int, scalars: dict[str, Any], axis: str) -> int:
    k, d, p = (scalars[name + axis] for name in ("k", "d", "pad"))
    room = size + 2 * p - k
    out = (-(-room // d) if scalars["ceil_mode"] else room // d) + 1
    padded = scalars["padW"] > 0 or scalars["padH"] > 0
    return out - 1 if padded and (out - 1) * d >= size + p else out


@given(window=windows(), ties=st.booleans(), dtype=dtypes, enter=layouts)
def test_max_pooling(window: Any, ties: bool, dtype: torch.dtype, enter: Any) -> None:
    shape, scalars = window
    input = constant(*shape, value=1.0) if ties else distinct(*shape)
    check("SpatialMaxPooling", {"input": input, **scalars}, dtype, enter)


@given(window=windows(), counted=st.booleans(), dtype=dtypes, enter=layouts)
def test_average_pooling(window: Any, counted: bool, dtype: torch.dtype, enter: Any) -> None:
    shape, scalars = window
    check(
        "SpatialAveragePooling",
        {"input": normal(*shape), **scalars, "count_include_pad": counted},
        dtype,
        enter,
    )


wild = st.one_of(
    st.integers(-3, 8), st.sampled_from([-(2**31), 2**31 - 1, 2**30, 2**16, 65535, -(2**15), 2**31 - 2])
)


@pytest.mark.parametrize("module", ["SpatialMaxPooling", "SpatialAveragePooling", "SpatialConvolutionMM"])
@given(
    shape=shapes(0, 5, st.integers(0, 6)),
    weight=shapes(1, 5, st.integers(0, 4)),
    geometry=st.lists(wild, min_size=6, max_size=6),
    ceil_mode=st.booleans(),
)
@settings(max_examples=150)
def test_any_geometry_is_computed_or_refused(
    module: str, shape: tuple[int, ...], weight: tuple[int, ...], geometry: Sequence[int], ceil_mode: bool
) -> None:
    """For any numbers there is a result of the right shape, or an error; a meta call predicts it."""
    apply = thnn.function_classes[module + "Function"].apply
    tensors = [torch.ones(shape, device="meta")]
    scalars: list[Any] = list(geometry)
    if module == "SpatialConvolutionMM":
        tensors += [torch.ones(weight, device="meta"), torch.ones(weight[:1], device="meta")]
    else:
        scalars.append(ceil_mode)
    try:
        form = apply(*tensors, *scalars)
    except ERRORS as error:
        assert str(error).startswith(f"{module}_updateOutput: ")  # noqa: PT017
        with pytest.raises(type(error)):
            apply(*(torch.ones(t.shape) for t in tensors), *scalars)
        return
    assert form.dim() == len(shape)
    if form.numel() > 10**6 or max(geometry, key=abs) > 2**20:
        return  # more than a test should compute
    output = apply(*(torch.ones(t.shape) for t in tensors), *scalars)
    assert output.shape == form.shape
    assert output.isfinite().all()


@st.composite
def convolutions(draw: st.DrawFn) -> dict[str, Any]:
    inputs, outputs = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    kW, kH = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    padW, padH = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    width = draw(st.integers(max(1, kW - 2 * padW), 14))
    height = draw(st.integers(max(1, kH - 2 * padH), 10))
    batch = draw(st.sampled_from([(), (0,), (1,), (3,)]))
    flat = draw(st.booleans())
    return {
        "input": normal(*batch, inputs, height, width),
        "weight": normal(outputs, inputs * kH * kW) if flat else normal(outputs, inputs, kH, kW),
        "bias": normal(outputs) if draw(st.booleans()) else None,
        "kW": kW,
        "kH": kH,
        "dW": draw(st.integers(1, 4)),
        "dH": draw(st.integers(1, 4)),
        "padW": padW,
        "padH": padH,
    }


@given(arguments=convolutions(), dtype=dtypes, enter=layouts)
@settings(max_examples=100)
def test_convolution(arguments: dict[str, Any], dtype: torch.dtype, enter: Any) -> None:
    check("SpatialConvolutionMM", arguments, dtype, enter)


@st.composite
def convolutions_with_groups(draw: st.DrawFn, transposed: bool) -> dict[str, Any]:
    dims, groups = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 3, 16, 17]))
    counts = st.sampled_from([1, 2, 3, 5, 8] if groups > 3 else [1, 2, 5, 9, 16, 17, 33])
    inputs, outputs = draw(counts), draw(counts)
    axes = []
    for _ in range(dims):
        kernel, stride, dilation = (draw(st.integers(1, n)) for n in (4, 4, 3))
        padding, reach = draw(st.integers(0, 4)), dilation * (kernel - 1) + 1
        added = draw(st.integers(0, max(stride, dilation) - 1)) if transposed else 0
        least = (2 * padding - reach - added) // stride + 2 if transposed else reach - 2 * padding
        size = max(1, least) + draw(st.integers(0, (40, 12, 6)[dims - 1]))
        axes.append((size, kernel, stride, padding, dilation, added))
    sizes, kernels, *scalars = zip(*axes)
    batch = draw(st.sampled_from([(), (0,), (1,), (3,)]))
    first, second = (inputs * groups, outputs) if transposed else (outputs * groups, inputs)
    arguments: dict[str, Any] = {
        "input": normal(*batch, inputs * groups, *sizes),
        "weight": normal(first, second, *kernels),
        "bias": normal(outputs * groups) if draw(st.booleans()) else None,
        "groups": groups,
    }
    for word, default, values in zip(("d", "pad", "dilation", "adj"), (1, 0, 1, 0), scalars):
        if word != "adj" or transposed:
            arguments |= along(word, "THW", (*[default] * (3 - dims), *values))
    return arguments


@pytest.mark.parametrize("module", ["Convolution", "FullConvolution"])
@given(data=st.data(), dtype=dtypes, enter=layouts)
@settings(max_examples=40)
def test_convolution_with_groups(module: str, data: st.DataObject, dtype: torch.dtype, enter: Any) -> None:
    check(module, data.draw(convolutions_with_groups(module == "FullConvolution")), dtype, enter)


@given(
    batch=st.one_of(st.just(()), shapes(1, 1, st.integers(0, 70))),
    inputs=st.integers(1, 70),
    outputs=st.integers(1, 70),
    bias=st.booleans(),
    dtype=dtypes,
    enter=layouts,
)
def test_linear(
    batch: tuple[int, ...], inputs: int, outputs: int, bias: bool, dtype: torch.dtype, enter: Any
) -> None:
    arguments = {"input": normal(*batch, inputs), "weight": normal(outputs, inputs)}
    check("Linear", {**arguments, "bias": normal(outputs) if bias else None}, dtype, enter)


def probabilities(*shape: int) -> Maker:
    return uniform(*shape, low=0.02, high=0.98)


DISTANCES: dict[str, tuple[Callable[..., Maker], Callable[..., Maker]]] = {
    "MSECriterion": (normal, normal),
    "AbsCriterion": (normal, normal),
    "SmoothL1Criterion": (functools.partial(normal, scale=2.0), normal),
    "BCECriterion": (probabilities, uniform),
}


@pytest.mark.parametrize("module", DISTANCES)
@given(
    shape=shapes(0, 5, st.integers(0, 9)),
    sizeAverage=st.booleans(),
    weights=st.booleans(),
    dtype=dtypes,
    enter=layouts,
)
def test_distances(
    module: str, shape: tuple[int, ...], sizeAverage: bool, weights: bool, dtype: torch.dtype, enter: Any
) -> None:
    input, target = DISTANCES[module]
    arguments = {"input": input(*shape), "target": target(*shape), "sizeAverage": sizeAverage}
    if module == "BCECriterion" and weights:
        arguments["weights"] = uniform(*shape)
    check(module, arguments, dtype, enter)


@given(
    rows=st.one_of(st.none(), st.integers(0, 50)),
    count=st.integers(1, 20),
    ignored=st.integers(-2, 22),
    sizeAverage=st.booleans(),
    weights=st.booleans(),
    dtype=dtypes,
    enter=layouts,
)
def test_class_nll(
    rows: int | None,
    count: int,
    ignored: int,
    sizeAverage: bool,
    weights: bool,
    dtype: torch.dtype,
    enter: Any,
) -> None:
    arguments = {
        "input": normal(count) if rows is None else normal(rows, count),
        "target": classes(1 if rows is None else rows, count=count),
        "ignore_index": ignored,
        "sizeAverage": sizeAverage,
        "weights": uniform(count, low=0.1) if weights else None,
    }
    check("ClassNLLCriterion", arguments, dtype, enter)


@given(
    targets=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 6), min_size=1, max_size=9),
    ignored=st.integers(-2, 6),
)
@settings(max_examples=100)
def test_targets_are_classes_or_refused(targets: list[int], ignored: int) -> None:
    target = torch.tensor(targets)
    fits = all(0 <= t < 5 or t == ignored for t in targets)
    input = torch.randn(len(targets), 5)
    if fits:
        assert thnn.ClassNLLCriterionFunction.apply(input, target, None, True, ignored).isfinite()
    else:
        with pytest.raises(IndexError, match="ClassNLLCriterion_updateOutput: target: "):
            thnn.ClassNLLCriterionFunction.apply(input, target, None, True, ignored)


@given(indices=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 13), min_size=6, max_size=6))
@settings(max_examples=100)
def test_indices_are_in_the_plane_or_refused(indices: list[int]) -> None:
    input, gradient, result = torch.randn(1, 3, 4), torch.randn(1, 2, 3), torch.full((1, 3, 4), 5.0)
    index = torch.tensor(indices).reshape(1, 2, 3)
    arguments = (0, input, gradient, result, index, 2, 2, 1, 1, 0, 0, False)
    backend = thnn.type2backend["torch.FloatTensor"]
    if all(-1 <= i < 12 for i in indices):
        backend.SpatialMaxPooling_updateGradInput(*arguments)
        expected = torch.zeros(12)
        for i, g in zip(indices, gradient.flatten()):
            if i >= 0:
                expected[i] += g
        torch.testing.assert_close(result, expected.reshape(1, 3, 4))
    else:
        with pytest.raises(IndexError, match="SpatialMaxPooling_updateGradInput: indices: "):
            backend.SpatialMaxPooling_updateGradInput(*arguments)
        assert (result == 5).all()


@pytest.mark.parametrize("format", [torch.contiguous_format, torch.channels_last])
def test_gradients_of_indices_outside_of_their_windows(format: torch.memory_format) -> None:
    torch.manual_seed(1)
    x = torch.randn(2, 3, 6, 8).to(memory_format=format).requires_grad_()
    y, indices = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    for n, c in ((0, 1), (1, 2)):  # in these planes alone
        indices[n, c] = torch.randint(48, (3, 4))
    gradOutput = torch.randn_like(y)
    gradInput = torch.empty_like(x)
    backend = thnn.type2backend["torch.FloatTensor"]
    backend.SpatialMaxPooling_updateGradInput(
        0, x.detach(), gradOutput, gradInput, indices, 2, 2, 2, 2, 0, 0, False
    )
    expected = torch.zeros(2, 3, 48).scatter_add(2, indices.flatten(2), gradOutput.flatten(2))
    torch.testing.assert_close(gradInput, expected.reshape(2, 3, 6, 8))


anything = st.one_of(
    st.none(),
    st.booleans(),
    # Large geometries are tested with meta tensors, above.
    st.integers(-99, 99),
    st.integers(min_value=2**70),
    st.integers(max_value=-(2**70)),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from([torch.float32, torch.Tensor, [], (), {}, object()]),
    st.builds(
        lambda shape, dtype, device: torch.ones(shape, dtype=dtype, device=device),
        shapes(0, 5, st.integers(0, 3)),
        st.sampled_from([torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.float16]),
        st.sampled_from(["cpu", "cpu", "meta"]),
    ),
)


@pytest.mark.parametrize("name", thnn.functions())
@given(data=st.data())
@settings(max_examples=20)
def test_any_arguments_are_taken_or_refused(name: str, data: st.DataObject) -> None:
    function = thnn.functions()[name]
    arguments = [data.draw(anything) for a in function.arguments if a.role != "state"]
    backend = data.draw(st.sampled_from(["THNNFloatBackend", "THNNDoubleBackend", "THNNBackend"]))
    try:
        getattr(thnn.type2backend[backend], name)(0, *arguments)
    except ERRORS as error:
        assert name in str(error)  # noqa: PT017
