"""``thnn.keep_freed_memory``, in separate processes, since it cannot be undone."""

from __future__ import annotations

import pytest
from new_process import python

FAULTS = """
import resource, torch
import thnn
if {keep}:
    thnn.keep_freed_memory()
    thnn.keep_freed_memory()
def touch():
    for _ in range(4):
        torch.ones(48 << 20, dtype=torch.uint8)  # above the largest limit that glibc adapts to
for _ in range(8):  # an aligned block fits only into a larger free block: freed neighbours that have merged
    touch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
touch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(keep: bool) -> int:
    return int(python("-c", FAULTS.format(keep=keep)))


def test_freed_memory_serves_later_tensors() -> None:
    kept, returned = _faults(True), _faults(False)
    assert kept <= 16
    assert returned >= 10 * max(kept, 1)


def test_without_mallopt_it_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from thnn import _memory

    class Library:
        def mallopt(self, parameter: int, value: int) -> int:
            return 0

    for library in (object(), Library()):
        monkeypatch.setattr(_memory.ctypes, "CDLL", lambda name, library=library: library)
        with pytest.raises(NotImplementedError, match="keep_freed_memory: expected a C library with mallopt"):
            _memory.keep_freed_memory()
