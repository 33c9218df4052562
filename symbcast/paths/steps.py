"""What a path consists of: decisions and requirements, questions, and loops over sizes with their iterations.

Each has a place in the user's code: file, line and source text. An error raised there may be one that would be caught.
"""

from __future__ import annotations

import ast
import dis
import linecache
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path as FilePath
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any, Literal, NoReturn

from symbcast.core.algebra.arithmetic import add, replace_symbols, subtract
from symbcast.core.algebra.formulas import Comparison, Formula
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.errors import SymbcastError
from symbcast.operators.operator import Dims

# Places in the user's code, and whether an error raised there would be caught.


_OWN = str(FilePath(__file__).parents[1])
# The operators of arrays without data are defined here; real arrays have their own.
_OPERATORS = str(FilePath("numpy", "lib", "mixins.py"))
# Packages whose lines are reported only if the call stack has no others.
_STRANGERS = ("numpy", "jax", "jaxlib", "einops")


class CodePlace(NamedTuple):
    """A line of code: its file and its line number, from 1."""

    file: str
    line: int

    @property
    def source(self) -> str:
        """The text of the line, stripped."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return line_text(self.file, self.line)


def line_text(file: str, line: int) -> str:
    """Return a line of code in words; a cell of a notebook has the name that IPython gives it.

    >>> line_text("/home/me/net.py", 7), line_text("/tmp/ipykernel_12/2141619520.py", 7)
    ('net.py:7', 'a cell, line 7')
    """
    return f"{_cell(file)}, line {line}" if is_cell(file) else f"{FilePath(file).name}:{line}"


def is_cell(file: str) -> bool:
    """Return whether a file is a notebook cell, whose generated name changes on every run."""
    return "ipykernel_" in file


def _cell(file: str) -> str:
    """Return the name of a notebook cell, such as ``In[3]``."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    compiler: Any = getattr(shell, "compile", None)
    named = compiler.format_code_name(file) if hasattr(compiler, "format_code_name") else None
    return str(named[1]) if named else "a cell"


NOWHERE = CodePlace("", 0)


def home_of(function: Any) -> str:
    """Return the folder that holds the code of a function: its package's, or its file's."""
    # A decorator hides the function that the user wrote.
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    module = sys.modules.get(str(getattr(function, "__module__", "")).partition(".")[0])
    locations = list(getattr(module, "__path__", ()))
    return locations[0] if locations else str(FilePath(code.co_filename))


def place_of(frame: FrameType | None, root: FrameType | None, home: str) -> CodePlace:
    """Return the innermost line of the user's own code between a frame and the root frame."""
    seen: list[CodePlace] = []
    best: CodePlace | None = None
    while frame is not None and frame is not root:
        file = frame.f_code.co_filename
        if not _is_machinery(file):
            place = CodePlace(file, frame.f_lineno)
            if home and file.startswith(home):
                return place
            if best is None and not file.startswith("<") and not _is_strange(file):
                best = place
            seen.append(place)
        frame = frame.f_back
    return best or (seen[0] if seen else NOWHERE)


def own_frame(frame: FrameType | None, root: FrameType | None) -> FrameType | None:
    """Return the innermost frame outside this package, at most the root; None if there is none."""
    while frame is not None and frame is not root and _is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is root else frame


def place_of_error(error: BaseException, root: FrameType | None, home: str) -> CodePlace:
    """Return the innermost line of the user's own code in the traceback of an error."""
    places = lines_of_error(error, root)
    own = [p for p in places if home and p.file.startswith(home)]
    near = [p for p in places if not p.file.startswith("<") and not _is_strange(p.file)]
    return (own or near or places or [NOWHERE])[-1]


def lines_of_error(error: BaseException, root: FrameType | None = None) -> list[CodePlace]:
    """Return the lines in an error's traceback, outermost first, without those of this package and of a root frame."""
    lines = ((frame, CodePlace(frame.f_code.co_filename, line)) for frame, line in walk_tb(error.__traceback__))
    return [place for frame, place in lines if frame is not root and not _is_machinery(place.file)]


