"""Calls of a module's functions with a sample of its case, and comparison of their results."""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from thnn._binding.call import backward_scalar
from thnn._binding.device import EMULATION
from thnn._header import Function
from thnn._header.roles import forward_name
from thnn.testing.cases import arguments, dtype_of, function_of
from thnn.testing.cases.model import Case, SampleInput
from thnn.testing.device_calls import call_on_device

# Largest error in float64, relative to the largest magnitude of the result.
TIGHT = 1e-12


class Failed(AssertionError):
    """A failed check; the text has the call, the result and the expected result."""


# (argument name, tensor that a call reads) -> the tensor to pass instead, such as the same values in another layout.
Enter = Callable[[str, Tensor], Tensor]
# The same for a tensor that a call writes; the name includes the phase: 'updateOutput.output'.
Make = Callable[[str, Tensor], Tensor]


def clone_with_strides(tensor: Tensor) -> Tensor:
    """A copy with the same strides, including gaps and overlaps between elements."""
    if tensor.is_meta:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    if tensor.is_contiguous() and tensor.nbytes == tensor.untyped_storage().nbytes():
        return tensor.clone()  # in a third of the time
    memory = tensor.untyped_storage().clone()
    return tensor.new_empty(0).set_(memory, tensor.storage_offset(), tensor.shape, tensor.stride())


def as_it_is(name: str, tensor: Tensor) -> Tensor:
    return tensor


def written(function: Function, row: Mapping[str, Any]) -> list[str]:
    """The names of the tensors that a call with these arguments writes."""
    mode = next((row[f] for f in ("inplace", "train") if f in row), True)
    return [
        a.name
        for a in function.written
        if row.get(a.name) is not None and (mode or not a.is_modified or a.role == "gradParameter")
    ]


def in_place(function: Function, row: Mapping[str, Any]) -> tuple[str, str] | None:
    """For an in-place call: the input that is overwritten, and the output that shares its memory."""
    if not row.get("inplace"):
        return None
    return ("input", "output") if function.phase == "updateOutput" else ("gradOutput", "gradInput")


def outputs_of(result: Any) -> tuple[Tensor, ...]:
    """The outputs of a class: its result, or the elements of its result."""
    return result if isinstance(result, tuple) else (result,)


# A sample is made once for the checks that follow one another, which only read its tensors.
_arguments = functools.lru_cache(maxsize=64)(arguments)


