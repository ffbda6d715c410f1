"""Calls of every kind; numbers are compared with torch's. Run by test_names.py, with names of torch hidden.

A feature may be missing, with an error; a wrong number or another exception ends the program.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

import thnn

x = torch.randn(4, 3, 6, 6)
MISSING = (NotImplementedError, TypeError, ValueError, RuntimeError)


def tanh(input: Tensor) -> Tensor:
    result: Tensor = thnn.TanhFunction.apply(input)
    return result


def may_be_missing(name: str, call: Callable[[], Any], expected: Any) -> None:
    """Compares a result; a feature that needs a hidden name raises an error instead."""
    try:
        found = call()
    except MISSING as error:
        sys.stdout.write(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}\n")
        return
    torch.testing.assert_close(found, expected)


# Plain calls, gradients, derivatives of gradients
torch.testing.assert_close(tanh(x), x.tanh())
torch.testing.assert_close(thnn.ThresholdFunction.apply(x.clone(), 0, 0, True), x.relu())
leaf = x.double().requires_grad_()
(gradient,) = torch.autograd.grad(tanh(leaf).sum(), leaf, create_graph=True)
torch.testing.assert_close(gradient, 1 - leaf.tanh() ** 2)
torch.testing.assert_close(
    torch.autograd.grad(gradient.sum(), leaf)[0], -2 * leaf.tanh() * (1 - leaf.tanh() ** 2)
)

# In-place calls of views of one tensor: an error before anything is overwritten, or autograd's own
base = x.clone().requires_grad_() * 1
before = base.detach().clone()
try:
    thnn.ThresholdFunction.apply(base.unbind(0)[0], 0, 0, True)
except (ValueError, RuntimeError):
    torch.testing.assert_close(base.detach(), before, rtol=0, atol=0)
else:
    raise AssertionError("an output of unbind was overwritten")

# A network, in training and in evaluation, and its counterpart
layers = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 5)
theirs = nn.Sequential(*layers)
ours = copy.deepcopy(theirs)
thnn.convert(ours)
for train in (True, False):
    results = []
    for network in (ours, theirs):
        network.train(train)
        network.zero_grad()
        loss = network(x).logsumexp(1).sum()
        loss.backward()
        results.append((loss, *(p.grad for p in network.parameters()), *network.buffers()))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)
thnn.nn.BatchNorm2d(3, bias=False)(x)

# Backends
out = torch.empty(0)
thnn.type2backend["torch.FloatTensor"].Tanh_updateOutput(0, x, out)
torch.testing.assert_close(out, x.tanh())

# Transforms, tracers, modes
derivative = 1 - x.tanh() ** 2
may_be_missing("vmap", lambda: torch.vmap(tanh)(x), x.tanh())
may_be_missing("func.grad", lambda: torch.func.grad(lambda t: tanh(t).sum())(x), derivative)
may_be_missing("jvp", lambda: torch.func.jvp(tanh, (x,), (x,))[1], derivative * x)
nested = torch.func.jacfwd(torch.func.jacfwd(tanh))
point = torch.randn((), dtype=torch.float64)
may_be_missing("jvp of jvp", lambda: nested(point), -2 * point.tanh() * (1 - point.tanh() ** 2))
may_be_missing("vmap of grad", lambda: torch.vmap(torch.func.grad(lambda t: tanh(t).sum()))(x), derivative)
may_be_missing("jit.trace", lambda: torch.jit.trace(tanh, x, check_trace=False)(x + 1), (x + 1).tanh())


def made() -> Tensor:
    from torch.fx.experimental.proxy_tensor import make_fx

    result: Tensor = make_fx(tanh)(x)(x + 1)
    return result


may_be_missing("make_fx", made, (x + 1).tanh())


def recorded_backend() -> Tensor:
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(t: Tensor) -> Tensor:
        result = torch.zeros_like(t)
        thnn.type2backend["torch.FloatTensor"].Tanh_updateOutput(0, t, result)
        return result

    found: Tensor = make_fx(f)(x)(x + 1)
    return found


may_be_missing("make_fx of a backend", recorded_backend, (x + 1).tanh())


def in_fake_mode() -> Tensor:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        return torch.zeros(tanh(mode.from_tensor(x)).shape, device="meta")


may_be_missing("fake tensors", in_fake_mode, torch.zeros(x.shape, device="meta"))


with FlopCounterMode(display=False):
    torch.testing.assert_close(thnn.LinearFunction.apply(x[0, 0], torch.eye(6), None), x[0, 0])


def compiled() -> Tensor:
    found: Tensor = torch.compile(lambda t: tanh(t) * 2, backend="aot_eager")(x)
    return found


torch.testing.assert_close(compiled(), x.tanh() * 2)
with torch.autocast("cpu"):
    may_be_missing("autocast", lambda: tanh(x.bfloat16()), x.bfloat16().tanh())
with torch.autograd.forward_ad.dual_level():
    dual = torch.autograd.forward_ad.make_dual(x, x)
    may_be_missing("dual", lambda: torch.autograd.forward_ad.unpack_dual(tanh(dual)).tangent, derivative * x)
batched = torch.stack([torch.eye(4)[0], torch.eye(4)[1]])
v = torch.randn(4, requires_grad=True)
may_be_missing(
    "is_grads_batched",
    lambda: torch.autograd.grad(tanh(v), v, batched, is_grads_batched=True)[0],
    batched * (1 - v.tanh() ** 2),
)
