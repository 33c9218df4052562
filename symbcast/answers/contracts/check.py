"""Whether every size in some ranges works: where it fails first, and how to make requests fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from symbcast.answers.contracts.proof import inside_boxes
from symbcast.answers.contracts.question import ContractQuestion, range_text
from symbcast.answers.contracts.search.space import decision_in, set_of
from symbcast.core.algebra.formulas import FALSE, Formula, all_of, any_of, at_most, equal, negate
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.effort import EffortSpentError, budget_share, charge, one_call
from symbcast.core.solver.evaluation import predicate, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.f3_linear.z3_solver import some_point
from symbcast.core.solver.points import GivenUpError
from symbcast.core.solver.residues import MAX_PERIOD, divisors
from symbcast.core.solver.size_sets import ALL, EMPTY, SizeSet
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.contracts.search.largest import BestBoxes

    Ranges: TypeAlias = Mapping[Symbol, range]


# Sizes in some ranges at which a condition fails: the smallest for each clause, with the operation behind it.


# Up to this many boxes, the smallest sizes outside them are sought.
_FEW = 8


@dataclass(frozen=True)
class ContractFailure:
    """Sizes that are left out, and why.

    Attributes:
        sizes: The smallest such sizes; None if they were not found within the limits.
        clause: The clause that fails there, as text; empty if the sizes work but the form cannot include them.
        node: The operation at which a run with these sizes stops, or the line of code; empty if it is an assumption or
            unknown.
        reason: A sentence.
        requirement: What this operation requires by itself, as text: the clause, or less where later ones require more.
        origin: The first operation that requires the whole clause; empty if that is unknown.
    """

    sizes: dict[str, int] | None
    clause: str
    node: str
    reason: str
    requirement: str = ""
    origin: str = ""

    def __str__(self) -> str:
        return self.reason


def failures_in(question: ContractQuestion, ranges: Ranges) -> tuple[list[ContractFailure], str]:
    """Return a failure for each clause that some sizes in the ranges violate, and why that is open, if it is."""
    failures, why = [], ""
    for clause, text in question.required:
        decision = decision_in(ranges, [negate(clause)])
        if decision is None or decision.impossible:
            continue
        sizes = decision.witness()
        if decision.satisfiable is None and sizes is None:
            why = why or decision.reason
            continue
        failures.append(_failure(question, ranges, sizes, clause, text))
    return failures, why


def undecided_in(question: ContractQuestion, ranges: Ranges) -> ContractFailure | None:
    """Return sizes in the ranges that are neither proved to work nor proved to fail; None if there are none."""
    if question.partial is None:
        return None
    decision = decision_in(ranges, [question.partial.undecided])
    if decision is None or decision.impossible:
        return None
    sizes = decision.witness()
    at = None if sizes is None else _all(question, ranges, sizes, question.partial.undecided)
    shown = "" if at is None else f" at {_shown(at, question.partial.undecided, question) or 'all sizes'}"
    return ContractFailure(at, "", "", f"open{shown}: {question.partial.reason}")


def _failure(
    question: ContractQuestion, ranges: Ranges, sizes: Mapping[Symbol, int] | None, clause: Formula, text: str
) -> ContractFailure:
    at = None if sizes is None else _all(question, ranges, sizes, clause)
    origin = question.origin(clause)
    stop = None if at is None else question.stop(at)
    node, requirement = (origin, text) if stop is None else stop
    if clause == FALSE:
        return ContractFailure(
            at, text, node, f"no sizes satisfy the condition{f' ({node})' if node else ''}", requirement, origin
        )
    about = "" if at is None else f" at {_shown(at, clause, question)}"
    reason = f"{text} fails{about}{f' ({node})' if node else ''}"
    if origin and origin != node:
        reason = f"{text} ({origin}) fails{about}: a run stops at {node}"
    return ContractFailure(at, text, node, reason, requirement, origin)


def _shown(sizes: Mapping[str, int], clause: Formula, question: ContractQuestion) -> str:
    return ", ".join(f"{name}={sizes[name]}" for name in [question.names[s] for s in symbols_in(clause)])


def _all(question: ContractQuestion, ranges: Ranges, sizes: Mapping[Symbol, int], clause: Formula) -> dict[str, int]:
    """Return sizes of all names: the others are such that, if possible, no other clause fails."""
    others = [c for c, _ in question.clauses if c != clause]
    fixed = {**ranges, **{s: range(n, n + 1) for s, n in sizes.items()}}
    decision = decision_in(fixed, others)
    rest = decision.witness() if decision is not None and not decision.impossible else None
    point = {**{s: r[0] for s, r in fixed.items()}, **(rest or {})}
    return {name: point[s] for s, name in question.names.items()}


def smallest_left(question: ContractQuestion, ranges: Ranges, best: BestBoxes) -> ContractFailure | None:
    """Return the smallest sizes in the ranges that work and are in no box; None if there are none."""
    relations = [equal(s, expression) for s, expression in best.derived.items()]
    outside = negate(all_of([any_of(map(inside_boxes, best.boxes)), *relations]))
    if len(best.boxes) > _FEW:
        sizes = _some_left(question, ranges, outside)
    else:
        decision = decision_in(ranges, [question.formula, outside])
        sizes = None if decision is None or decision.impossible else decision.witness()
    if sizes is None:
        return None
    point = {**{s: r[0] for s, r in ranges.items()}, **sizes}
    at = {name: point[s] for s, name in question.names.items()}
    free = [name for s, name in question.names.items() if len(ranges[s]) > 1]
    shown = ", ".join(f"{name}={at[name]}" for name in free)
    return ContractFailure(at, "", "", f"other sizes work too, such as {shown}, but the form does not express them")


def _some_left(question: ContractQuestion, ranges: Ranges, outside: Formula) -> Mapping[Symbol, int] | None:
    """Return any sizes that work and are in no box: the smallest take a second for a hundred boxes."""
    try:
        return some_point(tuple(ranges), [inside_boxes(ranges), question.formula, outside])
    except GivenUpError:
        return None


def ends_work(question: ContractQuestion, ranges: Ranges) -> bool:
    """Return whether all least sizes together work, and all greatest ones: what a profile's ends show."""
    holds = predicate(all_of([question.formula]), tuple(ranges))
    return all(holds(*(r[end] for r in ranges.values())) for end in (0, -1))


