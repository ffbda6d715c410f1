"""The folder of compiled libraries, and the removal of files that nobody uses any more."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

# The names of temporary folders and files, which remain if a process is killed.
TEMPORARY = ".thnn-build-"
_UNUSED_DAYS = 30
_DAY = 24 * 3600
# Names in the cache: THNN_CACHE may be a folder with other files. The text of precompiled headers remains: a compiler
# that runs while the precompiled form is removed reads the text.
_FILE = re.compile(r".+-[0-9a-f]{20}\.(?:so|json|model)")
_PRECOMPILED = "headers-*/standard.h.gch"


def cache_folder() -> Path:
    """THNN_CACHE, otherwise thnn in the user's cache folder ($XDG_CACHE_HOME or ~/.cache)."""
    if own := os.environ.get("THNN_CACHE"):
        return Path(own).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "thnn"


def make_cache_folder() -> None:
    """Creates the folder of the cache if there is none. Raises ValueError where that is impossible."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(None, "it is not writable")
    except OSError as error:
        raise ValueError(
            f"thnn.load: the cache {folder} cannot be used ({error.strerror}); set THNN_CACHE to another folder"
        ) from error


def mark_used(path: Path) -> None:
    """Renews the time of a file, by which `trim` sees its use; to be called before the file is read."""
    with suppress(OSError):
        # At most once a day, since a load from the cache writes nothing else.
        if path.stat().st_mtime < time.time() - _DAY:
            os.utime(path)


def trim() -> None:
    """Removes the files of the cache that no process has used for 30 days.

    Other processes may use the cache: they keep a file that they have opened, and compile a missing one again.
    """
    folder, oldest = cache_folder(), time.time() - _UNUSED_DAYS * _DAY
    own = [path for path in folder.glob("*-*") if _FILE.fullmatch(path.name)]
    temporary = [*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"headers-*/{TEMPORARY}*")]
    for path in [*own, *folder.glob(_PRECOMPILED), *temporary]:
        with suppress(OSError):
            if path.lstat().st_mtime >= oldest:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
