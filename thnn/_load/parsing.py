"""The functions of a header, parsed once: just importing the C parser takes longer than opening a library."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import thnn._header
from thnn._emit import check_supported
from thnn._header import Argument, Function, HeaderError, Location, Size
from thnn._load.cache import (
    cache_file,
    check_cache_folder,
    make_cache_folder,
    mark_used,
    read,
    write,
)
from thnn._load.recipe import identity


def parse(path: Path, shown: str | None = None) -> tuple[list[Function], str]:
    """The functions of a header, from the cache or parsed, and the SHA-256 of the text that declares them.

    Locations have the path, or the name `shown`. Works without the cache if that cannot be used. Raises HeaderError,
    also if there are none, and ValueError for a file that cannot be read.
    """
    name = shown or str(path)
    code = identity(sorted(Path(thnn._header.__file__).parent.glob("*.py")))
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ValueError(f"thnn.load: header: {path} cannot be read ({error.strerror})") from error
    text_hash = sha256(text).hexdigest()
    key = sha256(b"\0".join((code.encode(), name.encode(), text))).hexdigest()[:20]
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):  # none, or a damaged one
        check_cache_folder()
        kept = cache_file(path.stem, key, ".json")
        mark_used(kept)
        return from_json(read(kept)), text_hash
    from thnn._header import parse_header, parse_header_text

    functions = parse_header(path) if shown is None else parse_header_text(text.decode(), shown)
    if path.read_bytes() != text:
        return parse(path, shown)  # the header was edited meanwhile
    if not functions:
        module = path.stem if shown is None else "Module"
        raise HeaderError(
            Location(name, 1, 1),
            f"the header declares no function; expected a forward such as TH_API void THNN_({module}_updateOutput)"
            "(THNNState *state, THTensor *input, THTensor *output); and its gradients",
        )
    check_supported(path, functions, has_families=False)
    with suppress(OSError, ValueError):
        make_cache_folder()
        kept = cache_file(path.stem, key, ".json")
        write(kept, to_json(functions))
    return functions, text_hash


def to_json(functions: Sequence[Function]) -> bytes:
    """The functions as JSON, with everything that a header says about them."""
    return json.dumps([asdict(f) for f in functions]).encode()


def from_json(text: bytes) -> list[Function]:
    """The functions of `to_json`. Raises ValueError, TypeError, KeyError or AttributeError for another text."""
    functions = [_function(**fields) for fields in json.loads(text)]
    if not functions:
        raise ValueError("there is no function")
    return functions


def _function(arguments: Sequence[Any], location: Any, **fields: Any) -> Function:
    return Function(
        arguments=tuple(_argument(**a) for a in arguments), location=Location(**location), **fields
    )


def _argument(size: Any, location: Any, **fields: Any) -> Argument:
    return Argument(size=None if size is None else Size(**size), location=Location(**location), **fields)
