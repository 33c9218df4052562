"""Pairs of rules: the sizes at which both accept and agree, only one accepts, or the outputs differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import combinations

from symbcast.answers.comparison.rule_answers import (
    Agreement,
    AgreementCount,
    ComparisonQuestion,
    Example,
    Outcomes,
    RuleAnswer,
    SizeTuple,
    answer_of,
    elements_moved,
    read_rule,
)
from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, clauses, different, equal, negate
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import CostedValue, answer_property, compute_once, one_call
from symbcast.core.rules import Rule
from symbcast.core.rules.broadcast_rule import same_output
from symbcast.core.shapes import Shape
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.simplification.simplify import simplified
from symbcast.core.solver.simplification.two_level import OneOf
from symbcast.core.verdicts import HasVerdict, Possible, Verdict, possible
from symbcast.errors import ShapeTypeError


class Region(HasVerdict):
    """The sizes, within the assumptions, at which two rules relate in one way, such as both accepting and agreeing."""

    def __init__(self, standings: PairAgreements, way: Agreement) -> None:
        self._standings = standings
        self._way = way

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self._standings.question.budget

    @answer_property
    def is_empty(self) -> bool | None:
        """Whether the region contains no sizes; None if that was not decided."""
        # No property of a region is a `cached_property`: what effort or a clock cut short must not be remembered.
        counted = self._standings.counted
        return self._sizes.is_empty if counted is None else not counted.counts[self._way]

    @answer_property
    def _possible(self) -> Possible:
        counted = self._standings.counted
        if counted is None:
            return possible(self._sizes.verdict)
        count = counted.counts[self._way]
        return count > 0, count < counted.total

    @answer_property
    def condition(self) -> Condition:
        """The condition on sizes to be in the region, under the assumptions."""
        question = self._standings.question
        match self.verdict:
            case Verdict.ALWAYS:
                return question.condition(TRUE)
            case Verdict.NEVER:
                return question.condition(FALSE)
        common, alternatives = self._standings.parts(self._way)
        return question.condition(simplified(all_of((*common, any_of(alternatives))), question.scope.assumption_set))

    @answer_property
    def example(self) -> Example | None:
        """The smallest sizes in the region, with the shapes and outputs there; None if none exist or were found."""
        standings = self._standings
        if standings.counted is not None:
            number = standings.counted.first.get(self._way)
            return None if number is None else standings.example_at(number)
        sizes = None if self.is_empty else self._sizes.witness()
        return None if sizes is None else standings.example(sizes)

    @property
    def reason(self) -> str:
        """Why it was not decided whether the region contains no sizes, or all."""
        return self._sizes.reason if self.verdict is Verdict.UNKNOWN else ""

    @answer_property
    def _sizes(self) -> OneOf:
        """The region in the form that the solver decides."""
        return self._standings.one_of(self._way)

    def __repr__(self) -> str:
        return f"<Region {self.condition}>"


class PairRegions:
    """The regions of each pair of rules; rules with the same requirements and output have the same regions."""

    def __init__(self, question: ComparisonQuestion, answers: Sequence[RuleAnswer]) -> None:
        self._question = question
        self._outcomes = Outcomes(question, answers)
        self._found: dict[tuple[int, int], dict[Agreement, Region]] = {}
        self._decided: dict[tuple[Formula, ...], CostedValue[Decision] | None] = {}

    def are_one_law(self, first: RuleAnswer, second: RuleAnswer) -> bool:
        """Return whether two rules have the same requirements and output."""
        return self._outcomes.law(first) == self._outcomes.law(second)

    def between(self, first: RuleAnswer, second: RuleAnswer) -> dict[Agreement, Region]:
        """Return the regions of two rules."""
        laws = self._outcomes.law(first), self._outcomes.law(second)
        if laws not in self._found:
            standings = PairAgreements(self._question, self._outcomes, self.decided, first, second)
            self._found[laws] = {way: Region(standings, way) for way in Agreement}
        return self._found[laws]

    def decided(self, formulas: Sequence[Formula]) -> Decision:
        """Return the decision about formulas under the assumptions."""
        key = tuple(formulas)
        assumptions = self._question.scope.assumption_set
        decision, self._decided[key] = compute_once(self._decided.get(key), lambda: Decision(assumptions, formulas))
        return decision


class PairAgreements:
    """Two rules on the same shapes: the formulas of each way in which they can relate, and examples."""

    def __init__(
        self,
        question: ComparisonQuestion,
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
    def counted(self) -> AgreementCount | None:
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

    def one_of(self, way: Agreement) -> OneOf:
        """Return the sizes at which the rules relate in a given way, in the form that the solver decides."""
        common, alternatives = self.parts(way)
        return OneOf(self._decided(common), common, alternatives)

    def parts(self, way: Agreement) -> tuple[Sequence[Formula], Sequence[Formula]]:
        """Return the formulas that hold where the rules relate in a given way, and alternatives: at least one holds."""
        first, second = self._first.required, self._second.required
        match way:
            case Agreement.AGREE:
                # An axis that lies elsewhere combines other elements, unless it has only one.
                return (*first, *second, *self._same, *(equal(size, 1) for size in self._moved)), (TRUE,)
            case Agreement.APART:
                return (*first, *second, *self._same), [different(size, 1) for size in self._moved]
            case Agreement.DIFFER:
                return (*first, *second), [negate(f) for f in self._same]
            case Agreement.ONLY_FIRST:
                # Common requirements hold where the first accepts: only the second's other requirements can fail there.
                return first, [negate(f) for f in second if f not in first]
            case Agreement.ONLY_SECOND:
                return second, [negate(f) for f in first if f not in second]
            case Agreement.NEITHER:
                # Each refuses for a reason of its own: the two need not fail in the same requirement.
                return (any_of(map(negate, first)),), [negate(f) for f in second]

    @cached_property
    def _same(self) -> tuple[Formula, ...]:
        if self._first.result is None or self._second.result is None:
            return (FALSE,)
        return clauses(same_output(self._first.output, self._second.output))

    @cached_property
    def _moved(self) -> list[Dim]:
        """The sizes of the axes that the rules place on different axes of the output."""
        return [self.question.shapes[n].dims[i] for n, i in elements_moved(self._first, self._second)]


class Order(Enum):
    """How one rule compares with another; `REFINES`: the other accepts everything that it accepts, and agrees there."""

    EQUAL = "equal"
    REFINES = "refines"
    REFINED_BY = "refined by"
    NEITHER = "neither"
    UNKNOWN = "unknown"


class Pair:
    """Two rules on the same shapes.

    Attributes:
        first, second: The answers of the two rules.
        agree: Where both accept the shapes, with the same output.
        apart: Where both accept them, with outputs of the same shape, but place an axis of size other than 1 on
            different output axes: different elements are combined there.
        differ: Where both accept them, with different outputs.
        only_first, only_second: Where one accepts them and the other does not.
    """

    def __init__(self, regions: PairRegions, first: RuleAnswer, second: RuleAnswer) -> None:
        self.first = first
        self.second = second
        between = regions.between(first, second)
        self._is_one_law = regions.are_one_law(first, second)
        self.agree = between[Agreement.AGREE]
        self.apart = between[Agreement.APART]
        self.differ = between[Agreement.DIFFER]
        self.only_first = between[Agreement.ONLY_FIRST]
        self.only_second = between[Agreement.ONLY_SECOND]

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self.first.budget

    @answer_property
    def order(self) -> Order:
        """Whether the rules are equal here, or one refines the other: it accepts less, with the same output there."""
        if self._is_one_law:
            return Order.EQUAL
        alike = _both(self.differ.is_empty, self.apart.is_empty)
        return order_of(self.only_first.is_empty, self.only_second.is_empty, alike)

    @property
    def reason(self) -> str:
        """Why their relation was not decided."""
        if self.order is not Order.UNKNOWN:
            return ""
        return next((r.reason for r in self.regions.values() if r.reason), "")

    @property
    def regions(self) -> dict[str, Region]:
        """The regions by name."""
        names = ("agree", "apart", "differ", "only_first", "only_second")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"<Pair {self.first.rule}, {self.second.rule}: {self.order.value}>"


def _both(left: bool | None, right: bool | None) -> bool | None:
    """Return the conjunction of two facts; None if that is not decided."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def order_of(first_within: bool | None, second_within: bool | None, alike: bool | None) -> Order:
    """Return how two rules compare: whether each accepts all that the other does, and whether their outputs agree."""
    # One refutation suffices, even where the other questions were not decided.
    if alike is False or (first_within is False and second_within is False):
        return Order.NEITHER
    if None in (first_within, second_within, alike):
        return Order.UNKNOWN
    if first_within:
        return Order.EQUAL if second_within else Order.REFINES
    return Order.REFINED_BY


