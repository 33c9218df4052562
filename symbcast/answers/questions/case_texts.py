"""Cases as documents, as data for JSON, and as functions that return the case of given sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from symbcast.answers.explanation.alignment import Alignment
from symbcast.answers.explanation.evidence import conflict_lines
from symbcast.answers.explanation.names import Namer
from symbcast.answers.questions.cases import question_of
from symbcast.answers.show.document import (
    Conjunction,
    Dims,
    Document,
    Part,
    Room,
    Row,
    Sizes,
    Span,
    Table,
    Tone,
    field,
    fields,
    whole,
    words,
)
from symbcast.answers.show.program import conflict_lines as operations_of_conflict
from symbcast.core.characters import sizes_text
from symbcast.core.program.calls.call import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from symbcast.answers.questions.cases import Case, Division
    from symbcast.answers.questions.layouts import Layout

SHOWN = {Room.SCREEN: 27, Room.PAGE: 243}
"""How many cases are shown."""
_COUNTED = 10**6
"""For a program of many operations, the number of naive cases is too large to show."""
VERSION = 1
"""The version of the data: incremented when a key changes meaning or is removed."""


class LayoutData(TypedDict):
    """A broadcast in a case, see `symbcast.answers.questions.layouts.Layout`."""

    name: str
    shape: list[str]
    operands: list[list[str]]
    strides: list[list[str]]
    stretched: list[list[bool]]


class CaseData(TypedDict):
    """A case: its guard as text that parses back, example sizes, and the broadcasts."""

    guard: str
    witness: dict[str, int]
    hints: list[int]
    broadcasts: list[LayoutData]


class CasesData(TypedDict):
    """The cases of a broadcast or a program; ``complete`` says whether the list is complete.

    ``naive`` is null if a rank is not known.
    """

    version: int
    condition: str
    complete: bool
    naive: int | None
    cases: list[CaseData]


def document(cases: Division, room: Room = Room.SCREEN) -> Document:
    """Return the cases as a table: guard, output, strides and an example of each.

    >>> import symbcast
    >>> from symbcast.answers.show.text import render
    >>> print(render(document(symbcast.broadcast("N, 3", "M, 1").cases())))
    3 cases; if nothing were known about the sizes, there would be 9
    <BLANKLINE>
      case  guard              output  strides         example
      0     N == M             (N, 3)  (3, 1), (1, 0)  N=1, M=1
      1     N == 1 and M != 1  (M, 3)  (0, 1), (1, 0)  N=1, M=2
      2     N != 1 and M == 1  (N, 3)  (3, 1), (0, 0)  N=2, M=1
    <BLANKLINE>
    together     N == M or N == 1 or M == 1
    """
    namer = Namer.of(question_of(cases).names)
    is_one = len(question_of(cases).broadcasts) == 1
    columns = [("guard", _guard), *_COLUMNS[is_one], ("example", _example)]
    if any(c.hints for c in cases):
        columns.insert(1, ("hints", _hints))
    rows = [Row("case", tuple(Span(head) for head, _ in columns), Part.HEAD)]
    rows += [Row(str(c.number), tuple(cell(c, namer) for _, cell in columns)) for c in cases[: SHOWN[room]]]
    count = f"{len(cases)} case{'' if len(cases) == 1 else 's'}"
    naive = _COUNTED if cases.naive is None else cases.naive
    is_fewer = cases.is_complete and 0 < len(cases) < naive < _COUNTED
    said = f"; if nothing were known about the sizes, there would be {naive}" if is_fewer else ""
    more = f"{len(cases) - len(rows) + 1} more cases" if len(cases) >= len(rows) else ""
    left = "" if cases.is_complete else "there may be others; raise the limit to see more"
    told = [field("and", words(more), words(left)), field("together", whole(str(cases.condition)))]
    block = fields(told if len(cases) else [field("impossible", *map(words, _clashes(cases, namer)))])
    table = (Table("cases", tuple(rows), align="l" * len(columns)),) if len(cases) else ()
    return Document(words(f"{count}{said}"), Tone.FINE if len(cases) else Tone.IMPOSSIBLE, (*table, block))


def _guard(case: Case, _: Namer) -> Span:
    return Span(str(case.condition), True, math=Conjunction((case.condition.formula,)))


def _hints(case: Case, _: Namer) -> Span:
    return Span(", ".join(map(str, case.hints)))


def _output(case: Case, namer: Namer) -> Span:
    return Span(namer.shape(case.shape), True, math=Dims(case.shape.dims))


def _strides(case: Case, namer: Namer) -> Span:
    return Span(", ".join(map(namer.shape, case.strides)), True)


def _example(case: Case, _: Namer) -> Span:
    sizes = case.witness()
    return Span(sizes_text(sizes), True, math=Sizes(sizes))


_COLUMNS: dict[bool, list[tuple[str, Callable[[Case, Namer], Span]]]] = {
    True: [("output", _output), ("strides", _strides)],
    False: [],
}
"""The columns for each case of one broadcast, and for each case of a program."""


def _clashes(cases: Division, namer: Namer) -> list[str]:
    """Return why there are no cases: the clash."""
    subject = question_of(cases).subject
    if isinstance(subject, Call):
        return conflict_lines(Alignment(subject))
    return operations_of_conflict(subject.conflict, namer)


def to_data(cases: Division) -> CasesData:
    """Return cases as data that `json.dumps` takes."""
    namer = Namer.of(question_of(cases).names)
    return {
        "version": VERSION,
        "condition": str(cases.condition),
        "complete": cases.is_complete,
        "naive": cases.naive,
        "cases": [
            {
                "guard": str(c.condition),
                "witness": c.witness(),
                "hints": list(c.hints),
                "broadcasts": [_layout(layout, namer) for layout in c.layouts],
            }
            for c in cases
        ],
    }


def _layout(layout: Layout, namer: Namer) -> LayoutData:
    return {
        "name": layout.name,
        "shape": list(map(namer.dim, layout.shape.dims)),
        "operands": [list(map(namer.dim, s.dims)) for s in layout.operands],
        "strides": [list(map(namer.dim, s.dims)) for s in layout.strides],
        "stretched": [list(bits) for bits in layout.stretched],
    }


def told(cases: Division) -> list[str]:
    """Return a line for each case: its guard, and of a broadcast its output and the strides of its operands."""
    namer = Namer.of(question_of(cases).names)
    if len(question_of(cases).broadcasts) != 1:
        return [str(c.condition) for c in cases]
    return [
        f"{c.condition}: output {namer.shape(c.shape)}, strides {', '.join(map(namer.shape, c.strides)) or 'none'}"
        for c in cases
    ]
