"""Alternatives for consecutive values of a size that ask for one more each time: a loop unrolled for each length.

``N == 2 and M > 1 or N == 3 and M > 2 or N == 4 and M > 3`` is ``2 <= N <= 4 and M > N - 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula, all_of, any_of, with_dims
from symbcast.core.solver.groups.normal_form import normal, symbols_in
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.sets.size_sets import SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_STEPS = 3
"""Fewer alternatives are as short as they are."""


class _Step(NamedTuple):
    """One value of a size, and its requirement, in which all integers are counted from that value on."""

    size: Symbol
    value: int
    rest: Formula


def without_staircases(formula: Formula) -> Formula:
    """Return an equivalent formula with one alternative for those that differ by a size's value and as much elsewhere.

    >>> from symbcast.core.text import parse_formula
    >>> from symbcast.core.text.printing import formula_text
    >>> text = "(N == 2 and M > 1) or N == 1 or (N == 3 and M > 2) or (N == 4 and M > 3)"
    >>> formula_text(without_staircases(parse_formula(text)))
    '(N >= 2 and N <= 4 and N - 1 < M) or N == 1'
    """
    match formula:
        case AllOf(parts):
            return all_of(map(without_staircases, parts))
        case AnyOf(parts):
            return any_of(_merged(parts))
    return formula


def _merged(parts: tuple[Formula, ...]) -> Iterator[Formula]:
    steps = {part: step for part in parts if (step := _step(part)) is not None}
    alike: dict[tuple[Symbol, Formula], list[int]] = {}
    for step in steps.values():
        alike.setdefault((step.size, step.rest), []).append(step.value)
    for part in parts:
        step = steps.get(part)
        values = alike.get((step.size, step.rest), []) if step is not None else []
        if step is None or len(values) < _STEPS:
            yield part
        elif step.value == values[0]:
            yield all_of((describe(step.size, SizeSet.of(values)), normal(step.rest)))


def _step(part: Formula) -> _Step | None:
    """Return an alternative as a step, if it gives the value of one size and compares others with integers."""
    if not isinstance(part, AllOf):
        return None
    fixed = [(n, found) for n, p in enumerate(part.parts) if (found := _value(p)) is not None]
    for position, (size, value) in fixed:
        rest = all_of(p for n, p in enumerate(part.parts) if n != position)
        if size not in symbols_in(rest):
            return _Step(size, value, with_dims(rest, partial(_counted, size, value)))
    return None


def _counted(size: Symbol, value: int, dim: Dim) -> Dim:
    return add(size, dim - value) if isinstance(dim, int) else dim


def _value(formula: Formula) -> tuple[Symbol, int] | None:
    match formula:
        case Comparison("==", Symbol() as size, int(value)) | Comparison("==", int(value), Symbol() as size):
            return size, value
    return None
