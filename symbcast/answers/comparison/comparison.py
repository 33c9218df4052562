"""Rules compared: `compare` on given shapes, `relation` on all shapes up to a rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NoReturn

from symbcast.answers.comparison import regions
from symbcast.answers.comparison.comparison_document import (
    comparison_document,
    comparison_schema,
    comparison_to_dict,
    relation_document,
    relation_to_dict,
)
from symbcast.answers.comparison.regions import Order, Pair, PairRegions, RankRelation, RuleAnswers, Separation
from symbcast.answers.comparison.rule_answers import ComparisonQuestion, answer_of, read_rule
from symbcast.answers.data import ComparisonData, RelationData
from symbcast.answers.explanation.words import rule_text
from symbcast.answers.show.document import Document, Room
from symbcast.answers.show.documented import Explained
from symbcast.core.advice import Guessable, with_advice
from symbcast.core.algebra.symbols import symbol
from symbcast.core.characters import parts_of_list
from symbcast.core.effort import check_budget, one_call, within_optional
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.rules import Rule
from symbcast.core.rules.registry import listed_rules, rules_without_attributes
from symbcast.core.shapes import Shape, ShapeLike, shape_of
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
        example = parts_of_list(rules) if isinstance(rules, str) else ["numpy", "pdpd(axis=1)"]
        raise ShapeTypeError(rules, "several rules", f"write a list: rules={example}")
    names = [s for s in shapes[2:] if isinstance(s, str) and s.isidentifier() and s in _names_of_rules()]
    if names:
        raise ShapeTypeError(names[0], "a shape but a rule", f"write rules=[{', '.join(map(repr, names))}]")
    chosen = [read_rule(rule) for rule in rules] or rules_without_attributes()
    return Comparison(ComparisonQuestion(shapes, assume, min_size, budget), chosen)


def _names_of_rules() -> set[str]:
    return {name for info in listed_rules(with_plugins=False) for name in (info.name, *info.aliases)}


class Comparison(Guessable, Explained, RuleAnswers):
    """The answers of several rules for the same shapes, and where they differ.

    It has no truth value: check the ``order`` of its ``pairs``.
    """

    @one_call
    def _document(self, *_room: Room) -> Document:
        return comparison_document(self)

    @one_call
    def to_dict(self) -> ComparisonData:
        """Return the comparison as data for JSON, as `json_schema` describes it."""
        return comparison_to_dict(self)

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        return comparison_schema()

    def __bool__(self) -> NoReturn:
        raise TypeError("a comparison has no truth value: ask its .pairs for their .order")


# Ranks above this are not asked about.
HIGHEST = 8


class Relation(Guessable, Explained, RankRelation):
    """How one rule relates to another on all pairs of shapes up to a rank. It has no truth value: see ``order``."""

    def _document(self, *_room: Room) -> Document:
        return relation_document(self)

    def to_dict(self) -> RelationData:
        """Return the relation as data for JSON."""
        return relation_to_dict(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a relation has no truth value: compare its .order")


@with_advice
@one_call
def relation(first: str | Rule, second: str | Rule, rank: int = 3, budget: float | None = None) -> Relation:
    """Return how two rules relate on all pairs of shapes of at most some rank, of any sizes.

    Rules are given as to `compare`. The shapes are given to both in the same order. ``budget`` is the time limit in
    seconds for the whole comparison; if questions are still open then, the order is unknown. Raises `ShapeTypeError`
    for a rank outside 0 to 8.

    >>> found = relation("numpy", "unidirectional", rank=3)
    >>> found.order, str(found.separations[0])
    (<Order.REFINED_BY: 'refined by'>, '(1,) and (): the first gives (1,), the second refuses')
    """
    check_rank(rank)
    with within_optional(check_budget(budget)):
        return _related((read_rule(first), read_rule(second)), rank)


def _related(rules: tuple[Rule, Rule], rank: int) -> Relation:
    seen: dict[str, Separation] = {}
    open_reason, order = "", Order.EQUAL
    for shapes in _shapes(rank):
        question = ComparisonQuestion(shapes)
        answers = [answer_of(rule, question) for rule in rules]
        pair = Pair(PairRegions(question, answers), *answers)
        if pair.order is Order.UNKNOWN:
            open_reason = open_reason or pair.reason
        if pair.order is not Order.EQUAL:
            apart = pair.differ.example or pair.apart.example
            for way, example in zip(_WAYS, (apart, pair.only_first.example, pair.only_second.example), strict=True):
                if example is not None:
                    seen.setdefault(way, Separation(example.shapes, example.first, example.second))
        order = regions.order_of("first" not in seen, "second" not in seen, "differ" not in seen)
        # Separations are only added: no further ranks change this order.
        if order is Order.NEITHER:
            break
    order = Order.UNKNOWN if open_reason and order is not Order.NEITHER else order
    shown = tuple(seen[way] for way in _WAYS if way in seen)
    return Relation(rule_text(rules[0]), rule_text(rules[1]), rank, order, shown, open_reason)


# The ways in which rules can differ: other outputs, or one alone accepts. One separation is shown for each.
_WAYS = ("differ", "first", "second")


def check_rank(rank: object) -> None:
    """Raise `ShapeTypeError` for an invalid limit on the rank."""
    if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank <= HIGHEST:
        hint = f"write a highest rank from 0 to {HIGHEST}"
        raise ShapeTypeError(rank, "a rank up to which rules are compared", hint)


def _shapes(rank: int) -> Iterator[tuple[Shape, Shape]]:
    """Yield two shapes of free sizes for each pair of ranks, those with the fewest axes first."""
    ranks = sorted(product(range(rank + 1), repeat=2), key=lambda pair: (sum(pair), pair[::-1]))
    for first, second in ranks:
        left, right = ([symbol(f"{name}{n}") for n in range(count)] for name, count in (("a", first), ("b", second)))
        yield shape_of(left), shape_of(right)
