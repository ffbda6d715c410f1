"""``python -m thnn new``: the files of a new module, which run without changes.

The files of this folder describe a module called NAME; its package is called PACKAGE, which is NAME in lower case
with underscores, and needs the versions RANGE of thnn.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
from pathlib import Path

from thnn._version import __version__

KINDS = ("pointwise", "criterion", "layer", "window")
_FOLDER = Path(__file__).resolve().parent


def write(name: str, kind: str, directory: Path, package: bool, cuda: bool = False) -> list[Path]:
    """Writes the files of a new module of one of KINDS into a directory; returns their paths.

    `package`: a Python package around them, in a separate folder. `cuda`: also a CUDA source, which only the kinds
    layer and window need. Raises ValueError for a name that no module can have, for a package that would have the name
    of another module or a keyword, and for a file that exists.
    """
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name):
        raise ValueError(f"NAME: expected letters and digits beginning with a capital, got {name!r}")
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    files = {
        f"{name}.h": f"{kind}.h",
        f"{name}.c": f"{kind}.c",
        f"{name}_case.py": f"{kind}_case.py",
    }
    if cuda and (_FOLDER / f"{kind}.cu").exists():
        files[f"{name}.cu"] = f"{kind}.cu"
    if package:
        _check_package(name, snake)
        directory = directory / snake
        files = {f"src/{snake}/{target}": source for target, source in files.items()}
        files |= {
            f"src/{snake}/__init__.py": "package_init.py",
            "pyproject.toml": "package.toml",
            "setup.py": "package_setup.py",
            "README.md": "package.md",
            f"test_{name}.py": "package_test.py",
        }
    else:
        files[f"test_{name}.py"] = "loaded_test.py"
    words = {"NAME": name, "PACKAGE": snake, "RANGE": needed_versions(__version__)}
    texts = {
        directory / target: re.sub(
            "|".join(words), lambda found: words[found[0]], (_FOLDER / source).read_text()
        )
        for target, source in files.items()
    }
    for path in texts:
        if path.exists() or path.is_symlink():
            raise ValueError(f"{path} exists; choose another folder with --directory")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [*texts]


def needed_versions(version: str) -> str:
    """The range of thnn versions that a package written by this version works with: up to the next version that may
    change the layout of a C structure, by the rules of CHANGELOG.md."""
    major, minor = map(int, version.split(".")[:2])
    following = f"0.{minor + 1}" if major == 0 else str(major + 1)
    return f"thnn>={version},<{following}"


def _check_package(name: str, package: str) -> None:
    found = importlib.util.find_spec(package)
    # A folder without __init__.py, such as one that an earlier call wrote, has no origin.
    if keyword.iskeyword(package):
        reason = "which is a keyword of Python"
    elif found is not None and found.origin is not None:
        reason = f"which would hide the module {found.origin}"
    else:
        return
    raise ValueError(
        f"NAME: the package of {name} would be called {package}, {reason}; choose another name, such as My{name}"
    )
