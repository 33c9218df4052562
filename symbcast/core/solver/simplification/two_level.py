"""Two-level minimisation; and alternatives: where formulas differ, and steps that differ by a size's value made one.

Two-level minimisation finds the shortest disjunction of conjunctions of literals, by truth tables held as bit masks.
A table has one bit for each cell: for each combination of truth values that the atoms can have together. A combination
that no sizes produce is not a cell, so it is a "don't care" by construction. A cube (a conjunction of literals) is an
implicant if it holds at no cell of the off-set, and prime if no literal of it can be left out. A least cover of the
on-set by primes is irredundant in cubes and, since they are prime, in literals (Quine 1952, McCluskey 1956). For few
atoms, all primes are enumerated, level by level, and branch and bound finds a least cover; for more, primes are grown
from the cells and from the cubes that were given, and the cover is greedy, as in espresso (Brayton et al. 1984).
Counted steps bound both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add
from symbcast.core.algebra.formulas import FALSE, TRUE, AllOf, AnyOf, Comparison, Formula, all_of, any_of, with_dims
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import DECIDED, Stage, budget_stage, charge
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import (
    in_normal_form,
    normal_conjuncts,
    replace_in_formula,
    standard_names,
    symbols_in,
)
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.groups import FormulaGroup, formula_groups
from symbcast.core.solver.points import smallest_of
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import HasVerdict, Possible, Verdict, is_any

Cube: TypeAlias = tuple[int, ...]
"""Numbers of literals, rising: literal ``2*n`` is atom ``n``, literal ``2*n + 1`` its negation."""

# What one more literal costs; ties between covers of as many literals are settled by smaller costs.
LITERAL_COST = 1000
# Of more literals, primes are not enumerated.
FEW_LITERALS = 40
_CUBE_COST = 50
_ENUMERATED_AT_MOST = 12_000
_EXACT_PRIMES = 200
_EXACT_CELLS = 2_000
_EXACT_NODES = 1_000
# A cover that costs this many times as much as a known one is given up.
_TOO_LONG = 3


class LiteralTable(NamedTuple):
    """The cells at which each literal holds; ``everywhere`` are all cells, ``costs`` are the literals' costs."""

    everywhere: int
    masks: Sequence[int]
    costs: Sequence[int]

    def mask(self, cube: Iterable[int]) -> int:
        """Return the cells of a cube."""
        cells = self.everywhere
        for literal in cube:
            cells &= self.masks[literal]
        return cells

    def cost(self, cover: Iterable[Cube]) -> int:
        """Return the cost of a cover: first the cost of its literals, then its number of cubes."""
        return sum(_CUBE_COST + sum(self.costs[n] for n in cube) for cube in cover)

    def distinct(self) -> list[int]:
        """Return the literals that hold somewhere and fail somewhere; of equivalent ones, the cheapest."""
        cheapest: dict[int, int] = {}
        for literal, mask in enumerate(self.masks):
            if mask not in (0, self.everywhere):
                known = cheapest.get(mask)
                if known is None or self.costs[literal] < self.costs[known]:
                    cheapest[mask] = literal
        return sorted(cheapest.values())


def cover(table: LiteralTable, on: int, seeds: Sequence[Cube] = (), at_most: int | None = None) -> list[Cube] | None:
    """Return prime cubes that hold at the cells of ``on`` and at no others, none of them redundant.

    ``seeds`` are implicants to grow primes from. Returns None if the cover becomes much longer than ``at_most``.

    >>> table = LiteralTable(0b1111, [0b1100, 0b0011, 0b1010, 0b0101], [LITERAL_COST] * 4)
    >>> cover(table, 0b1110), cover(table, 0b0110), cover(table, 0b1111), cover(table, 0)
    ([(0,), (2,)], [(0, 3), (1, 2)], [()], [])
    """
    off = table.everywhere & ~on
    if not on:
        return []
    if not off:
        return [()]
    literals = table.distinct()
    primes = _enumerated(table, literals, on, off) if len(literals) <= FEW_LITERALS else None
    if primes is None:
        primes = _grown(table, on, off, seeds, at_most)
    return None if primes is None else least_cover(table, primes, on)


