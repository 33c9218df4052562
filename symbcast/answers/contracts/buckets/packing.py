"""The shapes with the least padding: dynamic programming, exact for one and two sizes.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.effort import EffortSpentError, charge
from symbcast.core.solver.budget import share

if TYPE_CHECKING:
    from symbcast.answers.contracts.search.space import Axis

Shape: TypeAlias = tuple[int, ...]
Weights: TypeAlias = Mapping[Shape, float]
Holds: TypeAlias = Callable[[Shape], bool]

_CANDIDATES = 300_000
"""Units for the shapes of the least area for all heights and widths of requests of two sizes."""
_IMPROVED = 700_000
"""Units for choosing and exchanging shapes one at a time."""
_EXACT = 500_000
"""Units for the exact choice of shapes of two sizes."""
_MOST_LINES = 40
"""How many heights, and how many widths, of requests are tried where there are too many for all."""
_EXCHANGES = 3
"""How often all shapes are tried for an exchange, before the exact choice."""
_ROUNDS = 2
"""For how many rounds over all shapes the effort for them is enough."""
_COSTS = 4
"""Requests whose cost is added up for one unit of effort."""


_MANY = "too many distinct sizes ({}) to find the best; round them first"


@dataclass(frozen=True)
class Packing:
    """The shapes found, their padding as a part of the requests, and why fewer padding is not excluded."""

    shapes: list[Shape]
    waste: float
    open: str = ""


def least_padding(weights: Weights, k: int, axes: Sequence[Axis], holds: Holds) -> Packing | None:
    """Return at most ``k`` shapes that cover all requests with the least padding; None if no shape covers them."""
    if len(axes) == 1:
        return _of_one(weights, k, axes[0], holds)
    return _of_two(weights, k, axes, holds)


def covers(axis: Axis, size: int, holds: Callable[[int], bool]) -> int | None:
    """Return the least size on an axis that is not below a size, and for which ``holds`` is true."""
    mask = axis.mask >> max(0, size - axis.low) << max(0, size - axis.low)
    while mask:
        found = axis.low + (mask & -mask).bit_length() - 1
        charge(1)
        if holds(found):
            return found
        mask &= mask - 1
    return None


def _of_one(weights: Weights, k: int, axis: Axis, holds: Holds) -> Packing | None:
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
    found, last = [cover[-1]], len(cover) - 1
    for split in reversed(splits):
        if split[last] >= 0:
            last = split[last]
            found.append(cover[last])
    return [(n,) for n in sorted(set(found))]


State: TypeAlias = tuple[tuple[int, int, Shape], ...]
"""The shapes that matter for lower requests, as width, area and shape, both ascending."""


def _of_two(weights: Weights, k: int, axes: Sequence[Axis], holds: Holds) -> Packing | None:
    rows: dict[int, list[tuple[int, float]]] = {}
    for (height, width), weight in sorted(weights.items()):
        rows.setdefault(height, []).append((width, weight))
    try:
        with share(_CANDIDATES):
            candidates = {height: _candidates(weights, height, axes, holds) for height in rows}
            known = list(dict.fromkeys(shape for row in candidates.values() for shape in row))
        why = ""
    except EffortSpentError:
        known, why = _some_candidates(weights, k, axes, holds), _MANY.format(len(weights))
    if not all(any(h >= height and w >= width for h, w in known) for height, width in weights):
        return None
    few = len(known) * len(weights) * k * _ROUNDS // _COSTS <= _IMPROVED
    chosen = _improved(weights, known if few else _some_candidates(weights, k, axes, holds), k)
    if not why:
        try:
            with share(_EXACT):
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


def _some_candidates(weights: Weights, k: int, axes: Sequence[Axis], holds: Holds) -> list[Shape]:
    """Return shapes of the least area for some heights and widths, spread evenly over those of the requests.

    They are so few that all of them can be tried for each shape that is chosen. The greatest are among them: the shape
    that covers these covers all requests.
    """
    tried = _IMPROVED * _COSTS // (len(weights) * k * _ROUNDS)
    count = max(1, min(_MOST_LINES, isqrt(tried)))
    heights, widths = (_spread(sorted({size[axis] for size in weights}), count) for axis in (0, 1))
    found = (_least_area(height, width, axes, holds) for height in heights for width in widths)
    return list(dict.fromkeys(shape for shape in found if shape is not None))


def _spread(sizes: Sequence[int], count: int) -> list[int]:
    """Return at most ``count`` of some ascending sizes, evenly spread, with the last one."""
    return [sizes[(n + 1) * len(sizes) // count - 1] for n in range(count)] if count < len(sizes) else list(sizes)


def _candidates(weights: Weights, height: int, axes: Sequence[Axis], holds: Holds) -> list[Shape]:
    """Return the shapes of the least area for the requests up to a height, one for each greatest width of some."""
    reached = min(width for h, width in weights if h == height)
    widths = sorted({width for h, width in weights if h <= height and width >= reached})
    found = (_least_area(height, width, axes, holds) for width in widths)
    return list(dict.fromkeys(shape for shape in found if shape is not None))


def _least_area(height: int, width: int, axes: Sequence[Axis], holds: Holds) -> Shape | None:
    """Return the valid shape of the least area that covers a height and a width, the lowest of several."""
    best: Shape | None = None
    h: int | None = covers(axes[0], height, lambda _: True)
    while h is not None and (best is None or h * width < best[0] * best[1]):
        w = covers(axes[1], width, lambda m, h=h: holds((h, m)))  # type: ignore[misc]
        if w is not None and (best is None or h * w < best[0] * best[1]):
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

    States that cannot beat the shapes ``known`` are dropped: each lower request costs at least its own least cover.
    Returns no shapes if there are none that cover all requests.
    """
    areas = sorted({c for row in candidates.values() for c in row}, key=lambda c: c[0] * c[1])
    cost_known = _cost(weights, known)
    bound = float("inf") if cost_known is None else cost_known
    left = {h: sum(n * _least_cover(areas, h, w) for w, n in row) for h, row in rows.items()}
    rest = sum(left.values())
    states: dict[tuple[int, State], tuple[float, tuple[Shape, ...]]] = {(0, ()): (0.0, ())}
    for height in sorted(rows, reverse=True):
        for shape in candidates[height]:
            for (used, state), (cost, chosen) in list(states.items()):
                charge(1 + len(state))
                made = _with(state, shape)
                if used < k and made is not state:
                    _improve(states, (used + 1, made), (cost, (*chosen, shape)))
        rest -= left[height]
        paid: dict[tuple[int, State], tuple[float, tuple[Shape, ...]]] = {}
        for (used, state), (cost, chosen) in states.items():
            charge(len(rows[height]))
            added = _row_cost(state, rows[height])
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
    if any(w >= width and a <= area for w, a, _ in state):
        return state
    kept = [part for part in state if not (part[0] <= width and part[1] >= area)]
    return tuple(sorted([*kept, (width, area, shape)]))


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

    The first one covers all requests; returns no shapes if no single one does. What is chosen when the effort is spent
    is returned.
    """
    highest, widest = max(h for h, _ in weights), max(w for _, w in weights)
    whole = [c for c in known if c[0] >= highest and c[1] >= widest]
    if not whole:
        return []
    chosen = [min(whole, key=lambda c: (c[0] * c[1], c))]
    try:
        with share(_IMPROVED):
            while len(chosen) < k:
                best = _best_added(weights, known, chosen)
                if best is None:
                    break
                chosen = [*chosen, best]
            for _ in range(_EXCHANGES):
                before = chosen
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
