"""The record of a program: each operation is added completely or not at all.

Computing the requirements of an operation takes many steps. If it is interrupted, or the operation is refused, the
program stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from symbcast.core.algebra.formulas import dims_of
from symbcast.core.algebra.symbols import LABEL, SequenceSymbol, mentions_rest, symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.effort import REASON, counted_call
from symbcast.core.programs.answers import ProgramAnswers, check_assumptions, check_sizes, program_extent
from symbcast.core.programs.broadcast_errors import IncompatibleProgramError
from symbcast.core.programs.names_state import NamesAnswers, NamesState
from symbcast.core.programs.operations import Key, Kind, Op, is_repeatable
from symbcast.core.programs.scope import NameTable
from symbcast.core.programs.state import ProgramState, needed_assumptions
from symbcast.core.rules import find_rule
from symbcast.core.shapes import Shape, any_shape_of, shape_of
from symbcast.core.solver.budget import answer_within_budget, was_stopped, within_optional
from symbcast.core.solver.normal_form import symbols_in
from symbcast.core.text.printing import formula_text
from symbcast.errors import ConcurrentUseError

if TYPE_CHECKING:
    from symbcast.core.account import Account
    from symbcast.core.algebra.symbols import Unknown
    from symbcast.core.algebra.terms import Symbol
    from symbcast.core.programs.answer_parts import AnswerParts, AnswerUnder
    from symbcast.core.programs.assumptions import Assumption
    from symbcast.core.rules import Demand, Rule
    from symbcast.core.solver.decision import Decision

T = TypeVar("T")

_NUMPY = find_rule("numpy", {})
OnConflict: TypeAlias = Literal["raise", "record"]


class ProgramRecord:
    """A program to which whole operations are added, and the answers about it.

    Names and integers by NumPy's rule, without assumptions, are held as masks (`NamesState`), everything else in a
    `ProgramState`. The first thing that masks cannot hold or answer converts one into the other. ``on_conflict`` says
    what happens to an operation that cannot hold together with the others.

    A recording thread locks the program from `begin` to `end`: meanwhile, other threads that record get a
    `ConcurrentUseError`, and threads that ask wait.
    """

    def __init__(self, min_size: int, on_conflict: OnConflict, budget: float | None = None) -> None:
        self.min_size = min_size
        self.budget = budget
        self._stopped = ""
        self.on_conflict: OnConflict = on_conflict
        self.plain: NamesState | None = NamesState(_NUMPY, min_size) if min_size <= 1 else None
        self._trace: ProgramState | None = None
        self._is_stale = False
        self._answers: ProgramAnswers | NamesAnswers | None = None
        self.elsewhere: AnswerUnder[Any] | None = None
        """Returns another program that answers under assumptions, if this one cannot take them."""
        self.known: Decision | None = None
        """A decision that was made of the same question, if nothing is recorded after it."""
        self._parts: tuple[object, AnswerParts[Any] | None] = (None, None)
        self._account: tuple[object, Account | None] = (None, None)
        # Reentrant: an operand's `__index__`, called while it is read, may also use the program.
        self._lock = RLock()
        self._take, self.end = partial(self._lock.acquire, blocking=False), self._lock.release

    def begin(self) -> None:
        """Lock the program for one operation, until `end`; raise `ConcurrentUseError` if another thread does."""
        if not self._take():
            raise ConcurrentUseError

    @staticmethod
    def of(
        ops: Iterable[Op],
        min_size: int,
        on_conflict: OnConflict,
        symbols: Iterable[Symbol],
        budget: float | None = None,
    ) -> ProgramRecord:
        """Return a recording of operations recorded elsewhere; the given sizes come first."""
        made = ProgramRecord(min_size, on_conflict, budget)
        made.plain, names = None, NameTable()
        names.bind(shape_of(symbols))
        made._trace = ProgramState.replayed(ops, min_size, names)
        check_sizes(made._trace, 0)
        check_assumptions(made._trace)
        return made

    def copy(self) -> ProgramRecord:
        """Return an independent copy."""
        made = ProgramRecord(self.min_size, self.on_conflict, self.budget)
        with self._lock:
            made.plain = None if self.plain is None else self.plain.copy()
            made._trace = None if self.plain is not None else self.trace.copy()
        return made

    @property
    def trace(self) -> ProgramState:
        """The full state; rebuilt from the operations if masks held the program, or if it was left half changed."""
        if self.plain is not None:
            names = NameTable()
            names.bind(shape_of(self.plain.joins.names))
            self._trace = ProgramState.replayed(self.plain.ops, self.min_size, names)
            self.plain = None
        if self._trace is None:
            self._trace = ProgramState(self.min_size)
        if self._is_stale:
            self._trace = ProgramState.replayed(self._trace.ops, self.min_size, self._trace.names)
            self._is_stale = False
        return self._trace

    @property
    def ops(self) -> list[Op]:
        """The operations, in order."""
        return self.trace.ops if self.plain is None else self.plain.ops

    @property
    def length(self) -> int:
        """The number of operations; unlike `ops`, it builds none of them."""
        return len(self.trace.ops) if self.plain is None else len(self.plain)

    @property
    def shown(self) -> Mapping[Symbol, str]:
        """The display name of each size, in order of appearance."""
        return self.trace.names.shown if self.plain is None else self.plain.shown

    @property
    def assumptions(self) -> Sequence[Assumption]:
        """The assumptions."""
        return self.trace.assumptions if self.plain is None else self.plain.assumptions

    @property
    def short_answers(self) -> ProgramAnswers | NamesAnswers:
        """The answers about the program so far, without origins."""
        if self.plain is None:
            return self.answers
        if not isinstance(self._answers, NamesAnswers) or self._answers.extent != len(self.plain):
            self._answers = NamesAnswers(self.plain)
        return self._answers

    @property
    def answers(self) -> ProgramAnswers:
        """The answers about the program so far."""
        trace = self.trace
        if (
            not isinstance(self._answers, ProgramAnswers)
            or self._answers.trace is not trace
            or self._answers.extent != program_extent(trace)
        ):
            self._answers = ProgramAnswers(trace, self.known)
        return self._answers

    def ask(self, question: Callable[[ProgramAnswers | NamesAnswers], T]) -> T:
        """Return an answer; answers that the caller's clock stopped are recomputed for the next question."""
        with self._lock:
            self._stopped = ""
            return answer_within_budget(self.budget, lambda: question(self.short_answers), self._forget, self.length)

    def ask_all(self, question: Callable[[ProgramAnswers], T]) -> T:
        """Return an answer, which may also be about the operations."""
        with self._lock:
            self._stopped = ""
            return answer_within_budget(self.budget, lambda: question(self.answers), self._forget, self.length)

    def parts(self, work: Callable[[], AnswerParts[Any] | None]) -> AnswerParts[Any] | None:
        """Return the answer in parts, computed once for a state of the program; None for masks."""
        if self.plain is not None:
            return None
        with self._lock:
            answers = self.answers
            if self._parts[0] is not answers:
                found = work()
                if was_stopped():
                    return found
                self._parts = answers, found
            return self._parts[1]

    def account(self, work: Callable[[], Account]) -> Account:
        """Return the account of an undecided program, computed once for a state of it."""
        with self._lock:
            answers = self.answers
            known = self._account[1]
            if known is None or self._account[0] is not answers:
                known = work()
                if not was_stopped():
                    self._account = answers, known
            return known

    @property
    def reason(self) -> str:
        """Why an answer is unknown or incomplete."""
        return self._stopped or self.ask(lambda answers: answers.reason) or self._stopped

    def _forget(self, reason: str) -> None:
        self._stopped = reason
        if reason != REASON:  # parts that lacked effort are never cached
            self._answers = None

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
        if self.plain is not None:
            self.begin()
            try:
                made = Op(len(self.plain), kind, origin, tuple([s for s, _ in operands]), rule)
                output = self.plain.operate(made, key, demand)
            finally:
                self.end()
            if output is not None:
                return output
        if key is not None and not all(is_repeatable(*operand) for operand in operands):
            key = None
        with self._all_or_nothing() as trace:
            symbols = (s for shape, _ in operands for s in symbols_of(shape.dims))
            trace.names.tell_apart(symbols, [given for _, given in operands])
            known = len(trace.names.order)
            bound = trace.bound([(shape, isinstance(given, Shape)) for shape, given in operands])
            self._take_in(known)
            if any(ours is not read or not ours.has_values for ours, (read, _) in zip(bound, operands, strict=True)):
                demand = None  # that of other sizes
            output = self._add(Op(len(trace.ops), kind, origin, bound, rule), key, demand).output
        assert output is not None
        return output

    def add_formula(self, kind: Kind, origin: str | None, read: Assumption) -> None:
        """Add a requirement or an assumption."""
        with self._recorded():
            self._add_formula(kind, origin, read)

    def _add_formula(self, kind: Kind, origin: str | None, read: Assumption) -> None:
        if kind == "assume" and self.plain is not None and self.plain.assume(read):
            return
        if any(map(mentions_rest, dims_of(read.formula))):
            from symbcast.core.programs.unknown_rank import axis_checked_formula

            axis_checked_formula(read, self.min_size)
        with self._all_or_nothing() as trace:
            trace.names.tell_apart(symbols_in(read.formula), (read.given,))
            known = len(trace.names.order)
            formula = trace.bound_formula(read.formula)
            trace.names.bind(shape_of(read.lost))
            self._take_in(known)
            self._add(Op(len(trace.ops), kind, origin, formula=formula, text=read.text))

    def named(self, name: str) -> Symbol:
        """Return the size that a name means; a label begins with ``?``."""
        with self._recorded():
            if self.plain is None or LABEL.fullmatch(name):
                return self.trace.names.named(name)
            self.plain.joins.read((symbol(name),))
            return symbol(name)

    def met(self, size: Symbol) -> Symbol:
        """Return this program's size for one from elsewhere: the one with its name, or the same axes of a sequence."""
        if not isinstance(size, SequenceSymbol):
            return self.named(size.name)
        with self._recorded():
            (found,) = symbols_of(self.trace.names.bind(any_shape_of((size,))).dims)
            return found

    def fresh(self, lower: int, upper: int | None) -> Unknown:
        """Return a new unknown size."""
        with self._all_or_nothing() as trace:
            made = trace.names.fresh(lower, upper)
            check_sizes(trace, len(trace.names.order) - 1)
        return made

    def _take_in(self, known: int) -> None:
        """Register the sizes added after the first ``known``; assume the facts about those that others replaced."""
        trace = self.trace
        check_sizes(trace, known)
        for formula in trace.names.taken():
            if all(a.formula != formula for a in trace.assumptions):
                self._add(Op(len(trace.ops), "assume", None, formula=formula, text=formula_text(formula)))

    def repeat(self, key: Key, origin: str | None) -> Shape | None:
        """Add an operation that the program already has, and return its output; return None if this is another one."""
        self.begin()
        try:
            if self.plain is not None:
                return self.plain.repeat(key, origin)
            trace = self._trace
            if trace is None or self._is_stale:
                return None
            found = trace.repeatable.get(key)
            if found is None:
                return None
            if found.state != trace.state:
                with self._all_or_nothing():
                    found = trace.renew(key)
            return trace.repeat(found, origin)
        finally:
            self.end()

    def _add(self, op: Op, key: Key | None = None, demand: Demand | None = None) -> Op:
        """Add an operation and return it with its output; on a conflict, leave it out and raise."""
        trace = self.trace
        can_hold = trace.assume(op) if op.kind == "assume" else trace.add(op, key, demand)
        if op.kind == "assume" and trace.refused:
            # An operation that was refused but recorded is not a fact: whether this one allows it must still be
            # checked.
            check_assumptions(trace)
        if can_hold:
            return trace.ops[-1]
        if self.on_conflict == "record":
            return trace.ops[-1]
        conflict = ProgramAnswers(trace).conflict
        assumptions = [a.text for a in needed_assumptions(trace, conflict or (trace.ops[-1],))]
        dropped = trace.drop_last()
        raise IncompatibleProgramError(dropped, conflict or (dropped,), assumptions)

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Lock the program while something is added to it."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[ProgramState]:
        """Yield the state so that operations can be added; if that raises, none of them is kept."""
        self.begin()
        try:
            trace = self.trace
            mark, length = trace.names.mark(), len(trace.ops)
            try:
                with counted_call(), within_optional(self.budget):
                    yield trace
            except BaseException as error:
                trace.names.undo(mark)
                # A refused operation has already been undone. An interrupted one may be half done.
                if len(trace.ops) > length or not isinstance(error, IncompatibleProgramError):
                    del trace.ops[length:]
                    self._is_stale = True
                raise
        finally:
            self.end()
