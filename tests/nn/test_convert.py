"""thnn.convert and thnn.revert."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import thnn


class Block(nn.Module):
    """A residual block, in which one ReLU follows batch normalization and the sum."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm2(self.conv2(self.relu(self.norm1(self.conv1(x)))))
        y += x
        output: Tensor = self.relu(y)
        return output


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        Block(8),
        nn.Dropout(0.1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
        nn.LogSoftmax(1),
    ).double()


def images() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(4, 3, 12, 12, dtype=torch.float64)


def agree(a: nn.Module, b: nn.Module) -> None:
    """Training and evaluation of the two models give the same outputs and gradients."""
    for mode in (True, False):
        results = []
        for model in (a, b):
            model.train(mode).zero_grad()
            torch.manual_seed(2)
            y = model(images())
            y.square().sum().backward()
            results.append([y.detach(), *(p.grad for p in model.parameters())])
        for x, y in zip(*results, strict=True):
            torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-10)


def state_of(model: nn.Module) -> list[tuple[str, type[nn.Module], dict[str, Any]]]:
    return [(name, type(m), dict(m.__dict__)) for name, m in model.named_modules()]


def test_a_converted_network_computes_the_same_and_reverts_exactly() -> None:
    model = network()
    original, before = copy.deepcopy(model), state_of(model)
    parameters = [id(p) for p in model.parameters()]
    report = thnn.convert(model)
    assert {layer.kind for layer in report.replaced} == {
        *("Conv2d", "BatchNorm2d", "ReLU", "MaxPool2d", "AdaptiveAvgPool2d", "Linear", "LogSoftmax")
    }
    assert [(layer.name, layer.remark) for layer in report.fused] == [
        ("0.1", "with ReLU 0.2"),
        ("1.norm1", "with ReLU 1.relu"),
    ]
    assert ("2", "Dropout", "thnn has no such layer") in report.left
    assert [id(p) for p in model.parameters()] == parameters
    agree(original, model)
    agree(copy.deepcopy(original), pickle.loads(pickle.dumps(model)))
    assert thnn.convert(model).replaced == ()
    reverted = thnn.revert(model)
    assert reverted.replaced == report.replaced
    for (name, kind, attributes), (_, kind_before, attributes_before) in zip(state_of(model), before):
        assert kind is kind_before, name
        assert attributes.keys() == attributes_before.keys(), name
    agree(original, model)


class Inverted(nn.Module):
    """Two convolutions with batch normalization and ReLU6, and one without an activation, as in MobileNetV2."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 1), nn.BatchNorm2d(8), nn.ReLU6(inplace=True),
            nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.ReLU6(inplace=True),
            nn.Conv2d(8, 3, 1), nn.BatchNorm2d(3),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = x + self.layers(x)
        return y


def test_relu6_is_fused_and_reverted_exactly() -> None:
    torch.manual_seed(0)
    model = Inverted().double()
    for position in (1, 4):
        nn.init.constant_(model.layers[position].weight, 8)  # many outputs are above 6
    original, before = copy.deepcopy(model), state_of(model)
    report = thnn.convert(model)
    assert [(layer.name, layer.remark) for layer in report.fused] == [
        ("layers.1", "with ReLU6 layers.2"),
        ("layers.4", "with ReLU6 layers.5"),
    ]
    assert "fused     layers.1  BatchNorm2d  with ReLU6 layers.2" in str(report).splitlines()
    assert model.layers[1].activation == model.layers[4].activation == "relu6"
    assert copy.deepcopy(model.layers[:2])(images()).max() == 6
    assert model.state_dict().keys() == original.state_dict().keys()
    agree(original, model)
    agree(copy.deepcopy(original), pickle.loads(pickle.dumps(model)))
    agree(copy.deepcopy(original), copy.deepcopy(model))
    assert thnn.convert(model)[:2] == ((), ())
    assert thnn.revert(model).replaced == report.replaced
    assert [(n, k, d.keys()) for n, k, d in state_of(model)] == [(n, k, d.keys()) for n, k, d in before]
    agree(original, model)


class Both(nn.Module):
    """Batch normalization whose result goes into a ReLU and a ReLU6."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.relu, self.relu6 = nn.BatchNorm2d(3), nn.ReLU(), nn.ReLU6()

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        output: Tensor = self.relu(y) + self.relu6(y)
        return output


