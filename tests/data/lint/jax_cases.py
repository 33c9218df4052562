"""Annotated functions of JAX; the comment at the end of a signature has the codes that lint finds."""

import abc
import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float, Key, PyTree, Scalar


@jax.jit
def total(x: Float[Array, "n m"]) -> Float[Array, "n"]:  # SYM101
    return x.sum(0)


def squared_error(x: Float[Array, "n"], y: Float[Array, "n 1"]) -> Scalar:  # SYM104
    return jnp.mean((x - y) ** 2)


def attention(q: Float[Array, "t h d"], k: Float[Array, "s h d"], v: Float[Array, "s h d"]) -> Float[Array, "t h d"]:
    weights = jax.nn.softmax(jnp.einsum("thd,shd->hts", q, k))
    return jnp.einsum("hts,shd->thd", weights, v)


def attention_wrong(
    q: Float[Array, "t h d"], k: Float[Array, "s h d"], v: Float[Array, "s h d"]
) -> Float[Array, "t h d"]:  # SYM101
    weights = jax.nn.softmax(jnp.einsum("thd,shd->hts", q, k))
    return jnp.einsum("hts,shd->htd", weights, v)


def doubled(x: PyTree[Float[Array, "?n"]]) -> PyTree[Float[Array, "?n"]]:
    return jax.tree.map(lambda leaf: leaf * 2, x)


def shortened(x: PyTree[Float[Array, "?n"]]) -> PyTree[Float[Array, "?n"]]:  # SYM103
    return jax.tree.map(lambda leaf: leaf[1:], x)


def scanned(x: Float[Array, "t d"]) -> tuple[Float[Array, "d"], Float[Array, "t d"]]:
    return jax.lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(x.shape[1]), x)


def weighted(weights: Float[Array, "n"], parts: Sequence[Float[Array, "d"]]) -> Float[Array, "d"]:
    return weights @ jnp.stack(parts)


def numbers(parts: Sequence[Float[Array, "..."]]) -> Float[Array, "n"]:
    return jnp.stack(parts)


def joined(parts: list[Float[Array, "n"]]) -> Float[Array, "n"]:  # SYM103
    return jnp.concatenate(parts)


def appended(x: Float[Array, "n d"], *more: Float[Array, "_ d"]) -> Float[Array, "m d"]:
    return jnp.concatenate([x, *more])


def products(x: Float[Array, "n d"], *more: Float[Array, "n d"]) -> Float[Array, "n"]:  # SYM105
    return sum((x @ y for y in more), x)[0]


def counted(x: Float[Array, "n d"]) -> Float[Array, "n"]:
    return jnp.zeros(len(x))


def like(x: Float[ArrayLike, "n"]) -> Float[Array, "n"]:
    return jnp.asarray(x) + 1


def noise(key: Key[Array, ""], x: Float[Array, "n m"]) -> Float[Array, "m n"]:  # SYM101
    return x + jax.random.normal(key, x.shape)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Linear:
    weight: Float[Array, "out in"]
    bias: Float[Array, "out"] | None
    steps: int = 3

    def __call__(self, x: Float[Array, "in"]) -> Float[Array, "out"]:
        y = self.weight @ x
        return y if self.bias is None else y + self.bias

    def rows(self, x: Float[Array, "{self.steps} in"]) -> Float[Array, "{self.steps}"]:
        return x.sum(1)

    def wrong(self, x: Float[Array, "in"]) -> Float[Array, "in"]:  # SYM101
        return self.weight @ x


def _data(values):
    return values[:, None] if values.ndim == 1 else values


@dataclasses.dataclass(init=False)
class Data:
    values: Float[Array, "n d"] = dataclasses.field(metadata={"converter": _data})

    # Equinox gives a parameter the annotation of its converter.
    def __init__(self, values: Float[Array, "n d *p"] | Float[Array, "n"]):
        self.values = _data(values)

    def __len__(self):
        return len(self.values)

    def mean(self) -> Float[Array, "d"]:
        return self.values.sum(0) / len(self)

    def ones(self) -> Float[Array, "d"]:  # SYM101
        return jnp.ones(len(self))


def as_data(x: Float[Array, "n d"] | Data) -> Data:
    return x if isinstance(x, Data) else Data(x)


class Kernel(abc.ABC):
    @abc.abstractmethod
    def of(self, x):
        """Return the kernel's values."""

    def values(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return self.of(x)

    def sums(self, x: Float[Array, "n d"]) -> Float[Array, "d"]:  # SYM101
        return self.of(x).sum(1)


class Power(Kernel):
    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def of(self, x):
        return self.kernel.of(x)[0]


class _Constant(Kernel):
    def of(self, x):
        return jnp.zeros(1)


class Identity(Kernel):
    def of(self, x):
        return x
