"""Sets of sizes worded as formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from symbcast.core.algebra.arithmetic import replacing
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.effort import remembered
from symbcast.core.logic.formulas import (
    AllOf,
    AnyOf,
    Clashing,
    Compatible,
    Formula,
    all_of,
    any_of,
    at_most,
    clauses,
    different,
    dims_of,
    equal,
    with_dims,
)
from symbcast.core.solver.sets.congruences import MAX_PERIOD, PeriodTooLongError, moduli, nodes, of_mask, without
from symbcast.core.solver.sets.piecewise import NotPeriodicError
from symbcast.core.solver.sets.residue_formulas import Context, by_cases, literal_count, residues_formula
from symbcast.core.solver.sets.size_sets import ALL, Segment, SizeSet, normal
from symbcast.core.solver.sets.univariate import ONE_NAME, solve


def describe(symbol: Symbol, members: SizeSet, within: SizeSet = ALL) -> Formula:
    """Return a short formula that, for sizes in ``within``, holds exactly for those in ``members``.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> describe(symbol("N"), SizeSet.of([0, 1, 2, 3]))
    Comparison('<=', N, 3)
    """
    try:
        return _described(symbol, members, within)
    except PeriodTooLongError:
        return _written_out(symbol, members)


def _written_out(symbol: Symbol, members: SizeSet) -> Formula:
    """Return the formula of a set without searching for shorter ones."""
    everywhere = Context(symbol, ALL, ALL)
    return any_of(
        all_of((_bounds(symbol, segment), by_cases(segment.pattern, everywhere))) for segment in members.segments
    )


def _described(symbol: Symbol, members: SizeSet, within: SizeSet) -> Formula:
    if members is within:
        return AllOf(())
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
    if len(excluded) < 3 and len(excluded) < literal_count(positive):
        return all_of(different(symbol, value) for value in excluded)
    return _without_few(symbol, members, within, literal_count(positive)) or positive


def _without_few(symbol: Symbol, members: SizeSet, within: SizeSet, most: int) -> Formula | None:
    """Return all sizes of a pattern but one or two, in fewer literals than ``most``; None if that is impossible."""
    last = members.segments[-1] if members else None
    if last is None or last.high is not None or last.low == 0:
        return None
    whole = normal([Segment(0, None, last.pattern)]) & within
    excluded = (whole - members).first(3)
    if len(excluded) > 2 or not excluded or not members <= whole:
        return None
    found = all_of([*(different(symbol, value) for value in excluded), _described(symbol, whole, within)])
    return found if literal_count(found) < most else None


def shortest(symbol: Symbol, members: SizeSet, within: SizeSet, asked: Sequence[Formula]) -> Formula:
    """Return `describe`, or the given constraints on the symbol if they are shorter.

    For sizes in ``within``, the formulas of ``asked`` together hold exactly for the members.
    """
    described = _described_shortly(symbol, members, within)
    if described is not None and literal_count(described) <= _READABLE:
        return described
    given = [clause for formula in asked for clause in clauses(formula)]
    if sum(map(_words, given)) <= _REDUCED_UP_TO:
        with suppress(PeriodTooLongError, NotPeriodicError):
            given = _irredundant(given, within)
    short = sum(map(_words, given))
    return all_of(given) if described is None or short < literal_count(described) else described


def gathered(formula: Formula) -> Formula:
    """Return an equivalent formula in which parts about one size are together, as its set has them, if that is shorter.

    >>> from symbcast.core.text import parse_formula
    >>> gathered(parse_formula("N == 3 or N == 2 or M == 1 or N == 1 or N == 0"))
    AnyOf((Comparison('<=', N, 3), Comparison('==', M, 1)))
    """
    if not isinstance(formula, AllOf | AnyOf):
        return formula
    make = all_of if isinstance(formula, AllOf) else any_of
    about: dict[object, list[Formula]] = {}
    for number, part in enumerate(map(gathered, formula.parts)):
        symbols = symbols_of(dims_of(part))
        about.setdefault(symbols[0] if len(symbols) == 1 else number, []).append(part)
    return make(
        _as_set(subject, make(parts)) if isinstance(subject, Symbol) else parts[0] for subject, parts in about.items()
    )


def _as_set(symbol: Symbol, formula: Formula) -> Formula:
    if type(symbol) is not Symbol or literal_count(formula) < _GATHERED:
        return formula
    try:
        found = _described_shortly(symbol, solve(formula), ALL)
    except (PeriodTooLongError, NotPeriodicError):
        return formula
    return formula if found is None or literal_count(found) >= literal_count(formula) else found


_GATHERED = 3
"""Fewer comparisons of one size are left as they are."""


def _described_shortly(symbol: Symbol, members: SizeSet, within: SizeSet) -> Formula | None:
    """Return the description of a set; None if its patterns are too large for one."""
    found = _described_of_one_name(members, within)
    return None if found is None else with_dims(found, replacing({ONE_NAME: symbol}))


@remembered(1024)
def _described_of_one_name(members: SizeSet, within: SizeSet) -> Formula | None:
    if sum(len(n.branches) for s in members.segments for n in nodes(s.pattern)) > _BRANCHES:
        return None
    runs = _in_runs(members)
    try:
        found = [_described(ONE_NAME, form, within) for form in ([members] if runs == members else [members, runs])]
    except PeriodTooLongError:
        return None
    return min(found, key=literal_count)


def _in_runs(members: SizeSet) -> SizeSet:
    """Return the same set with short segments written as runs: 0 to 4 and 6 rather than the even ones, 1 and 3."""
    found: list[Segment] = []
    for segment in members.segments:
        is_short = segment.high is not None and segment.high - segment.low <= _RUNS
        found += SizeSet.of(segment.members()).segments if is_short else [segment]
    return normal(found)


_BRANCHES = 512
"""Patterns with more branches are not described."""
_RUNS = 32
"""Segments of more sizes are not written as runs."""
_READABLE = 6
"""Descriptions of at most this many comparisons are not compared with the given constraints."""
_REDUCED_UP_TO = 128


def _words(formula: Formula) -> int:
    """Return the length of a formula: its number of comparisons; a join counts twice its members."""
    if isinstance(formula, (Compatible, Clashing)):
        return 2 * len(formula.dims)
    return sum(map(_words, formula.parts)) if isinstance(formula, (AllOf, AnyOf)) else 1


def _irredundant(given: Sequence[Formula], within: SizeSet) -> list[Formula]:
    """Return the clauses without those that the others imply, and without parts that make no difference."""
    sets = {clause: solve(clause) for clause in given}
    kept = dict.fromkeys(given)
    for clause in reversed(given):
        others = within
        for other in kept:
            if other != clause:
                others = others & sets[other]
        if others <= sets[clause]:
            kept.pop(clause, None)
    for clause in list(kept):
        others = within
        for other in kept:
            if other != clause:
                others = others & sets[other]
        shorter = _shortened(clause, others)
        if shorter != clause:
            kept = {shorter if c == clause else c: None for c in kept}
            sets[shorter] = solve(shorter)
    return list(kept)


def _shortened(clause: Formula, present: SizeSet) -> Formula:
    """Return the clause without the members or alternatives that it does not need among the sizes present."""
    if isinstance(clause, (Compatible, Clashing)):
        parts: tuple[Any, ...] = clause.dims
        make: Callable[[Iterable[Any]], Formula] = lambda dims: type(clause)(tuple(dims))  # noqa: E731
    elif isinstance(clause, AnyOf):
        parts, make = clause.parts, any_of
    else:
        return clause
    wanted = solve(clause) & present
    for part in reversed(parts):
        fewer = tuple(p for p in parts if p is not part)
        if len(fewer) > 1 and wanted.same(solve(make(fewer)) & present):
            parts = fewer
    return make(parts)


def _pieces(members: SizeSet, within: SizeSet) -> list[Segment]:
    """Return segments that cover exactly the members, with ends and residues loosened as ``within`` allows."""
    pieces: list[Segment] = []
    remaining = SizeSet(_progressions(members.segments))
    while remaining:
        last = remaining.segments[-1]
        piece = _loosened(last, members, within)
        pieces.append(piece)
        # A piece that is no larger than its segment covers no part of the others.
        remaining = SizeSet(remaining.segments[:-1]) if piece is last else remaining - normal([piece])
    return pieces[::-1]


_FEW_IN_A_ROW = 5
"""This many equidistant runs of one length are written as residue classes and their ends."""


def _progressions(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Return the segments, with equidistant runs of one length merged into one segment."""
    found: list[Segment] = []
    start = 0
    while start < len(segments):
        stop = _end_of_progression(segments, start)
        first, last = segments[start], segments[stop - 1]
        if stop - start >= _FEW_IN_A_ROW and first.high is not None:
            step = segments[start + 1].low - first.low
            mask = sum(1 << n % step for n in range(first.low, first.high + 1))
            found.append(Segment(first.low, last.high, of_mask(step, mask)))
            start = stop
        else:
            found.append(first)
            start += 1
    return tuple(found)


