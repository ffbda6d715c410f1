"""The names of torch that the rules of `upgrade` know."""

from __future__ import annotations

F = "torch.nn.functional."
NN = "torch.nn."

_PAIR = ("size_average", "reduce")
_WEIGHTED = ("weight", *_PAIR)
_CLASSES = ("weight", "size_average", "ignore_index", "reduce")
_MARGIN = ("margin", *_PAIR)
_TENSORS = ("input", "target")
_TRIPLE = ("input1", "input2", "target")

#: Loss -> its parameters until 0.4, after which `reduction` replaces size_average and reduce.
REDUCING: dict[str, tuple[str, ...]] = {
    NN + "BCELoss": _WEIGHTED,
    NN + "BCEWithLogitsLoss": _WEIGHTED,
    NN + "CosineEmbeddingLoss": _MARGIN,
    NN + "CrossEntropyLoss": _CLASSES,
    NN + "HingeEmbeddingLoss": _MARGIN,
    NN + "KLDivLoss": _PAIR,
    NN + "L1Loss": _PAIR,
    NN + "MSELoss": _PAIR,
    NN + "MarginRankingLoss": _MARGIN,
    NN + "MultiLabelMarginLoss": _PAIR,
    NN + "MultiLabelSoftMarginLoss": _WEIGHTED,
    NN + "MultiMarginLoss": ("p", "margin", *_WEIGHTED),
    NN + "NLLLoss": _CLASSES,
    NN + "NLLLoss2d": _CLASSES,
    NN + "PoissonNLLLoss": ("log_input", "full", "size_average", "eps", "reduce"),
    NN + "SmoothL1Loss": _PAIR,
    NN + "SoftMarginLoss": _PAIR,
    F + "binary_cross_entropy": (*_TENSORS, *_WEIGHTED),
    F + "binary_cross_entropy_with_logits": (*_TENSORS, *_WEIGHTED),
    F + "cosine_embedding_loss": (*_TRIPLE, *_MARGIN),
    F + "cross_entropy": (*_TENSORS, *_CLASSES),
    F + "hinge_embedding_loss": (*_TENSORS, *_MARGIN),
    F + "kl_div": (*_TENSORS, *_PAIR),
    F + "l1_loss": (*_TENSORS, *_PAIR),
    F + "margin_ranking_loss": (*_TRIPLE, *_MARGIN),
    F + "mse_loss": (*_TENSORS, *_PAIR),
    F + "multi_margin_loss": (*_TENSORS, "p", "margin", *_WEIGHTED),
    F + "multilabel_margin_loss": (*_TENSORS, *_PAIR),
    F + "multilabel_soft_margin_loss": (*_TENSORS, *_WEIGHTED),
    F + "nll_loss": (*_TENSORS, *_CLASSES),
    F + "nll_loss2d": (*_TENSORS, *_CLASSES),
    F + "poisson_nll_loss": (*_TENSORS, "log_input", "full", "size_average", "eps", "reduce"),
    F + "smooth_l1_loss": (*_TENSORS, *_PAIR),
    F + "soft_margin_loss": (*_TENSORS, *_PAIR),
}

#: Losses that have other parameters and always return one number.
OTHER_LOSSES = {NN + "TripletMarginLoss", F + "triplet_margin_loss"}

#: Name -> today's name in the same module.
RENAMED = {
    **{
        f"torch.nn.init.{name}": f"{name}_"
        for name in (
            *("constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal"),
            *("sparse", "uniform", "xavier_normal", "xavier_uniform"),
        )
    },
    "torch.nn.utils.clip_grad_norm": "clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_norm": "clip_grad_norm_",
    NN + "NLLLoss2d": "NLLLoss",
    F + "nll_loss2d": "nll_loss",
    F + "upsample": "interpolate",
}

#: Functions of torch.nn.functional that are functions of torch.
OF_TORCH = {F + "sigmoid": "sigmoid", F + "tanh": "tanh"}

#: Functions whose `training` was False unless it was given -> its position.
TRAINING = {F + "dropout": 2, F + "dropout2d": 2, F + "dropout3d": 2}

