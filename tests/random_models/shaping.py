"""Nodes that give elements another shape, repeat them, and put them together or apart."""

from __future__ import annotations

from random_models.maker import Maker


def concat(maker: Maker) -> None:
    first = maker.tensor(least=1)
    if not first:
        return
    parts = [first, *(maker.tensor(first.rank) for _ in range(maker.random.randint(0, 2)))]
    maker.keep(maker.node("Concat", [t.name for t in parts], axis=maker.axis(first)), first.rank, parts)


def reshape(maker: Maker) -> None:
    data = maker.tensor()
    rank = maker.random.randint(1, 4)
    parts = [
        maker.size(may_be_large=True) if maker.chance(50) else maker.constant([maker.random.randint(0, 4)])
        for _ in range(rank)
    ]
    if maker.chance(60):
        parts[maker.random.randrange(rank)] = maker.constant([-1])
    shape = maker.node("Concat", parts, axis=0)
    maker.keep(maker.node("Reshape", [data.name, shape], allowzero=int(maker.chance(15))), rank, (data,))


def reshape_to_like(maker: Maker) -> None:
    """The way out and back that attention takes: the last axis split in two, or the first ones merged."""
    data = maker.tensor(least=1)
    if not data:
        return
    shape = maker.node("Shape", [data.name], end=data.rank - 1)
    if maker.chance(50):
        ends = maker.constant([maker.random.randint(1, 3), -1][:: maker.random.choice([1, -1])])
        target, rank = maker.node("Concat", [shape, ends], axis=0), data.rank + 1
    else:
        last = maker.node("Shape", [data.name], start=-1)
        target, rank = maker.node("Concat", [maker.constant([-1]), last], axis=0), 2
    maker.keep(maker.node("Reshape", [data.name, target]), rank, (data,))


def flatten(maker: Maker) -> None:
    data = maker.tensor()
    maker.keep(maker.node("Flatten", [data.name], axis=maker.random.randint(-data.rank, data.rank)), 2, (data,))


def transpose(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        order = list(range(data.rank))
        maker.random.shuffle(order)
        maker.keep(maker.node("Transpose", [data.name], perm=order), data.rank, (data,))


def unsqueeze(maker: Maker) -> None:
    data = maker.tensor()
    axes = maker.constant([maker.random.randrange(-data.rank - 1, data.rank + 1)])
    maker.keep(maker.node("Unsqueeze", [data.name, axes]), data.rank + 1, (data,))


def squeeze(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data:
        maker.keep(maker.node("Squeeze", [data.name, maker.constant([maker.axis(data)])]), data.rank - 1, (data,))


def expand(maker: Maker) -> None:
    data, rank = maker.tensor(), maker.random.randint(1, 3)
    maker.keep(maker.node("Expand", [data.name, maker.sizes(rank)]), max(data.rank, rank))


def expand_as_exported(maker: Maker) -> None:
    """An Expand whose sizes of -1 stand for 1, as exporters write it."""
    data, size = maker.tensor(least=1), maker.size()
    if data:
        ones = maker.node("ConstantOfShape", [maker.node("Shape", [size])])
        ones = maker.node("Add", [maker.node("Cast", [ones], to=7), maker.constant([1])])
        given = maker.node("Mul", [ones, maker.constant([-1])]) if maker.chance(30) else size
        is_kept = maker.node("Equal", [given, maker.constant([-1])])
        maker.keep(maker.node("Expand", [data.name, maker.node("Where", [is_kept, ones, given])]), data.rank)


def tile(maker: Maker) -> None:
    data = maker.tensor(least=1, most=3)
    if data:
        maker.keep(maker.node("Tile", [data.name, maker.sizes(data.rank, 1, 2)]), data.rank)


def split(maker: Maker) -> None:
    data, count = maker.tensor(least=1), maker.random.randint(2, 3)
    if not data:
        return
    axis = maker.axis(data)
    if maker.chance(50):
        made = maker.nodes("Split", [data.name], count, axis=axis, num_outputs=count)
    else:
        made = maker.nodes("Split", [data.name, maker.sizes(count, 0, 2)], count, axis=axis)
    for name in made:
        maker.keep(name, data.rank)


def depth_to_space(maker: Maker) -> None:
    data = maker.tensor(4)
    if data:
        op_type = maker.random.choice(["DepthToSpace", "SpaceToDepth"])
        maker.keep(maker.node(op_type, [data.name], blocksize=maker.random.randint(1, 2)), 4)


def filled(maker: Maker) -> None:
    rank = maker.random.randint(1, 3)
    maker.keep(maker.node("ConstantOfShape", [maker.sizes(rank)]), rank)


STEPS = [
    concat,
    concat,
    reshape,
    reshape,
    reshape_to_like,
    flatten,
    transpose,
    unsqueeze,
    squeeze,
    expand,
    expand_as_exported,
    tile,
    split,
    depth_to_space,
    filled,
]
