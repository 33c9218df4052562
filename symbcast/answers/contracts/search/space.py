"""The space of a search: the wanted sizes that clauses about one size leave, and the groups of sizes that others tie.

Sizes in different groups are independent, so the largest box is the product of the largest boxes of the groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symbcast.answers.contracts.search.masks import mask_within
from symbcast.core.logic.formulas import FALSE, Formula
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.groups.normal_form import flattened, put_in, symbols_in
from symbcast.core.solver.groups.set_products import split
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import narrow

if TYPE_CHECKING:
    from symbcast.answers.contracts.wanted import Wanted
    from symbcast.core.algebra.symbols import Symbol


@dataclass(frozen=True)
class Axis:
    """The sizes left for one symbol: bit k of ``mask`` is the size ``low + k``."""

    low: int
    mask: int
    typical: int = 0

    @property
    def high(self) -> int:
        """The greatest size left."""
        return self.low + self.mask.bit_length() - 1

    @property
    def is_whole(self) -> bool:
        """Whether every size between the least and the greatest is left."""
        return not self.mask & (self.mask + 1)

    def sizes(self, position: int, length: int, step: int = 1) -> range:
        """Return the range of the sizes at some positions."""
        first = self.low + position
        return range(first, first + (length - 1) * step + 1, step)


@dataclass
class Group:
    """Symbols that formulas tie together; ``clauses`` are those about several of them, or beyond the sets of sizes."""

    axes: dict[Symbol, Axis]
    clauses: list[Formula] = field(default_factory=list)


@dataclass
class Space:
    """The groups in the order of the question. ``is_empty``: a clause leaves no wanted sizes."""

    groups: list[Group]
    is_empty: bool = False


def space_of(formula: Formula, wanted: Wanted) -> Space:
    """Return the wanted sizes at which a formula may hold."""
    domains = {s: set_of(sizes) for s, sizes in wanted.ranges.items()}
    tied = _narrowed(formula, domains)
    if tied is None or not all(domains.values()):
        return Space([], is_empty=True)
    axes = {s: _axis(domains[s], wanted.ranges[s], wanted.typical.get(s, ())) for s in domains}
    return Space([Group({s: axes[s] for s in symbols}, clauses) for symbols, clauses in _tied(axes, tied)])


def set_of(sizes: range) -> SizeSet:
    """Return a range as a set of sizes."""
    found = SizeSet.interval(sizes[0], sizes[-1])
    return found if sizes.step == 1 else found & SizeSet.residues(sizes.step, [sizes[0]])


def decision_in(ranges: Mapping[Symbol, range], formulas: Sequence[Formula]) -> Decision | None:
    """Return the decision on formulas for sizes in ranges; None if they contradict the ranges at once."""
    symbols = tuple(dict.fromkeys(s for s in ranges if any(s in symbols_in(f) for f in formulas)))
    try:
        knowledge = Knowledge(symbols, {s: set_of(ranges[s]) for s in symbols}, [])
    except ContradictionError:
        return None
    return Decision(knowledge, formulas)


def _axis(sizes: SizeSet, wanted: range, typical: Iterable[int]) -> Axis:
    low = sizes.least()
    assert low is not None
    mask = mask_within(sizes, low, wanted[-1])
    return Axis(low, mask, sum(1 << (n - low) for n in typical if n >= low) & mask)


def _narrowed(formula: Formula, domains: dict[Symbol, SizeSet]) -> list[Formula] | None:
    """Narrow the domains by the clauses about one size each; return the others, None if a clause is false."""
    pending, known = flattened([formula]), 0
    while True:
        tied = []
        for clause in pending:
            if clause == FALSE:
                return None
            if not _narrows(clause, domains):
                tied.append(clause)
        fixed = {s: size for s, sizes in domains.items() if (size := sizes.only) is not None}
        if len(fixed) == known:
            return tied
        known = len(fixed)
        pending = flattened(put_in(clause, fixed) for clause in tied)


def _narrows(clause: Formula, domains: dict[Symbol, SizeSet]) -> bool:
    """Narrow the domains by a clause if sets of sizes can express it."""
    symbols = symbols_in(clause)
    if len(symbols) == 1:
        (symbol,) = symbols
        narrowed = narrow(domains[symbol], clause)
        if narrowed is not None:
            domains[symbol] = narrowed
        return narrowed is not None
    sets = split(clause, domains)
    for symbol, sizes in (sets or {}).items():
        domains[symbol] = domains[symbol] & sizes
    return sets is not None


def _tied(axes: Mapping[Symbol, Axis], clauses: Iterable[Formula]) -> list[tuple[list[Symbol], list[Formula]]]:
    """Return the symbols in groups, each with its clauses."""
    group_of = {s: {s} for s in axes}
    given = list(clauses)
    for clause in given:
        whole = set().union(*(group_of[s] for s in symbols_in(clause)))
        group_of.update(dict.fromkeys(whole, whole))
    groups = {id(group_of[s]): group_of[s] for s in axes}
    return [
        ([s for s in axes if s in group], [c for c in given if group.issuperset(symbols_in(c))])
        for group in groups.values()
    ]