@dataclass(frozen=True)
class Separation:
    """Shapes on which two rules differ.

    Attributes:
        shapes: The two shapes.
        first: The output by the first rule; None if it refuses them.
        second: The output by the second.
    """

    shapes: tuple[SizeTuple, ...]
    first: SizeTuple | None
    second: SizeTuple | None

    def __str__(self) -> str:
        if self.first == self.second:
            return f"{' and '.join(map(str, self.shapes))}: both give {self.first}, with different elements"
        outputs = ("refuses" if output is None else f"gives {output}" for output in (self.first, self.second))
        return f"{' and '.join(map(str, self.shapes))}: the first {', the second '.join(outputs)}"


@dataclass(frozen=True)
class RankRelation:
    """How one rule relates to another on all pairs of shapes up to a rank; `Relation` is its public form.

    Attributes:
        first: The first rule, as text.
        second: The second rule, as text.
        rank: The highest rank that was checked.
        order: Equal; refines, where the second accepts all that the first does, with the same output; refined by, where
            it is the other way round; or neither. Unknown if that was not decided.
        separations: The smallest shapes, by rank and then by sizes, that show why the rules are not equal, or why
            neither refines the other: only one accepts them, or the outputs differ, or equal outputs have an axis
            placed elsewhere.
        reason: Why it was not decided.
    """

    first: str
    second: str
    rank: int
    order: Order
    separations: tuple[Separation, ...] = ()
    reason: str = ""


