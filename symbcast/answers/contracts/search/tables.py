"""The points of a group as nested lists of masks: one level for each size but the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from symbcast.core.effort import charge

Table: TypeAlias = "int | list[Table]"
"""A mask, or a table for each size of a symbol."""
Score: TypeAlias = tuple[int, int]
"""How many typical sizes a box contains, summed over its sizes, and how many points."""


def weight(table: Table) -> int:
    """Return the number of points of a table."""
    return table.bit_count() if isinstance(table, int) else sum(map(weight, table))


def is_any(table: Table) -> bool:
    """Return whether a table has points."""
    return bool(table) if isinstance(table, int) else any(map(is_any, table))


def meet(left: Table, right: Table) -> Table:
    """Return the points that are in both of two tables."""
    charge(1)
    if isinstance(left, int) and isinstance(right, int):
        return left & right
    assert isinstance(left, list)
    assert isinstance(right, list)
    return [meet(a, b) for a, b in zip(left, right, strict=True)]


def is_within(inner: Table, outer: Table) -> bool:
    """Return whether a table has all points of another one."""
    charge(1)
    if isinstance(inner, int) and isinstance(outer, int):
        return not inner & ~outer
    assert isinstance(inner, list)
    assert isinstance(outer, list)
    return all(is_within(a, b) for a, b in zip(inner, outer, strict=True))


def without(table: Table, box: Sequence[tuple[int, int]]) -> Table:
    """Return a table without the points of a box: the first position and the length on each axis."""
    (position, length), *rest = box
    if isinstance(table, int):
        return table & ~(((1 << length) - 1) << position)
    inside = range(position, position + length)
    return [without(rows, rest) if n in inside else rows for n, rows in enumerate(table)]
