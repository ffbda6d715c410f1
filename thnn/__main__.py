"""The command line: ``python -m thnn COMMAND``."""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from thnn._version import __version__

if TYPE_CHECKING:
    from thnn._load.loaded import LoadedModule
    from thnn.compat._upgrade.findings import Upgraded

_ROOT = Path(__file__).resolve().parent.parent


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def _thread_count(text: str) -> int:
    if _count(text) > 1024:
        raise argparse.ArgumentTypeError(f"expected at most 1024 threads, got {text}")
    return int(text)


def _json_file(text: str) -> str:
    """The path after --json, which must end in .json so that a pattern is not mistaken for a path."""
    if text != "-" and not text.endswith(".json"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .json; a pattern must precede --json")
    return text if text == "-" else _output_file(text)


def _output_file(text: str) -> str:
    """The path, if a file can be written there: checked before the measurements, which take minutes."""
    try:
        path = Path(text)
        is_new = not path.exists()
        if not path.is_fifo():  # the reader of a FIFO would see the end of the file
            path.open("ab").close()
        if is_new:
            path.resolve().unlink()  # the path may be a link
    except (OSError, ValueError):
        raise argparse.ArgumentTypeError(f"no file can be written at {text!r}") from None
    return text


# The help of every command that takes names of modules (thnn._header.registry.pattern_of).
_CHOSEN_MODULES = (
    "modules whose name this regular expression matches in part, in any case; a full name means one module"
)


def _parser() -> argparse.ArgumentParser:
    # argv[0] is `thnn` for the console command, and the path of this file for python -m thnn.
    is_command = Path(sys.argv[0]).name == "thnn"
    prog = "thnn" if is_command else "python -m thnn"
    parser = argparse.ArgumentParser(prog=prog, description="thnn from the command line.")
    parser.add_argument("--version", action="version", version=f"thnn {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = commands.add_parser(
        "info", help="print versions, CPU, instruction set, threads and paths, for a bug report"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_info)

    command = commands.add_parser(
        "doctor",
        help="print what this machine lacks for thnn, and the commands that bring it",
        description="Works without torch and without the library. Exit status 1 if something is missing without which"
        " `import thnn`, or with --build a build, fails.",
    )
    command.add_argument(
        "--build", action="store_true", help="only what a build of the source tree needs before `make setup`"
    )
    command.set_defaults(run=_doctor)

    command = commands.add_parser("list", help="list the modules, or the functions and arguments of some")
    command.add_argument(
        "modules",
        nargs="*",
        metavar="REGEX",
        help=f"list functions, arguments and roles of the {_CHOSEN_MODULES}",
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_list, parser=command)

    command = commands.add_parser(
        "check",
        help="check functions against their references: values, gradients, layouts, error inputs",
        description="Runs the table of cases. Exit status 1 when something failed, 2 when no module matches.",
    )
    command.add_argument(
        "modules",
        nargs="*",
        metavar="REGEX",
        help=f"only the {_CHOSEN_MODULES}; or FILE.h: the functions of that header",
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--device",
        default="cpu",
        metavar="DEVICE",
        help="call the functions on this device: cpu (default), cuda",
    )
    command.add_argument(
        "--sanitize",
        action="store_true",
        help="run the functions of FILE.h under AddressSanitizer, or those on a GPU under compute-sanitizer,"
        " in a separate process",
    )
    command.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    command.set_defaults(run=_check, parser=command)

    command = commands.add_parser(
        "bench",
        help="time thnn against torch in one run",
        description="Times the benchmark rows of the table of cases and of whole networks, thnn and torch interleaved. "
        "Exit status 1 when a row misses its goal, 2 when none matches.",
    )
    command.add_argument(
        "pattern",
        nargs="?",
        default="",
        metavar="REGEX",
        help=f"only the rows with such a name, or of the {_CHOSEN_MODULES}; or FILE.h: the rows of its functions",
    )
    command.add_argument(
        "--json",
        nargs="?",
        const="-",
        type=_json_file,
        metavar="FILE.json",
        help="write the measurements to FILE.json, too; without a file print JSON",
    )
    command.add_argument(
        "--plot", type=_output_file, metavar="FILE", help="also draw the ratios into FILE (needs matplotlib)"
    )
    command.add_argument(
        "--markdown", type=_output_file, metavar="FILE", help="also write the table to FILE (needs tabulate)"
    )
    command.add_argument(
        "--device",
        default="cpu",
        metavar="DEVICE",
        help="time the rows of functions and networks on this device: cpu (default), cuda",
    )
    command.add_argument(
        "--threads", type=_thread_count, metavar="N", help="threads of thnn and of torch (default 2)"
    )
    command.add_argument(
        "--rounds",
        type=_count,
        default=15,
        metavar="N",
        help="interleaved blocks per implementation and layout (default 15)",
    )
    command.add_argument(
        "--dtype",
        choices=("bfloat16", "float16"),
        help="time the rows of functions of float32 in this type, on the CPU, against torch in the type and against"
        " thnn in float32 (other); without goals",
    )
    command.add_argument(
        "--no-compile",
        dest="compile",
        action="store_false",
        help="leave out torch.compile, which takes a minute or more per network to compile",
    )
    command.add_argument(
        "--return-freed-memory",
        action="store_true",
        help="leave malloc at its defaults, with which new tensors begin with page faults",
    )
    command.set_defaults(run=_bench, parser=command)

    command = commands.add_parser(
        "new",
        help="write a header, a kernel file, a case and a test of a new module for thnn.load",
        description="The files run as they are; exit status 2 if one of them exists.",
    )
    command.add_argument("name", metavar="NAME", help="the name of the module, such as ScaleShift")
    command.add_argument(
        "--kind",
        choices=("pointwise", "criterion", "layer", "window"),
        default="pointwise",
        help="kind of the module (default pointwise)",
    )
    command.add_argument(
        "--cuda",
        action="store_true",
        help="also write a CUDA source (.cu); the C files of pointwise and criterion serve CUDA tensors as they are",
    )
    command.add_argument("--package", action="store_true", help="write a Python package around the files")
    command.add_argument(
        "--directory", default=".", metavar="DIR", help="folder of the files (default: the current one)"
    )
    command.set_defaults(run=_new, parser=command)

    command = commands.add_parser(
        "upgrade",
        help="list the lines of programs for PyTorch 0.1 to 0.3 that need a change on today's torch",
        description="Prints FILE:LINE and the change, or a note where the program's text does not show what is right."
        " Exit status 2 if a file cannot be read or written, or is not Python 3. Needs libcst (pip install"
        " 'thnn[upgrade]').",
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="a file of Python")
    command.add_argument(
        "--write", action="store_true", help="also make the changes in the files; notes are yours"
    )
    command.set_defaults(run=_upgrade, parser=command)

    command = commands.add_parser(
        "torch-support",
        help="check the functions inside torch.compile, torch.export, torch.func and others; print a table",
        description="Exit status 1 if a check fails; 'no' is a refusal, no failure. All take about 3 minutes.",
    )
    command.add_argument("modules", nargs="*", metavar="REGEX", help=f"check only the {_CHOSEN_MODULES}")
    command.set_defaults(run=_torch_support, parser=command)

    command = commands.add_parser(
        "regenerate",
        help="rewrite the files generated from THNN.h and rebuild the library (in a source tree)",
        description="Writes only files that change. Exit status 1 on any error; the old build then remains. After "
        "an error of nvcc only the CUDA library is old, and everything else is new.",
    )
    command.add_argument(
        "--check", action="store_true", help="only list stale generated files, with the reason"
    )
    command.set_defaults(run=_regenerate)
    return parser


def _facts() -> dict[str, Any]:
    import torch

    from thnn import _C
    from thnn._binding import library as _library
    from thnn._binding.context import connect_context
    from thnn._header.registry import THNN_H_PATH, functions, modules
    from thnn._torch import missing_names

    return {
        "thnn": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _library.cpu_name(),
        "instruction set": _library.cpu_capability(),
        "threads": torch.get_num_threads(),
        "tensors to C": _EXCHANGES[_library.connect()],
        "results": _route(_library.connect_allocation(), "torch.empty_strided"),
        "context": _route(connect_context(), "functions of Python"),
        "missing in torch": _missing(missing_names()),
        "library": str(Path(_C.__file__).with_name("libTHNN.so")),
        "CUDA library": _cuda_library(),
        "binding": _C.__file__,
        "header": THNN_H_PATH,
        "functions": f"{len(functions())} in {len(modules())} modules",
        "THNN_CUDA_EMULATE": os.environ.get("THNN_CUDA_EMULATE", ""),
        "THNN_CPU_CAPABILITY": os.environ.get("THNN_CPU_CAPABILITY", ""),
        "THNN_CACHE_BYTES": os.environ.get("THNN_CACHE_BYTES", ""),
        "THNN_WITHOUT": os.environ.get("THNN_WITHOUT", ""),
        "THNN_WINOGRAD": os.environ.get("THNN_WINOGRAD", ""),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", ""),
    }


# By the values of `thnn._binding.library.connect`.
_EXCHANGES = ("views filled by Python", "DLPack capsules", "DLPack C exchange API")


def _route(is_fast: bool, otherwise: str) -> str:
    return "C functions of libtorch" if is_fast else otherwise


def _missing(names: Mapping[str, str]) -> str:
    """The private names that this torch lacks, grouped by consequence."""
    by_consequence: dict[str, list[str]] = {}
    for name, consequence in names.items():
        by_consequence.setdefault(consequence, []).append(name)
    return (
        "; ".join(f"{', '.join(n)}: {consequence}" for consequence, n in by_consequence.items()) or "nothing"
    )


def _cuda_library() -> str:
    """The path of the CUDA library or of its emulation, with the number of GPUs; or the reason why there is none."""
    import torch

    from thnn._binding.device import EMULATION, device_library

    try:
        library = device_library()
    except ImportError as error:
        return f"cannot be opened: {error}"
    if library is None and EMULATION:
        return "none: the emulation is not built (make emulate)"
    if library is None:
        return "none: thnn was built without CUDA (THNN_CUDA=1 builds with it)"
    return f"{library.path} ({library.capability}; {torch.cuda.device_count()} GPUs)"


def _refuse(options: argparse.Namespace, error: object) -> NoReturn:
    """Ends the program with status 2, after its usage and an error in its arguments."""
    parser: argparse.ArgumentParser = options.parser
    parser.error(str(error))


def _modules(options: argparse.Namespace) -> list[str]:
    """The modules that the command was asked for."""
    from thnn._header.registry import modules_named

    try:
        return modules_named(options.modules)
    except ValueError as error:
        _refuse(options, error)


def _info(options: argparse.Namespace) -> int:
    facts = _facts()
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value or 'not set'}")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from thnn._doctor import doctor

    return doctor(options.build)


