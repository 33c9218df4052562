"""Sizes as integers: what an integer must be to be one, and the values of our functions at integers and NumPy arrays.

`sympy.lambdify` and `sympy.pycode` name them for `broadcast`, `floordiv`, `mod`, and `compatible`. In arrays, each
element is one value of a size. Where a function has no value, it raises, also if that is so for one element of an
array. In code of a condition it gives NaN there instead, which fulfils no comparison: the condition says where its
terms have values, and NumPy computes all parts of it. Nothing heavy is imported here.
"""

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


_NAN = float("nan")


def size_join(*sizes: Any) -> Any:
    """Return the join of sizes; raise `DimensionError` where two of them differ and neither is 1.

    >>> size_join(1, 3), size_join(0, 1), size_join(1, 1)
    (3, 0, 1)
    """
    joined: Any = 1
    for size in sizes:
        clashes = (joined != size) & (joined != 1) & (size != 1)
        if _any(clashes):
            raise DimensionError(f"broadcast{sizes}", "two sizes differ and neither is 1")
        joined = _where(joined == 1, size, joined)
    return joined


def size_join_or_nan(*sizes: Any) -> Any:
    """Return the join of sizes; NaN where it has no value."""
    joined, clashes = 1, False
    for size in sizes:
        clashes = clashes | ((joined != size) & (joined != 1) & (size != 1))
        joined = _where(joined == 1, size, joined)
    return _where(clashes, _NAN, joined) if _any(clashes) else joined


def size_quotient(dividend: Any, divisor: Any) -> Any:
    """Return a quotient rounded down; raise `ZeroDivisionError` where the divisor is 0.

    >>> size_quotient(7, 2)
    3
    """
    return _not_by_zero(divisor) and dividend // divisor


def size_quotient_or_nan(dividend: Any, divisor: Any) -> Any:
    """Return a quotient rounded down; NaN where the divisor is 0."""
    by = _where(divisor == 0, 1, divisor)
    return _where(divisor == 0, _NAN, dividend // by) if _any(divisor == 0) else dividend // divisor


def size_remainder(dividend: Any, divisor: Any) -> Any:
    """Return a remainder with the sign of the divisor; raise `ZeroDivisionError` where that is 0.

    >>> size_remainder(7, 4)
    3
    """
    return _not_by_zero(divisor) and dividend % divisor


def size_remainder_or_nan(dividend: Any, divisor: Any) -> Any:
    """Return a remainder with the sign of the divisor; NaN where that is 0."""
    by = _where(divisor == 0, 1, divisor)
    return _where(divisor == 0, _NAN, dividend % by) if _any(divisor == 0) else dividend % divisor


def size_compatible(*sizes: Any) -> Any:
    """Return whether the sizes broadcast together.

    >>> size_compatible(1, 3, 3), size_compatible(2, 3)
    (True, False)
    """
    joined: Any = 1
    fits: Any = True
    for size in sizes:
        fits = fits & ((joined == size) | (joined == 1) | (size == 1))
        joined = _where(joined == 1, size, joined)
    return fits


def _any(truths: Any) -> bool:
    return bool(truths.any()) if hasattr(truths, "any") else bool(truths)


def _where(truths: Any, size: Any, other: Any) -> Any:
    if not hasattr(truths, "shape"):
        return size if truths else other
    import numpy as np

    return np.where(truths, size, other)


def _not_by_zero(divisor: Any) -> bool:
    if _any(divisor == 0):
        raise ZeroDivisionError("a size is divided by 0")  # NumPy would give 0 and a warning
    return True
