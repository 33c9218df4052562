"""Pieces of work that take long, or that their process dies of, on purpose."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple


class Work(NamedTuple):
    """A piece of work of a test: how long it takes, and where it leaves word that it was begun."""

    number: int
    seconds: float
    folder: str


def work(asked: Work) -> int:
    """Leave word, take the time, and return the square of the number; die at 13."""
    Path(asked.folder, f"{asked.number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    if asked.number == 13:
        os._exit(7)
    time.sleep(asked.seconds)
    return asked.number**2
