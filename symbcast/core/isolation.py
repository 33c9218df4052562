"""Work in a separate process, which may crash or time out: for threads, and for workers of other executors.

Workers of other executors, such as Dask's, may be forbidden to have multiprocessing children. This child is a plain
subprocess that starts from scratch: it is not forked. Messages are pickles, each preceded by its length.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Generic, Literal, TypeAlias, TypeVar

from symbcast.core.interrupts import CleanupOnInterrupt

Job = TypeVar("Job")
Answer = TypeVar("Answer")

Prepare: TypeAlias = "Callable[[], None]"
"""Loads what the work needs, once in each process."""

EndingKind: TypeAlias = Literal["answered", "timed out", "died"]


def load_nothing() -> None:
    """Load nothing."""


class TimedOutError(Exception):
    """The work exceeded its time limit."""


class DiedError(Exception):
    """The process of some work ended; ``status`` is its exit status, a negated signal number, or None if unknown."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status

    def __str__(self) -> str:
        return ended_with(self.status)


def ended_with(status: int | None) -> str:
    """Return how a process ended, in words.

    >>> ended_with(-9), ended_with(7), ended_with(None)
    ('signal 9', 'status 7', 'no word')
    """
    if status is None:
        return "no word"
    return f"signal {-status}" if status < 0 else f"status {status}"


@dataclass(frozen=True)
class Ending(Generic[Job, Answer]):
    """A job and its outcome: an answer, or the reason why there is none.

    ``status`` is the exit status of the job's process, if it ended and its status is known; ``text`` describes it.
    """

    job: Job
    kind: EndingKind
    answer: Answer | None = None
    status: int | None = None
    text: str = ""


_LENGTH = 8
_own = threading.local()


class ChildProcess:
    """A process that works on one job after another; if it ends, the next job starts a new one.

    An interrupt ends it, and so does leaving the context.
    """

    def __init__(self, prepare: Prepare = load_nothing) -> None:
        self._prepare = prepare
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def ask(self, function: Callable[[Job], Answer], job: Job, timeout: float | None = None) -> Answer:
        """Return a function's answer to a job, or raise the function's exception; the function is pickled by name.

        Raises `DiedError` if the process ends, and `TimedOutError` after ``timeout`` seconds.
        """
        is_over = threading.Event()

        def stop() -> None:
            is_over.set()
            self._kill()

        timer = None if timeout is None else threading.Timer(timeout, stop)
        with CleanupOnInterrupt(self._kill):
            try:
                streams = self._started()
                if timer is not None:
                    # An interpreter that exits would wait for the time limit.
                    timer.daemon = True
                    timer.start()
                write_message(streams[0], (function, job))
                is_answer, value = read_message(streams[1])
            except (EOFError, OSError):
                status = self.end()
                if is_over.is_set():
                    raise TimedOutError(f"took more than {timeout:g} seconds") from None
                raise DiedError(status) from None
            except BaseException:  # else the next job would get this job's answer
                self._kill()
                self.end()
                raise
            finally:
                if timer is not None:
                    timer.cancel()
        if is_answer:
            return value  # type: ignore[no-any-return]
        raise value

    def _started(self) -> tuple[IO[bytes], IO[bytes]]:
        """Return the input and output streams of the process once it is ready to work."""
        if self._process is not None and self._process.poll() is not None:
            self.end()
        process = self._process
        if process is None:
            path = os.pathsep.join(p or os.curdir for p in sys.path)
            process = self._process = subprocess.Popen(
                # With -m Python puts the current folder first, and would import a pickle.py of the user's from it.
                [sys.executable, "-P", "-m", "symbcast.core.isolated_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
            )
            if self._is_stopped:  # while it was starting
                process.kill()
            assert process.stdin is not None and process.stdout is not None
            write_message(process.stdin, self._prepare)
            read_message(process.stdout)
        assert process.stdin is not None and process.stdout is not None
        return process.stdin, process.stdout

    def stop(self) -> None:
        """End the current job and all later ones at once: they raise `DiedError`. Any thread may call this."""
        self._is_stopped = True
        self._kill()

    def _kill(self) -> None:
        process = self._process
        if process is not None:
            process.kill()

    def end(self) -> int | None:
        """End the process and return its exit status; None if there is no process."""
        process, self._process = self._process, None
        if process is None:
            return None
        if process.stdout is not None and process.stdin is not None:
            with suppress(OSError):  # closing flushes data that a dead process cannot receive
                process.stdin.close()
            process.stdout.close()
        try:
            return process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


# How long a process may take to end by itself after its input ends.
SECONDS_TO_END = 1


@dataclass(frozen=True)
class IsolatedFunction(Generic[Job, Answer]):
    """A function that runs in its own process with a time limit in seconds; it is pickled by name.

    The process is kept for the next job of the same thread. Raises `TimedOutError` or `DiedError` if it does not
    answer, and any exception that the function raises.
    """

    function: Callable[[Job], Answer]
    timeout: float
    prepare: Prepare = load_nothing

    def __call__(self, job: Job) -> Answer:
        """Return the function's answer."""
        child: ChildProcess | None = getattr(_own, "child", None)
        if child is None:
            child = _own.child = ChildProcess(self.prepare)
            weakref.finalize(threading.current_thread(), child.end)
        return child.ask(self.function, job, self.timeout)


def write_message(stream: IO[bytes], data: Any) -> None:
    """Write data as a pickle, preceded by its length."""
    pickled = pickle.dumps(data)
    stream.write(len(pickled).to_bytes(_LENGTH, "big"))
    stream.write(pickled)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """Return data that `write_message` wrote; raise `EOFError` if the stream ends too early."""
    return pickle.loads(receive_message(stream))


def receive_message(stream: IO[bytes]) -> bytes:
    """Return the pickle of data that `write_message` wrote; raise `EOFError` if the stream ends too early."""
    head = stream.read(_LENGTH)
    length = int.from_bytes(head, "big")
    body = stream.read(length) if len(head) == _LENGTH else b""
    if len(head) < _LENGTH or len(body) < length:
        raise EOFError
    return body
