"""Functions of JAX with one mistake each, in the line with a comment, which has the right code."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int, Scalar


def row_sums(x: Float[Array, "n m"]) -> Float[Array, "n"]:
    return x.sum(0)  # return x.sum(1)


def log_softmax(x: Float[Array, "n m"]) -> Float[Array, "n m"]:
    return x - jax.nn.logsumexp(x, axis=1)  # return x - jax.nn.logsumexp(x, axis=1, keepdims=True)


def layer_norm(x: Float[Array, "t d"], scale: Float[Array, "d"]) -> Float[Array, "t d"]:
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1)  # var = x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-6) * scale


def dense(x: Float[Array, "b i"], w: Float[Array, "i o"], b: Float[Array, "o"]) -> Float[Array, "b o"]:
    return w @ x + b  # return x @ w + b


def squared_error(found: Float[Array, "n"], wanted: Float[Array, "n 1"]) -> Scalar:
    return jnp.mean((found - wanted) ** 2)  # return jnp.mean((found - wanted[:, 0]) ** 2)


def absolute_error(found: Float[Array, "n 1"], wanted: Float[Array, "n"]) -> Scalar:
    return jnp.abs(found - wanted).sum()  # return jnp.abs(found[:, 0] - wanted).sum()


def mean_error(x: Float[Array, "n d"], wanted: Float[Array, "n"]) -> Scalar:
    found = x.sum(-1, keepdims=True)  # found = x.sum(-1)
    return jnp.abs(found - wanted).mean()


def attention(q: Float[Array, "t h d"], k: Float[Array, "s h d"], v: Float[Array, "s h d"]) -> Float[Array, "t h d"]:
    weights = jax.nn.softmax(jnp.einsum("thd,shd->hts", q, k))
    return jnp.einsum("hts,shd->htd", weights, v)  # return jnp.einsum("hts,shd->thd", weights, v)


def scores(q: Float[Array, "t d"], k: Float[Array, "s d"]) -> Float[Array, "t s"]:
    return k @ q.T  # return q @ k.T


def kernel(x: Float[Array, "n d"], y: Float[Array, "m d"]) -> Float[Array, "n m"]:
    def row(a):
        return jax.vmap(lambda b: jnp.exp(-((a - b) ** 2).sum()))(y)

    return jax.vmap(row)(y)  # return jax.vmap(row)(x)


def scanned(x: Float[Array, "t d"]) -> Float[Array, "d"]:
    start = jnp.zeros(x.shape[0])  # start = jnp.zeros(x.shape[1])
    return jax.lax.scan(lambda c, v: (c + v, c), start, x)[0]


def history(x: Float[Array, "t d"]) -> Float[Array, "t d"]:
    def step(c, v):
        return c + v, c.sum()  # return c + v, c

    return jax.lax.scan(step, jnp.zeros(x.shape[1]), x)[1]


def one_hot(x: Int[Array, "n"]) -> Float[Array, "n 10"]:
    return jax.nn.one_hot(x, 10, axis=0)  # return jax.nn.one_hot(x, 10)


def joined(x: Float[Array, "n d"], y: Float[Array, "n e"]) -> Float[Array, "n d+e"]:
    return jnp.concatenate([x, y])  # return jnp.concatenate([x, y], axis=1)


def repeated(x: Float[Array, "n d"]) -> Float[Array, "2*n d"]:
    return jnp.tile(x, 2)  # return jnp.tile(x, (2, 1))


def gradient(w: Float[Array, "d"], x: Float[Array, "n d"]) -> Float[Array, "d"]:
    return jax.grad(lambda v: (x @ v).sum())(w)[None]  # return jax.grad(lambda v: (x @ v).sum())(w)


def jacobian(w: Float[Array, "d"], x: Float[Array, "n d"]) -> Float[Array, "n d"]:
    return jax.jacobian(lambda v: v @ x)(x @ w)  # return jax.jacobian(lambda v: x @ v)(w)


def quadratic(a: Float[Array, "n m"], x: Float[Array, "n"]) -> Scalar:
    return x @ a @ x  # return x @ a @ a.T @ x


def euler(a: Float[Array, "d d"], x: Float[Array, "d"], b: Float[Array, "d 1"]) -> Float[Array, "d"]:
    return x + 0.1 * (a @ x + b)  # return x + 0.1 * (a @ x + b[:, 0])


def kalman(f: Float[Array, "d d"], p: Float[Array, "d d"], h: Float[Array, "m d"]) -> Float[Array, "d m"]:
    return f @ p @ h  # return f @ p @ h.T


def taken(x: Float[Array, "n d"], rows: Int[Array, "k"]) -> Float[Array, "k d"]:
    return jnp.take(x, rows, axis=1)  # return jnp.take(x, rows, axis=0)


def moved(image: Float[Array, "c h w"]) -> Float[Array, "h w c"]:
    return jnp.moveaxis(image, -1, 0)  # return jnp.moveaxis(image, 0, -1)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Layer:
    weight: Float[Array, "out in"]
    bias: Float[Array, "out"]

    def __call__(self, x: Float[Array, "in"]) -> Float[Array, "out"]:
        return self.weight.T @ x + self.bias  # return self.weight @ x + self.bias

    def rows(self, x: Float[Array, "n in"]) -> Float[Array, "n out"]:
        row = jax.vmap(self, out_axes=1)  # row = jax.vmap(self)
        return row(x)
