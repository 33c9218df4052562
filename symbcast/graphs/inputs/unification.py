"""Unify the shapes that a caller gives with those that a model declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.symbols import Symbol, Unknown, symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Formula, at_most, equal, with_dims
from symbcast.core.shapes import shape_of
from symbcast.errors import BindingError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.shapes import Shape

_OWN = "\0"
"""A prefix for the names of a model, to keep them apart from the caller's during unification."""


class Unifier:
    """Expresses each size that a model declares in terms of the sizes that a caller gives.

    A name of the model without a size from the caller stays, and has the same meaning in the caller's shapes.
    ``assumed`` holds the additional conditions that arise if one size of the model is given several times.
    """

    def __init__(self) -> None:
        self._found: dict[Symbol, Dim] = {}
        self.assumed: list[Formula] = []

    def put_together(self, name: str, declared: Sequence[Dim], given: Shape) -> None:
        """Unify the shape given for an input with the declared one; raises `BindingError` if it does not fit."""
        if len(given) != len(declared):
            ranks = f"rank {len(given)}, but in the model {name} has rank {len(declared)}"
            raise BindingError(f"{name} is given with {ranks}: {shape_of(declared)}")
        for axis, (own, wanted) in enumerate(zip(declared, given.dims, strict=True)):
            self._put_together(replaced(_marked(own), self._found), replaced(wanted, self._found), (name, axis))

    def _put_together(self, own: Dim, wanted: Dim, place: tuple[str, int]) -> None:
        if own == wanted:
            return
        if isinstance(own, int) and isinstance(wanted, int):
            name, axis = place
            raise BindingError(
                f"{name} is given with {wanted} on axis {axis}, but the model fixes that at {own}",
                f"give {own} there, or export the model with a dynamic axis",
            )
        if isinstance(wanted, Unknown):
            self._assume_bounds(wanted, own)
            self._replace(wanted, own)
        elif isinstance(own, Symbol) and own.name.startswith(_OWN):
            self._replace(own, wanted)
        else:
            self.assumed.append(equal(own, wanted))

    def _assume_bounds(self, unknown: Unknown, own: Dim) -> None:
        if unknown.lower:
            self.assumed.append(at_most(unknown.lower, own))
        if unknown.upper is not None:
            self.assumed.append(at_most(own, unknown.upper))

    def _replace(self, old: Symbol, new: Dim) -> None:
        self._found = {s: replaced(d, {old: new}) for s, d in self._found.items()}
        self._found[old] = new

    def shape(self, declared: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return declared sizes in terms of the remaining names."""
        return tuple(_unmarked(replaced(_marked(d), self._found)) for d in declared)

    def given(self, dims: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return the caller's sizes in terms of the remaining names."""
        return tuple(_unmarked(replaced(d, self._found)) for d in dims)

    def formulas(self) -> list[Formula]:
        """Return the additional conditions in terms of the remaining names."""
        return [with_dims(formula, lambda d: _unmarked(replaced(d, self._found))) for formula in self.assumed]


def _marked(dim: Dim) -> Dim:
    return replaced(dim, {s: symbol(_OWN + s.name) for s in symbols_of((dim,))})


def _unmarked(dim: Dim) -> Dim:
    marked = [s for s in symbols_of((dim,)) if s.name.startswith(_OWN)]
    return replaced(dim, {s: symbol(s.name.removeprefix(_OWN)) for s in marked})
