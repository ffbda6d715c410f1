"""Layers: ``torch.nn`` modules that compute with thnn, and their functions (``thnn.nn.functional``).

Each layer has the constructor, parameters, buffers and ``state_dict`` of the torch layer of the same name and can
replace it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from thnn._names import hint
from thnn.nn import functional, loss
from thnn.nn.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from thnn.nn.batch_normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from thnn.nn.convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from thnn.nn.linear import Linear
from thnn.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MarginRankingLoss,
    MSELoss,
    MultiLabelMarginLoss,
    MultiMarginLoss,
    NLLLoss,
    NLLLoss2d,
    PairwiseDistance,
    PoissonNLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
)
from thnn.nn.normalization import (
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
)
from thnn.nn.padding import (
    ReflectionPad1d,
    ReflectionPad2d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
)
from thnn.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from thnn.nn.recurrent import GRU, LSTM, GRUCell, LSTMCell
from thnn.nn.resampling import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d
from thnn.nn.sparse import Embedding, EmbeddingBag
from thnn.nn.sync_batch_normalization import SyncBatchNorm, convert_sync_batchnorm, revert_sync_batchnorm

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "Embedding",
    "EmbeddingBag",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "MultiLabelMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PReLU",
    "PairwiseDistance",
    "PoissonNLLLoss",
    "RMSNorm",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "SyncBatchNorm",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "TripletMarginLoss",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "convert_sync_batchnorm",
    "functional",
    "revert_sync_batchnorm",
]

if hasattr(loss, "LinearCrossEntropyLoss"):  # where torch has it
    LinearCrossEntropyLoss = loss.LinearCrossEntropyLoss
    __all__.append("LinearCrossEntropyLoss")


def _refuse_script(layer: Any) -> NoReturn:
    """A method that torch.jit.script calls first; otherwise its errors would quote the source of the layer."""
    raise NotImplementedError(
        f"{type(layer).__name__}: torch.jit.script compiles no layers of thnn; use torch.jit.trace or torch.export, or"
        " give the model torch's layers by thnn.revert (docs/torch.md#what-does-not-work)"
    )


for _class in map(globals().get, __all__):
    if isinstance(_class, type):
        setattr(_class, "__prepare_scriptable__", _refuse_script)  # noqa: B010

if not TYPE_CHECKING:  # a type checker knows the names above, and reports unknown ones

    def __getattr__(name: str) -> Any:
        raise AttributeError(f"module 'thnn.nn' has no attribute {name!r}{hint(name)}")


def __dir__() -> list[str]:
    return __all__
