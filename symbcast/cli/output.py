"""What every command prints: text as the stream can take it, JSON, and colours on terminals."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

if TYPE_CHECKING:
    from symbcast.show.document import Document

_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")

Format: TypeAlias = Literal["text", "json"]

LEAST_WIDTH = 20
"""Of fewer columns nothing can be made that could be read."""


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print text; characters that the stream cannot encode are written as escapes."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def harmless(text: str) -> str:
    r"""Return text from a file with what would steer a terminal written as escapes; lines stay lines.

    >>> harmless("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def print_json(data: Any) -> None:
    """Print data as JSON."""
    import json

    print_text(json.dumps(data, indent=2))


def show(document: Document, width: int = 0, indent: int = 2) -> None:
    """Print a document: on a terminal drawn at its width, or else as text whose fields are wrapped at ``width``.

    ``COLUMNS`` says how wide a terminal is, and also how wide a file or a pipe is to be written.
    """
    is_terminal, columns = sys.stdout.isatty(), os.environ.get("COLUMNS", "")
    if not is_terminal and not (columns.isdecimal() and int(columns)):
        from symbcast.show.text import render

        print_text(render(document, width, indent))
        return
    from shutil import get_terminal_size  # slow to load, as rich is, and not needed for a file

    from rich.console import Console

    from symbcast.show.terminal import draw

    is_plain = not is_terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    wide = max(get_terminal_size().columns, LEAST_WIDTH)
    draw(document, Console(width=wide, highlight=False, color_system=None if is_plain else "auto"), indent)
