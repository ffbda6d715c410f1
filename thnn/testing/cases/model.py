"""What an entry of the table of cases says about a module.

One entry drives the comparison with a reference, the gradient checks, the layouts, the refusals and the benchmark of
the forward and the backward functions of a module (thnn/_check.py, thnn/_bench.py, tests/test_cases.py). A function
beside those has an entry of its own: it gets the same checks but for the derivatives. An entry names the arguments
of the forward, or of that function, as THNN.h does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

# Makes a tensor for an argument: called with a torch.Generator; the result is float64, or int64 for an index tensor.
Maker = Callable[..., Tensor]


@dataclass(frozen=True)
class Sample:
    """One set of arguments of the forward: makers of tensors (None for an absent one) and values of scalars.

    Omitted optional tensors are None; omitted scalars have their [DEFAULT] in THNN.h.
    """

    name: str
    arguments: Mapping[str, Any]
    # The gradient checks leave out samples that are at a kink, or too large for finite differences.
    differentiable: bool = True


@dataclass(frozen=True)
class Refusal:
    """Arguments that must be refused: those of sample `of` with some replaced, and the exception that must come."""

    name: str
    arguments: Mapping[str, Any]
    error: type[Exception] | tuple[type[Exception], ...]
    message: str = ""  # a regular expression that the text must match
    phase: str = "updateOutput"  # in an entry for one function: that function
    of: int = 0  # which sample


@dataclass(frozen=True)
class Row:
    """One line of the benchmark table, and what it has to reach.

    Goals are ratios torch time / thnn time unless they are fractions of the machine's ceiling.
    """

    name: str
    sample: Sample
    dtype: str = "float32"
    phases: tuple[str, ...] = ("fwd", "fb")  # 'fb' is forward + backward
    judged: str = "fb"  # the phase that the goals are for
    ratio: float | None = None  # thnn contiguous against torch in its default layout ...
    fraction: float | None = None  # ... or this fraction of the ceiling
    best: float | None = None  # against torch's better layout
    channels_last: float | None = None  # thnn channels-last against torch channels-last
    # Another way with thnn's own functions, called as the reference is: what it takes longer, in both layouts.
    other: Callable[..., Any] | None = None
    against_other: float | None = None
    bytes_moved: Mapping[str, float] = field(default_factory=dict)  # phase -> least bytes (memory-bound rows)
    flops: Mapping[str, float] = field(
        default_factory=dict
    )  # phase -> floating-point operations (compute-bound rows)


@dataclass(frozen=True)
class Case:
    """The entry of a module, or of one function of it that is neither forward nor backward."""

    module: str
    # The same function out of torch operations, differentiable, called with the arguments of the forward by name;
    # returns the output, or (output, {name: tensor}) with what else the forward writes. That of a function with an
    # entry of its own returns all that it writes, by name.
    reference: Callable[..., Any]
    samples: tuple[Sample, ...]
    refusals: tuple[Refusal, ...] = ()
    rows: tuple[Row, ...] = ()
    # What torch calls it, for the benchmark, where that is not the reference.
    peer: Callable[..., Any] | None = None
    # Dimensions of a parameter that the forward takes whatever they are: the kernel, where weight alone tells it.
    any_size: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # Largest error of float32 against float64: relative to the largest magnitude of the result.
    tolerance: float = 1e-5
    # Which function of the module, where it is one that has an entry of its own.
    phase: str | None = None

    def __post_init__(self) -> None:
        names = [sample.name for sample in self.samples]
        for kept, rule in (
            (len(names) == len(set(names)), f"two samples of one name in {names}"),
            ("empty" in names, f"no sample 'empty', of tensors without elements, in {names}"),
            (
                any(sample.differentiable for sample in self.samples),
                "no sample that gradients are checked of",
            ),
            (bool(self.rows) or self.phase is not None, "no row for the benchmark"),
        ):
            if not kept:
                raise ValueError(f"case {self.name}: {rule}")

    @property
    def name(self) -> str:
        """The module, or the function of it."""
        return self.module if self.phase is None else f"{self.module}_{self.phase}"
