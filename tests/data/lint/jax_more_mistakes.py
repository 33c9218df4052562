"""Twenty-two functions of JAX with one mistake each, in the line with a comment, which has the right code."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int, Key, PyTree


def batched_rows(x: Float[Array, "b n d"], w: Float[Array, "d k"]) -> Float[Array, "b n k"]:
    return jax.vmap(lambda row: row @ w, in_axes=1)(x)  # return jax.vmap(lambda row: row @ w, in_axes=0)(x)


def columns_first(x: Float[Array, "n d"]) -> Float[Array, "d n"]:
    return jax.vmap(lambda row: row * 2)(x)  # return jax.vmap(lambda row: row * 2, out_axes=1)(x)


def convolved(x: Float[Array, "b c t"], w: Float[Array, "o c 3"]) -> Float[Array, "b o t"]:
    return lax.conv_general_dilated(x, w, (1,), "VALID")  # return lax.conv_general_dilated(x, w, (1,), "SAME")


def pooled(x: Float[Array, "h w c"]) -> Float[Array, "h w"]:
    return lax.reduce(x, 0.0, lax.add, (0,))  # return lax.reduce(x, 0.0, lax.add, (2,))


def carried(x: Float[Array, "t b d"]) -> tuple[Float[Array, "b d"], Float[Array, "t b"]]:
    def step(c, v):
        c = 0.9 * c + v
        return c, c.sum(0)  # return c, c.sum(1)

    return lax.scan(step, jnp.zeros(x.shape[1:]), x)


def looped(x: Float[Array, "n d"], a: Float[Array, "d d"]) -> Float[Array, "n d"]:
    return lax.fori_loop(0, 5, lambda i, v: v @ a.T, x)[0]  # return lax.fori_loop(0, 5, lambda i, v: v @ a.T, x)


def chosen_branch(x: Float[Array, "n d"], flag: Bool[Array, ""]) -> Float[Array, "n"]:
    axis = 0  # axis = 1
    return lax.cond(flag, lambda v: v.sum(axis), lambda v: v.max(axis), x)


def hessians(w: Float[Array, "d"], x: Float[Array, "n d"]) -> Float[Array, "d d"]:
    return jax.hessian(lambda v: jnp.tanh(x @ v))(w)  # return jax.hessian(lambda v: jnp.tanh(x @ v).sum())(w)


def tangents(x: Float[Array, "n"], v: Float[Array, "n"]) -> Float[Array, "n"]:
    return jax.jvp(lambda a: (a**2).sum(), (x,), (v,))[1]  # return jax.jvp(lambda a: a**2, (x,), (v,))[1]


def dropped(key: Key[Array, ""], x: Float[Array, "b t d"]) -> Float[Array, "b t d"]:
    keep = jax.random.bernoulli(key, 0.9, x.shape[:2])  # keep = jax.random.bernoulli(key, 0.9, x.shape[:2])[..., None]
    return jnp.where(keep, x, 0.0)


def rotary(x: Float[Array, "t h 2*d"], angles: Float[Array, "t d"]) -> Float[Array, "t h 2*d"]:
    a, b = jnp.split(x, 2, axis=-1)
    cos, sin = jnp.cos(angles), jnp.sin(angles)  # cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def causal(q: Float[Array, "t d"], k: Float[Array, "s d"]) -> Float[Array, "t s"]:
    mask = jnp.tril(jnp.ones((q.shape[0], q.shape[0])))  # mask = jnp.tril(jnp.ones((q.shape[0], k.shape[0])))
    return jnp.where(mask > 0, q @ k.T, -jnp.inf)


def grouped(x: Float[Array, "t {g}*d"], g: int) -> Float[Array, "t {g} d"]:
    return x.reshape(x.shape[0], -1, g)  # return x.reshape(x.shape[0], g, -1)


def segment_means(x: Float[Array, "n d"], segment: Int[Array, "n"]) -> Float[Array, "8 d"]:
    total = jax.ops.segment_sum(x, segment, 8)
    count = jax.ops.segment_sum(jnp.ones(x.shape[0]), segment, 8)
    return total / count  # return total / count[:, None]


def patched(x: Float[Array, "4*h 4*w c"]) -> Float[Array, "h*w 16*c"]:
    h, w, c = x.shape
    y = x.reshape(h // 4, 4, w // 4, 4, c).transpose(0, 2, 1, 3, 4)
    return y.reshape(-1, 4 * c)  # return y.reshape(-1, 16 * c)


class Moments(NamedTuple):
    mean: Float[Array, "d"]
    cov: Float[Array, "d d"]


def moments(x: Float[Array, "n d"]) -> Moments:
    m = x.mean(0)
    return Moments(m, (x - m) @ (x - m).T)  # return Moments(m, (x - m).T @ (x - m))


@dataclass
class Mixer:
    tokens: Float[Array, "t t"]
    channels: Float[Array, "d d"]

    def __call__(self, x: Float[Array, "t d"]) -> Float[Array, "t d"]:
        x = x + self.tokens @ x
        return x + self.channels @ x  # return x + x @ self.channels


def halved(tree: PyTree[Float[Array, "n ?d"]]) -> PyTree[Float[Array, "?d"]]:
    return jax.tree.map(lambda v: v.sum(1), tree)  # return jax.tree.map(lambda v: v.sum(0), tree)


def updated(x: Float[Array, "n d"], i: Int[Array, "k"], v: Float[Array, "k"]) -> Float[Array, "n d"]:
    return x.at[i].add(v)  # return x.at[i].add(v[:, None])


def stacked_layers(x: Float[Array, "b d"], w: Float[Array, "l d d"]) -> Float[Array, "b d"]:
    for layer in range(3):
        x = jax.nn.relu(x @ w[:, layer])  # x = jax.nn.relu(x @ w[layer])
    return x


def contracted(a: Float[Array, "i j k"], b: Float[Array, "k j l"]) -> Float[Array, "i l"]:
    return jnp.tensordot(a, b, axes=2)  # return jnp.tensordot(a, b, axes=((1, 2), (1, 0)))


def loglik(x: Float[Array, "*b n d"], mean: Float[Array, "*b d"]) -> Float[Array, "*b"]:
    return -((x - mean) ** 2).sum((-1, -2))  # return -((x - mean[..., None, :]) ** 2).sum((-1, -2))
