"""Python programs in new processes that have imported torch: forks of one process that has done nothing else.

An import of torch takes two seconds of a core. A program whose environment torch reads while it is imported needs
`subprocess`.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
import tempfile
import types
import warnings
from collections.abc import Mapping
from multiprocessing import get_context
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["torch"])


class Program:
    """A running program: `python ARGUMENTS`, where the arguments are -W ACTION, and then -c CODE, -m MODULE or a file,
    with its arguments. It has the environment of this process with the given variables."""

    def __init__(self, *arguments: object, cwd: Path | None = None, **environment: str) -> None:
        self._arguments = [str(argument) for argument in arguments]
        self._folder = tempfile.TemporaryDirectory()
        self._files = [Path(self._folder.name, name) for name in ("out", "err")]
        self._process = _CONTEXT.Process(
            target=_run, args=(self._arguments, self._files, cwd or Path.cwd(), {**os.environ, **environment})
        )
        self._process.start()

    def wait(self, timeout: float = 120) -> CompletedProcess[str]:
        """The exit status and the output. Raises TimeoutExpired, and then ends the program."""
        self._process.join(timeout)
        status = self._process.exitcode
        self.kill()
        with self._folder:
            out, err = (file.read_text() for file in self._files)
        if status is None:
            raise TimeoutExpired(self._arguments, timeout, out, err)
        return CompletedProcess(self._arguments, status, out, err)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def python(*arguments: object, timeout: float = 120, cwd: Path | None = None, **environment: str) -> str:
    """The standard output of a program, which must not fail."""
    done = Program(*arguments, cwd=cwd, **environment).wait(timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _run(arguments: list[str], files: list[Path], cwd: Path, environment: Mapping[str, str]) -> None:
    for descriptor, file in enumerate(files, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    while arguments[0] == "-W":
        _, action, *arguments = arguments
        sys.warnoptions.append(action)
        warnings.simplefilter(action)  # type: ignore[arg-type]
    way, *rest = arguments
    folder = str(cwd) if way in ("-c", "-m") else str(Path(way).parent)
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    try:
        if way == "-c":
            code, *rest = rest
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            sys.argv = ["-c", *rest]
            exec(compile(code, "<string>", "exec"), vars(main))
        elif way == "-m":
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            runpy.run_path(way, run_name="__main__")
    finally:
        atexit._run_exitfuncs()
