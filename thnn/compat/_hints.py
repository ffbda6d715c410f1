"""Hints in the error messages for names of 2017 that thnn does not serve."""

from __future__ import annotations

import torch

import thnn.nn
from thnn._classes import function_classes
from thnn._spelling import did_you_mean
from thnn.compat import _classes
from thnn.compat._contents import CONTENTS

_CUDA = "the CUDA functions are those of the same header: thnn.type2backend['torch.cuda.FloatTensor']"
_NO_CLASS = "its functions form no class; they are methods of thnn.type2backend['torch.FloatTensor']"

#: Module or name in a module -> today's equivalent.
_TODAY = {
    "torch._thnn.THNNCudaBackendStateMixin": _CUDA,
    "torch._thnn._THCUNN": _CUDA,
    "torch._thnn.utils.THCUNN_H_PATH": _CUDA,
    "torch.nn._functions.thnn.auto.IndexLinear": _NO_CLASS,
    "torch.nn._functions.thnn.auto.SparseLinear": _NO_CLASS,
    "torch.nn._functions.thnn.auto_double_backwards": "the classes of torch.nn._functions.thnn.auto have them",
}


def hint(module: str, name: str) -> str:
    """'; ' and a hint for a name that a module of 2017 lacks; '' for names that begin with '__'."""
    if name.startswith("__"):
        return ""
    today = _TODAY.get(f"{module}.{name}")
    if today is not None:
        return f"; {today}"
    classes = _classes.names()
    for written, renamed in _classes.RENAMED.items():
        if name == written and renamed in classes:
            return f"; its name here is {renamed}"
        if name == renamed and renamed not in classes:
            return f"; thnn has no {written}"
    if name in function_classes:
        module_name = name.removesuffix("Function")
        return f"; use thnn.{name}, or {_classes.RENAMED.get(module_name, module_name)}, its name since PyTorch 0.1.3"
    if name in thnn.nn.__all__:
        return f"; use thnn.nn.{name} or torch.nn.{name}"
    for place in ("torch.nn", "torch.nn.functional"):
        if hasattr(torch.nn if place == "torch.nn" else torch.nn.functional, name):
            return f"; use {place}.{name}"
    return did_you_mean(name, CONTENTS[module].names(), 0.75) or f"; dir() of {module} lists its names"
