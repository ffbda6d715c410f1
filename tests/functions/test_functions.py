"""The function classes: forms of call, autograd, kinds of tensors, and refusals."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import thnn
from thnn._binding.observer import observed
from thnn._functions.base import FunctionBase
from thnn._functions.generate import _make_function_class, _make_function_class_criterion
from thnn._header import HeaderError, group_modules, parse_header, parse_header_text
from thnn.testing.case_runner import CaseRunner, bits, outputs_of
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case

Context = Callable[[], AbstractContextManager[None]]

COMMON_MODULES = {
    "BatchNormalization", "SpatialConvolutionMM", "SpatialMaxPooling", "SpatialAveragePooling", "Linear", "Threshold",
    "LeakyReLU", "Sigmoid", "Tanh", "SoftMax", "LogSoftMax", "ClassNLLCriterion", "MSECriterion", "SmoothL1Criterion",
    "BCECriterion", "AbsCriterion",
}  # fmt: skip


def leaf(*size: int, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(sum(size))
    return torch.randn(size, dtype=dtype, generator=generator).requires_grad_()


def node(tensor: Tensor) -> str:
    return type(tensor.grad_fn).__name__


def test_every_module_has_a_class() -> None:
    assert {name.removesuffix("Function") for name in thnn.function_classes} >= COMMON_MODULES
    for name, cls in thnn.function_classes.items():
        assert getattr(thnn, name) is cls
        assert issubclass(cls, FunctionBase)
        assert name in dir(thnn)
    for wrong, hint in {
        "FrobnicateFunction": "python -m thnn list",
        "Tanh": "did you mean thnn.TanhFunction",
        "Conv2d": "did you mean thnn.nn.Conv2d",
        "ReLUFunction": r"thnn\.nn\.ReLU is computed by thnn\.ThresholdFunction$",
        "BCELossFunction": r"thnn\.nn\.BCELoss is computed by thnn\.BCECriterionFunction$",
        "ReluFunction": r"thnn\.nn\.ReLU is computed by thnn\.ThresholdFunction$",
        "LSTMFunction": r"thnn\.nn\.LSTM is computed by thnn\.LinearFunction and thnn\.LSTMFusedFunction$",
        "Conv2dFunction": r"did you mean thnn\.nn\.Conv2d\?$",
        "IndexLinearFunction": r"the functions of IndexLinear form no class; .* thnn\.type2backend\['torch",
        "SparseLinear": "the functions of SparseLinear form no class",
        "unfoldedFunction": "the functions of unfolded form no class",
        "SoftplusFunction": "did you mean thnn.SoftPlusFunction",
        "LeakyReLuFunction": "did you mean thnn.LeakyReLUFunction",
        "HardTanFunction": "did you mean thnn.HardTanhFunction",
        "GELUFunction": r"torch\.nn\.GELU works beside the layers of thnn",  # no misspelt ELU
        "Conv2D": r"did you mean thnn\.nn\.Conv2d\?",
    }.items():
        with pytest.raises(AttributeError, match=f"'{wrong}'.*{hint}"):
            getattr(thnn, wrong)


def test_generated_model_equals_that_of_the_parser() -> None:
    assert list(thnn.functions().values()) == parse_header(thnn.THNN_H_PATH)
    assert [f.doc for f in thnn.functions().values()] == [f.doc for f in parse_header(thnn.THNN_H_PATH)]


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


def test_batch_normalization_training_step_may_follow_before_backward() -> None:
    """Running statistics change in every step, which must not invalidate graphs of earlier steps."""
    x, w, b = leaf(4, 3), leaf(3), leaf(3)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    function = thnn.BatchNormalizationFunction(mean, var, True, 0.1, 1e-5)
    first = function(x, w, b)
    function(x * 2, w, b)
    first.sum().backward()
    # In evaluation they are inputs: a change invalidates the graph, and autograd detects it.
    y = thnn.BatchNormalizationFunction(mean, var, False, 0.1, 1e-5)(x, w, b)
    function(x, w, b)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


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


def test_criteria_multiply_by_the_incoming_gradient() -> None:
    target = torch.rand(3, 4, dtype=torch.float64)
    for name, reference in (
        ("MSECriterion", F.mse_loss),
        ("AbsCriterion", F.l1_loss),
        ("SmoothL1Criterion", F.smooth_l1_loss),
        ("BCECriterion", F.binary_cross_entropy),
    ):
        cls = thnn.function_classes[name + "Function"]
        x = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
        (ours,) = torch.autograd.grad(3 * cls.apply(x, target), x)
        (expected,) = torch.autograd.grad(3 * reference(x, target), x)
        torch.testing.assert_close(ours, expected, msg=name)


def test_targets_get_no_gradient() -> None:
    with pytest.raises(NotImplementedError, match="MSECriterionFunction: target"):
        thnn.MSECriterionFunction.apply(leaf(3), leaf(3), True)


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


def test_no_node_where_nothing_requires_a_gradient() -> None:
    x = torch.randn(3)
    assert thnn.TanhFunction.apply(x).grad_fn is None
    with torch.no_grad():
        assert thnn.TanhFunction.apply(leaf(3)).grad_fn is None
    with torch.inference_mode():
        y = thnn.TanhFunction.apply(torch.randn(3))
        assert y.is_inference()
    assert node(thnn.TanhFunction.apply(leaf(3))) == "TanhFunctionBackward"
    entered = []

    class Watched(thnn.TanhFunction):  # type: ignore[name-defined, misc]
        pass

    Watched._enter = staticmethod(lambda *args: entered.append(args))
    Watched.apply(x)
    assert not entered
    Watched.apply(leaf(3))
    assert entered


def test_needs_input_grad(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, b = leaf(2, 3), leaf(4, 3), leaf(4)
    for wanted in ((x,), (w,), (b,), (x, b), (w, b), (x, w, b)):
        inputs = [t if any(t is v for v in wanted) else t.detach() for t in (x, w, b)]
        y = thnn.LinearFunction.apply(*inputs)
        for ours, expected in zip(
            torch.autograd.grad(y.sum(), wanted), torch.autograd.grad(F.linear(*inputs).sum(), wanted)
        ):
            torch.testing.assert_close(ours, expected)
    # Gradients that are not needed are not computed.
    x, w, b = leaf(1, 2, 4, 4), leaf(3, 2 * 9), leaf(3)
    for wanted, phase in ((x, "updateGradInput"), (w, "accGradParameters"), (b, "accGradParameters")):
        y = thnn.SpatialConvolutionMMFunction.apply(
            *(t if t is wanted else t.detach() for t in (x, w, b)), 3, 3, 1, 1, 1, 1
        )
        called: list[str] = []

        def note(name: str, *_: object, to: list[str] = called) -> None:
            to.append(name)

        with observed(note):
            torch.autograd.grad(y.sum(), wanted)
        assert called == [f"SpatialConvolutionMM_{phase}"]


@pytest.mark.parametrize("name", sorted(COMMON_MODULES - {"BatchNormalization", "ClassNLLCriterion"}))
def test_inplace_edits_of_saved_tensors_are_detected(name: str) -> None:
    from thnn.testing.cases import cases

    case = cases()[name]
    generator = torch.Generator().manual_seed(0)
    arguments = {k: v(generator) if callable(v) else v for k, v in case.samples[0].arguments.items()}
    cls = thnn.function_classes[name + "Function"]
    arguments["input"] = arguments["input"].clone().requires_grad_()
    middle = arguments["input"] * 1
    given = {**arguments, "input": middle}
    output = cls.apply(**given)
    with torch.no_grad():
        middle.mul_(2)
        output.mul_(2)
        for value in given.values():
            if isinstance(value, Tensor) and value.is_floating_point() and not value.requires_grad:
                value.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()


@pytest.mark.parametrize("name", ["Sigmoid", "Tanh", "Sqrt", "ELU", "SoftPlus", "SoftMax", "LogSoftMax"])
def test_an_input_that_no_backward_reads_is_not_saved(name: str) -> None:
    """The backward declares it as [OPTIONAL], and gets None."""
    case = cases()[name]
    generator = torch.Generator().manual_seed(0)
    arguments = {k: v(generator) if callable(v) else v for k, v in case.samples[0].arguments.items()}
    arguments["input"] = arguments["input"].clone().requires_grad_()
    output = thnn.function_classes[name + "Function"].apply(**arguments)
    (saved,) = output.grad_fn.saved_tensors
    assert saved.data_ptr() == output.data_ptr()


def test_inplace_flag() -> None:
    for cls, settings, reference in (
        (thnn.ThresholdFunction, (0.1, -0.5), lambda x: F.threshold(x, 0.1, -0.5)),
        (thnn.LeakyReLUFunction, (0.2,), lambda x: F.leaky_relu(x, 0.2)),
    ):
        x = leaf(4, 5)
        middle = x * 1
        y = cls.apply(middle, *settings, True)
        assert y.data_ptr() == middle.data_ptr()
        torch.testing.assert_close(y, reference(x))
        (ours,) = torch.autograd.grad((y * y).sum(), x)
        (expected,) = torch.autograd.grad((reference(x) ** 2).sum(), x)
        torch.testing.assert_close(ours, expected)
        with pytest.raises(ValueError, match="leaf that requires a gradient"):
            cls.apply(leaf(3), *settings, True)
        plain = torch.randn(3)
        version = plain._version
        assert cls.apply(plain, *settings, True) is plain
        assert plain._version > version
    with pytest.raises(ValueError, match="inplace needs negval >= 0"):
        thnn.LeakyReLUFunction.apply(leaf(3) * 1, -0.5, True)
    with pytest.raises(ValueError, match="Threshold_updateOutput: val"):
        thnn.ThresholdFunction.apply(torch.randn(3), 0.0, 1.0, True)


def test_a_subclass_with_its_own_forward_uses_it_with_and_without_gradients() -> None:
    class Scaled(thnn.TanhFunction):
        @staticmethod
        def forward(ctx: object, input: Tensor) -> Tensor:
            return 5 * input

        @staticmethod
        def backward(ctx: object, gradOutput: Tensor) -> Tensor:
            return 5 * gradOutput

    x = torch.randn(3, requires_grad=True)
    for y in (Scaled.apply(x), Scaled.apply(x.detach()), Scaled()(x.detach())):
        torch.testing.assert_close(y, 5 * x)
    assert Scaled.apply(x.detach()).grad_fn is None
    Scaled.apply(x).sum().backward()
    assert x.grad.tolist() == [5, 5, 5]


def test_subclasses_and_copies() -> None:
    class ReLU(thnn.ThresholdFunction):  # type: ignore[name-defined, misc]
        def __init__(self, inplace: bool = False) -> None:
            super().__init__(0, 0, inplace)

    x = leaf(5)
    torch.testing.assert_close(ReLU()(x), x.relu())
    assert node(ReLU()(x)) == "ReLUBackward"
    again = pickle.loads(pickle.dumps(thnn.ThresholdFunction(0, 0)))
    torch.testing.assert_close(copy.deepcopy(again)(x), x.relu())
    assert repr(again) == "ThresholdFunction(threshold=0, val=0)"


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


def test_fake_tensors() -> None:
    with FakeTensorMode():
        x = torch.randn(2, 3, 8, 8)
        y = thnn.SpatialAveragePoolingFunction(2, 2, 2, 2, 0, 0, False, True)(x)
    assert y.shape == (2, 3, 4, 4)


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


def test_help_has_formula_arguments_and_errors() -> None:
    for name, cls in thnn.function_classes.items():
        text = inspect.getdoc(cls)
        assert text, name
        for word in ("Calls:", "Arguments:", f"{name}.apply(input"):
            assert word in text, (name, word)
        for argument in cls._names:
            assert argument in text, (name, argument)
    text = inspect.getdoc(thnn.SpatialConvolutionMMFunction)
    assert text is not None
    for word in (
        "Shapes: input (N, I, H, W)",
        "output[n,o,y,x] = bias[o]",
        "Errors: ValueError",
        "kW: int: kernel width",
    ):
        assert word in text


def test_batched_gradients_are_refused() -> None:
    x = leaf(3)
    with pytest.raises(NotImplementedError, match="batched gradients"):
        torch.autograd.grad(thnn.TanhFunction.apply(x), x, torch.eye(3, dtype=x.dtype), is_grads_batched=True)


def test_a_refused_inplace_call_overwrites_nothing() -> None:
    middle = leaf(4) * 1
    before = middle.detach().clone()
    for negval in (-0.5, float("nan"), object()):
        with pytest.raises((TypeError, ValueError), match="LeakyReLU_updateOutput: negval"):
            thnn.LeakyReLUFunction.apply(middle, negval, True)
    top = leaf(4)
    with pytest.raises(ValueError, match="view of a leaf"):
        thnn.ThresholdFunction.apply(top.view(2, 2), 0, 0, True)
    with pytest.raises(TypeError, match="Threshold_updateOutput: inplace"):
        thnn.ThresholdFunction.apply(middle, 0, 0, "yes")
    assert torch.equal(middle, before)


def test_an_inference_tensor_is_overwritten_in_inference_mode_only() -> None:
    in_place = [c for c in thnn.function_classes.values() if "inplace" in c._names]
    assert len(in_place) == 5
    for cls in in_place:
        case = cases()[cls.module.name]
        sample = next(s for s in case.samples if s.arguments.get("inplace"))
        values = CaseRunner(case, sample).values
        with torch.inference_mode():
            values["input"] = values["input"] * 1
        before = values["input"].clone()
        with pytest.raises(ValueError, match=r"_updateOutput: input: inference tensors cannot be changed"):
            cls.apply(**values)
        assert torch.equal(values["input"], before)
        with torch.inference_mode():
            assert cls.apply(**values) is values["input"]
        assert not torch.equal(values["input"], before)


def test_error_for_a_value_that_is_no_tensor_names_the_argument() -> None:
    x = leaf(2, 3)
    with pytest.raises(TypeError, match="target: expected a tensor, got str"):
        thnn.ClassNLLCriterionFunction(True)(x, "a")
    with pytest.raises(TypeError, match="input: expected a tensor, got ellipsis"):
        thnn.TanhFunction()(...)
    with pytest.raises(ValueError, match=r"Tanh_updateOutput: output: .*uninitialized parameter"):
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


MODULE = """
TH_API void THNN_(Custom_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int size);
TH_API void THNN_(Custom_updateGradInput)(
    THNNState *state, THTensor *gradOutput, THTensor *input{}, THTensor *gradInput);
