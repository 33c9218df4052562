"""A few padded shapes that cover the sizes of real requests with the least padding.

**One size.** Each request takes the smallest shape that is large enough, so a shape serves consecutive requests and is
the least valid size that covers the largest of them. With requests in order, the cost of serving a run is a Monge
array: the cover of a run depends only on its last request and grows with it. So the best split of each prefix moves
right with the prefix, and divide and conquer finds all splits of a level in n log n steps.

**Two sizes.** A shape that serves a set of requests can be replaced by the least valid area that covers the set's
greatest height and greatest width; so the candidates are one per height and width of requests. Heights are taken in
descending order. The state is the set of shapes chosen so far that no other one improves on, as (width, area) with both
ascending: it alone decides the cost of all lower requests. Equal states keep the cheaper way to reach them. Where there
are too many requests for that, shapes are chosen and exchanged one at a time, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import isqrt, prod
from typing import Any, TypeAlias

from symbcast.answers.contracts.proof import prove_contract
from symbcast.answers.contracts.question import ContractQuestion, WantedRanges
from symbcast.answers.contracts.search.space import SearchAxis, SizeGroup, space_of
from symbcast.core.algebra.formulas import all_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import EffortSpentError, budget_share, charge, stop_reason
from symbcast.core.programs.certificates import Certificate
from symbcast.core.solver.evaluation import predicate
from symbcast.errors import BindingError, ShapeTypeError, UndecidedError

Shape: TypeAlias = tuple[int, ...]
Weights: TypeAlias = Mapping[Shape, float]
Holds: TypeAlias = Callable[[Shape], bool]

# Units for the shapes of the least area for all heights and widths of requests of two sizes.
_CANDIDATES = 300_000
# Units for choosing and exchanging shapes one at a time.
_IMPROVED = 700_000
# Units for the exact choice of shapes of two sizes.
_EXACT = 500_000
# How many heights, and how many widths, of requests are tried where there are too many for all.
_MOST_LINES = 40
# How often all shapes are tried for an exchange, before the exact choice.
_EXCHANGES = 3
# For how many rounds over all shapes the effort for them is enough.
_ROUNDS = 2
# Requests whose cost is added up for one unit of effort.
_COSTS = 4


_MANY = "too many distinct sizes ({}) to find the best; round them first"


@dataclass(frozen=True)
class Packing:
    """The shapes found, their padding as a part of the requests, and why fewer padding is not excluded."""

    shapes: list[Shape]
    waste: float
    open: str = ""


def least_padding(weights: Weights, k: int, axes: Sequence[SearchAxis], holds: Holds) -> Packing | None:
    """Return at most ``k`` shapes that cover all requests with the least padding; None if no shape covers them."""
    if len(axes) == 1:
        return _of_one(weights, k, axes[0], holds)
    return _of_two(weights, k, axes, holds)


def covers(axis: SearchAxis, size: int, holds: Callable[[int], bool]) -> int | None:
    """Return the least size on an axis that is not below a size, and for which ``holds`` is true."""
    mask = axis.mask >> max(0, size - axis.low) << max(0, size - axis.low)
    while mask:
        # The lowest bit of the mask is the least size that is left.
        first = axis.low + (mask & -mask).bit_length() - 1
        charge(1)
        if holds(first):
            return first
        mask &= mask - 1
    return None


def _of_one(weights: Weights, k: int, axis: SearchAxis, holds: Holds) -> Packing | None:
    sizes = sorted(n for (n,) in weights)
    padded = [covers(axis, n, lambda m: holds((m,))) for n in sizes]
    if padded[-1] is None:
        return None
    cover = [n for n in padded if n is not None]
    sums: list[float] = [0]
    for n in sizes:
        sums.append(sums[-1] + weights[n,])
    total = sum(weights[n,] * n for n in sizes)

    def cost(first: int, last: int) -> float:
        """Return the elements of the requests from one to another, each padded to the cover of the last."""
        return cover[last] * (sums[last + 1] - sums[first])

    best = [cost(0, n) for n in range(len(sizes))]
    splits: list[list[int]] = []
    for _ in range(min(k, len(sizes)) - 1):
        following, split = best.copy(), [-1] * len(sizes)
        _divide(best, following, split, cost)
        best = following
        splits.append(split)
    return Packing(_shapes(cover, splits), best[-1] / total - 1)


def _divide(best: Sequence[float], following: list[float], split: list[int], cost: Callable[[int, int], float]) -> None:
    """Add one shape: for each last request, the best request before the run that the new shape serves."""
    # Covers ascend, so for a <= b <= c <= d: cost(a, c) + cost(b, d) <= cost(a, d) + cost(b, c), the quadrangle
    # inequality. Best splits therefore ascend too, and that of the middle request bounds those on both sides of it:
    # n log n steps instead of n * n.
    pending = [(0, len(best) - 1, 0, len(best) - 1)]
    while pending:
        low, high, first, last = pending.pop()
        if low > high:
            continue
        middle = (low + high) // 2
        charge(1 + min(middle, last) - first)
        choice, least = first, float("inf")
        for n in range(first, min(middle, last + 1)):
            total = best[n] + cost(n + 1, middle)
            if total < least:
                choice, least = n, total
        if least < following[middle]:
            following[middle], split[middle] = least, choice
        pending += [(low, middle - 1, first, choice), (middle + 1, high, choice, last)]


def _shapes(cover: Sequence[int], splits: Sequence[Sequence[int]]) -> list[Shape]:
    indices, last = [cover[-1]], len(cover) - 1
    for split in reversed(splits):
        if split[last] >= 0:
            last = split[last]
            indices.append(cover[last])
    return [(n,) for n in sorted(set(indices))]


State: TypeAlias = tuple[tuple[int, int, Shape], ...]
"""The shapes that matter for lower requests, as width, area and shape, both ascending."""


def _of_two(weights: Weights, k: int, axes: Sequence[SearchAxis], holds: Holds) -> Packing | None:
    rows: dict[int, list[tuple[int, float]]] = {}
    for (height, width), weight in sorted(weights.items()):
        rows.setdefault(height, []).append((width, weight))
    try:
        with budget_share(_CANDIDATES):
            candidates = {height: _candidates(weights, height, axes, holds) for height in rows}
            known = list(dict.fromkeys(shape for row in candidates.values() for shape in row))
        why = ""
    except EffortSpentError:
        known, why = _some_candidates(weights, k, axes, holds), _MANY.format(len(weights))
    if not all(any(h >= height and w >= width for h, w in known) for height, width in weights):
        if why:  # only some candidates are known: others may cover the rest
            raise EffortSpentError
        return None
    few = len(known) * len(weights) * k * _ROUNDS // _COSTS <= _IMPROVED
    chosen = _improved(weights, known if few or why else _some_candidates(weights, k, axes, holds), k)
    if not why:
        try:
            with budget_share(_EXACT):
                chosen = _exact(weights, rows, candidates, k, chosen)
        except EffortSpentError:
            why = _MANY.format(len(weights))
    cost = _cost(weights, chosen)
    if cost is None and why:
        raise EffortSpentError  # several shapes may cover the requests together
    if cost is None:
        return None
    total = sum(weight * height * width for (height, width), weight in weights.items())
    return Packing(sorted(chosen), cost / total - 1, why)


def _some_candidates(weights: Weights, k: int, axes: Sequence[SearchAxis], holds: Holds) -> list[Shape]:
    """Return shapes of the least area for some heights and widths, spread evenly over those of the requests."""
    # So few that all of them can be tried for each shape that is chosen. The greatest height and width are among them:
    # the shape that covers these covers all requests.
    tried = _IMPROVED * _COSTS // (len(weights) * k * _ROUNDS)
    count = max(1, min(_MOST_LINES, isqrt(tried)))
    heights, widths = (_spread(sorted({size[axis] for size in weights}), count) for axis in (0, 1))
    found: dict[Shape, None] = {}
    # Where valid shapes are rare, the effort may end before all are tried. So the greatest comes first, and the others
    # in an order whose every beginning is spread evenly (multiples of the golden ratio, modulo 1).
    pairs = list(product(heights, widths))
    order = sorted(range(len(pairs) - 1), key=lambda n: n * 0x9E3779B1 % 2**32)
    with suppress(EffortSpentError), budget_share(_CANDIDATES):
        for height, width in (pairs[n] for n in (-1, *order)):
            shape = _least_area(height, width, axes, holds)
            found |= {} if shape is None else {shape: None}
    return list(found)


def _spread(sizes: Sequence[int], count: int) -> list[int]:
    """Return at most ``count`` of some ascending sizes, evenly spread, with the last one."""
    return [sizes[(n + 1) * len(sizes) // count - 1] for n in range(count)] if count < len(sizes) else list(sizes)


def _candidates(weights: Weights, height: int, axes: Sequence[SearchAxis], holds: Holds) -> list[Shape]:
    """Return the shapes of the least area for the requests up to a height, one for each greatest width of some."""
    reached = min(width for h, width in weights if h == height)
    widths = sorted({width for h, width in weights if h <= height and width >= reached})
    shapes = (_least_area(height, width, axes, holds) for width in widths)
    return list(dict.fromkeys(shape for shape in shapes if shape is not None))


def _least_area(height: int, width: int, axes: Sequence[SearchAxis], holds: Holds) -> Shape | None:
    """Return the valid shape of the least area that covers a height and a width, the lowest of several."""
    best: Shape | None = None
    h: int | None = covers(axes[0], height, lambda _: True)
    # A shape of this height has at least this width: if that is no less area, neither this nor a higher one is better.
    while h is not None and (best is None or h * width < best[0] * best[1]):
        # A width that is no less area ends the search for this height.
        most = best[0] * best[1] if best else float("inf")
        w = covers(axes[1], width, lambda m, h=h, most=most: h * m >= most or holds((h, m)))  # type: ignore[misc]
        if w is not None and h * w < most:
            best = h, w
        h = covers(axes[0], h + 1, lambda _: True)
    return best


def _exact(
    weights: Weights,
    rows: Mapping[int, Sequence[tuple[int, float]]],
    candidates: Mapping[int, Sequence[Shape]],
    k: int,
    known: list[Shape],
) -> list[Shape]:
    """Return the shapes with the least cost, by dynamic programming over the heights.

    Returns no shapes if there are none that cover all requests.
    """
    areas = sorted({c for row in candidates.values() for c in row}, key=lambda c: c[0] * c[1])
    cost_known = _cost(weights, known)
    bound = float("inf") if cost_known is None else cost_known
    # A lower bound on the cost of the lower rows: each request at its own least cover, as if every shape were chosen.
    left = {h: sum(n * _least_cover(areas, h, w) for w, n in row) for h, row in rows.items()}
    rest = sum(left.values())
    states: dict[tuple[int, State], tuple[float, tuple[Shape, ...]]] = {(0, ()): (0.0, ())}
    # Heights descend: a shape that is high enough for these requests is so for all later ones. A state therefore needs
    # only widths and areas, and a shape that is both narrower and larger than another one matters no more.
    for height in sorted(rows, reverse=True):
        for shape in candidates[height]:
            for (used, state), (cost, chosen) in list(states.items()):
                charge(1 + len(state))
                extended = _with(state, shape)
                if used < k and extended is not state:
                    _improve(states, (used + 1, extended), (cost, (*chosen, shape)))
        rest -= left[height]
        paid: dict[tuple[int, State], tuple[float, tuple[Shape, ...]]] = {}
        for (used, state), (cost, chosen) in states.items():
            charge(len(rows[height]))
            added = _row_cost(state, rows[height])
            # A state that cannot beat the known shapes is dropped: each lower request costs at least its own least
            # cover.
            if added is not None and cost + added + rest < bound:
                _improve(paid, (used, state), (cost + added, chosen))
        states = paid
    return list(min(states.values())[1]) if states else known


def _least_cover(ascending: Sequence[Shape], height: int, width: int) -> int:
    """Return the least area of a shape that covers a request; there is one."""
    return next(h * w for h, w in ascending if h >= height and w >= width)


def _improve(
    states: dict[tuple[int, State], tuple[float, tuple[Shape, ...]]],
    key: tuple[int, State],
    value: tuple[float, tuple[Shape, ...]],
) -> None:
    if key not in states or value < states[key]:
        states[key] = value


def _with(state: State, shape: Shape) -> State:
    """Return the shapes that matter with another one; the same object if one as good is there."""
    width, area = shape[1], shape[0] * shape[1]
    # No request prefers a shape that is neither wider nor smaller. The same object tells the caller that it is
    # useless.
    if any(w >= width and a <= area for w, a, _ in state):
        return state
    others = [part for part in state if not (part[0] <= width and part[1] >= area)]
    return tuple(sorted([*others, (width, area, shape)]))


def _row_cost(state: State, row: Sequence[tuple[int, float]]) -> float | None:
    total = 0.0
    for width, weight in row:
        area = next((a for w, a, _ in state if w >= width), None)
        if area is None:
            return None
        total += weight * area
    return total


def _cost(weights: Weights, shapes: Sequence[Shape]) -> float | None:
    """Return the elements of all requests, each padded to the least shape that covers it; None if one is not."""
    total = 0.0
    for (height, width), weight in weights.items():
        areas = [h * w for h, w in shapes if h >= height and w >= width]
        if not areas:
            return None
        total += weight * min(areas)
    return total


def _improved(weights: Weights, known: Sequence[Shape], k: int) -> list[Shape]:
    """Return shapes chosen one at a time, then exchanged one at a time while that saves something.

    Returns no shapes if no single one covers all requests. What is chosen when the effort is spent is returned.
    """
    highest, widest = max(h for h, _ in weights), max(w for _, w in weights)
    # One shape must cover the largest requests of both axes: exchanges never touch the first.
    whole = [c for c in known if c[0] >= highest and c[1] >= widest]
    if not whole:
        return []
    chosen = [min(whole, key=lambda c: (c[0] * c[1], c))]
    try:
        with budget_share(_IMPROVED):
            while len(chosen) < k:
                best = _best_added(weights, known, chosen)
                if best is None:
                    break
                chosen = [*chosen, best]
            for _ in range(_EXCHANGES):
                before = chosen
                # The first shape covers all requests, and stays: without it, a request may have none.
                for n in range(1, len(chosen)):
                    others = [*chosen[:n], *chosen[n + 1 :]]
                    best = _best_added(weights, known, others)
                    chosen = chosen if best is None else [*others[:n], best, *others[n:]]
                if chosen == before:
                    break
    except EffortSpentError:
        pass
    return chosen


def _best_added(weights: Weights, known: Sequence[Shape], chosen: Sequence[Shape]) -> Shape | None:
    """Return the shape that saves most if added to the chosen ones, which cover all requests; None if none saves."""
    charge(len(weights) * len(chosen) // _COSTS)
    areas = [min(h * w for h, w in chosen if h >= height and w >= width) for height, width in weights]
    requests = [(height, width, n, area) for ((height, width), n), area in zip(weights.items(), areas, strict=True)]
    saved: dict[Shape, float] = {}
    for h, w in known:
        charge(1 + len(requests) // _COSTS)
        saved[h, w] = sum(
            n * (a - h * w) for height, width, n, a in requests if a > h * w and height <= h and width <= w
        )
    best = max(saved, key=lambda c: (saved[c], [-n for n in c]), default=None)
    return best if best is not None and saved[best] > 0 else None


Traffic: TypeAlias = "Mapping[Any, float] | Iterable[Any]"
"""Sizes, or sizes with how often each occurs; for two sizes, pairs."""
# Units of effort for the choice of shapes.
PACKED = 1_500_000


@dataclass(frozen=True)
class Buckets:
    """Padded shapes for requests; each request takes the smallest one that is large enough.

    Attributes:
        shapes: The sizes of each shape by name, in order.
        waste: The padding as a part of the requests themselves, in elements: 0.1 for a tenth more.
        is_least: Whether no other choice of as many valid shapes has less padding.
        reason: Why that is not proved; empty if it is.
        proof: For each clause of the condition, whether z3 proved that all shapes satisfy it.
        others: The ranges of the other sizes; the shapes work with all of them.
    """

    shapes: list[dict[str, int]]
    waste: float
    is_least: bool
    reason: str
    proof: Certificate
    others: dict[str, range]

    def of(self, **sizes: int) -> dict[str, int] | None:
        """Return the smallest shape for a request; None if it is too large for all of them."""
        fits = [shape for shape in self.shapes if all(shape[name] >= n for name, n in sizes.items())]
        return min(fits, key=lambda shape: prod(shape.values()), default=None)


def buckets_of(  # noqa: PLR0913, PLR0917 - the question, and what a caller gives
    question: ContractQuestion,
    sought: WantedRanges,
    box: Mapping[Symbol, range],
    k: int,
    traffic: Traffic,
    sizes: tuple[str, ...],
) -> Buckets:
    """Return at most ``k`` shapes for the traffic; see `symbcast.answers.contracts.contract.Contract.buckets`.

    The other sizes have the ranges of ``box``.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ShapeTypeError(k, "a number of buckets", "write 1 or more")
    if question.open:
        raise UndecidedError(question.open)
    symbols = _bucketed(question, sought, sizes)
    weights = _weights(traffic, len(symbols))
    sought = WantedRanges({s: r if s in symbols else box[s] for s, r in sought.ranges.items()}, {})
    try:
        with budget_share(PACKED):
            valid = _Valid(question, sought, symbols)
            covering = least_padding(weights, k, valid.axes, valid.holds)
    except EffortSpentError:
        raise UndecidedError(stop_reason()) from None
    if covering is None:
        raise UndecidedError("no valid shape in the wanted ranges covers the largest sizes of the traffic")
    boxes = [
        {**sought.ranges, **{s: range(n, n + 1) for s, n in zip(symbols, shape, strict=True)}}
        for shape in covering.shapes
    ]
    proof = prove_contract(boxes, question.clauses)
    if not proof:
        raise UndecidedError("z3 did not prove the shapes for all other sizes: give these narrower ranges")
    names = [question.names[s] for s in symbols]
    others = {name: sought.ranges[s] for s, name in question.names.items() if s not in symbols}
    shapes = [dict(zip(names, shape, strict=True)) for shape in covering.shapes]
    return Buckets(shapes, covering.waste, not covering.open, covering.open, proof, others)


