"""Settings and fixtures of all tests."""

from __future__ import annotations

import importlib.util
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

# Tests run in several processes: a thread that spins while it waits would take the core from another process. The
# OpenMP runtime reads this when torch loads it, and processes that tests start inherit it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# inductor would first compile a test program for each instruction set, and its kernels are not the subject of a test.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "0")

import torch
from built_tree import BuiltTree, build_copy
from hypothesis import HealthCheck, settings

import thnn

# Otherwise the system takes back the memory of each large tensor, and a twentieth of the time is that of page faults.
with suppress(NotImplementedError):  # outside of glibc
    thnn.keep_freed_memory()

# The same examples in every run.
settings.register_profile(
    "thnn",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# Other examples for each seed: `make fuzz`.
settings.register_profile("fuzz", parent=settings.get_profile("thnn"), derandomize=False, print_blob=True)
settings.load_profile("thnn")

# Files with thousands of independent tests, which run in several processes. The tests of any other file share fixtures,
# so they run in one process; the tests of these groups of files, too. The independent tests come last and are handed to
# the processes one at a time, so that all processes end at the same time.
_SPREAD = {
    "test_cases.py",
    "test_numerics.py",
    "test_any_arguments.py",
    "test_any_tensors.py",
    "test_large_sizes.py",
    "test_mistakes.py",
}
_GROUPS = {
    "test_add_a_function.py": "builds",
    "test_packaging.py": "builds",
    "test_reference_cores.py": "reference cores",
    "test_winograd.py": "reference cores",
}

# Folders and files that `make quick` leaves out: they compile, start processes, train, draw many examples, or take
# long for every module.
_SLOW = {
    *("cores", "cuda", "load", "parallel", "tools"),
    *(
        "test_add_a_function.py",
        "test_examples.py",
        "test_own_functions.py",
        "test_torch_page.py",
        "test_onnx.py",
    ),
    *("test_aoti.py", "test_decompositions.py", "test_fake_cuda.py", "test_layers_in_torch.py"),
    "test_backend.py",
    *("test_sync_batch_normalization.py", "test_sync_failures.py", "test_batch_norm_layers.py"),
    *("test_keep_freed_memory.py", "test_memory.py", "test_names.py", "test_threads.py"),
    *(
        "test_header_mutations.py",
        "test_pointwise_lists.py",
        "test_any_arguments.py",
        "test_numerics.py",
        "test_large_sizes.py",
        "test_any_tensors.py",
    ),
    *(
        "test_activations.py",
        "test_normalization.py",
        "test_pooling.py",
        "test_convolutions.py",
        "test_criteria.py",
    ),
    *("test_dependent_classes.py", "test_dependent_layers.py", "test_layers_of_convolution.py"),
}


# torch's release, such as (2, 13).
RELEASE = tuple(int(n) for n in torch.__version__.split(".")[:2])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of `make quick`")
    config.addinivalue_line("markers", "mutants: in `make mutants` only")
    config.addinivalue_line("markers", "needs_torch(release, why): skipped before this release of torch")
    config.addinivalue_line("markers", "lost_in_torch(release, why): skipped from this release of torch on")


def _is_slow(path: Path) -> bool:
    return not _SLOW.isdisjoint((path.name, path.parent.name))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make quick` does not import the slow files."""
    return (config.option.markexpr == "not slow" and _is_slow(collection_path)) or None


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name in _SPREAD)
    for item in items:
        for needed in item.iter_markers("needs_torch"):
            release, why = needed.args
            if tuple(map(int, release.split("."))) > RELEASE:
                item.add_marker(pytest.mark.skip(reason=f"needs torch {release}: {why}"))
        for lost in item.iter_markers("lost_in_torch"):
            release, why = lost.args
            if tuple(map(int, release.split("."))) <= RELEASE:
                item.add_marker(pytest.mark.skip(reason=f"needs torch before {release}: {why}"))
        name = item.path.name
        if _is_slow(item.path):
            item.add_marker(pytest.mark.slow)
        if name not in _SPREAD:
            item.add_marker(pytest.mark.xdist_group(_GROUPS.get(name, name)))


@pytest.fixture(scope="session")
def built_tree(tmp_path_factory: pytest.TempPathFactory) -> BuiltTree:
    return build_copy(*(tmp_path_factory.mktemp(name) for name in ("tree", "poison", "wheel")))


@pytest.fixture
def without_ziglang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the compiler of the extra `compiler`, which `make wheels` installs."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n, *a: None if n == "ziglang" else find_spec(n, *a)
    )


@pytest.fixture
def uninitialized_is_nan() -> Callable[[], AbstractContextManager[None]]:
    """Inside this context, torch fills new tensors of torch.empty with NaN."""

    @contextmanager
    def filled() -> Iterator[None]:
        torch.use_deterministic_algorithms(True)
        try:
            assert torch.empty(3).isnan().all()
            yield
        finally:
            torch.use_deterministic_algorithms(False)

    return filled


@pytest.fixture
def run_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a Python program as its command does, in an empty folder, but in this process, which has imported torch."""

    def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(program), *arguments])
        monkeypatch.syspath_prepend(str(program.parent))
        status = 0
        try:
            runpy.run_path(str(program), run_name="__main__")
        except SystemExit as end:
            status = int(end.code or 0)
        return subprocess.CompletedProcess(sys.argv, status, *capsys.readouterr())

    return run


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """Restores the number of threads, which a test may change."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
