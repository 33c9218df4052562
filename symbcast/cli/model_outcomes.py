"""What checking a model file gave, and its reports: text, JSON, SARIF, GitHub commands, a guard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symbcast.answers.guards.languages import LANGUAGES
from symbcast.answers.outcomes import CheckOutcome, github_commands, sarif_document
from symbcast.answers.show.document import Document, Fields, Lines, Part, Row, Span, Table, Tone, field, words
from symbcast.cli.terminal import print_error, print_json, print_text, show
from symbcast.core.characters import shorten_middle
from symbcast.core.structs import NamedTuple
from symbcast.graphs.jobs import Stamp, Status

# The outcome of checking one file, with data for the formats and for the command's display and counts.


class RuntimeRun(NamedTuple):
    """A run in the real runtime, and whether it agrees with the report; None if the report makes no prediction."""

    sizes: dict[str, int]
    expected: str
    happened: str
    agrees: bool | None
    reason: str
    text: str


class ModelNames(NamedTuple):
    """The names of sizes and of inputs in a model that options may mention."""

    sizes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


NO_NAMES = ModelNames()
NO_FILE = Stamp()


@dataclass(frozen=True)
class FileOutcome(CheckOutcome):
    """The outcome of checking one file.

    ``names`` are those in the file, ``document`` is the report in words, ``data`` is the same for JSON, and ``guard``
    is the source text of a guard; each is present only if requested. ``stamp`` is the state of the file when it was
    checked. ``remarks`` are for whoever started the check, and are not part of the answer; ``next_step`` is one that is
    left out where there are several files.
    """

    subject: str = "the model"
    seconds: float = 0.0
    names: ModelNames = NO_NAMES
    document: Document | None = None
    data: dict[str, Any] | None = None
    guard: str = ""
    findings: int = 0
    unanalysed: int = 0
    confirmed: tuple[RuntimeRun, ...] = ()
    remarks: tuple[str, ...] = ()
    next_step: str = ""
    status: Status = "checked"
    stamp: Stamp = NO_FILE


# Reports of outcomes in each format: one by one where the format allows it, or at the end.


_WORDS = {"always": "always", "sometimes": "sometimes", "never": "never", "unknown": "undecided", "": "broken"}
_TONES = {
    "always": Tone.FINE,
    "sometimes": Tone.CONDITIONAL,
    "never": Tone.IMPOSSIBLE,
    "undecided": Tone.UNDECIDED,
    "broken": Tone.IMPOSSIBLE,
    "timed out": Tone.UNDECIDED,
    "died": Tone.IMPOSSIBLE,
}
_NAME = 60
# With more files, only models that do not always run are listed.
_ROWS = 100


class OutcomeWriter:
    """Reports the outcomes of ``count`` files; errors go to stderr if the answer cannot show them at once."""

    def __init__(self, count: int) -> None:
        self.count = count

    def tell(self, outcome: FileOutcome) -> None:
        """Report the outcome of one file, in order."""
        if outcome.problem is not None:
            print_error(f"{outcome.source}: {outcome.problem}")
        remark(outcome)

    def end(self, outcomes: Sequence[FileOutcome]) -> None:
        """Print the summary of all outcomes."""


class TextWriter(OutcomeWriter):
    """Reports in words; for several files, with a table at the end."""

    def tell(self, outcome: FileOutcome) -> None:
        """Print a report, or the reason why there is none."""
        if outcome.document is not None:
            show(_report(outcome, outcome.document))
        if self.count == 1:
            super().tell(outcome)
            if outcome.next_step:
                print_error(outcome.next_step, kind="note")
            return
        if outcome.problem is not None:
            show(Document(words(f"{outcome.source}: {outcome.problem}"), Tone.IMPOSSIBLE, ()))
        print_text("")
        remark(outcome)

    def end(self, outcomes: Sequence[FileOutcome]) -> None:
        """Print the table."""
        if self.count > 1:
            show_summary(outcomes)


class JsonWriter(OutcomeWriter):
    """Reports in one JSON document: the reports, and the files that could not be checked."""

    def end(self, outcomes: Sequence[FileOutcome]) -> None:
        """Print the document."""
        reports = [data_of(o) for o in outcomes if o.data is not None]
        errors = [{"source": o.source, **o.problem._asdict()} for o in outcomes if o.problem is not None]
        print_json({"models": reports, "errors": errors})


class SarifWriter(OutcomeWriter):
    """Reports in one SARIF log."""

    def end(self, outcomes: Sequence[FileOutcome]) -> None:
        """Print the log."""
        print_json(sarif_document(outcomes))


class GitHubWriter(OutcomeWriter):
    """Reports in GitHub workflow commands."""

    def tell(self, outcome: FileOutcome) -> None:
        """Print the commands for a file."""
        for command in github_commands(outcome):
            print_text(command)
        remark(outcome)


class GuardWriter(OutcomeWriter):
    """Prints the guard of a model."""

    def tell(self, outcome: FileOutcome) -> None:
        """Print the source text, or the reason why there is none."""
        if outcome.guard:
            print_text(outcome.guard)
        super().tell(outcome)


OUTCOME_WRITERS: Mapping[str, type[OutcomeWriter]] = {
    **dict.fromkeys(LANGUAGES, GuardWriter),
    "text": TextWriter,
    "json": JsonWriter,
    "sarif": SarifWriter,
    "github": GitHubWriter,
}


def remark(outcome: FileOutcome) -> None:
    """Print an outcome's remarks for the user of the command."""
    for text in outcome.remarks:
        print_error(text, kind="note")


