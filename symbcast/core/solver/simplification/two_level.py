"""Two-level minimisation: the shortest disjunction of conjunctions of literals, by truth tables held as bit masks.

A table has one bit for each cell: for each combination of truth values that the atoms can have together. A combination
that no sizes produce is not a cell, so it is a "don't care" by construction. A cube (a conjunction of literals) is an
implicant if it holds at no cell of the off-set, and prime if no literal of it can be left out. A least cover of the
on-set by primes is irredundant in cubes and, since they are prime, in literals (Quine 1952, McCluskey 1956). For few
atoms, all primes are enumerated, level by level, and branch and bound finds a least cover; for more, primes are grown
from the cells and from the cubes that were given, and the cover is greedy, as in espresso (Brayton et al. 1984).
Counted steps bound both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeAlias

from symbcast.core.effort import charge

Cube: TypeAlias = tuple[int, ...]
"""Numbers of literals, rising: literal ``2*n`` is atom ``n``, literal ``2*n + 1`` its negation."""

LITERAL_COST = 1000
"""What one more literal costs; ties between covers of as many literals are settled by smaller costs."""
FEW_LITERALS = 40
"""Of more literals, primes are not enumerated."""
_CUBE_COST = 50
_ENUMERATED_AT_MOST = 12_000
_EXACT_PRIMES = 200
_EXACT_CELLS = 2_000
_EXACT_NODES = 1_000
_TOO_LONG = 3
"""A cover that costs this many times as much as a known one is given up."""


class LiteralTable(NamedTuple):
    """The cells at which each literal holds; ``everywhere`` are all cells, ``costs`` are the literals' costs."""

    everywhere: int
    masks: Sequence[int]
    costs: Sequence[int]

    def mask(self, cube: Iterable[int]) -> int:
        """Return the cells of a cube."""
        cells = self.everywhere
        for literal in cube:
            cells &= self.masks[literal]
        return cells

    def cost(self, cover: Iterable[Cube]) -> int:
        """Return the cost of a cover: first the cost of its literals, then its number of cubes."""
        return sum(_CUBE_COST + sum(self.costs[n] for n in cube) for cube in cover)

    def distinct(self) -> list[int]:
        """Return the literals that hold somewhere and fail somewhere; of equivalent ones, the cheapest."""
        cheapest: dict[int, int] = {}
        for literal, mask in enumerate(self.masks):
            if mask not in (0, self.everywhere):
                known = cheapest.get(mask)
                if known is None or self.costs[literal] < self.costs[known]:
                    cheapest[mask] = literal
        return sorted(cheapest.values())


def cover(table: LiteralTable, on: int, seeds: Sequence[Cube] = (), at_most: int | None = None) -> list[Cube] | None:
    """Return prime cubes that hold at the cells of ``on`` and at no others, none of them redundant.

    ``seeds`` are implicants to grow primes from. Returns None if the cover becomes much longer than ``at_most``.

    >>> table = LiteralTable(0b1111, [0b1100, 0b0011, 0b1010, 0b0101], [LITERAL_COST] * 4)
    >>> cover(table, 0b1110), cover(table, 0b0110), cover(table, 0b1111), cover(table, 0)
    ([(0,), (2,)], [(0, 3), (1, 2)], [()], [])
    """
    off = table.everywhere & ~on
    if not on:
        return []
    if not off:
        return [()]
    literals = table.distinct()
    primes = _enumerated(table, literals, on, off) if len(literals) <= FEW_LITERALS else None
    if primes is None:
        primes = _grown(table, on, off, seeds, at_most)
    return None if primes is None else least_cover(table, primes, on)


