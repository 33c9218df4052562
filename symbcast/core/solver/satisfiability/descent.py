"""Smaller sizes from sizes whose search was cut short: one size is lowered at a time, as long as formulas hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from symbcast.core.effort import charge
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import ALL, SizeSet

if TYPE_CHECKING:
    from symbcast.core.solver.sets.smallest import Point, Wanted

_LEAST = 64
"""How many of the least members of its set are tried for a size."""
_POINTS = 2_000
"""The most points that are tried."""
_HOLDS = 10
"""Units of effort for the value of a formula at a point."""


def descended(wanted: Wanted, point: Point) -> Point:
    """Return sizes that no change of a single one to a small value makes smaller; ``point`` is where formulas hold.

    A model of the solver may have numbers of many digits where 1 works too.
    """
    about = {s: [f for f in wanted.formulas if s in symbols_in(f)] for s in wanted.symbols}
    left = _POINTS
    is_changed = True
    while is_changed and left > 0:
        is_changed = False
        for size in sorted(wanted.symbols, key=lambda s: -point[s]):
            for value in _smaller(wanted.domains.get(size, ALL), point[size]):
                lower = {**point, size: value}
                left -= 1
                charge(_HOLDS * len(about[size]))
                if wanted.cost(lower) < wanted.cost(point) and all(holds_at(f, lower) for f in about[size]):
                    point, is_changed = lower, True
                    break
    return point


def _smaller(allowed: SizeSet, size: int) -> Iterator[int]:
    """Yield other values that a size may have, least first: its least ones, then halves of it; 0 last."""
    for value in islice(allowed.members(1), _LEAST):
        if size and value >= size:
            break
        yield value
    for shift in range(size.bit_length() - 1, 0, -1):
        if size >> shift > _LEAST and size >> shift in allowed:
            yield size >> shift
