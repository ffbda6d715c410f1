"""The public names of thnn, and suggestions for misspelt ones."""

from __future__ import annotations

import re
from importlib import import_module

from thnn._spelling import nearest

# Name -> the module that defines it, imported at the first access: `regenerate` must work without a library.
HOMES = {
    "THNN_H_PATH": "thnn._header.registry",
    "Argument": "thnn._header",
    "BatchNormOutput": "thnn._batch_norm.operator",
    "CompileError": "thnn._load.recipe",
    "Function": "thnn._header",
    "HeaderError": "thnn._header",
    "LoadedModule": "thnn._load.loaded",
    "Location": "thnn._header",
    "Module": "thnn._header",
    "batch_norm": "thnn._batch_norm.operator",
    "SyncBatchNormalizationFunction": "thnn._batch_norm.sync",
    "build_library": "thnn._load.loaded",
    "convert": "thnn._convert",
    "cpu_capability": "thnn._binding.library",
    "function_classes": "thnn._classes",
    "freeze": "thnn._freeze",
    "functions": "thnn._header.registry",
    "keep_freed_memory": "thnn._memory",
    "load": "thnn._load.loaded",
    "modules": "thnn._header.registry",
    "open_library": "thnn._load.loaded",
    "parse_header": "thnn._header",
    "profile": "thnn._profile",
    "register_operators": "thnn._classes",
    "revert": "thnn._convert",
    "type2backend": "thnn._binding.backend",
}
SUBPACKAGES = ("compat", "graph", "nn", "parallel")


def hint(name: str) -> str:
    """The end of the error for a name that thnn does not have: '' or '; ' and the name that may have been meant."""
    if name.startswith("_"):  # tools look such names up often
        return ""
    classes = import_module("thnn._classes").function_classes
    if f"{name}Function" in classes:
        return f"; did you mean thnn.{name}Function?"
    layers, stem = import_module("thnn.nn").__all__, name.removesuffix("Function")
    if f"{stem}Function" not in classes and stem in import_module("thnn._header.registry").modules():
        return f"; the functions of {stem} form no class; they are methods of thnn.type2backend['torch.FloatTensor']"
    if name in layers:
        return f"; did you mean thnn.nn.{name}?"
    if per_dimension := [n for n in layers if n[:-2] == name and n.endswith("d")]:
        return f"; did you mean thnn.nn.{' or '.join(per_dimension)}?"
    layer = next((n for n in layers if n.lower() == stem.lower()), stem)
    known = {n: n for n in (*HOMES, *SUBPACKAGES, *classes)} | {n: f"nn.{n}" for n in layers}
    near = next((k for k in known if k.lower() == name.lower()), "")
    if not near and layer in layers:
        found = re.search(r"Computed by ([^.]+)", getattr(import_module("thnn.nn"), layer).__doc__ or "")
        if found is None:
            return f"; did you mean thnn.nn.{layer}?"
        functions = re.sub(r"\w+Function\b", r"thnn.\g<0>", " ".join(found[1].split()))
        return f"; thnn.nn.{layer} is computed by {functions}"
    # A layer of torch that thnn does not replace is not a typo.
    if not near and isinstance(getattr(import_module("torch.nn"), layer, None), type):
        return f"; torch.nn.{layer} works beside the layers of thnn"
    if not near:
        near = nearest(name, known, 0.85)
    if near:
        return f"; did you mean thnn.{known[near]}?"
    return "; `python -m thnn list` shows the modules" if name.endswith("Function") else ""
