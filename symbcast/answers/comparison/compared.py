"""The answers of several rules for some shapes, and each pair of rules compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from symbcast.answers.comparison.answers import RuleAnswer, answer_of
from symbcast.answers.comparison.pairs import Order, Pair
from symbcast.answers.comparison.question import Question
from symbcast.answers.comparison.regions import Regions
from symbcast.answers.comparison.rule_texts import read_rule
from symbcast.core.broadcasting import Rule
from symbcast.core.shapes import Shape
from symbcast.core.solver.budget import answered, one_call
from symbcast.errors import ShapeTypeError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


class Compared:
    """The answers of several rules for the same shapes; `Comparison` is its public form.

    Everything except the rules' own answers is computed on demand.

    Attributes:
        answers: The answer of each rule, in the order of the rules.
    """

    def __init__(self, question: Question, rules: Iterable[Rule]) -> None:
        self._question = question
        self.answers: tuple[RuleAnswer, ...] = tuple(answer_of(rule, question) for rule in rules)
        self._regions = Regions(question, self.answers)

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

    @answered
    def groups(self) -> tuple[tuple[RuleAnswer, ...], ...]:
        """The rules grouped by equal answers for these shapes."""
        found: list[list[RuleAnswer]] = []
        equal = {(id(p.first), id(p.second)) for p in self.pairs if p.order is Order.EQUAL}
        for answer in self.answers:
            group = next((g for g in found if (id(g[0]), id(answer)) in equal), None)
            if group is None:
                found.append([answer])
            else:
                group.append(answer)
        return tuple(map(tuple, found))

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
        wanted = read_rule(rule)
        for answer in self.answers:
            if answer.rule_asked == wanted:
                return answer
        raise ShapeTypeError(rule, "one of the rules", f"these are {', '.join(a.rule for a in self.answers)}")

    @property
    def _rules(self) -> tuple[tuple[str, Rule], ...]:
        return tuple((a.rule, a.rule_asked) for a in self.answers)

    def __eq__(self, other: object) -> bool:
        """Return whether the same rules were compared on the same shapes."""
        return isinstance(other, Compared) and (self._question, self._rules) == (other._question, other._rules)

    def __hash__(self) -> int:
        return hash((self._question, self._rules))

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(a.rule for a in self.answers)} on {', '.join(map(str, self.shapes))}>"
