"""Sets of residues as decision diagrams over prime powers, and the member of one that is nearest to a size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias
from weakref import WeakValueDictionary

# Sets of residues, stored modulus by modulus.
#
# By the Chinese remainder theorem, a residue modulo a product of coprime moduli is one residue for each of them,
# chosen freely. So a periodic set of sizes is a set of tuples, one entry for each prime power, and is stored as a
# decision diagram over these entries: the primes in ascending order, one node for each decision on a prime. The
# product of the moduli is never expanded; eight congruences are eight nodes. Diagrams are reduced and shared: equal
# sets are one object.


# The longest period that is handled residue by residue.
MAX_PERIOD = 4096

# The largest prime power held.
MAX_MODULUS = 2**16

# The number of pairs of branches, or of residues, that one operation may examine.
MAX_STEPS = 200_000


class PeriodTooLongError(Exception):
    """An operation would need a modulus, or a number of steps, above the limits."""


class ResidueNode:
    """A decision by the residue modulo ``modulus``, a power of ``prime``.

    ``branches`` are pairs of a mask of residues and the pattern that the larger primes must satisfy there; the masks
    partition the residues, and no two branches lead to the same pattern. Create nodes with `residue_node`, which keeps
    them reduced.
    """

    __slots__ = ("__weakref__", "_children", "_hash", "branches", "modulus", "prime")

    def __init__(self, prime: int, modulus: int, branches: tuple[tuple[int, Pattern], ...]) -> None:
        self.prime = prime
        self.modulus = modulus
        self.branches = branches
        self._hash = hash((modulus, branches))
        self._children: list[Pattern] | None = None

    def child(self, residue: int) -> Pattern:
        """Return the pattern that the larger primes must satisfy for a residue."""
        if self._children is None:
            self._children = [False] * self.modulus
            for mask, child in self.branches:
                for n in mask_residues(mask):
                    self._children[n] = child
        return self._children[residue]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ResidueNode) or self._hash != other._hash:
            return False
        return self.modulus == other.modulus and self.branches == other.branches

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return _shared, (self.prime, self.modulus, self.branches)

    def __repr__(self) -> str:
        return f"Node({self.modulus}, {self.branches})"


Pattern: TypeAlias = ResidueNode | bool
"""A diagram, or whether all residues are in the set or none is."""

_SHARED: WeakValueDictionary[tuple[int, tuple[tuple[int, Pattern], ...]], ResidueNode] = WeakValueDictionary()


def _shared(prime: int, modulus: int, branches: tuple[tuple[int, Pattern], ...]) -> ResidueNode:
    node = _SHARED.get((modulus, branches))
    if node is None:
        node = _SHARED[modulus, branches] = ResidueNode(prime, modulus, branches)
    return node


def residue_node(prime: int, modulus: int, masks: Mapping[Pattern, int]) -> Pattern:
    """Return the pattern that has the given child for the residues of each mask."""
    if len(masks) == 1:
        return next(iter(masks))
    while modulus > prime and all(_repeats(mask, modulus // prime, modulus) for mask in masks.values()):
        modulus //= prime
        masks = {child: mask & ((1 << modulus) - 1) for child, mask in masks.items()}
    branches = sorted(((mask, child) for child, mask in masks.items()), key=lambda b: b[0] & -b[0])
    return _shared(prime, modulus, tuple(branches))


def _repeats(mask: int, shorter: int, longer: int) -> bool:
    return tiled_mask(shorter, mask & ((1 << shorter) - 1), longer) == mask


def tiled_mask(period: int, mask: int, longer: int) -> int:
    """Return the mask of a period, repeated up to a multiple of it."""
    return mask if period == longer else mask * (((1 << longer) - 1) // ((1 << period) - 1))


def mask_residues(mask: int) -> list[int]:
    """Return the positions of the bits of a mask, ascending."""
    if not mask & (mask - 1):
        return [mask.bit_length() - 1] if mask else []
    return [n for n, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]


@lru_cache(maxsize=4096)
def prime_powers(number: int) -> tuple[tuple[int, int], ...]:
    """Return the primes of a number in ascending order, each with its highest power in it.

    Raises `PeriodTooLongError` if a power is above `MAX_MODULUS`.

    >>> prime_powers(360)
    ((2, 8), (3, 9), (5, 5))
    """
    powers: list[tuple[int, int]] = []
    divisor = 2
    # A number with a larger prime is refused below, whether or not what is left of it is one.
    while divisor * divisor <= number and divisor <= MAX_MODULUS:
        power = 1
        while number % divisor == 0:
            number //= divisor
            power *= divisor
        if power > 1:
            powers.append((divisor, power))
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        powers.append((number, number))
    if any(power > MAX_MODULUS for _, power in powers):
        raise PeriodTooLongError(max(power for _, power in powers))
    return tuple(powers)


def divisors(number: int) -> list[int]:
    """Return the divisors of a number, ascending.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    products = [1]
    for prime, power in prime_powers(number):
        powers = [1]
        while powers[-1] < power:
            powers.append(powers[-1] * prime)
        products = [divisor * p for divisor in products for p in powers]
    return sorted(products)


