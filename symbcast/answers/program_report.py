"""The report of a program: JSON, notices, and the requested format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from symbcast.answers import outcomes
from symbcast.answers.data import FindingData, ReportData
from symbcast.answers.explanation.words import Namer
from symbcast.answers.findings import Finding, findings_of
from symbcast.answers.outcomes import CheckOutcome, Level, Notice, NoticeKind
from symbcast.answers.show.json import condition_text
from symbcast.core.algebra.formulas import FALSE
from symbcast.core.algebra.terms import Dim
from symbcast.core.characters import prose_list
from symbcast.core.verdicts import Verdict
from symbcast.errors import ShapeTypeError

if TYPE_CHECKING:
    from symbcast.core.programs.program import Program


# A program's requirements as plain data for JSON.


FORMAT = "symbcast.report"
# It is incremented when a key changes meaning or is removed.
VERSION = 1


def report_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of the data that `report_to_dict` returns."""
    schema: dict[str, object] = json.loads(Path(__file__).with_name("report.schema.json").read_text("utf-8"))
    return schema


def report_to_dict(program: Program, source: str = "") -> ReportData:
    """Return the report of a program as data that `json.dumps` accepts, the same on every run."""
    namer = Namer.of(program.shown)
    return {
        "format": FORMAT,
        "version": VERSION,
        "source": source,
        "min_size": program.min_size,
        "assumptions": [a.text for a in program.assumptions],
        "verdict": program.verdict.value,
        "reason": program.reason,
        "condition": condition_text(program, namer),
        "witness": program.witness(),
        "counterexample": program.counterexample(),
        "findings": [_finding(f, namer) for f in findings_of(program)],
    }


def dims_data(dims: Sequence[Dim], namer: Namer) -> list[int | str]:
    """Return sizes as numbers and text."""
    return [d if isinstance(d, int) else namer.dim(d) for d in dims]


def _finding(finding: Finding, namer: Namer) -> FindingData:
    return {
        "operation": finding.operation,
        "kind": finding.kind,
        "rule": finding.rule,
        "operands": [
            {"name": name, "shape": None if shape is None else dims_data(shape.dims, namer)}
            for name, shape in finding.operands
        ],
        "shown": list(finding.shown),
        "condition": finding.text,
        "words": finding.words,
        "code": finding.code,
        "reason": finding.reason,
        "counterexample": finding.counterexample,
        "sizes_there": finding.sizes_there,
        "stops_at": finding.stops_at,
        "fix": finding.fix,
        "origins": list(finding.origins),
        "is_joint": finding.is_joint,
        "verdict": finding.verdict.value,
    }


# The notices of a program: one for each finding.


BROADCAST = NoticeKind("broadcast", "The shapes that an operation broadcasts must fit together.")
UNDECIDED = NoticeKind("undecided", "Whether a program is valid for all sizes is not decided.", "note")
_LEVELS: dict[Verdict, Level] = {Verdict.NEVER: "error", Verdict.SOMETIMES: "warning"}


def outcome_of(program: Program, source: str = "") -> CheckOutcome:
    """Return the outcome of checking a program."""
    return CheckOutcome(source, program.verdict.value, notices=tuple(_notices(program, findings_of(program))))


def _notices(program: Program, findings: Sequence[Finding]) -> Iterator[Notice]:
    namer = Namer.of(program.shown)
    for finding in findings:
        lines_of_finding = [*outcomes.lines(finding, _required(finding, findings), _operands(finding, namer))]
        lines_of_finding += [f"fix: {finding.fix}"] * bool(finding.fix)
        level = _LEVELS.get(finding.verdict, "note")
        kind = outcomes.kind_of(finding, BROADCAST, UNDECIDED)
        yield Notice(kind, level, finding.operation, finding.rule or finding.kind, "\n".join(lines_of_finding))
    if program.verdict is Verdict.UNKNOWN:
        text = f"whether the program is valid for all sizes is not decided: {program.reason}"
        yield Notice(UNDECIDED, UNDECIDED.level, "", "", text)


def _required(finding: Finding, findings: Iterable[Finding]) -> str:
    """Return the words that precede a requirement."""
    if finding.verdict is not Verdict.NEVER:
        return "the program is valid only when"
    others = [f.operation for f in findings if f is not finding]
    if finding.formula == FALSE or not others:
        return "the program is never valid:"
    return f"cannot hold together with {prose_list(others, limit=4)}: it requires that"


def _operands(finding: Finding, namer: Namer) -> Iterator[str]:
    for name, shape in (finding.operands[n] for n in finding.shown):
        if shape is not None:
            yield f"{name} {namer.shape(shape)}"


# The report of a program, or of another subject, in the requested format.


Format: TypeAlias = Literal["text", "json", "sarif", "github"]


def report(program: Program, format: Format = "text", source: str = "") -> str:
    """Return a program's requirements in a format; ``source`` is its file or name.

    Raises `ShapeTypeError` for another format, and for a source that is not text.
    """
    if not isinstance(source, str):
        raise ShapeTypeError(source, "a source", "write text: the program's file or name")
    return formatted(format, lambda: outcome_of(program, source), lambda: report_to_dict(program, source))


def formatted(format: Format, outcome: Callable[[], CheckOutcome], data: Callable[[], object]) -> str:
    """Return an outcome in a format; ``data`` returns the data of the whole answer, for JSON.

    Raises `ShapeTypeError` for another format.
    """
    match format:
        case "text":
            return "\n".join(outcomes.compiler_messages(outcome()))
        case "github":
            return "\n".join(outcomes.github_commands(outcome()))
        case "sarif":
            return _dumped(outcomes.sarif_document([outcome()]))
        case "json":
            return _dumped(data())
    raise ShapeTypeError(format, "a format", f"write one of {', '.join(get_args(Format))}")


def _dumped(data: object) -> str:

    return json.dumps(data, indent=2)
