"""Gradients of the function classes, saved tensors, calls that overwrite their input."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch
import torch.nn.functional as F
from leaves import leaf
from torch import Tensor

import thnn
from thnn._binding.observer import observed
from thnn.testing.case_runner import CaseRunner, bits, outputs_of
from thnn.testing.cases import cases
from thnn.testing.cases.model import Case

Context = Callable[[], AbstractContextManager[None]]

COMMON_MODULES = {
    "BatchNormalization", "SpatialConvolutionMM", "SpatialMaxPooling", "SpatialAveragePooling", "Linear", "Threshold",
    "LeakyReLU", "Sigmoid", "Tanh", "SoftMax", "LogSoftMax", "ClassNLLCriterion", "MSECriterion", "SmoothL1Criterion",
    "BCECriterion", "AbsCriterion",
}  # fmt: skip


def node(tensor: Tensor) -> str:
    return type(tensor.grad_fn).__name__


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


@pytest.mark.parametrize("name", ["SiLU", "Mish", "HardSwish", "HardSigmoid"])
def test_an_input_that_the_backward_reads_is_not_overwritten(name: str) -> None:
    cls = thnn.function_classes[name + "Function"]
    middle = leaf(4) * 1
    before = middle.detach().clone()
    with pytest.raises(
        ValueError, match=f"{name}_updateOutput: input: the gradient is a function of the input"
    ):
        cls.apply(middle, True)
    assert torch.equal(middle, before)
    expected = cls.apply(before)
    assert cls.apply(before, True) is before
    assert torch.equal(before, expected)


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
    assert len(in_place) == 11
    for cls in in_place:
        case = cases()[cls.module.name]
        values = {**CaseRunner(case, case.samples[0]).values, "inplace": True}
        with torch.inference_mode():
            values["input"] = values["input"] * 1
        before = values["input"].clone()
        with pytest.raises(ValueError, match=r"_updateOutput: input: inference tensors cannot be changed"):
            cls.apply(**values)
        assert torch.equal(values["input"], before)
        with torch.inference_mode():
            assert cls.apply(**values) is values["input"]
        assert not torch.equal(values["input"], before)


def test_outputs_of_unbind_are_left_alone() -> None:
    base = torch.randn(3, 4, requires_grad=True) * 1
    part = base.unbind(0)[0]
    before = base.detach().clone()
    with pytest.raises(ValueError, match="cannot be overwritten in place"):
        thnn.ThresholdFunction.apply(part, 0, 0, True)
    assert base.detach().equal(before)


def accumulates(case: Case) -> bool:
    runner = CaseRunner(case, case.samples[0], torch.float32)
    return runner.has_class and any(f.tensors("gradParameter") for f in runner.functions)


@pytest.mark.parametrize("case", [c for c in cases().values() if accumulates(c)], ids=lambda c: c.module)
def test_new_gradients_of_parameters_begin_as_zeros(case: Case, uninitialized_is_nan: Context) -> None:
    """The backward adds to them, or overwrites them: nothing of the memory that they get is in the result."""
    for sample in case.samples:
        runner = CaseRunner(case, sample, torch.float32)
        leaves = runner.leaves()
        outputs = [t for t in outputs_of(runner.apply(leaves)) if t.requires_grad]
        if not outputs:
            continue
        factors, tensors = list(map(torch.ones_like, outputs)), list(leaves.values())
        expected = torch.autograd.grad(outputs, tensors, factors, retain_graph=True)
        with uninitialized_is_nan():
            found = torch.autograd.grad(outputs, tensors, factors)
        for name, one, other in zip(leaves, found, expected):
            assert bits(one).equal(bits(other)), (sample.name, name)


@pytest.mark.parametrize("rows", [0, 1, 8, 9, 300])
def test_a_new_gradient_of_a_linear_weight_is_overwritten(rows: int, uninitialized_is_nan: Context) -> None:
    x, w = leaf(rows, 37, dtype=torch.float32), leaf(50, 37, dtype=torch.float32)
    g = leaf(rows, 50, dtype=torch.float32).detach()
    output = thnn.LinearFunction.apply(x, w, None)
    with uninitialized_is_nan():
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
