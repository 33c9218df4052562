"""Integers that sizes decide but that are not terms, such as ``int(n * 0.7)`` or ``math.isqrt(n)``.

Such an integer is a symbol of its own, with bounds. That is exact as long as it only becomes the size of results, and
the bounds decide all questions and requirements about it. At any other question it is given up: the exploration starts
again, and there the sizes in it become numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.logic.formulas import Formula, at_most, equal
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.paths.runs.indices import Loops


class OpaqueSizes:
    """The opaque integers of one run: equal ones have one symbol."""

    def __init__(self, loops: Loops) -> None:
        self._loops = loops
        self._by_key: dict[Hashable, Symbol] = {}
        self._places: dict[Symbol, Hashable] = {}
        self._origins: dict[Any, tuple[str, Any]] = {}

    def known(self, key: Hashable) -> Symbol | None:
        """Return the symbol of an integer that was made before."""
        return self._by_key.get(key)

    def is_refused(self, place: Hashable) -> bool:
        """Return whether the integers of a place were given up in an earlier run."""
        return bool(self._loops.tries.get(("opaque", place)))

    def add(self, symbol: Symbol, key: Hashable, place: Hashable, origin: tuple[str, Any]) -> None:
        """Add a symbol for an integer."""
        self._by_key[key], self._places[symbol], self._origins[symbol] = symbol, ("opaque", place), origin

    def origin(self, dim: Any) -> tuple[str, Any]:
        """Return what computed an opaque integer; empty for other sizes."""
        return self._origins.get(dim, ("", None))

    def are_in(self, formula: Formula) -> bool:
        """Return whether a formula mentions an opaque integer."""
        return bool(self._places) and any(s in self._places for s in symbols_in(formula))

    def refuse(self, formula: Formula) -> None:
        """Give up the first opaque integer in a formula, if any."""
        for symbol in symbols_in(formula):
            if symbol in self._places:
                self._loops.refuse(self._places[symbol])


def facts(symbol: Symbol, low: Dim, high: Dim | None, is_even: bool) -> Iterator[Formula]:
    """Yield what is known about an opaque integer."""
    yield at_most(low, symbol)
    if high is not None:
        yield at_most(symbol, high)
    if is_even:
        yield equal(modulo(symbol, 2), 0)
