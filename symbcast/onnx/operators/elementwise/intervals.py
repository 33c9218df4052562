"""From where to where the integers are that an operator makes, where nothing more is known of them.

A function here is asked once its operator has answered, for each output of integers or truth values without a content:
it says which `Interval` or `Bands` its elements are in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.values.contents import Bands, Interval
from symbcast.graphs.values.intervals import (
    UNBOUNDED,
    all_meet,
    divided,
    fitted,
    interval_of,
    largest,
    magnitude,
    multiplied,
    negated,
    remainder,
    smallest,
    some_of,
    summed,
    union,
)
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Value

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Estimate: TypeAlias = "Callable[[NodeCall, Sequence[Value], int], Interval | Bands]"
"""From a call, its outputs and the position of one of them to where its elements are."""

_ESTIMATES: dict[str, Estimate] = {}


def _estimate(*names: str) -> Callable[[Estimate], Estimate]:
    def offer(function: Estimate) -> Estimate:
        _ESTIMATES.update(dict.fromkeys(names, function))
        return function

    return offer


def with_intervals(call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a call, those of integers of which nothing is known with the interval that they are in."""
    estimate = _ESTIMATES.get(call.node.op_type)
    if estimate is None or call.node.domain not in ("", "ai.onnx"):
        return outputs
    found = list(outputs)
    for position, value in enumerate(outputs):
        if value.dtype not in INTEGERS or value.shape is None or value.content is not None:
            continue
        content = estimate(call, outputs, position)
        if content != UNBOUNDED:
            found[position] = Value(value.shape, value.dtype, content)
    return found


def _of(call: NodeCall, position: int) -> Interval:
    """Return where the elements of an input are."""
    return interval_of(call.value(position), call.bounds) if call.has(position) else UNBOUNDED


# The same elements, or some of them.


