"""Few sizes that represent all: if names and integers are only compared, most sizes behave alike.

Whether formulas over names and integers hold depends on which of these are equal, and, where one of the formulas says
"at most", on their order. So it is enough to look at one choice of sizes for each way in which names can be equal to
each other and to the integers, or ordered among them (the small model property of these logics). Each is the
smallest choice of its kind, and therefore the smallest sizes at which something holds are among them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula, dims_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

MOST = 5_000
"""The most choices to enumerate; beyond that, `small_models` returns None."""

Sizes: TypeAlias = tuple[int, ...]


def small_models(symbols: Sequence[Symbol], dims: Iterable[Dim], formulas: Iterable[Formula]) -> list[Sizes] | None:
    """Return sizes of the symbols, in order, that represent all sizes for the given formulas; the smallest first.

    A choice is smaller than another if it has fewer sizes of 0, then if its sum is less, then if its sizes come first.
    None if a dimension or a formula contains more than names and integers, or if there are more than `MOST` choices.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.logic.formulas import equal
    >>> N, M = symbol("N"), symbol("M")
    >>> small_models([N, M], [N, M], [equal(N, M)])
    [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]
    """
    asked = list(formulas)
    known, found_dims = {*symbols}, {*dims, *(dim for formula in asked for dim in dims_of(formula))}
    integers = {1, *(dim for dim in found_dims if isinstance(dim, int) and dim >= 0)}
    if any(dim not in known for dim in found_dims if not isinstance(dim, int)):
        return None
    if any(map(_is_ordered, asked)):
        pool = sorted(_ordered_pool(integers, len(symbols)))
        if len(pool) ** len(symbols) > MOST:
            return None
        found: Iterable[Sizes] = product(pool, repeat=len(symbols))
    else:
        if _count(len(symbols), len(integers)) > MOST:
            return None
        found = (_smallest(kind, integers) for kind in _kinds(len(symbols), sorted(integers)))
    return sorted(found, key=lambda sizes: (sizes.count(0), sum(sizes), sizes))


def _is_ordered(formula: Formula) -> bool:
    match formula:
        case AllOf(parts) | AnyOf(parts):
            return any(map(_is_ordered, parts))
        case Comparison(operator):
            return operator in ("<=", "<")
    return False


def _ordered_pool(integers: Collection[int], count: int) -> Iterator[int]:
    """Yield the integers, and the first ``count`` sizes between each two of them and above all of them."""
    ends = sorted(integers)
    for before, end in zip((-1, *ends), (*ends, None), strict=True):
        stop = before + 1 + count if end is None else min(end, before + 1 + count)
        yield from range(before + 1, stop)
    yield from ends


def _count(names: int, integers: int) -> int:
    """Return the number of ways in which names can be equal to each other and to integers."""
    ways = [1] + [0] * names  # by the number of groups of names that equal no integer
    for _ in range(names):
        ways = [ways[n] * (integers + n) + (ways[n - 1] if n else 0) for n in range(len(ways))]
    return sum(ways)


def _kinds(names: int, integers: Sequence[int]) -> Iterator[Sizes]:
    """Yield each way once: for each name an integer, or its group's number, from -1 down in order of appearance."""
    stack: list[Sizes] = [()]
    while stack:
        kind = stack.pop()
        if len(kind) == names:
            yield kind
            continue
        fresh = min((*kind, 0)) - 1
        stack.extend((*kind, value) for value in (*integers, *range(fresh, 0)))


def _smallest(kind: Sizes, integers: Collection[int]) -> Sizes:
    """Return the smallest sizes of a kind: the largest groups get the smallest sizes not among the integers."""
    groups = sorted({n for n in kind if n < 0}, key=lambda n: (-kind.count(n), -n))
    sizes: dict[int, int] = {}
    free = 1
    for group in groups:
        while free in integers:
            free += 1
        sizes[group] = free
        free += 1
    return tuple(sizes.get(n, n) for n in kind)