def _list(options: argparse.Namespace) -> int:
    from thnn._header.registry import modules

    chosen = [modules()[name] for name in (_modules(options) if options.modules else modules())]
    if options.json:
        tree = {
            m.name: {
                f.name: [
                    {"name": a.name, "type": a.type, "role": a.role, "optional": a.is_optional}
                    for a in f.arguments
                ]
                for f in m.functions.values()
            }
            for m in chosen
        }
        print(json.dumps(tree, indent=2))
        return 0
    if not options.modules:
        width = max(len(m.name) for m in chosen) + 2
        room = (
            shutil.get_terminal_size().columns - width
            if sys.stdout is not None and sys.stdout.isatty()
            else 2**16
        )
        for module in sorted(chosen, key=lambda m: m.name):
            doc = next(f.doc for f in module.functions.values() if f.doc).split("\n\n")[0]
            summary = textwrap.shorten(doc.removeprefix(f"{module.name}: "), room, placeholder=" ...")
            print(f"{module.name:<{width}}{summary}")
        return 0
    for module in chosen:
        print(module.name)
        for function in module.functions.values():
            print(f"  {function.phase}")
            for a in function.arguments:
                print(f"    {a.type:<16}{a.name:<20}{a.role}{', optional' if a.is_optional else ''}")
    return 0


