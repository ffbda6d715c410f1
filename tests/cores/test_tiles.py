"""The micro-kernels of tiles (AMX), in their emulation: the indices, on processors without tiles, too."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from tests.cores.conftest import ROOT
from thnn._binding.library import cpu_capability

ROWS, COLUMNS, TERMS = 14, 32, 256
DEFINITIONS = ("THNN_ARCH=avx512", "THNN_REAL_IS_FLOAT", "THNN_BFLOAT16_PRODUCTS")


class KRange(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_void_p), ("begin", ctypes.c_int64), ("end", ctypes.c_int64))


@pytest.mark.slow
def test_emulated_tiles(tmp_path: Path) -> None:
    compiler = shutil.which("gcc")
    if compiler is None or cpu_capability() in ("default", "avx2"):
        pytest.skip("needs gcc and AVX-512")
    core = ROOT / "lib" / "THNN"
    library = tmp_path / "tiles.so"
    flags = [
        "-std=gnu11",
        "-O1",
        "-shared",
        "-fPIC",
        "-march=x86-64-v4",
        f"-I{core}",
        f"-I{core / 'generated'}",
    ]
    source = core / "gemm" / "bfloat16" / "tiles.c"
    command = [
        compiler,
        *flags,
        *(f"-D{name}" for name in DEFINITIONS),
        str(source),
        "-lm",
        "-o",
        str(library),
    ]
    subprocess.run(command, check=True)
    names = subprocess.run(
        ["nm", "-D", str(library)], check=True, capture_output=True, text=True
    ).stdout.split()
    functions = [
        ctypes.CDLL(str(library))[next(found for found in names if name in found)]
        for name in ("configureTiles", "tileMicrokernel", "wholeTiles")
    ]
    configure, kernel, whole_tiles = functions
    configure(ROWS)

    a, b = torch.randn(ROWS, 2 * TERMS).bfloat16(), torch.randn(TERMS, COLUMNS, 2).bfloat16()
    offset = torch.arange(TERMS, dtype=torch.int32)
    initial = torch.randn(ROWS, COLUMNS)
    for pointers, adjacent in ((1, 14), (1, 5), (1, 1), (2, 7), (3, 4), (14, 1)):
        rows = pointers * adjacent
        address = (ctypes.c_void_p * pointers)(*(a[r * adjacent].data_ptr() for r in range(pointers)))
        for vectors, begin, end in ((2, 0, TERMS), (2, 16, 64), (1, 32, 48), (1, 0, 0)):
            c = torch.full((ROWS, COLUMNS), 7.0)
            kernel(
                *(pointers, adjacent, vectors),
                *(ctypes.c_void_p(c.data_ptr()), ctypes.c_int64(COLUMNS)),
                *(ctypes.c_void_p(initial.data_ptr()), ctypes.c_int64(COLUMNS)),
                *(address, ctypes.c_int64(TERMS), KRange(offset.data_ptr(), begin, end)),
                *(ctypes.c_void_p(b.data_ptr()), ctypes.c_int64(COLUMNS)),
            )
            x, w = (
                a[:, 2 * begin : 2 * end].double(),
                b[begin:end].double().transpose(1, 2).reshape(-1, COLUMNS),
            )
            expected = torch.full((ROWS, COLUMNS), 7.0, dtype=torch.float64)
            expected[:rows, : 16 * vectors] = (initial.double() + x @ w)[:rows, : 16 * vectors]
            torch.testing.assert_close(c.double(), expected, rtol=1e-5, atol=1e-4)

    configure(16)
    pitch, steps = 70, 2
    pairs = torch.randn(2, 16 * steps, 16, 2).bfloat16()
    for row_tiles, column_tiles, adds, shift in itertools.product((1, 2), (1, 2), (False, True), (0, 3)):
        a = torch.randn(2 * 16 * pitch + shift).bfloat16()
        sums = torch.randn(2, 2, 16, 16)
        exact = sums.double() if adds else torch.zeros(2, 2, 16, 16, dtype=torch.float64)
        for i, j in itertools.product(range(row_tiles), range(column_tiles)):
            left = a[shift:].view(2, 16, pitch)[i, :, : 32 * steps].double()
            exact[i, j] += left @ pairs[j].double().transpose(1, 2).reshape(-1, 16)
        got = sums.clone()
        whole_tiles(
            *(row_tiles, column_tiles),
            *(ctypes.c_void_p(got.data_ptr()), ctypes.c_int64(16), ctypes.c_int64(512), ctypes.c_int64(256)),
            ctypes.c_bool(adds),
            *(ctypes.c_void_p(a[shift:].data_ptr()), ctypes.c_int64(pitch)),
            *(
                ctypes.c_void_p(pairs.data_ptr()),
                ctypes.c_int64(pairs[0].numel() // 2),
                ctypes.c_int64(steps),
            ),
        )
        torch.testing.assert_close(
            got[:row_tiles, :column_tiles].double(), exact[:row_tiles, :column_tiles], rtol=1e-5, atol=1e-4
        )
        assert torch.equal(got[row_tiles:], sums[row_tiles:])
        assert torch.equal(got[:, column_tiles:], sums[:, column_tiles:])
