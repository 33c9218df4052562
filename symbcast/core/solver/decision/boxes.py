"""A constraint that is a union of few products of sets, and what the others require in each of these.

A position table that is cropped to the size of an image, and then added to it, requires that both have as many rows:
that is so at small sizes, and at a few large ones. Elsewhere nothing has to be known of what comes after. In each of
the products of sets the other constraints are short, because the sets decide the operations in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import Comparison, Formula, all_of, any_of, clauses, dims_of, literals
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.core.solver.groups.set_products import boxes_of
from symbcast.core.solver.sets.set_formulas import describe

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.solver.groups.set_products import Box
    from symbcast.core.solver.sets.size_sets import SizeSet

_MOST = 6
"""The maximum number of products of sets in which the other constraints are decided separately."""
_LONG = 24
"""Constraints are divided only if some of them have sizes with more atoms than this."""


def divided(
    tied: Sequence[Formula],
    sets: Mapping[Symbol, SizeSet],
    required: Callable[[Mapping[Symbol, SizeSet], Sequence[Formula]], list[Formula] | None],
) -> list[Formula] | None:
    """Return constraints equivalent to the given ones, by the products of sets that one of them is the union of.

    ``required`` returns what constraints require where each symbol is in a set, None if they contradict that. None is
    returned if there is no such constraint, or if all constraints are short.
    """
    long = [symbols_in(c) for c in tied if any(not isinstance(d, int) and d.size > _LONG for d in dims_of(c))]
    for clause in tied if len(long) > 1 else ():
        symbols = symbols_in(clause)
        if not any(symbols.keys() <= other.keys() for other in long):
            continue
        boxes = _largest(boxes_of(clause, sets) or [])
        if 1 < len(boxes) <= _MOST:
            others = [c for c in tied if c is not clause]
            return _together(boxes, [required({**sets, **box}, others) for box in boxes], sets)
    return None


def _largest(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes that are in no other one."""
    found: list[Box] = []
    for n, box in enumerate(boxes):
        others = (*found, *boxes[n + 1 :])
        if not any(all(sizes <= other[s] for s, sizes in box.items()) for other in others):
            found.append(box)
    return found


def _together(
    boxes: Sequence[Box], required: Sequence[list[Formula] | None], sets: Mapping[Symbol, SizeSet]
) -> list[Formula]:
    """Return what is required in all boxes, and a disjunction of the boxes with what each of them requires besides."""
    possible = [(box, found) for box, found in zip(boxes, required, strict=True) if found is not None]
    if not possible:
        return [any_of([])]
    facts = [_Facts(found) for _, found in possible]
    common = list(dict.fromkeys(c for _, found in possible for c in found if all(f.has(c) for f in facts)))
    known = [{f.key(c) for c in common} for f in facts]
    cases = (
        all_of([*_described(box, sets), *(c for c in found if f.key(c) not in keys)])
        for (box, found), f, keys in zip(possible, facts, known, strict=True)
    )
    return [*common, any_of(cases)]


class _Facts:
    """Constraints, read with one name for all sizes that they state to be equal."""

    def __init__(self, constraints: Sequence[Formula]) -> None:
        self._names: dict[Symbol, Dim] = {}
        for constraint in constraints:
            match constraint:
                case Comparison("==", Symbol() as size, Symbol() as other) if size != other:
                    kept, gone = sorted((self._names.get(s, s) for s in (size, other)), key=str)
                    merged = {s: kept if v == gone else v for s, v in self._names.items()}
                    self._names = merged | dict.fromkeys((size, other), kept)
        self._stated = {c for c in constraints if isinstance(c, Comparison)}
        self._keys = {self.key(c) for c in constraints}

    def key(self, constraint: Formula) -> object:
        """Return the same for constraints that differ only in these names, and in the order of what they compare."""
        if constraint in self._stated:
            return constraint
        return frozenset(map(_key, literals(put_in(constraint, self._names))))

    def has(self, constraint: Formula) -> bool:
        """Return whether one of the constraints states the same."""
        return self.key(constraint) in self._keys


def _key(literal: Formula) -> object:
    """Return the same for ``a == b`` and ``b == a``."""
    match literal:
        case Comparison("==" | "!=" as operator, left, right):
            return operator, frozenset((left, right))
    return literal


def _described(box: Box, sets: Mapping[Symbol, SizeSet]) -> Iterator[Formula]:
    for symbol, sizes in box.items():
        yield from clauses(describe(symbol, sizes, sets[symbol]))