@lru_cache(maxsize=4096)
def pattern_of_mask(period: int, mask: int) -> Pattern:
    """Return the pattern of the residues modulo ``period`` whose bits are set."""
    if not mask:
        return False
    if mask.bit_count() == period:
        return True
    prime, power = prime_powers(period)[0]
    rest = period // power
    masks: dict[Pattern, int] = {}
    if rest == 1:
        masks = {True: mask, False: ~mask & ((1 << period) - 1)}
        return residue_node(prime, power, masks)
    parts = [0] * power
    for residue in mask_residues(mask):
        parts[residue % power] |= 1 << (residue % rest)
    for residue, part in enumerate(parts):
        child = pattern_of_mask(rest, part)
        masks[child] = masks.get(child, 0) | 1 << residue
    return residue_node(prime, power, masks)


def pattern_of_residue(period: int, residue: int) -> Pattern:
    """Return the pattern of one residue class; the period may be long, but its prime powers must not be."""
    pattern: Pattern = True
    for prime, power in reversed(prime_powers(period)):
        own = 1 << (residue % power)
        pattern = residue_node(prime, power, {pattern: own, False: ~own & ((1 << power) - 1)})
    return pattern


def pattern_contains(pattern: Pattern, value: int) -> bool:
    """Return whether a size's residues belong to the pattern."""
    while isinstance(pattern, ResidueNode):
        pattern = pattern.child(value % pattern.modulus)
    return pattern


def pattern_complement(pattern: Pattern) -> Pattern:
    """Return the pattern of all other residues."""
    return _inverse(pattern, {})


def _inverse(pattern: Pattern, known: dict[ResidueNode, Pattern]) -> Pattern:
    if not isinstance(pattern, ResidueNode):
        return not pattern
    if pattern not in known:
        masks = {_inverse(child, known): mask for mask, child in pattern.branches}
        known[pattern] = residue_node(pattern.prime, pattern.modulus, masks)
    return known[pattern]


@lru_cache(maxsize=8192)
def pattern_intersection(left: Pattern, right: Pattern) -> Pattern:
    """Return the pattern of the residues in both patterns."""
    return _Combination(False).of(left, right)


@lru_cache(maxsize=8192)
def pattern_union(left: Pattern, right: Pattern) -> Pattern:
    """Return the pattern of the residues in at least one of two patterns."""
    return _Combination(True).of(left, right)


class _Combination:
    """One operation on two patterns; its steps are counted and each pair of nodes is processed once.

    Results are kept only for this operation, so whether the limit is reached depends only on the two patterns, not on
    earlier questions.
    """

    def __init__(self, is_join: bool) -> None:
        self.is_join = is_join
        self.known: dict[tuple[ResidueNode, ResidueNode], Pattern] = {}
        self.steps = 0

    def of(self, left: Pattern, right: Pattern) -> Pattern:
        if not isinstance(left, ResidueNode):
            return left if left is self.is_join else right
        if not isinstance(right, ResidueNode):
            return right if right is self.is_join else left
        if left is right:
            return left
        pattern = self.known.get((left, right))
        if pattern is None:
            pattern = self.known[left, right] = self._of_nodes(left, right)
        return pattern

    def _of_nodes(self, left: ResidueNode, right: ResidueNode) -> Pattern:
        if left.prime > right.prime:
            left, right = right, left
        masks: dict[Pattern, int] = {}
        if left.prime < right.prime:
            self._count(len(left.branches))
            for mask, child in left.branches:
                combined = self.of(child, right)
                masks[combined] = masks.get(combined, 0) | mask
            return residue_node(left.prime, left.modulus, masks)
        modulus = max(left.modulus, right.modulus)
        for (child, other), mask in self._pairs(left, right, modulus).items():
            combined = self.of(child, other)
            masks[combined] = masks.get(combined, 0) | mask
        return residue_node(left.prime, modulus, masks)

    def _pairs(self, left: ResidueNode, right: ResidueNode, modulus: int) -> dict[tuple[Pattern, Pattern], int]:
        """Return the pairs of children of two nodes with the same prime, with the residues that lead to them."""
        pairs: dict[tuple[Pattern, Pattern], int] = {}
        if len(left.branches) * len(right.branches) <= modulus:
            self._count(len(left.branches) * len(right.branches))
            others = [(tiled_mask(right.modulus, mask, modulus), child) for mask, child in right.branches]
            for short, child in left.branches:
                mask = tiled_mask(left.modulus, short, modulus)
                pairs.update(((child, other), mask & both) for both, other in others if mask & both)
            return pairs
        self._count(modulus)
        for residue in range(modulus):
            pair = left.child(residue % left.modulus), right.child(residue % right.modulus)
            pairs[pair] = pairs.get(pair, 0) | 1 << residue
        return pairs

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise PeriodTooLongError(f"more than {MAX_STEPS} steps")


