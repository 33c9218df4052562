"""The table of who answered what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.peers.running import Answer

COLUMNS = ("program", "asked", "judged", "output shape", "condition it reports", "time per operation")
WIDEST = 48


@dataclass(frozen=True)
class Row:
    """What one contestant answered to one program. ``answer`` is None where it was not asked, which ``worth`` says."""

    program: str
    contestant: str
    worth: str
    answer: Answer | None = None
    seconds: float | None = None

    def cells(self) -> tuple[str, ...]:
        answer = self.answer
        if answer is None:
            return self.program, self.contestant, self.worth, "", "", ""
        condition = "" if answer.refusal else ", ".join([*answer.conditions, *answer.assumed]) or "none"
        time = "" if self.seconds is None else _time(self.seconds)
        return self.program, self.contestant, self.worth, _cut(answer.shape), _cut(condition), time


def markdown(rows: Iterable[Row]) -> str:
    """Return the rows as a table of Markdown, each program named once."""
    cells = [COLUMNS]
    for row in rows:
        name, *others = row.cells()
        cells.append(("" if any(c[0] == name for c in cells) else name, *others))
    quoted = [tuple(c.replace("|", "\\|") for c in line) for line in cells]
    widths = [max(map(len, column)) for column in zip(*quoted, strict=True)]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in quoted]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."


def _time(seconds: float) -> str:
    micros = seconds * 1e6
    return f"{micros:.1f} µs" if micros < 10 else f"{micros:.0f} µs" if micros < 1000 else f"{micros / 1000:.1f} ms"
