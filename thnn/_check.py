"""``python -m thnn check``: every function against its entry in the table of cases.

A check is a function of a case and one of its samples that raises `Failed` with what was called, what came and what
was expected. `plan` lists them; the test suite runs the same list (tests/test_cases.py).
"""

from __future__ import annotations

import functools
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from thnn._backend import type2backend
from thnn._header import Argument, Function
from thnn._header.roles import BACKWARD_SCALARS
from thnn._registry import function_classes, modules
from thnn.cases import arguments, cases, make
from thnn.cases.model import Case, Refusal, Sample

ERRORS = (TypeError, ValueError, IndexError, NotImplementedError)

# Largest error in float64, relative to the largest magnitude of the result.
TIGHT = 1e-12


class Failed(AssertionError):
    """A check that found something."""


@dataclass(frozen=True)
class Check:
    """Something to be run: one kind of check on one sample of a module."""

    module: str
    check: str
    sample: str
    run: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.module}: {self.check}: {self.sample}"


@dataclass(frozen=True)
class Result:
    """What came of a check."""

    module: str
    check: str
    sample: str
    ok: bool
    seconds: float
    message: str = ""


# --- calling a sample ---------------------------------------------------------------------------------------

Enter = Callable[[str, Tensor], Tensor]
Make = Callable[[str, Tensor], Tensor]


def twin(tensor: Tensor) -> Tensor:
    """A copy with the strides of the original, gaps and overlaps between its elements included."""
    if tensor.is_meta:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    copy = tensor.new_empty(0)
    return copy.set_(tensor.untyped_storage().clone(), tensor.storage_offset(), tensor.shape, tensor.stride())  # type: ignore[call-overload, no-any-return]


def _as_it_is(name: str, tensor: Tensor) -> Tensor:
    return tensor


def written(function: Function, row: Mapping[str, Any]) -> list[str]:
    """The tensors of a row that the function writes."""
    forward = function.phase == "updateOutput"
    names = []
    for argument in function.tensors():
        role, name = argument.role, argument.name
        if role in ("gradInput", "gradParameter") or (role in ("output", "saved") and forward):
            changed = True
        elif argument.is_modified:
            flag = next((row[f] for f in ("inplace", "train") if f in row), True)
            changed = bool(flag)
        else:
            changed = False
        if changed and row.get(name) is not None:
            names.append(name)
    return names


