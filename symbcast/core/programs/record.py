"""The record of a program: its operations, held by one of two engines, and the locks and undo of adding to it.

Computing the requirements of an operation takes many steps. If it is interrupted, or the operation is refused, the
program stays as it was: an operation is added completely or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import Any, Literal, Self, TypeAlias, TypeVar

from symbcast.core.algebra.formulas import dims_of
from symbcast.core.algebra.symbols import LABEL, SequenceSymbol, Unknown, mentions_rest, symbol
from symbcast.core.algebra.terms import Symbol, symbols_of
from symbcast.core.effort import REASON, counted_call
from symbcast.core.programs.answers import ProgramAnswers, check_assumptions, check_sizes, program_extent
from symbcast.core.programs.assumptions import Assumption
from symbcast.core.programs.broadcast_errors import IncompatibleProgramError
from symbcast.core.programs.names_state import NamesState
from symbcast.core.programs.operations import Key, Kind, Op, is_repeatable
from symbcast.core.programs.scope import NameTable
from symbcast.core.programs.state import ProgramState, needed_assumptions
from symbcast.core.rules import Demand, Rule, find_rule
from symbcast.core.shapes import Shape, any_shape_of, shape_of
from symbcast.core.solver.budget import answer_within_budget, within_optional
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.normal_form import symbols_in
from symbcast.core.text.printing import formula_text
from symbcast.errors import ConcurrentUseError

T = TypeVar("T")

NUMPY = find_rule("numpy", {})
OnConflict: TypeAlias = Literal["raise", "record"]


class ProgramRecord:
    """The operations of a program, and the two engines that hold them.

    Names and integers by NumPy's rule, without assumptions, are held as masks (`NamesState`), everything else in a
    `ProgramState`. The first thing that masks cannot hold or answer converts one into the other.

    A recording thread locks the program from `begin` to `end`: meanwhile, other threads that record get a
    `ConcurrentUseError`, and threads that ask wait.

    Attributes:
        min_size: The least size of all symbols.
        on_conflict: What happens to an operation that cannot hold with the others: ``"raise"`` or ``"record"``.
        budget: The seconds that each question may take; None for no limit.
    """

    def __init__(self, min_size: int, on_conflict: OnConflict, budget: float | None = None) -> None:
        self.min_size = min_size
        self.on_conflict: OnConflict = on_conflict
        self.budget = budget
        self._names: NamesState | None = NamesState(NUMPY, min_size) if min_size <= 1 else None
        """The program as masks, as long as they can hold it."""
        self._general: ProgramState | None = None
        self._is_stale = False
        """Whether the general state was left half changed by an operation that was broken off."""
        self._answers: ProgramAnswers | None = None
        self._known_decision: Decision | None = None
        self._stopped = ""
        # Reentrant: an operand's `__index__`, called while it is read, may also use the program.
        self._lock = RLock()
        self._take, self.end = partial(self._lock.acquire, blocking=False), self._lock.release

    def begin(self) -> None:
        """Lock the program for one operation, until `end`; raise `ConcurrentUseError` if another thread does."""
        if not self._take():
            raise ConcurrentUseError

    @classmethod
    def restored(
        cls,
        ops: Iterable[Op],
        min_size: int,
        on_conflict: OnConflict,
        symbols: Iterable[Symbol],
        budget: float | None = None,
    ) -> Self:
        """Return a program of recorded operations; the given sizes come first."""
        program = cls._empty(min_size, on_conflict, budget)
        program._names, names = None, NameTable()
        # The sizes come first, so that they keep their order and names.
        names.bind(shape_of(symbols))
        program._general = ProgramState.replayed(ops, min_size, names)
        check_sizes(program._general, 0)
        check_assumptions(program._general)
        return program

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).restored, (self.operations, self.min_size, self.on_conflict, tuple(self.shown), self.budget)

    def fork(self) -> Self:
        """Return an independent copy; operations added to it do not affect this program."""
        program = self._empty(self.min_size, self.on_conflict, self.budget)
        with self._lock:
            program._names = None if self._names is None else self._names.copy()
            program._general = None if self._names is not None else self.state.copy()
        return program

    @classmethod
    def _empty(cls, min_size: int, on_conflict: OnConflict, budget: float | None) -> Self:
        program = cls.__new__(cls)
        ProgramRecord.__init__(program, min_size, on_conflict, budget)
        return program

    @property
    def state(self) -> ProgramState:
        """The general state; rebuilt from the operations if masks held the program, or if it was left half changed."""
        if self._names is not None:
            names = NameTable()
            names.bind(shape_of(self._names.joins.names))
            self._general = ProgramState.replayed(self._names.ops, self.min_size, names)
            self._names = None
        if self._general is None:
            self._general = ProgramState(self.min_size)
        if self._is_stale:
            self._general = ProgramState.replayed(self._general.ops, self.min_size, self._general.names)
            self._is_stale = False
        return self._general

    @property
    def operations(self) -> tuple[Op, ...]:
        """The operations in order, including assumptions."""
        return tuple(self.state.ops if self._names is None else self._names.ops)

    @property
    def length(self) -> int:
        """The number of operations, including assumptions; unlike `operations`, it builds none of them."""
        return len(self.state.ops) if self._names is None else len(self._names)

    _length = length

    @property
    def shown(self) -> Mapping[Symbol, str]:
        """The display name of each size, in order of appearance."""
        return self.state.names.shown if self._names is None else self._names.shown

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions."""
        return tuple(self.state.assumptions if self._names is None else self._names.assumptions)

    def least(self, size: Symbol) -> int:
        """Return a lower bound of a size, valid wherever all requirements and assumptions so far hold.

        It takes no search, and need not be the greatest lower bound.
        """
        return self.min_size if self._names is not None else self.state.facts.least(size)

    @property
    def last_operands(self) -> tuple[Shape, ...]:
        """The operands of the last operation over this program's sizes; empty if all of them are names or integers."""
        return () if self._names is not None else self.state.ops[-1].operands

    # Questions.

    @property
    def answers(self) -> ProgramAnswers:
        """The answers about the program so far, from its general state."""
        state = self.state
        answers = self._answers
        # A new size that no operation has yet changes the witness.
        if answers is None or answers.state is not state or answers.extent != program_extent(state):
            answers = self._answers = ProgramAnswers(state, self._known_decision)
        return answers

    def decided_by(self, known: Decision) -> None:
        """Take over a decision of the same question, made elsewhere; it is not used for any other question."""
        self._known_decision = known

    def ask(self, question: Callable[[ProgramAnswers | NamesState], T]) -> T:
        """Return an answer that masks can give too, if they hold the program; see `ask_general`."""
        return self._ask(lambda: question(self.answers if self._names is None else self._names))

    def ask_general(self, question: Callable[[ProgramAnswers], T]) -> T:
        """Return an answer; answers that the caller's clock stopped are computed again for the next question."""
        return self._ask(lambda: question(self.answers))

    def _ask(self, question: Callable[[], T]) -> T:
        with self._lock:
            self._stopped = ""
            return answer_within_budget(self.budget, question, self._forget, self.length)

    def _forget(self, reason: str) -> None:
        self._stopped = reason
        if reason != REASON:  # parts that lacked effort are never cached
            self._answers = None

    # Adding operations.

    def add_shapes(
        self,
        kind: Kind,
        origin: str | None,
        operands: Sequence[tuple[Shape, object]],
        rule: Rule | None,
        key: Key | None = None,
    ) -> Shape:
        """Add an operation on shapes and return its output; each shape is paired with what the caller gave for it.

        ``key`` recognises the operation if it is repeated.
        """
        demand = None if rule is None else rule.check_operands([s.dims for s, _ in operands])
        if self._names is not None:
            self.begin()
            try:
                op = Op(len(self._names), kind, origin, tuple([s for s, _ in operands]), rule)
                output = self._names.operate(op, [value for _, value in operands], key, demand)
            finally:
                self.end()
            if output is not None:
                return output
        if key is not None and not all(is_repeatable(*operand) for operand in operands):
            key = None
        with self._all_or_nothing() as state:
            symbols = (s for shape, _ in operands for s in symbols_of(shape.dims))
            # Before anything is bound: a dummy must not take the name of another symbol in the operation.
            written = [value for _, value in operands]
            state.names.tell_apart(symbols, written)
            known = len(state.names.order)
            bound = state.names.bind_all([(shape, isinstance(value, Shape)) for shape, value in operands], written)
            self._take_in(known)
            if any(ours is not read or not ours.has_values for ours, (read, _) in zip(bound, operands, strict=True)):
                demand = None  # that of other sizes
            output = self._add(Op(len(state.ops), kind, origin, bound, rule), key, demand).output
        assert output is not None
        return output

    def add_formula(self, kind: Kind, origin: str | None, read: Assumption) -> None:
        """Add a requirement or an assumption."""
        with self._locked():
            # A least size of 1 changes nothing that masks say: see `NamesState`.
            if kind == "assume" and self._names is not None and self._names.assume(read):
                return
            if any(map(mentions_rest, dims_of(read.formula))):
                from symbcast.core.programs.unknown_rank import axis_checked_formula

                axis_checked_formula(read, self.min_size)
            with self._all_or_nothing() as state:
                state.names.tell_apart(symbols_in(read.formula), (read.source,))
                known = len(state.names.order)
                formula = state.names.bind_formula(read.formula, read.written)
                state.names.bind(shape_of(read.lost))
                self._take_in(known)
                self._add(Op(len(state.ops), kind, origin, formula=formula, text=read.text))

    def add_name(self, name: str) -> Symbol:
        """Return the size that a name means, as part of the program; a label begins with ``?``."""
        with self._locked():
            if self._names is None or LABEL.fullmatch(name):
                return self.state.names.named(name)
            self._names.joins.read((symbol(name),))
            return symbol(name)

    def met(self, size: Symbol) -> Symbol:
        """Return this program's size for one from elsewhere: the one with its name, or the same axes of a sequence."""
        if not isinstance(size, SequenceSymbol):
            return self.add_name(size.name)
        with self._locked():
            (own,) = symbols_of(self.state.names.bind(any_shape_of((size,))).dims)
            return own

    def add_unknown(self, lower: int, upper: int | None) -> Unknown:
        """Return a new unknown size."""
        with self._all_or_nothing() as state:
            unknown = state.names.fresh(lower, upper)
            check_sizes(state, len(state.names.order) - 1)
        return unknown

    def _take_in(self, known: int) -> None:
        """Register the sizes added after the first ``known``; assume the facts about those that others replaced."""
        state = self.state
        check_sizes(state, known)
        for formula in state.names.taken():
            if all(a.formula != formula for a in state.assumptions):
                self._add(Op(len(state.ops), "assume", None, formula=formula, text=formula_text(formula)))

    def add_repeated(self, key: Key, origin: str | None) -> Shape | None:
        """Add an operation that the program already has, and return its output; return None if this is another one."""
        self.begin()
        try:
            if self._names is not None:
                return self._names.repeat(key, origin)
            state = self._general
            if state is None or self._is_stale:
                return None
            known = state.repeatable.get(key)
            if known is None:
                return None
            if known.state != state.version:
                with self._all_or_nothing():
                    known = state.renew(key)
            return state.repeat(known, origin)
        finally:
            self.end()

    def _add(self, op: Op, key: Key | None = None, demand: Demand | None = None) -> Op:
        """Add an operation and return it with its output; on a conflict, leave it out and raise."""
        state = self.state
        can_hold = state.assume(op) if op.kind == "assume" else state.add(op, key, demand)
        if op.kind == "assume" and state.refused:
            # An operation that was refused but recorded is not a fact: whether this one allows it must still be
            # checked.
            check_assumptions(state)
        if can_hold or self.on_conflict == "record":
            return state.ops[-1]
        conflict = ProgramAnswers(state).conflict
        assumptions = [a.text for a in needed_assumptions(state, conflict or (state.ops[-1],))]
        dropped = state.drop_last()
        raise IncompatibleProgramError(dropped, conflict or (dropped,), assumptions)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the program while something is added to it."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[ProgramState]:
        """Yield the state so that operations can be added; if that raises, none of them is kept."""
        with self._locked():
            state = self.state
            mark, length = state.names.mark(), len(state.ops)
            try:
                with counted_call(), within_optional(self.budget):
                    yield state
            except BaseException as error:
                state.names.undo(mark)
                # A refused operation has already been undone. An interrupted one may be half done.
                if len(state.ops) > length or not isinstance(error, IncompatibleProgramError):
                    del state.ops[length:]
                    self._is_stale = True
                raise
