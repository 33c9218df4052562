"""Check model files in this process, in several or on a cluster, and record results as they arrive."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from symbcast.answers.outcomes import Problem
from symbcast.cli.model_outcomes import FileOutcome, ModelNames, RuntimeRun, data_of, remark, show_summary
from symbcast.cli.terminal import Bar, UsageError, harmless, print_text, print_wrapped
from symbcast.core import __version__
from symbcast.core.characters import closest, prose_list
from symbcast.core.interrupts import RaiseFirstInterrupt
from symbcast.core.isolation import Ending, load_nothing
from symbcast.errors import MissingExtraError
from symbcast.graphs.jobs import FileResult, Journal, Stamp, run_jobs

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symbcast.cli.model_examination import CheckJob


# Work in several processes: answers come in order, and a process that dies loses only its own job.


Work = TypeVar("Work")
Answer = TypeVar("Answer")

# How long a Dask scheduler may take to answer at all.
SECONDS_TO_CONNECT = 10


def in_order(
    endings: Iterable[Ending[tuple[int, Work], Answer]], tell: Callable[[], None]
) -> Generator[Ending[Work, Answer], None, None]:
    """Yield how numbered jobs ended, in the order of their numbers."""
    # Jobs end in any order; what is early waits for the jobs before it.
    early: dict[int, Ending[Work, Answer]] = {}
    following = 0
    for ending in endings:
        number, job = ending.job
        early[number] = Ending(job, ending.kind, ending.answer, ending.status, ending.text)
        tell()
        while following in early:
            yield early.pop(following)
            following += 1


def numbered(function: Callable[[Work], Answer], job: tuple[int, Work]) -> Answer:
    """Return the answer of a function to a job with a number."""
    return function(job[1])


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Provide the executor of a Dask cluster, given the address of its scheduler.

    Raises `UsageError` if no scheduler answers, and `MissingExtraError` without the extra ``dask``.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("--dask", "dask") from None
    if not re.fullmatch(r"\w+://.+|.+:\d+", address):
        raise UsageError(f"--dask {address}: write the address of a scheduler, such as tcp://host:8786")
    try:
        client: Any = Client(address, set_as_default=False, timeout=SECONDS_TO_CONNECT)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise UsageError(f"--dask {address}: no scheduler answers there ({error})") from None
    with client:
        yield client.get_executor(pure=False)  # a changed file is a different job


# Files are checked in this process, in several, or on a cluster; names that no file has are an error.


class Workers(NamedTuple):
    """The number of processes that check files, the time limit per file, and a Dask scheduler to use instead."""

    processes: int = 1
    timeout: float | None = None
    dask: str | None = None


def outcomes_of(
    jobs: Sequence[CheckJob], means: Workers, advance: Callable[[], None], is_ordered: bool = True
) -> Generator[FileOutcome, None, None]:
    """Yield the outcomes of files, in order or as they arrive; ``advance`` is called for each."""
    from symbcast.cli.model_examination import examine, without_answer
    from symbcast.cli.model_files import front_end_for

    is_alone = means.processes == 1 or len(jobs) <= 1
    if is_alone and means.timeout is None and means.dask is None:
        for job in jobs:
            outcome = examine(job)
            advance()
            yield outcome
        return

    processes = max(1, min(means.processes, len(jobs)))
    prepare = front_end_for(jobs[0].path).load().prepare if jobs else load_nothing
    with RaiseFirstInterrupt(), ExitStack() as stack:
        executor = stack.enter_context(dask_executor(means.dask)) if means.dask is not None else None
        ask = partial(run_jobs, executor=executor, timeout=means.timeout, processes=processes, prepare=prepare)
        endings: Iterator[Ending[CheckJob, FileOutcome]]
        if is_ordered:
            endings = in_order(stack.enter_context(closing(ask(partial(numbered, examine), enumerate(jobs)))), advance)
        else:
            endings = stack.enter_context(closing(ask(examine, jobs)))
        for ending in endings:
            if not is_ordered:
                advance()
            yield ending.answer or without_answer(ending.job, ending, means.timeout)


def known_outcomes(outcomes: Iterator[FileOutcome], names_to_find: ModelNames) -> Iterator[FileOutcome]:
    """Yield the outcomes once every name that the user mentioned was found in a model.

    Raises `UsageError` if a name is in no model: the answer would otherwise ignore it silently.
    """
    # A name may occur only in a later model, so outcomes wait until each name was seen, or all models were.
    missing = [set(names) for names in names_to_find]
    names_seen: list[dict[str, None]] = [{} for _ in names_to_find]
    waiting: list[FileOutcome] = []
    for outcome in outcomes:
        for names, left, seen in zip(outcome.names, missing, names_seen, strict=True):
            left.difference_update(names)
            seen.update(dict.fromkeys(names))
        waiting.append(outcome)
        if not any(missing):
            yield from waiting
            waiting.clear()
    if any(o.verdict for o in waiting):
        for what, left, seen in zip(("size", "input"), missing, names_seen, strict=True):
            if left:
                raise UsageError(_unknown(what, sorted(left)[0], list(seen)))
    yield from waiting


def _unknown(what: str, name: str, names: Sequence[str]) -> str:
    close = closest(name, names)
    hint = f"did you mean {close!r}? " if close else ""
    there = (
        f"there {'are' if len(names) > 1 else 'is'} {prose_list(names, limit=20)}" if names else "there are none at all"
    )
    return f"no {what} in these models is named {name!r}; {hint}{there[0].upper() + there[1:] if hint else there}"


# Results of checking many files, recorded as they arrive, and a table of all results at the end.


def recorded(
    jobs: Sequence[CheckJob], means: Workers, names: ModelNames, path: Path, resume: bool
) -> list[FileOutcome]:
    """Check files, record each result as it arrives, print the table, and return all outcomes in order.

    With ``resume``, results in the file are kept: see `symbcast.graphs.jobs`. Files that timed out are checked again
    if the time limit is longer now, and files whose process died are always checked again.
    """
    journal = Journal(path, _question(jobs))
    previous = journal.resume(lambda row: _is_kept(row, means.timeout)) if resume else {}
    done = {job.path: _outcome(previous[job.path]) for job in jobs if job.path in previous}
    left = [job for job in jobs if job.path not in done]
    with journal, Bar(len(left), "checking") as bar, closing(outcomes_of(left, means, bar.advance, False)) as outcomes:
        written = _written(outcomes, journal)
        # Names that occur only in files already done are not mistakes.
        for outcome in known_outcomes(written, names) if not done else written:
            with bar.away():
                if outcome.problem is not None:
                    print_wrapped(harmless(f"symbcast: {outcome.source}: {outcome.problem}"), sys.stderr)
                remark(outcome)
            done[outcome.source] = outcome
    recorded_outcomes = [done[job.path] for job in jobs]
    show_summary(recorded_outcomes)
    print_text(f"results: {path}" + (f" ({len(previous)} of them from before)" if previous else ""))
    return recorded_outcomes


def _written(outcomes: Iterable[FileOutcome], journal: Journal) -> Iterator[FileOutcome]:
    for outcome in outcomes:
        problem = "" if outcome.problem is None else str(outcome.problem)
        report = data_of(outcome) if outcome.data is not None else None
        result = FileResult(outcome.source, outcome.status, outcome.seconds, problem, report, outcome.stamp)
        journal.add(result.to_dict())
        yield replace(outcome, data=None)  # thousands of reports would not fit into memory


def _question(jobs: Sequence[CheckJob]) -> dict[str, Any]:
    """Return the question about every file as data for JSON, with the version that answers it."""
    if not jobs:
        return {}
    question = jobs[0]._asdict()
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
        confirmed=tuple(RuntimeRun(**run, text="") for run in report["confirmations"]),
        status=row["status"],
        stamp=stamp,
    )
