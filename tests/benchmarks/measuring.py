"""CPU time of questions next to that of `numpy.broadcast_shapes`, and of processes next to that of bare Python."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from benchmarks.processes import python
from benchmarks.turns import Case, beside

ROUNDS = 9
SECONDS = 0.02
"""What one round of a case takes at least."""


def numpy() -> Any:
    return np.broadcast_shapes(*beside())


def cpu(ask: Callable[[], Any], times: int) -> float:
    """Return the CPU time of one call, of several."""
    start = time.process_time()
    for _ in range(times):
        ask()
    return (time.process_time() - start) / times


def repeated(ask: Callable[[], Any]) -> int:
    """Return how many calls take long enough to be measured, not counting the first one, which may import modules."""
    ask()
    times = 1
    while cpu(ask, times) * times < SECONDS:
        times *= 2
    return times


def beside_numpy(case: Case) -> tuple[float, float]:
    """Return the CPU seconds of an operation, and the ratio to NumPy's: medians of rounds in which both take turns."""
    gc.collect()
    gc.freeze()  # what peers keep in memory must not be searched on behalf of others
    times, baseline = repeated(case.ask), repeated(numpy)
    rounds = [(cpu(case.ask, times) / case.operations, cpu(numpy, baseline)) for _ in range(ROUNDS)]
    return median(ours for ours, _ in rounds), median(ours / theirs for ours, theirs in rounds)


def process(*arguments: str) -> float:
    """Return the CPU seconds of Python in a process of its own, its imports compiled."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    python(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def beside_process(arguments: Sequence[str], others: Sequence[str]) -> tuple[float, float]:
    """Return the CPU seconds of a process of Python, and those of another one, in turns: medians."""
    python(*arguments)
    rounds = [(process(*arguments), process(*others)) for _ in range(ROUNDS)]
    return median(ours for ours, _ in rounds), median(theirs for _, theirs in rounds)
