"""Layers of thnn.nn as training programs use them: in checkpoints, several times in one graph, and in place.

Outputs, gradients and buffers equal those of torch's layers in the same program.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from layer_configurations import CONFIGURATIONS, IN_PLACE, Configuration, Draw, agree, distinct, pair, results
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.checkpoint import checkpoint

import thnn.nn

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def _numbers(draw: Draw, *shape: int) -> Tensor:
    return distinct(shape, draw(st.sampled_from([torch.float32, torch.float64])))


@st.composite
def _linear(draw: Draw) -> Configuration:
    x = _numbers(draw, 4, 3)
    return Configuration((3, 2), {"bias": draw(st.booleans()), "dtype": x.dtype}, (x,))


@st.composite
def _convolution(draw: Draw, dims: int) -> Configuration:
    x = _numbers(draw, 4, 2, *(5,) * dims)
    keywords = {
        "stride": draw(st.integers(1, 2)),
        "padding": 1,
        "dtype": x.dtype,
        "bias": draw(st.booleans()),
    }
    return Configuration((2, 3, 3), keywords, (x,))


@st.composite
def _normalization(draw: Draw, dims: int) -> Configuration:
    x = _numbers(draw, 4, 3, *(2,) * dims if dims > 1 else ())
    keywords = {
        "momentum": draw(st.sampled_from([0.1, 1.0, None])),
        "affine": draw(st.booleans()),
        "track_running_stats": draw(st.booleans()),
        "dtype": x.dtype,
    }
    return Configuration((3,), keywords, (x,))


LAYERS = {
    **CONFIGURATIONS,
    "Linear": _linear(),
    **{f"Conv{d}d": _convolution(d) for d in (1, 2, 3)},
    **{f"ConvTranspose{d}d": _convolution(d) for d in (1, 2, 3)},
    **{f"BatchNorm{d}d": _normalization(d) for d in (1, 2, 3)},
}


def _twice(layer: nn.Module, *inputs: Any) -> Any:
    return layer(*inputs), layer(*inputs)


def _in_chunks(layer: nn.Module, input: Tensor, *others: Any) -> Any:
    """The batch in two parts, one after the other."""
    middle = input.shape[0] // 2
    both = range(middle), range(middle, input.shape[0])
    return [
        layer(*(v[part.start : part.stop] if isinstance(v, Tensor) else v for v in (input, *others)))
        for part in both
    ]


def _can_be_split(configuration: Configuration) -> bool:
    if "_random_samples" in configuration.keywords:  # a row for each sample of the batch
        return False
    tensors = [v for v in configuration.inputs if isinstance(v, Tensor)]
    counts = {v.shape[0] if v.dim() else 0 for v in tensors}
    return len(tensors) == len(configuration.inputs) and len(counts) == 1 and min(counts) >= 2


@pytest.mark.parametrize("name", LAYERS)
def test_uses(name: str) -> None:
    calls: tuple[Callable[..., Any], ...] = (
        functools.partial(checkpoint, use_reentrant=True),
        functools.partial(checkpoint, use_reentrant=False),
        _twice,
        _in_chunks,
    )

    @settings(max_examples=2)
    @given(st.data())
    def compare(data: st.DataObject) -> None:
        torch.manual_seed(data.draw(st.integers(0, 99)))
        configuration = data.draw(LAYERS[name])
        layers = pair(name, configuration)
        for call in calls:
            if call is _in_chunks and not _can_be_split(configuration):
                continue
            ours, theirs = copy.deepcopy(layers)
            try:
                expected = results(theirs, configuration, call)
            except (RuntimeError, ValueError, IndexError):  # torch refuses the part of a batch
                assert call is _in_chunks
                continue
            except AssertionError:  # of a checkpoint, in torch 2.11 and earlier
                assert isinstance(configuration.inputs[0], PackedSequence)
                continue
            agree(results(ours, configuration, call), expected)

    compare()


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_twice(name: str) -> None:
    """Both gradients agree, or both libraries refuse the backward, as the second call changed what the first saved."""
    settings = (0.1, -0.3) if name == "Threshold" else ()
    gradients = []
    for home in (thnn.nn, nn):
        layer = getattr(home, name)(*settings, inplace=True).eval()
        x = torch.linspace(-2, 7, 12, dtype=torch.float64).requires_grad_()
        y = layer(layer(x * 1))
        try:
            gradients.append(torch.autograd.grad(y.sum(), x)[0])
        except RuntimeError:  # modified by an inplace operation
            gradients.append(torch.empty(0, dtype=x.dtype))
    torch.testing.assert_close(*gradients)


def test_every_layer_is_used() -> None:
    names = {n for n in thnn.nn.__all__ if isinstance(getattr(thnn.nn, n), type)}
    assert names == {*LAYERS, "SyncBatchNorm"}
