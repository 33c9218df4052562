"""Reductions: axes become size 1 or are removed."""

from __future__ import annotations

from collections.abc import Iterable

from symbcast.core.logic.formulas import Formula, any_of, at_most
from symbcast.operators.context import Context, Dims


def reduce(context: Context, dims: Dims, axes: Iterable[int] | None, *, keepdims: bool) -> Dims:
    """Return the shape after a reduction of some axes, or of all if none are named; an axis can be named twice."""
    places = range(len(dims)) if axes is None else {context.axis(a, len(dims)) for a in axes}
    return tuple(1 if n in places else d for n, d in enumerate(dims) if keepdims or n not in places)


def search(context: Context, dims: Dims, axis: int, *, keepdims: bool, unless: Iterable[Formula] = ()) -> Dims:
    """Return the shape of ``argmax`` along an axis, which must not be empty, ``unless`` a given formula holds."""
    place = context.axis(axis, len(dims))
    if not context.bounds.is_at_least(dims[place], 1):
        context.require(any_of([at_most(1, dims[place]), *unless]), "the axis to search must not be empty")
    return reduce(context, dims, [place], keepdims=keepdims)
