"""A pool of processes that survives jobs that crash or exceed their time limit."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.resource_tracker import ensure_running

from symbcast.batch.endings import Answer, Job, Prepare, nothing
from symbcast.batch.interrupts import KeptAway
from symbcast.errors import MissingExtraError

try:
    from pebble import ProcessPool
except ImportError:
    raise MissingExtraError("work for several processes", "onnx") from None


@contextmanager
def pool(
    function: Callable[[Job], Answer], processes: int, timeout: float | None = None, prepare: Prepare = nothing
) -> Generator[Callable[[Job], Future[Answer]], None, None]:
    """Yield a function that submits a job to one of several processes; they are stopped at the end.

    The processes start from scratch, independent of the state of this one, and receive no interrupts: each would print
    a traceback. A future raises `TimeoutError` for a job that took longer than ``timeout`` seconds, and pebble's
    ``ProcessExpired`` if its process ended.
    """
    made = ProcessPool(max_workers=processes, initializer=prepared, initargs=(prepare,), context=get_context("spawn"))

    ensure_running()  # the resource tracker: the only process that would unblock interrupts again

    def submit(job: Job) -> Future[Answer]:
        # The first job starts the processes, and the threads that replace dead processes.
        with KeptAway():
            return made.schedule(function, args=(job,), timeout=timeout)

    try:
        yield submit
    finally:
        made.stop()  # type: ignore[no-untyped-call]  # pebble is typed but for these
        made.join()


def prepared(prepare: Prepare) -> None:
    """Load what the work needs; if loading fails, the work will fail too and report the error."""
    with suppress(Exception):
        prepare()
