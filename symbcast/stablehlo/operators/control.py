"""Calls, branches, loops, assertions, and exchanges between processes.

A module is compiled for the sizes of its inputs: every branch and every body must be valid at them, taken or not.
"""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import TRUE, Formula, equal
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.text.notation import dim_text, shape_text
from symbcast.graphs.walking.node_call import either
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INTEGERS, Elements, is_size
from symbcast.operators.values.elements import truth
from symbcast.operators.values.value import Decider, Value
from symbcast.stablehlo.graph import OPERATORS, HloCall, operator
from symbcast.stablehlo.idioms import steps
from symbcast.stablehlo.mlir import attribute_of


@operator("func.call", "composite")
def call_(call: HloCall) -> Sequence[Value]:
    """The function that it names."""
    inputs = call.values()
    return call.own_walk.called(call.node.graphs["called"], call.scope, inputs)


@operator("func.return")
def return_(call: HloCall) -> Sequence[Value]:
    """The results of the function that is checked."""
    return call.values()


@operator("async_start")
def async_start(call: HloCall) -> Sequence[Value]:
    """The operation in its body, which ``async_done`` waits for."""
    graph = call.node.graphs["0"]
    results = call.run("0", [call.value(n) for n in range(len(graph.inputs))])
    call.own_walk.futures[call.node.outputs[0]] = results
    return [Value(None)]


@operator("async_done")
def async_done(call: HloCall) -> Sequence[Value]:
    """The results of the operation that was started."""
    return call.own_walk.futures.get(call.node.inputs[0]) or call.give_up(
        "the operation that it waits for is not known"
    )


@operator("tuple")
def tuple_(call: HloCall) -> Sequence[Value]:
    """Values put together."""
    call.own_walk.futures[call.node.outputs[0]] = call.values()
    return [Value(None)]


@operator("get_tuple_element", constraints="C2")
def get_tuple_element(call: HloCall) -> Value:
    """One of the values that were put together."""
    parts = call.own_walk.futures.get(call.node.inputs[0])
    return call.give_up("the tuple is not made here") if parts is None else parts[call.integer("index")]


# Branches.


@operator("if", constraints="C2 C3")
def if_(call: HloCall) -> Sequence[Value]:
    """The results of one region or the other, which have the same shapes."""
    items = call.elements(0)
    return _branched(call, [truth(items[0]) if items else None, TRUE])


@operator("case", constraints="C3 C4")
def case(call: HloCall) -> Sequence[Value]:
    """The results of the region whose number is given; of the last one if there is none of that number."""
    items, count = call.elements(0), len(call.node.graphs)
    index = items[0] if items else None
    return _branched(call, [*(equal(index, n) if is_size(index) else None for n in range(count - 1)), TRUE])


def _branched(call: HloCall, chosen: Sequence[Formula | None]) -> Sequence[Value]:
    """Return the results of the first region whose formula holds; an unknown formula is None."""
    outcomes = [call.run(str(n), ()) for n in range(len(chosen))]
    results = list(outcomes[-1])
    # From the last region backwards: each formula chooses between its region and those after it.
    for formula, values in zip(chosen[-2::-1], outcomes[-2::-1], strict=True):
        for n, (one, other) in enumerate(zip(values, results, strict=True)):
            results[n] = _either(call, n, formula, one, other)
    return results


def _either(call: HloCall, position: int, chosen: Formula | None, one: Value, other: Value) -> Value:
    if one.shape is None or other.shape is None:
        return one if one.shape is None else other
    both = f"{shape_text(one.shape)} and {shape_text(other.shape)}"
    shape = call.alike([one.shape, other.shape], f"result {position} must have one shape in all branches, not {both}")
    yes, no = one.with_sizes(shape), other.with_sizes(shape)
    if one.content == other.content:
        return yes
    known = None if chosen is None else call.is_known(chosen)
    if known is not None:
        return yes if known else no
    if chosen is None:
        return Value(shape, yes.dtype)
    return either(call.asker, f"{call.place.name}_{position}", chosen, yes, no)


# Loops.


@operator("while", constraints="C1 C2 C3")
def while_(call: HloCall) -> Sequence[Value]:
    """A body that runs as long as a condition holds; the values that it carries keep their shapes."""
    initial = call.values()
    added = steps(call)
    # A carried value keeps its elements only if the body adds nothing to it.
    invariant = [value if step == 0 else _without(value) for value, step in zip(initial, added, strict=True)]
    counters: dict[int, Symbol] = {}
    for n, step in enumerate(added):
        if step is not None and step > 0 and _counts(call, n):
            counters[n] = call.fresh(f"counter_{n}", f"carried value {n} in any iteration")
    carried = [v.with_content(Elements((counters[n],))) if n in counters else v for n, v in enumerate(invariant)]
    # A requirement on a counter would have to hold in every iteration, which one walk of the body does not show.
    if counters and _has_requirements(call, carried, set(counters.values())):
        call.note("not checked: what its body requires in every iteration")
        carried = invariant
    call.run("0", carried)
    for n, (one, later) in enumerate(zip(carried, call.run("1", carried), strict=True)):
        if one.shape is not None and later.shape is not None:
            kept_shape = f"{shape_text(one.shape)}, and its body gives {shape_text(later.shape)}"
            call.same_shape(later.shape, one.shape, f"value {n} must keep its shape, {kept_shape}")
        elif one.shape is not later.shape:
            call.note(f"not checked: value {n} must keep its shape")
    return invariant


