"""Results of checking many files, recorded as they arrive, and a table of all results at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.answers.report.outcomes import Problem
from symbcast.batch.journal import Journal
from symbcast.batch.results import FileResult, Stamp
from symbcast.cli.models.means import Means, known_outcomes, outcomes_of
from symbcast.cli.models.outcome_texts import data_of, remark, show_summary
from symbcast.cli.models.outcomes import Confirmed, FileOutcome, Names
from symbcast.cli.models.progress import Bar
from symbcast.cli.output import harmless, print_text, print_wrapped
from symbcast.version import __version__

if TYPE_CHECKING:
    from symbcast.cli.models.examination import Job


def recorded(asked: Sequence[Job], means: Means, wanted: Names, path: Path, resume: bool) -> list[FileOutcome]:
    """Check files, record each result as it arrives, print the table, and return all outcomes in order.

    With ``resume``, results in the file are kept: see `symbcast.batch.journal`. Files that timed out are checked again
    if the time limit is longer now, and files whose process died are always checked again.
    """
    journal = Journal(path, _question(asked))
    kept = journal.resume(lambda row: _is_kept(row, means.timeout)) if resume else {}
    done = {job.path: _outcome(kept[job.path]) for job in asked if job.path in kept}
    left = [job for job in asked if job.path not in done]
    with journal, Bar(len(left), "checking") as bar, closing(outcomes_of(left, means, bar.advance, False)) as outcomes:
        written = _written(outcomes, journal)
        # Names that occur only in files already done are not mistakes.
        for outcome in known_outcomes(written, wanted) if not done else written:
            with bar.away():
                if outcome.problem is not None:
                    print_wrapped(harmless(f"symbcast: {outcome.source}: {outcome.problem}"), sys.stderr)
                remark(outcome)
            done[outcome.source] = outcome
    found = [done[job.path] for job in asked]
    show_summary(found)
    print_text(f"results: {path}" + (f" ({len(kept)} of them from before)" if kept else ""))
    return found


def _written(outcomes: Iterable[FileOutcome], journal: Journal) -> Iterator[FileOutcome]:
    for outcome in outcomes:
        problem = "" if outcome.problem is None else str(outcome.problem)
        report = data_of(outcome) if outcome.data is not None else None
        result = FileResult(outcome.source, outcome.status, outcome.seconds, problem, report, outcome.stamp)
        journal.add(result.to_dict())
        yield replace(outcome, data=None)


def _question(asked: Sequence[Job]) -> dict[str, Any]:
    """Return the question about every file as data for JSON, with the version that answers it."""
    if not asked:
        return {}
    question = asked[0]._asdict()
    return {
        **{key: question[key] for key in question if key not in ("path", "target", "called", "html")},
        "symbcast": __version__,
    }


def _is_kept(row: Mapping[str, Any], timeout: float | None) -> bool:
    if row["status"] == "timed out":
        return timeout is not None and timeout <= row["seconds"]
    return bool(row["status"] != "died")


def _outcome(row: Mapping[str, Any]) -> FileOutcome:
    """Return the outcome of a recorded result."""
    report = row["report"] or {"verdict": "", "findings": 0, "unanalysed": 0, "confirmations": []}
    problem = Problem(row["problem"]) if row["problem"] else None
    stamp = Stamp(row["size"], row["modified"])
    return FileOutcome(
        row["path"],
        report["verdict"],
        problem,
        seconds=row["seconds"],
        findings=report["findings"],
        unanalysed=report["unanalysed"],
        confirmed=tuple(Confirmed(**run, text="") for run in report["confirmations"]),
        status=row["status"],
        stamp=stamp,
    )