@_estimate("Expand", "Flatten", "Identity", "Reshape", "Tile")
def _same(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return _of(call, 0)


@_estimate("Compress", "GatherElements", "GatherND", "ReverseSequence")
def _some(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return some_of(_of(call, 0))


@_estimate("ReduceMax", "ReduceMin")
def _reduced(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    # Of nothing, the runtime takes the least number there is for the greatest.
    return some_of(_of(call, 0)) if call.is_positive(call.shape(0)) else UNBOUNDED


@_estimate("Cast")
def _cast(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    value = call.value(0)
    to = outputs[position].dtype
    if value.dtype == BOOL:
        return interval_of(value, call.bounds)
    if value.dtype not in INTEGERS:
        return UNBOUNDED
    whole = fitted(interval_of(value, call.bounds), to, call.bounds)
    return value.content if isinstance(value.content, Bands) and whole != UNBOUNDED else whole


@_estimate("Transpose")
def _transposed(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    content, rank = call.value(0).content, len(call.shape(0))
    if not isinstance(content, Bands):
        return _of(call, 0)
    order = call.integers("perm") or list(range(rank))[::-1]
    return Bands(order.index(content.axis), content.parts)


@_estimate("Unsqueeze")
def _with_axes(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    content, rank = call.value(0).content, len(outputs[position].shape or ())
    if not isinstance(content, Bands):
        return _of(call, 0)
    new = {axis % rank for axis in call.axes("axes", 1, 13) or ()}
    kept = [axis for axis in range(rank) if axis not in new]
    return Bands(kept[content.axis], content.parts)


@_estimate("Squeeze")
def _without_axes(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    content, rank = call.value(0).content, len(call.shape(0))
    axes = call.axes("axes", 1, 13)
    if not isinstance(content, Bands) or not axes or len(content.parts) == 1:
        return _of(call, 0)
    gone = {axis % rank for axis in axes}
    return Bands(content.axis - sum(axis < content.axis for axis in gone), content.parts)


@_estimate("Slice")
def _cut(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    content = call.value(0).content
    starts, ends, axes = (call.numbers(n) for n in (1, 2, 3)) if call.version >= 10 else (None, None, None)
    steps = call.numbers(4) if call.has(4) else [1]
    if isinstance(content, Bands) and starts and ends and steps and axes == [content.axis]:
        return _narrowed(content, content.parts[slice(starts[0], ends[0], steps[0])], call)
    return some_of(_of(call, 0))


def _narrowed(content: Bands, parts: tuple[Interval, ...], call: NodeCall) -> Interval | Bands:
    return Bands(content.axis, parts) if parts else some_of(interval_of(call.value(0), call.bounds))


@_estimate("Split")
def _part(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    content, axis = call.value(0).content, call.integer("axis") % len(call.shape(0))
    sizes = [numbers_of((o.shape[axis],)) if o.shape else None for o in outputs]
    if isinstance(content, Bands) and axis == content.axis and all(sizes):
        ends = [sum(s[0] for s in sizes[:n] if s) for n in (position, position + 1)]
        return _narrowed(content, content.parts[ends[0] : ends[1]], call)
    return some_of(_of(call, 0))


@_estimate("Gather")
def _gathered(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    content, places = call.value(0).content, call.numbers(1)
    axis, indices = call.integer("axis") % len(call.shape(0)), call.shape(1)
    if isinstance(content, Bands) and axis == content.axis and places and len(indices) < 2:
        count = len(content.parts)
        parts = tuple(content.parts[n] for n in places if -count <= n < count)
        if len(parts) == len(places):
            return Bands(axis, parts) if indices else parts[0]
    return some_of(_of(call, 0))


# Elements of several tensors.


@_estimate("Concat")
def _joined(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    values = [call.value(n) for n in range(len(call.inputs))]
    parts = [interval_of(v, call.bounds) for v in values]
    axis = call.integer("axis") % len(call.shape(0))
    if all(v.shape is not None and v.shape[axis] == 1 for v in values):
        return Bands(axis, tuple(parts))
    is_full = all(v.shape is not None and call.is_positive(v.shape) for v in values)
    return union(parts, call.bounds, is_attained=is_full)


@_estimate("Where")
def _chosen(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return union([_of(call, 1), _of(call, 2)], call.bounds)


@_estimate("ScatterElements", "ScatterND")
def _scattered(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    if call.text("reduction", "none") != "none":
        return UNBOUNDED
    return union([_of(call, 0), _of(call, 2)], call.bounds)


# What is computed.


def _pair(call: NodeCall) -> tuple[Interval, Interval, bool]:
    """Return where two operands are, and whether each element of the one meets each of the other."""
    return _of(call, 0), _of(call, 1), all_meet([call.value(0).shape, call.value(1).shape])


@_estimate("Add", "Sub")
def _sum(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    a, b, meets = _pair(call)
    found = summed(a, b if call.node.op_type == "Add" else negated(b), meets=meets)
    return fitted(found, outputs[position].dtype, call.bounds)


@_estimate("Mul")
def _product(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    a, b, meets = _pair(call)
    return fitted(multiplied(a, b, call.bounds, meets=meets), outputs[position].dtype, call.bounds)


@_estimate("Div")
def _quotient(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return divided(_of(call, 0), _of(call, 1), call.bounds)


@_estimate("Mod")
def _remainder(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return remainder(_of(call, 0), _of(call, 1), call.bounds, of_dividend=bool(call.integer("fmod")))


@_estimate("Neg")
def _negative(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return fitted(negated(_of(call, 0)), outputs[position].dtype, call.bounds)


@_estimate("Abs")
def _absolute(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return fitted(magnitude(_of(call, 0), call.bounds), outputs[position].dtype, call.bounds)


@_estimate("Sign")
def _sign(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    low = _of(call, 0).low
    return Interval(0 if low is not None and call.bounds.is_at_least(low, 0) else -1, 1)


_BOUNDED_BY = {"Max": largest, "Min": smallest}


@_estimate("Max", "Min")
def _extreme(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    step = _BOUNDED_BY[call.node.op_type]
    parts = [_of(call, n) for n in range(len(call.inputs))]
    meets = len(parts) == 2 and all_meet([call.value(n).shape for n in range(2)])
    return reduce(partial(step, bounds=call.bounds, meets=meets), parts)


@_estimate("Clip")
def _clipped(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    found = _of(call, 0)
    for name, place in (("Max", 1), ("Min", 2)):
        if call.has(place):
            found = _BOUNDED_BY[name](found, _of(call, place), call.bounds, meets=True)
    return found


@_estimate("CumSum")
def _cumulated(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    part, axes, shape = _of(call, 0), call.numbers(1), call.shape(0)
    if part.low is None or part.high is None or not axes or not call.bounds.is_at_least(part.low, 0):
        return UNBOUNDED
    is_exclusive = bool(call.integer("exclusive"))
    count = subtract(shape[axes[0]], int(is_exclusive))
    found = Interval(0 if is_exclusive else part.low, multiply(count, part.high))
    return fitted(found, outputs[position].dtype, call.bounds)


# Places.


def _places(size: Dim) -> Interval:
    return Interval(0, subtract(size, 1))


@_estimate("ArgMax", "ArgMin")
def _found(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return _places(call.shape(0)[call.integer("axis")])


@_estimate("TopK")
def _greatest(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    return _places(call.shape(0)[call.integer("axis", -1)]) if position == 1 else some_of(_of(call, 0))


@_estimate("NonZero")
def _non_zero(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval | Bands:
    dims = call.value(0).shape
    return Bands(0, tuple(map(_places, dims))) if dims else UNBOUNDED


@_estimate("NonMaxSuppression")
def _selected(call: NodeCall, outputs: Sequence[Value], position: int) -> Bands:
    batch, classes, boxes = call.shape(1)
    return Bands(1, tuple(map(_places, (batch, classes, boxes))))


@_estimate("Range")
def _counted(call: NodeCall, outputs: Sequence[Value], position: int) -> Interval:
    start, limit, step = (_of(call, n) for n in range(3))
    if step.low is not None and call.bounds.is_at_least(step.low, 1):
        return Interval(start.low, None if limit.high is None else subtract(limit.high, 1))
    if step.high is not None and call.bounds.is_at_most(step.high, -1):
        return Interval(None if limit.low is None else add(limit.low, 1), start.high)
    return UNBOUNDED
