"""The type of a formula."""

from collections.abc import Callable, Mapping

from torch import Tensor

Formula = Callable[..., Mapping[str, Tensor]]
