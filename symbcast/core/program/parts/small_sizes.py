"""The answers for small sizes, next to the one for large sizes: see `symbcast.core.program.parts.parts`.

Sizes below the bounds are divided into bands, each decided by itself: first all sizes below a bound, then parts of
them as long as the answer is undecided or long, in the end single values. Bands with one answer are put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.sequences import sequences_of
from symbcast.core.effort import Effort, EffortSpentError, counting, is_spent
from symbcast.core.logic.formulas import Formula, all_of, at_most
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.program.sizes.premises import knowledge, own_set
from symbcast.core.solver.budget import share
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.smallest import Point, smallest
from symbcast.core.text.printing import formula_text
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_EFFORT = 3_000_000
"""Units of effort for all bands, and for one."""
_BAND = 400_000
_SHORT = 80
"""A band whose condition has more characters is divided."""


class Case(NamedTuple):
    """The answer for some of the small sizes.

    Attributes:
        where: the sizes that it is about.
        verdict: whether these work always, sometimes or never.
        clauses: the conjuncts of the condition there.
        decisions: what the answer rests on, one for each band.
    """

    where: Formula
    verdict: Verdict
    clauses: tuple[Formula, ...]
    decisions: tuple[Decision, ...]

    def witness(self) -> Point | None:
        """Return the smallest of these sizes that work."""
        return smallest(self.decisions[0].knowledge.symbols, (d.witness() for d in self.decisions))

    def counterexample(self) -> Point | None:
        """Return the smallest of these sizes that do not work."""
        return smallest(self.decisions[0].knowledge.symbols, (d.counterexample() for d in self.decisions))


class Small(NamedTuple):
    """The answers for small sizes; ``unanalysed`` are the sizes for which effort did not suffice."""

    cases: tuple[Case, ...]
    unanalysed: tuple[Formula, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all small sizes are analysed."""
        return not self.unanalysed


class Subject(NamedTuple):
    """Requirements of a program, which are exact, over its sizes and under its assumptions."""

    clauses: Sequence[Formula]
    symbols: tuple[Symbol, ...]
    assumptions: Sequence[Assumption]
    min_size: int

    def domain(self, size: Symbol) -> SizeSet:
        """Return the set of values that assumptions about a size alone allow."""
        known = knowledge(self.symbols, self.assumptions, self.min_size)
        return known.domains.get(size) or own_set(size, self.min_size)

    def decided(self, region: Iterable[Formula]) -> Decision | None:
        """Return the decision about the sizes in a region; None if it has no sizes."""
        try:
            known = knowledge(self.symbols, [*self.assumptions, *map(Assumption, region)], self.min_size)
        except AssumptionError:
            return None
        return Decision(known, self.clauses)


def small_sizes(subject: Subject, least: Mapping[Symbol, int]) -> Small:
    """Return the answers for all sizes of which one is below its bound. The search counts as a call of its own."""
    if sequences_of(subject.symbols):
        return nothing_analysed(least)
    search = _Search(subject, list(least.items()), [], [])
    with counting(Effort(_EFFORT, is_call=True)):
        search.divide((), 0, is_large=True)
    return Small(tuple(search.cases), tuple(search.unanalysed))


def nothing_analysed(least: Mapping[Symbol, int]) -> Small:
    """Return that nothing is known about sizes below bounds."""
    return Small((), tuple(at_most(size, low - 1) for size, low in least.items()))


class _Band(NamedTuple):
    """Consecutive values of one size, and what was decided about them."""

    low: int
    high: int
    decision: Decision
    verdict: Verdict
    clauses: tuple[Formula, ...]

    @property
    def length(self) -> int:
        """The length of its condition as text."""
        return len(formula_text(all_of(self.clauses)))


class _Asked(NamedTuple):
    """The decision about a region, if there is one; none is needed if the region has no sizes."""

    decision: Decision | None
    is_decided: bool


