"""Evaluate formulas and dimensions at every point of a grid of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.broadcasting.outputs import members_of
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.solver.evaluation.evaluation import UndefinedError, join_sizes, predicate, value_function
from symbcast.core.solver.groups.normal_form import put_in, symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting import OutputDim
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.solver.sets.size_sets import SizeSet

Values = Sequence[Sequence[Any]]
"""One row for each size of the second symbol; rows, and values in them, that are alike are one object."""


@dataclass(frozen=True)
class Grid:
    """The points of a grid: the sizes of one or two symbols, and the sizes of all other symbols there.

    ``axes`` maps the symbols that vary to their sizes, ``fixed`` holds those that do not vary, and ``following`` those
    whose sizes the others determine.
    """

    axes: Mapping[Symbol, tuple[int, ...]]
    fixed: Mapping[Symbol, int]
    following: Mapping[Symbol, Dim] = field(default_factory=dict)

    @cached_property
    def _sizes(self) -> list[tuple[int, ...]]:
        return [*self.axes.values(), (0,)][:2]

    @property
    def width(self) -> int:
        """The number of sizes of the first symbol."""
        return len(self._sizes[0])

    @property
    def height(self) -> int:
        """The number of sizes of the second symbol; 1 if there is none."""
        return len(self._sizes[1])

    def values(self, symbols: Iterable[Symbol], compiled: Callable[[tuple[Symbol, ...]], Callable[..., Any]]) -> Values:
        """Evaluate a function of some symbols at every point; it is called once for each combination of their sizes.

        ``compiled`` returns the function for the symbols in a given order; points without a value get None.
        """
        used = dict.fromkeys(symbols)
        varying = [a for a in self.axes if a in used]
        still = [s for s in used if s not in self.axes]
        function, rest = compiled((*varying, *still)), [self.fixed[s] for s in still]
        across, along = self._sizes
        if len(varying) == 2:
            return [[_value(function, x, y, *rest) for x in across] for y in along]
        if not varying:
            return [[_value(function, *rest)] * self.width] * self.height
        if varying[0] == next(iter(self.axes)):
            return [[_value(function, x, *rest) for x in across]] * self.height
        return [[_value(function, y, *rest)] * self.width for y in along]

    def where(self, formula: Formula) -> Values:
        """Return, for every point, whether a formula holds."""
        formula = put_in(formula, self.following) if self.following else formula
        return self.values(symbols_in(formula), lambda order: predicate(formula, order))

    def allowed(self, s: Symbol, min_size: int) -> Values:
        """Return, for every point, whether the symbol's own bounds allow its size."""
        members = own_set(s, min_size)
        if s not in self.following:
            return self.values([s], partial(_membership, members))
        return [[size is not None and size in members for size in row] for row in self.sizes(self.following[s])]

    def sizes(self, dim: OutputDim) -> Values:
        """Return the size of an output axis at every point; None where it has no size."""
        given = dict.fromkeys(members_of(dim))
        members = tuple(replaced(d, self.following) for d in given) if self.following else tuple(given)
        return self.values(symbols_of(members), lambda order: _join_function(members, order))


def _membership(members: SizeSet, _: tuple[Symbol, ...]) -> Callable[[int], bool]:
    return members.__contains__


def _value(function: Callable[..., Any], *sizes: int) -> Any:
    try:
        return function(*sizes)
    except (ZeroDivisionError, UndefinedError):
        return None


def _join_function(members: Sequence[Dim], order: tuple[Symbol, ...]) -> Callable[..., int]:
    functions = [value_function(d, order) for d in members]
    if len(functions) == 1:
        return functions[0]
    return lambda *sizes: join_sizes(*(function(*sizes) for function in functions))
