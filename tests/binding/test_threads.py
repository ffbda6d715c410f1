"""Threads, processes, and the floating-point mode. Tests that change the state of a process start a new one."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from new_process import python
from torch import Tensor

import thnn
from thnn.testing.case_runner import CaseRunner
from thnn.testing.cases import cases
from thnn.testing.cases.makers import normal
from thnn.testing.cases.model import SampleInput

# --- the same bits --------------------------------------------------------------------------------------------

VECTORS = {name: normal(67) for name in ("weight", "bias", "running_mean", "running_var")}

# Sizes that do not divide evenly into any number of parts.
UNEVEN = {
    **{
        name: {"input": normal(5, 67, 41, 37), "momentum": 0.1, "eps": 1e-5, "train": True, **VECTORS}
        for name in ("BatchNormalization", "BatchNormalizationReLU")
    },
    "BatchNormalization_statistics": {"input": normal(5, 67, 41, 37)},
    **{
        f"BatchNormalization_{phase}": {
            "input": normal(5, 67, 41, 37),
            "weight": normal(67),
            "bias": normal(67),
            "save_mean": normal(67),
            "save_std": normal(67),
            "relu": True,
            "limit": 1.0,
            **more,
        }
        for phase, more in {
            "normalize": {},
            "gradSums": {"gradOutput": normal(5, 67, 41, 37)},
            "gradInput": {"gradOutput": normal(5, 67, 41, 37), "sums": normal(134), "count": 7585.0},
        }.items()
    },
    "SpatialConvolutionMM": {
        "input": normal(3, 13, 61, 59),
        "weight": normal(29, 13, 3, 5),
        "bias": normal(29),
    },
    "Linear": {"input": normal(613, 331), "weight": normal(257, 331), "bias": normal(257)},
    "SpatialMaxPooling": {"input": normal(3, 37, 61, 83)},
    "SpatialAveragePooling": {"input": normal(3, 37, 61, 83)},
    "SoftMax": {"input": normal(3, 37, 61, 53)},
    "LogSoftMax": {"input": normal(1013, 331)},
    "ClassNLLCriterion": {"input": normal(30011, 7)},
    "MSECriterion": {"input": normal(300007), "target": normal(300007)},
    "Tanh": {"input": normal(3, 331, 307)},
}


@pytest.mark.parametrize("module", UNEVEN)
@pytest.mark.parametrize("layout", ["contiguous", "channels-last"])
def test_bits_do_not_depend_on_threads(module: str, layout: str) -> None:
    case = cases()[module]
    given = {**case.samples[0].arguments, **UNEVEN[module]}
    if module == "SpatialConvolutionMM":
        given.update(kW=5, kH=3, padW=2, padH=1, dW=1, dH=1)
    if module == "ClassNLLCriterion":
        given.update(
            target=lambda generator: torch.randint(7, (30011,), generator=generator), weights=normal(7)
        )
    runner = CaseRunner(case, SampleInput("uneven", given), torch.float32)
    if runner.values["input"].dim() != 4 and layout == "channels-last":
        pytest.skip("no images")

    def enter(name: str, tensor: Tensor) -> Tensor:
        last = layout == "channels-last" and tensor.dim() == 4
        return tensor.contiguous(memory_format=torch.channels_last) if last else tensor

    torch.set_num_threads(1)
    expected = runner.run(enter)
    for threads in (2, 3, 5):
        torch.set_num_threads(threads)
        for key, value in runner.run(enter).items():
            assert torch.equal(value, expected[key]), (key, threads)


# --- the pool -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_one_openmp_runtime_and_no_more_threads_than_set() -> None:
    printed = python(
        *("-W", "error", "-c"),
        """
import os, torch, thnn

def count():
    return len(os.listdir("/proc/self/task"))

