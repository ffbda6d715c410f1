"""Installs torch into the environment of this Python: ``python -m tools.install_torch CONSTRAINTS [INDEX]``.

PyPI has torch's build for GPUs only, which is ten times as large as the build for CPUs. Where the CUDA library is not
wanted (cuda.py), torch comes from INDEX, by default PyTorch's index of CPU builds, unless the indexes that pip is
configured for have the CPU build, too. If no index has it, a message says so before pip downloads the other build.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from . import cuda
from .build import BuildError

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
_PATIENCE = 20  # seconds for an answer, with all redirections and names that do not resolve


def pip_arguments(constraints: Path, index: str = "") -> list[str]:
    """The arguments by which pip finds the build of torch that this machine needs.

    `constraints` names the version, as torch==2.13.0; `index` is the URL that the user chose, or "". Raises BuildError
    for a wrong value of THNN_CUDA.
    """
    if index:
        return ["--extra-index-url", index]
    if sys.platform != "linux" or cuda.is_wanted():  # for other systems, PyPI has the CPU build
        return []
    found = re.search(r"^torch==(\S+)", constraints.read_text(encoding="utf-8"), re.MULTILINE)
    version = found[1] if found else ""
    if version and _installed_version() in (version, f"{version}+cpu"):
        return []
    build = f"{version}+cpu"
    public = ["--extra-index-url", CPU_INDEX]
    for arguments in ([], public):
        if build in _offered(arguments):
            return arguments
    print(
        f"torch's CPU build was not found at {CPU_INDEX}: pip takes the GPU build, 3 GB to download and 5.3 GB on the"
        " disk. An index with the CPU build makes it 0.2 GB and 1.6 GB: make setup TORCH_INDEX=URL",
        file=sys.stderr,
    )
    return []


def _installed_version() -> str:
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return ""


def _offered(arguments: Sequence[str]) -> str:
    """The versions of torch that pip finds, as it prints them; "" if an index does not answer."""
    pip = [sys.executable, "-m", "pip", "index", "versions", "torch", "--retries", "0", "--timeout", "5"]
    try:
        return subprocess.run([*pip, *arguments], capture_output=True, text=True, timeout=_PATIENCE).stdout
    except subprocess.TimeoutExpired:
        return ""


def main() -> int:
    constraints, *index = sys.argv[1:]
    try:
        arguments = pip_arguments(Path(constraints), *index)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    # Python compiles a module when it imports it; pip would take half a minute to compile all of torch's.
    pip = [sys.executable, "-m", "pip", "install", "--no-compile", "--constraint", constraints]
    return subprocess.run([*pip, *arguments, "torch"]).returncode


if __name__ == "__main__":
    sys.exit(main())
