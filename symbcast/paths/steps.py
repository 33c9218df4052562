"""What a path consists of: decisions and requirements, questions, and loops over sizes with their iterations."""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, Literal, NamedTuple, NoReturn

from symbcast.core.algebra.arithmetic import add, replace_symbols, subtract
from symbcast.core.algebra.formulas import Comparison, Formula
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.solver.normal_form import symbols_in
from symbcast.errors import SymbcastError
from symbcast.operators.context import Dims
from symbcast.paths.places import NOWHERE, CodePlace, own_frame

# The maximum number of values that one run rejects for sizes that become numbers; each leaves another path.
MAX_REFUSED = 64


class UntracedError(SymbcastError):
    """The run did something that the tracer does not support, so the path is unknown.

    ``what`` describes it, and ``place`` is the line that did it. ``is_compiled`` says that compiled code got an array
    without data: a real call might make it write out of bounds, as compiled code may not check sizes.
    """

    def __init__(self, what: str, place: CodePlace = NOWHERE, *, is_compiled: bool = False) -> None:
        super().__init__(what, place)
        self.what = what
        self.place = place
        self.is_compiled = is_compiled

    def __str__(self) -> str:
        return f"{self.what}, at {self.place}: {self.place.source}" if self.place.file else self.what


class LoopRefusedError(BaseException):
    """The iterations of a loop differ, so one symbolic iteration cannot represent them; ``key`` identifies the loop.

    It is no `Exception`, so that the traced code does not catch it.
    """

    def __init__(self, key: Hashable) -> None:
        super().__init__(key)
        self.key = key


class PathStep(NamedTuple):
    """A decision or a requirement of a path.

    Attributes:
        kind: ``"decide"``: the run took the branch on which the formula holds; ``"require"``: the run continues only
            where the formula holds, and fails with ``error`` elsewhere; ``"suppose"``: the formula holds for all data.
        formula: the formula that holds from here on.
        place: the responsible line.
        operation: the operation on the line, such as ``"matmul"``; empty for a decision.
        reason: why the formula is required, in words.
        operands: the shapes of the operands.
        error: the type of the error raised where the formula does not hold.
    """

    kind: Literal["decide", "require", "suppose"]
    formula: Formula
    place: CodePlace
    operation: str = ""
    reason: str = ""
    operands: tuple[Dims, ...] = ()
    error: str = ""


class PathQuestion(NamedTuple):
    """A question that a run asked, and its answer; ``is_open`` says whether the facts allow both answers."""

    formula: Formula
    answer: bool
    is_open: bool
    is_number: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the answer rejects a value for a size that had to become a number, or takes another row."""
        return self.is_number and self.answer is not _is_equality(self.formula)


class Alternative(NamedTuple):
    """The questions up to an open one, which gets its other answer, and sizes at which these answers hold.

    ``steps`` are the decisions and requirements up to that point.
    """

    questions: tuple[PathQuestion, ...]
    sizes: Mapping[Symbol, int]
    steps: tuple[PathStep, ...] = ()

    @property
    def refused_numbers(self) -> int:
        """The number of values rejected where a size had to become a number, plus rows of arrays already iterated."""
        return sum(q.is_refused for q in self.questions)


def _is_equality(formula: Formula) -> bool:
    return isinstance(formula, Comparison) and formula.operator == "=="


# Loops over sizes in a run, and formulas that hold for all indices if they hold at both ends.


@lru_cache(maxsize=1000)
def loop_symbol(key: Hashable, number: int) -> Unknown:
    """Return the symbol of a loop's index: all runs use the same one."""
    return Unknown("?index", 0, None)


class Choices:
    """Loops of several paths in which an iteration adds an item to a list after data were asked.

    Either data decide whether it adds one: then another path, which decides the same about sizes, adds none. Or each
    path adds one: then it is known only at the end, and the paths are followed again.

    Attributes:
        items: the item of the first path, by the loop and what was decided about sizes; it must be that of all paths.
        skipped: where an iteration added none.
        always: where each iteration adds one, as earlier runs found.
    """

    def __init__(self, always: Iterable[tuple[Hashable, ...]] = ()) -> None:
        self.items: dict[tuple[Hashable, ...], Any] = {}
        self.skipped: set[tuple[Hashable, ...]] = set()
        self.always = frozenset(always)

    @property
    def unskipped(self) -> frozenset[tuple[Hashable, ...]]:
        """Where each path added an item, which earlier runs did not know."""
        return frozenset(self.items.keys() - self.skipped - self.always)

    @property
    def unsettled(self) -> set[Hashable]:
        """The loops of which an earlier run did not know all places where each path adds an item.

        Every run might find others: the next one iterates over numbers there.
        """
        return {where[0] for where in self.unskipped} & {where[0] for where in self.always}