def _check(options: argparse.Namespace) -> int:
    from thnn.testing.check import main

    if options.sanitize and options.device.partition(":")[0] == "cuda":
        from thnn.testing.compute_sanitizer import check_sanitized

        try:
            as_json = ["--json"] if options.json else []
            return check_sanitized([*options.modules, "--device", options.device, *as_json])
        except ValueError as error:
            _refuse(options, error)
    if any(name.endswith(".h") for name in options.modules):
        if len(options.modules) > 1:
            _refuse(options, "expected one header, or modules of thnn")
        if options.sanitize:
            _refuse_options(options, ("json", "device"), "with --sanitize")
        loaded = _load(options.modules[0])
        if loaded is None:
            return 1
        try:
            if options.sanitize:
                with _exit_at_sigterm():
                    return 0 if loaded.check(sanitize=True) else 1
            return main([], options.json, loaded, options.device)
        except (ValueError, NotImplementedError) as error:
            print(error, file=sys.stderr)
            return 1
    if options.sanitize:
        _refuse(
            options, "--sanitize needs a header, or --device cuda; `make sanitize` checks the kernels of thnn"
        )
    names = _modules(options)
    try:
        return main(names, options.json, device=options.device)
    except ValueError as error:
        _refuse(options, error)


def _check_apart(options: argparse.Namespace, given: Sequence[str]) -> int:
    """Checks the functions of a header in a separate process; if a kernel ends it, tells which one."""
    path = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])

    def run(*arguments: str) -> int:
        command = [sys.executable, "-m", "thnn", *arguments]
        with _exit_at_sigterm(), subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}) as process:
            try:
                return process.wait()
            except BaseException:
                process.terminate()  # not kill(), so that the process can end its own children
                raise

    status = run(*given, "--in-this-process")
    if status in (0, 1, 2):  # the checks ran, or the arguments are wrong
        return status
    signals = {s.value: s.name for s in signal.Signals}
    header, name = options.modules[0], signals.get(-status, f"exit status {status}")
    repeats = options.device == "cpu" and not options.json
    print(
        f"{header}: {name} ended the checks; {'again with' if repeats else 'try'} --sanitize", file=sys.stderr
    )
    if repeats:
        run("check", "--sanitize", header)
    return 1


