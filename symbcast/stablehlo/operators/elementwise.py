"""Elementwise operators: operands and results have one shape; only CHLO's ``broadcast_`` operators broadcast."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import prod

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import negate
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.node_call import either
from symbcast.graphs.walking.reshaping import filled
from symbcast.operators.operator import TWICE, Dims
from symbcast.operators.values.contents import BOOL, INTEGERS, Content, Element, Elements, is_size
from symbcast.operators.values.elements import BINARY, Binary, KnownSizes, truth
from symbcast.operators.values.tensors import cast, chosen, combined, of_each, of_several
from symbcast.operators.values.value import EVERY, FIRST, Value
from symbcast.stablehlo.graph import HloCall, operator

SAME = "operands must have the same shape"

# One operand.

# Operators of each element, and their names in `symbcast.operators.values.elements`.
_EACH = {
    "abs": "Abs",
    "ceil": "Ceil",
    "floor": "Floor",
    "negate": "Neg",
    "not": "Not",
    "round_nearest_afz": "Round",
    "round_nearest_even": "Round",
    "sign": "Sign",
    "sqrt": "Sqrt",
}
_KEEPS = """
    cbrt cosine count_leading_zeros exponential exponential_minus_one imag is_finite log log_plus_one logistic popcnt
    real reduce_precision rsqrt sine tan tanh uniform_dequantize uniform_quantize
"""
_CHLO_KEEPS = """
    _asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv erfc is_inf is_neg_inf
    is_pos_inf lgamma sinh square tan
