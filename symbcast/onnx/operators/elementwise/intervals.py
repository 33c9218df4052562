"""Bounds of the integers that a node makes, where their exact elements are unknown.

Each function here reads a node for an estimate of `symbcast.graphs.operators.estimates`. It is called after the node's
operator has answered, for each output of integers without a content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.operators import estimates
from symbcast.graphs.operators.estimates import Estimate, places, with_estimate
from symbcast.graphs.values.contents import Bands, Interval
from symbcast.graphs.values.intervals import UNBOUNDED, interval_of, largest, smallest, some_of
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall

Estimator: TypeAlias = "Callable[[NodeCall, Sequence[Value], int], Estimate]"
"""From a call, its outputs and the position of one of them to the bounds of its elements."""

_ESTIMATORS: dict[str, Estimator] = {
    "ArgMax": lambda call, outputs, n: places(call.shape(0)[call.integer("axis")]),
    "ArgMin": lambda call, outputs, n: places(call.shape(0)[call.integer("axis")]),
    "Cast": lambda call, outputs, n: estimates.cast(call.value(0), outputs[n].dtype, call.bounds),
    "Concat": lambda call, outputs, n: estimates.joined(_inputs(call), _axis(call), call.bounds),
    "Gather": lambda call, outputs, n: estimates.gathered(call.value(0), call.value(1), _axis(call), call.bounds),
    "NonMaxSuppression": lambda call, outputs, n: Bands(1, tuple(map(places, call.shape(1)))),
    "Squeeze": lambda call, outputs, n: estimates.without_axes(call.value(0), _axes(call), call.bounds),
    "Unsqueeze": lambda call, outputs, n: estimates.with_axes(
        call.value(0), _axes(call), len(outputs[n].shape or ()), call.bounds
    ),
    "Where": lambda call, outputs, n: estimates.chosen([call.value(1), call.value(2)], call.bounds),
    **dict.fromkeys(("Expand", "Flatten", "Identity", "Reshape", "Tile"), lambda call, outputs, n: _of(call, 0)),
    **dict.fromkeys(
        ("Compress", "GatherElements", "GatherND", "ReverseSequence"), lambda call, outputs, n: some_of(_of(call, 0))
    ),
}


def _estimate(*names: str) -> Callable[[Estimator], Estimator]:
    def offer(function: Estimator) -> Estimator:
        _ESTIMATORS.update(dict.fromkeys(names, function))
        return function

    return offer


def with_intervals(call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a call, with bounds for integers about which nothing is known."""
    estimate = _ESTIMATORS.get(call.node.op_type)
    if estimate is None or call.node.domain not in ("", "ai.onnx"):
        return outputs
    return [with_estimate(value, partial(estimate, call, outputs, n)) for n, value in enumerate(outputs)]


def _of(call: NodeCall, position: int) -> Interval:
    """Return the bounds of the elements of an input."""
    return interval_of(call.value(position), call.bounds) if call.has(position) else UNBOUNDED


def _inputs(call: NodeCall) -> list[Value]:
    return [call.value(n) for n in range(len(call.inputs))]


def _axis(call: NodeCall) -> int:
    return call.integer("axis") % len(call.shape(0))


def _axes(call: NodeCall) -> list[int]:
    return call.axes("axes", 1, 13) or []


@_estimate("ReduceMax", "ReduceMin")
def _reduced(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    # The runtime's maximum of no elements is the least number of the type.
    return some_of(_of(call, 0)) if call.is_positive(call.shape(0)) else UNBOUNDED


@_estimate("Transpose")
def _transposed(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    order = call.integers("perm") or range(len(call.shape(0)))[::-1]
    return estimates.transposed(call.value(0), order, call.bounds)


@_estimate("Slice")
def _cut(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    starts, ends, axes = (call.numbers(n) for n in (1, 2, 3)) if call.version >= 10 else (None, None, None)
    steps = call.numbers(4) if call.has(4) else [1]
    if not (starts and ends and steps and axes and len(axes) == 1):
        return some_of(_of(call, 0))
    return estimates.cut(call.value(0), axes[0], slice(starts[0], ends[0], steps[0]), call.bounds)


@_estimate("Split")
def _part(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axis = _axis(call)
    sizes = numbers_of([o.shape[axis] for o in outputs if o.shape])
    is_known = sizes is not None and len(sizes) == len(outputs)
    part = slice(sum(sizes[:position]), sum(sizes[: position + 1])) if sizes is not None and is_known else None
    return estimates.cut(call.value(0), axis, part, call.bounds)


@_estimate("ScatterElements", "ScatterND")
def _scattered(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    if call.text("reduction", "none") != "none":
        return UNBOUNDED
    return estimates.chosen([call.value(0), call.value(2)], call.bounds)


@_estimate("Abs", "Add", "Div", "Max", "Min", "Mod", "Mul", "Neg", "Sign", "Sub")
def _elementwise(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    name = "Rem" if call.node.op_type == "Mod" and call.integer("fmod") else call.node.op_type
    return estimates.elementwise(name, _inputs(call), outputs[position].dtype, call.bounds)


@_estimate("Clip")
def _clipped(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    found = _of(call, 0)
    for bounded, place in ((largest, 1), (smallest, 2)):
        if call.has(place):
            found = bounded(found, _of(call, place), call.bounds, meets=True)
    return found


@_estimate("CumSum")
def _cumulated(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axes, is_exclusive = call.numbers(1), bool(call.integer("exclusive"))
    if not axes:
        return UNBOUNDED
    return estimates.summed_along(call.value(0), axes[0], call.bounds, is_exclusive=is_exclusive)


@_estimate("TopK")
def _greatest(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    return places(call.shape(0)[call.integer("axis", -1)]) if position == 1 else some_of(_of(call, 0))


@_estimate("NonZero")
def _non_zero(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    dims = call.value(0).shape
    return Bands(0, tuple(map(places, dims))) if dims else UNBOUNDED


@_estimate("Range")
def _counted(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    start, limit, step = (_of(call, n) for n in range(3))
    if step.low is not None and call.bounds.is_at_least(step.low, 1):
        return Interval(start.low, None if limit.high is None else subtract(limit.high, 1))
    if step.high is not None and call.bounds.is_at_most(step.high, -1):
        return Interval(None if limit.low is None else add(limit.low, 1), start.high)
    return UNBOUNDED
