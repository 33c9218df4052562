"""How to make requests fit: padding or cropping a size to one that works, and the waste that this costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symbcast.answers.contracts.search.space import decision_in, set_of
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import FALSE, Formula, at_most
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.congruences import divisors
from symbcast.core.solver.sets.size_sets import ALL, EMPTY, MAX_PERIOD, SizeSet
from symbcast.core.solver.sets.univariate import narrow

if TYPE_CHECKING:
    from symbcast.answers.contracts.checks.failures import Failure, Ranges
    from symbcast.answers.contracts.question import Question
    from symbcast.core.algebra.symbols import Symbol

_MOST_SIZES = 1 << 14


@dataclass(frozen=True)
class Advice:
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


def advice_for(question: Question, ranges: Ranges) -> Iterator[Advice]:
    """Yield how to pad and crop each size that clauses about it alone refuse at some sizes of its range."""
    for s, sizes in ranges.items():
        valid = _valid(question, s)
        if not valid or set_of(sizes) <= valid or len(sizes) > _MOST_SIZES:
            continue
        charge(len(sizes))
        name = question.names[s]
        yield from _padding(name, sizes, valid)
        yield from _cropping(name, sizes, valid)


def _valid(question: Question, symbol: Symbol) -> SizeSet | None:
    """Return the sizes that all clauses about one symbol allow; None if sets of sizes do not express one of them."""
    found: SizeSet | None = ALL
    for clause, _ in question.clauses:
        if clause == FALSE:
            return EMPTY
        if found is not None and list(symbols_in(clause)) == [symbol]:
            found = narrow(found, clause)
    return found


def _padding(name: str, sizes: range, valid: SizeSet) -> Iterator[Advice]:
    step = _first(valid, [(n, -(-sizes[0] // n) * n, -(-sizes[-1] // n) * n) for n in _steps(valid)])
    if step is not None:
        yield Advice(f"pad {name} up to a multiple of {step}", _added(sizes, [-(-n // step) * step for n in sizes]))
    padded = _next_each(sizes, valid)
    if padded is not None and (step is None or sum(padded) < sum(-(-n // step) * step for n in sizes)):
        yield Advice(f"pad {name} up to the next size that works", _added(sizes, padded))


def _next_each(sizes: range, valid: SizeSet) -> list[int] | None:
    """Return the least valid size that is not below each size; None if one has none."""
    found: list[int] = []
    for n in reversed(sizes):
        if n in valid:
            found.append(n)
        elif found and sizes.step == 1:
            found.append(found[-1])
        else:
            above = valid.least(n)
            if above is None:
                return None
            found.append(above)
    return found[::-1]


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


def _cropping(name: str, sizes: range, valid: SizeSet) -> Iterator[Advice]:
    cropped: list[int] = []
    for n in sizes:
        if n in valid:
            cropped.append(n)
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
        yield Advice(f"crop {name} to at most {max(cropped)}, or split it", lost)
    elif step is not None:
        yield Advice(f"crop {name} down to a multiple of {step}", 1 - sum(n // step * step for n in sizes) / sum(sizes))
    else:
        yield Advice(f"crop {name} down to the next size that works", lost)


def _added(sizes: range, padded: list[int]) -> float:
    return sum(padded) / sum(sizes) - 1 if sum(sizes) else 0.0


def larger_sizes(question: Question, failure: Failure, ranges: Ranges) -> Advice | None:
    """Return the smallest sizes that work and are not below those of a failure, where a clause ties several sizes."""
    if failure.sizes is None:
        return None
    sizes = failure.sizes
    symbols = {name: s for s, name in question.names.items()}
    whole = {s: range(0, max(r[-1], sizes[question.names[s]]) + 1) for s, r in ranges.items()}
    least: list[Formula] = [at_most(n, symbols[name]) for name, n in sizes.items()]
    decision = decision_in(whole, [question.formula, *least])
    found = None if decision is None or decision.impossible else decision.witness()
    if found is None:
        return None
    raised = [
        f"{name} from {n} to {found[symbols[name]]}" for name, n in sizes.items() if found.get(symbols[name], n) > n
    ]
    return Advice(f"pad {' and '.join(raised)}, for example", None) if raised else None
