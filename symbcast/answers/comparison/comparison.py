"""Rules compared on some shapes: `compare`, and the `Comparison` that it returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from symbcast.answers.comparison.compared import Compared
from symbcast.answers.comparison.data import ComparisonData, comparison_to_dict, json_schema
from symbcast.answers.comparison.document import document
from symbcast.answers.comparison.question import Question
from symbcast.answers.comparison.rule_texts import read_rule
from symbcast.answers.show import html, text
from symbcast.core.broadcasting import Rule
from symbcast.core.broadcasting.registry import listed_rules, rules_without_attributes
from symbcast.core.characters import parts_of_list
from symbcast.core.guesses import Guessable
from symbcast.core.program.sizes.assumptions import Assumptions
from symbcast.core.shapes import ShapeLike
from symbcast.core.signatures import with_advice
from symbcast.core.solver.budget import one_call
from symbcast.errors import ShapeTypeError


@with_advice
@one_call
def compare(
    *shapes: ShapeLike,
    rules: Iterable[str | Rule] = (),
    assume: Assumptions = (),
    min_size: int = 0,
    budget: float | None = None,
) -> Comparison:
    """Compare several rules on the same shapes, and return where they differ.

    ``shapes`` are given to each rule in the order of its operands. ``rules`` are names, with attributes in parentheses,
    or `Rule` objects; by default all rules that need no attributes. ``assume``, ``min_size`` and ``budget`` are as in
    `symbcast.broadcast`. A rule that does not accept this number of shapes or these ranks refuses them.

    Raises a `SymbcastError` for wrong input: text, rules, attributes, or assumptions that contradict each other.

    >>> found = compare("N, C, H, W", "C, 1, K", rules=["pdpd(axis=1)", "numpy"])
    >>> (pair,) = found.pairs
    >>> pair.order, pair.only_second.condition, pair.only_second.example.sizes
    (<Order.REFINES: 'refines'>, Condition('W == 1 and K != 1'), {'N': 1, 'C': 1, 'H': 1, 'W': 1, 'K': 2})
    """
    if isinstance(rules, (str, Rule)) or not isinstance(rules, Iterable):
        wanted = parts_of_list(rules) if isinstance(rules, str) else ["numpy", "pdpd(axis=1)"]
        raise ShapeTypeError(rules, "several rules", f"write a list: rules={wanted}")
    given = [s for s in shapes[2:] if isinstance(s, str) and s.isidentifier() and s in _names_of_rules()]
    if given:
        raise ShapeTypeError(given[0], "a shape but a rule", f"write rules=[{', '.join(map(repr, given))}]")
    found = [read_rule(rule) for rule in rules] or rules_without_attributes()
    return Comparison(Question(shapes, assume, min_size, budget), found)


def _names_of_rules() -> set[str]:
    return {name for info in listed_rules(with_plugins=False) for name in (info.name, *info.aliases)}


class Comparison(Guessable, Compared):
    """The answers of several rules for the same shapes, and where they differ.

    It has no truth value: check the ``order`` of its ``pairs``.
    """

    @one_call
    def explain(self) -> str:
        """Return the comparison in words: the answer of each rule, and where and how rules differ."""
        return text.render(document(self))

    @one_call
    def to_dict(self) -> ComparisonData:
        """Return the comparison as data for JSON, as `json_schema` describes it."""
        return comparison_to_dict(self)

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        return json_schema()

    def __str__(self) -> str:
        return self.explain()

    def __bool__(self) -> NoReturn:
        raise TypeError("a comparison has no truth value: ask its .pairs for their .order")

    @one_call
    def _repr_html_(self) -> str:
        return html.render(document(self))
