"""Floating-point operations of convolutions and Linear, for ``torch.utils.flop_counter.FlopCounterMode``.

As torch counts: two per multiplication with an element of the weight, none for the bias. The forward and each of the
two backward functions have the same count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thnn._operators.operators import Operators

# Modules whose weight has the output channels as its first dimension; transposed convolutions: the input channels.
_COUNTED = frozenset(
    {
        "Linear",
        "Convolution",
        "FullConvolution",
        "SpatialConvolutionMM",
        "SpatialDilatedConvolution",
        "SpatialFullConvolution",
        "SpatialFullDilatedConvolution",
        "TemporalConvolution",
        "TemporalRowConvolution",
        "VolumetricConvolution",
        "VolumetricConvolutionMM",
        "VolumetricDilatedConvolution",
        "VolumetricFullConvolution",
        "VolumetricFullDilatedConvolution",
    }
)  # fmt: skip


def register(operators: Operators) -> None:
    """Registers the counts of a module, also with the active counters, which copied torch's table when created."""
    if operators.module.name not in _COUNTED:
        return
    from torch.utils import flop_counter
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    counts = {operators.forward: _count(operators.given, 0)}
    counts.update((operator, _count(operators.kept, 1)) for operator in operators.backwards)
    for operator, count in counts.items():
        packet = operator.overloadpacket
        flop_counter.register_flop_formula(packet)(count)
        for mode in _get_current_dispatch_mode_stack():
            counter = getattr(mode, "counter", None)
            if isinstance(counter, flop_counter.FlopCounterMode):
                counter.flop_registry[packet] = flop_counter.flop_registry[packet]


def _count(names: list[str], first: int) -> Callable[..., int]:
    """The count as a function of the shapes of an operator's arguments, of which a backward has gradOutput first."""
    input_at, weight_at = names.index("input") + first, names.index("weight") + first
    is_transposed = "adjW" in names or "aW" in names

    def count(*shapes: Any, out_shape: Any = None, **_: Any) -> int:
        # Every element of the smaller map is multiplied with the weights of its channel.
        weight = shapes[weight_at]
        output = shapes[0] if first else out_shape
        rows = math.prod(shapes[input_at] if is_transposed else output)
        return 2 * rows * math.prod(weight) // max(weight[0], 1)

    return count
