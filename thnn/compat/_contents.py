"""The modules of PyTorch 0.1 to 0.4: their names and their contents."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

_CLASSES = "thnn.compat._classes"
_UTILS = "thnn.compat._utils"
_BACKEND = "thnn._binding.backend"


@dataclass(frozen=True)
class Contents:
    """The names of one module."""

    doc: str
    #: Name -> 'module:attribute', imported when it is read; 'module:function(argument)' is called.
    objects: dict[str, str] = field(default_factory=dict)
    #: Pairs of 'module:function': the first returns names that follow from the header, the second the object with
    #: such a name.
    listed: tuple[tuple[str, str], ...] = ()

    def names(self) -> list[str]:
        """Every name."""
        return [*self.objects, *(name for listing, _ in self.listed for name in load(listing)())]

    def find(self, name: str) -> Any:
        """The object with a name; KeyError if there is none."""
        if name in self.objects:
            return load(self.objects[name])
        for listing, find in self.listed:
            if name in load(listing)():
                return load(find)(name)
        raise KeyError(name)


def load(place: str) -> Any:
    """The object at 'module:attribute', or the result of 'module:function(argument)'."""
    module, _, attribute = place.partition(":")
    attribute, call, argument = attribute.removesuffix(")").partition("(")
    value = getattr(import_module(module), attribute)
    if call:
        return value(argument) if argument else value()
    return value


#: Module of torch.nn._functions -> the names in it that were written by hand.
WRITTEN = {
    "activation": ("Softsign",),
    "conv": ("ConvNd",),
    "dropout": ("Dropout", "FeatureDropout"),
    "linear": ("Bilinear",),
    "loss": ("CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss"),
    "packing": ("PackPadded",),
    "padding": ("ConstantPad2d", "ConstantPadNd"),
    "vision": ("AffineGridGenerator", "GridSampler", "affine_grid_generator", "grid_sampler"),
    "thnn.activation": ("SELU", "Softmin"),
    "thnn.batchnorm_double_backwards": ("batchnorm_double_backwards_fn",),
    "thnn.fold": ("Col2Im", "Im2Col"),
    "thnn.normalization": ("CrossMapLRN2d",),
    "thnn.pooling": (
        *("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d"),
        *("AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d"),
        *("AvgPool2d", "AvgPool3d", "FractionalMaxPool2d"),
        *("MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool2d", "MaxUnpool3d"),
    ),
    "thnn.sparse": ("Embedding", "EmbeddingBag"),
    "thnn.upsampling": (
        *("UpsamplingBilinear2d", "UpsamplingNearest2d"),
        *("UpsamplingNearest3d", "UpsamplingTrilinear3d"),
    ),
}

_RNN = (
    *("AutogradRNN", "CudnnRNN", "GRUCell", "LSTMCell", "RNN", "RNNReLUCell", "RNNTanhCell"),
    *("Recurrent", "StackedRNN", "VariableRecurrent", "VariableRecurrentReverse"),
    "variable_recurrent_factory",
)


def _written(module: str) -> dict[str, str]:
    return {name: f"thnn.compat._written:{name}" for name in WRITTEN[module]}


def _of_header(*names: str) -> dict[str, str]:
    return {name: f"{_CLASSES}:class_of({name})" for name in names}


#: The classes that torch.nn._functions.thnn had and THNN.h has not; they precede the classes of the header.
WRITTEN_CLASSES = {
    name: place
    for module in WRITTEN
    if module.startswith("thnn.") and "double" not in module
    for name, place in _written(module).items()
}

#: The names in torch.nn.backends.thnn.backend that are not in torch.nn._functions.thnn.
REGISTERED = {
    **dict.fromkeys(("Dropout2d", "Dropout3d"), "thnn.compat._written:FeatureDropout"),
    **{name: f"thnn.compat._rnn:{name}" for name in _RNN if name == "RNN" or name.endswith("Cell")},
    **_written("activation"),
    **_written("conv"),
    **_written("dropout"),
    **_written("linear"),
    **_written("loss"),
}

_GENERATED = (
    (f"{_CLASSES}:names", f"{_CLASSES}:class_of"),
    (f"{_CLASSES}:backward_names", f"{_CLASSES}:backward_class_of"),
)

CONTENTS = {
    "torch._thnn": Contents(
        "The backends of thnn by tensor type.",
        {name: f"{_BACKEND}:{name}" for name in ("Backend", "Backends", "type2backend")},
    ),
    "torch._thnn._THNN": Contents(
        "The functions of THNN.h by element type and name: FloatTanh_updateOutput.",
        listed=((f"{_UTILS}:compiled_names", f"{_UTILS}:compiled"),),
    ),
    "torch._thnn.utils": Contents(
        "The header, and backends made of a compiled module.",
        {
            **{
                name: f"{_UTILS}:{name}"
                for name in ("Argument", "Function", "THNNBackendBase", "load_backend", "parse_header")
            },
            "THNN_H_PATH": "thnn._header.registry:THNN_H_PATH",
            "_unpickle_backend": f"{_BACKEND}:_unpickle_backend",
        },
    ),
    "torch.nn._functions": Contents("Function classes."),
    "torch.nn._functions.activation": Contents("Softsign.", _written("activation")),
    "torch.nn._functions.batchnorm": Contents("Batch normalization.", _of_header("BatchNorm")),
    "torch.nn._functions.conv": Contents("Convolution of torch.", _written("conv")),
    "torch.nn._functions.dropout": Contents("Dropout of torch.", _written("dropout")),
    "torch.nn._functions.linear": Contents(
        "Products with matrices.", {**_of_header("Linear"), **_written("linear")}
    ),
    "torch.nn._functions.loss": Contents("Losses of pairs and embeddings.", _written("loss")),
    "torch.nn._functions.packing": Contents("Packed sequences of torch.", _written("packing")),
    "torch.nn._functions.padding": Contents("Padding of torch.", _written("padding")),
    "torch.nn._functions.rnn": Contents(
        "Recurrent cells and networks of torch.", {name: f"thnn.compat._rnn:{name}" for name in _RNN}
    ),
    "torch.nn._functions.vision": Contents("Grids and their samples.", _written("vision")),
    "torch.nn._functions.thnn": Contents(
        "One class per module of THNN.h that has a class, and the classes written by hand.",
        {"_all_functions": f"{_CLASSES}:all_functions()", **WRITTEN_CLASSES},
        _GENERATED,
    ),
    "torch.nn._functions.thnn.activation": Contents(
        "Activations.", {**_of_header("PReLU", "RReLU"), **_written("thnn.activation")}
    ),
    "torch.nn._functions.thnn.auto": Contents(
        "One class per module of THNN.h that has a class, and the functions that make classes.",
        {
            "_all_functions": f"{_CLASSES}:all_functions()",
            "function_by_name": f"{_CLASSES}:function_by_name()",
            "function_list": f"{_CLASSES}:function_list()",
            "_BCELoss": f"{_CLASSES}:class_of(BCELoss)",
            "_generate_function_classes": f"{_CLASSES}:_generate_function_classes",
            "_make_function_class": f"{_CLASSES}:_make_function_class",
            "_make_function_class_criterion": f"{_CLASSES}:_make_function_class_criterion",
            "parse_header": f"{_UTILS}:parse_header",
            "THNN_H_PATH": "thnn._header.registry:THNN_H_PATH",
            "type2backend": f"{_BACKEND}:type2backend",
        },
        _GENERATED,
    ),
    "torch.nn._functions.thnn.batchnorm_double_backwards": Contents(
        "The second derivative of batch normalization.", _written("thnn.batchnorm_double_backwards")
    ),
    "torch.nn._functions.thnn.fold": Contents("Images and columns.", _written("thnn.fold")),
    "torch.nn._functions.thnn.loss": Contents("Binary cross-entropy.", _of_header("BCELoss")),
    "torch.nn._functions.thnn.normalization": Contents(
        "Local response normalization.", _written("thnn.normalization")
    ),
    "torch.nn._functions.thnn.pooling": Contents("Pooling.", _written("thnn.pooling")),
    "torch.nn._functions.thnn.rnnFusedPointwise": Contents(
        "Fused recurrent cells.", listed=((f"{_CLASSES}:fused_names", f"{_CLASSES}:class_of"),)
    ),
    "torch.nn._functions.thnn.sparse": Contents("Embeddings.", _written("thnn.sparse")),
    "torch.nn._functions.thnn.upsampling": Contents(
        "Images and volumes enlarged.", _written("thnn.upsampling")
    ),
    "torch.nn.backends.backend": Contents(
        "Function classes by name.", {"FunctionBackend": "thnn.compat._function_backend:FunctionBackend"}
    ),
    "torch.nn.backends.thnn": Contents(
        "The function classes of thnn by name.",
        {
            name: f"thnn.compat._function_backend:{name}"
            for name in ("THNNFunctionBackend", "_get_thnn_function_backend", "backend")
        },
    ),
}

#: The modules that were below torch.nn.functions until 0.1.5, with the same contents.
_UNTIL_0_1_5 = (
    *("", ".activation", ".conv", ".dropout", ".linear", ".loss", ".rnn", ".thnn", ".thnn.activation"),
    *(".thnn.auto", ".thnn.loss", ".thnn.normalization", ".thnn.pooling", ".thnn.sparse"),
)
CONTENTS |= {f"torch.nn.functions{name}": CONTENTS[f"torch.nn._functions{name}"] for name in _UNTIL_0_1_5}
CONTENTS["torch.nn.functions.linear"] = Contents(
    "Products with matrices.",
    {"LinearFunction": "thnn:LinearFunction", **CONTENTS["torch.nn._functions.linear"].objects},
)
CONTENTS["torch.nn.functions.thnn"] = Contents(
    "The classes of 0.1.1, under the names of thnn, and those of torch.nn._functions.thnn.",
    {
        "_generated_functions": f"{_CLASSES}:generated_functions()",
        **CONTENTS["torch.nn._functions.thnn"].objects,
    },
    (*_GENERATED, (f"{_CLASSES}:names_of_0_1_1", f"{_CLASSES}:class_of_0_1_1")),
)
CONTENTS["torch.nn.functions.thnn.batchnorm"] = CONTENTS["torch.nn._functions.batchnorm"]

#: The modules, parents first.
NAMES = tuple(CONTENTS)
#: Packages that torch has, which the modules are put into.
TORCH_PACKAGES = ("torch.nn.backends",)
