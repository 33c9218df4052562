"""Tiers F3 and F4: a group of formulas that compound terms tie together, reduced with samples and z3.

Samples show quickly that a formula is possible; z3 is asked only about the formulas that no sample satisfies. If a
question stays open, the clause stays in place, marked, so that the condition stays exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.core.algebra.sizes import MAX_SIZE
from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import (
    AllOf,
    AnyOf,
    Compatible,
    Formula,
    at_most,
    dims_of,
    equal,
    literals,
    one_or_equal,
)
from symbcast.core.solver.answer import Tier
from symbcast.core.solver.budget import EVIDENCE, kept, share
from symbcast.core.solver.evaluation.evaluation import value_function
from symbcast.core.solver.groups.normal_form import symbols_in, with_larger_joins
from symbcast.core.solver.masks.mask_clauses import irredundant
from symbcast.core.solver.satisfiability.definitions import completed, set_aside
from symbcast.core.solver.satisfiability.evidence import Evidence
from symbcast.core.solver.satisfiability.irredundance import Reduction, filtered
from symbcast.core.solver.satisfiability.ladder import is_linear
from symbcast.core.solver.satisfiability.satisfiability import BEYOND, Questions, beyond
from symbcast.core.solver.sets.literals import in_clauses
from symbcast.core.solver.sets.set_formulas import shortest
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import narrow

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

_LARGE = 1 << 31
_MANY = 50
"""Of more formulas, only those that others do not imply are put in canonical form."""

_SMALLEST_OF = 400
"""With more symbols, sizes from definitions are not minimised: z3 takes minutes for that."""


class Compound:
    """A group of symbols, the assumptions about them, and the formulas that constrain them.

    ``clauses`` is an equivalent of ``formulas`` under the assumptions; ``satisfiable`` and ``violable`` say whether
    the formulas can hold and can fail (None: undecided, and ``reason`` says why); ``unproven`` holds the clauses that
    may be redundant. Everything except ``satisfiable`` is computed on demand.
    """

    def __init__(
        self,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        assumptions: Sequence[Formula],
        formulas: Sequence[Formula],
        weights: Mapping[Symbol, int],
    ) -> None:
        self.symbols = tuple(symbols)
        self.domains = domains
        self.assumptions = list(assumptions)
        self.formulas = list(formulas)
        self.weights = weights
        crowded = len(self.formulas) > _MANY
        self._definitions, rest = set_aside(self.formulas, self.assumptions, domains)
        rest = _without_covered_joins(rest)
        if crowded:
            asked = Questions(self.symbols, domains, self.assumptions, rest)
            _, rest = filtered(asked, rest)
            self.formulas = [*(d.formula for d in self._definitions), *rest]
        self._rest = rest
        self._places: dict[Formula, int] = {}
        """The place of each formula and its clauses, if there are not very many."""
        for place, formula in enumerate(() if crowded else self.formulas):
            for clause in (formula, *in_clauses(formula)):
                self._places.setdefault(clause, place)
        canonical = [in_clauses(f) for f in rest]
        given = list(dict.fromkeys(c for conjuncts in canonical for c in conjuncts))
        self.questions = Questions(self.symbols, domains, self.assumptions, given)
        self.samples = self.questions.samples
        needed = {conjuncts[0] for conjuncts in canonical if len(conjuncts) == 1} if crowded else ()
        self._reduction = Reduction(self.questions, given, needed)
        self.satisfiable = self._reduction.satisfiable
        if self.satisfiable and any(map(_has_large_number, self.formulas)):
            self.satisfiable = self._holds_at_sizes()
        self._evidence = Evidence(self.questions, weights)

    def _holds_at_sizes(self) -> bool | None:
        """Return whether the formulas can hold at numbers up to the largest size; None if that is not known."""
        asked = self.questions.ask([*self.formulas, *(at_most(s, MAX_SIZE) for s in self.symbols)])
        if not asked:
            self.questions.reason = self.questions.reason or BEYOND
        return True if asked else None

    @kept
    def clauses(self) -> list[Formula]:
        """The reduced formulas."""
        found = self._placed(self._in_cases(self._reduction.result.clauses))
        return found if self.unproven else [*map(self._described, with_larger_joins(found))]

    def _placed(self, reduced: Sequence[Formula]) -> list[Formula]:
        """Return definitions and reduced clauses in the order of the formulas; of many formulas, definitions first."""
        defining = [c for d in reversed(self._definitions) for c in in_clauses(d.formula)]
        origins = self._reduction.origins

        def place(clause: Formula) -> int:
            return self._places.get(origins.get(clause, clause), -1)

        return sorted([*defining, *reduced], key=place)

    def _described(self, clause: Formula) -> Formula:
        """Return alternatives that the reduction left for one symbol as its set: ``N == 4 or N <= 3`` as ``N <= 4``."""
        symbols = symbols_in(clause)
        if len(symbols) != 1 or not isinstance(clause, AnyOf):
            return clause
        (symbol,) = symbols
        members = narrow(self.domains[symbol], clause)
        return clause if members is None else shortest(symbol, members, self.domains[symbol], [clause])

    def _in_cases(self, found: Sequence[Formula]) -> list[Formula]:
        """Return conjuncts in which a given disjunction of cases replaces those made of it, if it is shorter."""
        kept = list(found)
        for formula in self._rest:
            if not isinstance(formula, AnyOf) or not any(isinstance(part, AllOf) for part in formula.parts):
                continue
            spelled = [frozenset(literals(c)) for c in in_clauses(formula)]
            made = [c for c in kept if any(s.issuperset(literals(c)) for s in spelled)]
            if _length(formula) < sum(map(_length, made)):
                place = kept.index(made[0])
                shorter = [*kept[:place], formula, *(c for c in kept[place:] if c not in made)]
                asked = Questions(self.symbols, self.domains, self.assumptions, [])
                try:
                    with share(EVIDENCE):
                        if all(asked.ask([*shorter, asked.negated(c)]) is False for c in made):
                            kept = shorter
                except EffortSpentError:
                    pass  # the longer form is as exact
        return kept

    @property
    def unproven(self) -> set[Formula]:
        """The clauses that the others may imply."""
        return self._reduction.result.unproven

    @property
    def tier(self) -> Tier:
        """The tier that decides it."""
        return Tier.F3 if all(map(is_linear, (*self.assumptions, *self.formulas))) else Tier.F4

    @property
    def violable(self) -> bool | None:
        """Whether the formulas can fail; None if undecided."""
        return True if self._definitions else self._reduction.violable

    @property
    def reason(self) -> str:
        """Why something is undecided."""
        _ = self._reduction.result  # so that the reason does not depend on earlier questions
        return self.questions.reason

    @property
    def evidence_reason(self) -> str:
        """Why the sizes found may not be the smallest."""
        return self._evidence.reason

    def implies(self, formula: Formula) -> bool:
        """Return whether the formula provably holds wherever assumptions and formulas do."""
        try:
            with share(EVIDENCE):
                shown = self._valid() & ~self.samples.mask(formula)
                return self.questions.possible([*self.clauses, self.questions.negated(formula)], shown) is False
        except EffortSpentError:
            return False

    def constant(self, dim: Dim) -> int | None:
        """Return the only size that a dimension provably has wherever the formulas hold, if there is one."""
        point = self.samples.first(self._valid())
        if point is None:
            return None
        value = value_function(dim, self.symbols)(*point)
        return value if 0 <= value <= MAX_SIZE and self.implies(equal(dim, value)) else None

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is provably 1 or equal to ``target`` wherever the formulas hold."""
        return self.implies(one_or_equal(data, target))

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which assumptions and formulas hold.

        For very many symbols, and where the smallest are not found, they are the smallest of symbols not defined.
        """
        is_large = bool(self._definitions) and len(self.symbols) > _SMALLEST_OF and not self._places
        found = None if is_large else self._evidence.satisfying(self.formulas)
        if found is None and self._definitions:
            sizes = self._evidence.satisfying(self._rest)
            found = None if sizes is None else completed(self._definitions, sizes)
            return None if found is None or beyond(found) else found
        return found

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which the assumptions hold and some formula does not."""
        return self._evidence.breaking(self.clauses) if self.clauses else None

    def base(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which the assumptions hold."""
        return self._evidence.satisfying([])

    def _valid(self) -> int:
        mask = self.samples.everywhere
        for clause in self.clauses:
            mask &= self.samples.mask(clause)
        return mask


@lru_cache(maxsize=4096)
def _has_large_number(formula: Formula) -> bool:
    """Return whether a formula has a number so large that a size may have to be larger than sizes can be."""
    numbers = (n for d in dims_of(formula) for n in ((d,) if isinstance(d, int) else d.coefficients.values()))
    return any(abs(n) > _LARGE for n in numbers)


def _without_covered_joins(formulas: Sequence[Formula]) -> list[Formula]:
    """Return formulas without the joins that others of them cover: so many questions for a solver less."""
    numbers: dict[Dim, int] = {}
    joins = {
        f: tuple(numbers.setdefault(d, len(numbers)) for d in f.dims) for f in formulas if isinstance(f, Compatible)
    }
    kept = set(irredundant(dict.fromkeys(joins.values()), {}))
    return [f for f in formulas if not isinstance(f, Compatible) or joins[f] in kept]


def _length(formula: Formula) -> int:
    """Return the number of literals in a formula."""
    return sum(map(_length, formula.parts)) if isinstance(formula, AllOf | AnyOf) else 1
