"""Converts a small residual network of torch to the layers of thnn and trains both on handwritten digits.

python examples/residual.py [--epochs N] [--seed N] [--threads N] [--double]

thnn.convert() changes the class of each layer, which keeps its parameters and buffers. Both networks have the same
initial values and the same order of images. Their first losses agree; later ones differ, since each step amplifies
rounding errors of float32. With --double they agree.
"""

from __future__ import annotations

import argparse
import copy
import time

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

import thnn.nn

BATCH = 32


class Block(nn.Module):
    """Two convolutions and a shortcut, a 1x1 convolution if the size changes."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
        )
        self.second = nn.Sequential(
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.second(self.first(x)) + self.shortcut(x))


class Network(nn.Sequential):
    """Three blocks between a convolution and a matrix for the ten classes."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 16, 3, padding=1),
            Block(16, 16),
            Block(16, 32, stride=2),
            Block(32, 64, stride=2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(64, 10),
        )


def train(network: nn.Module, images: Tensor, classes: Tensor, epochs: int, seed: int) -> tuple[float, float]:
    """The time in seconds and the loss of the last batch."""
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    loss = torch.tensor(0.0)
    start = time.perf_counter()
    for _ in range(epochs):
        for batch in torch.randperm(len(images)).split(BATCH):
            loss = nn.functional.cross_entropy(network(images[batch]), classes[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return time.perf_counter() - start, loss.item()


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=positive, default=5, help="passes over the images (default 5)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and the batches (default 0)")
    parser.add_argument("--threads", type=positive, help="threads for both (default: torch's choice)")
    parser.add_argument(
        "--double", action="store_true", help="compute in float64, where both give the same losses"
    )
    options = parser.parse_args()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)

    digits = load_digits()
    dtype = torch.float64 if options.double else torch.float32
    images = torch.tensor(digits.images, dtype=dtype).unsqueeze(1) / 16
    classes = torch.tensor(digits.target)
    learnt, tested = train_test_split(range(len(images)), test_size=0.25, random_state=options.seed)

    original = Network().to(dtype)
    converted = copy.deepcopy(original)
    report = thnn.convert(converted)
    print(f"{len(report.replaced)} layers converted, {len(report.fused)} of them fused with ReLU")
    for name, network in (("torch", original), ("thnn", converted)):
        network.train()
        seconds, loss = train(network, images[learnt], classes[learnt], options.epochs, options.seed)
        network.eval()
        with torch.no_grad():
            right = network(images[tested]).argmax(1) == classes[tested]
        accuracy = 100 * right.double().mean().item()
        print(f"{name:5}: trained in {seconds:.2f} s, last loss {loss:.4f}, test accuracy {accuracy:.2f} %")
    if not options.double:
        print("Rounding makes the losses differ, more with every step; with --double they are the same.")


if __name__ == "__main__":
    main()
