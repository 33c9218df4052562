"""Operations of a program that occurred before: recognised by what the caller wrote, without reading it again.

A model repeats its layers, so nearly every operation of a long program is one that the program already has. Its
requirements are then among the earlier ones, and its output changes only if more is known about its sizes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.shapes import OpenShape, Shape, shape
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symbcast.core.broadcasting import OutputDim
    from symbcast.core.program.operations.operation import Op

Key: TypeAlias = "tuple[Hashable, ...]"
"""An operation as it was written: what is called with which attributes, then the operands.

Equal keys mean the same operation everywhere in one program, and equal first parts the same operator in all programs.
"""


class Repeatable(NamedTuple):
    """An operation of a program, its output axes before facts simplify them, and the state that its output is for."""

    op: Op
    columns: Sequence[OutputDim]
    state: int


def key_of(kind: Hashable, attributes: Mapping[str, Any], shapes: Iterable[Any]) -> Key | None:
    """Return the key of an operation; None if one of its parts has none.

    Types are part of a key: ``(True, 3) == (1, 3)``, but the first is not a shape.

    >>> key_of("transpose", {"order": (1, 0)}, ["N, 3"]), key_of("reduce", {"axes": object()}, ["N"])
    ((('transpose', 'order', (1, 0)), 'N, 3'), None)
    """
    called: list[Hashable] = [kind]
    for name, value in attributes.items():
        frozen = value if type(value) in _EXACT else _frozen(value)
        if frozen is _NO_KEY:
            return None
        called += (name, frozen)
    found: list[Hashable] = [tuple(called)]
    for given in shapes:
        own = type(given)
        if own is str:
            found.append(given)
        elif own is Shape or own is OpenShape:
            found.append(given.raw)
        else:
            frozen = _frozen(given)
            if frozen is _NO_KEY:
                try:
                    # The present sizes of the object, which may change.
                    frozen = shape(given).raw
                except SymbcastError:
                    return None  # whoever reads it next reports the error
            found.append((own, frozen))
    return tuple(found)


def is_repeatable(read: Shape, given: object) -> bool:
    """Return whether an operand means the same each time that it is read: it makes no unknown sizes or sequences."""
    return isinstance(given, Shape) or not any(isinstance(s, _MADE_ANEW) for s in symbols_of(read.dims))


_MADE_ANEW = (Unknown, SequenceSymbol)
_NO_KEY = object()
_EXACT = frozenset({int, str, NoneType, EllipsisType})
"""Types whose values are equal to no value of another of them."""
_OTHERS = frozenset({bool, float})


def _frozen(value: Any) -> Hashable:
    """Return the key of an attribute or a tuple of sizes."""
    own = type(value)
    if own in _EXACT:
        frozen: Hashable = value
        return frozen
    if own in _OTHERS:
        return own, value
    if own is tuple or own is list:
        if _EXACT.issuperset(map(type, value)):
            return tuple(value)
        parts = tuple([_frozen(part) for part in value])
        return _NO_KEY if _NO_KEY in parts else parts
    if own.__module__ == "sympy.core.symbol" and own.__name__ == "Symbol":
        return own, value
    return _NO_KEY
