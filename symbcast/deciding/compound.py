"""Tiers F3 and F4 put to use: a group of formulas that compound terms tie together, reduced with samples and z3.

Samples show at once that something can be; only what no sample shows is put to z3. A question that z3 leaves open
leaves the clause where it is, marked, so that the condition stays exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.deciding import elimination, search
from symbcast.deciding.compiled import predicate
from symbcast.deciding.literals import in_clauses
from symbcast.deciding.parts import cost
from symbcast.deciding.questions import Questions
from symbcast.deciding.reducing import Reduction, filtered
from symbcast.deciding.sets import SizeSet
from symbcast.formulas import AllOf, Formula, all_of, any_of, at_most, equal, negate, one_or_equal
from symbcast.sizes import MAX_SIZE

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Dim

_MANY = 50
"""Of more formulas, only those that others do not imply are put in canonical form."""


class Compound:
    """A group of symbols, what is assumed of them, and the formulas that constrain them.

    ``clauses`` is an equivalent of ``formulas`` under the assumptions; ``satisfiable`` and ``violable`` say whether
    the formulas can hold and can fail (None: undecided, and ``reason`` says why); ``unproven`` holds the clauses that
    may be redundant.
    """

    def __init__(
        self,
        symbols: Sequence[sympy.Symbol],
        domains: Mapping[sympy.Symbol, SizeSet],
        assumptions: Sequence[Formula],
        formulas: Sequence[Formula],
        weights: Mapping[sympy.Symbol, int],
    ) -> None:
        self.symbols = tuple(symbols)
        self.domains = domains
        self.assumptions = list(assumptions)
        self.formulas = list(formulas)
        self.weights = weights
        if len(self.formulas) > _MANY:
            asked = Questions(self.symbols, domains, self.assumptions, self.formulas)
            _, self.formulas = filtered(asked, self.formulas)
        given = list(dict.fromkeys(c for f in self.formulas for c in in_clauses(f)))
        self.questions = Questions(self.symbols, domains, self.assumptions, given)
        self.samples = self.questions.samples
        reduction = Reduction(self.questions, given)
        self.clauses = reduction.clauses
        self.unproven = reduction.unproven
        self.satisfiable = reduction.satisfiable
        self.violable = reduction.violable

    @property
    def reason(self) -> str:
        """Why something is undecided."""
        return self.questions.reason

    def implies(self, formula: Formula) -> bool:
        """Return whether the formula is proved to hold wherever assumptions and formulas do."""
        shown = self._valid() & ~self.samples.mask(formula)
        return self.questions.possible([*self.clauses, negate(formula)], shown) is False

    def constant(self, dim: Dim) -> int | None:
        """Return the one size that a dimension is proved to have wherever the formulas hold, if there is one."""
        from symbcast.deciding.compiled import value_function

        point = self.samples.first(self._valid())
        if point is None:
            return None
        value = value_function(dim, self.symbols)(*point)
        return value if 0 <= value <= MAX_SIZE and self.implies(equal(dim, value)) else None

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is proved to be 1 or equal to ``target`` wherever the formulas hold."""
        return self.implies(one_or_equal(data, target))

    def witness(self) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes at which assumptions and formulas hold."""
        return self._smallest(all_of(self.formulas), valid=True)

    def counterexample(self) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes at which the assumptions hold and some formula does not."""
        return self._smallest(all_of(self.clauses), valid=False) if self.clauses else None

    def base(self) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes at which the assumptions hold."""
        return self._smallest(AllOf(()), valid=True)

    def _valid(self) -> int:
        mask = self.samples.everywhere
        for clause in self.clauses:
            mask &= self.samples.mask(clause)
        return mask

    def _smallest(self, formula: Formula, valid: bool) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and at which a formula holds, or does not.

        They are searched for, then asked of z3; where neither can tell, the smallest known ones are returned.
        """
        assumed = predicate(all_of(self.assumptions), self.symbols)
        holds = predicate(formula, self.symbols)
        wanted = all_of([*self.assumptions, formula if valid else negate(formula)])
        for level in search.levels(self.symbols, self.domains, self.weights):
            try:
                found = search.smallest_at(
                    level,
                    self.symbols,
                    self.domains,
                    lambda *sizes: assumed(*sizes) and bool(holds(*sizes)) is valid,
                    self.weights,
                )
            except search.GivenUpError:
                model = self._least_at(level, wanted)
                if model is not None:
                    return model
                continue
            if found is not None:
                return dict(zip(self.symbols, found, strict=True))
        mask = self.samples.mask(formula)
        return self._sampled(mask if valid else self.samples.everywhere & ~mask)

    def _least_at(self, level: search.Level, wanted: Formula) -> dict[sympy.Symbol, int] | None:
        from symbcast.deciding import smt

        choices = (
            all_of(equal(s, 0) if n in zeros else at_most(1, s) for n, s in enumerate(self.symbols)) for zeros in level
        )
        formulas = [*self.questions.known, wanted, any_of(choices)]
        if elimination.refuted(formulas):
            return None
        answer = smt.least_model(self.symbols, formulas, self.weights)
        return answer if isinstance(answer, dict) else None

    def _sampled(self, mask: int) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sample of a mask: there may be smaller sizes, for that was not decided."""
        points = [dict(zip(self.symbols, p, strict=True)) for n, p in enumerate(self.samples.points) if mask >> n & 1]
        return min(points, key=lambda sizes: cost(self.symbols, sizes, self.weights), default=None)
