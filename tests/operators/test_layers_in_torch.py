"""Layers of thnn.nn inside torch's machinery."""

from __future__ import annotations

import copy
import io
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

import thnn
from thnn.nn import _sequence_operators
from thnn.testing.torch_support import call_of, samples_of


def network(family: Any = thnn.nn) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        family.Conv2d(3, 8, 3, padding=1),
        family.BatchNorm2d(8),
        family.ReLU(inplace=True),
        family.MaxPool2d(2),
        nn.Flatten(),
        family.Linear(128, 5),
        family.LogSoftmax(1),
    )


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_script() -> None:
    model = network()
    for layer, name in (model, "Conv2d"), (thnn.nn.Tanh(), "Tanh"), (thnn.nn.LSTM(2, 3), "LSTM"):
        with pytest.raises(NotImplementedError, match=rf"^{name}: torch\.jit\.script .* thnn\.revert "):
            torch.jit.script(layer)
    torch.testing.assert_close(model(X), network()(X))
    thnn.revert(model)
    torch.testing.assert_close(torch.jit.script(model)(X), model(X))


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch.compiler.reset()


X = torch.linspace(-2, 2, 5 * 3 * 8 * 8).cos().reshape(5, 3, 8, 8)


def losses(model: nn.Module, forward: Any) -> list[float]:
    """The losses of a few steps of training."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = []
    for n in (5, 4, 5):
        optimizer.zero_grad()
        loss = thnn.nn.NLLLoss()(forward(X[:n]), torch.arange(n))
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize("dynamic", [None, True])
def test_training_of_a_compiled_network(dynamic: bool | None) -> None:
    plain, model = network(), network()
    compiled = torch.compile(model, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    assert losses(model, compiled) == pytest.approx(losses(plain, plain))
    for name, expected in plain.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], expected)
    torch.testing.assert_close(compiled.eval()(X), plain.eval()(X))


@pytest.mark.parametrize(
    "options",
    [
        {"momentum": None},
        {"first_batch": "initialize", "momentum": 0.3},
        {"unbiased": False, "activation": "relu"},
        {"activation": "relu6"},
        {"momentum": None, "first_batch": "initialize", "unbiased": False},
        {"track_running_stats": False, "affine": False},
    ],
)
def test_options_of_batch_normalization(options: dict[str, Any]) -> None:
    plain = thnn.nn.BatchNorm2d(3, **options)
    if plain.affine:
        nn.init.constant_(plain.weight, 8)  # with relu6 many outputs are above 6
    model = copy.deepcopy(plain)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    for scale in (1, 2, 3):
        results = []
        for network, module in ((compiled, model), (plain, plain)):
            x = (scale * X).requires_grad_()
            y = network(x)
            results.append((y, *torch.autograd.grad(y.square().sum(), (x, *module.parameters()))))
        torch.testing.assert_close(*results)
    for ours, expected in zip(model.buffers(), plain.buffers()):
        torch.testing.assert_close(ours, expected)


def test_cumulative_average_in_float64() -> None:
    plain = thnn.nn.BatchNorm2d(3, momentum=None, dtype=torch.float64)
    model = copy.deepcopy(plain)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    for scale in (1, 2, 4):
        compiled(scale * X.double()), plain(scale * X.double())
    torch.testing.assert_close(model.running_mean, plain.running_mean, rtol=1e-14, atol=0)
    torch.testing.assert_close(model.running_var, plain.running_var, rtol=1e-14, atol=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strict", [False, True])
def test_export(strict: bool) -> None:
    """With a dynamic batch; a loaded program computes the same, and an exported one can be trained."""
    model = network().eval()
    shapes = ({0: torch.export.Dim("n")},)
    program = torch.export.export(model, (X,), dynamic_shapes=shapes, strict=strict)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    torch.testing.assert_close(torch.export.load(file).module()(X[:2]), model(X[:2]))
    trained: Any = torch.export.export(network(), (X,), strict=strict).module()
    trained(X).sum().backward()
    assert all(p.grad is not None for p in trained.parameters())


@pytest.mark.filterwarnings("ignore")
def test_traces() -> None:
    model = network().eval()
    torch.testing.assert_close(torch.jit.trace(model, X)(X[:3]), model(X[:3]))
    graph = torch.fx.symbolic_trace(model)
    torch.testing.assert_close(graph(X), model(X))
    assert [n.op for n in graph.graph.nodes].count("call_module") >= 4


@pytest.mark.parametrize(
    "layer", [thnn.nn.Linear(4, 3), thnn.nn.Conv1d(5, 3, 2)], ids=lambda m: type(m).__name__
)
def test_symbolic_trace_has_no_number_of_dimensions(layer: nn.Module) -> None:
    graph = torch.fx.symbolic_trace(nn.Sequential(layer))
    for x in (torch.randn(5, 4), torch.randn(2, 5, 4)):
        torch.testing.assert_close(graph(x), layer(x))


def test_flops_are_those_of_torch() -> None:
    counts = []
    for family in (thnn.nn, nn):
        model = network(family)
        with FlopCounterMode(display=False) as counter:
            model(X).sum().backward()
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize(
    ("name", "multiplications"),
    [
        ("SpatialDepthWiseConvolution", 2 * 6 * 2 * 7 * (3 * 2)),  # 2 x 6 images of 2 x 7, a kernel of 3 x 2
        ("SpatialConvolutionLocal", 2 * 4 * 2 * 7 * (3 * 3 * 2)),
        ("SpatialConvolutionMap", 2 * 2 * 5 * 6 * (3 * 2)),  # 6 connections
        ("SpatialFullConvolutionMap", 2 * 5 * 6 * 6 * (3 * 2)),  # input images of 5 x 6
        ("TemporalRowConvolution", 2 * 4 * 4 * 3),
    ],
)
def test_flops_of_other_convolutions(name: str, multiplications: int) -> None:
    cls = thnn.function_classes[f"{name}Function"]
    call = call_of(cls, samples_of(cls)[0])
    with FlopCounterMode(display=False) as counter:
        cls.apply(*call.values)
    assert counter.get_total_flops() == 2 * multiplications
    with FlopCounterMode(display=False) as counter:
        cls.apply(
            *(v.detach().requires_grad_(k < 2) if k < 2 else v for k, v in enumerate(call.values))
        ).sum().backward()
    assert counter.get_total_flops() == 6 * multiplications


def test_gradients_of_samples_and_ensembles() -> None:
    model = network().eval()
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        output: Tensor = torch.func.functional_call(model, parameters, (x[None],))
        return output[0, 1]

    found = torch.vmap(torch.func.grad(loss), (None, 0))(parameters, X)
    for k, x in enumerate(X):
        leaves = {name: p.clone().requires_grad_() for name, p in parameters.items()}
        expected = torch.autograd.grad(loss(leaves, x), [*leaves.values()])
        for gradient, name in zip(expected, parameters):
            torch.testing.assert_close(found[name][k], gradient)
    stacked = {name: torch.stack([p, p / 2]) for name, p in parameters.items()}
    assert torch.vmap(loss, (0, None))(stacked, X[0]).shape == (2,)
    with pytest.raises(NotImplementedError, match=r"running_mean: torch\.vmap cannot"):
        torch.vmap(network())(X[:, None])


@pytest.mark.needs_torch("2.9", "the option guard_filter_fn of torch.compile")
def test_compiled_code_checks_no_wrapper_of_a_forward() -> None:
    """Dynamo checks in each call what tracing read. That must be no closure of a wrapped forward, and only three
    functions of the machinery of the classes."""
    names: list[str] = []

    def record(guards: Any) -> list[bool]:
        names.extend(g.name for g in guards)
        return [True] * len(guards)

    model = nn.Sequential(thnn.nn.BatchNorm2d(3), thnn.nn.ReLU(), thnn.nn.MaxPool2d(2))
    torch.compile(model, fullgraph=True, backend="aot_eager", options={"guard_filter_fn": record})(X)
    assert not [name for name in names if "__closure__" in name]
    (machinery, *parts) = sorted(
        {n for n in names if n.startswith("G['__import_thnn_dot__functions")}, key=len
    )
    assert {p.removeprefix(machinery + ".") for p in parts} == {
        "define",
        "_call_operator",
        "is_dynamo_compiling",
    }


@pytest.mark.parametrize("name", ["LSTM", "GRU", "LSTMCell", "GRUCell"])
def test_recurrent_layers(name: str) -> None:
    model = getattr(thnn.nn, name)(4, 5)
    x = torch.randn(3, 2, 4) if "Cell" not in name else torch.randn(2, 4)
    with torch._dynamo.config.patch(allow_rnn=True):
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        ours, expected = compiled(x), model(x)
    torch.testing.assert_close(ours, expected)


class _Network(nn.Module):
    """A network of one layer, whose call leaves out the arguments that have defaults."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, *inputs: Tensor) -> Any:
        return self.layer(*inputs)


