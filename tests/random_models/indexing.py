"""Nodes that take elements out by index, put them in, or order them."""

from __future__ import annotations

import numpy as np
from random_models.maker import FLOAT, Maker, Tensor

_FAR = [2**62, -(2**62)]


def slice_(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if not data:
        return
    # A step back on an axis that is empty ends ONNX Runtime at once where its library checks itself.
    step = maker.random.choice([1, 1, 2, -1, -2] if data.is_full else [1, 1, 2])
    start = maker.size() if maker.chance(30) else maker.constant([maker.random.randint(-3, 3)])
    end = maker.constant([maker.random.choice([*range(-4, 5), *_FAR])]) if maker.chance(60) else maker.size()
    bounds = [start, end, maker.constant([maker.axis(data)]), maker.constant([step])]
    maker.keep(maker.node("Slice", [data.name, *bounds]), data.rank)


def gather(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        numbers = [maker.random.randint(-2, 2) for _ in range(2)]
        shape = maker.random.choice([(), (2,), (1, 2)])
        indices = maker.constant(np.resize(numbers, shape))
        made = maker.node("Gather", [data.name, indices], axis=maker.axis(data))
        maker.keep(made, data.rank - 1 + len(shape), (data,))


def _indices(maker: Maker) -> str:
    """Add nodes that make a vector of indices, which depends on sizes."""
    made = maker.count()
    for _ in range(maker.random.choice([0, 0, 1, 2])):
        operand = maker.scalar() if maker.chance(25) else maker.constant(maker.random.randint(0, 2))
        made = maker.node(maker.random.choice(["Add", "Sub", "Mul"]), [made, operand])
    return made


def gather_counted(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        maker.keep(maker.node("Gather", [data.name, _indices(maker)], axis=maker.axis(data)), data.rank)


def gather_nd(maker: Maker) -> None:
    """Elements at all pairs of two lines of indices, laid out as a mask is."""
    data = maker.tensor(least=2)
    if not data:
        return
    rows = maker.node("Unsqueeze", [_indices(maker), maker.constant([1])])
    columns = maker.node("Unsqueeze", [_indices(maker), maker.constant([0])])
    nothing = maker.constant(0)
    rows_wide = maker.node("Add", [rows, maker.node("Mul", [columns, nothing])])
    columns_high = maker.node("Add", [columns, maker.node("Mul", [rows, nothing])])
    pairs = [maker.node("Unsqueeze", [t, maker.constant([2])]) for t in (rows_wide, columns_high)]
    maker.keep(maker.node("GatherND", [data.name, maker.node("Concat", pairs, axis=-1)]), data.rank)


def gather_elements(maker: Maker) -> None:
    data, other = maker.tensor(least=1), maker.tensor(least=1)
    if data and other and data.rank == other.rank:
        shape = maker.node("Shape", [other.name])
        value = Tensor(shape, 1)
        zeros = maker.node("Cast", [maker.node("ConstantOfShape", [value.name])], to=7)
        maker.keep(maker.node("GatherElements", [data.name, zeros], axis=maker.axis(data)), data.rank)


def scatter_nd(maker: Maker) -> None:
    data, updates = maker.tensor(least=1), maker.tensor(least=1)
    if data and updates and data.rank == updates.rank:
        indices = maker.node("Unsqueeze", [_indices(maker), maker.constant([1])])
        maker.keep(maker.node("ScatterND", [data.name, indices, updates.name]), data.rank, (data,))


def scatter_elements(maker: Maker) -> None:
    data, updates = maker.tensor(least=1), maker.tensor(least=1)
    if data and updates and data.rank == updates.rank:
        zeros = maker.cast(maker.node("ConstantOfShape", [maker.node("Shape", [updates.name])]), 7)
        made = maker.node("ScatterElements", [data.name, zeros, updates.name], axis=maker.axis(data))
        maker.keep(made, data.rank, (data,))


def top_k(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        count = maker.constant([maker.random.randint(1, 3)]) if maker.chance(60) else maker.size()
        values, _ = maker.nodes("TopK", [data.name, count], 2, axis=maker.axis(data))
        maker.keep(values, data.rank)


def arg(maker: Maker) -> None:
    data, kept = maker.tensor(least=1), maker.random.randint(0, 1)
    if data:
        op_type = maker.random.choice(["ArgMax", "ArgMin"])
        made = maker.node(op_type, [data.name], axis=maker.axis(data), keepdims=kept)
        maker.keep(maker.node("Cast", [made], to=FLOAT), data.rank - 1 + kept, (data,))


def counted(maker: Maker) -> None:
    maker.keep(maker.node("Cast", [maker.count()], to=FLOAT), 1)


def one_hot(maker: Maker) -> None:
    values = maker.constant([0, 1], np.float32)
    maker.keep(maker.node("OneHot", [maker.count(), maker.size(), values], axis=maker.random.choice([-1, 0])), 2)


def cumulated(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        maker.keep(maker.node("CumSum", [data.name, maker.constant(maker.axis(data))]), data.rank, (data,))


def triangle(maker: Maker) -> None:
    data = maker.tensor(least=2)
    if data:
        maker.keep(maker.node("Trilu", [data.name]), data.rank, (data,))


def selected(maker: Maker) -> None:
    """What data select: nobody knows from shapes how many."""
    data = maker.tensor(1)
    if data:
        if maker.chance(50):
            made = maker.node("Squeeze", [maker.node("NonZero", [data.name]), maker.constant([0])])
            maker.keep(maker.node("Cast", [made], to=FLOAT), 1)
        else:
            truth = maker.node("Greater", [data.name, maker.constant(0.5, np.float32)])
            maker.keep(maker.node("Compress", [data.name, truth], axis=0), 1)


STEPS = [
    slice_,
    slice_,
    gather,
    gather_counted,
    gather_counted,
    gather_nd,
    gather_elements,
    scatter_elements,
    scatter_nd,
    top_k,
    arg,
    counted,
    one_hot,
    cumulated,
    triangle,
    selected,
]
