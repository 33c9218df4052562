"""Where operations fail: the requirement that does not hold at some sizes, why, and the sizes that meet there."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.explanation.names import axis_text
from symbcast.core.algebra.sequences import is_sequence, sequences_of
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.characters import cut
from symbcast.core.logic.formulas import TRUE, Formula
from symbcast.core.solver.evaluation.evaluation import AxisSizes, UndefinedError, holds_at, size_at
from symbcast.core.solver.groups.normal_form import flattened

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting.constraints import Constraint
    from symbcast.core.program.operations.operation import Op

Sizes: TypeAlias = "Mapping[Symbol, int]"

_LONGEST = 60


def broken(op: Op, sizes: Sizes, clause: Formula = TRUE) -> Constraint | None:
    """Return the first requirement of an operation that does not hold at some sizes.

    A requirement that shares a conjunct with ``clause`` comes before the others.
    """
    found = [c for c in op.constraints if not holds_at(c.requirement, sizes)]
    return next((c for c in found if _says(c, clause)), next(iter(found), None))


def saying(clause: Formula, op: Op) -> Constraint | None:
    """Return the operation's requirement that equals a clause or has it as a conjunct."""
    return next((c for c in op.constraints if clause in flattened([c.requirement])), None)


def _says(constraint: Constraint, clause: Formula) -> bool:
    return not set(flattened([constraint.requirement])).isdisjoint(flattened([clause]))


def located_reason(constraint: Constraint) -> str:
    """Return why a constraint is required, with its axis from both ends if it is about one axis."""
    origin = constraint.origin
    if origin.axis is None or not origin.rank:
        return constraint.reason
    return f"on {axis_text(origin.axis, origin.rank, origin.sequence)}, {constraint.reason}"


def dims_at(dims: Iterable[Dim], sizes: Sizes) -> list[int | None]:
    """Return dimensions at some sizes; None for one that has no value there, or whose sizes are not given."""
    return [_at(d, sizes) for d in dims]


def _at(dim: Dim, sizes: Sizes) -> int | None:
    try:
        return size_at(dim, sizes)
    except (UndefinedError, ZeroDivisionError, KeyError):
        return None


def shape_at(dims: Sequence[Dim], sizes: Sizes) -> str:
    """Return a shape at some sizes as text, with ``?`` for unknown sizes: ``(1, 64, ?)``."""
    texts = ["?" if size is None else str(size) for size in axes_at(dims, sizes)]
    return cut(f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})", _LONGEST)


def axes_at(dims: Sequence[Dim], sizes: Sizes) -> list[int | None]:
    """Return a shape at some sizes: each axis of its sequence, and None for one that has no value there."""
    return dims_at([d for dim in dims for d in _sizes_of(dim, sizes)], sizes)


def _sizes_of(dim: Dim, sizes: Sizes) -> Sequence[Dim]:
    return (
        sizes.axes_of(dim) if isinstance(sizes, AxisSizes) and is_sequence(dim) and has_axes((dim,), sizes) else (dim,)
    )


def has_axes(dims: Iterable[Dim], sizes: Sizes) -> bool:
    """Return whether the axes of all sequences in some dimensions are given."""
    sequences = sequences_of(symbols_of(dims))
    return not sequences or (isinstance(sizes, AxisSizes) and sizes.axes.keys() >= set(sequences))


def without(sizes: Sizes, symbols: Container[Symbol]) -> Sizes:
    """Return the sizes without the given symbols."""
    found = {s: size for s, size in sizes.items() if s not in symbols}
    return AxisSizes(found, sizes.axes) if isinstance(sizes, AxisSizes) else found


def texts_at(dims: Iterable[Dim], sizes: Sizes) -> list[str]:
    """Return dimensions at some sizes as text, with ``?`` for unknown ones."""
    return ["?" if size is None else str(size) for size in dims_at(dims, sizes)]
