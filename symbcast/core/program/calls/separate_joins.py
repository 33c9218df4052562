"""The condition of separate joins of names some of which have lower bounds: no solver, no sets.

If no name is in two joins, nothing follows from two of them together. In each, a name whose least size is above 1 is
the join, so every other name is 1 or equal to it. Without such a name, the join is its own shortest condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from symbcast.core.logic.formulas import Compatible, Formula, one_or_equal
from symbcast.core.solver.masks.mask_clauses import Name


def separate_joins(joins: Iterable[Sequence[Name]], least: Mapping[Name, int]) -> list[Formula] | None:
    """Return the conjuncts of the condition of some joins, irredundant; None if the joins are not separate.

    ``least`` is the least size of each name, in the order in which joins are listed by their first names. Integers are
    1. None also if two names above 1 meet: they are equal then, which may change their bounds.

    >>> separate_joins([("N", "M"), ("K", 1, "L")], {"N": 0, "M": 2, "K": 0, "L": 0})
    [AnyOf((Comparison('==', N, 1), Comparison('==', N, M))), Compatible(('K', 'L'))]
    """
    met: set[Name] = set()
    place = {name: n for n, name in enumerate(least)}
    found: list[tuple[int, list[Formula]]] = []
    for sizes in joins:
        if any(type(size) is int and size != 1 for size in sizes):
            return None
        members = tuple(dict.fromkeys(size for size in sizes if type(size) is not int))
        if len(members) < 2:
            continue
        above = [name for name in members if least[name] > 1]
        if len(above) > 1 or not met.isdisjoint(members):
            return None
        met.update(members)
        held: list[Formula] = (
            [one_or_equal(name, above[0]) for name in members if name is not above[0]] if above else []
        )
        found.append((min(place[name] for name in members), held or [Compatible(members)]))
    return [clause for _, clauses in sorted(found, key=_place) for clause in clauses]


def _place(found: tuple[int, list[Formula]]) -> int:
    return found[0]
