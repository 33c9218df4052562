"""Disjunctions of cases made short: formulas over atoms, truth tables at sample points, and equivalence by z3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    dims_of,
    expand,
    is_total,
    negate,
    opposite,
    with_values,
)
from symbcast.core.algebra.terms import Symbol, term
from symbcast.core.effort import charge
from symbcast.core.solver.evaluation import holds_at, predicate, truth_table
from symbcast.core.solver.f2_one_size.clauses import canonical_comparison
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.points import GivenUpError
from symbcast.core.solver.simplification.two_level import FEW_LITERALS, LITERAL_COST, Cube, LiteralTable, cover
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple


class Tree(NamedTuple):
    """A formula over numbered literals: all of some parts, or any of them."""

    is_all: bool
    parts: tuple[Tree | int, ...]


class Atoms:
    """The comparisons of a formula and their opposites: literal ``2*n`` as given first, ``2*n + 1`` the opposite.

    Where a term has no value, neither holds.
    """

    def __init__(self) -> None:
        self.literals: list[Formula] = []
        self.stated: set[int] = set()
        self._numbers: dict[Formula, int] = {}
        self._read: dict[Formula, Tree | int] = {}

    def tree(self, formula: Formula) -> Tree | int:
        """Return a formula over the literals; its atoms are added."""
        match formula:
            case AllOf(parts):
                return _joined(True, map(self.tree, parts))
            case AnyOf(parts):
                return _joined(False, map(self.tree, parts))
        tree = self._read.get(formula)
        if tree is None:
            tree = self._read[formula] = self._leaf(formula)
        return tree

    def _leaf(self, literal: Comparison | Compatible | Clashing) -> Tree | int:
        if not isinstance(literal, Comparison):
            if len(literal.dims) <= 2:
                return self.tree(expand(literal))
            return self._number(literal, literal, opposite(literal))
        key = canonical_comparison(literal)
        if key in (TRUE, FALSE):
            return Tree(key == TRUE, ())
        return self._number(literal, key, canonical_comparison(opposite(literal)))

    def _number(self, literal: Comparison | Compatible | Clashing, key: Formula, negated: Formula) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.literals)
            self._numbers[negated] = number + 1
            self.literals += [literal, opposite(literal)]
        elif number not in self.stated:
            self.literals[number] = literal
        self.stated.add(number)
        return number

    def cube(self, literals: Cube) -> Formula:
        """Return the conjunction of some literals."""
        return all_of(self.literals[n] for n in literals)

    def clause(self, literals: Cube) -> Formula:
        """Return the disjunction of the opposites of some literals."""
        return any_of(self.literals[n ^ 1] for n in literals)


def _joined(is_all: bool, parts: Iterable[Tree | int]) -> Tree | int:
    """Return parts joined and flattened, with true and false parts removed."""
    flat: dict[Tree | int, None] = {}
    for part in parts:
        for member in part.parts if isinstance(part, Tree) and part.is_all is is_all else (part,):
            if isinstance(member, Tree) and not member.parts:  # an empty part of the other kind decides the whole
                return member
            flat[member] = None
    return next(iter(flat)) if len(flat) == 1 else Tree(is_all, tuple(flat))


def literal_cells(tree: Tree | int, masks: Sequence[int], everywhere: int) -> int:
    """Return the cells at which a formula holds."""
    if isinstance(tree, int):
        return masks[tree]
    cells = everywhere if tree.is_all else 0
    for part in tree.parts:
        inner = literal_cells(part, masks, everywhere)
        cells = cells & inner if tree.is_all else cells | inner
    return cells


def cubes_of(tree: Tree | int, of_all: bool = False) -> list[Cube] | None:
    """Return the cubes of a disjunction of conjunctions, None for a formula of another form.

    With ``of_all``, return those of the negation of a conjunction of disjunctions.
    """
    flip = int(of_all)
    cubes: list[Cube] = []
    for part in tree.parts if isinstance(tree, Tree) and tree.is_all is of_all else (tree,):
        members = part.parts if isinstance(part, Tree) and part.is_all is not of_all else (part,)
        if not all(isinstance(n, int) for n in members):
            return None
        cubes.append(tuple(sorted({n ^ flip for n in members if isinstance(n, int)})))
    return cubes


# Shortening unions of cases: a formula over tied symbols as the shortest conjunction or disjunction of its atoms.
#
# Truth tables over sample points give a candidate (`symbcast.core.solver.simplification.two_level`). z3 proves it
# equivalent to the formula, or finds points at which they differ, which are added to the samples. So the answer is
# exact however few samples there were; and points at which the formula would change show that nothing in it is
# redundant.


_MOST_ATOMS = 600
_POINTS = 250
_ROUNDS = 60
_FOUND_AT_ONCE = 24
_NEAR = 40
_TIED = 0.4
# What a literal costs more that is the negation of a given one.
_NOT_STATED = 1
# The extra cost of each side that is not an integer: of equally short forms, integers read more easily.
_NAME = 2
_MOST_QUESTIONS = 600
# Units of effort for compiling the test of an atom at points.
_TEST = 150


class Candidate(NamedTuple):
    """A short form: any of some cubes, or with ``is_all`` all of their negations; and its cost."""

    is_all: bool
    cubes: list[Cube]
    cost: int


def shared_literals(cubes: Sequence[Cube]) -> Cube:
    """Return the literals that several cubes have in common."""
    if len(cubes) < 2:
        return ()
    return tuple(sorted(set(cubes[0]).intersection(*cubes[1:])))


class CaseSimplifier:
    """A formula over tied symbols, with the assumptions about them, to be shortened.

    ``is_grown`` means that the cubes found are the given ones, each shortened: repeating this changes nothing.
    """

    def __init__(
        self,
        formula: Formula,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        assumptions: Sequence[Formula],
    ) -> None:
        self.formula = with_values(formula)
        self.symbols = tuple(symbols)
        self.domains = domains
        self.assumptions = tuple(assumptions)
        described = (set_formula(s, domains[s]) for s in self.symbols)
        self.known = (*(f for f in described if f != TRUE), *assumptions)
        self.atoms = Atoms()
        self.tree = self.atoms.tree(self.formula)
        self.on_cubes = cubes_of(self.tree)
        self.off_cubes = cubes_of(self.tree, of_all=True)
        self.is_grown = False
        self.random = Random(0)
        self._questions = 0
        self.rows: dict[tuple[bool | None, ...], None] = {}

    def shortest(self) -> Formula | None:
        """Return the shortest equivalent that was found and proved; None if a limit was reached."""
        count = len(self.atoms.literals) // 2
        if count > _MOST_ATOMS:
            return None
        self._learn(self._first_points())
        for _ in range(_ROUNDS):
            candidate = self._candidate(self._table())
            differing = self._differences(candidate)
            if differing is None:
                return None
            if not differing:
                return self._written(candidate)
            self._learn(differing)
        return None

    def _costs(self) -> list[int]:
        costs: list[int] = []
        for n, literal in enumerate(self.atoms.literals):
            names = sum(not isinstance(d, int) for d in dims_of(literal))
            costs.append(LITERAL_COST + (_NOT_STATED if n not in self.atoms.stated else 0) + _NAME * names)
        return costs

    def _written(self, candidate: Candidate) -> Formula:
        if candidate.is_all:
            return all_of(map(self.atoms.clause, candidate.cubes))
        common = shared_literals(candidate.cubes)
        rest = any_of(self.atoms.cube(tuple(n for n in cube if n not in common)) for cube in candidate.cubes)
        return all_of([*(self.atoms.literals[n] for n in common), rest])

    def _candidate(self, table: LiteralTable) -> Candidate:
        """Return the shortest form as far as the points show; on a tie, the form that was given."""
        on = literal_cells(self.tree, table.masks, table.everywhere)
        dual = table._replace(costs=[table.costs[n ^ 1] for n in range(len(table.costs))])
        off = table.everywhere & ~on
        forms = [(False, table, on, self.on_cubes), (True, dual, off, self.off_cubes)]
        if self.on_cubes is None or self.off_cubes is not None:
            forms.reverse()
        if len(table.distinct()) > FEW_LITERALS and forms[0][3] is not None:
            self.is_grown = True
            del forms[1]  # with this many literals the other form is far longer, if it can be found at all
        best: Candidate | None = None
        for is_all, over, cells, seeds in forms:
            cubes = cover(over, cells, seeds or (), None if best is None else best.cost)
            if cubes is None:
                continue
            common = () if is_all else shared_literals(cubes)
            cost = over.cost(cubes) - (len(cubes) - 1) * sum(over.costs[n] for n in common)
            if best is None or cost < best.cost:
                best = Candidate(is_all, cubes, cost)
        assert best is not None
        return best

    def _table(self) -> LiteralTable:
        rows = list(self.rows)
        count = len(self.atoms.literals)
        everywhere = (1 << len(rows)) - 1
        masks: list[int] = []
        for column in zip(*rows, strict=True):
            mask = int(bytes(column).translate(_DIGITS) or b"0", 2)
            masks += [mask, everywhere & ~mask]
        masks = masks or [0] * count
        return LiteralTable(everywhere, masks, self._costs())

    def _learn(self, points: Iterable[tuple[int, ...]]) -> None:
        """Record the truth of the atoms at some points."""
        points = list(points)
        charge(_TEST * len(self.atoms.literals) // 4 + len(points) * len(self.atoms.literals) // 8)
        atoms = self.atoms.literals[::2]
        partial = [n for n, atom in enumerate(atoms) if not is_total(atom)]
        total = [TRUE if n in partial else atom for n, atom in enumerate(atoms)]
        rows = truth_table(total, self.symbols)(points)
        if not partial:
            self.rows.update(dict.fromkeys(rows))
            return
        for point, row in zip(points, rows, strict=True):
            sizes = dict(zip(self.symbols, point, strict=True))
            values = {n: holds_at(atoms[n], sizes) for n in partial}
            undefined = [n for n in partial if not values[n] and not holds_at(self.atoms.literals[2 * n + 1], sizes)]
            known = [values.get(n, value) for n, value in enumerate(row)]
            self.rows[tuple(known)] = None
            # An undefined atom may be true or false, so no form can rely on it without requiring that it is defined.
            for n in undefined:
                self.rows[tuple(not v if m == n else v for m, v in enumerate(known))] = None
            self.rows[tuple(True if m in undefined else v for m, v in enumerate(known))] = None

    def _first_points(self) -> list[tuple[int, ...]]:
        """Return points at which the assumptions hold."""
        points = dict.fromkeys(self._tied(self.random))
        return self._assumed(self._inside(points))

    def _tied(self, random: Random) -> list[tuple[int, ...]]:
        """Return points near the integers that the atoms compare with, often with equal or neighbouring sizes."""
        pools = self._pools()
        points: list[tuple[int, ...]] = []
        for _ in range(_POINTS):
            point = list(map(random.choice, pools))
            for place in range(1, len(pools)):
                if random.random() < _TIED:
                    point[place] = max(0, point[random.randrange(place)] + random.choice((0, 0, 0, 1, -1)))
            points.append(tuple(point))
        return points

    def _assumed(self, points: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the points at which the assumptions hold and whose sizes are in their domains."""
        if not self.assumptions:
            return list(points)
        holds = predicate(all_of(self.assumptions), self.symbols)
        return [p for p in points if holds(*p)]

    def _inside(self, points: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Yield the points whose sizes are in their domains."""
        bounded = [(n, d) for n, s in enumerate(self.symbols) if (d := self.domains[s]) is not ALL]
        return (p for p in points if all(p[n] in d for n, d in bounded))

    def _pools(self) -> list[list[int]]:
        near: dict[Symbol, dict[int, None]] = {s: {} for s in self.symbols}
        for atom in self.atoms.literals[::2]:
            dims = list(dims_of(atom))
            numbers = [d if isinstance(d, int) else term(d).constant for d in dims]
            around = [max(0, abs(n) + by) for n in dict.fromkeys(numbers) for by in (0, 1, -1)]
            for symbol in dict.fromkeys(s for d in dims if not isinstance(d, int) for s in term(d).symbols()):
                near[symbol].update(dict.fromkeys(around))
        pools = []
        for symbol in self.symbols:
            domain = self.domains[symbol]
            few = [n for n in list(near[symbol])[:_NEAR] if n in domain]
            pools.append(list(dict.fromkeys([*domain.first(4), *few, *domain.first(8)])))
        return pools

    def _differences(self, candidate: Candidate) -> list[tuple[int, ...]] | None:
        """Return points at which formula and candidate differ; empty if they are proved equal; None if undecided."""
        cubes = [self.atoms.cube(c) for c in candidate.cubes]
        form = self._written(candidate)
        negated = negate(self.formula)
        own = self.off_cubes if candidate.is_all else self.on_cubes
        wide = [frozenset(c) for c in candidate.cubes]
        given = {frozenset(c) for c in own or ()}
        news = [f for f, c in zip(cubes, wide, strict=True) if c not in given]
        lost: list[Formula] = [negated if candidate.is_all else self.formula]
        if own is not None:
            lost = [self.atoms.cube(c) for c in own if not any(w <= frozenset(c) for w in wide)]
        outside = form if candidate.is_all else negate(form)
        against = self.formula if candidate.is_all else negated
        points = self._points(against, news)
        if points is None:
            return None
        more = self._points(outside, lost)
        if more is None:
            return None
        return [*points, *more] or ([] if is_total(form) else self._gaps(form))

    def _gaps(self, form: Formula) -> list[tuple[int, ...]] | None:
        """Return points at which a form differs because a term has no value: there, a cube and its clause both fail."""
        points = self._points(self.formula, [negate(form)])
        more = self._points(negate(self.formula), [form])
        return None if points is None or more is None else [*points, *more]

    def _points(self, fixed: Formula, pieces: Sequence[Formula]) -> list[tuple[int, ...]] | None:
        """Return points at which ``fixed`` and some of the pieces hold, about one for each piece; None if undecided."""
        from symbcast.core.solver.f3_linear import z3_solver

        points: list[tuple[int, ...]] = []
        left = list(pieces)
        while left and len(points) < _FOUND_AT_ONCE:
            self._questions += 1
            if self._questions > _MOST_QUESTIONS:
                return None
            try:
                sizes = z3_solver.some_point(self.symbols, [*self.known, fixed, any_of(left)])
            except GivenUpError:
                return None
            if sizes is None:
                break
            points.append(tuple(sizes[s] for s in self.symbols))
            failing = [piece for piece in left if not holds_at(piece, sizes)]
            left = failing if len(failing) < len(left) else left[1:]
        return points


_DIGITS = bytes.maketrans(b"\0\1", b"01")
