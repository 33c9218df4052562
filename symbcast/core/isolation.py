"""Work in a separate process, which may crash or time out: for threads, and for workers of other executors.

Workers of other executors, such as Dask's, may be forbidden to have multiprocessing children. This child is a plain
subprocess that starts from scratch. Messages are pickles, each preceded by its length. Only calls of functions that
no other process could import run in a fork, at the end of this file.
"""

from __future__ import annotations

import faulthandler
import io
import os
import pickle
import select
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Generic, Literal, NoReturn, TypeAlias, TypeVar

from symbcast.core.interrupts import CleanupOnInterrupt
from symbcast.core.structs import NamedTuple

Job = TypeVar("Job")
Answer = TypeVar("Answer")

Prepare: TypeAlias = "Callable[[], None]"
"""Loads what the work needs, once in each process."""

EndingKind: TypeAlias = Literal["answered", "timed out", "died"]


def load_nothing() -> None:
    """Load nothing."""


# A process works if it gets this part of a processor; it may take this many times as long as its limit.
_BUSY, _PATIENCE = 0.02, 10
# The part of a limit from which on it is spent: on a free machine a process gets almost all of it.
_NEARLY = 0.9


def processor_seconds(pid: int) -> float | None:
    """Return the processor time of a process so far; None where the system does not say it."""
    if sys.platform == "win32":
        return None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


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
        self._is_ready = False
        self._is_stopped = False

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def ask(self, function: Callable[[Job], Answer], job: Job, timeout: float | None = None) -> Answer:
        """Return a function's answer to a job, or raise the function's exception; the function is pickled by name.

        Raises `DiedError` if the process ends, and `TimedOutError` after ``timeout`` seconds of work: while other
        processes take the processor from it, it has up to ten times as long.
        """
        is_over, is_answered = threading.Event(), threading.Event()

        def stop() -> None:
            if self._is_working_after(timeout or 0, is_answered):
                is_over.set()
                self._kill()

        watcher = None if timeout is None else threading.Thread(target=stop, daemon=True)
        with CleanupOnInterrupt(self._kill):
            try:
                streams = self._started()
                if watcher is not None:
                    watcher.start()
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
                is_answered.set()
        if is_answer:
            return value  # type: ignore[no-any-return]
        raise value

    def _is_working_after(self, timeout: float, is_answered: threading.Event) -> bool:
        """Wait for an answer; return whether there is none after so many seconds of work.

        A process that does nothing, in a sleep or a lock, is given up at once.
        """
        pid = 0 if self._process is None else self._process.pid
        start, first, left = time.monotonic(), processor_seconds(pid), timeout
        before = first
        while not is_answered.wait(left):
            now = processor_seconds(pid)
            if first is None or before is None or now is None or now - before < left * _BUSY:
                return True
            used = now - first
            if used > timeout * _NEARLY or time.monotonic() - start > _PATIENCE * timeout:
                return True
            left, before = max(timeout - used, timeout / 2), now  # in less, a process may just pause
        return False

    def launch(self) -> None:
        """Start the process if it does not run; it prepares itself while this one goes on."""
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
            assert process.stdin is not None
            self._is_ready = False
            write_message(process.stdin, self._prepare)

    def _started(self) -> tuple[IO[bytes], IO[bytes]]:
        """Return the input and output streams of the process once it is ready to work."""
        self.launch()
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        if not self._is_ready:
            read_message(process.stdout)
            self._is_ready = True
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
        return self.child().ask(self.function, job, self.timeout)

    def child(self) -> ChildProcess:
        """Return the process of this thread, which may not have been started."""
        child: ChildProcess | None = getattr(_own, "child", None)
        if child is None:
            child = _own.child = ChildProcess(self.prepare)
            weakref.finalize(threading.current_thread(), child.end)
        return child


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


# A copy of this process for calls that must not leave anything behind.
#
# Functions of a notebook, a script or a closure cannot be imported by another process, so this one is forked. Only the
# forking thread goes on in the copy, which calls, answers through a pipe and ends without any clean-up.


