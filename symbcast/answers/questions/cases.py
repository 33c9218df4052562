"""The cases of a broadcast, or of a program: in each, all output sizes and all stretched axes are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, TypeAlias, overload

from symbcast.answers.questions.layouts import Broadcast, Layout, OpenBroadcast, broadcast_of
from symbcast.answers.questions.partition import Partition, Parts
from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.guesses import Guessable, meant
from symbcast.core.logic.formulas import FALSE, Formula, all_of, any_of
from symbcast.core.program.calls.bindings import read_needed
from symbcast.core.program.calls.call import Call
from symbcast.core.program.sizes.given import unknown_name
from symbcast.core.program.statements.statement import Statement, of_same_sizes
from symbcast.core.program.whole.program import Program
from symbcast.core.solver.budget import answered, one_call
from symbcast.core.solver.evaluation.evaluation import AxisSizes, holds_at, predicate
from symbcast.core.solver.groups.normal_form import put_in, symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.program.sizes.given import Sizes
    from symbcast.core.program.sizes.unrolling import Unrolled
    from symbcast.core.shapes import Shape

MOST = 10_000
"""The most cases to list, unless the caller gives another limit."""

Hint: TypeAlias = "Sizes | str | Statement"
"""Expected sizes: all or some of them by name, or a condition on them."""


class Question:
    """The question that is divided into cases.

    Attributes:
        subject: The broadcast, or the program.
        names: The name of each size.
        broadcasts: The broadcasts, in order; given as None for the one of a call whose ranks are known.
        partition: The sizes at which all broadcasts are valid.
        condition: The condition under which all broadcasts are valid, made when it is first asked for.
        unrolled: The number of axes of each sequence that are distinguished; None if all ranks are known.
    """

    def __init__(
        self,
        subject: Call | Program,
        condition: Statement | Callable[[], Statement],
        names: Mapping[Symbol, str],
        broadcasts: Sequence[Broadcast | OpenBroadcast] | None,
        partition: Partition,
    ) -> None:
        self.subject = subject
        self.names = names
        self._condition = condition
        self._broadcasts = broadcasts
        self.partition = partition
        self.unrolled: Unrolled | None = None

    @cached_property
    def condition(self) -> Statement:
        return self._condition if isinstance(self._condition, Statement) else self._condition()

    @cached_property
    def broadcasts(self) -> tuple[Broadcast | OpenBroadcast, ...]:
        if self._broadcasts is not None:
            return tuple(self._broadcasts)
        assert isinstance(self.subject, Call)
        return (broadcast_of(self.subject.rule.called, self.subject.rule, self.subject.operands),)

    @cached_property
    def _called(self) -> dict[Symbol, Symbol]:
        return {s: symbol(n) for s, n in self.names.items() if not _is_itself(s) and s is not symbol(n)}

    def named(self, sizes: Mapping[Symbol, int]) -> dict[str, int]:
        """Return sizes by name, with the sizes of a sequence's axes together, as ``batch=(2, 3)``."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in self.names.items()}
        return self.unrolled.named(sizes, self.names)

    def statement(self, formula: Formula) -> Statement:
        """Return a condition on the sizes of the question."""
        return of_same_sizes(self.condition, put_in(formula, self._called) if self._called else formula)

    def formula_of(self, statement: Statement) -> Formula:
        """Return a condition over the sizes of the question; raise `BindingError` if it mentions others."""
        meant = {s if _is_itself(s) else symbol(n): s for s, n in self.names.items()}
        for other in symbols_in(statement.formula):
            if other not in meant:
                raise unknown_name(other.name, list(self.names.values()))
        return put_in(statement.formula, meant)


def _is_itself(s: Symbol) -> bool:
    """Return whether a symbol is an unknown or belongs to a sequence: these are not looked up by name."""
    return isinstance(s, (Unknown, SequenceSymbol))


