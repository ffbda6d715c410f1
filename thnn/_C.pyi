"""The binding, compiled by cffi."""

from typing import Any

ffi: Any
lib: Any
