"""What the outcomes of checks look like in each format: told one by one where that can be, or at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from symbcast.cli.printing import harmless, is_coloured, print_coloured, print_json, print_text
from symbcast.explaining.naming import cut
from symbcast.explaining.report import LABEL, Line

if TYPE_CHECKING:
    from symbcast.onnx.formats.outcomes import Outcome

_WORDS = {"always": "always", "sometimes": "sometimes", "never": "never", "unknown": "undecided", "": "broken"}
_NAME = 60
_WIDTH = 100


class Teller:
    """Tells what became of ``count`` files; errors go to stderr, where the answer has no room for them at once."""

    def __init__(self, count: int) -> None:
        self.count = count

    def tell(self, outcome: Outcome) -> None:
        """Tell what became of a file, in its turn."""
        if outcome.problem is not None:
            print_text(harmless(f"symbcast: {outcome.source}: {outcome.problem}"), sys.stderr)
        remark(outcome)

    def end(self, outcomes: Sequence[Outcome]) -> None:
        """Tell what is to be told of all of them."""


class Text(Teller):
    """Tells in words; of several files there is a table at the end."""

    def tell(self, outcome: Outcome) -> None:
        """Print a report, or why there is none."""
        if outcome.verdict:
            _print(_report(outcome), outcome.verdict)
        if self.count == 1:
            super().tell(outcome)
            return
        if outcome.problem is not None:
            _print([Line(f"{outcome.source}: {outcome.problem}", "verdict")], "")
        print_text("")
        remark(outcome)

    def end(self, outcomes: Sequence[Outcome]) -> None:
        """Print the table."""
        if self.count > 1:
            _print(_table(outcomes), "")


class Json(Teller):
    """Tells in one JSON document: the reports, and what could not be checked."""

    def end(self, outcomes: Sequence[Outcome]) -> None:
        """Print the document."""
        reports = [_data(o) for o in outcomes if o.data is not None]
        errors = [{"source": o.source, **o.problem._asdict()} for o in outcomes if o.problem is not None]
        print_json({"models": reports, "errors": errors})


class Sarif(Teller):
    """Tells in one SARIF log."""

    def end(self, outcomes: Sequence[Outcome]) -> None:
        """Print the log."""
        from symbcast.onnx.formats.sarif import document

        print_json(document(outcomes))


class GitHub(Teller):
    """Tells in workflow commands."""

    def tell(self, outcome: Outcome) -> None:
        """Print the commands for a file."""
        from symbcast.onnx.formats.github import commands

        for command in commands(outcome):
            print_text(command)
        remark(outcome)


TELLERS: Mapping[str, type[Teller]] = {"text": Text, "json": Json, "sarif": Sarif, "github": GitHub}


def remark(outcome: Outcome) -> None:
    """Print what is for whoever started the command."""
    for text in outcome.remarks:
        print_text(harmless(f"symbcast: {text}"), sys.stderr)


def _report(outcome: Outcome) -> list[Line]:
    first, *rest = outcome.text.split("\n")
    runs = [part for c in outcome.confirmed for part in wrap(c.text, _WIDTH - LABEL, break_on_hyphens=False)]
    rest += [f"{'' if n else 'runtime':<{LABEL}}{part}" for n, part in enumerate(runs)]
    return [Line(first, "verdict"), *(Line(text, "labelled") for text in rest)]


def _print(lines: Sequence[Line], verdict: str) -> None:
    shown = [line._replace(text=harmless(line.text)) for line in lines]
    if is_coloured():
        print_coloured(shown, verdict or "broken")
    else:
        print_text("\n".join(line.text for line in shown))


def _table(outcomes: Sequence[Outcome]) -> list[Line]:
    """Return a line for each file, and their sum."""
    width = max(len("model"), *(len(cut(o.source, _NAME)) for o in outcomes))
    lines = [Line(f"{'model':<{width}}  {'runs':<9}  {'findings':>8}  {'not checked':>11}  {'ms':>7}", "header")]
    for o in outcomes:
        row = f"{cut(o.source, _NAME):<{width}}  {_WORDS[o.verdict]:<9}"
        if o.verdict:
            row = f"{row}  {o.findings or '-':>8}  {o.unanalysed or '-':>11}  {1000 * o.seconds:>7.0f}"
        lines.append(Line(row.rstrip(), "row"))
    counts = Counter(_WORDS[o.verdict] for o in outcomes)
    said = ", ".join(f"{counts[word]} {word}" for word in _WORDS.values() if counts[word])
    return [*lines, Line(f"{len(outcomes)} models: {said}")]


def _data(outcome: Outcome) -> dict[str, Any]:
    runs = [{key: value for key, value in c._asdict().items() if key != "text"} for c in outcome.confirmed]
    return {**(outcome.data or {}), **({"confirmations": runs} if runs else {})}
