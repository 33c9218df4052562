"""Workflow commands of GitHub Actions: lines that become annotations of the files that they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from symbcast.onnx.report.formats.outcomes import UNANALYSED, Notice, Outcome

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_NAMED = 5


def commands(outcome: Outcome) -> Iterator[str]:
    """Yield the commands for what became of one file; the nodes that were not looked at share one."""
    if outcome.problem is not None:
        yield command("error", outcome.source, "the model could not be checked", str(outcome.problem))
    for notice in outcome.notices:
        if notice.kind != UNANALYSED:
            yield command(_COMMANDS[notice.level], outcome.source, _title(notice), notice.text)
    left = list(dict.fromkeys((n.node, n.op_type) for n in outcome.notices if n.kind == UNANALYSED))
    if left:
        named = [f"{node} ({op_type})" for node, op_type in left[:_NAMED]]
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        yield command("notice", outcome.source, "nodes that were not looked at", f"{', '.join(named)}{more}")


def command(name: str, file: str, title: str, message: str) -> str:
    r"""Return a command; what has a meaning in it is escaped.

    >>> command("warning", "a,b.onnx", "Add: n", "100%\nmore")
    '::warning file=a%2Cb.onnx,title=Add%3A n::100%25%0Amore'
    """
    properties = f"file={_property(PurePath(file).as_posix())},title={_property(title)}"
    return f"::{name} {properties}::{_data(message)}"


def _title(notice: Notice) -> str:
    return f"{notice.op_type} {notice.node}" if notice.node else "the model"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
