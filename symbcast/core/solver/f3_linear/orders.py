"""Orders of sizes, ``x + c <= y``, and bounds of single ones: their least sizes, and which of them others imply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from symbcast.core.algebra.formulas import Comparison, Formula, is_total
from symbcast.core.algebra.terms import Symbol, term
from symbcast.core.effort import charge
from symbcast.core.solver.points import Point
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple

# Units of effort for each order that a step looks at.
_STEP = 2


class Order(NamedTuple):
    """That the size at a place is at least the one at another place and ``by`` more; place 0 is the number 0."""

    low: int
    high: int
    by: int


class Orders:
    """A conjunction of orders of sizes, each within an interval.

    The orders are the edges of a graph. If there are such sizes, the least ones are the lengths of longest paths from
    the number 0: no other sizes are smaller anywhere, so they are the first by any cost. There are none exactly if a
    circle of orders has a positive length (Bellman 1958).
    """

    def __init__(
        self, symbols: Sequence[Symbol], known: Iterable[Order], orders: Mapping[Formula, list[Order]]
    ) -> None:
        self.symbols = tuple(symbols)
        self.known = list(known)
        self.orders = orders
        self._above: list[list[Order]] = [[] for _ in range(len(self.symbols) + 1)]
        for order in (*self.known, *(o for each in orders.values() for o in each)):
            self._above[order.low].append(order)

    @classmethod
    def of(
        cls,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        formulas: Iterable[Formula],
        assumed: Sequence[Formula] = (),
    ) -> Orders | None:
        """Return what formulas say of sizes in these sets where others hold; None if that is more than orders.

        >>> from symbcast.core.solver.size_sets import ALL
        >>> from symbcast.core.text import parse_formula
        >>> texts = [parse_formula(t) for t in ("a < b", "b + 2 <= c", "a + 3 <= c", "c <= 9")]
        >>> sizes = [texts[0].left, texts[0].right, texts[1].right]
        >>> orders = Orders.of(sizes, dict.fromkeys(sizes, ALL), texts)
        >>> orders.least([1, 1, 1]), orders.without_implied() == [texts[0], texts[1], texts[3]]
        ({a: 1, b: 2, c: 4}, True)
        """
        places = {s: n for n, s in enumerate(symbols, 1)}
        known: list[Order] = []
        for symbol, place in places.items():
            segments = domains[symbol].segments
            if len(segments) != 1 or segments[0].pattern is not True:
                return None
            known.append(Order(0, place, segments[0].low))
            if segments[0].high is not None:
                known.append(Order(place, 0, -segments[0].high))
        read = {formula: _read(formula, places) for formula in formulas}
        for orders in (*read.values(), *(_read(formula, places) for formula in assumed)):
            if orders is None:
                return None
        known += [o for formula in assumed for o in _read(formula, places) or ()]
        return cls(symbols, known, {formula: orders or [] for formula, orders in read.items()})

    def least(self, lows: Sequence[int]) -> Point | None:
        """Return the least sizes that are each at least a number; None if there are none."""
        values = [0, *lows]
        raised_by: list[int | None] = [None] * len(values)
        order = self._by_reach()
        # In the order of reach, one pass suffices where there are no circles.
        while True:
            charge(_STEP * len(values))
            is_changed = False
            for place in order:
                for edge in self._above[place]:
                    if values[edge.high] < values[place] + edge.by:
                        values[edge.high] = values[place] + edge.by
                        raised_by[edge.high] = place
                        is_changed = True
            # A circle of places that raise each other has a positive length (Cherkassky, Goldberg 1999).
            if values[0] > 0 or _has_circle(raised_by):
                return None
            if not is_changed:
                return dict(zip(self.symbols, values[1:], strict=True))

    def _by_reach(self) -> list[int]:
        """Return the places, each before those above it where no circle prevents that (depth first, reversed)."""
        done: list[int] = []
        seen: set[int] = {0}
        for start in range(1, len(self._above)):
            ahead = [] if start in seen else [(start, iter(self._above[start]))]
            seen.add(start)
            while ahead:
                place, edges = ahead[-1]
                edge = next(edges, None)
                if edge is None:
                    done.append(place)
                    ahead.pop()
                elif edge.high not in seen:
                    seen.add(edge.high)
                    ahead.append((edge.high, iter(self._above[edge.high])))
        return [0, *reversed(done)]

    def without_implied(self, defining: Collection[Formula] = ()) -> list[Formula]:
        """Return the formulas that the others do not imply, the first ones where either could go; sizes exist.

        The ``defining`` ones each give a size that only earlier ones of these mention: on no other path is it passed.
        """
        least = self.least([0] * len(self.symbols))
        assert least is not None
        heights = [0, *least.values()]
        kept = set(defining)
        graph: list[list[tuple[Order, Formula | None]]] = [[] for _ in heights]
        for order in self.known:
            graph[order.low].append((order, None))

        def is_implied(formula: Formula) -> bool:
            return all(_has_other_path(graph, heights, order, formula, kept) for order in self.orders[formula])

        asked = [formula for formula in self.orders if formula not in kept]
        for formula in asked:
            orders = self.orders[formula]
            if not is_implied(formula):
                kept.add(formula)
                for order in orders:
                    graph[order.low].append((order, formula))
        for formula in reversed(asked):
            if formula in kept and is_implied(formula):
                kept.remove(formula)
        return [formula for formula in self.orders if formula in kept]


def _has_circle(before: Sequence[int | None]) -> bool:
    """Return whether some place comes before itself; each has at most one place before it."""
    seen: dict[int, int] = {}
    for start in range(len(before)):
        place: int | None = start
        while place is not None and place not in seen:
            seen[place] = start
            place = before[place]
        if place is not None and seen[place] == start:
            return True
    return False


def _has_other_path(
    graph: Sequence[Sequence[tuple[Order, Formula | None]]],
    heights: Sequence[int],
    order: Order,
    own: Formula,
    kept: set[Formula],
) -> bool:
    """Return whether a path of other orders is as long as one order (Dijkstra).

    At the least sizes each order has a slack of at least 0. A path is as long as an order if its slacks add up to no
    more than that of the order; so only places within that slack are looked at.
    """
    most = heights[order.high] - heights[order.low] - order.by
    ahead = [(0, order.low)]
    nearest = {order.low: 0}
    while ahead:
        slack, place = heappop(ahead)
        if place == order.high:
            return True
        charge(_STEP * len(graph[place]))
        for edge, formula in graph[place]:
            if formula is own or not (formula is None or formula in kept):
                continue
            reached = slack + heights[edge.high] - heights[place] - edge.by
            if reached <= most and reached < nearest.get(edge.high, most + 1):
                nearest[edge.high] = reached
                heappush(ahead, (reached, edge.high))
    return False


def _read(formula: Formula, places: Mapping[Any, int]) -> list[Order] | None:
    """Return the orders that a comparison states; None for another formula."""
    if not isinstance(formula, Comparison) or formula.operator == "!=" or not is_total(formula):
        return None
    difference = term(formula.right) - term(formula.left)
    low = high = 0
    for monomial, coefficient in difference.coefficients.items():
        place = places.get(monomial[0]) if len(monomial) == 1 else None
        if not monomial:
            continue
        if place is None or abs(coefficient) != 1 or (high if coefficient == 1 else low):
            return None
        low, high = (low, place) if coefficient == 1 else (place, high)
    by = (formula.operator == "<") - difference.constant
    return [Order(low, high, by), Order(high, low, -by)][: 1 + (formula.operator == "==")]
