"""Sets of sizes worded as formulas."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from symbcast.arithmetic import modulo
from symbcast.deciding.sets import ALL, EMPTY, Segment, SizeSet, normal
from symbcast.dims import plain
from symbcast.formulas import AllOf, AnyOf, Formula, all_of, any_of, at_most, different, equal


def describe(symbol: sympy.Symbol, members: SizeSet, within: SizeSet = ALL) -> Formula:
    """Return a short formula that, for sizes in ``within``, holds exactly for those in ``members``.

    >>> from symbcast.dims import symbol
    >>> describe(symbol("N"), SizeSet.of([0, 1, 2, 3]))
    Comparison('<=', N, 3)
    """
    members = members & within
    missing = within - members
    if not missing:
        return AllOf(())
    positive = any_of(_piece_formula(symbol, piece) for piece in _pieces(members, within))
    excluded = missing.first(3)
    if len(excluded) < 3 and len(excluded) < _size(positive):
        return all_of(different(symbol, value) for value in excluded)
    return positive


def _size(formula: Formula) -> int:
    return sum(map(_size, formula.parts)) if isinstance(formula, (AllOf, AnyOf)) else 1


def _pieces(members: SizeSet, within: SizeSet) -> list[Segment]:
    """Return segments, ends and residues loosened where ``within`` allows, that cover the members and no others."""
    pieces: list[Segment] = []
    remaining = members
    while remaining:
        piece = _loosened(remaining.segments[-1], members, within)
        pieces.append(piece)
        remaining = remaining - normal([piece])
    for piece in list(pieces):
        others = EMPTY
        for other in pieces:
            if other is not piece:
                others = others | normal([other])
        if normal([piece]) & within <= others:
            pieces.remove(piece)
    return pieces[::-1]


_LOOSER: tuple[Callable[[Segment], Segment], ...] = (
    lambda s: Segment(0, s.high, s.period, s.mask),
    lambda s: Segment(s.low, None, s.period, s.mask),
    lambda s: Segment(s.low, s.high),
)


def _loosened(piece: Segment, members: SizeSet, within: SizeSet) -> Segment:
    if piece.low == piece.high:
        return piece
    for loosen in _LOOSER:
        looser = loosen(piece)
        if normal([looser]) & within <= members:
            piece = looser
    return piece


def _piece_formula(symbol: sympy.Symbol, piece: Segment) -> Formula:
    few = normal([piece]).first(3)
    if len(few) < 3:
        return any_of(equal(symbol, value) for value in few)
    parts: list[Formula] = []
    if piece.low > 0:
        parts.append(at_most(piece.low, symbol))
    if piece.high is not None:
        parts.append(at_most(symbol, piece.high))
    if piece.period > 1:
        remainder = plain(sympy.sympify(modulo(symbol, piece.period)))
        kept = [r for r in range(piece.period) if piece.mask >> r & 1]
        lost = [r for r in range(piece.period) if not piece.mask >> r & 1]
        if len(kept) <= len(lost):
            parts.append(any_of(equal(remainder, r) for r in kept))
        else:
            parts.extend(different(remainder, r) for r in lost)
    return all_of(parts)