@pytest.mark.parametrize(
    ("layer", "inputs"),
    [
        (thnn.nn.LSTM(4, 5), [torch.randn(3, 2, 4)]),
        (thnn.nn.GRU(4, 5), [torch.randn(3, 2, 4)]),
        (thnn.nn.LSTMCell(4, 5), [torch.randn(2, 4)]),
        (thnn.nn.GRUCell(4, 5), [torch.randn(2, 4)]),
        (thnn.nn.ConvTranspose2d(2, 3, 3), [torch.randn(1, 2, 4, 4)]),
        (thnn.nn.EmbeddingBag(9, 4), [torch.tensor([[0, 8], [3, 3]])]),
        (thnn.nn.MaxUnpool2d(2), [torch.ones(1, 1, 1, 2), torch.tensor([[[[5, 3]]]])]),
        (thnn.nn.ReflectionPad1d(1), [torch.randn(1, 2, 5)]),
    ],
    ids=lambda v: type(v).__name__,
)
def test_layers_with_optional_arguments_in_networks(layer: nn.Module, inputs: list[Tensor]) -> None:
    with torch._dynamo.config.patch(allow_rnn=True):
        compiled = torch.compile(_Network(layer), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(*inputs), layer(*inputs))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "options", "backend"),
    [
        ("LSTM", {"bias": False}, "aot_eager"),
        ("GRU", {"bias": False}, "aot_eager"),
        ("LSTM", {"bidirectional": True, "num_layers": 2}, "aot_eager"),
        ("GRU", {"bidirectional": True, "num_layers": 2}, "aot_eager"),
        ("LSTM", {"bidirectional": True, "num_layers": 2}, "inductor"),
    ],
    ids=str,
)
def test_steps_of_a_sequence(name: str, options: dict[str, Any], backend: str) -> None:
    """Compiled code computes all steps in one operator."""
    model = getattr(thnn.nn, name)(4, 5, **options)
    twin = copy.deepcopy(model)
    torch.compiler.reset()
    targets: list[str] = []

    def results(model: Any, call: Any, x: Tensor) -> list[Tensor]:
        x = x.clone().requires_grad_()
        output, states = call(x)
        leaves = [output.square(), *tree_leaves(states)]
        gradients = torch.autograd.grad([t.sum() for t in leaves], [x, *model.parameters()])
        with torch.no_grad():
            return [*leaves, *gradients, *tree_leaves(call(x))]

    def keep(graph: Any, inputs: Any) -> Any:
        targets.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return make_boxed_func(graph.forward)

    chosen = aot_autograd(fw_compiler=keep) if backend == "aot_eager" else backend
    with torch._dynamo.config.patch(allow_rnn=True):
        compiled = torch.compile(twin, fullgraph=True, dynamic=True, backend=chosen)
        for batch in (3, 4):
            x = torch.randn(20, batch, 4)
            torch.testing.assert_close(results(twin, compiled, x), results(model, model, x))
    if backend == "aot_eager":
        layers = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
        steps = [t for t in targets if "recurrent_steps" in t]
        # A training step and an inference; the backward has another operator.
        assert steps.count("thnn.recurrent_steps.default") == 2 * layers, targets
        assert steps.count("thnn.recurrent_steps_gradients.default") == layers, targets


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_states_of_any_strides(name: str) -> None:
    model = getattr(thnn.nn, name)(3, 4)
    x, state = torch.randn(5, 2, 3), torch.randn(1, 4, 2).transpose(-1, -2).requires_grad_()
    given = (state, state) if name == "LSTM" else state

    def results(call: Any) -> list[Tensor]:
        output, states = call(x, given)
        return [
            output,
            *tree_leaves(states),
            *torch.autograd.grad(output.sum(), [state, *model.parameters()]),
        ]

    with torch._dynamo.config.patch(allow_rnn=True):
        torch.testing.assert_close(results(torch.compile(model, fullgraph=True)), results(model))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.needs_torch("2.11", "torch.compile of packed sequences")
