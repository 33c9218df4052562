"""Work for several processes, the answers in order; a process that dies takes only its own piece of work along."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from symbcast.errors import MissingExtraError

try:
    from pebble import ProcessExpired, ProcessPool
except ImportError:
    raise MissingExtraError("work for several processes", "onnx") from None

Job = TypeVar("Job")
Answer = TypeVar("Answer")


def answers(
    function: Callable[[Job], Answer],
    jobs: Sequence[Job],
    processes: int,
    died: Callable[[Job, int | None], Answer],
    tell: Callable[[], None],
) -> Generator[Answer, None, None]:
    """Yield what a function answers to each job, in the order of the jobs, worked out by several processes.

    ``died`` answers a job whose process came to its end, by its status; ``tell`` is called, from a thread, as each
    answer comes in. The function, the jobs and the answers are pickled. The processes start afresh, so that it does
    not matter what this one has going on.
    """
    pool = ProcessPool(max_workers=min(processes, len(jobs)), context=get_context("spawn"))
    try:
        with _undisturbed():
            asked = [pool.schedule(function, args=(job,)) for job in jobs]
        for future in asked:
            future.add_done_callback(lambda _: tell())
        for job, future in zip(jobs, asked, strict=True):
            try:
                yield future.result()
            except ProcessExpired as ending:
                yield died(job, ending.exitcode)
    finally:
        pool.stop()  # type: ignore[no-untyped-call]  # pebble is typed but for these
        pool.join()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let processes that are started meanwhile ignore interrupts from their first moment on.

    Once they run they ignore them by themselves; before, each would print where it was interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
