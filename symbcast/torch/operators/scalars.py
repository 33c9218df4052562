"""Integers, booleans and real numbers that the graph computes from sizes, and its assertions about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import (
    add,
    ceil_divide,
    floor_divide,
    maximum,
    minimum,
    modulo,
    multiply,
    subtract,
)
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Formula, Operator, all_of, any_of, negate
from symbcast.graphs.values.contents import Elements, Interval, Ramp, Ratio
from symbcast.graphs.values.elements import quotient_towards_zero
from symbcast.graphs.values.intervals import interval_of
from symbcast.graphs.values.value import Value
from symbcast.operators.networks.scales import DOUBLE, scale_of
from symbcast.torch.node_call import (
    element_of,
    exact_ratio,
    formula_of,
    is_exact,
    ratio_of,
    raw_argument,
    scalar,
    size_of,
)
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.torch.node_call import TorchCall


def _two(call: TorchCall) -> tuple[Dim | None, Dim | None]:
    return size_of(call.given("0")), size_of(call.given("1"))


def _offer(name: str, function: Callable[[Dim, Dim], Dim]) -> None:
    @operator(f"operator.{name}")
    def computed(call: TorchCall) -> Value:
        left, right = _two(call)
        if left is None or right is None:
            return _as_recorded(call, name)
        if name in ("floordiv", "mod"):
            call.require(Comparison("!=", right, 0), "a divisor must not be 0")
        return scalar(function(left, right))


_ARITHMETIC: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "floordiv": floor_divide,
    "mod": modulo,
}
for _name, _function in _ARITHMETIC.items():
    _offer(_name, _function)


def _as_recorded(call: TorchCall, name: str) -> Value:
    """Return a product of real numbers as a quotient of sizes; unknown if floats may round it otherwise."""
    left, right = (_exact(call.given(n)) for n in ("0", "1"))
    if name == "mul" and left is not None and right is not None:
        return scalar(Ratio(multiply(left.above, right.above), multiply(left.below, right.below)))
    return scalar(None)


def _exact(value: object) -> Ratio | None:
    """Return a real number that floats hold exactly at all sizes below 2**40: a size over a power of two."""
    if isinstance(value, float):
        return exact_ratio(value)
    found = ratio_of(value)
    return found if found is not None and is_exact(found) else None


@operator("operator.truediv")
def divided(call: TorchCall) -> Value:
    """The quotient of two integers, a real number."""
    left, right = _exact(call.given("0")), _exact(call.given("1"))
    if right is None and not isinstance(call.given("1"), float):
        call.note("not checked: the divisor must not be 0")
    if right is not None:
        call.require(Comparison("!=", right.above, 0), "a divisor must not be 0")
    if left is None or right is None:
        return scalar(None)
    return scalar(Ratio(multiply(left.above, right.below), multiply(left.below, right.above)))


@operator("math.ceil", "math.floor", "math.trunc", "torch.sym_int", "builtins.int", "torch._sym_int")
def rounded(call: TorchCall) -> Value:
    """A real number rounded to an integer: up, down, or towards zero."""
    found = ratio_of(call.given("0"))
    if found is None:
        return scalar(None if call.node.op_type == "math.ceil" else _scaled(call))
    if not call.asker.is_positive([found.below]):
        return scalar(None)
    if call.node.op_type in ("math.ceil", "math.floor"):
        return scalar((ceil_divide if call.node.op_type == "math.ceil" else floor_divide)(*found))
    return scalar(quotient_towards_zero(call.bounds, *found))


def _scaled(call: TorchCall) -> Dim | None:
    """Return a size times a float, rounded down, if floats cannot round the product otherwise."""
    product = raw_argument(call, "0")
    factors = list(getattr(product, "args", ()))
    if getattr(getattr(product, "target", None), "__name__", "") != "mul" or len(factors) != 2:
        return None
    numbers = [f for f in factors if isinstance(f, float)]
    sizes = [ratio_of(call.resolved(f)) for f in factors if not isinstance(f, float)]
    if len(numbers) != 1 or sizes[0] is None or sizes[0].below != 1:
        return None
    scale, size = scale_of(numbers[0], DOUBLE), sizes[0].above
    return scale.times(size) if scale is not None and call.bounds.is_at_least(size, 0) else None


@operator("torch.sym_float", "builtins.float")
def real(call: TorchCall) -> Value:
    """An integer as a real number."""
    return scalar(ratio_of(call.given("0")))


@operator("operator.neg")
def negative(call: TorchCall) -> Value:
    """The negation of an integer."""
    found = size_of(call.given("0"))
    return scalar(None if found is None else subtract(0, found))


@operator("operator.pow", "torch.pow_by_natural")
def power(call: TorchCall) -> Value:
    """A power of an integer."""
    base, exponent = _two(call)
    if base is None or not isinstance(exponent, int) or not 0 <= exponent <= 8:
        return scalar(None)
    return scalar(multiply(*[base] * exponent))


@operator("torch.sym_max", "torch.sym_min", "builtins.max", "builtins.min")
def extremum(call: TorchCall) -> Value:
    """The larger or smaller of two integers."""
    left, right = _two(call)
    if left is None or right is None:
        return scalar(None)
    return scalar((maximum if call.node.op_type.endswith("max") else minimum)([left, right]))


@operator("torch.sym_sum")
def total(call: TorchCall) -> Value:
    """The sum of a list of integers."""
    found = [size_of(v) for v in call.given("0") or ()]
    return scalar(None if None in found else add(*(d for d in found if d is not None)))


_RELATIONS: dict[str, tuple[Operator, bool]] = {
    "eq": ("==", False),
    "ne": ("!=", False),
    "le": ("<=", False),
    "lt": ("<", False),
    "ge": ("<=", True),
    "gt": ("<", True),
}


@operator(*(f"operator.{name}" for name in _RELATIONS))
def compared(call: TorchCall) -> Value:
    """A comparison of two integers, as a boolean."""
    left, right = _two(call)
    if left is None or right is None:
        return scalar(None)
    relation, is_turned = _RELATIONS[call.node.op_type.rpartition(".")[2]]
    return scalar(Comparison(relation, right, left) if is_turned else Comparison(relation, left, right))


@operator("torch.sym_not", "operator.not_")
def denied(call: TorchCall) -> Value:
    """The negation of a boolean."""
    found = truth_of(call.given("0"))
    return scalar(None if found is None else negate(found))


@operator("operator.and_", "operator.or_")
def joined(call: TorchCall) -> Value:
    """The conjunction or disjunction of two booleans."""
    left, right = truth_of(call.given("0")), truth_of(call.given("1"))
    if left is None or right is None:
        return scalar(None)
    return scalar((all_of if call.node.op_type.endswith("and_") else any_of)([left, right]))


def truth_of(value: object) -> Formula | None:
    """Return a boolean argument as a formula; None if it is unknown."""
    return formula_of(value) if not isinstance(value, bool) else TRUE if value else FALSE


@operator("_assert_scalar", "torch._check", "_assert")
def asserted(call: TorchCall) -> Value:
    """A run-time assertion about sizes."""
    value = call.given("self", "0")
    found = truth_of(value)
    if found is None:
        call.note("not checked: its assertion", is_about_data=call.is_data())
    else:
        call.require(found, "the program asserts it")
    return Value(None)


@operator("sym_constrain_range_for_size", "_check_is_size", "torch._check_is_size")
def ranged(call: TorchCall) -> Value:
    """An assertion that a data-dependent size lies between two numbers."""
    size = call.size("size")
    low, high = call.given("min"), call.given("max")
    if size is None:
        call.note("not checked: its assertion", is_about_data=call.is_data())
    else:
        if isinstance(low, int) and low > 0:
            call.at_most(low, size, f"the program asserts that the value is at least {low}")
        if isinstance(high, int) and high < (1 << 62):
            call.at_most(size, high, f"the program asserts that the value is at most {high}")
    return Value(None)


@operator("sym_size")
def size(call: TorchCall) -> Value:
    """The size of an axis."""
    dims = call.dims("self")
    return scalar(dims[call.axis(call.number("dim"), len(dims))])


@operator("sym_numel")
def count(call: TorchCall) -> Value:
    """The number of elements."""
    return scalar(multiply(*call.dims("self")))


@operator("item")
def element(call: TorchCall) -> Value:
    """The only element of a tensor."""
    call.equal(multiply(*call.dims("self")), 1, "there must be one element")
    return _first(call)


def _first(call: TorchCall) -> Value:
    """Return the first element of a tensor if it is known, else a new symbol."""
    value = call.value_of("self")
    start = value.content.start if isinstance(value.content, Ramp) else None
    items = value.content.items[:1] if isinstance(value.content, Elements) else (start,)
    if items and items[0] is not None:
        return scalar(items[0])
    (found,) = call.recorded("torch's symbol for the element of a tensor stands for any integer")
    known = element_of(found)
    found = found if isinstance(known, Symbol) and call.asker.origins.get(known) is not None else scalar(None)
    return _bounded(call, interval_of(value, call.bounds), found)


def _bounded(call: TorchCall, held: Interval, recorded: Value) -> Value:
    """Return an unknown element within its bounds; a new size if torch allows it to be negative, and it is not."""
    if held.low is None or held.high is None or not call.bounds.is_at_least(held.low, 0):
        return recorded
    known = element_of(recorded)
    if known is None:
        return scalar(call.fresh("element", "an element of a tensor", most=held.high))
    if isinstance(known, Symbol):
        call.asker.limit(known, held.high)
    return recorded


@operator("_local_scalar_dense")
def first_element(call: TorchCall) -> Value:
    """The first element of a tensor."""
    call.at_most(1, multiply(*call.dims("self")), "there must be an element")
    return _first(call)


@operator("sym_stride", "sym_storage_offset")
def of_memory(call: TorchCall) -> Value:
    """An integer that depends on the memory layout, which is not followed."""
    return scalar(None)
