"""Output of all commands: text that the stream can encode, JSON, and colours on terminals."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

if TYPE_CHECKING:
    from symbcast.answers.show.document import Document

_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")

Format: TypeAlias = Literal["text", "json"]

LEAST_WIDTH, MOST_WIDTH = 20, 1000
"""Fewer columns are unreadable; nobody has more."""


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print text; characters that the stream cannot encode are written as escapes."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def columns(stream: TextIO) -> int | None:
    """Return the width for output: ``COLUMNS``, or that of the terminal; None for a file or a pipe."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return max(int(said), LEAST_WIDTH)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, LEAST_WIDTH) if stream.isatty() else None
    except (OSError, ValueError):
        return None


def print_wrapped(text: str, stream: TextIO | None = None, indent: int = 0) -> None:
    """Print text; lines that are too wide for the stream continue below, indented by ``indent`` columns."""
    width = columns(stream or sys.stdout)
    if width is not None:
        from textwrap import wrap

        below = " " * min(indent, width // 2)
        lines = (
            wrap(line, width, subsequent_indent=below, break_on_hyphens=False) or [""] for line in text.split("\n")
        )
        text = "\n".join(part for line in lines for part in line)
    print_text(text, stream)


def harmless(text: str) -> str:
    r"""Return text from a file with terminal control characters escaped; line breaks are kept.

    >>> harmless("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def print_json(data: Any) -> None:
    """Print data as JSON."""
    import json

    print_text(json.dumps(data, indent=2))


def show(document: Document, indent: int = 2) -> None:
    """Print a document: at the terminal's width, or otherwise as text wrapped at a readable width.

    ``COLUMNS`` sets the width of a terminal, and also of output to a file or a pipe.
    """
    is_terminal, columns = sys.stdout.isatty(), os.environ.get("COLUMNS", "")
    if not is_terminal and not (columns.isdecimal() and int(columns)):
        from symbcast.answers.show.text import render

        print_text(render(document, indent=indent))
        return
    from shutil import get_terminal_size  # slow to load, like rich, and not needed for a file

    from rich.console import Console

    from symbcast.answers.show.terminal import draw

    is_plain = not is_terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    wide = max(get_terminal_size().columns, LEAST_WIDTH)
    draw(document, Console(width=wide, highlight=False, color_system=None if is_plain else "auto"), indent)
