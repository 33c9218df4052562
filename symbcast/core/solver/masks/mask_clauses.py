"""The condition of joins, and of names that meet integers, as few and short clauses.

Names are given by their positions. Three facts make this fragment simple:

- All names may be 1 at once: no join, and no integer that meets a name, prevents a name from being 1.
- A name that meets an integer k is 1 or k; one that meets two different integers is 1. Nothing else bounds a name.
- A join of names is the conjunction of its pairs, and a pair is implied only by another join that contains both names,
  or if both are 1 or the same k. Otherwise let both be different and other than 1, and all other names 1: any join
  without one of the two holds. So a join is redundant exactly when the others cover its pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from symbcast.core.logic.formulas import AnyOf, Compatible, Formula, equal

Name: TypeAlias = Any
"""A symbol: any object but an ``int``; two are one size exactly when they are the same object."""
Members: TypeAlias = tuple[int, ...]
"""The names of a join, as their positions, in order."""
Conjunct: TypeAlias = tuple[Members, int]
"""A conjunct of the condition as names and a number: the one name is 1 or the number; of several names the join is
defined (`DEFINED`), or one of the two is 1 (`EITHER_ONE`)."""
DEFINED = 1
EITHER_ONE = -1

_DENSE = 256
"""Up to so many bits a member, joins are compared as masks, otherwise as sets: then memory stays linear."""
_HUB = 8
"""In how many joins a name may be before those of its pairs are checked from the side of the other name."""

Set = TypeVar("Set", int, frozenset[int])


def conjuncts(joins: Iterable[Members], numbers: Mapping[int, int]) -> list[Conjunct]:
    """Return the irredundant condition of distinct joins and of names that meet integers.

    ``numbers`` are the integers that these names are unless they are 1; no join contains a name that is 1.

    Names connected by joins are grouped in the order of their first names; each group lists the facts about single
    names, then the joins, long ones first.
    """
    distinct = list(joins)
    if len(distinct) == 1 and not numbers:
        return [(distinct[0], DEFINED)]
    groups: dict[int, tuple[list[int], list[Members]]] = {}
    first_of = connected(distinct)
    for name in numbers:
        groups.setdefault(first_of.get(name, name), ([], []))[0].append(name)
    for join in distinct:
        groups.setdefault(first_of[join[0]], ([], []))[1].append(join)
    found: list[Conjunct] = []
    for _, (held, joined) in sorted(groups.items()):
        found += [((name,), numbers[name]) for name in sorted(held)]
        found += [(join, _kind(join, numbers)) for join in irredundant(joined, {n: numbers[n] for n in held})]
    return found


def _kind(join: Members, numbers: Mapping[int, int]) -> int:
    """Return the formula of a kept join: for two names that are 1 or different integers, that one of them is 1."""
    return EITHER_ONE if len(join) == 2 and join[0] in numbers and join[1] in numbers else DEFINED


def irredundant(joins: Iterable[Members], numbers: Mapping[int, int]) -> list[Members]:
    """Return the joins that the others and the facts do not imply, long ones first, otherwise in the given order.

    The shortest joins are dropped first; among equally long ones, the last.
    """
    ordered = sorted(joins, key=len, reverse=True)
    if not ordered or (not numbers and (len(ordered) == 1 or len(ordered[0]) == 2)):
        return ordered
    names = dict.fromkeys(name for join in ordered for name in join)
    if len(names) * (len(names) + len(ordered)) <= _DENSE * sum(map(len, ordered)):
        bit = {name: 1 << n for n, name in enumerate(names)}
        masks = [sum([bit[name] for name in join]) for join in ordered]
        return _needed(ordered, masks, bit, numbers, sum)
    alone = {name: frozenset((name,)) for name in names}
    return _needed(ordered, [*map(frozenset, ordered)], alone, numbers, _united)


def _united(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)


def _needed(
    ordered: list[Members],
    sets: list[Set],
    alone: Mapping[int, Set],
    numbers: Mapping[int, int],
    united: Callable[[list[Set]], Set],
) -> list[Members]:
    """Return the needed ones of joins, given as names and as sets, long ones first."""
    by_number: dict[int, list[Set]] = {}
    for name, own in alone.items():
        if name in numbers:
            by_number.setdefault(numbers[name], []).append(own)
    same = {number: united(held) for number, held in by_number.items()}
    # The sets that each name and the facts about it cover its pairs with: those that are kept, and those still to be
    # checked, the next one last. A pair is implied only by longer joins, so pairs are not among the latter.
    facts = {name: [same[numbers[name]]] if name in numbers else [] for name in alone}
    kept: dict[int, list[Set]] = {name: [] for name in alone}
    ahead: dict[int, list[Set]] = {name: [] for name in alone}
    degrees = dict.fromkeys(alone, 0)
    for join, whole in zip(ordered, sets, strict=True):
        for name in join:
            degrees[name] += 1
            if len(join) > 2:
                ahead[name].append(whole)
    has_hub = max(degrees.values()) > _HUB
    found: list[Members] = []
    for join, whole in zip(reversed(ordered), reversed(sets), strict=True):
        is_pair = len(join) == 2
        if not is_pair:
            for name in join:
                ahead[name].pop()
        # The pairs of the last name are checked from the other side. A name in thousands of joins comes last, for each
        # of them would take the time of all others.
        by_degree = sorted(join, key=degrees.__getitem__) if has_hub else join
        for name in by_degree[:-1]:
            others = (facts[name], ahead[name]) if is_pair else (facts[name], ahead[name], kept[name])
            if _is_uncovered(whole ^ alone[name], others):
                found.append(join)
                for member in join:
                    kept[member].append(whole)
                break
    return found[::-1]


def _is_uncovered(rest: Set, others: Iterable[Iterable[Set]]) -> bool:
    """Return whether some member is in no other set."""
    for sets in others:
        for other in sets:
            rest ^= rest & other
            if not rest:
                return False
    return True


def connected(joins: Iterable[Members]) -> dict[int, int]:
    """Return, for each name of the joins by position, the first name that joins connect it to."""
    parent: dict[int, int] = {}

    def find(name: int) -> int:
        while (above := parent[name]) != name:
            parent[name] = name = parent[above]
        return name

    for join in joins:
        root = find(parent.setdefault(join[0], join[0]))
        for name in join[1:]:
            other = find(parent.setdefault(name, name))
            if other != root:
                low, high = (root, other) if root < other else (other, root)
                parent[high] = root = low
    return {name: find(name) for name in parent}


def smallest_break(joins: Iterable[Members], numbers: Mapping[int, int]) -> dict[int, int]:
    """Return the smallest sizes at which a fact or a join fails, by position, without sizes of 1; empty if none.

    Smallest means least sum, then first in order, so later names get the larger sizes. A name that meets an integer
    fails at 2, or at 3 if the integer is 2; two joined names fail at 2 and 3, which is more.
    """
    at_two = max((name for name, number in numbers.items() if number != 2), default=-1)
    if at_two >= 0:
        return {at_two: 2}
    if numbers:
        return {max(numbers): 3}
    second, last = max([join[-2:] for join in joins if len(join) > 1], default=(-1, -1))
    return {second: 2, last: 3} if last >= 0 else {}


def formula(members: tuple[Name, ...], number: int) -> Formula:
    """Return a conjunct as a formula, given its names."""
    if len(members) > 1:
        return Compatible(members) if number == DEFINED else AnyOf(tuple([equal(name, 1) for name in members]))
    (name,) = members
    return equal(name, 1) if number == 1 else AnyOf((equal(name, min(1, number)), equal(name, max(1, number))))
