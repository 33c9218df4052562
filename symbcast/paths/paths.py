"""The answer about all paths of a run, as users see it."""

from __future__ import annotations

from functools import cached_property

from symbcast.paths.answer import PathsAnswer
from symbcast.paths.findings import PathFinding, findings_of


class Paths(PathsAnswer):
    """For which sizes a run works, what it does in which case, and which line asks what."""

    @cached_property
    def findings(self) -> tuple[PathFinding, ...]:
        """What the condition asks: each conjunct, with the line that fails first where it does not hold."""
        return tuple(findings_of(self))
