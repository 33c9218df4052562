"""A pool of processes that survives jobs that crash or exceed their time limit."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.resource_tracker import ensure_running

from symbcast.core.interrupts import BlockInterrupts
from symbcast.core.isolation import Answer, Job, Prepare, load_nothing
from symbcast.errors import MissingExtraError

try:
    from pebble import ProcessPool
except ImportError:
    raise MissingExtraError("work for several processes", "onnx") from None


@contextmanager
def process_pool(
    function: Callable[[Job], Answer], processes: int, timeout: float | None = None, prepare: Prepare = load_nothing
) -> Generator[Callable[[Job], Future[Answer]], None, None]:
    """Yield a function that submits a job to one of several processes; they are stopped at the end.

    The processes start from scratch, independent of the state of this one, and receive no interrupts: each would print
    a traceback. A future raises `TimeoutError` for a job that took longer than ``timeout`` seconds, and pebble's
    ``ProcessExpired`` if its process ended.
    """
    pool = ProcessPool(
        max_workers=processes, initializer=prepare_worker, initargs=(prepare,), context=get_context("spawn")
    )

    ensure_running()  # the resource tracker: the only process that would unblock interrupts again

    def submit(job: Job) -> Future[Answer]:
        # The first job starts the processes, and the threads that replace dead processes.
        with BlockInterrupts():
            return pool.schedule(function, args=(job,), timeout=timeout)

    try:
        yield submit
    finally:
        pool.stop()  # type: ignore[no-untyped-call]  # pebble is typed but for these
        pool.join()


def prepare_worker(prepare: Prepare) -> None:
    """Load what the work needs; if loading fails, the work will fail too and report the error."""
    with suppress(Exception):
        prepare()
