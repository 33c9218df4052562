"""The smallest sizes at which a group of tied symbols meets, or breaks, what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.deciding import elimination, search
from symbcast.deciding.compiled import predicate
from symbcast.deciding.evaluating import holds_at
from symbcast.deciding.normal import symbols_in
from symbcast.deciding.parts import cost, least_size
from symbcast.deciding.questions import Questions
from symbcast.deciding.samples import bits
from symbcast.deciding.sets import ALL
from symbcast.formulas import Formula, all_of, any_of, at_most, equal, negate

if TYPE_CHECKING:
    import sympy

_FEW_SYMBOLS = 8
_SEARCHED_AT_MOST = 20
"""Of more symbols, so few sizes can be tried that those z3 finds are smaller, proved least or not."""


class Evidence:
    """Smallest sizes, by a search over a few symbols; where there are more, by z3 or clause by clause."""

    def __init__(self, questions: Questions, weights: Mapping[sympy.Symbol, int]) -> None:
        self.questions = questions
        self.symbols = questions.symbols
        self.domains = questions.domains
        self.weights = weights

    def satisfying(self, clauses: Sequence[Formula]) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and at which all clauses hold."""
        if not clauses and not self.questions.assumptions:
            return self._least()
        return self._of_many(clauses) or self._smallest(all_of(clauses), valid=True)

    def breaking(self, clauses: Sequence[Formula]) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and at which some clause does not hold."""
        if len(self.symbols) > _FEW_SYMBOLS and not self.questions.assumptions:
            # Nothing ties symbols together but the clause that is broken: all others are least.
            least = self._least()
            found = self._least_broken(clauses, least)
            return None if found is None else {**least, **found}
        return self._of_many([any_of(map(negate, clauses))]) or self._smallest(all_of(clauses), valid=False)

    def _least_broken(
        self, clauses: Sequence[Formula], least: Mapping[sympy.Symbol, int]
    ) -> dict[sympy.Symbol, int] | None:
        """Return the sizes of its own symbols that break one of the clauses, at the least cost beside ``least``."""
        order = {s: n for n, s in enumerate(self.symbols)}
        best: dict[sympy.Symbol, int] | None = None
        for clause in clauses:
            own = sorted(symbols_in(clause), key=order.__getitem__)
            questions = Questions(own, self.domains, (), [clause])
            found = Evidence(questions, self.weights)._smallest(clause, valid=False)
            if found is None:
                continue
            # All other symbols cost the same: only those of the two clauses are compared.
            concerned = sorted({*own, *(best or ())}, key=order.__getitem__)
            if best is None or self._cost_of(concerned, found, least) < self._cost_of(concerned, best, least):
                best = found
        return best

    def _cost_of(
        self, symbols: Sequence[sympy.Symbol], sizes: Mapping[sympy.Symbol, int], least: Mapping[sympy.Symbol, int]
    ) -> tuple[int, int, tuple[int, ...]]:
        return cost(symbols, {s: sizes[s] if s in sizes else least[s] for s in symbols}, self.weights)

    def _least(self) -> dict[sympy.Symbol, int]:
        return {s: least_size(self.domains.get(s, ALL)) or 0 for s in self.symbols}

    def _cost(self, sizes: Mapping[sympy.Symbol, int]) -> tuple[int, int, tuple[int, ...]]:
        return cost(self.symbols, sizes, self.weights)

    def _of_many(self, formulas: Sequence[Formula]) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes of many symbols, as z3 finds them; None where they are better searched for."""
        from symbcast.deciding import smt

        if len(self.symbols) <= _FEW_SYMBOLS:
            return None
        wanted = [*self.questions.known, *formulas]
        answer, sizes = smt.smallest_model(self.symbols, wanted, self.weights)
        proved = answer is smt.Answer.SATISFIABLE or len(self.symbols) > _SEARCHED_AT_MOST
        return sizes if proved and sizes and all(holds_at(f, sizes) for f in wanted) else None

    def _smallest(self, formula: Formula, valid: bool) -> dict[sympy.Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and at which a formula holds, or does not.

        They are searched for, then asked of z3; where neither can tell, the smallest known ones are returned.
        """
        assumed = predicate(all_of(self.questions.assumptions), self.symbols)
        holds = predicate(formula, self.symbols)
        wanted = all_of([*self.questions.assumptions, formula if valid else negate(formula)])
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
        mask = self.questions.samples.mask(formula)
        return self._sampled(mask if valid else self.questions.samples.everywhere & ~mask)

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
        points = self.questions.samples.points
        found = (dict(zip(self.symbols, points[n], strict=True)) for n in bits(mask))
        return min(found, key=self._cost, default=None)
