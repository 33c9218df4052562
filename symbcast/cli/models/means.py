"""Check files in this process, in several, or on a cluster, and verify that the mentioned names occur in them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from symbcast.batch.interrupts import Raised
from symbcast.cli.statuses import UsageError
from symbcast.core.characters import closest, listed

if TYPE_CHECKING:
    from symbcast.batch.endings import Ending
    from symbcast.cli.models.examination import Job
    from symbcast.cli.models.outcomes import FileOutcome, Names


class Means(NamedTuple):
    """The number of processes that check files, the time limit per file, and a Dask scheduler to use instead."""

    processes: int = 1
    timeout: float | None = None
    dask: str | None = None


def outcomes_of(
    asked: Sequence[Job], means: Means, advance: Callable[[], None], is_ordered: bool = True
) -> Generator[FileOutcome, None, None]:
    """Yield the outcomes of files, in order or as they arrive; ``advance`` is called for each."""
    from symbcast.cli.models.examination import examine, without_answer
    from symbcast.cli.models.readable import front_end_for

    is_alone = means.processes == 1 or len(asked) <= 1
    if is_alone and means.timeout is None and means.dask is None:
        for job in asked:
            outcome = examine(job)
            advance()
            yield outcome
        return
    from symbcast.batch.endings import nothing
    from symbcast.batch.execution import run
    from symbcast.cli.models.workers import dask_executor, in_order, numbered

    processes = max(1, min(means.processes, len(asked)))
    prepare = front_end_for(asked[0].path).load().prepare if asked else nothing
    with Raised(), ExitStack() as stack:
        executor = stack.enter_context(dask_executor(means.dask)) if means.dask is not None else None
        ask = partial(run, executor=executor, timeout=means.timeout, processes=processes, prepare=prepare)
        endings: Iterator[Ending[Job, FileOutcome]]
        if is_ordered:
            endings = in_order(stack.enter_context(closing(ask(numbered(examine), enumerate(asked)))), advance)
        else:
            endings = stack.enter_context(closing(ask(examine, asked)))
        for ending in endings:
            if not is_ordered:
                advance()
            yield ending.answer or without_answer(ending.job, ending, means.timeout)


def known_outcomes(outcomes: Iterator[FileOutcome], wanted: Names) -> Iterator[FileOutcome]:
    """Yield the outcomes once every name that the user mentioned was found in a model.

    Raises `UsageError` if a name is in no model: the answer would otherwise ignore it silently.
    """
    missing = [set(names) for names in wanted]
    met: list[dict[str, None]] = [{} for _ in wanted]
    held: list[FileOutcome] = []
    for outcome in outcomes:
        for names, left, seen in zip(outcome.names, missing, met, strict=True):
            left.difference_update(names)
            seen.update(dict.fromkeys(names))
        held.append(outcome)
        if not any(missing):
            yield from held
            held.clear()
    if any(o.verdict for o in held):
        for what, left, seen in zip(("size", "input"), missing, met, strict=True):
            if left:
                raise UsageError(_unknown(what, sorted(left)[0], list(seen)))
    yield from held


def _unknown(what: str, name: str, names: Sequence[str]) -> str:
    close = closest(name, names)
    hint = f"did you mean {close!r}? " if close else ""
    there = f"there {'are' if len(names) > 1 else 'is'} {listed(names, limit=20)}" if names else "there are none at all"
    return f"no {what} in these models is named {name!r}; {hint}{there[0].upper() + there[1:] if hint else there}"
