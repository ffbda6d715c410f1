"""fork: a torch module as two callables, one for training and one for inference."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from thnn.graph.example import run_example
from thnn.graph.folding import fold_branch
from thnn.graph.tracing import trace


class Fork:
    """A module in two branches; the result of `fork`.

    Attributes:
        train: Branch: the model in training: batch normalization uses the statistics of the batch and updates the
            running ones, and dropout is active
        infer: Branch: the model in evaluation; it changes no buffer
        module: torch.nn.Module: the model
        fold: bool: whether batch normalization is folded in `infer`
        sizes: dict: name of a node of `infer` -> size and type of its result for the example
    """

    def __init__(self, module: nn.Module, example_input: Any, fold: bool = False) -> None:
        inputs = example_input if isinstance(example_input, (tuple, list)) else (example_input,)
        if not isinstance(module, nn.Module):
            raise TypeError(f"fork: module: expected a torch.nn.Module, got {type(module).__name__}")
        for value in inputs:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"fork: example_input: expected a tensor or a tuple of tensors, got {type(value).__name__}"
                )
        if not isinstance(fold, bool):
            raise TypeError(f"fork: fold: expected True or False, got {fold!r}")
        self.module = module
        self.fold = fold
        self.train = trace(module, len(inputs), training=True)
        self.infer = trace(module, len(inputs), training=False)
        self.sizes = run_example(self.infer, module, inputs)
        if fold:
            fold_branch(self.infer, self.sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a Fork cannot be pickled or copied; pickle or copy its module, and fork it again")

    def __repr__(self) -> str:
        return f"Fork({type(self.module).__name__}, fold={self.fold})"


def fork(module: nn.Module, example_input: Any, fold: bool = False) -> Fork:
    """The branches of a model for training and for inference, which share its parameters and buffers.

    torch.fx traces the model once per branch. In each, ``self.training`` of all modules has the branch's value; the
    mode flags of the model are neither changed nor read. The branches share all state: parameters, buffers, settings
    such as `momentum`, hooks. An optimizer step, ``load_state_dict``, ``to`` or ``requires_grad_`` therefore affects
    both.

    In the branch for inference modules are in evaluation mode. Functional batch normalization uses the running
    statistics and functional dropout is inactive, even with an explicit ``training=True``. Buffers never change: if the
    model changes a buffer in evaluation, the branch changes a copy that lasts one call.

    Arguments:
        module: torch.nn.Module: the model. Layers of torch.nn and thnn.nn, and modules with hooks, are called; all
            other code is traced
        example_input: tensor, or tuple of tensors: arguments of forward; the others keep their defaults. The branch for
            inference and the model in evaluation run once on a copy, and their results are compared, unless the model
            calls a function with an explicit training flag
        fold: bool: fold each layer of batch normalization in inference into the convolution or Linear before it, if
            nothing else uses the result of that layer. The folded weights are computed from the parameters in each call

    Returns a `Fork` with the callables ``.train`` and ``.infer``.

    Errors: ValueError for a model that cannot be traced (control flow that depends on values, assignment to
    attributes), with file and line of the statement; for a model whose result differs from the traced branch's;
    for an example that the model rejects, with the layer. TypeError for arguments of other types.
    """
    return Fork(module, example_input, fold)
