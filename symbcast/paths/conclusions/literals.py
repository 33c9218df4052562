"""Numbered literals for the decisions and requirements of paths, and the paths that imply each literal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Formula, dims_of, opposite
from symbcast.core.solver.evaluation.evaluation import may_be_undefined
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.literals import canonical
from symbcast.core.solver.sets.piecewise import NotPeriodicError
from symbcast.core.solver.sets.size_sets import ALL, PeriodTooLongError, SizeSet
from symbcast.core.solver.sets.univariate import solve
from symbcast.core.solver.simplification.two_level import LITERAL_COST, Cube

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


class Literals:
    """Numbered formulas and their negations: literal ``2*n`` is the form seen first, ``2*n + 1`` its negation."""

    def __init__(self, domains: Mapping[Symbol, SizeSet]) -> None:
        self.domains = domains
        self._formulas: list[Formula] = []
        self._numbers: dict[Formula, int] = {}

    def __getitem__(self, number: int) -> Formula:
        return self._formulas[number]

    def cube(self, formulas: Iterable[Formula]) -> Cube | None:
        """Return the conjunction of formulas, in their order; None if two of them contradict each other."""
        found: dict[int, None] = {}
        for formula in formulas:
            key = _key(formula)
            if key == FALSE:
                return None
            if key != TRUE:
                found[self._number(formula, key)] = None
        return None if any(n ^ 1 in found for n in found) else tuple(found)

    def _number(self, formula: Formula, key: Formula) -> int:
        if key not in self._numbers:
            negation = opposite(formula)
            opposited = _key(negation)
            number = self._numbers.get(opposited, len(self._formulas) + 1) ^ 1
            if number == len(self._formulas):
                self._formulas += [formula, negation]
                self._numbers[opposited] = number + 1
            self._numbers[key] = number
        return self._numbers[key]

    def costs(self) -> list[int]:
        """Return the cost of each literal; each name in it adds a little."""
        return [LITERAL_COST + sum(not isinstance(d, int) for d in dims_of(f)) for f in self._formulas]

    def within(self, cubes: Sequence[Cube]) -> list[int]:
        """Return, for each literal, a bit mask of the cubes that imply it.

        A cube implies a literal about one symbol if all sizes that the cube leaves for that symbol satisfy it; it
        implies any other literal only if it contains it.
        """
        found = [0] * len(self._formulas)
        for position, cube in enumerate(cubes):
            for literal in cube:
                found[literal] |= 1 << position
        for sets in self._by_symbol().values():
            if len(sets) > 2:  # otherwise there is only one formula and its negation
                for members, mask in _members(sets, cubes):
                    for literal in (n for n, others in sets.items() if _is_within(members, others)):
                        found[literal] |= mask
        return found

    def _by_symbol(self) -> dict[Symbol, dict[int, SizeSet]]:
        """Return the literals about a single symbol, grouped by symbol, each with the sizes at which it holds."""
        found: defaultdict[Symbol, dict[int, SizeSet]] = defaultdict(dict)
        for number in range(0, len(self._formulas), 2):
            symbols = symbols_in(self._formulas[number])
            # Where a term is undefined, such as a join of sizes that clash, neither the formula nor its negation holds.
            if len(symbols) == 1 and not may_be_undefined(self._formulas[number]):
                (symbol,) = symbols
                try:
                    members = solve(self._formulas[number]) & self.domains.get(symbol, ALL)
                except (NotPeriodicError, PeriodTooLongError):
                    continue
                found[symbol].update({number: members, number + 1: self.domains.get(symbol, ALL) - members})
        return found


def _members(sets: Mapping[int, SizeSet], cubes: Sequence[Cube]) -> Iterable[tuple[SizeSet, int]]:
    """Yield each set of sizes that some cubes leave for a symbol, with a bit mask of these cubes."""
    known: dict[Cube, SizeSet | None] = {(): ALL}
    masks: defaultdict[Cube, int] = defaultdict(int)
    for position, cube in enumerate(cubes):
        said: Cube = ()
        for literal in cube:
            if literal in sets:
                before, said = said, (*said, literal)
                if said not in known:
                    known[said] = _narrowed(known[before], sets[literal])
        masks[said] |= 1 << position
    for said, mask in masks.items():
        members = known[said]
        if members is not None and said:
            yield members, mask


def _is_within(members: SizeSet, others: SizeSet) -> bool:
    try:
        return members <= others
    except PeriodTooLongError:
        return False


def _narrowed(members: SizeSet | None, others: SizeSet) -> SizeSet | None:
    try:
        return None if members is None else members & others
    except PeriodTooLongError:
        return None


def _key(formula: Formula) -> Formula:
    return canonical(formula) if isinstance(formula, Comparison) else formula
