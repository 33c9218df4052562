"""The shapes that rules are compared on, with their sizes bound once for all of the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.logic.formulas import Formula
from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.program.statements.statement import about
from symbcast.core.shapes import Shape, ShapeLike, known_rank, shape
from symbcast.core.solver.budget import check_budget
from symbcast.core.solver.evaluation.evaluation import size_at
from symbcast.core.solver.groups.normal_form import put_in
from symbcast.core.solver.sets.set_formulas import describe

Sizes: TypeAlias = tuple[int, ...]
_HINT = "call broadcast() for each rule and symbcast.equivalent() on two answers, or ask for each rank separately"


class Question:
    """Shapes, assumptions on their sizes, and the time limit of an answer in seconds (None: no limit)."""

    def __init__(
        self,
        shapes: Sequence[ShapeLike],
        assume: Assumptions = (),
        min_size: int = 0,
        budget: float | None = None,
    ) -> None:
        self.budget = check_budget(budget)
        operands = [known_rank(shape(s), "a comparison of rules", _HINT) for s in shapes]
        self.scope = Scope.asked(shapes, operands, assume, min_size, is_linked=True)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes, with their sizes bound."""
        return self.scope.shapes

    @property
    def assumed(self) -> list[Formula]:
        """The assumptions: the bounds of each size, and the explicit ones."""
        own = (describe(s, own_set(s, self.scope.min_size)) for s in self.scope.symbols)
        return [*own, *(a.formula for a in self.scope.assumptions)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key()[0])

    def _key(self) -> tuple[tuple[object, ...], tuple[Formula, ...], int, float | None]:
        assumed = tuple(a.formula for a in self.scope.assumptions)
        return tuple(s.dims for s in self.shapes), assumed, self.scope.min_size, self.budget

    def condition(self, formula: Formula) -> Condition:
        """Return a formula as a condition over all sizes of the question, by their names."""
        names = {s: s if isinstance(s, Unknown) else symbol(name) for s, name in self.scope.names.items()}
        return about(Condition, put_in(formula, {s: n for s, n in names.items() if s is not n}), names.values())

    def at(self, sizes: Mapping[str, int]) -> tuple[Sizes, ...]:
        """Return the shapes at some sizes, given by name; all dimensions must have a value there."""
        values = {s: sizes[name] for s, name in self.scope.names.items()}
        return tuple(tuple(size_at(d, values) for d in s.dims) for s in self.shapes)