# How to make requests fit: padding or cropping a size to one that works, and the waste that this costs.


_MOST_SIZES = 1 << 14


@dataclass(frozen=True)
class FittingAdvice:
    """One way to make requests fit.

    Attributes:
        text: What to do, such as ``"pad H up to a multiple of 32"``.
        waste: The added part of the work, or the lost part of the data, if all sizes of the range are equally likely:
            0.1 for a tenth. None if it depends on several sizes.
    """

    text: str
    waste: float | None

    def __str__(self) -> str:
        if self.waste is None:
            return self.text
        return f"{self.text}: {self.waste:.1%} {'lost' if self.text.startswith('crop') else 'added'}"


def advice_for(question: ContractQuestion, ranges: Ranges) -> Iterator[FittingAdvice]:
    """Yield how to pad and crop each size that clauses about it alone refuse at some sizes of its range."""
    for s, sizes in ranges.items():
        valid = _valid(question, s)
        if not valid or set_of(sizes) <= valid or len(sizes) > _MOST_SIZES:
            continue
        charge(len(sizes))
        name = question.names[s]
        yield from _padding(name, sizes, valid)
        yield from _cropping(name, sizes, valid)


def _valid(question: ContractQuestion, symbol: Symbol) -> SizeSet | None:
    """Return the sizes that all clauses about one symbol allow; None if sets of sizes do not express one of them."""
    members: SizeSet | None = ALL
    for clause, _ in question.clauses:
        if clause == FALSE:
            return EMPTY
        if members is not None and list(symbols_in(clause)) == [symbol]:
            members = narrowed_set(members, clause)
    return members


