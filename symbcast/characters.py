"""Text that can be shown: characters that would not print, texts that are too long, names that are not plain."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[^\W\d]\w*(\.\w+)*|\?\w+")


def visible(text: str) -> str:
    r"""Return a text on one line, every character that does not print as itself written as Python escapes it.

    So line breaks do not break a line, and characters that turn the direction of writing do not turn it.

    >>> print(visible("N" + chr(10) + "M" + chr(0x202E)))
    N\nM\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def clipped(text: str, width: int) -> str:
    """Return a text with its end left out where it is longer than ``width``.

    >>> clipped("abcdefghijklmnop", 9)
    'abcdef...'
    """
    return text if len(text) <= width else f"{text[: width - 3]}..."


def quoted(name: str) -> str:
    """Return a name as formulas have it: in quotes where it is not plain."""
    return name if _PLAIN.fullmatch(name) else repr(name)
