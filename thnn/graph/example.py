"""Runs the inference branch on the example input and compares it with the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn

from thnn.graph.branch import ROOT, Branch, attribute, describe_node


def run_example(
    branch: Branch, module: nn.Module, inputs: Sequence[Any]
) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
    """Runs the branch for inference node by node and compares the result with the model; returns sizes and types.

    If the branch changes buffers, it is recompiled to change copies of them. The buffers of the model do not change.
    """
    buffers = dict(module.named_buffers())
    before = {n: b.detach().clone() for n, b in buffers.items()}
    sizes = {}
    changed: dict[str, str] = {}
    devices = sorted({v.get_device() for v in inputs if v.is_cuda})
    values: dict[fx.Node, Any] = {}
    output: Any = None
    waiting = (v.clone() for v in inputs)
    with torch.random.fork_rng(devices), torch.no_grad():
        for node in branch.graph.nodes:
            versions = {n: b._version for n, b in buffers.items()}
            args = fx.node.map_arg(node.args, values.__getitem__)
            kwargs = fx.node.map_arg(node.kwargs, values.__getitem__)
            try:
                if node.op == "placeholder":
                    values[node] = next(waiting)
                elif node.op == "get_attr":
                    values[node] = attribute(branch._root, node.target)
                elif node.op == "output":
                    output = values[node] = args[0]
                elif node.op == "call_method":
                    values[node] = getattr(args[0], node.target)(*args[1:], **kwargs)
                else:
                    function = (
                        attribute(branch._root, node.target) if node.op == "call_module" else node.target
                    )
                    values[node] = function(*args, **kwargs)
            except Exception as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"fork: example_input: {describe_node(node)}: {error}") from error
            if isinstance(values[node], Tensor):
                sizes[node.name] = tuple(values[node].shape), values[node].dtype
            for name, buffer in buffers.items():
                if buffer._version != versions[name]:
                    changed[name] = describe_node(node)
                    if node.op == "call_module":
                        buffer.copy_(before[name])
                        raise ValueError(f"fork: {changed[name]} changes buffer {name!r} in evaluation")
        for name, buffer in buffers.items():
            if not _equal(buffer, before[name]):  # some writes do not increment the version
                changed.setdefault(name, "the model")
                buffer.copy_(before[name])
    if not any("explicit mode" in node.meta for node in branch.graph.nodes):
        _compare(branch, module, inputs, devices, output)
        for name, buffer in buffers.items():
            if not _equal(buffer, before[name]):
                buffer.copy_(before[name])
    if changed:
        read = [n for n in branch.graph.nodes if n.op == "get_attr"]
        copied = {n.target.removeprefix(ROOT + ".") for n in read}
        for name, place in changed.items():
            if name not in copied:
                raise ValueError(f"fork: {place} changes buffer {name!r} in evaluation")
        for node in read:
            if node.target.removeprefix(ROOT + ".") in changed:
                with branch.graph.inserting_after(node):
                    copy = branch.graph.call_method("clone", (node,))
                node.replace_all_uses_with(copy, lambda user, copy=copy: user is not copy)
        branch._compile()
    return sizes


def _compare(
    branch: Branch, module: nn.Module, inputs: Sequence[Any], devices: Sequence[int], output: Any
) -> None:
    """Raises ValueError if the model and the branch differ: tracing cannot record some conditions in a forward."""
    kept = [(m, dict(m._buffers)) for m in module.modules()]
    try:
        with torch.random.fork_rng(devices), torch.no_grad():
            expected = branch._root.module(*(v.clone() for v in inputs))
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"fork: example_input: {type(module).__name__}: {error}") from error
    finally:
        for part, given in kept:
            part._buffers.update(given)
    if _differ(output, expected):
        code = getattr(type(module).forward, "__code__", None)
        place = f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""
        raise ValueError(
            f"fork: {place}{type(module).__name__} cannot be traced: for the example its forward and the"
            " traced graph give different results; it has a condition that tracing cannot record, such as"
            " isinstance(x, torch.Tensor)"
        )


def _differ(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return not _equal(a, b, 1e-3)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) != len(b) or any(map(_differ, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() != b.keys() or any(_differ(a[key], b[key]) for key in a)
    return type(a) is not type(b) or (isinstance(a, (bool, int, float, str)) and a == a and a != b)


def _equal(a: Tensor, b: Tensor, tolerance: float = 0.0) -> bool:
    """Whether two tensors have the same size, type and values; NaN equals NaN. Sparse and quantized values pass."""
    if a.shape != b.shape or a.dtype is not b.dtype:
        return False
    if a.is_meta or a.layout is not torch.strided or a.is_quantized:
        return True
    return torch.allclose(a.detach(), b.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)