@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_packed_sequences_with_initial_states(name: str) -> None:
    model = getattr(thnn.nn, name)(3, 4)
    state = torch.randn(1, 3, 4).requires_grad_()

    def results(call: Any, lengths: list[int], state: Tensor) -> list[Tensor]:
        given = pack_padded_sequence(X[:4, :, 0, :3], torch.tensor(lengths), enforce_sorted=False)
        output, states = call(given, (state, state.sin()) if name == "LSTM" else state)
        leaves = [output.data, *tree_leaves(states)]
        return [*leaves, *torch.autograd.grad(sum(t.square().sum() for t in leaves), [state])]

    with torch._dynamo.config.patch(allow_rnn=True):
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        for lengths in ([3, 4, 2], [1, 1, 4]):
            torch.testing.assert_close(results(compiled, lengths, state), results(model, lengths, state))
        with pytest.raises(RuntimeError):
            results(compiled, [3, 4, 2], torch.randn(1, 2, 4).requires_grad_())


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_a_dynamic_batch_of_sequences_is_exported(name: str) -> None:
    model = _Network(getattr(thnn.nn, name)(4, 5, batch_first=True)).eval()
    batch = ({0: torch.export.Dim("n")},)
    program = torch.export.export(model, (torch.randn(4, 6, 4),), dynamic_shapes=(batch,)).module()
    x = torch.randn(2, 6, 4)
    torch.testing.assert_close(program(x), model(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("layer", "size"),
    [
        (thnn.nn.Conv2d(3, 4, 3, padding="same"), (2, 3, 8, 8)),
        (thnn.nn.PReLU(3), (2, 3, 4, 4)),
        (thnn.nn.AdaptiveAvgPool2d((None, 3)), (2, 3, 6, 6)),
    ],
    ids=lambda v: type(v).__name__,
)
def test_settings_that_follow_from_sizes_are_traced(layer: nn.Module, size: tuple[int, ...]) -> None:
    x = torch.randn(size)
    torch.testing.assert_close(torch.jit.trace(layer, x)(x), layer(x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "strict",
    [
        False,
        pytest.param(
            True, marks=pytest.mark.needs_torch("2.11", "strict export of sizes that are quotients (2.9)")
        ),
    ],
)
@pytest.mark.parametrize(
    "layers",
    [
        [thnn.nn.Softmax(2)],
        [thnn.nn.LogSoftmax(-1)],
        [thnn.nn.Softmin(0)],
        [thnn.nn.Upsample(scale_factor=1.5), thnn.nn.Conv2d(4, 2, 3)],
        [thnn.nn.UpsamplingBilinear2d(scale_factor=2)],
        [thnn.nn.AdaptiveAvgPool2d((None, 3))],
        [thnn.nn.AdaptiveMaxPool2d((3, None))],
        [thnn.nn.GroupNorm(2, 4), thnn.nn.InstanceNorm2d(4)],
    ],
    ids=str,
)
def test_dynamic_heights_and_widths_are_exported(layers: list[nn.Module], strict: bool) -> None:
    """Also of inputs whose sizes are quotients of those of the images."""
    model = nn.Sequential(thnn.nn.Conv2d(3, 4, 3, stride=2), *layers).eval()
    sizes = (dict.fromkeys((0, 2, 3), torch.export.Dim.DYNAMIC),)
    x = torch.randn(2, 3, 33, 31)
    program = torch.export.export(model, (x,), dynamic_shapes=sizes, strict=strict).module()
    for size in ((5, 3, 20, 25), (3, 3, 64, 66)):
        x = torch.randn(size)
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("layer", "size", "other"),
    [
        # Of as many elements: a size that a trace keeps is no error there.
        (thnn.nn.Softmax(0), (2, 6), (3, 4)),
        (thnn.nn.LogSoftmax(2), (2, 3, 4, 5), (2, 3, 5, 4)),
        (thnn.nn.Upsample(scale_factor=2), (2, 3, 5), (4, 3, 8)),
        (thnn.nn.Upsample(scale_factor=1.1, mode="bilinear"), (2, 3, 4, 5), (4, 3, 30, 7)),
        (thnn.nn.Upsample(scale_factor=0.7, recompute_scale_factor=True), (2, 3, 4, 5), (2, 3, 10, 9)),
        (thnn.nn.AdaptiveAvgPool2d((None, 3)), (2, 3, 4, 5), (2, 3, 5, 4)),
        (thnn.nn.AdaptiveMaxPool2d((3, None), return_indices=True), (2, 3, 4, 5), (2, 3, 5, 4)),
        (thnn.nn.MaxPool2d(3, 2, ceil_mode=True), (2, 3, 9, 8), (2, 3, 6, 7)),
        (
            thnn.nn.FractionalMaxPool2d(2, output_ratio=0.5, _random_samples=torch.rand(1, 3, 2)),
            (1, 3, 8, 9),
            (1, 3, 7, 12),
        ),
    ],
    ids=str,
)
def test_traces_keep_no_sizes(layer: nn.Module, size: tuple[int, ...], other: tuple[int, ...]) -> None:
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(layer, torch.randn(size)), file)
    file.seek(0)
    traced = torch.jit.load(file)
    for x in (torch.randn(size), torch.randn(other)):
        torch.testing.assert_close(traced(x), layer(x))


