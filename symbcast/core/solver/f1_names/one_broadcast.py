"""Tier F1 for one broadcast of names and integers, by bit masks, and the irredundant condition of its joins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from symbcast.core.algebra.formulas import FALSE, AnyOf, Compatible, Formula, equal, one_or_equal
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict

# The condition of joins, and of names that meet integers, as few and short clauses.
#
# Names are given by their positions. Three facts make this fragment simple:
#
# - All names may be 1 at once: no join, and no integer that meets a name, prevents a name from being 1.
# - A name that meets an integer k is 1 or k; one that meets two different integers is 1. Nothing else bounds a name.
# - A join of names is the conjunction of its pairs, and a pair is implied only by another join that contains both
#   names, or if both are 1 or the same k. Otherwise let both be different and other than 1, and all other names 1: any
#   join without one of the two holds. So a join is redundant exactly when the others cover its pairs.


Name: TypeAlias = Any
"""A symbol: any object but an ``int``; two are one size exactly when they are the same object."""
Members: TypeAlias = tuple[int, ...]
"""The names of a join, as their positions, in order."""
Conjunct: TypeAlias = tuple[Members, int]
"""A conjunct of the condition as names and a number: the one name is 1 or the number; of several names the join is
defined (`DEFINED`), or one of the two is 1 (`EITHER_ONE`)."""
DEFINED = 1
EITHER_ONE = -1

# Up to so many bits a member, joins are compared as masks, otherwise as sets: then memory stays linear.
_DENSE = 256
# In how many joins a name may be before those of its pairs are checked from the side of the other name.
_HUB = 8

Set = TypeVar("Set", int, frozenset[int])


def irredundant_conjuncts(joins: Iterable[Members], numbers: Mapping[int, int]) -> list[Conjunct]:
    """Return the irredundant condition of distinct joins and of names that meet integers.

    ``numbers`` are the integers that these names are unless they are 1; no join contains a name that is 1.

    Names connected by joins are grouped in the order of their first names; each group lists the facts about single
    names, then the joins, long ones first.
    """
    distinct = list(joins)
    if len(distinct) == 1 and not numbers:
        return [(distinct[0], DEFINED)]
    groups: dict[int, tuple[list[int], list[Members]]] = {}
    first_of = connected_names(distinct)
    for name in numbers:
        groups.setdefault(first_of.get(name, name), ([], []))[0].append(name)
    for join in distinct:
        groups.setdefault(first_of[join[0]], ([], []))[1].append(join)
    conjuncts: list[Conjunct] = []
    for _, (names, joined) in sorted(groups.items()):
        conjuncts += [((name,), numbers[name]) for name in sorted(names)]
        conjuncts += [
            (join, _kind(join, numbers)) for join in irredundant_joins(joined, {n: numbers[n] for n in names})
        ]
    return conjuncts


def _kind(join: Members, numbers: Mapping[int, int]) -> int:
    """Return the formula of a kept join: for two names that are 1 or different integers, that one of them is 1."""
    return EITHER_ONE if len(join) == 2 and join[0] in numbers and join[1] in numbers else DEFINED


def irredundant_joins(joins: Iterable[Members], numbers: Mapping[int, int]) -> list[Members]:
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
    same = {number: united(owners) for number, owners in by_number.items()}
    # The sets that each name and the facts about it cover its pairs with: those that are kept, and those still to be
    # checked, the next one last. A pair is implied only by longer joins, so pairs are not among the latter.
    facts = {name: [same[numbers[name]]] if name in numbers else [] for name in alone}
    needed_sets: dict[int, list[Set]] = {name: [] for name in alone}
    ahead: dict[int, list[Set]] = {name: [] for name in alone}
    degrees = dict.fromkeys(alone, 0)
    for join, whole in zip(ordered, sets, strict=True):
        for name in join:
            degrees[name] += 1
            if len(join) > 2:
                ahead[name].append(whole)
    has_hub = max(degrees.values()) > _HUB
    needed: list[Members] = []
    for join, whole in zip(reversed(ordered), reversed(sets), strict=True):
        is_pair = len(join) == 2
        if not is_pair:
            for name in join:
                ahead[name].pop()
        # The pairs of the last name are checked from the other side. A name in thousands of joins comes last, for each
        # of them would take the time of all others.
        by_degree = sorted(join, key=degrees.__getitem__) if has_hub else join
        for name in by_degree[:-1]:
            others = (facts[name], ahead[name]) if is_pair else (facts[name], ahead[name], needed_sets[name])
            if _is_uncovered(whole ^ alone[name], others):
                needed.append(join)
                for member in join:
                    needed_sets[member].append(whole)
                break
    return needed[::-1]


def _is_uncovered(rest: Set, others: Iterable[Iterable[Set]]) -> bool:
    """Return whether some member is in no other set."""
    for sets in others:
        for other in sets:
            rest ^= rest & other
            if not rest:
                return False
    return True


def connected_names(joins: Iterable[Members]) -> dict[int, int]:
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


def conjunct_formula(members: tuple[Name, ...], number: int) -> Formula:
    """Return a conjunct as a formula, given its names."""
    if len(members) > 1:
        return Compatible(members) if number == DEFINED else AnyOf(tuple([equal(name, 1) for name in members]))
    (name,) = members
    return equal(name, 1) if number == 1 else AnyOf((equal(name, min(1, number)), equal(name, max(1, number))))


# The condition of separate joins of names some of which have lower bounds: no solver, no sets.
#
# If no name is in two joins, nothing follows from two of them together. In each, a name whose least size is above 1 is
# the join, so every other name is 1 or equal to it. Without such a name, the join is its own shortest condition.


def separate_joins(joins: Iterable[Sequence[Name]], least: Mapping[Name, int]) -> list[Formula] | None:
    """Return the conjuncts of the condition of some joins, irredundant; None if the joins are not separate.

    ``least`` is the least size of each name, in the order in which joins are listed by their first names. Integers are
    1. None also if two names above 1 meet: they are equal then, which may change their bounds.

    >>> separate_joins([("N", "M"), ("K", 1, "L")], {"N": 0, "M": 2, "K": 0, "L": 0})
    [AnyOf((Comparison('==', N, 1), Comparison('==', N, M))), Compatible(('K', 'L'))]
    """
    seen: set[Name] = set()
    by_join: list[tuple[Iterable[Name], list[Formula]]] = []
    for sizes in joins:
        members = dict.fromkeys([size for size in sizes if size != 1])
        if int in map(type, members):
            return None
        if len(members) < 2:
            continue
        above = [name for name in members if least[name] > 1]
        if len(above) > 1 or not seen.isdisjoint(members):
            return None
        seen.update(members)
        one_sided: list[Formula] = (
            [one_or_equal(name, above[0]) for name in members if name is not above[0]] if above else []
        )
        by_join.append((members, one_sided or [Compatible(tuple(members))]))
    if len(by_join) > 1:
        place = {name: n for n, name in enumerate(least)}
        by_join.sort(key=lambda join: min([place[name] for name in join[0]]))
    return [clause for _, clauses in by_join for clause in clauses]


# Tier F1 for one broadcast of names and integers by NumPy's rule, without assumptions: exact, in linear time.
#
# Every name may be 1 at once. So the broadcast is impossible exactly if two different integers other than 1 meet on
# one axis; otherwise all sizes 1 is the smallest witness. The head of this file proves that the conditions are exact.


Size: TypeAlias = "int | Name"
OutputDim: TypeAlias = "int | Name | tuple[Name, ...]"
"""An integer, one name, or the members of a join."""

_ALWAYS, _SOMETIMES, _NEVER = Verdict.ALWAYS, Verdict.SOMETIMES, Verdict.NEVER


class Conflict(NamedTuple):
    """Two operands, by position, whose sizes on one of ``rank`` aligned axes are different integers other than 1."""

    axis: int
    rank: int
    left: int
    right: int


class MaskBroadcast:
    """The answer about one broadcast: the verdict is computed at once, the rest on demand.

    >>> question = MaskBroadcast((("N", 3), ("M", 1)))
    >>> question.verdict, question.clauses(), question.output()
    (<Verdict.SOMETIMES: 'sometimes'>, [Compatible(('N', 'M'))], (('N', 'M'), 3))
    """

    __slots__ = ("_aligned", "_integers", "_numbers", "_positions", "shapes", "verdict")

    def __init__(self, shapes: Sequence[tuple[Size, ...]]) -> None:
        rank = 0
        for shape in shapes:
            if len(shape) > rank:  # noqa: PLR1730 - as a call it takes three times as long
                rank = len(shape)
        numbers: list[int] = [1] * rank
        names: list[Name] = [None] * rank
        clash = meet = False
        for shape in shapes:
            axis = rank - len(shape)
            for size in shape:
                if type(size) is int:
                    if size != 1:
                        if numbers[axis] == 1:
                            numbers[axis] = size
                        elif numbers[axis] != size:
                            clash = True
                # Compare by identity: the equality of symbols may be slow.
                elif names[axis] is None:
                    names[axis] = size
                elif names[axis] is not size:
                    meet = True
                axis += 1
        self.shapes = shapes
        self._numbers = numbers
        self._positions: tuple[list[Name], dict[int, int]] | None = None
        self._integers: dict[int, int] | None = None
        self._aligned: list[dict[int, Name]] | None = None
        self.verdict = _NEVER if clash else _SOMETIMES if meet or _meet_number(names, numbers) else _ALWAYS

    @property
    def names(self) -> list[Name]:
        """The symbols, in order of first appearance."""
        return self._names_and_places()[0]

    def verdict_at(self, axis: int) -> Verdict:
        """Return the verdict on the sizes of one axis.

        >>> question = MaskBroadcast((("N", 3, 4), ("M", 1, 5)))
        >>> [question.verdict_at(axis).value for axis in range(3)]
        ['sometimes', 'always', 'never']
        """
        back = len(self._numbers) - axis
        sizes = {shape[-back] for shape in self.shapes if len(shape) >= back} - {1}
        if sum([type(size) is int for size in sizes]) > 1:
            return _NEVER
        return _SOMETIMES if len(sizes) > 1 else _ALWAYS

    def clauses(self) -> list[Formula]:
        """Return the conjuncts of the condition, irredundant; only `FALSE` if no sizes broadcast.

        Connected names are grouped in the order of their first names; each group lists the facts about single names,
        then the joins, long ones first. The members of a join are in the order of the operands.
        """
        if self.verdict is not _SOMETIMES:
            return [] if self.verdict is _ALWAYS else [FALSE]
        facts = self._facts()
        column_of: dict[Members, tuple[Name, ...]] = {}
        for number, column in zip(self._numbers, self._columns(facts), strict=True):
            if number == 1 and len(column) > 1:
                column_of.setdefault(tuple(sorted(column)), tuple(column.values()))
        formulas: list[Formula] = []
        names = self.names if facts else []
        for members, number in irredundant_conjuncts(column_of, facts):
            formulas.append(conjunct_formula(column_of[members] if len(members) > 1 else (names[members[0]],), number))
        return formulas

    def output(self) -> tuple[OutputDim, ...] | None:
        """Return the output shape wherever the condition holds, joins in the order of the names; None for never."""
        if self.verdict is _NEVER:
            return None
        dims: list[OutputDim] = []
        for number, column in zip(self._numbers, self._columns(self._facts()), strict=True):
            if number != 1 or not column:
                dims.append(number)
            else:
                names = tuple([column[place] for place in sorted(column)])
                dims.append(names if len(names) > 1 else names[0])
        return tuple(dims)

    def witness(self) -> dict[Name, int] | None:
        """Return the smallest sizes at which the shapes broadcast; None if there are none."""
        return None if self.verdict is _NEVER else dict.fromkeys(self.names, 1)

    def counterexample(self) -> dict[Name, int] | None:
        """Return the smallest sizes at which the shapes do not broadcast; None if they always do."""
        if self.verdict is _ALWAYS:
            return None
        sizes = dict.fromkeys(self.names, 1)
        if self.verdict is _SOMETIMES:
            names = [*sizes]
            columns = zip(self._numbers, self._columns({}), strict=True)
            joins = [tuple(sorted(column)) for number, column in columns if number == 1]
            for position, size in smallest_break(joins, self._facts()).items():
                sizes[names[position]] = size
        return sizes

    @property
    def conflict(self) -> Conflict | None:
        """The first two operands that clash on the first axis with a clash; None unless the verdict is never."""
        return first_conflict(self.shapes) if self.verdict is _NEVER else None

    def _names_and_places(self) -> tuple[list[Name], dict[int, int]]:
        """Return the names, and their positions by identity: their hashes may be slow; the shapes keep them alive."""
        if self._positions is None:
            names: list[Name] = []
            places: dict[int, int] = {}
            for shape in self.shapes:
                for size in shape:
                    if type(size) is not int and id(size) not in places:
                        places[id(size)] = len(names)
                        names.append(size)
            self._positions = names, places
        return self._positions

    def _facts(self) -> dict[int, int]:
        """Return the integer that each name which meets one is unless it is 1; 1 for a name that meets two."""
        if self._integers is None:
            facts: dict[int, int] = {}
            if any(number != 1 for number in self._numbers):
                for number, column in zip(self._numbers, self._columns({}), strict=True):
                    if number != 1:
                        for place in column:
                            facts[place] = number if facts.get(place, number) == number else 1
            self._integers = facts
        return self._integers

    def _columns(self, facts: Mapping[int, int]) -> list[dict[int, Name]]:
        """Return the names of each axis by position, in the order of the operands, without those that are 1."""
        columns = self._aligned
        if columns is None:
            _, places = self._names_and_places()
            columns = self._aligned = [{} for _ in self._numbers]
            for shape in self.shapes:
                axis = len(columns) - len(shape)
                for size in shape:
                    if type(size) is not int:
                        columns[axis][places[id(size)]] = size
                    axis += 1
        if 1 in facts.values():
            return [{place: name for place, name in column.items() if facts.get(place) != 1} for column in columns]
        return columns


def _meet_number(names: list[Name], numbers: list[int]) -> bool:
    """Return whether a name meets an integer other than 1 on any axis."""
    return any(number != 1 and name is not None for name, number in zip(names, numbers))  # noqa: B905 - it costs


def first_conflict(shapes: Sequence[Sequence[Any]]) -> Conflict | None:
    """Return the first pair of operands, on the first axis, with different integers other than 1."""
    rank = max(map(len, shapes), default=0)
    for axis in range(rank):
        first = -1
        for position, shape in enumerate(shapes):
            back = rank - axis
            size = shape[-back] if len(shape) >= back else 1
            if type(size) is not int or size < 0 or size == 1:
                continue
            if first < 0:
                first = position
            elif shapes[first][-back] != size:
                return Conflict(axis, rank, first, position)
    return None