def other_bound() -> nn.Sequential:
    model = nn.Sequential(nn.BatchNorm2d(3), nn.ReLU6())
    model[1].max_val = 1.0
    return model


def test_a_result_for_different_activations_is_not_fused() -> None:
    for model in (Both().double(), other_bound().double()):
        nn.init.constant_(next(model.parameters()), 8)
        original = copy.deepcopy(model)
        assert thnn.convert(model).fused == ()
        agree(original, model)


def test_the_activation_changes_with_the_layer_after_it() -> None:
    model = norm_and_relu()
    original = copy.deepcopy(model)
    thnn.convert(model)
    model[1] = nn.ReLU6()
    original[1] = nn.ReLU6()
    nn.init.constant_(model[0].weight, 8), nn.init.constant_(original[0].weight, 8)
    agree(original, model)  # the ReLU6 follows the fused ReLU
    assert len(thnn.convert(model).fused) == 1
    assert model[0].activation == "relu6"
    agree(original, model)


def test_the_report_is_a_table() -> None:
    model = network()
    lines = str(thnn.convert(model)).splitlines()
    assert lines[-1] == "12 replaced, 2 fused, 3 left, 1 apart"
    assert "left      2        Dropout            thnn has no such layer" in lines
    lines = str(thnn.revert(model)).splitlines()
    assert lines[-1] == "12 reverted, 0 left"
    assert {line.split()[0] for line in lines[:-1]} == {"reverted"}


def test_a_layer_alone() -> None:
    layer = nn.Conv2d(2, 3, 3)
    assert thnn.convert(layer).replaced[0].kind == "Conv2d"
    assert type(layer) is thnn.nn.Conv2d
    thnn.revert(layer)
    assert type(layer) is nn.Conv2d


class Own(nn.Conv2d):
    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return super()._conv_forward(input, 2 * weight, bias)


def assigned(layer: nn.Module) -> nn.Module:
    layer.forward = lambda input: input  # type: ignore[method-assign]
    return layer


class Simple(nn.Conv3d):
    """A subclass as torchvision's Conv3DSimple: only the constructor and another method."""

    def __init__(self, planes: int) -> None:
        super().__init__(planes, planes, 3, bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> tuple[int, int, int]:
        return stride, stride, stride


def test_a_subclass_that_inherits_its_forward_is_converted() -> None:
    model = nn.Sequential(Simple(2)).double()
    x = torch.randn(2, 2, 4, 4, 4, dtype=torch.float64)
    expected = model(x)
    report = thnn.convert(model)
    assert (report.replaced, report.left) == ((("0", "Simple", ""),), ())
    for layer in (model[0], copy.deepcopy(model)[0], pickle.loads(pickle.dumps(model))[0]):
        assert isinstance(layer, Simple)
        assert isinstance(layer, thnn.nn.Conv3d)
        assert layer.get_downsample_stride(2) == (2, 2, 2)
        torch.testing.assert_close(layer(x), expected)
    assert thnn.convert(model) == ((), (), (), ())
    assert thnn.revert(model).replaced == report.replaced
    assert type(model[0]) is Simple


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (Own(2, 3, 3), "a subclass of nn.Conv2d with another _conv_forward"),
        (assigned(nn.ReLU()), "its forward was assigned to the object"),
        (nn.Conv2d(2, 3, 3).to(torch.float8_e5m2), "has torch.float8_e5m2"),
        (nn.Conv2d(2, 3, 3, device="meta"), "on meta"),
        (nn.ChannelShuffle(2), "thnn has no such layer"),
        (nn.SyncBatchNorm(3), "thnn.nn.convert_sync_batchnorm() converts it"),
        (nn.LSTM(2, 3, proj_size=1), "has proj_size"),
    ],
    ids=str,
)
def test_what_is_left(layer: nn.Module, reason: str) -> None:
    kind = type(layer)
    report = thnn.convert(layer)
    assert report.replaced == ()
    assert [left.remark for left in report.left] == [reason]
    assert type(layer) is kind


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_model_of_a_half_type(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(36, 5), nn.LogSoftmax(1),
    ).to(dtype)  # fmt: skip
    x = torch.randn(6, 3, 8, 8).to(dtype)
    exact = copy.deepcopy(model).double()
    later = copy.deepcopy(model).float()
    report = thnn.convert(model)
    assert {layer.kind for layer in report.left} <= {"Flatten"}
    thnn.convert(later)
    for converted in (model, later.to(dtype)):
        output = converted(x)
        assert output.dtype is dtype
        torch.testing.assert_close(output.double(), exact.double()(x.double()), rtol=0.05, atol=0.05)
        torch.nn.functional.nll_loss(output.float(), torch.arange(6) % 5).backward()
        assert all(p.grad is not None and p.grad.dtype is dtype for p in converted.parameters())


