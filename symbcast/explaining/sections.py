"""What is said below an answer's heading: labelled parts, of words and of code, that every display shows alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias


class Span(NamedTuple):
    """A piece of a line: words, or code such as a formula or sizes."""

    text: str
    is_code: bool = False


Phrase: TypeAlias = tuple[Span, ...]
"""One line."""


class Section(NamedTuple):
    """A label and the lines beside it."""

    label: str
    lines: tuple[Phrase, ...]

    @property
    def texts(self) -> list[str]:
        """The lines as plain text."""
        return ["".join(span.text for span in line) for line in self.lines]


def words(text: str) -> Phrase:
    """Return a line of words."""
    return (Span(text),)


def code(text: str) -> Phrase:
    """Return a line of code."""
    return (Span(text, True),)


def section(label: str, *lines: Phrase) -> Section:
    """Return a section of the lines that say something."""
    return Section(label, tuple(line for line in lines if any(span.text for span in line)))


def saying(sections: Iterable[Section]) -> list[Section]:
    """Return the sections that say something.

    >>> saying([section("fix", words("")), section("works at", code("N=1"))])[0].texts
    ['N=1']
    """
    return [s for s in sections if s.lines]
