"""A program of broadcasts of names and integers by NumPy's rule, without assumptions: tier F1 for many operations.

Internally, a size is a code: an integer of at least 0 is that size; a negative one is a name, or a join of names, whose
set is stored once. An operation on shapes seen before costs one look-up; a pair of codes that met before costs
another.

An operation conflicts with those before it exactly where two different integers other than 1 meet on one of its axes:
all other requirements hold where all names are 1. Known facts change how a size is written only if a name must be 1,
which happens when it meets two different integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from symbcast.core.algebra.formulas import Formula
from symbcast.core.solver.f1_names.one_broadcast import (
    Conflict,
    Members,
    Name,
    OutputDim,
    Size,
    conjunct_formula,
    first_conflict,
    irredundant_conjuncts,
    smallest_break,
)
from symbcast.core.structs import NamedTuple
from symbcast.errors import SymbcastError

# Sets of names in linear memory, however many names there are: each set is stored once, under a negative number.
#
# Names have positions, in blocks of `BLOCK`. A set within one block is a mask without its trailing zeros, of names
# that meet often neighbours. Any other set is two sets, the names below and above a boundary between blocks that its
# first and last block determine (a Patricia tree over blocks). So a set has one form, and one that grows name by name
# shares all but a path of the tree with the one before: masks as long as the program has names would take quadratic
# memory.


_SHIFT = 10
# Positions in a block. Python's operations on integers of 1,024 bits take about as long as those on short ones.
BLOCK = 1 << _SHIFT

Leaf: TypeAlias = tuple[int, int]
"""The first position, and the mask from there on."""
Branch: TypeAlias = tuple[int, int, int, int]
"""The numbers of two sets, the first block of the second half, and how many names there are.

The lowest bit of the block says how many blocks before it and from it on the two halves cover."""

# What stands for the set of no names: the join of no sizes.
EMPTY = 1


class NameSets:
    """The sets; `EMPTY` and the negative numbers that the methods return stand for them.

    >>> sets = NameSets()
    >>> a, b, far = (sets.name(n) for n in (3, 5, 4000))
    >>> sets.members(sets.union((a, far, b))), sets.union((a, a)) == a
    ([3, 5, 4000], True)
    """

    __slots__ = ("_number_of", "_sets")

    def __init__(self) -> None:
        # The set of each negative number: of -1 the first.
        self._sets: list[Leaf | Branch] = []
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


# Parts of longer joins are dropped at once, for a join that grows to n names would leave n of them. Of shorter ones
# they stay: where a name is found to be 1 a part may be all that is left, and keeps the place of its first occurrence.
_LONG = 8

Codes: TypeAlias = tuple[int, ...]
"""A shape of codes."""


class ConflictError(SymbcastError):
    """No sizes allow the operation; the program is unchanged. ``conflict`` says which operands clash."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(conflict)
        self.conflict = conflict

    def __str__(self) -> str:
        axis, rank, left, right = self.conflict
        return f"operands {left} and {right} clash on axis {axis} ({axis - rank} from the end)"


class IntegerClashError(Exception):
    """Two integers clash on some axis."""


class MaskProgramMark(NamedTuple):
    """A state of the program, for `MaskProgram.undo`: the length of each of its records."""

    names: int
    sets: int
    joins: int
    longer: int
    additions: int