@contextmanager
def _exit_at_sigterm() -> Iterator[None]:
    """Makes SIGTERM raise SystemExit, so that the child process that this one waits for is ended, too."""

    def exit_(number: int, _: object) -> NoReturn:
        sys.exit(128 + number)

    previous = signal.signal(signal.SIGTERM, exit_)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _load(header: str) -> LoadedModule | None:
    """The functions of a header, compiled; None after an error, which is printed."""
    from thnn._load.loaded import load

    try:
        return load(header)
    except (ValueError, NotImplementedError) as error:
        print(error, file=sys.stderr)
        return None


def _new(options: argparse.Namespace) -> int:
    from thnn._load.templates import write

    try:
        written = write(options.name, options.kind, Path(options.directory), options.package, options.cuda)
    except ValueError as error:
        _refuse(options, error)
    for path in written:
        print(f"wrote {path}")
    return 0


def _upgrade(options: argparse.Namespace) -> int:
    from thnn.compat._upgrade import check_installed, upgrade

    try:
        check_installed()
    except NotImplementedError as error:
        _refuse(options, error)
    return max(_upgrade_file(name, options.write, upgrade) for name in options.files)


def _upgrade_file(name: str, writes: bool, upgrade: Callable[[str], Upgraded]) -> int:
    try:
        if name.endswith(".ipynb"):
            raise ValueError("a notebook: `jupyter nbconvert --to script` writes its program to a file")
        data = Path(name).read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        result = upgrade(data.decode(encoding))
        for finding in result.findings:
            print(f"{name}:{finding}")
        mended = result.text.encode(encoding)
        if writes and mended != data:
            _replace(Path(name).resolve(), mended)
            print(f"wrote {name}")
    except BrokenPipeError:  # the reader of the output has closed it
        raise
    except (OSError, SyntaxError, ValueError) as error:  # SyntaxError: an unknown encoding
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 0


