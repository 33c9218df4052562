"""The smallest sizes at which a group of tied symbols satisfies or breaks its constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.sizes import MAX_SIZE
from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import Formula, any_of, at_most
from symbcast.core.solver.budget import SAMPLED, evidence_units, reason, share
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.satisfiability.descent import descended
from symbcast.core.solver.satisfiability.ladder import smallest_point
from symbcast.core.solver.satisfiability.samples import bits
from symbcast.core.solver.satisfiability.satisfiability import BEYOND, Questions, beyond
from symbcast.core.solver.sets.size_sets import ALL
from symbcast.core.solver.sets.smallest import GivenUpError, Point, Wanted, cost, least_size

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_FEW_SYMBOLS = 8


class Evidence:
    """Smallest sizes, found by branch and bound or, if its steps do not suffice, by z3.

    ``reason`` explains why the sizes found may not be the smallest.
    """

    def __init__(self, questions: Questions, weights: Mapping[Symbol, int]) -> None:
        self.questions = questions
        self.symbols = questions.symbols
        self.domains = questions.domains
        self.weights = weights
        self.reason = ""

    def satisfying(self, clauses: Sequence[Formula]) -> Point | None:
        """Return the smallest sizes that satisfy the assumptions and at which all clauses hold."""
        if not clauses and not self.questions.assumptions:
            return self._least()
        return self._smallest(self.symbols, [*self.questions.assumptions, *clauses])

    def breaking(self, clauses: Sequence[Formula]) -> Point | None:
        """Return the smallest sizes that satisfy the assumptions and break some clause."""
        if len(self.symbols) > _FEW_SYMBOLS and not self.questions.assumptions:
            # Only the broken clause ties symbols together: all others are least.
            least = self._least()
            found = self._least_broken(clauses, least)
            return None if found is None else {**least, **found}
        return self._smallest(self.symbols, [*self.questions.assumptions, any_of(map(self.questions.negated, clauses))])

    def _least_broken(self, clauses: Sequence[Formula], least: Mapping[Symbol, int]) -> Point | None:
        """Return the cheapest sizes that break a clause, changing only its own symbols; others stay ``least``."""
        order = {s: n for n, s in enumerate(self.symbols)}
        best: Point | None = None
        for clause in clauses:
            own = sorted(symbols_in(clause), key=order.__getitem__)
            found = self._smallest(own, [self.questions.negated(clause)])
            if found is None:
                continue
            # All other symbols cost the same: compare only those of the two clauses.
            concerned = sorted({*own, *(best or ())}, key=order.__getitem__)
            if best is None or self._cost_of(concerned, found, least) < self._cost_of(concerned, best, least):
                best = found
        return best

    def _cost_of(
        self, symbols: Sequence[Symbol], sizes: Mapping[Symbol, int], least: Mapping[Symbol, int]
    ) -> tuple[int, int, tuple[int, ...]]:
        return cost(symbols, {s: sizes[s] if s in sizes else least[s] for s in symbols}, self.weights)

    def _least(self) -> Point:
        return {s: least_size(self.domains.get(s, ALL)) or 0 for s in self.symbols}

    def _smallest(self, symbols: Sequence[Symbol], wanted: Sequence[Formula]) -> Point | None:
        """Return the smallest sizes at which formulas hold, or the smallest known ones if the search is cut short."""
        found = self._smallest_of_any(symbols, wanted)
        if found is None or not beyond(found):
            return found
        # The smallest numbers are no sizes; others, such as some with a 0, may be.
        found = self._smallest_of_any(symbols, [*wanted, *(at_most(s, MAX_SIZE) for s in symbols)])
        if found is not None and not beyond(found):
            return found
        self.reason = self.reason or BEYOND
        return None

    def _smallest_of_any(self, symbols: Sequence[Symbol], wanted: Sequence[Formula]) -> Point | None:
        question = Wanted(symbols, self.domains, wanted, self.weights)
        found: Sequence[Point] = ()
        try:
            with share(evidence_units(len(symbols))):
                return smallest_point(question)
        except GivenUpError as error:
            self.reason = self.reason or self.questions.why_open(wanted)
            found = error.found
        except EffortSpentError:
            self.reason = self.reason or reason()
        return self._smallest_of(question, found)

    def _smallest_of(self, wanted: Wanted, found: Sequence[Point]) -> Point | None:
        """Return the smallest of the known sizes, made smaller one by one."""
        best = min(found, key=wanted.cost, default=None)
        try:
            with share(SAMPLED):
                known = self._sampled(wanted.symbols, wanted.formulas)
                best = min([*known, *found], key=wanted.cost, default=None)
                return None if best is None else descended(wanted, best)
        except EffortSpentError:
            return best

    def _sampled(self, symbols: Sequence[Symbol], wanted: Sequence[Formula]) -> Iterator[Point]:
        """Yield the samples at which formulas hold; smaller sizes may exist, because that was not decided."""
        if tuple(symbols) != self.symbols:
            return
        samples = self.questions.samples
        mask = samples.everywhere
        for formula in wanted:
            mask &= samples.mask(formula)
        for n in bits(mask):
            yield dict(zip(symbols, samples.points[n], strict=True))
