"""Indices that are data, of which is known from where to where they are, and what takes elements out by them."""

from __future__ import annotations

import numpy as np
from random_models.maker import FLOAT, INT64, Maker, Tensor


def _source(maker: Maker) -> Tensor | None:
    """Add nodes that make integers out of data."""
    data = maker.tensor(least=1)
    if not (data and data.is_full):
        return None
    match maker.random.randrange(8):
        case 0 | 1:
            op_type, kept = maker.random.choice(["ArgMax", "ArgMin"]), maker.random.randint(0, 1)
            axis = maker.random.randrange(data.rank)
            return Tensor(maker.node(op_type, [data.name], axis=axis, keepdims=kept), data.rank - 1 + kept)
        case 2:
            axis = maker.random.randrange(data.rank)
            return Tensor(maker.nodes("TopK", [data.name, maker.constant([1])], 2, axis=axis)[1], data.rank)
        case 3:
            found = maker.node("NonZero", [data.name])
            if maker.chance(50):
                return Tensor(maker.node("Gather", [found, maker.constant(maker.random.randrange(data.rank))]), 1)
            return Tensor(maker.node("Transpose", [found], perm=[1, 0]), 2)
        case 4:
            other = maker.tensor()
            truth = maker.node(maker.random.choice(["Greater", "Equal"]), [data.name, other.name])
            return Tensor(maker.cast(truth, INT64), max(data.rank, other.rank))
        case 5:
            return Tensor(maker.count(), 1)
        case 6:
            return Tensor(maker.node("Shape", [data.name]), 1)
        case _:
            bounded = maker.node("Clip", [data.name, maker.constant(0, np.float32), maker.constant(9, np.float32)])
            return Tensor(maker.cast(bounded, INT64), data.rank)


def _changed(maker: Maker, indices: Tensor) -> Tensor:
    """Add a node that moves or bounds integers."""
    number = maker.scalar() if maker.chance(40) else maker.constant(maker.random.randint(1, 3))
    match maker.random.randrange(10):
        case 0:
            made = maker.node("Mod", [indices.name, maker.node("Max", [number, maker.constant(1)])])
        case 1:
            made = maker.node("Clip", [indices.name, maker.constant(0), number])
        case 2:
            made = maker.node(maker.random.choice(["Min", "Max"]), [indices.name, number])
        case 3:
            made = maker.node(maker.random.choice(["Add", "Sub", "Mul"]), [indices.name, number])
        case 4:
            made = maker.node(maker.random.choice(["Neg", "Abs", "Sign"]), [indices.name])
        case 5:
            made = maker.node("Div", [indices.name, maker.constant(2)])
        case 6:
            chosen = maker.node("Less", [indices.name, number])
            made = maker.node("Where", [chosen, indices.name, maker.constant(maker.random.choice([-1, 0, 1]))])
        case 7 if indices.rank:
            made = maker.node("Concat", [indices.name, indices.name], axis=maker.random.randrange(indices.rank))
        case 8:
            return Tensor(maker.node("Reshape", [indices.name, maker.constant([-1])]), 1)
        case _:
            made = maker.cast(maker.cast(indices.name, 6), INT64)
    return Tensor(made, indices.rank)


def _indices(maker: Maker) -> Tensor | None:
    indices = _source(maker)
    for _ in range(maker.random.choice([0, 0, 1, 1, 2])):
        indices = indices and _changed(maker, indices)
    return indices


def gather(maker: Maker) -> None:
    data, indices = maker.tensor(least=1), _indices(maker)
    if data and indices and data.is_full:
        made = maker.node("Gather", [data.name, indices.name], axis=maker.random.randrange(data.rank))
        maker.keep(made, data.rank - 1 + indices.rank)


def table(maker: Maker) -> None:
    """A table of a few lines, looked up by indices or by places in a sequence."""
    lines = maker.constant(np.ones((maker.random.randint(1, 5), 2)), np.float32)
    indices = _indices(maker)
    if indices:
        maker.keep(maker.node("Gather", [lines, indices.name]), 1 + indices.rank)


def gather_elements(maker: Maker) -> None:
    data, indices = maker.tensor(least=1), _indices(maker)
    if data and indices and data.rank == indices.rank and data.is_full:
        made = maker.node("GatherElements", [data.name, indices.name], axis=maker.random.randrange(data.rank))
        maker.keep(made, data.rank)


def gather_nd(maker: Maker) -> None:
    data, indices = maker.tensor(least=1), _indices(maker)
    if not (data and indices and data.is_full):
        return
    last = maker.node("Unsqueeze", [indices.name, maker.constant([indices.rank])])
    width = maker.random.randint(1, min(data.rank, 2))
    made = maker.node("GatherND", [data.name, maker.node("Concat", [last] * width, axis=-1)])
    maker.keep(made, indices.rank + data.rank - width)


def scatter_elements(maker: Maker) -> None:
    data, indices = maker.tensor(least=1), _indices(maker)
    if data and indices and data.rank == indices.rank and data.is_full:
        updates = maker.cast(indices.name, FLOAT)
        axis = maker.random.randrange(data.rank)
        maker.keep(maker.node("ScatterElements", [data.name, indices.name, updates], axis=axis), data.rank, (data,))


def scatter_nd(maker: Maker) -> None:
    data, indices = maker.tensor(1), _indices(maker)
    if data and indices and data.is_full:
        last = maker.node("Unsqueeze", [indices.name, maker.constant([indices.rank])])
        updates = maker.cast(indices.name, FLOAT)
        maker.keep(maker.node("ScatterND", [data.name, last, updates]), 1, (data,))


STEPS = [gather, gather, table, table, gather_elements, gather_nd, scatter_elements, scatter_nd]