def _padding(name: str, sizes: range, valid: SizeSet) -> Iterator[FittingAdvice]:
    step = _first(valid, [(n, -(-sizes[0] // n) * n, -(-sizes[-1] // n) * n) for n in _steps(valid)])
    if step is not None:
        yield FittingAdvice(
            f"pad {name} up to a multiple of {step}", _added(sizes, [-(-n // step) * step for n in sizes])
        )
    padded = _next_each(sizes, valid)
    if padded is not None and (step is None or sum(padded) < sum(-(-n // step) * step for n in sizes)):
        yield FittingAdvice(f"pad {name} up to the next size that works", _added(sizes, padded))


def _next_each(sizes: range, valid: SizeSet) -> list[int] | None:
    """Return the least valid size that is not below each size; None if one has none."""
    ends: list[int] = []
    for n in reversed(sizes):
        if n in valid:
            ends.append(n)
        # No size from n on is valid before the one above n + 1; with a step, a size between may be.
        elif ends and sizes.step == 1:
            ends.append(ends[-1])
        else:
            above = valid.least(n)
            if above is None:
                return None
            ends.append(above)
    return ends[::-1]


def _first(valid: SizeSet, spans: Iterable[tuple[int, int, int]]) -> int | None:
    """Return the first step whose sizes from a least to a greatest one all work; None if there is none."""
    for step, low, high in spans:
        charge(1)
        if set_of(range(low, high + 1, step)) <= valid:
            return step
    return None


def _steps(valid: SizeSet) -> list[int]:
    """Return the steps to consider: the divisors of the period with which valid sizes repeat."""
    period = valid.segments[-1].period if valid else 1
    return divisors(period)[1:] if period <= MAX_PERIOD else []


def _cropping(name: str, sizes: range, valid: SizeSet) -> Iterator[FittingAdvice]:
    cropped: list[int] = []
    for n in sizes:
        if n in valid:
            cropped.append(n)
        # As for padding, downwards.
        elif cropped and sizes.step == 1:
            cropped.append(cropped[-1])
        else:
            below = (valid & SizeSet.interval(1, n)).greatest
            if below is None:
                return
            cropped.append(below)
    lost = 1 - sum(cropped) / sum(sizes) if sum(sizes) else 0.0
    step = _first(valid, [(n, sizes[0] // n * n, sizes[-1] // n * n) for n in _steps(valid) if n <= sizes[0]])
    if max(cropped) < sizes[-1] and all(n in valid for n in sizes if n <= max(cropped)):
        yield FittingAdvice(f"crop {name} to at most {max(cropped)}, or split it", lost)
    elif step is not None:
        yield FittingAdvice(
            f"crop {name} down to a multiple of {step}", 1 - sum(n // step * step for n in sizes) / sum(sizes)
        )
    else:
        yield FittingAdvice(f"crop {name} down to the next size that works", lost)


def _added(sizes: range, padded: list[int]) -> float:
    return sum(padded) / sum(sizes) - 1 if sum(sizes) else 0.0


def larger_sizes(question: ContractQuestion, failure: ContractFailure, ranges: Ranges) -> FittingAdvice | None:
    """Return the smallest sizes that work and are not below those of a failure, where a clause ties several sizes."""
    if failure.sizes is None:
        return None
    sizes = failure.sizes
    symbols = {name: s for s, name in question.names.items()}
    whole = {s: range(0, max(r[-1], sizes[question.names[s]]) + 1) for s, r in ranges.items()}
    least: list[Formula] = [at_most(n, symbols[name]) for name, n in sizes.items()]
    decision = decision_in(whole, [question.formula, *least])
    point = None if decision is None or decision.impossible else decision.witness()
    if point is None:
        return None
    raised = [
        f"{name} from {n} to {point[symbols[name]]}" for name, n in sizes.items() if point.get(symbols[name], n) > n
    ]
    return FittingAdvice(f"pad {' and '.join(raised)}, for example", None) if raised else None


# Units of effort for advice.
_ADVISED = 300_000


class Check:
    """The answer to whether every size in some ranges works.

    Attributes:
        ranges: The ranges by the names of all sizes.
        verdict: ALWAYS if every size works, SOMETIMES, NEVER, or UNKNOWN: then `reason` says why.
        failures: A failure for each clause that some sizes violate, with the smallest such sizes.
        ends_work: Whether the least sizes and the greatest ones work: a test of a profile's ends finds no failure.
    """

    def __init__(self, question: ContractQuestion, ranges: Ranges) -> None:
        self._question = question
        self._ranges = ranges
        self.ranges = {name: ranges[s] for s, name in question.names.items()}
        self.failures: tuple[ContractFailure, ...] = ()
        data = f"data must meet {' and '.join(question.data)}" if question.data else ""
        self.reason = question.open or data
        if question.hidden:
            self.reason = "the condition is about sizes without a name"
        else:
            failures, why = failures_in(question, ranges)
            undecided = undecided_in(question, ranges)
            self.failures = tuple(failures)
            self.reason = self.reason or why or ("" if undecided is None else undecided.reason)
        self.ends_work = not question.hidden and ends_work(question, ranges)
        self.verdict = self._verdict()

    def _verdict(self) -> Verdict:
        if not self.failures:
            if self._question.data and not self._question.open:
                return Verdict.SOMETIMES
            return Verdict.UNKNOWN if self.reason else Verdict.ALWAYS
        decision = decision_in(self._ranges, [self._question.formula])
        if decision is None or decision.impossible:
            return Verdict.NEVER
        return Verdict.SOMETIMES if decision.satisfiable and not self._question.open else Verdict.UNKNOWN

    @property
    def counterexample(self) -> dict[str, int] | None:
        """The smallest failing sizes that were found: those of the first failure with the least sum."""
        known = [f.sizes for f in self.failures if f.sizes is not None]
        return min(known, key=lambda sizes: sum(sizes.values()), default=None)

    @cached_property
    def advice(self) -> tuple[FittingAdvice, ...]:
        """How to pad or crop, each with the waste if all sizes of the range are equally likely."""
        return self._advice()

    @one_call
    def _advice(self) -> tuple[FittingAdvice, ...]:
        if self._question.hidden or not self.failures:
            return ()
        advised: list[FittingAdvice] = []
        try:
            with budget_share(_ADVISED):
                advised.extend(advice_for(self._question, self._ranges))
                for failure in self._tied():
                    advice = larger_sizes(self._question, failure, self._ranges)
                    advised.extend(() if advice is None else (advice,))
        except EffortSpentError:
            pass  # advice is not part of the answer
        return tuple(dict.fromkeys(advised))

    def _tied(self) -> Sequence[ContractFailure]:
        """Return the failures of clauses about several sizes."""
        several = {text for clause, text in self._question.clauses if len(symbols_in(clause)) > 1}
        return [failure for failure in self.failures if failure.clause in several]

    def explain(self) -> str:
        """Return the answer in words."""
        ranges = ", ".join(f"{name}={range_text(sizes)}" for name, sizes in self.ranges.items())
        lines = [f"{ranges}: {_WORDS[self.verdict]}"]
        if self.failures and self.ends_work:
            lines.append("the least and the greatest sizes work: the failures are between them")
        lines += [f"fails        {failure}" for failure in self.failures]
        at = self.counterexample
        if at is not None and len(at) > 1:
            lines.append(f"smallest     {sizes_text(at)}")
        lines += [f"fix          {advice}" for advice in self.advice]
        if self.reason:
            lines.append(f"open         {self.reason}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Check: {self.verdict.value}, {len(self.failures)} failure{'s' * (len(self.failures) != 1)}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("a check has no truth value: compare its .verdict")


_WORDS = {
    Verdict.ALWAYS: "every size works",
    Verdict.SOMETIMES: "some sizes fail",
    Verdict.NEVER: "every size fails",
    Verdict.UNKNOWN: "unknown",
}
