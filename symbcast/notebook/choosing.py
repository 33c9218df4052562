"""Which symbols a picture is drawn over, where nobody says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from symbcast.deciding.normal import symbols_in

if TYPE_CHECKING:
    import sympy

    from symbcast.formulas import Formula


def telling_names(names: Mapping[sympy.Symbol, str], condition: Sequence[Formula]) -> list[str]:
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
