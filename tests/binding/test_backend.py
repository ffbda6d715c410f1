"""type2backend: keys, methods, and the contract of raw calls."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import torch
from new_process import Program, python
from torch import Tensor

import thnn
from thnn import type2backend
from thnn._binding import library as _library
from thnn._binding.device import device_library


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("torch.FloatTensor", "THNNFloatBackend"),
        ("torch.DoubleTensor", "THNNDoubleBackend"),
        (torch.FloatTensor, "THNNFloatBackend"),
        (torch.DoubleTensor, "THNNDoubleBackend"),
        ("THNNFloatBackend", "THNNFloatBackend"),
        ("THNNDoubleBackend", "THNNDoubleBackend"),
        (torch.float32, "THNNFloatBackend"),
        (torch.float64, "THNNDoubleBackend"),
        ((torch.float32, "cpu"), "THNNFloatBackend"),
        ((torch.float64, torch.device("cpu")), "THNNDoubleBackend"),
        (torch.zeros(1), "THNNFloatBackend"),
        (torch.zeros(1, dtype=torch.float64), "THNNDoubleBackend"),
        (torch.Tensor, "THNNBackend"),
        (torch.nn.Parameter, "THNNBackend"),
    ],
)
def test_keys(key: object, name: str) -> None:
    assert type2backend[key].name == name
    assert type2backend[key] is type2backend[name]
    assert key in type2backend


@pytest.mark.parametrize(
    "key",
    [
        "nonsense",
        torch.complex64,
        torch.zeros(1, dtype=torch.int64),
        3,
        None,
    ],
)
def test_unknown_keys(key: object) -> None:
    assert key not in type2backend
    with pytest.raises(NotImplementedError, match="no backend"):
        type2backend[key]


def test_attribute_access_and_listing() -> None:
    backend = type2backend.THNNFloatBackend
    assert backend is type2backend["torch.FloatTensor"]
    assert "Threshold_updateOutput" in dir(backend)
    assert set(thnn.functions()) <= set(dir(backend))
    assert "THNNFloatBackend" in dir(type2backend)
    names = ["THNNFloatBackend", "THNNDoubleBackend", "THNNHalfBackend", "THNNBFloat16Backend", "THNNBackend"]
    assert list(type2backend)[:5] == names
    with pytest.raises(NotImplementedError, match="Frobnicate_updateOutput"):
        backend.Frobnicate_updateOutput  # noqa: B018


def test_backends_of_the_cuda_library() -> None:
    # The package may have been built with it (make cuda); its backends can be created without a GPU.
    keys = {
        "torch.cuda.HalfTensor": "THCUNNHalfBackend",
        (torch.float32, "cuda"): "THCUNNFloatBackend",
        "THCUNNBFloat16Backend": "THCUNNBFloat16Backend",
    }
    for key, name in keys.items():
        if device_library() is None:
            assert key not in type2backend
            with pytest.raises(NotImplementedError, match="no backend"):
                type2backend[key]
        else:
            assert type2backend[key].name == name
            x = torch.zeros(3)
            with pytest.raises(TypeError, match="CUDA"):
                type2backend[key].Abs_updateOutput(0, x, torch.empty(0))


def test_backends_are_pickled_by_name() -> None:
    for backend in type2backend.values():
        assert pickle.loads(pickle.dumps(backend)) is backend


def test_registered_methods() -> None:
    backend = type2backend["torch.FloatTensor"]
    backend.register_method("Custom_updateOutput", lambda state, x: x + 1)
    try:
        assert backend.Custom_updateOutput(0, 1) == 2
        backend.register_method("Custom_updateOutput", lambda state, x: x + 2)
        assert backend.Custom_updateOutput(0, 1) == 3
    finally:
        del backend.methods["Custom_updateOutput"]
        backend.__dict__.pop("Custom_updateOutput", None)


@pytest.mark.parametrize("state", [0, None, type2backend["torch.FloatTensor"].library_state])
def test_raw_call_fills_and_resizes(state: object) -> None:
    backend = type2backend["torch.FloatTensor"]
    x, y = torch.randn(3, 4), torch.empty(0)
    assert backend.Tanh_updateOutput(state, x, y) is None
    torch.testing.assert_close(y, x.tanh())


def test_output_of_the_right_size_keeps_its_storage_and_strides() -> None:
    backend = type2backend["torch.FloatTensor"]
    x = torch.randn(3, 4)
    base = torch.full((3, 8), 7.0)
    view = base[:, ::2]
    backend.Tanh_updateOutput(0, x, view)
    assert view.data_ptr() == base.data_ptr()
    assert view.stride() == (8, 2)
    torch.testing.assert_close(base[:, ::2], x.tanh())
    assert (base[:, 1::2] == 7).all()


def test_inplace_shares_storage() -> None:
    backend = type2backend["torch.FloatTensor"]
    x = torch.randn(3, 4)
    expected = x.clamp(min=0)
    y = torch.empty(0)
    backend.Threshold_updateOutput(0, x, y, 0, 0, True)
    assert y.data_ptr() == x.data_ptr()
    assert y.shape == x.shape
    torch.testing.assert_close(x, expected)


def test_output_may_be_the_input_itself() -> None:
    backend = type2backend["torch.FloatTensor"]
    x = torch.randn(3, 4)
    expected = x.tanh()
    backend.Tanh_updateOutput(0, x, x)
    torch.testing.assert_close(x, expected)


def test_raw_calls_are_seen_by_autograd() -> None:
    """A raw call writes in place, so it must increment the versions of tensors that a graph may have saved."""
    x = torch.randn(3, requires_grad=True)
    y = torch.randn(3)
    product = (x * y).sum()
    type2backend["torch.FloatTensor"].Tanh_updateOutput(0, torch.randn(3), y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_dispatching_backend() -> None:
    backend = type2backend[type(torch.zeros(1))]
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x = torch.randn(3, dtype=dtype)
        y = torch.empty(0, dtype=dtype)
        backend.Tanh_updateOutput(0, x, y)
        torch.testing.assert_close(y, x.tanh())
    expected = "torch.float32, torch.float64, torch.float16 or torch.bfloat16"
    with pytest.raises(TypeError, match=f"Tanh_updateOutput: input: expected {expected}, got torch.int64"):
        backend.Tanh_updateOutput(0, torch.zeros(3, dtype=torch.int64), torch.empty(0))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1.5, 1, 1, 1, 0, 0, False), TypeError, "kW: expected an integer, got float 1.5"),
        (("2", 1, 1, 1, 0, 0, False), TypeError, "kW: expected an integer, got str '2'"),
        ((1 << 40, 1, 1, 1, 0, 0, False), ValueError, "kW: int 1099511627776 does not fit in 32 bits"),
        ((1, 1, 1, 1, 0, 0, 7), ValueError, "ceil_mode: expected True or False, got int 7"),
        ((1, 1, 1, 1, 0, 0, None), TypeError, "ceil_mode: expected a bool"),
        ((1, 1, 1, 1, 0, 0), TypeError, r"missing a required argument: 'ceil_mode'; it takes \(state, .*"),
    ],
)
def test_bad_scalars(arguments: tuple[object, ...], error: type[Exception], message: str) -> None:
    x, y, i = torch.randn(1, 1, 4, 4), torch.full((2,), 5.0), torch.full((3,), 5)
    with pytest.raises(error, match=message):
        type2backend["torch.FloatTensor"].SpatialMaxPooling_updateOutput(0, x, y, i, *arguments)
    assert (y == 5).all() and (i == 5).all()


def test_negative_views() -> None:
    x = torch.randn(4, dtype=torch.complex64).conj().imag
    assert x.is_neg()
    y = torch.empty(0)
    type2backend["torch.FloatTensor"].Tanh_updateOutput(0, x, y)
    torch.testing.assert_close(y, x.tanh())
    type2backend["torch.FloatTensor"].Threshold_updateOutput(0, x, y, 0, 0, False)
    torch.testing.assert_close(y, x.relu())
    with pytest.raises(TypeError, match="output: is a negative view"):
        type2backend["torch.FloatTensor"].Tanh_updateOutput(0, torch.randn(4), x)
    with pytest.raises(TypeError, match="input: is a negative view"):
        type2backend["torch.FloatTensor"].Threshold_updateOutput(0, x, y, 0, 0, True)


def test_a_gradient_that_is_a_negative_view() -> None:
    a, w = torch.randn(5, requires_grad=True), torch.randn(5, dtype=torch.complex64)
    gradients = []
    for tanh in (thnn.TanhFunction.apply, torch.tanh):
        c = torch.complex(tanh(a), tanh(a))
        gradients += torch.autograd.grad(((c.conj() * w).sum()).abs(), a)
    torch.testing.assert_close(*gradients)


def test_sparse_and_quantized_tensors_are_refused() -> None:
    x = torch.eye(3).to_sparse()
    with pytest.raises(TypeError, match="expected a dense tensor"):
        type2backend["torch.FloatTensor"].Tanh_updateOutput(0, x, torch.empty(0))


def test_a_device_that_the_package_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(2, device="xpu")
        for known, expected in ((("cpu",), "a CPU"), (("cpu", "cuda"), "a CPU or CUDA")):
            monkeypatch.setattr("thnn._binding.arguments.device_types", lambda library, known=known: known)
            with pytest.raises(TypeError, match=f"input: expected {expected} tensor, got one on xpu:0"):
                type2backend["THNNBackend"].Tanh_updateOutput(0, x, x)


@pytest.fixture(params=[_library.BY_CAPSULES, _library.BY_VIEWS], ids=["capsules", "views"])
def without_exchange_api(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tensors come to C as DLPack capsules, as in a torch without the DLPack C exchange API, or as views that Python
    makes."""
    fastest = _library.connect()
    assert _library.connect(request.param) == request.param
    yield
    assert _library.connect() == fastest


