"""The same elements in another shape: reshapes, and axes inserted, removed, reordered or repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.bounds import exact_quotient, reduced_fraction
from symbcast.core.algebra.formulas import at_most, different, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.placement import sequence_place
from symbcast.operators.attributes import Axes, AxesOrAll, Order, Others, Whole, Wholes
from symbcast.operators.operator import TWICE, Context, Dims, operator
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of

Inferred: TypeAlias = "Callable[[Context, Dims, Sequence[Dim]], Dim]"
"""Returns the size for -1 in the new shape of some data, from the other given sizes."""

SAME_NUMBER = "the number of elements must stay the same"
NO_ZERO = "no size may be 0 next to a -1"


def reshape(context: Context, data: Dims, target: Sequence[Dim | None], inferred: Inferred | None = None) -> Dims:
    """Return the target shape with its None, at most one, inferred; require the same number of elements.

    None stands for -1. ``inferred`` computes its size if a runtime does so differently.
    """
    sizes = [d for d in target if d is not None]
    context.refuse_if(len(sizes) < len(target) - 1, "at most one size may be -1")
    if len(sizes) < len(target):
        worked_out = (inferred or infer_size)(context, data, sizes)
        return tuple(worked_out if d is None else d for d in target)
    # A quotient of 1 says that the products are equal only where nothing is divided by 0.
    quotient = exact_quotient(data, tuple(sizes)) if context.is_positive(sizes) else None
    if quotient != 1:
        left, right = _without_common(context, data, sizes)
        context.equal(multiply(*left), multiply(*right), SAME_NUMBER)
    return tuple(sizes)


def reshape_beside(context: Context, data: Dims, target: Sequence[Dim | None], sequence: Dim) -> Dims:
    """Return the target shape if data and target share a sequence of axes, whose product is unknown."""
    place = target.index(sequence)
    before, beside = data.index(sequence), [*target[:place], *target[place + 1 :]]
    others = (*data[:before], *data[before + 1 :])
    sizes = [d for d in beside if d is not None]
    # To infer a size next to the sequence, its axes must not be 0; nothing else is required of them. If no size is
    # inferred, the other sizes must have equal products at all sizes, because it is unknown whether the sequence is
    # empty.
    if len(sizes) < len(beside):
        context.require(different(sequence, 0), NO_ZERO)
    elif multiply(*others) != multiply(*sizes):
        context.refuse("the number of elements must be the same at all sizes, or one size must be -1")
    output = reshape(context, others, beside)
    return (*output[:place], sequence, *output[place:])


def infer_size(context: Context, data: Dims, sizes: Sequence[Dim]) -> Dim:
    """Return the size for -1 next to the given sizes, which must not be 0."""
    # Next to a size of 0, any inferred size would fit.
    empty = context.empty(sizes)
    context.refuse_if(context.is_known(empty), NO_ZERO)
    context.require(negate(empty), NO_ZERO)
    return whole_quotient(context, data, sizes)


def whole_quotient(context: Context, data: Sequence[Dim], divisors: Sequence[Dim]) -> Dim:
    """Return the quotient of two products; require that it be an integer. No divisor may be 0."""
    quotient = exact_quotient(tuple(data), tuple(divisors))
    if quotient is not None:
        return quotient
    above, below = reduced_fraction(tuple(data), tuple(divisors))
    context.require(equal(modulo(above, below), 0), "the size at -1 must be a whole number")
    return floor_divide(above, below)


def _without_common(context: Context, left: Iterable[Dim], right: Iterable[Dim]) -> tuple[list[Dim], list[Dim]]:
    """Return the factors of two products after removing common factors that are not 0."""
    above, below = list(left), []
    for factor in right:
        # A common factor that may be 0 stays: both products are equal there, whatever the other factors are.
        if factor in above and context.bounds.is_at_least(factor, 1):
            above.remove(factor)
        else:
            below.append(factor)
    return above, below


def copied_size(context: Context, data: Dims, axis: int) -> Dim:
    """Return the size that a 0 in the target copies from the data; refuse an axis that the data lack."""
    context.refuse_if(axis >= len(data), f"a 0 on axis {axis} copies a size, but the data have only rank {len(data)}")
    return data[axis]


def copied_where_zero(context: Context, size: Dim, data: Dims, axis: int) -> Dim:
    """Return a size of the target, or the data's if it is 0: size + (1 - min(size, 1)) * kept."""
    if axis >= len(data):
        context.require(at_most(1, size), "a 0 copies a size from the data, which have no such axis")
        return size
    if data[axis] == size:
        return size
    # 1 where the size is 0, and else 0.
    is_zero = subtract(1, context.bounds.smaller(size, 1))
    return add(size, multiply(is_zero, data[axis]))


