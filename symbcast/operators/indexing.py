"""Read or write elements by index or by rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.formulas import FALSE, Formula, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.operators.attributes import Natural, Whole
from symbcast.operators.operator import Context, Dims, operator
from symbcast.operators.reach import ANY, reach_beside_new, reach_of


def gather(context: Context, data: Dims, indices: Dims, axis: int, batch: int = 0) -> Dims:
    """Return the shape of slices along an axis; the shape of the indices replaces the axis.

    The first ``batch`` axes of data and indices must be equal, and occur once in the output.
    """
    place = context.axis(axis, len(data))
    if not 0 <= batch <= min(place, len(indices)):
        context.refuse("batch_dims must not exceed the axis, nor the rank of the indices")
    same_batches(context, data[:batch], indices, ())
    return (*data[:place], *indices[batch:], *data[place + 1 :])


def scatter(context: Context, data: Dims, indices: Dims, updates: Dims, axis: int) -> Dims:
    """Return the shape of the data after some slices are replaced; updates have the shape of these slices."""
    _same_as_selected(context, updates, gather(context, data, indices, axis))
    return data


def index(context: Context, data: Dims, indices: Sequence[Dims | None]) -> Dims:
    """Return the shape of elements selected by index arrays, one for each of the first axes; None keeps an axis.

    Indices are broadcast. Their axes replace the indexed axes, or come first if these are not adjacent.
    """
    context.refuse_if(len(indices) > len(data), f"there can be at most one index for each of the {len(data)} axes")
    places = [n for n, shape in enumerate(indices) if shape is not None]
    shapes = [shape for shape in indices if shape is not None]
    joined = context.broadcast(*shapes) if len(shapes) > 1 else shapes[0]
    for place in places:
        meet(context, None, None, data[place], joined)
    others = [d for n, d in enumerate(data) if n not in places]
    # As in NumPy: the axes of indices come first if the indexed axes are not adjacent.
    is_together = places[-1] - places[0] == len(places) - 1
    first = places[0] if is_together else 0
    return (*others[:first], *joined, *others[first:])


def within(  # noqa: PLR0913 - indices, and what they must be within
    context: Context, low: Dim, high: Dim, size: Dim, shape: Iterable[Dim], *, from_end: bool = True
) -> None:
    """Require that indices of a shape, from ``low`` to ``high``, be within an axis: ``-size <= low``, ``high < size``.

    Nothing is required if there are no indices. Unless negative indices count ``from_end``, ``0 <= low`` is required.
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
    """Require that an axis contain at least one index from ``low`` to ``high``, if there are indices.

    Negative indices are valid only if they count ``from_end``. None means no bound.
    """
    # This is all that is certainly required if nothing else is known about the indices: data can choose one within.
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
    """Require that the axis have elements to index if any index is used."""
    place = context.axis(axis, len(data))
    # NumPy uses each index once for each position on the axes before the indexed one: none if one of these is empty.
    within(context, 0, 0, data[place], (*data[:place], *indices))


def gather_elements(  # noqa: PLR0913 - two shapes, and how they fit
    context: Context, data: Dims, indices: Dims, axis: int, *, unless: Formula = FALSE, is_equal: bool = False
) -> Dims:
    """Return the shape of the indices, one element each; on the other axes they must not exceed the data.

    With ``is_equal``, their sizes must equal those of the data there. Nothing is required where ``unless`` holds.
    """
    place = context.axis(axis, len(data))
    if is_equal and len(data) == len(indices):
        for n, (size, taken) in enumerate(zip(data, indices, strict=True)):
            if n != place:
                context.equal(size, taken, "off the axis, data and indices must have the same sizes")
        return indices
    not_beyond(context, indices, data, "the data", place=place, unless=unless)
    return indices


def scatter_elements(context: Context, data: Dims, indices: Dims, updates: Dims, axis: int) -> Dims:
    """Return the shape of the data; indices and updates have equal shapes, at most the data's on the other axes."""
    context.same_shape(updates, indices, "indices and updates must have the same shape")
    not_beyond(context, indices, data, "the data", place=context.axis(axis, len(data)))
    return data


def not_beyond(  # noqa: PLR0913 - two shapes, and how they fit
    context: Context, indices: Dims, data: Dims, what: str, *, place: int | None = None, unless: Formula = FALSE
) -> None:
    """Require indices to be no larger than the data on every axis except one, ``unless`` a formula holds."""
    if len(data) != len(indices):
        if unless == FALSE:
            context.refuse(f"{what} and indices must have the same rank, but have {len(data)} and {len(indices)}")
        context.require(unless, f"{what} and indices must have the same rank")
        return
    for n, (size, taken) in enumerate(zip(data, indices, strict=True)):
        if n != place and not context.bounds.is_at_most(taken, size):
            reason = f"{'off the axis, ' if place is not None else ''}indices must not go beyond {what}"
            context.require(any_of([unless, at_most(taken, size)]), reason)


Batches: TypeAlias = "Callable[[Context, Dims, Dims, Dims], None]"
"""Requires that the batch axes of data and indices match; each index takes a slice of the given shape."""


def same_batches(context: Context, batches: Dims, slices: Dims, _: Dims) -> None:
    """Require that the first sizes of the indices equal the batch sizes."""
    for left, right in zip(batches, slices, strict=False):
        context.equal(left, right, f"the first {len(batches)} sizes, which are the batch, must be equal")


