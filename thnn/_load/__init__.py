"""Functions of a custom header: compiled, opened and used in the running Python (``thnn.load``)."""