def flatten(dims: Dims, start: int, stop: int) -> Dims:
    """Return a shape with the axes from ``start`` to ``stop`` (exclusive) merged into one.

    >>> flatten((2, 3, 4), 1, 3), flatten((2, 3), 0, 0)
    ((2, 12), (1, 2, 3))
    """
    return (*dims[:start], multiply(*dims[start:stop]), *dims[stop:])


# The same elements with axes inserted, removed, reordered or repeated.


def transpose(context: Context, dims: Dims, order: Sequence[int] | None) -> Dims:
    """Return the sizes with their axes reordered; reversed if no order is given."""
    if order is None:
        return dims[::-1]
    if sorted(order) != list(range(len(dims))):
        context.refuse(f"the order {list(order)} must name each of the {len(dims)} axes once")
    return tuple(dims[n] for n in order)


def undecided_axes(context: Context, dims: Dims, axes: Iterable[int]) -> list[int]:
    """Return the axes of which the sizes decide whether they are 1."""
    return [n for n in axes if not isinstance(dims[n], int) and not context.bounds.is_at_least(dims[n], 2)]


def squeeze(context: Context, dims: Dims, axes: Iterable[int]) -> Dims:
    """Return the sizes without some axes, which must be 1; an axis may be named twice."""
    places = {context.axis(a, len(dims)) for a in axes}
    for place in sorted(places):
        context.equal(dims[place], 1, f"axis {place} must be 1 to be removed")
    return tuple(d for n, d in enumerate(dims) if n not in places)


# An operator uses the axes before the last new one counted from the front, and after the first counted from the end.
@operator("unsqueeze", reach=lambda _, axes: [reach_beside_new(axes)])
def unsqueeze(context: Context, data: Dims, axes: Axes = ()) -> Dims:
    """Return the sizes with axes of size 1 inserted, at their positions in the output."""
    dims = list(data)
    for place in new_axes(context, len(data), axes):
        dims.insert(place, 1)
    return tuple(dims)


def new_axes(context: Context, rank: int, axes: Sequence[int]) -> list[int]:
    """Return the positions of inserted axes, counted from the front of the output, in order."""
    return sorted(context.distinct_axes(axes, rank + len(axes), "no axis may be inserted twice"))


def expand(context: Context, dims: Dims, target: Dims, *, both_ways: bool = False) -> Dims:
    """Return the target to which the sizes are broadcast; with ``both_ways``, the target is broadcast to them too."""
    if both_ways:
        return context.broadcast(dims, target, rule="bidirectional")
    context.broadcast(dims, target, rule="unidirectional")
    return target


def tile(context: Context, dims: Dims, repeats: Sequence[Dim]) -> Dims:
    """Return the sizes, each multiplied by its axis's number of repeats."""
    if len(repeats) != len(dims):
        context.refuse(f"repeats must have {len(dims)} numbers, one for each axis, but has {len(repeats)}")
    return tuple(multiply(d, n) for d, n in zip(dims, repeats, strict=True))


def aligned_at_right(dims: Dims, repeats: Dims) -> tuple[Dims, Dims]:
    """Return sizes and repeats, the shorter of the two with 1 in front."""
    rank = max(len(dims), len(repeats))
    return (*(1,) * (rank - len(dims)), *dims), (*(1,) * (rank - len(repeats)), *repeats)


def depth_to_space(context: Context, dims: Dims, block: int) -> Dims:
    """Return the sizes ``(N, C, H, W)`` with blocks of channels moved into space."""
    n, c, h, w = dims
    context.require(equal(modulo(c, block * block), 0), f"the channels must be a multiple of {block * block}")
    return n, floor_divide(c, block * block), multiply(h, block), multiply(w, block)


def space_to_depth(context: Context, dims: Dims, block: int) -> Dims:
    """Return the sizes ``(N, C, H, W)`` with blocks of space moved into channels."""
    n, c, h, w = dims
    for size, what in ((h, "height"), (w, "width")):
        context.require(equal(modulo(size, block), 0), f"the {what} must be a multiple of {block}")
    return n, multiply(c, block * block), floor_divide(h, block), floor_divide(w, block)


# The operators of programs that do not take the shape functions as they are.


