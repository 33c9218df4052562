"""A pool of processes that outlives the jobs that crash, or take longer than they may."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from multiprocessing import get_context

from symbcast.batch.endings import Answer, Job, Prepare, nothing
from symbcast.errors import MissingExtraError

try:
    from pebble import ProcessPool
except ImportError:
    raise MissingExtraError("work for several processes", "onnx") from None


@contextmanager
def pool(
    function: Callable[[Job], Answer], processes: int, timeout: float | None = None, prepare: Prepare = nothing
) -> Generator[Callable[[Job], Future[Answer]], None, None]:
    """Give what submits a job to one of some processes; at the end all of them are stopped.

    The processes start afresh, so that it does not matter what this one has going on. A future raises `TimeoutError`
    of a job that took longer than ``timeout`` seconds, and pebble's ``ProcessExpired`` where its process ended.
    """
    made = ProcessPool(max_workers=processes, initializer=prepared, initargs=(prepare,), context=get_context("spawn"))

    def submit(job: Job) -> Future[Answer]:
        with _undisturbed():
            return made.schedule(function, args=(job,), timeout=timeout)

    try:
        yield submit
    finally:
        made.stop()  # type: ignore[no-untyped-call]  # pebble is typed but for these
        made.join()


def prepared(prepare: Prepare) -> None:
    """Load what the work needs; where that fails, so will the work, and say why."""
    with suppress(Exception):
        prepare()


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