class Case(Guessable):
    """The valid sizes of a broadcast or a program at which it behaves in one way.

    Attributes:
        number: The position of the case.
        hints: The positions of the hints that it contains.
    """

    _meant = meant(
        "guard when constraint -> condition",
        "example sizes -> witness()",
        "output out -> shape",
        "contains matches check -> has(...)",
    )

    def __init__(self, question: Question, parts: Parts, number: int, hints: tuple[int, ...] = ()) -> None:
        self._question = question
        self._parts = parts
        self.number = number
        self.hints = hints

    @property
    def budget(self) -> float | None:
        """The time limit of each question in seconds; None for no limit."""
        return self._question.subject.budget

    @answered
    def condition(self) -> Statement:
        """The condition that distinguishes the case from the others, under the assumptions; irredundant."""
        return self._question.statement(self.formula)

    @property
    def formula(self) -> Formula:
        """The guard as a formula over the sizes of the question."""
        return all_of(self._parts.clauses)

    @one_call
    def holds(self, sizes: Mapping[Symbol, int]) -> bool:
        """Return whether the guard holds at the sizes that it mentions."""
        if isinstance(sizes, AxisSizes):
            return holds_at(self.formula, sizes)
        symbols = tuple(symbols_in(self.formula))
        return predicate(self.formula, symbols)(*(sizes[s] for s in symbols))

    def has(self, sizes: Mapping[str, int]) -> bool:
        """Return whether the case contains sizes, given by name."""
        return self.holds(read_needed(symbols_in(self.formula), self._question.names, sizes, {}, "has"))

    @answered
    def layouts(self) -> tuple[Layout, ...]:
        """How each broadcast reads its operands, in order."""
        return tuple(b.layout(self._parts.resolve) for b in self._question.broadcasts)

    @property
    def shape(self) -> Shape:
        """The output; for a program, the output of the last operation."""
        return self.layouts[-1].shape

    @property
    def strides(self) -> tuple[Shape, ...]:
        """The element strides of each operand of the last operation along the output's axes: 0 where stretched."""
        return self.layouts[-1].strides

    @property
    def stretched(self) -> tuple[tuple[bool, ...], ...]:
        """For each operand of the last operation, whether it is stretched on each output axis."""
        return self.layouts[-1].stretched

    @property
    def shapes(self) -> dict[str, Shape]:
        """The output of each operation of a program by its name."""
        return {layout.name: layout.shape for layout in self.layouts}

    @one_call
    def witness(self) -> dict[str, int]:
        """Return the smallest sizes of the case."""
        return self._question.named(self._parts.witness())

    def __eq__(self, other: object) -> bool:
        """Return whether two cases have the same number, hints, sizes and behaviour."""
        return isinstance(other, Case) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.number, self.formula))

    @one_call
    def _key(self) -> tuple[object, ...]:
        return self.number, self.hints, self.formula, self._question.names, self.layouts

    def __str__(self) -> str:
        return f"{self.condition}: {self.shape}" if len(self._question.broadcasts) == 1 else str(self.condition)

    @one_call
    def __repr__(self) -> str:
        return f"<Case {self.number}: {self}>"


class Division(Guessable, Sequence[Case]):
    """The cases of a broadcast or a program, which do not overlap. `symbcast.Cases` is its public form.

    Attributes:
        is_complete: Whether these are all the cases: the condition holds exactly where one of the guards does.
    """

    _meant = meant(
        "complete exhaustive -> is_complete",
        "cases guards conditions -> the cases, which it is a sequence of",
        "remainder default otherwise -> rest",
        "lookup get match select -> find(...)",
        "dispatch -> to_python() or to_cpp()",
        "why show text -> explain()",
    )

    def __init__(self, question: Question, cases: Sequence[Case], is_complete: bool) -> None:
        self._question = question
        self._cases = tuple(cases)
        self.is_complete = is_complete

    @property
    def naive(self) -> int | None:
        """The number of cases if nothing were known about the sizes: 3 for an axis where two operands meet.

        None if a rank is unknown.
        """
        each = [b.naive for b in self._question.broadcasts]
        return None if None in each else prod(n for n in each if n is not None)

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
    def budget(self) -> float | None:
        """How many seconds each question may take; None where no clock decides."""
        return self._question.subject.budget

    @property
    def condition(self) -> Statement:
        """The condition under which all is valid."""
        return self._question.condition

    @property
    def rest(self) -> Statement:
        """The condition for sizes that none of these cases contains; false if the cases are complete."""
        if self.is_complete:
            return self._question.statement(FALSE)
        return self.condition & ~self._question.statement(any_of(c.formula for c in self))

    @one_call
    def find(self, sizes: Sizes | None = None, /, **named: int) -> Case | None:
        """Return the case that contains sizes, given as to `Result.evaluate`; None if no case does.

        Raises `BindingError` for a missing size that distinguishes cases, an unknown name, or an invalid size.
        """
        telling = {s for case in self for s in symbols_in(case.formula)}
        found = read_needed(telling, self._question.names, sizes, named, "find")
        return next((case for case in self if case.holds(found)), None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Division):
            return NotImplemented
        ours, theirs = (self.condition, self.is_complete), (other.condition, other.is_complete)
        return ours == theirs and self._cases == other._cases

    def __hash__(self) -> int:
        return hash((self.condition, self._cases))

    @one_call
    def __repr__(self) -> str:
        more = "" if self.is_complete else " and more"
        return f"<{type(self).__name__}: {len(self)}{more}>"


def question_of(cases: Division) -> Question:
    """Return the question that was divided into cases."""
    return cases._question
