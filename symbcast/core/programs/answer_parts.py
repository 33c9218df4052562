"""An answer in parts, for large and for small sizes, if the one for all sizes is undecided or long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol, Self, TypeAlias

from symbcast.core import effort
from symbcast.core.algebra.formulas import AnyOf, Comparison, Compatible, Formula, all_of, at_most, dims_of, literals
from symbcast.core.algebra.symbols import SequenceSymbol, sequences_of
from symbcast.core.algebra.terms import Operation, Symbol, symbols_of
from symbcast.core.effort import CALL, CostedValue, Effort, EffortSpentError
from symbcast.core.programs.arguments import LONG_TEXT, Assumption, Assumptions, assumption_set, own_set
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import in_normal_form, symbols_in
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.points import Point, smallest_of
from symbcast.core.solver.residues import PeriodTooLongError
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple, Struct
from symbcast.core.text.notation import formula_text
from symbcast.core.verdicts import HasVerdict, Possible, Verdict, jointly_possible, possible
from symbcast.errors import AssumptionError, SymbcastError

# The answer for large sizes: those from some bounds on, where the rare cases of a program are decided one way.
#
# An axis of size 0, a window that does not fit, an end that is clipped, a join with 1: each ends at a small size. If
# the answer for all sizes is undecided or long, the one for sizes from there on can still be decided and short. It is
# exact there, and says nothing about smaller sizes.


# If the answer for large sizes is long too, it is at most this part of the one for all sizes.
_SHORTER = 4
# Bounds above this are not tried.
_LARGEST = 1 << 16
# With more bounds, none of them is tried to be left out.
_DROPPED = 4

Bounds: TypeAlias = "dict[Symbol, int]"


class DividedProgram(Protocol):
    """What is needed of a `Program`, which imports this file."""

    @property
    def decided_verdict(self) -> Verdict: ...
    @property
    def clauses(self) -> tuple[Formula, ...]: ...
    @property
    def unproven(self) -> tuple[Formula, ...]: ...
    @property
    def shown(self) -> Mapping[Symbol, str]: ...
    @property
    def assumptions(self) -> Sequence[Assumption]: ...
    @property
    def evidence_reason(self) -> str: ...

    min_size: int
    budget: float | None

    def fork(self) -> Self: ...
    def assume(self, *assumptions: Assumptions) -> None: ...
    def witness(self) -> dict[str, int] | None: ...
    def counterexample(self) -> dict[str, int] | None: ...
    def symbol_sizes(self, sizes: Mapping[str, int]) -> Mapping[Symbol, int]: ...


AnswerUnder: TypeAlias = Callable[[Sequence[Assumption]], DividedProgram]
"""Returns a program whose answer holds under assumptions."""


class LargeSizes(NamedTuple):
    """The answer of a program for sizes from some bounds on.

    Attributes:
        least: the bound of each size that has one.
        program: the program under them; its verdict and clauses are about such sizes only.
    """

    least: Bounds
    program: DividedProgram

    @property
    def bounds(self) -> tuple[Comparison, ...]:
        """The bounds, as comparisons."""
        return _stated(self.least)

    @property
    def where(self) -> str:
        """The sizes that the answer is about, in words."""
        return formula_text(all_of(self.bounds), self.program.shown)


def large_sizes(program: DividedProgram, ask: AnswerUnder | None = None) -> LargeSizes | None:
    """Return the answer for large sizes, if that for all sizes is undecided or long, and this one is not.

    ``ask`` returns the program under assumptions, if it cannot take them itself. The search counts as a call of its
    own: it depends on no other question.
    """
    length = len(text_of(program))
    if program.decided_verdict is not Verdict.UNKNOWN and not program.unproven and length <= LONG_TEXT:
        return None
    search = _BoundsSearch(
        ask or (lambda assumptions: _under(program, assumptions)), max(LONG_TEXT, length // _SHORTER)
    )
    order = list(program.shown)
    with effort.counting(Effort(CALL, is_call=True)):
        for candidate in _candidates(program.clauses):
            # Axes of unknown number have no names here, so that nothing can be assumed of them.
            least = {size: candidate[size] for size in order if size in candidate}
            large = search.under(least) if least else None
            if large is not None:
                return search.with_fewest(large)
    return None


def _under(program: DividedProgram, assumptions: Sequence[Assumption]) -> DividedProgram:
    branch = program.fork()
    branch.assume(assumptions)
    return branch


def _stated(least: Bounds) -> tuple[Comparison, ...]:
    return tuple(at_most(low, size) for size, low in least.items())


class _BoundsSearch(NamedTuple):
    """A search for bounds: how the program is asked under them, and the most characters of its condition there."""

    ask: AnswerUnder
    most: int

    def under(self, least: Bounds) -> LargeSizes | None:
        """Return the answer under bounds; None if it is undecided, long, or that no sizes work."""
        try:
            large = LargeSizes(least, self.ask([Assumption(f) for f in _stated(least)]))
        except SymbcastError:  # no sizes are that large
            return None
        # Not `verdict`: that would look for the parts of this program in turn, without end.
        if large.program.decided_verdict in (Verdict.NEVER, Verdict.UNKNOWN):
            return None
        return large if len(text_of(large.program)) <= self.most else None

    def with_fewest(self, large: LargeSizes) -> LargeSizes:
        """Return the same answer under fewer bounds, if it holds there too."""
        conjuncts = set(large.program.clauses)
        for size in list(large.least) if 1 < len(large.least) <= _DROPPED else ():
            fewer = {s: low for s, low in large.least.items() if s != size}
            again = self.under(fewer) if fewer else None
            if again is not None and set(again.program.clauses) == conjuncts:
                large = again
        return large


def text_of(program: DividedProgram) -> str:
    """Return the condition of a program as text."""
    return formula_text(all_of(program.clauses), program.shown)


def _candidates(clauses: Sequence[Formula]) -> Iterator[Bounds]:
    """Yield bounds from which on the operations in clauses are decided; and then those of single comparisons too."""
    dims = [d for c in clauses for d in dims_of(c) if not isinstance(d, int)]
    operations = dict.fromkeys(o for d in dims for o in d.all_operations())
    first = _greatest(starts for o in operations for starts in _decided_from(o))
    if first:
        yield first
    cases = (part for c in clauses if isinstance(c, (AnyOf, Compatible)) for part in _single(c))
    both = _greatest([*first.items(), *cases])
    if both != first:
        yield both


def _greatest(bounds: Iterable[tuple[Symbol, int]]) -> Bounds:
    greatest: Bounds = {}
    for size, low in bounds:
        if 0 < low <= _LARGEST:
            greatest[size] = max(low, greatest.get(size, 0))
    return greatest


def _decided_from(operation: Operation) -> Iterator[tuple[Symbol, int]]:
    """Yield the size from which on a quotient is not 0, or the same member of a min or max is the extreme one."""
    if operation.kind == "//" and operation.args[1].is_constant:
        yield from _starts(at_most(1, operation.dim()))
    elif operation.kind in ("min", "max"):
        for position, member in enumerate(operation.args):
            for other in operation.args[position + 1 :]:
                yield from _starts(at_most(member.dim(), other.dim()))


def _single(clause: Formula) -> Iterator[tuple[Symbol, int]]:
    """Yield the size from which on each alternative about one size holds or fails."""
    if isinstance(clause, Compatible):
        yield from ((size, 2) for size in symbols_of(clause.dims))
    for part in literals(clause):
        if isinstance(part, Comparison):
            yield from _starts(part)
        elif part is not clause:
            yield from (start for inner in getattr(part, "parts", ()) for start in _single(inner))


def _starts(formula: Formula) -> Iterator[tuple[Symbol, int]]:
    """Yield the only size of a formula, and from which on the formula holds at all sizes or at none."""
    formula = in_normal_form(formula)
    symbols = list(symbols_in(formula))
    if len(symbols) != 1 or isinstance(symbols[0], SequenceSymbol):
        return
    try:
        segments = solution_set(formula).segments
    except (NotPeriodicError, PeriodTooLongError):
        return
    if segments and segments[-1].high is not None:
        yield symbols[0], segments[-1].high + 1
    elif segments and segments[-1].pattern is True:
        yield symbols[0], segments[-1].low


# The answers for small sizes, next to the one for large sizes.
#
# Sizes below the bounds are divided into bands, each decided by itself: first all sizes below a bound, then parts of
# them as long as the answer is undecided or long, in the end single values. Bands with one answer are put together.


# Units of effort for all bands, and for one.
_EFFORT = 3_000_000
_BAND = 400_000
# A band whose condition has more characters is divided.
_SHORT = 80


class SmallCase(Struct, HasVerdict):
    """The answer for some of the small sizes.

    Attributes:
        where: the sizes that it is about.
        clauses: the conjuncts of the condition there.
        decisions: what the answer rests on, one for each band; all have one verdict and the same clauses.
    """

    where: Formula
    clauses: tuple[Formula, ...]
    decisions: tuple[Decision, ...]

    @staticmethod
    def of(region: Iterable[Formula], decision: Decision) -> SmallCase:
        """Return the answer for a region that was decided in one piece."""
        return SmallCase(all_of(region), tuple(decision.clauses), (decision,))

    @property
    def _possible(self) -> Possible:
        return possible(self.decisions[0].verdict)

    def witness(self) -> Point | None:
        """Return the smallest of these sizes that work."""
        return smallest_of(self.decisions[0].assumptions.symbols, (d.witness() for d in self.decisions))

    def counterexample(self) -> Point | None:
        """Return the smallest of these sizes that do not work."""
        return smallest_of(self.decisions[0].assumptions.symbols, (d.counterexample() for d in self.decisions))


class SmallSizes(NamedTuple):
    """The answers for small sizes; ``unanalysed`` are the sizes for which effort did not suffice."""

    cases: tuple[SmallCase, ...]
    unanalysed: tuple[Formula, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all small sizes are analysed."""
        return not self.unanalysed


class PartQuestion(NamedTuple):
    """Requirements of a program, which are exact, over its sizes and under its assumptions."""

    clauses: Sequence[Formula]
    symbols: tuple[Symbol, ...]
    assumptions: Sequence[Assumption]
    min_size: int

    def domain(self, size: Symbol) -> SizeSet:
        """Return the set of values that assumptions about a size alone allow."""
        known = assumption_set(self.symbols, self.assumptions, self.min_size)
        return known.domains.get(size) or own_set(size, self.min_size)

    def decided(self, region: Iterable[Formula]) -> Decision | None:
        """Return the decision about the sizes in a region; None if it has no sizes."""
        try:
            known = assumption_set(self.symbols, [*self.assumptions, *map(Assumption, region)], self.min_size)
        except AssumptionError:
            return None
        return Decision(known, self.clauses)


def small_sizes(subject: PartQuestion, least: Mapping[Symbol, int]) -> SmallSizes:
    """Return the answers for all sizes of which one is below its bound. The search counts as a call of its own."""
    if sequences_of(subject.symbols):
        return SmallSizes((), tuple(at_most(size, low - 1) for size, low in least.items()))
    search = _BandSearch(subject, list(least.items()), [], [])
    with effort.counting(Effort(_EFFORT, is_call=True)):
        search.divide((), 0, is_large=True)
    return SmallSizes(tuple(search.cases), tuple(search.unanalysed))


class _Band(NamedTuple):
    """Consecutive values of one size, and what was decided about them."""

    low: int
    high: int
    case: SmallCase

    @property
    def length(self) -> int:
        """The length of its condition as text."""
        return len(formula_text(all_of(self.case.clauses)))


class _RegionAnswer(NamedTuple):
    """The decision about a region, if there is one; none is needed if the region has no sizes."""

    decision: Decision | None
    is_decided: bool


class _BandSearch(NamedTuple):
    """A search for the answers below bounds; ``cases`` and ``unanalysed`` are what it found so far."""

    subject: PartQuestion
    bounds: Sequence[tuple[Symbol, int]]
    cases: list[SmallCase]
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
        decision, is_decided = self._decided(region)
        if decision is not None:
            self.cases.append(SmallCase.of(region, decision))
        elif not is_decided:
            self.unanalysed.append(all_of(region))

    def _bands(self, region: tuple[Formula, ...], position: int, low: int, high: int) -> list[_Band]:
        """Return what was decided about the values of a size from one to another."""
        size = self.bounds[position][0]
        here = (set_formula(size, SizeSet.interval(low, high), self.subject.domain(size)),)
        decision, is_decided = self._decided((*region, *here))
        if decision is None and is_decided:
            return []
        band = None if decision is None else _Band(low, high, SmallCase.of((*region, *here), decision))
        # A long answer for a band may only list its values: divided, each part can be short.
        if band is not None and (low == high or band.length <= _SHORT):
            return [band]
        if effort.is_spent():
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
            if effort.is_spent() and band is None:
                size = self.bounds[position][0]
                left = set_formula(size, SizeSet.interval(first, high), self.subject.domain(size))
                self.unanalysed.append(all_of((left, *region)))
                break
            parts += self._bands(region, position, first, after - 1)
        if band is None:
            return parts
        is_whole = counts == (len(self.cases), len(self.unanalysed))
        if is_whole and sum({b.case.clauses: b.length for b in parts}.values()) < band.length:
            return parts
        # The parts are no shorter: the band stands, and what dividing it added is taken back.
        del self.cases[counts[0] :], self.unanalysed[counts[1] :]
        return [band]

    def _decided(self, region: Iterable[Formula]) -> _RegionAnswer:
        """Return what is decided about a region within its share of effort."""
        if not effort.is_spent():
            try:
                with effort.budget_share(_BAND):
                    decision = self.subject.decided(region)
                    if decision is None or _is_decided(decision):
                        return _RegionAnswer(decision, is_decided=True)
            except EffortSpentError:
                pass
        return _RegionAnswer(None, is_decided=False)


def _is_decided(decision: Decision) -> bool:
    """Return whether the answer about a region is decided, and its clauses; the share of effort covers both."""
    if decision.verdict is Verdict.UNKNOWN:
        return False
    _ = decision.clauses
    return (
        # Assumptions that tie sizes may leave none here: then NEVER is said of no sizes, and needs a point.
        decision.verdict is not Verdict.NEVER
        or not decision.assumptions.others
        or decision.counterexample() is not None
    )


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


def _together(
    size: Symbol, region: tuple[Formula, ...], bands: Sequence[_Band], domain: SizeSet
) -> Iterator[SmallCase]:
    """Yield one case for all bands with the same answer."""
    alike: dict[tuple[Verdict, tuple[Formula, ...]], list[_Band]] = {}
    for band in bands:
        alike.setdefault((band.case.verdict, band.case.clauses), []).append(band)
    for (_, clauses), same in alike.items():
        members = SizeSet.union([SizeSet.interval(b.low, b.high) for b in same])
        where = all_of((set_formula(size, members, domain), *region))
        yield SmallCase(where, clauses, tuple(d for b in same for d in b.case.decisions))


# An answer in parts: that for sizes from some bounds on, and those for smaller sizes.
#
#     H*W % ((H//2)*(W//2 + 1 - min(W//2, 1))) == 0 and ...     the clauses of a program
#         large_sizes   H >= 2 and W >= 2                       bounds, and the program under them as assumptions
#         small_sizes   H == 1, H >= 2 and W == 1               bands below the bounds, each decided by itself
#         Parts         the verdict, the evidence and the reason of all of them together
#
# No two parts are about the same sizes. What effort did not suffice for is named, and leaves the verdict unknown.


class AnswerParts(HasVerdict):
    """What is known about a program part by part. ``large`` is the answer for sizes from some bounds on."""

    def __init__(self, program: DividedProgram, large: LargeSizes) -> None:
        self._program = program
        self.large = large
        self._small: CostedValue[SmallSizes] | None = None

    @property
    def small(self) -> SmallSizes:
        """The answers for smaller sizes, as far as effort sufficed."""
        program = self._program
        subject = PartQuestion(program.clauses, tuple(program.shown), program.assumptions, program.min_size)
        with effort.within_optional(program.budget):
            small, self._small = effort.compute_once(self._small, lambda: small_sizes(subject, self.large.least))
        return small

    @property
    def _possible(self) -> Possible:
        left = [] if self.small.is_complete else [Verdict.UNKNOWN]
        cases = (case.verdict for case in self.small.cases)
        return jointly_possible([self.large.program.decided_verdict, *cases, *left])

    def reason(self, why: str) -> str:
        """Return what was not analysed, and why; empty if everything was."""
        if self.small.is_complete:
            return ""
        left = ", ".join(formula_text(where, self._program.shown) for where in self.small.unanalysed)
        smaller = f"exact, but not analysed for {left}" if self.small.cases else "not analysed"
        return f"for {self.large.where}: exact; smaller sizes: {smaller}, because {why}"

    @property
    def evidence_reason(self) -> str:
        """Why the smallest sizes that were found may not be the smallest."""
        if self.small.is_complete:
            return self.large.program.evidence_reason
        return "not all smaller sizes were analysed" if self.small.cases else "smaller sizes were not analysed"

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes that work."""
        return self._smallest(self.large.program.witness(), lambda case: case.witness())

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes that do not work."""
        return self._smallest(self.large.program.counterexample(), lambda case: case.counterexample())

    def _smallest(
        self, large: dict[str, int] | None, of_case: Callable[[SmallCase], Point | None]
    ) -> dict[str, int] | None:
        shown = self._program.shown
        points = [dict(self.large.program.symbol_sizes(large))] if large else []
        smallest = smallest_of(tuple(shown), [*points, *map(of_case, self.small.cases)])
        return None if smallest is None else {name: smallest[s] for s, name in shown.items()}


def answer_parts(program: DividedProgram, ask: AnswerUnder | None = None) -> AnswerParts | None:
    """Return the answer in parts, if that for all sizes is undecided or long, and that for large sizes is not."""
    large = large_sizes(program, ask)
    return None if large is None else AnswerParts(program, large)
