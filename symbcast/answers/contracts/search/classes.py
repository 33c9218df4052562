"""Residue classes in which to seek boxes whose sizes advance in steps, in a group with too many points to list.

Where clauses are periodic, a long progression fills a residue class of their periods, so the best classes of one period
are found, and boxes are sought in these. A short progression has fewer members than the period; in a group of two sizes
whose clauses are all periodic, that often proves that the box of the best classes is the largest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm, prod
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.contracts.search.masks import progression
from symbcast.answers.contracts.search.periods import divisors_in, periodic_part
from symbcast.answers.contracts.search.space import Axis, Group
from symbcast.answers.contracts.search.tables import Table, is_any, meet
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import TRUE, Formula, all_of
from symbcast.core.solver.evaluation.evaluation import predicate
from symbcast.core.solver.groups.normal_form import flattened, put_in
from symbcast.core.solver.sets.congruences import divisors, tiled

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_MOST_POINTS = 1 << 14
"""The most points of a period that are listed."""
_MOST_CLASSES = 24
"""In how many products of residue classes a large group is searched."""


class Classes(NamedTuple):
    """A residue class of each size: its step and its residue; how many points it has at most."""

    phases: dict[Symbol, tuple[int, int]]
    points: int


class Periodic(NamedTuple):
    """Promising residue classes of a group, best first; those of all sizes come first.

    ``largest``: a box with so many points is the largest of all, as clauses are periodic; None if that is unknown.
    """

    classes: list[Classes]
    largest: int | None = None


def classes_of(group: Group) -> Periodic:
    """Return the residue classes in which to seek boxes of a large group."""
    whole = Classes(dict.fromkeys(group.axes, (1, 0)), prod(a.mask.bit_count() for a in group.axes.values()))
    found = list(_of_divisors(group))
    parts = [periodic_part(clause) for clause in group.clauses]
    periods: dict[Symbol, int] = {}
    for part in parts:
        for s, period in part.periods.items() if part else ():
            periods[s] = lcm(periods.get(s, 1), period)
    own = {s: group.axes[s] for s in periods}
    if not own or prod(periods.values()) > _MOST_POINTS:
        return Periodic([whole, *found[:_MOST_CLASSES]])
    formula = all_of(part.formula for part in parts if part is not None)
    table = _table(formula, list(periods.items()), ())
    made = [
        Classes({**whole.phases, **dict(zip(own, phases, strict=True))}, points)
        for phases, points in _cosets(table, list(own.values()), list(periods.values()))
    ]
    made.sort(key=lambda c: (-_held(group, c), -c.points, [*c.phases.values()]))
    is_exact = all(p is not None and p.is_whole for p in parts) and len(own) == len(group.axes) == 2
    most = made[0].points if made else 0
    largest = most if is_exact and _short_have_less(table, [*own.values()], [*periods.values()], most) else None
    return Periodic([whole, *[*made, *found][:_MOST_CLASSES]], largest)


def _of_divisors(group: Group) -> Iterator[Classes]:
    """Yield the multiples of all divisors in the clauses, together and for one size alone."""
    steps = {s: lcm(1, *(d for clause in group.clauses for d in divisors_in(clause, s))) for s in group.axes}
    known = {s: (step, 0) for s, step in steps.items() if 1 < step <= group.axes[s].high}
    for chosen in dict.fromkeys([tuple(known), *((s,) for s in known)] if known else []):
        phases = {s: known[s] if s in chosen else (1, 0) for s in group.axes}
        yield Classes(phases, prod(thinned(a, *phases[s]).mask.bit_count() for s, a in group.axes.items()))


def _held(group: Group, classes: Classes) -> int:
    return sum(thinned(axis, *classes.phases[s]).typical.bit_count() for s, axis in group.axes.items() if axis.typical)


def _table(formula: Formula, periods: Sequence[tuple[Symbol, int]], point: tuple[int, ...]) -> Table:
    """Return at which residues a periodic formula holds."""
    symbols = tuple(s for s, _ in periods)
    (_, period), depth = periods[len(point)], len(point)
    if depth + 1 < len(periods):
        return [_table(formula, periods, (*point, r)) for r in range(period)]
    charge(1 + period // 2)
    holds = predicate(formula, symbols)
    return sum(1 << r for r in range(period) if holds(*point, r))


def _cosets(
    table: Table, axes: Sequence[Axis], periods: Sequence[int]
) -> Iterator[tuple[tuple[tuple[int, int], ...], int]]:
    """Yield classes of the first axes, each with the largest class of the last one, and how many points they have."""
    axis, period = axes[0], periods[0]
    if isinstance(table, int):
        best: tuple[int, tuple[int, int]] | None = None
        for step in divisors(period):
            for residue in range(step):
                members = tiled(step, 1, period) << residue
                if not members & ~table:
                    count = thinned(axis, step, residue).mask.bit_count()
                    best = (count, (step, residue)) if count and (best is None or count > best[0]) else best
            if best is not None:
                yield (best[1],), best[0]
                return
        return
    for step in divisors(period):
        for residue in range(step):
            count = thinned(axis, step, residue).mask.bit_count()
            common = table[residue]
            for r in range(residue + step, period if count else 0, step):
                common = meet(common, table[r])
            if count and is_any(common):
                for phases, points in _cosets(common, axes[1:], periods[1:]):
                    yield ((step, residue), *phases), points * count


def _short_have_less(table: Table, axes: Sequence[Axis], periods: Sequence[int], points: int) -> bool:
    """Return whether boxes with a progression that does not fill a residue class have at most so many points.

    It has fewer members than the period, and each of its rows has at most the points of the fullest row.
    """
    if not all(axis.is_whole for axis in axes) or any(axis.typical for axis in axes):
        return False
    assert isinstance(table, list)
    counts = [[thinned(axis, p, r).mask.bit_count() for r in range(p)] for axis, p in zip(axes, periods, strict=True)]
    rows = [[bool(row >> c & 1) for c in range(periods[1])] for row in table if isinstance(row, int)]
    widest = max(sum(n for n, holds in zip(counts[1], row, strict=True) if holds) for row in rows)
    highest = max(
        sum(n for n, holds in zip(counts[0], column, strict=True) if holds) for column in zip(*rows, strict=True)
    )
    return points >= max((periods[0] - 1) * widest, (periods[1] - 1) * highest)


def thinned(axis: Axis, step: int, phase: int) -> Axis:
    """Return the quotients of the sizes in a residue class."""
    if step == 1:
        return axis
    first = axis.low + (phase - axis.low) % step
    positions = range(first - axis.low, axis.mask.bit_length(), step)
    charge(1 + len(positions) // 16)
    mask = sum((axis.mask >> p & 1) << n for n, p in enumerate(positions))
    typical = sum((axis.typical >> p & 1) << n for n, p in enumerate(positions)) if axis.typical else 0
    shift = (mask & -mask).bit_length() - 1 if mask else 0
    return Axis(first // step + shift, mask >> shift, typical >> shift)


def regular_class(axis: Axis) -> tuple[int, int]:
    """Return the step and the residue of the sizes of an axis if they have no gaps otherwise; else 1 and 0."""
    gap = axis.mask & (axis.mask - 1) if axis.mask else 0
    step = (gap & -gap).bit_length() - 1
    is_regular = step > 1 and axis.mask == progression(0, axis.mask.bit_count(), step)
    return (step, axis.low % step) if is_regular else (1, 0)


def thinned_group(group: Group, phases: Mapping[Symbol, tuple[int, int]]) -> Group:
    """Return a group over the quotients of its sizes: each is ``step*k + phase``, and k has the symbol of the size."""
    axes = {s: thinned(axis, *phases[s]) for s, axis in group.axes.items()}
    sizes = {s: step * s + phase for s, (step, phase) in phases.items() if step > 1}
    clauses = flattened(put_in(clause, sizes) for clause in group.clauses)
    return Group(axes, [clause for clause in clauses if clause != TRUE])


def spread(sizes: range, step: int, phase: int) -> range:
    """Return the sizes that have some quotients."""
    first, last = (n * step + phase for n in (sizes[0], sizes[-1]))
    return range(first, last + 1, step * sizes.step if len(sizes) > 1 else 1)
