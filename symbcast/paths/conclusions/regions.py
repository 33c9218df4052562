"""Regions of paths: the sizes at which a run takes some of its paths, as one short formula.

A path is taken where all its decisions and requirements hold: a cube of literals. Every assignment of sizes is on
exactly one path, and where two paths part, one has a literal and the other its negation. So if a conjunction of
literals of a wanted path contains, for each unwanted path, a literal that this path negates, it holds at no size of the
unwanted paths. A disjunction of such conjunctions that covers all wanted paths is their region. This is a two-level
minimisation (`symbcast.core.solver.simplification.two_level`) with paths instead of the rows of a truth table. It needs
no solver, and impossible combinations are on no path. Its time grows with the number of paths and steps, not with the
number of combinations of literals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, any_of
from symbcast.core.solver.simplification.two_level import Cube, Table, bits, grown_from, least_cover
from symbcast.paths.conclusions.literals import Literals
from symbcast.paths.places import Place
from symbcast.paths.runs.steps import Step

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.sets.size_sets import SizeSet


class End(NamedTuple):
    """The end of a path.

    Attributes:
        kind: ``"value"``, ``"error"``, or ``"open"`` if it is unknown.
        key: a key that distinguishes ends of the same kind.
        value: the returned value.
        error: the error's type and message.
        place: the line that fails.
    """

    kind: Literal["value", "error", "open"]
    key: Hashable = ""
    value: Any = None
    error: str = ""
    place: Place | None = None

    def is_same(self, other: End) -> bool:
        """Return whether two paths end the same way."""
        return (self.kind, self.key) == (other.kind, other.key)


class Branch(NamedTuple):
    """A path: its steps and its end."""

    steps: tuple[Step, ...]
    end: End


class Regions:
    """Disjoint paths that together cover all sizes, and the regions of some of them.

    Literals are numbered as in `symbcast.core.solver.simplification.two_level`: a formula first, then its negation. For
    each literal, ``within`` has the paths that imply it; the other table has the paths that do not imply its negation.
    """

    def __init__(self, branches: Sequence[Branch], domains: Mapping[Symbol, SizeSet]) -> None:
        self._literals = Literals(domains)
        read = [(self._literals.cube(s.formula for s in b.steps if s.kind != "suppose"), b.end) for b in branches]
        self._cubes = [cube for cube, _ in read if cube is not None]
        self._ends = [end for cube, end in read if cube is not None]
        everywhere = (1 << len(self._ends)) - 1
        within = self._literals.within(self._cubes)
        costs = self._literals.costs()
        self.within = Table(everywhere, within, costs)
        self.beside = Table(everywhere, [everywhere & ~within[n ^ 1] for n in range(len(within))], costs)
        self._open_overlapped()

    def _open_overlapped(self) -> None:
        """Mark paths as unknown if they share sizes with a path whose end is unknown.

        A path that a real call refuted is unknown from the doubtful step on, and other paths may share its beginning.
        """
        ahead = [n for n, end in enumerate(self._ends) if end.kind == "open"]
        left = self.within.everywhere & ~sum(1 << n for n in ahead)
        while ahead and left:
            number = ahead.pop()
            shared = left
            for literal in self._cubes[number]:
                shared &= self.beside.masks[literal]
            left &= ~shared
            for cell in bits(shared):
                ahead.append(cell.bit_length() - 1)
                self._ends[ahead[-1]] = self._ends[number]

    def of(self, is_wanted: Callable[[End], bool]) -> Formula:
        """Return the region of the wanted paths."""
        wanted = sum(1 << n for n, end in enumerate(self._ends) if is_wanted(end))
        others = self.within.everywhere & ~wanted
        if not wanted or not others:
            return TRUE if wanted else FALSE
        cubes, clauses = self._cover(wanted, others), self._cover(others, wanted)
        common = set(cubes[0]).intersection(*cubes) if len(cubes) > 1 else set()
        saved = (len(cubes) - 1) * sum(self.within.costs[n] for n in common)
        if self.within.cost(clauses) <= self.within.cost(cubes) - saved:
            return all_of(any_of(self._literals[n ^ 1] for n in clause) for clause in clauses)
        rest = any_of(all_of(self._literals[n] for n in cube if n not in common) for cube in cubes)
        return all_of([*(self._literals[n] for n in sorted(common)), rest])

    def _cover(self, wanted: int, others: int) -> list[Cube]:
        """Return conjunctions that together cover the wanted paths and hold at no size of the others."""
        found: list[Cube] = []
        left = wanted
        for cell in bits(wanted):
            if cell & left:
                found.append(grown_from(self.beside, self._cubes[cell.bit_length() - 1], left, others))
                left &= ~self.within.mask(found[-1])
        return least_cover(self.within, found, wanted)
