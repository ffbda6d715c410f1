"""Networks with functional calls, and small ones of each kind that thnn/testing/networks.py has."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from thnn.testing.networks import InvertedResidual, LeNet, ResidualBlock, Tagger, UNet


class FunctionalBlock(nn.Module):
    """Two convolutions with batch normalization and functional activations, and a shortcut."""

    def __init__(self, channels: int = 4) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        y = F.dropout(self.norm2(self.conv2(y)), 0.2, self.training)
        return (y + x).relu()


class DenseLayer(nn.Module):
    """Batch normalization, ReLU and convolution, after which the input comes, too (Huang et al. 2017)."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.conv(F.relu(self.norm(x)))], 1)


class EncoderBlock(nn.Module):
    """A block of a vision transformer (Dosovitskiy et al. 2021), with attention by matrix products."""

    def __init__(self, width: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).softmax(-1)
        x = x + self.proj((scores @ v).transpose(1, 2).reshape(n, length, width))
        y: Tensor = x + self.mlp(self.norm2(x))
        return y


class VGG(nn.Sequential):
    """Convolutions, pooling, and a classifier with dropout."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 5),
        )  # fmt: skip


# Name -> the network, and the shape of its input.
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "ResNet": (lambda: nn.Sequential(ResidualBlock(4, 4, 1), ResidualBlock(4, 8, 2)), (3, 4, 8, 8)),
    "MobileNet": (lambda: nn.Sequential(InvertedResidual(4, 4, 1, 2), InvertedResidual(4, 6, 2, 3)), (3, 4, 8, 8)),
    "VGG": (VGG, (3, 3, 12, 12)),
    "U-Net": (lambda: UNet(channels=4), (3, 3, 16, 16)),
    "LeNet": (LeNet, (3, 1, 28, 28)),
    "functional": (lambda: nn.Sequential(FunctionalBlock(), FunctionalBlock()), (3, 4, 6, 6)),
    "DenseNet": (lambda: nn.Sequential(DenseLayer(3, 2), DenseLayer(5, 2), nn.Conv2d(7, 3, 1)), (3, 3, 6, 6)),
    "ViT": (lambda: nn.Sequential(EncoderBlock(), EncoderBlock()), (3, 5, 8)),
    "tagger": (lambda: Tagger(20, 6, 8, 4), (3, 9)),
}  # fmt: skip


def made(name: str, seed: int = 0) -> tuple[nn.Module, Tensor]:
    """A network in float64, and an input: tokens for the tagger, otherwise normal random numbers."""
    torch.manual_seed(seed)
    make, shape = MODELS[name]
    tokens = torch.randint(20, shape)
    return make().double(), tokens if name == "tagger" else torch.randn(shape, dtype=torch.float64)
