"""Redundant clauses and literals of a group removed, each checked next to the clauses that it affects."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import partial, reduce
from operator import and_

from symbcast.core.algebra.formulas import AllOf, Formula, any_of, clauses, is_total, literals, negate
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import REDUCED, EffortSpentError, budget_stage
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.search import GroupQuestions
from symbcast.core.structs import NamedTuple

# Conjunctions made irredundant: remove implied clauses, and literals that hold only where another one does.
#
# Often a few of thousands of clauses imply the rest. So check each clause first against the clauses kept before it,
# and remove it if they imply it. A pass from the last clause to the first would also remove all of these; that pass is
# then made over the remaining ones.


_ASKED_AT_ONCE = 64


def without_implied(
    questions: GroupQuestions, formulas: Sequence[Formula], needed: Container[Formula] = ()
) -> list[Formula]:
    """Return the formulas that the ones before them do not imply, in order; the ``needed`` ones are known not to be."""
    kept: list[Formula] = []
    samples = questions.samples
    formulas = _without_obvious(questions, formulas)
    points, mask, start = -1, 0, 0
    while start < len(formulas):
        if len(samples.points) > points:
            points = len(samples.points)
            mask = reduce(and_, map(samples.open_mask, kept), samples.everywhere)
        ahead = formulas[start : start + _ASKED_AT_ONCE]
        shown = next((n for n, f in enumerate(ahead) if f in needed or samples.breaks(f, mask)), len(ahead))
        first = _first_needed(questions, kept, ahead[:shown])
        start += first + 1
        if first < len(ahead):
            kept.append(ahead[first])
            mask &= samples.open_mask(ahead[first])
    return kept


def _without_obvious(questions: GroupQuestions, formulas: Sequence[Formula]) -> list[Formula]:
    """Return formulas without disjunctions that always hold, or have all literals of one before them.

    Both are implied, also where terms have no value, if their literals are defined everywhere: no question is needed.
    """
    kept: list[Formula] = []
    shorter: dict[Formula, list[frozenset[Formula]]] = {}
    for formula in formulas:
        own = frozenset(literals(formula))
        if len(own) > 1:
            if any(other <= own for literal in own for other in shorter.get(literal, ())):
                continue
            if is_total(formula) and _always_holds(questions, literals(formula)):
                continue
        kept.append(formula)
        if own and is_total(formula):
            shorter.setdefault(literals(formula)[0], []).append(own)
    return kept


def _always_holds(questions: GroupQuestions, parts: Sequence[Formula]) -> bool:
    """Return whether two of some literals are opposites, or those about one symbol hold at all sizes in its set."""
    if any(negate(part) in parts for part in parts):
        return True
    about: dict[Symbol, list[Formula]] = {}
    for part in parts:
        symbols = symbols_in(part)
        if len(symbols) == 1:
            about.setdefault(next(iter(symbols)), []).append(part)
    for symbol, own in about.items():
        if len(own) > 1:
            domain = questions.domains[symbol]
            if narrowed_set(domain, any_of(own)) == domain:
                return True
    return False


def _first_needed(questions: GroupQuestions, kept: Sequence[Formula], ahead: Sequence[Formula]) -> int:
    """Return the position of the first formula that may fail where others hold, or the length if there is none."""
    samples = questions.samples
    if samples.complete:
        return len(ahead)
    beside = list(map(questions.opened, kept))
    while len(ahead) > 1:
        known = len(samples.points)
        can_fail = questions.ask([*beside, any_of(map(questions.negated, ahead))])
        if can_fail is False:
            return len(ahead)
        if can_fail is None or len(samples.points) == known:
            break
        ahead = ahead[: next((n for n, f in enumerate(ahead) if samples.breaks(f, 1 << known)), len(ahead) - 1)]
    return next(
        (n for n, f in enumerate(ahead) if questions.ask([*beside, questions.negated(f)]) is not False), len(ahead)
    )


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
        self._given = list(clauses)
        # Many questions: they wait until someone reads the clauses, or no sample shows that these can hold.
        self._filtered = budget_stage(
            REDUCED, partial(without_implied, questions, self._given, needed), self._unfiltered
        )
        self._clauses = self._given
        self.origins: dict[Formula, Formula] = {}
        self._tally = (-1, 0, 0)
        self._result = budget_stage(REDUCED, self._reduced, self._unreduced)
        self.satisfiable = True if questions.samples.all_hold(self._given) else self._can_hold()

    def _unfiltered(self) -> list[Formula]:
        self.questions.stopped()
        return self._given

    @property
    def violable(self) -> bool | None:
        """Whether the clauses can fail; None if undecided. Often a sample decides it, without reducing them."""
        return True if self._is_shown_to_fail(self._given) else self.result.violable

    @property
    def result(self) -> ReducedClauses:
        """The remaining clauses, and what is known about them."""
        self._filtered()  # within a share of its own
        return self._result()

    def _unreduced(self) -> ReducedClauses:
        """Return the clauses unreduced, because effort ran out: each may be redundant."""
        self.questions.stopped()
        filtered = self._filtered()
        return ReducedClauses(filtered, set(filtered), True if self._is_shown_to_fail(filtered) else None)

    def _reduced(self) -> ReducedClauses:
        self._clauses = list(self._filtered())
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
            unproven, violable = set(self._clauses), True if self._is_shown_to_fail(self._clauses) else None
        return ReducedClauses(list(self._clauses), unproven, violable)

    def _can_hold(self) -> bool | None:
        filtered = self._filtered()
        return self.questions.possible(filtered, self.questions.samples.all_hold(filtered))

    def _can_fail(self) -> bool | None:
        return self.questions.possible(
            [any_of(map(self.questions.negated, self._clauses))], int(self._is_shown_to_fail(self._clauses))
        )

    def _is_shown_to_fail(self, formulas: Iterable[Formula]) -> bool:
        samples = self.questions.samples
        return any(samples.breaks(formula, samples.everywhere) for formula in formulas)

    def _possible_beside(self, extra: Sequence[Formula], shown: int, without: Formula) -> bool | None:
        """Return whether ``extra`` can hold where all clauses but one do, or might because of a term without a value.

        ``shown`` are samples where they do.
        """
        others = [self.questions.opened(c) for c in self._clauses if c is not without]
        return self.questions.possible([*others, *extra], shown)

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