def test_layers_without_parameters_are_left_in_a_model_of_a_type_that_thnn_does_not_take() -> None:
    kind = torch.float8_e5m2
    model = nn.Sequential(nn.Linear(3, 4).to(kind), nn.ReLU(), nn.MaxPool1d(2))
    report = thnn.convert(model)
    assert report.replaced == ()
    assert [left.remark for left in report.left] == [f"has {kind}", *[f"in a model of {kind}"] * 2]
    mixed = nn.Sequential(nn.Linear(3, 4).to(kind), nn.ReLU(), nn.Linear(3, 4))
    assert [layer.kind for layer in thnn.convert(mixed).replaced] == ["ReLU", "Linear"]


def test_layers_of_thnn_are_not_in_the_report() -> None:
    model = nn.Sequential(thnn.nn.Conv2d(2, 3, 3), thnn.nn.SyncBatchNorm(3))
    assert thnn.convert(model)[:2] == ((), ())


def norm_and_relu() -> nn.Sequential:
    return nn.Sequential(nn.BatchNorm2d(3), nn.ReLU()).double()


def test_layers_with_hooks_are_not_fused() -> None:
    for position in (0, 1):
        model = norm_and_relu()
        seen: list[Tensor] = []
        model[position].register_forward_hook(lambda *args, seen=seen: seen.append(args[2].detach().clone()))
        assert thnn.convert(model).fused == ()
        output = model(images())
        assert len(seen) == 1
        assert (seen[0] < 0).any() == (position == 0)
        assert (output >= 0).all()


@pytest.mark.needs_torch("2.9", "torch.compile computes a fused ReLU again")
@pytest.mark.parametrize("is_training", [True, False])
def test_a_fused_relu_is_no_operation_of_compiled_code(is_training: bool) -> None:
    model = nn.Sequential(norm_and_relu(), nn.BatchNorm2d(3).double(), nn.ReLU6())
    nn.init.constant_(model[1].weight, 8)
    assert len(thnn.convert(model).fused) == 2
    model.train(is_training)
    graphs: list[Any] = []

    def keep(graph: Any, inputs: Any) -> Any:
        graphs.append(graph.graph)
        return graph.forward

    torch.compiler.reset()
    compiled = torch.compile(copy.deepcopy(model), fullgraph=True, backend=keep)
    torch.testing.assert_close(compiled(images()), model(images()))
    operators = [node.target for node in graphs[0].nodes if "thnn" in str(node.target)]
    assert operators == [torch.ops.thnn.BatchNormalizationReLU.default] * 2


def test_the_graph_of_a_converted_network_reads_no_marks() -> None:
    """A sum, which the ReLU of a residual block also gets, has no mark."""
    model = Block(3).double()
    assert thnn.convert(model).fused
    graph = torch.fx.symbolic_trace(model)
    assert "_thnn" not in graph.code
    torch.testing.assert_close(graph(images()), model(images()))