def _enumerated(table: LiteralTable, literals: Sequence[int], on: int, off: int) -> list[Cube] | None:
    """Return all prime implicants, shortest first, None if that takes too many steps."""
    primes: list[Cube] = []
    steps = 0
    level: list[tuple[Cube, int]] = [((), table.everywhere)]
    while level:
        longer: list[tuple[Cube, int]] = []
        for cube, mask in level:
            for literal in literals:
                # In rising order, so that each cube is made once.
                if cube and literal <= cube[-1]:
                    continue
                steps += 1
                charge(1)
                if steps > _ENUMERATED_AT_MOST:
                    return None
                narrowed = mask & table.masks[literal]
                # The literal excludes nothing, or everything that is to be covered.
                if narrowed == mask or not narrowed & on:
                    continue
                longer_cube = (*cube, literal)
                if narrowed & off:
                    longer.append((longer_cube, narrowed))
                elif _is_prime(table, longer_cube, off):
                    primes.append(longer_cube)
        level = longer
    return primes


def _is_prime(table: LiteralTable, cube: Cube, off: int) -> bool:
    return all(table.mask(n for n in cube if n != literal) & off for literal in cube)


def _grown(table: LiteralTable, on: int, off: int, seeds: Sequence[Cube], at_most: int | None) -> list[Cube] | None:
    """Return primes that cover the on-set: each seed expanded, and one grown from each cell not yet covered."""
    literals = table.distinct()
    primes: dict[Cube, None] = {}
    for seed in seeds:
        if table.mask(seed) & on:
            primes[_shrunk(table, seed, off)] = None
    left, total = on, 0
    for prime in primes:
        left &= ~table.mask(prime)
    while left:
        cell = left & -left
        grown = grown_from(table, [n for n in literals if table.masks[n] & cell], left, off)
        primes[grown] = None
        left &= ~table.mask(grown)
        total += table.cost((grown,))
        if at_most is not None and total > _TOO_LONG * at_most:
            return None
    return list(primes)


def _expanded(table: LiteralTable, seed: Sequence[int], on: int, off: int) -> Cube:
    """Return a prime with some of an implicant's literals; first drop those whose removal gains most coverage."""
    literals = list(dict.fromkeys(seed))
    while True:
        best: tuple[int, int, int] | None = None
        charge(len(literals) ** 2)
        for literal in literals:
            mask = table.mask(n for n in literals if n != literal)
            if not mask & off:
                gain = ((mask & on).bit_count(), table.costs[literal], literal)
                best = gain if best is None or gain > best else best
        if best is None:
            return tuple(sorted(literals))
        literals.remove(best[2])


def _shrunk(table: LiteralTable, seed: Sequence[int], off: int) -> Cube:
    """Return a prime with some of an implicant's literals, which are tried in order.

    The order is fixed, so that each off-set cell found later undoes few choices.
    """
    literals = list(seed)
    charge(len(literals) ** 2)
    for literal in seed:
        rest = [n for n in literals if n != literal]
        if not table.mask(rest) & off:
            literals = rest
    return tuple(sorted(literals))


def grown_from(table: LiteralTable, literals: Sequence[int], cells: int, off: int) -> Cube:
    """Return a prime among literals that hold at one cell, choosing first those that exclude most and keep most."""
    masks, costs = table.masks, table.costs
    chosen: list[int] = []
    around, excluded = cells, off
    while excluded:
        charge(2 * len(literals))
        size, count = around.bit_count() or 1, excluded.bit_count()
        best = max(
            literals,
            key=lambda n: (
                (count - (excluded & masks[n]).bit_count()) / count + (around & masks[n]).bit_count() / size
                if excluded & ~masks[n]
                else -1.0,
                -costs[n],
            ),
        )
        if not excluded & ~masks[best]:
            raise ValueError("the literals of a wanted cell also hold at an unwanted one: the cells overlap")
        chosen.append(best)
        around &= masks[best]
        excluded &= masks[best]
    return _expanded(table, chosen, cells, off)


