"""Operators that give the same elements another shape or order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING

from symbcast.formulas import at_most, different, equal
from symbcast.onnx.call import Call
from symbcast.onnx.contents import Content, Element, Elements, Ramp, Stack, as_ramp, is_size, listed
from symbcast.onnx.operators.making import asked_shape
from symbcast.onnx.registry import operator
from symbcast.onnx.sizes import add, exact_quotient, floor_divide, modulo, multiply, product, subtract
from symbcast.onnx.values import Dims, Value

if TYPE_CHECKING:
    from symbcast.dims import Dim


@operator("Reshape")
def reshape(call: Call) -> Value:
    """The elements in another shape of as many; a 0 keeps the size of its axis, and one -1 is worked out."""
    if call.version < 5:
        wanted: Sequence[Element] = call.integers("shape") or []
    else:
        held = call.elements(1)
        if held is None:
            return _reshape_to_data(call)
        wanted = held
    dims = _dims_wanted(call, wanted, None if call.integer("allowzero") else call.value(0).shape)
    data = call.value(0)
    if data.shape is None:
        shape = tuple(
            call.fresh(f"size_{n}", f"axis {n}, of elements not known") if d is None else d for n, d in enumerate(dims)
        )
        return Value(shape, data.dtype)
    shape = _counted(call, data.shape, dims)
    return Value(shape, data.dtype, _reshaped(data, shape))


def _reshape_to_data(call: Call) -> Value:
    """A reshape to a shape that data decide: the sizes are new ones, as many elements as there are."""
    shape = asked_shape(call, 1) if call.value(1).shape is not None else call.give_up("the shape is data")
    if call.value(0).shape is not None:
        call.note("the shape that it makes is data: where it holds a 0 or -1 was not followed")
    return Value(shape, call.dtype())


def _dims_wanted(call: Call, wanted: Sequence[Element], data: Dims | None) -> list[Dim | None]:
    """Return the sizes that are asked for; None for the one that is to be worked out."""
    dims: list[Dim | None] = []
    for axis, item in enumerate(wanted):
        if isinstance(item, int) and item in (-1, 0):
            dims.append(None if item else _kept(call, data, axis))
        elif not is_size(item):
            dims.append(call.fresh(f"size_{axis}", f"element {axis} of the shape that is asked for", least=1))
        elif call.bounds.is_at_least(item, 1) or (data is None and call.bounds.is_at_least(item, 0)):
            dims.append(item)
        else:
            dims.append(_perhaps_zero(call, item, data, axis))
    if dims.count(None) > 1:
        call.refuse("at most one size may be -1")
    return dims


def _kept(call: Call, data: Dims | None, axis: int) -> Dim:
    if call.integer("allowzero"):
        return 0
    if call.value(0).shape is None:
        return call.fresh(f"size_{axis}", f"axis {axis} of {call.input_name(0)}")
    assert data is not None
    if axis >= len(data):
        call.refuse(f"a 0 on axis {axis} keeps a size that the data, of rank {len(data)}, do not have")
    return data[axis]


def _perhaps_zero(call: Call, item: Dim, data: Dims | None, axis: int) -> Dim:
    """Return a size that is asked for and may be 0, which keeps that of the data: item + (1 - min(item, 1)) * kept."""
    call.asker.is_size(call.place, item, "a size that is asked for must not be negative")
    if data is None:
        return item
    if axis >= len(data):
        call.require(at_most(1, item), "a size of 0 keeps one that the data do not have")
        return item
    if data[axis] == item:
        return item
    is_zero = subtract(1, call.bounds.smaller(item, 1))
    return add(item, multiply(is_zero, data[axis]))


def _counted(call: Call, data: Dims, dims: Sequence[Dim | None]) -> Dims:
    """Return the shape with what is to be worked out put in; ask that there be as many elements as before."""
    given = [d for d in dims if d is not None]
    if len(given) == len(dims):
        quotient = exact_quotient(tuple(data), tuple(given)) if call.asker.is_positive(given) else None
        if quotient != 1:
            left, right = _without_common(call, data, given)
            call.equal(product(left), product(right), "the number of elements must stay the same")
        return tuple(given)
    for d in given:
        if not call.bounds.is_at_least(d, 1):
            call.require(different(d, 0), "beside a -1 no size may be 0")
    quotient = exact_quotient(tuple(data), tuple(given))
    if quotient is None:
        left, right = _without_common(call, data, given)
        above, below = product(left), product(right)
        if isinstance(below, int) and below == 0:
            call.refuse("beside a -1 no size may be 0")
        call.require(equal(modulo(above, below), 0), "the size at -1 must be a whole number")
        quotient = floor_divide(above, below)
    return tuple(quotient if d is None else d for d in dims)


def _without_common(call: Call, left: Iterable[Dim], right: Iterable[Dim]) -> tuple[list[Dim], list[Dim]]:
    """Return the factors of two products without those that both have, and that are not 0."""
    above, below = list(left), []
    for factor in right:
        if factor in above and call.bounds.is_at_least(factor, 1):
            above.remove(factor)
        else:
            below.append(factor)
    return above, below


def _reshaped(data: Value, shape: Dims) -> Content | None:
    content = data.content
    if content is None or data.shape is None:
        return None
    if isinstance(content, Elements):
        return content
    ramp = as_ramp(content, data.shape)
    strides = None if ramp is None else _strides(data.shape, ramp.strides, shape)
    return None if ramp is None or strides is None else Ramp(ramp.start, strides)


def _strides(old: Dims, strides: Sequence[Dim], new: Dims) -> tuple[Dim, ...] | None:
    """Return the strides of a ramp in another shape: axes of size 1 come and go, and axes that run on merge."""
    runs: list[tuple[Dim, Dim]] = []
    for size, stride in zip(old, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == multiply(stride, size):
            runs[-1] = (multiply(runs[-1][0], size), stride)
        else:
            runs.append((size, stride))
    found: list[Dim] = []
    for size in reversed(new):
        if size == 1:
            found.append(0)
        elif not runs:
            return None
        else:
            length, stride = runs[-1]
            rest = exact_quotient((length,), (size,))
            if rest is None:
                return None
            found.append(stride)
            if rest == 1:
                runs.pop()
            else:
                runs[-1] = (rest, multiply(stride, size))
    return None if runs else tuple(reversed(found))


@operator("Flatten")
def flatten(call: Call) -> Value:
    """A matrix: the axes before ``axis`` in one, those from it on in the other."""
    data = call.value(0)
    dims = call.shape(0)
    axis = call.integer("axis", 1)
    if not -len(dims) <= axis <= len(dims):
        call.refuse(f"axis {axis} must be at most the rank {len(dims)}")
    place = axis + len(dims) if axis < 0 else axis
    shape = (product(dims[:place]), product(dims[place:]))
    return Value(shape, data.dtype, _reshaped(data, shape))


@operator("Unsqueeze")
def unsqueeze(call: Call) -> Value:
    """Axes of size 1 put in."""
    data = call.value(0)
    dims = list(call.shape(0))
    axes = call.axes("axes", 1, 13) or []
    rank = len(dims) + len(axes)
    places = sorted(call.axis(a, rank) for a in axes)
    if len(set(places)) < len(places):
        call.refuse("no axis may be put in twice")
    for place in places:
        dims.insert(place, 1)
    shape = tuple(dims)
    return Value(shape, data.dtype, _with_axes(data.content, places, len(data.shape or ())))


def _with_axes(content: Content | None, places: Sequence[int], rank: int) -> Content | None:
    if isinstance(content, Ramp):
        return _ramp_with_axes(content, places)
    if isinstance(content, Stack) and all(place < rank for place in places):
        return Stack(tuple(_ramp_with_axes(part, places) for part in content.parts))
    return content if isinstance(content, Elements) else None


def _ramp_with_axes(ramp: Ramp, places: Sequence[int]) -> Ramp:
    strides = list(ramp.strides)
    for place in places:
        strides.insert(place, 0)
    return Ramp(ramp.start, tuple(strides))


@operator("Squeeze")
def squeeze(call: Call) -> Value:
    """Axes of size 1 taken out."""
    data = call.value(0)
    dims = call.shape(0)
    axes = call.axes("axes", 1, 13)
    if axes is None:
        open_axes = [n for n, d in enumerate(dims) if not isinstance(d, int) and not call.bounds.is_at_least(d, 2)]
        if open_axes:
            call.give_up(f"whether axis {open_axes[0]} is 1, and so taken out, depends on the sizes")
        places = {n for n, d in enumerate(dims) if d == 1}
    else:
        places = {call.axis(a, len(dims)) for a in axes}
        for place in sorted(places):
            call.equal(dims[place], 1, f"axis {place} must be 1 to be taken out")
    content = data.content
    if isinstance(content, Ramp):
        content = Ramp(content.start, tuple(s for n, s in enumerate(content.strides) if n not in places))
    elif not isinstance(content, Elements):
        content = None
    return Value(tuple(d for n, d in enumerate(dims) if n not in places), data.dtype, content)


@operator("Transpose")
def transpose(call: Call) -> Value:
    """The axes in another order."""
    data = call.value(0)
    dims = call.shape(0)
    order = call.integers("perm")
    if order is None:
        order = list(range(len(dims)))[::-1]
    if sorted(order) != list(range(len(dims))):
        call.refuse(f"perm {order} must name each of the {len(dims)} axes once")
    shape = tuple(dims[n] for n in order)
    content = data.content
    if isinstance(content, Ramp):
        return Value(shape, data.dtype, Ramp(content.start, tuple(content.strides[n] for n in order)))
    items = listed(content, dims) if content is not None else None
    return Value(shape, data.dtype, None if items is None else Elements(_transposed(items, dims, order)))


def _transposed(items: Sequence[Element], dims: Dims, order: Sequence[int]) -> tuple[Element, ...]:
    sizes = [int(d) for d in dims]
    strides = [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    indices = combinations(*(range(sizes[n]) for n in order))
    return tuple(items[sum(i * strides[n] for i, n in zip(index, order, strict=True))] for index in indices)


@operator("Expand")
def expand(call: Call) -> Value:
    """The data and a shape, broadcast together both ways."""
    data = call.value(0)
    dims = call.shape(0)
    target = asked_shape(call, 1)
    shape = call.broadcast(dims, target, rule="bidirectional")
    return Value(shape, data.dtype, stretched(data, shape))


def stretched(data: Value, shape: Dims) -> Content | None:
    """Return the content of a value that is broadcast to a shape."""
    if data.content is None or data.shape is None:
        return None
    if data.shape == shape:
        return data.content
    ramp = as_ramp(data.content, data.shape)
    if ramp is None:
        return None
    strides: list[Dim] = [0] * (len(shape) - len(data.shape))
    for size, stride, wanted in zip(data.shape, ramp.strides, shape[len(strides) :], strict=True):
        if size not in (wanted, 1) and stride != 0:
            return None
        strides.append(0 if size == 1 else stride)
    return Ramp(ramp.start, tuple(strides))


@operator("Tile")
def tile(call: Call) -> Value:
    """The data repeated along each axis."""
    dims = call.shape(0)
    if call.version < 6:
        counts, axes = call.sizes(1), call.numbers(2)
        if counts is None or axes is None:
            call.give_up("how often it repeats the data is not known")
        place = call.axis(axes[0], len(dims))
        return Value((*dims[:place], multiply(dims[place], counts[0]), *dims[place + 1 :]), call.dtype())
    repeats = asked_shape(call, 1)
    if len(repeats) != len(dims):
        call.refuse(f"repeats must have {len(dims)} numbers, one for each axis, and has {len(repeats)}")
    data = call.value(0)
    shape = tuple(multiply(d, n) for d, n in zip(dims, repeats, strict=True))
    return Value(
        shape,
        data.dtype,
        stretched(data, shape) if all(r == 1 or d == 1 for d, r in zip(dims, repeats, strict=True)) else None,
    )


@operator("DepthToSpace")
def depth_to_space(call: Call) -> Value:
    """Blocks of the channels laid out in space."""
    n, c, h, w = call.rank(0, (4,), "the input")
    block = call.integer("blocksize", 1)
    call.require(equal(modulo(c, block * block), 0), f"the channels must be a multiple of {block * block}")
    return Value((n, floor_divide(c, block * block), multiply(h, block), multiply(w, block)), call.dtype())


@operator("SpaceToDepth")
def space_to_depth(call: Call) -> Value:
    """Blocks of space put into channels."""
    n, c, h, w = call.rank(0, (4,), "the input")
    block = call.integer("blocksize", 1)
    for size, what in ((h, "height"), (w, "width")):
        call.require(equal(modulo(size, block), 0), f"the {what} must be a multiple of {block}")
    return Value((n, multiply(c, block * block), floor_divide(h, block), floor_divide(w, block)), call.dtype())
