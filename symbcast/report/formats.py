"""The report of a program in the format that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from symbcast.errors import ShapeTypeError

if TYPE_CHECKING:
    from symbcast.program.program import Program

Format: TypeAlias = Literal["text", "json", "sarif", "github"]


def report(program: Program, format: Format = "text", source: str = "") -> str:
    """Return what a program requires, in a format; ``source`` is its file, or what else it is called.

    Raises `ShapeTypeError` for another format, and for a source that is not text.
    """
    if format not in get_args(Format):
        raise ShapeTypeError(format, "a format", f"write one of {', '.join(get_args(Format))}")
    if not isinstance(source, str):
        raise ShapeTypeError(source, "a source", "write text: the file of the program, or what it is called")
    if format == "json":
        from symbcast.report.json import report_to_dict

        return _dumped(report_to_dict(program, source))
    from symbcast.report.notices import outcome_of

    outcome = outcome_of(program, source)
    match format:
        case "text":
            from symbcast.report.text import messages

            return "\n".join(messages(outcome))
        case "github":
            from symbcast.report.github import commands

            return "\n".join(commands(outcome))
        case "sarif":
            from symbcast.report.sarif import document

            return _dumped(document([outcome]))


def _dumped(data: object) -> str:
    import json

    return json.dumps(data, indent=2)
