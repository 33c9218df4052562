"""Symbols: sizes that are not known, by name or without one."""

from __future__ import annotations

import itertools
import os
from typing import Any, ClassVar

from symbcast.algebra.terms import Symbol, interned, made_symbol

__all__ = ["Dummy", "Symbol", "Unknown", "UserSymbol", "made_symbol", "next_number", "symbol"]

# Rising, so that unknowns are ordered by age on every run, from a start of this process's own: an unknown that was
# pickled elsewhere is none of those made here.
_numbers = itertools.count(int.from_bytes(os.urandom(8), "big") << 32)


def next_number() -> int:
    """Return a number that no unknown has yet."""
    return next(_numbers)


class UserSymbol(Symbol):
    """A sympy symbol of a user's own, with other assumptions than ours: kept, and shown as it is.

    `symbcast.algebra.door` makes them, and says how they are pickled.
    """


class Dummy(UserSymbol):
    """A sympy dummy of a user's: another size than any of its name."""

    is_Dummy: ClassVar[bool] = True  # noqa: N815


class Unknown(Symbol):
    """A size without a name (``?``, ``2..5``): equal to itself alone.

    The name is the label it is shown by (``?0``); two unknowns with one label are still two sizes.
    """

    is_Dummy: ClassVar[bool] = True  # noqa: N815

    def __new__(cls, label: str = "?", lower: int = 0, upper: int | None = None, number: int | None = None) -> Unknown:
        """Return a new unknown, or the one of a number."""
        number = next_number() if number is None else number
        # The label and bounds too: what was written down elsewhere may number another unknown alike.
        made = interned(
            (Unknown, number, label, lower, upper), lambda: made_symbol(Unknown, label, number, lower, upper)
        )
        assert isinstance(made, Unknown)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Unknown, (self.name, self.lower, self.upper, self.number)

    def renamed(self, label: str) -> Unknown:
        """Return a new, different unknown with the same bounds and another label."""
        return Unknown(label, self.lower, self.upper)


def symbol(name: str) -> Symbol:
    """Return the size called ``name``: one object for each name.

    >>> symbol("N") is symbol("N"), symbol("N") + 1
    (True, N + 1)
    """
    return Symbol(name)
