"""Least sizes by z3: each bound is lowered until z3 refutes the next one, so the result is unique.

The models that z3 finds on the way do not matter: fewest zeros, then least weighted sum, then first in order determine
a single point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from symbcast.core.effort import EffortSpentError
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.linear.z3_solver import Satisfiability, Session, on_worker
from symbcast.core.solver.sets.smallest import GivenUpError, Point, Wanted

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula

_GIVEN_UP_AT_MOST = 3


def smallest_point(wanted: Wanted) -> Point | None:
    """Return the smallest sizes, None if there are none; raise `GivenUpError` with the smallest found."""
    formulas = wanted.described()

    def run() -> tuple[Satisfiability, Point]:
        found = _Least(Session(wanted.symbols, formulas), formulas, wanted.weights)
        return found.answer, found.sizes

    answer, sizes = on_worker(run)
    if answer is Satisfiability.UNSATISFIABLE:
        return None
    is_right = bool(sizes) and all(holds_at(f, sizes) for f in formulas)  # z3 gives undefined terms any value
    if answer is Satisfiability.UNKNOWN or not is_right:
        raise GivenUpError(*([sizes] if is_right else []))
    return sizes


class _Least:
    """The search for a least model: ``sizes`` are the least if the answer is satisfiable, otherwise the least found."""

    def __init__(self, session: Session, formulas: Sequence[Formula], weights: Mapping[Symbol, int]) -> None:
        self.session = session
        self._formulas = formulas
        self.weights = {s: weights[s] for s in session.symbols}
        self.sizes: Point = {}
        self._lowest = 0
        self._gave_up = 0
        self.answer = self._start()
        if self.answer is not Satisfiability.SATISFIABLE:
            return
        try:
            self._avoid_zeros()
            self._minimise(session.weighted(self.weights), self._sum)
            self._put_in_order()
        except EffortSpentError:
            self.answer = Satisfiability.UNKNOWN

    def _start(self) -> Satisfiability:
        """Find the first sizes: small ones without 0, if z3's optimisation finds any."""
        with suppress(EffortSpentError):
            sizes = self.session.least(self.weights)
            if len(sizes) == len(self.session.symbols) and all(holds_at(f, sizes) for f in self._formulas):
                self.sizes = sizes
                return Satisfiability.SATISFIABLE
        answer = self.session.check()
        if answer is Satisfiability.SATISFIABLE:
            self.sizes = self.session.model()
        return answer

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
        """Find sizes that minimise a cost, then fix the cost; the first sizes found are often the least."""
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
        """Minimise each size in turn, given those before it."""
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
        """Use sizes at which an additional constraint holds, if z3 finds any."""
        answer = self.session.check_beside(wanted)
        if answer is Satisfiability.SATISFIABLE:
            self.sizes = self.session.model()
        elif answer is Satisfiability.UNKNOWN:
            self.answer = answer
            self._gave_up += 1
        return answer is Satisfiability.SATISFIABLE