"""
_ARITH_KEEPS = "bitcast extf fptosi fptoui negf sitofp truncf uitofp"


@operator(*_EACH, constraints="C1")
def each(call: HloCall) -> Value:
    """A function of each element."""
    is_bitwise = call.node.op_type == "stablehlo.not" and call.dtype() != BOOL
    name = "" if is_bitwise else _EACH[call.node.op_type.partition(".")[2]]
    return call.output(call.shape(0), of_each(name, call.value(0), call.bounds))


@operator(*_KEEPS.split(), constraints="C1")
@operator(*(f"chlo.{name}" for name in _CHLO_KEEPS.split()), *(f"arith.{name}" for name in _ARITH_KEEPS.split()))
def keeps(call: HloCall) -> Value:
    """A tensor of the same shape."""
    return call.output(call.shape(0))


@operator("convert", constraints="C1", elements=FIRST)
@operator("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci", "shape.index_to_size")
@operator("shape.size_to_index")
def convert(call: HloCall) -> Value:
    """The elements converted to another type."""
    kind = call.node.types[0]
    content = cast(call.value(0), kind.dtype, call.asker) if kind is not None else call.value(0).content
    return call.output(call.shape(0), content)


# Several operands.


def _quotient(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    """Return a quotient; of integers, rounded towards zero."""
    if dtype not in INTEGERS or not isinstance(b, int) or b >= 0:
        return BINARY["Div"](known, dtype, a, b)
    # Only quotients by positive numbers are followed; the sign goes outside, as rounding towards zero allows.
    return BINARY["Mul"](known, dtype, -1, BINARY["Div"](known, dtype, a, -b))


def _remainder(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    """Return a remainder with the sign of the dividend, of a division that rounds towards zero."""
    # The sign of the divisor does not change a remainder that has the sign of the dividend.
    divisor = abs(b) if isinstance(b, int) else b
    if is_size(a) and known.bounds.is_at_least(a, 0):
        return BINARY["Mod"](known, dtype, a, divisor)
    if is_size(a) and known.bounds.is_at_most(a, 0):
        return BINARY["Mul"](known, dtype, -1, BINARY["Mod"](known, dtype, multiply(-1, a), divisor))
    whole = _quotient(known, dtype, a, b) if dtype in INTEGERS else None
    return BINARY["Sub"](known, dtype, a, BINARY["Mul"](known, dtype, b, whole))


def _of_truths(name: str, known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    """Apply a logical operation to truth values; bits of integers are not followed."""
    return BINARY[name](known, dtype, a, b) if dtype == BOOL else None


def _of_numbers(name: str, logical: str) -> Binary:
    """Return the step for numbers, which has another meaning for truth values."""
    return lambda known, dtype, a, b: BINARY[logical if dtype == BOOL else name](known, dtype, a, b)


def _different(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    equal = truth(BINARY["Equal"](known, dtype, a, b))
    if equal is None:
        return None
    is_equal = known.is_known(equal)
    return negate(equal) if is_equal is None else int(not is_equal)


def _floored(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    if dtype in INTEGERS and is_size(a) and is_size(b) and known.bounds.is_at_least(b, 1):
        return floor_divide(a, b)
    return None


def _rounded_up(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    return ceil_divide(a, b) if is_size(a) and is_size(b) and known.bounds.is_at_least(b, 1) else None


def _unsigned(step: Binary) -> Binary:
    """Return a step for integers without a sign, whose negative numbers would be large ones."""

    def of_sizes(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
        are_sizes = all(is_size(n) and known.bounds.is_at_least(n, 0) for n in (a, b))
        return step(known, dtype, a, b) if are_sizes else None

    return of_sizes


_TWO: Mapping[str, Binary | None] = {
    **dict.fromkeys(("atan2", "complex", "shift_left", "shift_right_arithmetic", "shift_right_logical"), None),
    "add": _of_numbers("Add", "Or"),
    "and": partial(_of_truths, "And"),
    "divide": _quotient,
    "maximum": _of_numbers("Max", "Or"),
    "minimum": _of_numbers("Min", "And"),
    "multiply": _of_numbers("Mul", "And"),
    "or": partial(_of_truths, "Or"),
    "power": BINARY["Pow"],
    "remainder": _remainder,
    "subtract": BINARY["Sub"],
    "xor": partial(_of_truths, "Xor"),
}
_ARITH_TWO = "addf cmpf divf maximumf maxnumf minimumf minnumf mulf remf shli shrsi shrui subf"
_CHLO_TWO = ("next_after", "polygamma", "zeta", "mulhi")
_ARITH: Mapping[str, Binary | None] = {
    **dict.fromkeys((f"arith.{name}" for name in _ARITH_TWO.split()), None),
    "arith.addi": _TWO["add"],
    "arith.subi": BINARY["Sub"],
    "arith.muli": _TWO["multiply"],
    "arith.divsi": _quotient,
    "arith.divui": _unsigned(BINARY["Div"]),
    "arith.floordivsi": _floored,
    "arith.ceildivsi": _rounded_up,
    "arith.ceildivui": _unsigned(_rounded_up),
    "arith.remsi": _remainder,
    "arith.remui": _unsigned(_remainder),
    "arith.maxsi": BINARY["Max"],
    "arith.maxui": _unsigned(BINARY["Max"]),
    "arith.minsi": BINARY["Min"],
    "arith.minui": _unsigned(BINARY["Min"]),
    "arith.andi": _TWO["and"],
    "arith.ori": _TWO["or"],
    "arith.xori": _TWO["xor"],
    "shape.add": BINARY["Add"],
    "shape.mul": BINARY["Mul"],
    "shape.div": _floored,
    "shape.max": BINARY["Max"],
    "shape.min": BINARY["Min"],
}
_COMPARED: Mapping[str, Binary] = {
    "EQ": BINARY["Equal"],
    "NE": _different,
    "GE": BINARY["GreaterOrEqual"],
    "GT": BINARY["Greater"],
    "LE": BINARY["LessOrEqual"],
    "LT": BINARY["Less"],
}
_PREDICATES = ("EQ", "NE", "LT", "LE", "GT", "GE", "LT", "LE", "GT", "GE")
# The predicates of ``arith.cmpi`` by number; the last four are of unsigned integers.
_OF_UNSIGNED = 6


_BROADCAST = "chlo.broadcast_"


@operator(*(name for name in _TWO if name != "complex"), constraints="C1")
@operator("complex", constraints="C1 C2")
@operator(*(f"chlo.{name}" for name in _CHLO_TWO), *_ARITH)
@operator(*(f"{_BROADCAST}{name}" for name in (*_TWO, *_CHLO_TWO)))
def of_two(call: HloCall) -> Value:
    """Two tensors."""
    name = call.node.op_type
    short = name.removeprefix(_BROADCAST).removeprefix("stablehlo.")
    return _combined(call, _ARITH[name] if name in _ARITH else _TWO.get(short))


@operator("compare", constraints="C2")
@operator(f"{_BROADCAST}compare")
def compare(call: HloCall) -> Value:
    """A comparison of two tensors."""
    return _combined(call, _COMPARED[call.keyword("comparison_direction")])


@operator("arith.cmpi")
def compare_integers(call: HloCall) -> Value:
    """A comparison of two integers."""
    predicate = call.integer("predicate")
    step = _COMPARED[_PREDICATES[predicate]]
    return _combined(call, _unsigned(step) if predicate >= _OF_UNSIGNED else step)


def _combined(call: HloCall, step: Binary | None) -> Value:
    """Return two tensors combined: broadcast together by CHLO's operators, else of one shape."""
    is_broadcast = call.node.op_type.startswith(_BROADCAST)
    shape = broadcast_shape(call) if is_broadcast else call.alike(call.shapes(), SAME)
    return call.output(shape, of_several(step, [call.value(0), call.value(1)], shape, call.asker))


