"""Eventually periodic sets of sizes: finite exceptions plus residue classes.

Every set of non-negative integers that a condition on *one* symbol can describe has this form (Presburger), and so do
the results of Boolean operations on such sets; this makes domains of symbols exact and cheap. Residues are stored
modulus by modulus (`symbcast.core.solver.residues`), so a period may be as long as a product of many moduli.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count, islice
from math import lcm
from typing import Any

from symbcast.core.solver.residues import (
    MAX_PERIOD,
    Pattern,
    PeriodTooLongError,
    mask_of,
    mask_residues,
    nearest_member,
    pattern_complement,
    pattern_contains,
    pattern_intersection,
    pattern_of_mask,
    pattern_of_residue,
    pattern_union,
    period_of,
)
from symbcast.core.structs import Struct

__all__ = [
    "ALL",
    "EMPTY",
    "MAX_PERIOD",
    "NOT_ONE",
    "ONE",
    "PeriodTooLongError",
    "Segment",
    "SizeSet",
    "normal_segments",
]


class Segment(Struct):
    """The sizes from ``low`` to ``high`` (None: no end) whose residues are in ``pattern``."""

    low: int
    high: int | None
    pattern: Pattern = True

    def __contains__(self, value: int) -> bool:
        inside = self.low <= value and (self.high is None or value <= self.high)
        return inside and pattern_contains(self.pattern, value)

    @property
    def period(self) -> int:
        """The least period of the residues."""
        return period_of(self.pattern)

    def members(self) -> Iterator[int]:
        """Yield the members in ascending order."""
        if self.period > MAX_PERIOD:
            value = self.next(self.low)
            while value is not None:
                yield value
                value = self.next(value + 1)
            return
        residues = _residues(self.pattern)
        for start in count(self.low - self.low % self.period, self.period):
            for value in (start + r for r in residues):
                if self.high is not None and value > self.high:
                    return
                if value >= self.low:
                    yield value
            if not residues:
                return

    def next(self, start: int) -> int | None:
        """Return the least member from ``start`` on."""
        return nearest_member(self.pattern, max(start, self.low), 1, self.high)

    def previous(self, start: int) -> int | None:
        """Return the greatest member up to ``start``."""
        return nearest_member(self.pattern, start if self.high is None else min(start, self.high), -1, self.low)

    def trimmed(self) -> Segment | None:
        """Return the segment with ends that are members, or None if it is empty."""
        if self.pattern is True:
            return self
        low = self.next(self.low)
        if low is None:
            return None
        high = None if self.high is None else self.previous(self.high)
        if low == high:
            return Segment(low, high)
        return self if (low, high) == (self.low, self.high) else Segment(low, high, self.pattern)


@lru_cache(maxsize=1024)
def _residues(pattern: Pattern) -> list[int]:
    return mask_residues(mask_of(pattern, period_of(pattern)))


class SizeSet(Struct):
    """A set of sizes: disjoint segments in ascending order.

    >>> evens = SizeSet.residues(2, [0])
    >>> (evens & SizeSet.interval(3, 8)).first(5), 3 in evens, (~evens).least()
    ([4, 6, 8], False, 1)
    """

    segments: tuple[Segment, ...]

    def __reduce__(self) -> str | tuple[Any, ...]:
        # `ALL` is compared by identity: a symbol with all sizes has nothing that is known.
        return "ALL" if self is ALL else (SizeSet, (self.segments,))

    @staticmethod
    def interval(low: int, high: int | None) -> SizeSet:
        """Return the sizes from ``low`` (or 0) to ``high``."""
        low = max(0, low)
        return EMPTY if high is not None and high < low else SizeSet((Segment(low, high),))

    @staticmethod
    def of(values: Iterable[int]) -> SizeSet:
        """Return the set of some sizes; negative values are left out."""
        return normal_segments([Segment(v, v) for v in sorted(set(values)) if v >= 0])

    @staticmethod
    def residues(period: int, members: Iterable[int]) -> SizeSet:
        """Return the sizes whose residue modulo ``period`` is among ``members``."""
        residues = {residue % period for residue in members}
        if len(residues) == 1:
            return normal_segments([Segment(0, None, pattern_of_residue(period, *residues))])
        if period > MAX_PERIOD:
            raise PeriodTooLongError(period)
        return normal_segments([Segment(0, None, pattern_of_mask(period, sum(1 << residue for residue in residues)))])

    @staticmethod
    def union(sets: Iterable[SizeSet]) -> SizeSet:
        """Return the sizes that are in at least one of the sets."""
        each = list(sets)
        united = [s for s in each if s.only is None]
        points = [s.segments[0].low for s in each if s.only is not None]
        united.append(SizeSet.of(points))
        # Unite neighbours first, so that each of n segments is processed log(n) times instead of n times.
        while len(united) > 1:
            pairs = [left | right for left, right in zip(united[::2], united[1::2], strict=False)]
            united = [*pairs, united[-1]] if len(united) % 2 else pairs
        return united[0]

    def __bool__(self) -> bool:
        return bool(self.segments)

    def __contains__(self, value: int) -> bool:
        return any(value in s for s in self.segments)

    def __and__(self, other: SizeSet) -> SizeSet:
        if self is other or other is ALL:
            return self
        if self is ALL:
            return other
        return _intersection(self, other)

    def __or__(self, other: SizeSet) -> SizeSet:
        if not self or other is ALL:
            return other
        if not other or self is ALL or self is other:
            return self
        return _union(self, other)

    def __sub__(self, other: SizeSet) -> SizeSet:
        return self & ~other

    def __invert__(self) -> SizeSet:
        return _complement(self)

    def __le__(self, other: SizeSet) -> bool:
        return not self - other

    def same(self, other: SizeSet) -> bool:
        """Return whether two sets contain the same sizes."""
        # Equal sets may differ in form: several patterns agree up to the end of a segment.
        return self == other or (self <= other <= self)

    def least(self, at_least: int = 0) -> int | None:
        """Return the least member from ``at_least`` on."""
        for segment in self.segments:
            if segment.high is None or segment.high >= at_least:
                member = segment.next(at_least)
                if member is not None:
                    return member
        return None

    def first(self, count: int) -> list[int]:
        """Return the ``count`` least members, or all if there are fewer."""
        return list(islice(self, count))

    def __iter__(self) -> Iterator[int]:
        return self.members(0)

    def members(self, at_least: int) -> Iterator[int]:
        """Yield the members from ``at_least`` on, in order."""
        for segment in self.segments:
            if segment.high is None or segment.high >= at_least:
                start = max(segment.low, at_least)
                yield from Segment(start, segment.high, segment.pattern).members()

    def residues_of(self, period: int) -> int:
        """Return the mask of the residues modulo ``period`` that members have."""
        return _residues_of(self, period)

    @property
    def only(self) -> int | None:
        """The only member, if there is exactly one."""
        if len(self.segments) == 1 and self.segments[0].low == self.segments[0].high:
            return self.segments[0].low
        return None

    @property
    def greatest(self) -> int | None:
        """The greatest member; None if there is none."""
        return self.segments[-1].high if self.segments else None


@lru_cache(maxsize=4096)
def _residues_of(sizes: SizeSet, period: int) -> int:
    mask = 0
    for segment in sizes.segments:
        whole = lcm(segment.period, period)
        if segment.high is None or segment.high - segment.low >= whole - 1:
            mask |= mask_of(segment.pattern, period)
        elif segment.high - segment.low <= 2 * MAX_PERIOD:
            for value in segment.members():
                mask |= 1 << (value % period)
        else:
            missing = mask_residues(mask_of(segment.pattern, period) & ~mask)
            for residue in missing:
                own = pattern_intersection(segment.pattern, pattern_of_residue(period, residue))
                mask |= (Segment(segment.low, segment.high, own).next(0) is not None) << residue
    return mask


def normal_segments(segments: Iterable[Segment]) -> SizeSet:
    """Return the set of disjoint ascending segments, trimmed, with adjacent segments of one pattern merged."""
    merged: list[Segment] = []
    for segment in segments:
        trimmed = segment.trimmed()
        if trimmed is None:
            continue
        while merged and (joined := _merged(merged[-1], trimmed)) is not None:
            merged.pop()
            trimmed = joined
        merged.append(trimmed)
    return SizeSet(tuple(merged))


def _merged(left: Segment, right: Segment) -> Segment | None:
    """Return one segment for two adjacent ones that one pattern describes."""
    assert left.high is not None
    if left.low == left.high and right.low == right.high:
        return Segment(left.low, right.low) if right.low == left.low + 1 else None
    pattern = left if right.low == right.high else right
    if left.low != left.high and right.low != right.high and left.pattern != right.pattern:
        return None
    if not (pattern_contains(pattern.pattern, left.high) and pattern_contains(pattern.pattern, right.low)):
        return None
    between = nearest_member(pattern.pattern, left.high + 1, 1, right.low - 1)
    return Segment(left.low, right.high, pattern.pattern) if between is None else None


@lru_cache(maxsize=4096)
def _intersection(left: SizeSet, right: SizeSet) -> SizeSet:
    segments: list[Segment] = []
    i = j = 0
    while i < len(left.segments) and j < len(right.segments):
        a, b = left.segments[i], right.segments[j]
        low = max(a.low, b.low)
        high = a.high if b.high is None else b.high if a.high is None else min(a.high, b.high)
        if high is None or low <= high:
            segments.append(Segment(low, high, pattern_intersection(a.pattern, b.pattern)))
        if b.high is None or (a.high is not None and a.high <= b.high):
            i += 1
        else:
            j += 1
    return normal_segments(segments)


@lru_cache(maxsize=4096)
def _union(left: SizeSet, right: SizeSet) -> SizeSet:
    starts = {s.low for s in (*left.segments, *right.segments)}
    starts.update(s.high + 1 for s in (*left.segments, *right.segments) if s.high is not None)
    cuts = sorted(starts)
    segments: list[Segment] = []
    i = j = 0
    for start, following in zip(cuts, [*cuts[1:], None], strict=True):
        i, a = _pattern_at(left.segments, i, start)
        j, b = _pattern_at(right.segments, j, start)
        either = pattern_union(a, b)
        if either is not False:
            segments.append(Segment(start, None if following is None else following - 1, either))
    return normal_segments(segments)


def _pattern_at(segments: tuple[Segment, ...], position: int, value: int) -> tuple[int, Pattern]:
    """Return the pattern of the segment around a value, searching from a position on, and its position."""
    while position < len(segments):
        segment = segments[position]
        if value < segment.low:
            break
        if segment.high is None or value <= segment.high:
            return position, segment.pattern
        position += 1
    return position, False


@lru_cache(maxsize=4096)
def _complement(value: SizeSet) -> SizeSet:
    segments: list[Segment] = []
    start = 0
    for segment in value.segments:
        if segment.low > start:
            segments.append(Segment(start, segment.low - 1))
        segments.append(Segment(segment.low, segment.high, pattern_complement(segment.pattern)))
        if segment.high is None:
            return normal_segments(segments)
        start = segment.high + 1
    segments.append(Segment(start, None))
    return normal_segments(segments)


ALL = SizeSet((Segment(0, None),))
EMPTY = SizeSet(())
ONE = SizeSet((Segment(1, 1),))
NOT_ONE = SizeSet((Segment(0, 0), Segment(2, None)))
