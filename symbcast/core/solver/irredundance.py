"""Redundant clauses and literals of a group removed, each checked next to the clauses that it affects."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from symbcast.core.algebra.formulas import AllOf, Formula, any_of, clauses, literals
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import REDUCED, EffortSpentError, Satisfiability, budget_share, budget_stage
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f3_linear.equations import satisfiable_last
from symbcast.core.solver.incremental import GrowingConjunction
from symbcast.core.solver.points import least_size
from symbcast.core.solver.search import GroupQuestions, is_beyond


class NeighbourhoodSearch:
    """The clauses of a group; questions about one clause take the others into account."""

    def __init__(self, questions: GroupQuestions) -> None:
        self.questions = questions
        self.growing = GrowingConjunction(questions.known)
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
        if is_beyond(sizes):
            return None, {}
        if not all(holds_at(f, sizes) for f in extra or self.numbers):
            return None, {}  # opened clauses hold also where a term has no value
        self.questions.learn(sizes)
        return True, sizes

    def _aside(self, clause: Formula) -> set[int]:
        """Return the numbers of the clauses that do not affect questions about this one, including its own."""
        if self.ranks is None:
            formulas = {n: clause for clause, numbers in self.numbers.items() for n in numbers}
            last_users = satisfiable_last(formulas, self.tied, self.questions.domains)
            self.ranks = {n: rank for rank, n in enumerate(last_users)}
        own = self.numbers.get(clause, [])
        first = min((self.ranks[n] for n in own if n in self.ranks), default=len(self.ranks))
        return self.gone.union(own, (n for n, rank in self.ranks.items() if rank < first))


# Conjunctions made irredundant: remove implied clauses, and literals that hold only where another one does.
#
# Often a few of thousands of clauses imply the rest. So check each clause first against the clauses kept before it,
# and remove it if they imply it. A pass from the last clause to the first would also remove all of these; that pass is
# then made over the remaining ones.


_ASKED_AT_ONCE = 64


def without_implied(
    questions: GroupQuestions, formulas: Sequence[Formula], needed: Container[Formula] = ()
) -> tuple[NeighbourhoodSearch | None, list[Formula]]:
    """Return the formulas that the ones before them do not imply, in order, and the state for asking about them.

    The ``needed`` ones are known not to be implied.
    """
    filtered = _Filter(questions, formulas, needed)
    return filtered.near, filtered.needed


class _Filter:
    """A pass over formulas, many at a time: whether any of them can fail while those kept hold."""

    def __init__(self, questions: GroupQuestions, formulas: Sequence[Formula], known: Container[Formula]) -> None:
        self.questions = questions
        self.near = NeighbourhoodSearch(questions) if questions.suits_neighbourhood(formulas) else None
        self.needed: list[Formula] = []
        samples = questions.samples
        points, mask = -1, 0
        start = 0
        while start < len(formulas):
            if len(samples.points) > points:
                points, mask = len(samples.points), self._open()
            ahead = formulas[start : start + _ASKED_AT_ONCE]
            shown = next((n for n, f in enumerate(ahead) if f in known or samples.breaks(f, mask)), len(ahead))
            needed = self._first_needed(ahead[:shown])
            start += needed + 1
            if needed < len(ahead):
                self._keep(ahead[needed])
                mask &= samples.open_mask(ahead[needed])

    def _first_needed(self, ahead: Sequence[Formula]) -> int:
        """Return the position of the first formula that the kept ones do not imply, or the length if there is none."""
        if self.questions.samples.complete:
            return len(ahead)
        while ahead and self.near is not None:
            answer, sizes = self.near.ask([any_of(map(self.questions.negated, ahead))])
            if answer is False:
                return len(ahead)
            if answer is None:
                break
            ahead = ahead[: next(n for n, formula in enumerate(ahead) if not holds_at(formula, sizes))]
        for position, formula in enumerate(ahead):
            if self._can_fail(formula) is not False:
                return position
        return len(ahead)

    def _can_fail(self, formula: Formula) -> bool | None:
        extra = [self.questions.negated(formula)]
        answer = self.near.possible(extra) if self.near is not None else None
        return self.questions.ask([*map(self.questions.opened, self.needed), *extra]) if answer is None else answer

    def _keep(self, formula: Formula) -> None:
        self.needed.append(formula)
        if self.near is not None:
            self.near.add(formula)

    def _open(self) -> int:
        mask = self.questions.samples.everywhere
        for formula in self.needed:
            mask &= self.questions.samples.open_mask(formula)
        return mask


class ReducedClauses(NamedTuple):
    """The remaining clauses, those that may be redundant, and whether they can fail; None if undecided."""

    clauses: list[Formula]
    unproven: set[Formula]
    violable: bool | None


class Reduction:
    """Clauses and whether they can hold or fail; on demand, the irredundant ones and those that may be redundant.

    Attributes:
        satisfiable: Whether the clauses can hold; None if undecided.
        origins: Of each clause made of a given one, the given one.
    """

    def __init__(self, questions: GroupQuestions, clauses: Sequence[Formula], needed: Container[Formula] = ()) -> None:
        self.questions = questions
        self._near, self._clauses = self._filtered(clauses, needed)
        self._read = list(self._clauses)
        self.origins: dict[Formula, Formula] = {}
        self._tally = (-1, 0, 0)
        self._result = budget_stage(REDUCED, self._reduced, self._unreduced)
        self.satisfiable = self._can_hold()

    def _filtered(
        self, clauses: Sequence[Formula], needed: Container[Formula]
    ) -> tuple[NeighbourhoodSearch | None, list[Formula]]:
        """Return `without_implied`, within a share of its own: whether the clauses can hold does not depend on it."""
        try:
            with budget_share(REDUCED):
                return without_implied(self.questions, clauses, needed)
        except EffortSpentError:
            self.questions.stopped()
            return None, list(clauses)

    @property
    def violable(self) -> bool | None:
        """Whether the clauses can fail; None if undecided. Often a sample decides it, without reducing them."""
        return True if self._is_shown_to_fail() else self.result.violable

    @property
    def result(self) -> ReducedClauses:
        """The remaining clauses, and what is known about them."""
        return self._result()

    def _unreduced(self) -> ReducedClauses:
        """Return the clauses unreduced, because effort ran out: each may be redundant."""
        self.questions.stopped()
        return ReducedClauses(self._read, set(self._read), True if self._is_shown_to_fail() else None)

    def _reduced(self) -> ReducedClauses:
        unproven: set[Formula] = set()
        violable: bool | None = None if self._clauses else False
        try:
            if self.satisfiable:
                self._sharpen()
                unproven, is_needed = self._thin_out()
                violable = True if is_needed else violable
            if violable is None:
                violable = self._can_fail()
        except EffortSpentError:  # clauses removed so far were redundant
            self.questions.stopped()
            unproven, violable = set(self._clauses), True if self._is_shown_to_fail() else None
        return ReducedClauses(list(self._clauses), unproven, violable)

    def _can_hold(self) -> bool | None:
        return self._possible((), self.questions.samples.all_hold(self._clauses), self._clauses)

    def _can_fail(self) -> bool | None:
        return self.questions.possible(
            [any_of(map(self.questions.negated, self._clauses))], int(self._is_shown_to_fail())
        )

    def _is_shown_to_fail(self) -> bool:
        samples = self.questions.samples
        return any(samples.breaks(clause, samples.everywhere) for clause in self._clauses)

    def _possible_beside(self, extra: Sequence[Formula], shown: int, without: Formula) -> bool | None:
        """Return whether ``extra`` can hold where all clauses but one do, or might because of a term without a value.

        ``shown`` are samples where they do.
        """
        return self._possible(
            extra, shown, [self.questions.opened(c) for c in self._clauses if c is not without], without
        )

    def _possible(
        self, extra: Sequence[Formula], shown: int, others: Sequence[Formula], without: Formula | None = None
    ) -> bool | None:
        if shown:
            return True
        if self.questions.samples.complete:
            return False
        answer = None
        with suppress(EffortSpentError):
            answer = self._near.possible(extra, without) if self._near is not None else None
        return self.questions.ask([*others, *extra]) if answer is None else answer

    def _sharpen(self) -> None:
        """Remove literals that hold only where another literal of their clause does."""
        sharp: set[Formula] = set()
        while not sharp.issuperset(self._clauses):
            for position, clause in reversed(list(enumerate(self._clauses))):
                if clause in sharp:
                    continue
                sharpened = self._sharpened(clause)
                if sharpened is not clause:
                    self._clauses[position] = sharpened
                    self._changed(clause, clauses(sharpened))
                if not isinstance(sharpened, AllOf):  # otherwise its conjuncts become separate clauses
                    sharp.add(sharpened)
            self._clauses = list(dict.fromkeys(c for clause in self._clauses for c in clauses(clause)))
            self._tally = (-1, 0, 0)

    def _sharpened(self, clause: Formula) -> Formula:
        needed = list(literals(clause))
        samples = self.questions.samples
        for literal in literals(clause):
            rest = [k for k in needed if k is not literal]
            if not rest:
                break
            shown = self._others_open(clause) & samples.open_mask(literal)
            for other in rest:
                shown &= ~samples.mask(other)
            extra = [self.questions.opened(literal), *map(self.questions.negated, rest)]
            if self._possible_beside(extra, shown, clause) is False:
                needed = rest
        return clause if len(needed) == len(literals(clause)) else any_of(needed)

    def _thin_out(self) -> tuple[set[Formula], bool]:
        """Remove clauses that the others imply; return those that they may imply, and whether some can fail."""
        unproven: set[Formula] = set()
        is_needed = False
        # From the end, so that the clauses of the first operands stay.
        for clause in list(reversed(self._clauses)):
            shown = self._others_open(clause) & ~self.questions.samples.mask(clause)
            needed = self._possible_beside([self.questions.negated(clause)], shown, clause)
            if needed is False:
                self._clauses = [c for c in self._clauses if c is not clause]
                self._changed(clause, ())
            elif needed is None:
                unproven.add(clause)
            else:
                is_needed = True
        return unproven, is_needed

    def _changed(self, clause: Formula, others: Sequence[Formula]) -> None:
        self._tally = (-1, 0, 0)
        self.origins.update((other, self.origins.get(clause, clause)) for other in others)
        if self._near is not None:
            self._near.replace(clause, others)

    def _others_open(self, clause: Formula) -> int:
        """Return the samples at which all other clauses hold or, because of an undefined term, might hold."""
        samples = self.questions.samples
        if self._tally[0] != len(samples.points):
            once = twice = 0
            for other in self._clauses:
                closed = ~samples.open_mask(other)
                twice |= once & closed
                once |= closed
            self._tally = (len(samples.points), once, twice)
        _, once, twice = self._tally
        own = samples.open_mask(clause)
        return samples.everywhere & (own & ~once | ~own & ~twice)