def gather_nd(  # noqa: PLR0913, PLR0917 - two shapes, and how they are read
    context: Context, data: Dims, indices: Dims, length: int, batch: int = 0, batches: Batches = same_batches
) -> Dims:
    """Return the shape of slices, each at an index of ``length`` numbers; the first ``batch`` axes are shared.

    ``batches`` is the runtime's requirement that these axes match.
    """
    if not indices or not data or not 0 <= batch < min(len(data), len(indices)):
        context.refuse("batch_dims must not be negative, and must be less than the ranks of data and indices")
    if length > len(data) - batch:
        context.refuse(f"indices of {length} numbers are too long for data of rank {len(data)}")
    taken = data[batch + length :]
    batches(context, data[:batch], indices[:-1], taken)
    return (*indices[:-1], *taken)


def scatter_nd(context: Context, data: Dims, indices: Dims, updates: Dims, length: int) -> Dims:
    """Return the shape of the data; updates have the shape that indices of ``length`` numbers select."""
    if not indices or length > len(data):
        context.refuse(f"indices of {length} numbers are too long for data of rank {len(data)}")
    _same_as_selected(context, updates, (*indices[:-1], *data[length:]))
    return data


def _same_as_selected(context: Context, updates: Dims, selected: Dims) -> None:
    context.refuse_if(len(updates) != len(selected), f"updates must have rank {len(selected)}, but have {len(updates)}")
    context.same_shape(updates, selected, "updates must have the shape that the indices select")


# Elements selected by rank, and classes along a new axis.


def top_k(context: Context, dims: Dims, axis: int, count: Dim) -> Dims:
    """Return the shape of the ``count`` greatest elements along an axis, which must have at least that many."""
    place = context.axis(axis, len(dims))
    context.at_most(count, dims[place], f"the count must be at most the size of axis {place}")
    context.is_size(count, "k must not be negative")
    return (*dims[:place], count, *dims[place + 1 :])


def one_hot(context: Context, dims: Dims, axis: int, depth: Dim, *, least: int = 1) -> Dims:
    """Return the shape with a new axis for at least ``least`` classes."""
    place = context.axis(axis, len(dims) + 1)
    if least:
        context.at_most(least, depth, "there must be at least one class")
    else:
        context.is_size(depth, "the number of classes must not be negative")
    return (*dims[:place], depth, *dims[place:])


# The operators of programs.


@operator("gather_elements")
def gather_elements_operator(context: Context, data: Dims, indices: Dims, axis: Whole = 0) -> Dims:
    """`torch.gather`: one element of the data per index."""
    dims = gather_elements(context, data, indices, axis)
    within(context, 0, 0, data[context.axis(axis, len(data))], indices)
    return dims


@operator("gather_nd")
def gather_nd_operator(context: Context, data: Dims, indices: Dims, batch_axes: Natural = 0) -> Dims:
    """Slices of the data; the last axis of the indices holds the components of each index."""
    length = index_length(context, indices)
    dims = gather_nd(context, data, indices, length, batch_axes)
    for size in data[batch_axes : batch_axes + length]:
        within(context, 0, 0, size, indices[:-1])
    return dims


@operator("scatter")
def scatter_operator(context: Context, data: Dims, indices: Dims, updates: Dims, axis: Whole = 0) -> Dims:
    """The data with slices along an axis replaced by updates; these have the shape that `numpy.take` returns."""
    indexable(context, data, indices, axis)
    return scatter(context, data, indices, updates, axis)


@operator("scatter_elements")
def scatter_elements_operator(context: Context, data: Dims, indices: Dims, updates: Dims, axis: Whole = 0) -> Dims:
    """`torch.scatter`, with updates of the same shape as the indices."""
    dims = scatter_elements(context, data, indices, updates, axis)
    within(context, 0, 0, data[context.axis(axis, len(data))], indices)
    return dims


@operator("scatter_nd")
def scatter_nd_operator(context: Context, data: Dims, indices: Dims, updates: Dims) -> Dims:
    """The data with slices replaced; the last axis of the indices holds the components of each index."""
    length = index_length(context, indices)
    dims = scatter_nd(context, data, indices, updates, length)
    for size in data[:length]:
        within(context, 0, 0, size, indices[:-1])
    return dims


def index_length(context: Context, indices: Dims) -> int:
    """Return the number of components of an index, which must not depend on the sizes."""
    context.refuse_if(not indices, "indices must have an axis for the components of each index")
    length = indices[-1]
    return length if isinstance(length, int) else context.refuse("the last size of the indices must be a number")


@operator("top_k", reach=lambda _, axis: [reach_of((axis,)), None])
def top_k_operator(context: Context, data: Dims, count: Dims, axis: Whole = -1) -> Dims:
    """The greatest elements along an axis; the second operand is their number."""
    (number,) = count
    return top_k(context, data, axis, number)


# An operator uses the axes before the new one, or after it.
@operator("one_hot", reach=lambda _, axis: [ANY if axis == -1 else reach_beside_new((axis,)), None])
def one_hot_operator(context: Context, data: Dims, depth: Dims, axis: Whole = -1) -> Dims:
    """A new axis for classes; the second operand is the number of classes."""
    (classes,) = depth
    return one_hot(context, data, axis, classes, least=0)
