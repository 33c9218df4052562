"""Sets of sizes, and patterns of residues, written as short formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, reduce
from itertools import combinations, pairwise
from operator import and_
from typing import Any

from symbcast.core.algebra.formulas import (
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
    is_total,
    literal_count,
    with_dims,
)
from symbcast.core.algebra.term_arithmetic import Substitution, modulo_terms
from symbcast.core.algebra.terms import Dim, Symbol, constant, symbols_of, term
from symbcast.core.effort import remembered
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.univariate import ONE_NAME, solution_set
from symbcast.core.solver.residues import (
    MAX_PERIOD,
    Pattern,
    PeriodTooLongError,
    ResidueNode,
    mask_of,
    mask_residues,
    moduli_of,
    nodes_of_pattern,
    pattern_complement,
    pattern_intersection,
    pattern_of_mask,
    pattern_projection,
    period_of,
)
from symbcast.core.solver.size_sets import ALL, Segment, SizeSet, normal_segments
from symbcast.core.structs import NamedTuple

# Up to this period the residues of several moduli together are tried as words too.
_SHORT = 256
# A formula of at most this many literals has no shorter form with one size beside a pattern.
_FEWEST = 3
# Patterns of at most this many nodes are searched for pairs of independent moduli.
_SMALL = 64


class PatternContext(NamedTuple):
    """The context of a pattern's formula: it holds in ``share`` and, in ``present``, only where the pattern does."""

    symbol: Symbol
    share: SizeSet
    present: SizeSet

    def remainder(self, period: int) -> Dim:
        """Return the symbol modulo a period."""
        return modulo_terms(term(self.symbol), constant(period)).dim()


def residues_formula(pattern: Pattern, context: PatternContext) -> Formula:
    """Return the shortest of some formulas for the residues of a pattern: as a whole, and modulus by modulus."""
    if not isinstance(pattern, ResidueNode):
        return all_of(()) if pattern else any_of(())
    period = period_of(pattern)
    factors = independent_factors(pattern)
    alternatives = independent_factors(pattern_complement(pattern)) if len(factors) == 1 else ()
    whole = len(factors) == 1 and len(alternatives) == 1
    words: list[Formula] = []
    if period <= _SHORT or (whole and (period <= MAX_PERIOD or pattern.modulus == period)):
        words.append(_as_a_whole(pattern, period, context))
    elif period <= MAX_PERIOD and all(map(_is_one_class, factors)):
        words.append(equal(context.remainder(period), mask_of(pattern, period).bit_length() - 1))
    if len(factors) > 1:
        words.append(all_of(residues_formula(factor, context) for factor in factors))
    elif len(alternatives) > 1:
        words.append(any_of(residues_formula(pattern_complement(other), context) for other in alternatives))
    elif not words:
        words.append(_by_cases(pattern, context))
    return min(words, key=literal_count)


def _is_one_class(factor: ResidueNode) -> bool:
    """Return whether a factor of a pattern holds only one residue of one modulus."""
    if factor.modulus != period_of(factor):
        return False
    return sum(mask.bit_count() for mask, child in factor.branches if child) == 1


def _by_cases(pattern: ResidueNode, context: PatternContext) -> Formula:
    """Return the cases of one modulus, each with the formula of the other moduli in that case."""
    return any_of(
        all_of((residues_formula(pattern_of_mask(pattern.modulus, mask), context), residues_formula(child, context)))
        for mask, child in pattern.branches
        if child
    )


def residue_cases(pattern: Pattern, context: PatternContext) -> Formula:
    """Return the whole diagram as a formula, case by case, for a pattern too large for finding a shorter one."""
    if not isinstance(pattern, ResidueNode):
        return all_of(()) if pattern else any_of(())
    cases = ((pattern_of_mask(pattern.modulus, mask), child) for mask, child in pattern.branches if child)
    return any_of(
        all_of((_as_a_whole(own, period_of(own), context), residue_cases(child, context)))
        for own, child in cases
        if isinstance(own, ResidueNode)
    )


