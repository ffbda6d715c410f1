"""The checks that every function passes.

Each is a function of a case and one of its samples. It raises `Failed` with the call, the result and the expected result.
"""
