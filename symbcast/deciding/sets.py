"""Sets of sizes that repeat in the end: finite exceptions plus residue classes.

Every set of non-negative integers that a condition on *one* symbol can describe is of this kind (Presburger), and so
is its image under the Boolean operations; which makes domains of symbols exact and cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from math import lcm

MAX_PERIOD = 4096
"""The longest period held; longer ones are left to the solver."""


class PeriodTooLongError(Exception):
    """An operation would need a period above `MAX_PERIOD`."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The sizes from ``low`` to ``high`` (None: no end) whose residue modulo ``period`` has its bit in ``mask``."""

    low: int
    high: int | None
    period: int = 1
    mask: int = 1

    def __contains__(self, value: int) -> bool:
        inside = self.low <= value and (self.high is None or value <= self.high)
        return inside and bool(self.mask >> (value % self.period) & 1)

    def members(self) -> Iterator[int]:
        """Yield the members from the least on."""
        residues = [r for r in range(self.period) if self.mask >> r & 1]
        for start in count(self.low - self.low % self.period, self.period):
            for value in (start + r for r in residues):
                if self.high is not None and value > self.high:
                    return
                if value >= self.low:
                    yield value
            if not residues:
                return

    def trimmed(self) -> Segment | None:
        """Return the segment with ends that are members and the least period, or None if it is empty."""
        low = self._step(self.low, 1)
        if low is None:
            return None
        high = self.high if self.high is None else self._step(self.high, -1)
        if low == high:
            return Segment(low, high)
        period, mask = _least_period(self.period, self.mask)
        return Segment(low, high, period, mask)

    def _step(self, start: int, by: int) -> int | None:
        """Return the member nearest to ``start`` in the direction ``by``, if there is one."""
        for offset in range(self.period):
            value = start + by * offset
            if value < self.low or (self.high is not None and value > self.high):
                return None
            if self.mask >> (value % self.period) & 1:
                return value
        return None


@dataclass(frozen=True, slots=True)
class SizeSet:
    """A set of sizes: disjoint segments in ascending order.

    >>> evens = SizeSet.residues(2, [0])
    >>> (evens & SizeSet.interval(3, 8)).first(5), 3 in evens, (~evens).least()
    ([4, 6, 8], False, 1)
    """

    segments: tuple[Segment, ...]

    @staticmethod
    def interval(low: int, high: int | None) -> SizeSet:
        """Return the sizes from ``low`` (or 0) to ``high``."""
        low = max(0, low)
        return EMPTY if high is not None and high < low else SizeSet((Segment(low, high),))

    @staticmethod
    def of(values: Iterable[int]) -> SizeSet:
        """Return the set of some sizes; negative values are left out."""
        return normal([Segment(v, v) for v in sorted(set(values)) if v >= 0])

    @staticmethod
    def residues(period: int, wanted: Iterable[int]) -> SizeSet:
        """Return the sizes whose residue modulo ``period`` is among ``wanted``."""
        _check_period(period)
        mask = 0
        for residue in wanted:
            mask |= 1 << (residue % period)
        return normal([Segment(0, None, period, mask)])

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
        return ~(~self & ~other)

    def __sub__(self, other: SizeSet) -> SizeSet:
        return self & ~other

    def __invert__(self) -> SizeSet:
        return _complement(self)

    def __le__(self, other: SizeSet) -> bool:
        return not self - other

    def same(self, other: SizeSet) -> bool:
        """Return whether the two hold the same sizes."""
        return self == other or (self <= other <= self)

    def least(self, at_least: int = 0) -> int | None:
        """Return the least member from ``at_least`` on."""
        for segment in self.segments:
            if segment.high is None or segment.high >= at_least:
                start = max(segment.low, at_least)
                clipped = Segment(start, segment.high, segment.period, segment.mask).trimmed()
                if clipped:
                    return clipped.low
        return None

    def first(self, count: int) -> list[int]:
        """Return the ``count`` least members, or all where there are fewer."""
        return list(islice(iter(self), count))

    def __iter__(self) -> Iterator[int]:
        return self.members(0)

    def members(self, at_least: int) -> Iterator[int]:
        """Yield the members from ``at_least`` on, in order."""
        for segment in self.segments:
            if segment.high is None or segment.high >= at_least:
                start = max(segment.low, at_least)
                yield from Segment(start, segment.high, segment.period, segment.mask).members()

    @property
    def only(self) -> int | None:
        """The member of a set of one."""
        if len(self.segments) == 1 and self.segments[0].low == self.segments[0].high:
            return self.segments[0].low
        return None

    @property
    def greatest(self) -> int | None:
        """The greatest member, None where there is none."""
        return self.segments[-1].high if self.segments else None


