"""Incremental z3: the clauses of a group, sizes at which they hold, and which clauses affect which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import Formula
from symbcast.core.solver.answer import Satisfiability
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.satisfiability.definitions import met_last
from symbcast.core.solver.satisfiability.incremental import Growing
from symbcast.core.solver.satisfiability.satisfiability import beyond
from symbcast.core.solver.sets.smallest import least_size

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.satisfiability.satisfiability import Questions


class Near:
    """The clauses of a group; questions about one clause take the others into account."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.growing = Growing(questions.known)
        self.tied = {s for f in questions.assumptions for s in symbols_in(f)}
        self.numbers: dict[Formula, list[int]] = {}
        self.gone: set[int] = set()
        self.least = {s: least_size(d) or 0 for s, d in questions.domains.items()}
        self.ranks: dict[int, int] | None = None

    def add(self, clause: Formula) -> None:
        """Add a clause, opened: one that says that a term of another has a value is not implied by that one."""
        self.numbers.setdefault(clause, []).append(len(self.growing))
        self.growing.add(self.questions.opened(clause))
        self.ranks = None

    def replace(self, clause: Formula, others: Iterable[Formula]) -> None:
        """Replace a clause by others that, given the rest, are equivalent to it."""
        self.gone.update(self.numbers.pop(clause, ()))
        for other in others:
            self.add(other)

    def possible(self, extra: Sequence[Formula], without: Formula | None = None) -> bool | None:
        """Return whether ``extra`` can hold together with all clauses, or all but one; None if undecided."""
        return self.ask(extra, without)[0]

    def ask(self, extra: Sequence[Formula], without: Formula | None = None) -> tuple[bool | None, dict[Symbol, int]]:
        """Return the same, and the sizes found."""
        answer, sizes = self.growing.check(extra if without is None else ())
        if without is not None and answer is Satisfiability.SATISFIABLE:
            answer, sizes = self.growing.beside(extra, self._aside(without))
        if answer is not Satisfiability.SATISFIABLE:
            return (False if answer is Satisfiability.UNSATISFIABLE else None), {}
        sizes = self.least | sizes
        if beyond(sizes):
            return None, {}
        if not all(holds_at(f, sizes) for f in extra or self.numbers):
            return None, {}  # opened clauses hold also where a term has no value
        self.questions.learn(sizes)
        return True, sizes

    def _aside(self, clause: Formula) -> set[int]:
        """Return the numbers of the clauses that do not affect questions about this one, including its own."""
        if self.ranks is None:
            formulas = {n: clause for clause, numbers in self.numbers.items() for n in numbers}
            met = met_last(formulas, self.tied, self.questions.domains)
            self.ranks = {n: rank for rank, n in enumerate(met)}
        own = self.numbers.get(clause, [])
        first = min((self.ranks[n] for n in own if n in self.ranks), default=len(self.ranks))
        return self.gone.union(own, (n for n, rank in self.ranks.items() if rank < first))
