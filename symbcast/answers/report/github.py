"""Workflow commands of GitHub Actions: lines that become annotations of the files that they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from symbcast.answers.report.outcomes import Kind, Notice, Outcome

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_NAMED = 5


def commands(outcome: Outcome) -> Iterator[str]:
    """Yield the commands for the outcome of one check; notices of a grouped kind share one command."""
    subject = outcome.subject
    if outcome.problem is not None:
        yield command("error", outcome.source, f"{subject} could not be checked", str(outcome.problem))
    together: dict[Kind, list[Notice]] = {}
    for notice in outcome.notices:
        if notice.kind.together:
            together.setdefault(notice.kind, []).append(notice)
        else:
            title = f"{notice.operator} {notice.operation}" if notice.operation else subject
            line = notice.line
            if line is not None and outcome.source and PurePath(line.file).is_absolute():
                line = None  # GitHub shows annotations for paths relative to the repository only
            file = outcome.source if line is None else line.file
            number, column = (0, 0) if line is None else line[1:]
            yield command(_COMMANDS[notice.level], file, title, notice.text, number, column)
    for kind, notices in together.items():
        yield command(_COMMANDS[kind.level], outcome.source, kind.together, _named(notices))


def command(name: str, file: str, title: str, message: str, line: int = 0, column: int = 0) -> str:  # noqa: PLR0913, PLR0917 - its parts
    r"""Return a command, about a line and its column if they are above 0, with special characters escaped.

    >>> command("warning", "a,b.onnx", "Add: n", "100%\nmore")
    '::warning file=a%2Cb.onnx,title=Add%3A n::100%25%0Amore'
    """
    place = f"file={_property(PurePath(file).as_posix())}," if file else ""
    place += f"line={line}," if file and line else ""
    place += f"col={column}," if file and line and column else ""
    return f"::{name} {place}title={_property(title)}::{_data(message)}"


def _named(notices: list[Notice]) -> str:
    """Return the first few operations that notices are about, and the number of others."""
    left = list(dict.fromkeys((n.operation, n.operator) for n in notices))
    named = [f"{operation} ({operator})" for operation, operator in left[:_NAMED]]
    return f"{', '.join(named)}{f' and {len(left) - _NAMED} more' if len(left) > _NAMED else ''}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
