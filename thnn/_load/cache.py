"""The folder of compiled libraries: which of its files are trusted, and the removal of files that are no longer used.

A library of the cache is code that the process runs. So the folder has to belong to the user of the process, and only
that user may write to it; the same holds for every file that is read from it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

# Temporary folders, which remain if a process is killed.
TEMPORARY = ".thnn-build-"
_UNUSED_DAYS = 30
_DAY = 24 * 3600
# Names in the cache: THNN_CACHE may be a folder with other files. The text of precompiled headers remains: a compiler
# that runs while the precompiled form is removed reads the text.
_FILE = re.compile(r"(?:.+-[0-9a-f]{20}\.(?:so|json|h\.gch)|text-[0-9a-f]{20}\.[ch])")
_NAME = 50  # characters, of up to four bytes each: file systems allow 255 bytes
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """THNN_CACHE, otherwise thnn in the user's cache folder ($XDG_CACHE_HOME or ~/.cache).

    Raises ValueError where ~ cannot be expanded, and for a path that is not UTF-8.
    """
    own = os.environ.get("THNN_CACHE")
    try:
        if own:
            folder = Path(own).expanduser().absolute()
        else:
            folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "thnn"
    except RuntimeError as error:  # no such user, or a user without a home
        raise unusable(Path(own or "~/.cache/thnn"), str(error)) from None
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise unusable(folder, "its path is not UTF-8") from None
    return folder


def unusable(folder: Path, reason: str) -> ValueError:
    """The error for a cache that cannot be used."""
    shown = str(folder).encode(errors="backslashreplace").decode()
    return ValueError(
        f"thnn.load: the cache {shown} cannot be used ({reason}); set THNN_CACHE to another folder"
    )


def cache_file(name: str, key: str, suffix: str) -> Path:
    """The path of a file of the cache; the key distinguishes names with the same beginning."""
    return cache_folder() / f"{name[:_NAME]}-{key}{suffix}"


def check_cache_folder() -> None:
    """Raises ValueError for a cache that belongs to another user, or that others may write to."""
    folder = cache_folder()
    try:
        found = folder.stat()
    except OSError:
        return  # nothing can be read from it
    if found.st_uid != os.geteuid():
        raise unusable(folder, f"it belongs to the user {found.st_uid}, not to {os.geteuid()}")
    if found.st_mode & _WRITABLE_BY_OTHERS:
        raise unusable(folder, f"other users may write to it: chmod go-w {folder}")


def make_cache_folder() -> None:
    """Creates the folder of the cache if there is none. Raises ValueError for one that cannot be used."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(None, "it is not writable")
    except OSError as error:
        raise unusable(folder, error.strerror or str(error)) from error
    check_cache_folder()


def open_file(path: Path) -> BinaryIO:
    """A file of the cache, opened for reading.

    Raises OSError if it is missing, a link, not a regular file, writable by others, or owned by another user (the
    folder may have been writable earlier).
    """
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(opened)
    is_private = found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS
    if not stat.S_ISREG(found.st_mode) or not is_private:
        os.close(opened)
        raise PermissionError(f"{path} is not a file that only this user may write")
    return os.fdopen(opened, "rb")


def read(path: Path) -> bytes:
    """The content of a file of the cache. Raises OSError like `open_file`."""
    with open_file(path) as file:
        return file.read()


def put(file: Path, target: Path) -> None:
    """Moves a finished file to its place in the cache, where it is complete even after a crash of the system."""
    with file.open("rb") as opened:
        os.fchmod(opened.fileno(), 0o600)
        os.fsync(opened.fileno())
    with suppress(OSError):
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)  # os.replace() cannot replace a folder
    file.replace(target)


def keep_text(header: str, source: str) -> tuple[Path, Path]:
    """The texts of a header and a kernel file as files of the cache, named by their content."""
    make_cache_folder()
    texts = header.encode(), source.encode()
    key = sha256(b"\0".join(texts)).hexdigest()[:20]
    paths = cache_file("text", key, ".h"), cache_file("text", key, ".c")
    for path, text in zip(paths, texts):
        mark_used(path)
        try:
            is_kept = read(path) == text
        except OSError:
            is_kept = False
        if not is_kept:
            write(path, text)
    return paths


def write(path: Path, content: bytes) -> None:
    """Writes a file of the cache. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=path.parent) as temporary:
        written = Path(temporary, "file")
        written.write_bytes(content)
        put(written, path)


def mark_used(path: Path) -> None:
    """Updates the time of a file, which tells `trim` that it is in use; call it before the file is read."""
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
    for path in [*own, *folder.glob(f"{TEMPORARY}*")]:
        with suppress(OSError):
            if path.lstat().st_mtime >= oldest:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
