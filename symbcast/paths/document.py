"""The answer about all paths of a run as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symbcast.answers.explanation.words import Namer
from symbcast.answers.show import document as doc
from symbcast.answers.show.broadcast import LONG, MAY_STILL_FAIL, TONES, condition_lines, stated
from symbcast.answers.show.program import generic_field
from symbcast.core.account import Account
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Formula, Leaf, clauses, equal, with_leaves
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import shorten_end, shorten_middle, sizes_text, visible
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.text.notation import shape_text
from symbcast.core.verdicts import Verdict
from symbcast.paths.answer import PathFinding, PathsAnswer, conclusions_of, first_findings, working_cases
from symbcast.paths.steps import is_cell, line_text

WIDTH = 100
# The maximum number of findings, and of cases, to show.
SHOWN = {doc.Room.SCREEN: 4, doc.Room.PAGE: 12}
_HEADS = ("needed by", "operands", "fails at", "fix")


def document(report: PathsAnswer, room: doc.Room = doc.Room.SCREEN) -> doc.Document:
    """Return the answer about a run: what is open first, then what is proved."""
    most, namer = SHOWN[room], Namer.of(conclusions_of(report).names)
    first, count = first_findings(report, most)
    head = "works when" if report.complete else "requires"
    rows = tuple(tuple(_finding(f, n, namer, head)) for n, f in enumerate(first))
    heads = ("fails", "raised by", *_HEADS[1:]) if any(f.formula == FALSE for f in first) else (head, *_HEADS)
    records = doc.Records("what the code requires", heads, rows)
    title = doc.heading(shorten_middle(visible(report.title), 70), verdict_words(report))
    known = () if report.complete else (doc.fields(list(_known(report, namer))),)
    closing = doc.fields(list(_closing(report, namer, most, count - most)))
    return doc.Document(title, TONES[report.verdict], (*known, records, closing))


def verdict_words(report: PathsAnswer) -> str:
    """Return the verdict in words."""
    match report.verdict:
        case Verdict.OBSERVED:
            is_proved = report.account.works != FALSE
            return (
                "proved for some sizes, observed at small ones" if is_proved else "observed at small sizes, not proved"
            )
        case Verdict.SOMETIMES | Verdict.UNKNOWN if not report.complete:
            return _open_words(report.account, conclusions_of(report).works_for_data)
        case Verdict.ALWAYS:
            return _all_sizes(report)
        case Verdict.SOMETIMES if conclusions_of(report).formula == TRUE:
            return f"{_all_sizes(report)}, if the data suit"
        case Verdict.SOMETIMES:
            return "works only for some sizes"
        case Verdict.UNKNOWN:
            return "was followed on all paths, but its condition was not decided"
        case Verdict.NEVER:
            return "fails at every size"


def _all_sizes(report: PathsAnswer) -> str:
    return f"works for all sizes{f' >= {report.min_size}' if report.min_size else ''}"


def _open_words(account: Account, works_for_data: bool) -> str:
    if account.observed is not None and account.works == FALSE:
        return "open; observed at small sizes"
    if not account.is_open:
        return "open for some data"
    if account.works == FALSE:
        return "open"
    return "open for some sizes and some data" if works_for_data else "open for some sizes"


def _known(report: PathsAnswer, namer: Namer) -> Iterator[doc.Field]:
    """Yield what an open answer knows: the sizes that work, those that fail, and those that are open, with reasons."""
    account = report.account
    if account.works != FALSE:
        suited = ", if the data suit" if conclusions_of(report).works_for_data else ""
        *before, last = _lines(account.works, namer, ".account.works")
        yield doc.field("works" if account.works == TRUE else "works when", *before, (*last, doc.Span(suited)))
    if account.needed != TRUE:
        fails = _lines(account.fails, namer, ".condition")
        unless = () if len(fails) == 1 else _lines(account.needed, namer, ".condition")
        yield doc.field("fails unless" if unless else "fails when", *(unless or fails))
    for number, part in enumerate(account.open):
        label = "" if number else "open"
        if account.is_open and part.where not in (TRUE, FALSE):
            lines = _lines(part.where, namer, f".account.open[{number}]")
            # Sizes that work for suitable data may be in this part, too: for other data.
            when = "for some data at least, when " if conclusions_of(report).works_for_data else "when "
            yield _condition(label, lines, when, f": {part.reason}", most=5)
        else:
            where = _everywhere(account, conclusions_of(report).works_for_data)
            yield doc.field(label, (doc.Span(f"{where}: {part.reason}"),), most=5)
    if report.observed is not None:
        yield doc.field("observed", doc.words(str(report.observed)), most=3)
        shapes = report.observed.shapes
        yield doc.field("", doc.words("" if shapes is None else f"returned there: {value_text(shapes)}"), most=2)
    elif conclusions_of(report).exploration.unobserved:
        yield doc.field("observed", doc.words(f"nothing: {conclusions_of(report).exploration.unobserved}"), most=2)
    option = conclusions_of(report).closing_option if account.is_open else ""
    yield doc.field("exact with", (doc.Span(option, True),) if option else ())
    observed = {tuple(o.sizes.items()): o for o in conclusions_of(report).exploration.observed}
    for number, point in enumerate(account.failing[:_POINTS]):
        call = observed.get(tuple(point.items()))
        error = f": {_on_line(call.error)}" if call is not None else ""
        sizes = doc.Span(sizes_text(point), True, math=doc.NamedSizes(point))
        yield doc.field("" if number else "fails at", (sizes, doc.Span(error)), most=2)
    by_name = {name: size for size, name in conclusions_of(report).names.items()}
    for number, point in enumerate(account.working[:_POINTS]):
        shown = doc.code(sizes_text(point), doc.NamedSizes(point))
        is_proved = holds_at(account.works, {by_name.get(name, symbol(name)): size for name, size in point.items()})
        yield doc.field("" if number else "works at", shown if is_proved else (*shown, doc.Span(_OPEN_POINT)), most=1)


def _everywhere(account: Account, works_for_data: bool) -> str:
    """Return where an open part without sizes of its own is; what works for some data only may fail for others."""
    if not account.is_open:
        return "for some data"
    if account.working == ({},):
        return "for other data"
    if (account.works, account.needed) != (FALSE, TRUE):
        return "for other data, and at all other sizes" if works_for_data else "at all other sizes"
    return "at all sizes but those below" if account.working or account.failing else "at all sizes"


def _lines(formula: Formula, namer: Namer, place: str) -> tuple[doc.Line, ...]:
    """Return a condition in lines; no size is below 0."""
    formula = with_leaves(formula, _of_sizes)
    return ((doc.Span("at all sizes"),),) if formula == TRUE else tuple(condition_lines(formula, namer, place))


def _condition(label: str, lines: Sequence[doc.Line], before: str = "", after: str = "", most: int = 0) -> doc.Field:
    """Return a field with a condition and its context, which has its own lines if the condition has several."""
    if len(lines) == 1:
        return doc.field(label, (doc.Span(before), *lines[0], doc.Span(after)), most=most)
    return doc.field(label, *([doc.words(f"{after.removeprefix(': ')}, when")] if before else ()), *lines)


def _on_line(error: str) -> str:
    """Return an error on one line, cut."""
    return shorten_end(" ".join(error.split()), 160)


def _of_sizes(leaf: Leaf) -> Formula:
    match leaf:
        case Comparison("<", Symbol() as size, 1) | Comparison("<=", Symbol() as size, 0):
            return equal(size, 0)
    return leaf


_OPEN_POINT = ", where a real call worked"
# How many points of each kind an open answer shows.
_POINTS = 2


def _finding(finding: PathFinding, number: int, namer: Namer, head: str) -> Iterator[doc.Field]:
    most = 0 if head == "works when" else 4  # tried numbers make long requirements
    if finding.formula == FALSE:
        yield doc.field("fails", doc.words("at every size"))
    else:
        lines = _lines(finding.formula, namer, ".findings") if most else stated(finding.formula, namer)
        yield doc.field("and" if number else head, *lines)
    if finding.line:
        short, whole_name = line_text(finding.file, finding.line), f"{finding.file}:{finding.line}"
        where = doc.Span(short, whole="" if is_cell(finding.file) else whole_name)
        label = "raised by" if finding.formula == FALSE else "needed by"
        yield doc.field(label, (where, doc.Span(": "), doc.Span(shorten_end(finding.source, 160), True)), most=3)
    shapes = ", ".join(shape_text(o) for o in finding.operands)
    yield doc.field("operands", doc.code(shapes, longest=160) if shapes else (), most=2)
    if finding.counterexample:
        sizes = doc.Span(sizes_text(finding.counterexample, 6), True, math=doc.NamedSizes(finding.counterexample))
        error = f"{f' ({finding.sizes_there})' if finding.sizes_there else ''}: {_on_line(finding.error)}"
        yield doc.field("fails at", (sizes, doc.Span(error)), most=3)
    fix = f"{finding.fix}{MAY_STILL_FAIL}" if head == "requires" else finding.fix
    yield doc.field("fix", (doc.Span(fix),) if finding.fix and (not most or len(finding.fix) <= LONG) else ())


def _closing(report: PathsAnswer, namer: Namer, most: int, left: int) -> Iterator[doc.Field]:
    if left > 0:
        yield doc.field("and", doc.words(f"{left} more; .findings has them all"), most=1)
    working = working_cases(report)
    for number, case in enumerate(working[:most]):
        label, value = "" if number else "returns", value_text(case.value)
        if len(working) == 1:
            yield doc.field(label, doc.whole(f"{value}{_where_followed(report, namer)}"))
        elif len(str(case.condition)) <= LONG:
            yield doc.field(label, doc.whole(f"{value} when {case.condition}"))
        else:
            when = condition_lines(case.condition.formula, namer, ".cases", in_code=True)
            yield doc.field(label, doc.whole(f"{value} when"), *when)
    if len(working) > most:
        yield doc.field("", doc.words(f"and {len(working) - most} more cases; .cases has them all"), most=1)
    conclusions = conclusions_of(report)
    if report.complete and conclusions.formula not in (TRUE, FALSE):
        yield generic_field(conclusions.program, namer, is_open=conclusions.program.is_open)
        yield doc.field("condition", *doc.conjunction(clauses(conclusions.formula), namer, is_repeated=True))
    if conclusions.suitable.data and report.complete:
        yield doc.field("of the data", *doc.conjunction(conclusions.suitable.data, namer))
    yield doc.field("assuming", doc.whole("; ".join(report.assumptions)))
    if report.unconfirmed.formula != FALSE:
        lines = _lines(report.unconfirmed.formula, namer, ".unconfirmed")
        yield _condition("unconfirmed", lines, "when ", ": no real call at small sizes confirmed it")
    is_undecided = report.complete and report.verdict is Verdict.UNKNOWN
    yield doc.field("because", doc.words(report.reason) if is_undecided else (), most=4)
    for number, (name, text) in enumerate(list(report.data_sizes.items())[:2]):
        yield doc.field("" if number else "data decide", doc.words(f"{name}: {shorten_middle(text, 90)}"), most=1)
    witness = report.witness() if report.complete else None
    if witness:
        yield doc.field("works at", doc.code(sizes_text(witness), doc.NamedSizes(witness)), most=1)


def _where_followed(report: PathsAnswer, namer: Namer) -> str:
    """Return where the only result known is returned: an open answer has sizes that were not followed."""
    works = report.account.works
    if report.complete or works == TRUE:
        return ""
    text = namer.formula(with_leaves(works, _of_sizes))
    return f" when {text}" if works != FALSE and len(text) <= LONG else " where it is known to work"


def value_text(value: Any) -> str:
    """Return a result as text, in its original structure, with shapes instead of arrays."""
    if hasattr(value, "dims"):
        return shape_text(value.dims)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {value_text(v)}' for k, v in value.items())}}}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(value_text, value))
        return f"[{inner}]"
    return _WORDS.get(value, str(value)) if isinstance(value, type) else str(value)


_WORDS: dict[type, str] = {float: "a number", str: "a text", list: "a list"}
