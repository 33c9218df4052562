"""Concatenate, stack, split, slice and pad tensors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules import AttributeValue
from symbcast.core.structs import NamedTuple
from symbcast.operators.attributes import AxesOrAll, Ends, Places, Positive, Text, Whole
from symbcast.operators.indexing import gather, indexable
from symbcast.operators.operator import TWICE, Context, Dims, operator
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of

Joined: TypeAlias = "Callable[[Context, Sequence[Dims], int], list[Dim]]"
"""Returns the sizes that all tensors share, except on one axis."""


# An operator uses the axes up to the one along which tensors are joined.
@operator("concat", reach=lambda shapes, axis: [reach_of((axis,))] * len(shapes), of_equal_rank=True)
def concat(context: Context, shapes: Sequence[Dims], axis: Whole = 0, joined: Joined | None = None) -> Dims:
    """Return the shape of tensors concatenated along an axis; their other sizes must be equal.

    ``joined`` computes these sizes if a runtime does so differently.
    """
    place = context.axis(axis, same_rank(context, shapes))
    dims = (joined or _equal_off_axis)(context, shapes, place)
    dims[place] = add(*(s[place] for s in shapes))
    return tuple(dims)


def same_rank(context: Context, shapes: Sequence[Dims]) -> int:
    """Return the common rank of tensors; refuse different ranks."""
    context.refuse_if(not shapes, "there must be a tensor to concatenate")
    if len({len(s) for s in shapes}) > 1:
        context.refuse(f"tensors of ranks {', '.join(str(len(s)) for s in shapes)} cannot be concatenated")
    return len(shapes[0])


def off_axis_reason(place: int, axis: int, rank: int) -> str:
    """Return why the sizes of unjoined axes must be equal; a negative ``axis`` means stacking on a new axis."""
    if axis < 0:
        return "stacked tensors must have the same shape"
    return f"on axis {place} ({place - rank}), off axis {axis} along which it joins, sizes must be equal"


def _equal_off_axis(context: Context, shapes: Sequence[Dims], axis: int) -> list[Dim]:
    first = shapes[0]
    for n in range(len(first)):
        for other in shapes[1:] if n != axis else ():
            context.equal(other[n], first[n], off_axis_reason(n, axis, len(first)))
    return [next((s[n] for s in shapes if isinstance(s[n], int)), d) for n, d in enumerate(first)]


# An operator uses the axes before or after the new one.
@operator("stack", reach=lambda shapes, axis: [reach_beside_new((axis,))] * len(shapes), of_equal_rank=True)
def stack(context: Context, shapes: Sequence[Dims], axis: Whole = 0, joined: Joined | None = None) -> Dims:
    """Return the shape of tensors of the same shape, stacked along a new axis; ``joined`` is as in `concat`."""
    place = context.axis(axis, same_rank(context, shapes) + 1)
    dims = (joined or _equal_off_axis)(context, shapes, _NEW)
    return (*dims[:place], len(shapes), *dims[place:])


# Stands for an axis that the tensors do not have.
_NEW = -1


def split_evenly(context: Context, size: Dim, count: int) -> list[Dim]:
    """Return the sizes of ``count`` equal parts; nothing may remain."""
    reason = f"the size must be a multiple of {count}, the number of parts"
    context.require(equal(modulo(size, count), 0), reason)
    return [floor_divide(size, count)] * count


def split_as(context: Context, size: Dim, parts: Sequence[Dim]) -> list[Dim]:
    """Return the sizes of parts, which must add up to the whole."""
    context.are_sizes(parts, "a part must not be negative")
    context.equal(add(*parts), size, "the parts must add up to the size")
    return list(parts)


def split_rounded_up(context: Context, size: Dim, count: int) -> list[Dim]:
    """Return the sizes of ``count`` parts that are equal, except that the last may be smaller."""
    each = ceil_divide(size, count)
    last = subtract(size, multiply(each, count - 1))
    # If the axis is short, the other parts leave a negative size for the last one.
    context.at_most(0, last, f"the axis must be long enough for {count} parts")
    return [*[each] * (count - 1), last]


# Slices: a part of an axis, from a start to an end, in steps.


def cut(
    context: Context, size: Dim, part: tuple[Dim, Dim, int], *, starts_within: bool = False, sizes: Collection[Dim] = ()
) -> tuple[Dim, Dim]:
    """Return the start and the length of a part of an axis.

    Start and end are counted from the front, and clamped as in Python; a negative step goes towards the front. With
    ``starts_within``, as in ONNX, a start before the axis means its first element even for a negative step. ``sizes``
    are positions known not to be negative.
    """
    start, end, step = part
    # Backwards, a slice starts at the last element at most, and ends before the first one, at -1.
    low, high = (0, size) if step > 0 else (-1, subtract(size, 1))
    least = 0 if starts_within else low
    first = context.bounds.smaller(start if start in sizes else context.bounds.larger(start, least), high)
    last = context.bounds.smaller(end if end in sizes else context.bounds.larger(end, low), high)
    count = ceil_divide(subtract(last, first) if step > 0 else subtract(first, last), abs(step))
    # A slice that ends at the end of the axis cannot have a negative length, because its start is within the axis.
    return first, count if last == (high if step > 0 else low) else context.bounds.larger(count, 0)


def length(context: Context, size: Dim, start: Dim, end: Dim, step: Dim = 1) -> Dim:
    """Return the length of a part of an axis, from a nonnegative start to an end, as in Python slices."""
    # A start past the end of the axis gives an empty part, as does an end before the start: neither is clamped alone.
    there = subtract(context.bounds.smaller(end, size), start)
    return ceil_divide(context.bounds.larger(there, 0), step)


def from_front(context: Context, size: Dim, place: Dim) -> Dim:
    """Return a position counted from the front; a negative position counts from the end."""
    if context.bounds.is_at_least(place, 0):
        return place
    if context.bounds.is_at_most(place, -1):
        return add(place, size)
    # 1 where the position is negative, and else 0.
    is_negative = context.bounds.smaller(context.bounds.larger(multiply(-1, place), 0), 1)
    return add(place, multiply(size, is_negative))


# Add elements at the ends of axes, or remove them.


MODES = ("constant", "reflect", "edge", "wrap")
NOT_BELOW = "no more elements may be removed from an axis than it has"


class Padding(NamedTuple):
    """An axis and the number of elements added at its ends; a negative number removes elements."""

    size: Dim
    before: Dim
    after: Dim

    @property
    def padded(self) -> Dim:
        """The size of the axis with its padding."""
        return add(self.size, self.before, self.after)

    @property
    def stays(self) -> Formula:
        """The condition under which the padding adds and removes nothing."""
        return all_of([equal(self.before, 0), equal(self.after, 0)])


def pad(context: Context, paddings: Sequence[Padding], mode: str) -> Dims:
    """Return the sizes padded with one number, or with the axis's elements reflected, repeated at the edge or wrapped.

    Removed elements must exist, and so must the elements used as padding.
    """
    for padding in paddings:
        context.at_most(0, padding.padded, NOT_BELOW)
    for padding in paddings:
        if mode == "constant":
            context.at_most(0, size_after_removal(context, padding), NOT_BELOW)
        else:
            require_elements(context, any_of([padding.stays, has_elements(context, mode, padding)]), mode)
    return tuple(p.padded for p in paddings)


def size_after_removal(context: Context, padding: Padding) -> Dim:
    """Return the size of an axis after elements are removed and before any are added."""
    smaller = context.bounds.smaller
    return add(padding.size, smaller(padding.before, 0), smaller(padding.after, 0))


def has_elements(context: Context, mode: str, padding: Padding) -> Formula:
    """Return the condition that an axis has the elements that its padding repeats."""
    left = size_after_removal(context, padding)
    if mode != "reflect":
        return at_most(1, left)
    # A reflection does not repeat the edge itself, so it needs one element more than it adds.
    return all_of([at_most(add(n, 1), left) for n in dict.fromkeys((0, padding.before, padding.after))])


def require_elements(context: Context, formula: Formula, mode: str) -> None:
    """Require that an axis have the elements that its padding repeats."""
    reason = "an axis must have the elements that its padding repeats"
    if mode == "reflect":
        reason = "an axis must be longer than its padding, which reflects it"
    context.require(formula, reason)


def ends_of(
    context: Context, widths: int | tuple[int | tuple[int, int], ...], rank: int, name: str
) -> list[tuple[int, int]]:
    """Return the padding before and after each axis, given as one number, or as a number or a pair for each axis."""
    if isinstance(widths, int):
        return [(widths, widths)] * rank
    if len(widths) != rank:
        axes = "1 axis" if rank == 1 else f"{rank} axes"
        context.refuse(f"{name} has {len(widths)} entries for {axes}; write one number, or one or a pair for each axis")
    return [(e, e) if isinstance(e, int) else e for e in widths]


# The operators of programs that do not take the shape functions as they are.


def _parts_as_written(attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    """A number of parts is written as ``parts``."""
    names = {"count": "parts", "axis": "axis"}
    return {written: attributes[name] for name, written in names.items() if name in attributes}


@operator(
    "split",
    reach=lambda _, axis, count: [reach_of((axis,)), None],
    has_parts=True,
    written_attributes=_parts_as_written,
)
def split(context: Context, data: Dims, parts: Dims | None = None, axis: Whole = 0, count: Positive = 1) -> list[Dims]:
    """The parts of `numpy.split`: the second operand holds their sizes; without it, there are ``count``."""
    place = context.axis(axis, len(data))
    size = data[place]
    sizes = split_evenly(context, size, count) if parts is None else split_as(context, size, parts)
    return [(*data[:place], part, *data[place + 1 :]) for part in sizes]


def _sliced(_: Sequence[Dims], starts: Sequence[Any], axes: Sequence[int] | None, **_others: Any) -> list[Reach | None]:
    return [reach_of(range(len(starts)) if axes is None else axes), None]


@operator("slice", reach=_sliced)
def slice_operator(  # noqa: PLR0913, PLR0917 - its attributes are its own
    context: Context,
    data: Dims,
    places: Dims,
    starts: Places = (),
    stops: Places = (),
    axes: AxesOrAll = None,
    steps: AxesOrAll = None,
) -> Dims:
    """A basic slice; a position ``"#n"`` is the n-th size of the second operand."""
    dims, count = list(data), len(starts)
    sliced = context.distinct_axes(range(count) if axes is None else axes, len(dims), TWICE)
    strides = (1,) * count if steps is None else steps
    if not count == len(stops) == len(sliced) == len(strides):
        context.refuse("starts, stops, axes and steps must have the same length")
    for start, stop, axis, step in zip(starts, stops, sliced, strides, strict=True):
        context.refuse_if(step == 0, "no step may be 0")
        size = dims[axis]
        # An omitted position means the nearest end; -1 counted from the front is before the first element.
        first = _from_front(context, size, start, places, 0 if step > 0 else size)
        last = _from_front(context, size, stop, places, size if step > 0 else -1)
        dims[axis] = cut(context, size, (first, last, step), sizes=places)[1]
    return tuple(dims)


def _from_front(context: Context, size: Dim, place: int | str | None, sizes: Dims, default: Dim) -> Dim:
    if place is None:
        return default
    if isinstance(place, str):
        number = int(place[1:])
        return sizes[number] if number < len(sizes) else context.refuse(f"there is no size {place}")
    return place if place >= 0 else add(size, place)


@operator("gather", reach=lambda _, axis: [reach_of((axis,)), ANY])
def gather_operator(context: Context, data: Dims, indices: Dims, axis: Whole = 0) -> Dims:
    """`numpy.take` along an axis, for a shape of indices."""
    dims = gather(context, data, indices, axis)
    indexable(context, data, indices, axis)
    return dims


@operator(
    "pad",
    reach=lambda _, widths, mode: [None if isinstance(widths, int) else Reach(rank=len(widths))],
    choices={"mode": MODES},
)
def pad_operator(context: Context, data: Dims, widths: Ends = 0, mode: Text = "constant") -> Dims:
    """`numpy.pad`; modes that repeat elements do so once."""
    ends = ends_of(context, widths, len(data), "widths")
    return pad(context, [Padding(d, *e) for d, e in zip(data, ends, strict=True)], mode)