def least_cover(table: LiteralTable, primes: Sequence[Cube], on: int) -> list[Cube]:
    """Return primes that cover the on-set, none of them redundant; the cheapest cover if there are few."""
    masks = [table.mask(prime) & on for prime in primes]
    costs = [table.cost((prime,)) for prime in primes]
    chosen = _greedy(masks, costs, on)
    if len(primes) <= _EXACT_PRIMES and on.bit_count() <= _EXACT_CELLS:
        chosen = _CoverSearch(masks, costs, chosen).run(on)
    return [primes[n] for n in sorted(chosen)]


def _greedy(masks: Sequence[int], costs: Sequence[int], on: int) -> list[int]:
    """Return a cover, built greedily from the prime that covers most of the rest for its cost.

    A prime's coverage of the rest only shrinks, so a count that is still the largest when recomputed is the largest.
    """
    chosen: list[int] = []
    heap = [(-mask.bit_count() / cost, n) for n, (mask, cost) in enumerate(zip(masks, costs, strict=True))]
    heapify(heap)
    left = on
    while left:
        _, best = heappop(heap)
        updated = (-(masks[best] & left).bit_count() / costs[best], best)
        if heap and updated > heap[0]:
            heappush(heap, updated)
            continue
        chosen.append(best)
        left &= ~masks[best]
    return _irredundant(masks, costs, on, chosen)


def _irredundant(masks: Sequence[int], costs: Sequence[int], on: int, cover: Sequence[int]) -> list[int]:
    chosen = list(cover)
    once = twice = 0
    for n in chosen:
        twice |= once & masks[n]
        once |= masks[n]
    for n in sorted(cover, key=lambda n: (-costs[n], -n)):
        if masks[n] & on & ~twice:
            continue
        rest = 0
        for other in chosen:
            rest |= masks[other] if other != n else 0
        if not on & ~rest:
            chosen.remove(n)
    return chosen


class _CoverSearch:
    """Branch and bound for the cheapest cover, starting from a known one, within a limited number of nodes."""

    def __init__(self, masks: Sequence[int], costs: Sequence[int], known: Sequence[int]) -> None:
        self.masks = masks
        self.costs = costs
        self.best = list(known)
        self.least = sum(costs[n] for n in known)
        self.nodes = 0

    def run(self, on: int) -> list[int]:
        """Return the cheapest cover found."""
        self._search(self._rows(on), [], 0)
        return _irredundant(self.masks, self.costs, on, self.best)

    def _rows(self, on: int) -> list[int]:
        """Return, for each cell, the primes that hold there as a mask, without rows that other rows imply."""
        distinct = {sum(1 << n for n, mask in enumerate(self.masks) if mask & cell) for cell in single_bits(on)}
        rows: list[int] = []
        for row in sorted(distinct, key=lambda row: (row.bit_count(), row)):
            if not any(other & ~row == 0 for other in rows):
                rows.append(row)
        return rows

    def _search(self, rows: list[int], chosen: list[int], cost: int) -> None:
        self.nodes += 1
        charge(2 + len(rows))
        if not rows:
            if cost < self.least:
                self.best, self.least = list(chosen), cost
            return
        if self.nodes > _EXACT_NODES or cost + self._bound(rows) >= self.least:
            return
        row = min(rows, key=lambda r: r.bit_count())
        for cell in sorted(single_bits(row), key=lambda c: self.costs[c.bit_length() - 1]):
            prime = cell.bit_length() - 1
            left = [r for r in rows if not r & cell]
            self._search(left, [*chosen, prime], cost + self.costs[prime])

    def _bound(self, rows: list[int]) -> int:
        """Return a lower bound of the cost, from rows without a common prime."""
        used = total = 0
        for row in rows:
            if not row & used:
                used |= row
                total += min(self.costs[c.bit_length() - 1] for c in single_bits(row))
        return total


def single_bits(mask: int) -> Iterator[int]:
    """Yield each bit of a mask as a mask."""
    while mask:
        yield mask & -mask
        mask &= mask - 1


