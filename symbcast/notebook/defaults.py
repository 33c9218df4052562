"""Choose defaults for a picture: its symbols, and the output axis that it shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula


def telling_groups(names: Mapping[Symbol, str], condition: Sequence[Formula]) -> Iterator[tuple[Symbol, ...]]:
    """Yield groups of two symbols (or one, if there is only one), those most informative about the condition first.

    First come the two sides of a comparison, then any two symbols in a clause, then symbols from several clauses.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> call = call_of(broadcast("batch, heads, T, T + P", "batch, 1, 1, S"))
    >>> next(telling_groups(call.shown, call.clauses))
    (T, S)
    """
    place = {s: n for n, s in enumerate(names)}
    if len(place) < 2:
        yield from ((s,) for s in place)
        return
    seen: set[tuple[Symbol, ...]] = set()
    for pair in _pairs(place, condition):
        found = tuple(sorted(pair, key=place.__getitem__))
        if found not in seen and found[0] is not found[1]:
            seen.add(found)
            yield found


def _pairs(place: Mapping[Symbol, int], condition: Sequence[Formula]) -> Iterator[tuple[Symbol, Symbol]]:
    for clause in condition:
        for left, right in _sides(clause):
            first, second = (_ordered(symbols_of((d,)), place) for d in (left, right))
            # A symbol that is on both sides shows less about where the sides are equal.
            yield from product([s for s in first if s not in second], [s for s in second if s not in first])
    within = [_ordered(symbols_in(clause), place) for clause in condition]
    for symbols in within:
        yield from combinations(symbols, 2)
    yield from combinations(dict.fromkeys([*(s for symbols in within for s in symbols), *place]), 2)


def _ordered(symbols: Iterable[Symbol], place: Mapping[Symbol, int]) -> list[Symbol]:
    return sorted((s for s in symbols if s in place), key=place.__getitem__)


def _sides(formula: Formula) -> Iterator[tuple[Dim, Dim]]:
    """Yield the two sides of each comparison in a formula, literal by literal."""
    match formula:
        case Comparison(_, left, right):
            yield left, right
        case Compatible(dims) | Clashing(dims):
            yield from combinations(dims, 2)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _sides(part)


def telling_axis(pictures: Sequence[Collection[tuple[int, ...]]]) -> int | None:
    """Return the first output axis that varies within a picture, given the shapes in each; None if there are no axes.

    Sizes that vary only between pictures do not count: the shades should be informative within each picture.

    >>> telling_axis([{(1, 2), (1, 3)}, {(4, 2)}]), telling_axis([{(1, 2)}, {(4, 2)}]), telling_axis([{()}])
    (1, 0, None)
    """
    rank = len(next((shape for shapes in pictures for shape in shapes), ()))
    varying = (n for n in range(rank) if any(len({shape[n] for shape in shapes}) > 1 for shapes in pictures))
    return next(varying, 0 if rank else None)
