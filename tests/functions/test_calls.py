"""Calls of the function classes: their forms, wrong calls, kinds of tensors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from leaves import leaf
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import thnn


def node(tensor: Tensor) -> str:
    return type(tensor.grad_fn).__name__


def test_forms_of_a_call_of_a_plain_function() -> None:
    x, w, b = leaf(2, 3, 6, 6), leaf(4, 3, 3, 3), leaf(4)
    cls = thnn.SpatialConvolutionMMFunction
    expected = F.conv2d(x, w, b, padding=1)
    legacy = cls(3, 3, 1, 1, 1, 1)
    keywords = cls(kW=3, kH=3, dW=1, dH=1, padW=1, padH=1)
    for y in (
        legacy(x, w, b),
        legacy(x, w, b),  # an object is reusable
        keywords(x, weight=w, bias=b),
        cls.apply(x, w, b, 3, 3, 1, 1, 1, 1),
        cls.apply(x, w, b, 3, 3, dW=1, dH=1, padW=1, padH=1),
        cls.apply(input=x, weight=w, bias=b, kW=3, kH=3, dW=1, dH=1, padW=1, padH=1),
    ):
        torch.testing.assert_close(y, expected)
        assert node(y) == "SpatialConvolutionMMFunctionBackward"
    without = F.conv2d(x, w, None, padding=1)
    for y in (
        legacy(x, w),
        legacy(x, w, None),
        cls.apply(x, w, None, 3, 3, 1, 1, 1, 1),
        cls.apply(x, w, 3, 3, 1, 1, 1, 1),
    ):
        torch.testing.assert_close(y, without)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: thnn.ThresholdFunction(0), "val is missing"),
        (
            lambda: thnn.ThresholdFunction(0, 0, False, 1),
            r"1 argument too many; takes \(threshold, val, inplace=False\)",
        ),
        (lambda: thnn.ThresholdFunction(0, 0, limit=1), "unexpected keyword 'limit'"),
        (lambda: thnn.ThresholdFunction(0, 0, threshold=1), "threshold was given twice"),
        (lambda: thnn.ThresholdFunction(torch.zeros(1), 0), "threshold: expected a scalar, got a tensor"),
        (lambda: thnn.ThresholdFunction.apply(leaf(2)), "threshold is missing"),
        (lambda: thnn.ThresholdFunction.apply(leaf(2), 1, threshold=0, val=0), "threshold was given twice"),
        (
            lambda: thnn.LinearFunction()(leaf(2, 3), leaf(4, 3), weight=leaf(5, 3)),
            "LinearFunction: weight was given twice",
        ),
        (
            lambda: thnn.ThresholdFunction.apply(leaf(2), 0, 0, False, 9),
            r"1 argument too many; takes \(input, threshold, val",
        ),
        (
            lambda: thnn.BatchNormalizationFunction(momentum=0.1),
            r"train is missing; takes \(running_mean or None, running_var or None, train, momentum, eps\)",
        ),
        (
            lambda: thnn.SpatialConvolutionMMFunction(3, 3, 1, 1, padding=1),
            r"unexpected keyword 'padding'; takes \(kW, kH, dW, dH, padW, padH\)",
        ),
        (
            lambda: thnn.SpatialConvolutionMMFunction.apply(leaf(2), leaf(2), padding=1),
            r"unexpected keyword 'padding'; takes \(input, weight, bias or None, kW, kH, dW, dH, padW, padH\)",
        ),
        (
            lambda: thnn.LinearFunction.apply(leaf(2)),
            r"weight is missing; takes \(input, weight, bias=None\)",
        ),
        (
            lambda: thnn.TanhFunction(alpha=1),
            "unexpected keyword 'alpha'; takes no settings; give the tensors",
        ),
        (
            lambda: thnn.LogSoftMaxFunction(1),
            r"takes no settings; .* no dim of PyTorch 0\.3: see docs/migration",
        ),
        (
            lambda: thnn.SoftMaxFunction.apply(leaf(2), dim=1),
            r"unexpected keyword 'dim'; .* see docs/migration",
        ),
        (
            lambda: thnn.MSECriterionFunction(True, False),
            r"takes \(sizeAverage=True\); there is no reduce of",
        ),
        (
            lambda: thnn.MSECriterionFunction(reduce=False),
            r"'reduce'; takes \(sizeAverage=True\); there is no",
        ),
        (lambda: thnn.ThresholdFunction.apply(0, 0, False), "val is missing|expected a tensor"),
        (lambda: thnn.TanhFunction.apply([1.0]), "input: expected a tensor, got list"),
        (lambda: thnn.TanhFunction()(None), "input: expected a tensor, got None"),
        (lambda: thnn.BatchNormalizationFunction(torch.zeros(3)), "train is missing"),
        (lambda: thnn.LinearFunction()(leaf(2, 3), "w"), "weight: expected a tensor, got str"),
        (
            lambda: thnn.LSTMFusedFunction()(None, leaf(2, 4), None, None, leaf(2, 1)),
            "input: expected a tensor",
        ),
    ],
)
def test_wrong_calls(make: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()  # type: ignore[operator]


def test_batch_normalization_calls() -> None:
    x, w, b = leaf(4, 3, 5), leaf(3), leaf(3)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    expected_mean, expected_var = mean.clone(), var.clone()
    expected = F.batch_norm(x, expected_mean, expected_var, w, b, True, 0.1, 1e-5)
    y = thnn.BatchNormalizationFunction(mean, var, True, 0.1, 1e-5)(x, w, b)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close((mean, var), (expected_mean, expected_var))
    expected = F.batch_norm(x, mean, var, None, None, False, 0.1, 1e-5)
    cls = thnn.BatchNormalizationFunction
    for y in (
        cls(mean, var, False, 0.1, 1e-5)(x),
        cls(running_mean=mean, running_var=var, train=False, momentum=0.1, eps=1e-5)(x),
        cls.apply(x, None, None, mean, var, False, 0.1, 1e-5),
        cls.apply(x, running_mean=mean, running_var=var, train=False, momentum=0.1, eps=1e-5),
    ):
        torch.testing.assert_close(y, expected)


def test_forms_of_a_call_of_a_criterion() -> None:
    x = F.log_softmax(leaf(5, 4), 1)
    target, w = torch.tensor([0, 3, 2, 1, 1]), torch.rand(4, dtype=torch.float64)
    expected = F.nll_loss(x, target, w)
    cls = thnn.ClassNLLCriterionFunction
    for loss in (
        cls(True, -100, weight=w)(x, target),
        cls(True, -100, weights=w)(x, target),
        cls(sizeAverage=True, ignore_index=-100, weight=w)(x, target),
        cls(weight=w)(x, target),
        cls.apply(x, target, w, True, -100),
        cls.apply(x, target, weights=w),
    ):
        assert loss.shape == ()
        torch.testing.assert_close(loss, expected)
    oldest = cls(target, True, -100, weight=w)
    for loss in (oldest(x), oldest(x)):
        assert loss.shape == (1,)
        torch.testing.assert_close(loss[0], expected)
    torch.testing.assert_close(
        cls.apply(x, target, None, False, -100), F.nll_loss(x, target, reduction="sum")
    )


def test_indices_are_returned_on_request() -> None:
    x = leaf(2, 3, 6, 6)
    expected, indices = F.max_pool2d(x, 2, return_indices=True)
    cls = thnn.SpatialMaxPoolingFunction
    y = cls(2, 2, 2, 2, 0, 0, False)(x)
    assert isinstance(y, Tensor)
    for result in (
        cls(2, 2, 2, 2, 0, 0, False, return_indices=True)(x),
        cls.apply(x, 2, 2, 2, 2, 0, 0, False, return_indices=True),
    ):
        assert isinstance(result, tuple)
        torch.testing.assert_close(result[0], expected)
        assert torch.equal(result[1], indices)
        assert not result[1].requires_grad
        result[0].sum().backward()


def test_apply_of_an_object() -> None:
    x = torch.tensor([1.0, 3.0])
    made = thnn.HardTanhFunction(-2, 2), thnn.HardTanhFunction(max_val=2)
    for function in (*made, copy.deepcopy(made[0]), pickle.loads(pickle.dumps(made[0]))):
        with pytest.raises(TypeError, match=r"^HardTanhFunction: apply: .* call the object"):
            function.apply(x)
        assert function(x).tolist() == function(input=x).tolist() == [1, 2]
    torch.testing.assert_close(thnn.TanhFunction().apply(x), x.tanh())


class Tagged(Tensor):
    pass


def test_kinds_of_tensors() -> None:
    x = torch.randn(3, 4)
    expected = x.tanh()
    for tensor in (torch.nn.Parameter(x), x.as_subclass(Tagged), x.t().contiguous().t(), x[:, :], x.detach()):
        torch.testing.assert_close(thnn.TanhFunction.apply(tensor).as_subclass(Tensor), expected)
    with torch.inference_mode():
        inferred = x * 1
    torch.testing.assert_close(thnn.TanhFunction.apply(inferred), expected)
    meta = thnn.TanhFunction.apply(x.to("meta"))
    assert meta.device.type == "meta" and meta.shape == x.shape


def test_meta_tensors_through_backward() -> None:
    x = torch.empty(2, 3, 8, 8, device="meta", requires_grad=True)
    w = torch.empty(4, 3, 3, 3, device="meta", requires_grad=True)
    y = thnn.SpatialConvolutionMMFunction(3, 3, 2, 2, 1, 1)(x, w)
    assert y.shape == (2, 4, 4, 4) and y.is_meta
    y = thnn.SpatialMaxPoolingFunction(2, 2, 2, 2, 0, 0, False)(y)
    assert y.shape == (2, 4, 2, 2)
    y.sum().backward()
    assert x.grad is not None and x.grad.is_meta and x.grad.shape == x.shape
    assert w.grad is not None and w.grad.shape == w.shape
    with pytest.raises(ValueError, match="SpatialMaxPooling_updateOutput"):
        thnn.SpatialMaxPoolingFunction(20, 20, 2, 2, 0, 0, False)(x)


def test_output_follows_channels_last() -> None:
    x = leaf(2, 3, 8, 8).detach().to(memory_format=torch.channels_last).requires_grad_()
    w = leaf(4, 3, 3, 3)
    y = thnn.SpatialConvolutionMMFunction(3, 3, 1, 1, 1, 1)(x, w)
    assert y.is_contiguous(memory_format=torch.channels_last)
    y = thnn.SpatialMaxPoolingFunction(2, 2, 2, 2, 0, 0, False)(y)
    y = thnn.ThresholdFunction(0, 0)(y)
    assert y.is_contiguous(memory_format=torch.channels_last)
    y.sum().backward()
    assert x.grad is not None and x.grad.is_contiguous(memory_format=torch.channels_last)


def test_error_for_a_value_that_is_no_tensor_names_the_argument() -> None:
    x = leaf(2, 3)
    with pytest.raises(TypeError, match="target: expected a tensor, got str"):
        thnn.ClassNLLCriterionFunction(True)(x, "a")
    with pytest.raises(TypeError, match="input: expected a tensor, got ellipsis"):
        thnn.TanhFunction()(...)
    # Before torch 2.11, without the name: torch's own error comes first.
    with pytest.raises(ValueError, match=r"(Tanh_updateOutput: output: .*)?uninitialized parameter"):
        thnn.TanhFunction.apply(torch.nn.UninitializedParameter())
    with pytest.raises(TypeError, match="target was given twice"):
        thnn.MSECriterionFunction(x.detach(), True)(x, target=x.detach())


def into(method: Any, x: Tensor) -> Tensor:
    out = x.new_empty(0)
    method(0, x.detach(), out)
    return out


# torch.compile suppresses this warning for users.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
@pytest.mark.parametrize(
    "function",
    [
        lambda t: thnn.TanhFunction.apply(t * 2) + 1,
        lambda t: thnn.TanhFunction()(t * 2) + 1,
        lambda t: into(thnn.type2backend["torch.DoubleTensor"].Tanh_updateOutput, t * 2) + 1,
        lambda t: torch.autograd.grad(thnn.TanhFunction.apply(t * 2).sum(), t)[0],
    ],
    ids=["apply", "object", "backend", "backward"],
)
def test_calls_work_inside_torch_compile(function: Any) -> None:
    """Without warnings, which are errors here."""
    x = leaf(4)
    with torch._dynamo.config.patch(suppress_errors=False):
        torch.testing.assert_close(torch.compile(function, backend="eager")(x), function(x))


def test_fake_tensors_outside_of_their_mode() -> None:
    """The outputs are fake as well, and no memory is read."""
    mode = FakeTensorMode()
    x, w = mode.from_tensor(torch.randn(2, 3, 8, 8)), mode.from_tensor(torch.randn(4, 3, 3, 3))
    y = thnn.SpatialConvolutionMMFunction.apply(x, w, None, 3, 3, 1, 1, 1, 1)
    assert isinstance(y, FakeTensor)
    assert y.shape == (2, 4, 8, 8)
    pooled = thnn.SpatialMaxPoolingFunction.apply(x, 2, 2, 2, 2, 0, 0)
    assert isinstance(pooled, FakeTensor)


def test_subclasses_are_kept_where_the_shape_changes() -> None:
    class Image(torch.Tensor):
        pass

    x = torch.randn(2, 3, 8, 8).as_subclass(Image)
    w = torch.randn(4, 3, 3, 3)
    assert type(thnn.SpatialConvolutionMMFunction.apply(x, w, None, 3, 3, 1, 1, 1, 1)) is Image
    assert type(thnn.SpatialMaxPoolingFunction.apply(x, 2, 2, 2, 2, 0, 0)) is Image
