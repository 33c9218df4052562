"""SARIF 2.1.0, the format of static analysis: one run, a rule for each kind of condition, a result for each finding.

A model is the artifact, and a node in it the logical location. A file that could not be checked is a notification of
the invocation.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from symbcast.onnx.report.formats.outcomes import BROADCAST, DISAGREEMENT, UNANALYSED, UNDECIDED, Notice, Outcome
from symbcast.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_SAID = {
    BROADCAST: "The shapes that a node broadcasts must fit together",
    DISAGREEMENT: "ONNX Runtime must do what is said of a model",
    UNANALYSED: "What a node asks of sizes was not looked at",
    UNDECIDED: "Whether a model runs for all sizes is not decided",
}
_LEVELS = {DISAGREEMENT: "error", UNANALYSED: "note", UNDECIDED: "note"}


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what became of some files as a SARIF log."""
    kinds = list(dict.fromkeys(n.kind for o in outcomes for n in o.notices))
    broken = [o for o in outcomes if o.problem is not None]
    invocation: dict[str, Any] = {"executionSuccessful": not broken}
    if broken:
        invocation["toolExecutionNotifications"] = list(map(_notification, broken))
    run = {
        "tool": {"driver": {"name": "symbcast", "version": __version__, "rules": list(map(_rule, kinds))}},
        "invocations": [invocation],
        "artifacts": [{"location": {"uri": uri(o.source)}} for o in outcomes],
        "results": [r for n, o in enumerate(outcomes) for r in _results(o, n, kinds)],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri(path: str) -> str:
    """Return a path as a URI: relative where it is.

    >>> uri("models/a b.onnx"), uri("/tmp/a#1.onnx")
    ('models/a%20b.onnx', 'file:///tmp/a%231.onnx')
    """
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(os.fsencode(pure.as_posix()))


def _rule(kind: str) -> dict[str, Any]:
    level = _LEVELS.get(kind, "warning")
    said = _SAID.get(kind, f"What {kind} asks of the sizes of its operands must hold")
    return {"id": kind, "shortDescription": {"text": f"{said}."}, "defaultConfiguration": {"level": level}}


def _results(outcome: Outcome, index: int, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    artifact = {"uri": uri(outcome.source), "index": index}
    for notice in outcome.notices:
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact}}
        if notice.node:
            location["logicalLocations"] = [_node(notice)]
        yield {
            "ruleId": notice.kind,
            "ruleIndex": kinds.index(notice.kind),
            "level": notice.level,
            "message": {"text": notice.text},
            "locations": [location],
            "partialFingerprints": {"node/v1": f"{notice.kind}:{notice.node}:{notice.text.partition(chr(10))[0]}"},
        }


def _node(notice: Notice) -> dict[str, Any]:
    return {"name": notice.node, "fullyQualifiedName": f"{notice.op_type}:{notice.node}", "kind": "element"}


def _notification(outcome: Outcome) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": f"{outcome.source}: {outcome.problem}"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(outcome.source)}}}],
    }