@pytest.mark.filterwarnings("ignore")
def test_traces_of_max_unpooling_keep_no_sizes() -> None:
    layer = thnn.nn.MaxUnpool2d(2)
    given, other = (
        nn.functional.max_pool2d(torch.randn(size), 2, return_indices=True)
        for size in ((1, 2, 4, 6), (2, 2, 8, 10))
    )
    traced = torch.jit.trace(layer, given)
    torch.testing.assert_close(traced(*other), layer(*other))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "part",
    [
        *("compile", "export", "jit.trace"),
        pytest.param(
            "make_fx", marks=pytest.mark.lost_in_torch("2.14", "nor does the program of torch's layer run")
        ),
    ],
)
@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_tables_with_a_largest_norm(name: str, part: str) -> None:
    """The program renormalizes the rows of the table that it reads."""
    table = getattr(thnn.nn, name)(5, 3, max_norm=0.5, _weight=torch.arange(15.0).reshape(5, 3))
    rows = torch.tensor([[4, 1], [4, 4]])
    model = copy.deepcopy(table)
    program: Any = {
        "compile": lambda: torch.compile(model, fullgraph=True, backend="aot_eager"),
        "export": lambda: torch.export.export(model, (rows,)).module(),
        "jit.trace": lambda: torch.jit.trace(model, rows, check_trace=False),
        "make_fx": lambda: make_fx(model)(rows),
    }[part]()
    for other in (rows, torch.tensor([[0, 2], [2, 1]])):
        torch.testing.assert_close(program(other), table(other))
    changed = model.weight if part in ("compile", "make_fx") else program.weight
    torch.testing.assert_close(changed, table.weight)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", ["compile", "export", "jit.trace", "make_fx"])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_the_last_offset_is_data(mode: str, part: str) -> None:
    """Elements after the last offset belong to no bag."""
    table = thnn.nn.EmbeddingBag(6, 3, mode=mode, include_last_offset=True)
    rows, offsets = torch.tensor([1, 5, 3, 0]), torch.tensor([0, 0, 3])
    program: Any = {
        "compile": lambda: torch.compile(table, fullgraph=True, backend="aot_eager"),
        "export": lambda: torch.export.export(table, (rows, offsets)).module(),
        "jit.trace": lambda: torch.jit.trace(table, (rows, offsets)),
        "make_fx": lambda: make_fx(table)(rows, offsets),
    }[part]()
    for other in ([0, 0, 3], [0, 2, 4], [0, 1, 2]):
        offsets = torch.tensor(other)
        torch.testing.assert_close(program(rows, offsets), table(rows, offsets))


