"""The tables of who answered what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.peers.running import Answer

WIDEST = 48


@dataclass(frozen=True)
class Row:
    """What one contestant answered to one program. ``answer`` is None where it was not asked, which ``worth`` says."""

    program: str
    contestant: str
    version: str
    worth: str
    answer: Answer | None = None
    seconds: float | None = None

    @property
    def time(self) -> str:
        return "" if self.seconds is None else _time(self.seconds)

    def said(self) -> tuple[str, ...]:
        answer = self.answer
        if answer is None:
            return self.program, self.contestant, self.worth, "", ""
        condition = ", ".join([*answer.conditions, *answer.assumed]) or "none"
        shape, condition = ("", answer.refusal.splitlines()[0]) if answer.refusal else (answer.shape, condition)
        return self.program, self.contestant, self.worth, _cut(shape), _cut(condition)


def summary(rows: Sequence[Row]) -> str:
    """Return a table of Markdown with a line for each program: what each contestant's answer is worth, and its time."""
    contestants = list(dict.fromkeys(r.contestant for r in rows))
    found = {(r.program, r.contestant): ", ".join(filter(None, [r.worth, r.time])) for r in rows}
    programs = dict.fromkeys(r.program for r in rows)
    return _markdown(("", *contestants), [(p, *(found.get((p, c), "") for c in contestants)) for p in programs])


def details(rows: Iterable[Row]) -> str:
    """Return a table of Markdown with what each contestant said of each program."""
    return _markdown(("program", "asked", "judged", "output shape", "condition it reports"), [r.said() for r in rows])


def _markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [[c.replace("|", "\\|") for c in line] for line in (head, *lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    written = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
    return "\n".join([written[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *written[1:]])


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."


def _time(seconds: float) -> str:
    micros = seconds * 1e6
    return f"{micros:.1f} µs" if micros < 10 else f"{micros:.0f} µs" if micros < 1000 else f"{micros / 1000:.1f} ms"