def _report(outcome: FileOutcome, document: Document) -> Document:
    """Return a report with the result of the real run at its end."""
    runs = field("runtime", *(words(c.text) for c in outcome.confirmed))
    return document.replace(blocks=(*document.blocks, Fields((runs,)))) if runs.lines else document


def show_summary(outcomes: Sequence[FileOutcome]) -> None:
    """Print the table of files; with many files, rows of models that always run are left out."""
    show(_summary(outcomes), indent=0)


def _summary(outcomes: Sequence[FileOutcome]) -> Document:
    """Return a row for each file, and the totals; if there are many files, rows only for those that need attention."""
    listed = outcomes if len(outcomes) <= _ROWS else [o for o in outcomes if o.verdict != "always"][:_ROWS]
    heads = tuple(map(Span, ("runs", "findings", "not checked", "ms")))
    rows = (Row("model", heads, Part.HEAD), *map(_row, listed))
    counts = Counter(map(_word, outcomes))
    said = ", ".join(f"{counts[word]} {word}" for word in _TONES if counts[word])
    left_out = f"; {len(outcomes) - len(listed)} rows are omitted" if len(listed) < len(outcomes) else ""
    total = Lines((words(f"{len(outcomes)} {'model' if len(outcomes) == 1 else 'models'}: {said}{left_out}"),))
    return Document((), None, (Table("the models", rows, align="l"), total))


def _word(outcome: FileOutcome) -> str:
    return outcome.status if outcome.status in _TONES else _WORDS[outcome.verdict]


def _row(outcome: FileOutcome) -> Row:
    word = _word(outcome)
    counts = (outcome.findings or "-", outcome.unanalysed or "-", f"{1000 * outcome.seconds:.0f}")
    cells = tuple(Span(str(count)) for count in counts) if outcome.verdict else ()
    return Row(shorten_middle(outcome.source, _NAME), (Span(word, tone=_TONES[word]), *cells))


def data_of(outcome: FileOutcome) -> dict[str, Any]:
    """Return a report as data for JSON, with the result of the real runtime."""
    runs = [{key: value for key, value in c._asdict().items() if key != "text"} for c in outcome.confirmed]
    return {**(outcome.data or {}), **({"confirmations": runs} if runs else {})}