class Twice(nn.Module):
    """Batch normalization whose result has another use than ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        output: Tensor = self.relu(y) + y
        return output


class OnlyInTraining(Twice):
    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(x)
        return self.relu(y) if self.training else y


class ReturnsFeatures(Twice):
    """Returns the result of batch normalization on request."""

    def forward(self, x: Tensor, features: bool = False) -> Tensor:
        y: Tensor = self.norm(x)
        return y if features else self.relu(y)


class DependsOnValues(Twice):
    """Cannot be traced. Its child can, but this forward may read the results of the child's layers."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = norm_and_relu()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(x)
        return self.inner(y) if y.sum() > 1e9 else self.relu(y)


@pytest.mark.parametrize(
    "model", [Twice(), OnlyInTraining(), DependsOnValues(), ReturnsFeatures()], ids=lambda m: type(m).__name__
)
def test_fusion_needs_a_result_that_only_goes_into_relu(model: nn.Module) -> None:
    model = model.double()
    original = copy.deepcopy(model)
    assert thnn.convert(model).fused == ()
    agree(original, model)


class SharedActivation(nn.Module):
    """A residual block in which one layer is the activation after the batch normalization and after the sum."""

    def __init__(self, activation: type[nn.Module]) -> None:
        super().__init__()
        self.norm, self.activation = nn.BatchNorm2d(4), activation()

    def forward(self, x: Tensor) -> Tensor:
        y = self.activation(self.norm(x))
        y += x
        result: Tensor = self.activation(y)
        return result


class TwoActivations(nn.Module):
    def __init__(self, activation: type[nn.Module]) -> None:
        super().__init__()
        self.norm, self.first, self.second = nn.BatchNorm2d(4), activation(), activation()

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        u: Tensor = self.first(y)
        u += 1
        result: Tensor = self.second(y)
        return result


@pytest.mark.parametrize("activation", [nn.ReLU, nn.ReLU6])
@pytest.mark.parametrize("block", [SharedActivation, TwoActivations])
@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_results_that_change_in_place_are_rectified_again(
    activation: type[nn.Module], block: type[nn.Module], context: Any
) -> None:
    model = block(activation)
    converted = copy.deepcopy(model)
    report = thnn.convert(converted)
    assert len(report.fused) == (block is SharedActivation)
    x = 5 * torch.randn(2, 4, 3, 3, generator=torch.Generator().manual_seed(0))
    for training in (True, False):
        model.train(training), converted.train(training)
        with context():
            torch.testing.assert_close(converted(x.clone()), model(x.clone()))


def test_a_changed_output_of_another_layer_is_rectified() -> None:
    """The mark of an output holds until the first in-place operation, and for one activation."""
    model = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU())
    thnn.convert(model)
    x = torch.randn(2, 4, 3, 3, generator=torch.Generator().manual_seed(0))
    y = model(x)
    changed = y - 3
    y.detach().sub_(3)
    torch.testing.assert_close(model[1](y), changed.relu())
    with torch.no_grad():
        explicit = thnn.nn.BatchNorm2d(4, activation="relu")(x)
        explicit -= 3
        torch.testing.assert_close(model[1](explicit), explicit.relu())


class TakesOptions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bn, self.relu = nn.BatchNorm2d(3), nn.ReLU()

    def forward(self, x: Tensor, *rest: bool, **options: bool) -> Tensor:
        y: Tensor = self.bn(x)
        return y if rest or options else self.relu(y)


def test_a_model_with_variadic_arguments_is_not_fused() -> None:
    x, model = torch.randn(2, 3, 4, 4), TakesOptions().eval()
    expected = model(x, features=True)
    assert not thnn.convert(model).fused
    torch.testing.assert_close(model(x, features=True), expected)
    torch.testing.assert_close(model(x, True), expected)


def test_layers_stay_apart_without_fuse() -> None:
    model = norm_and_relu().double()
    original = copy.deepcopy(model)
    assert thnn.convert(model, fuse=False).fused == ()
    agree(original, model)
    agree(original[:1], model[:1])


def test_converting_again_decides_anew_what_is_fused() -> None:
    model = norm_and_relu().double()
    original = copy.deepcopy(model)
    assert len(thnn.convert(model).fused) == 1
    assert thnn.convert(model)[:2] == ((), ())
    model[1] = original[1] = nn.LeakyReLU(0.5)
    assert thnn.convert(model).fused == ()
    agree(original, model)


