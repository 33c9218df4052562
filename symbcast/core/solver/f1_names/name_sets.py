"""Sets of names in linear memory, however many names there are: each set is stored once, under a negative number.

Names have positions, in blocks of `BLOCK`. A set within one block is a mask without its trailing zeros, of names that
meet often neighbours. Any other set is two sets, the names below and above a boundary between blocks that its first and
last block determine (a Patricia tree over blocks). So a set has one form, and one that grows name by name shares all
but a path of the tree with the one before: masks as long as the program has names would take quadratic memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

_SHIFT = 10
BLOCK = 1 << _SHIFT
"""Positions in a block. Python's operations on integers of 1,024 bits take about as long as those on short ones."""

Leaf: TypeAlias = tuple[int, int]
"""The first position, and the mask from there on."""
Branch: TypeAlias = tuple[int, int, int, int]
"""The numbers of two sets, the first block of the second half, and how many names there are.

The lowest bit of the block says how many blocks before it and from it on the two halves cover."""

EMPTY = 1
"""What stands for the set of no names: the join of no sizes."""


class NameSets:
    """The sets; `EMPTY` and the negative numbers that the methods return stand for them.

    >>> sets = NameSets()
    >>> a, b, far = (sets.name(n) for n in (3, 5, 4000))
    >>> sets.members(sets.union((a, far, b))), sets.union((a, a)) == a
    ([3, 5, 4000], True)
    """

    __slots__ = ("_number_of", "_sets")

    def __init__(self) -> None:
        self._sets: list[Leaf | Branch] = []
        """The set of each negative number: of -1 the first."""
        self._number_of: dict[Leaf | Branch, int] = {}

    def __len__(self) -> int:
        return len(self._sets)

    def copy(self) -> NameSets:
        """Return an independent copy."""
        copied = NameSets()
        copied._sets, copied._number_of = self._sets.copy(), self._number_of.copy()
        return copied

    def shorten(self, length: int) -> None:
        """Remove all sets but the first ``length``."""
        for value in self._sets[length:]:
            del self._number_of[value]
        del self._sets[length:]

    def name(self, position: int) -> int:
        """Return the set of one name."""
        return self._number((position, 1))

    def is_name(self, number: int) -> bool:
        """Return whether a set has one name."""
        return self._sets[-1 - number][1] == 1

    def count(self, number: int) -> int:
        """Return how many names a set has."""
        if number == EMPTY:
            return 0
        value = self._sets[-1 - number]
        return value[1].bit_count() if len(value) == 2 else value[3]

    def members(self, number: int) -> list[int]:
        """Return the positions of a set's names, in order."""
        positions: list[int] = []
        for first, mask in self.leaves(number):
            positions += [first + n for n in name_positions(mask)]
        return positions

    def leaves(self, number: int, seen: set[int] | None = None) -> list[Leaf]:
        """Return a set's names block by block, but not those of sets in ``seen``, to which its parts are added."""
        leaves: list[Leaf] = []
        ahead = [] if number == EMPTY else [number]
        while ahead:
            part = ahead.pop()
            value = self._sets[-1 - part]
            if len(value) == 2:
                leaves.append(value)
            elif seen is None or part not in seen:
                ahead += value[1::-1]
                if seen is not None:
                    seen.add(part)
        return leaves

    def union(self, numbers: Sequence[int]) -> int:
        """Return the union of sets, none of them empty; `EMPTY` if there are none."""
        while len(numbers) > 2:
            # By pairs, which leaves fewer and shorter sets in between than one after another.
            pairs = [self._union(*numbers[n : n + 2]) for n in range(0, len(numbers) - 1, 2)]
            numbers = pairs if len(numbers) % 2 == 0 else [*pairs, numbers[-1]]
        return self._union(*numbers) if len(numbers) == 2 else numbers[0] if numbers else EMPTY

    def without(self, number: int, dropped: Mapping[int, int], known: dict[int, int]) -> int:
        """Return a set without names, given as the mask of each block; ``known`` keeps the results of these names."""
        if number == EMPTY:
            return EMPTY
        rest = known.get(number)
        if rest is None:
            value = self._sets[-1 - number]
            rest = known[number] = (
                self._leaf_without(number, value, dropped)
                if len(value) == 2
                else self._branch_without(value, dropped, known)
            )
        return rest

    def _leaf_without(self, number: int, leaf: Leaf, dropped: Mapping[int, int]) -> int:
        first, mask = leaf
        gone = dropped.get(first >> _SHIFT, 0) >> (first % BLOCK)
        if not mask & gone:
            return number
        mask &= ~gone
        zeros = (mask & -mask).bit_length() - 1
        return self._number((first + zeros, mask >> zeros)) if mask else EMPTY

    def _branch_without(self, branch: Branch, dropped: Mapping[int, int], known: dict[int, int]) -> int:
        low, high = (self.without(half, dropped, known) for half in branch[:2])
        if EMPTY in (low, high):
            return high if low == EMPTY else low
        return self._branch(low, high, branch[2])

    def _number(self, value: Leaf | Branch) -> int:
        # A single look-up, because it hashes a mask.
        fresh = -1 - len(self._sets)
        number = self._number_of.setdefault(value, fresh)
        if number == fresh:
            self._sets.append(value)
        return number

    def _union(self, left: int, right: int) -> int:
        if left == right:
            return left
        one, other = self._sets[-1 - left], self._sets[-1 - right]
        if len(one) == 2 == len(other) and one[0] >> _SHIFT == other[0] >> _SHIFT:
            if one[0] > other[0]:
                one, other = other, one
            return self._number((one[0], one[1] | other[1] << (other[0] - one[0])))
        (start, wide), (other_start, other_wide) = _blocks(one), _blocks(other)
        if wide < other_wide:
            left, right, one = right, left, other
            start, wide, other_start, other_wide = other_start, other_wide, start, wide
        if not start <= other_start < start + wide:
            boundary = _boundary(start, other_start)
            return self._branch(left, right, boundary) if start < other_start else self._branch(right, left, boundary)
        assert len(one) == 4
        low, high, boundary, _ = one
        if wide == other_wide:
            other_low, other_high = self._sets[-1 - right][:2]
            return self._branch(self._union(low, other_low), self._union(high, other_high), boundary)
        if other_start < boundary:
            return self._branch(self._union(low, right), high, boundary)
        return self._branch(low, self._union(high, right), boundary)

    def _branch(self, low: int, high: int, boundary: int) -> int:
        return self._number((low, high, boundary, self.count(low) + self.count(high)))


