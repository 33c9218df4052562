"""The report of a program, or of another subject, in the requested format."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from symbcast.errors import ShapeTypeError

if TYPE_CHECKING:
    from symbcast.answers.report.outcomes import Outcome
    from symbcast.core.program.whole.program import Program

Format: TypeAlias = Literal["text", "json", "sarif", "github"]


def report(program: Program, format: Format = "text", source: str = "") -> str:
    """Return a program's requirements in a format; ``source`` is its file or name.

    Raises `ShapeTypeError` for another format, and for a source that is not text.
    """
    from symbcast.answers.report.json import report_to_dict
    from symbcast.answers.report.notices import outcome_of

    if not isinstance(source, str):
        raise ShapeTypeError(source, "a source", "write text: the program's file or name")
    return formatted(format, lambda: outcome_of(program, source), lambda: report_to_dict(program, source))


def formatted(format: Format, outcome: Callable[[], Outcome], data: Callable[[], object]) -> str:
    """Return an outcome in a format; ``data`` returns the data of the whole answer, for JSON.

    Raises `ShapeTypeError` for another format.
    """
    match format:
        case "text":
            from symbcast.answers.report.text import messages

            return "\n".join(messages(outcome()))
        case "github":
            from symbcast.answers.report.github import commands

            return "\n".join(commands(outcome()))
        case "sarif":
            from symbcast.answers.report.sarif import document

            return _dumped(document([outcome()]))
        case "json":
            return _dumped(data())
    raise ShapeTypeError(format, "a format", f"write one of {', '.join(get_args(Format))}")


def _dumped(data: object) -> str:
    import json

    return json.dumps(data, indent=2)
