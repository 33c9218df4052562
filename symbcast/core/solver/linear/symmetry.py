"""Which symbols of some formulas may be exchanged with one another: of such, sizes in ascending order suffice.

Where exchanging two symbols leaves formulas, domains and weights as they are, it turns sizes that satisfy them into
others of the same cost; of these the first in order have the lesser size first.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import Operation, Term, term
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula, dims_of
from symbcast.core.solver.groups.normal_form import put_in, symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_PLACES_AT_MOST = 20_000
"""So many places in formulas are looked at; a term that is shared often is a large tree."""
_EXCHANGED_UP_TO = 16
"""So few symbols are exchanged one by one, where their places alone do not show that they can be."""


def classes(
    symbols: Sequence[Symbol],
    formulas: Sequence[Formula],
    alike: Mapping[Symbol, Hashable],
    *,
    exchange: bool = True,
) -> list[list[Symbol]]:
    """Return the symbols in classes, each in order, whose members can be exchanged; ``alike`` must be equal too.

    Without ``exchange`` only those that stand in the same places are found, which is quick.
    """
    places = _Places(symbols)
    try:
        for formula in formulas:
            places.visit(formula)
    except OverflowError:
        return [[s] for s in symbols]
    found: dict[Hashable, list[Symbol]] = {}
    for s in symbols:
        found.setdefault((tuple(places.of[s]), alike[s]), []).append(s)
    together = list(found.values())
    if exchange and len(together) > 1 and len(symbols) <= _EXCHANGED_UP_TO:
        return _joined(together, formulas, alike)
    return together


class _Places:
    """Where each symbol stands: symbols with the same places are members of the same sums and extrema."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self.of: dict[Any, list[tuple[int, int]]] = {s: [] for s in symbols}
        self._count = 0

    def visit(self, formula: Formula) -> None:
        if isinstance(formula, (AllOf, AnyOf)):
            for part in formula.parts:
                self.visit(part)
        elif isinstance(formula, Comparison):
            self._sum(term(formula.left) - term(formula.right))
        else:
            self._members([term(d) for d in formula.dims])

    def _next(self) -> int:
        self._count += 1
        if self._count > _PLACES_AT_MOST:
            raise OverflowError
        return self._count

    def _sum(self, value: Term) -> None:
        place = self._next()
        for monomial, coefficient in value.coefficients.items():
            alone = len(monomial) == 1
            for atom in monomial:
                if isinstance(atom, Operation):
                    self._operation(atom)
                else:
                    self.of[atom].append((place, coefficient) if alone else (self._next(), 0))

    def _operation(self, operation: Operation) -> None:
        if operation.kind in ("//", "%"):
            for arg in operation.args:
                self._sum(arg)
        else:
            self._members(operation.args)

    def _members(self, members: Sequence[Term]) -> None:
        place = self._next()
        for member in members:
            (monomial, coefficient), *rest = member.coefficients.items() or [((), 0)]
            if not rest and coefficient == 1 and len(monomial) == 1 and not isinstance(monomial[0], Operation):
                self.of[monomial[0]].append((place, 0))
            else:
                self._sum(member)


def _joined(
    together: Sequence[list[Symbol]], formulas: Sequence[Formula], alike: Mapping[Symbol, Hashable]
) -> list[list[Symbol]]:
    """Join classes whose first members can be exchanged: exchanges that are next to one another make all others."""
    order = {s: n for n, s in enumerate(alike)}
    found: list[list[Symbol]] = []
    for members in together:
        for known in found:
            if alike[known[0]] == alike[members[0]] and _exchangeable(known[0], members[0], formulas):
                known.extend(members)
                break
        else:
            found.append(list(members))
    return [sorted(members, key=order.__getitem__) for members in found]


def _exchangeable(one: Symbol, other: Symbol, formulas: Sequence[Formula]) -> bool:
    touched = [f for f in formulas if not symbols_in(f).keys().isdisjoint((one, other))]
    before = {_key(f, {}) for f in touched}
    return before == {_key(f, {one: other, other: one}) for f in touched}


def _key(formula: Formula, exchanged: Mapping[Symbol, Symbol]) -> Any:
    """Return what a formula says, whichever way round it is written, with symbols exchanged."""
    if isinstance(formula, (AllOf, AnyOf)):
        return type(formula), frozenset(_key(p, exchanged) for p in formula.parts)
    changed = put_in(formula, exchanged) if exchanged else formula
    if not isinstance(changed, Comparison):
        return type(formula), frozenset(dims_of(changed))
    difference = term(changed.left) - term(changed.right)
    sides = {difference, -difference} if changed.operator in ("==", "!=") else {difference}
    return changed.operator, frozenset(sides)
