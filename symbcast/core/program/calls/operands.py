"""Operands of names and integers only, by far the most common, read by table look-ups."""

from __future__ import annotations

from typing import Any, TypeAlias

from symbcast.core.algebra.sizes import MAX_SIZE
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import Dim
from symbcast.core.shapes import Shape, shape

Dims: TypeAlias = tuple[Dim, ...]

_KEPT_AT_MOST = 8192
_texts: dict[str, Dims] = {}
_older_texts: dict[str, Dims] = {}
"""The entries of ``_texts`` from before it was last full; those still in use move back."""
_symbols: dict[Any, Symbol] = {}
"""The names that sympy symbols represent; a user's own symbols are not plain."""


def plain_dims(value: Any) -> Dims | None:
    """Return the sizes of an operand that consists of names and integers only, None for any other.

    Raises the same errors as `symbcast.shape` for values that are not shapes.

    >>> plain_dims("N, 3"), plain_dims((2, 3)), plain_dims("N + 1"), plain_dims("?")
    ((N, 3), (2, 3), None, None)
    """
    kind = type(value)
    if kind is Shape:
        return _if_plain(value.dims)
    if kind is str:
        found = _texts.get(value)
        return _read_text(value) if found is None else found
    if kind is tuple or kind is list:
        found = _looked_up(value)
        if found is not None:
            return found
    return _if_plain(shape(value).dims)


def _if_plain(dims: Dims) -> Dims | None:
    for dim in dims:
        kind = type(dim)
        if kind is not int and kind is not Symbol:
            return None
    return dims


def _read_text(text: str) -> Dims | None:
    global _texts, _older_texts
    found = _older_texts.get(text)
    if found is None:
        found = _if_plain(shape(text).dims)
    if found is not None:
        if len(_texts) >= _KEPT_AT_MOST:
            _texts, _older_texts = {}, _texts
        _texts[text] = found
    return found


def _looked_up(sizes: tuple[Any, ...] | list[Any]) -> Dims | None:
    """Return the sizes of integers and known sympy symbols; None if there is anything else to read."""
    found: list[Dim] = []
    for size in sizes:
        # By type: ``True == 1``, but it is not a size.
        if type(size) is int:
            if not 0 <= size <= MAX_SIZE:
                return None
            found.append(size)
        else:
            name = _symbols.get(size) if type(size).__name__ == "Symbol" else None
            if name is None and (name := _learnt(size)) is None:
                return None
            found.append(name)
    return tuple(found)


def _learnt(size: Any) -> Symbol | None:
    """Return the name that a sympy symbol represents, None for a user's own symbol or anything else."""
    if type(size).__module__ != "sympy.core.symbol":
        return None
    found = shape((size,)).dims[0]
    if type(found) is not Symbol:
        return None
    if len(_symbols) >= _KEPT_AT_MOST:
        _symbols.clear()
    _symbols[size] = found
    return found