x = torch.randn(64, 64, 56, 56)
torch.set_num_threads(1)
before = count()
thnn.ThresholdFunction.apply(x, 0, 0)
thnn.SoftMaxFunction.apply(x)
assert count() == before, "one thread was asked for"
torch.set_num_threads(3)
thnn.ThresholdFunction.apply(x, 0, 0)
assert before < count() <= before + 2, (before, count())
with_thnn = count()
torch.nn.functional.gelu(x)
assert count() == with_thnn, "torch made a second pool"
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line or "libiomp" in line}
print(len(maps))
""",
    )
    assert printed.split() == ["1"]


def test_threads_that_were_set_before_thnn_is_imported() -> None:
    python(
        *("-W", "error", "-c"),
        """
import os, torch
torch.set_num_threads(1)
import thnn
before = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 1
thnn.TanhFunction.apply(torch.randn(2_000_000))
after = len(os.listdir("/proc/self/task")) if os.path.exists("/proc/self/task") else 1
assert after == before
""",
    )


def test_eight_threads_at_once() -> None:
    """Threads do not mix their results and errors."""
    inputs = [torch.randn(2, 7, 33, 31, generator=torch.Generator().manual_seed(i)) for i in range(8)]
    weights = [torch.randn(5, 7, 3, 3, generator=torch.Generator().manual_seed(i)) for i in range(8)]

    def work(i: int) -> list[Tensor]:
        x, w = inputs[i].clone().requires_grad_(), weights[i].clone().requires_grad_()
        y = thnn.SpatialConvolutionMMFunction.apply(x, w, None, 3, 3, 1, 1, 1, 1)
        mean, var = torch.zeros(5), torch.ones(5)
        y = thnn.BatchNormalizationFunction.apply(y, None, None, mean, var, True, 0.1, 1e-5)
        y = thnn.SpatialMaxPoolingFunction.apply(thnn.TanhFunction.apply(y), 2, 2, 2, 2, 0, 0)
        return [y.detach(), mean, var, *torch.autograd.grad(y.sum(), (x, w))]

    expected = [work(i) for i in range(8)]
    failures: list[BaseException] = []

    def repeat(i: int) -> None:
        try:
            for _ in range(20):
                for value, reference in zip(work(i), expected[i]):
                    assert torch.equal(value, reference)
                with pytest.raises(ValueError, match=r"got shape \(" + ", ".join("1" * (5 + i)) + r"\)"):
                    thnn.SoftMaxFunction.apply(torch.zeros([1] * (5 + i)))
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=repeat, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_other_python_threads_run_while_a_kernel_computes() -> None:
    x = torch.randn(8, 256, 56, 56)
    w = torch.randn(256, 256, 3, 3)
    torch.set_num_threads(1)

    def compute(samples: int) -> None:
        thnn.SpatialConvolutionMMFunction.apply(x[:samples], w, None, 3, 3, 1, 1, 1, 1)

    compute(1)  # the first call defines the class, in Python
    computing = threading.Thread(target=compute, args=(8,))
    computing.start()
    steps = 0
    while computing.is_alive():
        computing.join(1e-3)
        steps += 1
    # A thread that kept the GIL would leave this one a step before the kernel and one after it.
    assert steps > 10


# --- processes ------------------------------------------------------------------------------------------------

FORK = """
import os, sys, warnings
import torch, thnn

torch.set_num_threads(2)
x = torch.randn(16, 64, 56, 56)
expected, output = None, torch.empty_like(x)
if {warm}:
    expected = thnn.SoftMaxFunction.apply(x)
with warnings.catch_warnings():
    # Python 3.12 and later warn about a fork of a process with threads.
    warnings.simplefilter("ignore", DeprecationWarning)
    child = os.fork()
