"""Work counted in steps: a clock would tell of the machine, and of what else it is doing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from unittest import mock


class Steps:
    """A count that grows while a ``with`` block runs."""

    count = 0

    def step(self) -> None:
        self.count += 1


@contextmanager
def calls() -> Iterator[Steps]:
    """Count the calls that this thread makes, of functions in Python and in C; that a generator goes on is one too.

    >>> with calls() as steps:
    ...     sorted([2, 1])
    [1, 2]
    >>> 0 < steps.count < 50
    True
    """
    steps = Steps()

    def counted(frame: FrameType, event: str, arg: Any) -> None:
        if event in {"call", "c_call"}:
            steps.count += 1

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        yield steps
    finally:
        sys.setprofile(before)


@contextmanager
def z3_checks() -> Iterator[Steps]:
    """Count what z3 is asked, of which each is within a limit that z3 counts itself."""
    from symbcast.core.solver.f3_linear.z3_solver import Session

    steps, check = Steps(), Session._check

    def counted(session: Session, *marks: Any) -> Any:
        steps.step()
        return check(session, *marks)

    with mock.patch.object(Session, "_check", counted):
        yield steps
