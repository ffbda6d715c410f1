"""A module compiled by the backend, compared with the same module as it is."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from thnn._rewrite.backend import backend
from thnn._rewrite.report import Report


def compiled(module: Any, **settings: Any) -> tuple[Any, list[Report]]:
    """The compiled module, and the reports of its graphs."""
    torch.compiler.reset()
    reports: list[Report] = []
    return torch.compile(module, backend=backend, options={"report": reports.append}, **settings), reports


def check(module: nn.Module, x: Tensor, tolerance: float = 1e-10) -> Report:
    """The report of the only graph of a module, after a comparison of its output, gradients and buffers."""
    theirs, ours = copy.deepcopy(module), module
    call, reports = compiled(ours, fullgraph=True)
    found = []
    for network, function in ((theirs, theirs), (ours, call)):
        torch.manual_seed(0)
        input = x.detach().clone().requires_grad_(x.is_floating_point())
        output = function(input)
        if output.requires_grad:
            output.sin().sum().backward()
        gradients = [p.grad for p in network.parameters()]
        found.append([output.detach(), input.grad, *gradients, *network.buffers()])
    torch.testing.assert_close(found[1], found[0], rtol=tolerance, atol=tolerance)
    (report,) = reports
    return report