@lru_cache(maxsize=1024)
def independent_factors(pattern: ResidueNode) -> tuple[ResidueNode, ...]:
    """Return factors of different moduli whose conjunction is the pattern; only the pattern itself if it has none.

    >>> len(independent_factors(pattern_intersection(pattern_of_mask(6, 0b100110), pattern_of_mask(35, 0b10000))))
    3
    """
    factors: list[ResidueNode] = []
    rest: Pattern = pattern
    for size in (1, 2) if sum(1 for _ in nodes_of_pattern(pattern)) <= _SMALL else (1,):
        for group in combinations(moduli_of(rest), size):
            present = moduli_of(rest)
            others = [prime for prime in present if prime not in group]
            if not others or not all(prime in present for prime in group):
                continue
            own, remaining = pattern_projection(rest, others), pattern_projection(rest, group)
            if isinstance(own, ResidueNode) and pattern_intersection(own, remaining) == rest:
                factors.append(own)
                rest = remaining
    if isinstance(rest, ResidueNode):
        factors.append(rest)
    return tuple(sorted(factors, key=lambda factor: factor.prime))


def _as_a_whole(pattern: ResidueNode, period: int, context: PatternContext) -> Formula:
    """Return a formula that holds for the share's residues, and for no other residues that sizes have."""
    remainder = context.remainder(period)
    mask = mask_of(pattern, period)
    in_share, in_present = context.share.residues_of(period) & mask, context.present.residues_of(period)
    # Residues that no relevant size has need not be described.
    holding, lost = mask_residues(in_share), mask_residues(in_present & ~mask)
    if len(holding) == 1 and lost:
        return equal(remainder, holding[0])
    # A run could also describe residues of the piece that the share leaves to other pieces; those would then be
    # described twice, so runs are not used here.
    shared = mask & ~in_share & in_present
    listed = any_of(equal(remainder, r) for r in holding) if len(holding) <= len(lost) else None
    words = [listed or all_of(different(remainder, r) for r in lost)]
    if not shared:
        words.append(any_of(_run_formula(remainder, run, period) for run in _runs(holding, lost, period)))
        words.append(all_of(_no_run_formula(remainder, run, period) for run in _runs(lost, holding, period)))
    return min(words, key=literal_count)


class _Run(NamedTuple):
    """Neighbouring residues from ``low`` to ``high``; ``residues`` are the relevant ones among them."""

    low: int
    high: int
    residues: list[int]


def _runs(residues: list[int], others: list[int], period: int) -> list[_Run]:
    """Return the longest runs of residues that contain some wanted ones and no excluded ones."""
    ends = [-1, *others, period]
    runs: list[_Run] = []
    position = 0
    for a, b in pairwise(ends):
        inside: list[int] = []
        while position < len(residues) and residues[position] < b:
            inside.append(residues[position])
            position += 1
        if inside:
            runs.append(_Run(a + 1, b - 1, inside))
    return runs


def _run_formula(remainder: Dim, run: _Run, period: int) -> Formula:
    bounds = [at_most(run.residues[0], remainder)] if run.low else []
    bounds += [at_most(remainder, run.residues[-1])] if run.high < period - 1 else []
    if len(run.residues) <= max(len(bounds), 1):
        return any_of(equal(remainder, r) for r in run.residues)
    return all_of(bounds)


def _no_run_formula(remainder: Dim, run: _Run, period: int) -> Formula:
    bounds = [at_most(remainder, run.residues[0] - 1)] if run.low else []
    bounds += [at_most(run.residues[-1] + 1, remainder)] if run.high < period - 1 else []
    if len(run.residues) <= max(len(bounds), 1):
        return all_of(different(remainder, r) for r in run.residues)
    return any_of(bounds)


def set_formula(symbol: Symbol, members: SizeSet, within: SizeSet = ALL) -> Formula:
    """Return a short formula that, for sizes in ``within``, holds exactly for those in ``members``.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> set_formula(symbol("N"), SizeSet.of([0, 1, 2, 3]))
    Comparison('<=', N, 3)
    """
    try:
        return _described(symbol, members, within)
    except PeriodTooLongError:
        return _written_out(symbol, members)


def _written_out(symbol: Symbol, members: SizeSet) -> Formula:
    """Return the formula of a set without searching for shorter ones."""
    everywhere = PatternContext(symbol, ALL, ALL)
    return any_of(
        all_of((_bounds(symbol, segment), residue_cases(segment.pattern, everywhere))) for segment in members.segments
    )


def _described(symbol: Symbol, members: SizeSet, within: SizeSet) -> Formula:
    if members is within:
        return AllOf(())
    members = members & within
    missing = within - members
    if not missing:
        return AllOf(())
    positive = _in_pieces(symbol, members, within)
    excluded = missing.first(3)
    if len(excluded) < 3 and len(excluded) < literal_count(positive):
        return all_of(different(symbol, value) for value in excluded)
    most = literal_count(positive)
    return _without_few(symbol, members, within, most) or _beside_few(symbol, members, within, most) or positive


