"""One run along one path: it answers each question from its decisions and requirements so far."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.core.algebra.arithmetic import join
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.broadcasting import Joined, find_rule
from symbcast.core.effort import EffortSpentError, charge, share
from symbcast.core.effort import current as effort_in_force
from symbcast.core.logic.formulas import FALSE, TRUE, Compatible, Formula, at_most, dims_of, negate, opposite
from symbcast.core.program.facts.facts import Facts
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.answer import Satisfiability
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.core.solver.satisfiability.incremental import Growing
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.sets.size_sets import ALL
from symbcast.core.text.printing import formula_text
from symbcast.errors import DimensionError
from symbcast.operators.context import Dims, evaluated
from symbcast.paths.places import Place, message_of, place_of, would_be_caught
from symbcast.paths.runs.indices import Loops, is_linear
from symbcast.paths.runs.numbers import Numbers
from symbcast.paths.runs.opaque import OpaqueSizes
from symbcast.paths.runs.steps import MAX_REFUSED, Alternative, Question, Step, UntracedError
from symbcast.paths.runs.turns import Turns, most_turns

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

current: ContextVar[Path | None] = ContextVar("current", default=None)
"""The path that is run in this context."""

QUESTION = 200_000
"""Units of effort for one question about the facts of a path, within what is left for all paths; beyond, it is open."""
_ASKED = 50
"""The fixed cost of each question, so that a run with endless questions is stopped."""


class Path(Numbers):
    """One run: its facts are the assumptions, its decisions and its requirements.

    A comparison that the facts decide is answered from them. Otherwise the run takes the answer that holds at the
    current sizes and keeps the other answer as an `Alternative`.

    Attributes:
        steps: the decisions and requirements, in order.
        questions: the questions, in order; first those of ``begun``, with the same answers.
        alternatives: the alternatives for other runs to try.
        size_class: the class of its sizes, if not `symbcast.paths.values.size.Size`.
        untraced: why the path is unknown; None if it was traced.
        hashes: whether sizes can be hashed as numbers; False if libraries might keep sizes in their caches.
        has_told: whether an error with a size in its message may have been caught.
        is_guarded: whether the tracer itself catches errors of the running code.
        diverged: how the run differs from the earlier run whose first answers it repeats; empty if it does not differ.
        room: the number of alternatives that may still be followed.
        numbers: the places where sizes had to become numbers.
        pairs: broadcasts that put one size on two axes, though no operand has it twice: the line, and the operands.
        loops: what is known about loops over sizes.
        takes_opaque: whether integers that are not terms may be symbols, and not numbers.
    """

    def __init__(
        self, assumed: Iterable[Formula], begun: Alternative, min_size: int, data: dict[tuple[Any, ...], Unknown]
    ) -> None:
        self.min_size = min_size
        self.bounds = Bounds({})
        self.steps: list[Step] = []
        self.questions: list[Question] = []
        self.alternatives: list[Alternative] = []
        self.untraced: UntracedError | None = None
        self.diverged = ""
        self.room = sys.maxsize
        self.numbers: list[Place] = []
        self.pairs: list[tuple[Place, tuple[Dims, ...]]] = []
        self.home = ""
        self.loops = Loops()
        self.takes_opaque = False
        self.opaque_sizes = OpaqueSizes(self.loops)
        self.has_told = self.is_guarded = False
        self._handled = sys.exc_info()[1]
        self.hashes = True
        self.size_class: Callable[..., Any] | None = None
        self.root: FrameType | None = None
        self.operation = ""
        self.operands: tuple[Dims, ...] = ()
        self._begun = begun
        self._data = data
        self._data_count: dict[Place, int] = {}
        self.turns = Turns()
        self._refused = 0
        self._facts = Facts(0)  # the minimum size is for inputs only: data may leave nothing
        self._growing = Growing()
        for size, value in begun.sizes.items():
            self._growing.start(size, value)
        self._known: dict[Formula, bool] = {}
        self._met: set[Symbol] = set()
        self.assumed = tuple(assumed)
        for formula in self.assumed:
            self._learn(formula)

    # Questions.

    def ask(self, formula: Formula, *, is_number: bool = False) -> bool:
        """Return whether a formula holds on this path; decide it if the facts leave it open."""
        self.check_current()
        charge(_ASKED)
        formula = evaluated(formula)
        if formula in (TRUE, FALSE):
            return formula == TRUE
        self._meet(formula)
        settled = self._settled(formula)
        if settled is not None:
            return settled
        number = len(self.questions)
        if number < len(self._begun.questions):
            question = self._begun.questions[number]
            if question.formula != formula:
                now, before = map(formula_text, (formula, question.formula))
                self.diverged = f"it compares {now} where it compared {before} earlier"
                self.fail_to_trace(self.diverged)
            if question.is_open and not is_number:
                self._check_turns(formula, question.answer)
        else:
            question = self._answered(formula, is_number)
        self.questions.append(question)
        # The code computed these terms: on this path they have values.
        self._known[formula] = question.answer
        self._known[opposite(formula)] = not question.answer
        if question.is_open:
            decided = formula if question.answer else opposite(formula)
            self.steps.append(Step("decide", decided, self.place()))
            self._learn(decided)
        return question.answer

    def _check_turns(self, formula: Formula, answer: bool) -> bool | None:
        """End the path after too many turns of a loop whose end is an open question.

        Return the answer that leaves a loop that data decide, if another turn would begin like the one before; this is
        no decision, since all data lead to the same.
        """
        symbols = frozenset(s for s in symbols_in(formula) if s not in self.loops.born)
        if symbols and not any(True for d in dims_of(formula) if not isinstance(d, int) for _ in d.operations()):
            return None  # no term grows from turn to turn: counted effort is the limit
        found = self.turns.turn(sys._getframe(1), self.root, symbols, answer)
        if found.is_over:
            self.fail_to_trace(f"more than {most_turns(symbols)} turns of a loop, or nested calls, are not followed")
        return None if symbols else found.way_out

    def _answered(self, formula: Formula, is_number: bool) -> Question:
        """Return a question with the answer at the current sizes; keep the other answer if the facts allow it.

        If there is no room to follow the other answer, or no effort is left, it is kept without checking the facts.
        """
        answer = holds_at(formula, self._growing.sizes)
        other = opposite(formula) if answer else formula
        effort = effort_in_force()
        has_room = len(self.alternatives) <= self.room and (effort is None or effort.left > 0)
        found, sizes = self._checked(other) if has_room else (Satisfiability.UNKNOWN, {})
        if found is Satisfiability.UNSATISFIABLE:
            return Question(formula, answer, False)
        self.loops.check(symbols_in(formula))
        self.opaque_sizes.refuse(formula)
        if not is_number:
            left = self._check_turns(formula, answer)
            if left is not None:
                return Question(formula, left, False)
        question = Question(formula, answer, True, is_number)
        self._refused += question.is_refused
        if self._refused > MAX_REFUSED:
            self.fail_to_trace(f"more than {MAX_REFUSED} turns of a loop over a size are not followed one by one")
        turned = (*self.questions, question._replace(answer=not answer))
        steps = (*self.steps, Step("decide", other, self.place()))
        self.alternatives.append(Alternative(turned, sizes or dict(self._growing.sizes), steps))
        return question

    def _checked(self, other: Formula) -> tuple[Satisfiability, dict[Symbol, int]]:
        """Return whether a formula is consistent with the facts, and sizes at which it holds."""
        with suppress(EffortSpentError), share(QUESTION):
            return self._growing.check([other])
        return Satisfiability.UNKNOWN, {}

    def _can_hold(self) -> Satisfiability:
        """Return whether the facts are consistent."""
        with suppress(EffortSpentError), share(QUESTION):
            return self._growing.can_hold()
        return Satisfiability.UNKNOWN

    # Requirements.

    def require(self, formula: Formula, reason: str, error: type[Exception] = ValueError) -> None:
        """Require that a formula holds; raise the error if it cannot.

        The sizes at which it fails are not a separate path, unless the code would catch the error.
        """
        formula = evaluated(formula)
        settled = self._settled(formula)
        if formula == TRUE or settled:
            return
        if formula == FALSE or settled is False:
            raise error(reason)
        if self.loops.varying and self._requires_ends(formula, reason, error):
            return
        if self.opaque_sizes.are_in(formula):
            if not self.implies(formula):
                self.opaque_sizes.refuse(formula)
            return
        if self.is_guarded or would_be_caught(sys._getframe(1), self.root):
            if not self.ask(formula):
                raise error(reason)
            return
        length = len(self._growing)
        self._meet(formula)
        self._growing.add(formula)
        if self._can_hold() is Satisfiability.UNSATISFIABLE:
            self._growing.shrink(length)
            raise error(reason)
        self._told(formula)
        place = self.place()
        self.steps.append(Step("require", formula, place, self.operation, reason, self.operands, error.__name__))

    def refuse(self, reason: str) -> NoReturn:
        raise ValueError(reason)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        emission = find_rule(rule, attributes).emit(shapes)
        for asked in emission.constraints:
            self.require(asked.requirement, asked.reason)
        found = []
        for dim in emission.output:
            if isinstance(dim, Joined):
                members = [m for m in dict.fromkeys(dim) if m != 1]
                if len(members) > 1:
                    self.require(Compatible(tuple(members)), "the sizes must be equal or 1")
                    found.append(self._facts.join(members))
                else:
                    found.append(join(members))
            else:
                found.append(dim)
        output = tuple(self.written(found))
        self._note_pairs(shapes, output)
        return output

    def _note_pairs(self, shapes: tuple[Dims, ...], output: Dims) -> None:
        """Note a broadcast that puts one size on two axes, though no operand has it twice: (N,) with (N, 1)."""
        named = [d for d in output if not isinstance(d, int)]
        if any(named.count(d) > max(s.count(d) for s in shapes) for d in dict.fromkeys(named)):
            self.pairs.append((self.place(), tuple(map(tuple, shapes))))

    def is_within(self, start: Dim, stop: Dim, size: Dim) -> bool:
        """Return whether the facts imply ``0 <= start <= stop <= size`` where an index or an opaque integer occurs.

        The bounds of terms know nothing of these.
        """
        asked = (at_most(0, start), at_most(start, stop), at_most(stop, size))
        if not any(self.opaque_sizes.are_in(f) or self.loops.are_in(f) for f in asked):
            return False
        return all(self.implies(f) for f in asked)

    def implies(self, formula: Formula) -> bool:
        """Return whether the facts are known to imply a formula."""
        return evaluated(formula) == TRUE or self._checked(negate(formula))[0] is Satisfiability.UNSATISFIABLE

    def written(self, dims: Iterable[Dim]) -> Dims:
        """Return dimensions simplified by the facts."""
        return tuple(d if isinstance(d, int) else self._facts.dim(d) for d in dims)

    # Facts.

    def _settled(self, formula: Formula) -> bool | None:
        """Return whether a formula holds, from known answers and sets of sizes; None if these do not decide it."""
        found = self._known.get(formula)
        if found is None:
            dims = {s: self._facts.dim(s) for s in symbols_in(formula)}
            sizes = {s: size for s, size in dims.items() if isinstance(size, int)}
            is_fixed = bool(dims) and len(sizes) == len(dims)
            found = holds_at(formula, sizes) if is_fixed else self._facts.decides(formula)
            if found is not None:
                self._known[formula] = found
        return found

    def _learn(self, formula: Formula) -> None:
        self._meet(formula)
        self._growing.add(formula)
        self._can_hold()
        self._told(formula)

    def _told(self, formula: Formula) -> None:
        self._known[formula] = True
        try:
            self._facts.tell([formula])
            self._facts.keep()
        except DimensionError:
            return
        for size in symbols_in(formula):
            self.bounds.learn(size, self._facts.least(size))

    def _meet(self, formula: Formula) -> None:
        for size in symbols_in(formula):
            if size not in self._met:
                self._met.add(size)
                least = 0 if size in self._data.values() else self.min_size
                own = own_set(size, least)
                if own is not ALL:
                    self._growing.add(describe(size, own))
                    self._facts.tell([describe(size, own)])
                    self._facts.keep()
                    self.bounds.learn(size, max(least, size.lower))
                least = max(2, least, size.lower) if size.upper is None else size.lower
                self._growing.start(size, least)

    # Loops.

    def loop_index(self, key: Hashable, last: Dim, facts: Callable[[Symbol], Iterable[Formula]]) -> Symbol:
        """Return a symbol for the index of a loop: at least 0, at most ``last``, and with more facts."""
        symbol = self.loops.index(key, last)
        for fact in (at_most(symbol, last), *facts(symbol)):
            self._learn(fact)
        return symbol

    def _requires_ends(self, formula: Formula, reason: str, error: type[Exception]) -> bool:
        """Require a formula for all indices of loops: one that is linear in an index must hold at both ends."""
        found = [s for s in symbols_in(formula) if s in self.loops.varying]
        if not found:
            return False
        if self.implies(formula):
            return True
        key, last = self.loops.varying[found[0]]
        if last is None:
            return False
        if len(found) > 1 or not is_linear(formula, found[0]):
            self.loops.refuse(key)
        for end in (0, last):
            self.require(put_in(formula, {found[0]: end}), reason, error)
        return True

    def suppose(self, formula: Formula) -> None:
        """Add a fact that always holds, such as: the count of true elements is at most the element count."""
        self._learn(formula)
        self.steps.append(Step("suppose", formula, self.place()))

    @property
    def sizes(self) -> Mapping[Symbol, int]:
        """Sizes at which, as far as is known, all decisions and requirements hold."""
        return self._growing.sizes

    # Where it is.

    def place(self) -> Place:
        """Return the line of the user's code that is running."""
        return place_of(sys._getframe(1), self.root, self.home)

    def check_current(self) -> None:
        """Raise `UntracedError` if another path or thread is running: then a size outlived its run."""
        running = current.get()
        if running is not self:
            (running or self).fail_to_trace("a size is used outside its own run or thread")

    def is_running(self) -> bool:
        """Return whether this path is the one that runs in this thread."""
        return current.get() is self

    def is_for_message(self, frame: FrameType) -> bool:
        """Return whether the text that a frame makes is used only in an error or in an uncaught warning.

        An error with a size in its message may be caught by a handler that raises no other error. Such a path is
        unknown unless the run ends in an error.
        """
        is_handling = sys.exc_info()[1] not in (None, self._handled)
        kind = "raise" if is_handling else message_of(frame, self.root)
        is_caught = is_handling or (bool(kind) and would_be_caught(frame, self.root))
        self.has_told = self.has_told or (kind == "raise" and is_caught)
        return kind == "raise" or (kind == "warn" and not is_caught)

    def is_begun_alike(self) -> bool:
        """Return whether the run repeated the steps of the earlier run whose first answers it was given."""
        begun = self._begun.steps
        return [s.formula for s in begun] == [s.formula for s in self.steps[: len(begun)]]

    def fail_to_trace(self, what: str, *, is_compiled: bool = False) -> NoReturn:
        """Mark this path as unknown from here on, with the reason. Raises `UntracedError`."""
        error = UntracedError(what, self.place(), is_compiled=is_compiled)
        self.untraced = self.untraced or error
        raise error

    def doing(self, operation: str, operands: Iterable[Dims] = ()) -> Callable[[], None]:
        """Set the current operation and its operands; return a function that restores the previous ones."""
        before = self.operation, self.operands
        self.operation, self.operands = operation, tuple(operands)

        def undo() -> None:
            self.operation, self.operands = before

        return undo
