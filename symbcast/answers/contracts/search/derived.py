"""Boxes over free sizes, from which linear relations derive the others: ``b = 2*a``, ``total = past + seq``.

An equality of the condition derives one of its sizes. One that must hold loses nothing; one of several alternatives is
assumed where that gives a larger set. The rest is a box whose sizes may advance in steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import gcd, prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.contracts.proof import within
from symbcast.answers.contracts.search.largest import Found, search
from symbcast.answers.contracts.wanted import Wanted
from symbcast.core.algebra.arithmetic import replacing
from symbcast.core.algebra.terms import Symbol, symbols_of, term
from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import AnyOf, Comparison, Formula, all_of
from symbcast.core.solver.budget import reason, share
from symbcast.core.solver.groups.normal_form import flattened, put_in

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

    Derived: TypeAlias = dict[Symbol, Dim]
    """The sizes that others determine, each as a linear expression over the free sizes."""

_ASSUMED = 8
"""How many equalities that are alternatives are assumed, each instead of the others."""
_EFFORT = 1_500_000
"""Units of effort for all boxes."""


def search_derived(formula: Formula, wanted: Wanted) -> Found:
    """Return the largest box found over free sizes, with the sizes derived from them."""
    best: Found | None = None
    try:
        with share(_EFFORT):
            for found in _candidates(formula, wanted):
                if best is None or _score(found, wanted) > _score(best, wanted):
                    best = found
    except EffortSpentError:
        best = Found([], reason()) if best is None else replace(best, open=best.open or reason())
    assert best is not None
    return best


def _candidates(formula: Formula, wanted: Wanted) -> Iterator[Found]:
    """Yield the best box for each choice of relations: those that must hold, then one alternative more."""
    forced = _derive(formula, {}, wanted)
    first = _found(formula, forced, wanted)
    assumed: dict[tuple[tuple[Symbol, Dim], ...], Derived] = {}
    for clause in flattened([put_in(formula, forced)]):
        for part in clause.parts if isinstance(clause, AnyOf) else ():
            relation = _relation(part, wanted)
            if relation is not None:
                more = _derive(formula, _with_size(forced, *relation), wanted)
                assumed.setdefault(tuple(more.items()), more)
    yield replace(first, open=first.open or _ALTERNATIVES) if assumed else first
    for more in list(assumed.values())[:_ASSUMED]:
        found = _found(formula, more, wanted)
        yield replace(found, open=found.open or _ALTERNATIVES)


def _found(formula: Formula, derived: Derived, wanted: Wanted) -> Found:
    found = search(*_reduced(formula, derived, wanted), "steps", 1)
    boxes = [{**box, **{s: span(e, box) for s, e in derived.items()}} for box in found.boxes]
    several = any(len(symbols_of([e])) > 1 for e in derived.values())
    return Found([{s: box[s] for s in wanted.ranges} for box in boxes], found.open or _CHOICES * several, derived)


def _with_size(derived: Derived, s: Symbol, expression: Dim) -> Derived:
    """Return one more derived size; what is derived from it is derived from its expression."""
    put = replacing({s: expression})
    return {**{t: put(e) for t, e in derived.items()}, s: expression}


def _derive(formula: Formula, known: Derived, wanted: Wanted) -> Derived:
    """Return a derivation with the sizes that equalities determine which must hold."""
    fixed = {s: r[0] for s, r in wanted.ranges.items() if len(r) == 1}
    while True:
        clauses = flattened([put_in(put_in(formula, known), fixed)])
        found = next((r for clause in clauses if (r := _relation(clause, wanted)) is not None), None)
        if found is None:
            return known
        known = _with_size(known, *found)


def _relation(clause: Formula, wanted: Wanted) -> tuple[Symbol, Dim] | None:
    """Return a size of a linear equality with a factor of 1 or -1, and its value; None if there is none.

    The last one whose value has no negative factor is preferred: of ``past + seq == total``, that is ``total``.
    """
    if not isinstance(clause, Comparison) or clause.operator != "==":
        return None
    whole = term(clause.left) - term(clause.right)
    sizes = {monomial: factor for monomial, factor in whole.coefficients.items() if monomial}
    if any(len(monomial) > 1 or monomial[0] not in wanted.ranges for monomial in sizes) or len(sizes) < 2:
        return None  # one size that is fixed has a range of one
    order = list(wanted.ranges)
    best: tuple[tuple[bool, int], Symbol, Dim] | None = None
    for (s,), factor in sizes.items():
        if factor in (1, -1) and isinstance(s, Symbol):
            value = (whole - term(s).scaled(factor)).scaled(-factor)
            key = min(c for monomial, c in value.coefficients.items() if monomial) > 0, order.index(s)
            best = (key, s, value.dim()) if best is None or key > best[0] else best
    return None if best is None else best[1:]


def _reduced(formula: Formula, own: Derived, wanted: Wanted) -> tuple[Formula, Wanted]:
    """Return the question about the free sizes."""
    bounds = (put_in(within({s: wanted.ranges[s]}), own) for s in own)
    free = {s: r for s, r in wanted.ranges.items() if s not in own}
    typical = {s: {*sizes} for s, sizes in wanted.typical.items() if s in free}
    for s, sizes in wanted.typical.items():
        for t, n in _solved(own[s], sizes) if s in own else ():
            typical.setdefault(t, set()).add(n)
    return all_of([put_in(formula, own), *bounds]), Wanted(free, {s: tuple(sorted(n)) for s, n in typical.items()})


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


def _score(found: Found, wanted: Wanted) -> tuple[int, int, int]:
    """Return how many typical sizes and combinations a box has; fewer relations are better."""
    if not found.boxes:
        return -1, 0, 0
    (box,) = found.boxes
    held = sum(n in box[s] for s, sizes in wanted.typical.items() for n in sizes)
    return held, prod(len(r) for s, r in box.items() if s not in found.derived), -len(found.derived)


_ALTERNATIVES = "not every choice of equalities among alternatives was tried"
_CHOICES = "other sizes may be derived instead"
