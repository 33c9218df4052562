"""Residue patterns as short formulas: modulus by modulus, with runs of neighbouring residues."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.operations import modulo_terms
from symbcast.core.algebra.terms import constant, term
from symbcast.core.logic.formulas import AllOf, AnyOf, Formula, all_of, any_of, at_most, different, equal
from symbcast.core.solver.sets.congruences import (
    MAX_PERIOD,
    Node,
    Pattern,
    bits,
    inverse,
    mask_of,
    meet,
    moduli,
    nodes,
    of_mask,
    period_of,
    without,
)

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.solver.sets.size_sets import SizeSet

_SHORT = 256
"""Up to this period the residues of several moduli together are tried as words too."""
_SMALL = 64
"""Patterns of at most this many nodes are searched for pairs of independent moduli."""


class Context(NamedTuple):
    """The context of a pattern's formula: it holds in ``share`` and, in ``present``, only where the pattern does."""

    symbol: Symbol
    share: SizeSet
    present: SizeSet

    def remainder(self, period: int) -> Dim:
        """Return the symbol modulo a period."""
        return modulo_terms(term(self.symbol), constant(period)).dim()


def literal_count(formula: Formula) -> int:
    """Return the number of comparisons in a formula."""
    return sum(map(literal_count, formula.parts)) if isinstance(formula, (AllOf, AnyOf)) else 1


def residues_formula(pattern: Pattern, context: Context) -> Formula:
    """Return the shortest of some formulas for the residues of a pattern: as a whole, and modulus by modulus."""
    if not isinstance(pattern, Node):
        return all_of(()) if pattern else any_of(())
    period = period_of(pattern)
    factors = independent(pattern)
    alternatives = independent(inverse(pattern)) if len(factors) == 1 else ()
    whole = len(factors) == 1 and len(alternatives) == 1
    words: list[Formula] = []
    if period <= _SHORT or (whole and (period <= MAX_PERIOD or pattern.modulus == period)):
        words.append(_as_a_whole(pattern, period, context))
    elif period <= MAX_PERIOD and all(f.is_one_class for f in map(_Level, factors)):
        words.append(equal(context.remainder(period), mask_of(pattern, period).bit_length() - 1))
    if len(factors) > 1:
        words.append(all_of(residues_formula(factor, context) for factor in factors))
    elif len(alternatives) > 1:
        words.append(any_of(residues_formula(inverse(other), context) for other in alternatives))
    elif not words:
        words.append(_by_cases(pattern, context))
    return min(words, key=literal_count)


class _Level(NamedTuple):
    """A factor of a pattern."""

    pattern: Node

    @property
    def is_one_class(self) -> bool:
        """Whether it holds only one residue of one modulus."""
        if self.pattern.modulus != period_of(self.pattern):
            return False
        return sum(mask.bit_count() for mask, child in self.pattern.branches if child) == 1


def _by_cases(pattern: Node, context: Context) -> Formula:
    """Return the cases of one modulus, each with the formula of the other moduli in that case."""
    return any_of(
        all_of((residues_formula(of_mask(pattern.modulus, mask), context), residues_formula(child, context)))
        for mask, child in pattern.branches
        if child
    )


def by_cases(pattern: Pattern, context: Context) -> Formula:
    """Return the whole diagram as a formula, case by case, for a pattern too large for finding a shorter one."""
    if not isinstance(pattern, Node):
        return all_of(()) if pattern else any_of(())
    cases = ((of_mask(pattern.modulus, mask), child) for mask, child in pattern.branches if child)
    return any_of(
        all_of((_as_a_whole(own, period_of(own), context), by_cases(child, context)))
        for own, child in cases
        if isinstance(own, Node)
    )


@lru_cache(maxsize=1024)
def independent(pattern: Node) -> tuple[Node, ...]:
    """Return factors of different moduli whose conjunction is the pattern; only the pattern itself if it has none.

    >>> len(independent(meet(of_mask(6, 0b100110), of_mask(35, 0b10000))))
    3
    """
    found: list[Node] = []
    rest: Pattern = pattern
    for size in (1, 2) if sum(1 for _ in nodes(pattern)) <= _SMALL else (1,):
        for group in combinations(moduli(rest), size):
            present = moduli(rest)
            others = [prime for prime in present if prime not in group]
            if not others or not all(prime in present for prime in group):
                continue
            own, remaining = without(rest, others), without(rest, group)
            if isinstance(own, Node) and meet(own, remaining) == rest:
                found.append(own)
                rest = remaining
    if isinstance(rest, Node):
        found.append(rest)
    return tuple(sorted(found, key=lambda factor: factor.prime))


def _as_a_whole(pattern: Node, period: int, context: Context) -> Formula:
    """Return a formula that holds for the share's residues, and for no other residues that sizes have."""
    remainder = context.remainder(period)
    mask = mask_of(pattern, period)
    in_share, in_present = context.share.residues_of(period) & mask, context.present.residues_of(period)
    # Residues that no relevant size has need not be described.
    kept, lost = bits(in_share), bits(in_present & ~mask)
    if len(kept) == 1 and lost:
        return equal(remainder, kept[0])
    # A run could also describe residues of the piece that the share leaves to other pieces; those would then be
    # described twice, so runs are not used here.
    shared = mask & ~in_share & in_present
    listed = any_of(equal(remainder, r) for r in kept) if len(kept) <= len(lost) else None
    words = [listed or all_of(different(remainder, r) for r in lost)]
    if not shared:
        words.append(any_of(_run_formula(remainder, run, period) for run in _runs(kept, lost, period)))
        words.append(all_of(_no_run_formula(remainder, run, period) for run in _runs(lost, kept, period)))
    return min(words, key=literal_count)


class _Run(NamedTuple):
    """Neighbouring residues from ``low`` to ``high``; ``wanted`` are the relevant ones among them."""

    low: int
    high: int
    wanted: list[int]


def _runs(wanted: list[int], others: list[int], period: int) -> list[_Run]:
    """Return the longest runs of residues that contain some wanted ones and no excluded ones."""
    ends = [-1, *others, period]
    runs: list[_Run] = []
    position = 0
    for a, b in pairwise(ends):
        inside: list[int] = []
        while position < len(wanted) and wanted[position] < b:
            inside.append(wanted[position])
            position += 1
        if inside:
            runs.append(_Run(a + 1, b - 1, inside))
    return runs


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
