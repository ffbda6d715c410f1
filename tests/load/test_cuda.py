"""thnn.load with CUDA sources, without a GPU: what is compiled, and the errors of a first call with a CUDA tensor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from cube import KERNEL
from torch._subclasses.fake_tensor import FakeTensorMode

import thnn
from thnn._binding.device import device_library
from thnn._load.loaded import LoadedModule
from thnn._nvcc import find_nvcc

Write = Callable[..., Path]
WITHOUT_LINES = KERNEL + "static void __attribute__((unused)) THNN_(nothing)(void) {}\n"


def first_call(own: LoadedModule) -> object:
    """Opens the CUDA library, as a first call with a CUDA tensor does."""
    return device_library(own._library)


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch for CUDA that finds a GPU, on a machine without nvcc."""
    monkeypatch.setattr("thnn._load.cuda.find_nvcc", lambda architectures: None)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))


@pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")
def test_nvcc_compiles_at_the_first_call(
    write: Write, with_gpu: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thnn._load.cuda.find_nvcc", find_nvcc)
    monkeypatch.setattr("thnn._load.cuda.TYPES", ("FLOAT",))  # the others take as long again
    own = thnn.load(write(), verbose=True)
    assert "Cube-cuda" not in capfd.readouterr().err
    first_call(own)
    assert "Cube-cuda: compiling, since it has not been compiled before" in capfd.readouterr().err
    library = device_library(own._library)
    assert library is not None
    assert library.device == "cuda"
    assert not library.missing
    again = thnn.load(own.header, verbose=True)
    first_call(again)
    assert "Cube-cuda" in (text := capfd.readouterr().err)
    assert "compiling" not in text


def test_without_nvcc(write: Write, with_gpu: None) -> None:
    own = thnn.load(write())
    for _ in range(2):
        with pytest.raises(
            NotImplementedError, match=r"need an nvcc for compute capability 80.*==13\.0\.\*'"
        ):
            first_call(own)


def test_without_kernels(write: Write, with_gpu: None) -> None:
    own = thnn.load(write(kernel=WITHOUT_LINES))
    with pytest.raises(NotImplementedError, match=r"no kernels for CUDA tensors.*\(Cube\.cu\)"):
        first_call(own)


@pytest.mark.parametrize("suffix", [".h", ".c", ".cu"])
def test_a_file_that_was_edited_after_the_load(write: Write, with_gpu: None, suffix: str) -> None:
    header = write(kernel=WITHOUT_LINES)
    header.with_suffix(".cu").write_text("")
    own = thnn.load(header)
    with header.with_suffix(suffix).open("a") as file:
        file.write("\n")
    with pytest.raises(ValueError, match=rf"Cube\{suffix} was edited after thnn\.load compiled it; call"):
        first_call(own)


def test_a_cuda_source_without_a_c_file(write: Write) -> None:
    header = write(kernel=None)
    header.with_suffix(".cu").write_text("")
    for sources in (None, header.with_suffix(".cu")):
        with pytest.raises(ValueError, match=r"Cube\.cu: expected a C file, too.*write Cube\.c"):
            thnn.load(header, sources=sources)


def test_an_edit_of_a_cuda_source_makes_a_new_library(write: Write) -> None:
    header = write()
    libraries = {thnn.load(header).library}
    for text in ("", " ", ""):
        header.with_suffix(".cu").write_text(text)
        libraries.add(thnn.load(header).library)
    assert len(libraries) == 3


def test_fake_cuda_tensors_compile_nothing(write: Write, with_gpu: None) -> None:
    own = thnn.load(write())
    with FakeTensorMode():
        x = torch.empty(2, 3, dtype=torch.float16, device="cuda")
        y = own.CubeFunction.apply(x, 2)
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    assert own._library.opened_device_library is None


def test_backends(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    own = thnn.load(write())
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "torch.cuda.HalfTensor" not in own.type2backend
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert "torch.cuda.HalfTensor" in own.type2backend
    assert own.type2backend[torch.bfloat16, "cuda"].name == "THCUNNBFloat16Backend"
    assert own._library.opened_device_library is None
    with pytest.raises(ValueError, match="torch finds no GPU"):
        own.check(device="cuda")


def test_a_package_without_kernel_files(write: Write, with_gpu: None) -> None:
    header = write()
    library = thnn.build_library(header, header.with_name("libcube.so"))
    header.with_suffix(".c").unlink()
    own = thnn.open_library(header, library)
    assert own.CubeFunction.apply(torch.tensor([2.0]), 1).item() == 8
    with pytest.raises(ValueError, match=r"no kernel file beside it \(Cube\.c\)"):
        first_call(own)
