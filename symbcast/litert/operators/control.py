"""Branches, loops, initialisers, variables and composites: operators that run subgraphs or keep a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.formulas import FALSE, TRUE, all_of, any_of, equal, negate
from symbcast.core.algebra.terms import symbols_of
from symbcast.graphs.graph import Graph, Node
from symbcast.graphs.walking.control_flow import GraphLoop, LoopIteration, branched, chosen_of, condition_of, looped
from symbcast.litert.call import LiteRtCall, operator
from symbcast.operators.values.value import Decider, Value


def _walked(call: LiteRtCall, name: str, inputs: Sequence[Value]) -> list[Value]:
    """Return the outputs of a subgraph for some inputs."""
    graph = call.node.graphs[name]
    call.refuse_if(len(graph.inputs) != len(inputs), "a subgraph must have as many inputs as it is given")
    return call.walk.within(graph, call.scope, inputs)


@operator("IF")
def if_(call: LiteRtCall) -> Sequence[Value]:
    """The outputs of the subgraph that runs; LiteRT prepares both, so the requirements of both apply."""
    inputs = call.values()[1:]
    branches = [_prepared(call, name, inputs) for name in ("then", "else")]
    yes, no = branches if None not in branches else (None, None)
    return branched(
        call,
        chosen_of(call),
        lambda: _walked(call, "then", inputs) if yes is None else yes,
        lambda: _walked(call, "else", inputs) if no is None else no,
    )


@operator("WHILE")
def while_(call: LiteRtCall) -> Sequence[Value]:
    """Values that a subgraph changes as long as another one says so; LiteRT prepares both, even if none runs."""
    first = condition_of(_walked(call, "cond", call.values())[0])
    if first != TRUE or not _shaped_by_data(call.node.graphs["body"]):
        _check_copies(call, _prepared(call, "body", call.values()))
    if first == FALSE:
        return call.values()

    def turn(number: Value, carried: Sequence[Value]) -> LoopIteration:
        after = _walked(call, "body", carried)
        return LoopIteration(_walked(call, "cond", after)[0], after)

    loop = GraphLoop(call.values(), turn, None, first, is_unlimited=True)
    return looped(call, loop).last


def _prepared(call: LiteRtCall, name: str, inputs: Sequence[Value]) -> Sequence[Value] | None:
    """Return the outputs of a subgraph whose requirements apply whether it runs or not.

    LiteRT prepares operators up to the first whose shape other tensors give: None, with a note, for graphs with such.
    """
    for node in _shaped_by_data(call.node.graphs[name]):
        call.note(f"not checked: LiteRT prepares subgraph {name!r} up to {node.title}, whether it runs or not")
        return None
    return _walked(call, name, inputs)


def _shaped_by_data(graph: Graph) -> list[Node]:
    """Return the operators whose output shape the elements of a tensor give that is not in the file."""
    nodes = (node for node in graph.nodes if node.op_type in _SHAPED)
    return [node for node in nodes if any(n not in graph.constants for n in node.inputs[1:])]


def _check_copies(call: LiteRtCall, after: Sequence[Value] | None) -> None:
    """Require what LiteRT needs to copy carried values into outputs that keep their size from turn to turn.

    They do if no value changes its shape in the body. In `Prepare_impl` of while.cc, a shape does not count as changed
    if its first size before and after the body add up to 1, which is meant for a scalar and a tensor of one element.
    """
    kept, changed = [], []
    for old, new in zip(call.values(), after or (), strict=False):
        if old.shape is None or new.shape is None or not call.asker.origins.keys().isdisjoint(symbols_of(new.shape)):
            return
        same = [equal(*pair) for pair in zip(old.shape, new.shape, strict=False)]
        is_same = all_of(same) if len(old.shape) == len(new.shape) else FALSE
        is_one = equal(add(0, *old.shape[:1], *new.shape[:1]), 1)
        kept.append(any_of([is_same, negate(is_one), equal(multiply(1, *old.shape), multiply(1, *new.shape))]))
        changed.append(all_of([negate(is_same), negate(is_one)]))
    reason = "LiteRT cannot carry an empty tensor that becomes a row, or a row that becomes empty"
    call.require(any_of([all_of(kept), *changed]), reason)


_NAMES = """
    ARG_MAX ARG_MIN BATCH_TO_SPACE_ND BROADCAST_TO EXPAND_DIMS MEAN MIRROR_PAD ONE_HOT PAD PADV2 RANGE
    REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD RESHAPE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR
    SCATTER_ND SLICE SPACE_TO_BATCH_ND SPARSE_TO_DENSE SPLIT_V STRIDED_SLICE SUM TILE TOPK_V2 TRANSPOSE
"""
# Operators whose output shape the elements of an input other than the first give.
_SHAPED = frozenset(_NAMES.split())


@operator("CALL_ONCE")
def call_once(call: LiteRtCall) -> Sequence[Value]:
    """A subgraph that runs before the others, such as one that fills tables or variables."""
    _walked(call, "init", ())
    return []


# Variables, which keep their values from one run to the next: the first run is followed.


class Handle(Value):
    """What `VAR_HANDLE` gives: the name of a variable."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(())
        self.name = name


def _variables(call: LiteRtCall) -> tuple[dict[str, Value], str]:
    """Return the values of variables by name, and the name of the one whose handle is the first input."""
    handle = call.value(0)
    if not isinstance(handle, Handle):
        call.give_up(f"the variable in {call.input_name(0)} is not known")
    return cast("LiteRtVariables", call.walk).variables, handle.name


class LiteRtVariables(Protocol):
    """A walk that keeps the values of variables."""

    variables: dict[str, Value]


@operator("VAR_HANDLE", elements=Decider.DATA)
def var_handle(call: LiteRtCall) -> Value:
    """The handle of a variable."""
    return Handle(f"{call.text('container')}/{call.text('shared_name')}")


@operator("READ_VARIABLE", elements=Decider.DATA)
def read_variable(call: LiteRtCall) -> Value:
    """The value that was assigned last."""
    variables, name = _variables(call)
    if name not in variables:
        call.give_up("no value was assigned to the variable before")
    return call.output(variables[name].shape)


@operator("ASSIGN_VARIABLE")
def assign_variable(call: LiteRtCall) -> Sequence[Value]:
    """A new value of a variable; the next run reads it."""
    variables, name = _variables(call)
    before, after = variables.get(name), call.shape(1)
    if before is not None and before.shape != after:
        call.note("not followed: the variable has another shape in the next run")
    if call.asker.guards:
        call.give_up("an assignment that depends on a condition is not followed")
    variables[name] = call.value(1)
    return []


@operator("STABLEHLO_COMPOSITE")
def composite(call: LiteRtCall) -> Sequence[Value]:
    """A subgraph with a name, which LiteRT runs if no delegate knows the name."""
    return _walked(call, "decomposition", call.values())