_StandardQuestion: TypeAlias = tuple[
    tuple[Symbol, ...], tuple[SizeSet, ...], tuple[int, ...], tuple[Formula, ...], tuple[Formula, ...]
]


# Sizes at which all of some formulas and at least one of some alternatives hold, decided without a disjunction.
#
# An alternative is decided together with the formulas about sizes tied to its own: all other formulas are about other
# sizes, so the choice of alternative does not affect them. Groups of sizes that differ only in names, as the axes of
# shapes often do, are one question.


class OneOf(HasVerdict):
    """The sizes at which ``common`` holds, as decided by ``base``, and at least one of the alternatives.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import different, equal
    >>> a, b, c = map(symbol, "abc")
    >>> common, known = [equal(a, b)], AssumptionSet([a, b, c], {}, ())
    >>> found = OneOf(Decision(known, common), common, [different(a, b), different(c, 1)])
    >>> found.verdict, found.witness()
    (<Verdict.SOMETIMES: 'sometimes'>, {a: 1, b: 1, c: 2})
    """

    def __init__(self, base: Decision, common: Iterable[Formula], alternatives: Iterable[Formula]) -> None:
        known = base.assumptions
        normal = [in_normal_form(replace_in_formula(a, known.values)) for a in alternatives]
        self._base = base
        self._is_free = TRUE in normal
        left = [] if self._is_free or base.impossible else [a for a in normal if a != FALSE]
        formulas = normal_conjuncts(replace_in_formula(c, known.values) for c in common) if left else []
        if FALSE in formulas:  # the base did not find this out because effort ran out
            left, formulas = [], []
        self._groups = [
            [_Question(known, group, a) for a in (*group.alternatives, any_of(group.alternatives))]
            for group in formula_groups(known.domains, formulas, known.others, left)
            if group.alternatives
        ]

    @property
    def is_empty(self) -> bool | None:
        """Whether no such sizes exist; None if undecided."""
        base = self._base.satisfiable
        is_possible = base if self._is_free else is_any(a.decision.satisfiable for a in self._alternatives())
        if base is False or is_possible is False:
            return True
        return False if base and is_possible else None

    @property
    def _possible(self) -> Possible:
        is_empty = self.is_empty
        if is_empty is not False:
            return (False, True) if is_empty else (None, None)
        return True, is_any(self._failures())

    def _failures(self) -> Iterator[bool | None]:
        """Yield whether the formulas that always hold can fail, and whether all alternatives can."""
        yield self._base.violable
        if self._is_free:
            return
        # One of several alternatives about independent sizes always holds if and only if this is true within one group.
        verdicts = {group[-1].decision.verdict for group in self._groups}
        if Verdict.ALWAYS not in verdicts:
            yield None if Verdict.UNKNOWN in verdicts else True

    @property
    def reason(self) -> str:
        """Why something was not decided."""
        reasons = (self._base.reason, *(a.reason for a in self._alternatives()))
        return next(filter(None, reasons), "")

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest such sizes as `Decision.witness` orders them; None if none were found."""
        least = self._base.witness()
        if least is None or self._is_free:
            return least
        points = [self._base.whole([least, sizes]) for a in self._alternatives() if (sizes := a.witness()) is not None]
        return smallest_of(tuple(least), points)

    def _alternatives(self) -> Iterator[_Question]:
        return (a for group in self._groups for a in group[:-1])


class _Question:
    """A formula, together with the other formulas about the sizes of its group."""

    def __init__(self, known: AssumptionSet, group: FormulaGroup, formula: Formula) -> None:
        self._sets = tuple(known.domains[s] for s in group.symbols)
        self._weights = tuple(known.weights[s] for s in group.symbols)
        self._group = group
        self._formulas = (*group.formulas, formula)

    @property
    def reason(self) -> str:
        """Why something was not decided, in the symbol names of the question."""
        return _decided(self._group.symbols, self._sets, self._weights, self._group.others, self._formulas).reason

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes of the group."""
        sizes = self.decision.witness()
        return None if sizes is None else {s: sizes[standard] for s, standard in self._names.items()}

    @property
    def decision(self) -> Decision:
        """The decision on the same question about standard names."""
        return _stage(*self._standard_question)()

    @cached_property
    def _names(self) -> dict[Symbol, Symbol]:
        return standard_names(self._group.symbols)

    @cached_property
    def _standard_question(self) -> _StandardQuestion:
        names = self._names
        others, formulas = (
            tuple(replace_in_formula(f, names) for f in each) for each in (self._group.others, self._formulas)
        )
        return tuple(names.values()), self._sets, self._weights, others, formulas


