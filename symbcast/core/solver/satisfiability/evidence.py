"""The smallest sizes at which a group of tied symbols meets, or breaks, what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.definedness import with_values
from symbcast.core.logic.formulas import AllOf, Formula, all_of, any_of, at_most, equal, negate
from symbcast.core.solver.answer import Satisfiability
from symbcast.core.solver.budget import SAMPLED, evidence_units, reason, share
from symbcast.core.solver.evaluation.evaluation import holds_at, may_be_undefined
from symbcast.core.solver.groups.components import cost, least_size
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.linear.branch_and_bound import OutOfStepsError, Smallest
from symbcast.core.solver.linear.integers import NODES, NotLinearError, smallest_point
from symbcast.core.solver.products import elimination
from symbcast.core.solver.satisfiability.samples import bits
from symbcast.core.solver.satisfiability.satisfiability import Questions
from symbcast.core.solver.sets import smallest as search
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.sets.size_sets import ALL

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_FEW_SYMBOLS = 8


class Evidence:
    """Smallest sizes: by branch and bound, where its steps do not suffice by z3.

    ``reason`` says why those that were found may not be the smallest.
    """

    def __init__(self, questions: Questions, weights: Mapping[Symbol, int]) -> None:
        self.questions = questions
        self.symbols = questions.symbols
        self.domains = questions.domains
        self.weights = weights
        self.reason = ""

    def satisfying(self, clauses: Sequence[Formula]) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and at which all clauses hold."""
        if not clauses and not self.questions.assumptions:
            return self._least()
        return self._smallest(self.symbols, [*self.questions.assumptions, *clauses])

    def breaking(self, clauses: Sequence[Formula]) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and at which some clause does not hold."""
        if len(self.symbols) > _FEW_SYMBOLS and not self.questions.assumptions:
            # Nothing ties symbols together but the clause that is broken: all others are least.
            least = self._least()
            found = self._least_broken(clauses, least)
            return None if found is None else {**least, **found}
        return self._smallest(self.symbols, [*self.questions.assumptions, any_of(map(_broken, clauses))])

    def _least_broken(self, clauses: Sequence[Formula], least: Mapping[Symbol, int]) -> dict[Symbol, int] | None:
        """Return the sizes of its own symbols that break one of the clauses, at the least cost beside ``least``."""
        order = {s: n for n, s in enumerate(self.symbols)}
        best: dict[Symbol, int] | None = None
        for clause in clauses:
            own = sorted(symbols_in(clause), key=order.__getitem__)
            found = self._smallest(own, [_broken(clause)])
            if found is None:
                continue
            # All other symbols cost the same: only those of the two clauses are compared.
            concerned = sorted({*own, *(best or ())}, key=order.__getitem__)
            if best is None or self._cost_of(concerned, found, least) < self._cost_of(concerned, best, least):
                best = found
        return best

    def _cost_of(
        self, symbols: Sequence[Symbol], sizes: Mapping[Symbol, int], least: Mapping[Symbol, int]
    ) -> tuple[int, int, tuple[int, ...]]:
        return cost(symbols, {s: sizes[s] if s in sizes else least[s] for s in symbols}, self.weights)

    def _least(self) -> dict[Symbol, int]:
        return {s: least_size(self.domains.get(s, ALL)) or 0 for s in self.symbols}

    def _smallest(self, symbols: Sequence[Symbol], wanted: Sequence[Formula]) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which formulas hold; where that cannot be told, the smallest known ones."""
        try:
            with share(evidence_units(len(symbols))):
                return self._searched(symbols, wanted)
        except EffortSpentError:
            self.reason = self.reason or reason()
        try:
            with share(SAMPLED):
                known = self._sampled(symbols, wanted)
                return min(known, key=lambda sizes: cost(symbols, sizes, self.weights), default=None)
        except EffortSpentError:
            return None

    def _searched(self, symbols: Sequence[Symbol], wanted: Sequence[Formula]) -> dict[Symbol, int] | None:
        try:
            return Smallest(symbols, self.domains, wanted, self.weights).least()
        except OutOfStepsError:
            pass
        formulas = [*self._described(symbols), *wanted]
        with suppress(OutOfStepsError, NotLinearError):
            return smallest_point(symbols, formulas, self.weights)
        from symbcast.core.solver.satisfiability.least_sizes import smallest_model

        answer, sizes = smallest_model(symbols, formulas, self.weights)
        if answer is Satisfiability.UNSATISFIABLE:
            return None
        if answer is Satisfiability.UNKNOWN:
            with suppress(OutOfStepsError, NotLinearError):
                return smallest_point(symbols, formulas, self.weights, NODES)
        right = bool(sizes) and all(holds_at(f, sizes) for f in formulas)  # z3 lets a term without a value have any
        if answer is Satisfiability.SATISFIABLE and right:
            return sizes
        if len(symbols) <= _FEW_SYMBOLS:
            found, is_least = self._by_levels(symbols, wanted)
            if not is_least:
                self.reason = self.reason or self.questions.why_open(wanted)
            if found is not None:
                return found
        else:
            self.reason = self.reason or self.questions.why_open(wanted)
        known = [*self._sampled(symbols, wanted), *([sizes] if right else [])]
        return min(known, key=lambda sizes: cost(symbols, sizes, self.weights), default=None)

    def _described(self, symbols: Sequence[Symbol]) -> list[Formula]:
        found = (describe(s, self.domains.get(s, ALL)) for s in symbols)
        return [f for f in found if f != AllOf(())]

    def _by_levels(self, symbols: Sequence[Symbol], wanted: Sequence[Formula]) -> tuple[dict[Symbol, int] | None, bool]:
        """Return the smallest sizes of the fewest zeros at which some are found, and whether none are smaller."""
        is_least = True
        for level in search.levels(symbols, self.domains, self.weights):
            try:
                weight = sum(self.weights[symbols[n]] for n in next(iter(level)))
                found = Smallest(symbols, self.domains, wanted, self.weights).at_level(weight)
            except OutOfStepsError:
                answer, found = self._least_at(level, symbols, wanted)
                is_least = is_least and answer is not Satisfiability.UNKNOWN
            if found is not None:
                return found, is_least
        return None, is_least

    def _least_at(
        self, level: search.Level, symbols: Sequence[Symbol], wanted: Sequence[Formula]
    ) -> tuple[Satisfiability, dict[Symbol, int] | None]:
        from symbcast.core.solver.satisfiability.least_sizes import least_model

        choices = (
            all_of(equal(s, 0) if n in zeros else at_most(1, s) for n, s in enumerate(symbols)) for zeros in level
        )
        formulas = [*self._described(symbols), *wanted, any_of(choices)]
        if elimination.refuted(formulas):
            return Satisfiability.UNSATISFIABLE, None
        found = least_model(symbols, formulas, self.weights)
        if not isinstance(found, dict):
            return found, None
        right = all(holds_at(f, found) for f in formulas)
        return (Satisfiability.SATISFIABLE, found) if right else (Satisfiability.UNKNOWN, None)

    def _sampled(self, symbols: Sequence[Symbol], wanted: Sequence[Formula]) -> Iterator[dict[Symbol, int]]:
        """Yield the samples at which formulas hold: there may be smaller sizes, for that was not decided."""
        if tuple(symbols) != self.symbols:
            return
        samples = self.questions.samples
        mask = samples.everywhere
        for formula in wanted:
            mask &= samples.mask(formula)
        for n in bits(mask):
            yield dict(zip(symbols, samples.points[n], strict=True))


def _broken(clause: Formula) -> Formula:
    """Return that a clause does not hold, or something in it has no value."""
    return negate(with_values(clause)) if may_be_undefined(clause) else negate(clause)
