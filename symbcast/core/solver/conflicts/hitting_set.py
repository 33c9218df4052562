"""The smallest hitting set: the fewest elements that meet every one of some sets."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.effort import charge
from symbcast.core.solver.satisfiability.samples import bits

NODES = 20_000
"""Number of partial choices tried before the search is given up."""


def smallest_hitting_set(sets: Sequence[frozenset[int]], at_least: int = 0) -> tuple[int, ...] | None:
    """Return the fewest numbers that meet every set, the first in order among equals; None if the search is given up.

    No set is empty, and it is known that fewer than ``at_least`` numbers do not suffice.

    >>> smallest_hitting_set([frozenset({1, 2}), frozenset({2, 3}), frozenset({4, 5})])
    (2, 4)
    """
    search = _Search(sets)
    for size in range(at_least, len(sets) + 1):
        search.seen.clear()
        if not search.run((1 << len(sets)) - 1, frozenset(), size):
            return None
        if search.best is not None:
            return search.best
    return None


class _Search:
    """A depth-first search: some member of each set that is not yet met must be chosen."""

    def __init__(self, sets: Sequence[frozenset[int]]) -> None:
        self.met_by = _useful(sets)
        self.members = [sorted(n for n in chosen if n in self.met_by) for chosen in sets]
        self.best: tuple[int, ...] | None = None
        self.seen: set[frozenset[int]] = set()
        self.nodes = 0

    def run(self, unmet: int, chosen: frozenset[int], size: int) -> bool:
        """Try all choices of a size that extend one; return False when the search is given up."""
        if not unmet:
            found = tuple(sorted(chosen))
            self.best = found if self.best is None else min(self.best, found)
            return True
        self.nodes += 1
        charge(5)
        if self.nodes > NODES:
            return False
        if self._apart(unmet) > size - len(chosen):
            return True
        branch = min((self.members[n] for n in bits(unmet)), key=len)
        for number in branch:
            longer = chosen | {number}
            if longer not in self.seen:
                self.seen.add(longer)
                if not self.run(unmet & ~self.met_by[number], longer, size):
                    return False
        return True

    def _apart(self, unmet: int) -> int:
        """Return a number of unmet sets without a common member: each needs a separate choice."""
        count = 0
        while unmet:
            lowest = (unmet & -unmet).bit_length() - 1
            for number in self.members[lowest]:
                unmet &= ~self.met_by[number]
            count += 1
        return count


def _useful(sets: Sequence[frozenset[int]]) -> dict[int, int]:
    """Return the sets that each number meets, as bits, without numbers that an earlier one can replace."""
    met_by: dict[int, int] = {}
    for position, members in enumerate(sets):
        for number in members:
            met_by[number] = met_by.get(number, 0) | 1 << position
    useful: dict[int, int] = {}
    for number in sorted(met_by):
        met = met_by[number]
        if all(met & ~earlier for earlier in set(useful.values())):
            useful[number] = met
    return useful
