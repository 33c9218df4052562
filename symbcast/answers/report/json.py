"""A program's requirements as plain data for JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from symbcast.answers.explanation.names import Namer
from symbcast.answers.report.findings import Finding, findings_of
from symbcast.core.logic.formulas import all_of
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.whole.program import Program

FORMAT = "symbcast.report"
VERSION = 1
"""It is incremented when a key changes meaning or is removed."""


class OperandData(TypedDict):
    """An operand; a size is a number, or text that `symbcast.core.text` reads back; an unknown shape is null."""

    name: str
    shape: list[int | str] | None


class FindingData(TypedDict):
    """A finding: see `Finding`."""

    operation: str
    kind: str
    rule: str
    operands: list[OperandData]
    shown: list[int]
    condition: str
    words: str
    code: str
    reason: str
    counterexample: dict[str, int] | None
    sizes_there: str
    stops_at: str
    origins: list[str]
    is_joint: bool
    verdict: str


class ReportData(TypedDict):
    """The report of a program, as `json_schema` describes it."""

    format: str
    version: int
    source: str
    min_size: int
    assumptions: list[str]
    verdict: str
    reason: str
    condition: str
    witness: dict[str, int] | None
    counterexample: dict[str, int] | None
    findings: list[FindingData]


def json_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of the data that `report_to_dict` returns."""
    found: dict[str, object] = json.loads(Path(__file__).with_name("report.schema.json").read_text("utf-8"))
    return found


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
        "condition": _condition(program, namer),
        "witness": program.witness(),
        "counterexample": program.counterexample(),
        "findings": [_finding(f, namer) for f in findings_of(program)],
    }


def sizes(dims: Sequence[Dim], namer: Namer) -> list[int | str]:
    """Return sizes as numbers and text."""
    return [d if isinstance(d, int) else namer.dim(d) for d in dims]


def _condition(program: Program, namer: Namer) -> str:
    if program.verdict is Verdict.NEVER:
        return "False"
    return namer.formula(all_of(program.clauses)) if program.clauses else "True"


def _finding(finding: Finding, namer: Namer) -> FindingData:
    return {
        "operation": finding.operation,
        "kind": finding.kind,
        "rule": finding.rule,
        "operands": [
            {"name": name, "shape": None if shape is None else sizes(shape.dims, namer)}
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
        "origins": list(finding.origins),
        "is_joint": finding.is_joint,
        "verdict": finding.verdict.value,
    }
