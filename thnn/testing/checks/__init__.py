"""The checks that every function passes.

Each is a function of a case and one of its samples. It raises `Failed` with the call, its result and the expected one.
"""
