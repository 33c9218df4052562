"""Equations that only say what a symbol is, set aside before the rest is decided.

Where a symbol occurs in one formula alone, and that says what it equals, the formula can be met whatever the other
sizes are, and broken too. So it is needed in the condition, and says nothing about the rest. Without it another such
symbol may come to light: of a long chain of definitions nothing is left to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.core.solver.evaluation.equations import solved_for
from symbcast.core.solver.evaluation.evaluation import size_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.satisfiability.local_search import can_be_met
from symbcast.core.solver.sets.size_sets import SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


class Definition(NamedTuple):
    """An equation, and the symbol that it says the size of."""

    symbol: Symbol
    formula: Formula


def set_aside(
    formulas: Sequence[Formula], assumptions: Iterable[Formula], domains: Mapping[Symbol, SizeSet]
) -> tuple[list[Definition], list[Formula]]:
    """Return the formulas that are definitions, each before those of the sizes that it speaks of, and the others.

    >>> from symbcast.core.solver.sets.size_sets import ALL
    >>> from symbcast.core.text import parse_formula
    >>> chain = [parse_formula(f) for f in ("b == a + 1", "c == 2*b", "c <= 8", "d == c//2")]
    >>> definitions, others = set_aside(chain, [], dict.fromkeys(symbols_in(chain[0]) | symbols_in(chain[3]) , ALL))
    >>> definitions, others == chain[:3]
    ([Definition(symbol=d, formula=Comparison('==', d, c//2))], True)
    """
    tied = {s for f in assumptions for s in symbols_in(f)}
    symbols = [symbols_in(f) for f in formulas]
    users: dict[Symbol, set[int]] = {}
    for place, mentioned in enumerate(symbols):
        for symbol in mentioned:
            users.setdefault(symbol, set()).add(place)
    ready = [s for s, numbers in users.items() if len(numbers) == 1 and s not in tied]
    found: dict[int, Definition] = {}
    while ready:
        symbol = ready.pop()
        number = next(iter(users[symbol]), None)
        if number is None or not isinstance(formulas[number], Comparison):
            continue
        if not can_be_met(formulas[number], symbol, domains):
            continue
        found[number] = Definition(symbol, formulas[number])
        for other in symbols[number]:
            users[other].discard(number)
            if len(users[other]) == 1 and other not in tied:
                ready.append(other)
    return list(found.values()), [f for n, f in enumerate(formulas) if n not in found]


def completed(definitions: Sequence[Definition], sizes: Mapping[Symbol, int]) -> dict[Symbol, int]:
    """Return sizes with those of the symbols that definitions speak of, as `set_aside` returned them."""
    found = dict(sizes)
    for symbol, formula in reversed(definitions):
        value = solved_for(formula, symbol)
        assert value is not None
        found[symbol] = size_at(value.dim(), found)
    return found
