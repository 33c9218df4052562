"""Nodes that put tensors into sequences, and take them out again; and optional tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import helper
from random_models.maker import FLOAT, Maker, Tensor

_Listed = tuple[str, list[int]]
"""The name of a sequence, and the ranks of what is in it."""


def _made(maker: Maker) -> _Listed:
    """Add nodes that make a sequence, and change it."""
    tensors = [maker.tensor() for _ in range(maker.random.randint(1, 3))]
    name, ranks = maker.node("SequenceConstruct", [t.name for t in tensors]), [t.rank for t in tensors]
    match maker.random.randrange(4):
        case 0:
            other, place = maker.tensor(), maker.random.randint(-len(ranks), len(ranks))
            name = maker.node("SequenceInsert", [name, other.name, maker.constant(place)])
            ranks.insert(place, other.rank)
        case 1:
            other = maker.tensor()
            name, ranks = maker.node("SequenceInsert", [name, other.name]), [*ranks, other.rank]
        case 2 if len(ranks) > 1:
            place = maker.random.randint(-len(ranks), len(ranks) - 1)
            name = maker.node("SequenceErase", [name, maker.constant(place)])
            del ranks[place]
    return name, ranks


def _kept_at(maker: Maker, name: str, ranks: Sequence[int]) -> None:
    place = maker.random.randint(-len(ranks), len(ranks) - 1)
    maker.keep(maker.node("SequenceAt", [name, maker.constant(place)]), ranks[place])


def at(maker: Maker) -> None:
    _kept_at(maker, *_made(maker))


def joined(maker: Maker) -> None:
    first = maker.tensor(least=1)
    if first:
        parts = [first, *(maker.tensor(first.rank) for _ in range(maker.random.randint(0, 2)))]
        name = maker.node("SequenceConstruct", [t.name for t in parts])
        is_stacked = maker.random.randint(0, 1)
        axis = maker.random.randint(0, first.rank - 1 + is_stacked)
        made = maker.node("ConcatFromSequence", [name], axis=axis, new_axis=is_stacked)
        maker.keep(made, first.rank + is_stacked)


def length(maker: Maker) -> None:
    name, _ = _made(maker)
    maker.keep(maker.cast(maker.node("SequenceLength", [name]), FLOAT), 0)


def split(maker: Maker) -> None:
    """The parts of a tensor: one, all together again, or as many as there are."""
    data = maker.tensor(least=1)
    if not (data and data.is_full):
        return
    axis = maker.axis(data)
    match maker.random.randrange(3):
        case 0:
            made = maker.node("SplitToSequence", [data.name, maker.constant(maker.random.randint(1, 3))], axis=axis)
        case 1:
            made = maker.node("SplitToSequence", [data.name, maker.sizes(2, 0, 2)], axis=axis)
        case _:
            made = maker.node("SplitToSequence", [data.name], axis=axis, keepdims=1)
    match maker.random.randrange(3):
        case 0:
            maker.keep(maker.node("SequenceAt", [made, maker.constant(maker.random.randint(-2, 1))]), data.rank)
        case 1:
            maker.keep(maker.node("ConcatFromSequence", [made], axis=axis), data.rank)
        case _:
            maker.keep(maker.cast(maker.node("SequenceLength", [made]), FLOAT), 0)


def mapped(maker: Maker) -> None:
    """A graph for each tensor of a sequence."""
    name, ranks = _made(maker)
    part = maker.new()
    with maker.within() as nodes:
        other = maker.tensor() if maker.chance(50) else None
        after = maker.node("Add", [part, other.name]) if other else maker.node("Relu", [part])
    inputs = [helper.make_tensor_value_info(part, FLOAT, None)]
    outputs = [helper.make_tensor_value_info(after, FLOAT, None)]
    body: Any = helper.make_graph(nodes, "inner", inputs, outputs)
    made = maker.node("SequenceMap", [name], body=body)
    _kept_at(maker, made, [max(rank, other.rank if other else 0) for rank in ranks])


def optional(maker: Maker) -> None:
    data: Tensor = maker.tensor()
    made = maker.node("Optional", [data.name])
    if maker.chance(50):
        maker.keep(maker.node("OptionalGetElement", [made]), data.rank)
    else:
        maker.keep(maker.cast(maker.node("OptionalHasElement", [made]), FLOAT), 0)


STEPS = [at, at, joined, joined, length, split, split, mapped, optional]
