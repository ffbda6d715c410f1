"""Written by `python -m thnn regenerate`."""