def in_place(function: Function, row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Which input is overwritten and which output shares its memory then."""
    if not row.get("inplace"):
        return None
    return ("input", "output") if function.phase == "updateOutput" else ("gradOutput", "gradInput")


class Trial:
    """A sample with its tensors made; calls always get copies of them."""

    def __init__(self, case: Case, sample: Sample, dtype: torch.dtype = torch.float64) -> None:
        self.case, self.sample, self.dtype = case, sample, dtype
        self.module = modules()[case.module]
        assert self.module.forward is not None
        self.forward: Function = self.module.forward
        self.backend = type2backend[dtype]
        self.values = arguments(case.module, sample, dtype)
        # Inputs and parameters that a backward gives the gradients of: gradient -> its tensor.
        self.gradients = {
            a.name: a.gradient_of
            for f in self.module.backwards
            for a in f.tensors("gradInput", "gradParameter")
            if a.gradient_of in self.values and self.values[a.gradient_of] is not None
        }

    @functools.cached_property
    def reference(self) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Output, what else the forward writes, and the gradients, from the reference in float64."""
        values = {
            k: v.detach().to(torch.float64) if isinstance(v, Tensor) and v.is_floating_point() else v
            for k, v in self.values.items()
        }
        leaves = {g: values[n].clone().requires_grad_() for g, n in self.gradients.items() if n}
        values.update({n: leaves[g] for g, n in self.gradients.items() if n})
        result = self.case.reference(**values)
        output, made = result if isinstance(result, tuple) else (result, {})
        gradients: dict[str, Tensor] = {}
        if leaves:
            factor = self.factor(output)
            if output.requires_grad:
                found = torch.autograd.grad(output, list(leaves.values()), factor, allow_unused=True)
                gradients = {
                    g: torch.zeros_like(leaf) if d is None else d for (g, leaf), d in zip(leaves.items(), found)
                }
            else:
                gradients = {g: torch.zeros_like(leaf) for g, leaf in leaves.items()}
        return output.detach(), {n: t.detach() for n, t in made.items()}, gradients

    def factor(self, output: Tensor) -> Tensor:
        """What the output's gradient is multiplied with in: 1 for a criterion, whose C function takes none."""
        if self.module.is_criterion:
            return torch.ones_like(output)
        generator = torch.Generator().manual_seed(7)
        random = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        # As the tensors of the sample have it, so that float32 gets what float64 gets.
        return random.to(self.dtype).to(output.dtype)

    @functools.cached_property
    def gradOutput(self) -> Tensor:
        return self.factor(self.reference[0]).to(self.dtype)

    def row(
        self,
        function: Function,
        made: Mapping[str, Any] = {},
        enter: Enter = _as_it_is,
        output: Make | None = None,
    ) -> dict[str, Any]:
        """The arguments of a call by name: copies of the values, outputs without elements, gradients of parameters 0.

        `made` holds what the forward made; `enter` may turn what is read into other tensors, `output` what is
        written.
        """
        forward = function.phase == "updateOutput"
        row: dict[str, Any] = {}
        for a in function.arguments:
            if a.role == "state":
                continue
            if a.role == "gradInput" or (a.role in ("output", "saved") and forward):
                dtype = torch.int64 if a.type == "THIndexTensor*" else self.dtype
                value: Any = torch.empty(0, dtype=dtype)
                if function.phase == "accGradParameters":
                    value = None  # some old signatures have a gradInput there
                elif output is not None:
                    value = output(f"{function.phase}.{a.name}", value)
            elif a.role == "gradParameter":
                like = self.values.get(a.gradient_of or "")
                value = None if like is None else torch.zeros_like(like)
                if value is not None and output is not None:
                    value = output(f"{function.phase}.{a.name}", value)
            elif a.role == "buffer":
                value = None
            elif a.role == "gradOutput":
                value = twin(enter(a.name, self.gradOutput))
            elif a.name in made or a.name in self.values:
                value = made.get(a.name, self.values.get(a.name))
                if isinstance(value, Tensor):
                    value = twin(enter(a.name, value))
            else:
                value = BACKWARD_SCALARS[a.name].default
            row[a.name] = value
        return row

    def call(self, function: Function, row: Mapping[str, Any]) -> None:
        getattr(self.backend, function.name)(0, *row.values())

    def run(self, enter: Enter = _as_it_is, output: Make | None = None) -> dict[str, Tensor]:
        """Calls all functions of the module; what they write, as 'updateOutput.output' and so on."""
        results: dict[str, Tensor] = {}
        made: dict[str, Any] = {}
        for function in self.module.functions.values():
            row = self.row(function, made, enter, output)
            self.call(function, row)
            names = written(function, row)
            results.update({f"{function.phase}.{n}": row[n] for n in names})
            if function is self.forward:
                made = {n: row[n] for n in names}
        return results

    def defined(self, results: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The results that have a meaning: those that the reference gives too."""
        expected = self.expected()
        return {k: v for k, v in results.items() if k in expected}

    def expected(self) -> dict[str, Tensor]:
        """What `run` must give, from the reference."""
        output, made, gradients = self.reference
        found = {"updateOutput.output": output, **{f"updateOutput.{n}": t for n, t in made.items()}}
        for function in self.module.backwards:
            own = {a.name for a in function.tensors("gradParameter")}
            if function.phase != "accGradParameters":
                own |= {a.name for a in function.tensors("gradInput")}
            found.update({f"{function.phase}.{g}": t for g, t in gradients.items() if g in own})
        return found

    def leaves(self) -> dict[str, Tensor]:
        """The tensors that the class differentiates by, as leaves."""
        return {n: self.values[n].clone().requires_grad_() for n in dict.fromkeys(self.gradients.values()) if n}

    def apply(self, leaves: Mapping[str, Tensor]) -> Any:
        """Calls the class."""
        given = {k: v.clone() if isinstance(v, Tensor) else v for k, v in self.values.items()}
        given.update(leaves)
        if given.get("inplace"):
            given["input"] = given["input"].clone()
        return self.cls.apply(**given)

    @property
    def cls(self) -> Any:
        return function_classes[self.case.module + "Function"]


# --- comparing ----------------------------------------------------------------------------------------------


def compare(what: str, got: Tensor, expected: Tensor, tolerance: float, least: float = 0.0) -> None:
    """Raises unless the two agree: shapes, infinities and NaN exactly, numbers to `tolerance` of the largest, or of
    `least` if that is more."""
    if expected.numel() == 1 and got.numel() == 1:
        expected = expected.reshape(got.shape)  # a loss may have one dimension or none
    if got.shape != expected.shape:
        raise Failed(f"{what}: has shape {tuple(got.shape)}, expected {tuple(expected.shape)}")
    if not got.is_floating_point():
        wrong = got != expected
        allowed = 0.0
    else:
        got, expected = got.detach().to(torch.float64), expected.detach().to(torch.float64)
        allowed = tolerance * (max(_largest(expected), least) or 1.0)
        same = (got == expected) | (got.isnan() & expected.isnan())
        wrong = ~same & ~((got - expected).abs() <= allowed)
    if bool(wrong.any()):
        error = (got - expected).abs().masked_fill(~wrong, 0).nan_to_num(math.inf)
        at = tuple(torch.unravel_index(error.flatten().argmax(), got.shape)) if got.dim() else ()
        index = f"[{', '.join(str(int(i)) for i in at)}]" if at else ""
        raise Failed(
            f"{what}{index}: got {got[at].item():.10g}, expected {expected[at].item():.10g}"
            f" ({int(wrong.sum())} of {got.numel()} values wrong, allowed error {allowed:.2g})"
        )


def _largest(tensor: Tensor) -> float:
    finite = tensor.detach()[tensor.isfinite()]
    return finite.abs().max().item() if finite.numel() else 0.0


def _compare_all(
    trial: Trial, how: str, got: Mapping[str, Tensor], expected: Mapping[str, Tensor], tolerance: float
) -> None:
    for key, tensor in expected.items():
        phase, name = key.split(".")
        compare(f"{trial.case.module}_{phase}{how}: {name}", got[key], tensor, tolerance)


def _bits(tensor: Tensor) -> Tensor:
    return tensor.contiguous().view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)


def _same_bits(trial: Trial, how: str, got: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    for key, tensor in expected.items():
        if got[key].shape != tensor.shape or not torch.equal(_bits(got[key]), _bits(tensor)):
            phase, name = key.split(".")
            where = f"{trial.case.module}_{phase}{how}: {name}"
            compare(where, got[key], tensor, 0.0)
            raise Failed(f"{where}: other bits (the sign of a zero, or of NaN)")


# --- the checks ---------------------------------------------------------------------------------------------


def check_reference(case: Case, sample: Sample) -> None:
    """Backend and class in float64 against the reference."""
    trial = Trial(case, sample)
    _compare_all(trial, "", trial.run(), trial.expected(), TIGHT)

    output, made, gradients = trial.reference
    leaves = trial.leaves()
    got = trial.apply(leaves)
    name = trial.cls.__name__
    compare(f"{name}.apply", got, output, TIGHT)
    if not leaves:
        return
    # A criterion multiplies with the gradient that comes in.
    factor = torch.tensor(-1.5, dtype=got.dtype) if trial.module.is_criterion else trial.gradOutput
    found = torch.autograd.grad(got, list(leaves.values()), factor.reshape(got.shape), allow_unused=True)
    for gradient, (leaf, value) in zip(trial.gradients, zip(leaves, found)):
        if value is None:
            raise Failed(f"{name}: backward gave no gradient by {leaf}")
        expected = gradients[gradient] * (factor if trial.module.is_criterion else 1)
        compare(f"{name}: gradient by {leaf}", value, expected, TIGHT)

    # Reusable, called with tensors, and without a graph: always the same.
    tensors = trial.cls._names[: trial.cls._tensor_count]
    if case.module != "BatchNormalization":
        values = {k: v.clone() if isinstance(v, Tensor) else v for k, v in trial.values.items()}
        function = trial.cls(**{k: v for k, v in values.items() if k not in tensors})
        for _ in range(2):
            again = function(*(values[n].clone() if values[n] is not None else None for n in tensors))
            if not torch.equal(_bits(again), _bits(got)):
                raise Failed(f"{function!r}: another result than {name}.apply")


def check_float32(case: Case, sample: Sample) -> None:
    """float32 against the reference in float64, on the same values."""
    trial = Trial(case, sample, torch.float32)
    expected = trial.expected()
    for key, tensor in expected.items():
        if tensor.is_floating_point():
            # What float32 cannot hold is infinite in it, and the lowest float64 its own lowest.
            lowest = tensor == torch.finfo(torch.float64).min
            expected[key] = tensor.to(torch.float32).to(torch.float64)
            expected[key][lowest] = torch.finfo(torch.float32).min
    _compare_all(trial, " in float32", trial.run(), expected, case.tolerance)


def check_gradients(case: Case, sample: Sample) -> None:
    """First derivatives of the class against finite differences."""
    trial = Trial(case, sample)
    leaves = trial.leaves()
    _gradcheck(
        trial.cls.__name__,
        lambda *tensors: trial.apply(dict(zip(leaves, tensors))),
        leaves,
    )


def check_second_gradients(case: Case, sample: Sample) -> None:
    """Derivatives of the gradients against finite differences."""
    trial = Trial(case, sample)
    leaves = trial.leaves()
    factor = trial.factor(trial.reference[0]).requires_grad_()
    names = [*leaves, "gradOutput"]

    def gradients(*tensors: Tensor) -> tuple[Tensor, ...]:
        inputs = [t if t.requires_grad else t.detach().requires_grad_() for t in tensors[:-1]]
        output = trial.apply(dict(zip(leaves, inputs)))
        return torch.autograd.grad(output, inputs, tensors[-1].reshape(output.shape), create_graph=True)

    _gradcheck(f"gradients of {trial.cls.__name__}", gradients, dict(zip(names, [*leaves.values(), factor])))


def _gradcheck(what: str, function: Callable[..., Any], leaves: Mapping[str, Tensor]) -> None:
    tensors = list(leaves.values())
    if not any(t.numel() for t in tensors):
        return
    try:
        torch.autograd.gradcheck(function, tensors, check_undefined_grad=False)
    except GradcheckError as error:
        raise Failed(f"{what}: {_worst_derivative(function, leaves)}") from error


def _worst_derivative(function: Callable[..., Any], leaves: Mapping[str, Tensor], step: float = 1e-6) -> str:
    """Says where the derivative of a random combination of the results is furthest from finite differences."""

    def combined(*tensors: Tensor) -> Tensor:
        results = function(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        generator = torch.Generator().manual_seed(1)
        parts = [(r * torch.rand(r.shape, generator=generator, dtype=r.dtype)).sum() for r in results]
        return torch.stack(parts).sum()

    tensors = list(leaves.values())
    total = combined(*tensors)
    analytic = (
        torch.autograd.grad(total, tensors, allow_unused=True) if total.requires_grad else [None] * len(tensors)
    )
    worst, text = -1.0, ""
    for k, (name, leaf) in enumerate(leaves.items()):
        for i in range(leaf.numel()):
            sides = []
            for sign in (step, -step):
                moved = leaf.detach().clone()
                moved.view(-1)[i] += sign
                sides.append(combined(*(moved.requires_grad_() if j == k else t for j, t in enumerate(tensors))).item())
            numeric = (sides[0] - sides[1]) / (2 * step)
            slope = analytic[k]
            exact = 0.0 if slope is None else slope.reshape(-1)[i].item()
            if not abs(numeric - exact) <= worst:
                worst = abs(numeric - exact)
                index = ", ".join(str(int(j)) for j in torch.unravel_index(torch.tensor(i), leaf.shape))
                text = f"by {name}[{index}]: numeric {numeric:.9g}, analytic {exact:.9g}"
    return text


def _embed(tensor: Tensor, dims: Sequence[slice], size: Sequence[int]) -> Tensor:
    """The values inside a larger tensor of what must not be touched."""
    outside = math.nan if tensor.is_floating_point() else -99
    large = torch.full(tuple(size), outside, dtype=tensor.dtype)
    view = large[tuple(dims)]
    view.copy_(tensor)
    return view


def _reversed(tensor: Tensor) -> Tensor:
    order = list(range(tensor.dim()))[::-1]
    return tensor.permute(order).contiguous().permute(order)


def _transposed(tensor: Tensor) -> Tensor:
    return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)


def _sliced(tensor: Tensor) -> Tensor:
    return _embed(tensor, [slice(1, 2 * s + 1, 2) for s in tensor.shape], [2 * s + 2 for s in tensor.shape])


def _padded(tensor: Tensor) -> Tensor:
    """Rows apart from each other, as those of a part of an image are."""
    dims = [slice(None)] * (tensor.dim() - 1) + [slice(1, tensor.shape[-1] + 1)]
    return _embed(tensor, dims, [*tensor.shape[:-1], tensor.shape[-1] + 3])


def _channels_last(tensor: Tensor) -> Tensor:
    return tensor.contiguous(memory_format=torch.channels_last if tensor.dim() == 4 else torch.channels_last_3d)


def _wild(tensor: Tensor) -> Tensor:
    """Dimensions of size 1 with strides that would lead far out of memory."""
    strides = [2**40 if s == 1 else t for s, t in zip(tensor.shape, tensor.contiguous().stride())]
    return tensor.clone(memory_format=torch.contiguous_format).as_strided(tensor.shape, strides)


def layouts(tensor: Tensor) -> dict[str, Tensor]:
    """The same values with all kinds of strides."""
    found = {}
    if tensor.dim() >= 1 and tensor.numel():
        found["sliced"] = _sliced(tensor)
        found["padded"] = _padded(tensor)
    if tensor.dim() >= 2 and tensor.numel() > 1:
        found["transposed"] = _transposed(tensor)
    if tensor.dim() >= 3 and tensor.numel() > 1:
        found["reversed"] = _reversed(tensor)
    if tensor.dim() in (4, 5):
        found["channels-last"] = _channels_last(tensor)
    if 1 in tensor.shape:
        found["wild"] = _wild(tensor)
    return found


def check_layouts(case: Case, sample: Sample) -> None:
    """What is read, in every layout: each tensor by itself and all at once."""
    trial = Trial(case, sample)
    everything = trial.run()
    expected = trial.defined(everything)
    kinds: dict[str, None] = {}

    forward = {k.split(".")[1]: v for k, v in everything.items() if k.startswith("updateOutput.")}
    names: dict[str, Tensor] = {}
    changed: set[str] = set()  # the elements of these must not share an address
    for function in trial.module.functions.values():
        row = trial.row(function, {} if function is trial.forward else forward)
        names.update({n: v for n, v in row.items() if isinstance(v, Tensor)})
        changed.update(written(function, row))
    for name, tensor in names.items():
        for kind in layouts(tensor):
            kinds[kind] = None
            if not sample.differentiable:
                continue  # too large to go through one by one
            got = trial.run(lambda n, t, name=name, kind=kind: layouts(t)[kind] if n == name and kind in layouts(t) else t)  # type: ignore[misc]
            _compare_all(trial, f" with {name} {kind}", got, expected, TIGHT)
        for dim in range(tensor.dim()):
            if tensor.shape[dim] < 2 or name in changed or not sample.differentiable:
                continue
            first = functools.partial(_first_everywhere, name, dim)
            plain = trial.run(lambda n, t, first=first: first(n, t).contiguous())  # type: ignore[misc]
            got = trial.run(first)
            for key, result in expected.items():
                # Results may cancel out when the values are alike: the errors are those of results that do not.
                where = f"{case.module}_{key.replace('.', ': ')} with {name} expanded in dimension {dim}"
                compare(where, got[key], plain[key], TIGHT, _largest(result))
    for kind in kinds:
        got = trial.run(lambda n, t, kind=kind: layouts(t).get(kind, t))  # type: ignore[misc]
        _compare_all(trial, f" with all tensors {kind}", got, expected, TIGHT)


def _first_everywhere(name: str, dim: int, n: str, tensor: Tensor) -> Tensor:
    return tensor.narrow(dim, 0, 1).expand(tensor.shape) if n == name and tensor.shape[dim] > 1 else tensor


def check_output_layouts(case: Case, sample: Sample) -> None:
    """Outputs of the right size keep their memory and strides; those made by a class follow a channels-last input."""
    trial = Trial(case, sample)
    everything = trial.run()
    expected = trial.defined(everything)
    shared = {
        f"{f.phase}.{pair[1]}"
        for f in trial.module.functions.values()
        if (pair := in_place(f, trial.values))
    }
    for kind in ("sliced", "padded", "transposed", "reversed", "channels-last", "wild"):
        given: dict[str, Tensor] = {}
        whole: dict[str, Tensor] = {}

        def output(key: str, value: Tensor, kind: str = kind, given: Any = given, whole: Any = whole) -> Tensor:
            size = everything[key].shape
            stale = torch.full(size, math.nan if value.is_floating_point() else -99, dtype=value.dtype)
            if key.startswith("acc") or key.split(".")[1] in ("gradWeight", "gradBias"):
                stale = torch.zeros_like(stale)
            given[key] = layouts(stale).get(kind, stale)
            whole[key] = given[key].new_empty(0).set_(given[key].untyped_storage())
            return given[key]

        got = trial.run(output=output)
        _compare_all(trial, f" into {kind} outputs", got, expected, TIGHT)
        for key, tensor in given.items():
            if key in shared:
                continue
            phase, name = key.split(".")
            where = f"{case.module}_{phase}: {name}, {kind}"
            now = got[key]
            untouched = layouts(torch.empty(now.shape, dtype=now.dtype)).get(kind, torch.empty(now.shape)).stride()
            if now.stride() != untouched or now.untyped_storage().data_ptr() != whole[key].data_ptr():
                raise Failed(f"{where}: had the right size, but did not keep its memory and strides")
            rest = whole[key].clone()
            rest.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(0)
            clean = rest.isnan() if rest.is_floating_point() else rest == -99
            outside = torch.ones_like(rest, dtype=torch.bool)
            outside.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(False)
            if tensor.numel() and not bool(clean[outside].all()):
                raise Failed(f"{where}: something was written between its elements")
    input = trial.values["input"]
    if input.dim() not in (4, 5) or in_place(trial.forward, trial.values):
        return
    leaves = {n: (_channels_last(t) if t.dim() == input.dim() else t) for n, t in trial.leaves().items()}
    leaves = {n: t.detach().requires_grad_() for n, t in leaves.items()}
    result = trial.apply(leaves)
    memory_format = torch.channels_last if input.dim() == 4 else torch.channels_last_3d
    made = {"output": result} if result.dim() == input.dim() else {}
    factor = torch.ones_like(result)
    made["gradient by input"] = torch.autograd.grad(result, leaves["input"], factor)[0]
    for name, tensor in made.items():
        if tensor.numel() and not tensor.is_contiguous(memory_format=memory_format):
            raise Failed(
                f"{trial.cls.__name__}: {name} of channels-last input {tuple(input.shape)} has strides {tensor.stride()}"
            )


def check_meta(case: Case, sample: Sample) -> None:
    """Meta tensors give the shapes, types and strides that real ones give."""
    trial = Trial(case, sample)
    channels_last = {"contiguous": _as_it_is, "channels-last": lambda n, t: layouts(t).get("channels-last", t)}
    for layout, enter in channels_last.items():
        if layout == "channels-last" and trial.values["input"].dim() not in (4, 5):
            continue
        real = trial.run(enter)
        meta = trial.run(
            lambda n, t, enter=enter: twin(enter(n, t).to("meta")) if not t.is_meta else t,  # type: ignore[misc]
            lambda k, t: t.to("meta"),
        )
        for key, tensor in real.items():
            _same_form(f"{case.module}_{key.replace('.', ': ')}, {layout}", meta[key], tensor)
        with torch.no_grad():
            given = {
                k: enter(k, v).clone() if isinstance(v, Tensor) else v for k, v in trial.values.items()
            }
            away = {k: twin(v.to("meta")) if isinstance(v, Tensor) else v for k, v in given.items()}
            _same_form(f"{trial.cls.__name__}.apply, {layout}", trial.cls.apply(**away), trial.cls.apply(**given))


def _same_form(what: str, meta: Tensor, real: Tensor) -> None:
    for name, got, expected in (
        ("device", meta.device.type, "meta"),
        ("shape", tuple(meta.shape), tuple(real.shape)),
        ("type", meta.dtype, real.dtype),
        ("strides", meta.stride(), real.stride()),
    ):
        if got != expected:
            raise Failed(f"{what}: {name} of the meta result is {got}, of the real one {expected}")


def check_contract(case: Case, sample: Sample) -> None:
    """Stale content, buffers, accumulation, what must not change, and sharing memory."""
    trial = Trial(case, sample)
    expected = trial.defined(trial.run())
    nan = math.nan

    def stale(key: str, value: Tensor) -> Tensor:
        if key.split(".")[1].startswith("grad") and key.split(".")[1] != "gradInput":
            return value
        fill = nan if value.is_floating_point() else -(2**62)
        return torch.full(expected[key].shape if key in expected else (3,), fill, dtype=value.dtype)

    def wrong_size(key: str, value: Tensor) -> Tensor:
        if key.split(".")[1].startswith("grad") and key.split(".")[1] != "gradInput":
            return value
        return torch.full((2, 1, 3), nan if value.is_floating_point() else -(2**62), dtype=value.dtype)

    _same_bits(trial, " into outputs full of NaN", trial.run(output=stale), expected)
    resized = trial.run(output=wrong_size)
    _same_bits(trial, " into outputs of another size", resized, {k: v.reshape(resized[k].shape) if v.numel() == 1 == resized[k].numel() else v for k, v in expected.items()})

    made: dict[str, Any] = {}
    for function in trial.module.functions.values():
        _check_row(trial, function, made, expected)
        row = trial.row(function, made)
        trial.call(function, row)
        if function is trial.forward:
            made = {n: row[n] for n in written(function, row)}


def _check_row(trial: Trial, function: Function, made: Mapping[str, Any], expected: Mapping[str, Tensor]) -> None:
    name = function.name
    mine = {k: v for k, v in expected.items() if k.startswith(function.phase + ".")}

    # Buffers are left alone, and so is everything that is only read.
    row = trial.row(function, made)
    for a in function.arguments:
        if a.role == "buffer":
            row[a.name] = torch.full((5,), math.nan, dtype=trial.dtype)
    changed = written(function, row)
    before = {n: Snapshot(v) for n, v in row.items() if isinstance(v, Tensor) and n not in changed}
    trial.call(function, row)
    for argument, snapshot in before.items():
        if difference := snapshot.difference(row[argument]):
            raise Failed(f"{name}: {argument} was only to be read, but {difference}")
    _same_bits(trial, "", {f"{function.phase}.{n}": row[n] for n in changed}, mine)

    # Gradients of parameters accumulate, with the factor `scale`.
    if function.tensors("gradParameter") and function.argument("scale"):
        row = trial.row(function, made)
        generator = torch.Generator().manual_seed(3)
        start = {}
        for a in function.tensors("gradParameter"):
            if row[a.name] is not None:
                row[a.name] = torch.randn(row[a.name].shape, generator=generator, dtype=trial.dtype)
                start[a.name] = row[a.name].clone()
        row["scale"] = -0.5
        trial.call(function, row)
        for n, t in start.items():
            compare(f"{name} with scale -0.5: {n}", row[n], t - 0.5 * mine[f"{function.phase}.{n}"], TIGHT)

    # With the in-place flag the result is in the input, and the output is the input.
    pair = in_place(function, row)
    if pair is not None:
        source, result = pair
        for same in (False, True):
            row = trial.row(function, made)
            if same:
                row[result] = row[source]
            address = row[source].data_ptr()
            trial.call(function, row)
            if row[source].data_ptr() != address:
                raise Failed(f"{name} in place: {source} has moved")
            if row[result].numel() and row[result].data_ptr() != row[source].data_ptr():
                raise Failed(f"{name} in place: {result} does not share the memory of {source}")
            _same_bits(trial, " in place", {f"{function.phase}.{n}": row[n] for n in mine_names(mine)}, mine)

    # An output may be a tensor that is read: then it is refused, or the result is right all the same.
    plain = trial.row(function, made)
    for out in written(function, plain):
        a = function.argument(out)
        assert a is not None
        if a.role not in ("output", "gradInput", "saved"):
            continue
        for other, tensor in plain.items():
            key = f"{function.phase}.{out}"
            if not isinstance(tensor, Tensor) or other == out or key not in mine or not tensor.numel():
                continue
            if tensor.dtype is not mine[key].dtype or tensor.shape != mine[key].shape:
                continue
            for shift in (0, 1):
                row = trial.row(function, made)
                if shift:
                    memory = torch.full((tensor.numel() + 1,), math.nan, dtype=tensor.dtype)
                    row[other] = memory[1:].view(tensor.shape).copy_(tensor)
                    row[out] = memory[:-1].view(tensor.shape)
                else:
                    row[out] = row[other]
                kept = Snapshot(row[other])
                try:
                    trial.call(function, row)
                except ERRORS as error:
                    if difference := kept.difference(row[other]):
                        raise Failed(f"{name} refused {out} in the memory of {other}, but {difference}") from error
                    if not str(error).startswith(name + ": "):
                        raise Failed(f"{name}: the error does not name the function: {error}") from error
                    continue
                how = f" with {out} {'partly ' if shift else ''}in the memory of {other}"
                compare(name + how, row[out], mine[key], TIGHT)


def mine_names(mine: Mapping[str, Tensor]) -> list[str]:
    """The argument names of keys 'phase.argument'."""
    return [k.split(".")[1] for k in mine]


class Snapshot:
    """A tensor as it was: memory, place in it, size, strides, and every byte."""

    def __init__(self, tensor: Tensor) -> None:
        self.form = self._form(tensor)
        self.bytes = self._bytes(tensor)

    @staticmethod
    def _form(tensor: Tensor) -> tuple[Any, ...]:
        storage = tensor.untyped_storage()
        address = 0 if tensor.is_meta else storage.data_ptr()
        return address, storage.nbytes(), tensor.storage_offset(), tuple(tensor.shape), tensor.stride()

    @staticmethod
    def _bytes(tensor: Tensor) -> Tensor:
        if tensor.is_meta:
            return torch.empty(0, dtype=torch.uint8)
        storage = tensor.untyped_storage()
        return torch.empty(0, dtype=torch.uint8).set_(storage).clone()  # type: ignore[call-overload, no-any-return]

    def difference(self, tensor: Tensor) -> str:
        """What has changed; '' if nothing has."""
        names = ("memory", "size of its memory", "offset", "shape", "strides")
        for name, was, now in zip(names, self.form, self._form(tensor)):
            if was != now:
                return f"its {name} changed from {was} to {now}"
        return "" if torch.equal(self.bytes, self._bytes(tensor)) else "its values changed"


def check_threads(case: Case, sample: Sample, *dtypes: torch.dtype) -> None:
    """The same bits from 1, 2 and 5 threads, and from run to run."""
    threads = torch.get_num_threads()
    for dtype in dtypes or (torch.float32, torch.float64):
        trial = Trial(case, sample, dtype)
        try:
            torch.set_num_threads(1)
            expected = trial.defined(trial.run())
            for count in (2, 5, 2):
                torch.set_num_threads(count)
                _same_bits(trial, f" with {count} threads instead of 1", trial.run(), expected)
        finally:
            torch.set_num_threads(threads)


def float_mode() -> tuple[float, ...]:
    """What arithmetic gives that depends on the floating-point mode: subnormals and rounding."""
    least, third = torch.tensor([5e-324, 1.0, 1.0], dtype=torch.float64), torch.tensor([1.0, 3.0, -3.0])
    tiny = torch.tensor([1e-45, 1e-40])
    half = float.fromhex("0x1.8p-53")
    return (
        *(least * torch.tensor([1.0, 1.0 + half, 1.0 - half], dtype=torch.float64)).tolist(),
        *(torch.ones(3) / third).tolist(),
        *(tiny + tiny).tolist(),
        float("5e-324") * float("1.0"),
        float("1.0") + half,
        float("-1.0") - half,
    )


def check_mode(case: Case, sample: Sample) -> None:
    """Rounding and subnormals are afterwards as before."""
    before = float_mode()
    Trial(case, sample).run()
    if float_mode() != before:
        raise Failed(f"{case.module} left another floating-point mode: {before} became {float_mode()}")


# --- refusals -----------------------------------------------------------------------------------------------


def _refuse(
    trial: Trial,
    function: Function,
    change: Mapping[str, Any],
    error: type[Exception] | tuple[type[Exception], ...],
    message: str,
    what: str,
) -> None:
    """Calls with some arguments replaced: the call must raise, say where, and leave every tensor as it was."""
    made: dict[str, Any] = {}
    if function is not trial.forward:
        row = trial.row(trial.forward)
        trial.call(trial.forward, row)
        made = {n: row[n] for n in written(trial.forward, row)}
    for output in (None, lambda key, value: value if "gradParameter" in key else value.new_full((3,), 7)):
        row = trial.row(function, made)
        if output is not None:
            for a in function.tensors("output", "saved", "gradInput"):
                if a.name in written(function, row):
                    row[a.name] = row[a.name].new_full((3,), 7)
        row.update(change)
        _must_refuse(trial, function, list(row.values()), row, error, message, what)


def _must_refuse(
    trial: Trial,
    function: Function,
    values: Sequence[Any],
    row: Mapping[str, Any],
    error: type[Exception] | tuple[type[Exception], ...],
    message: str,
    what: str,
) -> None:
    where = f"{function.name} with {what}"
    before = {n: Snapshot(v) for n, v in row.items() if isinstance(v, Tensor) and v.layout is torch.strided}
    expected = " or ".join(e.__name__ for e in (error if isinstance(error, tuple) else (error,)))
    try:
        getattr(trial.backend, function.name)(0, *values)
    except Exception as raised:
        text = str(raised)
        if not isinstance(raised, error):
            raise Failed(f"{where}: expected {expected}, got {type(raised).__name__}: {text}") from raised
        if not re.search(message, text):
            raise Failed(f"{where}: the text does not match {message!r}: {text}") from raised
    else:
        raise Failed(f"{where}: expected {expected}, but it was taken")
    for name, snapshot in before.items():
        if difference := snapshot.difference(row[name]):
            raise Failed(f"{where}: refused, but {name} is not as it was: {difference}")


def check_refusal(case: Case, refusal: Refusal) -> None:
    """A refusal of the case."""
    trial = Trial(case, case.samples[refusal.of])
    function = trial.module.functions[refusal.phase]
    change = {n: make(v, trial.dtype) for n, v in refusal.arguments.items()}
    names = "|".join(a.name for a in function.arguments)
    message = rf"^(?=.*({refusal.message})){function.name}: ({names}): "
    _refuse(trial, function, change, refusal.error, message, refusal.name)
    if function is trial.forward:
        given = {k: v.clone() if isinstance(v, Tensor) else v for k, v in trial.values.items()}
        given.update({k: v for k, v in change.items() if k in given})
        try:
            with torch.no_grad():
                trial.cls.apply(**given)
        except refusal.error:
            pass
        except Exception as raised:
            raise Failed(f"{trial.cls.__name__} with {refusal.name}: got {type(raised).__name__}: {raised}") from raised
        else:
            raise Failed(f"{trial.cls.__name__} with {refusal.name}: was taken")


def _wrong_tensors(a: Argument, value: Tensor, others: int) -> Iterator[tuple[str, Any, type[Exception] | tuple[type[Exception], ...]]]:
    """What no tensor argument may be."""
    other = torch.int32 if a.type == "THIndexTensor*" else torch.float16
    yield "float16" if other is torch.float16 else "int32", value.to(other), TypeError
    yield "bool", value.to(torch.bool), TypeError
    if a.type == "THIndexTensor*":
        yield "float64", value.to(torch.float64), TypeError
    else:
        yield "int64", torch.zeros(value.shape, dtype=torch.int64), TypeError
        yield "complex", value.to(torch.complex128), TypeError
        yield "a negative view", torch.conj(torch.complex(value, value)).imag, TypeError
        # No backend has been told a type that it could take: it is the one for float64.
        yield "float32", value.to(torch.float32), TypeError
    if others:
        yield "a meta tensor", value.to("meta"), TypeError
    yield "sparse", value.to_sparse() if value.dim() else value.reshape(1).to_sparse(), TypeError
    yield "a number", 1.0, TypeError
    yield "a string", "tensor", TypeError
    yield "a list", [1.0, 2.0], TypeError
    yield "numpy", value.numpy(), TypeError
    yield "the class", torch.Tensor, TypeError


_WRONG_NUMBERS: Mapping[str, tuple[tuple[str, Any, type[Exception]], ...]] = {
    "bool": (
        ("2", 2, ValueError),
        ("-1", -1, ValueError),
        ("a float", 1.0, TypeError),
        ("a string", "True", TypeError),
        ("None", None, TypeError),
        ("a list", [], TypeError),
        ("a float tensor", torch.tensor(1.0), TypeError),
    ),
    "float": (
        ("None", None, TypeError),
        ("a string", "0.5", TypeError),
        ("bytes", b"1", TypeError),
        ("a list", [0.5], TypeError),
        ("complex", 1 + 1j, TypeError),
        ("beyond any float", 10**400, ValueError),
    ),
    "int": (
        ("a float", 2.0, TypeError),
        ("NaN", math.nan, TypeError),
        ("infinity", math.inf, TypeError),
        ("None", None, TypeError),
        ("a string", "2", TypeError),
        ("a tuple", (2, 2), TypeError),
        ("a float tensor", torch.tensor(2.5), TypeError),
        ("2**63", 2**63, ValueError),
        ("-2**63 - 1", -(2**63) - 1, ValueError),
        ("beyond any integer", 10**400, ValueError),
    ),
}


def check_wrong_argument(case: Case, function: Function, argument: Argument) -> None:
    """Wrong kinds of one argument, derived from the header."""
    trial = Trial(case, case.samples[0])
    this = rf"^{function.name}: {argument.name}: "
    names = "|".join(a.name for a in function.arguments)
    any_argument = rf"^{function.name}: ({names}): "
    if not argument.is_tensor:
        kind = argument.type if argument.type == "bool" else "int" if "int" in argument.type else "float"
        wrong = _WRONG_NUMBERS[kind]
        if argument.type == "int":
            wrong = (*wrong, ("2**31", 2**31, ValueError), ("-2**31 - 1", -(2**31) - 1, ValueError))
        for what, value, error in wrong:
            _refuse(trial, function, {argument.name: value}, error, this, f"{argument.name} {what}")
        return

    filled = _filled_row(trial, function)
    value = filled[argument.name]
    others = sum(isinstance(v, Tensor) for n, v in filled.items() if n != argument.name)
    for what, wrong_value, errors in _wrong_tensors(argument, value, others):
        # Where two disagree it may be the other that is told to be wrong.
        message = any_argument if what in ("float32", "a meta tensor") else this
        _refuse(trial, function, {argument.name: wrong_value}, errors, message, f"{argument.name} {what}")
    if not argument.is_optional and argument.role != "buffer":
        _refuse(trial, function, {argument.name: None}, TypeError, this, f"{argument.name} None")
    if argument.name in written(function, filled) and value.numel() > 1:
        overlapping = value.new_full((1,) * value.dim(), 1.0).expand(value.shape)
        message = any_argument
        _refuse(trial, function, {argument.name: overlapping}, ValueError, message, f"{argument.name} expanded")
    for what, resized in _wrong_sizes(function, argument, value):
        _refuse(trial, function, {argument.name: resized}, (ValueError, IndexError), any_argument, f"{argument.name} {what}")


def _filled_row(trial: Trial, function: Function) -> dict[str, Any]:
    """The arguments of a call that has been made: outputs have their sizes, buffers and what is None one element."""
    made: dict[str, Any] = {}
    if function is not trial.forward:
        row = trial.row(trial.forward)
        trial.call(trial.forward, row)
        made = {n: row[n] for n in written(trial.forward, row)}
    row = trial.row(function, made)
    trial.call(function, row)
    for a in function.tensors():
        if row[a.name] is None:
            row[a.name] = torch.zeros(1, dtype=torch.int64 if a.type == "THIndexTensor*" else trial.dtype)
    return row


def _wrong_sizes(function: Function, argument: Argument, value: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Sizes that can never fit: one more in a dimension, or a dimension more."""
    backward = function.phase != "updateOutput"
    if argument.is_optional and argument.role == "input":
        return  # nothing reads it
    if argument.role == "input":
        dims = [0] if backward and function.tensors("gradOutput", "saved", "target") else []
    elif argument.role in ("target", "parameter", "gradOutput", "gradParameter"):
        dims = list(range(value.dim()))
    elif argument.role in ("saved", "output") and backward:
        dims = list(range(value.dim()))
    else:
        dims = []
    for dim in dims:
        size = [s + (d == dim) for d, s in enumerate(value.shape)]
        yield f"with size {tuple(size)}", torch.zeros(size, dtype=value.dtype)
    if dims and argument.role != "input":
        size = [2, *value.shape]
        yield f"with size {tuple(size)}", torch.zeros(size, dtype=value.dtype)


def check_arity(case: Case, function: Function) -> None:
    """One argument too few or too many."""
    trial = Trial(case, case.samples[0])
    row = _filled_row(trial, function)
    for what, values in (("an argument missing", [*row.values()][:-1]), ("an argument too many", [*row.values(), 1])):
        _must_refuse(trial, function, values, row, TypeError, function.name, what)


# --- running ------------------------------------------------------------------------------------------------

CHECKS: Mapping[str, Callable[[Case, Sample], None]] = {
    "reference": check_reference,
    "float32": check_float32,
    "gradients": check_gradients,
    "second gradients": check_second_gradients,
    "layouts": check_layouts,
    "output layouts": check_output_layouts,
    "meta": check_meta,
    "contract": check_contract,
    "threads": check_threads,
    "mode": check_mode,
}
_NEED_DERIVATIVES = ("gradients", "second gradients")


def plan(names: Sequence[str] = ()) -> Iterator[Check]:
    """All checks of the named modules, or of all modules."""
    for name, module in modules().items():
        if names and name not in names:
            continue
        case = cases().get(name)
        if case is None:
            yield Check(name, "case", "", functools.partial(_no_case, name))
            continue
        for check, function in CHECKS.items():
            for sample in case.samples:
                if sample.differentiable or check not in _NEED_DERIVATIVES:
                    yield Check(name, check, sample.name, functools.partial(function, case, sample))
            if check == "threads":
                # The samples are too small to be split as large tensors are.
                for row in case.rows[:1]:
                    run = functools.partial(check_threads, case, row.sample, getattr(torch, row.dtype))
                    yield Check(name, check, row.name, run)
        for refusal in case.refusals:
            where = f"{refusal.phase}, {refusal.name}"
            yield Check(name, "refusals", where, functools.partial(check_refusal, case, refusal))
        for c_function in module.functions.values():
            yield Check(name, "refusals", f"{c_function.phase}, arity", functools.partial(check_arity, case, c_function))
            for a in c_function.arguments:
                if a.role != "state":
                    run = functools.partial(check_wrong_argument, case, c_function, a)
                    yield Check(name, "refusals", f"{c_function.phase}, {a.name}", run)


def _no_case(name: str) -> None:
    raise Failed(f"{name} has no entry in the table of cases (thnn/cases)")


def run_checks(names: Sequence[str], report: Callable[[Result], None]) -> list[Result]:
    """Runs the checks of the named modules (all, if none is named), reports each result, returns the failures."""
    failures = []
    for check in plan(names):
        start = time.perf_counter()
        message = ""
        try:
            check.run()
        except Failed as failure:
            message = str(failure)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - start
        result = Result(check.module, check.check, check.sample, not message, seconds, message)
        report(result)
        if message:
            failures.append(result)
    return failures


def main(names: Sequence[str], as_json: bool = False) -> int:
    """The command: one line per kind of check, and the failures; exit status 1 when there are any."""
    results: list[Result] = []
    shown: list[tuple[str, str]] = []

    def line() -> None:
        module, check = shown[-1]
        group = [r for r in results if (r.module, r.check) == (module, check)]
        failed = [r for r in group if not r.ok]
        seconds = sum(r.seconds for r in group)
        verdict = f"{len(failed)} FAILED" if failed else "ok"
        print(f"{module:<24}{check:<18}{len(group):>4}  {verdict:<12}{seconds:6.2f} s", flush=True)
        for r in failed:
            print(f"    {r.sample}: {r.message}", flush=True)

    def report(result: Result) -> None:
        if not as_json and shown and shown[-1] != (result.module, result.check):
            line()
        if not shown or shown[-1] != (result.module, result.check):
            shown.append((result.module, result.check))
        results.append(result)

    failures = run_checks(names, report)
    if as_json:
        json.dump([asdict(r) for r in results], sys.stdout, indent=1)
        print()
    elif results:
        line()
        print(f"{len(results)} checks, {len(failures)} failed")
    return 1 if failures else 0
