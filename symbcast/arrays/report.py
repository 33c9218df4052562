"""The report about a traced function: the answer, its notices by line, and its data for JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from symbcast.answers.outcomes import CheckOutcome, CodeLine, Level, Notice, NoticeKind
from symbcast.answers.program_report import Format
from symbcast.core.advice import guessed_meanings
from symbcast.core.algebra.formulas import FALSE
from symbcast.core.characters import sizes_text
from symbcast.core.programs.scope import Scope
from symbcast.core.text import parse_shape
from symbcast.core.text.printing import shape_text
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError
from symbcast.paths.answer import PathFinding, paths_to_dict
from symbcast.paths.exploration import Exploration
from symbcast.paths.explore import Paths

_TEXT = re.compile(r"(?P<name>\w+)='(?P<text>[^']*)'")
_OF_TYPES = re.compile(r"\w*(?:TypeError|AttributeError)\b")


def _is_shape(text: str) -> bool:
    try:
        return bool(parse_shape(text))
    except SymbcastError:
        return False


class TraceAnswer(Paths):
    """For which sizes a function works, its result, and which line requires what.

    Attributes:
        name: the name of the function.
        arguments: the arguments it was called with, as text.
        isolated: whether it was traced in a child process, so that a crash is an answer too.
    """

    _meanings = guessed_meanings(
        "args inputs operands -> arguments",
        "function source called -> name",
        "sarif to_sarif -> report('sarif')",
        base=Paths._meanings,
    )
    isolated = False

    def __init__(self, scope: Scope, exploration: Exploration, name: str, arguments: Sequence[str]) -> None:
        super().__init__(scope, exploration)
        self.name = name
        self.arguments = tuple(arguments)

    def _suited(self, finding: PathFinding) -> PathFinding:
        """Return a finding whose fix names an argument that is text where an array was surely meant."""
        texts = [match for match in map(_TEXT.fullmatch, self.arguments) if match and _is_shape(match["text"])]
        if finding.formula != FALSE or not texts or not _OF_TYPES.match(finding.error):
            return finding
        name, text = texts[0]["name"], texts[0]["text"]
        return replace(
            finding, fix=f"{name} is text; for an array of this shape, write {name}=symbcast.array({text!r})"
        )

    @property
    def title(self) -> str:
        """The call that was traced."""
        return f"{self.name}({', '.join(self.arguments)})"


FAILS = NoticeKind("function-fails", "A function must work for all sizes of its arguments.")
UNKNOWN = NoticeKind(
    "function-unknown", "For some sizes of its arguments, it is not known whether a function works.", "note"
)


def outcome_of(report: TraceAnswer) -> CheckOutcome:
    """Return the outcome of tracing a function."""
    return CheckOutcome("", report.verdict.value, notices=tuple(_notices(report)), subject=report.name)


def _notices(report: TraceAnswer) -> Iterator[Notice]:
    level: Level = "error" if report.verdict is Verdict.NEVER else "warning"
    for finding in report.findings:
        text = "\n".join(_lines(report, finding))
        operation = finding.operation or "check"
        line = CodeLine.of(finding.file, finding.line) if finding.line else None
        yield Notice(FAILS, level, report.name, operation, text, line)
    if report.account.open:
        where = "for some sizes" if report.complete else f"when {report.unexplored}"
        yield Notice(UNKNOWN, UNKNOWN.level, "", "", f"{report.name} is open {where}: {report.reason}")


def _lines(report: TraceAnswer, finding: PathFinding) -> Iterator[str]:
    yield f"{report.name} {finding.works}"
    if finding.source:
        yield f"the line: {finding.source}"
    if finding.operands:
        yield f"operands: {', '.join(shape_text(o) for o in finding.operands)}"
    if finding.counterexample:
        there = f" ({finding.sizes_there})" if finding.sizes_there else ""
        yield f"fails at {sizes_text(finding.counterexample)}{there}: {finding.error}"


FORMAT = "symbcast.trace-report"
# The version of the data: it is increased when a key changes its meaning or is removed.
VERSION = 1


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what `report_to_dict` returns."""
    schema: dict[str, Any] = json.loads(Path(__file__).with_name("report.schema.json").read_text("utf-8"))
    return schema


def report_to_dict(report: TraceAnswer) -> dict[str, Any]:
    """Return a report as data that `json.dumps` takes, the same on every run.

    A shape is a list of numbers and text that `symbcast.core.text` reads back.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "function": report.name,
        "arguments": list(report.arguments),
        **paths_to_dict(report),
    }


class TraceReport(TraceAnswer):
    """For which sizes a function works, its result, and which line requires what."""

    def report(self, format: Format = "text") -> str:
        """Return the findings in a format: ``"text"``, ``"json"``, ``"sarif"`` or ``"github"``.

        Raises `ShapeTypeError` for any other format.
        """
        from symbcast.answers.program_report import formatted

        return formatted(format, lambda: outcome_of(self), self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data that `json.dumps` takes, as `json_schema` describes it."""
        return report_to_dict(self)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of what `to_dict` returns."""
        return json_schema()

    def __repr__(self) -> str:
        count = f"{self.paths} path{'s' * (self.paths != 1)}"
        return f"<{type(self).__name__} of {self.name}: {self.verdict.value}, {count}>"
