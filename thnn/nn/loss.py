"""Criteria: layers of losses."""

from __future__ import annotations

import torch
from torch import Tensor

from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional import loss as F
from thnn.nn.functional.convolution import linear

_SAME = "input and target (*), the same size; output () or, with reduction='none', (*)"
_CLASSES = (
    "input (N, C, ...) or (C), target (N, ...) or () of int64; weight (C); output () or, with reduction='none',"
    "\n    the size of target"
)
_BY_TORCH = "With reduction='none' and for a target that requires a gradient, torch computes the loss."
_NONE_BY_TORCH = "With reduction='none' torch computes the loss."
_NO_CLASS = "IndexError for a target that is not a class, "


def _doc(name: str, what: str, function: str, shapes: str = _SAME, remarks: str = _BY_TORCH) -> str:
    return layer_doc(
        name, what, shapes, function, remarks=remarks, errors=_NO_CLASS if "int64" in shapes else ""
    )


class L1Loss(torch.nn.L1Loss):
    __doc__ = _doc(
        "L1Loss",
        "Mean or sum of |input - target|",
        "L1CostFunction of the difference",
        remarks="The gradient is 0 where input and target are equal. " + _NONE_BY_TORCH,
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(torch.nn.MSELoss):
    __doc__ = _doc("MSELoss", "Mean or sum of (input - target)^2", "MSECriterionFunction")

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(torch.nn.SmoothL1Loss):
    __doc__ = _doc(
        "SmoothL1Loss",
        "Mean or sum of d^2 / (2 * beta) where d = |input - target| is below beta, else d - beta / 2",
        "SmoothL1CriterionFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(torch.nn.HuberLoss):
    __doc__ = _doc(
        "HuberLoss",
        "Mean or sum of d^2 / 2 where d = |input - target| is at most delta, else delta * (d - delta / 2)",
        "HuberCriterionFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, self.reduction, self.delta)


class BCELoss(torch.nn.BCELoss):
    __doc__ = _doc(
        "BCELoss",
        "Mean or sum of -weight * (target * log(input) + (1 - target) * log(1 - input))",
        "BCECriterionFunction",
        remarks="A logarithm is at least -100. " + _BY_TORCH,
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(torch.nn.BCEWithLogitsLoss):
    __doc__ = _doc(
        "BCEWithLogitsLoss",
        "BCELoss of sigmoid(input), without overflow; pos_weight multiplies the first logarithm",
        "BCEWithLogitsCriterionFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class NLLLoss(torch.nn.NLLLoss):
    __doc__ = _doc(
        "NLLLoss",
        "Negative log-likelihood of classes, input being log-probabilities",
        "ClassNLLCriterionFunction and SpatialClassNLLCriterionFunction",
        _CLASSES,
        _NONE_BY_TORCH,
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    __doc__ = _doc(
        "NLLLoss2d",
        "NLLLoss under the name that it had for images until torch 0.3",
        "SpatialClassNLLCriterionFunction",
        _CLASSES,
        _NONE_BY_TORCH,
    )


class CrossEntropyLoss(torch.nn.CrossEntropyLoss):
    __doc__ = _doc(
        "CrossEntropyLoss",
        "NLLLoss of the logarithm of softmax",
        "LogSoftMaxFunction and the classes of NLLLoss",
        _CLASSES,
        "With reduction='none', label smoothing, or a target of probabilities torch computes the loss.",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


if hasattr(torch.nn, "LinearCrossEntropyLoss"):  # since torch 2.13

    class LinearCrossEntropyLoss(torch.nn.LinearCrossEntropyLoss):
        __doc__ = _doc(
            "LinearCrossEntropyLoss",
            "CrossEntropyLoss of Linear",
            "LinearFunction, and the functions of CrossEntropyLoss",
            "input (N, in_features) or (in_features), target (N, *out_features) or () of int64; weight (C); output ()"
            "\n    or, with reduction='none', the size of target",
            "With options, which divide the batch, torch computes the loss; otherwise as CrossEntropyLoss.",
        )

        @layer_forward
        def forward(self, input: Tensor, target: Tensor) -> Tensor:
            if self.options is not None or (target.is_floating_point() and self.ignore_index is not None):
                return super().forward(input, target)
            logits = linear(input, self.linear.weight, self.linear.bias)
            return F.cross_entropy(
                logits.reshape(*input.shape[:-1], self.num_classes, *self.out_features),
                target,
                self.weight,
                ignore_index=-100 if self.ignore_index is None else self.ignore_index,
                reduction=self.reduction,
                label_smoothing=self.label_smoothing,
            )


class KLDivLoss(torch.nn.KLDivLoss):
    __doc__ = _doc(
        "KLDivLoss",
        "Mean or sum of target * (log(target) - input), or the sum divided by the batch size ('batchmean')",
        "DistKLDivCriterionFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class SoftMarginLoss(torch.nn.SoftMarginLoss):
    __doc__ = _doc(
        "SoftMarginLoss",
        "Mean or sum of log(1 + exp(-target * input)), targets 1 and -1",
        "SoftMarginCriterionFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class HingeEmbeddingLoss(torch.nn.HingeEmbeddingLoss):
    __doc__ = _doc(
        "HingeEmbeddingLoss",
        "Mean or sum of input for targets of 1, and of max(0, margin - input) for targets of -1",
        "HingeEmbeddingCriterionFunction",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(torch.nn.MarginRankingLoss):
    __doc__ = _doc(
        "MarginRankingLoss",
        "Mean or sum of max(0, margin - target * (input1 - input2)), targets 1 and -1",
        "MarginRankingCriterionFunction of the difference",
        "input1, input2 and target (*), the same size; output () or, with reduction='none', (*)",
    )

    @layer_forward
    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class PoissonNLLLoss(torch.nn.PoissonNLLLoss):
    __doc__ = _doc(
        "PoissonNLLLoss",
        "Negative log-likelihood of counts with a Poisson distribution, given its rate or, with log_input, the"
        "\n    logarithm of it",
        "PoissonNLLCriterionFunction and PoissonRateNLLCriterionFunction",
    )

    @layer_forward
    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(torch.nn.GaussianNLLLoss):
    __doc__ = _doc(
        "GaussianNLLLoss",
        "Negative log-likelihood of a target with a normal distribution, given its mean and variance",
        "GaussianNLLCriterionFunction",
        "input and target (*), the same size; var the same size, with 1 in place of one size, or without the last"
        "\n    dimension; output () or, with reduction='none', (*)",
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class PairwiseDistance(torch.nn.PairwiseDistance):
    __doc__ = layer_doc(
        "PairwiseDistance",
        "The p-norm of x1 - x2 + eps along the last dimension",
        "x1 and x2 (..., D), output (...) or, with keepdim, (..., 1)",
        "PairwiseDistanceFunction, for another p than 1 and 2 by torch",
    )

    @layer_forward
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class TripletMarginLoss(torch.nn.TripletMarginLoss):
    __doc__ = _doc(
        "TripletMarginLoss",
        "Mean or sum of max(0, margin + distance(anchor, positive) - distance(anchor, negative))",
        "PairwiseDistanceFunction and MarginRankingCriterionFunction; for another p than 1 and 2 by torch",
        "anchor, positive and negative (N, D) or (D); output () or, with reduction='none', (N)",
        _NONE_BY_TORCH,
    )

    @layer_forward
    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class CosineEmbeddingLoss(torch.nn.CosineEmbeddingLoss):
    __doc__ = _doc(
        "CosineEmbeddingLoss",
        "Mean or sum of 1 - c for targets of 1, and of max(0, c - margin) for targets of -1, c being the cosine of the"
        "\n    inputs",
        "CosineEmbeddingCriterionFunction",
        "input1 and input2 (N, D) or (D), target (N) or (); output () or, with reduction='none', the size of target",
    )

    @layer_forward
    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


class MultiMarginLoss(torch.nn.MultiMarginLoss):
    __doc__ = _doc(
        "MultiMarginLoss",
        "Hinge loss of the target class against every other class",
        "MultiMarginCriterionFunction",
        "input (N, C) or (C), target (N) or () of int64; weight (C); output () or, with reduction='none', the"
        "\n    size of target",
        _NONE_BY_TORCH,
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(torch.nn.MultiLabelMarginLoss):
    __doc__ = _doc(
        "MultiLabelMarginLoss",
        "Hinge loss of several classes of a sample, listed up to the first -1, against the others",
        "MultiLabelMarginCriterionFunction",
        "input and target (N, C) or (C), target of int64; output () or, with reduction='none', (N)",
        _NONE_BY_TORCH,
    )

    @layer_forward
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)
