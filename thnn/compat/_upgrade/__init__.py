"""``thnn.compat.upgrade``: the lines of a program for PyTorch 0.1 to 0.3 that need a change on today's torch.

Every rule either changes an expression, where the changed one computes what the program computed in 2017, or writes a
note, where that depends on what the program's text does not show. All other text stays as it is, character for
character.
"""

from __future__ import annotations

from importlib.util import find_spec

from thnn.compat._upgrade.findings import Upgraded


def check_installed() -> None:
    """NotImplementedError if libcst, which the command needs, is not installed."""
    if find_spec("libcst") is None:
        raise NotImplementedError("thnn.compat.upgrade needs libcst: pip install 'thnn[upgrade]'")


def upgrade(text: str) -> Upgraded:
    """The findings in the text of a program, and the text with the changes that are certain.

    Raises TypeError if text is not a string, NotParsed, a ValueError, if it is not Python 3, and NotImplementedError
    without the package libcst.
    """
    if not isinstance(text, str):
        raise TypeError(f"thnn.compat.upgrade: text: expected a string, got {type(text).__name__}")
    check_installed()
    from thnn.compat._upgrade.rules import apply_rules

    return apply_rules(text)