class MaskProgram:
    """The program; ``names`` are in order of first appearance.

    Operands are tuples of integers, symbols and codes in any mixture; outputs are tuples of codes. `read` and `shape`
    convert between them.

    >>> program = MaskProgram()
    >>> y = program.broadcast(("N", 3), ("M", 1))
    >>> program.shape(y), program.shape(program.broadcast(y, ("K", "K")))
    ((('N', 'M'), 3), (('N', 'M', 'K'), 3))
    >>> program.clauses()[1]
    Compatible(('N', 'M', 'K'))
    """

    def __init__(self) -> None:
        self.names: list[Name] = []
        self._sets = NameSets()
        self._code_of_name: dict[Name, int] = {}
        # The codes of the joins required to be defined, in order.
        self._required: dict[int, None] = {}
        # Those of them that a longer one contains.
        self._longer: dict[int, None] = {}
        # For joins that were shortened by the names that are 1, the join of `_required` that they were.
        self._written: dict[int, int] = {}
        self._with_integers = NamesWithIntegers()
        # For `undo`: the state before each time that names met an integer.
        self._additions: list[PreviousBlock] = []
        # Caches, valid until a name is found to be 1.
        self._known: dict[tuple[Size, ...], Codes] = {}
        self._done: dict[tuple[tuple[Size, ...], ...], Codes] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        self._shortened: dict[int, int] = {}
        # Of each integer, the sets in several blocks that met it; valid until something is undone.
        self._sets_at: dict[int, set[int]] = {}

    def broadcast(self, *shapes: tuple[Size, ...]) -> Codes:
        """Add an operation and return its output.

        Raises `ConflictError` if no sizes allow it together with those before it; the program is then unchanged.
        """
        output = self._done.get(shapes)
        return self._new(shapes) if output is None else output

    def join_columns(self, columns: Iterable[Sequence[Name | int]]) -> list[int]:
        """Require the sizes of some axes to join, as `broadcast` does for all axes of an operation; return their joins.

        Raises `IntegerClashError` if no sizes allow it; the caller undoes it.
        """
        ones = self.ones
        joins = [self._join_column(self.read(column)) for column in columns]
        if self.ones == ones:
            return joins
        self._forget()
        return [self.simplified(code) for code in joins]

    def is_one(self, name: Name) -> bool:
        """Return whether a name is found to be 1."""
        return self.simplified(self._named(name)) == 1

    @property
    def ones(self) -> int:
        """How many names are 1."""
        return self._with_integers.count

    def is_name(self, code: int) -> bool:
        """Return whether a negative code is a single name, not a join."""
        return self._sets.is_name(code)

    def read(self, shape: Iterable[Size]) -> Codes:
        """Return a shape in codes; new names are added."""
        return tuple([size if type(size) is int else self._named(size) for size in shape])

    def code(self, members: Iterable[Name]) -> int:
        """Return the code of the join of some names; an operation on it requires the join to be defined."""
        return self._sets.union([*map(self._named, members)])

    def members(self, code: int) -> tuple[Name, ...]:
        """Return the names whose join a negative code is."""
        return tuple([self.names[n] for n in self._sets.members(code)])

    def shape(self, codes: Iterable[int]) -> tuple[OutputDim, ...]:
        """Return a shape of codes as names: for each axis an integer, a name, or the members of a join."""
        dims: list[OutputDim] = []
        for code in codes:
            names = (code,) if code >= 0 else self.members(code)
            dims.append(names[0] if len(names) == 1 else names)
        return tuple(dims)

    def simplified(self, code: int) -> int:
        """Return a size in its present form: without the names that are 1."""
        if code >= 0 or not self.ones:
            return code
        shorter = self._sets.without(code, self._with_integers.ones, self._shortened)
        if shorter == code:
            return code
        required = code if code in self._required else self._written.get(code)
        if required is not None:
            self._written.setdefault(shorter, required)
        return shorter

    # The answers about the whole program.

    def clauses(self) -> list[Formula]:
        """Return the conjuncts of the condition, irredundant; empty if it is true.

        Connected names are grouped in the order of their first names; each group lists the facts about single names,
        then the joins, long ones first. The members of a join are in the order of the names.
        """
        numbers = self._with_integers.numbers()
        conjuncts = irredundant_conjuncts(self._joins(numbers), numbers)
        return [conjunct_formula(tuple([self.names[n] for n in members]), number) for members, number in conjuncts]

    def witness(self) -> dict[Name, int]:
        """Return the smallest sizes at which every operation is valid."""
        return dict.fromkeys(self.names, 1)

    def counterexample(self) -> dict[Name, int] | None:
        """Return the smallest sizes at which some operation is not valid; None if all of them always are."""
        numbers = self._with_integers.numbers()
        broken = smallest_break(self._joins(numbers), numbers)
        sizes = dict.fromkeys(self.names, 1)
        sizes.update((self.names[position], size) for position, size in broken.items())
        return sizes if broken else None

    # Branches, undo, and conversion.

    def copy(self) -> MaskProgram:
        """Return an independent copy."""
        copied = MaskProgram()
        copied.names, copied._sets = self.names.copy(), self._sets.copy()
        copied._additions, copied._with_integers = self._additions.copy(), self._with_integers.copy()
        for name in ("_code_of_name", "_required", "_longer", "_written", "_known", "_done", "_pairs"):
            setattr(copied, name, getattr(self, name).copy())
        return copied

    def mark(self) -> MaskProgramMark:
        """Return the present state, for `undo`."""
        return MaskProgramMark(
            len(self.names), len(self._sets), len(self._required), len(self._longer), len(self._additions)
        )

    def undo(self, mark: MaskProgramMark) -> None:
        """Undo everything added since a mark."""
        for name in self.names[mark.names :]:
            del self._code_of_name[name]
        del self.names[mark.names :]
        self._sets.shorten(mark.sets)
        while len(self._required) > mark.joins:
            self._required.popitem()  # the one added last
        while len(self._longer) > mark.longer:
            self._longer.popitem()
        while len(self._additions) > mark.additions:
            self._with_integers.undo(self._additions.pop())
        self._written.clear()
        self._sets_at.clear()
        self._forget()

    # Inside.

    def _named(self, name: Name) -> int:
        code = self._code_of_name.get(name)
        if code is None:
            self.names.append(name)
            code = self._code_of_name[name] = self._sets.name(len(self.names) - 1)
        return code

    def _forget(self) -> None:
        """Drop cached results: sizes may be written differently from now on."""
        self._known.clear()
        self._done.clear()
        self._pairs.clear()
        self._shortened.clear()

    def _new(self, shapes: tuple[tuple[Size, ...], ...]) -> Codes:
        """Return the output of an operation on shapes that have not met before.

        Either all of its requirements are added, or none.
        """
        mark = self.mark()
        try:
            operands = tuple([self._known.get(shape) or self._operand(shape) for shape in shapes])
            ones = self.ones
            output = self._joined(operands)
            if self.ones != ones:
                # Facts about names from a later axis also hold on the earlier ones.
                self._forget()
                output = tuple(map(self.simplified, output))
        except IntegerClashError:
            self.undo(mark)
            conflict = first_conflict(shapes)
            assert conflict is not None
            raise ConflictError(conflict) from None
        except BaseException:
            self.undo(mark)
            raise
        self._known[output] = self._done[shapes] = output
        return output

    def _operand(self, shape: tuple[Size, ...]) -> Codes:
        """Return an operand in codes; require its new joins to be defined."""
        codes = self.read(shape)
        for size in shape:
            if type(size) is int and size < 0 and size not in self._required and size not in self._written:
                self._require(self.simplified(size))
        self._known[shape] = codes
        return codes

    def _require(self, code: int) -> None:
        """Require a join to be defined."""
        if code < 0 and code not in self._required and not self.is_name(code):
            self._required[code] = None

    def _joined(self, operands: Sequence[Codes]) -> Codes:
        if len(operands) != 2:
            rank = max(map(len, operands), default=0)
            padded = [(1,) * (rank - len(codes)) + codes for codes in operands]
            return tuple([self._join_column(column) for column in zip(*padded, strict=True)])
        long, short = operands
        if len(long) < len(short):
            long, short = short, long
        lead = len(long) - len(short)
        output = [*map(self.simplified, long[:lead])] if self.ones else [*long[:lead]]
        pairs = self._pairs
        for pair in zip(long[lead:], short, strict=True):
            joined = pairs.get(pair)
            if joined is None:
                pairs[pair] = pairs[pair[::-1]] = joined = self._join_column(pair)
            output.append(joined)
        return tuple(output)

    def _join_column(self, column: Sequence[int]) -> int:
        """Require the sizes of an axis to join, and return their join."""
        first = column[0] if column else 1
        if first < 0 and self.is_name(first) and all(code in (first, 1) for code in column):
            return self.simplified(first)
        number, codes = 1, []
        for code in column:
            if code < 0:
                codes.append(code)
            elif code not in (1, number):
                if number != 1:
                    raise IntegerClashError
                number = code
        if number != 1:
            for code in codes:
                self._restrict(number, code)
            return number
        if self.ones:
            codes = [code for code in map(self.simplified, codes) if code != EMPTY]
        joined = self._sets.union(codes)
        whole = self._written.get(joined, joined)
        if whole == joined:
            self._require(joined)
        if self._sets.count(joined) > _LONG:
            for code in codes:
                part = self._written.get(code, code)
                if part in self._required and part != whole and part not in self._longer:
                    self._longer[part] = None
        return joined

    def _restrict(self, number: int, code: int) -> None:
        """Record that names meet an integer other than 1."""
        ones = self.ones
        for leaf in self._sets.leaves(code, self._sets_at.setdefault(number, set())):
            previous = self._with_integers.add(number, leaf)
            if previous is not None:
                self._additions.append(previous)
        if self.ones != ones:
            self._shortened.clear()

    def _joins(self, numbers: Mapping[int, int]) -> dict[Members, None]:
        """Return the required joins that are not part of another one, without the names that are 1."""
        joins: dict[Members, None] = {}
        for code in self._required:
            if code not in self._longer:
                members = self._sets.members(code)
                if self.ones:
                    members = [name for name in members if numbers.get(name) != 1]
                if len(members) > 1:
                    joins[tuple(members)] = None
        return joins
