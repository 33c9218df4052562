"""The worker process of `symbcast.core.isolation`: it reads functions and jobs, and writes the answers."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from symbcast.core.interrupts import end_at_once
from symbcast.core.isolation import SECONDS_TO_END, receive_message, write_message


def main() -> None:
    """Answer jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process decides when this one ends
    gc.set_threshold(50_000)  # as for commands: it loads more than they do
    answers, messages = _taken_over(sys.stdout, "wb"), SimpleQueue[bytes | None]()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # library output must not mix with answers
    jobs = _taken_over(sys.stdin, "rb")
    with Path(os.devnull).open("rb") as empty:
        os.dup2(empty.fileno(), sys.stdin.fileno())  # a function that asks the user must not read jobs
    threading.Thread(target=_collect, args=(jobs, messages), daemon=True).start()
    with suppress(Exception):  # a failed import is reported by the job that needs it
        pickle.loads(messages.get() or b"")()
    write_message(answers, "ready")
    while (message := messages.get()) is not None:
        try:
            work = pickle.loads(message)
        except Exception as error:  # the job cannot be unpickled here
            answer: tuple[bool, Any] = False, error
        else:
            answer = _done(*work)
        try:
            write_message(answers, answer)
        except Exception as error:  # the answer cannot be pickled
            write_message(answers, (False, TypeError(f"{type(error).__name__}: {error}")))
    end_at_once(0)


def _taken_over(stream: IO[str], mode: str) -> IO[Any]:
    """Return a stream of bytes of its own to where a standard stream goes."""
    return os.fdopen(os.dup(stream.fileno()), mode)


def _collect(jobs: IO[bytes], messages: SimpleQueue[bytes | None]) -> None:
    """Pass on the messages of the parent process, then None; end a job that goes on after the parent has ended.

    A parent that was killed ends no other process, and a job may take for ever.
    """
    with suppress(EOFError, OSError):
        while True:
            messages.put(receive_message(jobs))
    messages.put(None)
    time.sleep(SECONDS_TO_END)
    os._exit(1)


def _done(function: Callable[[Any], Any], job: Any) -> tuple[bool, Any]:
    """Return whether a function succeeded, and its answer or exception."""
    try:
        return True, function(job)
    except Exception as error:
        return False, error


if __name__ == "__main__":
    main()
