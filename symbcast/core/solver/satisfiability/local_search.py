"""z3 asked about what is near: the clauses of a group, sizes at which they hold, and which say nothing of which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import Operation, Term
from symbcast.core.logic.formulas import Formula, literals
from symbcast.core.solver.answer import Satisfiability
from symbcast.core.solver.evaluation.equations import can_fall_below_0, solved_for
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.components import least_size
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.satisfiability.incremental import Growing
from symbcast.core.solver.sets.size_sets import ALL, SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.satisfiability.satisfiability import Questions


class Near:
    """The clauses of a group, each of which can be asked about beside the others."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.growing = Growing(questions.known)
        self.tied = {s for f in questions.assumptions for s in symbols_in(f)}
        self.numbers: dict[Formula, list[int]] = {}
        self.gone: set[int] = set()
        self.least = {s: least_size(d) or 0 for s, d in questions.domains.items()}
        self.ranks: dict[int, int] | None = None

    def add(self, clause: Formula) -> None:
        """Take a clause in."""
        self.numbers.setdefault(clause, []).append(len(self.growing))
        self.growing.add(clause)
        self.ranks = None

    def replace(self, clause: Formula, others: Iterable[Formula]) -> None:
        """Put others, which mean the same beside the rest, in the place of a clause."""
        self.gone.update(self.numbers.pop(clause, ()))
        for other in others:
            self.add(other)

    def possible(self, extra: Sequence[Formula], without: Formula | None = None) -> bool | None:
        """Return whether more can hold beside all clauses, or all but one; None if undecided."""
        return self.ask(extra, without)[0]

    def ask(self, extra: Sequence[Formula], without: Formula | None = None) -> tuple[bool | None, dict[Symbol, int]]:
        """Return the same, and the sizes that were found."""
        answer, sizes = self.growing.check(extra if without is None else ())
        if without is not None and answer is Satisfiability.SATISFIABLE:
            answer, sizes = self.growing.beside(extra, self._aside(without))
        if answer is not Satisfiability.SATISFIABLE:
            return (False if answer is Satisfiability.UNSATISFIABLE else None), {}
        sizes = self.least | sizes
        if not all(holds_at(f, sizes) for f in extra or self.numbers):
            return None, {}  # a term without a value may have any for z3
        self.questions.learn(sizes)
        return True, sizes

    def _aside(self, clause: Formula) -> set[int]:
        """Return the numbers of the clauses that say nothing about what can be beside this one, its own among them."""
        if self.ranks is None:
            self.ranks = self._ranked()
        own = self.numbers.get(clause, [])
        first = min((self.ranks[n] for n in own if n in self.ranks), default=len(self.ranks))
        return self.gone.union(own, (n for n, rank in self.ranks.items() if rank < first))

    def _ranked(self) -> dict[int, int]:
        """Return the clauses that a symbol of their own can make true whatever the other sizes are, in an order.

        Each has a symbol that none after it mentions, nor any clause that is left. So sizes at which all after it
        hold can be changed in that symbol so that it holds too.
        """
        formulas = {n: clause for clause, numbers in self.numbers.items() for n in numbers}
        symbols = {n: tuple(symbols_in(f)) for n, f in formulas.items()}
        users: dict[Symbol, set[int]] = {}
        for n, mentioned in symbols.items():
            for symbol in mentioned:
                users.setdefault(symbol, set()).add(n)
        ready = [s for s in users if len(users[s]) == 1 and s not in self.tied]
        ranks: dict[int, int] = {}
        while ready:
            symbol = ready.pop()
            last = next(iter(users[symbol]), None)
            if last is None or not can_be_met(formulas[last], symbol, self.questions.domains):
                continue
            ranks[last] = len(ranks)
            for other in symbols[last]:
                users[other].discard(last)
                if len(users[other]) == 1 and other not in self.tied:
                    ready.append(other)
        return ranks


def can_be_met(clause: Formula, symbol: Symbol, domains: Mapping[Any, SizeSet]) -> bool:
    """Return whether, whatever the other sizes are, there is one of this symbol at which the clause holds.

    True only where that is plain: an alternative says what the symbol equals, and that is a size that it may have.
    """
    for literal in literals(clause):
        solved = None if can_fall_below_0(literal, symbol) else solved_for(literal, symbol)
        least = None if solved is None else _least(solved, domains)
        if least is not None and least >= 0 and SizeSet.interval(least, None) <= domains.get(symbol, ALL):
            return True
    return False


def _least(value: Term, domains: Mapping[Any, SizeSet]) -> int | None:
    """Return a lower bound of a term over the domains, None where there is none to be seen."""
    total = 0
    for monomial, coefficient in value.coefficients.items():
        bounds = [a.lower_bound if isinstance(a, Operation) else domains.get(a, ALL).least() for a in monomial]
        known = [bound for bound in bounds if bound is not None and bound >= 0]
        if (coefficient < 0 and monomial) or len(known) < len(bounds):
            return value.lower_bound
        total += coefficient * prod(known)
    return total