def _bucketed(question: ContractQuestion, sought: WantedRanges, sizes: tuple[str, ...]) -> tuple[Symbol, ...]:
    """Return the sizes that the shapes are about."""
    symbols = {name: s for s, name in question.names.items()}
    unknown = [name for name in sizes if name not in symbols]
    if unknown:
        raise BindingError(f"there is no size {unknown[0]}; the sizes are {', '.join(symbols)}")
    sizes_bucketed = tuple(symbols[n] for n in sizes) or tuple(s for s, r in sought.ranges.items() if len(r) > 1)
    if not 1 <= len(sizes_bucketed) <= 2:
        free = ", ".join(question.names[s] for s in sizes_bucketed)
        raise BindingError(f"buckets are about one or two sizes, not {free or 'none'}", 'name them: sizes=["H", "W"]')
    return sizes_bucketed


def _weights(traffic: Traffic, count: int) -> dict[tuple[int, ...], float]:
    """Return how often each point occurs; raise `ShapeTypeError` for what is no traffic."""
    hint = "write sizes such as [120, 300], or {120: 5, 300: 1}; for two sizes, pairs"
    items = traffic.items() if isinstance(traffic, Mapping) else ((point, 1) for point in traffic)
    weights: dict[tuple[int, ...], float] = {}
    for point, weight in items:
        sizes = point if isinstance(point, tuple | list) else (point,)
        if len(sizes) != count or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in sizes):
            raise ShapeTypeError(point, f"{count} size{'s' * (count > 1)} of a request", hint)
        if not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise ShapeTypeError(weight, "how often a size occurs", hint)
        weights[tuple(sizes)] = weights.get(tuple(sizes), 0) + weight
    weights = {point: weight for point, weight in weights.items() if weight}
    if not weights:
        raise ShapeTypeError(traffic, "traffic with at least one request", hint)
    return weights


