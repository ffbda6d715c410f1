"""Conv1d, Conv2d, Conv3d and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._torch import ConvBase, ConvTransposeBase
from thnn.nn._errors import layer_error, with_name, wrong_count, wrong_tensor
from thnn.nn._layer import recorded
from thnn.nn.functional._per_axis import per_axis
from thnn.nn.functional.convolution import _convolved, _padded, _transposed

_DOC = """{kind} of {what}; drop-in replacement for ``torch.nn.{name}``, with its arguments, parameters, initial
    values and ``state_dict``.

    Arguments: {arguments}; see ``torch.nn.{name}``.

    Shapes: input {shapes}; weight {weight}; bias (out_channels). float32, float64, float16
    or bfloat16.{last}{padding}
    Errors: TypeError for an input of another type, or of another type than the parameters; ValueError
    for wrong sizes; the constructor raises the errors of torch.
    """
_ARGUMENTS = "in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode"
_TRANSPOSED = _ARGUMENTS.replace(
    "padding, dilation, groups, bias", "padding, output_padding, groups, bias, dilation"
)
_LAST = """
    The output is channels-last if the input or the weight is."""
_PADDING = """
    padding is numbers, 'valid' or 'same'. A padding_mode other than 'zeros', and 'same' with different padding at the
    two sides, copy the input into a padded one."""


def _doc(name: str, axes: str, transposed: bool = False) -> str:
    channels = "in_channels, out_channels / groups" if transposed else "out_channels, in_channels / groups"
    return _DOC.format(
        kind="Transposed convolution" if transposed else "Convolution",
        what={1: "series", 2: "images", 3: "volumes"}[len(axes)],
        name=name,
        arguments=_TRANSPOSED if transposed else _ARGUMENTS,
        shapes=f"(N, C, {', '.join(axes)}) or (C, {', '.join(axes)})",
        weight=f"({channels}, {', '.join('k' + a for a in axes)})",
        last="" if len(axes) == 1 else _LAST,
        padding="" if transposed else _PADDING,
    )


# Patterns in messages of the C functions -> names of the layer's settings.
_WORDS = {
    r"\bd[TWH]\b": "stride",
    r"\bpad[TWH]\b": "padding",
    r"\bdilation[TWH]\b": "dilation",
    r"\badj[TWH]\b|\badded\b": "output_padding",
    r"\bnInputPlane\b": "C",
    r"\bnOutputPlane\b": "out_channels",
    r"\bplane": "channel",
}


def _explained(layer: Any, input: Any, error: Exception) -> Exception:
    """The error with the names of the layer's settings; ValueError if a setting of the layer is the reason."""
    name, axes, weight = type(layer).__name__, layer._image, layer.weight
    if not isinstance(weight, Tensor):
        return TypeError(f"{name}: weight: expected a tensor, got {type(weight).__name__}")
    dims, kernel = len(axes), tuple(weight.shape[2:])
    if len(kernel) != dims:
        return ValueError(f"{name}: kernel_size: expected {dims} numbers, got {kernel}")
    if 0 in kernel:
        return ValueError(f"{name}: kernel_size: expected at least 1, got {kernel}")
    if wrong := wrong_tensor(input):
        return TypeError(f"{name}: input: {wrong}")
    if not isinstance(error, TypeError):
        if input.dim() not in (dims + 1, dims + 2):
            batch, image = f"(N, C, {', '.join(axes)})", f"(C, {', '.join(axes)})"
            return ValueError(
                f"{name}: input: expected {dims + 2} dimensions {batch} or {dims + 1} {image}, got"
                f" shape {tuple(input.shape)}"
            )
        channels = weight.shape[0] if layer.transposed else weight.shape[1] * layer.groups
        if input.shape[-dims - 1] != channels:
            return wrong_count(layer, "channels", "in_channels", channels, input, -dims - 1)
    renamed = layer_error(layer, error, _WORDS)
    return renamed if renamed is not error else with_name(name, error)


class _Convolution(ConvBase):
    """Forward of the convolutions that are not transposed."""

    def forward(self, input: Tensor) -> Tensor:
        try:
            return self._conv_forward(input, self.weight, self.bias)
        except (TypeError, ValueError, NotImplementedError, AttributeError) as error:
            if (output := recorded(self, input)) is not None:
                return output
            raise _explained(self, input, error) from None

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = _padded(input, self._reversed_padding_repeated_twice, self.padding_mode), 0
        return _convolved(
            weight.dim() - 2, input, weight, bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Convolution, torch.nn.Conv1d):
    _image = "L"
    __doc__ = _doc("Conv1d", _image)


class Conv2d(_Convolution, torch.nn.Conv2d):
    _image = "HW"
    __doc__ = _doc("Conv2d", _image)


class Conv3d(_Convolution, torch.nn.Conv3d):
    _image = "DHW"
    __doc__ = _doc("Conv3d", _image)


class _ConvTranspose(ConvTransposeBase):
    """Forward of the transposed convolutions."""

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """`output_size` selects one of the output sizes that a stride allows."""
        try:
            return self._transposed_forward(input, self.weight, output_size)
        except (TypeError, ValueError, IndexError, NotImplementedError, AttributeError) as error:
            if (output := recorded(self, input, output_size)) is not None:
                return output
            raise _explained(self, input, error) from None

    def _transposed_forward(self, input: Tensor, weight: Tensor, output_size: Sequence[int] | None) -> Tensor:
        if self.padding_mode != "zeros":
            raise ValueError(f"padding_mode: expected 'zeros', got {self.padding_mode!r}")
        dims = weight.dim() - 2
        padding: Any = self.padding
        output_padding: Sequence[int] = self.output_padding
        if output_size is not None:
            settings = (("stride", self.stride), ("padding", padding), ("dilation", self.dilation))
            strides, paddings, dilations = ([*per_axis(name, value, dims)] for name, value in settings)
            try:
                sizes: Any = torch.Size(output_size)
                output_padding = self._output_padding(
                    input, sizes, strides, paddings, [*weight.shape[2:]], dims, dilations
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"output_size: {error}") from None
        return _transposed(
            dims,
            input,
            weight,
            self.bias,
            self.stride,
            padding,
            self.dilation,
            output_padding,
            self.groups,
        )


class ConvTranspose1d(_ConvTranspose, torch.nn.ConvTranspose1d):
    _image = "L"
    __doc__ = _doc("ConvTranspose1d", _image, transposed=True)


class ConvTranspose2d(_ConvTranspose, torch.nn.ConvTranspose2d):
    _image = "HW"
    __doc__ = _doc("ConvTranspose2d", _image, transposed=True)


class ConvTranspose3d(_ConvTranspose, torch.nn.ConvTranspose3d):
    _image = "DHW"
    __doc__ = _doc("ConvTranspose3d", _image, transposed=True)
