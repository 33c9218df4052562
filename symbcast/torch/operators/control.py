"""Numbers that the graph computes from sizes, assertions about them, and branches and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.core.algebra import arithmetic
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    Comparison,
    Formula,
    Operator,
    all_of,
    any_of,
    at_most,
    equal,
    negate,
)
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.graphs.graph import Graph
from symbcast.graphs.walking import control_flow
from symbcast.graphs.walking.control_flow import GraphLoop, LoopIteration
from symbcast.graphs.walking.node_call import UnknownShapeError
from symbcast.operators.resizing import DOUBLE, scale_of
from symbcast.operators.values.contents import Elements, IndexRamp, Interval, SizeRatio
from symbcast.operators.values.elements import quotient_towards_zero
from symbcast.operators.values.intervals import interval_of
from symbcast.operators.values.value import UNKNOWN, Value
from symbcast.torch.calls import (
    DIVISIONS,
    INTEGER_FUNCTIONS,
    TorchCall,
    argument_ratio,
    element_of,
    exact_ratio,
    formula_of,
    is_exact,
    operator,
    product_of,
    raw_argument,
    scalar,
    size_of,
)


def _two(call: TorchCall) -> tuple[Dim | None, Dim | None]:
    return size_of(call.argument("0")), size_of(call.argument("1"))


@operator(
    *(f"operator.{name}" for name in ("add", "sub", "mul", "neg", "floordiv", "mod")),
    *(f"{module}{name}" for module in ("torch.sym_", "builtins.") for name in ("max", "min")),
    "torch.sym_sum",
)
def computed(call: TorchCall) -> Value:
    """An integer computed from others, or from a list of them."""
    name, listed = call.node.op_type.rpartition(".")[2].removeprefix("sym_"), list(call.arguments.values())
    listed = listed[0] if isinstance(listed[0], list) else listed
    sizes = [d for d in map(size_of, listed) if d is not None]
    if len(sizes) < len(listed):
        return _product(call) if name == "mul" else scalar(None)
    if name in DIVISIONS:
        call.require(Comparison("!=", sizes[1], 0), "a divisor must not be 0")
    return scalar(INTEGER_FUNCTIONS[name](*sizes))


def _product(call: TorchCall) -> Value:
    """Return a product of real numbers as a quotient of sizes; unknown if floats may round it otherwise."""
    left, right = (_exact(call.argument(n)) for n in ("0", "1"))
    return scalar(None if left is None or right is None else product_of(left, right))


def _exact(value: object) -> SizeRatio | None:
    """Return a real number that floats hold exactly at all sizes below 2**40: a size over a power of two."""
    if isinstance(value, float):
        return exact_ratio(value)
    ratio = argument_ratio(value)
    return ratio if ratio is not None and is_exact(ratio) else None


@operator("operator.truediv")
def divided(call: TorchCall) -> Value:
    """The quotient of two integers, a real number."""
    left, right = _exact(call.argument("0")), _exact(call.argument("1"))
    if right is None and not isinstance(call.argument("1"), float):
        call.note("not checked: the divisor must not be 0")
    if right is not None:
        call.require(Comparison("!=", right.above, 0), "a divisor must not be 0")
    if left is None or right is None:
        return scalar(None)
    return scalar(product_of(left, SizeRatio(right.below, right.above)))


@operator("math.ceil", "math.floor", "math.trunc", "torch.sym_int", "builtins.int", "torch._sym_int")
def rounded(call: TorchCall) -> Value:
    """A real number rounded to an integer: up, down, or towards zero."""
    ratio = argument_ratio(call.argument("0"))
    if ratio is None:
        return scalar(None if call.node.op_type == "math.ceil" else _scaled(call))
    if not call.asker.is_positive([ratio.below]):
        return scalar(None)
    if call.node.op_type in ("math.ceil", "math.floor"):
        return scalar((arithmetic.ceil_divide if call.node.op_type == "math.ceil" else arithmetic.floor_divide)(*ratio))
    return scalar(quotient_towards_zero(call.bounds, *ratio))


def _scaled(call: TorchCall) -> Dim | None:
    """Return a size times a float, rounded down, if floats cannot round the product otherwise."""
    product = raw_argument(call, "0")
    factors = list(getattr(product, "args", ()))
    if getattr(getattr(product, "target", None), "__name__", "") != "mul" or len(factors) != 2:
        return None
    numbers = [f for f in factors if isinstance(f, float)]
    sizes = [argument_ratio(call.resolved(f)) for f in factors if not isinstance(f, float)]
    if len(numbers) != 1 or sizes[0] is None or sizes[0].below != 1:
        return None
    scale, size = scale_of(numbers[0], DOUBLE), sizes[0].above
    return scale.times(size) if scale is not None and call.bounds.is_at_least(size, 0) else None


@operator("torch.sym_float", "builtins.float")
def real(call: TorchCall) -> Value:
    """An integer as a real number."""
    return scalar(argument_ratio(call.argument("0")))


@operator("operator.pow", "torch.pow_by_natural")
def power(call: TorchCall) -> Value:
    """A power of an integer."""
    base, exponent = _two(call)
    if base is None or not isinstance(exponent, int) or not 0 <= exponent <= 8:
        return scalar(None)
    return scalar(arithmetic.multiply(*[base] * exponent))


# How the first of two integers compares; of the others, the second compares so with the first.
_RELATIONS: dict[str, Operator] = {"eq": "==", "ne": "!=", "le": "<=", "lt": "<"}
_TURNED: dict[str, Operator] = {"ge": "<=", "gt": "<"}


@operator(*(f"operator.{name}" for name in (*_RELATIONS, *_TURNED)))
def compared(call: TorchCall) -> Value:
    """A comparison of two integers, as a boolean."""
    left, right = _two(call)
    if left is None or right is None:
        return scalar(None)
    name = call.node.op_type.rpartition(".")[2]
    return scalar(
        Comparison(_TURNED[name], right, left) if name in _TURNED else Comparison(_RELATIONS[name], left, right)
    )


@operator("torch.sym_not", "operator.not_")
def denied(call: TorchCall) -> Value:
    """The negation of a boolean."""
    formula = truth_of(call.argument("0"))
    return scalar(None if formula is None else negate(formula))


@operator("operator.and_", "operator.or_")
def joined(call: TorchCall) -> Value:
    """The conjunction or disjunction of two booleans."""
    left, right = truth_of(call.argument("0")), truth_of(call.argument("1"))
    if left is None or right is None:
        return scalar(None)
    return scalar((all_of if call.node.op_type.endswith("and_") else any_of)([left, right]))


def truth_of(value: object) -> Formula | None:
    """Return a boolean argument as a formula; None if it is unknown."""
    return formula_of(value) if not isinstance(value, bool) else TRUE if value else FALSE


@operator("_assert_scalar", "torch._check", "_assert")
def asserted(call: TorchCall) -> Value:
    """A run-time assertion about sizes."""
    value = call.argument("self", "0")
    formula = truth_of(value)
    if formula is None:
        call.note("not checked: its assertion", is_about_data=call.is_data())
    else:
        call.require(formula, "the program asserts it")
    return Value(None)


@operator("sym_constrain_range_for_size", "_check_is_size", "torch._check_is_size")
def ranged(call: TorchCall) -> Value:
    """An assertion that a data-dependent size lies between two numbers."""
    size = call.size("size")
    low, high = call.argument("min"), call.argument("max")
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
    return scalar(arithmetic.multiply(*call.dims("self")))


@operator("item")
def element(call: TorchCall) -> Value:
    """The only element of a tensor."""
    call.equal(arithmetic.multiply(*call.dims("self")), 1, "there must be one element")
    return _first(call)


def _first(call: TorchCall) -> Value:
    """Return the first element of a tensor if it is known, else a new symbol."""
    value = call.value_of("self")
    start = value.content.start if isinstance(value.content, IndexRamp) else None
    items = value.content.items[:1] if isinstance(value.content, Elements) else (start,)
    if items and items[0] is not None:
        return scalar(items[0])
    (recorded,) = call.recorded("torch's symbol for the element of a tensor stands for any integer")
    known = element_of(recorded)
    recorded = recorded if isinstance(known, Symbol) and call.asker.origins.get(known) is not None else scalar(None)
    return _bounded(call, interval_of(value, call.bounds), recorded)


def _bounded(call: TorchCall, bounds: Interval, recorded: Value) -> Value:
    """Return an unknown element within its bounds; a new size if torch allows it to be negative, and it is not."""
    if bounds.low is None or bounds.high is None or not call.bounds.is_at_least(bounds.low, 0):
        return recorded
    known = element_of(recorded)
    if known is None:
        return scalar(call.fresh("element", "an element of a tensor", most=bounds.high))
    if isinstance(known, Symbol):
        call.asker.limit(known, bounds.high)
    return recorded


@operator("_local_scalar_dense")
def first_element(call: TorchCall) -> Value:
    """The first element of a tensor."""
    call.at_most(1, arithmetic.multiply(*call.dims("self")), "there must be an element")
    return _first(call)


@operator("sym_stride", "sym_storage_offset")
def of_memory(call: TorchCall) -> Value:
    """An integer that depends on the memory layout, which is not followed."""
    return scalar(None)


# What `torch.vmap` and gradients leave in a graph: between its ends, nodes see tensors without the mapped axis.


@operator("torch._functorch.predispatch._vmap_increment_nesting")
def mapping(call: TorchCall) -> Value:
    """The start of a map over the size ``0``."""
    batch = call.size("0")
    enough = FALSE if batch is None else at_most(1, batch)
    if call.is_known(enough) is not True:
        call.note("not checked: what its operators do without anything to map over", enough=enough)
    return Value(None)


@operator("torch._functorch.predispatch._add_batch_dim")
def mapped(call: TorchCall) -> Value:
    """A tensor without the axis that is mapped over."""
    dims, start = call.dims("0"), call.node.raw
    place = call.axis(call.number("1"), len(dims))
    while getattr(start.target, "__name__", "") != "_vmap_increment_nesting":
        start = start.prev
    raw_argument(call, "0")  # a twin may be mapped over another size
    batch = size_of(call.resolved(start.args[0]))
    # Torch does not check it: operators broadcast mapped axes, or fail, or read beyond them.
    enough = FALSE if batch is None else equal(dims[place], batch)
    if call.is_known(enough) is not True:
        call.note("not checked: all axes that are mapped over must be equal", enough=enough)
    return call.value_of("0").with_sizes((*dims[:place], *dims[place + 1 :])).with_content(None)


@operator("torch._functorch.predispatch._remove_batch_dim")
def unmapped(call: TorchCall) -> Value:
    """A tensor with the axis that was mapped over, in a given place."""
    batch = call.size("2")
    if batch is None:
        call.give_up("data decide how often it is mapped")
    place = call.axis(call.number("3"), len(call.dims("0")) + 1)
    value = call.value_of("0").with_content(None)
    return value.with_sizes((*call.dims("0")[:place], batch, *call.dims("0")[place:]))


@operator("torch._functorch.predispatch._unwrap_for_grad")
def unwrapped(call: TorchCall) -> Value:
    """A tensor itself."""
    return call.value_of("0")


# Branches and loops: their graphs are walked.


def _graphs(call: TorchCall) -> Sequence[Graph]:
    """Return the graphs of a node; raises `UnknownShapeError` if they were not read."""
    graphs = list(call.node.graphs.values())
    if not graphs:
        raise UnknownShapeError("not checked: the body's requirements; its shapes are as torch recorded them")
    return graphs


def _operands(call: TorchCall, place: int) -> list[Value]:
    """Return the operands that an argument lists."""
    return [_operand(argument) for argument in call.argument(str(place)) or ()]


def _operand(argument: Any) -> Value:
    if isinstance(argument, Value):
        return argument
    return scalar(argument) if isinstance(argument, int) and not isinstance(argument, bool) else Value(None)


@operator("higher_order.cond")
def cond(call: TorchCall) -> Sequence[Value]:
    """The outputs of the branch taken; a branch's requirements apply only where it is taken."""
    yes, no = _graphs(call)
    operands, within = _operands(call, 3), call.walk.within
    return control_flow.branched(
        call, _chosen(call), lambda: within(yes, call.scope, operands), lambda: within(no, call.scope, operands)
    )


