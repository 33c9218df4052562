"""Elementwise operators on one tensor, or on several that are broadcast together."""

from __future__ import annotations

from collections.abc import Mapping

from symbcast.core.algebra.arithmetic import floor_divide
from symbcast.core.algebra.bounds import exact_quotient
from symbcast.core.algebra.formulas import negate
from symbcast.graphs.walking.unknown_ranks import reaches_nothing
from symbcast.openvino.graph import OpenVinoCall, element_type_number, operator
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INTEGERS, Element, is_size
from symbcast.operators.values.elements import BINARY, Binary, KnownSizes, truth
from symbcast.operators.values.tensors import cast, chosen, clipped, of_each, of_several
from symbcast.operators.values.value import FIRST, Value

# Operators whose output has the shape of their first input and unknown elements.
_KEEPS = """
    Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cos Cosh Elu Erf Exp Gelu HardSigmoid HSigmoid HSwish IsFinite IsInf
    IsNaN Log Mish Selu Sigmoid Sin Sinh SoftPlus SoftSign Swish Tan Tanh
    GRN LRN NormalizeL2
"""

# Elementwise operators, and their names in `symbcast.operators.values.elements`.
_EACH = {
    "Abs": "Abs",
    "Ceiling": "Ceil",
    "Floor": "Floor",
    "LogicalNot": "Not",
    "Negative": "Neg",
    "Relu": "Relu",
    "Round": "Round",
    "Sign": "Sign",
    "Sqrt": "Sqrt",
}


@operator(*_KEEPS.split(), reaches=reaches_nothing)
@operator("Identity", "ReverseSequence", "Reverse", "ShuffleChannels", reaches=reaches_nothing, elements=FIRST)
def keeps_shape(call: OpenVinoCall) -> Value:
    """A tensor with the shape of the first input."""
    return call.output(call.shape(0))


@operator(*_EACH, reaches=reaches_nothing)
def each(call: OpenVinoCall) -> Value:
    """A function applied to each element."""
    return call.output(call.shape(0), of_each(_EACH[call.node.op_type], call.value(0), call.bounds))


@operator("Convert", "ConvertLike", reaches=reaches_nothing)
def convert(call: OpenVinoCall) -> Value:
    """The elements converted to another type."""
    to = element_type_number(call.node.raw.get_output_element_type(0))
    return call.output(call.shape(0), cast(call.value(0), to, call.asker))


@operator("Clamp", reaches=reaches_nothing, elements=FIRST)
def clamp(call: OpenVinoCall) -> Value:
    """Each element limited to the bounds."""
    content = None
    if call.dtype() in INTEGERS:
        low, high = (_end(float(call.attribute(name))) for name in ("min", "max"))
        content = clipped(call.value(0), low, high, call.asker)
    return call.output(call.shape(0), content)


def _end(bound: float) -> tuple[Element, ...]:
    """Return a bound if it is an integer; empty if it exceeds all 32-bit integers, unknown if it is a fraction."""
    if abs(bound) >= _FAR:
        return ()
    return (int(bound) if bound.is_integer() else None,)


_FAR = 1 << 31


# Two operands.


def auto_broadcast(call: OpenVinoCall, left: Dims, right: Dims) -> Dims:
    """Return two shapes broadcast together as the attribute ``auto_broadcast`` says."""
    match call.text("auto_broadcast", "numpy"):
        case "numpy":
            return call.broadcast(left, right)
        case "pdpd":
            axis = call.integer("auto_broadcast.auto_broadcast_axis", -1)
            return call.broadcast(left, right, rule="pdpd", axis=axis, flavour="openvino")
        case _:
            return call.broadcast(left, right, rule="none")


