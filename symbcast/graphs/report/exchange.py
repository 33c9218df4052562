"""Export reports as plain data for JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.answers.exchange.answers import account_data, sizes_data
from symbcast.answers.explanation.names import Namer
from symbcast.answers.report.json import sizes
from symbcast.graphs.findings.sequences import optional_to_dict, sequence_to_dict
from symbcast.graphs.report.document import condition_text
from symbcast.graphs.values.value import OptionalValue, SequenceValue

if TYPE_CHECKING:
    from symbcast.graphs.findings.findings import Finding, Share
    from symbcast.graphs.report.answer import GraphAnswer
    from symbcast.graphs.walking.walk import Unanalysed

FORMAT = "symbcast.model-report"
VERSION = 1
"""It increases when a key changes its meaning or is removed."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what `report_to_dict` returns."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("report.schema.json").read_text("utf-8"))
    return found


def report_to_dict(report: GraphAnswer) -> dict[str, Any]:
    """Return a report as data for `json.dumps`, identical on every run.

    A size is a number, or text that `symbcast.core.text` reads back; an unknown shape is null.
    """
    namer, values = Namer.of(report._checked.env.shown), report._values

    def shapes(values: Any) -> dict[str, list[int | str] | None]:
        return {name: None if shape is None else sizes(shape.dims, namer) for name, shape in values.items()}

    return {
        "format": FORMAT,
        "version": VERSION,
        "source": report.source,
        "runtime": report.runtime,
        "min_size": report.min_size,
        "assumptions": list(report.assumptions),
        "aliases": report.aliases,
        "verdict": report.verdict.value,
        "reason": report.reason,
        "condition": condition_text(report),
        "witness": sizes_data(report.witness()),
        "counterexample": sizes_data(report.counterexample()),
        "account": account_data(report.account, namer),
        "findings": [_finding(f, namer) for f in report.findings],
        "unanalysed": [_unanalysed(u) for u in report.unanalysed],
        "data_sizes": report.data_sizes,
        "inputs": shapes(report.inputs),
        "outputs": shapes(report.outputs),
        "shapes": shapes(report.shapes),
        "sequences": {n: sequence_to_dict(v, namer) for n, v in values.items() if isinstance(v, SequenceValue)},
        "optionals": {n: optional_to_dict(v, namer) for n, v in values.items() if isinstance(v, OptionalValue)},
    }


def _share(share: Share) -> dict[str, str]:
    return {
        "node": share.node,
        "op_type": share.op_type,
        "condition": share.text,
        "words": share.words,
        "reason": share.reason,
    }


def _unanalysed(found: Unanalysed) -> dict[str, Any]:
    names = ("node", "op_type", "reason", "is_about_data")
    return {name: getattr(found, name) for name in names}


def _finding(finding: Finding, namer: Namer) -> dict[str, Any]:
    operands = zip(finding.operands, finding.contents, strict=True)
    return {
        "node": finding.node,
        "op_type": finding.op_type,
        "operands": [
            {
                "name": name,
                "shape": None if shape is None else sizes(shape.dims, namer),
                "content": None if content is None else sizes(content, namer),
            }
            for (name, shape), content in operands
        ],
        "shown": list(finding.shown),
        "condition": finding.text,
        "words": finding.words,
        "reason": finding.reason,
        "code": finding.code,
        "counterexample": sizes_data(finding.counterexample),
        "sizes_there": finding.sizes_there,
        "stops_at": finding.stops_at,
        "fix": finding.fix,
        "origins": list(finding.origins),
        "is_about_data": finding.is_about_data,
        **({"where": finding.where} if finding.where else {}),
        **({"together": [_share(share) for share in finding.together]} if finding.together else {}),
    }
