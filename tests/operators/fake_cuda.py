"""Calls with fake CUDA tensors, which need no GPU: ``python fake_cuda.py GUARD``.

GUARD is the library made of cuda_guard.cpp. torch's autograd engine needs a GPU; nodes are called without it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import logging
import math
import sys
import traceback
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import thnn
from thnn._functions.base import FunctionBase
from thnn.testing.cases.model import SampleInput
from thnn.testing.torch_support import Call, call_of, representatives, samples_of

HERE, OTHER = torch.device("cuda:1"), torch.device("cuda:0")
failures: list[str] = []


def tuple_of(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def like(tensor: Tensor, dtype: torch.dtype | None, grad: bool = False) -> Tensor:
    dtype = dtype if dtype is not None and tensor.is_floating_point() else tensor.dtype
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=dtype, device=HERE)
    return made.requires_grad_(grad)


def check(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def fake_call(call: Call, inside: bool, dtype: torch.dtype | None) -> None:
    """Outputs have the size, strides and type of a real call, gradients the size and type of their tensors; all are on
    HERE."""
    expected = tuple_of(call.cls.apply(*call.values))
    inplace = "inplace" in call.cls._names and bool(call.values[call.cls._names.index("inplace")])
    mode = FakeTensorMode()
    with mode:
        values = [
            like(v, dtype, k in call.moved and not inplace) if isinstance(v, Tensor) else v
            for k, v in enumerate(call.values)
        ]
    with mode if inside else contextlib.nullcontext():
        found = tuple_of(call.cls.apply(*values))
    for a, b in zip(found, expected):
        wanted = dtype if dtype is not None and b.is_floating_point() else b.dtype
        got = (type(a), a.shape, a.stride(), a.dtype, a.device)
        check(
            got == (FakeTensor, b.shape, b.stride(), wanted, HERE), f"output: {got}, not {b.shape} {wanted}"
        )
    differentiable = [y for y in found if y.grad_fn is not None]
    if not differentiable:
        return
    with mode:
        given: list[Any] = [torch.ones_like(y) for y in differentiable]
        if call.cls.module.name in ("LSTMFused", "GRUFused"):
            # the gradient w.r.t. `storage`, an additional last output, which the backward reads
            given.append(None)
    node: Any = differentiable[0].grad_fn
    with torch.no_grad(), mode if inside else contextlib.nullcontext():
        gradients = tuple_of(node.apply(*given))
    leaves = [values[k] for k in call.moved]
    by_tensor = [g for g in gradients if isinstance(g, Tensor)]
    check(len(by_tensor) == len(leaves), f"{len(by_tensor)} gradients of {len(leaves)} tensors")
    for g, leaf in zip(by_tensor, leaves):
        got = (type(g), g.shape, g.dtype, g.device)
        check(got == (FakeTensor, leaf.shape, leaf.dtype, HERE), f"gradient: {got}, not {leaf}")


def _attempt(cls: type[FunctionBase], sample: SampleInput, inside: bool, dtype: torch.dtype) -> None:
    try:
        fake_call(call_of(cls, sample), inside, dtype)
    except Exception:
        text = traceback.format_exc(limit=-3)
        failures.append(f"{cls.__name__}, {sample.name}, {inside=}, {dtype}: {text}")


def functions() -> None:
    """All classes, with the first sample of their cases; a class of each kind with all."""
    kinds = representatives().values()
    for cls in thnn.function_classes.values():
        for sample in samples_of(cls)[: None if cls in kinds else 1]:
            _attempt(cls, sample, True, torch.float16)
            _attempt(cls, sample, False, torch.float32)


def _zeros(mode: Any, device: torch.device, *size: int, dtype: torch.dtype = torch.float32) -> Tensor:
    with mode or contextlib.nullcontext():
        return torch.zeros(*size, dtype=dtype, device=device)


def _devices_calls(one: Any, other: Any, there: torch.device) -> dict[str, Any]:
    """Calls with tensors of the makers `one` and `other`, and with layers on `there`, the device of `other`."""
    index, nn = torch.int64, thnn.nn
    vectors, settings = (None, None), (True, 0.1, 1e-5)
    return {
        "PReLU": lambda: thnn.PReLUFunction.apply(one(2, 3), other(1)),
        "convolution": lambda: thnn.SpatialConvolutionMMFunction.apply(
            one(2, 3, 8, 8), other(4, 3, 3, 3), None, 3, 3, 1, 1, 0, 0
        ),
        "Linear": lambda: thnn.LinearFunction.apply(one(2, 3), other(4, 3)),
        "MSE": lambda: thnn.MSECriterionFunction.apply(one(2, 3), other(2, 3)),
        "ClassNLL": lambda: thnn.ClassNLLCriterionFunction.apply(one(2, 3), other(2, dtype=index)),
        "BatchNormalization": lambda: thnn.BatchNormalizationFunction.apply(
            one(4, 3), other(3), None, *vectors, *settings
        ),
        "running statistics": lambda: thnn.BatchNormalizationFunction.apply(
            one(4, 3), None, None, other(3), other(3), *settings
        ),
        "SyncBatchNormalization": lambda: thnn.SyncBatchNormalizationFunction.apply(
            one(4, 3), other(3), None, *vectors, *settings
        ),
        "batch_norm": lambda: thnn.batch_norm(one(4, 3), other(3), None, one(3), one(3)),
        "estimates": lambda: thnn.batch_norm(one(4, 3), None, None, other(3), other(3)),
        "nn.BatchNorm1d": lambda: nn.BatchNorm1d(3, device=there)(one(4, 3)),
        "nn.Conv2d": lambda: nn.Conv2d(3, 4, 3, device=there)(one(2, 3, 8, 8)),
        "nn.Linear": lambda: nn.Linear(3, 4, device=there)(one(2, 3)),
        "nn.Embedding": lambda: nn.Embedding(5, 4, device=there)(one(2, 3, dtype=index)),
        "nn.LSTM": lambda: nn.LSTM(3, 4, device=there)(one(5, 2, 3)),
        "nn.GRU": lambda: nn.GRU(3, 4, device=there)(one(5, 2, 3)),
        "nn.LSTMCell": lambda: nn.LSTMCell(3, 4, device=there)(one(2, 3)),
        "nn.CrossEntropyLoss": lambda: nn.CrossEntropyLoss()(one(2, 3), other(2, dtype=index)),
        "nn.NLLLoss": lambda: nn.NLLLoss(other(3))(one(2, 3), one(2, dtype=index)),
    }


def devices() -> None:
    """An error names both devices."""
    cpu, meta = torch.device("cpu"), torch.device("meta")
    pairs = [
        (HERE, OTHER, True),
        (HERE, cpu, True),
        (cpu, HERE, True),
        (cpu, meta, False),
        (meta, cpu, False),
    ]
    for first, second, is_fake in pairs:
        mode = FakeTensorMode()
        one, other = (functools.partial(_zeros, mode if is_fake else None, d) for d in (first, second))
        for inside in (True, False) if is_fake else (False,):
            for name, call in _devices_calls(one, other, second).items():
                makes_layer = name.startswith("nn.") and is_fake
                try:
                    with torch.no_grad(), mode if inside or makes_layer else contextlib.nullcontext():
                        call()
                    failures.append(f"{name}, {first}, {second}: no error")
                except Exception as error:
                    text = str(error)
                    if not isinstance(error, (TypeError, ValueError, RuntimeError)) or not (
                        str(first) in text and str(second) in text
                    ):
                        failures.append(
                            f"{name}, {first}, {second}, {inside=}: {type(error).__name__}: {text}"
                        )


def autocast() -> None:
    """Inside of torch.autocast, operators give the types of the classes."""
    half, single = torch.float16, torch.float32
    mode = FakeTensorMode()
    make = functools.partial(_zeros, mode, HERE)
    # torch.autocast("cuda") turns itself off without a GPU.
    torch.set_autocast_enabled("cuda", True)
    for given, vector in ((half, single), (half, half), (single, single), (single, half)):
        x, w = make(4, 3, dtype=given), make(3, 3, dtype=vector)
        calls = {
            "Linear": lambda x=x, w=w: thnn.LinearFunction.apply(x, w),
            "BatchNormalization": lambda x=x, w=w: thnn.BatchNormalizationFunction.apply(
                x, w[0], None, None, None, True, 0.1, 1e-5
            ),
        }
        for name, call in calls.items():
            with mode:
                inside = call().dtype
            outside = call().dtype
            if inside is not outside:
                failures.append(
                    f"{name} of {given}, {vector}: {inside} by the operator, {outside} by the class"
                )


def networks() -> None:
    """torch.compile and torch.export trace a network on the device."""
    nn = thnn.nn
    mode = FakeTensorMode()
    with mode, torch.no_grad():
        network = torch.nn.Sequential(
            nn.Conv2d(3, 4, 3, device=HERE), nn.BatchNorm2d(4, device=HERE), nn.ReLU(), nn.MaxPool2d(2),
            torch.nn.Flatten(), nn.Linear(64, 5, device=HERE), nn.LogSoftmax(1),
        ).eval()  # fmt: skip
        x = torch.randn(2, 3, 10, 10, device=HERE)
        expected = network(x)
        found = torch.compile(network, fullgraph=True, backend="aot_eager")(x)
        program = torch.export.export(network, (x,))
        exported = program.graph.output_node().args[0][0].meta["val"]  # type: ignore[index, union-attr]
        failures.extend(
            f"network: {y}, not {expected}"
            for y in (found, exported)
            if (y.shape, y.dtype, y.device) != (expected.shape, expected.dtype, HERE)
        )
        named = {str(n.target) for n in program.graph.nodes if str(n.target).startswith("thnn.")}
        if len(named) < 5:
            failures.append(f"torch.export recorded {named}")


class _Group:
    """A process group of two, of which the other process sends what this one sends."""

    def __init__(self, backend: type, home: torch.device) -> None:
        self.backend, self.home, self.collectives = backend(), home, 0

    def all_gather(self, outputs: list[Tensor], message: Tensor, transport: Any) -> None:
        """Stands for torch.distributed.all_gather: the tensors must be where the backend takes them."""
        for tensor in (*outputs, message):
            check(tensor.device == self.home, f"a message on {tensor.device}, not {self.home}")
            check(tensor.dtype is torch.float64, f"a message of {tensor.dtype}")
        self.collectives += 1
        for output in outputs:
            output.copy_(message)


class _Gloo:
    pass


class _NCCL:
    pass


def synchronization() -> None:
    """Batch normalization between processes: messages are on the device for NCCL, on the host for gloo."""
    from thnn._batch_norm import communicator as module
    from thnn._batch_norm import sync

    sync.in_transform = lambda: False  # a true result would refuse FakeTensorMode
    mode = FakeTensorMode()
    make = functools.partial(_zeros, mode, HERE)
    for backend, home in ((_NCCL, HERE), (_Gloo, torch.device("cpu"))):
        group = _Group(backend, home)
        made = object.__new__(module.ProcessGroupCommunicator)
        made.size, made._rank, made._global_ranks, made._length, made._collectives = 2, 0, [0, 1], 99, 0
        made._failure = ""
        made._group, made._gloo = lambda group=group: group, group  # type: ignore[assignment, misc]
        made._check_tags = lambda checksums, tag: None  # type: ignore[method-assign]  # reads numbers
        distributed: Any = module.dist
        distributed.ProcessGroupGloo, distributed.all_gather = _Gloo, group.all_gather
        module.backend_of = lambda group, device: group.backend
        module.timeout_of = lambda group, device: 30.0
        for dtype in (torch.float32, torch.float16):
            x, w = make(2, 3, 4, dtype=dtype).requires_grad_(), make(3).requires_grad_()
            before = group.collectives
            with mode:
                y = sync.synchronized(x, w, None, make(3), make(3), 0.1, 1e-5, made)
                node: Any = y.grad_fn
                with torch.no_grad():
                    gradients = node.apply(torch.ones_like(y))
            found = [(t.shape, t.dtype, t.device) for t in (y, *gradients[:2])]
            check(found == [(t.shape, t.dtype, HERE) for t in (x, x, w)], f"{backend}: {found}")
            check(group.collectives == before + 2, f"{group.collectives - before} collectives")


def replicas() -> None:
    """Batch normalization over parts on two devices of a process."""
    mode = FakeTensorMode()
    with mode:
        for limit, create_graph in itertools.product((None, math.inf, 6.0), (False, True)):
            _two_parts(functools.partial(_zeros, None), limit, create_graph)


def _two_parts(make_on: Any, limit: float | None, create_graph: bool) -> None:
    from thnn._batch_norm import stages
    from thnn.parallel import _joint_batch_norm as joint

    parts, values = [], []
    for device, count in ((HERE, 3), (OTHER, 2)):
        make = functools.partial(make_on, device)
        x, w, b = make(count, 4, 5), make(4), make(4)
        for leaf in (x, w, b):
            leaf.requires_grad_()
        with torch.no_grad():
            statistics = stages.statistics(x)
        parts.append(joint._Part(x, w, b, make(4), make(4), statistics, 0.1, True))
    for part, (mean, inverse, count, _) in zip(parts, joint._merge("layer", 1e-5, True, parts)):
        with torch.no_grad():
            output = stages.normalize(part.input, part.weight, part.bias, mean, inverse, limit)
        values.append((part.input, part.weight, part.bias, output, mean, inverse, count))
    outputs = joint._join(1e-5, limit, values)
    node: Any = outputs[0].grad_fn
    with torch.set_grad_enabled(create_graph):
        _, *gradients = node.apply(*(torch.ones_like(y) for y in outputs))
    leaves = [column[k] for k in range(3) for column in values]
    found = [(g.shape, g.dtype, g.device) for g in gradients]
    check(found == [(t.shape, t.dtype, t.device) for t in leaves], f"{limit=}, {create_graph=}: {found}")


if __name__ == "__main__":
    ctypes.CDLL(sys.argv[1])
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    for check_all in (functions, devices, autocast, networks, synchronization, replicas):
        check_all()
    sys.exit("\n".join(failures) or 0)
