"""Two rules on the same shapes: where both accept and agree, where one alone accepts, and where the outputs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from symbcast.api.conditions import Condition
from symbcast.broadcasting.outputs import same_output
from symbcast.comparison.answers import RuleAnswer
from symbcast.comparison.outcomes import Example, Outcomes, Standing, Way, moved
from symbcast.comparison.question import Question
from symbcast.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, clauses, different, equal, negate
from symbcast.solver.decision import Decision
from symbcast.solver.simplification import simplified
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


class Order(Enum):
    """How one rule compares with another: `REFINES` where the other accepts all that it accepts, and agrees there."""

    EQUAL = "equal"
    REFINES = "refines"
    REFINED_BY = "refined by"
    NEITHER = "neither"
    UNKNOWN = "unknown"


class Region:
    """The sizes, of those that are assumed, at which two rules stand to each other in one way."""

    def __init__(self, pair: Pair, way: Way) -> None:
        self._pair = pair
        self._way = way

    @cached_property
    def is_empty(self) -> bool | None:
        """Whether there are no such sizes; None where that was not decided."""
        standing = self._standing
        if standing is not None:
            return not standing.counts[self._way]
        verdicts = {d.verdict for d in self._decisions}
        if not verdicts <= {Verdict.NEVER, Verdict.UNKNOWN}:
            return False
        return None if Verdict.UNKNOWN in verdicts else True

    @cached_property
    def verdict(self) -> Verdict:
        """Whether all sizes are such, some, or none; unknown where that was not decided."""
        if self.is_empty:
            return Verdict.NEVER
        standing = self._standing
        if standing is not None:
            return Verdict.ALWAYS if standing.counts[self._way] == standing.total else Verdict.SOMETIMES
        return Decision(self._pair.question.scope.knowledge, [self._formula]).verdict

    @cached_property
    def condition(self) -> Condition:
        """At which sizes it is so, under the assumptions."""
        question = self._pair.question
        match self.verdict:
            case Verdict.ALWAYS:
                return question.condition(TRUE)
            case Verdict.NEVER:
                return question.condition(FALSE)
        return question.condition(simplified(self._formula, question.scope.knowledge))

    @cached_property
    def example(self) -> Example | None:
        """The smallest such sizes, with the shapes and the outputs there; None where there are none, or none found."""
        pair, standing = self._pair, self._standing
        if standing is not None:
            number = standing.first.get(self._way)
            return None if number is None else pair.outcomes.example(number, pair.first, pair.second)
        sizes = self._smallest()
        return None if sizes is None else pair.at(sizes)

    @property
    def reason(self) -> str:
        """Why it was not decided whether there are such sizes, or whether all are."""
        if self.verdict is not Verdict.UNKNOWN:
            return ""
        return next((d.reason for d in self._decisions if d.reason), "")

    @property
    def _standing(self) -> Standing | None:
        return self._pair.standing

    @property
    def _formula(self) -> Formula:
        common, alternatives = self._pair.parts(self._way)
        return all_of((*common, any_of(alternatives)))

    @cached_property
    def _decisions(self) -> list[Decision]:
        """What is decided of each alternative by itself, which is less work than of all at once."""
        common, alternatives = self._pair.parts(self._way)
        knowledge = self._pair.question.scope.knowledge
        return [Decision(knowledge, [*common, alternative]) for alternative in alternatives]

    def _smallest(self) -> dict[str, int] | None:
        names = self._pair.question.scope.names
        witnesses = [w for w in (d.witness() for d in self._decisions) if w is not None]
        found = [[w[s] for s in names] for w in witnesses]
        if not found:
            return None
        best = min(found, key=lambda sizes: (sizes.count(0), sum(sizes), sizes))
        return dict(zip(names.values(), best, strict=True))

    def __repr__(self) -> str:
        return f"<Region {self.condition}>"


class Pair:
    """Two rules on the same shapes.

    Attributes:
        first, second: What each says.
        agree: Where both accept the shapes, with the same output.
        apart: Where both accept them, with outputs of the same shape, but lay an axis of another size than 1 on
            different axes of it: other elements come together there.
        differ: Where both accept them, with different outputs.
        only_first, only_second: Where one accepts them and the other does not.
    """

    def __init__(self, question: Question, outcomes: Outcomes, first: RuleAnswer, second: RuleAnswer) -> None:
        self.first = first
        self.second = second
        self.question = question
        self.outcomes = outcomes
        self.agree = Region(self, Way.AGREE)
        self.apart = Region(self, Way.APART)
        self.differ = Region(self, Way.DIFFER)
        self.only_first = Region(self, Way.ONLY_FIRST)
        self.only_second = Region(self, Way.ONLY_SECOND)

    @cached_property
    def order(self) -> Order:
        """Whether the rules say the same here, or one refines the other: all that it accepts, the other does alike."""
        if self.outcomes.law(self.first) == self.outcomes.law(self.second):
            return Order.EQUAL
        alike = _both(self.differ.is_empty, self.apart.is_empty)
        return order_of(self.only_first.is_empty, self.only_second.is_empty, alike)

    @property
    def reason(self) -> str:
        """Why it was not decided how they stand to each other."""
        if self.order is not Order.UNKNOWN:
            return ""
        return next((r.reason for r in self.regions.values() if r.reason), "")

    @property
    def regions(self) -> dict[str, Region]:
        """The regions by name."""
        names = ("agree", "apart", "differ", "only_first", "only_second")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def standing(self) -> Standing | None:
        """How the rules stand to each other at the few sizes that stand for all, if there are such sizes."""
        return self.outcomes.standing(self.first, self.second)

    def parts(self, way: Way) -> tuple[Sequence[Formula], Sequence[Formula]]:
        """Return what holds where the rules stand in a way to each other, and the formulas of which one holds too."""
        first, second = self.first.required, self.second.required
        match way:
            case Way.AGREE:
                return (*first, *second, *self._same, *(equal(size, 1) for size in self._moved)), (TRUE,)
            case Way.APART:
                return (*first, *second, *self._same), [different(size, 1) for size in self._moved]
            case Way.DIFFER:
                return (*first, *second), [negate(f) for f in self._same]
            case Way.ONLY_FIRST:
                # What both ask holds where the first accepts: only the rest of what the second asks can fail there.
                return first, [negate(f) for f in second if f not in first]
            case Way.ONLY_SECOND:
                return second, [negate(f) for f in first if f not in second]
            case Way.NEITHER:
                return (any_of(map(negate, first)),), [negate(f) for f in second]

    def at(self, sizes: Mapping[str, int]) -> Example:
        """Return the shapes at some sizes, and what each rule gives there."""
        shapes = self.question.at(sizes)
        return Example(sizes, shapes, self.first.at(shapes), self.second.at(shapes))

    @cached_property
    def _same(self) -> tuple[Formula, ...]:
        if self.first.result is None or self.second.result is None:
            return (FALSE,)
        return clauses(same_output(self.first.output, self.second.output))

    @cached_property
    def _moved(self) -> list[Dim]:
        """The sizes of the axes that the rules lay on different axes of the output."""
        return [self.question.shapes[n].dims[i] for n, i in moved(self.first, self.second)]

    def __repr__(self) -> str:
        return f"<Pair {self.first.rule}, {self.second.rule}: {self.order.value}>"


def _both(left: bool | None, right: bool | None) -> bool | None:
    """Return whether two things hold; None where that was not decided."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def order_of(first_within: bool | None, second_within: bool | None, alike: bool | None) -> Order:
    """Return how two rules compare: whether each accepts all that the other does, and whether their outputs agree."""
    if alike is False or (first_within is False and second_within is False):
        return Order.NEITHER
    if None in (first_within, second_within, alike):
        return Order.UNKNOWN
    if first_within:
        return Order.EQUAL if second_within else Order.REFINES
    return Order.REFINED_BY