"""


def test_a_class_that_could_not_run_is_not_made() -> None:
    with pytest.raises(HeaderError, match="mask"):
        parse_header_text(MODULE.format(", THTensor *mask"), "custom.h")


def test_builders_create_the_classes() -> None:
    modules = group_modules(parse_header(thnn.THNN_H_PATH))
    tanh = _make_function_class(modules["Tanh"], "Mine")
    assert tanh.__name__ == "Mine" and issubclass(tanh, FunctionBase)
    x = leaf(3)
    torch.testing.assert_close(tanh.apply(x), x.tanh())
    mse = _make_function_class_criterion(modules["MSECriterion"])
    torch.testing.assert_close(mse.apply(x, torch.zeros_like(x), False), (x * x).sum())


# The calls of LeakyReLU, with a name that HardShrink and SoftShrink of 2017 have.
LAMBDA = """
TH_API void THNN_(LeakyReLU_updateOutput)(
    THNNState *state, THTensor *input, THTensor *output, accreal lambda, bool inplace); // [DEFAULT false]
TH_API void THNN_(LeakyReLU_updateGradInput)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, accreal lambda, bool inplace);
"""


def test_an_argument_named_by_a_word_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    from thnn._binding import backend as _backend
    from thnn._binding.library import ANY, THNN
    from thnn._derivatives import rule as _derivatives

    monkeypatch.setattr(_derivatives, "FORMULAS", {"LeakyReLU": lambda needs, lambda_: {}})
    functions = parse_header_text(LAMBDA, "lambda.h")
    cls = _make_function_class(group_modules(functions)["LeakyReLU"])
    x = leaf(5)
    expected = torch.nn.functional.leaky_relu(x, 0.5)
    for y in (cls(0.5)(x), cls.apply(x, 0.5), cls(**{"lambda": 0.5})(x), cls.apply(x, lambda_=0.5)):
        torch.testing.assert_close(y, expected)
    cls.apply(x, 0.5).sum().backward()
    torch.testing.assert_close(x.grad, (x > 0).to(x.dtype) * 0.5 + 0.5)
    with pytest.raises(TypeError, match="LeakyReLU_updateOutput: lambda: expected"):
        cls.apply(x, "0.5")
    output = torch.empty(0, dtype=x.dtype)
    _backend._method(THNN.bind(functions[0]), ANY)(0, x.detach(), output, 0.5, False)
    torch.testing.assert_close(output, expected.detach())


def test_a_module_without_a_formula_is_differentiable_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from thnn._derivatives import rule as derivatives

    monkeypatch.setattr(derivatives, "FORMULAS", {})
    cls = _make_function_class(thnn.modules()["Tanh"], "Other")
    assert not cls.has_second_derivatives
    x = leaf(3)
    with pytest.raises(NotImplementedError, match="Other can be differentiated once only"):
        torch.autograd.grad(cls.apply(x).sum(), x, create_graph=True)
    (gradient,) = torch.autograd.grad(cls.apply(x).sum(), x)
    torch.testing.assert_close(gradient, 1 - x.tanh() ** 2)


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


def test_outputs_of_unbind_are_left_alone() -> None:
    base = torch.randn(3, 4, requires_grad=True) * 1
    part = base.unbind(0)[0]
    before = base.detach().clone()
    with pytest.raises(ValueError, match="cannot be overwritten in place"):
        thnn.ThresholdFunction.apply(part, 0, 0, True)
    assert base.detach().equal(before)


def test_names_are_those_of_users() -> None:
    names: dict[str, object] = {}
    exec("from thnn import *", names)
    assert names["TanhFunction"] is thnn.TanhFunction
    assert "Function" not in names  # torch's
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(dir(thnn))
    for package in (thnn.compat, thnn.graph, thnn.nn, thnn.nn.functional, thnn.parallel):
        assert dir(package) == sorted(package.__all__)
    with pytest.raises(AttributeError, match=r"did you mean thnn\.SpatialConvolutionMMFunction\?"):
        _ = thnn.SpatialConvolutionMMFunktion
    with pytest.raises(KeyError, match="did you mean 'ThresholdFunction'"):
        _ = thnn.function_classes["Threshold"]
    backend = thnn.type2backend["torch.FloatTensor"]
    assert not hasattr(backend, "Tahn_updateOutput")
    assert getattr(backend, "Tahn_updateOutput", None) is None
    with pytest.raises(NotImplementedError, match="did you mean Tanh_updateOutput"):
        _ = backend.Tahn_updateOutput


def test_signatures() -> None:
    assert str(inspect.signature(thnn.ThresholdFunction)) == "(threshold, val, inplace=False)"
    assert str(inspect.signature(thnn.TanhFunction)) == "()"
    with pytest.raises(TypeError, match=r"kW: expected an integer, got float 3\.5"):
        thnn.SpatialMaxPoolingFunction(3.5, 2, 2, 2, 0, 0)
    with pytest.raises(TypeError, match="takes no settings; give the tensors in the call"):
        thnn.TanhFunction(1)
    with pytest.raises(TypeError, match="did you mean inplace"):
        thnn.ThresholdFunction(0, 0, inplac=True)


def accumulates(case: Case) -> bool:
    runner = CaseRunner(case, case.samples[0], torch.float32)
    return runner.has_class and any(f.tensors("gradParameter") for f in runner.functions)


@pytest.mark.parametrize("case", [c for c in cases().values() if accumulates(c)], ids=lambda c: c.module)
def test_new_gradients_of_parameters_begin_as_zeros(case: Case, uninitialised_is_nan: Context) -> None:
    """The backward adds to them, or overwrites them: nothing of the memory that they get is in the result."""
    for sample in case.samples:
        runner = CaseRunner(case, sample, torch.float32)
        leaves = runner.leaves()
        outputs = [t for t in outputs_of(runner.apply(leaves)) if t.requires_grad]
        if not outputs:
            continue
        factors, tensors = list(map(torch.ones_like, outputs)), list(leaves.values())
        expected = torch.autograd.grad(outputs, tensors, factors, retain_graph=True)
        with uninitialised_is_nan():
            found = torch.autograd.grad(outputs, tensors, factors)
        for name, one, other in zip(leaves, found, expected):
            assert bits(one).equal(bits(other)), (sample.name, name)


@pytest.mark.parametrize("rows", [0, 1, 8, 9, 300])
def test_a_new_gradient_of_a_linear_weight_is_overwritten(rows: int, uninitialised_is_nan: Context) -> None:
    x, w = leaf(rows, 37, dtype=torch.float32), leaf(50, 37, dtype=torch.float32)
    g = leaf(rows, 50, dtype=torch.float32).detach()
    output = thnn.LinearFunction.apply(x, w, None)
    with uninitialised_is_nan():
        (new,) = torch.autograd.grad(output, w, g)
        by_operator = torch.func.vjp(lambda w: thnn.LinearFunction.apply(x.detach(), w, None), w.detach())[1](
            g
        )[0]
    given = torch.zeros(50, 37)
    backend = thnn.type2backend["torch.FloatTensor"]
    backend.Linear_accGradParameters(
        backend.library_state, x.detach(), g, None, w.detach(), None, given, None, None, 1.0
    )
    assert bits(new).equal(bits(given + 0))
    assert bits(by_operator).equal(bits(given + 0))
