"""Functions of JAX that are exported with symbolic shapes: each with its arguments' shapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Case(NamedTuple):
    """A function and the symbolic shapes of its arguments, as text with an element type each."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[tuple[str, Any], ...]
    constraints: tuple[str, ...] = ()


def case(function: Callable[..., Any], *shapes: str | tuple[str, Any], given: tuple[str, ...] = ()) -> Case:
    taken = tuple((s, jnp.float32) if isinstance(s, str) else s for s in shapes)
    return Case(function.__name__, function, taken, given)


def add(x, y):
    return x + y


def add_row(x, row):
    return x + row


def outer_sum(x, y):
    return x[:, None] + y[None, :]


def matmul(x, y):
    return x @ y


def batched_matmul(x, y):
    return jnp.einsum("bij,bjk->bik", x, y)


def flatten(x):
    return x.reshape(x.shape[0], -1)


def flatten_all(x):
    return jnp.ravel(x)


def split_heads(x):
    return x.reshape(x.shape[0], x.shape[1], 4, -1).transpose(0, 2, 1, 3)


def pairs(x):
    return x.reshape(-1, 2)


def halves(x):
    return x.reshape(2, x.shape[0] // 2)


def concatenate(x, y):
    return jnp.concatenate([x, y, x], axis=1)


def stack(x, y):
    return jnp.stack([x, y], axis=1)


def tail(x):
    return x[1:] - x[:-1]


def every_second(x):
    return x[::2] + 1


def from_third(x):
    return x[2:-1]


def last(x):
    return x[-1] + x[0]


def padded(x):
    return jnp.pad(x, ((1, 2), (0, 0)))


def rolled(x):
    return jnp.roll(x, 2, axis=0)


def reversed_rows(x):
    return jnp.flip(x, axis=0)


def mean_and_variance(x):
    return (x - x.mean(axis=-1, keepdims=True)) / jnp.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def largest(x):
    return jnp.argmax(x, axis=0), jnp.max(x, axis=1)


def three_largest(x):
    return lax.top_k(x, 3)


def sorted_rows(x):
    return jnp.sort(x, axis=0), jnp.argsort(x, axis=1)


def running_sum(x):
    return jnp.cumsum(x, axis=0)


def taken(x, indices):
    return jnp.take(x, indices, axis=0)


def row_set(x, row):
    return x.at[0].set(row)


def rows_added(x, rows):
    return x.at[: rows.shape[0]].add(rows)


def dynamic_window(x, start):
    return lax.dynamic_slice_in_dim(x, start, 3, axis=0)


def updated_window(x, window, start):
    return lax.dynamic_update_slice_in_dim(x, window, start, axis=0)


def triangle(x):
    return jnp.tril(x @ x.T)


def counted(x):
    return x + jnp.arange(x.shape[0], dtype=jnp.float32)[:, None]


def identity_plus(x):
    return x + jnp.eye(x.shape[0])


def stretched(x):
    return jnp.broadcast_to(x[:, None], (x.shape[0], 3, x.shape[1]))


def tiled(x):
    return jnp.tile(x, (2, 3))


def repeated(x):
    return jnp.repeat(x, 3, axis=0)


def scanned(x):
    return lax.scan(lambda carry, row: (carry + row, carry * row), jnp.zeros(x.shape[1:]), x)


def looped(x):
    return lax.fori_loop(0, x.shape[0], lambda n, s: s + x[n], jnp.zeros(x.shape[1:]))


def while_small(x):
    return lax.while_loop(lambda s: s.sum() < 10, lambda s: s + 1, x)


def branched(x, flag):
    return lax.cond(flag > 0, lambda v: v * 2, lambda v: v[::-1], x)


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def causal_scores(q, k):
    scores = q @ k.T
    mask = jnp.arange(q.shape[0])[:, None] >= jnp.arange(k.shape[0])[None, :]
    return jnp.where(mask, scores, -1e9)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def max_pool_same(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def convolution(x, w):
    return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def convolution_valid(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def depthwise(x, w):
    return lax.conv_general_dilated(
        x, w, (1,), [(1, 1)], rhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=4
    )


def gradient(x, w):
    return jax.grad(lambda w: jnp.tanh(x @ w).sum())(w)


def vectorized(x, y):
    return jax.vmap(jnp.dot)(x, y)


def patches(x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, (h // 2) * (w // 2), 4 * c)


def shrunk(x):
    return jax.image.resize(x, (x.shape[0] // 2, 4), "linear")


def doubled_minus(x, y):
    return x[: y.shape[0]] * y


def noise(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)


def segments(x, ids):
    return jax.ops.segment_sum(x, ids, num_segments=x.shape[0])


def normalized(x):
    return x / jnp.linalg.norm(x, axis=0)


def one_hot(labels):
    return jax.nn.one_hot(labels, 5)


def distances(x, y):
    return jnp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))


I32 = partial(lambda shape: (shape, jnp.int32))


def plain_cases() -> list[Case]:
    """Return the functions that need JAX alone."""
    return [
        case(add, "a, b", "a, b"),
        case(add_row, "a, b", "b"),
        case(outer_sum, "a", "b"),
        case(matmul, "a, b", "b, c"),
        case(batched_matmul, "b, i, 3", "b, 3, k"),
        case(flatten, "b, t, 4"),
        case(flatten_all, "a, b, 3"),
        case(split_heads, "b, t, 8"),
        case(split_heads, "b, t, 4*d"),
        case(pairs, "2*a, 3"),
        case(pairs, "a, 4"),
        case(halves, "2*a"),
        case(halves, "a", given=("mod(a, 2) == 0",)),
        case(concatenate, "a, b", "a, c"),
        case(stack, "a, 3", "a, 3"),
        case(tail, "a, 3", given=("a >= 2",)),
        case(every_second, "a, 3"),
        case(from_third, "a", given=("a >= 3",)),
        case(last, "a, 3"),
        case(padded, "a, b"),
        case(rolled, "a, b"),
        case(reversed_rows, "a, b"),
        case(mean_and_variance, "a, b"),
        case(softmax, "a, b"),
        case(largest, "a, b"),
        case(three_largest, "a, b", given=("b >= 3",)),
        case(sorted_rows, "a, b"),
        case(running_sum, "a, b"),
        case(taken, "a, b", I32("n")),
        case(row_set, "a, b", "b"),
        case(rows_added, "a, b", "c, b", given=("a >= c",)),
        case(dynamic_window, "a, b", I32(""), given=("a >= 3",)),
        case(updated_window, "a, b", "c, b", I32(""), given=("a >= c",)),
        case(triangle, "a, b"),
        case(counted, "a, b"),
        case(identity_plus, "a, a"),
        case(stretched, "a, b"),
        case(tiled, "a, b"),
        case(repeated, "a, b"),
        case(scanned, "a, b"),
        case(looped, "a, b"),
        case(while_small, "a, b"),
        case(branched, "a, b", I32("")),
        case(attention, "b, q, 2, d", "b, k, 2, d", "b, k, 2, d"),
        case(causal_scores, "q, d", "k, d"),
        case(max_pool, "b, h, w, 2", given=("h >= 2", "w >= 2")),
        case(max_pool_same, "b, h, w, 2"),
        case(convolution, "b, h, w, 2", "3, 3, 2, 4"),
        case(convolution_valid, "b, h, w, 2", "3, 3, 2, c", given=("h >= 3", "w >= 3")),
        case(depthwise, "b, t, 4", "3, 1, 4", given=("t >= 3",)),
        case(gradient, "a, b", "b, 3"),
        case(vectorized, "a, b", "a, b"),
        case(patches, "b, 2*h, 2*w, 3"),
        case(patches, "b, h, w, 3", given=("mod(h, 2) == 0", "mod(w, 2) == 0")),
        case(shrunk, "a, b", given=("a >= 2",)),
        case(doubled_minus, "2*a, 3", "a, 3"),
        case(doubled_minus, "a + 1, b", "a, b"),
        case(noise, "a, 3"),
        case(segments, "a, 3", I32("a")),
        case(normalized, "a, b"),
        case(one_hot, I32("a, b")),
        case(distances, "a, d", "b, d"),
    ]
