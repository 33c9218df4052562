"""Cases as users see them: documents, JSON, and functions that return the case of given sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symbcast.answers.cases.choices import CaseLayout
from symbcast.answers.cases.division import Case, CaseDivision, certify_cases
from symbcast.answers.data import CasesData, LayoutData
from symbcast.answers.explanation.evidence import Alignment, constraint_conflict_lines
from symbcast.answers.explanation.words import Namer
from symbcast.answers.guards.clauses import guarded_clauses, renamed_sizes
from symbcast.answers.guards.languages import python
from symbcast.answers.guards.languages.cpp import cpp_file, cpp_parameters, expressions
from symbcast.answers.show import document
from symbcast.answers.show.document import Dims, Document, JointFormulas, NamedSizes, Part, Room, Row, Span, Table, Tone
from symbcast.answers.show.documented import Explained
from symbcast.answers.show.program import operation_conflict_lines as operations_of_conflict
from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import sizes_text
from symbcast.core.effort import one_call
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.programs.certificates import Certificate

# Mutually exclusive conditions as a function that returns which one holds, in Python and in C++.


_SAYS = "the number of the case that contains the sizes, -1 if they are in none"


def python_dispatch(
    cases: Sequence[Formula], names: Mapping[Symbol, str], descriptions: Sequence[str], name: str = "dispatch"
) -> str:
    """Return a Python module with one function: which of the conditions holds at sizes in the order of ``names``.

    It returns the position of the condition, or -1 if none holds or a size is below 0. ``descriptions`` describes each
    condition, for the docstring. A sequence of axes is one parameter, a tuple.
    Raises the same errors as `symbcast.answers.guards.languages.python.python_source`.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> N, M = symbol("N"), symbol("M")
    >>> cases = [parse_formula("N == M"), parse_formula("N == 1 and M != 1")]
    >>> print(python_dispatch(cases, {N: "N", M: "M"}, ["N == M", "N == 1 and M != 1"]), end="")
    def dispatch(N, M):
        \"\"\"Return the number of the case that contains the sizes, -1 if they are in none.
    <BLANKLINE>
        0: N == M
        1: N == 1 and M != 1
        \"\"\"
        if N < 0 or M < 0:
            return -1
        if N == M:
            return 0
        if N == 1 and M != 1:
            return 1
        return -1
    """
    python.check_function_name(name)
    parameters = python.parameter_names(names, name)
    parts = [guarded_clauses(case, names) for case in cases]
    tests = [" and ".join(python.source_of_axes(c, parameters) for c in clauses) or "True" for clauses in parts]
    body = "".join(f"    if {test}:\n        return {n}\n" for n, test in enumerate(tests))
    below = " or ".join(
        f"any(_size < 0 for _size in {p})" if python.is_axes(s) else f"{p} < 0" for s, p in parameters.items()
    )
    refused = f"    if {below}:\n        return -1\n" if below else ""
    lines = "".join(f"    {n}: {text}\n" for n, text in enumerate(descriptions))
    said = lines.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    head = f'def {name}({", ".join(parameters.values())}):\n    """Return {_SAYS}.\n\n{said}    """\n'
    return (
        f"{python.helper_sources(tests, [c for clauses in parts for c in clauses])}{head}{refused}{body}    return -1\n"
    )


def cpp_dispatch(
    cases: Sequence[Formula], names: Mapping[Symbol, str], descriptions: Sequence[str], name: str = "dispatch"
) -> str:
    """Return a C++17 source with one function of ``std::int64_t`` sizes that returns the same as `python_dispatch`'s.

    It is exact for all sizes, like the guard of `symbcast.answers.guards.languages.cpp.cpp_source`, and raises the
    same errors.
    """
    called = cpp_parameters(names, name)
    guarded = [guarded_clauses(case, names) for case in cases]
    bodies = [expressions(clauses, called) for clauses in guarded]
    tests = "".join(
        f"    if ({' && '.join(f'({b})' for b in body) or 'true'}) return {n};\n" for n, (body, _) in enumerate(bodies)
    )
    refused = "".join(f"    if ({p} < 0) return -1;\n" for p in called.values())
    outer = f"{refused}    return "
    comment = [f"Returns {_SAYS}:", *(f"    {n}: {text}" for n, text in enumerate(descriptions))]
    comment += renamed_sizes(called, names)
    used = {u for _, own in bodies for u in own}
    clauses = [c for own in guarded for c in own]
    return cpp_file(f"int {name}", ("which", tests, "-1"), outer, called, clauses, used, comment)


# Cases as documents, as data for JSON, and as functions that return the case of given sizes.


# How many cases are shown.
SHOWN = {Room.SCREEN: 27, Room.PAGE: 243}
# For a program of many operations, the number of naive cases is too large to show.
_COUNTED = 10**6
# The version of the data: incremented when a key changes meaning or is removed.
VERSION = 1


def cases_document(cases: CaseDivision, room: Room = Room.SCREEN) -> Document:
    """Return the cases as a table: guard, output, strides and an example of each.

    >>> import symbcast
    >>> from symbcast.answers.show.document import render
    >>> print(render(cases_document(symbcast.broadcast("N, 3", "M, 1").cases())))
    3 cases; if nothing were known about the sizes, there would be 9
    <BLANKLINE>
      case  guard              output  strides         example
      0     N == M             (N, 3)  (3, 1), (1, 0)  N=1, M=1
      1     N == 1 and M != 1  (M, 3)  (0, 1), (1, 0)  N=1, M=2
      2     N != 1 and M == 1  (N, 3)  (3, 1), (0, 0)  N=2, M=1
    <BLANKLINE>
    together     N == M or N == 1 or M == 1
    """
    namer = Namer.of(cases._question.names)
    is_one = len(cases._question.broadcasts) == 1
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
    joint = [
        document.field("and", document.words(more), document.words(left)),
        document.field("together", document.whole(str(cases.condition))),
    ]
    block = document.fields(
        joint if len(cases) else [document.field("impossible", *map(document.words, _clashes(cases, namer)))]
    )
    table = (Table("cases", tuple(rows), align="l" * len(columns)),) if len(cases) else ()
    return Document(document.words(f"{count}{said}"), Tone.FINE if len(cases) else Tone.IMPOSSIBLE, (*table, block))


def _guard(case: Case, _: Namer) -> Span:
    return Span(str(case.condition), True, math=JointFormulas((case.condition.formula,)))


def _hints(case: Case, _: Namer) -> Span:
    return Span(", ".join(map(str, case.hints)))


def _output(case: Case, namer: Namer) -> Span:
    return Span(namer.shape(case.shape), True, math=Dims(case.shape.dims))


def _strides(case: Case, namer: Namer) -> Span:
    return Span(", ".join(map(namer.shape, case.strides)), True)


def _example(case: Case, _: Namer) -> Span:
    sizes = case.witness()
    return Span(sizes_text(sizes), True, math=NamedSizes(sizes))


# The columns for each case of one broadcast, and for each case of a program.
_COLUMNS: dict[bool, list[tuple[str, Callable[[Case, Namer], Span]]]] = {
    True: [("output", _output), ("strides", _strides)],
    False: [],
}


def _clashes(cases: CaseDivision, namer: Namer) -> list[str]:
    """Return why there are no cases: the clash."""
    subject = cases._question.subject
    if isinstance(subject, BroadcastCall):
        return constraint_conflict_lines(Alignment(subject))
    return operations_of_conflict(subject.conflict, namer)


def cases_data(cases: CaseDivision) -> CasesData:
    """Return cases as data that `json.dumps` takes."""
    namer = Namer.of(cases._question.names)
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


def _layout(layout: CaseLayout, namer: Namer) -> LayoutData:
    return {
        "name": layout.name,
        "shape": list(map(namer.dim, layout.shape.dims)),
        "operands": [list(map(namer.dim, s.dims)) for s in layout.operands],
        "strides": [list(map(namer.dim, s.dims)) for s in layout.strides],
        "stretched": [list(bits) for bits in layout.stretched],
    }


def case_lines(cases: CaseDivision) -> list[str]:
    """Return a line for each case: its guard, and of a broadcast its output and the strides of its operands."""
    namer = Namer.of(cases._question.names)
    if len(cases._question.broadcasts) != 1:
        return [str(c.condition) for c in cases]
    return [
        f"{c.condition}: output {namer.shape(c.shape)}, strides {', '.join(map(namer.shape, c.strides)) or 'none'}"
        for c in cases
    ]


__all__ = ["Case", "Cases"]


class Cases(Explained, CaseDivision):
    """The cases of a broadcast or a program: a sequence of `Case`. No two overlap, and none is empty.

    >>> import symbcast as sb
    >>> cases = sb.broadcast("N, 3", "M, 1").cases()
    >>> len(cases), cases.naive, cases.is_complete, cases.find(N=1, M=5).shape
    (3, 9, True, Shape('(M, 3)'))
    >>> print(cases.certify())
    proved: case 1 and those before it share no sizes
    ...
    proved: the witness of case 2 lies in it

    `explain` shows them as a table: guard, output, strides and an example of each.
    """

    @one_call
    def certify(self) -> Certificate:
        """Return what z3 proves about the cases: no two overlap, and together they cover exactly the condition."""
        return certify_cases(self)

    @one_call
    def to_python(self, name: str = "dispatch") -> str:
        """Return the source of a Python function that returns the number of the case that contains sizes, or -1."""
        return python_dispatch([c.formula for c in self], self._question.names, case_lines(self), name)

    @one_call
    def to_cpp(self, name: str = "dispatch") -> str:
        """Return the source of a C++17 function of ``std::int64_t`` sizes that returns the same."""
        return cpp_dispatch([c.formula for c in self], self._question.names, case_lines(self), name)

    @one_call
    def to_dict(self) -> CasesData:
        """Return the cases as plain data for JSON, as `json_schema` describes it."""
        return cases_data(self)

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        from symbcast.answers.exchange import question_schema

        return question_schema("cases")

    @one_call
    def _document(self, *room: Room) -> Document:
        return cases_document(self, *room)
