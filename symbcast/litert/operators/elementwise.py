"""Elementwise operators on one tensor, or on several that are broadcast together, and those that keep the shape."""

from __future__ import annotations

from collections.abc import Mapping

from symbcast.core.algebra.formulas import different, negate
from symbcast.litert.call import LiteRtCall, operator
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import FLOAT, INT32, INT64, INTEGERS, Element, is_size
from symbcast.operators.values.elements import BINARY, Binary, KnownSizes, truth
from symbcast.operators.values.tensors import cast, chosen, of_each, of_several
from symbcast.operators.values.value import FIRST, Constant, Value

# Operators whose output has the shape of their first input and unknown elements.
_KEEPS = """
    COMPLEX_ABS COS DENSIFY DEQUANTIZE ELU EXP FAKE_QUANT GELU HARD_SWISH IMAG L2_NORMALIZATION LEAKY_RELU
    LOCAL_RESPONSE_NORMALIZATION LOG LOGISTIC QUANTIZE REAL RELU6 RELU_0_TO_1 RELU_N1_TO_1 RSQRT SIN SQUARE
    TANH
"""
# Elementwise operators, and their names in `symbcast.operators.values.elements`.
_EACH = {
    "ABS": "Abs", "CEIL": "Ceil", "FLOOR": "Floor", "LOGICAL_NOT": "Not", "NEG": "Neg", "RELU": "Relu",
    "ROUND": "Round", "SIGN": "Sign", "SQRT": "Sqrt",
}  # fmt: skip


@operator(*_KEEPS.split())
def keeps_shape(call: LiteRtCall) -> Value:
    """A tensor with the shape of the first input."""
    return call.output(call.shape(0))


@operator(*_EACH)
def each(call: LiteRtCall) -> Value:
    """A function applied to each element."""
    return call.output(call.shape(0), of_each(_EACH[call.node.op_type], call.value(0), call.bounds))


@operator("CAST")
def cast_(call: LiteRtCall) -> Value:
    """The elements converted to another type."""
    output = call.output(call.shape(0))
    return call.output(output.shape, cast(call.value(0), output.dtype, call.asker))


# Two operands.


def _different(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    equal_ = truth(BINARY["Equal"](known, dtype, a, b))
    return None if equal_ is None else negate(equal_)


def _floored(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    """Return a quotient rounded down, which `BINARY` has for those that are not negative."""
    is_known = is_size(a) and known.bounds.is_at_least(a, 0) and dtype in INTEGERS
    return BINARY["Div"](known, dtype, a, b) if is_known else None


_BINARY: Mapping[str, Binary | None] = {
    "ADD": BINARY["Add"], "BITWISE_XOR": None, "DIV": BINARY["Div"], "EQUAL": BINARY["Equal"],
    "FLOOR_DIV": _floored, "FLOOR_MOD": BINARY["Mod"], "GREATER": BINARY["Greater"],
    "GREATER_EQUAL": BINARY["GreaterOrEqual"], "LESS": BINARY["Less"], "LESS_EQUAL": BINARY["LessOrEqual"],
    "LOGICAL_AND": BINARY["And"], "LOGICAL_OR": BINARY["Or"], "MAXIMUM": BINARY["Max"], "MINIMUM": BINARY["Min"],
    "MUL": BINARY["Mul"], "NOT_EQUAL": _different, "POW": BINARY["Pow"], "RIGHT_SHIFT": None,
    "SQUARED_DIFFERENCE": None, "SUB": BINARY["Sub"],
}  # fmt: skip


# Types for which operators fail where a divisor is 0; other quotients are infinite.
_DIVIDED = {"DIV": INTEGERS, "FLOOR_DIV": INTEGERS | {FLOAT}, "FLOOR_MOD": INTEGERS}


def _check_divisor(call: LiteRtCall) -> None:
    items = call.elements(1) if call.value(1).dtype in (INT32, INT64) else None  # smaller integers are quantised
    for item in dict.fromkeys(items or ()):
        if is_size(item):
            call.require(different(item, 0), "the divisor must not be 0")
    if not isinstance(call.value(1), Constant) and not (items is not None and all(map(is_size, items))):
        call.note_data(f"the divisor in {call.input_name(1)}, which is data, must not be 0", 1)


@operator(*_BINARY)
@operator("MAXIMUM", "MINIMUM", elements=(0, 1))
def of_two(call: LiteRtCall) -> Value:
    """Two tensors, broadcast together, of any rank: up to release 2.1 LiteRT broadcast at most 4 to 6 axes."""
    shape = call.broadcast(call.shape(0), call.shape(1))
    if call.value(1).dtype in _DIVIDED.get(call.node.op_type, ()):
        _check_divisor(call)
    step = None if call.is_fused else _BINARY[call.node.op_type]
    return call.output(shape, of_several(step, [call.value(0), call.value(1)], shape, call.asker))


@operator("PRELU")
def prelu(call: LiteRtCall) -> Value:
    """The data with a slope that is broadcast to them."""
    call.broadcast(call.shape(1), call.shape(0), rule="unidirectional")
    return call.output(call.shape(0))


@operator("ADD_N", "ATAN2")
def of_one_shape(call: LiteRtCall) -> Value:
    """Tensors of one shape; LiteRT does not check that for ATAN2, and reads past the end of a shorter one."""
    shapes = call.shapes()
    for other in shapes[1:]:
        call.same_shape(other, shapes[0], "the tensors must have the same shape")
    return call.output(shapes[0])


@operator("SELECT_V2", elements=(1, 2))
def select_v2(call: LiteRtCall) -> Value:
    """Elements of one tensor or the other, selected by a third one; all are broadcast together."""
    shapes = call.shapes()
    return _selected(call, call.broadcast(*shapes))


@operator("SELECT", elements=(1, 2))
def select(call: LiteRtCall) -> Value:
    """Elements of one tensor or the other, which have one shape; the condition has it too, or is a scalar or rows."""
    condition, yes, no = (call.shape(n) for n in range(3))
    call.same_shape(no, yes, "both tensors must have the same shape")
    if len(condition) == 1 != len(yes):
        call.refuse_if(not yes, "the condition must be a scalar, as the tensors are")
        call.equal(condition[0], yes[0], "the condition must have one truth value for each row")
    elif condition:
        call.same_shape(condition, yes, "the condition must have the shape of the tensors, one axis, or none")
    return _selected(call, yes)


def _selected(call: LiteRtCall, shape: Dims) -> Value:
    values = [call.value(n) for n in range(3)]
    return call.output(shape, chosen(call.place.name, values, shape, call.asker))


@operator("ZEROS_LIKE", elements=FIRST)
def zeros_like(call: LiteRtCall) -> Value:
    """Zeros in the shape of a tensor."""
    return call.output(call.shape(0))
