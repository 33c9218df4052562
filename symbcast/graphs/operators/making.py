"""Make values from sizes: constant tensors, tensors of a requested shape, and ranges."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from functools import partial
from math import ceil, floor, isfinite, prod
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import ceil_divide, multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.operators.expected_shapes import expect_numbers
from symbcast.graphs.values.contents import MAX_ELEMENTS, Content, Element, Elements, Ramp, as_ratio, is_size
from symbcast.graphs.values.elements import BINARY
from symbcast.graphs.values.numbers import is_rounded
from symbcast.graphs.values.value import Constant, Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def filled(element: object, dims: Dims) -> Content | None:
    """Return the content of a tensor that holds one element everywhere."""
    if not is_size(element):
        return None
    sizes = numbers_of(dims)
    if sizes is not None and 0 <= prod(sizes) <= _LISTED:
        return Elements((element,) * prod(sizes))
    return Ramp(element, (0,) * len(dims))


_LISTED = 64


def asked_shape(call: NodeCall, position: int, ignored: Collection[int] = ()) -> Dims:
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
        if is_size(item):
            if axis not in ignored:
                call.is_size(item, "a size must not be negative")
            dims.append(item)
            continue
        name = call.input_name(position)
        dims.append(call.fresh(f"size_{axis}", f"element {axis} of {name}", by=[position]))
        if axis not in ignored:
            call.note(
                f"not checked: element {axis} of {name}, which is data, must not be negative",
                is_about_data=True,
                by=[position],
            )
    return tuple(dims)


def counted(call: NodeCall) -> Value:
    """Return the range from the first input up to, but not including, the second, in steps of the third."""
    expect_numbers(call, 0, 1, 2)
    items = [(call.elements(n) or (None,))[0] for n in range(3)]
    start, limit, delta = items
    if delta == 0:
        call.refuse("the step of a range must not be 0")
    count = _count(call, start, limit, delta)
    if count is None:
        _check_room(call, limit)
        length = call.fresh("length", "the length of the range")
        return Value((length,), call.dtype())
    content: Content | None = Ramp(start, (delta,)) if is_size(start) and is_size(delta) else None
    if isinstance(count, int) and count <= _LISTED:
        step, plus = (partial(BINARY[name], call.asker, call.dtype()) for name in ("Mul", "Add"))
        content = Elements(tuple(plus(start, step(delta, n)) for n in range(count)))
    return Value((count,), call.dtype(), content)


def _count(call: NodeCall, start: Element, limit: Element, delta: Element) -> Dim | None:
    """Return the length of a range; None if unknown.

    Floats hold the distance exactly if its denominator is a power of two, and then rounding makes their quotient an
    integer only if it already is one.
    """
    step = as_ratio(delta)
    distance = as_ratio(BINARY["Sub"](call.asker, call.dtype(), limit, start))
    if step is None or distance is None or is_rounded(distance):
        return None
    if not (isinstance(step.above, int) and isinstance(step.below, int)):
        return None
    sign = 1 if step.above > 0 else -1
    above, below = multiply(sign, step.below, distance.above), multiply(abs(step.above), distance.below)
    return call.bounds.larger(ceil_divide(above, below), 0)


_ROOM = 1 << 47
"""More elements than any process can address."""
_USUAL = 1 << 20
"""Ranges up to this limit are assumed to fit into memory: larger sizes are not considered."""


def _check_room(call: NodeCall, limit: Element) -> None:
    """Require that a range of floats of unknown length have a nonzero step and fit into memory."""
    start, step = _number(call, 0), _number(call, 2)
    if step is None:
        call.note("not checked: the step of a range must not be 0 or too small", is_about_data=True, by=[2])
        return
    if step == 0:
        call.refuse("the step of a range must not be 0")
    if abs(step) * _ROOM >= _USUAL:
        return
    if start is None or not is_size(limit):
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
    found = value.array if isinstance(value, Constant) else None
    if found is not None:
        number = float(found.ravel()[0])
        return Fraction(number) if isfinite(number) else None
    item = as_ratio((call.elements(position) or (None,))[0])
    if item is None or not isinstance(item.above, int) or not isinstance(item.below, int):
        return None
    return Fraction(item.above, item.below)
