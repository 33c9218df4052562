"""Outcomes in the style of compiler messages: place, level, message; with the evidence indented below."""

from __future__ import annotations

from collections.abc import Iterator

from symbcast.answers.report.outcomes import Notice, Outcome
from symbcast.core.characters import visible


def messages(outcome: Outcome) -> Iterator[str]:
    """Yield the outcome of one check, line by line; only the verdict if there are no notices.

    >>> list(messages(Outcome("net.py", "always")))
    ['net.py: the program: always valid']
    """
    place = f"{visible(outcome.source)}: " if outcome.source else ""
    if outcome.problem is not None:
        yield f"{place}error: {visible(str(outcome.problem))}"
    for notice in outcome.notices:
        head, *evidence = notice.text.split("\n")
        line = None if outcome.source else notice.line
        where = place if line is None else f"{visible(line.file)}:{line.number}: "
        yield f"{where}{notice.level}: {_subject(notice, outcome)}: {visible(head)}"
        yield from (f"    {visible(line)}" for line in evidence)
    if outcome.verdict and not outcome.notices:
        yield f"{place}{outcome.subject}: {outcome.verdict} valid"


def _subject(notice: Notice, outcome: Outcome) -> str:
    return visible(f"{notice.operation} ({notice.operator})") if notice.operation else outcome.subject
