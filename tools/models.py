"""Random models, converted, compiled and frozen, against torch: `make models MINUTES=10`.

A model is a random program of layers and functional calls, with layers that are used twice, shared, nested, frozen,
hooked, in place or in evaluation. In float64, outputs, gradients of inputs and parameters, buffers and second
derivatives of thnn.convert, of torch.compile(backend="thnn") and of thnn.freeze are compared with those of the model
itself. The seed and the number of a model determine all of it. The first difference ends the command, with the command
that repeats it.
"""

from __future__ import annotations

import argparse
import copy
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

import thnn
from tools.progress import progress

TOLERANCE = 1e-9
_ACTIVATIONS: tuple[Callable[[], nn.Module], ...] = (
    nn.ReLU, partial(nn.ReLU, inplace=True), nn.ReLU6, partial(nn.ReLU6, inplace=True), nn.LeakyReLU,
    partial(nn.LeakyReLU, 0.2, inplace=True), nn.ELU, partial(nn.ELU, inplace=True), nn.Tanh, nn.Sigmoid, nn.Softplus,
    nn.Hardtanh, nn.GELU, nn.SiLU, partial(nn.SiLU, inplace=True), nn.Mish, nn.Hardswish, nn.PReLU, nn.Softsign,
    nn.LogSigmoid, nn.Identity, partial(nn.Dropout, 0.0), partial(nn.Softmax, 1), partial(nn.LogSoftmax, 1),
)  # fmt: skip
_FUNCTIONS: tuple[Callable[[Tensor], Tensor], ...] = (
    F.relu, torch.relu, torch.sigmoid, torch.tanh, F.silu, F.gelu, F.elu, F.leaky_relu, F.softplus,
    partial(F.relu, inplace=True), torch.relu_,
    partial(F.interpolate, scale_factor=2.0), partial(F.pad, pad=(1, 1, 1, 1), mode="reflect"),
    partial(F.pad, pad=(2, 0), mode="replicate"), F.normalize,
    partial(F.softmax, dim=1), lambda x: x.contiguous(), lambda x: x * 2, lambda x: x.clone().add_(1),
    lambda x: x.transpose(2, 3), lambda x: x[:, :, ::2],
)  # fmt: skip


class Step(NamedTuple):
    """A line of the program: the new value is `call` of the values with these numbers."""

    text: str
    call: Callable[..., Tensor]
    operands: tuple[int, ...]


class Block(nn.Module):
    """A layer within a module of the user, whose forward has functional calls."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = nn.Sequential(nn.Sequential(layer))

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.layer(x)) + 0.5


class Sum(nn.Module):
    """A residual branch."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for layer in self.layers:
            y = layer(y)
        return F.relu(y + x)