def _replace(path: Path, data: bytes) -> None:
    """Replaces the contents of a file, whose mode stays, at once: an error leaves the old ones."""
    with tempfile.TemporaryDirectory(prefix=".upgrade-", dir=path.parent) as folder:
        new = Path(folder, path.name)
        new.write_bytes(data)
        shutil.copymode(path, new)
        new.replace(path)


def _refuse_options(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Ends the program with an error for a given option that has no effect."""
    for name in names:
        if getattr(options, name) != options.parser.get_default(name):
            option = "no-compile" if name == "compile" else name.replace("_", "-")
            _refuse(options, f"--{option} has no effect {why}")


def _refuse_unused_options(options: argparse.Namespace) -> None:
    """Refuses options that have no effect on rows of a header or of another device."""
    if options.device.partition(":")[0] != "cpu":
        _refuse_options(
            options, ("threads", "return_freed_memory", "dtype"), f"with --device {options.device}"
        )
    if options.dtype is not None:
        _refuse_options(options, ("compile",), "with --dtype, which leaves out the networks")
    if options.pattern.endswith(".h"):
        names = ("json", "plot", "markdown", "compile", "return_freed_memory")
        _refuse_options(options, names, "with FILE.h")


def _bench(options: argparse.Namespace) -> int:
    _refuse_unused_options(options)
    from thnn.testing.bench import bench_loaded, main

    options.threads = options.threads or 2
    if options.pattern.endswith(".h"):
        loaded = _load(options.pattern)
        try:
            if loaded is None:
                return 1
            return (
                0
                if bench_loaded(loaded, options.rounds, options.device, options.threads, options.dtype)
                else 1
            )
        except (ValueError, NotImplementedError) as error:
            print(error, file=sys.stderr)
            return 1
    return main(options)


def _torch_support(options: argparse.Namespace) -> int:
    from thnn.testing.torch_support import main

    return main(_modules(options))


def _regenerate(options: argparse.Namespace) -> int:
    if not (_ROOT / "tools" / "regenerate.py").exists():
        print(f"regenerate needs the source tree of thnn; {_ROOT} is not one", file=sys.stderr)
        return 1
    sys.path.insert(0, str(_ROOT))
    from thnn._header import HeaderError
    from tools import regenerate

    try:
        if options.check:
            found = regenerate.stale(regenerate.generate(_ROOT))
            for path, why in found.items():
                print(f"{path.relative_to(_ROOT)} {why}")
            return 1 if found else 0
        regenerate.regenerate(_ROOT)
    except (HeaderError, regenerate.BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given:
        _parser().print_help(sys.stderr)
        return 2
    options = _parser().parse_args(given)
    checks_header = options.run is _check and len(options.modules) == 1 and options.modules[0].endswith(".h")
    if checks_header and not (options.sanitize or options.in_this_process):
        return _check_apart(options, given)
    if options.run not in (_doctor, _list, _new, _regenerate):  # these need neither the library nor torch
        try:
            from thnn._binding import library  # noqa: F401
        except (ImportError, ValueError) as error:
            is_missing = isinstance(error, ModuleNotFoundError) and error.name in ("torch", "cffi")
            hint = "; in a source tree `make setup` installs it into .venv" if is_missing else ""
            print(f"thnn cannot be loaded: {error}{hint}", file=sys.stderr)
            return 1
    try:
        status = int(options.run(options))
        if sys.stdout is not None:  # None if standard output was closed before Python started
            sys.stdout.flush()  # raises errors here rather than when the interpreter exits
        return status
    except OSError as error:
        if sys.stdout is not None:  # redirected, since the interpreter flushes it again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of the output has closed it, as `| head` does
            return 0
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