@pytest.mark.filterwarnings("ignore")
def test_powers_of_pooling_are_compiled_with_dynamic_settings() -> None:
    for norm in (1.5, float("inf")):
        layer = thnn.nn.LPPool2d(norm, 2)
        compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="aot_eager")
        torch.testing.assert_close(compiled(X), layer(X), equal_nan=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "kl_div", "binary_cross_entropy"])
def test_tangents_of_targets(name: str) -> None:
    """Losses with one are computed by torch."""
    x, target = (torch.linspace(0.1, 0.9, 12).reshape(4, 3).roll(k) for k in (0, 5))

    def results(family: Any) -> list[Any]:
        loss = partial(getattr(family, name), reduction="sum")
        return [
            torch.func.jvp(loss, (x, target), (target, x))[1],
            torch.func.jvp(lambda t: torch.vmap(loss)(x, t), (target,), (x,))[1],
            torch.func.hessian(loss, (0, 1))(x, target),
        ]

    torch.testing.assert_close(results(thnn.nn.functional), results(nn.functional))


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # of torch 2.15's opcheck
def test_the_operator_of_steps() -> None:
    assert _sequence_operators.usable()
    for sizes, reverse in (([3, 3], False), ([3, 2, 1], True), ([2] * 9, False)):
        shapes = (sum(sizes), 4), (20, 4), (20, 5), (20,), (20,), (sizes[0], 5), (sizes[0], 5)
        leaves = [torch.randn(shape).requires_grad_() for shape in shapes]
        torch.library.opcheck(
            torch.ops.thnn.recurrent_steps.default,
            ("LSTM", True, *leaves[:5], leaves[5:], sizes, reverse),
        )