def _truncated_remainder(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    """Return a remainder with the sign of the dividend: equal to `_modulo` for a non-negative dividend."""
    # The CPU returns -2 for -5 mod 3, where FloorMod returns 1.
    return BINARY["Mod"](known, dtype, a, b) if is_size(a) and known.bounds.is_at_least(a, 0) else None


def _different(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    equal = truth(BINARY["Equal"](known, dtype, a, b))
    return None if equal is None else negate(equal)


def _floored(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    """Return a quotient, rounded down for integers, where that is certain."""
    if dtype not in INTEGERS:
        return BINARY["Div"](known, dtype, a, b)
    # -5 // 3 is -2 by the document and where constants are folded, but -1 on the CPU (2026.4).
    if not is_size(a) or not is_size(b) or not known.bounds.is_at_least(b, 1):
        return None
    return floor_divide(a, b) if known.bounds.is_at_least(a, 0) else exact_quotient((a,), (b,))


_BINARY: Mapping[str, Binary | None] = {
    "Add": BINARY["Add"],
    "BitwiseAnd": None,
    "BitwiseLeftShift": None,
    "BitwiseOr": None,
    "BitwiseRightShift": None,
    "BitwiseXor": None,
    "Divide": None,
    "Equal": BINARY["Equal"],
    "FloorMod": BINARY["Mod"],
    "Greater": BINARY["Greater"],
    "GreaterEqual": BINARY["GreaterOrEqual"],
    "Less": BINARY["Less"],
    "LessEqual": BINARY["LessOrEqual"],
    "LogicalAnd": BINARY["And"],
    "LogicalOr": BINARY["Or"],
    "LogicalXor": BINARY["Xor"],
    "Maximum": BINARY["Max"],
    "Minimum": BINARY["Min"],
    "Mod": _truncated_remainder,
    "Multiply": BINARY["Mul"],
    "NotEqual": _different,
    "Power": BINARY["Pow"],
    "SquaredDifference": None,
    "Subtract": BINARY["Sub"],
}


@operator(*_BINARY, reaches=reaches_nothing)
@operator("Maximum", "Minimum", reaches=reaches_nothing, elements=(0, 1))
def of_two(call: OpenVinoCall) -> Value:
    """Two tensors, broadcast together."""
    shape = auto_broadcast(call, call.shape(0), call.shape(1))
    step = _BINARY[call.node.op_type]
    if call.node.op_type == "Divide":
        step = _floored if call.flag("m_pythondiv", True) else BINARY["Div"]
    return call.output(shape, of_several(step, [call.value(0), call.value(1)], shape, call.asker))


@operator("Select", reaches=reaches_nothing, elements=(1, 2))
def select(call: OpenVinoCall) -> Value:
    """Elements of one tensor or the other, selected by a third one."""
    condition, yes, no = (call.shape(n) for n in range(3))
    match call.text("auto_broadcast", "numpy"):
        case "numpy":
            shape = call.broadcast(condition, yes, no)
        case "pdpd":
            # Condition and else are broadcast onto then.
            axis = call.integer("auto_broadcast.auto_broadcast_axis", -1)
            shape = call.broadcast(yes, no, rule="pdpd", axis=axis, flavour="openvino")
            shape = call.broadcast(shape, condition, rule="pdpd", axis=axis, flavour="openvino")
        case _:
            shape = call.broadcast(call.broadcast(yes, no, rule="none"), condition, rule="none")
    values = [call.value(n) for n in range(3)]
    return call.output(shape, chosen(call.place.name, values, shape, call.asker))


@operator("PRelu")
def prelu(call: OpenVinoCall) -> Value:
    """The data and the slope, broadcast together; a slope with one axis is aligned with the channels."""
    data, slope = call.shape(0), call.shape(1)
    if len(slope) == 1 and slope[0] != 1 and len(data) > 1:
        # 3 slopes for (2, 1, 4) give (2, 3, 4) on the CPU.
        slope = (*slope, *([1] * (len(data) - 2)))
    # OpenVINO's ``reshape`` returns the shape of the data; on the CPU a single channel is broadcast to the slopes.
    return call.output(call.broadcast(data, slope))


@operator("FakeQuantize")
def fake_quantize(call: OpenVinoCall) -> Value:
    """The four ranges are broadcast with the data."""
    shape = call.shape(0)
    for n in range(1, 5):
        shape = auto_broadcast(call, shape, call.shape(n))
    return call.output(shape)
