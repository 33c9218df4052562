"""The public answer about all paths of a run."""

from __future__ import annotations

from functools import cached_property

from symbcast.paths.conclusions.answer import PathsAnswer
from symbcast.paths.conclusions.findings import PathFinding, findings_of


class Paths(PathsAnswer):
    """For which sizes a run works, what it does in each case, and which line requires what."""

    @cached_property
    def findings(self) -> tuple[PathFinding, ...]:
        """The conjuncts of the condition, each with the line that fails first where it does not hold."""
        return tuple(findings_of(self))
