"""Bounds on formulas with some sizes not chosen yet, for `symbcast.core.solver.linear.branch_and_bound`.

Sizes are chosen in order of position. ``possible(place, left)`` tests whether a formula can hold once the size at a
place is chosen and ``left`` remains of the sum; ``needs(place)`` and ``most(place)`` bound the sums at which it can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf
from typing import TypeAlias

from symbcast.core.solver.sets.size_sets import SizeSet


class Row:
    """A linear row: its value with all open sizes at their least, and its gain for each unit of the sum."""

    __slots__ = ("after", "coefficients", "constant", "value")

    def __init__(self, constant: int, coefficients: dict[int, int], weights: Sequence[int]) -> None:
        self.constant = constant
        self.coefficients = coefficients
        self.value = 0
        self.after: dict[int, tuple[Fraction | int, Fraction | int] | None] = {}
        ahead: tuple[Fraction | int, Fraction | int] | None = None
        behind = len(weights)
        for place in sorted((*coefficients, -1), reverse=True):
            if behind - place > 1:  # the row does not depend on a symbol between them
                ahead = (0, 0) if ahead is None else (min(ahead[0], 0), max(ahead[1], 0))
            self.after[place] = ahead
            if place >= 0:
                ratio = Fraction(coefficients[place], weights[place]) if weights[place] > 1 else coefficients[place]
                ahead = (ratio, ratio) if ahead is None else (min(ahead[0], ratio), max(ahead[1], ratio))
                behind = place

    def ahead(self, place: int) -> tuple[Fraction | int, Fraction | int] | None:
        """Return the least and greatest gain of a unit of the sum after a place; None if nothing comes after it."""
        if place not in self.after:  # the row has no symbol here: same as after its last one before this
            self.after[place] = self.after[max(p for p in self.after if p < place)]
        return self.after[place]

    def start(self, low: Sequence[int]) -> None:
        """Set the value at the least sizes, ``low``."""
        self.value = self.constant + sum(c * low[place] for place, c in self.coefficients.items())


class Inequality:
    """A comparison of a row with 0."""

    __slots__ = ("operator", "row")

    def __init__(self, operator: str, row: Row) -> None:
        self.operator = operator
        self.row = row

    def possible(self, place: int, left: int) -> bool:
        value = self.row.value
        ahead = self.row.ahead(place) if left else None
        if ahead is None:
            return value == 0 if self.operator == "==" else value <= 0 if self.operator == "<=" else value != 0
        if self.operator == "!=":
            return ahead[0] != ahead[1] or value + left * ahead[0] != 0
        if value + left * ahead[0] > 0:
            return False
        return self.operator == "<=" or value + left * ahead[1] >= 0

    def needs(self, place: int) -> float:
        """Return the smallest amount above the least sum at which this is possible."""
        value, ahead = self.row.value, self.row.ahead(place) or (0, 0)
        if self.operator == "!=":
            return 0 if value else (1 if ahead != (0, 0) else inf)
        if value > 0:
            return -(-value // -ahead[0]) if ahead[0] < 0 else inf
        if self.operator == "<=" or value == 0:
            return 0
        return -(value // ahead[1]) if ahead[1] > 0 else inf

    def most(self, place: int) -> float:
        """Return an amount above the least sum beyond which this is impossible."""
        value, ahead = self.row.value, self.row.ahead(place) or (0, 0)
        if self.operator == "!=":
            return inf
        if ahead[0] > 0:
            return -value // ahead[0]
        return value // -ahead[1] if self.operator == "==" and ahead[1] < 0 else inf

    def window(self, place: int, left: int, weight: int, least: int, most: int) -> tuple[int, int]:
        """Return the range of steps above its least size that a symbol may take, within ``least`` to ``most``."""
        ahead = self.row.ahead(place)
        if ahead is None or self.operator == "!=":
            return least, most
        value, coefficient = self.row.value, self.row.coefficients.get(place, 0)
        # value + c*t + (left - w*t)*ratio is at most 0 for the least ratio, and at least 0 for the greatest.
        least, most = _at_most_zero(value + left * ahead[0], coefficient - weight * ahead[0], least, most)
        if self.operator == "==":
            least, most = _at_most_zero(-value - left * ahead[1], weight * ahead[1] - coefficient, least, most)
        return least, most


def _at_most_zero(value: Fraction | int, slope: Fraction | int, least: int, most: int) -> tuple[int, int]:
    """Return the range of integers t within ``least`` to ``most`` at which ``value + slope*t`` is at most 0."""
    if slope > 0:
        return least, min(most, -value // slope)
    if slope < 0:
        return max(least, -(value // slope)), most
    return (least, most) if value <= 0 else (1, 0)


class Test:
    """A literal that is evaluated once all its symbols have sizes."""

    __slots__ = ("holds", "last", "places", "values")

    def __init__(self, holds: Callable[..., bool], places: Sequence[int], values: Sequence[int]) -> None:
        self.holds = holds
        self.places = places
        self.last = max(places, default=-1)
        self.values = values

    def possible(self, place: int, _left: int) -> bool:
        return place < self.last or bool(self.holds(*[self.values[p] for p in self.places]))

    def needs(self, _place: int) -> float:
        return 0

    def most(self, _place: int) -> float:
        return inf


class AllDifferent:
    """Sizes that are all different; each open one takes at least the first free size."""

    __slots__ = ("domains", "low", "places", "values", "weight")

    def __init__(
        self, places: Sequence[int], domains: Sequence[SizeSet], weights: Sequence[int], values: Sequence[int]
    ) -> None:
        self.places = sorted(places)
        self.domains = domains
        self.weight = min(weights[p] for p in places)
        self.values = values
        self.low: Sequence[int] = ()

    def start(self, low: Sequence[int]) -> None:
        self.low = low

    def possible(self, place: int, left: int) -> bool:
        return self._above(place) * self.weight <= left

    def needs(self, place: int) -> float:
        return self._above(place) * self.weight

    def most(self, _place: int) -> float:
        return inf

    def _above(self, place: int) -> float:
        """Return a lower bound of the total by which the sizes after a place exceed their least sizes."""
        taken = {self.values[p] for p in self.places if p <= place}
        ahead = sorted((self.low[p], p) for p in self.places if p > place)
        ends = [self.domains[p].greatest for _, p in ahead]
        last = None if None in ends else max((end or 0 for end in ends), default=None)
        total, size = 0, -1
        for low, _ in ahead:
            size = max(size + 1, low)
            while size in taken:
                size += 1
            total += size - low
        return inf if last is not None and size > last else total


class Conjunction:
    """A conjunction within a clause."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Node]) -> None:
        self.parts = parts

    def possible(self, place: int, left: int) -> bool:
        return all(part.possible(place, left) for part in self.parts)

    def needs(self, place: int) -> float:
        return max((part.needs(place) for part in self.parts), default=0)

    def most(self, place: int) -> float:
        return min((part.most(place) for part in self.parts), default=inf)


class Disjunction:
    """A disjunction."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Node]) -> None:
        self.parts = parts

    def possible(self, place: int, left: int) -> bool:
        return any(part.possible(place, left) for part in self.parts)

    def needs(self, place: int) -> float:
        return min((part.needs(place) for part in self.parts), default=inf)

    def most(self, place: int) -> float:
        return max((part.most(place) for part in self.parts), default=-inf)


Node: TypeAlias = Inequality | Test | AllDifferent | Conjunction | Disjunction
