"""Symbols: unknown sizes, named or unnamed."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Container, Iterable, Iterator
from typing import Any, ClassVar

from symbcast.core.algebra.terms import Symbol, interned, made_symbol

__all__ = [
    "LABEL",
    "Dummy",
    "Symbol",
    "Unknown",
    "UserSymbol",
    "free_labels",
    "made_symbol",
    "next_number",
    "symbol",
    "told_apart",
]

# Ascending, so that unknowns are ordered by age on every run. The start is random, so that an unknown that was
# pickled in another process differs from all unknowns created here.
_numbers = itertools.count(int.from_bytes(os.urandom(8), "big") << 32)


def next_number() -> int:
    """Return a number that no unknown has so far."""
    return next(_numbers)


class UserSymbol(Symbol):
    """A user's sympy symbol with assumptions other than ours: kept, and shown unchanged.

    `symbcast.core.algebra.door` makes them, and defines how they are pickled.
    """


class Dummy(UserSymbol):
    """A user's sympy dummy: a different size from all others with its name."""

    is_Dummy: ClassVar[bool] = True  # noqa: N815


LABEL = re.compile(r"\?\w+")
"""What an unknown is called: ``?0``, ``?a``."""


class Unknown(Symbol):
    """A size without a name (``?``, ``2..5``): the number identifies it, the name is the label shown for it (``?0``).

    Two unknowns with one label are still two sizes, and an unknown that another question labels differently is the same
    size: see `symbcast.core.program.sizes.names`. ``is_spoken`` means that it exists only as a label in a text,
    and that no caller holds it yet.
    """

    is_Dummy: ClassVar[bool] = True  # noqa: N815
    is_spoken: bool = False

    def __new__(cls, label: str = "?", lower: int = 0, upper: int | None = None, number: int | None = None) -> Unknown:
        """Return a new unknown, or the one with a number."""
        number = next_number() if number is None else number
        # The key includes label and bounds: data written elsewhere may use the number for another unknown.
        return interned(
            (Unknown, number, label, lower, upper), lambda: made_symbol(Unknown, label, number, lower, upper)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Unknown, (self.name, self.lower, self.upper, self.number)

    def renamed(self, label: str) -> Unknown:
        """Return the same unknown with another label."""
        return Unknown(label, self.lower, self.upper, self.number)

    @property
    def is_bounded(self) -> bool:
        """Whether its bounds exclude some sizes."""
        return self.lower > 0 or self.upper is not None

    @property
    def identity(self) -> tuple[int, int, int | None]:
        """The properties that identify the unknown, whatever its label."""
        return self.number, self.lower, self.upper


def free_labels(taken: Container[str], start: int = 0) -> Iterator[str]:
    """Yield the labels that are not taken, from the lowest number on.

    >>> next(free_labels({"?0", "?a"}))
    '?1'
    """
    return (label for n in itertools.count(start) if (label := f"?{n}") not in taken)


def told_apart(unknowns: Iterable[Unknown]) -> dict[Unknown, Unknown]:
    """Return replacements for the unknowns that need another label when they are shown together, in order.

    An unknown has one label, and no two share one: the first unknown to occur keeps its label.

    >>> a, b = Unknown("?0"), Unknown("?0")
    >>> told_apart([a, b]), told_apart([a, a.renamed("?7")])
    ({'?0': '?1'}, {'?7': '?0'})
    """
    found = dict.fromkeys(unknowns)
    kept: dict[tuple[int, int, int | None], Unknown] = {}
    taken: dict[str, Unknown] = {}
    for u in found:
        if u.identity not in kept and LABEL.fullmatch(u.name) and taken.setdefault(u.name, u) is u:
            kept[u.identity] = u
    free = free_labels(taken)
    for u in found:
        if u.identity not in kept:
            kept[u.identity] = u.renamed(next(free))
    return {u: kept[u.identity] for u in found if kept[u.identity] is not u}


def symbol(name: str) -> Symbol:
    """Return the size called ``name``: one object for each name.

    >>> symbol("N") is symbol("N"), symbol("N") + 1
    (True, N + 1)
    """
    return Symbol(name)
