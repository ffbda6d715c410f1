"""Floating-point operations of convolutions and Linear, for ``torch.utils.flop_counter.FlopCounterMode``.

As torch counts: two per multiplication with an element of the weight, none for the bias and none for other modules. The
forward and each of the two backward functions have the same count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thnn._multiply_adds import MULTIPLY_ADDS, Count
from thnn._operators.model import OperatorModel
from thnn._torch import dispatch_modes


def register(operators: OperatorModel) -> None:
    """Registers the counts of a module, also with the active counters, which copied torch's table when created."""
    multiply_adds = operators.library.fact(MULTIPLY_ADDS, operators.module)
    if multiply_adds is None:
        return
    from torch.utils import flop_counter

    counts = {operators.forward: _count(operators.given, 0, multiply_adds)}
    counts.update((o, _count(operators.kept, 1, multiply_adds)) for o in operators.backwards)
    for operator, count in counts.items():
        packet = operator.overloadpacket
        flop_counter.register_flop_formula(packet)(count)
        for mode in dispatch_modes():
            counter = getattr(mode, "counter", None)
            if isinstance(counter, flop_counter.FlopCounterMode):
                counter.flop_registry[packet] = flop_counter.flop_registry[packet]


def _count(names: list[str], first: int, multiply_adds: Count) -> Callable[..., int]:
    """The count as a function of the shapes of an operator's arguments; `first` is 1 if gradOutput precedes `names`."""
    input_at, weight_at = names.index("input") + first, names.index("weight") + first

    def count(*shapes: Any, out_shape: Any = None, **_: Any) -> int:
        return 2 * multiply_adds(shapes[input_at], shapes[weight_at], shapes[0] if first else out_shape)

    return count
