"""An answer in parts: that for sizes from some bounds on, and those for smaller sizes.

    H*W % ((H//2)*(W//2 + 1 - min(W//2, 1))) == 0 and ...     the clauses of a program
        large_sizes   H >= 2 and W >= 2                       bounds, and the program under them as assumptions
        small_sizes   H == 1, H >= 2 and W == 1               bands below the bounds, each decided by itself
        Parts         the verdict, the evidence and the reason of all of them together

No two parts are about the same sizes. What effort did not suffice for is named, and leaves the verdict unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from symbcast.core.program.parts.large_sizes import Asked, Large, large_sizes
from symbcast.core.program.parts.small_sizes import Small, Subject, small_sizes
from symbcast.core.solver.budget import limited, once
from symbcast.core.solver.sets.smallest import smallest
from symbcast.core.text.printing import formula_text
from symbcast.core.verdicts import Verdict, joint

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.effort import Kept
    from symbcast.core.program.parts.large_sizes import Ask
    from symbcast.core.program.parts.small_sizes import Case
    from symbcast.core.program.sizes.assumptions import Assumption
    from symbcast.core.solver.sets.smallest import Point


class Divided(Asked, Protocol):
    """What is needed of the `Program` that is divided into parts."""

    @property
    def assumptions(self) -> Sequence[Assumption]: ...
    @property
    def min_size(self) -> int: ...
    @property
    def budget(self) -> float | None: ...
    @property
    def evidence_reason(self) -> str: ...
    def witness(self) -> dict[str, int] | None: ...
    def counterexample(self) -> dict[str, int] | None: ...
    def symbol_sizes(self, sizes: Mapping[str, int]) -> Mapping[Symbol, int]: ...


D = TypeVar("D", bound=Divided)


class Parts(Generic[D]):
    """What is known about a program part by part. ``large`` is the answer for sizes from some bounds on."""

    def __init__(self, program: D, large: Large[D]) -> None:
        self._program = program
        self.large = large
        self._small: Kept[Small] | None = None

    @property
    def small(self) -> Small:
        """The answers for smaller sizes, as far as effort sufficed."""
        program = self._program
        subject = Subject(program.clauses, tuple(program.shown), program.assumptions, program.min_size)
        with limited(program.budget):
            found, self._small = once(self._small, lambda: small_sizes(subject, self.large.least))
        return found

    @property
    def verdict(self) -> Verdict:
        """The verdict for all sizes; unknown if it depends on sizes that were not analysed."""
        left = [] if self.small.is_complete else [Verdict.UNKNOWN]
        cases = (case.verdict for case in self.small.cases)
        return joint([self.large.program.decided_verdict, *cases, *left])

    def reason(self, why: str) -> str:
        """Return what was not analysed, and why; empty if everything was."""
        if self.small.is_complete:
            return ""
        left = ", ".join(formula_text(where, self._program.shown) for where in self.small.unanalysed)
        smaller = f"exact, but not analysed for {left}" if self.small.cases else "not analysed"
        return f"for {self.large.where}: exact; smaller sizes: {smaller}, because {why}"

    @property
    def evidence_reason(self) -> str:
        """Why the smallest sizes that were found may not be the smallest."""
        if self.small.is_complete:
            return self.large.program.evidence_reason
        return "not all smaller sizes were analysed" if self.small.cases else "smaller sizes were not analysed"

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes that work."""
        return self._smallest(self.large.program.witness(), lambda case: case.witness())

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes that do not work."""
        return self._smallest(self.large.program.counterexample(), lambda case: case.counterexample())

    def _smallest(self, large: dict[str, int] | None, of_case: Callable[[Case], Point | None]) -> dict[str, int] | None:
        shown = self._program.shown
        points = [dict(self.large.program.symbol_sizes(large))] if large else []
        found = smallest(tuple(shown), [*points, *map(of_case, self.small.cases)])
        return None if found is None else {name: found[s] for s, name in shown.items()}


def parts_of(program: D, ask: Ask[D] | None = None) -> Parts[D] | None:
    """Return the answer in parts, if that for all sizes is undecided or long, and that for large sizes is not."""
    large = large_sizes(program, ask)
    return None if large is None else Parts(program, large)
