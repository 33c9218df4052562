"""The cases of a broadcast, or of a program: in each, all output sizes and all stretched axes are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

from symbcast.algebra.symbols import Unknown, symbol
from symbcast.characters import sizes_text
from symbcast.errors import BindingError, ShapeTypeError
from symbcast.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, equal
from symbcast.program.call import Call
from symbcast.program.given import check_all_given, read_sizes, unknown_name
from symbcast.program.limits import check_limit
from symbcast.program.premises import knowledge
from symbcast.program.program import Program
from symbcast.program.statement import Statement
from symbcast.questions.choices import Column
from symbcast.questions.layouts import Broadcast, Layout, broadcast_of, joins_in
from symbcast.questions.partition import Partition, Parts
from symbcast.solver.compiler import predicate
from symbcast.solver.knowledge import Knowledge
from symbcast.solver.normal_form import put_in, symbols_in
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.program.given import Sizes
    from symbcast.shapes import Shape

MOST = 10_000
"""So many cases are told at most, unless the caller says another limit."""

Hint: TypeAlias = "Sizes | str | Statement"
"""Sizes that are expected: all or some of them by name, or a condition on them."""


class Question:
    """What is divided into cases.

    Attributes:
        subject: The broadcast, or the program.
        names: What each size is called.
        broadcasts: The broadcasts, in order.
        partition: The sizes at which all of them are valid.
        condition: The condition under which they are.
    """

    def __init__(
        self,
        subject: Call | Program,
        condition: Statement,
        names: Mapping[Symbol, str],
        broadcasts: Sequence[Broadcast],
        partition: Partition,
    ) -> None:
        self.subject = subject
        self.condition = condition
        self.names = dict(names)
        self.broadcasts = tuple(broadcasts)
        self.partition = partition
        self._called = {s: symbol(n) for s, n in names.items() if not isinstance(s, Unknown) and s is not symbol(n)}

    def statement(self, formula: Formula) -> Statement:
        """Return a condition on the sizes of the question."""
        return self.condition.of_same_sizes(put_in(formula, self._called) if self._called else formula)

    def formula_of(self, statement: Statement) -> Formula:
        """Return a condition over the sizes of the question; raise `BindingError` where it is about others."""
        meant = {s if isinstance(s, Unknown) else symbol(n): s for s, n in self.names.items()}
        for other in symbols_in(statement.formula):
            if other not in meant:
                raise unknown_name(other.name, list(self.names.values()))
        return put_in(statement.formula, meant)


class Case:
    """Some of the sizes at which a broadcast, or a program, is valid: those at which it does the same.

    Attributes:
        number: Its place among the cases.
        hints: The places of the hints that lie in it.
    """

    def __init__(self, question: Question, parts: Parts, number: int, hints: tuple[int, ...] = ()) -> None:
        self._question = question
        self._parts = parts
        self.number = number
        self.hints = hints

    @cached_property
    def guard(self) -> Statement:
        """What tells the case from the others, under the assumptions; nothing in it is redundant."""
        return self._question.statement(self.formula)

    @property
    def formula(self) -> Formula:
        """The guard as a formula over the sizes of the question."""
        return all_of(self._parts.clauses)

    def holds(self, sizes: Mapping[Symbol, int]) -> bool:
        """Return whether the guard holds at sizes that it speaks of."""
        symbols = tuple(symbols_in(self.formula))
        return predicate(self.formula, symbols)(*(sizes[s] for s in symbols))

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """How each broadcast reads its operands, in order."""
        return tuple(b.layout(self._parts.resolve) for b in self._question.broadcasts)

    @property
    def shape(self) -> Shape:
        """The output; of a program, that of the last operation."""
        return self.layouts[-1].shape

    @property
    def strides(self) -> tuple[Shape, ...]:
        """The element strides of each operand of the last operation along the output's axes: 0 where stretched."""
        return self.layouts[-1].strides

    @property
    def stretched(self) -> tuple[tuple[bool, ...], ...]:
        """Of each operand of the last operation, whether each of the output's axes is stretched."""
        return self.layouts[-1].stretched

    @property
    def shapes(self) -> dict[str, Shape]:
        """The output of each operation of a program by its name."""
        return {layout.name: layout.shape for layout in self.layouts}

    def witness(self) -> dict[str, int]:
        """Return the smallest sizes of the case."""
        found = self._parts.witness()
        return {name: found[s] for s, name in self._question.names.items()}

    def __str__(self) -> str:
        return f"{self.guard}: {self.shape}" if len(self._question.broadcasts) == 1 else str(self.guard)

    def __repr__(self) -> str:
        return f"<Case {self.number}: {self}>"