def _chosen(call: TorchCall) -> Formula:
    """Return the condition for the first branch: a formula of sizes, or the formula that a new symbol is 1."""
    predicate = truth_of(call.argument("0"))
    return control_flow.taken_by_data(call, "the predicate") if predicate is None else predicate


@operator("higher_order.while_loop")
def while_loop(call: TorchCall) -> Sequence[Value]:
    """The body repeated while the condition, computed before each iteration, holds; states keep their shapes."""
    condition, body = _graphs(call)
    initial, more = _operands(call, 2), _operands(call, 3)
    (start,) = call.walk.within(condition, call.scope, [*initial, *more])
    runs = control_flow.condition_of(start) or control_flow.runs_by_data(call)
    # A loop that never runs returns its states, whatever its body.
    if call.is_known(runs) is False:
        return initial

    def turn(states: Sequence[Value]) -> Sequence[Value]:
        outputs = call.walk.within(body, call.scope, [*states, *more])
        call.walk.within(condition, call.scope, [*states, *more])
        return outputs

    return control_flow.scanned(call, runs, [value.with_content(None) for value in initial], turn)[0]


@operator("higher_order.scan", "higher_order.map_impl")
def scan(call: TorchCall) -> Sequence[Value]:
    """The body applied to each slice along the first axis, at least one; all outputs are stacked."""
    (body,) = _graphs(call)
    is_map = call.node.op_type == "higher_order.map_impl"
    initial = [] if is_map else _operands(call, 1)
    scanned, more = (_operands(call, n) for n in ((1, 2) if is_map else (2, 3)))
    length, parts = control_flow.slices(call, scanned, [0] * len(scanned), is_cut=not is_map)
    call.at_most(1, length, "there must be something to scan")

    def turn(_: Value, carried: Sequence[Value]) -> LoopIteration:
        outputs = call.walk.within(body, call.scope, [*carried, *parts, *more])
        return LoopIteration(UNKNOWN, outputs[: len(initial)], outputs[len(initial) :])

    loop = control_flow.looped(call, GraphLoop(initial, turn, length, is_kept=True))
    for n, value in enumerate(loop.collected, len(initial)):
        loop.check_alike(call, n, value)
    return [*loop.last, *(control_flow.stacked(length, value, 0) for value in loop.collected)]


@operator("higher_order.associative_scan")
def associative_scan(call: TorchCall) -> Sequence[Value]:
    """Pairs of slices combined in an order that torch chooses; the outputs are as torch recorded them."""
    raise UnknownShapeError("not checked: the body's requirements; its shapes are as torch recorded them")
