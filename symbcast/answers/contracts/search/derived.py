"""Boxes over free sizes, from which linear relations derive the others: ``b = 2*a``, ``total = past + seq``.

Groups of tied sizes are searched one by one. Their best boxes multiply: fix the free sizes of all groups but one in any
box over free sizes, and what is left is such a box in that group. In a group, relations are tried that equalities of
the condition give: those that must hold lose nothing, others restrict the sizes. A small group of two sizes is searched
completely, along every line ``b = p*a + q``.

A box is said to be the largest where that is proved (`_is_proved`), and otherwise not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.contracts.proof import inside_boxes
from symbcast.answers.contracts.question import WantedRanges
from symbcast.answers.contracts.search import space
from symbcast.answers.contracts.search.largest import BestBoxes, largest_boxes
from symbcast.answers.contracts.search.small_groups import MOST_LINE_POINTS, fits, grid_of, longest_line
from symbcast.answers.contracts.search.space import SearchAxis, SizeGroup
from symbcast.core.algebra.formulas import AllOf, AnyOf, Comparison, Compatible, Formula, all_of, any_of, equal, negate
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Dim, Symbol, term
from symbcast.core.effort import EffortSpentError, budget_share, stop_reason
from symbcast.core.solver.evaluation import normal_conjuncts, replace_in_formula

if TYPE_CHECKING:
    Derived: TypeAlias = dict[Symbol, Dim]
    """The sizes that others determine, each as a linear expression over the free sizes."""

# How many sets of relations are tried in a group.
_TRIED = 24
# Units of effort for all boxes.
_EFFORT = 1_500_000
# Units for whether a box has all sizes of its group that work.
_COVERED = 100_000


@dataclass(frozen=True)
class _Part:
    """A group of tied sizes as a question of its own."""

    formula: Formula
    sought: WantedRanges
    axes: Mapping[Symbol, SearchAxis]

    @property
    def typical(self) -> int:
        """How many typical sizes a box can contain at most, summed over its sizes."""
        return sum(axis.typical.bit_count() for axis in self.axes.values())


def search_derived(formula: Formula, sought: WantedRanges) -> BestBoxes:
    """Return the largest box found over free sizes, with the sizes derived from them."""
    try:
        with budget_share(_EFFORT):
            return _product(formula, sought)
    except EffortSpentError:
        return BestBoxes([], stop_reason())


def _product(formula: Formula, sought: WantedRanges) -> BestBoxes:
    """Return the product of the best boxes of all groups."""
    groups = space.space_of(formula, sought)
    if groups is None:
        return BestBoxes([])
    box: dict[Symbol, range] = {}
    derived: Derived = {}
    why = ""
    for part in _parts(sought, groups):
        best = _best_of(part)
        if not best.boxes:
            return BestBoxes([], best.open)
        box.update(best.boxes[0])
        derived.update(best.derived)
        why = why or best.open
    return BestBoxes([{s: box[s] for s in sought.ranges}], why, derived)


def _parts(sought: WantedRanges, groups: Iterable[SizeGroup]) -> Iterator[_Part]:
    """Yield the question about each group: its clauses, and which sizes clauses across groups leave."""
    for group in groups:
        ranges = {s: range(axis.low, axis.high + 1) for s, axis in group.axes.items()}
        typical = {s: sizes for s, sizes in sought.typical.items() if s in group.axes}
        members = (_member(s, axis) for s, axis in group.axes.items() if not axis.is_whole)
        yield _Part(all_of([*group.clauses, *members]), WantedRanges(ranges, typical), group.axes)


def _member(s: Symbol, axis: SearchAxis) -> Formula:
    """Return that a size is one of those left on an axis with gaps."""
    position, length, step = space.longest_progression(axis.mask)
    if axis.mask == space.progression(position, length, step):
        return inside_boxes({s: axis.sizes(position, length, step)})
    return any_of(inside_boxes({s: axis.sizes(*run)}) for run in space.runs(axis.mask))


def _best_of(part: _Part) -> BestBoxes:
    """Return the best box of a group, and why it may not be the largest."""
    if len(part.axes) == 1:
        return largest_boxes(part.formula, part.sought, "steps", 1)
    best = BestBoxes([])
    is_proved = False
    why = _RELATIONS
    try:
        for derived in _choices(part):
            candidate = _found(part, derived)
            if not derived and not candidate.boxes and not candidate.open:
                return candidate  # no sizes work
            if candidate.boxes and (not best.boxes or _score(candidate, part.sought) > _score(best, part.sought)):
                best = candidate
            is_proved = is_proved or _is_proved(part, derived, candidate)
        if not is_proved:
            best, is_proved = _best_line(part, best)
        is_proved = is_proved or _is_bound(part, best) or _is_all(part, best)
    except EffortSpentError:
        why = stop_reason()
    return BestBoxes(best.boxes, "" if is_proved else why, best.derived)


def _found(part: _Part, derived: Derived) -> BestBoxes:
    best = largest_boxes(*_reduced(part, derived), "steps", 1)
    boxes = [{**box, **{s: span(e, box) for s, e in derived.items()}} for box in best.boxes]
    return BestBoxes([{s: box[s] for s in part.axes} for box in boxes], best.open, derived)


# Which relations are tried.


def _choices(part: _Part) -> Iterator[Derived]:
    """Yield sets of relations: none, those that must hold, then one more that is assumed, and so on."""
    yield {}
    forced = list(_forced(part))
    pending, seen = [*forced, *([] if forced else [{}])], [{}, *forced]
    yield from forced
    while pending:
        known = pending.pop(0)
        for left, right in _equalities(part, known):
            for relation in _relations(equal(left, right), part.sought):
                more = _with_size(known, *relation)
                if more in seen:
                    continue
                if len(seen) > _TRIED:
                    return
                seen.append(more)
                pending.append(more)
                yield more


def _forced(part: _Part) -> Iterator[Derived]:
    """Yield the relations that must hold, once for each choice of the sizes that the first of them derives."""
    clauses = normal_conjuncts([part.formula])
    known: list[Derived] = []
    for clause in clauses:
        for relation in _relations(clause, part.sought):
            derived = _completed(part, _with_size({}, *relation))
            if derived not in known:
                known.append(derived)
                yield derived


def _completed(part: _Part, known: Derived) -> Derived:
    """Return a derivation with the further sizes that equalities determine which must hold."""
    while True:
        clauses = normal_conjuncts([replace_in_formula(part.formula, known)])
        relation = next((r for clause in clauses for r in _relations(clause, part.sought)), None)
        if relation is None:
            return known
        known = _with_size(known, *relation)


def _equalities(part: _Part, known: Derived) -> Iterator[tuple[Dim, Dim]]:
    """Yield equalities that the condition has as alternatives or in joins, then those of any two free sizes."""
    for clause in normal_conjuncts([replace_in_formula(part.formula, known)]):
        yield from _inside(clause)
    yield from combinations([s for s in part.axes if s not in known], 2)


def _inside(formula: Formula) -> Iterator[tuple[Dim, Dim]]:
    if isinstance(formula, Comparison) and formula.operator == "==":
        yield formula.left, formula.right
    elif isinstance(formula, Compatible):
        yield from combinations([d for d in formula.dims if not isinstance(d, int)], 2)
    elif isinstance(formula, AllOf | AnyOf):
        for part in formula.parts:
            yield from _inside(part)


def _relations(clause: Formula, sought: WantedRanges) -> list[tuple[Symbol, Dim]]:
    """Return the sizes of a linear equality with a factor of 1 or -1, each with its value."""
    if not isinstance(clause, Comparison) or clause.operator != "==":
        return []
    whole = term(clause.left) - term(clause.right)
    sizes = {monomial: factor for monomial, factor in whole.coefficients.items() if monomial}
    if any(len(monomial) > 1 or monomial[0] not in sought.ranges for monomial in sizes) or len(sizes) < 2:
        return []  # one size that is fixed has a range of one
    order = list(sought.ranges)
    relations: list[tuple[tuple[bool, int], tuple[Symbol, Dim]]] = []
    for (s,), factor in sizes.items():
        if factor in (1, -1) and isinstance(s, Symbol):
            value = (whole - term(s).scaled(factor)).scaled(-factor)
            # Of ``past + seq == total``, ``total`` comes first: its value has no negative factor. Then the last size.
            key = min(c for monomial, c in value.coefficients.items() if monomial) > 0, order.index(s)
            relations.append((key, (s, value.dim())))
    return [relation for _, relation in sorted(relations, key=lambda part: part[0], reverse=True)]


def _with_size(derived: Derived, s: Symbol, expression: Dim) -> Derived:
    """Return one more derived size; what is derived from it is derived from its expression."""
    put = Substitution({s: expression}, of_symbols=True).dim
    return {**{t: put(e) for t, e in derived.items()}, s: expression}


def _reduced(part: _Part, own: Derived) -> tuple[Formula, WantedRanges]:
    """Return the question about the free sizes."""
    bounds = (replace_in_formula(inside_boxes({s: part.sought.ranges[s]}), own) for s in own)
    free = {s: r for s, r in part.sought.ranges.items() if s not in own}
    typical = {s: {*sizes} for s, sizes in part.sought.typical.items() if s in free}
    for s, sizes in part.sought.typical.items():
        for t, n in _solved(own[s], sizes) if s in own else ():
            typical.setdefault(t, set()).add(n)
    return all_of([replace_in_formula(part.formula, own), *bounds]), WantedRanges(
        free, {s: tuple(sorted(n)) for s, n in typical.items()}
    )


def _solved(expression: Dim, sizes: Iterable[int]) -> Iterator[tuple[Symbol, int]]:
    """Yield the free size at which an expression has a value, if it is in one free size."""
    factors = term(expression).coefficients
    free = [(monomial[0], factor) for monomial, factor in factors.items() if monomial]
    if len(free) == 1:
        (s, factor), offset = free[0], factors.get((), 0)
        for n in sizes:
            if isinstance(s, Symbol) and (n - offset) % factor == 0 and (n - offset) // factor >= 0:
                yield s, (n - offset) // factor


def span(expression: Dim, box: Mapping[Symbol, range]) -> range:
    """Return the range that a linear expression has in a box: its values, and those between, by their common step."""
    low, high, step = 0, 0, 0
    for monomial, factor in term(expression).coefficients.items():
        sizes = range(1, 2)
        for atom in monomial:
            assert isinstance(atom, Symbol)
            sizes = box[atom]
        ends = sorted((factor * sizes[0], factor * sizes[-1]))
        low, high = low + ends[0], high + ends[1]
        step = gcd(step, factor * sizes.step) if len(sizes) > 1 else step
    return range(low, high + 1, step or 1)


def _score(best: BestBoxes, sought: WantedRanges) -> tuple[int, int, int]:
    """Return how many typical sizes and combinations a box has; fewer relations are better."""
    (box,) = best.boxes
    return _held(box, sought), _count(best), -len(best.derived)


def _held(box: Mapping[Symbol, range], sought: WantedRanges) -> int:
    return sum(n in box[s] for s, sizes in sought.typical.items() for n in sizes)


def _count(best: BestBoxes) -> int:
    """Return how many combinations of sizes a box has."""
    return prod(len(r) for s, r in best.boxes[0].items() if s not in best.derived)


# What proves that a box is the largest. In each proof, no other box has more typical sizes either.


def _is_proved(part: _Part, derived: Derived, best: BestBoxes) -> bool:
    """Return whether relations that must hold leave one free size, and its longest progression was found."""
    # All sizes that work are then on one line, and on it integers of the free size: a box over free sizes with several
    # points is a progression of these.
    is_exact = not best.open and len(part.axes) - len(derived) == 1
    return is_exact and not part.typical and derived in _forced(part)


def _best_line(part: _Part, best: BestBoxes) -> tuple[BestBoxes, bool]:
    """Return a better box on a line of a small group of two sizes, if there is one, and whether it is the largest."""
    group = SizeGroup(dict(part.axes), normal_conjuncts([part.formula]))
    if len(part.axes) != 2 or part.typical or not fits(group, MOST_LINE_POINTS):
        return best, False
    grid = grid_of(group)
    if grid is None:
        return best, False
    line = longest_line(grid, _count(best) if best.boxes else 0)
    if line is not None:
        s, t, factor, offset, sizes = line
        expression = (term(s).scaled(factor) + term(offset)).dim()
        box = {s: sizes, t: span(expression, {s: sizes})}
        best = BestBoxes([{u: box[u] for u in part.axes}], "", {t: expression})
    return best, not largest_boxes(part.formula, part.sought, "steps", 1).open


def _is_bound(part: _Part, best: BestBoxes) -> bool:
    """Return whether a box has as many points as its free sizes could have at most."""
    if not best.boxes or _held(best.boxes[0], part.sought) < part.typical:
        return False
    counts = [axis.mask.bit_count() for axis in part.axes.values()]
    # A box with relations has at most the product of all axes but one. If equalities must hold, so has one without.
    bound = prod(counts) // min(counts)
    if _count(best) < bound:
        return False
    if any(_forced(part)):
        return True
    free = largest_boxes(part.formula, part.sought, "steps", 1)
    return not free.open and (not free.boxes or _count(free) <= _count(best))


def _is_all(part: _Part, best: BestBoxes) -> bool:
    """Return whether no sizes outside a box work."""
    if not best.boxes or _held(best.boxes[0], part.sought) < part.typical:
        return False
    free = {s: r for s, r in best.boxes[0].items() if s not in best.derived}
    inside = all_of([inside_boxes(free), *(equal(s, e) for s, e in best.derived.items())])
    try:
        with budget_share(_COVERED):
            decision = space.decision_in(part.sought.ranges, [part.formula, negate(inside)])
    except EffortSpentError:
        return False
    return decision is None or decision.impossible


_RELATIONS = "other relations between the sizes may leave more of them"
