"""Least sizes by z3: each bound is asked for until the next lesser one is refuted, so that the result is unique.

Which models z3 finds on the way does not show: the sizes with fewest zeros, least weighted sum, first in order, are
one point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.logic.formulas import Formula
from symbcast.core.solver.linear.z3_solver import Satisfiability, Session, on_worker

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_GIVEN_UP_AT_MOST = 3


def least_model(
    symbols: Sequence[Symbol],
    formulas: Sequence[Formula],
    weights: Mapping[Symbol, int],
) -> dict[Symbol, int] | Satisfiability:
    """Return the sizes that satisfy the formulas with least weighted sum, then first in order.

    Returns an `Satisfiability` where there are none, or where it could not be decided.
    """
    answer, sizes = _run(symbols, formulas, weights, few_zeros=False)
    return sizes if answer is Satisfiability.SATISFIABLE else answer


def smallest_model(
    symbols: Sequence[Symbol],
    formulas: Sequence[Formula],
    weights: Mapping[Symbol, int],
) -> tuple[Satisfiability, dict[Symbol, int]]:
    """Return the sizes that satisfy the formulas with fewest zeros, then least weighted sum, then first in order.

    With `Satisfiability.UNKNOWN`, the smallest that were found, if any were.
    """
    return _run(symbols, formulas, weights, few_zeros=True)


def _run(
    symbols: Sequence[Symbol],
    formulas: Sequence[Formula],
    weights: Mapping[Symbol, int],
    *,
    few_zeros: bool,
) -> tuple[Satisfiability, dict[Symbol, int]]:
    def run() -> tuple[Satisfiability, dict[Symbol, int]]:
        found = _Least(Session(symbols, formulas), weights, few_zeros=few_zeros)
        return found.answer, found.sizes

    return on_worker(run)


class _Least:
    """The search for a least model: ``sizes`` are the least where the answer is satisfiable, else the least found."""

    def __init__(self, session: Session, weights: Mapping[Symbol, int], *, few_zeros: bool = False) -> None:
        self.session = session
        self.weights = {s: weights[s] for s in session.symbols}
        self.sizes: dict[Symbol, int] = {}
        self._lowest = 0
        self._gave_up = 0
        self.answer = session.check()
        if self.answer is not Satisfiability.SATISFIABLE:
            return
        self.sizes = session.model()
        if few_zeros:
            self._avoid_zeros()
        self._minimise(session.weighted(self.weights), self._sum)
        self._put_in_order()

    def _sum(self) -> int:
        return sum(w * self.sizes[s] for s, w in self.weights.items())

    def _zeros(self) -> int:
        return sum(w for s, w in self.weights.items() if self.sizes[s] == 0)

    def _avoid_zeros(self) -> None:
        zeros = self.session.zeros(self.weights)
        if self._zeros() == 0 or self._better(zeros == 0):
            for s in self.session.symbols:
                self.session.solver.add(self.session.size(s) >= 1)
            self._lowest = 1
        else:
            self._minimise(zeros, self._zeros)

    def _minimise(self, expression: Any, cost: Callable[[], int]) -> None:
        """Find sizes at which a cost is least, and hold it there; what is found at first is often the least."""
        low, high = 0, cost()
        middle = high - 1
        while low < high and self._gave_up < _GIVEN_UP_AT_MOST:
            if self._better(expression <= middle):
                high = cost()
            else:
                low = middle + 1
            middle = (low + high) // 2
        self.session.solver.add(expression == high)

    def _put_in_order(self) -> None:
        """Make each size in turn as small as those before it let it be."""
        session = self.session
        for symbol in session.symbols:
            if self._gave_up >= _GIVEN_UP_AT_MOST or not self._better(session.earlier(self.sizes)):
                return
            size = session.size(symbol)
            low, high = self._lowest, self.sizes[symbol]
            middle = max(low, high - 1)
            while low < high and self._gave_up < _GIVEN_UP_AT_MOST:
                if self._better(size <= middle):
                    high = self.sizes[symbol]
                else:
                    low = middle + 1
                middle = (low + high) // 2
            session.solver.add(size == high)

    def _better(self, wanted: Any) -> bool:
        """Take sizes at which something more holds, if z3 finds any."""
        answer = self.session.check_beside(wanted)
        if answer is Satisfiability.SATISFIABLE:
            self.sizes = self.session.model()
        elif answer is Satisfiability.UNKNOWN:
            self.answer = answer
            self._gave_up += 1
        return answer is Satisfiability.SATISFIABLE