def _end_of_progression(segments: tuple[Segment, ...], start: int) -> int:
    first = segments[start]
    if start + 1 == len(segments) or first.high is None or first.pattern is not True:
        return start + 1
    step = segments[start + 1].low - first.low
    stop = start + 1
    while stop < len(segments) and step <= MAX_PERIOD and _is_moved(first, segments[stop], step * (stop - start)):
        stop += 1
    return stop


def _is_moved(first: Segment, other: Segment, by: int) -> bool:
    """Return whether a run is the first one, moved by a distance."""
    return other.pattern is True and other.low == first.low + by and other.high == (first.high or 0) + by


def _shares(pieces: list[Segment], within: SizeSet) -> list[SizeSet]:
    """Return the part that each piece must describe, without single sizes and residues that others describe."""
    shares = [normal([piece]) & within for piece in pieces]
    if _are_disjoint(pieces):
        return shares
    for n, share in enumerate(shares):
        others = SizeSet.union(other for m, other in enumerate(shares) if m != n)
        own = share - others
        if len(share.first(_FEW)) < _FEW or not own:
            shares[n] = own
        elif pieces[n].period <= MAX_PERIOD:
            period = pieces[n].period
            mask = own.residues_of(period)
            shares[n] = share & SizeSet.residues(period, (r for r in range(period) if mask >> r & 1))
    return shares


