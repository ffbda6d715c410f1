"""Losses: the functions of ``torch.nn.functional`` of the same names, computed by thnn.

`reduction` is 'mean', 'sum' or 'none'; `size_average` and `reduce` are its old form, which overrides it if given. The
criteria of THNN.h always reduce, and only have a gradient w.r.t. the input: with 'none', and for a weight of
binary_cross_entropy or a target (except of l1_loss) that requires a gradient, torch computes the loss.

Inputs are float32, float64, float16 or bfloat16; classes are int64. Errors: TypeError for
other types, ValueError for wrong sizes and settings, IndexError for numbers that are not classes.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn._binding.arguments import in_float32, to_bool
from thnn._classes import function_classes
from thnn._torch import has_tangent, in_transform
from thnn.nn.functional.activation import log_softmax

_bce = function_classes["BCECriterionFunction"]
_bce_with_logits = function_classes["BCEWithLogitsCriterionFunction"]
_class_nll = function_classes["ClassNLLCriterionFunction"]
_cosine_embedding = function_classes["CosineEmbeddingCriterionFunction"]
_dist_kl_div = function_classes["DistKLDivCriterionFunction"]
_gaussian_nll = function_classes["GaussianNLLCriterionFunction"]
_hinge_embedding = function_classes["HingeEmbeddingCriterionFunction"]
_huber = function_classes["HuberCriterionFunction"]
_l1_cost = function_classes["L1CostFunction"]
_margin_ranking = function_classes["MarginRankingCriterionFunction"]
_mse = function_classes["MSECriterionFunction"]
_multi_label_margin = function_classes["MultiLabelMarginCriterionFunction"]
_multi_margin = function_classes["MultiMarginCriterionFunction"]
_pairwise_distance = function_classes["PairwiseDistanceFunction"]
_poisson_nll = function_classes["PoissonNLLCriterionFunction"]
_poisson_rate_nll = function_classes["PoissonRateNLLCriterionFunction"]
_smooth_l1 = function_classes["SmoothL1CriterionFunction"]
_soft_margin = function_classes["SoftMarginCriterionFunction"]
_spatial_class_nll = function_classes["SpatialClassNLLCriterionFunction"]

_REDUCTIONS = ("mean", "sum", "none")


def _reduction(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """The reduction by its old form, if that is given, and by its name otherwise."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            return "none"
        return "sum" if size_average is not None and not size_average else "mean"
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction: expected one of {_REDUCTIONS}, got {reduction!r}")
    return reduction


def _by_torch(reduction: str, *constants: Tensor | None) -> bool:
    """True if no criterion of THNN.h computes the loss."""
    for t in constants:  # any() takes a tenth of the time of a small loss
        if t is not None and (t.requires_grad or has_tangent(t)):
            break
    else:
        return reduction == "none"
    return True


def _same_size(
    input: Tensor, target: Tensor, names: tuple[str, str] = ("input", "target")
) -> tuple[Tensor, Tensor]:
    """Input and target, as of `in_float32`, which have other names in an error, broadcast to their common size."""
    input, target = in_float32(input, target)
    if input.shape == target.shape:
        return input, target
    try:
        expanded = torch.broadcast_tensors(input, target)
    except RuntimeError:
        raise ValueError(
            f"{names[1]}: expected the size of {names[0]} {tuple(input.shape)}, got {tuple(target.shape)}"
        ) from None
    return expanded[0], expanded[1]


def _check_size(input: Tensor, target: Tensor) -> None:
    """Raises ValueError for a target of another size, which some functions of torch refuse."""
    if input.shape != target.shape:
        raise ValueError(
            f"target: expected the size of input {tuple(input.shape)}, got {tuple(target.shape)}"
        )


