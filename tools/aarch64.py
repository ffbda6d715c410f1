"""Cross-compiles the package for aarch64, and runs Python with it under qemu-user:

    python -m tools.aarch64 ARGUMENTS    as ARGUMENTS of Python, such as -m thnn info

build/aarch64 gets Debian's Python (root), torch and the other packages (site), and thnn with its library (package).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .build import BuildError, build

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "build" / "aarch64"

# The commands needed, and the Debian packages that provide them.
PROGRAMS = {
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "qemu-aarch64-static": "qemu-user-static",
    "debootstrap": "debootstrap",
}
SUITE, PYTHON = "bookworm", "3.11"  # a release of Debian, and its Python
CMAKE = (
    "-DCMAKE_SYSTEM_NAME=Linux",
    "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
    "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc",
)

# The last release of torch whose wheel for aarch64 computes on the CPU; later ones need NVIDIA's libraries.
TORCH = "torch==2.9.1"
PACKAGES = (
    *("numpy", "cffi", "pycparser", "typing_extensions", "sympy", "networkx", "jinja2", "filelock", "fsspec"),
    *("pytest", "pytest-xdist", "hypothesis"),
)

# The processor that qemu emulates. torch reads these files; without them it reads the host's.
CPU = "neoverse-n1"
CPU_FILES = {
    "proc/cpuinfo": "".join(
        f"processor\t: {number}\nBogoMIPS\t: 50.00\n"
        "Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop "
        "asimddp\n"
        "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
        for number in range(2)
    ),
    **{
        f"sys/devices/system/cpu/cpu{number}/regs/identification/midr_el1": "0x00000000413fd0c1\n"
        for number in range(2)
    },
}


def make_root(root: Path) -> None:
    """Unpacks Debian's Python for aarch64, without running any of its programs."""
    if (root / f"usr/bin/python{PYTHON}").exists():
        return
    packages = root.with_name("packages")
    as_root = [] if os.geteuid() == 0 else ["fakeroot"]  # debootstrap asks for it, also for a download
    wanted = f"--include=python{PYTHON},libgomp1,libstdc++6"
    _run(
        *as_root,
        "debootstrap",
        "--arch=arm64",
        "--download-only",
        "--variant=minbase",
        wanted,
        SUITE,
        packages,
    )
    new = root.with_name("root.new")
    shutil.rmtree(new, ignore_errors=True)
    for package in sorted((packages / "var/cache/apt/archives").glob("*.deb")):
        _run("dpkg", "-x", package, new)
    for name, text in CPU_FILES.items():
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_text(text, encoding="utf-8")
    new.rename(root)
    shutil.rmtree(packages)


def make_site(site: Path) -> None:
    """Installs the wheels for aarch64 of torch and of the packages that tests need."""
    if site.exists():
        return
    new = site.with_name("site.new")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--target",
        str(new),
        "--python-version",
        PYTHON,
    ]
    for system in ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014"):
        pip += ["--platform", f"{system}_aarch64"]
    pip.append("--only-binary=:all:")
    _run(*pip, "--no-deps", TORCH)  # pip would take the requirements of its wheel for this machine
    _run(*pip, "--constraint", ROOT / "constraints.txt", *PACKAGES)
    new.rename(site)


def make_package(package: Path) -> None:
    shutil.rmtree(package / "thnn", ignore_errors=True)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "thnn", package / "thnn", ignore=ignored)
    for name in ("generic", "VERSION"):
        (package / name).unlink(missing_ok=True)
        (package / name).symlink_to(ROOT / name)
    build(ROOT, package / "thnn", CMAKE, HERE / "cmake")


def python(arguments: Sequence[str]) -> int:
    """Runs Python for aarch64 in the current directory; returns its status."""
    path = [HERE / "package", HERE / "site", ROOT]
    # Spinning idle threads would take time from the others.
    environment = {"PYTHONPATH": os.pathsep.join(map(str, path)), "OMP_WAIT_POLICY": "passive"}
    settings = [word for name, value in environment.items() for word in ("-E", f"{name}={value}")]
    interpreter = HERE / f"root/usr/bin/python{PYTHON}"
    emulator = ["qemu-aarch64-static", "-cpu", CPU, "-L", str(HERE / "root"), *settings]
    return subprocess.run([*emulator, str(interpreter), "-P", *arguments]).returncode


def _run(*command: str | Path) -> None:
    if subprocess.run(command, stdout=sys.stderr).returncode:
        raise BuildError(" ".join(map(str, command)) + " failed")


def main(arguments: Sequence[str]) -> int:
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        raise BuildError(f"programs are missing: apt install {' '.join(missing)}")
    make_root(HERE / "root")
    make_site(HERE / "site")
    make_package(HERE / "package")
    return python(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BuildError as error:
        sys.exit(str(error))