def _target_as_written(
    shapes: Sequence[Sequence[Any]], inferred: Sequence[int] | None, copied: Sequence[int]
) -> Sequence[Sequence[Any]]:
    """Return data and target, with -1 for an inferred size and 0 for a copied one."""
    data, target = shapes
    written = dict.fromkeys(copied, 0) | dict.fromkeys(inferred or (), -1)
    return data, [written.get(n, written.get(n - len(target), d)) for n, d in enumerate(target)]


@operator(
    "reshape",
    reach=[ANY, ANY],  # a sequence of axes is passed on unchanged from the data to the target
    written_attributes=lambda attributes: {"zero_copies": True} if "copied" in attributes else {},
    written_operands=_target_as_written,
)
def reshape_operator(
    context: Context, data: Dims, target: Dims, inferred: AxesOrAll = None, copied: Wholes = ()
) -> Dims:
    """`numpy.reshape`: the second operand is the target, with 1 in place of each inferred or copied size."""
    sizes: list[Dim | None] = [*target]
    for axis in copied:
        sizes[context.axis(axis, len(sizes))] = copied_size(context, data, axis)
    for axis in inferred or ():
        sizes[context.axis(axis, len(sizes))] = None
    place, target_place = sequence_place(data), sequence_place(target)
    if place is None and target_place is None:
        return reshape(context, data, sizes)
    if place is None or target_place is None or data[place] != target[target_place]:
        context.refuse("takes axes of unknown number only if data and target have the same sequence of them")
    if copied and place != target_place:
        context.refuse("copies sizes only if data and target have their sequence of axes in the same place")
    return reshape_beside(context, data, sizes, data[place])


def _merged(_: Sequence[Dims], start: int, end: int) -> list[Reach | None]:
    """The merged axes, if both ends are counted from the same side; a scalar counts as one axis of size 1."""
    if (start < 0) is not (end < 0):
        return [None]
    reach = reach_of((start, end))
    return [reach._replace(least=0) if reach.last == 1 else reach]


@operator("flatten", reach=_merged)
def flatten_operator(context: Context, data: Dims, start: Whole = 0, end: Whole = -1) -> Dims:
    """The axes from ``start`` to ``end``, both included, merged into one."""
    dims = data or (1,)
    first, last = context.axis(start, len(dims)), context.axis(end, len(dims))
    context.refuse_if(first > last, f"start={start} must not come after end={end}")
    return flatten(dims, first, last + 1)


def _ordered(_: Sequence[Dims], order: Sequence[int | Others] | None) -> list[Reach | None]:
    """All axes, as listed in the order; with an ellipsis, only the named ones."""
    if order is None:
        return [None]
    named = [a for a in order if isinstance(a, int)]
    return [Reach(rank=len(named)) if len(named) == len(order) else reach_of(named)]


@operator("transpose", reach=_ordered)
def transpose_operator(context: Context, data: Dims, order: Order = None) -> Dims:
    """`numpy.transpose`."""
    if order is None:
        return transpose(context, data, None)
    named = {context.axis(a, len(data)) for a in order if isinstance(a, int)}
    others = [n for n in range(len(data)) if n not in named]
    places: list[int] = []
    for axis in order:
        places += [context.axis(axis, len(data))] if isinstance(axis, int) else others
    return transpose(context, data, places)


@operator("squeeze", reach=lambda _, axes: [None if axes is None else reach_of(axes)])
def squeeze_operator(context: Context, data: Dims, axes: AxesOrAll = None) -> Dims:
    """`numpy.squeeze` with named axes."""
    if axes is not None:
        return squeeze(context, data, context.distinct_axes(axes, len(data), TWICE))
    undecided = undecided_axes(context, data, range(len(data)))
    if undecided:
        context.refuse(f"whether axis {undecided[0]} is 1 depends on the sizes: name the axes to remove")
    return squeeze(context, data, [n for n, d in enumerate(data) if d == 1])


@operator("expand", reach=[ANY, ANY])  # the broadcast aligns the axes
def expand_operator(context: Context, data: Dims, target: Dims) -> Dims:
    """`numpy.broadcast_to`."""
    if len(data) > len(target) and sequence_place(data) is sequence_place(target) is None:
        context.refuse(f"the target, of rank {len(target)}, must have at least the {len(data)} axes of the data")
    return expand(context, data, target)


# Of the data, the operator uses as many of the last axes as there are repeats; missing axes count as size 1.
@operator("tile", reach=lambda shapes: [Reach(last=len(shapes[1]), least=0), None])
def tile_operator(context: Context, data: Dims, repeats: Dims) -> Dims:
    """`numpy.tile`: shapes are aligned at the right."""
    return tile(context, *aligned_at_right(data, repeats))