def _are_disjoint(pieces: list[Segment]) -> bool:
    """Return whether each piece ends before the next one begins."""
    return all(a.high is not None and a.high < b.low for a, b in pairwise(pieces))


_FEW = 3
_LOOSER: tuple[Callable[[Segment], Segment], ...] = (
    lambda s: Segment(0, s.high, s.pattern),
    lambda s: Segment(s.low, None, s.pattern),
    lambda s: Segment(s.low, s.high),
)


def _loosened(piece: Segment, members: SizeSet, within: SizeSet) -> Segment:
    if piece.low == piece.high:
        return piece
    loosest = piece
    for loosen in _LOOSER:
        loosest = _looser(loosest, loosen(loosest), members, within)
    for prime in moduli(loosest.pattern):
        looser = Segment(loosest.low, loosest.high, without(loosest.pattern, [prime]))
        loosest = _looser(loosest, looser, members, within)
    return loosest


def _looser(piece: Segment, looser: Segment, members: SizeSet, within: SizeSet) -> Segment:
    return looser if looser != piece and normal([looser]) & within <= members else piece


def _piece_formula(symbol: Symbol, piece: Segment, share: SizeSet, within: SizeSet) -> Formula:
    few = share.first(_FEW)
    if len(few) < _FEW:
        bounds = _bounds(symbol, piece)
        is_spread = len(few) == 2 and few[0] + 1 < few[1] and literal_count(bounds) == 1
        if is_spread and normal([Segment(piece.low, piece.high)]) & within <= normal([piece]):
            return bounds
        return any_of(equal(symbol, value) for value in few)
    if piece.pattern is True:
        return _bounds(symbol, piece)
    present = SizeSet.interval(piece.low, piece.high) & within
    return all_of((_bounds(symbol, piece), residues_formula(piece.pattern, Context(symbol, share, present))))


def _bounds(symbol: Symbol, piece: Segment) -> Formula:
    parts: list[Formula] = []
    if piece.low > 0:
        parts.append(at_most(piece.low, symbol))
    if piece.high is not None:
        parts.append(at_most(symbol, piece.high))
    return all_of(parts)
