"""The formula of batch normalization: its backward as differentiable operations, for ``create_graph=True``.

One expression serves all forms: the batch is a list of parts, one per device, and `reduce` sums vectors over all parts,
including the parts of other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from thnn._batch_norm import activation, stages

Reduce = Callable[[list[Tensor]], Sequence[Tensor]]


class Part(NamedTuple):
    """One part of a batch, with the mean and inverse deviation (C) of the whole batch that its forward used."""

    gradOutput: Tensor
    input: Tensor
    weight: Tensor | None
    bias: Tensor | None
    mean: Tensor
    inverse: Tensor


Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]


def relu_backward(part: Part, limit: float, output: Tensor | None = None) -> Part:
    """The part with the gradient w.r.t. the input of relu: 0 where that input is at most 0 or at least a finite
    `limit`, otherwise gradOutput.

    The mask is a constant, since the second derivative of relu is 0. `output` is the input of relu or its output, which
    have the same mask; None: the input is recomputed.
    """
    with torch.no_grad():
        _, input, weight, bias, mean, inverse = part
        output = stages.normalize(input, weight, bias, mean, inverse, None) if output is None else output
        is_cut = activation.is_cut(output, limit)
    return part._replace(gradOutput=part.gradOutput.masked_fill(is_cut, 0))


def gradients(
    parts: Sequence[Part],
    needs: Sequence[Sequence[bool]],
    eps: float,
    counts: Sequence[Tensor | float] | None,
    reduce: Reduce = lambda vectors: vectors,
) -> list[Gradients]:
    """Gradients of each part w.r.t. input, weight and bias; the last two are sums over that part only.

        gradInput = (g - sum(g) / n - centred * inverse^2 * sum(g * centred) / n) * inverse * weight

    Arguments:
        parts: Sequence: the parts in this process, with the gradient w.r.t. the input of relu as `gradOutput`
        needs: Sequence: for each part, whether input, weight and bias need a gradient
        eps: float: added to the variance
        counts: for each part, the number of values per channel in all parts, n, on the device of the part if it is a
            tensor; None: mean and inverse deviation are constants
        reduce: function: takes a list of vectors (m) of float64, one per part in this process; returns as many, each
            the sum over all parts of all processes, on the device of its argument. Differentiable. Called once, unless
            mean and inverse deviation are constants.
    """
    dims = [d for d in range(parts[0].input.dim()) if d != 1]
    shape = [1, -1] + [1] * (parts[0].input.dim() - 2)

    def channel_sum(tensor: Tensor) -> Tensor:
        return tensor.sum(dims, dtype=torch.float64)

    inputs = [p.input.to(stages.statistics_dtype(p.input)) for p in parts]
    g = [p.gradOutput.to(x.dtype) for p, x in zip(parts, inputs)]
    # For autograd the saved mean is a constant. The sums of centred x and of its square express mean and variance as
    # functions of the input, without cancellation.
    centred = [x - p.mean.to(x.dtype).reshape(shape) for p, x in zip(parts, inputs)]
    local = [[channel_sum(a), channel_sum(a * c)] for a, c in zip(g, centred)]
    inverses = [p.inverse for p in parts]
    totals: list[tuple[Tensor, Tensor]] = []
    if counts is not None:
        moments = [[channel_sum(c), channel_sum(c.square())] for c in centred]
        reduced = reduce([torch.cat((*a, *b)) for a, b in zip(local, moments)])
        for k, (vector, count) in enumerate(zip(reduced, counts)):
            total, product, first, second = vector.chunk(4)
            offset = first / count
            inverse = stages.inverse_deviation((second / count - offset.square()).clamp(min=0), eps)
            # A variance that was 0 in the forward must be 0 here, too, despite rounding.
            inverses[k] = inverse.masked_fill(parts[k].inverse == 0, 0)
            centred[k] = centred[k] - offset.to(centred[k].dtype).reshape(shape)
            local[k][1] = local[k][1] - offset * local[k][0]
            totals.append((total / count, (product - offset * total) / count))

    found: list[Gradients] = []
    for k, (part, wanted) in enumerate(zip(parts, needs)):
        x, inverse = inputs[k], inverses[k]

        def spread(vector: Tensor, x: Tensor = x) -> Tensor:
            return vector.to(x.dtype).reshape(shape)

        gradInput = gradWeight = gradBias = None
        if wanted[0]:
            a = g[k]
            if totals:
                mean_g, mean_product = totals[k]
                a = a - spread(mean_g) - centred[k] * spread(inverse.square() * mean_product)
            scale = inverse if part.weight is None else inverse * part.weight
            gradInput = (a * spread(scale)).to(part.input.dtype)
        if wanted[1] and part.weight is not None:
            gradWeight = (local[k][1] * inverse).to(part.weight.dtype)
        if wanted[2]:
            gradBias = local[k][0].to(part.bias.dtype if part.bias is not None else x.dtype)
        found.append((gradInput, gradWeight, gradBias))
    return found