class CaseRunner:
    """Calls the functions of a case with copies of the tensors of one sample."""

    def __init__(self, case: Case, sample: SampleInput, dtype: torch.dtype = torch.float64) -> None:
        self.case, self.sample, self.dtype = case, sample, dtype
        self.module = case.registry.modules[case.module]
        # The forward (or the function, in the case of a single function), and all functions of the case.
        self.forward: Function = function_of(case)
        backwards = self.module.backwards if case.phase is None else ()
        self.functions: tuple[Function, ...] = (self.forward, *backwards)
        self.device = case.device
        self.backend = case.registry.type2backend[dtype, self.device]
        self.values = {**_arguments(case, sample, dtype)}
        self._generators = [a.name for a in self.forward.arguments if a.role == "generator"]
        self.values.update({name: torch.Generator() for name in self._generators})
        self.reseed()
        # The tensors that the class computes gradients for.
        self.differentiable = [
            n
            for n in (self.cls._names[: self.cls._tensor_count] if self.has_class else ())
            if isinstance(self.values[n], Tensor) and n not in self.cls._constants
        ]

    def reseed(self) -> None:
        """Makes the next call with `values` draw the same random numbers as every other call."""
        for name in self._generators:
            self.values[name].manual_seed(11)

    @functools.cached_property
    def reference(self) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
        """The reference in float64: outputs, other results of the forward, and gradients, each as a dict; the key of a
        gradient is the name of its tensor."""
        values = {
            k: v.detach().to(torch.float64) if isinstance(v, Tensor) and v.is_floating_point() else v
            for k, v in self.values.items()
        }
        leaves = {n: values[n].clone().requires_grad_() for n in self.differentiable}
        values.update(leaves)
        spelled = {a.name: a.variable for a in self.forward.arguments}
        self.reseed()
        result = self.case.reference(**{spelled.get(n, n): v for n, v in values.items()})
        if not self.has_class:
            return {}, self._checked_reference(result), {}
        output, made = result if isinstance(result, tuple) and len(result) == 2 else (result, {})
        first, *others = (a.name for a in self.forward.tensors("output"))
        made = self._checked_reference(made, others)
        if not isinstance(output, Tensor):
            raise self._wrong_reference("a tensor, or a tuple of a tensor and a dict", output)
        outputs = {first: output, **{n: made[n] for n in others}}
        made = {n: t.detach() for n, t in made.items() if n not in outputs}
        gradients = {n: torch.zeros_like(leaf) for n, leaf in leaves.items()}
        with_gradient = [n for n, t in outputs.items() if t.requires_grad]
        if leaves and with_gradient:
            factors = [self.factor(outputs[n], n) for n in with_gradient]
            tensors = [outputs[n] for n in with_gradient]
            found = torch.autograd.grad(tensors, list(leaves.values()), factors, allow_unused=True)
            gradients.update({n: d for n, d in zip(leaves, found) if d is not None})
        return {n: t.detach() for n, t in outputs.items()}, made, gradients

    def _checked_reference(self, results: Any, required: Sequence[str] = ()) -> dict[str, Tensor]:
        """The results that the reference returned by name. Raises Failed if they are not tensors that the function
        has."""
        names = [a.name for a in self.forward.written]
        if not isinstance(results, dict):
            raise self._wrong_reference(f"a dict of tensors, with names among {', '.join(names)}", results)
        for name in (*required, *results):
            if name not in names:
                raise self._wrong_reference(f"names among {', '.join(names)}", name)
            if not isinstance(results.get(name), Tensor):
                raise self._wrong_reference(f"a tensor {name}", results.get(name))
        return results

    def _wrong_reference(self, expected: str, got: Any) -> Failed:
        text = repr(got) if got is None or isinstance(got, (str, int, float)) else type(got).__name__
        where = f"{self.forward.name}: the reference of the case {self.case.name}"
        return Failed(f"{where}: expected {expected}, got {text}")

    def factor(self, output: Tensor, name: str = "output") -> Tensor:
        """The gradient w.r.t. an output: ones for a criterion, whose C function has no argument gradOutput."""
        if self.module.is_criterion:
            return torch.ones_like(output)
        generator = torch.Generator().manual_seed(7 if name == "output" else zlib.crc32(name.encode()))
        random = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        # Rounded to the type of the sample, so that float32 and float64 calls get the same values.
        return random.to(self.dtype).to(output.dtype)

    @functools.cached_property
    def factors(self) -> dict[str, Tensor]:
        """The gradient w.r.t. each output."""
        return {n: self.factor(t, n).to(self.dtype) for n, t in self.reference[0].items()}

    @property
    def gradOutput(self) -> Tensor:
        """The gradient w.r.t. the first output."""
        return next(iter(self.factors.values()), torch.empty(0, dtype=self.dtype))

    def row(
        self,
        function: Function,
        made: Mapping[str, Any] = {},
        enter: Enter = as_it_is,
        output: Make | None = None,
    ) -> dict[str, Any]:
        """The arguments of a call by name: copies of the values, empty outputs, zero gradients of parameters.

        `made` has the results of the forward. `enter` may replace tensors that are read, `output` tensors that are
        written.
        """
        self.reseed()
        row: dict[str, Any] = {}
        known = {**self.values, **made}
        names = {a.name for a in function.written}
        for a in function.arguments:
            if a.role == "state":
                continue
            source = forward_name(a.name, known.keys()) or a.name
            if a.name in names and not a.is_modified and a.role != "gradParameter":
                value: Any = torch.empty(0, dtype=dtype_of(a, self.dtype))
                if function.phase == "accGradParameters":
                    value = None  # some accGradParameters have an unused argument gradInput
                elif output is not None:
                    value = output(f"{function.phase}.{a.name}", value)
            elif a.role == "gradParameter":
                like = self.values.get(a.gradient_of or "")
                value = None if like is None else torch.zeros_like(like)
                if value is not None and output is not None:
                    value = output(f"{function.phase}.{a.name}", value)
            elif a.role == "buffer":
                value = None
            elif a.role == "gradOutput" and a.name not in self.values:
                value = self.factors.get(a.gradient_of or "", self.gradOutput)
                value = clone_with_strides(enter(a.name, value))
            elif source in known:
                value = known[source]
                if isinstance(value, Tensor):
                    value = clone_with_strides(enter(a.name, value))
            else:
                value = backward_scalar(a, self.values, self.gradOutput)
            row[a.name] = value
        return row

    def call(self, function: Function, row: Mapping[str, Any] | Sequence[Any]) -> None:
        """Calls the backend with arguments by name, or with their values."""
        state = [0] if any(a.role == "state" for a in function.arguments) else []
        values = row.values() if isinstance(row, Mapping) else row
        method = getattr(self.backend, function.name)
        if self.device.type == "cpu":
            method(*state, *values)
        else:
            call_on_device(functools.partial(method, *state), list(values), self.device)

    def run(self, enter: Enter = as_it_is, output: Make | None = None) -> dict[str, Tensor]:
        """Calls all functions; returns the tensors that they write, as 'updateOutput.output' and so on."""
        results: dict[str, Tensor] = {}
        made: dict[str, Any] = {}
        for function in self.functions:
            row = self.row(function, made, enter, output)
            self.call(function, row)
            names = written(function, row)
            results.update({f"{function.phase}.{n}": row[n] for n in names})
            if function is self.forward:
                made = {n: row[n] for n in names}
        return results

    def made(self, results: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The results of the forward, by name."""
        prefix = self.forward.phase + "."
        return {k.removeprefix(prefix): v for k, v in results.items() if k.startswith(prefix)}

    def defined(self, results: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The results that the reference also returns; the values of other results are undefined."""
        expected = self.expected()
        return {k: v for k, v in results.items() if k in expected}

    def expected(self) -> dict[str, Tensor]:
        """The expected results of `run`, from the reference."""
        outputs, made, gradients = self.reference
        if self.case.phase is not None:
            return {f"{self.case.phase}.{n}": t for n, t in made.items()}
        found = {f"updateOutput.{n}": t for n, t in (outputs | made).items()}
        for function in self.module.backwards:
            own = function.tensors("gradParameter")
            if function.phase != "accGradParameters":
                own += function.tensors("gradInput")
            found.update(
                {
                    f"{function.phase}.{a.name}": gradients[a.gradient_of]
                    for a in own
                    if a.gradient_of in gradients
                }
            )
        return found

    def leaves(self) -> dict[str, Tensor]:
        """Copies, as leaves, of the tensors that have a gradient in the class."""
        return {n: self.values[n].clone().requires_grad_() for n in self.differentiable}

    def apply(self, leaves: Mapping[str, Tensor]) -> Any:
        """The result of the class, with `leaves` as arguments."""
        self.reseed()
        given = {k: v.clone() if isinstance(v, Tensor) else v for k, v in self.values.items()}
        given.update(leaves)
        if given.get("inplace"):
            given["input"] = given["input"].clone()
        if self.device.type == "cpu":
            return self.cls.apply(**given)
        there = {k: v.to(self.device) if isinstance(v, Tensor) else v for k, v in given.items()}
        result = self.cls.apply(**there)
        return tuple(t.cpu() for t in result) if isinstance(result, tuple) else result.cpu()

    @property
    def is_on_device(self) -> bool:
        """True if the CUDA library computes, or its emulation."""
        return computes_on_device(self.case)

    @property
    def has_class(self) -> bool:
        """True if the module of the case has a class."""
        return self.case.phase is None

    @property
    def cls(self) -> Any:
        return self.case.registry.function_classes[self.case.module + "Function"]


def computes_on_device(case: Case) -> bool:
    """True if the CUDA library, or its emulation, computes the calls of a case."""
    there = case.device.type == "cuda" or EMULATION
    return there and "THCUNNFloatBackend" in case.registry.type2backend


# --- comparing ----------------------------------------------------------------------------------------------


def compare(what: str, got: Tensor, expected: Tensor, tolerance: float, least: float = 0.0) -> None:
    """Raises Failed unless shapes, infinities and NaN are equal and other values differ by at most `tolerance` times
    the largest magnitude of `expected`, or times `least` if that is larger."""
    if expected.numel() == 1 and got.numel() == 1:
        expected = expected.reshape(got.shape)  # a loss may have one dimension or none
    if got.shape != expected.shape:
        raise Failed(f"{what}: has shape {tuple(got.shape)}, expected {tuple(expected.shape)}")
    if not got.is_floating_point():
        wrong = got != expected
        allowed = 0.0
    else:
        got, expected = got.detach().to(torch.float64), expected.detach().to(torch.float64)
        allowed = tolerance * (max(largest_of(expected), least) or 1.0)
        if not got.numel() or bool((got - expected).abs_().max() <= allowed):  # False if there is a NaN
            return
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


def largest_of(tensor: Tensor) -> float:
    """The largest finite magnitude."""
    return tensor.detach().abs().nan_to_num_(0, 0, 0).max().item() if tensor.numel() else 0.0


def compare_all(
    runner: CaseRunner, how: str, got: Mapping[str, Tensor], expected: Mapping[str, Tensor], tolerance: float
) -> None:
    for key, tensor in expected.items():
        phase, name = key.split(".")
        compare(f"{runner.case.module}_{phase}{how}: {name}", got[key], tensor, tolerance)


def bits(tensor: Tensor) -> Tensor:
    """The bytes of the elements in row-major order, without the shape."""
    whole = tensor.contiguous()
    # Dimensions of size 1 may have any stride in a contiguous tensor, and `view` needs one of 1.
    return whole.as_strided((whole.numel(),), (1,)).view(torch.uint8)


def same_bits(
    runner: CaseRunner, how: str, got: Mapping[str, Tensor], expected: Mapping[str, Tensor]
) -> None:
    for key, tensor in expected.items():
        if got[key].shape != tensor.shape or not torch.equal(bits(got[key]), bits(tensor)):
            phase, name = key.split(".")
            where = f"{runner.case.module}_{phase}{how}: {name}"
            compare(where, got[key], tensor, 0.0)
            raise Failed(f"{where}: different bits (sign of zero, or NaN)")


# --- layouts ------------------------------------------------------------------------------------------------


def _embed(tensor: Tensor, dims: Sequence[slice], size: Sequence[int]) -> Tensor:
    """The values in a part of a larger tensor, whose other elements must not change."""
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
    """Rows with gaps between them, as in a part of an image."""
    dims = [slice(None)] * (tensor.dim() - 1) + [slice(1, tensor.shape[-1] + 1)]
    return _embed(tensor, dims, [*tensor.shape[:-1], tensor.shape[-1] + 3])


def channels_last(tensor: Tensor) -> Tensor:
    return tensor.contiguous(
        memory_format=torch.channels_last if tensor.dim() == 4 else torch.channels_last_3d
    )


def _garbage_strides(tensor: Tensor) -> Tensor:
    """Dimensions of size 1 with huge strides: such strides have no meaning, and kernels must not use them."""
    strides = [2**40 if s == 1 else t for s, t in zip(tensor.shape, tensor.contiguous().stride())]
    return tensor.clone(memory_format=torch.contiguous_format).as_strided(tensor.shape, strides)


# Layout -> its conversion, and a predicate that is true for tensors whose memory the conversion changes.
LAYOUTS: Mapping[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], bool]]] = {
    "sliced": (_sliced, lambda t: t.dim() >= 1 and t.numel() > 0),
    "padded": (_padded, lambda t: t.dim() >= 1 and t.numel() > 0),
    "transposed": (_transposed, lambda t: t.dim() >= 2 and t.numel() > 1),
    "reversed": (_reversed, lambda t: t.dim() >= 3 and t.numel() > 1),
    "channels-last": (channels_last, lambda t: t.dim() in (4, 5)),
    "garbage strides": (_garbage_strides, lambda t: 1 in t.shape),
}


