"""Sets of sizes worded as formulas."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import sympy

from symbcast.arithmetic import modulo
from symbcast.deciding.sets import ALL, EMPTY, Segment, SizeSet, normal
from symbcast.dims import Dim, plain
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
    pieces = _pieces(members, within)
    shares = _shares(pieces, within)
    positive = any_of(
        _piece_formula(symbol, p, share, within) for p, share in zip(pieces, shares, strict=True) if share
    )
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
    return pieces[::-1]


def _shares(pieces: list[Segment], within: SizeSet) -> list[SizeSet]:
    """Return what each piece has to say: nothing that others say is said again for a single size or a residue."""
    shares = [normal([piece]) & within for piece in pieces]
    for n, share in enumerate(shares):
        others = EMPTY
        for m, other in enumerate(shares):
            if m != n:
                others = others | other
        own = share - others
        if len(share.first(_FEW)) < _FEW or not own:
            shares[n] = own
        else:
            period = pieces[n].period
            shares[n] = share & SizeSet.residues(period, [r for r in range(period) if own & _class(period, r)])
    return shares


def _class(period: int, residue: int) -> SizeSet:
    return SizeSet.residues(period, [residue])


_FEW = 3
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


def _piece_formula(symbol: sympy.Symbol, piece: Segment, share: SizeSet, within: SizeSet) -> Formula:
    few = share.first(_FEW)
    if len(few) < _FEW:
        return any_of(equal(symbol, value) for value in few)
    parts: list[Formula] = []
    if piece.low > 0:
        parts.append(at_most(piece.low, symbol))
    if piece.high is not None:
        parts.append(at_most(symbol, piece.high))
    if piece.period > 1:
        parts.append(_residues_formula(symbol, piece, share, within))
    return all_of(parts)


def _residues_formula(symbol: sympy.Symbol, piece: Segment, share: SizeSet, within: SizeSet) -> Formula:
    """Return a formula that holds for the residues that the share has, and for no others of those that sizes have."""
    remainder = plain(sympy.sympify(modulo(symbol, piece.period)))
    residues = range(piece.period)
    # A residue that no size in question has needs no word.
    present = normal([Segment(piece.low, piece.high)]) & within
    kept = [r for r in residues if share & _class(piece.period, r)]
    lost = [r for r in residues if not piece.mask >> r & 1 and present & _class(piece.period, r)]
    # Those of the piece that the share leaves to others may be said by a run too; then what others say of them is
    # said twice: no runs there.
    shared = [r for r in residues if piece.mask >> r & 1 and r not in kept and present & _class(piece.period, r)]
    listed = any_of(equal(remainder, r) for r in kept) if len(kept) <= len(lost) else None
    words = [listed or all_of(different(remainder, r) for r in lost)]
    if not shared:
        words.append(any_of(_run_formula(remainder, run, piece.period) for run in _runs(kept, lost, piece.period)))
        words.append(all_of(_no_run_formula(remainder, run, piece.period) for run in _runs(lost, kept, piece.period)))
    return min(words, key=_size)


class _Run(NamedTuple):
    """Neighbouring residues from ``low`` to ``high``; ``wanted`` are those among them that matter."""

    low: int
    high: int
    wanted: list[int]


def _runs(wanted: list[int], others: list[int], period: int) -> list[_Run]:
    """Return the longest runs of residues that have some of those wanted and none of the others."""
    ends = [-1, *others, period]
    runs = [_Run(a + 1, b - 1, [r for r in wanted if a < r < b]) for a, b in pairwise(ends)]
    return [run for run in runs if run.wanted]


def _run_formula(remainder: Dim, run: _Run, period: int) -> Formula:
    bounds = [at_most(run.wanted[0], remainder)] if run.low else []
    bounds += [at_most(remainder, run.wanted[-1])] if run.high < period - 1 else []
    if len(run.wanted) <= max(len(bounds), 1):
        return any_of(equal(remainder, r) for r in run.wanted)
    return all_of(bounds)


def _no_run_formula(remainder: Dim, run: _Run, period: int) -> Formula:
    bounds = [at_most(remainder, run.wanted[0] - 1)] if run.low else []
    bounds += [at_most(run.wanted[-1] + 1, remainder)] if run.high < period - 1 else []
    if len(run.wanted) <= max(len(bounds), 1):
        return all_of(different(remainder, r) for r in run.wanted)
    return any_of(bounds)