class Division(Sequence[Case]):
    """The cases of a broadcast or a program, which do not overlap. `symbcast.Cases` is this as users see it.

    Attributes:
        is_complete: Whether there are no others: the condition holds exactly where one of the guards does.
        naive: How many cases there are of axes of which nothing is known: 3 of an axis on which two operands meet.
    """

    def __init__(self, question: Question, cases: Sequence[Case], is_complete: bool) -> None:
        self.question = question
        self._cases = tuple(cases)
        self.is_complete = is_complete
        self.naive = prod(b.naive for b in question.broadcasts)

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Case, ...]: ...
    def __getitem__(self, place: int | slice) -> Case | tuple[Case, ...]:
        """Return a case, or several."""
        return self._cases[place]

    def __len__(self) -> int:
        return len(self._cases)

    @property
    def condition(self) -> Statement:
        """The condition under which all is valid."""
        return self.question.condition

    @property
    def rest(self) -> Statement:
        """The condition that none of these cases meets; false where they are complete."""
        if self.is_complete:
            return self.question.statement(FALSE)
        return self.condition & ~self.question.statement(any_of(c.formula for c in self))

    def find(self, sizes: Sizes | None = None, /, **named: int) -> Case | None:
        """Return the case that sizes lie in, given as `Result.evaluate` takes them; None where they lie in none.

        Raises `BindingError` for a size that tells cases apart and is missing, that is unknown, or that is no size.
        """
        names = self.question.names
        found = read_sizes(names, sizes, named)
        telling = dict.fromkeys(s for case in self for s in symbols_in(case.formula))
        check_all_given([names[s] for s in names if s in telling], found, "find")
        return next((case for case in self if case.holds({s: found[names[s]] for s in telling})), None)

    def __repr__(self) -> str:
        more = "" if self.is_complete else " and more"
        return f"<{type(self).__name__}: {len(self)}{more}>"


D = TypeVar("D", bound=Division)


def cases_of_call(kind: type[D], call: Call, condition: Statement, limit: int | None = None) -> D:
    """Return the cases of a broadcast; ``condition`` is the condition of it as a value."""
    name = call.rule.called
    broadcast = broadcast_of(name, call.rule, call.operands)
    known = Knowledge((), {}, ()) if call.scope is None else call.scope.knowledge
    names = {} if call.scope is None else call.scope.names
    dims = [d for s in call.operands for d in s.dims]
    columns = [*joins_in(dims), *broadcast.columns()]
    partition = Partition(known, columns, [c.requirement for c in call.constraints])
    return _cases(kind, Question(call, condition, names, [broadcast], partition), (), limit)


def cases_of_program(
    kind: type[D], program: Program, condition: Statement, hints: Iterable[Hint] = (), limit: int | None = None
) -> D:
    """Return the cases of a program, those that hints lie in first."""
    known = knowledge(program.shown, program.assumptions, program.min_size)
    broadcasts: list[Broadcast] = []
    columns: list[Column] = []
    required: list[Formula] = [FALSE] if program.verdict is Verdict.NEVER else []
    for op in program.operations:
        if op.kind == "assume":
            continue
        dims = [d for s in op.operands for d in s.dims]
        columns += joins_in(dims)
        required += (c.requirement for c in op.constraints)
        if op.rule is not None and op.output is not None:
            broadcasts.append(broadcast_of(op.name, op.rule, op.operands, op.output))
            columns += joins_in(op.output.dims) if broadcasts[-1].is_operator else broadcasts[-1].columns()
    question = Question(program, condition, program.shown, broadcasts, Partition(known, columns, required))
    return _cases(kind, question, hints, limit)


def _cases(kind: type[D], question: Question, hints: Iterable[Hint], limit: int | None) -> D:
    """Return the cases that most hints lie in first, and then the others."""
    partition, most = question.partition, MOST if limit is None else check_limit(limit)
    if isinstance(hints, (str, Mapping, Statement)):
        raise ShapeTypeError(hints, "several hints", "write a list: hints=['N == 1']")
    hinted: dict[tuple[Formula, ...], tuple[Parts, list[int]]] = {}
    for place, hint in enumerate(hints):
        for parts in _hinted(question, hint, place, most):
            found = hinted.setdefault(parts.key, (parts, []))
            found[1].append(place)
    first = sorted(hinted.values(), key=lambda found: -len(found[1]))
    chosen = [(parts, tuple(places)) for parts, places in first[:most]]
    is_complete = False
    if len(chosen) < most:
        known = set(hinted)
        parts_found, all_found = partition.parts(most + len(chosen))
        others = [parts for parts in parts_found if parts.key not in known]
        is_complete = all_found and len(chosen) + len(others) <= most
        chosen += [(parts, ()) for parts in others[: most - len(chosen)]]
    made = [Case(question, parts, number, places) for number, (parts, places) in enumerate(chosen)]
    return kind(question, made, is_complete)


def _hinted(question: Question, hint: Hint, place: int, limit: int) -> list[Parts]:
    """Return the parts that the sizes of a hint lie in; raise `BindingError` where none do."""
    partition, names = question.partition, question.names
    if not isinstance(hint, Mapping):
        wanted = question.formula_of(question.condition.of_same_sizes(TRUE) & hint)
        found = partition.parts_within([wanted], limit)
        return _some(found, place, str(hint))
    given = read_sizes(names, hint, {})
    sizes = {s: given[name] for s, name in names.items() if name in given}
    if len(sizes) == len(names):
        parts = partition.part_at(sizes)
        found = [] if parts is None else [parts]
    else:
        found = partition.parts_within([equal(s, size) for s, size in sizes.items()], limit)
    return _some(found, place, sizes_text(given))


def _some(found: list[Parts], place: int, said: str) -> list[Parts]:
    if not found:
        raise BindingError(f"hint {place}, {said}, has no valid sizes in it", "see .condition and .assumptions")
    return found
