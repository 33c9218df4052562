"""The condition of joins, and of names that meet integers, as few and short clauses on bit masks.

A name has a bit. Three facts make this fragment simple:

- All names may be 1 at once: no join, and no integer that meets a name, prevents a name from being 1.
- A name that meets an integer k is 1 or k; one that meets two different integers is 1. Nothing else bounds a name.
- A join of names is the conjunction of its pairs, and a pair is implied only by another join that contains both names,
  or if both are 1 or the same k. Otherwise let both be different and other than 1, and all other names 1: any join
  without one of the two holds. So a join is redundant exactly when the others cover its pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from symbcast.core.logic.formulas import AnyOf, Compatible, Formula, equal

Name: TypeAlias = Any
"""A symbol: any object but an ``int``; two are one size exactly when they are the same object."""
Conjunct: TypeAlias = tuple[int, int]
"""A conjunct of the condition as a mask and a number: the one name is 1 or the number; of several names the join is
defined (`DEFINED`), or one of the two is 1 (`EITHER_ONE`)."""
DEFINED = 1
EITHER_ONE = -1


Previous: TypeAlias = tuple[int, int, int, int]
"""What a `Held` was before an addition: its number, the names held to it, those that were 1, and all."""


class Held:
    """The names that meet integers: those in ``by_number[k]`` are 1 or k; those in ``ones`` met two, so are 1."""

    __slots__ = ("_every", "by_number", "ones")

    def __init__(self) -> None:
        self.by_number: dict[int, int] = {}
        self.ones = 0
        self._every = 0

    def add(self, number: int, names: int) -> Previous:
        """Restrict the names of a mask to {1, ``number``}; the number is not 1. Return the state for `undo`."""
        before = self.by_number.get(number, 0)
        previous = number, before, self.ones, self._every
        self.ones |= names & self._every & ~before
        self.by_number[number] = before | names
        self._every |= names
        return previous

    def undo(self, previous: Previous) -> None:
        """Undo the last addition."""
        number, before, self.ones, self._every = previous
        if before:
            self.by_number[number] = before
        else:
            del self.by_number[number]

    def __bool__(self) -> bool:
        return bool(self._every)

    def copy(self) -> Held:
        """Return an independent copy."""
        made = Held()
        made.by_number, made.ones, made._every = dict(self.by_number), self.ones, self._every
        return made

    def numbers(self) -> dict[int, int]:
        """Return, for each held name by position, the integer that it is unless it is 1; 1 for names that are 1."""
        found: dict[int, int] = {}
        for number, names in self.by_number.items():
            found.update(dict.fromkeys(bits(names & ~self.ones), number))
        found.update(dict.fromkeys(bits(self.ones), 1))
        return found


_SHORT = 1 << 60
_FEW = 16


def bits(mask: int) -> list[int]:
    """Return the positions of the bits of a mask, the lowest first.

    >>> bits(0b10110)
    [1, 2, 4]
    """
    found: list[int] = []
    if mask < _SHORT or mask.bit_count() <= _FEW:
        while mask:
            low = mask & -mask
            found.append(low.bit_length() - 1)
            mask ^= low
        return found
    # Clearing a bit copies a long integer; going by its digits takes linear time for a join of thousands of names.
    digits = bin(mask)[:1:-1]
    position = digits.find("1")
    while position >= 0:
        found.append(position)
        position = digits.find("1", position + 1)
    return found


def irredundant(joins: Iterable[int], numbers: dict[int, int], held: Held) -> list[int]:
    """Return the joins that the others and the facts do not imply, long ones first, otherwise in the given order.

    The shortest joins are dropped first; among equally long ones, the last. ``numbers`` are those of ``held``; names
    that are 1 are in no join.
    """
    ordered = sorted(joins, key=int.bit_count, reverse=True)
    if len(ordered) < 2 and not numbers:
        return ordered
    # The joins with each name: those still to be checked, the next one last in every list, and those kept.
    ahead: dict[int, list[int]] = {}
    kept: dict[int, list[int]] = {}
    members_of = [bits(join) for join in ordered]
    for join, members in zip(ordered, members_of, strict=True):
        for name in members:
            if name in ahead:
                ahead[name].append(join)
            else:
                ahead[name] = [join]
                kept[name] = []
    found: list[int] = []
    while ordered:
        join, members = ordered.pop(), members_of.pop()
        for name in members:
            ahead[name].pop()
        if _is_needed(join, members, ahead, kept, numbers, held):
            found.append(join)
            for name in members:
                kept[name].append(join)
    return found[::-1]


def _is_needed(  # noqa: PLR0913, PLR0917 - the state of `irredundant`, in whose loop this is
    join: int,
    members: list[int],
    ahead: dict[int, list[int]],
    kept: dict[int, list[int]],
    numbers: dict[int, int],
    held: Held,
) -> bool:
    """Return whether some pair of a join is in no other join and not restricted to one integer."""
    if len(members) == 2 and len(ahead[members[0]]) + len(kept[members[0]]) > 8:
        # Checking one side is enough; for a name in thousands of pairs, both would be quadratic.
        members = [min(members, key=lambda name: len(ahead[name]) + len(kept[name]))]
    for name in members:
        rest = join & ~(1 << name)
        if name in numbers:
            rest &= ~held.by_number[numbers[name]]
        for other in ahead[name]:
            if not rest:
                break
            rest &= ~other
        if rest:
            for other in kept[name]:
                rest &= ~other
            if rest:
                return True
    return False


def conjuncts(joins: Iterable[int], held: Held) -> list[Conjunct]:
    """Return the irredundant condition of distinct joins and facts; no join contains a name that is 1.

    Names connected by joins are grouped in the order of their first names; each group lists the facts about single
    names, then the joins, long ones first.
    """
    if not held:
        distinct = list(joins)
        kept = irredundant(distinct, {}, held)
        if not _is_seen_connected(kept):
            first_of = connected(kept)
            kept.sort(key=lambda join: first_of[(join & -join).bit_length() - 1])
        return [(join, DEFINED) for join in kept]
    distinct = list(joins)
    numbers = held.numbers()
    first_of = connected(distinct)
    found = [(first_of.get(name, name), 0, (1 << name, numbers[name])) for name in sorted(numbers)]
    for join in irredundant(distinct, numbers, held):
        lowest = (join & -join).bit_length() - 1
        found.append((first_of[lowest], 1, (join, _kind(join, numbers))))
    found.sort(key=lambda item: item[:2])
    return [conjunct for *_, conjunct in found]


def _kind(join: int, numbers: dict[int, int]) -> int:
    """Return the formula of a kept join: for two names that are 1 or different integers, that one of them is 1."""
    if join.bit_count() > 2:
        return DEFINED
    left, right = bits(join)
    return EITHER_ONE if left in numbers and right in numbers else DEFINED


def _is_seen_connected(joins: list[int]) -> bool:
    """Return whether two passes show that all joins are connected; usually enough, and faster than `connected`."""
    whole = joins[0] if joins else 0
    for _ in range(2):
        apart = False
        for join in joins:
            if join & whole:
                whole |= join
            else:
                apart = True
        if not apart:
            return True
    return False


def connected(joins: Iterable[int]) -> dict[int, int]:
    """Return, for each name of the joins by position, the first name that joins connect it to."""
    parent: dict[int, int] = {}

    def find(name: int) -> int:
        while (above := parent[name]) != name:
            parent[name] = name = parent[above]
        return name

    for join in joins:
        first, *others = bits(join)
        root = find(parent.setdefault(first, first))
        for name in others:
            other = find(parent.setdefault(name, name))
            low, high = (root, other) if root < other else (other, root)
            parent[high] = root = low
    return {name: find(name) for name in parent}


def smallest_break(joins: Iterable[int], held: Held) -> dict[int, int]:
    """Return the smallest sizes at which a fact or a join fails, by position, without sizes of 1; empty if none.

    Smallest means least sum, then first in order, so later names get the larger sizes. A name that meets an integer
    fails at 2, or at 3 if the integer is 2; two joined names fail at 2 and 3, which is more.
    """
    at_two = held.ones
    for number, names in held.by_number.items():
        if number != 2:
            at_two |= names
    if at_two:
        return {at_two.bit_length() - 1: 2}
    if held:
        return {held.by_number[2].bit_length() - 1: 3}
    best = (-1, -1)
    for mask in joins:
        last = mask.bit_length() - 1
        second = (mask & ~(1 << last)).bit_length() - 1 if mask else -1
        if second >= 0:
            best = max(best, (second, last))
    return {best[0]: 2, best[1]: 3} if best[0] >= 0 else {}


def formula(members: tuple[Name, ...], number: int) -> Formula:
    """Return a conjunct as a formula, given the names of its mask."""
    if len(members) > 1:
        return Compatible(members) if number == DEFINED else AnyOf(tuple([equal(name, 1) for name in members]))
    (name,) = members
    return equal(name, 1) if number == 1 else AnyOf((equal(name, min(1, number)), equal(name, max(1, number))))
