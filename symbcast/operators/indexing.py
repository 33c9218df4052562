"""Elements taken out by index, or put in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def gather(context: Context, data: Dims, indices: Dims, axis: int) -> Dims:
    """Return the shape of slices taken along an axis: the indices' shape in its stead."""
    place = context.axis(axis, len(data))
    return (*data[:place], *indices, *data[place + 1 :])


def within(  # noqa: PLR0913 - indices, and what they must be within
    context: Context, low: Dim, high: Dim, size: Dim, shape: Iterable[Dim], *, from_end: bool = True
) -> None:
    """Require that indices of a shape, from ``low`` to ``high``, be within an axis: ``-size <= low``, ``high < size``.

    Where there is no index nothing is required. Unless indices below 0 count ``from_end``, ``0 <= low`` is required.
    """
    reason = "indices must be within the axis that they index"
    empty = [equal(d, 0) for d in shape if not context.bounds.is_at_least(d, 1)]
    least = multiply(-1, size) if from_end else 0
    for left, right in ((least, low), (add(high, 1), size)):
        if not context.bounds.is_at_most(left, right):
            context.require(any_of([*empty, at_most(left, right)]), reason)


def meet(  # noqa: PLR0913 - indices, and what they must be within
    context: Context,
    low: Dim | None,
    high: Dim | None,
    size: Dim,
    shape: Iterable[Dim] | None,
    *,
    from_end: bool = True,
) -> None:
    """Require that some index from ``low`` to ``high`` be within an axis, where there are indices: one that is must be.

    Indices below 0 are within it only where they count ``from_end``.

    This is what is certain of indices of which no more is known; None stands for no bound.
    """
    if shape is None:
        return
    empty = context.empty(shape)
    needs = [at_most(1, size)] if not context.bounds.is_at_least(size, 1) else []
    needs += (
        [at_most(add(low, 1), size)] if low is not None and not context.bounds.is_at_most(add(low, 1), size) else []
    )
    least = multiply(-1, size) if from_end else 0
    if high is not None and not context.bounds.is_at_most(least, high):
        needs.append(at_most(least, high))
    for need in needs:
        context.require(any_of([empty, need]), "an index must be within the axis that it indexes")


def indexable(context: Context, data: Dims, indices: Dims, axis: int) -> None:
    """Require that there be something to index, where an index is looked at.

    NumPy looks at each index once for each place on the axes before the one that is indexed.
    """
    place = context.axis(axis, len(data))
    within(context, 0, 0, data[place], (*data[:place], *indices))


def gather_elements(context: Context, data: Dims, indices: Dims, axis: int) -> Dims:
    """Return the shape of the indices, each of which takes one element; off the axis there are no more than data."""
    if len(data) != len(indices):
        context.refuse(f"data and indices must have one rank, and have {len(data)} and {len(indices)}")
    _not_beyond(context, data, indices, axis)
    return indices


def scatter_elements(context: Context, data: Dims, indices: Dims, updates: Dims, axis: int) -> Dims:
    """Return the shape of the data; indices and updates have one shape, and do not go beyond it off the axis."""
    if not len(data) == len(indices) == len(updates):
        context.refuse("data, indices and updates must have one rank")
    for taken, put in zip(indices, updates, strict=True):
        context.equal(taken, put, "indices and updates must have one shape")
    _not_beyond(context, data, indices, axis)
    return data


def _not_beyond(context: Context, data: Dims, indices: Dims, axis: int) -> None:
    place = context.axis(axis, len(data))
    for n, (size, taken) in enumerate(zip(data, indices, strict=True)):
        if n != place:
            context.at_most(taken, size, "off the axis, indices must not go beyond the data")


Batches: TypeAlias = "Callable[[Context, Dims, Dims, Dims], None]"
"""Requires that a batch of data go side by side with the axes of indices, each of which takes a slice of a shape."""


def same_batches(context: Context, batches: Dims, slices: Dims, _: Dims) -> None:
    """Require that the first sizes of the indices be those of the batch."""
    for left, right in zip(batches, slices, strict=False):
        context.equal(left, right, f"the first {len(batches)} sizes, of the batch, must be equal")


def gather_nd(  # noqa: PLR0913, PLR0917 - two shapes, and how they are read
    context: Context, data: Dims, indices: Dims, length: int, batch: int = 0, batches: Batches = same_batches
) -> Dims:
    """Return the shape of slices, each at an index of ``length`` numbers; the first ``batch`` axes go side by side.

    ``batches`` requires that they do, in the way of a runtime.
    """
    if not indices or not data or not 0 <= batch < min(len(data), len(indices)):
        context.refuse("data and indices must have more axes than batch_dims, which must not be negative")
    if length > len(data) - batch:
        context.refuse(f"indices of {length} numbers are too long for data of rank {len(data)}")
    taken = data[batch + length :]
    batches(context, data[:batch], indices[:-1], taken)
    return (*indices[:-1], *taken)


def scatter_nd(context: Context, data: Dims, indices: Dims, updates: Dims, length: int) -> Dims:
    """Return the shape of the data; updates have the shape of what indices of ``length`` numbers select."""
    if not indices or length > len(data):
        context.refuse(f"indices of {length} numbers are too long for data of rank {len(data)}")
    wanted = (*indices[:-1], *data[length:])
    if len(updates) != len(wanted):
        context.refuse(f"updates must have rank {len(wanted)}, and have {len(updates)}")
    for found, size in zip(updates, wanted, strict=True):
        context.equal(found, size, "updates must have the shape of what the indices select")
    return data
