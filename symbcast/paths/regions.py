"""The sizes at which a run takes some of its paths, as one short condition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from operator import itemgetter
from typing import Any, Literal

from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import join_members
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Compatible, Formula
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import CostedValue, compute_costed
from symbcast.core.solver.decision import AssumptionSet
from symbcast.core.solver.evaluation import normal_conjuncts, replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.clauses import canonical_comparison
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.groups import TiedSymbols
from symbcast.core.solver.residues import PeriodTooLongError
from symbcast.core.solver.simplification import simplify, two_level
from symbcast.core.solver.simplification.two_level import LITERAL_COST, Cube, LiteralTable
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.paths.steps import CodePlace, PathStep


class Literals:
    """Numbered formulas and their negations: literal ``2*n`` is the form seen first, ``2*n + 1`` its negation."""

    def __init__(self, domains: Mapping[Symbol, SizeSet]) -> None:
        self.domains = domains
        self._formulas: list[Formula] = []
        self._numbers: dict[Formula, int] = {}

    def __getitem__(self, number: int) -> Formula:
        return self._formulas[number]

    def cube(self, parts: Iterable[Formula]) -> Cube | None:
        """Return the conjunction of formulas, in their order; None if two of them contradict each other."""
        literals: dict[int, None] = {}
        for formula in parts:
            key = _key(formula)
            if key == FALSE:
                return None
            if key != TRUE:
                literals[self._number(formula, key)] = None
        return None if any(n ^ 1 in literals for n in literals) else tuple(literals)

    def _number(self, formula: Formula, key: Formula) -> int:
        if key not in self._numbers:
            negation = formulas.opposite(formula)
            opposited = _key(negation)
            number = self._numbers.get(opposited, len(self._formulas) + 1) ^ 1
            if number == len(self._formulas):
                self._formulas += [formula, negation]
                self._numbers[opposited] = number + 1
            self._numbers[key] = number
        return self._numbers[key]

    def costs(self) -> list[int]:
        """Return the cost of each literal; each name in it adds a little."""
        return [LITERAL_COST + sum(not isinstance(d, int) for d in formulas.dims_of(f)) for f in self._formulas]

    def within(self, cubes: Sequence[Cube]) -> list[int]:
        """Return, for each literal, a bit mask of the cubes that imply it."""
        masks = [0] * len(self._formulas)
        for position, cube in enumerate(cubes):
            for literal in cube:
                masks[literal] |= 1 << position
        # A cube implies a literal about one symbol if all sizes that the cube leaves for that symbol satisfy it; it
        # implies any other literal only if it contains it.
        for sets in self._by_symbol().values():
            if len(sets) > 2:  # otherwise there is only one formula and its negation
                for members, mask in _members(sets, cubes):
                    for literal in (n for n, others in sets.items() if _is_within(members, others)):
                        masks[literal] |= mask
        return masks

    def _by_symbol(self) -> dict[Symbol, dict[int, SizeSet]]:
        """Return the literals about a single symbol, grouped by symbol, each with the sizes at which it holds."""
        sets: defaultdict[Symbol, dict[int, SizeSet]] = defaultdict(dict)
        for number in range(0, len(self._formulas), 2):
            symbols = symbols_in(self._formulas[number])
            # Where a term is undefined, such as a join of sizes that clash, neither the formula nor its negation holds.
            if len(symbols) == 1 and formulas.is_total(self._formulas[number]):
                (symbol,) = symbols
                try:
                    members = solution_set(self._formulas[number]) & self.domains.get(symbol, ALL)
                except (NotPeriodicError, PeriodTooLongError):
                    continue
                sets[symbol].update({number: members, number + 1: self.domains.get(symbol, ALL) - members})
        return sets


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
    return canonical_comparison(formula) if isinstance(formula, Comparison) else formula


# Regions of paths: the sizes at which a run takes some of its paths, as one short formula.
#
# A path is taken where all its decisions and requirements hold: a cube of literals. Every assignment of sizes is on
# exactly one path, and where two paths part, one has a literal and the other its negation. So if a conjunction of
# literals of a wanted path contains, for each unwanted path, a literal that this path negates, it holds at no size of
# the unwanted paths. A disjunction of such conjunctions that covers all wanted paths is their region. This is a
# two-level minimisation (`symbcast.core.solver.simplification.two_level`) with paths instead of the rows of a truth
# table. It needs no solver, and impossible combinations are on no path. Its time grows with the number of paths and
# steps, not with the number of combinations of literals.


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
    place: CodePlace | None = None

    def is_same(self, other: End) -> bool:
        """Return whether two paths end the same way."""
        return (self.kind, self.key) == (other.kind, other.key)


class Branch(NamedTuple):
    """A path: its steps and its end."""

    steps: tuple[PathStep, ...]
    end: End


class PathRegions:
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
        self.within = LiteralTable(everywhere, within, costs)
        self.beside = LiteralTable(everywhere, [everywhere & ~within[n ^ 1] for n in range(len(within))], costs)
        self._open_overlapped()

    def _open_overlapped(self) -> None:
        """Mark paths as unknown if they share sizes with a path whose end is unknown; it tells them why."""
        # A path that a real call refuted is unknown from the doubtful step on, and other paths may share its beginning,
        # unknown ones too: the shortest beginning comes first, because it contains the sizes of the longer ones.
        ahead = sorted((n for n, end in enumerate(self._ends) if end.kind == "open"), key=self._length, reverse=True)
        left = self.within.everywhere
        while ahead and left:
            number = ahead.pop()
            left &= ~(1 << number)
            shared = left
            for literal in self._cubes[number]:
                shared &= self.beside.masks[literal]
            left &= ~shared
            for cell in two_level.single_bits(shared):
                ahead.append(cell.bit_length() - 1)
                self._ends[ahead[-1]] = self._ends[number]

    def _length(self, number: int) -> int:
        return len(self._cubes[number])

    def of(self, is_wanted: Callable[[End], bool]) -> Formula:
        """Return the region of the wanted paths."""
        chosen = sum(1 << n for n, end in enumerate(self._ends) if is_wanted(end))
        others = self.within.everywhere & ~chosen
        if not chosen or not others:
            return TRUE if chosen else FALSE
        cubes, clauses = self._cover(chosen, others), self._cover(others, chosen)
        common = set(cubes[0]).intersection(*cubes) if len(cubes) > 1 else set()
        saved = (len(cubes) - 1) * sum(self.within.costs[n] for n in common)
        # The complement's cubes, negated, are clauses: write whichever form is shorter, with literals of all cubes
        # counted once.
        if self.within.cost(clauses) <= self.within.cost(cubes) - saved:
            return formulas.all_of(formulas.any_of(self._literals[n ^ 1] for n in clause) for clause in clauses)
        rest = formulas.any_of(formulas.all_of(self._literals[n] for n in cube if n not in common) for cube in cubes)
        return formulas.all_of([*(self._literals[n] for n in sorted(common)), rest])

    def _cover(self, chosen: int, others: int) -> list[Cube]:
        """Return conjunctions that together cover the wanted paths and hold at no size of the others."""
        cubes: list[Cube] = []
        left = chosen
        for cell in two_level.single_bits(chosen):
            if cell & left:
                cubes.append(two_level.grown_from(self.beside, self._cubes[cell.bit_length() - 1], left, others))
                left &= ~self.within.mask(cubes[-1])
        return two_level.least_cover(self.within, cubes, chosen)


# Short conditions for regions of runs: conjuncts that share sizes are simplified together, each group once.


# Larger groups of literals are not simplified: they stay exact but may not be the shortest.
MAX_SIMPLIFIED = 32


class ShortConditions:
    """Simplifies formulas under the assumptions; results are cached, because cases share many conjuncts."""

    def __init__(self, assumptions: AssumptionSet) -> None:
        self.assumptions = assumptions
        self._known: dict[Formula, CostedValue[Formula]] = {}

    def short(self, formula: Formula) -> Formula:
        """Return an equivalent formula with little redundancy."""
        known = normal_conjuncts(
            [replace_in_formula(formula, self.assumptions.values) if self.assumptions.values else formula]
        )
        if FALSE in known:
            return FALSE
        ties = TiedSymbols(self.assumptions.domains)
        ties.tie(known)
        ties.tie(self.assumptions.others)
        return formulas.all_of(self._group(formulas.all_of(group)) for group in ties.sorted(known).values())

    def _group(self, formula: Formula) -> Formula:
        if formula in (TRUE, FALSE) or formulas.literal_count(formula) > MAX_SIMPLIFIED:
            return two_level.without_staircases(formula)
        known = self._known.get(formula)
        if known is not None and known.pay():
            return known.value
        short, is_kept = compute_costed(lambda: two_level.without_staircases(self._shorter(formula)))
        if is_kept:
            self._known[formula] = short
        return short.value

    def _shorter(self, formula: Formula) -> Formula:
        """Shorten a group without the definitions in it, which make nothing else redundant."""
        parts = formulas.clauses(formula)
        definitions = _definitions(parts, self.assumptions)
        rest = [part for part in parts if part not in definitions]
        if not definitions or not rest:
            return self._shortened(formula)
        short = map(self._in_order, formulas.clauses(self._shortened(formulas.all_of(rest))))
        places = {part: n for n, part in enumerate(parts)}
        conjuncts = [
            *((places[part], part) for part in definitions),
            *((_place(clause, rest, places), clause) for clause in short),
        ]
        return formulas.all_of(clause for _, clause in sorted(conjuncts, key=itemgetter(0)))

    def _in_order(self, clause: Formula) -> Formula:
        """Return a clause with the members of a join in the order of the run's sizes."""
        if not isinstance(clause, Compatible):
            return clause
        places: dict[Dim, int] = {s: n for n, s in enumerate(self.assumptions.domains)}
        return Compatible(tuple(sorted(clause.dims, key=lambda d: places.get(d, len(places)))))

    def _shortened(self, formula: Formula) -> Formula:
        return simplify.simplified(formula, self.assumptions)


