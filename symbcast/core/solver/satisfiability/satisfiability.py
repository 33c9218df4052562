"""Questions about a group of tied symbols, answered by samples, elimination or z3, cheapest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.sizes import MAX_SIZE
from symbcast.core.effort import REASON, EffortSpentError
from symbcast.core.effort import current as current_effort
from symbcast.core.logic.formulas import AllOf, Formula, at_most, different, negate, opened
from symbcast.core.solver import budget
from symbcast.core.solver.answer import RESOURCE_LIMIT, SHORT_LIMIT
from symbcast.core.solver.satisfiability.ladder import is_linear, some_point
from symbcast.core.solver.satisfiability.samples import Samples
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.sets.size_sets import ALL, SizeSet
from symbcast.core.solver.sets.smallest import GivenUpError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_FEW_SYMBOLS = 8
_LONGEST_TEXT = 120
_UNDECIDED_AT_MOST = 30
"""Number of open questions after which to stop asking: each takes a tenth of a second and more."""


BEYOND = "the sizes at which it would hold are larger than 2**63 - 1"


def beyond(sizes: Mapping[Symbol, int]) -> bool:
    """Return whether a number among sizes is larger than a size can be."""
    return max(sizes.values(), default=0) > MAX_SIZE


class Questions:
    """Whether formulas are possible under assumptions on some symbols; ``reason`` says why an answer is undecided."""

    def __init__(
        self,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        assumptions: Sequence[Formula],
        clauses: Sequence[Formula],
    ) -> None:
        self.symbols = tuple(symbols)
        self.assumptions = tuple(assumptions)
        self.domains = {s: domains.get(s, ALL) for s in self.symbols}
        known = (describe(s, sizes) for s, sizes in self.domains.items())
        self.known = [*(f for f in known if f != AllOf(())), *assumptions]
        # What the domains say of divisors, the negation of a quotient need not say.
        self.nonzero = frozenset(
            different(s, 0) for s, sizes in self.domains.items() if sizes is not ALL and 0 not in sizes
        )
        """What the domains say of divisors: so the negation of a quotient need not say it."""
        self.samples = Samples(self.symbols, domains, assumptions, [*assumptions, *clauses])
        self.reason = ""
        self._undecided = 0

    def negated(self, formula: Formula) -> Formula:
        """Return the negation of a formula in these domains."""
        return negate(formula, self.nonzero)

    def opened(self, formula: Formula) -> Formula:
        """Return where a formula holds, or could if a term without a value had one."""
        return opened(formula, self.nonzero)

    def possible(self, formulas: Sequence[Formula], shown: int) -> bool | None:
        """Return whether the formulas can hold under the assumptions; None if undecided.

        ``shown`` are the samples at which they do; z3 is asked only if there are none.
        """
        if shown:
            return True
        return False if self.samples.complete else self.ask(formulas)

    def ask(self, formulas: Sequence[Formula]) -> bool | None:
        """Return the same without consulting the samples."""
        if self._undecided > _UNDECIDED_AT_MOST:
            return None
        try:
            return self._asked(formulas)
        except EffortSpentError:
            self.reason = self.reason or self.why_open(formulas)
            return None

    def _asked(self, formulas: Sequence[Formula]) -> bool | None:
        limit = SHORT_LIMIT if self._undecided else None
        try:
            sizes = some_point(self.symbols, [*self.known, *formulas], limit)
            if sizes is not None and beyond(sizes):
                # Sizes that no tensor has decide nothing: are there others?
                within = [at_most(s, MAX_SIZE) for s in self.symbols]
                sizes = some_point(self.symbols, [*self.known, *formulas, *within], limit)
                if sizes is None:
                    self.reason = self.reason or BEYOND
                    return None
        except GivenUpError:
            self._undecided += 1
            self.reason = self.reason or _why(limit or RESOURCE_LIMIT, formulas)
            return None
        if sizes is not None:
            self.samples.learn(sizes)
        return sizes is not None

    def stopped(self) -> None:
        """Record that effort ran out for the question."""
        self.reason = self.reason or budget.reason()

    def why_open(self, formulas: Sequence[Formula]) -> str:
        """Return the reason for z3 giving up on some formulas."""
        return _why(RESOURCE_LIMIT, formulas)

    def settles(self, formulas: Iterable[Formula]) -> bool:
        """Return whether asking z3 only about nearby symbols suffices: linear formulas, or many symbols."""
        return len(self.symbols) > _FEW_SYMBOLS or all(map(is_linear, [*self.known, *formulas]))

    def learn(self, sizes: Mapping[Symbol, int]) -> None:
        """Add sizes that the solver found to the samples, where they are useful if there are few symbols."""
        if len(self.symbols) <= _FEW_SYMBOLS:
            self.samples.learn(sizes)


def _why(limit: int, formulas: Sequence[Formula]) -> str:
    """Return why a question is undecided: the caller's clock, or the counted limit and the formula that reached it."""
    from symbcast.core.text.printing import formula_text

    spent = budget.current()
    if spent is not None and spent.spent:
        return spent.reason
    hard = next((f for f in reversed(formulas) if not is_linear(f)), formulas[-1] if formulas else AllOf(()))
    text = formula_text(hard)
    shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."
    products = "" if is_linear(hard) else " on products of sizes"
    counter = current_effort()
    if counter is not None and counter.left <= 0:
        return f"{REASON}{products}: {shown}"
    return f"z3 reached its limit of {limit:,} units{products}: {shown}"
