"""Two rules on the same shapes: where both accept and agree, where only one accepts, and where the outputs differ."""

from __future__ import annotations

from enum import Enum

from symbcast.answers.comparison.answers import RuleAnswer
from symbcast.answers.comparison.outcomes import Way
from symbcast.answers.comparison.regions import Region, Regions
from symbcast.core.solver.budget import answered


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

    def __init__(self, regions: Regions, first: RuleAnswer, second: RuleAnswer) -> None:
        self.first = first
        self.second = second
        found = regions.between(first, second)
        self._is_one_law = regions.are_one_law(first, second)
        self.agree = found[Way.AGREE]
        self.apart = found[Way.APART]
        self.differ = found[Way.DIFFER]
        self.only_first = found[Way.ONLY_FIRST]
        self.only_second = found[Way.ONLY_SECOND]

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self.first.budget

    @answered
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
    if alike is False or (first_within is False and second_within is False):
        return Order.NEITHER
    if None in (first_within, second_within, alike):
        return Order.UNKNOWN
    if first_within:
        return Order.EQUAL if second_within else Order.REFINES
    return Order.REFINED_BY
