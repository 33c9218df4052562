"""Finite sets of sizes as bit masks: bit k is the size ``low + k``. Their longest runs and arithmetic progressions."""

from __future__ import annotations

from collections.abc import Iterator

from symbcast.core.effort import charge
from symbcast.core.solver.sets.congruences import bits, contains, mask_of, period_of, tiled
from symbcast.core.solver.sets.size_sets import MAX_PERIOD, Segment, SizeSet

_WORDS = 4096
"""Bits that one operation on a mask handles for one unit of effort."""
_SPARSE = 64
"""A mask with at most this many sizes is searched pair by pair."""


def mask_within(sizes: SizeSet, low: int, high: int) -> int:
    """Return the mask of the sizes from ``low`` to ``high`` that a set contains; bit 0 is ``low``.

    >>> bin(mask_within(SizeSet.residues(4, [0]), 3, 12))
    '0b1000100010'
    """
    found = 0
    for segment in sizes.segments:
        first = max(low, segment.low)
        last = high if segment.high is None else min(high, segment.high)
        if first <= last:
            found |= _segment_mask(segment, first, last) << (first - low)
    return found


def _segment_mask(segment: Segment, first: int, last: int) -> int:
    count = last - first + 1
    charge(1 + count // _WORDS)
    if segment.pattern is True:
        return (1 << count) - 1
    period = period_of(segment.pattern)
    if period > MAX_PERIOD or period > count:
        charge(count)
        return sum(1 << n for n in range(count) if contains(segment.pattern, first + n))
    charge(period)
    one = mask_of(segment.pattern, period)
    whole = tiled(period, one, -(-(count + period) // period) * period)
    return (whole >> (first % period)) & ((1 << count) - 1)


def progression(position: int, length: int, step: int) -> int:
    """Return the mask of an arithmetic progression.

    >>> bin(progression(1, 3, 2))
    '0b101010'
    """
    charge(1 + length * step // _WORDS)
    return tiled(step, 1, step * length) << position


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
        found = max(runs(mask), key=lambda run: ((typical >> run[0] & ((1 << run[1]) - 1)).bit_count(), run[1]))
        return found[0], found[1]
    return _longest_chain(mask, 1, 1)


def _longest_chain(mask: int, step: int, at_least: int) -> tuple[int, int]:
    """Return the first longest chain of members, each ``step`` after the one before; length 0 if below a minimum."""
    charge(1 + mask.bit_length() // _WORDS)
    # starts[k]: the positions where chains of 2**k members begin.
    starts = [mask]
    while starts[-1]:
        shorter = starts[-1]
        starts.append(shorter & (shorter >> (step << (len(starts) - 1))))
    found, length = -1, 0
    for power in reversed(range(len(starts) - 1)):
        longer = starts[power] if length == 0 else found & (starts[power] >> (step * length))
        if longer:
            found, length = longer, length + (1 << power)
    if length < at_least:
        return 0, 0
    return (found & -found).bit_length() - 1, length


def longest_progression(mask: int, typical: int = 0, at_least: int = 1) -> tuple[int, int, int]:
    """Return the arithmetic progression with the most typical sizes, then the most members: position, length, step.

    Of several, the one with the smallest step, then the first. It is exact: every step is tried until no larger one can
    have more members. If no typical size is in the mask, its length is 0 unless it has ``at_least`` so many members.

    >>> longest_progression(0b100100100100010), longest_progression(0b1), longest_progression(0)
    ((5, 4, 3), (0, 1, 1), (0, 0, 1))
    """
    wanted = typical & mask
    return _with_typical(mask, wanted) if wanted else _longest(mask, at_least)


def _longest(mask: int, at_least: int) -> tuple[int, int, int]:
    position, length = _longest_chain(mask, 1, at_least)
    best, step, width = (position, length, 1), 2, mask.bit_length()
    while mask.bit_count() >= at_least and step * max(best[1], at_least - 1) < width:
        position, length = _longest_chain(mask, step, max(best[1] + 1, at_least))
        if length:
            best = position, length, step
        step += 1
    return best


def _with_typical(mask: int, wanted: int) -> tuple[int, int, int]:
    """Return the best progression that contains a typical size: each is part of a chain through that size."""
    best, key, width = (0, 0, 1), (0, 0), mask.bit_length()
    positions = bits(wanted)
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
            held = [p for p in positions if p in members]
            seen.update(held)
            if (len(held), len(members)) > key:
                best, key = (first, len(members), step), (len(held), len(members))
        if key[0] == len(positions) and step * key[1] >= width:
            break
    return best
