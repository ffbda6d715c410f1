"""The function classes of ``torch.nn._functions`` that were written by hand, not generated from THNN.h.

They have both forms of call: until 0.1.12 ``X(*settings)(*tensors)``, since 0.2 ``X.apply(*tensors, *settings)``. The
functions of thnn.nn.functional compute them, or torch's where thnn has none. In both forms the settings can also be
given by keyword, with the names in the signature of `apply`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as torch_functional
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

import thnn.nn.functional as F
from thnn._classes import function_classes

_FUNCTIONS = "torch.nn._functions"
_unpool2d = function_classes["SpatialMaxUnpoolingFunction"]
_cross_map_lrn = function_classes["SpatialCrossMapLRNFunction"]
_im2col = function_classes["Im2ColFunction"]
_col2im = function_classes["Col2ImFunction"]


class _Written:
    """Base of the classes: keeps the settings by name, and calls `apply` with the tensors and the settings."""

    #: The tensors are the first parameters of `apply`.
    _tensors: ClassVar[int] = 1
    #: The settings in the order of the constructor, where it is not the order of `apply`.
    _order: ClassVar[tuple[str, ...]] = ()
    #: True if the constructor takes `return_indices`; `apply` always returns the indices.
    _has_indices: ClassVar[bool] = False

    apply: Any

    def __init__(self, *settings: Any, **keywords: Any) -> None:
        name = type(self).__name__
        names = self._order or tuple(inspect.signature(self.apply).parameters)[self._tensors :]
        if len(settings) > len(names):
            raise TypeError(f"{name}: expected at most {len(names)} settings {names}, got {len(settings)}")
        self._settings = dict(zip(names, settings))
        for key, value in keywords.items():
            if key not in names or key in self._settings:
                why = "was given twice" if key in self._settings else f"is unknown; expected one of {names}"
                raise TypeError(f"{name}: {key} {why}")
            self._settings[key] = value

    def __call__(self, *tensors: Any) -> Any:
        if not self._has_indices:
            return type(self).apply(*tensors, **self._settings)
        settings = {name: value for name, value in self._settings.items() if name != "return_indices"}
        result = type(self).apply(*tensors, **settings)
        return result if self._settings.get("return_indices") else result[0]


class Softsign(_Written):
    """input / (1 + |input|)."""

    __module__ = f"{_FUNCTIONS}.activation"

    @staticmethod
    def apply(input: Tensor) -> Tensor:
        return F.softsign(input)


class ConvNd(_Written):
    """A convolution, or with `transposed` its transpose, in 1 to 3 dimensions, computed by torch.

    The last three arguments chose algorithms of cuDNN. They are ignored; torch.backends.cudnn has them.
    """

    __module__ = f"{_FUNCTIONS}.conv"
    _tensors = 3

    @staticmethod
    def apply(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        transposed: bool,
        output_padding: Sequence[int],
        groups: int,
        benchmark: bool = False,
        deterministic: bool = False,
        cudnn_enabled: bool = True,
    ) -> Tensor:
        return torch.convolution(
            input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )

    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
        return super().__call__(input, weight, bias)


class Dropout(_Written):
    """``torch.nn.functional.dropout`` with the arguments (p, train, inplace)."""

    __module__ = f"{_FUNCTIONS}.dropout"

    @staticmethod
    def apply(input: Tensor, p: float = 0.5, train: bool = False, inplace: bool = False) -> Tensor:
        return torch_functional.dropout(input, p, train, inplace)


class FeatureDropout(_Written):
    """``torch.feature_dropout`` with the arguments (p, train, inplace): zeroes whole channels."""

    __module__ = f"{_FUNCTIONS}.dropout"

    @staticmethod
    def apply(input: Tensor, p: float = 0.5, train: bool = False, inplace: bool = False) -> Tensor:
        return (torch.feature_dropout_ if inplace else torch.feature_dropout)(input, p, train)


class Bilinear(_Written):
    """input1 * weight[k] * input2 + bias[k] for each output feature k, computed by torch."""

    __module__ = f"{_FUNCTIONS}.linear"
    _tensors = 4

    @staticmethod
    def apply(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return torch_functional.bilinear(input1, input2, weight, bias)


class CosineEmbeddingLoss(_Written):
    """1 - cosine where y is 1, max(0, cosine - margin) where y is -1, computed by torch."""

    __module__ = f"{_FUNCTIONS}.loss"
    _tensors = 3

    @staticmethod
    def apply(
        input1: Tensor, input2: Tensor, y: Tensor, margin: float = 0, size_average: bool = True
    ) -> Tensor:
        return torch_functional.cosine_embedding_loss(
            input1, input2, y, margin, reduction=_mean(size_average)
        )


class HingeEmbeddingLoss(_Written):
    """input where target is 1, max(0, margin - input) where it is -1."""

    __module__ = f"{_FUNCTIONS}.loss"
    _tensors = 2

    @staticmethod
    def apply(input: Tensor, target: Tensor, margin: float = 1, size_average: bool = True) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin, reduction=_mean(size_average))


class MarginRankingLoss(_Written):
    """max(0, -y * (input1 - input2) + margin)."""

    __module__ = f"{_FUNCTIONS}.loss"
    _tensors = 3

    @staticmethod
    def apply(input1: Tensor, input2: Tensor, y: Tensor, margin: float, size_average: bool = True) -> Tensor:
        return F.margin_ranking_loss(input1, input2, y, margin, reduction=_mean(size_average))


def _mean(size_average: bool) -> str:
    return "mean" if size_average else "sum"


class PackPadded(_Written):
    """Padded sequences to (data, batch_sizes), computed by torch. `lengths` is a list or a tensor."""

    __module__ = f"{_FUNCTIONS}.packing"
    _tensors = 2

    @staticmethod
    def apply(input: Tensor, lengths: Any, batch_first: bool = False) -> tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(input, lengths, batch_first)
        return packed.data, packed.batch_sizes


class ConstantPadNd(_Written):
    """``torch.nn.functional.pad`` with the arguments (pad, value)."""

    __module__ = f"{_FUNCTIONS}.padding"

    @staticmethod
    def apply(input: Tensor, pad: Any, value: float = 0) -> Tensor:
        return torch_functional.pad(input, list(pad), "constant", value)


class ConstantPad2d(ConstantPadNd):
    """The name of ConstantPadNd until 0.1.12."""

    __module__ = f"{_FUNCTIONS}.padding"


class GridSampler(_Written):
    """An image at the positions of a grid, where -1 and 1 are the centres of the border pixels."""

    __module__ = f"{_FUNCTIONS}.vision"
    _tensors = 2

    @staticmethod
    def apply(input: Tensor, grid: Tensor, padding_mode: str = "zeros") -> Tensor:
        return F.grid_sample(input, grid, "bilinear", padding_mode, True)


class AffineGridGenerator(_Written):
    """The grid of an affine transformation, where -1 and 1 are the centres of the border pixels."""

    __module__ = f"{_FUNCTIONS}.vision"

    @staticmethod
    def apply(theta: Tensor, size: Sequence[int]) -> Tensor:
        return torch_functional.affine_grid(theta, list(size), True)


def grid_sampler(input: Tensor, grid: Tensor, padding_mode: str = "zeros") -> Tensor:
    """`GridSampler` as a function."""
    return GridSampler.apply(input, grid, padding_mode)


def affine_grid_generator(theta: Tensor, size: Sequence[int]) -> Tensor:
    """`AffineGridGenerator` as a function."""
    return AffineGridGenerator.apply(theta, size)


for _function in (grid_sampler, affine_grid_generator):
    _function.__module__ = f"{_FUNCTIONS}.vision"


class SELU(_Written):
    """scale * (max(0, x) + min(0, alpha * (exp(x) - 1)))."""

    __module__ = f"{_FUNCTIONS}.thnn.activation"

    @staticmethod
    def apply(input: Tensor, inplace: bool = False) -> Tensor:
        return F.selu(input, inplace)


class Softmin(_Written):
    """exp(-input) / its sum along `dim`; without it 0 for 1 and 3 dimensions, 1 for 2 and 4."""

    __module__ = f"{_FUNCTIONS}.thnn.activation"

    @staticmethod
    def apply(input: Tensor, dim: int | None = None) -> Tensor:
        return F.softmin(input, dim)


class CrossMapLRN2d(_Written):
    """input / (k + alpha * mean of the squares of `size` neighbouring channels)^beta."""

    __module__ = f"{_FUNCTIONS}.thnn.normalization"

    @staticmethod
    def apply(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> Tensor:
        output: Tensor = _cross_map_lrn.apply(input, size, alpha, beta, k)
        return output


class _MaxPool(_Written):
    """Base of the max poolings of windows, which `_function` computes."""

    _function: ClassVar[Any]
    _order = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")
    _has_indices = True

    @classmethod
    def apply(
        cls,
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        return cls._function(input, kernel_size, stride, padding, dilation, ceil_mode, True)


class MaxPool1d(_MaxPool):
    """(maxima, indices) of the windows of a sequence; the maxima only if an object is called."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """(maxima, indices) of the windows of an image; the maxima only if an object is called."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """(maxima, indices) of the windows of a volume; the maxima only if an object is called."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.max_pool3d)