def _decided(
    symbols: Sequence[Symbol],
    sets: Sequence[SizeSet],
    weights: Sequence[int],
    others: Sequence[Formula],
    formulas: Sequence[Formula],
) -> Decision:
    domains = dict(zip(symbols, sets, strict=True))
    return Decision(AssumptionSet(symbols, domains, others, dict(zip(symbols, weights, strict=True))), formulas)


@lru_cache(maxsize=1024)
def _stage(
    symbols: tuple[Symbol, ...],
    sets: tuple[SizeSet, ...],
    weights: tuple[int, ...],
    others: tuple[Formula, ...],
    formulas: tuple[Formula, ...],
) -> Stage[Decision]:
    def decided() -> Decision:
        return _decided(symbols, sets, weights, others, formulas)

    return budget_stage(2 * DECIDED, decided, decided)


# Alternatives for consecutive values of a size that ask for one more each time: a loop unrolled for each length.
#
# ``N == 2 and M > 1 or N == 3 and M > 2 or N == 4 and M > 3`` is ``2 <= N <= 4 and M > N - 1``.


# Fewer alternatives are as short as they are.
_STEPS = 3


class _Step(NamedTuple):
    """One value of a size, and its requirement, in which all integers are counted from that value on."""

    size: Symbol
    value: int
    rest: Formula


def without_staircases(formula: Formula) -> Formula:
    """Return an equivalent formula with one alternative for those that differ by a size's value and as much elsewhere.

    >>> from symbcast.core.text import parse_formula
    >>> from symbcast.core.text.notation import formula_text
    >>> text = "(N == 2 and M > 1) or N == 1 or (N == 3 and M > 2) or (N == 4 and M > 3)"
    >>> formula_text(without_staircases(parse_formula(text)))
    '(N >= 2 and N <= 4 and N - 1 < M) or N == 1'
    """
    match formula:
        case AllOf(parts):
            return all_of(map(without_staircases, parts))
        case AnyOf(parts):
            return any_of(_merged(parts))
    return formula


def _merged(parts: tuple[Formula, ...]) -> Iterator[Formula]:
    steps = {part: step for part in parts if (step := _step(part)) is not None}
    alike: dict[tuple[Symbol, Formula], list[int]] = {}
    for step in steps.values():
        alike.setdefault((step.size, step.rest), []).append(step.value)
    for part in parts:
        step = steps.get(part)
        values = alike.get((step.size, step.rest), []) if step is not None else []
        if step is None or len(values) < _STEPS:
            yield part
        elif step.value == values[0]:
            yield all_of((set_formula(step.size, SizeSet.of(values)), in_normal_form(step.rest)))


def _step(part: Formula) -> _Step | None:
    """Return an alternative as a step, if it gives the value of one size and compares others with integers."""
    if not isinstance(part, AllOf):
        return None
    fixed = [(n, pair) for n, p in enumerate(part.parts) if (pair := _value(p)) is not None]
    for position, (size, value) in fixed:
        rest = all_of(p for n, p in enumerate(part.parts) if n != position)
        if size not in symbols_in(rest):
            return _Step(size, value, with_dims(rest, partial(_counted, size, value)))
    return None


def _counted(size: Symbol, value: int, dim: Dim) -> Dim:
    return add(size, dim - value) if isinstance(dim, int) else dim


def _value(formula: Formula) -> tuple[Symbol, int] | None:
    match formula:
        case Comparison("==", Symbol() as size, int(value)) | Comparison("==", int(value), Symbol() as size):
            return size, value
    return None
