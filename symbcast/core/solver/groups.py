"""Groups of symbols that are decided separately: which symbols formulas tie together, and groups of F1 and F2."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Protocol

from symbcast.core.algebra.arithmetic import MAX_SIZE
from symbcast.core.algebra.formulas import TRUE, Compatible, Formula, any_of, clauses, equal, one_or_equal
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import Tier
from symbcast.core.solver.evaluation import predicate, symbols_in
from symbcast.core.solver.f1_names.relations import (
    EitherOne,
    InSet,
    Joinable,
    OneWay,
    Relation,
    RelationSystem,
    SameSize,
    SizeKey,
    nodes_of,
)
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula, shortest_set_formula
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.points import Point, least_size, point_cost
from symbcast.core.solver.residues import PeriodTooLongError
from symbcast.core.solver.size_sets import EMPTY, SizeSet
from symbcast.core.structs import NamedTuple


class TiedSymbols:
    """Disjoint sets of symbols, each represented by one of them."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.parent: dict[Symbol, Symbol] = {s: s for s in symbols}

    def find(self, symbol: Symbol) -> Symbol:
        parent = self.parent
        while (above := parent[symbol]) is not symbol:
            parent[symbol] = parent[above]
            symbol = above
        return symbol

    def tie(self, formulas: Iterable[Formula]) -> None:
        """Merge the symbols of each formula into one set."""
        for formula in formulas:
            self.tie_all(tuple(symbols_in(formula)))

    def tie_all(self, symbols: Sequence[Symbol]) -> None:
        """Merge some symbols into one set."""
        for other in symbols[1:]:
            self.parent[self.find(other)] = self.find(symbols[0])

    def sorted(self, formulas: Iterable[Formula]) -> dict[Symbol, list[Formula]]:
        """Return the formulas of each set, keyed by the symbol that represents it."""
        by_set: dict[Symbol, list[Formula]] = {}
        for formula in formulas:
            by_set.setdefault(self.find(next(iter(symbols_in(formula)))), []).append(formula)
        return by_set

    def all(self) -> list[tuple[Symbol, list[Symbol]]]:
        """Return the sets, in the order of their first symbols."""
        sets: dict[Symbol, list[Symbol]] = {}
        for symbol in self.parent:
            sets.setdefault(self.find(symbol), []).append(symbol)
        return list(sets.items())


class FormulaGroup(NamedTuple):
    """Symbols that no formula ties to others, and the formulas about them.

    ``others`` are the assumptions about several of them at once, ``alternatives`` are formulas that need not all hold.
    """

    symbols: tuple[Symbol, ...]
    formulas: list[Formula]
    others: list[Formula]
    alternatives: list[Formula]


def formula_groups(
    symbols: Iterable[Symbol],
    formulas: Sequence[Formula],
    others: Sequence[Formula] = (),
    alternatives: Sequence[Formula] = (),
) -> list[FormulaGroup]:
    """Return the groups of symbols that formulas or alternatives mention; each of those mentions some symbol.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import different, equal
    >>> a, b, c = map(symbol, "abc")
    >>> alternatives = [different(a, 1), different(c, 1)]
    >>> [group.symbols for group in formula_groups([a, b, c], [equal(a, b)], alternatives=alternatives)]
    [(a, b), (c,)]
    """
    ties = TiedSymbols(symbols)
    for tying in (formulas, others, alternatives):
        ties.tie(tying)
    about, assumed, any_about = ties.sorted(formulas), ties.sorted(others), ties.sorted(alternatives)
    return [
        FormulaGroup(tuple(members), about.get(first, []), assumed.get(first, []), any_about.get(first, []))
        for first, members in ties.all()
        if first in about or first in any_about
    ]


# Groups of symbols that can be decided separately: those that no formula ties to others, and those of the graph.
#
# Each group answers the same questions as `symbcast.core.solver.linear_groups.LinearGroup`, the solver's group.


_TELLING_SIZES = 5


