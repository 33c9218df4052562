"""Run jobs with an executor or in our own processes: a limited number at a time, yielding answers as they arrive.

Only a few of thousands of jobs are submitted at any time, so that waiting jobs do not fill the executor's memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from itertools import islice
from queue import SimpleQueue
from typing import TypeAlias

from symbcast.batch.endings import Answer, DiedError, Ending, Job, Prepare, TimedOutError, ended_with, nothing

AHEAD = 128
"""The number of jobs submitted to an executor whose number of workers is unknown."""

Submit: TypeAlias = "Callable[[Job], Future[Answer]]"


def run(  # noqa: PLR0913 - by what, for how long, on how many
    function: Callable[[Job], Answer],
    jobs: Iterable[Job],
    executor: Executor | None = None,
    timeout: float | None = None,
    *,
    processes: int = 0,
    prepare: Prepare = nothing,
) -> Generator[Ending[Job, Answer], None, None]:
    """Call a function on each job, and yield how the jobs ended, in the order in which they finish.

    ``executor`` is any executor of `concurrent.futures`. None starts our own processes: ``processes`` of them, or one
    per core. They survive a job that crashes or takes longer than ``timeout`` seconds. With any other executor, a job
    with a time limit runs in a child process of the worker, since no executor can stop a running job. ``prepare`` is
    called once in each of these processes to load what the function needs; it does not count towards the time limit.
    The function, the jobs and the answers are pickled. Exceptions of the function are raised here.
    """
    if executor is None:
        from symbcast.batch.pool import pool  # loads pebble

        count = processes or os.cpu_count() or 1
        with pool(function, count, timeout, prepare) as submit:
            yield from _endings(submit, jobs, 2 * count)
        return
    yield from _endings(_submitted(function, executor, timeout, prepare), jobs, _ahead(executor))


def _submitted(
    function: Callable[[Job], Answer], executor: Executor, timeout: float | None, prepare: Prepare
) -> Submit[Job, Answer]:
    if timeout is None:
        return lambda job: executor.submit(function, job)
    from symbcast.batch.isolation import Isolated

    isolated = Isolated(function, timeout, prepare)
    return lambda job: executor.submit(isolated, job)


def _ahead(executor: Executor) -> int:
    workers = getattr(executor, "_max_workers", None)  # only thread and process executors have it
    return 2 * workers if isinstance(workers, int) and workers > 0 else AHEAD


def _endings(
    submit: Submit[Job, Answer], jobs: Iterable[Job], ahead: int
) -> Generator[Ending[Job, Answer], None, None]:
    done: SimpleQueue[Future[Answer]] = SimpleQueue()
    waiting: dict[Future[Answer], Job] = {}
    source = iter(jobs)
    try:
        while True:
            for job in islice(source, ahead - len(waiting)):
                future = submit(job)
                waiting[future] = job
                future.add_done_callback(done.put)
            if not waiting:
                return
            future = done.get()
            yield _ending(waiting.pop(future), future)
    finally:
        for future in waiting:
            future.cancel()


def _ending(job: Job, future: Future[Answer]) -> Ending[Job, Answer]:
    try:
        return Ending(job, "answered", future.result())
    except (TimedOutError, TimeoutError):
        return Ending(job, "timed out")
    except DiedError as error:
        return Ending(job, "died", status=error.status, text=str(error))
    except Exception as error:
        status = getattr(error, "exitcode", None)  # on pebble's ProcessExpired, without loading pebble
        if status is not None:
            return Ending(job, "died", status=status, text=ended_with(status))
        if isinstance(error, BrokenExecutor) or type(error).__name__ in _LOST:
            return Ending(job, "died", text=f"{type(error).__name__}")
        raise


_LOST = frozenset({"KilledWorker", "ProcessExpired"})
"""The errors of executors for a job whose workers keep dying, and for processes that end silently."""
