"""Trains a small convolutional network on handwritten digits, once with thnn and once with torch.

python examples/digits.py [--epochs N] [--seed N] [--threads N] [--output FILE]

Both networks have the same initial values and the same order of images, so that their curves coincide. The curves and
some classified digits are drawn to a file.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import torch
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from thnn import (
    BatchNormalizationFunction,
    ClassNLLCriterionFunction,
    LinearFunction,
    LogSoftMaxFunction,
    SpatialConvolutionMMFunction,
    SpatialMaxPoolingFunction,
    ThresholdFunction,
)

BATCH = 32


class ConvolutionBlock(nn.Module):
    """The parameters of a 3x3 convolution followed by batch normalization."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.filters = nn.Parameter(torch.randn(outputs, inputs, 3, 3) * (2 / (9 * inputs)) ** 0.5)
        self.scale = nn.Parameter(torch.ones(outputs))
        self.shift = nn.Parameter(torch.zeros(outputs))
        self.mean: Tensor
        self.variance: Tensor
        self.register_buffer("mean", torch.zeros(outputs))
        self.register_buffer("variance", torch.ones(outputs))


class Network(nn.Module):
    """The parameters of the whole network: two blocks, pooling to 4x4, one matrix for the ten classes."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ConvolutionBlock(1, 16)
        self.second = ConvolutionBlock(16, 32)
        self.matrix = nn.Parameter(torch.randn(10, 32 * 4 * 4) * 0.02)
        self.bias = nn.Parameter(torch.zeros(10))


class ThnnNetwork(Network):
    """The network with thnn's functions."""

    def block(self, x: Tensor, p: ConvolutionBlock) -> Tensor:
        x = SpatialConvolutionMMFunction.apply(x, p.filters, None, 3, 3, 1, 1, 1, 1)
        x = BatchNormalizationFunction.apply(
            x, p.scale, p.shift, p.mean, p.variance, self.training, momentum=0.1, eps=1e-5
        )
        return ThresholdFunction.apply(x, threshold=0, val=0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block(self.block(x, self.first), self.second)
        x = SpatialMaxPoolingFunction.apply(x, 2, 2, 2, 2, 0, 0)
        x = LinearFunction.apply(x.flatten(1), self.matrix, self.bias)
        return LogSoftMaxFunction.apply(x)

    def loss(self, x: Tensor, target: Tensor) -> Tensor:
        return ClassNLLCriterionFunction.apply(x, target)


class TorchNetwork(Network):
    """The network with torch's functions."""

    def block(self, x: Tensor, p: ConvolutionBlock) -> Tensor:
        x = functional.conv2d(x, p.filters, padding=1)
        x = functional.batch_norm(
            x, p.mean, p.variance, p.scale, p.shift, self.training, momentum=0.1, eps=1e-5
        )
        return functional.relu(x)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block(self.block(x, self.first), self.second)
        x = functional.max_pool2d(x, 2)
        x = functional.linear(x.flatten(1), self.matrix, self.bias)
        return functional.log_softmax(x, dim=1)

    def loss(self, x: Tensor, target: Tensor) -> Tensor:
        return functional.nll_loss(x, target)


@dataclass
class Digits:
    """Images (N, 1, 8, 8) in [0, 1] and their classes; a fixed fifth is for the test."""

    train: Tensor
    train_target: Tensor
    test: Tensor
    test_target: Tensor

    @classmethod
    def load(cls) -> Digits:
        digits = load_digits()
        parts = train_test_split(
            digits.images, digits.target, test_size=0.2, random_state=0, stratify=digits.target
        )
        train, test = (torch.tensor(images / 16, dtype=torch.float32).unsqueeze(1) for images in parts[:2])
        return cls(train, torch.tensor(parts[2]), test, torch.tensor(parts[3]))


@dataclass
class History:
    """The history of a training run."""

    seconds: float = 0.0
    losses: list[float] = field(default_factory=list)  # one per epoch
    accuracies: list[float] = field(default_factory=list)  # on the training images, while training


class Progress:
    """A bar on a terminal, a line per epoch elsewhere."""

    def __init__(self, name: str, epochs: int, batches: int) -> None:
        self.name, self.epochs = name, epochs
        self.live = sys.stdout.isatty()
        self.bar = tqdm(
            total=epochs * batches,
            desc=f"{name:<5}",
            unit="batch",
            file=sys.stdout,
            disable=not self.live,
            colour=None if os.environ.get("NO_COLOR") else "green",
        )

    def batch(self, loss: float, accuracy: float) -> None:
        self.bar.set_postfix_str(f"loss {loss:.4f}, accuracy {accuracy:6.2%}", refresh=False)
        self.bar.update()

    def epoch(self, number: int, loss: float, accuracy: float) -> None:
        if not self.live:
            print(f"{self.name:<5} epoch {number:2}/{self.epochs}: loss {loss:.4f}, accuracy {accuracy:6.2%}")

    def close(self) -> None:
        self.bar.close()


def train(name: str, network: Any, digits: Digits, epochs: int, seed: int) -> History:
    """Trains a network and returns its history."""
    # The first call of a process also loads code, which does not count as training time.
    classify(network, digits.train[:BATCH])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    generator = torch.Generator().manual_seed(seed)
    count = len(digits.train)
    progress = Progress(name, epochs, -(-count // BATCH))
    history = History()
    network.train()
    start = time.perf_counter()
    for epoch in range(1, epochs + 1):
        total, right, seen = 0.0, 0, 0
        for chosen in torch.randperm(count, generator=generator).split(BATCH):
            target = digits.train_target[chosen]
            output = network(digits.train[chosen])
            loss = network.loss(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(chosen)
            right += int((output.argmax(1) == target).sum())
            seen += len(chosen)
            progress.batch(total / seen, right / seen)
        schedule.step()
        history.losses.append(total / count)
        history.accuracies.append(right / count)
        progress.epoch(epoch, history.losses[-1], history.accuracies[-1])
    history.seconds = time.perf_counter() - start
    progress.close()
    return history


@torch.no_grad()
def classify(network: Any, images: Tensor) -> Tensor:
    """The predicted digit for each image."""
    network.eval()
    return network(images).argmax(1)


def draw(path: str, histories: dict[str, History], digits: Digits, predicted: Tensor) -> None:
    """Draws the curves and, below, test images with the predicted digits, errors first and in red."""
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=(3, 2)).flat
    loss, accuracy = above.subplots(1, 2)
    for (name, history), style in zip(histories.items(), ("-", "--")):
        epochs = range(1, len(history.losses) + 1)
        loss.plot(epochs, history.losses, style, label=name)
        accuracy.plot(epochs, [100 * a for a in history.accuracies], style, label=name)
    loss.set(title="loss", xlabel="epoch", yscale="log")
    accuracy.set(title="accuracy while training (%)", xlabel="epoch")
    for axes in (loss, accuracy):
        axes.grid(alpha=0.3)
        axes.legend()
    wrong_first = torch.argsort((predicted == digits.test_target).int(), stable=True)
    for axes, i in zip(below.subplots(2, 12).flat, wrong_first):
        axes.imshow(digits.test[i, 0], cmap="gray_r")
        axes.set_axis_off()
        found, right = int(predicted[i]), int(digits.test_target[i])
        if found == right:
            axes.set_title(found)
        else:
            axes.set_title(f"{found}, not {right}", color="#d55e00")
    figure.savefig(path, dpi=120)


def positive(text: str) -> int:
    """A positive integer of the command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Train a network on handwritten digits with thnn and with torch."
    )
    parser.add_argument(
        "--epochs", type=positive, default=10, metavar="N", help="passes over the images (default 10)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="for the weights and the order of images (default 0)"
    )
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads for both (default: torch's choice)"
    )
    parser.add_argument("--output", default="demo.png", metavar="FILE", help="the picture (default demo.png)")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)

    digits = Digits.load()
    histories = {}
    networks: dict[str, Network] = {}
    for name, kind in (("thnn", ThnnNetwork), ("torch", TorchNetwork)):
        torch.manual_seed(options.seed)
        networks[name] = kind()
        histories[name] = train(name, networks[name], digits, options.epochs, options.seed)

    predicted = classify(networks["thnn"], digits.test)
    draw(options.output, histories, digits, predicted)
    for name, history in histories.items():
        print(f"{name:<5} trained in {history.seconds:.2f} s")
    print("Other programs on the machine distort these times.")
    print(f"picture: {options.output}")
    print(f"test accuracy: {100 * (predicted == digits.test_target).double().mean():.2f} %")


if __name__ == "__main__":
    main()
