"""Work in a process beside this one, which may crash or take too long: for threads, and for workers elsewhere.

A worker of another executor may be forbidden to have children by multiprocessing, as Dask's are; this one is a plain
subprocess, and is kept for the next job of the same thread. It is spoken with in pickles, each after its length.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, Generic

from symbcast.batch.endings import Answer, DiedError, Job, Prepare, TimedOutError, nothing

_LENGTH = 8
_own = threading.local()


@dataclass(frozen=True)
class Isolated(Generic[Job, Answer]):
    """A function that works in a process of its own, for so many seconds at most; it is pickled by the function's name.

    Raises `TimedOutError` or `DiedError` where the process did not answer, and what the function raises.
    """

    function: Callable[[Job], Answer]
    timeout: float
    prepare: Prepare = nothing

    def __call__(self, job: Job) -> Answer:
        """Return what the function answers."""
        child = _child(self.prepare)
        is_over = threading.Event()

        def stop() -> None:
            is_over.set()
            child.kill()

        timer = threading.Timer(self.timeout, stop)
        timer.daemon = True
        assert child.stdin is not None and child.stdout is not None
        timer.start()
        try:
            write(child.stdin, (self.function, job))
            is_answer, found = read(child.stdout)
        except (EOFError, OSError):
            status = child.wait()
            if is_over.is_set():
                raise TimedOutError(f"took more than {self.timeout:g} seconds") from None
            raise DiedError(status) from None
        finally:
            timer.cancel()
        if is_answer:
            return found  # type: ignore[no-any-return]
        raise found


def _child(prepare: Prepare) -> subprocess.Popen[bytes]:
    """Return the process of this thread, started where there is none, once it is ready to work."""
    child: subprocess.Popen[bytes] | None = getattr(_own, "child", None)
    if child is None or child.poll() is not None:
        path = os.pathsep.join(p or os.curdir for p in sys.path)
        child = _own.child = subprocess.Popen(
            [sys.executable, "-m", "symbcast.batch.isolated_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        weakref.finalize(threading.current_thread(), _end, child)
        assert child.stdin is not None and child.stdout is not None
        try:
            write(child.stdin, prepare)
            read(child.stdout)
        except (EOFError, OSError):
            raise DiedError(child.wait()) from None
    return child


def _end(child: subprocess.Popen[bytes]) -> None:
    """Stop a process whose thread is no more."""
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            stream.close()


def write(stream: IO[bytes], data: Any) -> None:
    """Write data, pickled, after their length."""
    pickled = pickle.dumps(data)
    stream.write(len(pickled).to_bytes(_LENGTH, "big"))
    stream.write(pickled)
    stream.flush()


def read(stream: IO[bytes]) -> Any:
    """Return data as they were written; raises `EOFError` where the stream ends before they do."""
    head = stream.read(_LENGTH)
    length = int.from_bytes(head, "big")
    body = stream.read(length) if len(head) == _LENGTH else b""
    if len(head) < _LENGTH or len(body) < length:
        raise EOFError
    return pickle.loads(body)
