"""Elementwise operators on one tensor, or on several that are broadcast together."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.logic.formulas import any_of, different, equal
from symbcast.graphs.operators.elementwise import chosen, clipped, of_several
from symbcast.graphs.operators.expected_shapes import expect_numbers, real_number
from symbcast.graphs.operators.folding import summed_along
from symbcast.graphs.values.contents import Elements, Numbers, is_size
from symbcast.graphs.values.elements import BINARY
from symbcast.graphs.values.intervals import interval_of
from symbcast.graphs.values.numbers import BOOL, FLOATS, INTEGERS
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import CUMULATED_AXIS, DIVISION_BY_ZERO, PRELU_BOTH_WAYS, SOFTMAX_AXIS
from symbcast.operators.context import Dims


@operator("Identity")
def identity(call: NodeCall) -> Value:
    """The same."""
    return call.value(0)


@operator("Hardmax", "LogSoftmax", "Softmax")
def along_axis(call: NodeCall) -> Value:
    """Each line along an axis is mapped to a new one."""
    dims = call.shape(0)
    axis = call.integer("axis", 1 if call.version < 13 else -1)
    # Before opset 11 the axis was where the shape is cut in two, which may be at its end.
    if axis != len(dims) or call.version >= 11 or call.does(SOFTMAX_AXIS):
        call.axis(axis, len(dims))
    return Value(dims, call.dtype())


@operator("CumProd", "CumSum")
def cumulated(call: NodeCall) -> Value:
    """Cumulative sums or products along an axis, which is an input."""
    dims = call.shape(0)
    expect_numbers(call, 1)
    axes = call.numbers(1)
    if axes is None:
        call.note(f"not checked: {call.input_name(1)}, which is data, must be an axis", is_about_data=True, by=[1])
    if call.does(CUMULATED_AXIS):
        _check_axes(call, dims, axes or ())
    else:
        for axis in axes or ():
            call.axis(axis, len(dims))
    content = None
    if axes and -len(dims) <= axes[0] < len(dims) and call.node.op_type == "CumSum":
        is_exclusive, is_reversed = bool(call.integer("exclusive")), bool(call.integer("reverse"))
        content = summed_along(call.value(0), axes[0], call.bounds, is_exclusive=is_exclusive, is_reversed=is_reversed)
    return Value(dims, call.dtype(), content)


def _check_axes(call: NodeCall, dims: Dims, axes: Sequence[int]) -> None:
    """Require the axes of a tensor that is not empty."""
    if not dims:
        call.refuse("a scalar cannot be cumulated")
    if not all(-len(dims) <= axis < len(dims) for axis in axes):
        call.require(call.empty(dims), f"the axis must be from {-len(dims)} to {len(dims) - 1}")


@operator("Clip")
def clip(call: NodeCall) -> Value:
    """Each element, clipped to bounds."""
    value, dims = call.value(0), call.shape(0)
    content = None
    if call.version >= 11:
        expect_numbers(call, 1, 2)
        low, high = (call.elements(n) if call.has(n) else () for n in (1, 2))
        if low is not None and high is not None:
            content = clipped(value, low, high, call.asker)
    return Value(dims, value.dtype, content)


@operator("Dropout")
def dropout(call: NodeCall) -> Sequence[Value]:
    """The output and the mask have the shape of the input."""
    value = call.value(0)
    if call.version >= 12 and call.has(1):
        expect_numbers(call, 1)
        ratio = real_number(call, 1)
        if ratio is None:
            reason = f"not checked: {call.input_name(1)}, which is data, must be at least 0 and below 1"
            call.note(reason, is_about_data=True, by=[1])
        elif not 0 <= ratio < 1:
            call.refuse("the ratio must be at least 0 and below 1")
    return value, Value(call.shape(0), BOOL if call.version >= 10 else value.dtype)


def pair_broadcast(call: NodeCall) -> Dims:
    """Return two operands broadcast together; before opset 7 by the attributes ``broadcast`` and ``axis``."""
    shape = _legacy(call) if call.version < 7 and call.node.op_type not in ("Mod", "BitShift") else None
    if shape is None:
        shape = call.broadcast(call.shape(0), call.shape(1))
    if call.node.op_type == "Mod" and call.dtype() in FLOATS and call.version < 28 and not call.integer("fmod"):
        call.refuse("real numbers need fmod=1 before opset 28")
    if call.node.op_type in ("Div", "Mod") and call.does(DIVISION_BY_ZERO) and call.dtype() in INTEGERS:
        _ask_for_divisor(call, shape)
    return shape


def _ask_for_divisor(call: NodeCall, shape: Dims) -> None:
    """Require that no integer be divided by 0, which ONNX Runtime refuses."""
    divisor = call.value(1).content
    items = divisor.items if isinstance(divisor, Elements) else None
    if items is None:
        found = interval_of(call.value(1), call.bounds)
        is_number = isinstance(divisor, Numbers) and divisor.array.all()
        is_positive = found.low is not None and call.bounds.is_at_least(found.low, 1)
        if not (is_number or is_positive):
            call.note(
                f"not checked: {call.input_name(1)}, which is data, must not contain 0", is_about_data=True, by=[1]
            )
        return
    empty = [equal(d, 0) for d in shape if not call.bounds.is_at_least(d, 1)]
    for item in dict.fromkeys(items):
        if not is_size(item):
            call.note(
                f"not checked: {call.input_name(1)}, which is data, must not contain 0", is_about_data=True, by=[1]
            )
        elif not call.bounds.is_at_least(item, 1) and not call.bounds.is_at_most(item, -1):
            call.require(any_of([*empty, different(item, 0)]), "no integer may be divided by 0")


def _legacy(call: NodeCall) -> Dims:
    axis = call.attribute("axis")
    attributes = {} if axis is None else {"axis": int(axis)}
    return call.broadcast(
        call.shape(0), call.shape(1), rule="onnx-legacy", broadcast=call.integer("broadcast"), **attributes
    )


@operator("Max", "Min", "Sum", "Mean")
def variadic(call: NodeCall) -> Value:
    """Any number of operands, broadcast together; before opset 8 their shapes are equal."""
    shapes = [call.shape(n) for n in range(len(call.inputs))]
    shape = shapes[0]
    if call.version < 8:
        for other in shapes[1:]:
            shape = call.broadcast(shape, other, rule="none")
    elif len(shapes) > 1:
        shape = call.broadcast(*shapes)
    values = [call.value(n) for n in range(len(call.inputs))]
    if len(values) == 1:
        return values[0]
    step = BINARY.get({"Sum": "Add"}.get(call.node.op_type, call.node.op_type))
    return Value(shape, call.dtype(), of_several(step, values, shape, call.asker))


@operator("Where")
def where(call: NodeCall) -> Value:
    """Elements of one tensor or the other, selected by a condition; all three are broadcast together."""
    shape = call.broadcast(call.shape(0), call.shape(1), call.shape(2))
    values = [call.value(n) for n in range(3)]
    content = chosen(call.place.name, values, shape, call.asker)
    return Value(shape, call.dtype(1) or call.dtype(2), content)


@operator("PRelu")
def prelu(call: NodeCall) -> Value:
    """The slope is broadcast onto the data; ONNX Runtime broadcasts both ways."""
    data, slope = call.shape(0), call.shape(1)
    if call.version < 7 and len(slope) == 1 and slope != (1,) and len(data) > 1:
        # Before opset 7 a slope of one axis is one for each channel.
        slope = (*slope, *([1] * (len(data) - 2)))
    if call.does(PRELU_BOTH_WAYS):
        return Value(call.broadcast(data, slope), call.dtype())
    call.broadcast(slope, data, rule="unidirectional")
    return Value(data, call.dtype())
