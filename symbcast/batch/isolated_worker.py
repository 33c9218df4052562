"""The worker process of `symbcast.batch.isolation`: it reads functions and jobs, and writes the answers."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from symbcast.batch.isolation import read, write


def main() -> None:
    """Answer jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process decides when this one ends
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # library output must not mix with answers
    with suppress(Exception):  # a failed import is reported by the job that needs it
        read(sys.stdin.buffer)()
    write(answers, "ready")
    while True:
        try:
            work = read(sys.stdin.buffer)
        except EOFError:
            return
        except Exception as error:  # the job cannot be unpickled here
            found: tuple[bool, Any] = False, error
        else:
            found = _done(*work)
        try:
            write(answers, found)
        except Exception as error:  # the answer cannot be pickled
            write(answers, (False, TypeError(f"{type(error).__name__}: {error}")))


def _done(function: Callable[[Any], Any], job: Any) -> tuple[bool, Any]:
    """Return whether a function succeeded, and its answer or exception."""
    try:
        return True, function(job)
    except Exception as error:
        return False, error


if __name__ == "__main__":
    main()