def _enumerated(table: LiteralTable, literals: Sequence[int], on: int, off: int) -> list[Cube] | None:
    """Return all prime implicants, shortest first, None if that takes too many steps."""
    primes: list[Cube] = []
    steps = 0
    level: list[tuple[Cube, int]] = [((), table.everywhere)]
    while level:
        longer: list[tuple[Cube, int]] = []
        for cube, mask in level:
            for literal in literals:
                # In rising order, so that each cube is made once.
                if cube and literal <= cube[-1]:
                    continue
                steps += 1
                charge(1)
                if steps > _ENUMERATED_AT_MOST:
                    return None
                narrowed = mask & table.masks[literal]
                # The literal excludes nothing, or everything that is to be covered.
                if narrowed == mask or not narrowed & on:
                    continue
                longer_cube = (*cube, literal)
                if narrowed & off:
                    longer.append((longer_cube, narrowed))
                elif _is_prime(table, longer_cube, off):
                    primes.append(longer_cube)
        level = longer
    return primes


def _is_prime(table: LiteralTable, cube: Cube, off: int) -> bool:
    return all(table.mask(n for n in cube if n != literal) & off for literal in cube)


def _grown(table: LiteralTable, on: int, off: int, seeds: Sequence[Cube], at_most: int | None) -> list[Cube] | None:
    """Return primes that cover the on-set: each seed expanded, and one grown from each cell not yet covered."""
    literals = table.distinct()
    primes: dict[Cube, None] = {}
    for seed in seeds:
        if table.mask(seed) & on:
            primes[_shrunk(table, seed, off)] = None
    left, total = on, 0
    for prime in primes:
        left &= ~table.mask(prime)
    while left:
        cell = left & -left
        grown = grown_from(table, [n for n in literals if table.masks[n] & cell], left, off)
        primes[grown] = None
        left &= ~table.mask(grown)
        total += table.cost((grown,))
        if at_most is not None and total > _TOO_LONG * at_most:
            return None
    return list(primes)


def _expanded(table: LiteralTable, seed: Sequence[int], on: int, off: int) -> Cube:
    """Return a prime with some of an implicant's literals; first drop those whose removal gains most coverage."""
    literals = list(dict.fromkeys(seed))
    while True:
        best: tuple[int, int, int] | None = None
        charge(len(literals) ** 2)
        for literal in literals:
            mask = table.mask(n for n in literals if n != literal)
            if not mask & off:
                gain = ((mask & on).bit_count(), table.costs[literal], literal)
                best = gain if best is None or gain > best else best
        if best is None:
            return tuple(sorted(literals))
        literals.remove(best[2])


def _shrunk(table: LiteralTable, seed: Sequence[int], off: int) -> Cube:
    """Return a prime with some of an implicant's literals, which are tried in order.

    The order is fixed, so that each off-set cell found later undoes few choices.
    """
    literals = list(seed)
    charge(len(literals) ** 2)
    for literal in seed:
        rest = [n for n in literals if n != literal]
        if not table.mask(rest) & off:
            literals = rest
    return tuple(sorted(literals))


def grown_from(table: LiteralTable, literals: Sequence[int], cells: int, off: int) -> Cube:
    """Return a prime among literals that hold at one cell, choosing first those that exclude most and keep most."""
    masks, costs = table.masks, table.costs
    chosen: list[int] = []
    around, excluded = cells, off
    while excluded:
        charge(2 * len(literals))
        size, count = around.bit_count() or 1, excluded.bit_count()
        best = max(
            literals,
            key=lambda n: (
                (count - (excluded & masks[n]).bit_count()) / count + (around & masks[n]).bit_count() / size
                if excluded & ~masks[n]
                else -1.0,
                -costs[n],
            ),
        )
        if not excluded & ~masks[best]:
            raise ValueError("the literals of a wanted cell also hold at an unwanted one: the cells overlap")
        chosen.append(best)
        around &= masks[best]
        excluded &= masks[best]
    return _expanded(table, chosen, cells, off)