class SymbolGroup(Protocol):
    """A group of symbols and all constraints on them."""

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols of the group."""

    @property
    def clauses(self) -> list[Formula]:
        """The group's condition, irredundant."""

    @property
    def tier(self) -> Tier | None:
        """The tier that decides it; None if there are no constraints, or nothing was decided."""

    @property
    def satisfiable(self) -> bool | None:
        """Whether it can hold; None if undecided."""

    @property
    def violable(self) -> bool | None:
        """Whether it can fail under the assumptions; None if undecided."""

    @property
    def reason(self) -> str:
        """Why something is undecided."""

    @property
    def unproven(self) -> set[Formula]:
        """The clauses that the others may imply."""

    @property
    def evidence_reason(self) -> str:
        """Why the sizes found may not be the smallest."""

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy assumptions and clauses."""

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a clause."""

    def base(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions."""

    def constant(self, dim: Dim) -> int | None:
        """Return the only size that a dimension has wherever the clauses hold."""

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is 1 or equals ``target`` wherever the clauses hold."""


class SingleSymbolGroup:
    """A symbol that is tied to no other symbol."""

    reason = ""
    evidence_reason = ""

    def __init__(self, symbol: Symbol, assumed: SizeSet, required: SizeSet, stated: Sequence[Formula] = ()) -> None:
        self.symbols = (symbol,)
        self.assumed = assumed
        self.required = required
        self.unproven: set[Formula] = set()
        # Larger numbers than a size can be decide nothing.
        is_beyond = bool(required.segments) and required.segments[0].low > MAX_SIZE
        self.satisfiable: bool | None = None if is_beyond else bool(required)
        self.reason = f"{symbol.name} would be larger than 2**63 - 1" if is_beyond else ""
        self._broken = EMPTY if required is assumed else assumed - required
        self.tier = None if required is assumed else Tier.F2
        self.violable = bool(self._broken)
        self._stated = stated
        self._clauses: list[Formula] | None = None

    @property
    def clauses(self) -> list[Formula]:
        """The wanted set, as formulas."""
        if self._clauses is None:
            is_open = self.satisfiable and self.violable
            formula = (
                shortest_set_formula(self.symbols[0], self.required, self.assumed, self._stated) if is_open else TRUE
            )
            self._clauses = list(clauses(formula))
        return self._clauses

    def witness(self) -> dict[Symbol, int] | None:
        """Return the least wanted size."""
        return self._sizes(self.required)

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the least unwanted size."""
        return self._sizes(self._broken)

    def base(self) -> dict[Symbol, int] | None:
        """Return the least size that the assumptions allow."""
        return self._sizes(self.assumed)

    def _sizes(self, sizes: SizeSet) -> dict[Symbol, int] | None:
        try:
            least = least_size(sizes)
        except PeriodTooLongError as error:
            self.reason = f"the least size of {self.symbols[0].name} was not found: {error}"
            return None
        return None if least is None or least > MAX_SIZE else {self.symbols[0]: least}

    def constant(self, dim: Dim) -> int | None:
        """Return the size of the symbol if only one is wanted."""
        return self.required.only if dim == self.symbols[0] else None

    def covers(self, data: Dim, target: Dim) -> bool:
        """Decide this from the wanted set."""
        try:
            return self.required <= solution_set(one_or_equal(data, target))
        except NotPeriodicError:
            return False


class RelationGroup:
    """Symbols tied by relations of the graph."""

    tier = Tier.F1
    reason = ""
    evidence_reason = ""

    def __init__(
        self,
        symbols: Sequence[Symbol],
        assumed: Mapping[SizeKey, SizeSet],
        required: Mapping[SizeKey, SizeSet],
        relations: Sequence[Relation],
        weights: Mapping[SizeKey, int],
    ) -> None:
        self.symbols = tuple(symbols)
        self.assumed = {s: assumed[s] for s in self.symbols}
        self.system = RelationSystem(self.assumed, {s: required[s] for s in self.symbols}, relations)
        self.weights = weights
        self.unproven: set[Formula] = set()
        reduced = self.system.relations
        self.satisfiable = reduced is not None
        self.violable = reduced is None or bool(reduced)
        self._clauses: list[Formula] | None = None

    @property
    def clauses(self) -> list[Formula]:
        """The reduced relations as formulas."""
        if self._clauses is None:
            relations = self.system.relations or []
            self._clauses = [c for r in relations for c in clauses(self._formula(r))]
        return self._clauses

    def _formula(self, relation: Relation) -> Formula:
        match relation:
            case Joinable(members):
                return Compatible(members)
            case OneWay(data, target):
                return one_or_equal(data, target)
            case SameSize(left, right):
                return equal(left, right)
            case EitherOne(left, right):
                return any_of((equal(left, 1), equal(right, 1)))
            case InSet(node, members):
                return set_formula(node, members, self.assumed[node])

    def witness(self) -> dict[Symbol, int] | None:
        """Return 1 for each size that may be 1, otherwise the least size of its class."""
        if not self.satisfiable:
            return None
        return {s: least_size(self.system.classes.set_of(s)) or 0 for s in self.symbols}

    def base(self) -> dict[Symbol, int]:
        """Return the least size of each symbol."""
        return {s: least_size(self.assumed[s]) or 0 for s in self.symbols}

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that break one of the relations: the others only have to be sizes."""
        base = self.base()
        points = [base | breaking for r in self.system.relations or [] if (breaking := self._breaking(r))]
        return min(points, key=lambda sizes: point_cost(self.symbols, sizes, self.weights), default=None)

    def _breaking(self, relation: Relation) -> Point | None:
        if isinstance(relation, InSet):
            size = least_size(self.assumed[relation.node] - relation.members)
            return None if size is None else {relation.node: size}
        nodes = self._telling(nodes_of(relation))
        formula = Compatible(nodes) if isinstance(relation, Joinable) else self._formula(relation)
        test = predicate(formula, nodes)
        # If it can break, two of the few least sizes in their sets break it: all others can then be minimal.
        least = {n: least_size(self.assumed[n]) or 0 for n in nodes}
        few = {n: self.assumed[n].first(_TELLING_SIZES) for n in nodes}
        tried = ({**least, a: x, b: y} for a, b in combinations(nodes, 2) for x, y in product(few[a], few[b]))
        broken = (sizes for sizes in tried if not test(*sizes.values()))
        return min(broken, key=lambda sizes: point_cost(nodes, sizes, self.weights), default=None)

    def _telling(self, members: Sequence[SizeKey]) -> tuple[SizeKey, ...]:
        """Return, in order, a few members that include the smallest clash: the first and the last two of each kind.

        Of 2 beside 3, both come last; of 0 beside 2, which clash where no size may be 3, the 0 comes first.
        """
        kinds: dict[tuple[SizeSet, int], list[SizeKey]] = defaultdict(list)
        order = {s: n for n, s in enumerate(self.symbols)}
        for node in sorted(members, key=order.__getitem__):
            kinds[self.assumed[node], self.weights[node]].append(node)
        chosen = dict.fromkeys(n for nodes in kinds.values() for n in (nodes[0], *nodes[-2:]))
        return tuple(sorted(chosen, key=order.__getitem__))

    def constant(self, dim: Dim) -> int | None:
        """Return the size of a symbol whose class has only one size."""
        return None if isinstance(dim, int) or not dim.is_Symbol else self.system.classes.set_of(dim).only

    def covers(self, data: Dim, target: Dim) -> bool:
        """Decide this with one more question to the graph."""
        known = self.system.classes
        if isinstance(data, int) or not data.is_Symbol:
            return False
        if isinstance(target, int):
            return known.set_of(data) <= SizeSet.of((1, target))
        if not target.is_Symbol:
            return False
        return self.system.covers(data, target)


class UndecidedGroup:
    """Symbols left undecided because effort ran out: all their constraints may be redundant."""

    tier: Tier | None = None
    satisfiable: bool | None = None
    violable: bool | None = None
    evidence_reason = ""

    def __init__(self, symbols: Iterable[Symbol], clauses: list[Formula], reason: str) -> None:
        self.symbols = tuple(symbols)
        self.clauses = clauses
        self.unproven = set(clauses)
        self.reason = reason

    def witness(self) -> dict[Symbol, int] | None:
        """Return None: no sizes were searched for."""
        return None

    counterexample = base = witness

    def constant(self, _dim: Dim) -> int | None:
        """Return None: the size is unknown."""
        return None

    def covers(self, _data: Dim, _target: Dim) -> bool:
        """Return False: it is unknown."""
        return False
