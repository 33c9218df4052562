"""The member of a residue pattern that is nearest to a size: a search by the Chinese remainder theorem.

Whether some size avoids given residues is NP-complete in the moduli, so the search counts its steps; within its limits
it is exact. Moduli that leave few residues are combined into classes; those that leave many are tested while stepping
through these classes. Eight congruences give one class, and sieving by many primes a short walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from symbcast.core.solver.sets.congruences import Node, Pattern, PeriodTooLongError, bits, boxes, contains

_WALKED = 48
"""So many neighbours are tested one by one before residues are put together."""
_CLASSES = 1024
"""The moduli with few residues are put together up to this many classes."""
_BOXES = 4096
_STEPS = 1_000_000
"""The sizes that a search may test."""


def nearest(pattern: Pattern, start: int, by: int, end: int | None = None) -> int | None:
    """Return the member nearest to ``start``, inclusive, in the direction ``by``, 1 or -1, up to ``end``.

    Raises `PeriodTooLongError` if it takes too many steps.
    """
    if not pattern or (end is not None and (end - start) * by < 0):
        return None
    if not isinstance(pattern, Node):
        return start
    for value in range(start, start + by * _WALKED, by):
        if end is not None and (end - value) * by < 0:
            return None
        if contains(pattern, value):
            return value
    return _nearest_by_classes(pattern, start, by, end)


@lru_cache(maxsize=4096)
def _nearest_by_classes(pattern: Node, start: int, by: int, end: int | None) -> int | None:
    furthest = None if end is None else (end - start) * by
    best: int | None = None
    steps = [0]
    for box in boxes(pattern, _BOXES):
        distance = _distance(box, start, by, furthest, steps)
        if distance is not None:
            best = furthest = distance
    return None if best is None else start + by * best


def _distance(
    box: Sequence[tuple[int, int]], start: int, by: int, furthest: int | None, steps: list[int]
) -> int | None:
    """Return the distance to the nearest member of a product of masks; None if it exceeds ``furthest``."""
    classes, modulus, rest = [0], 1, []
    for power, mask in sorted(box, key=lambda pair: pair[1].bit_count() / pair[0]):
        if 2 * mask.bit_count() > power or len(classes) * mask.bit_count() > _CLASSES:
            rest.append((power, mask))
            continue
        inverse, residues = pow(modulus, -1, power), bits(mask)
        classes = [c + modulus * ((r - c) * inverse % power) for c in classes for r in residues]
        modulus *= power
    distances = sorted((c - start) * by % modulus for c in classes)
    base = 0
    while True:
        for distance in (base + d for d in distances):
            if furthest is not None and distance > furthest:
                return None
            value = start + by * distance
            if all(mask >> (value % power) & 1 for power, mask in rest):
                return distance
        steps[0] += len(distances)
        if steps[0] > _STEPS:
            raise PeriodTooLongError(f"{_STEPS} sizes tested")
        base += modulus
