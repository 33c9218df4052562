"""Requirements of shapes on their sizes: that they be sizes, that two of them be equal, that joins be defined."""

from __future__ import annotations

from collections.abc import Iterable

from symbcast.core.algebra.arithmetic import join_members
from symbcast.core.algebra.terms import Dim
from symbcast.core.logic.definedness import definedness
from symbcast.core.logic.formulas import FALSE, AnyOf, Comparison, Compatible, Formula, all_of, equal, one_or_equal
from symbcast.core.shapes import Shape


def unjoined(formula: Formula) -> Formula:
    """Return a formula with its joins split into their members, where that is equivalent.

    This is equivalent given that these joins are defined: a join of joins is the join of all members;
    and if a join is 1 or ``t``, each of its members is 1 or ``t``.
    """
    match formula:
        case Compatible(dims):
            return Compatible(tuple(dict.fromkeys(m for d in dims for m in join_members(d))))
        case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same:
            members = join_members(data)
            return all_of(one_or_equal(m, target) for m in members) if len(members) > 1 else formula
        case _:
            return formula


def equalities(left: Shape, right: Shape) -> list[Formula]:
    """Return the equalities that make two shapes equal."""
    if left.rank != right.rank:
        return [FALSE]
    return [equal(a, b) for a, b in zip(left.values, right.values, strict=True)]


def size_needs(dims: Iterable[Dim]) -> list[Formula]:
    """Return the requirements that make dimensions sizes: none for integers and symbols."""
    found: dict[Formula, None] = {}
    for dim in dims:
        if isinstance(dim, int):
            if dim < 0:  # a member of a join, not a size
                found[FALSE] = None
            continue
        if dim.is_Symbol:
            continue
        members = join_members(dim)
        if len(members) > 1:
            found[Compatible(members)] = None
            found.update(dict.fromkeys(size_needs(members)))
        else:
            found.update(dict.fromkeys(definedness(dim)))
    return list(found)