def _place(clause: Formula, parts: Sequence[Formula], places: Mapping[Formula, int]) -> int:
    """Return the place of the first part that a clause may come from, by their symbols."""
    own = symbols_in(clause).keys()
    return next((places[p] for p in parts if own <= symbols_in(p).keys() or symbols_in(p).keys() <= own), len(places))


def _definitions(parts: Sequence[Formula], assumptions: AssumptionSet) -> set[Formula]:
    """Return the clauses that give the size of a symbol, which occurs in no other clause, as a symbol or a join.

    In ``R and s == t``, where R is not about s, and s may have every value of t, the second clause is never redundant,
    and R is as short as it is alone: for sizes at which R holds, the definition can hold too. Definitions are taken
    away one after another, so that a definition may use the symbol of a later one.
    """
    tied = {s for f in assumptions.others for s in symbols_in(f)}
    uses = Counter(s for part in parts for s in symbols_in(part))
    definitions: set[Formula] = set()
    pending = list(reversed(parts))
    while pending:
        taken = [p for p in pending if _is_definition(p, uses, tied, assumptions)]
        if not taken:
            break
        definitions.add(taken[0])
        uses.subtract(list(symbols_in(taken[0])))
        pending.remove(taken[0])
    return definitions


def _is_definition(part: Formula, uses: Mapping[Symbol, int], tied: Set[Symbol], assumptions: AssumptionSet) -> bool:
    if not isinstance(part, Comparison) or part.operator != "==":
        return False
    for defined, value in ((part.right, part.left), (part.left, part.right)):
        members = join_members(value)
        if isinstance(defined, Symbol) and uses[defined] == 1 and defined not in tied and defined not in members:
            domains = assumptions.domains
            if all(isinstance(m, Symbol) and domains[m] == domains[defined] for m in members):
                return True
    return False