def _least_period(period: int, mask: int) -> tuple[int, int]:
    for shorter in range(1, period):
        if period % shorter == 0:
            part = mask & ((1 << shorter) - 1)
            if _tiled(shorter, part, period) == mask:
                return shorter, part
    return period, mask


def _tiled(period: int, mask: int, longer: int) -> int:
    """Return the mask of a period written out for a multiple of it."""
    return mask * (((1 << longer) - 1) // ((1 << period) - 1))


def _check_period(period: int) -> None:
    if period > MAX_PERIOD:
        raise PeriodTooLongError(period)


def normal(segments: Iterable[Segment]) -> SizeSet:
    """Return the set of disjoint ascending segments, trimmed, neighbours of one pattern merged."""
    merged: list[Segment] = []
    for segment in segments:
        trimmed = segment.trimmed()
        if trimmed is None:
            continue
        if merged:
            joined = _merged(merged[-1], trimmed)
            if joined:
                merged[-1] = joined
                continue
        merged.append(trimmed)
    return SizeSet(tuple(merged))


def _merged(left: Segment, right: Segment) -> Segment | None:
    """Return one segment for two neighbours that one pattern describes."""
    assert left.high is not None
    if left.low == left.high and right.low == right.high:
        return Segment(left.low, right.low) if right.low == left.low + 1 else None
    pattern = left if right.low == right.high else right
    whole = Segment(left.low, right.high, pattern.period, pattern.mask)
    if left.low != left.high and right.low != right.high and (left.period, left.mask) != (right.period, right.mask):
        return None
    follows = whole._step(left.high + 1, 1) == right.low
    precedes = whole._step(right.low - 1, -1) == left.high
    return whole if follows and precedes else None


@lru_cache(maxsize=4096)
def _intersection(left: SizeSet, right: SizeSet) -> SizeSet:
    found: list[Segment] = []
    i = j = 0
    while i < len(left.segments) and j < len(right.segments):
        a, b = left.segments[i], right.segments[j]
        low = max(a.low, b.low)
        high = a.high if b.high is None else b.high if a.high is None else min(a.high, b.high)
        if high is None or low <= high:
            period = lcm(a.period, b.period)
            _check_period(period)
            mask = _tiled(a.period, a.mask, period) & _tiled(b.period, b.mask, period)
            found.append(Segment(low, high, period, mask))
        if b.high is None or (a.high is not None and a.high <= b.high):
            i += 1
        else:
            j += 1
    return normal(found)


@lru_cache(maxsize=4096)
def _complement(value: SizeSet) -> SizeSet:
    found: list[Segment] = []
    start = 0
    for segment in value.segments:
        if segment.low > start:
            found.append(Segment(start, segment.low - 1))
        inverted = ~segment.mask & ((1 << segment.period) - 1)
        if inverted:
            found.append(Segment(segment.low, segment.high, segment.period, inverted))
        if segment.high is None:
            return normal(found)
        start = segment.high + 1
    found.append(Segment(start, None))
    return normal(found)


ALL = SizeSet((Segment(0, None),))
EMPTY = SizeSet(())
ONE = SizeSet((Segment(1, 1),))
NOT_ONE = SizeSet((Segment(0, 0), Segment(2, None)))