class RuleAnswers:
    """The answers of several rules for the same shapes; `Comparison` is its public form.

    Everything except the rules' own answers is computed on demand.

    Attributes:
        answers: The answer of each rule, in the order of the rules.
    """

    def __init__(self, question: ComparisonQuestion, rules: Iterable[Rule]) -> None:
        self._question = question
        self.answers: tuple[RuleAnswer, ...] = tuple(answer_of(rule, question) for rule in rules)
        self._regions = PairRegions(question, self.answers)

    # Properties, because a comparison is hashed by its question: what was asked must not be set.

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes."""
        return self._question.shapes

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions, as the caller wrote them."""
        return tuple(a.text for a in self._question.scope.assumptions)

    @property
    def min_size(self) -> int:
        """The minimum size of every symbol."""
        return self._question.scope.min_size

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self._question.budget

    @property
    def names(self) -> Mapping[Symbol, str]:
        """The name of each size, in order of appearance."""
        return self._question.scope.names

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs of rules, in the order of the rules."""
        return tuple(Pair(self._regions, a, b) for a, b in combinations(self.answers, 2))

    @answer_property
    def groups(self) -> tuple[tuple[RuleAnswer, ...], ...]:
        """The rules grouped by equal answers for these shapes."""
        groups: list[list[RuleAnswer]] = []
        equal = {(id(p.first), id(p.second)) for p in self.pairs if p.order is Order.EQUAL}
        for answer in self.answers:
            group = next((g for g in groups if (id(g[0]), id(answer)) in equal), None)
            if group is None:
                groups.append([answer])
            else:
                group.append(answer)
        return tuple(map(tuple, groups))

    @one_call
    def pair(self, first: str | Rule, second: str | Rule) -> Pair:
        """Return the comparison of two of the rules, each given by name or as it was given to `compare`.

        >>> from symbcast.answers.comparison import compare
        >>> compare("N, 3", "M, 1", rules=["numpy", "none"]).pair("none", "numpy").order
        <Order.REFINES: 'refines'>
        """
        answers = [self._answer(rule) for rule in (first, second)]
        return Pair(self._regions, *answers)

    def _answer(self, rule: str | Rule) -> RuleAnswer:
        named = read_rule(rule)
        for answer in self.answers:
            if answer.rule_asked == named:
                return answer
        raise ShapeTypeError(rule, "one of the rules", f"these are {', '.join(a.rule for a in self.answers)}")

    @property
    def _rules(self) -> tuple[tuple[str, Rule], ...]:
        return tuple((a.rule, a.rule_asked) for a in self.answers)

    def __eq__(self, other: object) -> bool:
        """Return whether the same rules were compared on the same shapes."""
        return isinstance(other, RuleAnswers) and (self._question, self._rules) == (other._question, other._rules)

    def __hash__(self) -> int:
        return hash((self._question, self._rules))

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(a.rule for a in self.answers)} on {', '.join(map(str, self.shapes))}>"