def _blocks(value: Leaf | Branch) -> tuple[int, int]:
    """Return the first block that a set may have names in, and the number of blocks."""
    if len(value) == 2:
        return value[0] >> _SHIFT, 1
    half = value[2] & -value[2]
    return value[2] - half, 2 * half


def _boundary(block: int, other: int) -> int:
    """Return the boundary between two blocks: the greatest power of two divides it that divides a block after one."""
    zeros = (block ^ other).bit_length() - 1
    return max(block, other) >> zeros << zeros


_SHORT = 1 << 60
_FEW = 16


def name_positions(mask: int) -> list[int]:
    """Return the positions of the bits of a mask, the lowest first.

    >>> name_positions(0b10110)
    [1, 2, 4]
    """
    positions: list[int] = []
    if mask < _SHORT or mask.bit_count() <= _FEW:
        while mask:
            low = mask & -mask
            positions.append(low.bit_length() - 1)
            mask ^= low
        return positions
    # Clearing a bit copies a long integer; going by its digits takes linear time.
    digits = bin(mask)[:1:-1]
    position = digits.find("1")
    while position >= 0:
        positions.append(position)
        position = digits.find("1", position + 1)
    return positions


PreviousBlock: TypeAlias = tuple[int, int, int, int, int]
"""What a `NamesWithIntegers` was before an addition, in one block: the number, the block, the names held to the number,
those that were 1, and all."""


class NamesWithIntegers:
    """The names that meet integers: those in ``by_number[k, block]`` are 1 or k; those in ``ones`` met two, so are 1.

    ``ones`` has a mask for each block; ``count`` is the number of its names.
    """

    __slots__ = ("_every", "by_number", "count", "ones")

    def __init__(self) -> None:
        self.by_number: dict[tuple[int, int], int] = {}
        self.ones: dict[int, int] = {}
        self.count = 0
        self._every: dict[int, int] = {}

    def add(self, number: int, leaf: Leaf) -> PreviousBlock | None:
        """Restrict names to {1, ``number``}; the number is not 1. Return the state for `undo`, None if none is new."""
        first, mask = leaf
        block = first >> _SHIFT
        before = self.by_number.get((number, block), 0)
        names = mask << (first % BLOCK) & ~before
        if not names:
            return None
        ones, every = self.ones.get(block, 0), self._every.get(block, 0)
        self._set(number, block, before | names, ones | names & every, every | names)
        return number, block, before, ones, every

    def undo(self, previous: PreviousBlock) -> None:
        """Undo the last addition."""
        self._set(*previous)

    def _set(self, number: int, block: int, names: int, ones: int, every: int) -> None:
        self.count += ones.bit_count() - self.ones.get(block, 0).bit_count()
        self.by_number[number, block], self.ones[block], self._every[block] = names, ones, every

    def copy(self) -> NamesWithIntegers:
        """Return an independent copy."""
        copied = NamesWithIntegers()
        copied.by_number, copied.ones, copied.count = self.by_number.copy(), self.ones.copy(), self.count
        copied._every = self._every.copy()
        return copied

    def numbers(self) -> dict[int, int]:
        """Return, for each held name by position, the integer that it is unless it is 1; 1 for names that are 1."""
        numbers: dict[int, int] = {}
        for (number, block), names in self.by_number.items():
            start, ones = block << _SHIFT, self.ones[block]
            for n in name_positions(names):
                numbers[start + n] = 1 if ones >> n & 1 else number
        return numbers
