"""The order of sizes: fewest zeros, then least sum, then first in the order of the symbols.

Every search for evidence follows this order, so its answer is one point, whichever method finds it. A weight is the
number of sizes that a symbol represents.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.logic.formulas import TRUE, Formula, at_most, equal
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.sets.size_sets import ALL, SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

Point: TypeAlias = "dict[Symbol, int]"
Level: TypeAlias = list[frozenset[int]]
"""The choices of positions that are 0, all of one weight."""
_CHOICES_AT_MOST = 4_000


class GivenUpError(Exception):
    """A search ended without an answer; another one may succeed. ``found`` are sizes that may not be the smallest."""

    def __init__(self, *found: Point) -> None:
        super().__init__()
        self.found = found


class Wanted(NamedTuple):
    """A question for the smallest sizes from some domains at which all of some formulas hold.

    Each method returns these sizes, returns None if there are none, or raises `GivenUpError`.
    """

    symbols: Sequence[Symbol]
    domains: Mapping[Symbol, SizeSet]
    formulas: Sequence[Formula]
    weights: Mapping[Symbol, int]

    def described(self) -> list[Formula]:
        """Return the formulas together with those that describe the domains."""
        found = (describe(s, self.domains.get(s, ALL)) for s in self.symbols)
        return [*(f for f in found if f != TRUE), *self.formulas]

    def cost(self, sizes: Mapping[Symbol, int]) -> tuple[int, int, tuple[int, ...]]:
        """Return the sort key of sizes."""
        return cost(self.symbols, sizes, self.weights)


def cost(
    symbols: Sequence[Symbol], sizes: Mapping[Symbol, int], weights: Mapping[Symbol, int]
) -> tuple[int, int, tuple[int, ...]]:
    """Return the sort key of sizes: the zeros, the sum, and the sizes in order."""
    zeros = sum(weights[s] for s in symbols if sizes[s] == 0)
    return zeros, sum(weights[s] * sizes[s] for s in symbols), tuple(sizes[s] for s in symbols)


def smallest(
    symbols: Sequence[Symbol], points: Iterable[Point | None], weights: Mapping[Symbol, int] | None = None
) -> Point | None:
    """Return the smallest of some points, of which each may be missing; None if all are."""
    each = dict.fromkeys(symbols, 1) if weights is None else weights
    return min((p for p in points if p is not None), key=lambda p: cost(symbols, p, each), default=None)


def least_size(sizes: SizeSet) -> int | None:
    """Return the least member other than 0, or 0 if it is the only one."""
    positive = sizes.least(1)
    return positive if positive is not None else sizes.least()


def levels(symbols: Sequence[Symbol], domains: Mapping[Symbol, SizeSet], weights: Mapping[Symbol, int]) -> list[Level]:
    """Return the choices of symbols that are 0, grouped by weight, lightest first.

    If there are too many, those with the most zeros are left out.
    """
    sets = [domains.get(s, ALL) for s in symbols]
    needed = frozenset(n for n, s in enumerate(sets) if s.least(1) is None)
    free = [n for n, s in enumerate(sets) if 0 in s and n not in needed]
    choices = (combinations(free, size) for size in range(len(free) + 1))
    by_weight: dict[int, Level] = {}
    for chosen in islice(chain.from_iterable(choices), _CHOICES_AT_MOST):
        positions = needed | frozenset(chosen)
        by_weight.setdefault(sum(weights[symbols[n]] for n in positions), []).append(positions)
    return [by_weight[weight] for weight in sorted(by_weight)]


def zeros_at(symbols: Sequence[Symbol], zeros: Container[int]) -> list[Formula]:
    """Return formulas stating that the sizes at some positions are 0 and the others are not."""
    return [equal(s, 0) if n in zeros else at_most(1, s) for n, s in enumerate(symbols)]


def level_weights(sets: Sequence[SizeSet], weights: Sequence[int]) -> Iterator[int]:
    """Yield the possible total weights of the zeros of some sizes, lightest first, each once."""
    needed = sum(w for w, s in zip(weights, sets, strict=True) if s.least(1) is None)
    reachable = 1
    for w, s in zip(weights, sets, strict=True):
        if 0 in s and s.least(1) is not None:
            reachable |= reachable << w
    while reachable:
        yield needed + (reachable & -reachable).bit_length() - 1
        reachable &= reachable - 1
