"""Annotated functions of NumPy; the comment at the end of a signature has the codes that lint finds."""

import os
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, NewType

import numpy as np
from beartype import beartype
from jaxtyping import Bool, Float, Int, Num, Shaped, jaxtyped
from typeguard import typechecked

import symbcast as sb

Rows = NewType("Rows", int)
Columns = NewType("Columns", int)
Matrix = Float[np.ndarray, "n m"]


@jaxtyped(typechecker=beartype)
def summed_along_the_wrong_axis(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n"]:  # SYM101
    return x.sum(0)


@beartype
def summed(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n"]:
    return x.sum(1)


@typechecked
def never_added(x: Num[np.ndarray, "n"]) -> Num[np.ndarray, "n"]:  # SYM103
    return x * 0 + np.zeros(2) + np.zeros(3)


def mean_kept(x: Num[np.ndarray, "n m"]) -> Num[np.ndarray, "n"]:  # SYM103
    return x.mean(1, keepdims=True)


def aliased(x: Matrix, y: "Matrix") -> "Float[np.ndarray, 'm n']":  # SYM101
    return x + y


def annotated(x: Annotated[Matrix, "any words"]) -> Annotated[np.ndarray, sb.shape("m, n")]:
    return x.T


def annotated_wrongly(x: Annotated[Matrix, "any words"]) -> Annotated[np.ndarray, sb.shape("n, m")]:  # SYM101
    return x.T


def shaped(
    x: np.ndarray[tuple[Rows, Columns], np.dtype[np.float64]],
) -> np.ndarray[tuple[Columns], np.dtype[np.float64]]:  # SYM101
    return x[:, 0]


def literal(
    x: np.ndarray[tuple[Rows, Literal[3]], np.dtype[np.float64]],
) -> np.ndarray[tuple[Rows, Literal[2]], np.dtype[np.float64]]:
    return x[:, 1:]


def literal_wrong(
    x: np.ndarray[tuple[Rows, Literal[3]], np.dtype[np.float64]],
) -> np.ndarray[tuple[Rows, Literal[3]], np.dtype[np.float64]]:  # SYM103
    return x[:, 1:]


def product(x: Float[np.ndarray, "n k"], y: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "n m"]:
    return x @ y


def product_transposed(x: Float[np.ndarray, "n k"], y: Float[np.ndarray, "m k"]) -> Float[np.ndarray, "n m"]:  # SYM105
    return x @ y


def squared_error(x: Float[np.ndarray, "n"], y: Float[np.ndarray, "n 1"]) -> Float[np.ndarray, ""]:  # SYM104
    return ((x - y) ** 2).mean()


def centred(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    return x - x.mean(1)[:, None]


def pairs(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n n"]:
    return x[:, None] - x


def divided(x: Float[np.ndarray, "2*n + 1"]) -> Float[np.ndarray, "n"]:  # SYM106
    return x[1::2]


def odd(x: Float[np.ndarray, "2*n+1"]) -> Float[np.ndarray, "n"]:
    return x[1::2]


def every_second(x: Float[np.ndarray, "2*n d"]) -> Float[np.ndarray, "n d"]:
    return x[::2]


def every_third(x: Float[np.ndarray, "2*n d"]) -> Float[np.ndarray, "n d"]:  # SYM101
    return x[::3]


def halves(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n//2"]:  # SYM101
    return x[::2]


def sampled(x: Float[np.ndarray, "n"], count: int) -> Float[np.ndarray, "{count} n"]:
    return np.ones((count, 1)) * x


def many(x: Float[np.ndarray, "*batch d"]) -> Float[np.ndarray, "*batch"]:
    return x.sum(-1)


def many_wrong(x: Float[np.ndarray, "*batch d"]) -> Float[np.ndarray, "*batch"]:  # SYM101
    return x.sum(-2) if x.ndim > 2 else x.sum(-1)


def any_rank(x: Float[np.ndarray, "... d"]) -> Float[np.ndarray, "..."]:
    return x.sum(-1)


def stretched(x: Float[np.ndarray, "#n m"], y: Float[np.ndarray, "#n m"]) -> Float[np.ndarray, "n m"]:
    return x * y


def stretched_wrong(x: Float[np.ndarray, "#n m"], y: Float[np.ndarray, "#n m"]) -> Float[np.ndarray, "n m"]:  # SYM101
    return np.abs(x) + 0 * y.sum()


def stretched_many(x: Float[np.ndarray, "*#b"], y: Float[np.ndarray, "*#b"]) -> Float[np.ndarray, "*b"]:
    return x * y


def optional(x: Float[np.ndarray, "n m"], bias: Float[np.ndarray, "m"] | None = None) -> Float[np.ndarray, "n m"]:
    return x if bias is None else x + bias


def optional_wrong(
    x: Float[np.ndarray, "n m"], bias: Float[np.ndarray, "n"] | None = None
) -> Float[np.ndarray, "n m"]:  # SYM102
    return x if bias is None else x + bias


def one_of_two(x: Float[np.ndarray, "n"], flag: bool) -> Float[np.ndarray, "n"] | Float[np.ndarray, ""]:
    return x.sum() if flag else x * 2


def several(x: Float[np.ndarray, "n m"]) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "m"]]:  # SYM101
    return x.sum(0), x.sum(1)


def chosen(x: Float[np.ndarray, "n d"], rows: Int[np.ndarray, "k"]) -> Float[np.ndarray, "k d"]:
    return x[rows]


def masked(x: Float[np.ndarray, "n d"], mask: Bool[np.ndarray, "n"]) -> Float[np.ndarray, "k d"]:
    return x[mask]


def masked_along_the_wrong_axis(
    x: Float[np.ndarray, "n d"], mask: Bool[np.ndarray, "d"]
) -> Float[np.ndarray, "k d"]:  # SYM105
    return x[mask]


def refusing(x: Shaped[np.ndarray, "n m"]) -> Shaped[np.ndarray, "n m"]:
    if x.shape[0] != x.shape[1]:
        raise ValueError("not square")
    return x


def ignored(x: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n"]:  # symbcast: ignore[broken-promise]
    return x.sum(0)


def killed(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:  # SYM201
    if isinstance(x, np.ndarray):
        os._exit(3)
    return x


@dataclass
class Layer:
    weight: Float[np.ndarray, "out in"]
    bias: Float[np.ndarray, "out"]
    scale: float = 1.0

    def __call__(self, x: Float[np.ndarray, "batch in"]) -> Float[np.ndarray, "batch out"]:
        return self.scale * (x @ self.weight.T + self.bias)

    def transposed(self, x: Float[np.ndarray, "batch in"]) -> Float[np.ndarray, "batch out"]:  # SYM105
        return x @ self.weight + self.bias


class Pair(NamedTuple):
    first: Float[np.ndarray, "n"]
    second: Float[np.ndarray, "m"]


def outer(pair: Pair) -> Float[np.ndarray, "n m"]:
    return pair.first[:, None] * pair.second


def outer_wrong(pair: Pair) -> Float[np.ndarray, "m n"]:  # SYM101
    return pair.first[:, None] * pair.second


def swapped(x: Float[np.ndarray, "n"], y: Float[np.ndarray, "m"]) -> Pair:  # SYM101
    return Pair(x, y)._replace(first=y, second=x) if False else Pair(y, x)


def later(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
    return x + 1
