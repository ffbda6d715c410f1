"""Functions of a header of one's own: compiled, opened and used in the running Python (``thnn.load``)."""
