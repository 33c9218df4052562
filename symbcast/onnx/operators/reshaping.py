"""Reshape and Flatten: the elements in the order that they have, in a shape of as many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import add, floor_divide, modulo, multiply, subtract
from symbcast.formulas import Formula, any_of, at_most, equal, negate
from symbcast.onnx.call import Call, RefusedError
from symbcast.onnx.knowing.contents import Content, Element, Elements, Ramp, as_ramp, is_size
from symbcast.onnx.knowing.sizes import exact_quotient
from symbcast.onnx.knowing.values import Dims, Value
from symbcast.onnx.operators.expecting import expect_line
from symbcast.onnx.operators.making import asked_shape
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


@operator("Reshape")
def reshape(call: Call) -> Value:
    """The elements in another shape of as many; a 0 keeps the size of its axis, and one -1 is worked out."""
    if call.version < 5:
        wanted: Sequence[Element] = call.integers("shape") or []
    else:
        expect_line(call, 1)
        held = call.elements(1)
        if held is None:
            return _reshape_to_data(call)
        wanted = held
    data = call.value(0)
    if data.shape is None:
        return Value(_of_unknown(call, wanted), data.dtype)
    shape = _reshaped_to(call, data.shape, wanted)
    return Value(shape, data.dtype, _reshaped(data, shape))


def _reshape_to_data(call: Call) -> Value:
    """A reshape to a shape that data decide: the sizes are new ones, as many elements as there are."""
    shape = asked_shape(call, 1) if call.value(1).shape is not None else call.give_up("the shape is data")
    if call.value(0).shape is not None:
        call.note("the shape that it makes is data: where it holds a 0 or -1 was not followed")
    return Value(shape, call.dtype())


def _of_unknown(call: Call, wanted: Sequence[Element]) -> Dims:
    """Return the shape that is asked for where that of the data is not known."""
    if list(wanted).count(-1) > 1:
        call.refuse(_ONE_UNKNOWN)
    least = 0 if call.integer("allowzero") else 1
    dims: list[Dim] = []
    for axis, item in enumerate(wanted):
        if is_size(item):
            call.at_most(-1, item, _NOT_NEGATIVE)
        is_taken = is_size(item) and call.bounds.is_at_least(item, least)
        dims.append(item if is_size(item) and is_taken else call.fresh(f"size_{axis}", f"axis {axis}"))
    return tuple(dims)


_ONE_UNKNOWN = "at most one size may be -1"
_NOT_NEGATIVE = "a size that is asked for must not be negative"


def _reshaped_to(call: Call, data: Dims, wanted: Sequence[Element], settled: frozenset[int] = frozenset()) -> Dims:
    """Return the shape that is asked for; the sizes at the positions ``settled`` are not -1."""
    for n, item in enumerate(wanted):
        if n not in settled and is_size(item) and not call.bounds.is_at_least(item, 0):
            is_unknown = equal(item, -1)
            worked_out = [*wanted[:n], -1, *wanted[n + 1 :]]
            match call.asker.is_known(is_unknown):
                case True:
                    return _reshaped_to(call, data, worked_out, settled | {n})
                case None:
                    return _by_unknown(call, is_unknown, data, (worked_out, wanted), settled | {n})
    return _counted(call, data, _dims_wanted(call, wanted, data))


def _by_unknown(
    call: Call, is_unknown: Formula, data: Dims, choices: Sequence[Sequence[Element]], settled: frozenset[int]
) -> Dims:
    """Return the shape that is asked for by a size which is -1 at some sizes, and then worked out."""
    ends: list[Dims | None] = []
    for formula, wanted in zip((is_unknown, negate(is_unknown)), choices, strict=True):
        with call.asker.under(formula):
            try:
                ends.append(_reshaped_to(call, data, wanted, settled))
            except RefusedError:
                ends.append(None)
    yes, no = ends
    if yes is None or no is None:
        if yes is no:
            raise RefusedError
        return yes or no or ()
    name, text = call.place.name, "by whether a size that is asked for is -1"
    return tuple(
        a if a == b else call.asker.by_cases(f"{name}_dim_{n}", f"axis {n}, {text}", is_unknown, a, b)
        for n, (a, b) in enumerate(zip(yes, no, strict=True))
    )


def _dims_wanted(call: Call, wanted: Sequence[Element], data: Dims) -> list[Dim | None]:
    """Return the sizes that are asked for; None for the one that is to be worked out."""
    dims: list[Dim | None] = []
    for axis, item in enumerate(wanted):
        if isinstance(item, int) and item in (-1, 0):
            dims.append(None if item else _kept(call, data, axis))
        elif not is_size(item):
            call.note(f"that element {axis} of the shape, which is data, can be was not looked at", is_about_data=True)
            least = int(call.asker.is_positive(data))
            dims.append(call.fresh(f"size_{axis}", f"element {axis} of the shape that is asked for", least))
        elif call.bounds.is_at_least(item, 1):
            dims.append(item)
        else:
            dims.append(_perhaps_zero(call, item, data, axis))
    if dims.count(None) > 1:
        call.refuse(_ONE_UNKNOWN)
    return dims


def _kept(call: Call, data: Dims, axis: int) -> Dim:
    if call.integer("allowzero"):
        return 0
    if axis >= len(data):
        call.refuse(f"a 0 on axis {axis} keeps a size that the data, of rank {len(data)}, do not have")
    return data[axis]


def _perhaps_zero(call: Call, item: Dim, data: Dims, axis: int) -> Dim:
    """Return a size that is asked for and may be 0, which keeps that of the data: item + (1 - min(item, 1)) * kept."""
    call.asker.is_size(call.place, item, _NOT_NEGATIVE)
    if call.integer("allowzero"):
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
            call.equal(multiply(*left), multiply(*right), "the number of elements must stay the same")
        return tuple(given)
    worked_out = _worked_out(call, data, given)
    return tuple(worked_out if d is None else d for d in dims)


def _worked_out(call: Call, data: Dims, given: Sequence[Dim]) -> Dim:
    """Return the size that stands for -1, beside those that are given."""
    empty = any_of(equal(d, 0) for d in given if not call.bounds.is_at_least(d, 1))
    is_empty = call.asker.is_known(empty)
    if is_empty is not False and call.is_onnxruntime and call.integer("allowzero"):
        return _worked_out_beside_zero(call, data, given, empty)
    if is_empty:
        call.refuse(_BESIDE_ZERO)
    call.require(negate(empty), _BESIDE_ZERO)
    return _quotient(call, data, given)


_BESIDE_ZERO = "beside a -1 no size may be 0"


def _worked_out_beside_zero(call: Call, data: Dims, given: Sequence[Dim], empty: Formula) -> Dim:
    """Return the size at a -1 where others may be 0: ONNX Runtime (seen with 1.31) leaves sizes of 0 out on both sides.

    The document has a -1 beside a 0 as an error, where 0 keeps no size.
    """
    filled = [call.bounds.larger(d, 1) for d in given]
    with call.asker.under(empty):
        call.require(any_of(equal(d, 0) for d in data), "the number of elements must stay the same")
        beside_zero = _quotient(call, [call.bounds.larger(d, 1) for d in data], filled)
    if call.asker.is_known(empty):
        return beside_zero
    with call.asker.under(negate(empty)):
        beside_others = _quotient(call, data, filled)
    if beside_zero == beside_others:
        return beside_zero
    name, text = f"{call.place.name}_worked_out", "the size at -1, by whether another one is 0"
    return call.asker.by_cases(name, text, empty, beside_zero, beside_others)


def _quotient(call: Call, data: Sequence[Dim], given: Sequence[Dim]) -> Dim:
    quotient = exact_quotient(tuple(data), tuple(given))
    if quotient is not None:
        return quotient
    left, right = _without_common(call, data, given)
    above, below = multiply(*left), multiply(*right)
    call.require(equal(modulo(above, below), 0), "the size at -1 must be a whole number")
    return floor_divide(above, below)


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
    shape = (multiply(*dims[:place]), multiply(*dims[place:]))
    return Value(shape, data.dtype, _reshaped(data, shape))