def _expanded(name: str, factor: Tensor, input: Tensor) -> Tensor:
    """A factor of each element, broadcast to the size of input. ValueError for a size that does not fit."""
    if factor.shape == input.shape:
        return factor
    try:
        return factor.expand_as(input).contiguous()
    except RuntimeError:
        raise ValueError(
            f"{name}: expected a size that broadcasts to {tuple(input.shape)}, got {tuple(factor.shape)}"
        ) from None


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean or sum of |input - target|; with `weight` computed by torch."""
    reduction = _reduction(reduction, size_average, reduce)
    if weight is not None or _by_torch(reduction):
        return F.l1_loss(input, target, reduction=reduction, weight=weight)  # type: ignore[call-arg]
    input, target = _same_size(input, target)
    # AbsCriterion has a gradient of 1 where input and target are equal, torch 0.
    output: Tensor = _l1_cost.apply(input - target)
    return output / input.numel() if reduction == "mean" else output


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean or sum of (input - target)^2; with `weight` computed by torch."""
    reduction = _reduction(reduction, size_average, reduce)
    if weight is not None or _by_torch(reduction, target):
        return F.mse_loss(input, target, reduction=reduction, weight=weight)  # type: ignore[call-arg]
    output: Tensor = _mse.apply(*_same_size(input, target), reduction == "mean")
    return output


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The mean or sum of d^2 / (2 * beta) where d = |input - target| is below beta, else d - beta / 2."""
    if not beta >= 0:
        raise ValueError(f"beta: expected at least 0, got {beta}")
    reduction = _reduction(reduction, size_average, reduce)
    # With an extreme beta, the quotient below could overflow or vanish.
    if _by_torch(reduction, target) or not (beta == 0 or 1e-9 <= beta <= 1e9):
        return F.smooth_l1_loss(input, target, reduction=reduction, beta=beta)
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    input, target = _same_size(input, target)
    output: Tensor
    if beta == 1:
        output = _smooth_l1.apply(input, target, reduction == "mean")
        return output
    output = _huber.apply(input, target, reduction == "mean", beta)
    return output / beta


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """The mean or sum of d^2 / 2 where d = |input - target| is at most delta, else delta * (d - delta / 2); with
    `weight` computed by torch (Huber 1964)."""
    if not delta > 0:
        raise ValueError(f"delta: expected above 0, got {delta}")
    reduction = _reduction(reduction, None, None)
    if weight is not None or _by_torch(reduction, target):
        return F.huber_loss(input, target, reduction=reduction, delta=delta, weight=weight)  # type: ignore[call-arg]
    output: Tensor = _huber.apply(*_same_size(input, target), reduction == "mean", delta)
    return output


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of -weight * (target * log(input) + (1 - target) * log(1 - input)).

    `weight` broadcasts to the size of input. ValueError for an input that is not in [0, 1].
    """
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction, target, weight):
        return F.binary_cross_entropy(input, target, weight, reduction=reduction)
    _check_size(input, target)
    if weight is not None:
        weight = _expanded("weight", weight, input)
    output: Tensor = _bce.apply(*in_float32(input, target, weight), reduction == "mean")
    return output


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(input), without overflow; the first logarithm is multiplied by `pos_weight`.

    `weight` and `pos_weight` broadcast to the size of input.
    """
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction, target, weight, pos_weight):
        return F.binary_cross_entropy_with_logits(
            input, target, weight, reduction=reduction, pos_weight=pos_weight
        )
    _check_size(input, target)
    if weight is not None:
        weight = _expanded("weight", weight, input)
    if pos_weight is not None:
        # With L and R the logarithms of sigmoid(input) and its complement, p * t * L + (1 - t) * R is
        # f * (u * L + (1 - u) * R), where f = p * t + 1 - t and u = p * t / f.
        positive = _expanded("pos_weight", pos_weight, input) * target
        factor = positive + (1 - target)
        target = torch.where(factor == 0, positive, positive / factor)
        weight = factor if weight is None else factor * weight
    output: Tensor = _bce_with_logits.apply(*in_float32(input, target, weight), reduction == "mean")
    return output


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The mean or sum of target * (log(target) - input), or the sum divided by the batch size ('batchmean').

    `input` has log-probabilities; with log_target so has `target`.
    """
    log_target = to_bool("log_target", log_target)
    batch_mean = reduction == "batchmean"
    reduction = _reduction("sum" if batch_mean else reduction, size_average, reduce)
    if _by_torch(reduction, target) or (not log_target and _may_be_negative(target)):
        # torch warns about reduction='mean'.
        terms = F.kl_div(input, target, reduction="none", log_target=log_target)
        output = terms if reduction == "none" else terms.mean() if reduction == "mean" else terms.sum()
    else:
        input, target = _same_size(input, target)
        output = _dist_kl_div.apply(input, target.exp() if log_target else target, reduction == "mean")
    return output / input.shape[0] if batch_mean and input.dim() else output


