"""Tiers F3 and F4 put to use: a group of formulas that compound terms tie together, reduced with samples and z3.

Samples show at once that something can be; only what no sample shows is put to z3. A question that z3 leaves open
leaves the clause where it is, marked, so that the condition stays exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.deciding import elimination, search
from symbcast.deciding.compiled import predicate
from symbcast.deciding.describing import describe
from symbcast.deciding.literals import in_clauses
from symbcast.deciding.parts import cost
from symbcast.deciding.samples import Samples
from symbcast.deciding.sets import ALL, SizeSet
from symbcast.formulas import AllOf, Formula, all_of, any_of, at_most, clauses, equal, literals, negate, one_or_equal
from symbcast.sizes import MAX_SIZE

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Dim


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
        self.clauses: list[Formula] = list(dict.fromkeys(c for f in formulas for c in in_clauses(f)))
        self.samples = Samples(self.symbols, domains, self.assumptions, [*self.assumptions, *self.clauses])
        self.unproven: set[Formula] = set()
        self.reason = ""
        self.satisfiable: bool | None = self._possible(self.clauses, self._valid())
        if self.satisfiable:
            self._reduce()
        self.violable: bool | None = self._can_fail() if self.clauses else False

    def implies(self, formula: Formula) -> bool:
        """Return whether the formula is proved to hold wherever assumptions and formulas do."""
        shown = self._valid() & ~self.samples.mask(formula)
        return self._possible([*self.clauses, negate(formula)], shown) is False

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

    def _negated_whole(self) -> Formula:
        return any_of(negate(c) for c in self.clauses)

    def _valid(self) -> int:
        mask = self.samples.everywhere
        for clause in self.clauses:
            mask &= self.samples.mask(clause)
        return mask

    def _possible(self, formulas: Sequence[Formula], shown: int) -> bool | None:
        """Return whether the formulas can hold beside the assumptions; None if undecided.

        ``shown`` are the samples at which they do; only where there are none is z3 asked.
        """
        if shown:
            return True
        return False if self.samples.complete else self._ask(formulas)

    def _can_fail(self) -> bool | None:
        return self._possible([self._negated_whole()], self.samples.everywhere & ~self._valid())

    def _ask(self, formulas: Sequence[Formula]) -> bool | None:
        from symbcast.deciding import smt

        if elimination.refuted([*self._domain_formulas(), *self.assumptions, *formulas]):
            return False

        answer, sizes = smt.check(self.symbols, (*self._domain_formulas(), *self.assumptions), formulas)
        if answer is smt.Answer.SATISFIABLE:
            self.samples.learn(sizes)
            return True
        if answer is smt.Answer.UNSATISFIABLE:
            return False
        self.reason = "z3 reached its limit on products of sizes"
        return None

    def _domain_formulas(self) -> list[Formula]:
        return [describe(s, self.domains.get(s, ALL)) for s in self.symbols]

    def _reduce(self) -> None:
        """Take out literals that cannot hold where no other does, then clauses that the others imply."""
        for position, clause in reversed(list(enumerate(self.clauses))):
            self.clauses[position] = self._sharpened(clause, position)
        self.clauses = list(dict.fromkeys(c for clause in self.clauses for c in clauses(clause)))
        for clause in list(reversed(self.clauses)):
            others = [c for c in self.clauses if c is not clause]
            shown = self._open(others) & ~self.samples.mask(clause)
            needed = self._possible([*others, negate(clause)], shown)
            if needed is False:
                self.clauses = others
            elif needed is None:
                self.unproven.add(clause)

    def _sharpened(self, clause: Formula, position: int) -> Formula:
        kept = list(literals(clause))
        others = [c for n, c in enumerate(self.clauses) if n != position]
        for literal in list(kept):
            rest = [k for k in kept if k is not literal]
            if not rest:
                break
            shown = self._open([*others, literal])
            for other in rest:
                shown &= ~self.samples.mask(other)
            if self._possible([*others, literal, *map(negate, rest)], shown) is False:
                kept = rest
        return any_of(kept)

    def _open(self, formulas: Sequence[Formula]) -> int:
        mask = self.samples.everywhere
        for formula in formulas:
            mask &= self.samples.open_mask(formula)
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
        formulas = [*self._domain_formulas(), wanted, any_of(choices)]
        if elimination.refuted(formulas):
            return None
        answer = smt.least_model(self.symbols, formulas, self.weights)
        return answer if isinstance(answer, dict) else None

    def _sampled(self, mask: int) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sample of a mask: there may be smaller sizes, for that was not decided."""
        points = [dict(zip(self.symbols, p, strict=True)) for n, p in enumerate(self.samples.points) if mask >> n & 1]
        return min(points, key=lambda sizes: cost(self.symbols, sizes, self.weights), default=None)
