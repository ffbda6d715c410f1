"""Tensors that calls allocate: in C for plain tensors, in Python for all others."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import thnn
from thnn._binding.call import results_of
from thnn._binding.library import ALLOCATE, THNN, connect_allocation
from thnn._header.registry import functions


@pytest.fixture(params=["C", "Python"])
def route(request: pytest.FixtureRequest) -> Iterator[str]:
    """Small tensors come from libtorch's C functions, or from Python functions, as if torch lacked the C functions."""
    connect_allocation(request.param == "C")
    yield request.param
    connect_allocation()


class Subclass(torch.Tensor):
    pass


def pool(input: Tensor) -> tuple[Tensor, Tensor]:
    result: tuple[Tensor, Tensor] = thnn.SpatialMaxPoolingFunction.apply(input, 2, 2, 2, 2, 0, 0, False, True)
    return result


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("size", [(2, 3, 4, 6), (2, 3, 400, 500), (0, 3, 4, 6), (1, 1, 4, 4), (2, 3, 2, 2)])
def test_requested_sizes_and_layouts(
    route: str, size: tuple[int, ...], memory_format: torch.memory_format, dtype: torch.dtype
) -> None:
    input = torch.randn(size, dtype=dtype).contiguous(memory_format=memory_format)
    output, indices = pool(input)
    expected = torch.empty(output.shape, memory_format=memory_format)
    assert output.dtype is dtype
    assert indices.dtype is torch.int64
    assert output.shape == indices.shape == (size[0], size[1], size[2] // 2, size[3] // 2)
    if size[1] > 1 and size[0]:  # one channel, or an empty tensor, has the default layout
        assert output.stride() == indices.stride() == expected.stride()
    for tensor in (output, indices):
        assert tensor.device == torch.device("cpu")
        assert not tensor.requires_grad
        assert tensor.untyped_storage().resizable()
    if input.numel():
        torch.testing.assert_close(output, functional.max_pool2d(input, 2))


def views() -> list[Tensor]:
    x = torch.randn(4, 6, 5, 3)
    return [
        x,
        x.contiguous(memory_format=torch.channels_last),
        x.permute(3, 0, 2, 1),
        x[:, ::2],
        x[:1].expand(4, 6, 5, 3),
        x.as_strided((1, 6, 1, 1), (7, 1, 9, 8)),
        torch.randn(()),
        torch.randn(0, 3),
        torch.randn(300, 1000).t(),
    ]


@pytest.mark.parametrize("position", range(len(views())))
def test_a_tensor_like_another_has_its_strides(route: str, position: int) -> None:
    x = views()[position].clone(memory_format=torch.preserve_format)
    for like in (x, views()[position]):
        y = thnn.ThresholdFunction.apply(like, 0, 0, False)
        assert y.stride() == torch.empty_like(like).stride()
        torch.testing.assert_close(y, functional.relu(like))
        leaf = like.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(thnn.ThresholdFunction.apply(leaf, 0, 0, False).sum(), leaf)
        assert gradient.stride() == torch.empty_like(like).stride()
        torch.testing.assert_close(gradient, (like > 0).to(like.dtype))


@pytest.mark.parametrize("channels", [3, 300])  # the gradient of the weight has 144 bytes and 1.4 MB
def test_gradients_of_parameters_begin_with_zeros(route: str, channels: int) -> None:
    x, w = torch.randn(1, channels, 5, 5), torch.randn(channels, channels, 2, 2).requires_grad_()
    b = torch.randn(channels, requires_grad=True)
    waste = [torch.full_like(w, float("nan")) for _ in range(4)]
    del waste  # its memory is used again
    ours = torch.autograd.grad(
        thnn.SpatialConvolutionMMFunction.apply(x, w, b, 2, 2, 1, 1, 0, 0).sum(), (w, b)
    )
    expected = torch.autograd.grad(functional.conv2d(x, w, b).sum(), (w, b))
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-3)


def test_the_class_of_the_results(route: str) -> None:
    x = torch.randn(1, 2, 4, 4)
    for cls, expected in ((Subclass, Subclass), (torch.nn.Parameter, torch.Tensor)):
        given = x.as_subclass(Subclass) if cls is Subclass else torch.nn.Parameter(x)
        with torch.no_grad():
            output, indices = pool(given)
            assert type(output) is type(indices) is expected
            assert type(thnn.ThresholdFunction.apply(given, 0, 0, False)) is expected
            torch.testing.assert_close(output.as_subclass(torch.Tensor), functional.max_pool2d(x, 2))


def test_meta_and_fake_tensors(route: str) -> None:
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    output, indices = pool(torch.empty(1, 2, 4, 4, device="meta"))
    assert output.is_meta and indices.is_meta and output.shape == (1, 2, 2, 2)
    mode = FakeTensorMode()
    fake = mode.from_tensor(torch.randn(1, 2, 4, 4))
    assert isinstance(pool(fake)[0], FakeTensor)