def _may_be_negative(target: Tensor) -> bool:
    """False if all targets are known to be at least 0. DistKLDivCriterion leaves out others; for torch their logarithm
    is NaN."""
    if torch.compiler.is_compiling() or in_transform() or target.device.type != "cpu":
        return True
    return bool(target.numel() and target.detach().amin() < 0)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of log(1 + exp(-target * input)) for targets of 1 and -1, broadcast to the size of input."""
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction, target):
        return F.soft_margin_loss(input, target, reduction=reduction)
    input, target = in_float32(input, target)
    output: Tensor = _soft_margin.apply(input, _expanded("target", target, input), reduction == "mean")
    return output


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of exp(input) - target * input or, without `log_input`, input - target * log(input + eps).

    `full` adds Stirling's approximation of log(target!), target * log(target) - target + log(2 * pi * target) / 2, for
    targets above 1.
    """
    log_input, full = to_bool("log_input", log_input), to_bool("full", full)
    if not eps >= 0:
        raise ValueError(f"eps: expected at least 0, got {eps}")
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction, target):
        return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=reduction)
    input, target = _same_size(input, target)
    is_mean = reduction == "mean"
    output: Tensor
    if log_input:
        output = _poisson_nll.apply(input, target, is_mean)
    else:
        output = _poisson_rate_nll.apply(input, target, is_mean, eps)
    if full:
        terms = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        terms = terms.masked_fill(target <= 1, 0)
        output = output + (terms.mean() if is_mean else terms.sum())
    return output


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of (log(v) + (input - target)^2 / v) / 2 with v = max(var, eps) (Nix and Weigend 1994).

    `var` has the size of input, 1 in place of one size, or no last dimension. `full` adds log(2 * pi) / 2 per element.
    ValueError for a variance below 0.
    """
    full = to_bool("full", full)
    reduction = _reduction(reduction, None, None)
    if not isinstance(var, Tensor):
        largest = torch.finfo(input.dtype).max
        if not 0 <= var <= largest:
            raise ValueError(f"var: expected a number from 0 to {largest}, got {var}")
        var = torch.full_like(input, var)
    if _by_torch(reduction, target):
        return F.gaussian_nll_loss(input, target, var, full=full, eps=eps, reduction=reduction)
    size = var.unsqueeze(-1).shape if input.shape[:-1] == var.shape and input.dim() else var.shape
    others = [k for k, n in enumerate(input.shape) if k < len(size) and size[k] != n]
    if len(size) != input.dim() or len(others) > 1 or any(size[k] != 1 for k in others):
        raise ValueError(
            f"var: expected the size of input {tuple(input.shape)}, perhaps with a size of 1 or without the last"
            f" dimension, got {tuple(var.shape)}"
        )
    input, target = _same_size(input, target)
    is_mean = reduction == "mean"
    var = var.reshape(size).expand_as(input).to(input.dtype)
    output: Tensor = _gaussian_nll.apply(input, target, var, is_mean, eps)
    if full:
        output = output + 0.5 * math.log(2 * math.pi) * (1 if is_mean else input.numel())
    return output


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension; for another p than 1 and 2 computed by torch."""
    keepdim = to_bool("keepdim", keepdim)
    if p not in (1, 2) or x1.dim() == 0 or x2.dim() == 0:
        return F.pairwise_distance(x1, x2, p, eps, keepdim)
    x1, x2 = _same_size(x1, x2, ("x1", "x2"))
    rows = [x.flatten(0, -2) if x.dim() > 1 else x.unsqueeze(0) for x in (x1, x2)]
    distances: Tensor = _pairwise_distance.apply(*rows, int(p), eps)
    distances = distances.reshape(x1.shape[:-1])
    return distances.unsqueeze(-1) if keepdim else distances


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of max(0, margin + d(anchor, positive) - d(anchor, negative)), d being pairwise_distance; with
    `swap`, d(positive, negative) counts if it is smaller than d(anchor, negative) (Balntas et al. 2016)."""
    swap = to_bool("swap", swap)
    if not margin > 0:
        raise ValueError(f"margin: expected above 0, got {margin}")
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction):
        return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=reduction)
    tensors = {"anchor": anchor, "positive": positive, "negative": negative}
    for name, x in tensors.items():
        if not x.is_floating_point() or x.dtype != anchor.dtype:
            raise TypeError(
                f"{name}: expected floating-point numbers of one type in all tensors, got {x.dtype}"
            )
        _same_size(anchor, x, ("anchor", name))
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, pairwise_distance(positive, negative, p, eps))
    return margin_ranking_loss(far, near, torch.ones_like(far), margin, reduction=reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of 1 - c for targets of 1, and of max(0, c - margin) for targets of -1, c being the cosine of the
    rows of both inputs.

    Shapes: inputs (N, D) or (D), target (N) or ().
    """
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction, target):
        return F.cosine_embedding_loss(input1, input2, target, margin, reduction=reduction)
    input1, input2 = _same_size(input1, input2, ("input1", "input2"))
    if input1.dim() not in (1, 2) or target.dim() != input1.dim() - 1:
        raise ValueError(
            "target: expected inputs (N, D) and a target (N), or (D) and (), got"
            f" {tuple(input1.shape)} and {tuple(target.shape)}"
        )
    if input1.dim() == 1:
        input1, input2, target = (x.unsqueeze(0) for x in (input1, input2, target))
    if target.shape[0] not in (1, input1.shape[0]):
        raise ValueError(f"target: expected {input1.shape[0]} numbers, got {target.shape[0]}")
    target = _signs(target.expand(input1.shape[0]), input1)
    output: Tensor = _cosine_embedding.apply(input1, input2, target, reduction == "mean", margin)
    return output


