"""The public answer about all paths of a run."""

from __future__ import annotations

from functools import cached_property

from symbcast.paths.conclusions.answer import PathsAnswer
from symbcast.paths.conclusions.findings import PathFinding, findings_of


class Paths(PathsAnswer):
    """The sizes at which a run works, its behaviour in each case, and the line behind each requirement."""

    @cached_property
    def findings(self) -> tuple[PathFinding, ...]:
        """The conjuncts of the condition, each with the line that fails first where it is violated."""
        return tuple(findings_of(self))
