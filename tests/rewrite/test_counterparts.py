"""The operations that thnn computes in a graph of torch.compile, each compared with torch in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.torch_version import TorchVersion

from thnn._rewrite.backend import backend
from thnn._rewrite.counterparts import FUNCTIONS, METHODS
from thnn._rewrite.report import Report
from thnn._rewrite.rewriting import UNKNOWN


def filled(*shape: int) -> Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float64).sin().reshape(shape)


# Parameters and other inputs by their shapes.
C: dict[Any, Tensor] = {
    shape: filled(*shape) if isinstance(shape, tuple) else filled(shape)
    for shape in (
        3, 4, 5, 6, 16, (2, 4), (5, 6), (12, 4), (12, 6), (12, 8), (16, 4), (16, 6), (1, 2, 3), (1, 2, 4), (2, 3, 2),
        (3, 4, 3), (4, 2, 4), (4, 3, 3),
        (2, 3, 6, 6), (3, 4, 3, 3), (4, 3, 3, 3), (2, 3, 1, 3, 3), (3, 4, 1, 3, 3), (2, 3, 3, 2),
    )
}  # fmt: skip
between_0_and_1 = C[2, 3, 6, 6].abs()
rows = C[2, 3, 6, 6][..., 0, 0]
samples = {2: C[2, 3, 2].abs(), 3: C[1, 2, 3].abs()}
variance = C[3].square()
classes = torch.tensor([0, 2])
bag = torch.tensor([[0, 2]])
labels = torch.tensor([[2, 0, -1], [1, -1, -1]])
signs = C[2, 3, 6, 6].sign()
_, positions = F.max_pool2d(C[2, 3, 6, 6], 2, return_indices=True)
chosen = torch.tensor([[[[[0, 3, 4]]]]] * 2)
grid = C[2, 3, 3, 2] / 2

# Functions of an input (2, 3, 6, 6).
CALLS: dict[str, Callable[[Tensor], Any]] = {
    "relu": F.relu,
    "torch.relu": torch.relu,
    "relu_": lambda x: torch.relu_(x * 2),
    "relu inplace": lambda x: F.relu(x * 2, True),
    "x.relu": lambda x: x.relu(),
    "x.relu_": lambda x: (x * 2).relu_(),
    "relu6": lambda x: F.relu6(4 * x),
    "hardtanh": lambda x: F.hardtanh(x, -0.25, 0.5),
    "hardtanh_": lambda x: F.hardtanh_(x * 2, -0.25, 0.5),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.3),
    "leaky_relu_": lambda x: F.leaky_relu_(x * 2, 0.3),
    "elu": lambda x: F.elu(x, 0.5),
    "elu_": lambda x: F.elu_(x * 2, 0.5),
    "celu": lambda x: F.celu(x, 0.5),
    "celu_": lambda x: F.celu_(x * 2, 0.5),
    "torch.celu": lambda x: torch.celu(x, 0.5),
    "selu": F.selu,
    "selu_": lambda x: F.selu_(x * 2),
    "torch.selu": torch.selu,
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "silu inplace": lambda x: F.silu(x * 2, True),
    "mish": F.mish,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "softsign": F.softsign,
    "tanhshrink": F.tanhshrink,
    "threshold": lambda x: F.threshold(x, 0.25, 0.125),
    "threshold_": lambda x: F.threshold_(x * 2, 0.25, 0.125),
    "torch.threshold": lambda x: torch.threshold(x, 0.25, 0.125),
    "glu": lambda x: F.glu(x, -1),
    "hardshrink": lambda x: F.hardshrink(x, 0.25),
    "x.hardshrink": lambda x: x.hardshrink(0.25),
    "softshrink": lambda x: F.softshrink(x, 0.25),
    "softplus": lambda x: F.softplus(x, 2.0),
    "logsigmoid": F.logsigmoid,
    "prelu": lambda x: F.prelu(x, C[3]),
    "x.prelu": lambda x: x.prelu(C[3]),
    "rrelu": F.rrelu,
    "sigmoid": F.sigmoid,
    "torch.sigmoid": torch.sigmoid,
    "x.sigmoid": lambda x: x.sigmoid(),
    "tanh": F.tanh,
    "torch.tanh": torch.tanh,
    "x.tanh": lambda x: x.tanh(),
    "softmax": lambda x: F.softmax(x, 1),
    "torch.softmax": lambda x: torch.softmax(x, 1),
    "torch.softmax dtype": lambda x: torch.softmax(x.float().double(), 1, torch.float64),
    "x.softmax": lambda x: x.softmax(-1),
    "softmin": lambda x: F.softmin(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, 1),
    "torch.log_softmax": lambda x: torch.log_softmax(x, 1),
    "x.log_softmax": lambda x: x.log_softmax(-1),
    "conv1d": lambda x: F.conv1d(x[..., 0], C[4, 3, 3], C[4]),
    "conv2d": lambda x: F.conv2d(x, C[4, 3, 3, 3], None, 1, "same"),
    "conv3d": lambda x: F.conv3d(x[:, :, None], C[2, 3, 1, 3, 3]),
    "conv_transpose1d": lambda x: F.conv_transpose1d(x[..., 0], C[3, 4, 3], stride=2),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x, C[3, 4, 3, 3], C[4], 2, 1, 1),
    "conv_transpose3d": lambda x: F.conv_transpose3d(x[:, :, None], C[3, 4, 1, 3, 3]),
    "linear": lambda x: F.linear(x, C[5, 6], C[5]),
    "batch_norm": lambda x: F.batch_norm(x, C[3], variance, C[3], None),
    "batch_norm of the batch": lambda x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda x: F.group_norm(x, 3, C[3], C[3]),
    "torch.group_norm": lambda x: torch.group_norm(x, 1),
    "instance_norm": lambda x: F.instance_norm(x, weight=C[3], bias=C[3]),
    "layer_norm": lambda x: F.layer_norm(x, (6, 6)),
    "torch.layer_norm": lambda x: torch.layer_norm(x, (6,), C[6]),
    "rms_norm": lambda x: F.rms_norm(x, (6,), C[6]),
    "torch.rms_norm": lambda x: torch.rms_norm(x, (6, 6)),
    "local_response_norm": lambda x: F.local_response_norm(x, 2),
    "max_pool1d": lambda x: F.max_pool1d(x[..., 0], 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1),
    "max_pool2d with indices": lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    "max_pool3d": lambda x: F.max_pool3d(x, 2),
    "torch.max_pool1d": lambda x: torch.max_pool1d(x[..., 0], 2),
    "torch.max_pool2d": lambda x: torch.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "torch.max_pool3d": lambda x: torch.max_pool3d(x, 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x[..., 0], 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg_pool3d": lambda x: F.avg_pool3d(x, 2),
    "lp_pool1d": lambda x: F.lp_pool1d(x[..., 0].exp(), 3, 2),
    "lp_pool2d": lambda x: F.lp_pool2d(x.exp(), 3, 2),
    "lp_pool3d": lambda x: F.lp_pool3d(x.exp(), 3, 2),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x[..., 0], 4),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (4, 1)),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x, 2),
    "adaptive_max_pool1d": lambda x: F.adaptive_max_pool1d(x[..., 0], 4),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (4, 1)),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x, 2, 3, _random_samples=samples[2]),
    "fractional_max_pool3d": lambda x: F.fractional_max_pool3d(
        x, (1, 2, 2), (2, 3, 3), _random_samples=samples[3]
    ),
    "max_unpool1d": lambda x: F.max_unpool1d(x[:, :1, 0, :3], chosen[..., 0, 0, :], 2),
    "max_unpool2d": lambda x: F.max_unpool2d(x[..., :3, :3], positions, 2),
    "max_unpool3d": lambda x: F.max_unpool3d(
        x[:, :1, None, :1, :3], chosen, (1, 1, 2)
    ),
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), "reflect"),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2.0),
    "interpolate to a size": lambda x: F.interpolate(x, (4, 9), mode="bilinear"),
    "grid_sample": lambda x: F.grid_sample(x, grid, align_corners=False),
    "embedding": lambda x: F.embedding(classes, x[0, 0]),
    "embedding_bag": lambda x: F.embedding_bag(bag, x[0, 0]),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(x.sigmoid(), between_0_and_1),
    "cross_entropy": lambda x: F.cross_entropy(x[..., 0, 0], classes),
    "nll_loss": lambda x: F.nll_loss(x[..., 0, 0], classes),
    "kl_div": lambda x: F.kl_div(x, between_0_and_1, reduction="batchmean"),
    "l1_loss": lambda x: F.l1_loss(x, C[2, 3, 6, 6]),
    "mse_loss": lambda x: F.mse_loss(x, C[2, 3, 6, 6], reduction="none"),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, 2 * C[2, 3, 6, 6]),
    "binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, between_0_and_1),
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, signs),
    "huber_loss": lambda x: F.huber_loss(x, C[2, 3, 6, 6], delta=0.5),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, C[2, 3, 6, 6], signs, 0.1),
    "poisson_nll_loss": lambda x: F.poisson_nll_loss(x, between_0_and_1),
    "cosine_embedding_loss": lambda x: F.cosine_embedding_loss(x[..., 0, 0], rows, signs[:, 0, 0, 0]),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(x[..., 0, 0], rows, 2 * rows),
    "pairwise_distance": lambda x: F.pairwise_distance(x[..., 0, 0], rows),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, signs),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x[..., 0, 0], classes),
    "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(
        x[..., 0, 0], labels
    ),
    "lstm_cell": lambda x: torch.lstm_cell(
        x[:, 0, 0], (C[2, 4], C[2, 4]), C[16, 6], C[16, 4], C[16], C[16]
    ),
    "lstm": lambda x: torch.lstm(
        x[:, 0], (C[1, 2, 4], C[1, 2, 4]), (C[16, 6], C[16, 4], C[16], C[16]), True, 1, 0.0, True, False, True
    ),
    "gru": lambda x: torch.gru(
        x[:, 0],
        C[4, 2, 4],
        (*(C[12, 6], C[12, 4]) * 2, *(C[12, 8], C[12, 4]) * 2),
        False,
        2,
        0.0,
        True,
        True,
        True,
    ),
    "gru_cell": lambda x: torch.gru_cell(x[:, 0, 0], C[2, 4], C[12, 6], C[12, 4]),
}  # fmt: skip


# Operations of torch, by which the functions above prepare their inputs.
LEFT = {"abs", "double", "exp", "float", "mul", "pow", "sign"}


def everything(x: Tensor) -> dict[str, Any]:
    return {name: call(x) for name, call in CALLS.items()}


def gradients(results: dict[str, Any], x: Tensor) -> dict[str, Tensor]:
    """The gradient of each result w.r.t. the input."""
    found = {}
    for name, result in results.items():
        first = result[0] if isinstance(result, tuple) else result
        (found[name],) = torch.autograd.grad(first.sin().sum(), x, retain_graph=True)
    return found


def test_each_operation_is_computed_by_thnn_as_by_torch() -> None:
    reports: list[Report] = []
    targets = {node.target for node in torch.fx.symbolic_trace(everything).graph.nodes}

    def rewriting(module: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
        targets.update(node.target for node in module.graph.nodes)
        return backend(module, inputs, options={"report": reports.append})

    x = filled(2, 3, 6, 6).requires_grad_()
    found, expected = torch.compile(everything, backend=rewriting, fullgraph=True)(x), everything(x)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    # torch multiplies the gradient of hardsigmoid by 1 / 6 in float32.
    torch.testing.assert_close(gradients(found, x), gradients(expected, x), rtol=1e-7, atol=1e-8)
    (report,) = reports
    # Before 2.13, fake states of torch.lstm may have another shape than its states, so that it stays torch's.
    refused = {entry.kind for entry in report.left if entry.remark != UNKNOWN}
    assert refused <= ({"lstm"} if TorchVersion(torch.__version__) < "2.13" else set())
    assert {entry.kind for entry in report.left} - refused == LEFT
    assert (*report.fused, *report.apart) == ()
    # Dynamo breaks the graph at torch's gaussian_nll_loss, which reads whether a variance is negative.
    assert {*FUNCTIONS, *METHODS} - {F.gaussian_nll_loss} <= targets, "an operation without a call above"
