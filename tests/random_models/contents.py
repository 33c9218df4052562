"""Integers that sizes alone decide, by many operators, and nodes that fail or change shape by them.

No data is among these integers: whether a model runs is for its sizes alone to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, helper
from random_models import numbers
from random_models.maker import BOOL, FLOAT, INT64, Maker, Tensor


def _graph(nodes: list[Any], inputs: Sequence[Any], outputs: Sequence[tuple[str, int, Any]]) -> GraphProto:
    return helper.make_graph(nodes, "inner", inputs, [helper.make_tensor_value_info(*o) for o in outputs])


def _given(maker: Maker, rank: int | None = None, least: int = 0) -> Tensor | None:
    found = [t for t in maker.integers if t.rank >= least and rank in (None, t.rank)]
    return maker.random.choice(found) if found else None


def _line(maker: Maker) -> str:
    """Return a short vector of integers, some of them sizes."""
    return maker.sizes(maker.random.randint(1, 3))


def _choice(maker: Maker, *names: str) -> str:
    return maker.random.choice(names)


# Integers.


def summed_up(maker: Maker) -> None:
    data = _given(maker, least=1) if maker.chance(40) else None
    if data is None:
        data = Tensor(maker.filled([maker.size()], maker.random.choice([1, 1, 2, 0, -1]), np.int64), 1)
    flags = {"exclusive": maker.random.randint(0, 1), "reverse": maker.random.randint(0, 1)}
    axis = maker.constant(maker.random.randrange(-data.rank, data.rank))
    maker.keep_integers(maker.node("CumSum", [data.name, axis], **flags), data.rank)


def counted_in_reals(maker: Maker) -> None:
    start, step = maker.random.choice([0.0, 0.5, 1.0, -0.25]), maker.random.choice([1.0, 0.5, 2.0, 1.5, -1.0])
    limit = maker.cast(maker.scalar(), FLOAT)
    if maker.chance(50):
        limit = maker.node("Mul", [limit, maker.constant(maker.random.choice([0.5, 2.0, 1.5]), np.float32)])
    made = maker.node("Range", [maker.constant(start, np.float32), limit, maker.constant(step, np.float32)])
    maker.keep_integers(maker.cast(made, INT64), 1)


def one_hot(maker: Maker) -> None:
    depth = maker.random.randint(1, 3)
    places = maker.constant(maker.numbers(maker.random.randint(1, 2), -depth - 1, depth))
    values = maker.node("Concat", [maker.constant([1]), maker.size()], axis=0)
    count = maker.constant(_choice(maker, [depth], depth))
    maker.keep_integers(maker.node("OneHot", [places, count, values], axis=maker.random.randint(-1, 1)), 2)


def scattered(maker: Maker) -> None:
    data = maker.sizes(3)
    count = maker.random.randint(1, 2)
    updates = maker.sizes(count)
    reduction = {"reduction": _choice(maker, "add", "mul", "max")} if maker.chance(25) else {}
    places = [maker.random.randint(-3, 2) for _ in range(count)]
    if maker.chance(50):
        made = maker.node("ScatterElements", [data, maker.constant(places), updates], axis=0, **reduction)
    else:
        made = maker.node("ScatterND", [data, maker.constant([[p] for p in places]), updates], **reduction)
    maker.keep_integers(made, 1)


def moved(maker: Maker) -> None:
    data = _line(maker)
    match maker.random.randrange(8):
        case 0:
            made, rank = maker.node("Tile", [data, maker.constant([maker.random.randint(0, 2)])]), 1
        case 1:
            made, rank = maker.node("Pad", [data, maker.constant([1, 0]), maker.constant(2)]), 1
        case 2:
            matrix = maker.node("Expand", [data, maker.constant([2, 1])])
            made, rank = maker.node("Trilu", [matrix], upper=maker.random.randint(0, 1)), 2
        case 3:
            made, rank = maker.node("GatherElements", [data, maker.constant([0, -1, 0])]), 1
        case 4:
            made, rank = maker.node("GatherND", [data, maker.constant([[0], [-1]])]), 1
        case 5:
            made, rank = maker.node("Compress", [data, maker.constant([True, False, True], np.bool_)]), 1
        case 6:
            column = maker.node("Unsqueeze", [data, maker.constant([1])])
            both = maker.node("Concat", [column, column], axis=maker.random.randint(0, 1))
            made, rank = maker.node("Flatten", [both], axis=maker.random.randint(0, 2)), 2
        case _:
            made, rank = maker.node("Slice", [data, maker.constant([-1]), maker.constant([-9]), maker.constant([0]),
                                              maker.constant([-1])]), 1  # fmt: skip
    maker.keep_integers(made, rank)


def multiplied(maker: Maker) -> None:
    data = maker.sizes(2)
    if maker.chance(50):
        matrix = maker.constant([maker.numbers(2, 0, 2) for _ in range(2)])
        made = maker.node("MatMul", [matrix, data])
    else:
        made = maker.node("Einsum", [data, data], equation="i,j->ij")
        made = maker.node("ReduceSum", [made, maker.constant([maker.random.randint(0, 1)])], keepdims=0)
    maker.keep_integers(made, 1)


def reduced(maker: Maker) -> None:
    data = _given(maker, least=1)
    if data is None:
        return
    op_type = _choice(maker, "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd")
    axes = [maker.constant([maker.random.randrange(data.rank)])] if op_type == "ReduceSum" or maker.chance(50) else []
    kept = maker.random.randint(0, 1)
    rank = data.rank if kept else data.rank - 1 if axes else 0
    maker.keep_integers(maker.node(op_type, [data.name, *axes], keepdims=kept), rank)


def found(maker: Maker) -> None:
    """The places where a mask holds that sizes decide."""
    data = _given(maker, rank=1) or Tensor(maker.count(), 1)
    number = maker.scalar() if maker.chance(50) else maker.constant(maker.random.randint(0, 3))
    mask = maker.node(_choice(maker, "Less", "Equal", "GreaterOrEqual"), [data.name, number])
    if maker.chance(30):
        mask = maker.node("Not", [mask])
    if maker.chance(60):
        maker.keep_integers(maker.node("Squeeze", [maker.node("NonZero", [mask]), maker.constant([0])]), 1)
    else:
        maker.keep_integers(maker.node("ReduceSum", [maker.cast(mask, INT64)], keepdims=maker.random.randint(0, 1)), 1)
        maker.integers.pop()


def chosen(maker: Maker) -> None:
    data = _given(maker)
    if data is None:
        return
    number = maker.constant(maker.random.randint(0, 3))
    mask = maker.node(_choice(maker, "Less", "Equal", "Greater"), [maker.scalar(), number])
    other = maker.size() if maker.chance(50) else number
    rank = max(data.rank, 1) if other != number else data.rank
    maker.keep_integers(maker.node("Where", [mask, data.name, other]), rank)


def by_branch(maker: Maker) -> None:
    condition = maker.node(_choice(maker, "Equal", "Less", "Greater"), [maker.scalar(), maker.constant(2)])
    count = maker.random.randint(1, 2)
    graphs = []
    for _ in range(2):
        with maker.within() as nodes:
            part = maker.sizes(count)
            if maker.chance(30):
                part = maker.node("Concat", [part, maker.constant([maker.random.choice([-1, 1, 2])])], axis=0)
            name = maker.node("Identity", [part])
        graphs.append(_graph(nodes, [], [(name, INT64, None)]))
    maker.keep_integers(maker.node("If", [condition], then_branch=graphs[0], else_branch=graphs[1]), 1)


def by_turns(maker: Maker) -> None:
    """A counter, or a line of them, that a loop carries; the body indexes a table by it or by the turn."""
    limit = maker.node("Min", [maker.scalar(), maker.constant(4)])
    initial = (
        maker.sizes(maker.random.randint(1, 2)) if maker.chance(50) else maker.constant([maker.random.randint(0, 2)])
    )
    turn, going, before = maker.new(), maker.new(), maker.new()
    table = maker.constant(list(range(maker.random.randint(2, 9))))
    with maker.within() as nodes:
        step = maker.size() if maker.chance(30) else maker.constant([maker.random.randint(0, 2)])
        after = maker.node(_choice(maker, "Add", "Add", "Add", "Max", "Mul"), [before, step])
        if maker.chance(50):
            taken = maker.node("Gather", [table, _choice(maker, turn, before)])
            after = maker.node("Add", [after, maker.node("Mul", [taken, maker.constant([0])])])
        on = maker.node("Identity", [going])
    inputs = [
        helper.make_tensor_value_info(turn, INT64, []),
        helper.make_tensor_value_info(going, BOOL, []),
        helper.make_tensor_value_info(before, INT64, None),
    ]
    body = _graph(nodes, inputs, [(on, BOOL, []), (after, INT64, None)])
    made = maker.node("Loop", [limit, maker.constant(True, np.bool_), initial], body=body)
    maker.keep_integers(made, 1)


# What is done with them.


def _of_shape(maker: Maker) -> str:
    """Return a short line of integers that are no larger than a tensor can be run with."""
    data = _given(maker)
    flat = maker.node("Reshape", [data.name, maker.constant([-1])]) if data else maker.size()
    part = maker.node("Slice", [flat, maker.constant([0]), maker.constant([maker.random.randint(1, 2)])])
    return maker.node("Min", [part, maker.constant(7)])


def expanded(maker: Maker) -> None:
    data = maker.tensor(least=1, most=2)
    if data:
        made = maker.node("Expand", [data.name, _of_shape(maker)])
        maker.keep(maker.node("Add", [made, maker.tensor().name]), 5)


def laid_out(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        shape = maker.node("Concat", [_of_shape(maker), maker.constant([-1])], axis=0)
        made = maker.node("Reshape", [data.name, shape])
        maker.keep(maker.node("ReduceSum", [made], keepdims=0), 0)


def taken(maker: Maker) -> None:
    indices = _given(maker)
    if indices is None:
        return
    if maker.chance(60):
        table = maker.constant(np.arange(maker.random.randint(1, 9)), np.float32)
        maker.keep(maker.node("Gather", [table, indices.name]), indices.rank)
    else:
        data = maker.tensor(least=1, most=2)
        if data:
            axis = maker.random.randrange(data.rank)
            maker.keep(maker.node("Gather", [data.name, indices.name], axis=axis), data.rank - 1 + indices.rank)


def met(maker: Maker) -> None:
    """The integers themselves, broadcast with a tensor: so their number matters."""
    data = _given(maker, least=1)
    if data:
        other = (
            maker.tensor(most=2).name
            if maker.chance(60)
            else maker.constant(np.ones(maker.random.randint(1, 5)), np.float32)
        )
        made = maker.node("Add", [maker.cast(data.name, FLOAT), other])
        maker.keep(maker.node("ReduceSum", [made], keepdims=0), 0)


def cut(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        end = maker.node("Slice", [_of_shape(maker), maker.constant([0]), maker.constant([1])])
        made = maker.node("Slice", [data.name, maker.constant([0]), end, maker.constant([0])])
        maker.keep(maker.node("Add", [made, maker.tensor().name]), 5)


# Sequences of parts.


def parts(maker: Maker) -> None:
    """A tensor cut in parts of equal size, a graph for each, and what comes of these."""
    data = maker.tensor(least=1, most=2)
    if data is None:
        return
    axis = maker.random.randrange(data.rank)
    size = maker.constant(maker.random.randint(1, 4)) if maker.chance(80) else maker.scalar()
    name = maker.node("SplitToSequence", [data.name, size], axis=axis)
    if maker.chance(80):
        part = maker.new()
        with maker.within() as nodes:
            after = _mapped(maker, part, data.rank)
        body = _graph(nodes, [helper.make_tensor_value_info(part, FLOAT, None)], [(after, FLOAT, None)])
        name = maker.node("SequenceMap", [name], body=body)
    match maker.random.randrange(4):
        case 0:
            made = maker.node("SequenceAt", [name, maker.constant(maker.random.choice([0, -1, 1]))])
        case 1:
            made = maker.node("ConcatFromSequence", [name], axis=maker.random.randrange(data.rank), new_axis=1)
        case _:
            made = maker.node("ConcatFromSequence", [name], axis=maker.random.randrange(data.rank))
    maker.keep(maker.node("Add", [made, maker.tensor().name]), 5)


def _mapped(maker: Maker, part: str, rank: int) -> str:
    match maker.random.randrange(5):
        case 0:
            return maker.node("Add", [part, maker.constant(np.ones(maker.random.randint(1, 4)), np.float32)])
        case 1:
            return maker.node("Concat", [part, part], axis=maker.random.randrange(rank))
        case 2:
            return maker.node("Slice", [part, maker.constant([0]), maker.constant([maker.random.randint(1, 3)])])
        case 3:
            return maker.node("Reshape", [part, maker.constant([maker.random.randint(1, 3), -1])])
        case _:
            return maker.node("Add", [part, maker.tensor().name])


INTEGERS = [
    summed_up, summed_up, counted_in_reals, one_hot, scattered, moved, moved, multiplied, reduced, reduced, found,
    chosen, by_branch, by_turns, *numbers.STEPS[: len(numbers.STEPS) // 2],
]  # fmt: skip
USES = [expanded, laid_out, taken, taken, met, cut, parts, parts]