class _Valid:
    """Which shapes work with all wanted values of the other sizes."""

    def __init__(self, question: ContractQuestion, sought: WantedRanges, symbols: tuple[Symbol, ...]) -> None:
        group_of = {s: group for group in space_of(question.formula, sought) or () for s in group.axes}
        self.axes: list[SearchAxis] = [group_of[s].axes[s] if group_of else SearchAxis(0, 0) for s in symbols]
        groups: list[SizeGroup] = list({id(group_of[s]): group_of[s] for s in symbols if group_of}.values())
        self._clauses = [clause for group in groups for clause in group.clauses]
        others = [s for group in groups for s in group.axes if s not in symbols]
        self._symbols, self._others = symbols, others
        self._holds = predicate(all_of(self._clauses), (*symbols, *others))
        # Clauses that tie a shape to other sizes are tried at these sizes; the proof covers all of them.
        self._points = list(_some_points([group_of[s].axes[s] for s in others])) if self._clauses else []

    def holds(self, shape: Shape) -> bool:
        """Return whether a shape of sizes on the axes works; necessary only, if other sizes are tied to it."""
        if not self._clauses:
            return True
        charge(len(self._points))
        return all(self._holds(*shape, *point) for point in self._points)


def _some_points(axes: list[SearchAxis]) -> Iterable[tuple[int, ...]]:
    return product(*(dict.fromkeys((axis.low, (axis.low + axis.high) // 2, axis.high)) for axis in axes))