def test_layers_in_containers_without_a_forward_are_fused() -> None:
    model = nn.ModuleDict({"list": nn.ModuleList([norm_and_relu()])})
    assert [layer.name for layer in thnn.convert(model).fused] == ["list.0.0"]


@pytest.mark.parametrize(
    "other", [nn.Sequential(nn.Conv2d(3, 3, 1)), None], ids=["another child", "a child itself"]
)
def test_layers_that_two_children_of_a_container_use_are_not_fused(other: nn.Module | None) -> None:
    norm = nn.BatchNorm2d(3)
    second = norm if other is None else nn.Sequential(norm, *other)
    model = nn.ModuleList([nn.Sequential(norm, nn.ReLU()), second]).double()
    original = copy.deepcopy(model)
    assert thnn.convert(model).fused == ()
    for before, after in zip(original, model):
        agree(before, after)


def test_a_fused_layer_whose_activation_was_removed_is_reverted() -> None:
    model = nn.Sequential(nn.BatchNorm2d(3), nn.ReLU())
    thnn.convert(model)
    assert model[0].activation == "relu"
    model[0].activation = None
    thnn.revert(model)
    assert type(model[0]) is nn.BatchNorm2d


def test_options_that_torch_lacks_are_not_reverted() -> None:
    model = nn.Sequential(thnn.nn.BatchNorm2d(3, unbiased=False), thnn.nn.BatchNorm2d(3))
    report = thnn.revert(model)
    assert [(layer.name, layer.remark) for layer in report.left] == [("0", "uses unbiased")]
    assert type(model[1]) is nn.BatchNorm2d


def test_only_modules_are_accepted() -> None:
    for function in (thnn.convert, thnn.revert):
        with pytest.raises(TypeError, match=r"model: expected a torch\.nn\.Module, got str"):
            function("model")  # type: ignore[arg-type]


def test_parametrized_layers_are_left() -> None:
    model = nn.Sequential(nn.Conv2d(3, 3, 1), nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 3, 1)))
    report = thnn.convert(model)
    assert [layer.name for layer in report.replaced] == ["0"]
    assert report.left == (("1", "ParametrizedConv2d", "parametrized"),)
    nn.utils.parametrizations.weight_norm(model[0])
    assert thnn.revert(model).left == (("0", "ParametrizedConv2d", "parametrized"),)


def test_batch_normalization_that_torch_0_3_pickled() -> None:
    """Such layers have no num_batches_tracked and no track_running_stats."""
    today = nn.BatchNorm1d(3)
    old = copy.deepcopy(today)
    del old.track_running_stats, old._buffers["num_batches_tracked"]
    thnn.convert(old)
    x = torch.randn(4, 3)
    torch.testing.assert_close(old(x), today(x))
    torch.testing.assert_close(old.running_var, today.running_var)
    torch.testing.assert_close(old.eval()(x), today.eval()(x))
    thnn.revert(old)
    torch.testing.assert_close(old(x), today(x))  # only in evaluation: in training torch's layer fails


def test_modules_that_compute_besides_their_layers_are_left() -> None:
    class Residual(nn.Sequential):
        def forward(self, x: Tensor) -> Tensor:
            return x + super().forward(x)

    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(nn.functional.gelu(x))

    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.parts = nn.Linear(3, 3), nn.ModuleList([nn.Tanh()])

        def forward(self, x: Tensor) -> Tensor:
            for part in self.parts:
                x = part(self.first(x))
            return x

    own = "its layers are converted, the functions that its forward calls are not"
    model = nn.Sequential(Residual(nn.Linear(3, 3)), Head(), Head(), Pair(), nn.Sequential(nn.Identity()))
    report = thnn.convert(model)
    assert report.left == (("0", "Residual", own), ("1", "Head", own), ("2", "Head", own))
    assert f"left      1 and 1 more  Head      {own}" in str(report).splitlines()
    assert str(report).splitlines()[-1].endswith(", 3 left")
    assert thnn.convert(model).left == report.left
    attention = thnn.convert(nn.TransformerEncoderLayer(4, 2)).left
    assert {layer.kind for layer in attention} >= {"TransformerEncoderLayer", "MultiheadAttention", "Dropout"}
    output = ("self_attn.out_proj", "NonDynamicallyQuantizableLinear")
    assert (*output, "nn.MultiheadAttention computes with its parameters") in attention
    for wrapper in (thnn.parallel.SelfDataParallel(Pair(), ["cpu"]), nn.DataParallel(Pair())):
        assert thnn.convert(wrapper).left == ()


