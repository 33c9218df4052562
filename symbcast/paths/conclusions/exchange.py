"""Answers about all paths of a run as plain data for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.names import Namer
from symbcast.answers.report.json import sizes
from symbcast.core.logic.formulas import all_of
from symbcast.paths.conclusions.answer import conclusions_of

if TYPE_CHECKING:
    from symbcast.paths.conclusions.answer import PathsAnswer


def paths_to_dict(report: PathsAnswer) -> dict[str, Any]:
    """Return an answer as data that `json.dumps` takes, the same on every run.

    A shape is a list of numbers and text that `symbcast.core.text` reads back.
    """
    found = conclusions_of(report)
    namer = Namer.of(found.names)
    return {
        "min_size": report.min_size,
        "assumptions": list(report.assumptions),
        "verdict": report.verdict.value,
        "reason": report.reason,
        "complete": report.complete,
        "paths": report.paths,
        "condition": namer.formula(found.formula),
        "data_condition": namer.formula(all_of(found.suitable.data)),
        "unexplored": str(report.unexplored),
        "unconfirmed": str(report.unconfirmed),
        "account": {
            "works": namer.formula(report.account.works),
            "needed": namer.formula(report.account.needed),
            "open": [{"where": namer.formula(o.where), "reason": o.reason} for o in report.account.open],
            "working": [dict(point) for point in report.account.working],
            "failing": [dict(point) for point in report.account.failing],
        },
        "witness": report.witness(),
        "counterexample": report.counterexample(),
        "cases": [
            {
                "condition": str(c.condition),
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
