"""Concrete sizes: what an ``int`` must be to be a dimension. Imports nothing heavy."""

from __future__ import annotations

from symbcast.errors import DimensionError

MAX_SIZE = 2**63 - 1
"""The largest size: that of a signed 64-bit integer, which every runtime uses for shapes."""


def check_size(value: int) -> int:
    """Return ``value`` if it is a size, else raise `DimensionError`.

    >>> check_size(0)
    0
    """
    if value < 0:
        raise DimensionError(value, "a size is not negative", "write 0 or more, or '?' for an unknown size")
    if value > MAX_SIZE:
        raise DimensionError(value, "a size is at most 2**63 - 1", "write a size that fits in 64 bits")
    return value
