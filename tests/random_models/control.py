"""If, Loop and Scan, whose graphs are random too, and calls of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, helper
from random_models import elementwise, indexing, shaping
from random_models.maker import BOOL, FLOAT, INT64, Maker, Tensor

_INNER = [*elementwise.STEPS, *shaping.STEPS, *indexing.STEPS]


def _some_steps(maker: Maker) -> None:
    for _ in range(maker.random.randint(1, 2)):
        maker.random.choice(_INNER)(maker)


def _graph(nodes: list[Any], inputs: Sequence[Any], outputs: Sequence[tuple[str, int, Any]]) -> GraphProto:
    return helper.make_graph(nodes, "inner", inputs, [helper.make_tensor_value_info(*o) for o in outputs])


def _branch(maker: Maker, rank: int | None) -> tuple[GraphProto, int]:
    """Return a branch of an If and the rank of its output, which is the one that is asked for if that can be."""
    with maker.within() as nodes:
        _some_steps(maker)
        output = maker.tensor(rank) or maker.tensors[-1]
        name = maker.node("Identity", [output.name])
    return _graph(nodes, [], [(name, FLOAT, None)]), output.rank


def _condition(maker: Maker) -> str:
    if maker.chance(15):
        data = maker.tensor()
        most = maker.node("ReduceMax", [data.name], keepdims=0)
        return maker.node("Greater", [most, maker.constant(1.5, np.float32)])
    op_type = maker.random.choice(["Equal", "Less", "Greater"])
    return maker.node(op_type, [maker.scalar(), maker.constant(maker.random.randint(1, 3))])


def if_(maker: Maker) -> None:
    condition = _condition(maker)
    then_branch, rank = _branch(maker, None)
    else_branch, other = _branch(maker, rank if maker.chance(80) else None)
    made = maker.node("If", [condition], then_branch=then_branch, else_branch=else_branch)
    if rank == other:
        maker.keep(made, rank)
    else:
        after = maker.node("Add", [made, maker.tensor().name])
        maker.keep(maker.node("ReduceSum", [after], keepdims=0), 0)


def if_one(maker: Maker) -> None:
    """An axis that is taken out where it is 1, and what comes after."""
    data = maker.tensor(least=1)
    if not data:
        return
    axis = maker.random.randrange(data.rank)
    size = maker.node("Gather", [maker.node("Shape", [data.name]), maker.constant(axis)])
    condition = maker.node("Equal", [size, maker.constant(1)])
    branches = []
    for op_type in ("Squeeze", "Identity"):
        with maker.within() as nodes:
            inputs = [data.name, *([maker.constant([axis])] if op_type == "Squeeze" else [])]
            name = maker.node(op_type, inputs)
        branches.append(_graph(nodes, [], [(name, FLOAT, None)]))
    made = maker.node("If", [condition], then_branch=branches[0], else_branch=branches[1])
    after = maker.node(maker.random.choice(["Add", "MatMul"]), [made, maker.tensor().name])
    maker.keep(maker.node("ReduceMean", [after], keepdims=0), 0)


def loop(maker: Maker) -> None:
    """A loop that carries one or two tensors, and puts together what each turn makes."""
    initial = [t for t in (maker.tensor(least=1) for _ in range(maker.random.randint(1, 2))) if t]
    if not initial:
        return
    limit = maker.node("Min", [maker.scalar(), maker.constant(maker.random.choice([2, 3]))])
    turn, going, carried = maker.new(), maker.new(), [Tensor(maker.new(), t.rank) for t in initial]
    with maker.within() as nodes:
        maker.tensors = [*maker.tensors, *carried, *carried, *carried]
        after = [_next(maker, t) for t in carried]
        given = maker.random.choice([*carried, maker.tensor(most=3)])
        shown = maker.node("Relu", [given.name])
        goes_on = maker.node("Identity", [going])
    if given.rank:  # of no turn, ONNX Runtime gives a shape that depends on what it inferred
        limit = maker.node("Max", [limit, maker.constant(1)])
    inputs = [
        helper.make_tensor_value_info(turn, INT64, []),
        helper.make_tensor_value_info(going, BOOL, []),
        *(helper.make_tensor_value_info(t.name, FLOAT, None) for t in carried),
    ]
    body = _graph(nodes, inputs, [(goes_on, BOOL, []), *((n, FLOAT, None) for n in [*after, shown])])
    start = maker.constant(True, np.bool_)
    made = maker.nodes("Loop", [limit, start, *(t.name for t in initial)], len(initial) + 1, body=body)
    for name, tensor in zip(made, initial, strict=False):
        maker.keep(name, tensor.rank)
    maker.keep(made[-1], given.rank + 1)


def _next(maker: Maker, carried: Tensor) -> str:
    other = maker.tensor(carried.rank) or carried
    match maker.random.randrange(4):
        case 0:
            return maker.node("Concat", [carried.name, other.name], axis=maker.axis(carried))
        case 1:
            return maker.node("Relu", [carried.name])
        case 2:
            end = maker.constant([maker.random.choice([-1, 2])])
            cut = [maker.constant([0]), end, maker.constant([maker.axis(carried)])]
            return maker.node("Slice", [carried.name, *cut])
        case _:
            return maker.node("Add", [carried.name, other.name])


def scan(maker: Maker) -> None:
    """A scan of one tensor, slice by slice, with a state."""
    data, state = maker.tensor(least=1), maker.tensor()
    if not (data and data.is_full and state.is_full):  # of nothing, ONNX Runtime ends at once with a division by 0
        return
    axis = maker.random.randrange(data.rank)
    before, part = Tensor(maker.new(), state.rank), Tensor(maker.new(), data.rank - 1)
    with maker.within() as nodes:
        maker.tensors = [*maker.tensors, before, part, part]
        other = maker.tensor(most=state.rank)
        after = maker.node("Add", [before.name, other.name]) if other else maker.node("Relu", [before.name])
        _some_steps(maker)
        shown = maker.tensors[-1]
        name = maker.node("Identity", [shown.name])
    inputs = [helper.make_tensor_value_info(t.name, FLOAT, None) for t in (before, part)]
    body = _graph(nodes, inputs, [(after, FLOAT, None), (name, FLOAT, None)])
    made = maker.nodes("Scan", [state.name, data.name], 2, body=body, num_scan_inputs=1, scan_input_axes=[axis])
    maker.keep(made[0], state.rank, (state,))
    maker.keep(made[1], shown.rank + 1)


def called(maker: Maker) -> None:
    """A call of a function that the model holds."""
    given = [maker.tensor() for _ in range(maker.random.randint(1, 2))]
    parameters = [Tensor(maker.new(), t.rank) for t in given]
    with maker.apart(parameters) as nodes:
        _some_steps(maker)
        shown = maker.tensors[-1]
        name = maker.node("Identity", [shown.name])
    op_type = f"Local{len(maker.functions)}"
    imports = [helper.make_opsetid("", maker.opset)]
    function = helper.make_function("local", op_type, [t.name for t in parameters], [name], nodes, imports)
    maker.functions.append(function)
    maker.keep(maker.node(op_type, [t.name for t in given], domain="local"), shown.rank)


STEPS = [if_, if_, if_one, loop, loop, scan, called]