def _in_pieces(symbol: Symbol, members: SizeSet, within: SizeSet) -> Formula:
    pieces = _pieces(members, within)
    shares = _shares(pieces, within)
    return any_of(_piece_formula(symbol, p, share, within) for p, share in zip(pieces, shares, strict=True) if share)


def _without_few(symbol: Symbol, members: SizeSet, within: SizeSet, most: int) -> Formula | None:
    """Return all sizes of a pattern but one or two, in fewer literals than ``most``; None if that is impossible."""
    last = members.segments[-1] if members else None
    if last is None or last.high is not None or last.low == 0:
        return None
    whole = normal_segments([Segment(0, None, last.pattern)]) & within
    excluded = (whole - members).first(3)
    if len(excluded) > 2 or not excluded or not members <= whole:
        return None
    formula = all_of([*(different(symbol, value) for value in excluded), _described(symbol, whole, within)])
    return formula if literal_count(formula) < most else None


def _beside_few(symbol: Symbol, members: SizeSet, within: SizeSet, most: int) -> Formula | None:
    """Return one or two sizes and a pattern from a bound on, in fewer literals than ``most``; None if impossible.

    The pattern is that of the largest sizes: 3, 4, 5, 7, 9, ... are 4 and the odd sizes from 3 on.
    """
    last = members.segments[-1] if members and most > _FEWEST else None
    if last is None or last.high is not None or last.low == 0:
        return None
    left_out = normal_segments([Segment(0, None, last.pattern)]) - members
    low = 0 if not left_out else None if left_out.greatest is None else left_out.greatest + 1
    if low is None or low >= last.low:
        return None
    tail = normal_segments([Segment(low, None, last.pattern)]) & within
    others = (members - tail).first(3)
    if len(others) > 2 or not others:
        return None
    # In pieces alone: described as a pattern without few sizes, the tail would be these members again, without end.
    formula = any_of([*(equal(symbol, value) for value in others), _in_pieces(symbol, tail, within)])
    return formula if literal_count(formula) < most else None


def shortest_set_formula(symbol: Symbol, members: SizeSet, within: SizeSet, stated: Sequence[Formula]) -> Formula:
    """Return `set_formula`, or the given constraints on the symbol if they are shorter.

    For sizes in ``within``, the ``stated`` ones together hold exactly for the members.
    """
    described = _described_shortly(symbol, members, within)
    readable = _READABLE if all(map(is_total, stated)) else _READABLE_DIVISORS
    if described is not None and literal_count(described) <= readable:
        return described
    spelled = [clause for formula in stated for clause in clauses(formula)]
    if sum(map(_words, spelled)) <= _REDUCED_UP_TO:
        with suppress(PeriodTooLongError, NotPeriodicError):
            spelled = _irredundant(spelled, within)
    short = sum(map(_words, spelled))
    return all_of(spelled) if described is None or short < literal_count(described) else described


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
        described = _described_shortly(symbol, solution_set(formula), ALL)
    except (PeriodTooLongError, NotPeriodicError):
        return formula
    return formula if described is None or literal_count(described) >= literal_count(formula) else described


# Fewer comparisons of one size are left as they are.
_GATHERED = 3


def _described_shortly(symbol: Symbol, members: SizeSet, within: SizeSet) -> Formula | None:
    """Return the description of a set; None if its patterns are too large for one."""
    described = _described_of_one_name(members, within)
    return None if described is None else with_dims(described, Substitution({ONE_NAME: symbol}, of_symbols=True).dim)


@remembered(1024)
def _described_of_one_name(members: SizeSet, within: SizeSet) -> Formula | None:
    if sum(len(n.branches) for s in members.segments for n in nodes_of_pattern(s.pattern)) > _BRANCHES:
        return None
    runs = _in_runs(members)
    try:
        formulas = [_described(ONE_NAME, form, within) for form in ([members] if runs == members else [members, runs])]
    except PeriodTooLongError:
        return None
    return min(formulas, key=literal_count)


def _in_runs(members: SizeSet) -> SizeSet:
    """Return the same set with short segments written as runs: 0 to 4 and 6 rather than the even ones, 1 and 3."""
    segments: list[Segment] = []
    for segment in members.segments:
        is_short = segment.high is not None and segment.high - segment.low <= _RUNS
        segments += SizeSet.of(segment.members()).segments if is_short else [segment]
    return normal_segments(segments)


