"""Linear."""

from __future__ import annotations

import torch
from torch import Tensor

from thnn.nn._errors import layer_error, wrong_count, wrong_tensor
from thnn.nn._layer import recorded
from thnn.nn.functional.convolution import linear


class Linear(torch.nn.Linear):
    """input * weight^T + bias; drop-in replacement for ``torch.nn.Linear``, with its arguments, parameters, initial
    values and ``state_dict``.

    Arguments: in_features, out_features, bias, device, dtype; see ``torch.nn.Linear``.

    Shapes: input (..., in_features); output (..., out_features); weight (out_features, in_features); bias
    (out_features). float32, float64, float16 or bfloat16.
    Errors: TypeError for an input of another type, or of another type than the parameters; ValueError
    for wrong sizes.
    """

    def forward(self, input: Tensor) -> Tensor:
        try:
            return linear(input, self.weight, self.bias)
        except (TypeError, ValueError, NotImplementedError, AttributeError, RuntimeError) as error:
            if (output := recorded(self, input)) is not None:
                return output
            if not isinstance(error, ValueError) and (wrong := wrong_tensor(input)):
                raise TypeError(f"{type(self).__name__}: input: {wrong}") from None
            if isinstance(error, ValueError) and input.dim() and input.shape[-1] != self.weight.shape[-1]:
                raise wrong_count(self, "features", "in_features", self.weight.shape[-1], input, -1) from None
            raise layer_error(self, error, {"inputSize": "in_features"}) from None
