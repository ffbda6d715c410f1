"""Layers of embeddings."""

from __future__ import annotations

import torch
from torch import Tensor

from thnn.nn._layer import layer_doc, layer_forward
from thnn.nn.functional import sparse as F

_NO_ROW = "IndexError for a row that the table does not have, "


class Embedding(torch.nn.Embedding):
    __doc__ = layer_doc(
        "Embedding",
        "Rows of a table",
        "input (...) of int64 or int32, weight (num_embeddings, embedding_dim), output (..., embedding_dim)",
        "LookupTableFunction",
        remarks="With sparse=True torch computes the layer.",
        errors=_NO_ROW,
    )

    @layer_forward
    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )


class EmbeddingBag(torch.nn.EmbeddingBag):
    __doc__ = layer_doc(
        "EmbeddingBag",
        "Sums, means or maxima of rows of a table",
        "input (B, L), or (n) with offsets (B), of int64 or int32; weight (num_embeddings, embedding_dim);"
        "\n    output (B, embedding_dim)",
        "LookupTableBagFunction",
        remarks="With sparse=True and with per_sample_weights torch computes the layer.",
        errors=_NO_ROW,
    )

    @layer_forward
    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )
