"""One account of what is known: what every answer's verdict, texts, guards, contracts and data derive from.

An answer adopts it by returning an `Account` from its ``account``:

- ``works`` is a formula for sizes that are *proved* to work, `FALSE` if nothing is proved; ``needed`` is a proved
  requirement, `TRUE` if none is known: wherever it does not hold, the answer fails. ``works`` implies ``needed``; the
  sizes between the two are open, and ``needed`` is never weaker than what was proved. If everything is decided, the
  two are the same formula.
- ``open`` has a reason for each thing that was not analysed, with the sizes concerned. What was followed on one branch,
  or what a rule left without a note, must not be in ``works``.
- ``working`` and ``failing`` are points: sizes by name at which the answer was proved, or observed in a real call, to
  work or to fail. They decide SOMETIMES whatever is open. `sample_points` tries cheap candidates.
- ``can_work`` and ``can_fail`` say whether any sizes work or fail, if that is proved: False for "none do".

The rest derives from it: `Account.verdict` and `Account.at`, and in `symbcast.answers` the texts, the guards, which
raise `UndecidedError` at open sizes, contracts, which rest on ``works`` alone, exit statuses, and ``account`` in JSON.
All formulas are about sizes that the assumptions allow; they do not repeat the assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, dims_of, equal, negate, with_values
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import Effort, EffortSpentError, charge, counting, current_budget
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.points import Point
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import AnswerLike, HasVerdict, Possible, Verdict, possible, verdict_of

if TYPE_CHECKING:
    from symbcast.core.solver.decision import AssumptionSet, Decision

# Points found without a solver: if it gives up, two of them still prove "sometimes". The candidates are the same under
# other names and in another order: all sizes alike, then one size unlike the others.


# Units of effort for all samples of a question, whatever was asked before; a tenth of them within a budget.
SAMPLES = 300_000
# Units for evaluating a formula, and each of its terms.
_EVALUATED = 6
_ALIKE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 0)
_UNLIKE = (2, 3, 0, 8)


class SamplePoints(NamedTuple):
    """Sizes at which all constraints hold, and sizes at which one does not; None for those that were not found."""

    working: Point | None = None
    failing: Point | None = None


_NO_POINTS = SamplePoints()


def samples_of(decision: Decision) -> SamplePoints:
    """Return samples of a decision: the smallest points that the solver found, otherwise cheap candidates."""
    known = SamplePoints(decision.witness(), decision.counterexample())
    return sample_points(decision.assumptions, decision.constraints, known, partial(_breaking, decision.assumptions))


def _breaking(assumptions: AssumptionSet, constraint: Formula) -> Point | None:
    from symbcast.core.solver.decision import Decision

    alone = Decision(assumptions, [constraint])
    return alone.counterexample() if alone.violable else None


def sample_points(
    assumptions: AssumptionSet,
    constraints: Sequence[Formula],
    known: SamplePoints = _NO_POINTS,
    breaking: Callable[[Formula], Point | None] | None = None,
) -> SamplePoints:
    """Return samples of some constraints under assumptions, those in ``known`` if they are confirmed.

    ``breaking`` returns sizes at which a single constraint fails, if it finds some; it is the last resort.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import equal
    >>> from symbcast.core.solver.decision import AssumptionSet
    >>> N, M = symbol("N"), symbol("M")
    >>> sample_points(AssumptionSet.of_names([N, M]), [equal(N, M)])
    SamplePoints(working={N: 1, M: 1}, failing={N: 2, M: 1})
    """
    search = _Search(assumptions, constraints)
    with counting(Effort(SAMPLES if current_budget() is None else SAMPLES // 10)):
        try:
            for point in known:
                search.try_at(point)
            search.run(breaking)
        except EffortSpentError:
            pass  # what was found so far stands
    return SamplePoints(search.working, search.failing)


class _Search:
    """A search for both kinds of points."""

    def __init__(self, assumptions: AssumptionSet, constraints: Sequence[Formula]) -> None:
        self._assumptions = assumptions
        self._constraints = list(dict.fromkeys(constraints))
        self._units: dict[Formula, int] = {}
        self.working: Point | None = None
        self.failing: Point | None = None

    def run(self, breaking: Callable[[Formula], Point | None] | None) -> None:
        """Try all candidates until there are points of both kinds."""
        for point in self._candidates():
            if self.working is not None and self.failing is not None:
                return
            self.try_at(point)
        if breaking is None:
            return
        for constraint in list(self._constraints):
            if self.failing is None:
                self.try_at(breaking(constraint))

    def try_at(self, point: Point | None) -> None:
        """Keep a point if it is one of sizes that the assumptions allow, and the first of its kind."""
        if point is None or not self._is_allowed(point):
            return
        broken = next((n for n, c in enumerate(self._constraints) if not self._holds(c, point)), None)
        if broken is None:
            self.working = point if self.working is None else self.working
        else:
            self.failing = point if self.failing is None else self.failing
            # The next point most likely breaks the same constraint.
            self._constraints.insert(0, self._constraints.pop(broken))

    def _is_allowed(self, point: Point) -> bool:
        assumptions = self._assumptions
        charge(len(assumptions.domains))
        inside = all(point[s] in members for s, members in assumptions.domains.items())
        return inside and all(self._holds(f, point) for f in assumptions.others)

    def _holds(self, formula: Formula, point: Point) -> bool:
        if formula not in self._units:
            self._units[formula] = _EVALUATED * (1 + sum(1 for _ in dims_of(formula)))
        charge(self._units[formula])
        return holds_at(formula, point)

    def _candidates(self) -> Iterator[Point]:
        domains = self._assumptions.domains
        for size in _ALIKE:
            yield self._whole({s: _near(members, size) for s, members in domains.items()})
        base = {s: _near(members, 1) for s, members in domains.items()}
        for symbol, members in domains.items():
            for size in _UNLIKE:
                yield self._whole({**base, symbol: _near(members, size)})

    def _whole(self, sizes: Mapping[Symbol, int]) -> Point:
        """Return sizes with those of the symbols that are known to equal others."""
        assumptions = self._assumptions
        values = {s: v if isinstance(v, int) else sizes[v] for s, v in assumptions.values.items()}  # type: ignore[index]
        return {s: sizes[s] if s in sizes else values[s] for s in assumptions.symbols}


def _near(members: SizeSet, size: int) -> int:
    """Return the least member from a size on, or the greatest one."""
    least = members.least(size)
    return least if least is not None else (members.greatest or 0)


Sizes: TypeAlias = "Mapping[str, int]"
"""Sizes by name; a sequence of axes has a tuple of sizes."""


class OpenPart(NamedTuple):
    """Something that was not decided, and why.

    Attributes:
        reason: why it is open, in words, with the place if there is one.
        where: the sizes concerned: `TRUE` for all that ``needed`` allows. `FALSE` says that each size is decided alone,
            by evaluating the condition, but not whether all or any sizes work.
    """

    reason: str
    where: Formula = TRUE


class _AccountParts(NamedTuple):
    # A named tuple has no other base: `Account` adds what derives from the parts.
    works: Formula
    needed: Formula
    open: tuple[OpenPart, ...] = ()
    working: tuple[Sizes, ...] = ()
    failing: tuple[Sizes, ...] = ()
    can_work: bool | None = None
    can_fail: bool | None = None
    observed: Formula | None = None


class Account(_AccountParts, HasVerdict):
    """What is known about an answer; see the module for how the parts relate.

    >>> from symbcast.core.text import parse_formula
    >>> open_part = OpenPart("the operator 'Mystery' has no rule")
    >>> known = Account(FALSE, parse_formula("K == M"), (open_part,), can_fail=True)
    >>> known.verdict, known._replace(working=({"K": 1, "M": 1},)).verdict
    (<Verdict.UNKNOWN: 'unknown'>, <Verdict.SOMETIMES: 'sometimes'>)
    """

    __slots__ = ()

    @property
    def _possible(self) -> Possible:
        can_fail = True if self.failing else self.can_fail
        # ALWAYS takes that nothing is open. NEVER takes a proof that no sizes meet ``needed``: open parts do not matter
        # then, because each requirement alone makes the answer fail.
        if self.open and can_fail is False:
            can_fail = None
        return True if self.working else self.can_work, can_fail

    @property
    def verdict(self) -> Verdict:
        """Whether it works for all sizes, some or none; observed if only real calls say so; or unknown."""
        verdict = verdict_of(*self._possible)
        if self.observed is None or verdict in {Verdict.ALWAYS, Verdict.NEVER}:
            return verdict
        is_proved = (self.works, self.needed) != (FALSE, TRUE)
        return verdict if verdict is Verdict.SOMETIMES and is_proved else Verdict.OBSERVED

    @property
    def fails(self) -> Formula:
        """The sizes that are proved to fail."""
        return negate(with_values(self.needed))

    @property
    def is_open(self) -> bool:
        """Whether some sizes are neither proved to work nor proved to fail, as far as the formulas show."""
        return self.works != self.needed

    @property
    def open_sizes(self) -> Formula:
        """The sizes that are neither proved to work nor proved to fail; points known to work or fail may be in it."""
        return all_of((self.needed, negate(with_values(self.works)))) if self.is_open else FALSE

    @property
    def reason(self) -> str:
        """Why something is open; empty if nothing is."""
        return next((part.reason for part in self.open), "")

    def with_points(self, names: Mapping[Symbol, str]) -> Formula:
        """Return the sizes known to work: those proved, and the points, for symbols with these names."""
        if not self.is_open:
            return self.works
        return any_of((self.works, *(_is_at(names, point) for point in self.working)))

    def may_work(self, names: Mapping[Symbol, str]) -> Formula:
        """Return the sizes not known to fail: those that ``needed`` allows, without the points known to fail."""
        if not self.is_open:
            return self.needed
        points = (_is_at(names, p) for p in self.failing if _meets(self.needed, names, p))
        return all_of((self.needed, *map(negate, points)))

    def at(self, sizes: Mapping[Symbol, int], names: Mapping[Symbol, str]) -> bool | None:
        """Return whether the answer works at some sizes that the assumptions allow; None if that is open."""
        if holds_at(self.with_points(names), sizes):
            return True
        return None if self.is_open and holds_at(self.may_work(names), sizes) else False


class DecidesEachSize(AnswerLike, Protocol):
    """A broadcast or a program: its clauses decide each size."""

    @property
    def clauses(self) -> Sequence[Formula]: ...
    @property
    def reason(self) -> str: ...


def exact_account(answer: DecidesEachSize, verdict: Verdict) -> Account:
    """Return the account of an answer whose condition decides each size, though perhaps not whether all or any work.

    ``verdict`` is as far as that was decided.
    """
    # The points are asked for first: what is cut short for want of effort depends on the order.
    working, failing = distinct_points([answer.witness()]), distinct_points([answer.counterexample()])
    condition = all_of(answer.clauses)
    # The reason is asked for last: an answer that runs out of the caller's time says so only then.
    reason = answer.reason if verdict is Verdict.UNKNOWN else ""
    account = Account(condition, condition, (), working, failing, *possible(verdict))
    return account if account.verdict is not Verdict.UNKNOWN else account._replace(open=(OpenPart(reason, FALSE),))


def sampled_verdict(decision: Decision) -> Verdict:
    """Return the verdict on constraints that the solver left undecided, if two points show it."""
    working, failing = samples_of(decision)
    return verdict_of(working is not None or None, failing is not None or None)


def _is_at(names: Mapping[Symbol, str], point: Sizes) -> Formula:
    return all_of(equal(s, point[name]) for s, name in names.items() if name in point and isinstance(point[name], int))


def _meets(needed: Formula, names: Mapping[Symbol, str], point: Sizes) -> bool:
    """Return whether a point, which has no sequences of axes, is one that the requirement allows."""
    sizes = {s: point[name] for s, name in names.items() if isinstance(point.get(name), int)}
    return len(sizes) == len(names) and holds_at(needed, sizes)


def distinct_points(points: Sequence[Sizes | None]) -> tuple[Sizes, ...]:
    """Return the points that are known, each once."""
    unlike = {tuple(p.items()): p for p in points if p is not None}
    return tuple(unlike.values())
