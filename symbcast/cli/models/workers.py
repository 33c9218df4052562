"""Run work in several processes and yield answers in order; a process that dies loses only its own job."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from symbcast.batch.endings import Ending
from symbcast.batch.execution import run
from symbcast.cli.statuses import UsageError
from symbcast.errors import MissingExtraError

if TYPE_CHECKING:
    from concurrent.futures import Executor

Job = TypeVar("Job")
Answer = TypeVar("Answer")

SECONDS_TO_CONNECT = 10
"""How long a Dask scheduler may take to answer at all."""


def answers(
    function: Callable[[Job], Answer],
    jobs: Sequence[Job],
    processes: int,
    died: Callable[[Job, int | None], Answer],
    tell: Callable[[], None],
) -> Generator[Answer, None, None]:
    """Yield a function's answer to each job, in the order of the jobs, computed by several processes.

    If the process of a job died, ``died`` gives the answer, from its exit status; ``tell`` is called for each answer.
    """
    with closing(run(numbered(function), enumerate(jobs), processes=min(processes, len(jobs)))) as endings:
        for ending in in_order(endings, tell):
            yield ending.answer if ending.answer is not None else died(ending.job, ending.status)


def in_order(
    endings: Iterable[Ending[tuple[int, Job], Answer]], tell: Callable[[], None]
) -> Generator[Ending[Job, Answer], None, None]:
    """Yield how numbered jobs ended, in the order of their numbers."""
    early: dict[int, Ending[Job, Answer]] = {}
    following = 0
    for ending in endings:
        number, job = ending.job
        early[number] = Ending(job, ending.kind, ending.answer, ending.status, ending.text)
        tell()
        while following in early:
            yield early.pop(following)
            following += 1


def numbered(function: Callable[[Job], Answer]) -> Callable[[tuple[int, Job]], Answer]:
    """Return a function of numbered jobs that calls ``function`` on the jobs alone."""
    return partial(_numbered, function)


def _numbered(function: Callable[[Job], Answer], job: tuple[int, Job]) -> Answer:
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
