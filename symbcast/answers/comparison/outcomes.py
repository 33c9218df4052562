"""Evaluate rules at the few sizes that represent all sizes, if such sizes exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.comparison.answers import RuleAnswer
from symbcast.answers.comparison.question import Question, Sizes
from symbcast.answers.comparison.small_models import small_models
from symbcast.core.logic.formulas import TRUE, all_of
from symbcast.core.solver.evaluation.evaluation import predicate

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class Example(NamedTuple):
    """Sizes, the shapes at these sizes, and each rule's output there; None if the rule refuses."""

    sizes: Mapping[str, int]
    shapes: tuple[Sizes, ...]
    first: Sizes | None
    second: Sizes | None


class Way(Enum):
    """How two rules relate at some sizes."""

    AGREE = auto()
    APART = auto()
    DIFFER = auto()
    ONLY_FIRST = auto()
    ONLY_SECOND = auto()
    NEITHER = auto()


class Standing(NamedTuple):
    """For each way two rules can relate: the number of checked sizes at which they do, and the first of these."""

    counts: dict[Way, int]
    first: dict[Way, int]
    total: int


class Outcomes:
    """The output of each rule at a few sizes; None if it refuses.

    ``models`` are those sizes, in the order of the symbols, smallest first; None if no small set represents all sizes.
    """

    def __init__(self, question: Question, answers: Sequence[RuleAnswer]) -> None:
        self._question = question
        self._answers = answers
        self._laws: dict[tuple[object, ...], int] = {}
        self._number: dict[int, int] = {}
        self._found: dict[int, list[Sizes | None]] = {}
        self._standings: dict[tuple[int, int], Standing] = {}

    def law(self, answer: RuleAnswer) -> int:
        """Return a number for a rule's requirements and output; rules with equal numbers behave the same here."""
        number = self._number.get(id(answer))
        if number is None:
            number = self._number[id(answer)] = self._laws.setdefault(answer.law, len(self._laws))
        return number

    @cached_property
    def models(self) -> list[Sizes] | None:
        """The sizes that represent all sizes that the assumptions allow."""
        scope, assumed = self._question.scope, self._question.assumed
        required = [f for answer in self._answers for f in answer.required]
        dims = [d for s in scope.shapes for d in s.dims]
        found = small_models(scope.symbols, dims, [*assumed, *required])
        known = all_of(assumed)
        if found is None or known == TRUE:
            return found
        is_assumed = predicate(known, scope.symbols)
        return [sizes for sizes in found if is_assumed(*sizes)]

    def standing(self, first: RuleAnswer, second: RuleAnswer) -> Standing | None:
        """Return how two rules relate at the models; None if there are no models."""
        if self.models is None:
            return None
        laws = self.law(first), self.law(second)
        if laws not in self._standings:
            is_apart = self._are_apart(moved(first, second))
            self._standings[laws] = _standing(self._of(first), self._of(second), is_apart)
        return self._standings[laws]

    def _are_apart(self, axes: Sequence[tuple[int, int]]) -> list[bool]:
        """Return for each model whether one of the axes, given by operand and number, has a size other than 1."""
        return [any(shapes[n][i] != 1 for n, i in axes) for shapes in self._shapes]

    def example(self, number: int, first: RuleAnswer, second: RuleAnswer) -> Example:
        """Return a model, by number, and the outputs of two rules there."""
        assert self.models is not None
        sizes = dict(zip(self._question.scope.names.values(), self.models[number], strict=True))
        return Example(sizes, self._shapes[number], self._of(first)[number], self._of(second)[number])

    def _of(self, answer: RuleAnswer) -> list[Sizes | None]:
        law = self.law(answer)
        if law not in self._found:
            self._found[law] = list(map(answer.at, self._shapes))
        return self._found[law]

    @cached_property
    def _shapes(self) -> list[tuple[Sizes, ...]]:
        """The shapes at each model."""
        places: dict[Dim, int] = {s: n for n, s in enumerate(self._question.scope.symbols)}
        written = [[d if isinstance(d, int) else ~places[d] for d in s.dims] for s in self._question.shapes]
        return [
            tuple([tuple([d if d >= 0 else sizes[~d] for d in shape]) for shape in written])
            for sizes in self.models or ()
        ]


def moved(first: RuleAnswer, second: RuleAnswer) -> list[tuple[int, int]]:
    """Return the axes, as pairs of operand and number, that two rules place on different output axes."""
    pairs = zip(first.places, second.places, strict=False)
    return [
        (n, i)
        for n, (ours, theirs) in enumerate(pairs)
        for i, (a, b) in enumerate(zip(ours, theirs, strict=False))
        if a != b
    ]


def _standing(first: Sequence[Sizes | None], second: Sequence[Sizes | None], is_apart: Sequence[bool]) -> Standing:
    ways = list(map(_way, first, second, is_apart))
    counts = {way: ways.count(way) for way in Way}
    return Standing(counts, {way: ways.index(way) for way, count in counts.items() if count}, len(ways))


def _way(first: Sizes | None, second: Sizes | None, is_apart: bool) -> Way:
    if first is None:
        return Way.NEITHER if second is None else Way.ONLY_SECOND
    if second is None:
        return Way.ONLY_FIRST
    return Way.DIFFER if first != second else Way.APART if is_apart else Way.AGREE
