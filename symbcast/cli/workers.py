"""Work for several processes, the answers in order; a process that dies takes only its own piece of work along."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")

_PATIENCE = 2.0
"""Seconds that a process has to end by itself."""


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection


class Workers(Generic[Job, Answer]):
    """Processes that answer jobs with a function; ``died`` answers one whose process came to its end, by its status.

    The function, the jobs and the answers are pickled. The processes start afresh, so that it does not matter what
    this one has going on.
    """

    def __init__(
        self,
        function: Callable[[Job], Answer],
        jobs: Sequence[Job],
        processes: int,
        died: Callable[[Job, int | None], Answer],
    ) -> None:
        self._function = function
        self._jobs = jobs
        self._died = died
        self._count = min(processes, len(jobs))
        self._next = 0
        self._busy: dict[Connection, tuple[_Worker, int]] = {}

    def answers(self, tell: Callable[[], None]) -> Generator[Answer, None, None]:
        """Yield the answers in the order of the jobs; ``tell`` is called as each comes in."""
        found: dict[int, Answer] = {}
        try:
            for _ in range(self._count):
                self._give(self._start())
            for number in range(len(self._jobs)):
                while number not in found:
                    for ready in wait(list(self._busy)):
                        place, answer = self._take(ready)
                        found[place] = answer
                        tell()
                yield found.pop(number)
        finally:
            self._stop()

    def _start(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._function), daemon=True)
        with _undisturbed():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _give(self, worker: _Worker) -> None:
        """Give a worker the next job, or let it go where there is none."""
        if self._next == len(self._jobs):
            worker.connection.close()
            worker.process.join()
            return
        self._busy[worker.connection] = worker, self._next
        self._next += 1
        with suppress(OSError):  # it has died: that is seen when its answer is read
            worker.connection.send(self._jobs[self._next - 1])

    def _take(self, ready: Any) -> tuple[int, Answer]:
        """Take an answer from a worker, and give it another job."""
        worker, number = self._busy.pop(ready)
        try:
            answer: Answer = worker.connection.recv()
        except (EOFError, OSError):
            worker.connection.close()
            worker.process.join()
            answer = self._died(self._jobs[number], worker.process.exitcode)
            if self._next < len(self._jobs):
                worker = self._start()
            else:
                return number, answer
        self._give(worker)
        return number, answer

    def _stop(self) -> None:
        for worker, _ in self._busy.values():
            worker.process.terminate()
        for worker, _ in self._busy.values():
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.connection.close()
        self._busy.clear()


def _serve(connection: Connection, function: Callable[[Any], Any]) -> None:
    """Answer jobs until there are no more; whoever gives them decides what an interrupt means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)  # so that what it has started itself ends too
    with suppress(EOFError, OSError):
        while True:
            connection.send(function(connection.recv()))


def _leave(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a process that is started meanwhile ignore interrupts from its first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