def moduli_of(pattern: Pattern) -> dict[int, int]:
    """Return the primes that a pattern depends on, ascending, each with its power."""
    moduli: dict[int, int] = {}
    for visited in nodes_of_pattern(pattern):
        moduli[visited.prime] = max(visited.modulus, moduli.get(visited.prime, 1))
    return dict(sorted(moduli.items()))


def nodes_of_pattern(pattern: Pattern) -> Iterator[ResidueNode]:
    """Yield each node of a pattern once."""
    seen: set[ResidueNode] = set()
    pending = [pattern]
    while pending:
        present = pending.pop()
        if isinstance(present, ResidueNode) and present not in seen:
            seen.add(present)
            yield present
            pending.extend(child for _, child in present.branches)


@lru_cache(maxsize=4096)
def period_of(pattern: Pattern) -> int:
    """Return the least period of a pattern."""
    return prod(moduli_of(pattern).values())


def pattern_projection(pattern: Pattern, primes: Iterable[int]) -> Pattern:
    """Return the projection: the possible values of the other moduli where the pattern holds."""
    for prime in primes:
        pattern = _without(pattern, prime, {})
    return pattern


def _without(pattern: Pattern, prime: int, known: dict[ResidueNode, Pattern]) -> Pattern:
    if not isinstance(pattern, ResidueNode) or pattern.prime > prime:
        return pattern
    if pattern.prime == prime:
        united: Pattern = False
        for _, child in pattern.branches:
            united = pattern_union(united, child)
        return united
    if pattern not in known:
        masks: dict[Pattern, int] = {}
        for mask, child in pattern.branches:
            rest = _without(child, prime, known)
            masks[rest] = masks.get(rest, 0) | mask
        known[pattern] = residue_node(pattern.prime, pattern.modulus, masks)
    return known[pattern]


def mask_of(pattern: Pattern, period: int) -> int:
    """Return the residues modulo ``period``, of any length worth writing out, that sizes of the pattern can have."""
    if not isinstance(pattern, ResidueNode):
        return (1 << period) - 1 if pattern else 0
    powers = dict(prime_powers(period))
    pattern = pattern_projection(pattern, [prime for prime in moduli_of(pattern) if prime not in powers])
    # The pattern may have a higher power of a prime than the period: a residue counts if any size above it belongs.
    full = 1
    for prime, power in moduli_of(pattern).items():
        full *= max(1, power // powers[prime])
    mask = 0
    for residue in range(period):
        if full == 1:
            present = pattern_contains(pattern, residue)
        else:
            present = any(pattern_contains(pattern, residue + period * n) for n in range(full))
        mask |= present << residue
    return mask


def mask_products(pattern: Pattern, most: int) -> list[list[tuple[int, int]]]:
    """Return disjoint products of masks, as pairs of modulus and mask, whose union is the pattern.

    Raises `PeriodTooLongError` if there are more than ``most``.
    """
    products: list[list[tuple[int, int]]] = []
    pending: list[tuple[Pattern, list[tuple[int, int]]]] = [(pattern, [])]
    while pending:
        present, chosen = pending.pop()
        if isinstance(present, ResidueNode):
            pending.extend((child, [*chosen, (present.modulus, mask)]) for mask, child in present.branches)
        elif present:
            products.append(chosen)
        if len(products) > most:
            raise PeriodTooLongError(f"{most} products of residues")
    return products


# The member of a residue pattern that is nearest to a size: a search by the Chinese remainder theorem.
#
# Whether some size avoids given residues is NP-complete in the moduli, so the search counts its steps; within its
# limits it is exact. Moduli that leave few residues are combined into classes; those that leave many are tested while
# stepping through these classes. Eight congruences give one class, and sieving by many primes a short walk.


# So many neighbours are tested one by one before residues are put together.
_WALKED = 48
# The moduli with few residues are put together up to this many classes.
_CLASSES = 1024
_BOXES = 4096
# The sizes that a search may test.
_STEPS = 1_000_000


def nearest_member(pattern: Pattern, start: int, by: int, end: int | None = None) -> int | None:
    """Return the member nearest to ``start``, inclusive, in the direction ``by``, 1 or -1, up to ``end``.

    Raises `PeriodTooLongError` if it takes too many steps.
    """
    if not pattern or (end is not None and (end - start) * by < 0):
        return None
    if not isinstance(pattern, ResidueNode):
        return start
    # Most patterns have a member nearby: walking there is cheaper than putting residues together.
    for value in range(start, start + by * _WALKED, by):
        if end is not None and (end - value) * by < 0:
            return None
        if pattern_contains(pattern, value):
            return value
    return _nearest_by_classes(pattern, start, by, end)


@lru_cache(maxsize=4096)
def _nearest_by_classes(pattern: ResidueNode, start: int, by: int, end: int | None) -> int | None:
    furthest = None if end is None else (end - start) * by
    best: int | None = None
    steps = [0]
    for box in mask_products(pattern, _BOXES):
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
        inverse, residues = pow(modulus, -1, power), mask_residues(mask)
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
