"""The only thread on which z3 runs.

A z3 context must not be shared between threads, and signals are not handled during a check. So z3 runs only on a single
worker thread, while the calling thread waits and forwards interrupts.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

_POLL_SECONDS = 0.05

T = TypeVar("T")


class Interruptible(Protocol):
    """Something that a job may be executing and that can be interrupted: a z3 context."""

    def interrupt(self) -> None:
        """Make it end soon; called from another thread."""


@dataclass(slots=True)
class Job(Generic[T]):
    """A function run on the worker thread, and its outcome."""

    function: Callable[[], T]
    done: threading.Event = field(default_factory=threading.Event)
    variables: Context = field(default_factory=copy_context)
    running: Interruptible | None = None
    result: T | None = None
    error: BaseException | None = None
    cancelled: bool = False


class Cancelled(Exception):  # noqa: N818 - not an error: the caller interrupted
    """The job's caller was interrupted."""


class _Worker:
    """The worker thread and its current job."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.jobs: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self.current: Job[Any] | None = None
        self.thread = threading.Thread(target=self._serve, name="symbcast-z3", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while (job := self.jobs.get()) is not None:
            self.current = job
            if job.cancelled:  # before it began
                self.current = None
                continue
            try:
                # Run in the caller's context, which holds its budget.
                job.result = job.variables.run(job.function)
            except BaseException as error:
                # Remove the traceback: its frames hold solvers, which must be freed on this thread.
                job.error = error.with_traceback(None)
                job.error.__context__ = None
            job.running = None
            self.current = None
            job.done.set()
            del job  # otherwise the result would be held until the next job

    def run(self, function: Callable[[], T]) -> T:
        if threading.current_thread() is self.thread:
            return function()
        job = Job(function)
        self.jobs.put(job)
        try:
            while not job.done.wait(_POLL_SECONDS):
                pass
        except BaseException:
            job.cancelled = True
            # A job that has not begun never will; one that has is waited for, so that the worker is free afterwards.
            while self.current is job and not job.done.wait(_POLL_SECONDS):
                running = job.running
                if running is not None:
                    running.interrupt()
            raise
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def stop(self) -> None:
        if self.pid == os.getpid():
            self.jobs.put(None)
            self.thread.join(timeout=1)


_worker: _Worker | None = None
_worker_lock = threading.Lock()


def on_worker(function: Callable[[], T]) -> T:
    """Run a function that uses z3 on the worker thread and return its result, which must hold no z3 object.

    An interrupt of the calling thread ends the job within about a tenth of a second and is raised again.
    """
    global _worker  # noqa: PLW0603 - one worker a process; a fork leaves the thread behind and needs a new one
    with _worker_lock:
        if _worker is None or _worker.pid != os.getpid() or not _worker.thread.is_alive():
            _worker = _Worker()
            atexit.register(_worker.stop)
        worker = _worker
    return worker.run(function)


def running(context: Interruptible) -> None:
    """Register what the current job is executing, so that an interrupt can stop it."""
    if _worker is not None and _worker.current is not None:
        _worker.current.running = context


def end_if_cancelled() -> None:
    """Raise `Cancelled` if the caller of the current job was interrupted."""
    if _worker is not None and _worker.current is not None and _worker.current.cancelled:
        raise Cancelled