def test_control_characters_of_names_are_escaped() -> None:
    model = nn.Sequential()
    model.add_module("\x1b[2J\n", nn.Linear(2, 2))
    text = str(thnn.convert(model)) + thnn.graph.draw(thnn.graph.fork(model, torch.ones(1, 2)))  # type: ignore[operator]
    assert text.count("\\x1b[2J\\n") == 2 + text.count("weight")
    assert "\x1b" not in text


def twice(norm: nn.Module) -> nn.Module:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.relu = norm, nn.ReLU()

        def forward(self, x: Tensor) -> Tensor:
            y = self.norm(x)
            return self.relu(y) * y

    return Twice()


def hooked(model: nn.Module, path: str) -> nn.Module:
    model.get_submodule(path).register_forward_hook(lambda *_: None)
    return model


class Optional(nn.Sequential):
    def forward(self, input: Tensor, scale: Tensor | None = None) -> Tensor:
        output: Tensor = super().forward(input)
        return output if scale is None else output * scale


@pytest.mark.parametrize(
    ("model", "name", "reason"),
    [
        (hooked(norm_and_relu(), "0"), "0", "it has hooks"),
        (hooked(norm_and_relu(), "1"), "0", "1 has hooks"),
        (twice(nn.BatchNorm2d(3)), "norm", "its result is also read by mul"),
        (Block(3), "norm2", "only the backend of torch.compile fuses it with a sum and a ReLU"),
        (Optional(*norm_and_relu()), "0", "the forward of Optional has optional arguments"),
    ],
)
def test_the_report_says_why_neighbours_stay_apart(model: nn.Module, name: str, reason: str) -> None:
    report = thnn.convert(model)
    assert (name, "BatchNorm2d", reason) in report.apart
    assert name not in [layer.name for layer in report.fused]


def test_only_faster_layers_are_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    def times(example: Any, classes: Any) -> list[float]:
        """thnn is faster in convolutions only."""
        assert example.arguments[0].shape[0] == 4
        return [2e-3, 1e-3] if classes[0] is nn.Conv2d else [1e-3, 2e-3]

    monkeypatch.setattr("thnn._convert.seconds", times)
    model = network()
    model.add_module("unused", nn.Sequential(nn.Linear(2, 2)))
    model.unused.forward = lambda x: x  # type: ignore[method-assign]
    before, state = copy.deepcopy(model), copy.deepcopy(model.state_dict())
    report = thnn.convert(model, images(), only_faster=True)
    assert {(layer.kind, layer.remark) for layer in report.replaced} == {("Conv2d", "1 ms, torch 2 ms")}
    assert ("5", "Linear", "slower: 2 ms, torch 1 ms") in report.left
    assert ("unused.0", "Linear", "the model does not call it on the example") in report.left
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    agree(before, model)
    with pytest.raises(TypeError, match="example: expected the input of the model for only_faster, got None"):
        thnn.convert(model, only_faster=True)


def test_times_of_layers() -> None:
    model = network()
    report = thnn.convert(model, images(), only_faster=True)
    entries = [*report.replaced, *(layer for layer in report.left if layer.remark.startswith("slower"))]
    assert len(entries) == 12
    for layer in entries:
        assert re.fullmatch(r"(slower: )?[0-9.e+-]+ ms, torch [0-9.e+-]+ ms", layer.remark)


def test_reports_of_notebooks() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.GLU())
    model.add_module("<b>", nn.CTCLoss())
    report = thnn.convert(model)
    assert "&lt;b&gt;" in report._repr_html_()
    assert "<b>" not in report._repr_html_()
    assert '<td style="text-align: left">Conv2d</td>' in report._repr_html_()
    assert "<p>2 reverted, 0 left</p>" in thnn.revert(model)._repr_html_()
