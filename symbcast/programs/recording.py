"""A program as it is recorded: each operation is added whole, or not at all.

What an operation asks is worked out over many steps. Where that is broken off, as by an interrupt, or refused, the
program is what it was before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from symbcast.errors import IncompatibleProgramError
from symbcast.printing import formula_text
from symbcast.programs.answers import Answers, check_assumptions, check_sizes, extent
from symbcast.programs.op import Kind, Op
from symbcast.programs.trace import Trace
from symbcast.shapes import Shape, shape_of

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Unknown
    from symbcast.rules.base import Rule
    from symbcast.scope import Assumption

OnConflict: TypeAlias = Literal["raise", "record"]


class Recording:
    """A trace that grows by whole operations, and the answers about it.

    ``on_conflict`` says what becomes of an operation that cannot hold beside the others.
    """

    def __init__(self, min_size: int, on_conflict: OnConflict) -> None:
        self.on_conflict: OnConflict = on_conflict
        self._trace = Trace(min_size)
        self._is_stale = False
        self._answers: Answers | None = None

    @staticmethod
    def of(ops: Iterable[Op], min_size: int, on_conflict: OnConflict, symbols: Iterable[sympy.Symbol]) -> Recording:
        """Return a recording of operations, as they were recorded elsewhere, over the given sizes first."""
        made = Recording(min_size, on_conflict)
        made._trace.bound([(shape_of(symbols), False)])
        made._trace = Trace.replayed(ops, min_size, made._trace.names)
        check_sizes(made._trace, 0)
        check_assumptions(made._trace)
        return made

    def copy(self) -> Recording:
        """Return a recording that goes its own way from here."""
        made = Recording(self.trace.min_size, self.on_conflict)
        made._trace = self.trace.copy()
        return made

    @property
    def trace(self) -> Trace:
        """The state; made anew from the operations where it was left half changed."""
        if self._is_stale:
            self._trace = Trace.replayed(self._trace.ops, self._trace.min_size, self._trace.names)
            self._is_stale = False
        return self._trace

    @property
    def answers(self) -> Answers:
        """What is to be said of the program as it stands."""
        trace = self.trace
        if self._answers is None or self._answers.trace is not trace or self._answers.extent != extent(trace):
            self._answers = Answers(trace)
        return self._answers

    def add_shapes(
        self, kind: Kind, origin: str | None, operands: Sequence[tuple[Shape, bool]], rule: Rule | None
    ) -> Shape:
        """Add an operation on shapes and return its output; of each shape it is said whether text brought it."""
        with self._all_or_nothing() as trace:
            known = len(trace.names.order)
            bound = trace.bound(operands)
            self._take_in(known)
            output = self._add(Op(len(trace.ops), kind, origin, bound, rule)).output
        assert output is not None
        return output

    def add_formula(self, kind: Kind, origin: str | None, read: Assumption) -> None:
        """Add a requirement or an assumption."""
        with self._all_or_nothing() as trace:
            known = len(trace.names.order)
            formula = trace.bound_formula(read.formula)
            self._take_in(known)
            self._add(Op(len(trace.ops), kind, origin, formula=formula, text=read.text))

    def fresh(self, lower: int, upper: int | None) -> Unknown:
        """Return a new unknown size."""
        with self._all_or_nothing() as trace:
            made = trace.names.fresh(lower, upper)
            check_sizes(trace, len(trace.names.order) - 1)
        return made

    def _take_in(self, known: int) -> None:
        """Look at the sizes met after the first ``known``; assume what was known of those that gave way to others."""
        trace = self.trace
        check_sizes(trace, known)
        for formula in trace.names.taken():
            if all(a.formula != formula for a in trace.assumptions):
                self._add(Op(len(trace.ops), "assume", None, formula=formula, text=formula_text(formula)))

    def _add(self, op: Op) -> Op:
        """Add an operation and return it with its output; or raise what it clashes with, and leave it out."""
        trace = self.trace
        can_hold = trace.assume(op) if op.kind == "assume" else trace.add(op)
        if op.kind == "assume" and trace.refused:
            # What was refused before, and recorded, is no fact: whether it can be beside this one is still to be asked.
            check_assumptions(trace)
        if can_hold:
            return trace.ops[-1]
        if self.on_conflict == "record":
            return trace.ops[-1]
        assumptions = [a.text for a in trace.assumptions]
        conflict = Answers(trace).conflict
        dropped = trace.drop_last()
        raise IncompatibleProgramError(dropped, conflict or (dropped,), assumptions)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[Trace]:
        """Give the state, to which operations are added; if that raises, none of them is."""
        trace = self.trace
        mark, length = trace.names.mark(), len(trace.ops)
        try:
            yield trace
        except BaseException as error:
            trace.names.undo(mark)
            # What was refused is taken back already. What broke off, as by an interrupt, may be half done.
            if len(trace.ops) > length or not isinstance(error, IncompatibleProgramError):
                del trace.ops[length:]
                self._is_stale = True
            raise
