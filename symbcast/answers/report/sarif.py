"""SARIF 2.1.0, the format of static analysis: one run, a rule for each kind of notice, a result for each notice.

The subject of the check is the artifact, and an operation in it is a logical location. If the source line of an
operation is known, it is the physical location, and the artifact is the analysis target. A subject that could not be
checked becomes a notification of the invocation.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from symbcast.answers.report.outcomes import Kind, Notice, Outcome
from symbcast.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the outcomes of some checks as a SARIF log."""
    kinds = {n.kind.id: n.kind for o in outcomes for n in o.notices}
    broken = [o for o in outcomes if o.problem is not None]
    invocation: dict[str, Any] = {"executionSuccessful": not broken}
    if broken:
        invocation["toolExecutionNotifications"] = list(map(_notification, broken))
    files = [o for o in outcomes if o.source]
    places = {id(o): n for n, o in enumerate(files)}
    run = {
        "tool": {"driver": {"name": "symbcast", "version": __version__, "rules": list(map(_rule, kinds.values()))}},
        "invocations": [invocation],
        "artifacts": [{"location": {"uri": uri(o.source)}} for o in files],
        "results": [r for o in outcomes for r in _results(o, places.get(id(o)), list(kinds))],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri(path: str) -> str:
    """Return a path as a URI, which is relative if the path is.

    >>> uri("models/a b.onnx"), uri("/tmp/a#1.onnx")
    ('models/a%20b.onnx', 'file:///tmp/a%231.onnx')
    """
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(os.fsencode(pure.as_posix()))


def _rule(kind: Kind) -> dict[str, Any]:
    text = {"text": kind.description}
    return {"id": kind.id, "shortDescription": text, "defaultConfiguration": {"level": kind.level}}


def _results(outcome: Outcome, index: int | None, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    for notice in outcome.notices:
        location: dict[str, Any] = {}
        artifact = None if index is None else {"uri": uri(outcome.source), "index": index}
        if notice.line is not None:
            region = {"startLine": notice.line.number}
            region |= {"startColumn": notice.line.column} if notice.line.column else {}
            location["physicalLocation"] = {"artifactLocation": {"uri": uri(notice.line.file)}, "region": region}
        elif artifact is not None:
            location["physicalLocation"] = {"artifactLocation": artifact}
        if notice.operation:
            location["logicalLocations"] = [_operation(notice)]
        fingerprint = f"{notice.kind.id}:{notice.operation}:{notice.text.partition(chr(10))[0]}"
        yield {
            "ruleId": notice.kind.id,
            "ruleIndex": kinds.index(notice.kind.id),
            "level": notice.level,
            "message": {"text": notice.text},
            "locations": [location] if location else [],
            **({"analysisTarget": artifact} if notice.line is not None and artifact is not None else {}),
            "partialFingerprints": {"node/v1": fingerprint},
        }


def _operation(notice: Notice) -> dict[str, Any]:
    full = f"{notice.operator}:{notice.operation}"
    return {"name": notice.operation, "fullyQualifiedName": full, "kind": "element"}


def _notification(outcome: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = {"level": "error", "message": {"text": f"{outcome.source}: {outcome.problem}"}}
    if outcome.source:
        found["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": uri(outcome.source)}}}]
    return found
