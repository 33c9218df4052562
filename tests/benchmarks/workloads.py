"""Programs of the size of a model, given to a `symbcast.ShapeEnv` operation by operation."""

from __future__ import annotations

import random

import symbcast as sb

BLOCK = 20
"""Operations in a block of `layers` and `blocks`."""


def chain(length: int, symbols: int = 8, rank: int = 4) -> list[sb.Shape]:
    """Return shapes to broadcast one after another: each size is one of a few symbols, or 1."""
    draw = random.Random(0)
    sizes = [*(sb.symbol(f"s{n}") for n in range(symbols)), 1]
    return [sb.shape([draw.choice(sizes) for _ in range(rank)]) for _ in range(length)]


def axis(length: int) -> list[sb.Shape]:
    """Return shapes of one axis, each of a separate size."""
    return [sb.shape([sb.symbol(f"s{n}")]) for n in range(length)]


def add_all(shapes: list[sb.Shape]) -> sb.ShapeEnv:
    env = sb.ShapeEnv()
    output = shapes[0]
    for shape in shapes[1:]:
        output = env.broadcast(output, shape)
    return env


def add_layers(count: int) -> sb.ShapeEnv:
    """A decoder with a cache: every layer is over the same sizes, with facts known of some."""
    env = sb.ShapeEnv(assume=["batch >= 1", "T >= 1", "d % 2 == 0"])
    sizes = {name: env.symbol(name) for name in ("batch", "T", "past", "heads", "d", "S")}
    x = sb.shape([sizes["batch"], sizes["heads"], sizes["T"], sizes["d"]])
    for _ in range(count):
        x = add_block(env, x, **sizes)
    return env


def add_blocks(count: int) -> sb.ShapeEnv:
    """Blocks that have nothing to do with each other: each is over sizes of its own."""
    env = sb.ShapeEnv()
    for n in range(count):
        sizes = {name: env.symbol(f"{name}{n}") for name in ("batch", "T", "past", "heads", "d", "S")}
        add_block(env, sb.shape([sizes["batch"], sizes["heads"], sizes["T"], sizes["d"]]), **sizes)
    return env


def add_block(env: sb.ShapeEnv, x: sb.Shape, batch, T, past, heads, d, S) -> sb.Shape:  # noqa: N803
    """Add the operations of a block of attention over a cache, and return the shape of its output."""
    half, rest, keys = d // 2, d - d // 2, past + T
    # Rotary embedding: the two halves of the features (slices), each by its angles, and put together again.
    angles = sb.shape([T, half])
    first = env.broadcast(sb.shape([batch, heads, T, half]), angles)
    second = env.broadcast(sb.shape([batch, heads, T, rest]), angles)
    turned = env.broadcast(first, second)
    query = env.broadcast(sb.shape([batch, heads, T, half + rest]), x)
    scaled = env.broadcast(query, sb.shape([1]))
    # Scores: the products run over d, and give T by all the keys (the cache and the new ones, concatenated).
    env.equal(sb.shape([scaled[3]]), sb.shape([d]))
    scores = sb.shape([batch, heads, T, keys])
    scores = env.broadcast(scores, sb.shape([1]))
    scores = env.broadcast(scores, sb.shape([T, keys]))  # causal
    scores = env.broadcast(scores, sb.shape([batch, 1, 1, S]))  # padding, of its own length
    scores = env.broadcast(scores, sb.shape([heads, 1, keys]))  # bias of each head
    scores = env.broadcast(scores, sb.shape([batch, heads, T, 1]))  # less the maximum
    scores = env.broadcast(scores, sb.shape([batch, heads, T, 1]))  # by the sum
    env.equal(sb.shape([scores[3]]), sb.shape([keys]))
    mixed = env.broadcast(sb.shape([batch, heads, T, d]), sb.shape([d]))
    x = env.broadcast(x, mixed)  # residual
    # The gated half of a feed-forward layer.
    gate = env.broadcast(turned, sb.shape([half]))
    env.broadcast(gate, sb.shape([batch, heads, T, 1]))
    env.equal(sb.shape([batch, heads, T]), sb.shape(list(x[:3])))
    normed = env.broadcast(x, sb.shape([d]))
    return env.broadcast(normed, x)


def add_dependent(count: int) -> sb.ShapeEnv:
    """A chain in which every other operation makes a new size from those before it, by slices and concatenations."""
    env = sb.ShapeEnv()
    draw = random.Random(0)
    M, last = env.symbol("M"), env.symbol("n0")
    for n in range(1, count // 2 + 1):
        new = env.symbol(f"n{n}")
        made = draw.choice([last, last + M, last // 2, last + 1])
        env.equal(sb.shape([new]), sb.shape([made]))
        env.broadcast(sb.shape([new, M]), sb.shape([made, 1]))
        last = new
    return env
