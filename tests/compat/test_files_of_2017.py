"""Files that torch.save wrote until 0.3: state dicts and whole modules, written as it did."""

from __future__ import annotations

import collections
import copyreg
import io
import pickle
import types
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import thnn

_BASE = "_backend _parameters _buffers _backward_hooks _forward_hooks _forward_pre_hooks _modules training"
_CONV = "in_channels out_channels kernel_size stride padding dilation transposed output_padding groups"
_NORM = "num_features affine eps momentum"
_RNN = "mode input_size hidden_size num_layers bias batch_first dropout bidirectional _all_weights"
_IMAGE = torch.rand(2, 3, 6, 6)

#: Layer -> its attributes in 0.3, and its inputs. All compute as they are.
LOAD: dict[Any, tuple[str, Any]] = {
    lambda: nn.AdaptiveAvgPool2d(2): ("output_size", _IMAGE),
    lambda: nn.AdaptiveMaxPool2d(2): ("output_size return_indices", _IMAGE),
    lambda: nn.Conv2d(3, 4, 3): (_CONV, _IMAGE),
    lambda: nn.ConvTranspose2d(3, 4, 3): (_CONV, _IMAGE),
    lambda: nn.Dropout(0.5): ("p inplace", _IMAGE),
    nn.ELU: ("alpha inplace", _IMAGE),
    lambda: nn.Embedding(5, 3): (
        "num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse",
        torch.tensor([1, 2]),
    ),
    lambda: nn.LSTMCell(3, 4): ("input_size hidden_size bias", torch.rand(2, 3)),
    nn.LeakyReLU: ("negative_slope inplace", _IMAGE),
    lambda: nn.Linear(6, 4): ("in_features out_features", _IMAGE),
    lambda: nn.LogSoftmax(1): ("dim", _IMAGE),
    lambda: nn.MaxPool2d(2): ("kernel_size stride padding dilation return_indices ceil_mode", _IMAGE),
    nn.PReLU: ("num_parameters", _IMAGE),
    nn.ReLU: ("inplace", _IMAGE),
    nn.Sigmoid: ("", _IMAGE),
    nn.Tanh: ("", _IMAGE),
}

#: Layer -> the same, and the later attributes that docs/migration.md names.
LACK: dict[Any, tuple[str, Any, dict[str, Any]]] = {
    lambda: nn.AvgPool2d(2): (
        "kernel_size stride padding ceil_mode count_include_pad",
        _IMAGE,
        {"divisor_override": None},
    ),
    lambda: nn.InstanceNorm2d(3).eval(): (_NORM, _IMAGE, {"track_running_stats": False}),
    lambda: nn.BatchNorm2d(3): (_NORM, _IMAGE, {"track_running_stats": True, "num_batches_tracked": None}),
    lambda: nn.Upsample(scale_factor=2): (
        "size scale_factor mode",
        _IMAGE,
        {"align_corners": None, "recompute_scale_factor": None},
    ),
    lambda: nn.UpsamplingBilinear2d(scale_factor=2): (
        "size scale_factor",
        _IMAGE,
        {"mode": "bilinear", "align_corners": True, "recompute_scale_factor": None},
    ),
    lambda: nn.ZeroPad2d(1): ("padding", _IMAGE, {"value": 0}),
    nn.MSELoss: ("", (_IMAGE, _IMAGE), {"reduction": "mean"}),
}


class Pickler(pickle._Pickler):
    """Writes tensors, parameters and modules as PyTorch 0.3 did."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is nn.Parameter:
            return nn.Parameter, (value.data,), (True, False, collections.OrderedDict())
        if type(value) is Tensor:
            geometry = value.storage_offset(), tuple(value.shape), value.stride()
            return torch._utils._rebuild_tensor, (value._typed_storage(), *geometry)
        if isinstance(value, nn.Module):
            return copyreg.__newobj__, (type(value),), value.__dict__
        return NotImplemented


_OLD_PICKLE: Any = types.ModuleType("pickle_of_2017")
_OLD_PICKLE.Pickler, _OLD_PICKLE.dump = Pickler, pickle.dump


def written(value: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file, pickle_module=_OLD_PICKLE, _use_new_zipfile_serialization=False)
    file.seek(0)
    return file


def layer_of_2017(make: Any, attributes: str) -> nn.Module:
    layer: nn.Module = make()
    layer._buffers.pop("num_batches_tracked", None)
    kept = {*_BASE.split(), *attributes.split()}
    for name in set(vars(layer)) - kept:
        del layer.__dict__[name]
    layer.__dict__["_backend"] = torch.nn.backends.thnn.backend
    assert vars(layer).keys() == kept
    return layer


def called(layer: nn.Module, inputs: Any) -> Any:
    torch.manual_seed(1)
    return layer(*inputs) if isinstance(inputs, tuple) else layer(inputs)


@pytest.mark.usefixtures("compat")
@pytest.mark.parametrize("converted", [False, True])
def test_whole_modules_that_compute(converted: bool) -> None:
    for make, (attributes, inputs) in LOAD.items():
        layer = layer_of_2017(make, attributes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch: source of the class
            network = nn.Sequential(torch.load(written(layer), weights_only=False))
        if converted:
            thnn.convert(network)
        assert network[0]._backend is torch.nn.backends.thnn.backend
        fresh = make()
        fresh.load_state_dict(network[0].state_dict())
        torch.testing.assert_close(called(network[0], inputs), called(fresh, inputs))


@pytest.mark.usefixtures("compat")
def test_whole_modules_that_lack_an_attribute() -> None:
    for make, (attributes, inputs, later) in LACK.items():
        layer = torch.load(written(layer_of_2017(make, attributes)), weights_only=False)
        with pytest.raises(AttributeError, match="|".join(later)):
            called(layer, inputs)
        fresh = make()
        fresh.load_state_dict(dict(layer.state_dict()))
        for name, value in later.items():
            setattr(layer, name, value)
        torch.testing.assert_close(called(layer, inputs), called(fresh, inputs))
    # The method __setstate__ of torch's recurrent layers reads `_flat_weights`, which torch added after 2017.
    for make in (lambda: nn.LSTM(3, 4), lambda: nn.GRU(3, 4, bidirectional=True)):
        file = written(layer_of_2017(make, _RNN))
        with pytest.raises(AttributeError, match="_flat_weights"):
            torch.load(file, weights_only=False)


@pytest.mark.usefixtures("compat")
@pytest.mark.parametrize("training", [False, True])
def test_converted_batch_normalization_computes(training: bool) -> None:
    network = nn.Sequential(
        torch.load(written(layer_of_2017(lambda: nn.BatchNorm2d(3), _NORM)), weights_only=False)
    )
    assert "num_batches_tracked" not in network[0]._buffers
    thnn.convert(network)
    expected = nn.BatchNorm2d(3).train(training)
    torch.testing.assert_close(network.train(training)(_IMAGE), expected(_IMAGE))
    torch.testing.assert_close(network[0].running_var, expected.running_var)


def test_state_dicts_load() -> None:
    def make() -> nn.Module:
        return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 2))

    network = make()
    nn.init.uniform_(network[1].running_mean)
    state = collections.OrderedDict(
        (name, value) for name, value in network.state_dict().items() if "num_batches" not in name
    )
    for converted in (False, True):
        loaded = torch.load(written(state))  # without thnn.compat, and with weights_only
        other = make()
        if converted:
            thnn.convert(other)
        other.load_state_dict(loaded)  # strictly
        torch.testing.assert_close(other.state_dict(), network.state_dict())