class MaxUnpool2d(_Written):
    """An image (oH, oW) of zeros with the input at the indices of MaxPool2d."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _tensors = 2

    @staticmethod
    def apply(input: Tensor, indices: Tensor, output_size: Sequence[int]) -> Tensor:
        height, width = list(output_size)[-2:]
        output: Tensor = _unpool2d.apply(input, indices, width, height)
        return output


class MaxUnpool3d(_Written):
    """A volume (oD, oH, oW) of zeros with the input at the indices of MaxPool3d.

    The indices are positions in the volume, so that `stride` and `padding` have no effect.
    """

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _tensors = 2

    @staticmethod
    def apply(
        input: Tensor, indices: Tensor, output_size: Sequence[int], stride: Any = None, padding: Any = 0
    ) -> Tensor:
        depth, height, width = list(output_size)[-3:]
        # Positions in a volume are those in an image of its slices, one below the other.
        flat: Tensor = _unpool2d.apply(input.flatten(-3, -2), indices.flatten(-3, -2), width, depth * height)
        return flat.unflatten(-2, (depth, height))


class FractionalMaxPool2d(_Written):
    """(maxima, indices) of windows at pseudo-random positions; the maxima only if an object is called."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _order = ("kh", "kw", "output_size", "output_ratio", "return_indices", "_random_samples")
    _has_indices = True

    @staticmethod
    def apply(
        input: Tensor,
        kh: int,
        kw: int,
        output_size: Any = None,
        output_ratio: Any = None,
        _random_samples: Tensor | None = None,
    ) -> Any:
        return F.fractional_max_pool2d(input, (kh, kw), output_size, output_ratio, True, _random_samples)


