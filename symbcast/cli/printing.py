"""What every command prints: text as the stream can take it, JSON, and colours on terminals."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

if TYPE_CHECKING:
    from symbcast.explain import Line

_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")

Format: TypeAlias = Literal["text", "json"]


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


def is_coloured() -> bool:
    """Return whether what is printed is for a terminal that shows colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


VERDICT_STYLES = {
    "always": "bold green",
    "sometimes": "bold yellow",
    "never": "bold red",
    "unknown": "bold magenta",
    "undecided": "bold magenta",
    "broken": "bold red",
}
_MARK_STYLES = {
    r"(?<!\S)ok(?!\S)": "green",
    r"(?<!\S)[?~](?!\S)": "yellow",
    r"(?<!\S)x(?!\S)": "red",
}
_ROW_STYLES = {rf"(?<=  ){word}(?=  |$)": style for word, style in VERDICT_STYLES.items()}
_STYLES: Mapping[str, Mapping[str, str]] = {
    "header": {r".+": "bold"},
    "labelled": {r"^\S+( \S+)?(?=  )": "bold"},
    "marks": _MARK_STYLES,
    "row": _ROW_STYLES,
}


def print_coloured(lines: Sequence[Line], verdict: str) -> None:
    """Print the lines of an explanation with colours."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        text = Text(line.text.encode(console.encoding, "backslashreplace").decode(console.encoding))
        if line.role == "verdict":
            text.stylize(VERDICT_STYLES[verdict])
        for pattern, style in _STYLES.get(line.role, {}).items():
            text.highlight_regex(pattern, style)
        console.print(text)
