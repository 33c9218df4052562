"""A whole program: the record of its operations, and the plain answers for all of them together.

The record is held by one of two engines, with the locks and undo of adding to it. Computing the requirements of an
operation takes many steps. If it is interrupted, or the operation is refused, the program stays as it was: an operation
is added completely or not at all.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar, cast

from symbcast.core import effort
from symbcast.core.algebra.arithmetic import check_min_size
from symbcast.core.algebra.formulas import Formula, all_of, dims_of
from symbcast.core.algebra.symbols import LABEL, SequenceSymbol, Unknown, mentions_rest, sequences_of, symbol
from symbcast.core.algebra.terms import Symbol, symbols_of
from symbcast.core.effort import REASON, Tier
from symbcast.core.programs import arguments, operations
from symbcast.core.programs.answers import (
    ProgramAnswers,
    ProgramRequirement,
    check_assumptions,
    check_sizes,
    program_extent,
)
from symbcast.core.programs.arguments import Assumption, Assumptions, OneOrShape, SizesBySymbol
from symbcast.core.programs.names_state import NamesState
from symbcast.core.programs.operations import IncompatibleProgramError, Key, Kind, Op
from symbcast.core.programs.scope import NameTable
from symbcast.core.programs.state import ProgramState, needed_assumptions
from symbcast.core.programs.stretching import AxisStretch
from symbcast.core.rules import AttributeLike, Demand, Rule, find_rule
from symbcast.core.rules.broadcast_rule import open_axes
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, is_open, shape, shape_of
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import AxisSizes, symbols_in
from symbcast.core.text.notation import formula_text
from symbcast.core.verdicts import LazyAccount, Verdict
from symbcast.errors import ConcurrentUseError, DimensionError, ShapeTypeError, UnknownRankError

if TYPE_CHECKING:
    import sympy

    from symbcast.core.account import Account
    from symbcast.core.programs.answer_parts import AnswerParts, AnswerUnder


# The record of a program.


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
        # The program as masks, as long as they can hold it.
        self._names: NamesState | None = NamesState(NUMPY, min_size) if min_size <= 1 else None
        self._general: ProgramState | None = None
        # Whether the general state was left half changed by an operation that was broken off.
        self._is_stale = False
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
            return effort.answer_within_budget(self.budget, question, self._forget, self.length)

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
        if key is not None and not all(operations.is_repeatable(*operand) for operand in operands):
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
                with effort.counted_call(), effort.within_optional(self.budget):
                    yield state
            except BaseException as error:
                state.names.undo(mark)
                # A refused operation has already been undone. An interrupted one may be half done.
                if len(state.ops) > length or not isinstance(error, IncompatibleProgramError):
                    del state.ops[length:]
                    self._is_stale = True
                raise


# The answers for all operations together.


NO_ATTRIBUTES: Mapping[str, AttributeLike] = MappingProxyType({})


class Program(ProgramRecord, LazyAccount):
    """The sizes of a program, and the requirements of its operations. `symbcast.ShapeEnv` is its public form.

    It reads the arguments of callers and answers for all operations together; `ProgramRecord` holds the operations.
    """

    elsewhere: AnswerUnder | None = None
    """Returns another program that answers for large sizes under assumptions, if this one cannot take them."""
    _parts: tuple[object, AnswerParts | None] = (None, None)
    """The answer in parts, and the answers that it was computed from; then the account of these."""
    _open_account: tuple[object, Account | None] = (None, None)

    def __init__(
        self,
        assume: Assumptions = (),
        min_size: int = 0,
        *,
        on_conflict: OnConflict = "raise",
        budget: float | None = None,
    ) -> None:
        if on_conflict not in ("raise", "record"):
            raise ShapeTypeError(on_conflict, "an answer to conflicts", "write on_conflict='raise' or 'record'")
        super().__init__(check_min_size(min_size), on_conflict, effort.check_budget(budget))
        if type(assume) is not tuple or assume:
            self.assume(assume)

    # Adding operations.

    def broadcast(
        self,
        shapes: tuple[ShapeLike, ...],
        rule: str | Rule = "numpy",
        origin: str | None = None,
        attributes: Mapping[str, AttributeLike] = NO_ATTRIBUTES,
    ) -> Shape:
        """Add a broadcast, known to the caller as ``origin``, and return its output shape.

        Shapes, rule and attributes are as in `symbcast.broadcast`. Raises `IncompatibleProgramError` if no sizes allow
        it together with the operations so far, and another `SymbcastError` for wrong input.
        """
        if origin is not None:
            arguments.check_origin(origin)
        self.begin()
        try:
            is_numpy = rule == "numpy" and not attributes
            names = self._names
            if names is not None and is_numpy:
                output = names.broadcast(shapes, origin)
                if output is not None:
                    return output
            read = NUMPY if is_numpy else find_rule(rule, dict(attributes))
            if names is None and read is NUMPY and len(shapes) == 2:
                left, right = shapes
                if type(left) is Shape and type(right) is Shape:
                    state = self.state
                    output = state.known(left, right)
                    if output is not None:
                        state.ops.append(Op(len(state.ops), "broadcast", origin, (left, right), read, output=output))
                        return output
            key = (
                operations.operation_key((type(read), read.called), attributes, shapes)
                if isinstance(rule, str)
                else None
            )
            output = None if key is None else self.add_repeated(key, origin)
            return self.apply("broadcast", read, shapes, origin, key) if output is None else output
        finally:
            self.end()

    def repeat(self, key: Key, origin: str | None) -> Shape | None:
        """Add an operation that the program already has, and return its output; return None if this is another one.

        ``key`` is what `operation_key` returns for it.
        """
        arguments.check_origin(origin)
        return self.add_repeated(key, origin)

    def apply(
        self, kind: Kind, rule: Rule, shapes: Sequence[ShapeLike], origin: str | None, key: Key | None = None
    ) -> Shape:
        """Add the requirements of a rule, or an operator, on shapes, and return its output.

        ``key`` recognises the operation if it is repeated.
        """
        arguments.check_origin(origin)
        return self.add_shapes(kind, origin, [(s if isinstance(s, Shape) else shape(s), s) for s in shapes], rule, key)

    def equal(self, left: OneOrShape, right: OneOrShape, *, origin: str | None = None) -> Shape:
        """Require two shapes or two dimensions to be equal, axis by axis; return the shape that they share.

        >>> Program().equal("N, 4", ("M", "K"))
        Shape('(N, 4)')
        """
        arguments.check_origin(origin)
        key = operations.operation_key("equal", NO_ATTRIBUTES, (left, right))
        output = None if key is None else self.add_repeated(key, origin)
        if output is not None:
            return output
        return self.add_shapes("equal", origin, [(arguments.as_shape(s), s) for s in (left, right)], None, key)

    def require(self, *requirements: Assumptions, origin: str | None = None) -> None:
        """Require relations between sizes: text such as ``"N % 8 == 0"``, sympy relations or `Condition`.

        Unlike an assumption, a requirement is part of the condition.
        """
        arguments.check_origin(origin)
        for read in [a for item in requirements for a in arguments.read_assumptions(item)]:
            self.add_formula("require", origin, read)

    def assume(self, *assumptions: Assumptions) -> None:
        """Assume relations between sizes from now on; the condition does not repeat them.

        Raises `AssumptionError` if they contradict earlier assumptions, and `IncompatibleProgramError` if they rule out
        earlier requirements.
        """
        for read in [a for item in assumptions for a in arguments.read_assumptions(item)]:
            self.add_formula("assume", None, read)

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the size that a name means here; ``?`` with a label is an unknown."""
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return symbol_to_sympy(self.named(name))

    def named(self, name: str) -> Symbol:
        """Return the size that a name means here, in internal form."""
        if not isinstance(name, str) or name in ("", "?"):
            raise ShapeTypeError(name, "a name", "write a name such as 'N', a label such as '?a', or fresh()")
        return self.add_name(name)

    def fresh(self, lower: int = 0, upper: int | None = None) -> sympy.Symbol:
        """Return a new unknown size, with inclusive bounds."""
        low, high = arguments.as_bound(lower), None if upper is None else arguments.as_bound(upper)
        if high is not None and low > high:
            raise DimensionError(low, f"the lower bound is above the upper bound {high}")
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return symbol_to_sympy(self.add_unknown(low, high))

    # Answers about the whole.

    @property
    def account(self) -> Account:
        """What is known, from which the verdict, texts, guards and data derive.

        The condition decides each size, whatever the verdict. That of an undecided program is computed once.
        """
        if not self.is_open:
            return self._account()
        with self._lock:
            answers = self.answers
            of_answers, account = self._open_account
            # Each finding asks for it, and its points are searched for.
            if account is None or of_answers is not answers:
                account = self._account()
                if not effort.was_stopped():
                    self._open_account = answers, account
            return account

    def _account(self) -> Account:
        from symbcast.core.account import exact_account

        parts = self._open_parts
        return exact_account(self, self.decided_verdict if parts is None else parts.verdict)

    @property
    def decided_verdict(self) -> Verdict:
        """The verdict as far as it is decided for all sizes at once."""
        return self.ask(lambda answers: answers.verdict)

    _decided_verdict = decided_verdict

    @property
    def is_open(self) -> bool:
        """Whether the verdict for all sizes at once is undecided."""
        return self.decided_verdict is Verdict.UNKNOWN

    @property
    def parts(self) -> AnswerParts | None:
        """The answers for large and for smaller sizes, if the one for all sizes is undecided or long."""
        if self._names is not None:
            return None
        with self._lock:
            answers = self.answers
            if self._parts[0] is not answers:
                from symbcast.core.programs.answer_parts import answer_parts

                parts = answer_parts(self, self.elsewhere)
                if effort.was_stopped():
                    return parts
                self._parts = answers, parts
            return self._parts[1]

    @property
    def _open_parts(self) -> AnswerParts | None:
        """The answer in parts, if the one for all sizes at once is undecided."""
        return self.parts if self.is_open else None

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition; none when it is true."""
        return tuple(self.ask(lambda answers: answers.clauses))

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts that may be redundant: whether the others imply them is undecided."""
        return self.ask(lambda answers: tuple(filter(answers.unproven.__contains__, answers.clauses)))

    @property
    def reason(self) -> str:
        """Why something is unknown or unproven; empty when nothing was left open."""
        reason = self.decided_reason
        parts = self._open_parts if reason else None
        return reason if parts is None else parts.reason(reason)

    @property
    def decided_reason(self) -> str:
        """Why something is unknown or unproven for all sizes at once."""
        # Asking may run out of time itself: so this looks again afterwards.
        return self._stopped or self.ask(lambda answers: answers.reason) or self._stopped

    @property
    def tiers(self) -> dict[Tier, list[str]]:
        """The tiers that decided the answers, each with the names of the sizes concerned."""
        return self.ask(lambda answers: answers.tiers)

    @property
    def evidence_reason(self) -> str:
        """Why the witness or the counterexample may not be the smallest; empty if both are."""

        def reason_of(answers: ProgramAnswers | NamesState) -> str:
            answers.witness()
            answers.counterexample()
            return answers.evidence_reason

        reason = self.ask(reason_of)
        if reason or not self.is_open:
            return reason
        parts = self._open_parts
        return self.decided_reason if parts is None else parts.evidence_reason

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which every operation is valid; None if there are none."""
        sizes = self.ask(lambda answers: answers.witness())
        if sizes is not None or not self.is_open:
            return sizes
        parts = self._open_parts
        sizes = None if parts is None else parts.witness()
        return sizes if sizes is not None else self.ask_general(lambda answers: answers.samples())[0]

    def counterexample(self, clause: Formula | None = None) -> dict[str, int] | None:
        """Return the smallest sizes at which some operation is not valid; None if the assumptions rule them all out.

        For a conjunct of the condition, return sizes at which it fails and, if possible, the others hold.
        """
        if clause is not None:
            broken = self.breaking(clause)
            return None if broken is None else dict(broken)
        sizes = self.ask(lambda answers: answers.counterexample())
        if sizes is not None or not self.is_open:
            return sizes
        parts = self._open_parts
        sizes = None if parts is None else parts.counterexample()
        return sizes if sizes is not None else self.ask_general(lambda answers: answers.samples())[1]

    def breaking(self, clause: Formula) -> Mapping[str, int] | None:
        """Return sizes at which a conjunct of the condition fails, as `counterexample` does, without copying them."""
        return self.ask_general(lambda answers: answers.breaking(clause))

    def mistyped_assumptions(self) -> dict[str, str]:
        """Return assumptions that mention no size of the operations, with a size whose name is close."""
        sizes = dict.fromkeys(s for op in self.operations for shape in op.operands for s in symbols_of(shape.dims))
        required = (s for op in self.operations if op.kind == "require" and op.formula for s in symbols_in(op.formula))
        return dict(arguments.mistyped_assumptions(self.assumptions, [*sizes, *required], self.shown)) if sizes else {}

    def needed_assumptions(self) -> list[Assumption]:
        """Return the assumptions that the conflict needs."""
        return self.ask_general(lambda answers: needed_assumptions(answers.state, answers.conflict))

    @property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; empty unless the verdict is never."""
        return self.ask(lambda answers: answers.conflict)

    def clashes(self) -> tuple[ProgramRequirement, ...]:
        """Return, for each operation of the conflict, the requirements that clash with those of the others."""
        return self.ask_general(lambda answers: answers.clashes)

    def failing(self, clause: Formula) -> dict[str, int] | None:
        """Return the smallest sizes at which a formula fails, whether or not the rest holds; None if there are none."""
        return self.ask_general(lambda answers: answers.failing(clause))

    def stretch(self, op: Op, operand: int, axis: int) -> AxisStretch:
        """Return where a broadcast stretches an operand along an output axis, wherever the program is valid."""
        assert op.rule is not None
        rule, dims = op.rule, op.aligned
        sizes = symbols_of(d for shape in dims for d in shape)
        return self.ask_general(lambda answers: answers.valid_sizes_of(sizes).stretch(rule, dims, operand, axis))

    def open_axes(self, op: Op) -> int:
        """Return the number of leading axes of a broadcast's aligned operands that stand for several axes each.

        Raises `UnknownRankError` if they do not come first, or if the answer covers only some ranks.
        """
        if not any(map(is_open, op.operands)):
            return 0
        assert op.rule is not None
        axes = open_axes(operations.emission_of(op.rule, op.operands).output)
        if axes is None or self.ask_general(lambda answers: answers.view.bound):
            self.check_ranks("axes counted from the end")
        return axes or 0

    def requirements(self) -> tuple[ProgramRequirement, ...]:
        """Return the conjuncts of the condition, each with the operations that it comes from, in order."""
        return self.ask_general(lambda answers: answers.requirements)

    def requirement(self, clause: Formula) -> ProgramRequirement:
        """Return a formula that the condition implies, with the operations that it comes from."""
        return self.ask_general(lambda answers: answers.requirement(clause))

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The sizes in order of appearance."""
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return tuple(map(symbol_to_sympy, self.shown))

    def check_ranks(self, question: str) -> None:
        """Raise `UnknownRankError` if a rank is unknown and the question requires known ranks."""
        for sequence in sequences_of(self.shown):
            raise UnknownRankError(question, sequence.rest().name)

    def symbol_sizes(self, sizes: Mapping[str, int]) -> Mapping[Symbol, int]:
        """Return sizes by symbol, from sizes by name as returned by `witness` or `breaking`."""
        shown = self.shown
        if isinstance(sizes, ChainMap):
            return SizesBySymbol(shown, sizes)  # `breaking` shares no axes of sequences
        axes = {s: cast("Sequence[int]", sizes[s.name]) for s in sequences_of(shown)}
        plain = {s: sizes[name] for s, name in shown.items() if not isinstance(s, SequenceSymbol)}
        if not axes:
            return plain

        return AxisSizes(plain, axes)

    @property
    def assumed(self) -> Formula:
        """All assumptions, with the bounds of each size; with the condition, all that holds where it is valid."""
        return all_of(arguments.assumed_formulas(self.shown, self.assumptions, self.min_size))


def assumptions_with(env: Program, more: Iterable[Formula] = ()) -> AssumptionSet:
    """Return the assumptions of a program, and more; raise `ContradictionError` if they contradict each other."""
    domains = {s: arguments.own_set(s, env.min_size) for s in env.shown}
    return AssumptionSet(tuple(env.shown), domains, [*(a.formula for a in env.assumptions), *more])