_RESIZE = ("size", "scale_factor", "mode", "align_corners")
_RESIZE_INPUT = ("input", *_RESIZE)
#: Functions that aligned the corners -> their parameters until 0.4.
ALIGNING = {
    F + "affine_grid": ("theta", "size", "align_corners"),
    F + "grid_sample": ("input", "grid", "mode", "padding_mode", "align_corners"),
    F + "upsample": _RESIZE_INPUT,
    NN + "Upsample": _RESIZE,
}
#: Those that did so in the modes `ALIGNED_MODES`.
WITH_MODES = (_RESIZE, _RESIZE_INPUT)
ALIGNED_MODES = {"linear", "bilinear", "trilinear"}

#: Soft-maxes -> the position of `dim`.
WITH_DIM = {
    F + "softmax": 1,
    F + "log_softmax": 1,
    F + "softmin": 1,
    NN + "Softmax": 0,
    NN + "LogSoftmax": 0,
    NN + "Softmin": 0,
}

#: Method that today's tensors lack -> what to use.
GONE_METHODS = {
    "btrifact": "torch.linalg.lu_factor",
    "btrisolve": "torch.linalg.lu_solve",
    "gels": "torch.linalg.lstsq",
    "gesv": "torch.linalg.solve",
    "potrf": "torch.linalg.cholesky",
    "potri": "torch.cholesky_inverse",
    "potrs": "torch.cholesky_solve",
    "symeig": "torch.linalg.eigh",
    "trtrs": "torch.linalg.solve_triangular",
}

#: Name that today's torch lacks -> what to use.
GONE = {
    **{f"torch.{method}": use for method, use in GONE_METHODS.items()},
    **dict.fromkeys(
        ("torch._TensorBase", "torch.tensor._TensorBase"), "torch.Tensor, the type of Variables too"
    ),
    "torch.autograd.Variable.creator": "grad_fn",
    "torch.btriunpack": "torch.lu_unpack",
    "torch.eig": "torch.linalg.eig",
    "torch.legacy": "torch.nn",
    "torch.utils.ffi": "thnn.load, which compiles a header and its kernels",
    "torch.utils.serialization": "nothing of torch reads files of Lua Torch",
}

_SCALED_PRODUCT = ("beta", "alpha"), 2
#: Function whose numbers came before tensors -> their keywords today, and the number of tensors that a method takes.
NUMBERS_FIRST: dict[str, tuple[tuple[str, ...], int]] = {
    "add": (("alpha",), 1),
    "addcdiv": (("value",), 2),
    "addcmul": (("value",), 2),
    "sub": (("alpha",), 1),
    **dict.fromkeys(("addbmm", "addmm", "addmv", "addr", "baddbmm"), _SCALED_PRODUCT),
}
#: The methods of them that other objects than tensors have not: others have add, and addr.
NUMBERS_FIRST_METHODS = {f"{name}_" for name in NUMBERS_FIRST} | (set(NUMBERS_FIRST) - {"add", "addr", "sub"})

#: Methods that reduce a tensor to one number if they have no argument, and functions with one argument.
REDUCTIONS = {"max", "mean", "min", "norm", "prod", "std", "sum", "var"}
#: Methods and attributes after which a tensor has the same number of elements, for scalars, integers and masks alike.
SAME = {
    "clone",
    "contiguous",
    "cpu",
    "cuda",
    "detach",
    "squeeze",
    "t",
    "unsqueeze",
    "view",
    "expand",
    "view_as",
}
FLOATING = {"double", "float", "half"}
INTEGER = {"byte", "char", "int", "long", "short"}
INTEGER_TYPES = {
    f"torch.{device}{name}Tensor"
    for device in ("", "cuda.")
    for name in ("Byte", "Char", "Int", "Long", "Short")
}
BYTE_TYPES = {"torch.ByteTensor", "torch.cuda.ByteTensor"}
COMPARISONS = {"eq", "ge", "gt", "le", "lt", "ne"}
#: Methods that take a mask as first argument.
MASKED = {"masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_", "masked_select"}
#: Methods and functions whose second result are indices.
WITH_INDICES = {"kthvalue", "max", "median", "min", "mode", "sort", "topk"}
#: Methods that return a number if they have no argument.
NUMBERS = {"dim", "item", "nelement", "numel"}
#: Methods that take integers only.
TAKE_INTEGERS = {"narrow", "resize_", "view"}
