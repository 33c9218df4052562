"""How long the formulas of sizes become in a walk.

A size that depends on a rare case, such as a 0 in the target of a reshape that copies an axis, is written as one
formula: ``q + k - k*min(q, 1)``. Products of these in later nodes grow exponentially with the number of nodes. So a
walk in which sizes with such cases become long is repeated with a name for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

LONG = 24
"""Sizes with more atoms than this are long."""
VERY_LONG = 1_000
"""The longest sizes to accept where names for cases would stay in the answer."""


class TooLongError(Exception):
    """Sizes that depend on cases became long; not an error of the caller, as the walk is repeated in another way."""


def long_ones(dims: Iterable[Dim]) -> list[int]:
    """Return the numbers of atoms of the long sizes among some."""
    return [dim.size for dim in dims if not isinstance(dim, int) and dim.size > LONG]
