"""The process of `symbcast.batch.isolation`: it reads functions and jobs, and writes what comes of them."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from symbcast.batch.isolation import read, write


def main() -> None:
    """Work until nothing more comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this one decides when it ends
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    with suppress(Exception):  # what cannot be loaded is told of where it is needed
        read(sys.stdin.buffer)()
    write(answers, "ready")
    while True:
        try:
            function, job = read(sys.stdin.buffer)
        except EOFError:
            return
        try:
            found = True, function(job)
        except Exception as error:
            found = False, error
        write(answers, found)


if __name__ == "__main__":
    main()
