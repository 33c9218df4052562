"""Operators that lay elements out anew: broadcasts, reshapes, slices, padding, joins, iotas."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply, subtract
from symbcast.core.algebra.formulas import Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim, Operation, term
from symbcast.core.text.notation import dim_text
from symbcast.graphs.walking.gathering_and_slicing import SliceBounds, slice_value
from symbcast.graphs.walking.reshaping import concatenated, content_reshaped, reordered
from symbcast.operators.operator import Dims
from symbcast.operators.reshaping import reshape
from symbcast.operators.values.contents import MAX_ELEMENTS, Content, Elements, IndexRamp, listed
from symbcast.operators.values.tensors import stretched, with_axes
from symbcast.operators.values.value import EVERY, FIRST, Decider, Value
from symbcast.stablehlo.graph import HINTED, BroadcastAxis, HloCall, operator
from symbcast.stablehlo.mlir import tensor_type_of


@operator("broadcast_in_dim", constraints="C5", elements=FIRST)
def broadcast_in_dim(call: HloCall) -> Value:
    """The operand's axes are those of the result that the attribute names; each is 1 or the result's size."""
    places = call.integers("broadcast_dimensions") or []
    sizes = dict(zip(places, call.shape(0), strict=True))
    static = call.type_of(0).sizes or ()
    target = tuple(_dynamic_size(call, n, sizes.get(n)) if size is None else size for n, size in enumerate(static))
    return _broadcast(call, places, target)


def _dynamic_size(call: HloCall, axis: int, size: Dim | None) -> Dim:
    """Return a size that the result's type leaves open: the operand's, unless that may be stretched."""
    if size is not None and call.bounds.is_at_least(size, 2):
        return size
    return call.fresh(f"size_{axis}", f"axis {axis} of the result")


@operator("dynamic_broadcast_in_dim", constraints="C5 C7", elements=FIRST)
def dynamic_broadcast_in_dim(call: HloCall) -> Value:
    """What ``broadcast_in_dim`` does, to a shape that an operand holds."""
    places = call.integers("broadcast_dimensions") or []
    target = call.requested_sizes(1)
    # Only the walk for hints records them: a node that leaves a record has no twin to take its outputs over.
    if call.asker.runtime == HINTED:
        _record(call, places, target)
    return _broadcast(call, places, target)


def _record(call: HloCall, places: Sequence[int], target: Dims) -> None:
    """Record the axes that a dynamic broadcast may stretch."""
    hints = {n: h for h in ("expanding", "nonexpanding") for n in call.integers(f"known_{h}_dimensions") or []}
    for axis, (place, size) in enumerate(zip(places, call.shape(0), strict=True)):
        call.own_walk.stretches[call.place.name, axis] = BroadcastAxis(size, target[place], hints.get(axis, ""))


def _broadcast(call: HloCall, places: Sequence[int], target: Dims) -> Value:
    dims = call.shape(0)
    for axis, (place, size) in enumerate(zip(places, dims, strict=True)):
        result = target[place]
        if size not in (1, result):
            reason = (
                f"axis {axis} of the operand must be 1 or {dim_text(result)}, the size of axis {place} of the result"
            )
            call.require(any_of([equal(size, 1), _same_size(size, result)]), reason)
    return call.output(target, _placed(call.value(0), places, target))


def _same_size(size: Dim, result: Dim) -> Formula:
    """Return that a size is another one; if that is a maximum of it and others, that none of these is larger."""
    if isinstance(result, Operation) and result.kind == "max" and term(size) in result.args:
        return all_of(at_most(other.dim(), size) for other in result.args if other != term(size))
    return equal(size, result)


def _placed(data: Value, places: Sequence[int], target: Dims) -> Content | None:
    """Return the content of a value whose axes become some axes of a shape, in order."""
    if data.content is None or sorted(places) != list(places):
        return None
    new = [n for n in range(len(target)) if n not in places]
    sizes = dict(zip(places, data.shape or (), strict=True))
    spread = tuple(sizes.get(n, 1) for n in range(len(target)))
    return stretched(Value(spread, data.dtype, with_axes(data.content, new, len(target))), target)


@operator("broadcast")
def broadcast(call: HloCall) -> Value:
    """New first axes of the sizes in the attribute."""
    return call.output((*(call.integers("broadcast_sizes") or ()), *call.shape(0)))


# Reshapes.


@operator("reshape", constraints="C2", elements=FIRST)
def reshape_(call: HloCall) -> Value:
    """The elements in the shape of the result's type, which has as many."""
    return _reshaped(call, call.declared(0) or ())


@operator("dynamic_reshape", constraints="C2 C4", elements=FIRST)
def dynamic_reshape(call: HloCall) -> Value:
    """The elements in a shape that an operand holds, which has as many."""
    return _reshaped(call, call.requested_sizes(1))