class _Search(NamedTuple):
    """A search for the answers below bounds; ``cases`` and ``unanalysed`` are what it found so far."""

    subject: Subject
    bounds: Sequence[tuple[Symbol, int]]
    cases: list[Case]
    unanalysed: list[Formula]

    def divide(self, region: tuple[Formula, ...], position: int, *, is_large: bool) -> None:
        """Answer for a region, divided by the sizes from a position on.

        ``is_large`` says that its sizes from all bounds on are those of the answer for large sizes.
        """
        if position == len(self.bounds):
            if not is_large:
                self._whole(region)
            return
        size, low = self.bounds[position]
        first = self.subject.domain(size).least() or 0
        bands = self._bands(region, position, first, low - 1) if first < low else []
        self.cases.extend(_together(size, region, bands, self.subject.domain(size)))
        self.divide((*region, at_most(low, size)), position + 1, is_large=is_large)

    def _whole(self, region: tuple[Formula, ...]) -> None:
        """Answer for a region in one piece."""
        found, is_decided = self._asked(region)
        if found is not None:
            self.cases.append(Case(all_of(region), found.verdict, tuple(found.clauses), (found,)))
        elif not is_decided:
            self.unanalysed.append(all_of(region))

    def _bands(self, region: tuple[Formula, ...], position: int, low: int, high: int) -> list[_Band]:
        """Return what was decided about the values of a size from one to another."""
        size = self.bounds[position][0]
        here = (describe(size, SizeSet.interval(low, high), self.subject.domain(size)),)
        found, is_decided = self._asked((*region, *here))
        if found is None and is_decided:
            return []
        band = None if found is None else _Band(low, high, found, found.verdict, tuple(found.clauses))
        if band is not None and (low == high or band.length <= _SHORT):
            return [band]
        if is_spent():
            if band is None:
                self.unanalysed.append(all_of((*region, *here)))
            return [band] if band else []
        if low == high:
            self._divided_further((*region, *here), position + 1)
            return []
        return self._divided(region, position, low, high, band)

    def _divided_further(self, region: tuple[Formula, ...], position: int) -> None:
        """Answer for one value of a size, by bands of the next one."""
        if position == len(self.bounds):
            self.unanalysed.append(all_of(region))
        else:
            self.divide(region, position, is_large=False)

    def _divided(
        self, region: tuple[Formula, ...], position: int, low: int, high: int, band: _Band | None
    ) -> list[_Band]:
        """Return what was decided about parts of a band; the whole, if its condition is not longer than theirs."""
        counts = len(self.cases), len(self.unanalysed)
        starts = [low, *_middles(low, high)]
        parts: list[_Band] = []
        for first, after in pairwise([*starts, high + 1]):
            if is_spent() and band is None:
                size = self.bounds[position][0]
                left = describe(size, SizeSet.interval(first, high), self.subject.domain(size))
                self.unanalysed.append(all_of((left, *region)))
                break
            parts += self._bands(region, position, first, after - 1)
        if band is None:
            return parts
        is_whole = counts == (len(self.cases), len(self.unanalysed))
        if is_whole and sum({b.clauses: b.length for b in parts}.values()) < band.length:
            return parts
        del self.cases[counts[0] :], self.unanalysed[counts[1] :]
        return [band]

    def _asked(self, region: Iterable[Formula]) -> _Asked:
        """Return what is decided about a region within its share of effort."""
        if not is_spent():
            try:
                with share(_BAND):
                    found = self.subject.decided(region)
                    if found is None or _is_decided(found):
                        return _Asked(found, is_decided=True)
            except EffortSpentError:
                pass
        return _Asked(None, is_decided=False)


def _is_decided(found: Decision) -> bool:
    """Return whether the answer about a region is decided, and its clauses; the share of effort covers both.

    If none of its sizes work, it must have some.
    """
    if found.verdict is Verdict.UNKNOWN:
        return False
    _ = found.clauses
    return found.verdict is not Verdict.NEVER or not found.knowledge.others or found.counterexample() is not None


def _middles(low: int, high: int) -> list[int]:
    """Return where a band is divided: from 0 or 1 on at all powers of 2, otherwise at its roundest number.

    >>> _middles(0, 31), _middles(16, 31)
    ([1, 2, 4, 8, 16], [24])
    """
    if low <= 1:
        return [1 << n for n in range(high.bit_length()) if 1 << n > low]
    power = 1
    while -(-(low + 1) // (2 * power)) * 2 * power <= high:
        power *= 2
    return [-(-(low + 1) // power) * power]


def _together(size: Symbol, region: tuple[Formula, ...], bands: Sequence[_Band], domain: SizeSet) -> Iterator[Case]:
    """Yield one case for all bands with the same answer."""
    alike: dict[tuple[Verdict, tuple[Formula, ...]], list[_Band]] = {}
    for band in bands:
        alike.setdefault((band.verdict, band.clauses), []).append(band)
    for (verdict, clauses), same in alike.items():
        members = SizeSet.union([SizeSet.interval(b.low, b.high) for b in same])
        yield Case(
            all_of((describe(size, members, domain), *region)), verdict, clauses, tuple(b.decision for b in same)
        )
