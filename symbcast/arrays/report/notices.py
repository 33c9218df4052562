"""Notices about a traced function: one for each finding, at its line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symbcast.answers.report.outcomes import Kind, Level, Line, Notice, Outcome
from symbcast.core.characters import sizes_text
from symbcast.core.text.printing import shape_text
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.arrays.report.answer import TraceAnswer
    from symbcast.paths.conclusions.findings import PathFinding

FAILS = Kind("function-fails", "A function must work for all sizes of its arguments.")
UNKNOWN = Kind("function-unknown", "For some sizes of its arguments, it is not known whether a function works.", "note")


def outcome_of(report: TraceAnswer) -> Outcome:
    """Return the outcome of tracing a function."""
    return Outcome("", report.verdict.value, notices=tuple(_notices(report)), subject=report.name)


def _notices(report: TraceAnswer) -> Iterator[Notice]:
    level: Level = "error" if report.verdict is Verdict.NEVER else "warning"
    for finding in report.findings:
        text = "\n".join(_lines(report, finding))
        operation = finding.operation or "check"
        line = Line.of(finding.file, finding.line) if finding.line else None
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