def _signs(target: Tensor, input: Tensor) -> Tensor:
    """Targets 1 and -1, which may be integers, in the type of the input."""
    return target if target.is_floating_point() else target.to(input.dtype)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of input for targets of 1, and of max(0, margin - input) for targets of -1."""
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction, target):
        return F.hinge_embedding_loss(input, target, margin, reduction=reduction)
    target = _signs(target, input)
    output: Tensor = _hinge_embedding.apply(*_same_size(input, target), reduction == "mean", margin)
    return output


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum of max(0, margin - target * (input1 - input2)): target is 1 where input1 should be larger, else
    -1."""
    reduction = _reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise ValueError(
            f"target: expected inputs and target of the same number of dimensions, got {tuple(input1.shape)},"
            f" {tuple(input2.shape)} and {tuple(target.shape)}"
        )
    if _by_torch(reduction, target):
        return F.margin_ranking_loss(input1, input2, target, margin, reduction=reduction)
    input1, input2 = _same_size(input1, input2, ("input1", "input2"))
    difference, target = _same_size(input1 - input2, _signs(target, input1), ("inputs", "target"))
    output: Tensor = _margin_ranking.apply(difference, target, reduction == "mean", margin)
    return output


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum over the batch of sum over j != t of weight[t] * max(0, margin - x[t] + x[j])^p / C.

    Shapes: input (N, C) or (C), target (N) or () of classes, weight (C).
    """
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction):
        return F.multi_margin_loss(input, target, p, margin, weight, reduction=reduction)
    output: Tensor = _multi_margin.apply(*in_float32(input, target, weight), reduction == "mean", p, margin)
    return output


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean or sum over the batch of sum over classes t of the target and others j of max(0, 1 - x[t] + x[j]) / C.

    Shapes: input (N, C) or (C), target the same: classes up to the first -1.
    """
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction):
        return F.multilabel_margin_loss(input, target, reduction=reduction)
    output: Tensor = _multi_label_margin.apply(*in_float32(input, target), reduction == "mean")
    return output


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-weight[t] * input[t] summed over the batch; 'mean' divides by the sum of the weights of the targets.

    Shapes: input (N, C, ...) or (C) of log-probabilities, target (N, ...) or () of classes. Targets equal to
    ignore_index are skipped. On the CPU, torch computes the loss for weights that are negative or add up to 0. On CUDA,
    in compiled code and in torch.func, a loss whose weights add up to 0 is NaN, as torch's is, with a gradient of 0.
    """
    reduction = _reduction(reduction, size_average, reduce)
    if _by_torch(reduction):
        return F.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)
    input, weight = in_float32(input, weight)
    mean = reduction == "mean"
    expected = (*input.shape[:1], *input.shape[2:]) if input.dim() > 1 else ()
    if input.dim() == 0 or target.shape != expected:
        raise ValueError(
            f"target: expected the size of input without C, {expected}, got {tuple(target.shape)} for an input"
            f" {tuple(input.shape)}"
        )
    output: Tensor
    if input.dim() <= 2:
        output = _class_nll.apply(input, target, weight, mean, ignore_index)
    elif input.dim() == 4:
        output = _spatial_class_nll.apply(input, target, weight, mean, ignore_index)
    else:
        images, classes = input.flatten(2).unsqueeze(-1), target.flatten(1).unsqueeze(-1)
        output = _spatial_class_nll.apply(images, classes, weight, mean, ignore_index)
    # A trace must not depend on the values, and reading them would wait for the device.
    is_known = output.device.type == "cpu" and not torch.compiler.is_compiling() and not in_transform()
    if is_known and weight is not None and weight.numel() and not weight.amin().item() >= 0:
        # The criterion gives a gradient of 0 if the weights add up to less than 0, or to NaN.
        return F.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not mean:
        return output
    # The criterion does not divide by a sum of weights of 0 as torch does, and gives a gradient of 0.
    if is_known:
        loss = output.item()
        if (loss == 0 or math.isnan(loss)) and _total_weight(target, weight, ignore_index) == 0:
            return F.nll_loss(input, target, weight, ignore_index=ignore_index)
        return output
    is_zero = (output == 0) & (_total_weight(target, weight, ignore_index) == 0)
    return torch.where(is_zero, float("nan"), output)


def _total_weight(target: Tensor, weight: Tensor | None, ignore_index: int) -> Tensor:
    """The sum of the weights of the targets that count."""
    is_counted = target != ignore_index
    if weight is None:
        return is_counted.sum()
    return torch.where(is_counted, weight.detach().take(torch.where(is_counted, target, 0)), 0).sum()


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax(input, dim 1, or 0 for an input (C)).

    torch computes the loss for targets of probabilities, and with label smoothing.
    """
    reduction = _reduction(reduction, size_average, reduce)
    if label_smoothing != 0 or target.is_floating_point() or _by_torch(reduction):
        return F.cross_entropy(
            input,
            target,
            weight,
            ignore_index=ignore_index,
            reduction=reduction,
            label_smoothing=label_smoothing,
        )
    if input.dim() == 0:
        raise ValueError(
            "input: expected 1 dimension (C) or more (N, C, ...), got a tensor without dimensions"
        )
    (input,) = in_float32(input)
    logarithms = log_softmax(input, 0 if input.dim() == 1 else 1)
    return nll_loss(logarithms, target, weight, ignore_index=ignore_index, reduction=reduction)
