"""Powers of two of rounded logarithms, as code pads arrays to: ``2 ** ceil(log2(n))``, ``1 << n.bit_length()``."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.core.logic.formulas import at_most

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.paths.values.asker import Asker

ROUNDINGS: dict[str, Literal["floor", "ceil", "trunc", "round"]] = {
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round", "rint": "round",
}  # fmt: skip
"""What Python's and NumPy's functions that round are called here."""
_BINARY = (math.log2, "log2")
"""Binary logarithms: of powers of two they are exact. A quotient of two logarithms is not."""


def power_of_two(path: Asker, exponent: Any, key: Hashable) -> Any:
    """Return 2 to the power of an integer that is at least 0; None if it must become a number.

    For a rounded logarithm of n, or its number of bits, the power is about n: it is 1 for the least n, or else even.
    """
    origin = path.origin(exponent.dim) if hasattr(type(exponent), "dim") else exponent.origin
    about = _about(*origin)
    if about is None:
        return path.opaque(key, 1, None, ("power", exponent))
    n, low, high = about
    if path.ask(at_most(n, 0 if origin[0] == "bits" else 1)):
        return None
    return path.opaque(key, low, high, ("power", exponent), is_even=True)


def _about(way: str, of: Any) -> tuple[Dim, Dim, Dim] | None:
    """Return n of a rounded logarithm or a number of bits, and the bounds of 2 to that power."""
    if way == "bits":  # n < 2**n.bit_length() <= 2*n
        return of, add(of, 1), multiply(2, of)
    if way not in ROUNDINGS or getattr(of, "origin", ("",))[0] != "log" or not _is_binary(of.key):
        return None
    n = of.origin[1].dim if hasattr(type(of.origin[1]), "dim") else None
    if n is None:
        return None
    if way == "ceil":
        return n, n, subtract(multiply(2, n), 1)
    return n, add(floor_divide(n, 2), 1), n


def _is_binary(key: Any) -> bool:
    return type(key) is tuple and key[0] in _BINARY
