"""Messages of torch, and the table rows that recognise them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from symbcast.errors import DimensionError
from symbcast.torch.guards.guard_texts import shown_guard
from symbcast.torch.guards.guards import Guard, Specialised

if TYPE_CHECKING:
    from symbcast.torch.guards.log_texts import Names


class Message(NamedTuple):
    """A message of torch about sizes.

    Attributes:
        said: torch's sentence.
        meaning: its meaning in sizes.
        why: why torch gives it; empty if the combined condition answers it.
        advice: what to do; empty if the suggested dynamic shapes are the answer.
        guard: the requirement on sizes that it states.
        fixed: the axis whose size it fixes.
        line: the line of code, where torch names one.
    """

    said: str
    meaning: str
    why: str = ""
    advice: str = ""
    guard: Guard | None = None
    fixed: Specialised | None = None
    line: str = ""


Build = Callable[["re.Match[str]", "Names"], "Message | None"]


class Row(NamedTuple):
    """A message that torch writes: its pattern, and the answers, with the pattern's groups in braces."""

    pattern: re.Pattern[str]
    build: Build


def row(pattern: str, meaning: str, why: str, advice: str) -> Row:
    """Return a row whose answers are templates; groups of the pattern fill the braces."""

    def build(found: re.Match[str], names: Names) -> Message:
        groups = {key: names.spelled(" ".join((value or "").split())) for key, value in found.groupdict().items()}
        said = (template.format(**groups) for template in (meaning, why, advice))
        return Message(_said(found), next(said), next(said), next(said))

    return Row(re.compile(pattern, re.S), build)


def _said(found: re.Match[str]) -> str:
    return " ".join(found[0].split())[:300]


def rows_of(*tables: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows of several tables."""
    return tuple(r for table in tables for r in table)


def messages_in(text: str, names: Names, rows: Iterable[Row]) -> Iterator[Message]:
    """Yield the messages in a text in order, each once; where two rows match the same place, the first one counts."""
    found: list[tuple[int, int, Message]] = []
    taken: list[tuple[int, int]] = []
    for made in rows:
        for match in made.pattern.finditer(text):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            message = made.build(match, names)
            if message is not None:
                taken.append((start, end))
                found.append((start, end, message))
    seen: set[tuple[str, str]] = set()
    for _, _, message in sorted(found, key=lambda f: f[0]):
        key = (message.meaning, message.line) if message.guard is None else (message.guard.text, "")
        if key not in seen:
            seen.add(key)
            yield message


def guard_message(found: re.Match[str], names: Names, text: str, line: str = "") -> Message:
    """Return the message of a requirement that torch writes as an expression."""
    shown = text.strip().rstrip(".,")
    try:
        guard = Guard(shown_guard(shown), names.reader.formula(shown), line)
    except DimensionError as error:
        sizes = names.reader.sizes_in(shown)
        guard = Guard(shown_guard(shown), None, line, error.problem, sizes)
        about = f", so what sizes of {', '.join(sizes)} it accepts is open" if sizes else ""
        why = f"this guard is not read: {error.problem}{about}"
        return Message(_said(found), f"torch asks that {names.spelled(shown)}", why, guard=guard, line=line)
    return Message(_said(found), f"torch asks that {names.spelled(shown)}", guard=guard, line=line)