def is_own(error: BaseException) -> bool:
    """Return whether an error was raised in this package."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_code.co_filename.startswith(_OWN)


def is_own_fault(error: BaseException) -> bool:
    """Return whether an error was raised in this package for a reason other than unsuitable sizes."""
    return (is_own(error) and not isinstance(error, (ValueError, IndexError, ZeroDivisionError))) or isinstance(
        error, SymbcastError
    )


def called_by(frame: FrameType | None) -> str:
    """Return the source text of the function that the innermost user frame calls; empty if there is none."""
    # The function has no frame because it is compiled; it called the code that runs now.
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    if frame is None:
        return ""
    # An instruction has two bytes.
    first, last, start, end = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    if first is None or last is None or start is None or end is None:
        return ""
    lines = [linecache.getline(frame.f_code.co_filename, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        called = ast.parse(b"".join(lines).decode(), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    return ast.unparse(called.func) if isinstance(called, ast.Call) else ""


def is_formatting(frame: FrameType) -> bool:
    """Return whether a frame formats text with ``%``; ``%`` of two numbers would not call ``__index__``."""
    code = frame.f_code.co_code
    at = frame.f_lasti
    return dis.opname[code[at]] == "BINARY_OP" and dis._nb_ops[code[at + 1]][1] in ("%", "%=")  # type: ignore[attr-defined]


def message_of(frame: FrameType | None, root: FrameType | None) -> Literal["raise", "warn", ""]:
    """Return whether a frame's text is used only in an error or only in a warning; empty if neither.

    This holds if all that can follow, here or, after a return, in the caller, is a ``raise``, or a call of a function
    such as ``warn`` whose result is discarded.
    """
    while frame is not None and frame is not root:
        follows = _what_follows(frame.f_code, frame.f_lasti)
        if follows != "return":
            return "" if follows == "more" else follows
        frame = frame.f_back
    return ""


_TELLING = frozenset({"warn", "print", "debug", "info", "warning", "error", "critical", "log"})


@lru_cache(maxsize=4096)
def _what_follows(code: CodeType, at: int) -> Literal["raise", "warn", "return", "more"]:
    """Return what follows an instruction: the code raises, warns, returns, or does something else."""
    instructions = list(dis.get_instructions(code))
    here = next((n for n, i in enumerate(instructions) if i.offset >= at), len(instructions))
    called = {i.argval for i in instructions[max(0, here - _NEAR) : here + 1] if i.opname.startswith("LOAD_")}
    for instruction in instructions[here:]:
        name = instruction.opname
        if name == "RAISE_VARARGS":
            return "raise"
        if name in ("RETURN_VALUE", "RETURN_GENERATOR", "YIELD_VALUE"):
            return "return" if name == "RETURN_VALUE" else "more"
        if name == "POP_TOP" and not called.isdisjoint(_TELLING):
            return "warn"
        if name == "POP_TOP" or "JUMP" in name or name in ("FOR_ITER", "SEND"):
            return "more"
    return "more"


def is_call(frame: FrameType, unless: frozenset[str]) -> bool:
    """Return whether a frame is making a call, unless one of the given names was loaded just before."""
    return _is_call(frame.f_code, frame.f_lasti, unless)


@lru_cache(maxsize=4096)
def _is_call(code: CodeType, at: int, unless: frozenset[str]) -> bool:
    before = [i for i in dis.get_instructions(code) if i.offset <= at]
    if not before or not before[-1].opname.startswith(("CALL", "PRECALL")):
        return False
    return unless.isdisjoint(i.argval for i in before[-_NEAR:] if i.opname.startswith("LOAD_"))


def is_subscript(frame: FrameType) -> bool:
    """Return whether a frame is getting, setting or deleting an item."""
    return "SUBSCR" in dis.opname[frame.f_code.co_code[frame.f_lasti]]


def is_store(frame: FrameType) -> bool:
    """Return whether a frame is setting an item, or getting the item that it is about to increase."""
    code, at = frame.f_code.co_code, frame.f_lasti
    name, before = dis.opname[code[at]], dis.opname[code[at - 2]]
    return name in ("STORE_SUBSCR", "STORE_SLICE") or (name == "BINARY_SUBSCR" and before == "COPY")


def numbers_at_hand(frame: FrameType, *, in_code: bool) -> list[int]:
    """Return the numbers in a frame's locals, including those in sequences, mappings and shapes, smallest first.

    With ``in_code``, the constants of its code count too.
    """
    numbers: set[int] = set()
    inner: FrameType | None = frame
    while inner is not None:
        _collect(list(inner.f_locals.values()), numbers, MAX_DEPTH)
        if in_code:
            _collect(inner.f_code.co_consts, numbers, 0)
        # A comprehension has only its iterator: the locals of the enclosing frame count too.
        if inner.f_code.co_name[0] != "<" and not inner.f_code.co_name.startswith("__"):
            break
        inner = inner.f_back
    return sorted(numbers)


MAX_DEPTH = 4


def _collect(values: Iterable[Any], numbers: set[int], depth: int) -> None:
    for value in values:
        kind = type(value)
        if kind is int:
            numbers.add(value)
        elif depth and kind in (list, tuple):
            _collect(value, numbers, depth - 1)
        elif depth and kind is dict:
            _collect([*value, *value.values()], numbers, depth - 1)
        elif depth and type(getattr(value, "shape", None)) is tuple:
            _collect(value.shape, numbers, depth - 1)


# The maximum number of instructions between loading a callable and calling it.
_NEAR = 14


@lru_cache(maxsize=1024)
def _is_machinery(file: str) -> bool:
    return file.startswith(_OWN) or file.endswith(_OPERATORS)


@lru_cache(maxsize=1024)
def _is_strange(file: str) -> bool:
    return any(part in _STRANGERS for part in FilePath(file).parts)


def would_be_caught(frame: FrameType | None, root: FrameType | None) -> bool:
    """Return whether an error raised now would reach a handler or a ``finally`` block."""
    # The code there may depend on whether an error was raised, so both ways must be followed.
    while frame is not None and frame is not root:
        if not _is_machinery(frame.f_code.co_filename) and _is_covered(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return False


@lru_cache(maxsize=4096)
def _is_covered(code: CodeType, instruction: int) -> bool:
    return any(start <= instruction < end for start, end in _handled(code))


@lru_cache(maxsize=1024)
def _handled(code: CodeType) -> tuple[tuple[int, int], ...]:
    """Return the instruction ranges covered by handlers, except handlers that only re-raise."""
    read = dis.Bytecode(code)
    instructions = list(read)
    starts = {i.offset: n for n, i in enumerate(instructions)}
    ranges = []
    for entry in getattr(read, "exception_entries", ()):
        target = instructions[starts[entry.target]] if entry.target in starts else None
        # Code that only raises again cannot hide an error.
        if target is None or not _only_raises_again(instructions, starts[entry.target]):
            ranges.append((entry.start, entry.end))
    return tuple(ranges)


def _only_raises_again(instructions: list[dis.Instruction], at: int) -> bool:
    names = [i.opname for i in instructions[at : at + 3]]
    return names[:2] == ["COPY", "POP_EXCEPT"] or names[:1] == ["RERAISE"] or "CALL_INTRINSIC_1" in names[:1]


# The maximum number of values that one run rejects for sizes that become numbers; each leaves another path.
MAX_REFUSED = 64


class UntracedError(SymbcastError):
    """The run did something that the tracer does not support, so the path is unknown.

    ``what`` describes it, and ``place`` is the line that did it. ``is_compiled`` says that compiled code got an array
    without data, or that only a compiler checks what is open.
    """

    def __init__(self, what: str, place: CodePlace = NOWHERE, *, is_compiled: bool = False) -> None:
        super().__init__(what, place)
        self.what = what
        self.place = place
        # A real call might then write out of bounds: compiled code may not check sizes.
        self.is_compiled = is_compiled

    def __str__(self) -> str:
        return f"{self.what}, at {self.place}: {self.place.source}" if self.place.file else self.what


# It is no `Exception`: the traced code must not catch it.
class LoopRefusedError(BaseException):
    """The iterations of a loop differ, so one symbolic iteration cannot represent them; ``key`` identifies the loop."""

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


# What only a trace has, and what is written into a real array.
SIZES, ARRAYS = "sizes in an array", "data in an array"


class Loops:
    """The loops over sizes of one run.

    Attributes:
        running: the loops that are running for a symbolic index.
        varying: the symbols that differ between iterations, each with the loop's key; for an index, also the last one.
        refused: the key of the loop that was given up, if any.
        tries: how often each loop was given up in earlier runs, by its key.
        batches: a size and a step, for each range from 0 with this step.
        born: the data-dependent numbers of the run, in order.
        items: the items about which data decide in loops, by the loop and what was decided about sizes, on all paths.
        filters: the conditions of comprehensions that are open for the item that is being made.
        loose: the data-dependent numbers that may have more values than data lead to, each with the joins to give up.
        loosened: the first join that a decision of the path depends on.
        of_sizes: the joins of what sizes decide, not data.
        supposed: what holds only in the part that is running: in an arm of an ``if``, in a loop that may be empty.
        arrays: the real arrays that supported lines created, each with its line.
        partial: what is run although Python may stop before, each with whether it is certain that it starts.
        exhausted: the frames of generators that are consumed to their end.
    """

    def __init__(self) -> None:
        self.running: list[Any] = []
        self.varying: dict[Symbol, tuple[Hashable, Dim | None]] = {}
        self.refused: Hashable = None
        self.tries: Mapping[Hashable, int] = {}
        self.batches: list[tuple[Dim, Dim]] = []
        self.born: list[Symbol] = []
        self.items: dict[tuple[Any, ...], Any] = {}
        self.filters: list[Any] = []
        self.loose: dict[Symbol, tuple[Hashable, ...]] = {}
        self.loosened: Hashable = None
        self.of_sizes: set[Hashable] = set()
        self.supposed: list[Any] = []
        self.arrays: list[tuple[Any, CodePlace]] = []
        self.partial: list[tuple[Hashable, bool]] = []
        self.exhausted: list[FrameType | None] = []

    def that_may_be_left(self, index: Symbol) -> Any:
        """Return the running loop of an index if data may leave it before its last iteration; None for others."""
        known = next((known for known in self.running if known.index is index), None)
        return known if known is not None and known.may_be_left and known.frame not in self.exhausted else None

    @contextmanager
    def unreached(self, key: Hashable, *, is_first: bool = False) -> Iterator[None]:
        """Run what Python may not reach, except for its first iteration: an error there gives it up."""
        self.partial.append((key, is_first))
        try:
            yield
        except Exception as error:
            if is_first or isinstance(error, UntracedError):
                raise
            self.refuse(key)
        finally:
            self.partial.pop()

    def check_reached(self, formula: Formula) -> None:
        """Give up what Python may not reach because something is required there."""
        for key, is_first in self.partial:
            if not is_first or self.are_in(formula):
                self.refuse(key)

    def refuse_written(self, frame: FrameType | None, root: FrameType | None, *, is_size: bool = False) -> None:
        """Give up the real arrays of a frame that stores something into one, which only a trace has."""
        frame = own_frame(frame, root) if self.arrays else None
        if frame is not None and is_store(frame):
            own = {id(_owner(v)) for v in frame.f_locals.values()}
            array = next((array for array, _ in self.arrays if id(array) in own), None)
            for what in (SIZES, ARRAYS) if is_size else (ARRAYS,):
                self.refuse_array(array, what)

    def refuse_array(self, array: Any, what: str = ARRAYS) -> None:
        """Give up the line that created a real array, or all such lines if it is not known which, unless they were."""
        owner = _owner(array)
        for place in [*(place for known, place in self.arrays if known is owner), NOWHERE]:
            if self.arrays and not self.tries.get((what, place)):
                self.refuse((what, place))

    def is_written(self, what: str, place: CodePlace) -> bool:
        """Return whether a line that creates an array was given up."""
        return bool(self.tries.get((what, place)) or self.tries.get((what, NOWHERE)))

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

    def loosen(self, symbols: Iterable[Symbol]) -> None:
        """Note that a decision depends on a join; give up one that sizes decide: they may not lead to both answers."""
        for key in (key for s in (symbols if self.loose else ()) for key in self.loose.get(s, ())):
            self.loosened = self.loosened or key
            if key in self.of_sizes:
                self.refuse(key)

    def check_joined(self, symbols: Iterable[Symbol] = ()) -> None:
        """Give up the join that a requirement or an error depends on: no data may lead there."""
        keys = [key for s in (symbols if self.loose else ()) for key in self.loose.get(s, ())]
        for key in (self.loosened, *keys):
            if key is not None:
                self.refuse(key)

    def check_supposed(self) -> None:
        """Give up the part of a run that holds only under a supposition, because something is decided in it."""
        if self.supposed:
            self.refuse(self.supposed[-1].key)

    def refuse(self, key: Hashable) -> NoReturn:
        """Give up a loop: its iterations differ."""
        self.refused = self.refused or key
        raise LoopRefusedError(key)


def _owner(array: Any) -> Any:
    """Return the array that has the memory of a view."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


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

    Attributes:
        state_of: returns the state of a frame, if all of it is known; it equals that of another turn that follows from
            there alike, but for integers that each turn increases. None if no states are compared.
    """

    def __init__(self) -> None:
        self.state_of: Callable[[FrameType], Any] | None = None
        # Frames are kept, so that a new one is not taken for an old one.
        self._counts: Counter[tuple[FrameType, int, frozenset[Symbol]]] = Counter()
        self._last: dict[tuple[FrameType, int], tuple[Any, bool, dict[str, int]]] = {}
        # Where counters of turns were made numbers that data decide.
        self._growing: set[tuple[FrameType, int]] = set()

    def turn(
        self, frame: FrameType | None, root: FrameType | None, symbols: frozenset[Symbol], answer: bool
    ) -> PathIteration:
        """Count an open question about some sizes, which gets an answer."""
        asking, frame = frame, own_frame(frame, root)
        if frame is None:
            return PathIteration(False)
        # Questions about other sizes are no turns: a loop may compare the axes of arrays.
        key = frame, frame.f_lasti, symbols
        self._counts[key] += 1
        if max(self._counts[key], _depth(frame, root)) > iteration_limit(symbols):
            return PathIteration(True)
        # A `for` loop has a state that no name has: its iterator. Turns of such loops are only counted.
        is_plain = _asks_once(asking, frame) and not _has_iterator(frame.f_code, frame.f_lasti)
        if symbols or self.state_of is None or not is_plain:
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


def _asks_once(frame: FrameType | None, own: FrameType) -> bool:
    """Return whether an instruction of the user's frame asks one question, and not one for each of many items.

    ``any(values)``, ``[a, b] == [c, d]`` and ``filter(None, values)`` have a state that no name has either.
    """
    while frame is not None and frame.f_back is not own:
        frame = frame.f_back
    name, asked = dis.opname[own.f_code.co_code[own.f_lasti]], "" if frame is None else frame.f_code.co_name
    if name in ("COMPARE_OP", "FOR_ITER"):
        return asked in ("__lt__", "__le__", "__gt__", "__ge__", "_started")
    return "JUMP" in name or name in ("TO_BOOL", "UNARY_NOT")


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
