"""The parts of a case.

A case drives the comparison with a reference, the gradient checks, the layouts, the error inputs and the benchmark of
the forward and backward functions of a module. Any other function has a separate case, without derivatives.
Arguments have the names in THNN.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from thnn._classes import PACKAGE, Registry

# A function from a torch.Generator to the tensor of an argument: float64, or int64 for an index tensor.
Maker = Callable[..., Tensor]


@dataclass(frozen=True, eq=False)
class SampleInput:
    """One set of arguments of the forward: makers of tensors (None for an absent one) and values of scalars.

    Omitted optional tensors are None; omitted scalars have their [DEFAULT] in THNN.h.
    """

    name: str
    arguments: Mapping[str, Any]
    # False at a kink, or if the sample is too large for finite differences.
    differentiable: bool = True


@dataclass(frozen=True)
class ErrorInput:
    """A call that must raise an exception: arguments that replace arguments of sample `of`, and the expected
    exception."""

    name: str
    arguments: Mapping[str, Any]
    error: type[Exception] | tuple[type[Exception], ...]
    message: str = ""  # a regular expression that the text must match
    phase: str = "updateOutput"  # the suffix of the function; ignored in the case of a single function
    of: int = 0  # index of the sample
    on_cuda: bool = True  # False if CUDA kernels do not raise the exception: the result is NaN


@dataclass(frozen=True)
class Row:
    """A row of the benchmark table, with its goals.

    A phase of a row is a call that is timed: 'fwd', the forward without a graph, or 'fb', the forward with a graph and
    the backward. The goals are lower bounds in the phase `judged`: `ratio`, `best` and `channels_last` of torch time /
    thnn time, `against_other` of the time of `other` / thnn time, `fraction` of the part of the roofline that thnn
    reaches. A row that reaches `fraction` need not reach `ratio` and `best`.
    """

    name: str
    sample: SampleInput
    dtype: str = "float32"
    phases: tuple[str, ...] = ("fwd", "fb")
    judged: str = "fb"
    ratio: float | None = None  # thnn contiguous against torch contiguous
    fraction: float | None = None  # of the roofline, thnn contiguous
    best: float | None = None  # thnn contiguous against torch in its better layout
    channels_last: float | None = None  # thnn channels-last against torch channels-last
    random: bool = False  # results differ from torch's because their random numbers do
    # Another implementation with thnn's functions, called like the reference.
    other: Callable[..., Any] | None = None
    against_other: float | None = None  # in each layout
    bytes_moved: Mapping[str, float] = field(default_factory=dict)  # phase -> least bytes (memory-bound rows)
    flops: Mapping[str, float] = field(
        default_factory=dict
    )  # phase -> floating-point operations (compute-bound rows)


@dataclass(frozen=True, eq=False)
class Case:
    """The case of a module, or of one of its functions that is neither forward nor backward."""

    module: str
    # The function in differentiable torch operations, called with the arguments of the forward by name. Returns the
    # output, or (output, {name: tensor}) with the other results. For a single function: all results by name.
    reference: Callable[..., Any]
    samples: tuple[SampleInput, ...]
    error_inputs: tuple[ErrorInput, ...] = ()
    rows: tuple[Row, ...] = ()
    # torch's own function, for the benchmark; None if it is the reference.
    baseline: Callable[..., Any] | None = None
    # Dimensions that may have any size: dimensions of a parameter or its gradient, such as a weight's kernel dimensions
    # if no scalar states them; or of gradOutput where no other argument determines the size of the output.
    any_size: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # Largest error of float32 against float64: relative to the largest magnitude of the result.
    tolerance: float = 1e-5
    # The suffix of the function's name, in the case of a single function.
    phase: str | None = None
    # The registry that has the functions: the package, unless thnn.load compiled them.
    registry: Registry = field(default=PACKAGE, compare=False, repr=False)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))  # on which they are called

    def __post_init__(self) -> None:
        names = [sample.name for sample in self.samples]
        for kept, rule in (
            (len(names) == len(set(names)), f"two samples with one name in {names}"),
            ("empty" in names, f"no sample 'empty', with tensors without elements, in {names}"),
            (
                any(sample.differentiable for sample in self.samples),
                "no sample whose gradients can be checked",
            ),
            (bool(self.rows) or self.phase is not None, "no row of the benchmark"),
        ):
            if not kept:
                raise ValueError(f"case {self.name}: {rule}")

    @property
    def name(self) -> str:
        """The name of the module, or of the single function."""
        return self.module if self.phase is None else f"{self.module}_{self.phase}"
