"""Concrete sizes: the requirements on an ``int`` as a dimension. Imports nothing heavy."""

from __future__ import annotations

from operator import index
from typing import Any

from symbcast.errors import DimensionError, SymbcastError

MAX_SIZE = 2**63 - 1
"""The largest size: that of a signed 64-bit integer, which every runtime uses for shapes."""


def check_size(value: int) -> int:
    """Return ``value`` if it is a size, else raise `DimensionError`.

    >>> check_size(0)
    0
    """
    if value < 0:
        raise DimensionError(value, "a size is not negative", "write 0 or a larger integer, or '?' for an unknown size")
    if value > MAX_SIZE:
        raise DimensionError(value, "a size is at most 2**63 - 1", "write a size that fits in 64 bits")
    return value


def index_of(value: Any) -> int | None:
    """Return the integer that a value's ``__index__`` gives; None if it has none.

    Raises `DimensionError` from any error of a user's ``__index__``.
    """
    try:
        return index(value)
    except TypeError:
        return None
    except SymbcastError:
        raise  # a traced size explains why it has no number
    except Exception as error:
        raise DimensionError(value, f"its __index__ raised {type(error).__name__}: {error}") from error
