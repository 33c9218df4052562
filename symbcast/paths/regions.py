"""Where a path goes: the sizes at which a run takes some of its paths, as one short formula.

Each path holds at the sizes at which all that it decided and required holds: a cube of literals. Any sizes are on one
path, and where two paths part, one holds a literal and the other its negation. So a conjunction of some literals of a
wanted path that excludes, for each other path, a literal of that one, holds at no size of those; and a disjunction of
such conjunctions, with one for each wanted path, is where the wanted paths go. This is a two-level minimisation
(`symbcast.core.solver.simplification.two_level`) with the paths in place of the rows of a truth table: it needs no
solver, what no sizes do is in no path, and it takes as long as there are paths and steps, not as there are combinations
of what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, any_of
from symbcast.core.solver.simplification.two_level import Cube, Table, bits, grown_from, least_cover
from symbcast.paths.literals import Literals
from symbcast.paths.places import Place
from symbcast.paths.steps import Step

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.sets.size_sets import SizeSet


class End(NamedTuple):
    """What a path ends in.

    Attributes:
        kind: ``"value"``, ``"error"``, or ``"open"`` where nothing is known of it.
        key: what tells ends of a kind apart.
        value: what is returned.
        error: the kind of the error, and its message.
        place: the line that fails.
    """

    kind: Literal["value", "error", "open"]
    key: Hashable = ""
    value: Any = None
    error: str = ""
    place: Place | None = None

    def is_same(self, other: End) -> bool:
        """Return whether two paths end in the same."""
        return (self.kind, self.key) == (other.kind, other.key)


class Branch(NamedTuple):
    """A path: its steps, and what it ends in."""

    steps: tuple[Step, ...]
    end: End


class Regions:
    """Paths that between them hold at all sizes, no two at the same, and where some of them go.

    Literals are numbered as in `symbcast.core.solver.simplification.two_level`: a formula first, then its negation.
    ``within`` has for each literal the paths at all of whose sizes it holds, ``beside`` the other ones but those where
    its negation does.
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

    def of(self, is_wanted: Callable[[End], bool]) -> Formula:
        """Return the sizes at which a run comes to the end of a wanted path."""
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
        """Return conjunctions that hold at the sizes of the wanted paths, and at none of the others."""
        found: list[Cube] = []
        left = wanted
        for cell in bits(wanted):
            if cell & left:
                found.append(grown_from(self.beside, self._cubes[cell.bit_length() - 1], left, others))
                left &= ~self.within.mask(found[-1])
        return least_cover(self.within, found, wanted)
