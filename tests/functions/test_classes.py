"""The function classes themselves: names, builders, subclasses, signatures, documentation."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle

import pytest
import torch
from leaves import leaf
from torch import Tensor

import thnn
from thnn._functions.base import FunctionBase
from thnn._functions.generate import _make_function_class, _make_function_class_criterion
from thnn._header import HeaderError, group_modules, parse_header, parse_header_text


def node(tensor: Tensor) -> str:
    return type(tensor.grad_fn).__name__


MODULE = """
TH_API void THNN_(Custom_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int size);
TH_API void THNN_(Custom_updateGradInput)(
    THNNState *state, THTensor *gradOutput, THTensor *input{}, THTensor *gradInput);
"""


def test_every_module_has_a_class() -> None:
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
        "PixelShuffleFunction": r"torch\.nn\.PixelShuffle works beside the layers of thnn",
        "AdaptiveMaxPool3dFunction": r"torch\.nn\.AdaptiveMaxPool3d works beside",  # no misspelt AdaptiveMaxPool2d
        "Conv2D": r"did you mean thnn\.nn\.Conv2d\?",
    }.items():
        with pytest.raises(AttributeError, match=f"'{wrong}'.*{hint}"):
            getattr(thnn, wrong)


def test_generated_model_equals_that_of_the_parser() -> None:
    assert list(thnn.functions().values()) == parse_header(thnn.THNN_H_PATH)
    assert [f.doc for f in thnn.functions().values()] == [f.doc for f in parse_header(thnn.THNN_H_PATH)]


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


def test_help_has_formula_arguments_and_errors() -> None:
    for name, cls in thnn.function_classes.items():
        text = inspect.getdoc(cls)
        assert text, name
        for word in ("Calls:", "Arguments:", f"{name}.apply({cls._names[0]}"):
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


def test_backward_may_be_any_callable_object() -> None:
    class Doubled(thnn.TanhFunction):
        backward = staticmethod(functools.partial(lambda factor, ctx, g: factor * g, 2))

    x = leaf(3)
    (gradient,) = torch.autograd.grad(Doubled.apply(x).sum(), x)
    torch.testing.assert_close(gradient, torch.full_like(x, 2))