# Patterns with more branches are not described.
_BRANCHES = 512
# Segments of more sizes are not written as runs.
_RUNS = 32
# Descriptions of at most this many comparisons are not compared with the given constraints.
_READABLE = 6
# The same where the constraints divide by the size: ``24 % A == 0`` has eight divisors.
_READABLE_DIVISORS = 4
_REDUCED_UP_TO = 128


def _words(formula: Formula) -> int:
    """Return the length of a formula: its number of comparisons; a join counts twice its members."""
    if isinstance(formula, (Compatible, Clashing)):
        return 2 * len(formula.dims)
    return sum(map(_words, formula.parts)) if isinstance(formula, (AllOf, AnyOf)) else 1


def _irredundant(stated: Sequence[Formula], within: SizeSet) -> list[Formula]:
    """Return the clauses without those that the others imply, and without parts that make no difference."""
    sets = {clause: solution_set(clause) for clause in stated}
    needed = dict.fromkeys(stated)

    def others(clause: Formula) -> SizeSet:
        return reduce(and_, (sets[other] for other in needed if other != clause), within)

    for clause in reversed(stated):
        if others(clause) <= sets[clause]:
            needed.pop(clause, None)
    for clause in list(needed):
        shorter = _shortened(clause, others(clause))
        if shorter != clause:
            needed = {shorter if c == clause else c: None for c in needed}
            sets[shorter] = solution_set(shorter)
    return list(needed)


def _shortened(clause: Formula, present: SizeSet) -> Formula:
    """Return the clause without the members or alternatives that it does not need among the sizes present."""
    if isinstance(clause, (Compatible, Clashing)):
        parts: tuple[Any, ...] = clause.dims
        make: Callable[[Iterable[Any]], Formula] = lambda dims: type(clause)(tuple(dims))  # noqa: E731
    elif isinstance(clause, AnyOf):
        parts, make = clause.parts, any_of
    else:
        return clause
    members = solution_set(clause) & present
    for part in reversed(parts):
        fewer = tuple(p for p in parts if p is not part)
        if len(fewer) > 1 and members.same(solution_set(make(fewer)) & present):
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
        remaining = SizeSet(remaining.segments[:-1]) if piece is last else remaining - normal_segments([piece])
    return pieces[::-1]


# This many equidistant runs of one length are written as residue classes and their ends.
_FEW_IN_A_ROW = 5


def _progressions(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Return the segments, with equidistant runs of one length merged into one segment."""
    merged: list[Segment] = []
    start = 0
    while start < len(segments):
        stop = _end_of_progression(segments, start)
        first, last = segments[start], segments[stop - 1]
        if stop - start >= _FEW_IN_A_ROW and first.high is not None:
            step = segments[start + 1].low - first.low
            mask = sum(1 << n % step for n in range(first.low, first.high + 1))
            merged.append(Segment(first.low, last.high, pattern_of_mask(step, mask)))
            start = stop
        else:
            merged.append(first)
            start += 1
    return tuple(merged)


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
    shares = [normal_segments([piece]) & within for piece in pieces]
    if all(a.high is not None and a.high < b.low for a, b in pairwise(pieces)):  # each ends before the next begins
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
    for prime in moduli_of(loosest.pattern):
        looser = Segment(loosest.low, loosest.high, pattern_projection(loosest.pattern, [prime]))
        loosest = _looser(loosest, looser, members, within)
    return loosest


def _looser(piece: Segment, looser: Segment, members: SizeSet, within: SizeSet) -> Segment:
    return looser if looser != piece and normal_segments([looser]) & within <= members else piece


def _piece_formula(symbol: Symbol, piece: Segment, share: SizeSet, within: SizeSet) -> Formula:
    few = share.first(_FEW)
    if len(few) < _FEW:
        bounds = _bounds(symbol, piece)
        is_spread = len(few) == 2 and few[0] + 1 < few[1] and literal_count(bounds) == 1
        if is_spread and normal_segments([Segment(piece.low, piece.high)]) & within <= normal_segments([piece]):
            return bounds
        return any_of(equal(symbol, value) for value in few)
    if piece.pattern is True:
        return _bounds(symbol, piece)
    present = SizeSet.interval(piece.low, piece.high) & within
    return all_of((_bounds(symbol, piece), residues_formula(piece.pattern, PatternContext(symbol, share, present))))


def _bounds(symbol: Symbol, piece: Segment) -> Formula:
    parts: list[Formula] = []
    if piece.low > 0:
        parts.append(at_most(piece.low, symbol))
    if piece.high is not None:
        parts.append(at_most(symbol, piece.high))
    return all_of(parts)