def lay_out(kind: str, tensor: Tensor) -> Tensor:
    """The same values with other strides; the tensor itself if the layout does not apply to it."""
    change, fits = LAYOUTS[kind]
    return change(tensor) if fits(tensor) else tensor


# --- memory -------------------------------------------------------------------------------------------------


def accumulates(key: str) -> bool:
    """True for a result that is added to a tensor of the caller: 'accGradParameters.gradWeight'."""
    name = key.split(".")[1]
    return name.startswith("grad") and name != "gradInput"


def poison(size: Sequence[int], like: Tensor) -> Tensor:
    """A tensor of the type of `like`, full of NaN or of an integer that is no result."""
    return torch.full(tuple(size), math.nan if like.is_floating_point() else -(2**30), dtype=like.dtype)


class Snapshot:
    """The state of a tensor: memory, offset, size, strides, and every byte."""

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
        return torch.empty(0, dtype=torch.uint8).set_(storage).clone()

    def difference(self, tensor: Tensor) -> str:
        """A description of the change since the snapshot; '' if nothing changed."""
        names = ("memory", "size of its memory", "offset", "shape", "strides")
        for name, was, now in zip(names, self.form, self._form(tensor)):
            if was != now:
                return f"its {name} changed from {was} to {now}"
        return "" if torch.equal(self.bytes, self._bytes(tensor)) else "its values changed"
