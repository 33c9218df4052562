"""An answer in parts: that for generic sizes, and those for smaller sizes, where the one for all sizes is undecided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar
from typing import Generic as TypedGeneric

from symbcast.core.program.whole.exceptions import joint_verdict
from symbcast.core.program.whole.generic import Asked
from symbcast.core.solver.sets.smallest import smallest
from symbcast.core.text.printing import formula_text
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.program.whole.exceptions import Case, Exceptions
    from symbcast.core.program.whole.generic import Generic
    from symbcast.core.solver.sets.smallest import Point


class Large(Asked, Protocol):
    """What is needed of the `Program` of large sizes."""

    @property
    def evidence_reason(self) -> str: ...
    def witness(self) -> dict[str, int] | None: ...
    def counterexample(self) -> dict[str, int] | None: ...
    def symbol_sizes(self, sizes: Mapping[str, int]) -> Mapping[Symbol, int]: ...


L = TypeVar("L", bound=Large)


class Parts(NamedTuple, TypedGeneric[L]):
    """What is known about a program part by part; ``shown`` are the names of its sizes."""

    generic: Generic[L]
    exceptions: Exceptions
    shown: Mapping[Symbol, str]

    @property
    def verdict(self) -> Verdict:
        """The verdict for all sizes; unknown if it depends on sizes that were not analysed."""
        left = [] if self.exceptions.is_complete else [Verdict.UNKNOWN]
        cases = (case.verdict for case in self.exceptions.cases)
        return joint_verdict([self.generic.program.decided_verdict, *cases, *left])

    def reason(self, why: str) -> str:
        """Return what was not analysed, and why; empty if everything was."""
        if self.exceptions.is_complete:
            return ""
        left = ", ".join(formula_text(where, self.shown) for where in self.exceptions.unanalysed)
        smaller = f"exact, but not analysed for {left}" if self.exceptions.cases else "not analysed"
        return f"for {self.generic.where}: exact; smaller sizes: {smaller}, because {why}"

    @property
    def evidence_reason(self) -> str:
        """Why the smallest sizes that were found may not be the smallest."""
        if self.exceptions.is_complete:
            return self.generic.program.evidence_reason
        return "not all smaller sizes were analysed" if self.exceptions.cases else "smaller sizes were not analysed"

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes that work."""
        return self._smallest(self.generic.program.witness(), lambda case: case.witness())

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes that do not work."""
        return self._smallest(self.generic.program.counterexample(), lambda case: case.counterexample())

    def _smallest(self, large: dict[str, int] | None, of_case: Callable[[Case], Point | None]) -> dict[str, int] | None:
        points = [dict(self.generic.program.symbol_sizes(large))] if large else []
        found = smallest(tuple(self.shown), [*points, *map(of_case, self.exceptions.cases)])
        return None if found is None else {name: found[s] for s, name in self.shown.items()}
