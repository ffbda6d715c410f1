"""Networks of torch layers, each with a batch and a loss: for the benchmark, the example and the tests.

`NETWORKS` lists them. The modules are written for this package after the papers that their docstrings name; the
settings follow the papers unless the docstring says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

# Residual network


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut, which is a 1x1 convolution where the size changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.relu1, self.relu2 = nn.ReLU(inplace=True), nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu1(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        y += self.shortcut(x)
        output: Tensor = self.relu2(y)
        return output


class ResNet18(nn.Sequential):
    """ResNet-18 for 1000 classes (He et al. 2015): 7x7 convolution with stride 2, 3x3 max pooling with stride 2, eight
    residual blocks. Layers and sizes are the same as in torchvision's resnet18."""

    def __init__(self, classes: int = 1000) -> None:
        blocks: list[nn.Module] = []
        inputs = 64
        for outputs in (64, 128, 256, 512):
            blocks += [
                ResidualBlock(inputs, outputs, 1 if outputs == 64 else 2),
                ResidualBlock(outputs, outputs, 1),
            ]
            inputs = outputs
        super().__init__(
            nn.Conv2d(3, 64, 7, 2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, padding=1),
            *blocks,
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(512, classes),
        )


# Inverted residuals


def _normalized(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """Convolution, batch normalization and ReLU6."""
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(inplace=True),
    ]


class InvertedResidual(nn.Module):
    """1x1 convolution to more channels, depthwise 3x3 convolution, 1x1 convolution; with a shortcut if input and output
    have the same size."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        channels = inputs * expansion
        self.is_residual = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(
            *(_normalized(inputs, channels, 1) if expansion != 1 else []),
            *_normalized(channels, channels, 3, stride, groups=channels),
            nn.Conv2d(channels, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x)
        return x + y if self.is_residual else y


class MobileNetV2(nn.Sequential):
    """MobileNetV2 of width 1 for 1000 classes (Sandler et al. 2018)."""

    def __init__(self, classes: int = 1000) -> None:
        blocks: list[nn.Module] = []
        inputs = 32
        # Expansion, output channels, blocks, stride of the first block.
        for expansion, outputs, count, stride in (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        ):
            for index in range(count):
                blocks.append(InvertedResidual(inputs, outputs, stride if index == 0 else 1, expansion))
                inputs = outputs
        super().__init__(
            *_normalized(3, 32, 3, 2),
            *blocks,
            *_normalized(inputs, 1280, 1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(1280, classes),
        )


# Plain and small networks


class VGG11(nn.Sequential):
    """The convolutions of VGG-11 (Simonyan and Zisserman 2014, configuration A), without its classifier."""

    def __init__(self) -> None:
        layers: list[nn.Module] = []
        inputs = 3
        for stage in ((64,), (128,), (256, 256), (512, 512), (512, 512)):
            for outputs in stage:
                layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)]
                inputs = outputs
            layers.append(nn.MaxPool2d(2))
        super().__init__(*layers)


class LeNet(nn.Sequential):
    """LeNet-5 (LeCun et al. 1998) for digits of 28x28 pixels, with max pooling and a linear output layer."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 6, 5, padding=2),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(400, 120),
            nn.Tanh(),
            nn.Linear(120, 84),
            nn.Tanh(),
            nn.Linear(84, 10),
        )


# U-Net


def _two_convolutions(inputs: int, outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        layers += [
            nn.Conv2d(channels, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        ]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """A U-Net (Ronneberger et al. 2015) of four resolutions with padding and batch normalization; each resolution has
    twice the channels of the one above it."""

    def __init__(self, classes: int = 8, channels: int = 32) -> None:
        super().__init__()
        widths = [channels << level for level in range(4)]
        self.down = nn.ModuleList(_two_convolutions(i, o) for i, o in zip([3, *widths], widths))
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * width, width, 2, 2) for width in widths[:-1])
        self.merge = nn.ModuleList(_two_convolutions(2 * width, width) for width in widths[:-1])
        self.classify = nn.Conv2d(channels, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        skipped: list[Tensor] = []
        for level, layers in enumerate(self.down):
            if level:
                x = self.pool(x)
            x = layers(x)
            skipped.append(x)
        skipped.pop()
        for up, merge in zip(reversed(self.up), reversed(self.merge)):
            x = merge(torch.cat([skipped.pop(), up(x)], 1))
        output: Tensor = self.classify(x)
        return output


# Tagger


class Tagger(nn.Module):
    """A tag for each token of a sequence: Embedding, LSTM and Linear. Output (N, tags, L)."""

    def __init__(self, words: int = 10000, embedding: int = 128, hidden: int = 256, tags: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.classify = nn.Linear(hidden, tags)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.lstm(self.embedding(tokens))
        scores: Tensor = self.classify(states)
        return scores.transpose(1, 2)


# The table


@dataclass(frozen=True)
class Network:
    """A network with its batches, its loss and its goals.

    Inputs are images (N, C, H, W) of normal random numbers, or tokens (N, L) if `tokens` is not 0. Targets are random:
    a class for each sample (or pixel, or token), or without `classes` a tensor like the output.
    """

    name: str
    make: Callable[[], nn.Module]
    # Shape of the input in each row of the benchmark -> goal of the training step: torch's better layout / thnn's.
    rows: Mapping[tuple[int, ...], float | None]
    small: tuple[int, ...]  # shape of the input in the example and in tests
    classes: int = 0
    tokens: int = 0
    make_loss: Callable[[], nn.Module] = nn.CrossEntropyLoss

    def input(self, shape: tuple[int, ...], dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        if self.tokens:
            return torch.randint(self.tokens, shape, generator=generator)
        return torch.randn(shape, generator=generator).to(dtype)

    def target(self, output: Tensor, seed: int = 1) -> Tensor:
        """The target for an output of the network."""
        generator = torch.Generator().manual_seed(seed)
        if self.classes:
            return torch.randint(self.classes, (len(output), *output.shape[2:]), generator=generator)
        return torch.randn(output.shape, generator=generator).to(output.dtype)


NETWORKS = {
    network.name: network
    for network in (
        Network(
            "ResNet-18",
            ResNet18,
            {(16, 3, 32, 32): 1.35, (4, 3, 128, 128): 1.35},
            (4, 3, 64, 64),
            classes=1000,
        ),
        Network("MobileNetV2", MobileNetV2, {(8, 3, 96, 96): 1.3}, (4, 3, 96, 96), classes=1000),
        Network("VGG-11", VGG11, {(8, 3, 64, 64): 1.5}, (2, 3, 32, 32), make_loss=nn.MSELoss),
        Network("U-Net", UNet, {(2, 3, 128, 128): 1.35}, (2, 3, 32, 32), classes=8),
        Network("LSTM tagger", Tagger, {(32, 64): 1.3}, (4, 8), classes=32, tokens=10000),
        Network("LeNet", LeNet, {(64, 1, 28, 28): 1.5}, (8, 1, 28, 28), classes=10),
    )
}
