"""The autograd node of all steps of LSTM and GRU against the nodes of single steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import thnn
from thnn import type2backend
from thnn.nn import _sequence
from thnn.nn._sequence import Inputs, recorded
from thnn.nn._sequence_operators import run_steps

CELLS = {"LSTM": (_sequence.LSTM_CELL, 4, 2), "GRU": (_sequence.GRU_CELL, 3, 1)}
SIZES = {
    "equal": (3, 3, 3),
    "falling": (4, 3, 3, 1),
    "one step": (2,),
    "steps of one": (1, 1),
    "many steps": (3,) * 12 + (2, 2, 1, 1, 1),
}


def arguments(
    kind: str,
    sizes: tuple[int, ...],
    bias: bool = True,
    dtype: torch.dtype = torch.float64,
    inputs: int = 3,
    width: int = 5,
) -> Any:
    torch.manual_seed(0)
    cell, gates, states = CELLS[kind]
    tensors = [
        torch.randn(sum(sizes), inputs, dtype=dtype),
        torch.randn(gates * width, inputs, dtype=dtype),
        torch.randn(gates * width, width, dtype=dtype),
        *(torch.randn(gates * width, dtype=dtype) if bias else None for _ in range(2)),
        *(torch.randn(sizes[0], width, dtype=dtype) for _ in range(states)),
    ]
    return cell, [None if t is None else t.requires_grad_() for t in tensors]


def results(function: Callable[..., Any], cell: Any, tensors: Any, *rest: Any) -> tuple[Tensor, ...]:
    output, final = function(cell, Inputs(*tensors[:5], tuple(tensors[5:]), *rest))
    return output, *final


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_gradients(kind: str, sizes: tuple[int, ...], reverse: bool, bias: bool) -> None:
    cell, tensors = arguments(kind, sizes, bias)
    ours = results(run_steps, cell, tensors, sizes, reverse)
    expected = results(recorded, cell, tensors, sizes, reverse)
    assert type(ours[0].grad_fn).__name__ == "_StepsBackward"
    with torch.no_grad():
        without = results(run_steps, cell, tensors, sizes, reverse)
    for a, b, c in zip(ours, expected, without, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-13, atol=1e-13)
        assert torch.equal(a, c)
    wanted = [t for t in tensors if t is not None]
    # Losses of all results, of only the outputs, and of only the final states.
    for chosen in (slice(None), slice(1), slice(1, None)):
        weights = [torch.randn_like(r) for r in ours[chosen]]
        pairs = [torch.autograd.grad(r[chosen], wanted, weights, retain_graph=True) for r in (ours, expected)]
        for a, b in zip(*pairs, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
        assert len({a.data_ptr() for a in pairs[0]}) == len(wanted)  # each gradient may be changed in place


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.slow
def test_second_derivatives(kind: str, reverse: bool) -> None:
    cell, tensors = arguments(kind, (2, 1))

    def function(*given: Tensor) -> tuple[Tensor, ...]:
        return results(run_steps, cell, given, (2, 1), reverse)

    assert torch.autograd.gradcheck(function, tensors)
    assert torch.autograd.gradgradcheck(function, tensors, fast_mode=True)


@pytest.mark.parametrize("kind", CELLS)
def test_only_the_gradients_that_are_needed(kind: str) -> None:
    cell, tensors = arguments(kind, (3, 2))
    for chosen in range(len(tensors)):
        for tensor in tensors:
            tensor.requires_grad_(tensor is tensors[chosen])
        gradients = [
            torch.autograd.grad(
                results(function, cell, tensors, (3, 2), False)[0].square().sum(), [tensors[chosen]]
            )[0]
            for function in (run_steps, recorded)
        ]
        torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


def test_an_output_that_was_overwritten_is_an_error() -> None:
    cell, tensors = arguments("LSTM", (3, 2))
    output = results(run_steps, cell, tensors, (3, 2), False)[0]
    with torch.no_grad():
        output.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()


def test_the_gradient_by_the_weight_is_one_product() -> None:
    layer = thnn.nn.LSTM(3, 4)
    profile = thnn.profile(layer, torch.randn(7, 2, 3), runs=1)
    calls = {f.name: f.calls for f in profile.functions}
    assert calls["LSTMFused_cell"] == calls["LSTMFused_updateGradInput"] == 7
    assert calls["Linear_accGradParameters"] == 2


def test_one_function_computes_many_steps() -> None:
    layer = thnn.nn.GRU(3, 4)
    profile = thnn.profile(layer, torch.randn(8, 2, 3), runs=1)
    calls = {f.name: f.calls for f in profile.functions}
    assert calls == {
        "GRUFused_steps": 1,
        "GRUFused_gradSteps": 1,
        "Linear_accGradParameters": 2,
    }


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("sizes", "inputs", "width"),
    [
        ((67,) * 10 + (40,) * 4 + (3, 2, 1), 9, 70),  # several micro-tiles, some only partly in a step
        ((2,) * 16, 300, 300),  # several K-blocks
        ((1,) * 200, 5, 33),  # more rows than the products of the input take at once
        ((3,) * 16, 0, 4),
    ],
)
def test_many_steps(kind: str, reverse: bool, sizes: tuple[int, ...], inputs: int, width: int) -> None:
    """Against single steps, in contiguous tensors and not, with the same bits for any number of threads."""
    cell, tensors = arguments(kind, sizes, inputs=inputs, width=width)
    with torch.no_grad():
        for weight in tensors[1:3]:
            weight.div_(width)
    found = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        ours = results(run_steps, cell, tensors, sizes, reverse)
        weights = [torch.linspace(-1, 1, r.numel(), dtype=r.dtype).view_as(r) for r in ours]
        found.append((*ours, *torch.autograd.grad(ours, tensors, weights)))
        for a, b in zip(found[0], found[-1], strict=True):
            assert torch.equal(a, b)
    given = [t.detach().t().contiguous().t().requires_grad_() if t.dim() == 2 else t for t in tensors]
    strided = results(run_steps, cell, given, sizes, reverse)
    expected = results(recorded, cell, tensors, sizes, reverse)
    byStrided = torch.autograd.grad(strided, given, weights)
    byExpected = torch.autograd.grad(expected, tensors, weights)
    for a, b, c in zip(found[0], (*expected, *byExpected), (*strided, *byStrided), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-11)
        torch.testing.assert_close(c, b, rtol=1e-10, atol=1e-11)


def test_other_types_take_the_steps_one_by_one() -> None:
    layer = thnn.nn.GRU(3, 4)
    with torch.autocast("cpu"):
        output, _ = layer(torch.randn(5, 2, 3).bfloat16())
    assert output.dtype == torch.float32
    with pytest.raises(TypeError, match="GRU"):
        layer(torch.randn(5, 2, 3), torch.zeros(1, 2, 4, dtype=torch.float64))
    shape = layer.to("meta")(torch.randn(5, 2, 3, device="meta"))[0].shape
    assert shape == (5, 2, 4)


@pytest.mark.parametrize("kind", CELLS)
def test_a_default_device_does_not_matter(kind: str) -> None:
    sizes = (2,) * 9
    cell, tensors = arguments(kind, sizes)
    expected = results(run_steps, cell, tensors, sizes, False)
    with torch.device("meta"):
        found = results(run_steps, cell, tensors, sizes, False)
        found[0].sum().backward()
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_sizes_whose_sum_overflows_are_refused() -> None:
    backend, many = type2backend["torch.DoubleTensor"], 1 << 62
    state, weights = torch.zeros(1, 1).double().expand(many, 1), torch.ones(3, 1).double()
    with pytest.raises(ValueError, match="GRUFused_steps: hx: expected at most 0 sequences"):
        backend.GRUFused_steps(
            0, torch.empty(0, 1).double(), weights, weights, None, None, state, torch.tensor([many] * 4),
            torch.empty(0).double(), None, None, False,
        )  # fmt: skip


def expanded(device: str, *size: int) -> Tensor:
    return torch.zeros(1, 1, device=device).expand(size)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize(
    ("sequences", "inputs", "width"), [(1 << 60, 4, 1), (1, 1 << 59, 1), (1, 1, 1 << 30)]
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_buffers_whose_size_overflows_are_refused(
    kind: str, sequences: int, inputs: int, width: int, device: str
) -> None:
    _, gates, states = CELLS[kind]
    sizes = [(sequences, inputs), (gates * width, inputs), (gates * width, width)]
    tensors = [expanded(device, *size) for size in sizes]
    initial = [expanded(device, sequences, width)] * states
    outputs = [torch.empty(0, device=device) for _ in range(states)]
    counts = torch.tensor([sequences], device=device)
    function = getattr(type2backend["torch.FloatTensor"], f"{kind}Fused_steps")
    message = rf"{kind}Fused_steps: hx: the buffer would be larger .* hx shape \({sequences}, {width}\)"
    with pytest.raises(ValueError, match=message):
        function(0, *tensors, None, None, *initial, counts, *outputs, None, None, False)
    assert all(output.shape == (0,) for output in outputs)


@pytest.mark.parametrize(("kind", "stored"), [("LSTM", 4), ("GRU", 5)])
def test_buffers_of_gradients_whose_size_overflows_are_refused(kind: str, stored: int) -> None:
    (_, gates, states), many = CELLS[kind], 1 << 60
    storage, weight = expanded("meta", many, stored), torch.empty(gates, 1, device="meta")
    cells = [torch.empty(many, 1, device="meta")] * (2 * states - 2)
    counts, results = torch.tensor([many], device="meta"), [torch.empty(0, device="meta")] * (3 - states)
    gradients = [torch.empty(many, 1, device="meta") for _ in range(states)]
    function = getattr(type2backend["torch.FloatTensor"], f"{kind}Fused_gradSteps")
    with pytest.raises(
        ValueError, match=rf"{kind}Fused_gradSteps: gradHx: the buffer would be larger .* \({many}, 1\)"
    ):
        function(0, storage, weight, *cells, counts, None, *results, *gradients, None, False)