class ForkLimits(NamedTuple):
    """Limits of a forked process: seconds of CPU time, seconds, and bytes of memory beyond those of its parent.

    A process that waits uses no CPU time.
    """

    cpu_seconds: int
    seconds: int
    memory: int = 1 << 30


def forked(work: Callable[[], Answer], limits: ForkLimits | None) -> tuple[Answer | None, str]:
    """Return what ``work`` returns in a copy of this process; or None, and why it was stopped, if it has effects.

    The copy stops before it writes to a file, removes one, prints, starts a process or uses the network; without
    limits, it may do all of this. Raises `DiedError` if it ends otherwise, or exceeds a limit.
    """
    if not hasattr(os, "fork"):
        return None, "this platform cannot copy a process"
    reader, writer = os.pipe()
    with warnings.catch_warnings():  # of threads, which the copy does not need
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        _work_in_copy(work, writer, limits)
    os.close(writer)
    with CleanupOnInterrupt(partial(os.kill, child, 9)):
        try:
            data = _read_until_end(reader, None if limits is None else limits.seconds)
        finally:
            os.close(reader)
            with suppress(ProcessLookupError):
                os.kill(child, 9)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not data:
        raise DiedError(status)
    answer: tuple[Answer | None, str] = pickle.loads(data)
    return answer


def _read_until_end(reader: int, seconds: int | None) -> bytes:
    """Return what a process writes until it closes the pipe; nothing if that takes too long."""
    data, end = b"", time.monotonic() + (seconds or 0)
    while select.select([reader], [], [], None if seconds is None else max(0, end - time.monotonic()))[0]:
        part = os.read(reader, 1 << 16)
        if not part:
            return data
        data += part
    return b""


def _work_in_copy(work: Callable[[], Any], writer: int, limits: ForkLimits | None) -> NoReturn:
    """Work in a forked process, answer, and end it."""

    def answer(value: Any, refused: str = "") -> NoReturn:
        data = pickle.dumps((value, refused))
        while data:
            data = data[os.write(writer, data) :]
        os._exit(0)

    try:
        if limits is not None:
            _bound(limits)
            _refuse_effects(lambda effect: answer(None, effect))
        answer(work())
    finally:
        os._exit(1)


def _bound(limits: ForkLimits) -> None:
    """Limit the time and the memory of this process; there are no copies on Windows."""
    if sys.platform == "win32":
        return
    import resource

    bounds = [(resource.RLIMIT_CPU, limits.cpu_seconds)]
    with suppress(OSError):  # only Linux tells how much memory a process has
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        bounds.append((resource.RLIMIT_AS, pages * resource.getpagesize() + limits.memory))
    for kind, most in bounds:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _refuse_effects(refuse: Callable[[str], NoReturn]) -> None:
    """Refuse all effects of this process from now on, and leave it no streams."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    sys.dont_write_bytecode = True
    faulthandler.disable()
    sys.stdout = _Refusing(lambda: refuse("it prints"))
    warnings.simplefilter("ignore")
    sys.addaudithook(partial(_refuse_effect, refuse))


class _Refusing(io.TextIOBase):
    """A text stream that refuses the first text."""

    def __init__(self, refuse: Callable[[], NoReturn]) -> None:
        self._refuse = refuse

    def write(self, text: str) -> int:
        self._refuse()


def _refuse_effect(refuse: Callable[[str], NoReturn], event: str, args: tuple[Any, ...]) -> None:
    """Refuse an effect on anything outside the process, of which Python tells before it happens (PEP 578)."""
    if event == "open":
        path, _, flags = args
        is_new = not isinstance(path, int) and path is not None and path != os.devnull
        if is_new and isinstance(flags, int) and flags & _WRITING:
            refuse(f"it writes to the file {path!s:.80}")
    elif event.startswith(_EFFECTS):
        refuse(f"it calls {event}")


_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EFFECTS = (
    *("socket.", "subprocess.", "urllib.", "ftplib.", "smtplib.", "sqlite3.", "shutil.", "tempfile.", "webbrowser."),
    *(
        "os.system",
        "os.exec",
        "os.fork",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.kill",
        "signal.pthread_kill",
    ),
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.utime"),
    *("os.chmod", "os.chown", "os.chflags", "os.setxattr", "os.removexattr"),
)
