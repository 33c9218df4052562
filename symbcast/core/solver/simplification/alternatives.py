"""Alternatives: where two formulas differ, and steps that differ by a size's value made one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import add
from symbcast.core.algebra.formulas import FALSE, TRUE, AllOf, AnyOf, Comparison, Formula, all_of, any_of, with_dims
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import DECIDED, Stage, budget_stage
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import (
    in_normal_form,
    normal_conjuncts,
    replace_in_formula,
    standard_names,
    symbols_in,
)
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.groups import FormulaGroup, formula_groups
from symbcast.core.solver.points import point_cost
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.verdicts import HasVerdict, Possible, Verdict, is_any

_StandardQuestion: TypeAlias = tuple[tuple[Symbol, ...], tuple[SizeSet, ...], tuple[Formula, ...], tuple[Formula, ...]]


# Sizes at which all of some formulas and at least one of some alternatives hold, decided without a disjunction.
#
# An alternative is decided together with the formulas about sizes tied to its own: all other formulas are about other
# sizes, so the choice of alternative does not affect them. Groups of sizes that differ only in names, as the axes of
# shapes often do, are one question.


class OneOf(HasVerdict):
    """The sizes at which ``common`` holds, as decided by ``base``, and at least one of the alternatives.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import different, equal
    >>> a, b, c = map(symbol, "abc")
    >>> common, known = [equal(a, b)], AssumptionSet([a, b, c], {}, ())
    >>> found = OneOf(Decision(known, common), common, [different(a, b), different(c, 1)])
    >>> found.verdict, found.witness()
    (<Verdict.SOMETIMES: 'sometimes'>, {a: 1, b: 1, c: 2})
    """

    def __init__(self, base: Decision, common: Iterable[Formula], alternatives: Iterable[Formula]) -> None:
        known = base.assumptions
        normal = [in_normal_form(replace_in_formula(a, known.values)) for a in alternatives]
        self._base = base
        self._is_free = TRUE in normal
        left = [] if self._is_free or base.impossible else [a for a in normal if a != FALSE]
        formulas = normal_conjuncts(replace_in_formula(c, known.values) for c in common) if left else []
        if FALSE in formulas:  # the base did not find this out because effort ran out
            left, formulas = [], []
        self._groups = [
            [_Question(known.domains, group, a) for a in (*group.alternatives, any_of(group.alternatives))]
            for group in formula_groups(known.domains, formulas, known.others, left)
            if group.alternatives
        ]

    @property
    def is_empty(self) -> bool | None:
        """Whether no such sizes exist; None if undecided."""
        base = self._base.satisfiable
        is_possible = base if self._is_free else is_any(a.decision.satisfiable for a in self._alternatives())
        if base is False or is_possible is False:
            return True
        return False if base and is_possible else None

    @property
    def _possible(self) -> Possible:
        is_empty = self.is_empty
        if is_empty is not False:
            return (False, True) if is_empty else (None, None)
        return True, is_any(self._failures())

    def _failures(self) -> Iterator[bool | None]:
        """Yield whether the formulas that always hold can fail, and whether all alternatives can."""
        yield self._base.violable
        if self._is_free:
            return
        # One of several alternatives about independent sizes always holds if and only if this is true within one group.
        verdicts = {group[-1].decision.verdict for group in self._groups}
        if Verdict.ALWAYS not in verdicts:
            yield None if Verdict.UNKNOWN in verdicts else True

    @property
    def reason(self) -> str:
        """Why something was not decided."""
        reasons = (self._base.reason, *(a.reason for a in self._alternatives()))
        return next(filter(None, reasons), "")

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest such sizes as `Decision.witness` orders them; None if none were found."""
        least = self._base.witness()
        if least is None or self._is_free:
            return least
        points = [self._base.whole([least, sizes]) for a in self._alternatives() if (sizes := a.witness()) is not None]
        ones = dict.fromkeys(least, 1)
        return min(filter(None, points), key=lambda sizes: point_cost(tuple(sizes), sizes, ones), default=None)

    def _alternatives(self) -> Iterator[_Question]:
        return (a for group in self._groups for a in group[:-1])


class _Question:
    """A formula, together with the other formulas about the sizes of its group."""

    def __init__(self, domains: Mapping[Symbol, SizeSet], group: FormulaGroup, formula: Formula) -> None:
        self._sets = tuple(domains[s] for s in group.symbols)
        self._group = group
        self._formulas = (*group.formulas, formula)

    @property
    def reason(self) -> str:
        """Why something was not decided, in the symbol names of the question."""
        return _decided(self._group.symbols, self._sets, self._group.others, self._formulas).reason

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes of the group."""
        sizes = self.decision.witness()
        return None if sizes is None else {s: sizes[standard] for s, standard in self._names.items()}

    @property
    def decision(self) -> Decision:
        """The decision on the same question about standard names."""
        return _stage(*self._standard_question)()

    @cached_property
    def _names(self) -> dict[Symbol, Symbol]:
        return standard_names(self._group.symbols)

    @cached_property
    def _standard_question(self) -> _StandardQuestion:
        names = self._names
        others, formulas = (
            tuple(replace_in_formula(f, names) for f in each) for each in (self._group.others, self._formulas)
        )
        return tuple(names.values()), self._sets, others, formulas


def _decided(
    symbols: Sequence[Symbol], sets: Sequence[SizeSet], others: Sequence[Formula], formulas: Sequence[Formula]
) -> Decision:
    return Decision(AssumptionSet(symbols, dict(zip(symbols, sets, strict=True)), others), formulas)


@lru_cache(maxsize=1024)
def _stage(
    symbols: tuple[Symbol, ...], sets: tuple[SizeSet, ...], others: tuple[Formula, ...], formulas: tuple[Formula, ...]
) -> Stage[Decision]:
    def decided() -> Decision:
        return _decided(symbols, sets, others, formulas)

    return budget_stage(2 * DECIDED, decided, decided)


# Alternatives for consecutive values of a size that ask for one more each time: a loop unrolled for each length.
#
# ``N == 2 and M > 1 or N == 3 and M > 2 or N == 4 and M > 3`` is ``2 <= N <= 4 and M > N - 1``.


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
            yield all_of((set_formula(step.size, SizeSet.of(values)), in_normal_form(step.rest)))


def _step(part: Formula) -> _Step | None:
    """Return an alternative as a step, if it gives the value of one size and compares others with integers."""
    if not isinstance(part, AllOf):
        return None
    fixed = [(n, pair) for n, p in enumerate(part.parts) if (pair := _value(p)) is not None]
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
