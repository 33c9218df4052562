"""Groups of symbols that formulas tie together, so that each group can be decided separately."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula


class Ties:
    """Disjoint sets of symbols, each represented by one of them."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.parent: dict[Symbol, Symbol] = {s: s for s in symbols}

    def find(self, symbol: Symbol) -> Symbol:
        parent = self.parent
        while (above := parent[symbol]) is not symbol:
            parent[symbol] = parent[above]
            symbol = above
        return symbol

    def tie(self, formulas: Iterable[Formula]) -> None:
        """Merge the symbols of each formula into one set."""
        for formula in formulas:
            self.tie_all(tuple(symbols_in(formula)))

    def tie_all(self, symbols: Sequence[Symbol]) -> None:
        """Merge some symbols into one set."""
        for other in symbols[1:]:
            self.parent[self.find(other)] = self.find(symbols[0])

    def sorted(self, formulas: Iterable[Formula]) -> dict[Symbol, list[Formula]]:
        """Return the formulas of each set, keyed by the symbol that represents it."""
        found: dict[Symbol, list[Formula]] = {}
        for formula in formulas:
            found.setdefault(self.find(next(iter(symbols_in(formula)))), []).append(formula)
        return found

    def all(self) -> list[tuple[Symbol, list[Symbol]]]:
        """Return the sets, in the order of their first symbols."""
        found: dict[Symbol, list[Symbol]] = {}
        for symbol in self.parent:
            found.setdefault(self.find(symbol), []).append(symbol)
        return list(found.items())


class Group(NamedTuple):
    """Symbols that no formula ties to others, and the formulas about them.

    ``others`` are the assumptions about several of them at once, ``alternatives`` are formulas that need not all hold.
    """

    symbols: tuple[Symbol, ...]
    formulas: list[Formula]
    others: list[Formula]
    alternatives: list[Formula]


def groups(
    symbols: Iterable[Symbol],
    formulas: Sequence[Formula],
    others: Sequence[Formula] = (),
    alternatives: Sequence[Formula] = (),
) -> list[Group]:
    """Return the groups of symbols that formulas or alternatives mention; each of those mentions some symbol.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.logic.formulas import different, equal
    >>> a, b, c = map(symbol, "abc")
    >>> [group.symbols for group in groups([a, b, c], [equal(a, b)], alternatives=[different(a, 1), different(c, 1)])]
    [(a, b), (c,)]
    """
    ties = Ties(symbols)
    for found in (formulas, others, alternatives):
        ties.tie(found)
    about, assumed, any_about = ties.sorted(formulas), ties.sorted(others), ties.sorted(alternatives)
    return [
        Group(tuple(members), about.get(first, []), assumed.get(first, []), any_about.get(first, []))
        for first, members in ties.all()
        if first in about or first in any_about
    ]
