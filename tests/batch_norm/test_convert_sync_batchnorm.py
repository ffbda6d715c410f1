"""convert_sync_batchnorm and revert_sync_batchnorm."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor

import thnn
from thnn.nn import SyncBatchNorm, convert_sync_batchnorm, revert_sync_batchnorm


class Norm(torch.nn.BatchNorm2d):
    """A subclass defined by a user."""


def _note(module: Any, *_: Any) -> None:
    module.noted = getattr(module, "noted", 0) + 1


def _net() -> torch.nn.Module:
    shared = thnn.nn.BatchNorm1d(3, decay=0.7, unbiased=False, activation="relu")
    return torch.nn.ModuleDict({
        "a": torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.BatchNorm2d(3, affine=False), torch.nn.Linear(3, 3)),
        "b": torch.nn.BatchNorm3d(3, track_running_stats=False),
        "c": torch.nn.SyncBatchNorm(3, momentum=None),
        "d": shared,
        "e": torch.nn.Sequential(shared, thnn.nn.BatchNorm2d(3), thnn.nn.BatchNorm3d(3)),
        "f": Norm(3),
    })  # fmt: skip


def test_convert_and_revert() -> None:
    net = _net()
    net["b"].eval()
    net["a"][0].weight.requires_grad_(False)
    handle = net["f"].register_forward_hook(_note)
    net["f"].noted = 0
    before = {name: (m, type(m), m.training, dict(m.__dict__), repr(m)) for name, m in net.named_modules()}
    tensors = dict(net.state_dict(keep_vars=True))
    identities = {k: (id(v), v.requires_grad) for k, v in tensors.items()}

    assert convert_sync_batchnorm(net) is net
    layers = [m for m in net.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    assert len(layers) == 8
    assert all(type(m) is SyncBatchNorm for m in layers)
    assert net["d"] is net["e"][0]
    assert (net["d"].decay, net["d"].unbiased, net["d"].activation) == (0.7, False, "relu")
    assert not net["b"].training
    assert {k: (id(v), v.requires_grad) for k, v in net.state_dict(keep_vars=True).items()} == identities
    net["f"](torch.randn(2, 3, 2, 2))
    assert net["f"].noted == 1
    for name, wrong in (("b", 4), ("d", 4), ("f", 3), ("c", 1)):
        with pytest.raises(ValueError, match="expected"):  # the dimensions of the original class
            net[name](torch.randn([3] * wrong))
    convert_sync_batchnorm(net)  # a second conversion changes nothing
    copied = pickle.loads(pickle.dumps(copy.deepcopy(net)))

    for converted in (net, copied):
        assert revert_sync_batchnorm(converted) is converted
        for name, m in converted.named_modules():
            _, cls, training, state, text = before[name]
            assert type(m) is cls
            assert m.training is training
            assert m.__dict__.keys() == state.keys()
            assert repr(m) == text
    assert all(m is before[name][0] for name, m in net.named_modules())
    assert {k: (id(v), v.requires_grad) for k, v in net.state_dict(keep_vars=True).items()} == identities
    net["f"](torch.randn(2, 3, 2, 2))
    assert net["f"].noted == 2
    handle.remove()


def test_convert_the_model_itself() -> None:
    made = torch.nn.BatchNorm2d(3)
    assert SyncBatchNorm.convert_sync_batchnorm(made) is made
    assert type(made) is SyncBatchNorm
    assert made(torch.randn(2, 3, 4, 4)).shape == (2, 3, 4, 4)
    assert type(revert_sync_batchnorm(made)) is torch.nn.BatchNorm2d
    made = SyncBatchNorm(3)
    assert type(revert_sync_batchnorm(made)) is SyncBatchNorm
    with pytest.raises(ValueError, match="expected 2 dimensions"):
        made(torch.randn(3))


def test_convert_refuses() -> None:
    with pytest.raises(TypeError, match="module: expected"):
        convert_sync_batchnorm(3)
    with pytest.raises(TypeError, match="module: expected"):
        revert_sync_batchnorm(None)
    with pytest.raises(TypeError, match="process_group: expected"):
        convert_sync_batchnorm(torch.nn.BatchNorm1d(3), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that lazy modules are under development
        lazy = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.LazyBatchNorm1d())
    with pytest.raises(ValueError, match="'1': is lazy"):
        convert_sync_batchnorm(lazy)
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3))
    torch.nn.utils.parametrize.register_parametrization(net[1], "weight", torch.nn.Identity())
    with pytest.raises(ValueError, match="'1': is parametrized"):
        convert_sync_batchnorm(net)
    assert type(net[0]) is torch.nn.BatchNorm1d

    class Doubled(torch.nn.BatchNorm1d):
        def forward(self, input: Tensor) -> Tensor:
            return 2 * super().forward(input)

    net = convert_sync_batchnorm(torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3)))
    torch.nn.utils.parametrize.register_parametrization(net[1], "weight", torch.nn.Identity())
    with pytest.raises(ValueError, match="revert_sync_batchnorm: '1': is parametrized"):
        revert_sync_batchnorm(net)
    assert type(net[0]) is SyncBatchNorm
    torch.nn.utils.parametrize.remove_parametrizations(net[1], "weight")
    assert type(revert_sync_batchnorm(net)[1]) is torch.nn.BatchNorm1d

    made = torch.nn.BatchNorm1d(3)
    made.forward = torch.tanh
    with pytest.raises(ValueError, match="'': BatchNorm1d has its own forward"):
        convert_sync_batchnorm(made)

    net = torch.nn.Sequential(torch.nn.BatchNorm1d(3), Doubled(3))
    with pytest.raises(ValueError, match="'1': Doubled has its own forward"):
        convert_sync_batchnorm(net)
    assert type(net[0]) is torch.nn.BatchNorm1d
