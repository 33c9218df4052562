"""Substitution of sizes for symbols."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.sequences import (
    AxisSequence,
    Rest,
    SequenceSymbol,
    axis_of,
    is_sequence,
    sequences_of,
)
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.program.sizes.given import Given, check_all_given, needed_of, read_sizes
from symbcast.core.shapes import Shape, shape_of
from symbcast.errors import BindingError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.calls.call import Call
    from symbcast.core.program.sizes.given import Sizes
    from symbcast.core.program.sizes.scope import Scope


class Bound(NamedTuple):
    """The operands at some sizes; ``shapes`` is None if a dimension is not a size there."""

    shapes: tuple[Shape, ...] | None
    sizes: dict[str, int]


def bind(result: Call, given: Sizes | None, named: Mapping[str, int]) -> Bound:
    """Return the operands of a result at the given sizes, by name or by symbol.

    Raises `BindingError` for a missing size, for an unknown name, for a value that is not a size, and for sizes that
    the assumptions exclude.
    """
    if result.is_open:
        assert result.scope is not None
        return _bind_open(result, result.scope, given, named)
    names = result.shown
    sizes = read_sizes(names, given, named)
    check_all_given([names[s] for s in symbols_of(chain.from_iterable(result.dims))], sizes, "evaluate")
    if not result.is_plain:
        _check_assumptions(result, sizes)
    return Bound(operands_at(result, sizes), sizes)


def operands_at(result: Call, sizes: Mapping[str, int]) -> tuple[Shape, ...] | None:
    """Return the operands at valid sizes by name, such as those of evidence; None if a dimension is no size there."""
    if result.is_open:
        return bind(result, sizes, {}).shapes
    if not result.is_plain:
        return _shapes(result, sizes)
    at = [[sizes[d.name] if isinstance(d, Symbol) else d for d in dims] for dims in result.dims]
    return tuple(map(shape_of, at))


def _bind_open(result: Call, scope: Scope, given: Sizes | None, named: Mapping[str, int]) -> Bound:
    """Return operands, some of unknown rank, at given sizes of the axes of their sequences and of all other symbols."""
    from symbcast.core.program.sizes.unrolling import sizes_at
    from symbcast.core.solver.evaluation.evaluation import AxisSizes, holds_at

    found = Given.read(scope.names, given, named)
    check_all_given(needed_of(scope.names), found.by_name, "evaluate")
    sizes, axes, whole = found.sizes, found.axes, found.by_name
    for sequence, there in axes.items():
        if any(size < scope.min_size for size in there):
            raise BindingError(f"{sequence.name}={there} has a size below min_size", "see min_size")
    values: dict[Any, int] = {s: sizes[name] for s, name in scope.names.items() if not isinstance(s, SequenceSymbol)}
    _check_bounds(scope, sizes)
    at = AxisSizes(values, axes)
    for assumption in result.assumptions:
        if not holds_at(assumption.formula, at):
            told = ", ".join(f"{name}={size}" for name, size in whole.items())
            raise BindingError(f"{told} contradicts the assumption {assumption.text}", "ask without assuming it")
    values.update(sizes_at(scope.names, axes))
    return Bound(_shapes_of_ranks(result, axes, values), whole)


def holds_of_axes(formula: Formula, names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int]) -> bool:
    """Return whether a formula holds at given sizes, including those of the axes of sequences.

    Raises `BindingError` if a size of the formula is missing, or a value is not a size.
    """
    from symbcast.core.solver.evaluation.evaluation import holds_at
    from symbcast.core.solver.groups.normal_form import symbols_in

    return holds_at(formula, read_needed(symbols_in(formula), names, given, named, "holds"))


def read_needed(
    needed: Collection[Symbol], names: Mapping[Symbol, str], given: Sizes | None, named: Mapping[str, int], call: str
) -> Mapping[Symbol, int]:
    """Return the given sizes by symbol; they must include those that are needed.

    A sequence of axes is given as a shape, so the result is an `AxisSizes` if there are any. Raises `BindingError`;
    ``call`` is the name of the method that takes the sizes, for the message.
    """
    from symbcast.core.solver.evaluation.evaluation import AxisSizes

    found = Given.read(names, given, named)
    asked = {s: names.get(s, s.name) for s in needed}
    check_all_given(needed_of(asked), found.by_name, call)
    sizes = {s: found.sizes[name] for s, name in names.items() if name in found.sizes}
    return AxisSizes(sizes, found.axes) if sequences_of(names) else sizes


def _shapes_of_ranks(
    result: Call, axes: Mapping[AxisSequence, tuple[int, ...]], values: Mapping[Any, int]
) -> tuple[Shape, ...] | None:
    """Return the operands for given axes of each sequence; None if a dimension is not a size there."""
    from symbcast.core.program.sizes.unrolling import sizes_at
    from symbcast.core.solver.evaluation.evaluation import UndefinedError, predicate, value_function

    symbols = tuple(values)
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, symbols)(*values.values()):
            return None

    def size(dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        found = symbols_of((dim,))
        at = {**values, **sizes_at(found, axes)}
        return value_function(dim, found)(*(at[s] for s in found))

    def sizes_in(dim: Dim) -> Iterable[int]:
        if not is_sequence(dim):
            return [size(dim)]
        rank = max(len(axes[s.sequence]) - s.place for s in symbols_of((dim,)) if isinstance(s, Rest))
        return [size(axis_of(dim, n)) for n in range(rank, 0, -1)]

    try:
        return tuple(shape_of(n for dim in operand.dims for n in sizes_in(dim)) for operand in result.operands)
    except (ZeroDivisionError, UndefinedError):
        return None


def _check_assumptions(result: Call, sizes: Mapping[str, int]) -> None:
    if result.scope is None:
        return
    from symbcast.core.solver.evaluation.evaluation import predicate
    from symbcast.core.solver.groups.normal_form import symbols_in

    names = result.scope.names
    _check_bounds(result.scope, sizes)
    for assumption in result.assumptions:
        symbols = tuple(symbols_in(assumption.formula))
        if any(names[s] not in sizes for s in symbols):
            continue
        if not predicate(assumption.formula, symbols)(*(sizes[names[s]] for s in symbols)):
            given = ", ".join(f"{names[s]}={sizes[names[s]]}" for s in symbols)
            raise BindingError(f"{given} contradicts the assumption {assumption.text}", "ask without assuming it")


def _check_bounds(scope: Scope, sizes: Mapping[str, int]) -> None:
    """Raise `BindingError` for a size outside the bounds of its symbol."""
    from symbcast.core.program.sizes.premises import own_set

    for symbol, name in scope.names.items():
        if name in sizes and sizes[name] not in own_set(symbol, scope.min_size):
            raise BindingError(f"{name}={sizes[name]} is outside the bounds of {name}", "see .assumptions and min_size")


def _shapes(result: Call, sizes: Mapping[str, int]) -> tuple[Shape, ...] | None:
    if result.scope is None:
        return result.operands
    from symbcast.core.solver.evaluation.evaluation import UndefinedError, predicate, value_function

    names = result.scope.names
    symbols = tuple(s for s in result.scope.symbols if names[s] in sizes)
    values = [sizes[names[s]] for s in symbols]
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, symbols)(*values):
            return None
    known: dict[Any, int] = dict(zip(symbols, values, strict=True))

    def size(dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        return known[dim] if dim.is_Symbol else value_function(dim, symbols)(*values)

    try:
        return tuple(shape_of(map(size, operand.dims)) for operand in result.operands)
    except (ZeroDivisionError, UndefinedError):
        return None
