"""Which symbols a picture is drawn over, and which axis of the output it shows, where nobody says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.logic.formulas import Formula


def telling_names(names: Mapping[Symbol, str], condition: Sequence[Formula]) -> list[str]:
    """Return the names of the two symbols that show most of where a condition holds: fewer where there are fewer.

    They are the first two of a clause that ties symbols together, and else the first ones that it says anything of.

    >>> import symbcast
    >>> result = symbcast.broadcast("batch, heads, T", "batch, 1, S")
    >>> telling_names(result.scope.names, result.clauses)
    ['T', 'S']
    """
    place = {s: n for n, s in enumerate(names)}
    found = [sorted((s for s in symbols_in(clause) if s in place), key=place.__getitem__) for clause in condition]
    tied = [symbols for symbols in found if len(symbols) > 1]
    ranked = dict.fromkeys([*(tied[0] if tied else ()), *(s for symbols in found for s in symbols), *names])
    chosen = set(islice(ranked, 2))
    return [name for s, name in names.items() if s in chosen]


def telling_axis(pictures: Sequence[Collection[tuple[int, ...]]]) -> int | None:
    """Return the first output axis that varies within a picture, given the shapes in each; None without any axis.

    Between pictures their own sizes vary: numbers are to tell something within one.

    >>> telling_axis([{(1, 2), (1, 3)}, {(4, 2)}]), telling_axis([{(1, 2)}, {(4, 2)}]), telling_axis([{()}])
    (1, 0, None)
    """
    rank = len(next((shape for shapes in pictures for shape in shapes), ()))
    varying = (n for n in range(rank) if any(len({shape[n] for shape in shapes}) > 1 for shapes in pictures))
    return next(varying, 0 if rank else None)
