"""Places in the user's code: file, line and source text; and whether an error raised there would be caught."""

from __future__ import annotations

import ast
import dis
import linecache
import sys
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path as FilePath
from types import CodeType, FrameType
from typing import Any, Literal, NamedTuple

from symbcast.errors import SymbcastError

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
    trace = error.__traceback__
    places: list[CodePlace] = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if trace.tb_frame is not root and not _is_machinery(file):
            places.append(CodePlace(file, trace.tb_lineno))
        trace = trace.tb_next
    own = [p for p in places if home and p.file.startswith(home)]
    near = [p for p in places if not p.file.startswith("<") and not _is_strange(p.file)]
    return (own or near or places or [NOWHERE])[-1]


def lines_of_error(error: BaseException) -> list[CodePlace]:
    """Return the lines in an error's traceback, outermost first, without this package's lines."""
    trace = error.__traceback__
    places: list[CodePlace] = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not _is_machinery(file):
            places.append(CodePlace(file, trace.tb_lineno))
        trace = trace.tb_next
    return places


def is_own(error: BaseException) -> bool:
    """Return whether an error was raised in this package."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OWN)


def is_own_fault(error: BaseException) -> bool:
    """Return whether an error was raised in this package for a reason other than unsuitable sizes."""
    return (is_own(error) and not isinstance(error, (ValueError, IndexError, ZeroDivisionError))) or isinstance(
        error, SymbcastError
    )


def called_by(frame: FrameType | None) -> str:
    """Return the source text of the function that the innermost user frame calls; empty if there is none.

    The function has no frame because it is compiled; it called the code that runs now.
    """
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    if frame is None:
        return ""
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


def numbers_at_hand(frame: FrameType, *, in_code: bool) -> list[int]:
    """Return the numbers in a frame's locals, including those in sequences, mappings and shapes, smallest first.

    With ``in_code``, the constants of its code count too. A comprehension has only its iterator, so the locals of the
    enclosing frame count too.
    """
    numbers: set[int] = set()
    inner: FrameType | None = frame
    while inner is not None:
        _collect(list(inner.f_locals.values()), numbers, MAX_DEPTH)
        if in_code:
            _collect(inner.f_code.co_consts, numbers, 0)
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
    """Return whether an error raised now would reach a handler or a ``finally`` block.

    The code there may depend on whether an error was raised, so both ways must be followed.
    """
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
        if target is None or not _only_raises_again(instructions, starts[entry.target]):
            ranges.append((entry.start, entry.end))
    return tuple(ranges)


def _only_raises_again(instructions: list[dis.Instruction], at: int) -> bool:
    names = [i.opname for i in instructions[at : at + 3]]
    return names[:2] == ["COPY", "POP_EXCEPT"] or names[:1] == ["RERAISE"] or "CALL_INTRINSIC_1" in names[:1]
