"""Shapes as arguments: read, and answered for. What needs no option is answered without the declared commands.

Loading and applying the declarations of all options takes longer than the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.cli.output import Format, print_json, show
from symbcast.cli.statuses import UsageError, status_of
from symbcast.cli.stdin import STDIN, read_stdin
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.answers.public.result import Result

_ALONE = re.compile(r"[\w(\[*.?][^<>=!]*")
"""An argument that is neither an option nor a relation."""


def is_shapes_alone(arguments: Sequence[str]) -> bool:
    """Return whether arguments are ``check`` and shapes only, without any option."""
    return len(arguments) > 1 and arguments[0] == "check" and all(map(_ALONE.fullmatch, arguments[1:]))


def is_shape(argument: str) -> bool:
    """Return whether an argument can be read as a shape."""
    from symbcast.core.text import parse_shape

    try:
        return bool(parse_shape(argument))
    except SymbcastError:
        return False


def answer_for_shapes(arguments: Sequence[str]) -> int:
    """Answer ``symbcast check`` for shapes without options; return the exit status."""
    from symbcast.answers.public.result import broadcast

    result = broadcast(*read_shapes(arguments, is_blank_read=False))
    show_result(result, "text")
    return status_of(result.verdict)


def read_shapes(shapes: Sequence[str], is_blank_read: bool) -> list[str]:
    """Return the shapes as typed, with ``-`` replaced by the non-blank lines of standard input.

    Raises `UsageError` for a blank shape, such as an unset shell variable. With ``is_blank_read``, blank text means
    rank 0.
    """
    if list(shapes).count(STDIN) > 1:
        raise UsageError("- is given twice, but standard input can be read only once")
    for number, text in enumerate(shapes, 1):
        if not text.strip() and not is_blank_read:
            raise UsageError(
                f'shape {number} is empty; write "()" for rank 0, or check that the variable it comes from is set'
            )
    return [line for text in shapes for line in (_lines() if text == STDIN else (text,))]


def _lines() -> list[str]:
    lines = [line.strip() for line in read_stdin().decode("utf-8", "surrogateescape").splitlines()]
    found = [line for line in lines if line]
    if not found:
        raise UsageError("- reads shapes from standard input, which is empty; write one per line")
    return found


def show_result(result: Result, format: Format) -> None:
    """Print an answer as text or JSON."""
    from symbcast.answers.public.result import call_of
    from symbcast.answers.show.call import document

    call = call_of(result)
    if format == "json":
        from symbcast.answers.exchange.answers import result_to_dict
        from symbcast.answers.show.json import render

        print_json({**result_to_dict(call), "explanation": render(document(call))})
        return
    show(document(call))
