"""How two rules relate on all shapes up to a rank: `relation`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NoReturn

from symbcast.answers.comparison.answers import answer_of
from symbcast.answers.comparison.data import RelationData, relation_to_dict
from symbcast.answers.comparison.document import relation_document
from symbcast.answers.comparison.outcomes import Example
from symbcast.answers.comparison.pairs import Order, Pair, order_of
from symbcast.answers.comparison.question import Question
from symbcast.answers.comparison.regions import Regions
from symbcast.answers.comparison.related import Related, Separation
from symbcast.answers.comparison.rule_texts import read_rule
from symbcast.answers.explanation.names import rule_text
from symbcast.answers.show import html, text
from symbcast.core.algebra.symbols import symbol
from symbcast.core.broadcasting import Rule
from symbcast.core.guesses import Guessable
from symbcast.core.shapes import Shape, shape_of
from symbcast.core.signatures import with_advice
from symbcast.core.solver.budget import check_budget, limited, one_call
from symbcast.errors import ShapeTypeError

HIGHEST = 8
"""Ranks above this are not asked about."""


class Relation(Guessable, Related):
    """How one rule relates to another on all pairs of shapes up to a rank. It has no truth value: see ``order``."""

    def explain(self) -> str:
        """Return the relation in words."""
        return text.render(relation_document(self))

    def to_dict(self) -> RelationData:
        """Return the relation as data for JSON."""
        return relation_to_dict(self)

    def __str__(self) -> str:
        return self.explain()

    def __bool__(self) -> NoReturn:
        raise TypeError("a relation has no truth value: compare its .order")

    def _repr_html_(self) -> str:
        return html.render(relation_document(self))


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
    with limited(check_budget(budget)):
        return _related((read_rule(first), read_rule(second)), rank)


def _related(rules: tuple[Rule, Rule], rank: int) -> Relation:
    found, open_reason = _Found(), ""
    for shapes in _shapes(rank):
        question = Question(shapes)
        answers = [answer_of(rule, question) for rule in rules]
        pair = Pair(Regions(question, answers), *answers)
        if pair.order is Order.UNKNOWN:
            open_reason = open_reason or pair.reason
        found.take(pair)
        if found.order is Order.NEITHER:
            break
    order = Order.UNKNOWN if open_reason and found.order is not Order.NEITHER else found.order
    return Relation(rule_text(rules[0]), rule_text(rules[1]), rank, order, found.telling, open_reason)


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


class _Found:
    """The first separation found for each way in which rules can differ."""

    def __init__(self) -> None:
        self._only_first: Separation | None = None
        self._only_second: Separation | None = None
        self._differ: Separation | None = None

    def take(self, pair: Pair) -> None:
        """Record the separations of the rules at one pair of ranks."""
        if pair.order is Order.EQUAL:
            return
        self._only_first = self._only_first or _separation(pair.only_first.example)
        self._only_second = self._only_second or _separation(pair.only_second.example)
        self._differ = self._differ or _separation(pair.differ.example or pair.apart.example)

    @property
    def order(self) -> Order:
        """How the rules relate on the shapes checked so far."""
        return order_of(self._only_first is None, self._only_second is None, self._differ is None)

    @property
    def telling(self) -> tuple[Separation, ...]:
        """The separations that show this order."""
        return tuple(s for s in (self._differ, self._only_first, self._only_second) if s is not None)


def _separation(example: Example | None) -> Separation | None:
    return None if example is None else Separation(example.shapes, example.first, example.second)
