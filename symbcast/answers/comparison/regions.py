"""The sizes at which two rules relate in one way: both accept and agree, only one accepts, and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from symbcast.answers.comparison.answers import RuleAnswer
from symbcast.answers.comparison.outcomes import Example, Outcomes, Standing, Way, moved
from symbcast.answers.comparison.question import Question
from symbcast.answers.public.conditions import Condition
from symbcast.core.broadcasting.outputs import same_output
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, clauses, different, equal, negate
from symbcast.core.solver.budget import answered, once
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.simplification.alternatives import OneOf
from symbcast.core.solver.simplification.simplification import simplified
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.effort import Kept


class Region:
    """The sizes, within the assumptions, at which two rules relate in one way, such as both accepting and agreeing."""

    def __init__(self, standings: Standings, way: Way) -> None:
        self._standings = standings
        self._way = way

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self._standings.question.budget

    @answered
    def is_empty(self) -> bool | None:
        """Whether the region contains no sizes; None if that was not decided."""
        met = self._standings.met
        return self._sizes.is_empty if met is None else not met.counts[self._way]

    @answered
    def verdict(self) -> Verdict:
        """Whether all sizes are in the region, some, or none; unknown if that was not decided."""
        met = self._standings.met
        if met is None:
            return self._sizes.verdict
        count = met.counts[self._way]
        return Verdict.ALWAYS if count == met.total > 0 else Verdict.SOMETIMES if count else Verdict.NEVER

    @answered
    def condition(self) -> Condition:
        """The condition on sizes to be in the region, under the assumptions."""
        question = self._standings.question
        match self.verdict:
            case Verdict.ALWAYS:
                return question.condition(TRUE)
            case Verdict.NEVER:
                return question.condition(FALSE)
        common, alternatives = self._standings.parts(self._way)
        return question.condition(simplified(all_of((*common, any_of(alternatives))), question.scope.knowledge))

    @answered
    def example(self) -> Example | None:
        """The smallest sizes in the region, with the shapes and outputs there; None if none exist or were found."""
        standings = self._standings
        if standings.met is not None:
            number = standings.met.first.get(self._way)
            return None if number is None else standings.example_at(number)
        sizes = None if self.is_empty else self._sizes.witness()
        return None if sizes is None else standings.example(sizes)

    @property
    def reason(self) -> str:
        """Why it was not decided whether the region contains no sizes, or all."""
        return self._sizes.reason if self.verdict is Verdict.UNKNOWN else ""

    @answered
    def _sizes(self) -> OneOf:
        """The region in the form that the solver decides."""
        return self._standings.one_of(self._way)

    def __repr__(self) -> str:
        return f"<Region {self.condition}>"


class Regions:
    """The regions of each pair of rules; rules with the same requirements and output have the same regions."""

    def __init__(self, question: Question, answers: Sequence[RuleAnswer]) -> None:
        self._question = question
        self._outcomes = Outcomes(question, answers)
        self._found: dict[tuple[int, int], dict[Way, Region]] = {}
        self._decided: dict[tuple[Formula, ...], Kept[Decision] | None] = {}

    def are_one_law(self, first: RuleAnswer, second: RuleAnswer) -> bool:
        """Return whether two rules have the same requirements and output."""
        return self._outcomes.law(first) == self._outcomes.law(second)

    def between(self, first: RuleAnswer, second: RuleAnswer) -> dict[Way, Region]:
        """Return the regions of two rules."""
        laws = self._outcomes.law(first), self._outcomes.law(second)
        if laws not in self._found:
            standings = Standings(self._question, self._outcomes, self.decided, first, second)
            self._found[laws] = {way: Region(standings, way) for way in Way}
        return self._found[laws]

    def decided(self, formulas: Sequence[Formula]) -> Decision:
        """Return the decision about formulas under the assumptions."""
        key = tuple(formulas)
        knowledge = self._question.scope.knowledge
        found, self._decided[key] = once(self._decided.get(key), lambda: Decision(knowledge, formulas))
        return found


class Standings:
    """Two rules on the same shapes: the formulas of each way in which they can relate, and examples."""

    def __init__(
        self,
        question: Question,
        outcomes: Outcomes,
        decided: Callable[[Sequence[Formula]], Decision],
        first: RuleAnswer,
        second: RuleAnswer,
    ) -> None:
        self.question = question
        self._outcomes = outcomes
        self._decided = decided
        self._first = first
        self._second = second

    @cached_property
    def met(self) -> Standing | None:
        """How the rules relate at the few sizes that represent all, if such sizes exist."""
        return self._outcomes.standing(self._first, self._second)

    def example_at(self, number: int) -> Example:
        """Return the example at one of these few sizes."""
        return self._outcomes.example(number, self._first, self._second)

    def example(self, sizes: Mapping[Symbol, int]) -> Example:
        """Return the example at some sizes."""
        named = {name: sizes[s] for s, name in self.question.scope.names.items()}
        shapes = self.question.at(named)
        return Example(named, shapes, self._first.at(shapes), self._second.at(shapes))

    def one_of(self, way: Way) -> OneOf:
        """Return the sizes at which the rules relate in a given way, in the form that the solver decides."""
        common, alternatives = self.parts(way)
        return OneOf(self._decided(common), common, alternatives)

    def parts(self, way: Way) -> tuple[Sequence[Formula], Sequence[Formula]]:
        """Return the formulas that hold where the rules relate in a given way, and alternatives: at least one holds."""
        first, second = self._first.required, self._second.required
        match way:
            case Way.AGREE:
                return (*first, *second, *self._same, *(equal(size, 1) for size in self._moved)), (TRUE,)
            case Way.APART:
                return (*first, *second, *self._same), [different(size, 1) for size in self._moved]
            case Way.DIFFER:
                return (*first, *second), [negate(f) for f in self._same]
            case Way.ONLY_FIRST:
                # Common requirements hold where the first accepts: only the second's other requirements can fail there.
                return first, [negate(f) for f in second if f not in first]
            case Way.ONLY_SECOND:
                return second, [negate(f) for f in first if f not in second]
            case Way.NEITHER:
                return (any_of(map(negate, first)),), [negate(f) for f in second]

    @cached_property
    def _same(self) -> tuple[Formula, ...]:
        if self._first.result is None or self._second.result is None:
            return (FALSE,)
        return clauses(same_output(self._first.output, self._second.output))

    @cached_property
    def _moved(self) -> list[Dim]:
        """The sizes of the axes that the rules place on different axes of the output."""
        return [self.question.shapes[n].dims[i] for n, i in moved(self._first, self._second)]