def test_without_the_exchange_api(without_exchange_api: None) -> None:
    backend = type2backend["torch.FloatTensor"]
    x = torch.randn(2, 3, 5, 5)
    y, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    backend.SpatialMaxPooling_updateOutput(0, x, y, indices, 2, 2, 2, 2, 0, 0, False)
    torch.testing.assert_close(y, torch.nn.functional.max_pool2d(x, 2))
    v = x.clone().requires_grad_()
    thnn.LeakyReLUFunction.apply(v, 0.1, False).sum().backward()
    torch.testing.assert_close(v.grad, torch.where(x > 0, 1.0, 0.1))
    with pytest.raises(TypeError, match=r"output: expected torch\.float32"):
        backend.Tanh_updateOutput(0, x, torch.empty(0, dtype=torch.float64))
    big = torch.randn(300, 300)
    out = torch.empty(0)
    backend.Tanh_updateOutput(0, big.t(), out)
    torch.testing.assert_close(out, big.t().tanh())


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x[::2, 1:].transpose(1, 3),
        lambda x: x[:, :1],  # a stride that torch changes in a capsule
        lambda x: x.as_strided((2, 3, 1, 1), (9, 1, 99, 77)),
        lambda x: x[:0],
        lambda x: x[0, 0, 0, 0],
        lambda x: torch.complex(x, x).conj().imag,  # a negative view
        lambda x: x.as_subclass(type("Subclass", (torch.Tensor,), {})),
        torch.nn.Parameter,
        lambda x: x.to("meta"),
    ],
    ids=[
        "transposed",
        "one channel",
        "odd strides",
        "empty",
        "scalar",
        "negative",
        "subclass",
        "parameter",
        "meta",
    ],
)
def test_tensors_without_the_exchange_api(
    without_exchange_api: None, make: Callable[[Tensor], Tensor]
) -> None:
    x = make(torch.randn(4, 3, 5, 5))
    y = thnn.TanhFunction.apply(x)
    assert (y.shape, y.stride(), y.is_meta) == (x.shape, torch.empty_like(x).stride(), x.is_meta)
    if not x.is_meta:
        torch.testing.assert_close(y, x.tanh())


