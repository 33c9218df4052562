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
    found: list[tuple[Iterable[Name], list[Formula]]] = []
    for sizes in joins:
        members = dict.fromkeys([size for size in sizes if size != 1])
        if int in map(type, members):
            return None
        if len(members) < 2:
            continue
        above = [name for name in members if least[name] > 1]
        if len(above) > 1 or not met.isdisjoint(members):
            return None
        met.update(members)
        held: list[Formula] = (
            [one_or_equal(name, above[0]) for name in members if name is not above[0]] if above else []
        )
        found.append((members, held or [Compatible(tuple(members))]))
    if len(found) > 1:
        place = {name: n for n, name in enumerate(least)}
        found.sort(key=lambda join: min([place[name] for name in join[0]]))
    return [clause for _, clauses in found for clause in clauses]
