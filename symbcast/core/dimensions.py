"""Dimensions: the one place where every kind of size is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import AxisSequence, is_sequence
from symbcast.core.algebra.sizes import check_size, index_of
from symbcast.core.algebra.symbols import Unknown, told_apart
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.supplied import supplied
from symbcast.core.text import parse_dim
from symbcast.errors import DimensionError, ShapeSyntaxError, ShapeTypeError


class Reader(Protocol):
    """The reader of shapes and sizes of another framework: a module of `symbcast.adapters`."""

    def read(self, value: Any) -> tuple[Any, ...]:
        """Return a shape of the framework as a `Shape`."""

    def read_dim(self, value: Any, unknowns: int) -> Dim | None:
        """Return a size of the framework, None if it is not symbolic; ``unknowns`` numbers one without a name."""


WANTED = "a shape"
"""What is wanted where a shape is."""


def read_dims(dims: Sequence[object]) -> Sequence[Dim]:
    """Return dimensions of any accepted kind in internal form, at most one of them a sequence of axes."""
    made: list[Dim] = []
    for dim in dims:
        made.append(from_dim(dim, unknowns=len(made)))
    if sum(map(is_sequence, made)) > 1:
        raise ShapeTypeError(tuple(dims), WANTED, "a shape has one sequence of axes ('...', '*name')")
    unknowns = [s for s in symbols_of(made) if isinstance(s, Unknown)]
    return _labelled(made, unknowns) if len(unknowns) > 1 else made


def _labelled(dims: Iterable[Dim], unknowns: Sequence[Unknown]) -> Sequence[Dim]:
    """Return dimensions that were read one by one, with a label for each unknown; equal labels mean the same size."""
    spoken: dict[str, Unknown] = {}
    for u in unknowns:
        if u.is_spoken:
            bounded = spoken.setdefault(u.name, u)
            if not u.is_bounded or (bounded.lower, bounded.upper) == (u.lower, u.upper):
                continue
            if bounded.is_bounded:
                raise DimensionError(u.name, "has two different bounds", "give its bounds once")
            spoken[u.name] = u
    meant = {u: spoken[u.name] if u.is_spoken else u for u in unknowns}
    other = told_apart([*spoken.values(), *meant.values()])
    bound = {u: other.get(kept, kept) for u, kept in meant.items()}
    return [replaced(d, {u: kept for u, kept in bound.items() if u is not kept}) for d in dims]


def from_dim(value: object, unknowns: int = 0) -> Dim:
    """Return one dimension; ``unknowns`` is the number in the label of an unknown one."""
    if type(value) is int and value != -1:
        return check_size(value)
    if value is Ellipsis:
        return AxisSequence.anonymous().rest()
    if value is None or (isinstance(value, int) and value == -1 and not isinstance(value, bool)):
        return Unknown(f"?{unknowns}")
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, bool):
        raise ShapeTypeError(value, "a dimension", "write 1 or 0 if a size was meant")
    if isinstance(value, float):
        hint = f"write {int(value)}" if 0 <= value < 1e9 and value.is_integer() else "write a whole number"
        raise DimensionError(value, "a size is an integer, not a float", hint)
    return _from_object(value, unknowns)


def _from_text(value: str) -> Dim:
    try:
        return parse_dim(value)
    except ShapeSyntaxError:
        if "," in value and "->" not in value:
            raise ShapeTypeError(value, "a dimension", _SEVERAL) from None
        raise


_SEVERAL = "give several shapes as separate arguments, not in a list"


def _from_object(value: Any, unknowns: int) -> Dim:
    if type(value).__module__ == "sympy.core.symbol":
        from symbcast.core.algebra.door import from_sympy

        return from_sympy(value)
    if (load := supplied.readers.get(framework_of(value))) is not None:
        # Before `index`: torch would answer with one size for a symbolic one, and rely on it from then on.
        found: Dim | None = load().read_dim(value, unknowns)
        if found is not None:
            return found
    number = index_of(value)
    if number is not None:
        return from_dim(number, unknowns)
    if hasattr(type(value), "free_symbols"):  # looked up on the class: on the value, the search may recurse too deeply
        from symbcast.core.algebra.door import check_dim

        return check_dim(value)
    if isinstance(value, (tuple, list)):
        raise ShapeTypeError(value, "a dimension", _SEVERAL)
    raise ShapeTypeError(value, "a dimension", "write an int, a name such as 'N', a sympy expression or None")


def framework_of(value: Any) -> str:
    """Return the package that defines a value's class, without importing it."""
    return str(type(value).__module__).partition(".")[0]
