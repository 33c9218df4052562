"""Branches and loops: their graphs are walked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symbcast.graphs.operators.control.branches import branched, taken_by_data
from symbcast.graphs.operators.control.loops import (
    Loop,
    Turn,
    condition_of,
    looped,
    runs_by_data,
    scanned,
    slices,
    stacked,
)
from symbcast.graphs.values.value import UNKNOWN, Value
from symbcast.graphs.walking.node_call import UnknownShapeError
from symbcast.torch.node_call import scalar
from symbcast.torch.operators.scalars import truth_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.graph import Graph
    from symbcast.torch.node_call import TorchCall


def _graphs(call: TorchCall) -> Sequence[Graph]:
    """Return the graphs of a node; raises `UnknownShapeError` if they were not read."""
    found = list(call.node.graphs.values())
    if not found:
        raise UnknownShapeError("not checked: the body's requirements; its shapes are as torch recorded them")
    return found


def _operands(call: TorchCall, place: int) -> list[Value]:
    """Return the operands that an argument lists."""
    return [_operand(given) for given in call.given(str(place)) or ()]


def _operand(given: Any) -> Value:
    if isinstance(given, Value):
        return given
    return scalar(given) if isinstance(given, int) and not isinstance(given, bool) else Value(None)


@operator("higher_order.cond")
def cond(call: TorchCall) -> Sequence[Value]:
    """The outputs of the branch taken; a branch's requirements apply only where it is taken."""
    yes, no = _graphs(call)
    operands, within = _operands(call, 3), call.walk.within
    return branched(
        call,
        _chosen(call),
        lambda: within(yes, call.scope, operands),
        lambda: within(no, call.scope, operands),
    )


def _chosen(call: TorchCall) -> Formula:
    """Return the condition for the first branch: a formula of sizes, or the formula that a new symbol is 1."""
    found = truth_of(call.given("0"))
    return taken_by_data(call, "the predicate") if found is None else found


@operator("higher_order.while_loop")
def while_loop(call: TorchCall) -> Sequence[Value]:
    """The body repeated while the condition, computed before each iteration, holds; states keep their shapes."""
    condition, body = _graphs(call)
    initial, more = _operands(call, 2), _operands(call, 3)
    (start,) = call.walk.within(condition, call.scope, [*initial, *more])
    runs = condition_of(start) or runs_by_data(call)
    if call.is_known(runs) is False:
        return initial

    def turn(states: Sequence[Value]) -> Sequence[Value]:
        found = call.walk.within(body, call.scope, [*states, *more])
        call.walk.within(condition, call.scope, [*states, *more])
        return found

    return scanned(call, runs, [value.with_content(None) for value in initial], turn)[0]


@operator("higher_order.scan", "higher_order.map_impl")
def scan(call: TorchCall) -> Sequence[Value]:
    """The body applied to each slice along the first axis, at least one; all outputs are stacked."""
    (body,) = _graphs(call)
    is_map = call.node.op_type == "higher_order.map_impl"
    initial = [] if is_map else _operands(call, 1)
    scanned, more = (_operands(call, n) for n in ((1, 2) if is_map else (2, 3)))
    length, parts = slices(call, scanned, [0] * len(scanned), is_cut=not is_map)
    call.at_most(1, length, "there must be something to scan")

    def turn(_: Value, carried: Sequence[Value]) -> Turn:
        found = call.walk.within(body, call.scope, [*carried, *parts, *more])
        return Turn(UNKNOWN, found[: len(initial)], found[len(initial) :])

    found = looped(call, Loop(initial, turn, length, is_kept=True))
    for n, value in enumerate(found.made, len(initial)):
        found.check_alike(call, n, value)
    return [*found.last, *(stacked(length, value, 0) for value in found.made)]


@operator("higher_order.associative_scan")
def associative_scan(call: TorchCall) -> Sequence[Value]:
    """Pairs of slices combined in an order that torch chooses; the outputs are as torch recorded them."""
    raise UnknownShapeError("not checked: the body's requirements; its shapes are as torch recorded them")