def _reshaped(call: HloCall, target: Dims) -> Value:
    shape = reshape(call, call.shape(0), target)
    return call.output(shape, content_reshaped(call.value(0), shape))


@operator("bitcast_convert", constraints="C1")
def bitcast_convert(call: HloCall) -> Value:
    """The bits of elements in elements of another width: the last axis appears or vanishes, if the widths differ."""
    dims, rank = call.shape(0), len(call.type_of(0).sizes or ())
    before, after = call.width(call.node.raw.operands[0]), call.width(call.node.raw.results[0])
    if before < after:
        call.equal(dims[-1], after // before, "the last axis must make up one element of the result")
    return call.output((*dims, before // after) if before > after else dims[:rank])


@operator("transpose", constraints="C3", elements=FIRST)
def transpose_(call: HloCall) -> Value:
    """The axes in another order."""
    return reordered(call, call.integers("permutation") or [])


# Slices.


@operator("slice", constraints="C3 C5", elements=FIRST)
def slice_(call: HloCall) -> Value:
    """A part of each axis, from a start to a limit within it, in steps."""
    starts, limits, strides = (call.integers(f"{n}") or [] for n in ("start_indices", "limit_indices", "strides"))
    return _cut(call, starts, limits, strides)


@operator("real_dynamic_slice", elements=FIRST)
def real_dynamic_slice(call: HloCall) -> Value:
    """What ``slice`` does, with operands for starts, limits and strides."""
    starts, limits, strides = (call.places(n, len(call.shape(0))) for n in (1, 2, 3))
    return _cut(call, starts, limits, strides)


def _cut(
    call: HloCall, starts: Sequence[Dim | None], limits: Sequence[Dim | None], strides: Sequence[Dim | None]
) -> Value:
    dims = call.shape(0)
    sizes: list[Dim] = []
    for axis, (size, start, limit, stride) in enumerate(zip(dims, starts, limits, strides, strict=True)):
        if start is None or limit is None or stride is None:
            call.note_data(f"the part of axis {axis} must be within it", 1, 2, 3)
            sizes.append(call.fresh(f"size_{axis}", f"axis {axis} of the part", by=[1, 2, 3], most=size))
            continue
        call.is_size(start, "a start must not be negative")
        call.at_most(start, limit, "a start must be at most the limit")
        call.at_most(limit, size, f"the limit must be at most the size of axis {axis}")
        call.at_most(1, stride, "a stride must be at least 1")
        sizes.append(ceil_divide(subtract(limit, start), stride))
    steps = [s for s in strides if isinstance(s, int)]
    content = None
    if len(steps) == len(dims) and call.value(0).content is not None:
        content = slice_value(call, call.value(0), SliceBounds(starts, limits, None, steps)).content
    return call.output(tuple(sizes), content)


@operator("dynamic_slice", constraints="C4 C5", elements=FIRST)
def dynamic_slice(call: HloCall) -> Value:
    """A part of each axis of the size in the attribute; starts are moved so that it lies within the axis."""
    data, sizes = call.value(0), call.integers("slice_sizes") or []
    for axis, (size, whole) in enumerate(zip(sizes, call.shape(0), strict=True)):
        call.at_most(size, whole, f"the slice must be at most as long as axis {axis}")
    return call.output(tuple(sizes), _sliced(call, data, sizes))


def _sliced(call: HloCall, data: Value, sizes: Sequence[int]) -> Content | None:
    """Return the listed elements of a part of a tensor of one axis."""
    items = listed(data.content, data.shape) if len(sizes) == 1 else None
    first = None if items is None else _start(call, 1, len(items) - sizes[0])
    return None if items is None or first is None else Elements(items[first : first + sizes[0]])


def _start(call: HloCall, position: int, last: int) -> int | None:
    """Return where a part begins on the one axis of a tensor: at most at ``last``; None if that is not known."""
    numbers = call.numbers(position)
    if last <= 0:
        return 0
    return max(0, min(numbers[0], last)) if numbers else None


@operator("dynamic_update_slice", constraints="C1 C6", elements=EVERY)
def dynamic_update_slice(call: HloCall) -> Value:
    """The operand with a part replaced, which is at most as long on each axis."""
    dims = call.shape(0)
    for axis, (size, whole) in enumerate(zip(call.shape(1), dims, strict=True)):
        call.at_most(size, whole, f"the update must be at most as long as axis {axis}")
    return call.output(dims, _updated(call))


def _updated(call: HloCall) -> Content | None:
    """Return the listed elements of a tensor of one axis, with a part replaced."""
    items, part = (call.elements(n) if len(call.shape(n)) == 1 else None for n in (0, 1))
    if items is None or part is None or len(part) > len(items):
        return None
    first = _start(call, 2, len(items) - len(part))
    return None if first is None else Elements((*items[:first], *part, *items[first + len(part) :]))


@operator("reverse", constraints="C1", elements=FIRST)
def reverse(call: HloCall) -> Value:
    """The elements in the other order along some axes."""
    dims, axes = call.shape(0), call.integers("dimensions") or []
    return call.output(dims, _reversed(call, dims, axes))


def _reversed(call: HloCall, dims: Dims, axes: Sequence[int]) -> Content | None:
    content = call.value(0).content
    if isinstance(content, IndexRamp):
        last = [multiply(content.strides[n], subtract(dims[n], 1)) for n in axes]
        strides = (multiply(-1, s) if n in axes else s for n, s in enumerate(content.strides))
        return IndexRamp(add(content.start, *last), tuple(strides))
    items = call.elements(0) if len(dims) == 1 else None
    return None if items is None else Elements(items[::-1] if axes else items)


# Padding and joins.


@operator("pad", constraints="C4", elements=EVERY)
def pad(call: HloCall) -> Value:
    """Elements added before, after and between those of an axis; negative numbers remove them at the ends."""
    return _padded(
        call, *(call.integers(n) or [] for n in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    )


@operator("dynamic_pad", constraints="C2 C3 C4", elements=EVERY)
def dynamic_pad(call: HloCall) -> Value:
    """What ``pad`` does, with operands for the numbers."""
    return _padded(call, *(call.places(n, len(call.shape(0))) for n in (2, 3, 4)))


def _padded(call: HloCall, low: Sequence[Dim | None], high: Sequence[Dim | None], inner: Sequence[Dim | None]) -> Value:
    sizes: list[Dim] = []
    for axis, (size, before, after, between) in enumerate(zip(call.shape(0), low, high, inner, strict=True)):
        if before is None or after is None or between is None:
            call.note_data(f"the padding of axis {axis}", 2, 3, 4)
            sizes.append(call.fresh(f"size_{axis}", f"axis {axis} of the result", by=[2, 3, 4]))
            continue
        call.at_most(0, between, "padding between elements must not be negative")
        # An axis has one gap less than elements, and an empty one has none.
        gaps = multiply(call.bounds.larger(subtract(size, 1), 0), between)
        length = add(size, before, after, gaps)
        call.is_size(length, f"axis {axis} must have as many elements as the padding removes")
        sizes.append(length)
    return call.output(tuple(sizes), _filled_up(call, low, high, inner))


def _filled_up(
    call: HloCall, low: Sequence[Dim | None], high: Sequence[Dim | None], inner: Sequence[Dim | None]
) -> Content | None:
    """Return the listed elements of a tensor of one axis to which elements are added, then cut off, at its ends."""
    items, added = (call.elements(n) for n in (0, 1))
    if items is None or not added or len(low) != 1 or inner[0] != 0:
        return None
    before, after = low[0], high[0]
    if not isinstance(before, int) or not isinstance(after, int) or max(before, after) > MAX_ELEMENTS:
        return None
    filled = (*added * max(0, before), *items, *added * max(0, after))
    return Elements(filled[max(0, -before) : max(0, len(filled) + min(0, after))])


@operator("concatenate", constraints="C2 C6", elements=EVERY)
def concatenate(call: HloCall) -> Value:
    """Tensors joined along an axis; their other sizes are equal."""
    return concatenated(call, call.integer("dimension"))


# Sizes and numbers along axes.


@operator("iota", elements=Decider.SIZES)
def iota(call: HloCall) -> Value:
    """Numbers that count along an axis, in the shape of the result's type."""
    return _counting(call, call.declared(0) or ())


@operator("dynamic_iota", constraints="C2", elements=Decider.SIZES)
def dynamic_iota(call: HloCall) -> Value:
    """Numbers that count along an axis, in a shape that an operand holds."""
    return _counting(call, call.requested_sizes(0))


def _counting(call: HloCall, dims: Dims) -> Value:
    axis = call.integer("iota_dimension")
    return call.output(dims, IndexRamp(0, tuple(int(n == axis) for n in range(len(dims)))))


@operator("get_dimension_size", elements=Decider.SIZES)
def get_dimension_size(call: HloCall) -> Value:
    """The size of an axis."""
    return call.output((), Elements((call.shape(0)[call.integer("dimension")],)))


@operator("set_dimension_size")
def set_dimension_size(call: HloCall) -> Value:
    """The operand with another size on an axis, at most the bound of its type, or its own size."""
    axis, dims, sizes = call.integer("dimension"), call.shape(0), call.sizes(1)
    kind = tensor_type_of(call.node.raw.operands[0].type)
    bound = None if kind is None else kind.bounds[axis]
    most = dims[axis] if bound is None else bound
    size = sizes[0] if sizes else call.fresh("size", f"the size of axis {axis}", by=[1], most=most)
    call.is_size(size, "a size must not be negative")
    call.at_most(size, most, f"the new size must be at most that of axis {axis}, or its bound")
    return call.output((*dims[:axis], size, *dims[axis + 1 :]))
