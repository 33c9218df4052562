"""Sizes for calls of a path, as different from each other as its conditions allow.

Equal sizes hide mistakes: a result that holds at (2, 2) may fail at (2, 3). So the search starts from preferred sizes,
which are pairwise different, and repairs them: while a condition is violated, one of its sizes is changed to the value
that leaves the fewest conditions violated (min-conflicts; Minton et al., 1992). It needs no solver, and its effort is
limited: if it finds nothing, the caller falls back on sizes that are known to be on the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING

from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.evaluation.equations import solved_for
from symbcast.core.solver.evaluation.evaluation import holds_at, value_at
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula

MAX_REPAIRS = 12
"""How many sizes are changed before the search gives up."""
MAX_TRIED = 10
"""A repair tries sizes up to this; larger ones only if they come from a condition or from the path's own sizes."""
DIFFERENT = (2, 3, 5, 7, 4, 6, 8, 9)
"""The preferred sizes, in order: all different, and none of the first four divides another."""
OTHERS = (6, 4, 9, 10, 8, 12, 14, 15)
"""Other preferred sizes: composite ones, so that a quotient which is right at a prime may be wrong here."""


class Condition:
    """A formula and its symbols, with cached values.

    All searches start from the same sizes, so most evaluations repeat earlier ones.
    """

    __slots__ = ("_known", "_order", "formula", "symbols")

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self._order = tuple(symbols_in(formula))
        self.symbols = frozenset(self._order)
        self._known: dict[tuple[int, ...], bool] = {}

    def holds(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether the formula holds at some sizes."""
        sizes = tuple([at[s] for s in self._order])
        found = self._known.get(sizes)
        if found is None:
            found = self._known[sizes] = holds_at(self.formula, at)
        return found


class Points:
    """A search for sizes of some symbols.

    Attributes:
        symbols: the sizes to find, in order.
        effort: the number of formulas that may still be evaluated; at 0 the search gives up.
    """

    def __init__(self, symbols: Sequence[Symbol], min_size: int, effort: int) -> None:
        self.symbols = tuple(symbols)
        self.effort = effort
        self._domains = {s: own_set(s, min_size) for s in symbols}
        self._preferred = [self._first(preferred) for preferred in (DIFFERENT, OTHERS)]
        self._wanted = self._preferred[0]

    def _first(self, preferred: Sequence[int]) -> dict[Symbol, int]:
        numbers = chain(preferred, count(max(preferred) + 1))
        found = {}
        for symbol, number in zip(self.symbols, numbers, strict=False):
            domain = self._domains[symbol]
            found[symbol] = number if number in domain else domain.least(2) or domain.least() or 0
        return found

    def near(
        self,
        conditions: Sequence[Condition],
        fixed: Mapping[Symbol, int],
        hand: Mapping[Symbol, int],
        *,
        is_other: bool = False,
    ) -> dict[Symbol, int] | None:
        """Return sizes near the preferred ones at which all conditions hold; None if none are found.

        ``fixed`` sizes are not changed. ``hand`` holds known sizes of a nearby path, which repairs also try.
        ``is_other`` prefers other sizes.
        """
        self._wanted = self._preferred[is_other]
        at = {**self._wanted, **fixed}
        if any(size not in self._domains[s] for s, size in fixed.items()):
            return None
        broken = {c for c in conditions if not self._holds(c, at)}
        seen = {tuple(at.values())}
        for _ in range(MAX_REPAIRS):
            if not broken or self.effort <= 0:
                break
            asked = next(c for c in conditions if c in broken)
            best: tuple[tuple[int, ...], dict[Symbol, int], set[Condition]] | None = None
            for symbol in sorted(asked.symbols - fixed.keys(), key=self.symbols.index):
                for size in self._tried(asked, symbol, at, hand):
                    there = {**at, symbol: size}
                    if tuple(there.values()) in seen or not self._holds(asked, there):
                        continue
                    others = [c for c in conditions if c is not asked and symbol in c.symbols]
                    left = {c for c in broken if symbol not in c.symbols} | {
                        c for c in others if not self._holds(c, there)
                    }
                    cost = self._cost(there, symbol, len(left))
                    if best is None or cost < best[0]:
                        best = cost, there, left
            if best is None:
                return None
            _, at, broken = best
            seen.add(tuple(at.values()))
        return None if broken else at

    def _cost(self, at: Mapping[Symbol, int], changed: Symbol, broken: int) -> tuple[int, ...]:
        """Return the cost of a change: violated conditions, a size below 2, equal sizes, distance to the preferred."""
        size = at[changed]
        equal = len(at) - len(set(at.values()))
        return broken, size < 2, equal, abs(size - self._wanted[changed])

    def _tried(
        self, asked: Condition, symbol: Symbol, at: Mapping[Symbol, int], hand: Mapping[Symbol, int]
    ) -> Iterator[int]:
        domain = self._domains[symbol]
        near = [hand[symbol] + n for n in (0, -1, 1)] if symbol in hand else []
        solved = _solved(asked.formula, symbol, at)
        others = [at[s] for s in asked.symbols if s is not symbol]
        for size in dict.fromkeys([*solved, self._wanted[symbol], *others, *near, *range(MAX_TRIED + 1)]):
            if size >= 0 and size in domain and size != at[symbol]:
                yield size

    def _holds(self, condition: Condition, at: Mapping[Symbol, int]) -> bool:
        self.effort -= 1
        return condition.holds(at)


def _solved(formula: Formula, symbol: Symbol, at: Mapping[Symbol, int]) -> list[int]:
    """Return the value of a symbol if the formula is an equation that can be solved for it."""
    value = solved_for(formula, symbol)
    size = None if value is None else value_at(value.dim(), at)
    return [] if size is None else [size]