def test_second_derivatives_of_steps_that_are_called_as_they_are() -> None:
    model = thnn.nn.GRU(3, 3).double()
    x = torch.randn(4, 2, 3).double()
    with torch._dynamo.config.patch(allow_rnn=True):
        compiled = torch.compile(model, fullgraph=True, backend="eager")(x)
    found = []
    for output, _ in (model(x), compiled):
        (first,) = torch.autograd.grad(output.square().sum(), model.weight_hh_l0, create_graph=True)
        found.append([first, *torch.autograd.grad(first.square().sum(), [*model.parameters()])])
    torch.testing.assert_close(*found)


def test_autocast() -> None:
    model = network().eval()

    def forward(x: Tensor) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return model(x.bfloat16())

    compiled = torch.compile(forward, fullgraph=True, backend="aot_eager")(X)
    assert compiled.dtype is forward(X).dtype is torch.bfloat16
    torch.testing.assert_close(compiled, forward(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("with_weight", [False, True])
@pytest.mark.parametrize("criterion", ["CrossEntropyLoss", "NLLLoss"])
def test_mean_of_class_losses(criterion: str, with_weight: bool) -> None:
    """Also where no target counts, or only one of weight 0: the mean is NaN. Its gradient is 0 inside a transform,
    and otherwise NaN for the target of weight 0."""
    weight = torch.tensor([1.0, 0.0, 3.0]) if with_weight else None
    loss = getattr(thnn.nn, criterion)(weight, ignore_index=-1)
    peer = getattr(nn, criterion)(weight, ignore_index=-1)
    x = torch.linspace(-1, 2, 12).sin().reshape(4, 3)
    targets = torch.tensor([[0, 2, -1, 1], [-1, -1, -1, -1], [-1, 1 if with_weight else -1, -1, -1]])
    expected = torch.stack([peer(x, t) for t in targets])
    assert expected.isnan().tolist() == [False, True, True]

    def same(found: Tensor) -> None:
        torch.testing.assert_close(found, expected, equal_nan=True)

    def each(f: Any) -> Tensor:
        return torch.stack([f(x, t) for t in targets])

    same(each(loss))
    same(each(torch.compile(loss, fullgraph=True, backend="aot_eager")))
    same(each(torch.jit.trace(loss, (x, targets[0]), check_trace=False)))
    same(each(make_fx(loss)(x, targets[0])))
    same(each(torch.export.export(loss, (x, targets[0])).module()))
    same(torch.vmap(loss, (None, 0))(x, targets))
    found = torch.vmap(torch.func.grad(loss), (None, 0))(x, targets)
    for t, gradient in zip(targets, found):
        leaf = x.clone().requires_grad_()
        loss(leaf, t).backward()
        assert leaf.grad is not None
        torch.testing.assert_close(gradient, leaf.grad.nan_to_num())
    assert not found[1].any()
    assert loss.to("meta")(x.to("meta"), targets[0].to("meta")).shape == ()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["AdaptiveMaxPool2d", "MaxPool2d"])
def test_settings_by_keyword_with_dynamic_sizes(name: str) -> None:
    x = torch.rand(2, 3, 8, 8)
    layer = getattr(thnn.nn, name)(2)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager", dynamic=True)
    torch.testing.assert_close(compiled(x), layer(x))
