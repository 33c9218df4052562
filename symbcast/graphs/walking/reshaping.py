"""Make and reshape values, and reduce or resize what they hold, for operators that several front ends share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from functools import partial
from functools import reduce as fold
from math import ceil, floor, isfinite, prod

from symbcast.core.algebra.arithmetic import ceil_divide, multiply, subtract
from symbcast.core.algebra.bounds import Bounds, exact_quotient, numbers_of
from symbcast.core.algebra.formulas import Formula, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text
from symbcast.graphs.walking.node_call import NodeCall, RefusedError
from symbcast.graphs.walking.requirements import learn_positive
from symbcast.operators import reshaping as shapes
from symbcast.operators.joining_and_slicing import Joined, concat
from symbcast.operators.operator import Context, Dims, expect_shape
from symbcast.operators.reshaping import copied_size, copied_where_zero, reshape
from symbcast.operators.resizing import Rounding, Scale, quotient_scale, scale_of
from symbcast.operators.values import contents, intervals
from symbcast.operators.values.contents import MAX_ELEMENTS, Content, Element, Elements, IndexRamp, SizeRatio
from symbcast.operators.values.elements import BINARY
from symbcast.operators.values.tensors import contents_joined, stretched, transposed, with_axes, without_axes
from symbcast.operators.values.value import Constant, Value

# Check operand shapes: the main requirement of most operators with weights, states and scales.


def known_shape(call: NodeCall, position: int, what: str) -> Dims | None:
    """Return the shape of an operand; None if it is missing, or if its shape is unknown, which is noted."""
    if not call.has(position):
        return None
    shape = call.value(position).shape
    if shape is None:
        call.note(f"not checked: the shape of {what}, which is unknown")
    return shape


def known_shapes(call: NodeCall, *positions: int) -> dict[str, Dims | None]:
    """Return the shapes of several operands by name, each as `known_shape` returns it."""
    names = {n: call.input_name(n) for n in positions}
    return {name: known_shape(call, n, name) for n, name in names.items()}


def known_rank(call: NodeCall, position: int, allowed: Iterable[int], what: str) -> Dims | None:
    """Return the shape of an operand as `known_shape` does, and require that its rank be one of ``allowed``."""
    shape = known_shape(call, position, what)
    if shape is not None and len(shape) not in allowed:
        call.refuse(f"{what} must not have rank {len(shape)}")
    return shape


def expect(call: NodeCall, position: int, what: str, expected: Sequence[Dim | None]) -> None:
    """Require that an operand, if given, have the ``wanted`` shape, where None stands for any size."""
    expect_shape(call, what, known_shape(call, position, what), expected)


def expect_numbers(call: NodeCall, *positions: int) -> None:
    """Require that operands, if given, each hold one number, in a tensor of rank 0 or 1."""
    for position in positions:
        name = call.input_name(position)
        shape = known_shape(call, position, name)
        if shape:
            call.refuse_if(len(shape) > 1, f"{name} must be one number")
            call.equal(shape[0], 1, f"{name} must be one number")


def real_number(call: NodeCall, position: int) -> float | None:
    """Return the one number that a constant operand holds; None if it is no constant, or has more elements."""
    value = call.value(position)
    array = value.array if isinstance(value, Constant) else None
    return None if array is None or array.size != 1 else float(array.ravel()[0])


def expect_line(call: NodeCall, *positions: int) -> None:
    """Require that operands, if given, have rank 1."""
    for position in positions:
        shape = known_shape(call, position, call.input_name(position))
        if shape is not None and len(shape) != 1:
            call.refuse(f"{call.input_name(position)} must have one axis, but has {len(shape)}")


def expect_number_or_line(call: NodeCall, position: int, what: str, size: Dim) -> None:
    """Require that an operand, if given, be one number, or a tensor of rank 1 with one or ``size`` numbers."""
    shape = known_shape(call, position, what)
    if shape:
        call.refuse_if(len(shape) > 1, f"{what} must have at most one axis")
        call.one_of(shape[0], (1, size), f"{what} must have 1 or {dim_text(size)} elements")


# Make values from sizes: constant tensors, tensors of a requested shape, and ranges.


def filled(element: object, dims: Dims) -> Content | None:
    """Return the content of a tensor that holds one element everywhere."""
    if not contents.is_size(element):
        return None
    sizes = numbers_of(dims)
    if sizes is not None and 0 <= prod(sizes) <= _LISTED:
        return Elements((element,) * prod(sizes))
    return IndexRamp(element, (0,) * len(dims))


_LISTED = 64


def requested_shape(call: NodeCall, position: int, ignored: Collection[int] = ()) -> Dims:
    """Return the shape that an input holds: each element is a size, and unknown elements get new sizes.

    Elements at the positions ``ignored`` need not be sizes.
    """
    items = call.elements(position)
    if items is None:
        lengths = call.shape(position)
        if len(lengths) != 1 or not isinstance(lengths[0], int):
            call.give_up(f"the elements of {call.input_name(position)}, which give the shape, are unknown")
        if lengths[0] > MAX_ELEMENTS:
            call.give_up(
                f"the shape has {lengths[0]} axes whose sizes data decide; at most {MAX_ELEMENTS} are supported"
            )
        items = (None,) * int(lengths[0])
    dims = []
    for axis, item in enumerate(items):
        if contents.is_size(item):
            if axis not in ignored:
                call.is_size(item, "a size must not be negative")
            dims.append(item)
            continue
        name = call.input_name(position)
        dims.append(call.fresh(f"size_{axis}", f"element {axis} of {name}", by=[position]))
        if axis not in ignored:
            call.note_data(f"element {axis} of {name}, which is data, must not be negative", position)
    return tuple(dims)


def counted(call: NodeCall) -> Value:
    """Return the range from the first input up to, but not including, the second, in steps of the third."""
    expect_numbers(call, 0, 1, 2)
    items = [call.element(n) for n in range(3)]
    start, limit, delta = items
    call.refuse_if(delta == 0, "the step of a range must not be 0")
    count = _count(call, start, limit, delta)
    if count is None:
        _check_room(call, limit)
        length = call.fresh("length", "the length of the range")
        return Value((length,), call.dtype())
    content: Content | None = (
        IndexRamp(start, (delta,)) if contents.is_size(start) and contents.is_size(delta) else None
    )
    if isinstance(count, int) and count <= _LISTED:
        step, plus = (partial(BINARY[name], call.asker, call.dtype()) for name in ("Mul", "Add"))
        content = Elements(tuple(plus(start, step(delta, n)) for n in range(count)))
    return Value((count,), call.dtype(), content)


def _count(call: NodeCall, start: Element, limit: Element, delta: Element) -> Dim | None:
    """Return the length of a range; None if unknown."""
    step = contents.as_ratio(delta)
    distance = contents.as_ratio(BINARY["Sub"](call.asker, call.dtype(), limit, start))
    # Floats hold the distance exactly if its denominator is a power of two, and then rounding makes their quotient an
    # integer only if it already is one.
    if step is None or distance is None or contents.is_rounded(distance):
        return None
    if not (isinstance(step.above, int) and isinstance(step.below, int)):
        return None
    sign = 1 if step.above > 0 else -1
    above, below = multiply(sign, step.below, distance.above), multiply(abs(step.above), distance.below)
    return call.bounds.larger(ceil_divide(above, below), 0)


# More elements than any process can address.
_ROOM = 1 << 47
# Ranges up to this limit are assumed to fit into memory: larger sizes are not considered.
_USUAL = 1 << 20


def _check_room(call: NodeCall, limit: Element) -> None:
    """Require that a range of floats of unknown length have a nonzero step and fit into memory."""
    start, step = _number(call, 0), _number(call, 2)
    if step is None:
        call.note_data("the step of a range must not be 0 or too small", 2)
        return
    call.refuse_if(step == 0, "the step of a range must not be 0")
    if abs(step) * _ROOM >= _USUAL:
        return
    if start is None or not contents.is_size(limit):
        call.note("not checked: the range must fit into memory", is_about_data=True)
        return
    end, reason = start + _ROOM * step, f"with a step of {float(step)}, a range would not fit into memory"
    if step > 0:
        call.at_most(limit, floor(end), reason)
    else:
        call.at_most(ceil(end), limit, reason)


def _number(call: NodeCall, position: int) -> Fraction | None:
    """Return the one number in an input; None if it is unknown or not finite."""
    value = call.value(position)
    array = value.array if isinstance(value, Constant) else None
    if array is not None:
        number = float(array.ravel()[0])
        return Fraction(number) if isfinite(number) else None
    item = contents.as_ratio(call.element(position))
    if item is None or not isinstance(item.above, int) or not isinstance(item.below, int):
        return None
    return Fraction(item.above, item.below)


# Reshape values: rearrange their elements into another shape with the same number of elements.


class TargetShape(NamedTuple):
    """The requested sizes: at most one may be -1, and unknown ones are None.

    ``keeps_zero`` says that a 0 keeps the size of its axis; ``inferred`` is an alternative way to compute the size at
    -1.
    """

    sizes: Sequence[Element]
    keeps_zero: bool
    inferred: Callable[[Context, Dims, Sequence[Dim]], Dim] | None = None


def reshaped(call: NodeCall, data: Value, target: TargetShape) -> Value:
    """Return a value in another shape; if its own is unknown, note that the number of elements is unchecked."""
    if data.shape is None:
        call.note(f"not checked: {call.input_name(0)} must have the same number of elements, but its rank is unknown")
        return Value(_of_unknown(call, target), data.dtype)
    shape = _reshaped_to(call, data.shape, target)
    return Value(shape, data.dtype, content_reshaped(data, shape))


def _of_unknown(call: NodeCall, target: TargetShape) -> Dims:
    """Return the requested shape if the shape of the data is unknown."""
    call.refuse_if(list(target.sizes).count(-1) > 1, _ONE_UNKNOWN)
    least = 1 if target.keeps_zero else 0
    dims: list[Dim] = []
    for axis, item in enumerate(target.sizes):
        if contents.is_size(item):
            call.at_most(-1, item, _NOT_NEGATIVE)
        is_taken = contents.is_size(item) and call.bounds.is_at_least(item, least)
        dims.append(item if contents.is_size(item) and is_taken else call.fresh(f"size_{axis}", f"axis {axis}"))
    return tuple(dims)


_ONE_UNKNOWN = "at most one size may be -1"
_NOT_NEGATIVE = "a requested size must not be negative"


def _reshaped_to(call: NodeCall, data: Dims, target: TargetShape, not_inferred: frozenset[int] = frozenset()) -> Dims:
    """Return the requested shape; the sizes at the positions ``not_inferred`` are known not to be -1."""
    for n, item in enumerate(target.sizes):
        if isinstance(item, int):  # -1 or not, whatever the sizes are
            continue
        if n not in not_inferred and contents.is_size(item) and not call.bounds.is_at_least(item, 0):
            is_unknown = equal(item, -1)
            worked_out = target._replace(sizes=[*target.sizes[:n], -1, *target.sizes[n + 1 :]])
            match call.is_known(is_unknown):
                case True:
                    return _reshaped_to(call, data, worked_out, not_inferred | {n})
                case None:
                    return _by_unknown(call, is_unknown, data, (worked_out, target), not_inferred | {n})
    shape = reshape(call, data, _dims_wanted(call, target, data), target.inferred)
    return tuple(
        item if contents.is_size(item) and size != item and learn_positive(call.asker, item, call.place) else size
        for size, item in zip(shape, target.sizes, strict=True)
    )


def _by_unknown(
    call: NodeCall, is_unknown: Formula, data: Dims, choices: Sequence[TargetShape], not_inferred: frozenset[int]
) -> Dims:
    """Return the requested shape if one size is -1, and so inferred, only for some sizes of the model."""
    ends: list[Dims | None] = []
    for formula, target in zip((is_unknown, negate(is_unknown)), choices, strict=True):
        with call.asker.under(formula):
            try:
                ends.append(_reshaped_to(call, data, target, not_inferred))
            except RefusedError:
                ends.append(None)
    yes, no = ends
    if yes is None or no is None:
        if yes is no:
            raise RefusedError
        return yes or no or ()
    name, text = call.place.name, "depending on whether a requested size is -1"
    return tuple(
        a if a == b else call.asker.by_cases(f"{name}_dim_{n}", f"axis {n}, {text}", is_unknown, a, b)
        for n, (a, b) in enumerate(zip(yes, no, strict=True))
    )


def _dims_wanted(call: NodeCall, target: TargetShape, data: Dims) -> list[Dim | None]:
    """Return the requested sizes; None stands for the size to infer."""
    dims: list[Dim | None] = []
    for axis, item in enumerate(target.sizes):
        if isinstance(item, int) and item in (-1, 0):
            is_kept = item == 0 and target.keeps_zero
            dims.append(None if item else copied_size(call, data, axis) if is_kept else 0)
        elif not contents.is_size(item):
            call.note_data(f"element {axis} of the shape, which is data, must be valid", 1)
            least = int(call.is_positive(data))
            dims.append(call.fresh(f"size_{axis}", f"element {axis} of the requested shape", least, by=[1]))
        elif call.bounds.is_at_least(item, 1):
            dims.append(item)
        else:
            call.is_size(item, _NOT_NEGATIVE)
            dims.append(_copied_where_zero(call, item, data, axis) if target.keeps_zero else item)
    return dims


def _copied_where_zero(call: NodeCall, size: Dim, data: Dims, axis: int) -> Dim:
    """Return a requested size, or that of the data if it is 0; if the walk names cases, under a name."""
    if axis >= len(data) or data[axis] == size:
        return copied_where_zero(call, size, data, axis)
    call.asker.mark_zero(size, call.place)
    if not call.asker.names_cases:
        return copied_where_zero(call, size, data, axis)
    least = int(call.bounds.is_at_least(data[axis], 1))
    text = f"axis {axis}, depending on whether a requested size is 0"
    return call.asker.by_cases(f"{call.place.name}_dim_{axis}", text, equal(size, 0), data[axis], size, least=least)


def content_reshaped(data: Value, shape: Dims) -> Content | None:
    """Return the content of a value in another shape."""
    content = data.content
    if content is None or data.shape is None:
        return None
    if isinstance(content, Elements):
        return content
    ramp = contents.as_ramp(content, data.shape)
    strides = None if ramp is None else _strides(data.shape, ramp.strides, shape)
    return None if ramp is None or strides is None else IndexRamp(ramp.start, strides)


def _strides(old: Dims, strides: Sequence[Dim], new: Dims) -> tuple[Dim, ...] | None:
    """Return a ramp's strides in another shape: axes of size 1 are added or removed, and contiguous axes merge."""
    runs: list[tuple[Dim, Dim]] = []
    for size, stride in zip(old, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == multiply(stride, size):
            runs[-1] = (multiply(runs[-1][0], size), stride)
        else:
            runs.append((size, stride))
    new_strides: list[Dim] = []
    for size in reversed(new):
        if size == 1:
            new_strides.append(0)
        elif not runs:
            return None
        else:
            length, stride = runs[-1]
            rest = exact_quotient((length,), (size,))
            if rest is None:
                return None
            new_strides.append(stride)
            if rest == 1:
                runs.pop()
            else:
                runs[-1] = (rest, multiply(stride, size))
    return None if runs else tuple(reversed(new_strides))


# Insert, remove, reorder and repeat the axes of the first input, with what is known about its elements.


def unsqueezed(call: NodeCall, axes: Sequence[int]) -> Value:
    """Return the first input with axes of size 1 inserted, at their positions in the output."""
    dims = call.shape(0)
    places = shapes.new_axes(call, len(dims), axes)
    return call.output(shapes.unsqueeze(call, dims, axes), with_axes(call.value(0).content, places, len(dims)))


def squeezed(call: NodeCall, axes: Iterable[int]) -> Value:
    """Return the first input without some axes, which must be 1."""
    dims = call.shape(0)
    places = {call.axis(a, len(dims)) for a in axes}
    return call.output(shapes.squeeze(call, dims, places), without_axes(call.value(0).content, places))


def axes_of_size_1(call: NodeCall, axes: Iterable[int]) -> list[int]:
    """Return those of some axes of the first input that are 1; give up if the sizes decide which are."""
    dims, candidates = call.shape(0), list(axes)
    undecided = shapes.undecided_axes(call, dims, candidates)
    if undecided:
        call.give_up(f"whether axis {undecided[0]} is 1, and therefore removed, depends on the sizes")
    return [n for n in candidates if dims[n] == 1]


def reordered(call: NodeCall, order: Sequence[int] | None) -> Value:
    """Return the first input with its axes in another order; reversed if no order is given."""
    dims = call.shape(0)
    places = range(len(dims))[::-1] if order is None else order
    return call.output(shapes.transpose(call, dims, order), transposed(call.value(0).content, dims, places))


def expanded(call: NodeCall, target: Dims, *, both_ways: bool = False) -> Value:
    """Return the first input broadcast to a shape; with ``both_ways``, the shape is broadcast to the input too."""
    shape = shapes.expand(call, call.shape(0), target, both_ways=both_ways)
    return call.output(shape, stretched(call.value(0), shape))


def tiled(call: NodeCall, dims: Dims, repeats: Dims) -> Value:
    """Return the first input, of the given sizes, repeated along each axis."""
    shape = shapes.tile(call, dims, repeats)
    is_stretched = all(r == 1 or d == 1 for d, r in zip(dims, repeats, strict=True))
    return call.output(shape, stretched(call.value(0), shape) if is_stretched else None)


def concatenated(call: NodeCall, axis: int, joined: Joined | None = None) -> Value:
    """Return all inputs concatenated along an axis; ``joined`` is as in `joining_and_slicing.concat`."""
    shape = concat(call, call.shapes(), axis, joined)
    return call.output(shape, contents_joined(call.values(), call.axis(axis, len(shape)), shape))


def parted(call: NodeCall, axis: int, sizes: Sequence[Dim]) -> list[Value]:
    """Return parts of the first input along an axis, of sizes that fit it; parts of a vector keep their elements."""
    dims = call.shape(0)
    items = call.elements(0) if len(dims) == 1 else None
    parts, start = [], 0
    for n, size in enumerate(sizes):
        content: Content | None = None
        if items is not None and isinstance(size, int):
            content = Elements(tuple(items[start : start + size]))
            start += size
        else:
            items = None  # where a part begins is known only if all sizes before it are numbers
        parts.append(call.output((*dims[:axis], size, *dims[axis + 1 :]), content, n))
    return parts


# Reduce all elements of a value to one, and compute cumulative sums along an axis.


def folded(call: NodeCall, step_name: str | None) -> Content | None:
    """Return the single element that results from folding all elements of the first input with a step."""
    items = call.elements(0) if step_name is not None else None
    if step_name is None or not items:
        return None
    step = BINARY[step_name]
    element: Element = fold(lambda a, b: step(call.asker, call.dtype(), a, b), items)
    return None if element is None else Elements((element,))


def summed_along(
    data: Value, axis: int, bounds: Bounds, *, is_exclusive: bool = False, is_reversed: bool = False
) -> Content | None:
    """Return cumulative sums along an axis as a ramp if all elements are the same number.

    ``is_exclusive`` leaves out the element itself; ``is_reversed`` sums from the end.
    """
    dims, ramp = data.shape or (), contents.as_ramp(data.content, data.shape)
    if ramp is None or any(ramp.strides):
        return None
    each, place = ramp.start, axis % len(dims)
    start = 0 if is_exclusive else each
    strides: list[Dim] = [0] * len(dims)
    strides[place] = each
    if is_reversed:
        start = multiply(each, subtract(dims[place], int(is_exclusive)))
        strides[place] = multiply(-1, each)
    sums = IndexRamp(start, tuple(strides))
    ends = intervals.extent(sums, dims, bounds)
    if ends.low is None or ends.high is None:
        return None
    return None if None in (contents.as_represented(e, data.dtype, bounds) for e in (ends.low, ends.high)) else sums


def read_scale(element: Element | float, rounding: Rounding) -> Scale | None:
    """Return the scale by which a node multiplies a size; None if unknown."""
    if isinstance(element, float):
        return scale_of(element, rounding)
    if isinstance(element, SizeRatio):
        return quotient_scale(element.above, element.below, rounding)
    return Scale(element, 1, True) if contents.is_size(element) else None


def scaled(call: NodeCall, size: Dim, scale: Scale | None, axis: int) -> Dim:
    """Return a size times a scale, rounded down; a new size if the scale is unknown or rounding might matter."""
    product = None if scale is None else scale.times(size)
    if product is not None:
        return product
    # If the scale is known, the new size depends only on sizes, even if data decide the tensor's elements.
    return call.fresh(f"size_{axis}", f"axis {axis} times its scale", by=None if scale is None else ())
