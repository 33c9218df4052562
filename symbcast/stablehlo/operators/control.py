"""Calls, branches, loops and assertions.

A module is compiled for the sizes of its inputs: every branch and every body must be valid at them, taken or not.
"""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.logic.formulas import TRUE, Formula, equal
from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.elements import truth
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.walker import either
from symbcast.stablehlo.node_call import HloCall
from symbcast.stablehlo.registry import operator

# Calls.


@operator("func.call", "composite")
def call_(call: HloCall) -> Sequence[Value]:
    """The function that it names."""
    return call.run("called", [call.value(n) for n in range(len(call.inputs))])


@operator("func.return")
def return_(call: HloCall) -> Sequence[Value]:
    """The results of the function that is checked."""
    return [call.value(n) for n in range(len(call.inputs))]


@operator("async_start")
def async_start(call: HloCall) -> Sequence[Value]:
    """The operation in its body, which ``async_done`` waits for."""
    graph = call.node.graphs["0"]
    found = call.run("0", [call.value(n) for n in range(len(graph.inputs))])
    call.own_walk.futures[call.node.outputs[0]] = found
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
    call.own_walk.futures[call.node.outputs[0]] = [call.value(n) for n in range(len(call.inputs))]
    return [Value(None)]


@operator("get_tuple_element", constraints="C2")
def get_tuple_element(call: HloCall) -> Value:
    """One of the values that were put together."""
    found = call.own_walk.futures.get(call.node.inputs[0])
    return call.give_up("the tuple is not made here") if found is None else found[call.integer("index")]


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
    found = [call.run(str(n), ()) for n in range(len(chosen))]
    results = list(found[-1])
    for formula, values in zip(chosen[-2::-1], found[-2::-1], strict=True):
        for n, (one, other) in enumerate(zip(values, results, strict=True)):
            results[n] = _either(call, n, formula, one, other)
    return results


def _either(call: HloCall, position: int, chosen: Formula | None, one: Value, other: Value) -> Value:
    if one.shape is None or other.shape is None:
        return one if one.shape is None else other
    shape = call.alike([one.shape, other.shape], f"result {position} must have the same shape in all branches")
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

_ROUNDS = 8
"""How often a body is walked to find the elements that change: each round gives up more of them."""


@operator("while", constraints="C1 C2 C3")
def while_(call: HloCall) -> Sequence[Value]:
    """A body that runs as long as a condition holds; the values that it carries keep their shapes."""
    carried = [call.value(n) for n in range(len(call.inputs))]
    for _ in range(_ROUNDS):
        with call.asker.trying(call.walk.trying()):
            after = call.run("1", carried)
        changed = [v.content != w.content and v.content is not None for v, w in zip(carried, after, strict=True)]
        if not any(changed):
            break
        carried = [_any_time(v) if c else v for v, c in zip(carried, changed, strict=True)]
    else:
        carried = [_any_time(v) for v in carried]
    call.run("0", carried)
    for n, (before, later) in enumerate(zip(carried, call.run("1", carried), strict=True)):
        if before.shape is not None and later.shape is not None:
            call.same_shape(later.shape, before.shape, f"value {n} must keep its shape")
        elif before.shape is not later.shape:
            call.note(f"not checked: value {n} must keep its shape")
    return carried


def _any_time(value: Value) -> Value:
    """Return a value whose elements change from iteration to iteration."""
    return Value(value.shape, value.dtype)


# Assertions.


@operator("custom_call")
def custom_call(call: HloCall) -> Sequence[Value]:
    """A call of code outside the module; of these, only JAX's assertions and shardings are known."""
    target = call.text("call_target_name")
    if target == "shape_assertion":
        return _asserted(call)
    if target == "Sharding" and len(call.inputs) == 1:
        return [call.value(0)]
    return call.give_up(f"{target} is code outside the module")


def _asserted(call: HloCall) -> Sequence[Value]:
    """Require a condition on sizes, with the message that JAX gives for it."""
    items = call.elements(0)
    formula = truth(items[0]) if items else None
    if formula is None:
        call.note("not checked: what it asserts is not known")
    elif not call.is_unasserted:
        call.require(formula, assertion_of(call.text("error_message")))
    return ()


def assertion_of(message: str) -> str:
    """Return what an assertion requires: the first sentences of JAX's message, without the specifications.

    >>> assertion_of("Expected value >= 1 for 'b'. Using the following polymorphic shapes specifications: ...")
    "the module asserts it: Expected value >= 1 for 'b'"
    """
    said = message.partition(" Using the following")[0]
    said = said.removeprefix("Input shapes do not match the polymorphic shapes specification. ")
    return f"the module asserts it: {said.strip().rstrip('.')}"