class Loops:
    """The loops over sizes of one run.

    Attributes:
        running: the loops that are running for a symbolic index.
        varying: the symbols that differ between iterations, each with the loop's key; for an index, also the last one.
        refused: the key of the loop that was given up, if any.
        tries: how often each loop was given up in earlier runs, by its key.
        batches: a size and a step, for each range from 0 with this step.
        born: the data-dependent numbers of the run, in order.
        choices: what data choose in loops, in all runs.
    """

    def __init__(self) -> None:
        self.running: list[Any] = []
        self.varying: dict[Symbol, tuple[Hashable, Dim | None]] = {}
        self.refused: Hashable = None
        self.tries: Mapping[Hashable, int] = {}
        self.batches: list[tuple[Dim, Dim]] = []
        self.born: list[Symbol] = []
        self.choices = Choices()

    def index(self, key: Hashable, last: Dim) -> Symbol:
        """Return the symbol of the next index of a loop."""
        symbol = loop_symbol(key, sum(k == key for k, _ in self.varying.values()))
        self.varying[symbol] = key, last
        return symbol

    def are_in(self, formula: Formula) -> bool:
        """Return whether a formula mentions an index, or a number of an iteration."""
        return bool(self.varying) and any(s in self.varying for s in symbols_in(formula))

    def add_data(self, size: Symbol) -> None:
        """Add a data-dependent number: in a loop, each iteration has its own."""
        self.born.append(size)
        if self.running:
            self.varying[size] = self.running[-1].key, None

    def check(self, symbols: Iterable[Symbol]) -> None:
        """Give up the loop whose index is among the symbols of an open question."""
        for symbol in symbols:
            key, last = self.varying.get(symbol, (None, None))
            if last is not None:
                self.refuse(key)

    def refuse(self, key: Hashable) -> NoReturn:
        """Give up a loop: its iterations differ."""
        self.refused = self.refused or key
        raise LoopRefusedError(key)


def is_linear(formula: Formula, index: Symbol) -> bool:
    """Return whether a formula is an inequality that is linear in an index."""
    if not isinstance(formula, Comparison) or formula.operator not in ("<", "<="):
        return False
    difference = subtract(formula.left, formula.right)
    # A term is linear in the index if its second difference is 0; then it holds in between if it holds at both ends.
    at = [replace_symbols(difference, {index: add(index, n)}) for n in range(3)]
    return subtract(at[2], at[1]) == subtract(at[1], at[0])


# Turns of loops, and nested calls, whose number is an open question: only so many are followed.


# How many turns are followed if quotients of sizes decide whether there is another: their periods double each time.
MAX_ITERATIONS = 6
# The same where only data decide: such a turn adds no term.
MAX_DATA_ITERATIONS = 24


class PathIteration(NamedTuple):
    """A turn of a loop.

    Attributes:
        is_over: whether there are too many turns.
        way_out: the answer that leaves the loop, if this turn begins with the state of the last one.
    """

    is_over: bool
    way_out: bool | None = None


class IterationCounts:
    """Counts how often each instruction of a frame asks about the same sizes, as loops and recursions do.

    Questions about other sizes do not count as turns: a loop may compare the axes of arrays. Frames are kept, so that a
    new one is not taken for an old one.

    Attributes:
        state_of: returns the state of a frame, if all of it is known; it equals that of another turn that follows from
            there alike, but for integers that each turn increases. None if no states are compared.
    """

    def __init__(self) -> None:
        self.state_of: Callable[[FrameType], Any] | None = None
        self._counts: Counter[tuple[FrameType, int, frozenset[Symbol]]] = Counter()
        self._last: dict[tuple[FrameType, int], tuple[Any, bool, dict[str, int]]] = {}
        # Where counters of turns were made numbers that data decide.
        self._growing: set[tuple[FrameType, int]] = set()

    def turn(
        self, frame: FrameType | None, root: FrameType | None, symbols: frozenset[Symbol], answer: bool
    ) -> PathIteration:
        """Count an open question about some sizes, which gets an answer."""
        frame = own_frame(frame, root)
        if frame is None:
            return PathIteration(False)
        key = frame, frame.f_lasti, symbols
        self._counts[key] += 1
        if max(self._counts[key], _depth(frame, root)) > iteration_limit(symbols):
            return PathIteration(True)
        if symbols or self.state_of is None or _has_iterator(frame.f_code, frame.f_lasti):
            return PathIteration(False)
        place, state = (frame, frame.f_lasti), self.state_of(frame)
        before, said, grown = self._last.get(place, (None, answer, {}))
        steps = {} if state is None or before is None or before == state else state.steps_from(before)
        is_alike = state is not None and before == state
        if steps and steps == grown:
            is_alike = place in self._growing
            if not is_alike:
                self._growing.add(place)
                state.let_grow(frame, steps)
                state = self.state_of(frame)
        self._last[place] = state, answer, steps
        return PathIteration(False, not said if is_alike else None)

    def clear(self) -> None:
        """Release the frames."""
        self._counts.clear()
        self._last.clear()
        self._growing.clear()


@lru_cache(maxsize=4096)
def _has_iterator(code: CodeType, at: int) -> bool:
    """Return whether an instruction is in the body of a ``for`` loop, whose iterator is a state that no name has."""
    return any(i.offset < at < i.argval for i in dis.get_instructions(code) if i.opname == "FOR_ITER")


def iteration_limit(symbols: frozenset[Symbol]) -> int:
    """Return how many turns are followed if questions about some sizes decide whether there is another."""
    return MAX_ITERATIONS if symbols else MAX_DATA_ITERATIONS


def _depth(frame: FrameType, root: FrameType | None) -> int:
    """Return how many calls of its function are around a frame."""
    code, depth, outer = frame.f_code, 0, frame.f_back
    while outer is not None and outer is not root:
        depth += outer.f_code is code
        outer = outer.f_back
    return depth
