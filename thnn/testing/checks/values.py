"""Results against references, derivatives against finite differences."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from thnn.testing.case_runner import (
    TIGHT,
    CaseRunner,
    Failed,
    accumulates,
    bits,
    compare,
    compare_all,
    outputs_of,
    poison,
)
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.error_inputs import ERRORS


def check_reference(case: Case, sample: SampleInput) -> None:
    """Backend and class in float64 against the reference."""
    runner = CaseRunner(case, sample)
    compare_all(runner, "", runner.run(), runner.expected(), TIGHT)
    if not runner.has_class:
        return

    outputs, _, gradients = runner.reference
    leaves = runner.leaves()
    got = outputs_of(runner.apply(leaves))
    name = runner.cls.__name__
    for output, (key, expected) in zip(got, outputs.items()):
        compare(f"{name}.apply: {key}", output, expected, TIGHT)
    if not leaves:
        return
    # The class of a criterion multiplies gradInput by the incoming gradient.
    factor = -1.5 if runner.module.is_criterion else 1.0
    factors = [f.reshape(t.shape) * factor for f, t in zip(runner.factors.values(), got)]
    found = torch.autograd.grad(got, list(leaves.values()), factors, allow_unused=True)
    for leaf, value in zip(leaves, found):
        if value is None:
            raise Failed(f"{name}: backward gave no gradient w.r.t. {leaf}")
        compare(f"{name}: gradient w.r.t. {leaf}", value, gradients[leaf] * factor, TIGHT)

    # An object of the class can be called repeatedly, and gives the same result if no tensor requires a gradient.
    tensors = runner.cls._names[: runner.cls._call_tensor_count]
    values = {
        k: v.clone().to(runner.device) if isinstance(v, Tensor) else v for k, v in runner.values.items()
    }
    function = runner.cls(**{k: v for k, v in values.items() if k not in tensors})
    for _ in range(2):
        runner.reseed()
        given = (values[n].clone() if values[n] is not None else None for n in tensors)
        again = [t.cpu() for t in outputs_of(function(*given))]
        if not all(a.shape == b.shape and torch.equal(bits(a), bits(b)) for a, b in zip(again, got)):
            raise Failed(f"{function!r}: its result differs from the result of {name}.apply")


def check_float32(case: Case, sample: SampleInput) -> None:
    """float32 against the reference in float64, on the same values."""
    _check_rounded(case, sample, torch.float32, case.tolerance)


def check_float16(case: Case, sample: SampleInput) -> None:
    """float16 against the reference in float64, on the same values."""
    if _overflows(case, sample, torch.float16):
        return
    _check_rounded(case, sample, torch.float16, case.tolerance + NARROW * torch.finfo(torch.float16).eps)


def check_bfloat16(case: Case, sample: SampleInput) -> None:
    """bfloat16 against the reference in float64, on the same values."""
    _check_rounded(case, sample, torch.bfloat16, case.tolerance + NARROW * torch.finfo(torch.bfloat16).eps)


def _overflows(case: Case, sample: SampleInput, dtype: torch.dtype) -> bool:
    """True if finite values of the sample are infinite in this type, which makes it another sample."""
    exact = CaseRunner(case, sample).values
    return any(
        isinstance(v, Tensor) and v.is_floating_point() and not torch.equal(v.isinf(), exact[n].isinf())
        for n, v in CaseRunner(case, sample, dtype).values.items()
    )


# Largest error of float16 and bfloat16, in units of the distance from 1 to the next number, relative to the largest
# magnitude of the result. Arithmetic is in float32; a backward reads results of the forward that were rounded.
NARROW = 8.0


def _check_rounded(case: Case, sample: SampleInput, dtype: torch.dtype, tolerance: float) -> None:
    runner = CaseRunner(case, sample, dtype)
    expected = runner.expected()
    got = runner.run()
    for key, tensor in expected.items():
        if tensor.is_floating_point():
            # Values beyond the range of the type become infinite. The lowest float64 marks an empty window, for which
            # the CPU returns the lowest float32, rounded to the type, and CUDA the lowest number of the type.
            result = got[key].dtype
            is_lowest = tensor == torch.finfo(torch.float64).min
            lowest = torch.tensor(torch.finfo(result if runner.is_on_device else torch.float32).min)
            expected[key] = tensor.to(result).to(torch.float64)
            expected[key][is_lowest] = lowest.to(result).to(torch.float64)
    compare_all(runner, f" in {str(dtype).removeprefix('torch.')}", got, expected, tolerance)


def check_large(case: Case, sample: SampleInput, dtype: torch.dtype) -> None:
    """A row of the benchmark in float64 against the reference: loops over vectors and tasks end elsewhere than in small
    samples. Every size is one smaller, so that the last vector of a loop is not full, unless the functions refuse such
    sizes."""
    if not _check_changed(case, sample, " with every size one smaller", _smaller):
        runner = CaseRunner(case, sample)
        compare_all(runner, "", _into_poison(runner), runner.expected(), TIGHT)


def _into_poison(runner: CaseRunner) -> dict[str, Tensor]:
    """The results of all functions, into poisoned outputs of the expected size: new memory may have the right values
    of an earlier call, where a kernel writes nothing. check_contract does it for the samples."""
    expected = runner.expected()

    def output(key: str, value: Tensor) -> Tensor:
        return value if key not in expected or accumulates(key) else poison(expected[key].shape, value)

    return runner.run(output=output)


def _smaller(name: str, value: Any) -> Any:
    if isinstance(value, Tensor):
        for dim, size in enumerate(value.shape):
            value = value.narrow(dim, 0, max(1, size - 1)) if size else value
        return value.contiguous()
    return value


def check_widened(case: Case, sample: SampleInput) -> None:
    """Variations of the sample's arguments, in float64 against the reference: all tensors ten and a thousand times as
    large, every size one smaller, and each integer above 1 replaced by 1."""
    # Single functions take intermediate results, such as gates between 0 and 1, which are never so large.
    for factor in (10, 1000) if case.phase is None else (10,):
        _check_changed(case, sample, f" with tensors times {factor}", functools.partial(_times, factor))
    _check_changed(case, sample, " with every size one smaller", _smaller)
    for changed, number in CaseRunner(case, sample).values.items():
        if isinstance(number, int) and not isinstance(number, bool) and number > 1:
            _check_changed(case, sample, f" with {changed} 1", functools.partial(_one, changed))


def _times(factor: float, name: str, value: Any) -> Any:
    return value * factor if _is_floating(value) else value


def _one(changed: str, name: str, value: Any) -> Any:
    return 1 if name == changed else value


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _check_changed(case: Case, sample: SampleInput, how: str, change: Callable[[str, Any], Any]) -> bool:
    """A call with changed arguments against the reference. Returns False if the functions refuse the arguments."""
    runner = CaseRunner(case, sample)
    runner.values = {n: change(n, v) for n, v in runner.values.items()}
    try:
        runner.call(runner.forward, runner.row(runner.forward))
    except ERRORS:
        return False  # they contradict one another
    got = _into_poison(runner)
    for key, expected in runner.expected().items():
        phase, name = key.split(".")
        # Large arguments may saturate a function, whose slope is then a small difference of large numbers.
        compare(f"{case.module}_{phase}{how}: {name}", got[key], expected, TIGHT, least=1.0)
    return True


def check_nonfinite(case: Case, sample: SampleInput) -> None:
    """NaN or an infinity in a tensor, or in gradOutput, reaches the results that depend on it, as in the reference.

    Results that do not change with the element may be finite: references multiply it by zeros that kernels leave out,
    such as padding.
    """
    runner = CaseRunner(case, sample)
    names = [n for n, v in runner.values.items() if _is_floating(v) and v.numel()]
    if runner.has_class and not runner.module.is_criterion and runner.gradOutput.numel():
        names.append("gradOutput")
    usual = runner.expected()
    for name in names:
        moved: dict[str, Tensor] = {}
        for number in (math.nan, math.inf, -math.inf):
            changed = _with_element(case, sample, name, number)
            try:
                got = changed.run()
            except ERRORS:
                continue  # the functions refuse the number
            moved = moved or _with_element(case, sample, name, _OTHER).expected()
            for key, expected in changed.expected().items():
                phase, result = key.split(".")
                if (phase in (case.phase, "updateOutput")) == (name == "gradOutput"):
                    continue
                value = got[key].reshape(expected.shape)
                wrong = value.isfinite() & ~expected.isfinite() & (moved[key] != usual[key])
                if bool(wrong.any()):
                    raise Failed(
                        f"{case.module}_{phase} with {number} in {name}: {result}: got"
                        f" {value[wrong][0].item():.10g}, expected {expected[wrong][0].item()}"
                    )


_OTHER = 0.4375  # a number that no sample has


def _with_element(case: Case, sample: SampleInput, name: str, number: float) -> CaseRunner:
    """The sample with another number in the middle of one of its tensors, or of gradOutput."""
    runner = CaseRunner(case, sample)

    def changed(tensor: Tensor) -> Tensor:
        copy = tensor.clone(memory_format=torch.contiguous_format)
        copy.view(-1)[copy.numel() // 2] = number
        return copy

    if name == "gradOutput":
        factor = runner.factor

        def changed_factor(output: Tensor, name: str = "output") -> Tensor:
            return changed(factor(output, name))

        runner.factor = changed_factor  # type: ignore[method-assign]
    else:
        runner.values[name] = changed(runner.values[name])
    return runner


def check_gradients(case: Case, sample: SampleInput) -> None:
    """First derivatives of the class against finite differences; a random combination of them if the CUDA library, or
    its emulation, computes."""
    runner = CaseRunner(case, sample)
    leaves = runner.leaves()
    _gradcheck(
        runner.cls.__name__,
        lambda *tensors: runner.apply(dict(zip(leaves, tensors))),
        leaves,
        fast=runner.is_on_device,
    )


# The number of elements above which finite differences w.r.t. each element would take longer than all other checks of
# the sample.
_MANY = 32


def check_second_gradients(case: Case, sample: SampleInput) -> None:
    """Derivatives of the gradients against finite differences; a random combination of them for large tensors, and if
    the CUDA library, or its emulation, computes."""
    runner = CaseRunner(case, sample)
    leaves = runner.leaves()
    factors = {f"gradient w.r.t. {n}": t.clone().requires_grad_() for n, t in runner.factors.items()}

    def gradients(*tensors: Tensor) -> tuple[Tensor, ...]:
        inputs = [t if t.requires_grad else t.detach().requires_grad_() for t in tensors[: len(leaves)]]
        outputs = outputs_of(runner.apply(dict(zip(leaves, inputs))))
        by_output = [f.reshape(t.shape) for f, t in zip(tensors[len(leaves) :], outputs)]
        return torch.autograd.grad(outputs, inputs, by_output, create_graph=True)

    count = sum(t.numel() for t in leaves.values())
    _gradcheck(
        f"gradients of {runner.cls.__name__}",
        gradients,
        leaves | factors,
        fast=count > _MANY or runner.is_on_device,
    )


def _gradcheck(what: str, function: Callable[..., Any], leaves: Mapping[str, Tensor], fast: bool) -> None:
    tensors = list(leaves.values())
    if not any(t.numel() for t in tensors):
        return
    try:
        torch.autograd.gradcheck(function, tensors, check_undefined_grad=False, fast_mode=fast)
    except GradcheckError as error:
        raise Failed(f"{what}: {_worst_derivative(function, leaves)}") from error


def _worst_derivative(function: Callable[..., Any], leaves: Mapping[str, Tensor], step: float = 1e-6) -> str:
    """The element w.r.t. which the derivative of a random combination of the results is furthest from finite
    differences."""

    def combined(*tensors: Tensor) -> Tensor:
        results = function(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        generator = torch.Generator().manual_seed(1)
        parts = [(r * torch.rand(r.shape, generator=generator, dtype=r.dtype)).sum() for r in results]
        return torch.stack(parts).sum()

    tensors = list(leaves.values())
    total = combined(*tensors)
    analytic = (
        torch.autograd.grad(total, tensors, allow_unused=True)
        if total.requires_grad
        else [None] * len(tensors)
    )
    worst, text = -1.0, ""
    for k, (name, leaf) in enumerate(leaves.items()):
        for i in range(leaf.numel()):
            sides = []
            for sign in (step, -step):
                moved = leaf.detach().clone()
                moved.view(-1)[i] += sign
                sides.append(
                    combined(*(moved.requires_grad_() if j == k else t for j, t in enumerate(tensors))).item()
                )
            numeric = (sides[0] - sides[1]) / (2 * step)
            slope = analytic[k]
            exact = 0.0 if slope is None else slope.reshape(-1)[i].item()
            if not abs(numeric - exact) <= worst:
                worst = abs(numeric - exact)
                index = ", ".join(str(int(j)) for j in torch.unravel_index(torch.tensor(i), leaf.shape))
                text = f"by {name}[{index}]: numeric {numeric:.9g}, analytic {exact:.9g}"
    return text
