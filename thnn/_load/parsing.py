"""The functions of a header, parsed once: importing the C parser alone takes longer than opening a library."""

from __future__ import annotations

import os
import pickle
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import thnn._header
from thnn._emit import check_supported
from thnn._header import Function, HeaderError, Location
from thnn._load.cache import TEMPORARY, cache_folder, make_cache_folder, mark_used
from thnn._load.recipe import identity


def parse(path: Path) -> tuple[list[Function], str]:
    """The functions of a header, from the cache or parsed, and the SHA-256 of the text that declares them.

    Raises HeaderError, also if there are none.
    """
    code = identity(sorted(Path(thnn._header.__file__).parent.glob("*.py")))
    text = path.read_bytes()
    text_hash = sha256(text).hexdigest()
    key = sha256(b"\0".join((code.encode(), str(path).encode(), text))).hexdigest()[:20]
    kept = cache_folder() / f"{path.stem}-{key}.model"
    mark_used(kept)
    # Unpickling is as safe as opening the libraries beside the file: the folder is the user's own.
    with suppress(Exception):  # a damaged file can raise any error
        found = pickle.loads(kept.read_bytes())
        if isinstance(found, list) and found and all(isinstance(f, Function) for f in found):
            return found, text_hash
    from thnn._header import parse_header

    functions = parse_header(path)
    if path.read_bytes() != text:
        return parse(path)  # it was edited meanwhile
    if not functions:
        raise HeaderError(
            Location(str(path), 1, 1),
            f"the header declares no function; expected a forward such as TH_API void THNN_({path.stem}_updateOutput)"
            "(THNNState *state, THTensor *input, THTensor *output); and its gradients",
        )
    check_supported(path, functions, has_families=False)
    make_cache_folder()
    number, name = tempfile.mkstemp(prefix=TEMPORARY, dir=kept.parent)
    with os.fdopen(number, "wb") as file:
        file.write(pickle.dumps(functions))
    Path(name).replace(kept)
    return functions, text_hash
