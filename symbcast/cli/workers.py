"""Work for several processes, the answers in order; a process that dies takes only its own piece of work along."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import TypeVar

from symbcast.batch.execution import run

Job = TypeVar("Job")
Answer = TypeVar("Answer")


def answers(
    function: Callable[[Job], Answer],
    jobs: Sequence[Job],
    processes: int,
    died: Callable[[Job, int | None], Answer],
    tell: Callable[[], None],
) -> Generator[Answer, None, None]:
    """Yield what a function answers to each job, in the order of the jobs, worked out by several processes.

    ``died`` answers a job whose process came to its end, by its status; ``tell`` is called as each answer comes in.
    """
    early: dict[int, Answer] = {}
    following = 0
    ask = partial(_numbered, function)
    with closing(run(ask, enumerate(jobs), processes=min(processes, len(jobs)))) as endings:
        for ending in endings:
            number, job = ending.job
            early[number] = ending.answer if ending.answer is not None else died(job, ending.status)
            tell()
            while following in early:
                yield early.pop(following)
                following += 1


def _numbered(function: Callable[[Job], Answer], numbered: tuple[int, Job]) -> Answer:
    return function(numbered[1])
