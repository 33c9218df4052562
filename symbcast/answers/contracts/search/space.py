"""The space of a search: the wanted sizes that clauses about one size leave, and the groups of sizes that others tie.

Sizes in different groups are independent, so the largest box is the product of the largest boxes of the groups.

A finite set of sizes is a bit mask: bit k is the size ``low + k``. The points of a group are nested lists of masks, one
level for each size but the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.formulas import FALSE, Formula
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import charge
from symbcast.core.solver.decision import AssumptionSet, ContradictionError, Decision
from symbcast.core.solver.evaluation import normal_conjuncts, replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.set_products import split_by_symbol
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.residues import MAX_PERIOD, mask_of, mask_residues, pattern_contains, period_of, tiled_mask
from symbcast.core.solver.size_sets import Segment, SizeSet

if TYPE_CHECKING:
    from symbcast.answers.contracts.question import WantedRanges


# Finite sets of sizes as bit masks: bit k is the size ``low + k``. Their longest runs and arithmetic progressions.


# Bits that one operation on a mask handles for one unit of effort.
_WORDS = 4096


def mask_within(sizes: SizeSet, low: int, high: int) -> int:
    """Return the mask of the sizes from ``low`` to ``high`` that a set contains; bit 0 is ``low``.

    >>> bin(mask_within(SizeSet.residues(4, [0]), 3, 12))
    '0b1000100010'
    """
    mask = 0
    for segment in sizes.segments:
        first = max(low, segment.low)
        last = high if segment.high is None else min(high, segment.high)
        if first <= last:
            mask |= _segment_mask(segment, first, last) << (first - low)
    return mask


def _segment_mask(segment: Segment, first: int, last: int) -> int:
    count = last - first + 1
    charge(1 + count // _WORDS)
    if segment.pattern is True:
        return (1 << count) - 1
    period = period_of(segment.pattern)
    if period > MAX_PERIOD or period > count:
        charge(count)
        return sum(1 << n for n in range(count) if pattern_contains(segment.pattern, first + n))
    charge(period)
    one = mask_of(segment.pattern, period)
    whole = tiled_mask(period, one, -(-(count + period) // period) * period)
    return (whole >> (first % period)) & ((1 << count) - 1)


def progression(position: int, length: int, step: int) -> int:
    """Return the mask of an arithmetic progression.

    >>> bin(progression(1, 3, 2))
    '0b101010'
    """
    charge(1 + length * step // _WORDS)
    return tiled_mask(step, 1, step * length) << position


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """Yield the maximal runs of consecutive members as first position and length.

    >>> list(runs(0b1101110))
    [(1, 3), (5, 2)]
    """
    position = 0
    while mask:
        gap = (mask & -mask).bit_length() - 1
        mask >>= gap
        position += gap
        length = (~mask & (mask + 1)).bit_length() - 1
        charge(1)
        yield position, length
        mask >>= length
        position += length


def longest_run(mask: int, typical: int = 0) -> tuple[int, int]:
    """Return the run with the most typical sizes, then the longest, then the first: its first position and length.

    >>> longest_run(0b1101110), longest_run(0b1101110, 0b1000000), longest_run(0)
    ((1, 3), (5, 2), (0, 0))
    """
    if typical & mask:
        longest = max(runs(mask), key=lambda run: ((typical >> run[0] & ((1 << run[1]) - 1)).bit_count(), run[1]))
        return longest[0], longest[1]
    return _longest_chain(mask, 1, 1)


def _longest_chain(mask: int, step: int, at_least: int) -> tuple[int, int]:
    """Return the first longest chain of members, each ``step`` after the one before; length 0 if below a minimum."""
    charge(1 + mask.bit_length() // _WORDS)
    # starts[k]: the positions where chains of 2**k members begin. The length then follows bit by bit, from the highest:
    # as many shifts of the mask as the length has bits.
    starts = [mask]
    while starts[-1]:
        shorter = starts[-1]
        starts.append(shorter & (shorter >> (step << (len(starts) - 1))))
    first, length = -1, 0
    for power in reversed(range(len(starts) - 1)):
        longer = starts[power] if length == 0 else first & (starts[power] >> (step * length))
        if longer:
            first, length = longer, length + (1 << power)
    if length < at_least:
        return 0, 0
    return (first & -first).bit_length() - 1, length


def longest_progression(mask: int, typical: int = 0, at_least: int = 1) -> tuple[int, int, int]:
    """Return the arithmetic progression with the most typical sizes, then the most members: position, length, step.

    Of several, the one with the smallest step, then the first. It is exact: every step is tried until no larger one can
    have more members. If no typical size is in the mask, its length is 0 unless it has ``at_least`` so many members.

    >>> longest_progression(0b100100100100010), longest_progression(0b1), longest_progression(0)
    ((5, 4, 3), (0, 1, 1), (0, 0, 1))
    """
    typical_inside = typical & mask
    return _with_typical(mask, typical_inside) if typical_inside else _longest(mask, at_least)


def _longest(mask: int, at_least: int) -> tuple[int, int, int]:
    position, length = _longest_chain(mask, 1, at_least)
    best, step, width = (position, length, 1), 2, mask.bit_length()
    # One member more than the best spans `step * length + 1` positions: with a larger step it does not fit.
    while mask.bit_count() >= at_least and step * max(best[1], at_least - 1) < width:
        position, length = _longest_chain(mask, step, max(best[1] + 1, at_least))
        if length:
            best = position, length, step
        step += 1
    return best


def _with_typical(mask: int, typical_inside: int) -> tuple[int, int, int]:
    """Return the best progression that contains a typical size: each is part of a chain through that size."""
    best, key, width = (0, 0, 1), (0, 0), mask.bit_length()
    positions = mask_residues(typical_inside)
    for step in range(1, max(2, width)):
        seen: set[int] = set()
        for position in positions:
            if position in seen:
                continue
            first = last = position
            while first >= step and mask >> (first - step) & 1:
                first -= step
            while mask >> (last + step) & 1:
                last += step
            members = range(first, last + 1, step)
            charge(1 + len(members) // 8)
            typical_members = [p for p in positions if p in members]
            seen.update(typical_members)
            if (len(typical_members), len(members)) > key:
                best, key = (first, len(members), step), (len(typical_members), len(members))
        # With all typical sizes inside, only more members would be better, and a larger step leaves room for fewer.
        if key[0] == len(positions) and step * key[1] >= width:
            break
    return best


# The points of a group as nested lists of masks: one level for each size but the last.


Table: TypeAlias = "int | list[Table]"
"""A mask, or a table for each size of a symbol."""
Score: TypeAlias = tuple[int, int]
"""How many typical sizes a box contains, summed over its sizes, and how many points."""


def table_weight(table: Table) -> int:
    """Return the number of points of a table."""
    return table.bit_count() if isinstance(table, int) else sum(map(table_weight, table))


def is_any(table: Table) -> bool:
    """Return whether a table has points."""
    return bool(table) if isinstance(table, int) else any(map(is_any, table))


def meet_tables(left: Table, right: Table) -> Table:
    """Return the points that are in both of two tables."""
    charge(1)
    if isinstance(left, int) and isinstance(right, int):
        return left & right
    assert isinstance(left, list)
    assert isinstance(right, list)
    return [meet_tables(a, b) for a, b in zip(left, right, strict=True)]


def is_within(inner: Table, outer: Table) -> bool:
    """Return whether a table has all points of another one."""
    charge(1)
    if isinstance(inner, int) and isinstance(outer, int):
        return not inner & ~outer
    assert isinstance(inner, list)
    assert isinstance(outer, list)
    return all(is_within(a, b) for a, b in zip(inner, outer, strict=True))


def table_without(table: Table, box: Sequence[tuple[int, int]]) -> Table:
    """Return a table without the points of a box: the first position and the length on each axis."""
    (position, length), *rest = box
    if isinstance(table, int):
        return table & ~(((1 << length) - 1) << position)
    inside = range(position, position + length)
    return [table_without(rows, rest) if n in inside else rows for n, rows in enumerate(table)]


@dataclass(frozen=True)
class SearchAxis:
    """The sizes left for one symbol: bit k of ``mask`` is the size ``low + k``."""

    low: int
    mask: int
    typical: int = 0

    @property
    def high(self) -> int:
        """The greatest size left."""
        return self.low + self.mask.bit_length() - 1

    @property
    def is_whole(self) -> bool:
        """Whether every size between the least and the greatest is left."""
        # Adding 1 carries through a run of ones from the lowest bit on: no bit is left in common if that run is all.
        return not self.mask & (self.mask + 1)

    def sizes(self, position: int, length: int, step: int = 1) -> range:
        """Return the range of the sizes at some positions."""
        first = self.low + position
        return range(first, first + (length - 1) * step + 1, step)


@dataclass
class SizeGroup:
    """Symbols that formulas tie together; ``clauses`` are those about several of them, or beyond the sets of sizes."""

    axes: dict[Symbol, SearchAxis]
    clauses: list[Formula] = field(default_factory=list)


def space_of(formula: Formula, sought: WantedRanges) -> list[SizeGroup] | None:
    """Return the wanted sizes at which a formula may hold, in the order of the question; None if there are none."""
    domains = {s: set_of(sizes) for s, sizes in sought.ranges.items()}
    tied = _narrowed(formula, domains)
    if tied is None or not all(domains.values()):
        return None
    axes = {s: _axis(domains[s], sought.ranges[s], sought.typical.get(s, ())) for s in domains}
    return [SizeGroup({s: axes[s] for s in symbols}, clauses) for symbols, clauses in _tied(axes, tied)]


def set_of(sizes: range) -> SizeSet:
    """Return a range as a set of sizes."""
    members = SizeSet.interval(sizes[0], sizes[-1])
    return members if sizes.step == 1 else members & SizeSet.residues(sizes.step, [sizes[0]])


def decision_in(ranges: Mapping[Symbol, range], formulas: Sequence[Formula]) -> Decision | None:
    """Return the decision on formulas for sizes in ranges; None if they contradict the ranges at once."""
    symbols = tuple(dict.fromkeys(s for s in ranges if any(s in symbols_in(f) for f in formulas)))
    try:
        assumptions = AssumptionSet(symbols, {s: set_of(ranges[s]) for s in symbols}, [])
    except ContradictionError:
        return None
    return Decision(assumptions, formulas)


def _axis(sizes: SizeSet, sought: range, typical: Iterable[int]) -> SearchAxis:
    low = sizes.least()
    assert low is not None
    mask = mask_within(sizes, low, sought[-1])
    return SearchAxis(low, mask, sum(1 << (n - low) for n in typical if n >= low) & mask)


def _narrowed(formula: Formula, domains: dict[Symbol, SizeSet]) -> list[Formula] | None:
    """Narrow the domains by the clauses about one size each; return the others, None if a clause is false."""
    pending, known = normal_conjuncts([formula]), 0
    while True:
        tied = []
        for clause in pending:
            if clause == FALSE:
                return None
            if not _narrows(clause, domains):
                tied.append(clause)
        # A size with one value left is a number in the other clauses, which may then be about one size each.
        fixed = {s: size for s, sizes in domains.items() if (size := sizes.only) is not None}
        if len(fixed) == known:
            return tied
        known = len(fixed)
        pending = normal_conjuncts(replace_in_formula(clause, fixed) for clause in tied)


def _narrows(clause: Formula, domains: dict[Symbol, SizeSet]) -> bool:
    """Narrow the domains by a clause if sets of sizes can express it."""
    symbols = symbols_in(clause)
    if len(symbols) == 1:
        (symbol,) = symbols
        narrowed = narrowed_set(domains[symbol], clause)
        if narrowed is not None:
            domains[symbol] = narrowed
        return narrowed is not None
    sets = split_by_symbol(clause, domains)
    for symbol, sizes in (sets or {}).items():
        domains[symbol] = domains[symbol] & sizes
    return sets is not None


def _tied(axes: Mapping[Symbol, SearchAxis], clauses: Iterable[Formula]) -> list[tuple[list[Symbol], list[Formula]]]:
    """Return the symbols in groups, each with its clauses."""
    group_of = {s: {s} for s in axes}
    conjuncts = list(clauses)
    for clause in conjuncts:
        whole = set().union(*(group_of[s] for s in symbols_in(clause)))
        # All members share one set object, by whose identity the groups are counted below.
        group_of.update(dict.fromkeys(whole, whole))
    groups = {id(group_of[s]): group_of[s] for s in axes}
    return [
        ([s for s in axes if s in group], [c for c in conjuncts if group.issuperset(symbols_in(c))])
        for group in groups.values()
    ]
