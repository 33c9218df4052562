"""Nodes that work out integers from sizes: shapes, and indices that count along axes."""

from __future__ import annotations

from random_models.maker import FLOAT, INT64, Maker, Tensor

_SMALL = [-1, 0, 1, 2, 3]


def _given(maker: Maker, rank: int | None = None, least: int = 0) -> Tensor | None:
    """Return one of the tensors of integers that are there."""
    found = [t for t in maker.integers if t.rank >= least and rank in (None, t.rank)]
    return maker.random.choice(found) if found else None


def shape(maker: Maker) -> None:
    maker.keep_integers(maker.node("Shape", [maker.tensor().name]), 1)


def counted(maker: Maker) -> None:
    maker.keep_integers(maker.count(), 1)


def filled(maker: Maker) -> None:
    rank = maker.random.randint(1, 2)
    zeros = maker.node("Cast", [maker.node("ConstantOfShape", [maker.sizes(rank)])], to=INT64)
    maker.keep_integers(maker.node("Add", [zeros, maker.constant(maker.random.choice(_SMALL))]), rank)


def with_number(maker: Maker) -> None:
    data = _given(maker)
    op_type = maker.random.choice(["Add", "Sub", "Mul", "Min", "Max", "Div", "Mod", "Equal", "Less"])
    number = maker.constant(
        maker.random.choice([1, 2, 3]) if op_type in ("Div", "Mod") else maker.random.choice(_SMALL)
    )
    made = maker.node(op_type, [data.name, number])
    if op_type in ("Equal", "Less"):
        made = maker.node("Where", [made, number, data.name])
    maker.keep_integers(made, data.rank)


def of_two(maker: Maker) -> None:
    a, b = _given(maker), _given(maker)
    op_type = maker.random.choice(["Add", "Sub", "Mul", "Max", "Min"])
    maker.keep_integers(maker.node(op_type, [a.name, b.name]), max(a.rank, b.rank))


def of_one(maker: Maker) -> None:
    data = _given(maker)
    op_type = maker.random.choice(["Neg", "Abs", "Identity", "Sign", "Relu"])
    if op_type == "Relu":
        real = maker.node("Cast", [data.name], to=FLOAT)
        halved = maker.node("Mul", [maker.node("Relu", [real]), maker.constant(0.5, "float32")])
        made = maker.node("Cast", [maker.node(maker.random.choice(["Floor", "Ceil"]), [halved])], to=INT64)
    else:
        made = maker.node(op_type, [data.name])
    maker.keep_integers(made, data.rank)


def unsqueeze(maker: Maker) -> None:
    data = _given(maker)
    axis = maker.constant([maker.random.randrange(-data.rank - 1, data.rank + 1)])
    maker.keep_integers(maker.node("Unsqueeze", [data.name, axis]), data.rank + 1)


def squeeze(maker: Maker) -> None:
    data = _given(maker, least=1)
    if data:
        axis = maker.constant([maker.random.randrange(data.rank)])
        maker.keep_integers(maker.node("Squeeze", [data.name, axis]), data.rank - 1)


def transpose(maker: Maker) -> None:
    data = _given(maker, least=2)
    if data:
        order = list(range(data.rank))
        maker.random.shuffle(order)
        maker.keep_integers(maker.node("Transpose", [data.name], perm=order), data.rank)


def expand(maker: Maker) -> None:
    data, rank = _given(maker), maker.random.randint(1, 2)
    maker.keep_integers(maker.node("Expand", [data.name, maker.sizes(rank)]), max(data.rank, rank))


def reshape(maker: Maker) -> None:
    data = _given(maker)
    rank = maker.random.randint(1, 2)
    parts = [maker.constant([-1]), maker.size()][:rank]
    maker.random.shuffle(parts)
    maker.keep_integers(maker.node("Reshape", [data.name, maker.node("Concat", parts, axis=0)]), rank)


def tile(maker: Maker) -> None:
    data = _given(maker, least=1)
    if data:
        maker.keep_integers(maker.node("Tile", [data.name, maker.sizes(data.rank, 1, 2)]), data.rank)


def slice_(maker: Maker) -> None:
    data = _given(maker, least=1)
    if data:
        numbers = [
            maker.random.randint(-2, 2),
            maker.random.choice([-1, 1, 2, 3, 9]),
            maker.random.randrange(data.rank),
        ]
        bounds = [maker.constant([n]) for n in [*numbers, maker.random.choice([1, 1, 2])]]
        maker.keep_integers(maker.node("Slice", [data.name, *bounds]), data.rank)


def gather(maker: Maker) -> None:
    data, indices = _given(maker, least=1), _given(maker)
    if not data:
        return
    axis = maker.random.randrange(data.rank)
    if maker.chance(50):
        made = maker.node("Gather", [data.name, maker.constant(maker.random.randint(-1, 1))], axis=axis)
        maker.keep_integers(made, data.rank - 1)
    else:
        made = maker.node("Gather", [data.name, indices.name], axis=axis)
        maker.keep_integers(made, data.rank - 1 + indices.rank)


def concat(maker: Maker) -> None:
    first = _given(maker, least=1)
    if first:
        parts = [first, *(_given(maker, first.rank) for _ in range(maker.random.randint(0, 2)))]
        axis = maker.random.randrange(-first.rank, first.rank)
        maker.keep_integers(maker.node("Concat", [t.name for t in parts], axis=axis), first.rank)


def split(maker: Maker) -> None:
    data = _given(maker, least=1)
    if data:
        for name in maker.nodes("Split", [data.name], 2, axis=maker.random.randrange(data.rank), num_outputs=2):
            maker.keep_integers(name, data.rank)


def reduce(maker: Maker) -> None:
    data, kept = _given(maker), maker.random.randint(0, 1)
    op_type = maker.random.choice(["ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd"])
    maker.keep_integers(maker.node(op_type, [data.name], keepdims=kept), data.rank if kept else 0)


STEPS = [
    *[shape] * 2,
    *[counted] * 3,
    filled,
    *[with_number] * 3,
    *[of_two] * 3,
    of_one,
    *[unsqueeze] * 2,
    squeeze,
    transpose,
    expand,
    reshape,
    tile,
    slice_,
    *[gather] * 2,
    concat,
    split,
    reduce,
]