class Model(nn.Module):
    """Runs a program; `self.layers` has the modules that its steps name."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict()
        self.steps: list[Step] = []
        self.noise = 0.0  # standard deviation of what is added to each value

    def called(self, step: Step) -> Callable[..., Tensor]:
        if step.text not in self.layers:
            return step.call
        return self.layers[step.text]

    def forward(self, x: Tensor) -> Tensor:
        values = [x]
        for step in self.steps:
            value = self.called(step)(*(values[i] for i in step.operands))
            values.append(value + self.noise * torch.randn_like(value) if self.noise else value)
        return values[-1].flatten(1).mean(1) + sum(v.mean() for v in values[1:-1:3])


class Maker:
    """Makes model `number` of a seed."""

    def __init__(self, seed: int, number: int) -> None:
        self.draw = random.Random(f"{seed} {number}")
        torch.manual_seed(self.draw.randrange(1 << 32))
        self.dims = self.draw.choice((1, 2, 2, 2, 3))
        size = self.draw.choice((4, 5, 8) if self.dims < 3 else (3, 4, 5))
        planes = self.draw.choice((1, 2, 3)), self.draw.choice((2, 4, 6))
        self.input = torch.randn(*planes, *[size] * self.dims).double()
        # torch's batch normalization in evaluation mixes the channels of the gradients of one channels-last image.
        if self.draw.random() < 0.3 and planes[0] > 1:
            self.input = self.input.movedim(1, -1).contiguous().movedim(-1, 1)
        self.model, self.facts = Model(), list[str]()
        values = [self.input]
        for _ in range(self.draw.randint(3, 9)):
            step = self._step(values)
            values.append(self._computed(step, values))
            self.model.steps.append(step)
        self._change_layers()

    def _computed(self, step: Step, values: Sequence[Tensor]) -> Tensor:
        with torch.no_grad():
            return self.model.called(step)(*(values[i].clone() for i in step.operands))

    def _step(self, values: Sequence[Tensor]) -> Step:
        """A step whose operands have sizes that it takes; nothing is in place on a value that a later step reads."""
        last, choice = len(values) - 1, self.draw.random()
        x = values[last]
        same = [i for i, v in enumerate(values[:-1]) if v.shape == x.shape]
        if choice < 0.2 and same:
            other = self.draw.choice(same)
            name, call = self.draw.choice(
                (("add", torch.add), ("mul", torch.mul), ("cat", lambda a, b: torch.cat([a, b], 1)))
            )
            return Step(f"{name}", call, (last, other))
        if choice < 0.3:
            used = [k for k in self.model.layers if self._takes(self.model.layers[k], x)]
            if used:
                return Step(self.draw.choice(used), torch.clone, (last,))
        if choice < 0.5:
            functions = [*_FUNCTIONS]
            for name, size in (("max_pool", 2), ("avg_pool", 2), ("adaptive_avg_pool", 3)):
                functions.append(partial(_pooled, f"{name}{self.dims}d", size))
            for _ in range(5):
                function = self.draw.choice(functions)
                step = Step(f"functional {functions.index(function)}", function, (last,))
                if self._works(function, x):
                    return step
        name = f"layer{len(self.model.layers)}"
        for _ in range(20):
            layer = self._layer(x).double()
            if self._takes(layer, x):
                self.model.layers[name] = layer
                return Step(name, layer, (last,))
        self.model.layers[name] = nn.Tanh()
        return Step(name, nn.Tanh(), (last,))

    @staticmethod
    def _works(function: Callable[[Tensor], Tensor], x: Tensor) -> bool:
        try:
            with torch.no_grad():
                return 0 < function(x.clone()).numel() < 1 << 14
        except (RuntimeError, ValueError, IndexError):
            return False

    def _takes(self, layer: nn.Module, x: Tensor) -> bool:
        return self._works(copy.deepcopy(layer), x)

    def _layer(self, x: Tensor) -> nn.Module:
        draw, channels, dims = self.draw, x.size(1), self.dims

        def of(name: str) -> Any:
            return getattr(nn, f"{name}{dims}d")

        outputs = draw.choice((channels, 2 * channels, 4))
        kernel = draw.choice((1, 2, 3, 3, 3, 5))
        groups = draw.choice([1, 1, *(g for g in (2, channels) if channels % g == outputs % g == 0)])
        geometry: dict[str, Any] = {
            "stride": draw.choice((1, 1, 2)),
            "padding": draw.choice((0, kernel // 2)),
        }
        padded: dict[str, Any] = {
            "padding_mode": draw.choice(("zeros", "zeros", "reflect", "circular", "replicate"))
        }
        padded["padding"] = draw.choice((0, kernel // 2, "same"))
        convolution: Any = partial(
            of("Conv"), channels, outputs, kernel, groups=groups, bias=draw.random() < 0.5
        )
        norm: Any = draw.choice(
            (
                of("BatchNorm"),
                of("BatchNorm"),
                of("InstanceNorm"),
                partial(nn.GroupNorm, math.gcd(2, channels, outputs)),
            )
        )
        options: dict[str, Any] = {"affine": draw.random() < 0.7}
        if norm == of("BatchNorm"):
            options |= {"track_running_stats": draw.random() < 0.8}
        linear = ("linear", "bilinear", "trilinear")[dims - 1]
        activation = draw.choice(_ACTIVATIONS)
        kinds: tuple[Callable[[], nn.Module], ...] = (
            lambda: convolution(**geometry),
            lambda: convolution(dilation=draw.choice((1, 2)), **padded),
            lambda: of("ConvTranspose")(channels, outputs, kernel, groups=groups, **geometry),
            lambda: norm(channels, **options),
            activation,
            lambda: nn.Sequential(convolution(**geometry), norm(outputs, **options), activation()),
            lambda: nn.Sequential(convolution(**geometry), activation(), of("BatchNorm")(outputs)),
            lambda: nn.Sequential(of("BatchNorm")(channels), convolution(), activation()),
            lambda: Block(convolution(**geometry)),
            lambda: Sum(
                of("Conv")(channels, channels, 3, padding=1, bias=False),
                of("BatchNorm")(channels),
                activation(),
            ),
            lambda: Sum(of("Conv")(channels, channels, 3, padding=1), of("BatchNorm")(channels)),
            lambda: of("MaxPool")(2, draw.choice((1, 2)), ceil_mode=draw.random() < 0.5),
            lambda: of("AvgPool")(3, 1, padding=draw.choice((0, 1)), count_include_pad=draw.random() < 0.5),
            lambda: of("AdaptiveMaxPool")(draw.choice((1, 2, 3))),
            lambda: nn.Upsample(scale_factor=2, mode=draw.choice(("nearest", linear))),
            lambda: of("ReplicationPad")(1),
            lambda: nn.Linear(x.size(-1), draw.choice((2, 4))),
            lambda: nn.LayerNorm(x.shape[-1:]),
            lambda: of("LPPool")(2, 2),
            lambda: nn.LocalResponseNorm(3),
            lambda: nn.ChannelShuffle(2),
            lambda: of("Dropout")(0.0),
            lambda: of("AdaptiveAvgPool")(2),
        )
        return draw.choice(kinds)()

    def _change_layers(self) -> None:
        """Shares, freezes and hooks layers, and puts some into evaluation."""
        found = [m for m in self.model.modules() if not isinstance(m, (Model, nn.ModuleDict, nn.ModuleList))]
        for layer in found:
            if self.draw.random() < 0.1:
                layer.eval()
                self.facts.append(f"{type(layer).__name__} in evaluation")
            if self.draw.random() < 0.1:
                layer.requires_grad_(False)
                self.facts.append(f"{type(layer).__name__} frozen")
            if self.draw.random() < 0.08:
                hook = self.draw.choice(("forward", "pre", "backward"))
                if hook == "forward":
                    layer.register_forward_hook(_scaled)
                elif hook == "pre":
                    layer.register_forward_pre_hook(_shifted)
                else:
                    layer.register_full_backward_hook(_scaled_gradient)
                self.facts.append(f"{type(layer).__name__} with a {hook} hook")
        convolutions = [m for m in found if isinstance(m, (nn.Conv1d, nn.Conv2d, nn.Conv3d))]
        for first, second in pairwise(convolutions):
            if first.weight.shape == second.weight.shape and self.draw.random() < 0.5:
                second.weight = first.weight
                self.facts.append("shared weight")

    def __str__(self) -> str:
        lines = [f"input {tuple(self.input.shape)} {self.input.stride()}; {', '.join(self.facts)}"]
        for number, step in enumerate(self.model.steps, 1):
            lines.append(f"{number} = {step.text} {self.model.called(step)} of {step.operands}")
        return "\n".join(lines)


def _pooled(name: str, size: int, x: Tensor) -> Tensor:
    pooled: Tensor = getattr(F, name)(x, size)
    return pooled


def _scaled(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
    return output * 1.5


def _shifted(module: nn.Module, inputs: Any) -> Any:
    return (inputs[0] + 0.25,)


def _scaled_gradient(module: nn.Module, gradients: Any, outputs: Any) -> Any:
    return tuple(g if g is None else g * 0.5 for g in gradients)


def _results(
    model: nn.Module, called: Callable[[Tensor], Tensor], given: Tensor, order: int
) -> dict[str, Tensor]:
    """The outputs and gradients of two steps, and the buffers after them."""
    found: dict[str, Tensor] = {}
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
    for step in range(2):
        x = (given * (1 + step)).requires_grad_()
        y = called(x * 1)  # no leaf, so that the first step may be in place
        found[f"output {step}"] = y
        if not y.requires_grad:
            continue
        wanted = {"input": x, **parameters}
        loss = y.square().sum()
        gradients = torch.autograd.grad(loss, [*wanted.values()], create_graph=order > 1, allow_unused=True)
        if order > 1:
            loss = sum((g.square().sum() for g in gradients if g is not None), torch.zeros(()))
            second: Sequence[Any] = [None] * len(wanted)
            if loss.requires_grad:
                second = torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)
            gradients += tuple(second)
        names = [*wanted, *(f"second {n}" for n in wanted)]
        found |= {f"{n} {step}": g for n, g in zip(names, gradients) if g is not None}
    found |= dict(model.named_buffers())
    return {n: t.detach().clone() for n, t in found.items()}


def _compare(kind: str, found: dict[str, Tensor], expected: dict[str, Tensor]) -> str | None:
    # The gradient w.r.t. a bias before batch normalization is 0, but for rounding errors of the size of the others'.
    largest = dict[bool, float]()
    for name, value in expected.items():
        order = name.startswith("second")
        largest[order] = max(1.0, largest.get(order, 0.0), value.abs().max().item() if value.numel() else 0.0)
    for name, value in expected.items():
        if name not in found:
            if value.any():  # an absent gradient is 0
                return f"{kind}: no {name}"
            continue
        scale = largest[name.startswith("second")]
        if found[name].shape != value.shape:
            return f"{kind}: {name} has the shape {tuple(found[name].shape)} instead of {tuple(value.shape)}"
        if not torch.allclose(found[name], value, rtol=0, atol=TOLERANCE * scale, equal_nan=True):
            return f"{kind}: {name} differs by {(found[name] - value).abs().max().item():g} of {scale:g}"
    return None


def try_model(seed: int, number: int, with_compile: bool) -> str | None:
    """The first difference of model `number`; None if there is none."""
    maker = Maker(seed, number)
    model, given = maker.model, maker.input
    is_training = maker.draw.random() < 0.6
    if not is_training:
        model.eval()
    order = 2 if maker.draw.random() < 0.4 else 1
    try:
        expected = _results((m := copy.deepcopy(model)), m, given, order)
    except RuntimeError:
        return None  # in place on a value that a backward needs: an error in torch, too
    if not all(v.isfinite().all() for v in expected.values()):
        return None
    m = copy.deepcopy(model)
    m.noise = 1e-14
    if _compare("", _results(m, m, given, order), expected):
        return None  # rounding errors decide: a kink, equal maxima, the normalization of equal numbers
    m = copy.deepcopy(model)
    thnn.convert(m)
    difference = _compare("convert", _results(m, m, given, order), expected)
    if difference is None:
        m = copy.deepcopy(model)
        thnn.convert(m)
        thnn.revert(m)
        difference = _compare("convert and revert", _results(m, m, given, order), expected)
    if difference is None and not is_training:
        frozen = thnn.freeze(copy.deepcopy(model), given.clone())
        with torch.no_grad():
            found = {"output 0": frozen(given.clone()), "output 1": frozen(given * 2)}
        difference = _compare("freeze", found, {n: v for n, v in expected.items() if n.startswith("output")})
    if difference is None and with_compile:
        torch.compiler.reset()
        m = copy.deepcopy(model)
        # Compiled code cannot compute second derivatives.
        first = {n: v for n, v in expected.items() if not n.startswith("second")}
        difference = _compare("compile", _results(m, torch.compile(m, backend="thnn"), given, 1), first)
    return difference and f"{maker}\n{'training' if is_training else 'evaluation'}: {difference}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.models", description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first model")
    parser.add_argument("--models", type=int, default=sys.maxsize, help="number of models")
    parser.add_argument(
        "--compile", type=int, default=4, help="one of this number of models is compiled; 0: none"
    )
    options = parser.parse_args()
    begun, done, compiled, refused = time.monotonic(), 0, 0, 0
    # Without the length of the range: minutes end most runs.
    for number in progress(iter(range(options.first, options.first + options.models)), "models"):
        if done and time.monotonic() - begun > 60 * options.minutes:
            break
        with_compile = options.compile > 0 and number % options.compile == 0
        command = f"python -m tools.models --seed {options.seed} --first {number} --models 1"
        command += f" --compile {options.compile}"
        try:
            difference = try_model(options.seed, number, with_compile)
        except RuntimeError as error:
            if "modified by an inplace operation" not in str(error):
                tqdm.write(f"{Maker(options.seed, number)}\n{command}")
                raise
            refused += 1
            continue
        except Exception:
            tqdm.write(f"{Maker(options.seed, number)}\n{command}")
            raise
        if difference is not None:
            tqdm.write(f"{difference}\n{command}")
            return 1
        done, compiled = done + 1, compiled + with_compile
    seconds = time.monotonic() - begun
    counts = f"{done} models, {compiled} of them compiled, in {seconds:.0f} s"
    print(f"seed {options.seed}: {counts}: no difference; {refused} changed a saved tensor in place")
    return 0


if __name__ == "__main__":
    sys.exit(main())