def _has_requirements(call: HloCall, carried: Sequence[Value], counters: set[Symbol]) -> bool:
    """Return whether something is required of the counters of a loop, which would have to hold in each iteration."""
    with call.asker.trying(call.walk.trying()):
        before = set(call.asker.reasons)
        for region in ("0", "1"):
            call.run(region, carried)
        stated = [symbols_in(formula) for _, formula in call.asker.reasons.keys() - before]
    return not counters.isdisjoint(s for symbols in stated for s in symbols)


def _counts(call: HloCall, position: int) -> bool:
    """Return whether an integer starts at 0 or more."""
    sizes = call.sizes(position) if call.shape(position) == () and call.dtype(position) in INTEGERS else None
    return sizes is not None and call.bounds.is_at_least(sizes[0], 0)


def _without(value: Value) -> Value:
    """Return a value whose elements are not known."""
    return Value(value.shape, value.dtype)


@operator("chlo.scan")
def scan(call: HloCall) -> Sequence[Value]:
    """A body for each slice along an axis; it returns slices of outputs and carried values, which keep their shapes."""
    count, axis = (call.integers("operandSegmentSizes") or [0])[0], call.integer("dimension")
    length: Dim | None = call.attribute("scan_dim_size")
    parts = []
    for n in range(count):
        dims = call.shape(n)
        length = dims[axis] if length is None else length
        call.equal(dims[axis], length, "scanned inputs must have the same length")
        parts.append(Value((*dims[:axis], *dims[axis + 1 :]), call.dtype(n)))
    carried = [_without(call.value(n)) for n in range(count, len(call.inputs))]
    results = call.run("0", [*parts, *carried])
    slices = len(results) - len(carried)
    for n, (before, later) in enumerate(zip(carried, results[slices:], strict=True)):
        call.same_shape(later.shape or (), before.shape or (), f"carried value {n} must keep its shape")
    return [*(_stacked(call, value, axis, length) for value in results[:slices]), *carried]


def _stacked(call: HloCall, value: Value, axis: int, length: Dim | None) -> Value:
    if value.shape is None or length is None:
        call.give_up("how long its outputs are is not known")
    return Value((*value.shape[:axis], length, *value.shape[axis:]), value.dtype)


# Custom calls.


@operator("custom_call")
def custom_call(call: HloCall) -> Value | Sequence[Value]:
    """A call of code outside the module; an operator ``custom_call.<target>`` answers for it if there is one."""
    target = call.text("call_target_name")
    function = OPERATORS.get(("", f"custom_call.{target}"))
    if function is not None:
        return function(call)
    places = call.attribute("indices_of_shape_operands")
    if places is None:
        call.give_up(f"{target} is code outside the module")
    if len(places) != len(call.node.outputs) or any(not 0 <= n < len(call.inputs) for n in places):
        call.give_up("indices_of_shape_operands does not name an operand for each result")
    call.note(f"not checked: what {target} requires, which is code outside the module")
    return [call.output(call.requested_sizes(int(place), n), position=n) for n, place in enumerate(places)]


@operator("custom_call.stablehlo.shape_refinement_operand_wrapper")
def wrapped(call: HloCall) -> Value:
    """The first operand, whose refined shape ``stablehlo-refine-arguments`` keeps in the second."""
    call.same_shape(call.shape(0), call.requested_sizes(1), "the operand must have the shape in the second operand")
    return call.value(0)


@operator("custom_call.shape_assertion")
def shape_assertion(call: HloCall) -> Sequence[Value]:
    """Require a condition on sizes, with the message that JAX gives for it."""
    call.own_walk.is_asserting = True
    items = call.elements(0)
    formula = truth(items[0]) if items else None
    if formula is None:
        call.note("not checked: the asserted value is not known")
        call.own_walk.unknown_assertions.append(call.place.name)
        return ()
    sizes = [call.sizes(n) for n in range(1, len(call.inputs))]
    text = assertion_of(call.text("error_message"), ["?" if not size else dim_text(size[0]) for size in sizes])
    call.require_asserted(formula, text)
    return ()