def least_cover(table: LiteralTable, primes: Sequence[Cube], on: int) -> list[Cube]:
    """Return primes that cover the on-set, none of them redundant; the cheapest cover if there are few."""
    masks = [table.mask(prime) & on for prime in primes]
    costs = [table.cost((prime,)) for prime in primes]
    chosen = _greedy(masks, costs, on)
    if len(primes) <= _EXACT_PRIMES and on.bit_count() <= _EXACT_CELLS:
        chosen = _CoverSearch(masks, costs, chosen).run(on)
    return [primes[n] for n in sorted(chosen)]


def _greedy(masks: Sequence[int], costs: Sequence[int], on: int) -> list[int]:
    """Return a cover, built greedily from the prime that covers most of the rest for its cost.

    A prime's coverage of the rest only shrinks, so a count that is still the largest when recomputed is the largest.
    """
    chosen: list[int] = []
    heap = [(-mask.bit_count() / cost, n) for n, (mask, cost) in enumerate(zip(masks, costs, strict=True))]
    heapify(heap)
    left = on
    while left:
        _, best = heappop(heap)
        updated = (-(masks[best] & left).bit_count() / costs[best], best)
        if heap and updated > heap[0]:
            heappush(heap, updated)
            continue
        chosen.append(best)
        left &= ~masks[best]
    return _irredundant(masks, costs, on, chosen)


def _irredundant(masks: Sequence[int], costs: Sequence[int], on: int, cover: Sequence[int]) -> list[int]:
    chosen = list(cover)
    once = twice = 0
    for n in chosen:
        twice |= once & masks[n]
        once |= masks[n]
    for n in sorted(cover, key=lambda n: (-costs[n], -n)):
        if masks[n] & on & ~twice:
            continue
        rest = 0
        for other in chosen:
            rest |= masks[other] if other != n else 0
        if not on & ~rest:
            chosen.remove(n)
    return chosen


class _CoverSearch:
    """Branch and bound for the cheapest cover, starting from a known one, within a limited number of nodes."""

    def __init__(self, masks: Sequence[int], costs: Sequence[int], known: Sequence[int]) -> None:
        self.masks = masks
        self.costs = costs
        self.best = list(known)
        self.least = sum(costs[n] for n in known)
        self.nodes = 0

    def run(self, on: int) -> list[int]:
        """Return the cheapest cover found."""
        self._search(self._rows(on), [], 0)
        return _irredundant(self.masks, self.costs, on, self.best)

    def _rows(self, on: int) -> list[int]:
        """Return, for each cell, the primes that hold there as a mask, without rows that other rows imply."""
        distinct = {sum(1 << n for n, mask in enumerate(self.masks) if mask & cell) for cell in single_bits(on)}
        rows: list[int] = []
        for row in sorted(distinct, key=lambda row: (row.bit_count(), row)):
            if not any(other & ~row == 0 for other in rows):
                rows.append(row)
        return rows

    def _search(self, rows: list[int], chosen: list[int], cost: int) -> None:
        self.nodes += 1
        charge(2 + len(rows))
        if not rows:
            if cost < self.least:
                self.best, self.least = list(chosen), cost
            return
        if self.nodes > _EXACT_NODES or cost + self._bound(rows) >= self.least:
            return
        row = min(rows, key=lambda r: r.bit_count())
        for cell in sorted(single_bits(row), key=lambda c: self.costs[c.bit_length() - 1]):
            prime = cell.bit_length() - 1
            left = [r for r in rows if not r & cell]
            self._search(left, [*chosen, prime], cost + self.costs[prime])

    def _bound(self, rows: list[int]) -> int:
        """Return a lower bound of the cost, from rows without a common prime."""
        used = total = 0
        for row in rows:
            if not row & used:
                used |= row
                total += min(self.costs[c.bit_length() - 1] for c in single_bits(row))
        return total


def single_bits(mask: int) -> Iterator[int]:
    """Yield each bit of a mask as a mask."""
    while mask:
        yield mask & -mask
        mask &= mask - 1
