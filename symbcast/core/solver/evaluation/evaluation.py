"""Dimensions and formulas evaluated at sizes without compiling them: for those that are asked about once or twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import replacing
from symbcast.core.algebra.sequences import AxisSequence, Rank, Rest, SequenceSymbol, axis_of
from symbcast.core.algebra.terms import Atom, Kind, Operation, Term, symbols_of, term
from symbcast.core.logic.formulas import (
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    clauses,
    dims_of,
    with_dims,
)
from symbcast.core.logic.formulas import holds as holds_of_sizes
from symbcast.core.solver.evaluation.compiler import UndefinedError, join_sizes

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_OPERATIONS: dict[Kind, Callable[..., int]] = {
    "//": lambda dividend, divisor: dividend // divisor,
    "%": lambda dividend, divisor: dividend % divisor,
    "min": min,
    "max": max,
    "join": join_sizes,
}


class AxisSizes(dict[Any, int]):
    """Sizes by symbol, and the sizes of the axes of sequences, of which other symbols speak."""

    def __init__(self, sizes: Mapping[Any, int], axes: Mapping[AxisSequence, Sequence[int]]) -> None:
        super().__init__(sizes)
        self.axes = axes

    def __missing__(self, s: Any) -> int:
        if not isinstance(s, SequenceSymbol) or s.sequence not in self.axes:
            raise KeyError(s)
        found = self.axes[s.sequence]
        if isinstance(s, Rank):
            return len(found)
        # Of all axes before some, the last one.
        place = s.place + 1 if isinstance(s, Rest) else s.place
        return found[-place] if place <= len(found) else 1

    def instances(self, formula: Formula) -> Iterator[Formula]:
        """Yield what a formula asks of each axis that is there; a formula about no such axes as it is."""
        rests = {
            s for dim in dims_of(formula) if not isinstance(dim, int) for s in dim.symbols() if isinstance(s, Rest)
        }
        if not rests:
            yield formula
            return
        for n in range(1, max(len(self.axes[s.sequence]) - s.place for s in rests) + 1):
            yield with_dims(formula, replacing({s: s.sequence.axis(s.place + n) for s in rests}))

    def axes_of(self, dim: Dim) -> list[Dim]:
        """Return a sequence axis by axis, each as a size by itself, which may have no value here."""
        rank = max(len(self.axes[s.sequence]) - s.place for s in symbols_of((dim,)) if isinstance(s, Rest))
        return [axis_of(dim, n) for n in range(rank, 0, -1)]


def holds_at(formula: Formula, sizes: Mapping[Any, int]) -> bool:
    """Return whether the formula holds at some sizes; a comparison in which something has no value does not.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> holds_at(Comparison("<=", 2, N), {N: 3})
    True
    """
    if isinstance(sizes, AxisSizes):
        # Each conjunct by itself: where a sequence has no axes, what another says still counts.
        return all(_holds_at(f, sizes) for clause in clauses(formula) for f in sizes.instances(clause))
    return _holds_at(formula, sizes)


def _holds_at(formula: Formula, sizes: Mapping[Any, int]) -> bool:
    match formula:
        case AllOf(parts):
            return all(holds_at(p, sizes) for p in parts)
        case AnyOf(parts):
            return any(holds_at(p, sizes) for p in parts)
    try:
        return _holds(formula, sizes)
    except (ZeroDivisionError, UndefinedError):
        return False


def _holds(formula: Comparison | Compatible | Clashing, sizes: Mapping[Any, int]) -> bool:
    if isinstance(formula, Comparison):
        left, right = size_at(formula.left, sizes), size_at(formula.right, sizes)
        return holds_of_sizes(Comparison(formula.operator, left, right))
    return holds_of_sizes(type(formula)(tuple(size_at(d, sizes) for d in formula.dims)))


def size_at(dim: Dim, sizes: Mapping[Any, int]) -> int:
    """Return a dimension's value; raise `ZeroDivisionError` or `UndefinedError` where it has none."""
    if isinstance(dim, int):
        return dim
    return sizes[dim] if dim.is_Symbol else _value(term(dim), sizes, {})


def value_at(dim: Dim, sizes: Mapping[Any, int]) -> int | None:
    """Return a dimension's value; None where it has none."""
    try:
        return size_at(dim, sizes)
    except (ZeroDivisionError, UndefinedError):
        return None


def _value(value: Term, sizes: Mapping[Any, int], known: dict[Atom, int]) -> int:
    """Return a term's value; ``known`` are those of the operations that were worked out."""
    total = 0
    for monomial, coefficient in value.coefficients.items():
        product = coefficient
        for atom in monomial:
            product *= _operated(atom, sizes, known) if isinstance(atom, Operation) else sizes[atom]
        total += product
    return total


def _operated(operation: Operation, sizes: Mapping[Any, int], known: dict[Atom, int]) -> int:
    if operation not in known:
        known[operation] = _OPERATIONS[operation.kind](*(_value(arg, sizes, known) for arg in operation.args))
    return known[operation]
