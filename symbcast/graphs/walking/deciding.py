"""Determine what decides elements: numbers, sizes or data.

A node whose condition was not analysed may fail because of its sizes, unless the elements that prevented the analysis
are proven to be data, that is, every element depends on data that can be chosen. `DATA` states exactly that; any other
decider leaves the verdict open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FORMULA_KINDS
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.graphs.values.contents import Content, Elements, Ramp, Ratio, Stack, is_size
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.numbers import FLOATS

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.graphs.values.value import Value
    from symbcast.operators.context import Dims


_ALL = tuple(map(Decider, range(len(Decider.__members__))))
_NUMBERS, _SIZES, _DATA, _ = _ALL  # looking one up in the class takes longer
_OPEN = Decider.SIZES.value


class SizesOfData(Protocol):
    """Tells which sizes data decide."""

    def is_of_data(self, size: Symbol) -> bool:
        """Return whether data are proven to decide a size."""


def joined(values: Iterable[Value | None]) -> Decider:
    """Return what decides elements that are computed from all of the given values."""
    found = 0
    for value in values:
        if value is not None:
            found |= _OPEN if value.decided_by is None else value.decided_by._value_  # numbers join faster than flags
    return _ALL[found]


def decider_of_content(content: Content | None, shape: Dims | None, sizes: SizesOfData) -> Decider | None:
    """Return what decides elements that are known exactly; None if they are not known exactly.

    ``sizes`` tells which sizes data decide.
    """
    if content is None:
        return None
    match content:
        case Elements(items):
            if None in items:
                return None
            return _of_symbols({s for item in items for s in symbols_of_element(item)}, sizes)
        case Ramp() | Stack():
            parts = content.parts if isinstance(content, Stack) else (content,)
            found = _of_symbols(set(symbols_of([d for p in parts for d in (p.start, *p.strides)])), sizes)
            if any(any(p.strides) for p in parts) and numbers_of(shape) is None:
                found |= Decider.SIZES
            return found
    return _NUMBERS if hasattr(content, "array") else None


def symbols_of_element(item: Any) -> Iterable[Symbol]:
    """Return the sizes that occur in an element."""
    if isinstance(item, int):
        return ()
    if isinstance(item, FORMULA_KINDS):
        return symbols_in(item)
    return symbols_of(item if isinstance(item, Ratio) else (item,) if is_size(item) else ())


def _of_symbols(symbols: Iterable[Symbol], sizes: SizesOfData) -> Decider:
    found = Decider.NUMBERS
    for s in symbols:
        found |= Decider.DATA if sizes.is_of_data(s) else Decider.SIZES
    return found


def decider_of_made(made_of: Sequence[Value | None], *, is_moving: bool) -> Decider:
    """Return what decides elements that are made from the elements of other values.

    ``is_moving`` says that elements are only moved, and nothing is computed.
    """
    found = joined(made_of)
    if is_moving or found is _SIZES or found is _DATA:
        return found
    if found is _NUMBERS:  # sizes decide how many times a number is repeated
        return _SIZES if any(map(_is_open, made_of)) else found
    return _DATA if any(map(_is_free, made_of)) else found


def _is_open(value: Value | None) -> bool:
    return value is not None and numbers_of(value.shape) is None


def _is_free(value: Value | None) -> bool:
    """Return whether data can give the elements any values, and so compensate for what sizes decide."""
    if value is None or value.decided_by is not _DATA:
        return False
    return value.dtype in FLOATS or value.content is None