if child == 0:
    # Still set to two threads: torch's own operations would wait for a thread that the child does not have.
    thnn.type2backend[x].SoftMax_updateOutput(0, x, output)
    torch.set_num_threads(1)
    same = torch.allclose(output, torch.softmax(x, 1), atol=1e-6)
    same = same and (expected is None or torch.equal(output, expected))
    leaf = x[:2].clone().requires_grad_()
    thnn.TanhFunction.apply(leaf).sum().backward()
    os._exit(0 if same and torch.allclose(leaf.grad, 1 - torch.tanh(x[:2]) ** 2, atol=1e-6) else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
# The parent is not affected.
again = thnn.SoftMaxFunction.apply(x)
assert expected is None or torch.equal(again, expected)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("warm", [False, True])
def test_a_child_computes_after_fork(warm: bool) -> None:
    python("-W", "error", "-c", FORK.format(warm=warm))


LOADER = """
import sys
import torch, thnn
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        image = torch.full((3, 64, 64), float(index))
        pooled = thnn.SpatialAveragePoolingFunction.apply(image, 2, 2, 2, 2, 0, 0)
        return thnn.TanhFunction.apply(thnn.LeakyReLUFunction.apply(pooled, 0.1) / 12)

if __name__ == "__main__":
    thnn.TanhFunction.apply(torch.randn(1_000_000))  # creates the thread pool of this process
    loader = DataLoader(Images(), batch_size=4, num_workers=1, multiprocessing_context=sys.argv[1])
    batches = torch.cat(list(loader))
    assert batches.shape == (12, 3, 32, 32)
    assert torch.allclose(batches[:, 0, 0, 0], torch.tanh(torch.arange(12.0) / 12), atol=1e-6)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_loader(method: str, tmp_path: Path) -> None:
    """Images are computed with thnn at each access."""
    (tmp_path / "loader.py").write_text(LOADER)
    python(tmp_path / "loader.py", method)


# --- the floating-point mode ----------------------------------------------------------------------------------

MODE = """
import ctypes
import torch

libm = ctypes.CDLL("libm.so.6")
environment = (ctypes.c_uint32 * 8)()

def mode():
    assert libm.fegetenv(environment) == 0
    # x87 control word, and MXCSR without the flags that exceptions leave.
    return environment[0] & 0xffff, environment[7] & ~0x3f

def subnormal():
    return (torch.tensor([1e-40, 3e-45]) * torch.tensor([0.5, 1.0])).tolist()

before, values = mode(), subnormal()
import thnn
assert mode() == before, "import"
for threads in (1, 3):
    torch.set_num_threads(threads)
    x = torch.randn(8, 64, 56, 56, requires_grad=True)
    weight, mean, var = torch.randn(8, 64, 3, 3), torch.zeros(8), torch.ones(8)
    y = thnn.TanhFunction.apply(thnn.SpatialConvolutionMMFunction.apply(x, weight, None, 3, 3, 1, 1, 1, 1))
    thnn.BatchNormalizationFunction.apply(y, None, None, mean, var, True, 0.1, 1e-5).sum().backward()
    assert mode() == before, threads
    assert subnormal() == values
# The threads of the pool, too: the tensor is large enough to be divided among them.
large = torch.full((4_000_000,), 1e-40)
assert torch.equal(thnn.ThresholdFunction.apply(large, 0, 0), large)
assert (large * 0.5 != 0).all()
assert values[0] != 0 and values[1] != 0
"""


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or sys.platform != "linux", reason="looks at MXCSR"
)
def test_the_floating_point_mode_does_not_change() -> None:
    python("-W", "error", "-c", MODE)


def test_flushing_to_zero_is_the_callers_choice() -> None:
    """With torch.set_flush_denormal the kernels run in the caller's mode and do not change it."""
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot")
    try:
        tiny = torch.full((8,), 1e-40)
        assert (tiny * 0.5 == 0).all()
        thnn.TanhFunction.apply(torch.randn(100))
        assert (tiny * 0.5 == 0).all()
    finally:
        torch.set_flush_denormal(False)
    assert (torch.full((8,), 1e-40) * 0.5 != 0).all()


def test_a_sub_interpreter_cannot_import_the_package() -> None:
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(name, reason="this Python has no sub-interpreters")
    code = f"""if True:
        import {name} as interpreters

        try:
            error = interpreters.run_string(interpreters.create(), "import thnn")
        except Exception as raised:
            error = raised
        print(getattr(error, "formatted", error))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError" in done.stdout and "expected the main interpreter" in done.stdout, done