def assertion_of(message: str, sizes: Sequence[str]) -> str:
    """Return what an assertion requires: JAX's message with its sizes, without the specifications.

    >>> assertion_of("Expected {0} >= 1. Using the following polymorphic shapes specifications: ...", ["N"])
    'the module asserts it: Expected N >= 1'
    """
    said = message.partition(" Using the following")[0]
    said = said.removeprefix("Input shapes do not match the polymorphic shapes specification. ")
    for n, size in enumerate(sizes):
        said = said.replace(f"{{{n}}}", size)
    return f"the module asserts it: {said.strip().rstrip('.')}"


# Operators that exchange tensors between processes, as far as shapes go, and those that transfer data.


@operator("all_reduce", constraints="C6")
@operator("collective_broadcast", constraints="C3 C4")
@operator("collective_permute", constraints="C5")
@operator("collective_reduce", constraints="C3")
@operator("cross-replica-sum")
def keeps(call: HloCall) -> list[Value]:
    """Tensors of the same shapes; a last operand without a result says which process sends each."""
    count = len(call.node.outputs)
    if len(call.inputs) > count:
        call.same_shape(call.shape(count), (count,), "the last operand must have a number for each of the others")
    return [call.output(call.shape(n), position=n) for n in range(count)]


# MLIR's verifier requires it; the specification does not.
_NOT_EMPTY = "the axis must not be empty"


def _group(call: HloCall) -> int | None:
    """Return how many processes a group has; None, which is noted, if something outside the operation decides that."""
    groups = call.attribute("replica_groups")
    shape: tuple[int, ...] = getattr(groups, "shape", ())
    if len(shape) != 2:
        call.note("not checked: its groups of processes are named by the axes of a mesh")
        return None
    if not all(shape):
        call.note("not checked: how many processes there are decides how many its groups have")
        return None
    channel = call.dimensions("channel_handle", "ChannelHandle").handle if call.has_attribute("channel_handle") else 0
    # With a channel, groups name replicas, and the processes of all partitions of these take part.
    if channel <= 0 or call.has_attribute("use_global_device_ids"):
        return int(shape[1])
    partitions = attribute_of(call.node.program.module.operation, "mhlo.num_partitions")
    if partitions is None:
        call.note("not checked: the number of partitions decides how many processes its groups have")
        return None
    return int(shape[1]) * int(partitions)


@operator("all_gather", constraints="C6")
def all_gather(call: HloCall) -> list[Value]:
    """The tensors of all processes in a group, joined along an axis."""
    axis, count = call.integer("all_gather_dim"), _group(call)
    for dims in call.shapes():
        call.at_most(1, dims[axis], _NOT_EMPTY)
    results = []
    for n, dims in enumerate(call.shapes()):
        # How many processes there are decides only the axis along which tensors are joined.
        size = _by_group(call, n, axis) if count is None else multiply(dims[axis], count)
        results.append(call.output((*dims[:axis], size, *dims[axis + 1 :]), position=n))
    return results


def _by_group(call: HloCall, output: int, axis: int) -> Symbol:
    return call.fresh(f"{output}_{axis}", f"axis {axis} of result {output}")


@operator("reduce_scatter", constraints="C1 C8")
def reduce_scatter(call: HloCall) -> Value:
    """A part of the combined tensors of a group for each process."""
    axis, dims, count = call.integer("scatter_dimension"), call.shape(0), _group(call)
    call.at_most(1, dims[axis], _NOT_EMPTY)
    if count is None:
        return call.output((*dims[:axis], _by_group(call, 0, axis), *dims[axis + 1 :]))
    return call.output(_split(call, dims, axis, count))


@operator("all_to_all", constraints="C2 C9")
def all_to_all(call: HloCall) -> list[Value]:
    """Parts of tensors along an axis, exchanged and joined along another."""
    split, joined, count = (call.integer(n) for n in ("split_dimension", "concat_dimension", "split_count"))
    results = []
    for n, dims in enumerate(call.shapes()):
        parts = _split(call, dims, split, count)
        shape = (*parts[:joined], multiply(parts[joined], count), *parts[joined + 1 :])
        results.append(call.output(dims if split == joined else shape, position=n))
    return results


def _split(call: HloCall, dims: Dims, axis: int, count: int) -> Dims:
    call.require(equal(modulo(dims[axis], count), 0), f"axis {axis} must be a multiple of the {count} parts")
    return (*dims[:axis], floor_divide(dims[axis], count), *dims[axis + 1 :])


@operator("after_all", "create_token", "outfeed", "send")
def token(call: HloCall) -> list[Value]:
    """A token, which has no shape."""
    return [Value(None) for _ in call.node.outputs]


@operator("infeed", "recv", elements=Decider.DATA)
def received(call: HloCall) -> list[Value]:
    """Tensors whose sizes the types give, and a token."""
    shapes = [call.declared(n) for n in range(len(call.node.outputs))]
    return [Value(None) if shape is None else call.output(shape, position=n) for n, shape in enumerate(shapes)]


@operator("partition_id", "replica_id", elements=Decider.DATA)
def process_number(call: HloCall) -> Value:
    """The number of this process."""
    return call.output(())
