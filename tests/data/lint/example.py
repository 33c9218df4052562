"""Functions whose annotations are NumPy's own: type variables are names of sizes."""

from typing import Literal, TypeVar

import numpy as np

N = TypeVar("N", bound=int)
M = TypeVar("M", bound=int)
Float = np.dtype[np.float64]


def total(x: np.ndarray[tuple[N, M], Float]) -> np.ndarray[tuple[N], Float]:
    return x.sum(0)


def lengths(x: np.ndarray[tuple[N, Literal[3]], Float]) -> np.ndarray[tuple[N], Float]:
    return np.sqrt((x**2).sum(-1))


def squared_error(
    found: np.ndarray[tuple[N], Float], wanted: np.ndarray[tuple[N, Literal[1]], Float]
) -> np.ndarray[tuple[()], Float]:
    return ((found - wanted) ** 2).mean()