class AvgPool2d(_Written):
    """The means of the windows of an image."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"

    @staticmethod
    def apply(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Tensor:
        return F.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)


class AvgPool3d(_Written):
    """The means of the windows of a volume."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"

    @staticmethod
    def apply(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Tensor:
        return F.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)


class _AdaptiveMaxPool(_Written):
    """Base of the max poolings of adaptive regions, which `_function` computes."""

    _function: ClassVar[Any]
    _order = ("output_size", "return_indices")
    _has_indices = True

    @classmethod
    def apply(cls, input: Tensor, output_size: Any) -> Any:
        return cls._function(input, output_size, True)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """(maxima, indices) of adaptive regions of a sequence; the maxima only if an object is called."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """(maxima, indices) of adaptive regions of an image; the maxima only if an object is called."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """(maxima, indices) of adaptive regions of a volume, computed by torch; the maxima only if an object is called."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(torch_functional.adaptive_max_pool3d)


class _AdaptiveAvgPool(_Written):
    """Base of the means of adaptive regions, which `_function` computes."""

    _function: ClassVar[Any]

    @classmethod
    def apply(cls, input: Tensor, output_size: Any) -> Any:
        return cls._function(input, output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of adaptive regions of a sequence."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of adaptive regions of an image."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of adaptive regions of a volume."""

    __module__ = f"{_FUNCTIONS}.thnn.pooling"
    _function = staticmethod(F.adaptive_avg_pool3d)


class Embedding(_Written):
    """The rows of `weight` that `indices` name; a negative `padding_idx` is none."""

    __module__ = f"{_FUNCTIONS}.thnn.sparse"
    _tensors = 2

    @staticmethod
    def apply(
        indices: Tensor,
        weight: Tensor,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Tensor:
        if padding_idx is not None and padding_idx < 0:
            padding_idx = None
        return F.embedding(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)


class EmbeddingBag(_Written):
    """The sums or means of the rows of `weight` that each bag of `indices` names."""

    __module__ = f"{_FUNCTIONS}.thnn.sparse"
    _tensors = 3

    @staticmethod
    def apply(
        weight: Tensor,
        indices: Tensor,
        offsets: Tensor | None = None,
        max_norm: float | None = None,
        norm_type: float = 2,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
    ) -> Tensor:
        return F.embedding_bag(indices, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode)


class UpsamplingNearest2d(_Written):
    """An image enlarged by repeated elements."""

    __module__ = f"{_FUNCTIONS}.thnn.upsampling"

    @staticmethod
    def apply(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
        return F.interpolate(input, *_sizes(size, scale_factor))


class UpsamplingNearest3d(UpsamplingNearest2d):
    """A volume enlarged by repeated elements."""

    __module__ = f"{_FUNCTIONS}.thnn.upsampling"


class UpsamplingBilinear2d(_Written):
    """An image in another size by linear interpolation with aligned corners."""

    __module__ = f"{_FUNCTIONS}.thnn.upsampling"

    @staticmethod
    def apply(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
        return F.interpolate(input, *_sizes(size, scale_factor), "bilinear", True)


class UpsamplingTrilinear3d(_Written):
    """A volume in another size by linear interpolation with aligned corners."""

    __module__ = f"{_FUNCTIONS}.thnn.upsampling"

    @staticmethod
    def apply(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
        return F.interpolate(input, *_sizes(size, scale_factor), "trilinear", True)


def _sizes(size: Any, scale_factor: Any) -> tuple[Any, Any]:
    """The size if it is given: callers of 2017 gave the scale factor, too."""
    return size, None if size is not None else scale_factor


class Im2Col(_Written):
    """The windows of an image as columns; the arguments are pairs (height, width)."""

    __module__ = f"{_FUNCTIONS}.thnn.fold"

    @staticmethod
    def apply(input: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
        output: Tensor = _im2col.apply(input, *kernel_size, *dilation, *padding, *stride)
        return output


class Col2Im(_Written):
    """The sum of columns of windows in an image; the arguments are pairs (height, width)."""

    __module__ = f"{_FUNCTIONS}.thnn.fold"

    @staticmethod
    def apply(
        input: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
    ) -> Tensor:
        output: Tensor = _col2im.apply(input, *output_size, *kernel_size, *dilation, *padding, *stride)
        return output


def batchnorm_double_backwards_fn(
    input: Tensor,
    gamma: Tensor | None,
    ggI: Tensor | None,
    ggG: Tensor | None,
    ggB: Tensor | None,
    gO: Tensor,
    eps: float,
    save_mean: Tensor | None,
    save_std: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
) -> tuple[Tensor, Tensor | None, Tensor]:
    """The gradients w.r.t. input, gamma and gO of the gradients of batch normalization.

    ggI, ggG and ggB are the gradients w.r.t. the gradients w.r.t. input, gamma and beta; None is zero. In training the
    statistics are computed again from the input, so that save_mean and save_std may be None.
    """
    with torch.enable_grad():
        x, g = input.detach().requires_grad_(), gO.detach().requires_grad_()
        weight = None if gamma is None else gamma.detach().requires_grad_()
        bias = None if weight is None else torch.zeros_like(weight, requires_grad=True)
        given = (None, None) if training else (running_mean, running_var)
        output = F.batch_norm(x, *given, weight, bias, training, 0.0, eps)
        leaves = [x] if weight is None or bias is None else [x, weight, bias]
        first = torch.autograd.grad(output, leaves, g, create_graph=True)
        pairs = [(f, gg) for f, gg in zip(first, (ggI, ggG, ggB)) if gg is not None]
        wanted = [x, g] if weight is None else [x, g, weight]
        total = torch.stack([(f * gg).sum() for f, gg in pairs]).sum() if pairs else output.sum() * 0
        found = torch.autograd.grad(total, wanted, allow_unused=True)
    gradients = [torch.zeros_like(t) if f is None else f for t, f in zip(wanted, found)]
    return gradients[0], None if weight is None else gradients[2], gradients[1]


batchnorm_double_backwards_fn.__module__ = f"{_FUNCTIONS}.thnn.batchnorm_double_backwards"
