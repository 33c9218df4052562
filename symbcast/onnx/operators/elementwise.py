"""Elementwise operators, on one tensor or several that are broadcast together, and all operators declared as data."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.formulas import any_of, different, equal
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import expect_numbers, real_number, summed_along
from symbcast.graphs.walking.unknown_ranks import reaches_nothing, required_numbers
from symbcast.onnx.operators.declarations import (
    MICROSOFT,
    RuntimeDifference,
    input_interval,
    interval_of_elements,
    interval_of_first,
    operator,
    reaches_broadcast,
)
from symbcast.onnx.operators.signatures import declare
from symbcast.operators.operator import Dims
from symbcast.operators.reach import reach_of
from symbcast.operators.values import contents, intervals
from symbcast.operators.values.contents import BOOL, FLOATS, INT32, INTEGERS, ConstantNumbers, Content, Elements
from symbcast.operators.values.elements import BINARY
from symbcast.operators.values.intervals import UNBOUNDED, Estimate, interval_of, largest, smallest
from symbcast.operators.values.tensors import cast, chosen, clipped, of_each, of_several
from symbcast.operators.values.value import Value


def _of_each(call: NodeCall, dtype: int) -> Content | None:
    return of_each(call.node.op_type, call.value(0), call.bounds)


def _cast(call: NodeCall, dtype: int) -> Content | None:
    return cast(call.value(0), dtype, call.asker)


@operator("Identity", interval=interval_of_first)
def identity(call: NodeCall) -> Value:
    """The same."""
    return call.value(0)


# An axis of 2 is refused for two axes at opset 9, where the second half would have no axes.
SOFTMAX_AXIS = RuntimeDifference(
    "Softmax LogSoftmax Hardmax",
    "refuses an axis at the end of the shape",
    "before opset 11 the shape may be cut there",
)


def _softmax_axis(call: NodeCall) -> int:
    return call.integer("axis", 1 if call.version < 13 else -1)


@operator("Hardmax", "LogSoftmax", "Softmax", reaches=lambda call, shapes: [reach_of([_softmax_axis(call)])])
def along_axis(call: NodeCall) -> Value:
    """Each line along an axis is mapped to a new one."""
    dims = call.shape(0)
    axis = _softmax_axis(call)
    # Before opset 11 the axis was where the shape is cut in two, which may be at its end.
    if axis != len(dims) or call.version >= 11 or call.does(SOFTMAX_AXIS):
        call.axis(axis, len(dims))
    return Value(dims, call.dtype())


# An axis of 2 is accepted for two axes of which one is empty.
CUMULATED_AXIS = RuntimeDifference(
    "CumProd CumSum", "does not look at the axis of an empty tensor, nor of a scalar", "the axis is one of the input's"
)


def _cumulated_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axes = call.numbers(1)
    if not axes or call.node.op_type != "CumSum":
        return UNBOUNDED
    is_exclusive = bool(call.integer("exclusive"))
    return intervals.summed_along(call.value(0), axes[0], call.bounds, is_exclusive=is_exclusive)


@operator(
    "CumProd",
    "CumSum",
    reaches=lambda call, shapes: [reach_of(required_numbers(call, 1))],
    interval=_cumulated_interval,
)
def cumulated(call: NodeCall) -> Value:
    """Cumulative sums or products along an axis, which is an input."""
    dims = call.shape(0)
    expect_numbers(call, 1)
    axes = call.numbers(1)
    if axes is None:
        call.note_data(f"{call.input_name(1)}, which is data, must be an axis", 1)
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
    call.refuse_if(not dims, "a scalar cannot be cumulated")
    if not all(-len(dims) <= axis < len(dims) for axis in axes):
        call.require(call.empty(dims), f"the axis must be from {-len(dims)} to {len(dims) - 1}")


def _clip_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    interval = input_interval(call, 0)
    for bounded, place in ((largest, 1), (smallest, 2)):
        if call.has(place):
            interval = bounded(interval, input_interval(call, place), call.bounds, meets=True)
    return interval


@operator("Clip", reaches=reaches_nothing, interval=_clip_interval)
def clip(call: NodeCall) -> Value:
    """Each element, clipped to bounds."""
    value, dims = call.value(0), call.shape(0)
    content = None
    # Before opset 11 the bounds are attributes, and clip real numbers only.
    if call.version >= 11:
        expect_numbers(call, 1, 2)
        low, high = (call.elements(n) if call.has(n) else () for n in (1, 2))
        if low is not None and high is not None:
            content = clipped(value, low, high, call.asker)
    return Value(dims, value.dtype, content)


@operator("Dropout", reaches=reaches_nothing)
def dropout(call: NodeCall) -> Sequence[Value]:
    """The output and the mask have the shape of the input."""
    value = call.value(0)
    if call.version >= 12 and call.has(1):
        expect_numbers(call, 1)
        ratio = real_number(call, 1)
        if ratio is None:
            call.note_data(f"{call.input_name(1)}, which is data, must be at least 0 and below 1", 1)
        elif not 0 <= ratio < 1:
            call.refuse("the ratio must be at least 0 and below 1")
    # Before opset 10 the mask has the type of the data.
    return value, Value(call.shape(0), BOOL if call.version >= 10 else value.dtype)


# "Integer division by zero", "Integer modulo by zero"; real quotients are infinite.
DIVISION_BY_ZERO = RuntimeDifference("Div Mod", "refuses to divide integers by 0", "leaves the result open")


@operator("Add", "Div", "Mod", "Mul", "Sub", reaches=reaches_broadcast, interval=interval_of_elements)
@operator("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Pow", reaches=reaches_broadcast)
def of_two(call: NodeCall) -> Value:
    """Two operands, broadcast together."""
    shape = _broadcast(call)
    return Value(shape, call.dtype() or call.dtype(1), _of_pairs(call, shape))


@operator(*("And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor"), reaches=reaches_broadcast)
def compared(call: NodeCall) -> Value:
    """A truth value for each pair of elements of two operands, broadcast together."""
    shape = _broadcast(call)
    return Value(shape, BOOL, _of_pairs(call, shape))


def _of_pairs(call: NodeCall, shape: Dims) -> Content | None:
    is_followed = call.node.op_type != "Mod" or not call.integer("fmod")
    step = BINARY.get(call.node.op_type) if is_followed else None
    return of_several(step, [call.value(0), call.value(1)], shape, call.asker)


def _broadcast(call: NodeCall) -> Dims:
    """Return two operands broadcast together; before opset 7 by the attributes ``broadcast`` and ``axis``."""
    shape = _legacy(call) if call.version < 7 and call.node.op_type not in ("Mod", "BitShift") else None
    if shape is None:
        shape = call.broadcast(call.shape(0), call.shape(1))
    if call.node.op_type == "Mod" and call.dtype() in FLOATS and call.version < 28 and not call.integer("fmod"):
        call.refuse("real numbers need fmod=1 before opset 28")
    if call.node.op_type in ("Div", "Mod") and call.does(DIVISION_BY_ZERO) and call.dtype() in INTEGERS:
        _require_divisor(call, shape)
    return shape


def _require_divisor(call: NodeCall, shape: Dims) -> None:
    """Require that no integer be divided by 0, which ONNX Runtime refuses."""
    divisor = call.value(1).content
    # A long divisor is an array or has bounds; only listed elements are looked at one by one.
    items = divisor.items if isinstance(divisor, Elements) else None
    if items is None:
        interval = interval_of(call.value(1), call.bounds)
        is_number = isinstance(divisor, ConstantNumbers) and divisor.array.all()
        is_positive = interval.low is not None and call.bounds.is_at_least(interval.low, 1)
        if not (is_number or is_positive):
            call.note_data(f"{call.input_name(1)}, which is data, must not contain 0", 1)
        return
    empty = [equal(d, 0) for d in shape if not call.bounds.is_at_least(d, 1)]
    for item in dict.fromkeys(items):
        if not contents.is_size(item):
            call.note_data(f"{call.input_name(1)}, which is data, must not contain 0", 1)
        elif not call.bounds.is_at_least(item, 1) and not call.bounds.is_at_most(item, -1):
            call.require(any_of([*empty, different(item, 0)]), "no integer may be divided by 0")


def _legacy(call: NodeCall) -> Dims:
    axis = call.attribute("axis")
    attributes = {} if axis is None else {"axis": int(axis)}
    return call.broadcast(
        call.shape(0), call.shape(1), rule="onnx-legacy", broadcast=call.integer("broadcast"), **attributes
    )


@operator("Max", "Min", reaches=reaches_broadcast, interval=interval_of_elements)
@operator("Sum", "Mean", reaches=reaches_broadcast)
def variadic(call: NodeCall) -> Value:
    """Any number of operands, broadcast together; before opset 8 their shapes are equal."""
    shapes = call.shapes()
    shape = shapes[0]
    if call.version < 8:
        for other in shapes[1:]:
            shape = call.broadcast(shape, other, rule="none")
    elif len(shapes) > 1:
        shape = call.broadcast(*shapes)
    values = call.values()
    if len(values) == 1:
        return values[0]
    # Mean has no step: a quotient by the number of operands is not followed.
    step = BINARY.get({"Sum": "Add"}.get(call.node.op_type, call.node.op_type))
    return Value(shape, call.dtype(), of_several(step, values, shape, call.asker))


@operator(
    "Where",
    reaches=reaches_broadcast,
    interval=lambda call, outputs, n: intervals.chosen([call.value(1), call.value(2)], call.bounds),
)
def where(call: NodeCall) -> Value:
    """Elements of one tensor or the other, selected by a condition; all three are broadcast together."""
    shape = call.broadcast(call.shape(0), call.shape(1), call.shape(2))
    values = [call.value(n) for n in range(3)]
    content = chosen(call.place.name, values, shape, call.asker)
    return Value(shape, call.dtype(1) or call.dtype(2), content)


# A slope of (2, 3) stretches data of (3,).
PRELU_BOTH_WAYS = RuntimeDifference(
    "PRelu", "broadcasts slope and data both ways", "the slope is broadcast onto the data"
)


@operator("PRelu", reaches=reaches_broadcast)
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


# Operators declared by their signatures.


declare(
    """
    Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish
    LeakyRelu Log MeanVarianceNormalization Mish Reciprocal Relu Round Selu Shrink Sigmoid Sin Sinh
    Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu
    """,
    "X -> X",
    content=_of_each,
)
declare("Abs Neg Sign", "X -> X", content=_of_each, interval=interval_of_elements)
declare("IsInf IsNaN Not", "X -> X", BOOL, content=_of_each)
declare("BitCast", "X -> X", "to")
declare(
    "Cast",
    "* -> *",
    "to",
    content=_cast,
    interval=lambda call, outputs, n: intervals.cast(call.value(0), outputs[n].dtype, call.bounds),
)
declare("CastLike", "*, T -> *", "#1", content=_cast, reaches=reaches_nothing)
declare("Bernoulli RandomNormalLike RandomUniformLike", "X -> X", "dtype")
declare("SwiGLU", "X, X -> X")
declare("Gelu QuickGelu SampleOp", "X -> X", domain=MICROSOFT)
declare("MurmurHash3", "X -> X", INT32, domain=MICROSOFT)
declare("BiasGelu FastGelu", "(..., C), (C)? -> (..., C)", domain=MICROSOFT)
