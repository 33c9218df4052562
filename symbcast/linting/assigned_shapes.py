"""The shapes of the arrays and sizes that a function assigns, for all sizes: they are read while it is traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, TypeAlias

from symbcast.answers.explanation.words import Namer
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.verdicts import Verdict
from symbcast.linting.annotation_meaning import ArgumentForm
from symbcast.linting.findings import AssignedShape
from symbcast.linting.sources import Assignment
from symbcast.paths.answer import PathsAnswer, conclusions_of
from symbcast.paths.path import current

Read: TypeAlias = "tuple[Dim, ...] | Dim | None"
"""What is known of a value: the shape of an array, the number that a size is, or nothing."""


def assigned_shapes(
    trace: Callable[[], PathsAnswer],
    code: CodeType,
    assignments: Sequence[Assignment],
    read: Callable[[Any], Read],
    form: ArgumentForm,
) -> tuple[AssignedShape, ...]:
    """Trace a function, and return the shapes that its assignments have on all paths.

    ``read`` returns what a library knows of a value. A variable with different shapes on different paths has them all;
    a question mark says that some paths were not followed.
    """
    reader = _AssignmentReader(code, assignments, read)
    previous = sys.gettrace()
    sys.settrace(reader.called)
    try:
        answer = trace()
    finally:
        sys.settrace(previous)
    if answer.verdict is Verdict.UNKNOWN:
        return ()
    names = conclusions_of(answer).names
    many = {text: star for star, texts in form.sizes.items() if star[0] == "*" for text in texts}
    many.update(dict.fromkeys(form.dots, "..."))
    shown = {s: many[name] for s, name in names.items() if name in many}
    return tuple(_texts(reader, names, shown, "" if answer.complete else " ?"))


def _texts(
    reader: _AssignmentReader, names: Mapping[Symbol, str], shown: Mapping[Symbol, str], end: str
) -> Iterator[AssignedShape]:
    namer = Namer.of(names)

    def size(dim: Dim) -> str:
        return shown[dim] if isinstance(dim, Symbol) and dim in shown else namer.dim(dim)

    for assignment, values in reader.values.items():
        texts: dict[str, None] = {}
        for value in values:
            dims = value if isinstance(value, tuple) else (value,)
            # The number of a loop's turn has no name outside its loop.
            if any(s not in names for s in symbols_of(dims)):
                break
            text = ", ".join(map(size, dims))
            texts[f"({text}{',' * (len(dims) == 1)})" if isinstance(value, tuple) else text] = None
        else:
            text = " or ".join(texts) if len(texts) <= _MOST else "..."
            yield AssignedShape(assignment.line, assignment.column, assignment.name, text + end)


# How many shapes of one variable are written.
_MOST = 3


class _AssignmentReader:
    """Reads the variables of a function after each line that assigns them, on paths with symbolic sizes."""

    def __init__(self, code: CodeType, assignments: Sequence[Assignment], read: Callable[[Any], Read]) -> None:
        self.values: dict[Assignment, dict[tuple[Dim, ...] | Dim, None]] = {}
        self._read, self._assignments = read, assignments
        # Loops are rewritten for a trace: it is the same function, with other code.
        self._code = code.co_filename, code.co_firstlineno, code.co_name

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Begin to read a call of the function on a path; calls with numbers are not read."""
        code = frame.f_code
        is_own = code.co_firstlineno == self._code[1] and (code.co_filename, code.co_name) == self._code[::2]
        if not is_own or current.get() is None:
            return None
        line = 0

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal line
            if event == "exception":  # the line has assigned nothing
                line = 0
            elif event in ("line", "return"):
                now = frame.f_lineno if event == "line" else 0
                if line:
                    self._after(frame, line, now)
                line = now
            return step

        return step

    def _after(self, frame: FrameType, line: int, now: int) -> None:
        for assignment in self._assignments:
            # The lines of one statement are run in any order; it is over where another one begins.
            if assignment.first <= line <= assignment.last and not assignment.first < now <= assignment.last:
                value = self._read(frame.f_locals.get(assignment.name))
                if value is not None:
                    self.values.setdefault(assignment, {})[value] = None
