"""Embeddings: the functions of ``torch.nn.functional`` of the same names, computed by thnn.

Indices are int64 or int32, tables float32, float64, float16 or bfloat16. Errors: TypeError for
other types, IndexError for a row that the table does not have and for an offset outside of the input, ValueError for
wrong sizes and settings. torch computes sparse gradients (`sparse`).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from thnn._binding.arguments import to_bool
from thnn._binding.backend import type2backend
from thnn._classes import function_classes
from thnn._torch import functorch_active, in_transform

_lookup = function_classes["LookupTableFunction"]
_lookup_bag = function_classes["LookupTableBagFunction"]

_MODES = ("sum", "mean", "max")


def _row(padding_idx: int | None, weight: Tensor) -> int:
    """The row that gets no gradient, -1 for none; negative numbers count from the end of the table."""
    if padding_idx is None:
        return -1
    if weight.dim() != 2:
        raise ValueError(f"weight: expected 2 dimensions (rows, D), got shape {tuple(weight.shape)}")
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise ValueError(f"padding_idx: expected -{rows} <= padding_idx < {rows}, got {padding_idx}")
    return padding_idx % rows


def _renorm(weight: Tensor, input: Tensor, max_norm: float | None, norm_type: float) -> None:
    """Limits the norm of the rows that `input` names, in place."""
    if max_norm is None:
        return
    if _is_recorded():
        torch.embedding_renorm_(weight.detach(), input.contiguous(), max_norm, norm_type)
    else:
        backend = type2backend["THNNBackend"]
        backend.LookupTable_renorm(backend.library_state, input, weight.detach(), max_norm, norm_type)


def _is_recorded() -> bool:
    """True in compiled code, tracers and dispatch modes, which see no call of a C function."""
    return torch.compiler.is_compiling() or (in_transform() and not functorch_active())


def _int64(indices: Tensor, name: str = "input") -> Tensor:
    if indices.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name}: expected int64 or int32, got {indices.dtype}")
    return indices.long() if indices.dtype is torch.int32 else indices


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that `input` names: input (...), weight (rows, D), output (..., D).

    See torch.nn.functional.embedding. With max_norm the rows are renormalized in place.
    """
    if to_bool("sparse", sparse):
        return F.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, True)
    row = _row(padding_idx, weight)
    input = _int64(input)
    _renorm(weight, input, max_norm, norm_type)
    output: Tensor = _lookup.apply(input, weight, scale_grad_by_freq, row)
    return output


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of the rows of `weight` that each bag of `input` names.

    Bags are the rows of an input (B, L), or of an input (n) the parts that begin at `offsets` (B); output (B, D). torch
    computes per_sample_weights. See torch.nn.functional.embedding_bag.
    """
    if mode not in _MODES:
        raise ValueError(f"mode: expected one of {_MODES}, got {mode!r}")
    sparse = to_bool("sparse", sparse)
    include_last_offset = to_bool("include_last_offset", include_last_offset)
    if sparse or per_sample_weights is not None or input.layout is torch.jagged:
        return F.embedding_bag(
            input,
            weight,
            offsets,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            per_sample_weights,
            include_last_offset,
            padding_idx,
        )
    if input.dim() != (2 if offsets is None else 1):
        raise ValueError(
            "input: expected 2 dimensions (B, L) without offsets or 1 dimension (n) with offsets, got shape"
            f" {tuple(input.shape)} {'without' if offsets is None else 'with'} offsets"
        )
    rest = slice(None)
    if include_last_offset and offsets is not None:
        if not offsets.numel():
            raise ValueError("offsets: expected at least the last offset, got none")
        if _is_recorded() and max_norm is None and not scale_grad_by_freq:
            # The last offset is known only at run time. The elements after it become a bag, whose result is dropped.
            rest = slice(-1)
        else:
            last = int(offsets[-1])
            if not (torch.compiler.is_compiling() or in_transform()) and not 0 <= last <= len(input):
                raise IndexError(f"offsets: expected a last offset from 0 to {len(input)}, got {last}")
            input, offsets = input[:last], offsets[:-1]
    row = _row(padding_idx, weight)
    input = _int64(input)
    offsets = None if offsets is None else _int64(offsets, "offsets")
    _renorm(weight, input, max_norm, norm_type)
    output: Tensor = _lookup_bag.apply(input, offsets, weight, _MODES.index(mode), scale_grad_by_freq, row)
    return output if rest.stop is None else output[rest]
