"""Which symbols formulas tie together, so that each such set can be looked at by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.logic.formulas import Formula


class Ties:
    """Disjoint sets of symbols, each known by one of them."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.parent: dict[Symbol, Symbol] = {s: s for s in symbols}

    def find(self, symbol: Symbol) -> Symbol:
        parent = self.parent
        while (above := parent[symbol]) is not symbol:
            parent[symbol] = parent[above]
            symbol = above
        return symbol

    def tie(self, formulas: Iterable[Formula]) -> None:
        """Join the symbols of each formula."""
        for formula in formulas:
            first, *others = symbols_in(formula)
            for other in others:
                self.parent[self.find(other)] = self.find(first)

    def sorted(self, formulas: Iterable[Formula]) -> dict[Symbol, list[Formula]]:
        """Return the formulas of each set, by the symbol that it is known by."""
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