def test_wrong_tensors_without_the_exchange_api(without_exchange_api: None) -> None:
    for wrong, message in (
        (torch.eye(3).to_sparse(), "expected a dense tensor"),
        (torch.ones(3, dtype=torch.complex64), "got torch.complex64"),
        (3.0, "expected a tensor"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            thnn.TanhFunction.apply(wrong)


@pytest.mark.slow
def test_capability_is_chosen_by_environment() -> None:
    code = "import thnn, torch; print(thnn.cpu_capability(), thnn.TanhFunction.apply(torch.zeros(2)).sum().item())"
    assert python("-c", code, THNN_CPU_CAPABILITY="default").split() == ["default", "0.0"]


@pytest.mark.slow
def test_unknown_capability_is_refused() -> None:
    result = Program("-c", "import thnn; thnn.type2backend", THNN_CPU_CAPABILITY="avx1024").wait()
    assert result.returncode == 1
    expected = "ValueError: THNN_CPU_CAPABILITY: expected default, avx2, avx512, avx512_bf16 or amx_bf16, got 'avx1024'"
    assert expected in result.stderr


@pytest.mark.slow
def test_invalid_size_of_the_cache_is_refused() -> None:
    for wrong in ("8M", "-1"):
        result = Program("-c", "import thnn; thnn.type2backend", THNN_CACHE_BYTES=wrong).wait()
        assert result.returncode == 1
        assert f"ValueError: THNN_CACHE_BYTES: expected a number of bytes, got '{wrong}'" in result.stderr


_RESULTS = """
import hashlib, torch, thnn
digest = hashlib.sha256()
def see(function, *inputs):
    output = function(*inputs)
    wanted = [i for i in inputs if isinstance(i, torch.Tensor) and i.requires_grad]
    for tensor in (output, *torch.autograd.grad(output, wanted, torch.ones_like(output) * 0.7)):
        digest.update(tensor.detach().contiguous().numpy().tobytes())
for dtype in (torch.float32, torch.float64):
    for layout in (torch.contiguous_format, torch.channels_last):
        for shape in ((4, 3, 40, 52), (3, 16, 9, 31), (2, 70, 14, 14)):
            generator = torch.Generator().manual_seed(0)
            x = torch.randn(shape, generator=generator, dtype=dtype).contiguous(memory_format=layout)
            shifted = torch.empty(x.numel() + 1, dtype=dtype)[1:].as_strided(shape, x.stride()).copy_(x)
            channels = [torch.ones(shape[1], dtype=dtype).requires_grad_() for _ in range(2)]
            for input in (x.requires_grad_(), shifted.requires_grad_()):
                see(thnn.ThresholdFunction(0, 0), input)
                see(thnn.TanhFunction(), input)
                see(thnn.SoftMaxFunction(), input)
                see(thnn.LogSoftMaxFunction(), input)
                for train in (True, False):
                    running = [torch.zeros(shape[1], dtype=dtype), torch.ones(shape[1], dtype=dtype)]
                    see(thnn.BatchNormalizationFunction(*running, train, 0.1, 1e-5), input, *channels)
                see(thnn.SpatialMaxPoolingFunction(3, 3, 2, 2, 1, 1, False), input)
                see(thnn.SpatialMaxPoolingFunction(2, 2, 2, 2, 0, 0, False), input)
                see(thnn.SpatialAveragePoolingFunction(2, 2, 2, 2, 0, 0, False, True), input)
                see(thnn.SpatialAdaptiveAveragePoolingFunction(7, 5), input)
                see(thnn.SpatialAdaptiveMaxPoolingFunction(7, 5), input)
print(digest.hexdigest())
"""

_ODD_BYTES = """
import torch
from thnn.testing.case_runner import CaseRunner
from thnn.testing.cases import cases

def at_odd_byte(value):
    if not isinstance(value, torch.Tensor) or not value.numel():
        return value
    memory = bytearray(1 + value.nbytes)
    moved = torch.frombuffer(memory, dtype=value.dtype, offset=1).view(value.shape).copy_(value)
    assert moved.data_ptr() % 2
    return moved

for module in (
    "Threshold", "SoftMax", "BatchNormalization", "ClassNLLCriterion", "SpatialMaxPooling", "SpatialAveragePooling",
    "SpatialAdaptiveAveragePooling", "SpatialAdaptiveMaxPooling", "SpatialReplicationPadding",
    "SpatialUpSamplingNearest", "SpatialUpSamplingBilinear", "SpatialGridSamplerBilinear", "SpatialConvolutionMM",
):
    case = cases()[module]
    for sample in case.samples[:8]:
        if not sample.differentiable or module == "Threshold" and sample.arguments.get("inplace"):
            continue
        runner = CaseRunner(case, sample)
        expected, made = runner.run(), {}
        for function in runner.functions:
            row = runner.row(function, made, output=lambda key, value: torch.zeros_like(expected[key]))
            row = {name: at_odd_byte(value) for name, value in row.items()}
            runner.call(function, row)
            for key in runner.defined(expected):
                phase, name = key.split(".")
                if phase == function.phase:
                    torch.testing.assert_close(row[name], expected[key], equal_nan=True)
            made = made or {name: row[name] for name in row if f"{function.phase}.{name}" in expected}
print("equal")
"""


@pytest.mark.slow
@pytest.mark.parametrize("capability", ["default", "avx2", "avx512"])
def test_non_temporal_stores(capability: str) -> None:
    """Non-temporal stores give the same results as plain stores. They serve large tensors; THNN_CACHE_BYTES=0 forces
    them on small ones, aligned or not. A tensor that begins at an odd byte lacks the aligned vectors that these
    stores need."""
    results = []
    for size, code in (("0", _RESULTS + _ODD_BYTES), (str(1 << 40), _RESULTS)):
        result = Program("-c", code, THNN_CACHE_BYTES=size, THNN_CPU_CAPABILITY=capability).wait()
        if "does not support" in result.stderr:
            pytest.skip("this CPU has no " + capability)
        assert result.returncode == 0, result.stderr
        results.append(result.stdout)
    assert results[0] == results[1] + "equal\n"
    assert results[1]


@pytest.mark.slow
def test_import_needs_no_library_and_is_quick_to_load() -> None:
    """`import thnn` loads neither torch nor the compiled library nor a parser; a class loads no parser."""
    code = "import sys, thnn; print([m for m in ('thnn._C', 'pycparser', 'torch') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True).stdout
    assert shown == "[]\n"
    code = "import sys, torch, thnn; thnn.type2backend, thnn.ThresholdFunction; print('pycparser' in sys.modules)"
    assert python("-c", code) == "False\n"


@pytest.mark.needs_torch(
    "2.7", "torch.compiler.disable, which imports torch's compiler, takes the place of private names"
)
def test_conversion_needs_no_compiler() -> None:
    """torch's compiler takes a second to import."""
    code = (
        "import sys, torch, thnn; from torch import nn\n"
        "thnn.convert(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.ReLU()))\n"
        "print('torch._dynamo' in sys.modules)"
    )
    assert python("-c", code) == "False\n"


def test_partial_overlap_of_strided_views_is_refused_and_interleaving_is_not() -> None:
    backend = type2backend["torch.FloatTensor"]
    line = torch.randn(40)
    with pytest.raises(ValueError, match="must not share memory"):
        backend.Sigmoid_updateOutput(0, line[0:30:2], line[4:34:2])
    plane = torch.randn(3, 12, 12)
    with pytest.raises(ValueError, match="must not share memory"):
        backend.SpatialAveragePooling_updateOutput(
            0, plane[:, 0:9, 0:9], plane[:, 2:9, 2:9], 3, 3, 1, 1, 0, 0, False, True
        )
    both = torch.randn(2, 6, 5, 5)
    expected = both[:, :3].sigmoid()
    backend.Sigmoid_updateOutput(0, both[:, :3], both[:, 3:])
    torch.testing.assert_close(both[:, 3:], expected)
    line = torch.randn(40)
    expected = line[::2].sigmoid()
    backend.Sigmoid_updateOutput(0, line[::2], line[1::2])
    torch.testing.assert_close(line[1::2], expected)


def test_one_tensor_for_two_outputs_is_refused() -> None:
    backend = type2backend["torch.FloatTensor"]
    x, same = torch.randn(4, 6), torch.empty(0)
    with pytest.raises(ValueError, match="must not share memory"):
        backend.BatchNormalization_updateOutput(
            0, x, torch.empty(0), None, None, None, None, same, same, True, 0.1, 1e-5
        )
    assert same.shape == (0,)


def test_ellipsis_is_no_tensor() -> None:
    backend = type2backend["torch.FloatTensor"]
    for arguments in ((..., torch.empty(0)), (torch.randn(3), ...)):
        with pytest.raises(TypeError, match="expected a tensor, got ellipsis"):
            backend.Tanh_updateOutput(0, *arguments)


def test_tensors_without_memory_are_refused() -> None:
    backend = type2backend["torch.FloatTensor"]
    freed = torch.randn(5)
    freed.untyped_storage().resize_(0)
    for x, message in ((freed, "has no memory"), (torch._efficientzerotensor(3), r"zero tensor.* clone\(\)")):
        with pytest.raises(TypeError, match=message):
            backend.Tanh_updateOutput(0, x, torch.empty(0))
    with pytest.raises(TypeError, match="expected a tensor on meta, the device of input, got one on cpu"):
        backend.Tanh_updateOutput(0, torch.randn(3, device="meta"), torch.empty(3))


def test_inference_tensors_are_not_changed_outside_of_inference_mode() -> None:
    backend = type2backend["torch.FloatTensor"]
    with torch.inference_mode():
        inferred = torch.empty(0)
    x = torch.randn(3)
    before = x.clone()
    with pytest.raises(ValueError, match=r"output: .*inference"):
        backend.Tanh_updateOutput(0, x, inferred)
    with pytest.raises(ValueError, match=r"output: .*inference"):
        backend.Threshold_updateOutput(0, x, inferred, 0, 0, True)
    assert torch.equal(x, before)


class Rude:
    def __index__(self) -> int:
        raise KeyError("rude")

    __float__ = __index__  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise KeyError("rude")


@pytest.mark.parametrize(
    "value",
    [Rude(), 10**5000, "1", None, [1], float("nan")],
    ids=["rude", "huge", "str", "None", "list", "nan"],
)
def test_any_scalar_is_taken_or_refused_by_name(value: object) -> None:
    backend = type2backend["torch.FloatTensor"]
    x, y, i = torch.randn(1, 1, 4, 4), torch.empty(0), torch.empty(0, dtype=torch.int64)
    with pytest.raises((TypeError, ValueError), match="SpatialMaxPooling_updateOutput: kW"):
        backend.SpatialMaxPooling_updateOutput(0, x, y, i, value, 1, 1, 1, 0, 0, False)
    if not isinstance(value, float):
        with pytest.raises((TypeError, ValueError), match="Threshold_updateOutput: threshold"):
            backend.Threshold_updateOutput(0, x, y, value, 0, False)
    with pytest.raises((TypeError, ValueError), match="Threshold_updateOutput: inplace"):
        backend.Threshold_updateOutput(0, x, y, 0, 0, value)


def test_backends_can_be_copied() -> None:
    import copy

    assert copy.deepcopy(type2backend) is type2backend
    assert pickle.loads(pickle.dumps(type2backend)) is type2backend
    with pytest.raises(NotImplementedError, match="no backend"):
        type2backend[(torch.float32, "nonsense")]


def test_a_number_whose_conversion_frees_a_tensor() -> None:
    x, output = torch.randn(1 << 16), torch.empty(1 << 16)

    class Number(int):
        def __float__(self) -> float:
            x.set_(torch.empty(0))  # type: ignore[call-overload]
            return 1.0

    backend = type2backend["torch.FloatTensor"]
    backend.Threshold_updateOutput(0, x, output, Number(0), 0.0, False)
    assert output.shape == x.shape
