"""``python -m thnn check --device cuda --sanitize``: the check on a GPU under NVIDIA's compute-sanitizer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from thnn._nvcc import find_programs

PACKAGE = "nvidia-cuda-sanitizer-api"


def check_sanitized(arguments: Sequence[str]) -> int:
    """Runs ``python -m thnn check`` with the arguments under the memcheck tool; returns its exit status.

    The status is 1 if the tool finds an access outside of an allocation, or if a check fails. Calls of CUDA that fail
    are not reported: the check of tensors too large for the memory makes some. torch allocates each tensor separately,
    since an access outside of a tensor may be inside of a block of torch's cache. Raises ValueError if there is no
    compute-sanitizer.
    """
    program = next(find_programs("compute-sanitizer"), None)
    if program is None:
        raise ValueError(
            f"--sanitize needs compute-sanitizer, a part of CUDA's toolkit: pip install {PACKAGE}"
        )
    options = ["--report-api-errors=no", "--error-exitcode=1"]
    command = [program, *options, sys.executable, "-m", "thnn", "check", *arguments]
    return subprocess.run(command, env={**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}).returncode
