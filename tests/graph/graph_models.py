"""Nets and torch modules of the tests in this folder."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import thnn
from thnn.graph import Net, Operator, batch_norm_layer


def convolution(source: str, result: str, weight: str) -> Operator:
    return Operator(
        "SpatialConvolutionMM", input=source, weight=weight, output=result, kW=3, kH=3, dW=1, dH=1, padW=1, padH=1
    )  # fmt: skip


def small_net(**settings: Any) -> Net:
    """Convolution, batch normalization, relu; the same again; a sum as loss."""
    generator = torch.Generator().manual_seed(0)
    net = Net()
    source = "x"
    for k, (inputs, outputs) in enumerate(((1, 3), (3, 4)), 1):
        net.new_var(f"w{k}", torch.randn(outputs, inputs, 3, 3, generator=generator).double())
        net.new_var(f"s{k}", torch.rand(outputs, generator=generator).double() + 0.5)
        net.new_var(f"b{k}", torch.randn(outputs, generator=generator).double())
        net.append_op(convolution(source, f"c{k}", f"w{k}"))
        batch_norm_layer(net, f"c{k}", f"n{k}", f"s{k}", f"b{k}", **settings)
        net.append_op(Operator(torch.relu, f"n{k}", output=f"r{k}"))
        source = f"r{k}"
    net.append_op(Operator(torch.mul, "r2", "target", output="product"))
    net.append_op(Operator(torch.sum, "product", output="loss"))
    return net


def net_of(*operators: Operator) -> Net:
    net = Net()
    for operator in operators:
        net.append_op(operator)
    return net


def images(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*(shape or (4, 1, 6, 6)), generator=torch.Generator().manual_seed(seed)).double()


class Block(nn.Module):
    """Layers of both libraries, a function with an argument for the mode, and a statement only for training."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, bias=False),
            thnn.nn.BatchNorm2d(4, activation="relu"),
            nn.Conv2d(4, 6, 3, groups=2),
            nn.BatchNorm2d(6),
        )
        self.up = nn.ConvTranspose2d(6, 4, 2, groups=2)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(36, 5)
        self.last = nn.BatchNorm1d(5, affine=False)

    def forward(self, x: Tensor, extra: bool = False) -> Tensor:
        x = F.dropout(self.features(x), 0.3, self.training)
        x = self.norm(self.up(x))
        if self.training:
            x = x * 2
        return self.last(self.head(x.flatten(1)))


class Shared(nn.Module):
    """One convolution and one normalization in several places, also accessed through a list and a method."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, 1, 3, padding=1)
        self.norm = nn.BatchNorm2d(1)
        self.layers = [self.convolution, self.norm]
        self.drop = self._drop

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, 0.5, self.training)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.convolution(x))
        z = self.layers[0](y)
        return self.drop(self.layers[1](z) + z)


class Statistics(nn.Module):
    """Keeps its own statistics, by assignment and in place, without a gradient."""

    mean: Tensor
    calls: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))
        self.register_buffer("calls", torch.zeros(()))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        mean = self.mean
        x = x * self.scale
        if self.training:
            mean = x.mean((0, 2, 3))
            with torch.no_grad():
                self.mean = 0.9 * self.mean + 0.1 * mean
        self.calls += 1
        self.calls.add_(0.5)
        return (x - mean.view(1, -1, 1, 1)) * self.calls + torch.rand(6) + torch.arange(6)


class InPlace(nn.Module):
    """Changes tensors that have other names and views."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x)
        other, first = y, y[0]
        y += 1
        first *= 2
        n = before = x.shape[0]
        n += 1
        return other.relu() * before / n


def named() -> nn.Module:
    """A model with names that torch accepts although they are not Python identifiers."""
    model = nn.Sequential()
    for name, layer in (('a "b"\\', nn.Conv2d(1, 3, 3)), ("<&>\n", nn.BatchNorm2d(3)), ("class", Keywords())):
        model.add_module(name, layer)
    return model


class Keywords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2)
        for name in ("lambda", "1", 'd "e"', "d 'e'"):
            self.register_parameter(name, nn.Parameter(torch.rand(2, 1, 1)))
            self.register_buffer(f"_{name}", torch.rand(2, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(input=self.convolution(input=x))
        for name in ("lambda", "1", 'd "e"', "d 'e'"):
            x = x * getattr(self, name) + getattr(self, f"_{name}")
        return x
