"""Answers about functions as plain data for JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.names import Namer
from symbcast.answers.report.json import sizes
from symbcast.core.logic.formulas import all_of

if TYPE_CHECKING:
    from symbcast.arrays.report.answer import TraceAnswer

FORMAT = "symbcast.trace-report"
VERSION = 1
"""The version of the data: it is increased when a key changes its meaning or is removed."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what `report_to_dict` returns."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("report.schema.json").read_text("utf-8"))
    return found


def report_to_dict(report: TraceAnswer) -> dict[str, Any]:
    """Return a report as data that `json.dumps` takes, the same on every run.

    A shape is a list of numbers and text that `symbcast.core.text` reads back.
    """
    namer = Namer.of(report.names)
    return {
        "format": FORMAT,
        "version": VERSION,
        "function": report.name,
        "arguments": list(report.arguments),
        "min_size": report.min_size,
        "assumptions": list(report.assumptions),
        "verdict": report.verdict.value,
        "reason": report.reason,
        "complete": report.complete,
        "paths": report.paths,
        "condition": namer.formula(report.formula),
        "data_condition": namer.formula(all_of(report.suitable.data)),
        "unexplored": str(report.unexplored),
        "unconfirmed": str(report.unconfirmed),
        "witness": report.witness(),
        "counterexample": report.counterexample(),
        "cases": [
            {
                "when": str(c.when),
                "value": _value(c.value, namer) if c.works else None,
                "error": c.error,
                "file": c.place.file if c.place else "",
                "line": c.place.line if c.place else 0,
            }
            for c in report.cases
        ],
        "findings": [
            {
                "file": f.file,
                "line": f.line,
                "source": f.source,
                "operation": f.operation,
                "operands": [sizes(o, namer) for o in f.operands],
                "condition": f.text,
                "words": f.words,
                "error": f.error,
                "counterexample": f.counterexample,
                "sizes_there": f.sizes_there,
                "fix": f.fix,
            }
            for f in report.findings
        ],
        "data_sizes": report.data_sizes,
    }


def _value(value: Any, namer: Namer) -> Any:
    if hasattr(value, "dims"):
        return {"shape": sizes(value.dims, namer)}
    if isinstance(value, dict):
        return {str(k): _value(v, namer) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(v, namer) for v in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
