"""One path of a run: it answers questions from its decisions and requirements, and turns sizes into numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType
from typing import Any, NoReturn

from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import join, modulo
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Compatible, Formula
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import EffortSpentError, Satisfiability, charge, share
from symbcast.core.effort import current as effort_in_force
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.facts import Facts
from symbcast.core.rules import Joined, find_rule
from symbcast.core.solver.evaluation import UndefinedError, evaluated, holds_at, replace_in_formula, size_at, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.incremental import GrowingConjunction
from symbcast.core.solver.size_sets import ALL
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import formula_text
from symbcast.errors import DimensionError
from symbcast.operators.operator import Context, Dims
from symbcast.paths import steps
from symbcast.paths.sizes import sized

# Integers that sizes decide but that are not terms, such as ``int(n * 0.7)`` or ``math.isqrt(n)``.
#
# Such an integer is a symbol of its own, with bounds. That is exact as long as it only becomes the size of results,
# and the bounds decide all questions and requirements about it. At any other question it is given up: the exploration
# starts again, and there the sizes in it become numbers.


class OpaqueSizes:
    """The opaque integers of one run: equal ones have one symbol."""

    def __init__(self, loops: steps.Loops) -> None:
        self._loops = loops
        self._by_key: dict[Hashable, Symbol] = {}
        self._places: dict[Symbol, Hashable] = {}
        self._origins: dict[Any, tuple[str, Any]] = {}

    def known(self, key: Hashable) -> Symbol | None:
        """Return the symbol of an integer that was made before."""
        return self._by_key.get(key)

    def is_refused(self, place: Hashable) -> bool:
        """Return whether the integers of a place were given up in an earlier run."""
        return bool(self._loops.tries.get(("opaque", place)))

    def add(self, symbol: Symbol, key: Hashable, place: Hashable, origin: tuple[str, Any]) -> None:
        """Add a symbol for an integer."""
        self._by_key[key], self._places[symbol], self._origins[symbol] = symbol, ("opaque", place), origin

    def origin(self, dim: Any) -> tuple[str, Any]:
        """Return what computed an opaque integer; empty for other sizes."""
        return self._origins.get(dim, ("", None))

    def are_in(self, formula: Formula) -> bool:
        """Return whether a formula mentions an opaque integer."""
        return bool(self._places) and any(s in self._places for s in symbols_in(formula))

    def refuse(self, formula: Formula) -> None:
        """Give up the first opaque integer in a formula, if any."""
        for symbol in symbols_in(formula):
            if symbol in self._places:
                self._loops.refuse(self._places[symbol])


class Supposition(NamedTuple):
    """Facts that hold in a part of a run, whose key is given up if something is decided there; the facts before."""

    key: Hashable
    kept: tuple[Any, ...]


# The path that is run in this context.
current: ContextVar[Path | None] = ContextVar("current", default=None)

# Units of effort for one question about the facts of a path, within what is left for all paths; beyond, it is open.
QUESTION = 200_000
# The fixed cost of each question, so that a run with endless questions is stopped.
_ASKED = 50


class Path(Context):
    """One run: its facts are the assumptions, its decisions and its requirements.

    A comparison that the facts decide is answered from them. Otherwise the run takes the answer that holds at the
    current sizes and keeps the other answer as an `Alternative`.

    Attributes:
        steps: the decisions and requirements, in order.
        questions: the questions, in order; first those of ``prefix``, with the same answers.
        alternatives: the alternatives for other runs to try.
        size_class: the class of its sizes, if not `symbcast.paths.sizes.Size`.
        untraced: why the path is unknown; None if it was traced.
        hashes: whether sizes can be hashed as numbers; False if libraries might keep sizes in their caches.
        is_key: whether a frame compared a key with all keys of a dict before it looks for it.
        keyed: the dicts and sets that have sizes as keys, each with what was in it before.
        may_leak_size: whether an error with a size in its message may have been caught.
        is_guarded: whether the tracer itself catches errors of the running code.
        diverged: how the run differs from the earlier run whose first answers it repeats; empty if it does not differ.
        room: the number of alternatives that may still be followed.
        numbers: the places where sizes had to become numbers.
        opaque_sizes: the integers that sizes decide but that are not terms.
        pairs: broadcasts that put one size on two axes, though no operand has it twice: the line, and the operands.
        numbering: the numbers of its values, if arrays are traced (`symbcast.arrays.numbering`).
        data_lines: the lines where unsuitable values of data raise an error, such as an index out of bounds.
        loops: what is known about loops over sizes.
        growing: its facts, with sizes at which, as far as is known, all of them hold.
        takes_opaque: whether integers that are not terms may be symbols, and not numbers.
    """

    def __init__(
        self, assumed: Iterable[Formula], prefix: steps.Alternative, min_size: int, data: dict[tuple[Any, ...], Unknown]
    ) -> None:
        self.min_size = min_size
        self.bounds = Bounds({})
        self.steps: list[steps.PathStep] = []
        self.questions: list[steps.PathQuestion] = []
        self.alternatives: list[steps.Alternative] = []
        self.untraced: steps.UntracedError | None = None
        self.diverged = ""
        self.room = sys.maxsize
        self.numbers: list[steps.CodePlace] = []
        self.pairs: list[tuple[steps.CodePlace, tuple[Dims, ...]]] = []
        self.data_lines: dict[steps.CodePlace, None] = {}
        self.home = ""
        self.numbering: Any = None
        self.loops = steps.Loops()
        self.takes_opaque = False
        self.opaque_sizes = OpaqueSizes(self.loops)
        self.may_leak_size = self.is_guarded = False
        self._handled = sys.exc_info()[1]
        self.hashes = True
        self.is_key: Callable[[FrameType], bool] = lambda _: False
        self.keyed: list[tuple[Any, Any]] = []
        self.size_class: Callable[..., Any] | None = None
        self.root: FrameType | None = None
        self.operation = ""
        self.operands: tuple[Dims, ...] = ()
        self._prefix = prefix
        self._data = data
        self._data_count: dict[steps.CodePlace, int] = {}
        self.turns = steps.IterationCounts()
        self._refused = 0
        self._facts = Facts(0)  # the minimum size is for inputs only: data may leave nothing
        self.growing = GrowingConjunction()
        for size, value in prefix.sizes.items():
            self.growing.start(size, value)
        self._known: dict[Formula, bool] = {}
        self._registered: set[Symbol] = set()
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
        self._register(formula)
        known = self._known_answer(formula)
        if known is not None:
            return known
        number = len(self.questions)
        if number < len(self._prefix.questions):
            question = self._prefix.questions[number]
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
        self._known[formulas.opposite(formula)] = not question.answer
        if question.is_open:
            self.loops.loosen(symbols_in(formula))
            decided = formula if question.answer else formulas.opposite(formula)
            self.steps.append(steps.PathStep("decide", decided, self.place()))
            self._learn(decided)
        return question.answer

    def _check_turns(self, formula: Formula, answer: bool) -> bool | None:
        """End the path after too many turns of a loop whose end is an open question.

        Return the answer that leaves a loop that data decide, if another turn would begin like the one before.
        """
        symbols = frozenset(symbols_in(formula))
        if not symbols.isdisjoint(self.loops.born):
            symbols = frozenset()  # data decide
        if symbols and not any(
            True for d in formulas.dims_of(formula) if not isinstance(d, int) for _ in d.operations()
        ):
            return None  # no term grows from turn to turn: counted effort is the limit
        iteration = self.turns.turn(sys._getframe(1), self.root, symbols, answer)
        if iteration.is_over:
            self.fail_to_trace(
                f"more than {steps.iteration_limit(symbols)} turns of a loop, or nested calls, are not followed"
            )
        # If another turn would begin like the one before, leaving the loop is no decision: all data lead to the same.
        return None if symbols else iteration.way_out

    def _answered(self, formula: Formula, is_number: bool) -> steps.PathQuestion:
        """Return a question with the answer at the current sizes; keep the other answer if the facts allow it."""
        answer = holds_at(formula, self.growing.sizes)
        other = formulas.opposite(formula) if answer else formula
        effort = effort_in_force()
        has_room = len(self.alternatives) <= self.room and (effort is None or effort.left > 0)
        # If there is no room to follow the other answer, or no effort is left, it is kept without checking the facts.
        satisfiability, sizes = self._checked(other) if has_room else (Satisfiability.UNKNOWN, {})
        if satisfiability is Satisfiability.UNSATISFIABLE:
            return steps.PathQuestion(formula, answer, False)
        self.loops.check(symbols_in(formula))
        self.loops.check_supposed()
        self.opaque_sizes.refuse(formula)
        if not is_number:
            left = self._check_turns(formula, answer)
            if left is not None:
                return steps.PathQuestion(formula, left, False)
        question = steps.PathQuestion(formula, answer, True, is_number)
        self._refused += question.is_refused
        if self._refused > steps.MAX_REFUSED:
            self.fail_to_trace(f"more than {steps.MAX_REFUSED} turns of a loop over a size are not followed one by one")
        turned = (*self.questions, question._replace(answer=not answer))
        so_far = (*self.steps, steps.PathStep("decide", other, self.place()))
        self.alternatives.append(steps.Alternative(turned, sizes or dict(self.growing.sizes), so_far))
        return question

    def _checked(self, other: Formula) -> tuple[Satisfiability, dict[Symbol, int]]:
        """Return whether a formula is consistent with the facts, and sizes at which it holds."""
        with suppress(EffortSpentError), share(QUESTION):
            return self.growing.check([other])
        return Satisfiability.UNKNOWN, {}

    def _can_hold(self) -> Satisfiability:
        """Return whether the facts are consistent."""
        with suppress(EffortSpentError), share(QUESTION):
            return self.growing.can_hold()
        return Satisfiability.UNKNOWN

    # Requirements.

    def require(self, formula: Formula, reason: str, error: type[Exception] = ValueError) -> None:
        """Require that a formula holds; raise the error if it cannot."""
        formula = evaluated(formula)
        known = self._known_answer(formula)
        if formula == TRUE or known:
            return
        if formula == FALSE or known is False:
            raise error(reason)
        if self.loops.partial and not self.implies(formula):
            self.loops.check_reached(formula)
        # A requirement on a loop's index must hold in each iteration: linear ones do if both ends do.
        if self.loops.varying and self._requires_ends(formula, reason, error):
            return
        if self.opaque_sizes.are_in(formula):
            if not self.implies(formula):
                self.opaque_sizes.refuse(formula)
            return
        # The sizes at which it fails are not a separate path, unless the code would catch the error.
        if self.is_guarded or steps.would_be_caught(sys._getframe(1), self.root):
            if not self.ask(formula):
                raise error(reason)
            return
        length = len(self.growing)
        self._register(formula)
        self.growing.add(formula)
        # Take it back: the error is raised at sizes where the requirement does not hold, and the code may catch it.
        if self._can_hold() is Satisfiability.UNSATISFIABLE:
            self.growing.shrink(length)
            raise error(reason)
        self.loops.check_joined(symbols_in(formula))
        self.loops.check_supposed()
        self._record(formula)
        place = self.place()
        self.steps.append(
            steps.PathStep("require", formula, place, self.operation, reason, self.operands, error.__name__)
        )

    def refuse(self, reason: str) -> NoReturn:
        raise ValueError(reason)

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        emission = find_rule(rule, attributes).emit(shapes)
        for constraint in emission.constraints:
            self.require(constraint.requirement, constraint.reason)
        dims = []
        for dim in emission.output:
            if isinstance(dim, Joined):
                # A broadcast of one size with itself or 1 requires nothing.
                members = [m for m in dict.fromkeys(dim) if m != 1]
                if len(members) > 1:
                    self.require(Compatible(tuple(members)), "the sizes must be equal or 1")
                    dims.append(self._facts.join(members))
                else:
                    dims.append(join(members))
            else:
                dims.append(dim)
        output = tuple(self.written(dims))
        self._note_pairs(shapes, output)
        return output

    def _note_pairs(self, shapes: tuple[Dims, ...], output: Dims) -> None:
        """Note a broadcast that puts one size on two axes, though no operand has it twice: (N,) with (N, 1)."""
        named = [d for d in output if not isinstance(d, int)]
        if any(named.count(d) > max(s.count(d) for s in shapes) for d in dict.fromkeys(named)):
            self.pairs.append((self.place(), tuple(map(tuple, shapes))))

    def is_within(self, start: Dim, stop: Dim, size: Dim) -> bool:
        """Return whether the facts imply ``0 <= start <= stop <= size`` where an index or an opaque integer occurs."""
        ordered = (formulas.at_most(0, start), formulas.at_most(start, stop), formulas.at_most(stop, size))
        # The bounds of terms know nothing of these.
        if not any(self.opaque_sizes.are_in(f) or self.loops.are_in(f) for f in ordered):
            return False
        return all(self.implies(f) for f in ordered)

    def implies(self, formula: Formula) -> bool:
        """Return whether the facts are known to imply a formula."""
        return evaluated(formula) == TRUE or self._checked(formulas.negate(formula))[0] is Satisfiability.UNSATISFIABLE

    def written(self, dims: Iterable[Dim]) -> Dims:
        """Return dimensions simplified by the facts."""
        return tuple(d if isinstance(d, int) else self._facts.dim(d) for d in dims)

    # Facts.

    def _known_answer(self, formula: Formula) -> bool | None:
        """Return whether a formula holds, from known answers and sets of sizes; None if these do not decide it."""
        known = self._known.get(formula)
        if known is None:
            # A question about one size that its set answers needs no solver: a hundred take 2.6 ms instead of 7.
            dims = {s: self._facts.dim(s) for s in symbols_in(formula)}
            sizes = {s: size for s, size in dims.items() if isinstance(size, int)}
            is_fixed = bool(dims) and len(sizes) == len(dims)
            known = holds_at(formula, sizes) if is_fixed else self._facts.decides(formula)
            if known is not None:
                self._known[formula] = known
        return known

    def _learn(self, formula: Formula) -> None:
        self._register(formula)
        self.growing.add(formula)
        self._can_hold()
        self._record(formula)

    def _record(self, formula: Formula) -> None:
        self._known[formula] = True
        try:
            self._facts.add([formula])
            self._facts.keep()
        except DimensionError:
            return
        for size in symbols_in(formula):
            self.bounds.learn(size, self._facts.least(size))

    def _register(self, formula: Formula) -> None:
        for size in symbols_in(formula):
            if size not in self._registered:
                self._registered.add(size)
                least = 0 if size in self._data.values() else self.min_size
                own = own_set(size, least)
                if own is not ALL:
                    self.growing.add(set_formula(size, own))
                    self._facts.add([set_formula(size, own)])
                    self._facts.keep()
                    self.bounds.learn(size, max(least, size.lower))
                # Start at 2 or more: 0 and 1 broadcast and take rare branches, which later paths try.
                least = max(2, least, size.lower) if size.upper is None else size.lower
                self.growing.start(size, least)

    # Numbers.

    def number(self, dim: Dim) -> int:
        """Return a dimension as a number, and restrict this path to that number."""
        if isinstance(dim, int):
            return dim
        self.check_current()
        known = self._facts.dim(dim)
        if isinstance(known, int):
            return known
        self.loops.refuse_written(sys._getframe(1), self.root, is_size=True)
        self.numbers.append(self.place())
        while True:
            value = self._value_to_try(dim)
            if self.ask(formulas.equal(dim, value), is_number=True):
                return value

    def _value_to_try(self, dim: Dim) -> int:
        number = len(self.questions)
        if number < len(self._prefix.questions):
            prefix = self._prefix.questions[number].formula
            if isinstance(prefix, Comparison) and prefix.left == dim and isinstance(prefix.right, int):
                return prefix.right
        self._register(formulas.equal(dim, 0))
        try:
            return size_at(dim, self.growing.sizes)
        except (ZeroDivisionError, UndefinedError):
            self.fail_to_trace(f"{dim} has no value")

    def shown(self, dim: Dim) -> int:
        """Return a number that a dimension can be on this path, without deciding anything."""
        self._register(formulas.equal(dim, 0))
        return size_at(dim, self.growing.sizes)

    def values(self, symbols: Iterable[Symbol]) -> dict[Symbol, int]:
        """Return numbers for symbols, and restrict this path to them."""
        return {s: self.number(s) for s in symbols}

    def sized(self, dim: Dim) -> Any:
        """Return a dimension as a number or size that code can compute with."""
        return sized(dim, self)

    def data_size(
        self, what: str, lower: int = 0, upper: int | None = None, joins: tuple[Hashable, ...] = ()
    ) -> Unknown:
        """Return a data-dependent number; runs get the same one for the same visit to the same line.

        If values were joined to get it, it may have more values than data lead to.
        """
        place = self.place()
        count = self._data_count[place] = self._data_count.get(place, 0) + 1
        key = (place, count, what, lower, upper)
        if key not in self._data:
            self._data[key] = Unknown(f"?{what}{len(self._data) or ''}", lower, upper)
        self.loops.add_data(self._data[key])
        if joins:
            self.loops.loose[self._data[key]] = tuple(joins)
        return self._data[key]

    def opaque(
        self, key: Hashable, low: Dim | None, high: Dim | None, origin: tuple[str, Any], *, is_even: bool = False
    ) -> Any:
        """Return an integer that sizes decide, of which only bounds are known; None if it must become a number."""
        known, place = self.opaque_sizes.known(key), self.place()
        if known is not None:
            return self.sized(known)
        if not self.takes_opaque or low is None or self.opaque_sizes.is_refused(place):
            return None
        if not self.bounds.is_at_least(low, 0) and not self.ask(formulas.at_most(0, low)):
            return None
        # At the other sizes the function has no such value.
        if high is not None and not self.ask(formulas.at_most(low, high)):
            return None
        symbol = self.data_size("rounded")
        self.opaque_sizes.add(symbol, key, place, origin)
        self.suppose(formulas.at_most(low, symbol))
        if high is not None:
            self.suppose(formulas.at_most(symbol, high))
        if is_even:
            self.suppose(formulas.equal(modulo(symbol, 2), 0))
        return self.sized(symbol)

    def origin(self, dim: Dim) -> tuple[str, Any]:
        """Return the function that computed an opaque integer, and its argument; empty for other sizes."""
        return self.opaque_sizes.origin(dim)

    # Loops.

    def loop_index(self, key: Hashable, last: Dim, facts: Callable[[Symbol], Iterable[Formula]]) -> Symbol:
        """Return a symbol for the index of a loop: at least 0, at most ``last``, and with more facts."""
        symbol = self.loops.index(key, last)
        for fact in (formulas.at_most(symbol, last), *facts(symbol)):
            self._learn(fact)
        return symbol

    def _requires_ends(self, formula: Formula, reason: str, error: type[Exception]) -> bool:
        """Require a formula for all indices of loops: one that is linear in an index must hold at both ends."""
        indices = [s for s in symbols_in(formula) if s in self.loops.varying]
        if not indices:
            return False
        if self.implies(formula):
            return True
        key, last = self.loops.varying[indices[0]]
        if last is None:
            return False
        if len(indices) > 1 or not steps.is_linear(formula, indices[0]):
            self.loops.refuse(key)
        first, end = (replace_in_formula(formula, {indices[0]: at}) for at in (0, last))
        self.require(first, reason, error)
        left = self.loops.that_may_be_left(indices[0])
        if left is None or self.implies(end):
            self.require(end, reason, error)
            return True
        # Data may leave the loop before its last iteration: it is required where the loop is not left, and at its stop.
        left.delayed.append((end, reason, error, self.place(), self.operation, self.operands))
        self.require(replace_in_formula(formula, {indices[0]: left.stop()}), reason, error)
        self._learn(formula)
        return True

    def require_delayed(self, loop: Any) -> None:
        """Require of the last iteration of a loop that is not left what was required of the others."""
        for formula, reason, error, place, *doing in loop.delayed:
            self.require(formula, reason, error)
            if self.steps and self.steps[-1].formula == formula:
                self.steps[-1] = self.steps[-1]._replace(place=place, operation=doing[0], operands=doing[1])
        loop.delayed.clear()

    def is_open(self, formula: Formula) -> bool:
        """Return whether neither a formula nor its negation is known to follow from the facts."""
        return not self.implies(formula) and not self.implies(formulas.negate(formula))

    def begin(self, key: Hashable, facts: Iterable[Formula] = ()) -> Supposition:
        """Suppose facts until `end`: what is learned until then is forgotten, and nothing may be decided or required.

        ``key`` is what to give up if something is.
        """
        kept = self.growing, self._facts, self.bounds, self._known, self._registered
        supposition = Supposition(key, kept)
        self.loops.supposed.append(supposition)
        if facts:
            self.growing, self._facts, self.bounds = self.growing.copy(), self._facts.copy(), self.bounds.copy()
            self._known, self._registered = dict(self._known), set(self._registered)
        for fact in facts:
            self._learn(fact)
        return supposition

    def end(self, supposition: Supposition) -> None:
        """Forget what was supposed; one that was left without its end, by a ``break``, is given up."""
        last = self.loops.supposed.pop()
        if last is not supposition:
            self.loops.refuse(last.key)
        self.growing, self._facts, self.bounds, self._known, self._registered = supposition.kept

    def suppose(self, formula: Formula) -> None:
        """Add a fact that always holds, such as: the count of true elements is at most the element count."""
        self.loops.check_supposed()
        self._learn(formula)
        self.steps.append(steps.PathStep("suppose", formula, self.place()))

    # Where it is.

    def place(self) -> steps.CodePlace:
        """Return the line of the user's code that is running."""
        return steps.place_of(sys._getframe(1), self.root, self.home)

    def check_current(self) -> None:
        """Raise `UntracedError` if another path or thread is running: then a size outlived its run."""
        running = current.get()
        if running is not self:
            (running or self).fail_to_trace("a size is used outside its own run or thread")

    def is_running(self) -> bool:
        """Return whether this path is the one that runs in this thread."""
        return current.get() is self

    def is_for_message(self, frame: FrameType) -> bool:
        """Return whether the text that a frame makes is used only in an error or in an uncaught warning."""
        is_handling = sys.exc_info()[1] not in (None, self._handled)
        kind = "raise" if is_handling else steps.message_of(frame, self.root)
        # An error with a size in its message may be caught by a handler that raises no other error. Such a path is
        # unknown unless the run ends in an error.
        is_caught = is_handling or (bool(kind) and steps.would_be_caught(frame, self.root))
        self.may_leak_size = self.may_leak_size or (kind == "raise" and is_caught)
        return kind == "raise" or (kind == "warn" and not is_caught)

    def repeats_prefix(self) -> bool:
        """Return whether the run repeated the steps of the earlier run whose first answers it was given."""
        prefix = self._prefix.steps
        return [s.formula for s in prefix] == [s.formula for s in self.steps[: len(prefix)]]

    def fail_to_trace(self, what: str, *, is_compiled: bool = False) -> NoReturn:
        """Mark this path as unknown from here on, with the reason. Raises `UntracedError`."""
        error = steps.UntracedError(what, self.place(), is_compiled=is_compiled)
        self.untraced = self.untraced or error
        raise error

    @contextmanager
    def doing(self, operation: str, operands: Iterable[Dims] = ()) -> Iterator[None]:
        """Set the current operation and its operands in this context."""
        before = self.operation, self.operands
        self.operation, self.operands = operation, tuple(operands)
        try:
            yield
        finally:
            self.operation, self.operands = before