def test_inference_mode(route: str) -> None:
    with torch.inference_mode():
        assert all(t.is_inference() for t in pool(torch.randn(1, 2, 4, 4)))
    assert not any(t.is_inference() for t in pool(torch.randn(1, 2, 4, 4)))


def test_the_default_device_and_type_have_no_effect(route: str) -> None:
    x = torch.randn(1, 2, 4, 4)
    with torch.device("meta"):
        output, _ = pool(x)
    assert output.device == torch.device("cpu") and output.dtype is torch.float32
    torch.testing.assert_close(output, functional.max_pool2d(x, 2))


def test_an_allocation_that_fails_is_an_error_of_the_call(route: str) -> None:
    x = torch.randn(1, 1, 2, 2)
    pad = 1 << 24  # 4 PiB
    with pytest.raises(
        ValueError, match=r"SpatialReplicationPadding_updateOutput: output: needs size .* allocated"
    ):
        thnn.SpatialReplicationPaddingFunction.apply(x, pad, pad, pad, pad)
    torch.testing.assert_close(thnn.SpatialReplicationPaddingFunction.apply(x, 0, 0, 0, 0), x)


def test_results_have_one_owner_and_failed_calls_keep_none(route: str) -> None:
    bound = THNN.bind(functions()["SpatialMaxPooling_updateOutput"])
    call = results_of(bound, ".gg" + "." * (len(bound.function.after_state) - 3))
    x = torch.randn(1, 2, 4, 4)
    output, indices = call((x, ALLOCATE, ALLOCATE, 2, 2, 2, 2, 0, 0, False))
    assert sys.getrefcount(output) == sys.getrefcount(indices) == 2
    single = thnn.ThresholdFunction.apply(x, 0, 0, False)
    assert sys.getrefcount(single) == 2
    bound = THNN.bind(functions()["ClassNLLCriterion_updateOutput"])
    nll = results_of(bound, "..s..s.")
    owners = sys.getrefcount(x)
    gc.collect()
    live = sum(type(o) is torch.Tensor for o in gc.get_objects())
    references = sys.getrefcount(ALLOCATE)
    for _ in range(50):
        call((x, ALLOCATE, ALLOCATE, 2, 2, 2, 2, 0, 0, False))
        with pytest.raises(ValueError, match="padW"):
            call((x, ALLOCATE, ALLOCATE, 2, 2, 2, 2, 3, 0, False))
        with pytest.raises(IndexError, match="target"):
            # The results are allocated before the kernel finds the error.
            nll((x[0, 0], torch.full((4,), 9), x[0, 0], True, None, x[0, 0], -100))
    gc.collect()
    assert sum(type(o) is torch.Tensor for o in gc.get_objects()) == live
    assert sys.getrefcount(x) == owners
    assert sys.getrefcount(ALLOCATE) == references


def test_threads_allocate_at_once(route: str) -> None:
    inputs = [torch.randn(1, 2, 4 + 2 * k, 6) for k in range(4)]
    expected = [functional.max_pool2d(x, 2) for x in inputs]

    def work(k: int) -> bool:
        return all(torch.equal(pool(inputs[k % 4])[0], expected[k % 4]) for _ in range(200))

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(8)))


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_gradient_of_a_loss_is_a_factor(route: str, dtype: torch.dtype, value: float) -> None:
    x = torch.randn(3, 4, dtype=dtype, requires_grad=True)
    target = torch.tensor([0, 2, 3])
    factor = torch.tensor(value, dtype=dtype)
    complex_factor = torch.tensor(complex(0, value), dtype=torch.complex64)
    ours = thnn.ClassNLLCriterionFunction.apply(x, target, None, True, -100)
    theirs = functional.nll_loss(x, target)
    for gradient in (factor, *([complex_factor.conj().imag] if dtype is torch.float32 else [])):
        (mine,) = torch.autograd.grad(ours, x, gradient, retain_graph=True)
        (expected,) = torch.autograd.grad(theirs, x, gradient.resolve_neg(), retain_graph=True)
        if value == 0.5:
            torch.testing.assert_close(mine, expected)
        else:
            # An infinite or NaN factor turns the zeros into NaN.
            assert not mine.isfinite().any()


def test_a_given_output_of_another_size_is_resized(route: str) -> None:
    bound = THNN.bind(functions()["SpatialMaxPooling_updateOutput"])
    call = results_of(bound, ".gg" + "." * (len(bound.function.after_state) - 3))
    x, output = torch.randn(1, 2, 4, 4), torch.empty(0)
    result, _ = call((x, output, ALLOCATE, 2, 2, 2, 2, 0, 0, False))
    assert result is output
    torch.testing.assert_close(output, functional.max_pool2d(x, 2))


def test_dispatch_modes_that_replace_new_tensors(route: str) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Replaced(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            return result.as_subclass(Subclass) if "empty" in str(func) else result

    x = torch.randn(1, 2, 4, 4)
    with Replaced():
        output = pool(x)[0]
    torch.testing.assert_close(output.as_subclass(torch.Tensor), functional.max_pool2d(x, 2))
