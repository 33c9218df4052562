"""Symbols: sizes that are not known, by name or without one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from symbcast.algebra.terms import Atom, interned

# Rising, so that unknowns are ordered by age on every run, from a start of this process's own: an unknown that was
# pickled elsewhere is none of those made here.
_numbers = itertools.count(int.from_bytes(os.urandom(8), "big") << 32)


def next_number() -> int:
    """Return a number that no unknown has yet."""
    return next(_numbers)


class Symbol(Atom):
    """An unknown size: a non-negative integer.

    ``lower`` and ``upper`` bound it (inclusive; None: no upper bound) and ``parity`` is its remainder by 2 where that
    is known. ``number`` tells symbols of one name apart, 0 for the one that text of its name means. ``outside`` is the
    sympy symbol that a user gave for it, None for one of our own.
    """

    is_Symbol: ClassVar[bool] = True  # noqa: N815
    is_Dummy: ClassVar[bool] = False  # noqa: N815
    name: str
    lower: int
    upper: int | None
    parity: int | None
    number: int
    outside: Any
    written: Any = None
    """The sympy symbol that it is shown as, once it was."""

    def __new__(cls, name: str) -> Symbol:
        """Return the size called ``name``."""
        return symbol(name)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.outside is None:
            return symbol, (self.name,)
        from symbcast.algebra.door import from_sympy

        return from_sympy, (self.outside,)

    @property
    def atom_key(self) -> tuple[Any, ...]:
        return (0, self.name, self.number)

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        return 0, None

    def symbols(self) -> Mapping[Symbol, None]:
        """Return the symbol itself."""
        return {self: None}


class UserSymbol(Symbol):
    """A sympy symbol of a user's own, with other assumptions than ours: kept, and shown as it is."""


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


def made_symbol(  # noqa: PLR0913, PLR0917 - all that a symbol is
    kind: type[Symbol], name: str, number: int = 0, lower: int = 0, upper: int | None = None, parity: int | None = None
) -> Symbol:
    """Return a new symbol that is not interned."""
    made = object.__new__(kind)
    made.name, made.number, made.outside = name, number, None
    made.lower, made.upper, made.parity = lower, upper, parity
    return made


def symbol(name: str) -> Symbol:
    """Return the size called ``name``: one object for each name.

    >>> symbol("N") is symbol("N"), symbol("N") + 1
    (True, N + 1)
    """
    made = interned(name, lambda: made_symbol(Symbol, name))
    assert isinstance(made, Symbol)
    return made