def broadcast_shape(call: HloCall) -> Dims:
    """Return the shape of two operands broadcast by ``broadcast_dimensions``, else as in NumPy."""
    # The attribute places the axes of the operand of smaller rank in the other one; StableHLO ignores it for equal
    # ranks.
    left, right = call.shape(0), call.shape(1)
    places = call.integers("broadcast_dimensions")
    if places is None or len(left) == len(right):
        return call.broadcast(left, right)
    small, large = sorted((left, right), key=len)
    if len(places) != len(small) or len(call.distinct_axes(places, len(large), TWICE)) != len(small):
        call.refuse(f"broadcast_dimensions must name {len(small)} axes, one for each of the smaller operand")
    spread: list[Dim] = [1] * len(large)
    for place, size in zip(places, small, strict=True):
        spread[place] = size
    return call.broadcast(tuple(spread), large)


# Three operands.


@operator("select", constraints="C1 C2", elements=EVERY)
@operator("arith.select")
def select(call: HloCall) -> Value:
    """Elements of one tensor or the other; the predicate has their shape, or is one truth value."""
    pred, *others = call.shapes()
    shape = call.alike(others, SAME)
    if pred:
        shape = call.alike([shape, pred], "the predicate must have the shape of the operands")
    return call.output(shape, _selected(call, shape))


@operator("chlo.broadcast_select")
def broadcast_select(call: HloCall) -> Value:
    """Elements of one tensor or the other, all broadcast together."""
    shape = call.broadcast(*call.shapes())
    return call.output(shape, _selected(call, shape))


def _selected(call: HloCall, shape: Dims) -> Content | None:
    items, values = call.elements(0), [call.value(1), call.value(2)]
    formula = truth(items[0]) if items and len(items) == 1 else None
    if formula is not None and call.is_known(formula) is None and all(v.shape == shape for v in values):
        return either(call.asker, call.place.name, formula, *values).content
    return chosen(call.place.name, [call.value(n) for n in range(3)], shape, call.asker)


@operator("clamp", constraints="C1 C2 C4")
def clamp(call: HloCall) -> Value:
    """Each element limited to bounds, which are numbers or tensors of the same shape."""
    low, shape, high = call.shapes()
    for bound in (low, high):
        if bound:
            shape = call.alike([shape, bound], "a bound must have the shape of the operand")
    return call.output(shape, _clamped(call, shape) if call.dtype(1) in INTEGERS else None)


def _clamped(call: HloCall, shape: Dims) -> Content | None:
    """Return elements limited to bounds; one that data decide is a new size above the lower bound, up to the upper."""
    sizes = numbers_of(shape)
    if sizes is None or prod(sizes) > _FEW or call.value(0).content is None or call.value(2).content is None:
        return None
    fresh = iter(call.fresh(f"clamped_{n}", f"element {n} above the lower bound", by=[1]) for n in range(prod(sizes)))
    data = call.value(1)
    if data.content is None:
        data = Value(shape, data.dtype, Elements((None,) * prod(sizes)))

    def clamp_one(low: Element, item: Element, high: Element) -> Element:
        if not is_size(low) or not is_size(high):
            return None
        above = add(low, next(fresh)) if item is None else BINARY["Max"](call.asker, data.dtype, item, low)
        return BINARY["Min"](call.asker, data.dtype, above, high)

    return combined([call.value(0), data, call.value(2)], shape, clamp_one, call.asker)


# How many elements are clamped one by one: starts of slices have one for each axis.
_FEW = 16


# Operators that copy their operands.


# Custom calls that say where a tensor is kept.
_ON_DEVICES = ("Sharding", "annotate_device_placement", "xla.sdy.FuncResultSharding")


@operator("optimization_barrier", constraints="C1", elements=FIRST)
@operator("sdy.sharding_constraint", "sdy.reshard", *(f"custom_call.{name}" for name in _ON_DEVICES))
@operator("shape.value_as_shape", "shape.from_extent_tensor", "shape.to_extent_tensor", "tensor.cast", "tensor.bitcast")
def same(call: HloCall) -> list[Value]:
    """The operands."""
    return call.values()


@operator("map", constraints="C1")
def map_(call: HloCall) -> Value:
    """A computation for the elements of tensors of one shape."""
    return call.output(call.alike(call.shapes(), SAME))


@operator("chlo.constant_like")
def constant_like(call: HloCall) -> Value:
    """One number in the shape of the operand."""
    number = call.attribute("value")
    is_whole = isinstance(number, int) or (isinstance(number, float) and number.is_integer())
    return call.output(call.shape(0), filled(int(number), call.shape(0)) if is_whole else None)
