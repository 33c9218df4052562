"""Functions that assign variables in loops, branches and calls that may fail; the shapes are compared with real ones."""

# ruff: noqa: F841, RET504 - variables are what this file is about

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def loop(x: Float[ndarray, "n d"]) -> Float[ndarray, "d"]:
    total = np.zeros(x.shape[1])
    for i in range(len(x)):
        row = x[i]
        total = total + row
    k = len(x) // 2
    half = x[:k]
    rest = x[k:]
    return total


def branch(x: Float[ndarray, "n m"]) -> Float[ndarray, "n"]:
    n, m = x.shape
    if n > m:
        y = x.T
    elif n == m:
        y = x + x.T
    else:
        y = x[:, :n]
    z = y.sum(0)
    w = np.pad(z, 1) if n % 2 else z[None]
    return x.sum(1)


def grow(x: Float[ndarray, "n"]) -> Float[ndarray, "n"]:
    y = x
    for _ in range(3):
        y = np.concatenate([y, x])
    while len(x) > 4:
        x = x[::2]
    a = b = x
    (c, d), e = (a, b[1:]), np.outer(a, b)
    return y[:1]


def bc(x: Float[ndarray, "n"], y: Float[ndarray, "m"]) -> Float[ndarray, "n m"]:
    s = x + y
    try:
        t = x @ y
    except ValueError:
        t = np.zeros((2, 2))
    u = np.add(s, 1)
    v = w = None
    with np.errstate(all="ignore"):
        v = np.stack([s, s])
    for v in (s, u[None]):
        q = v * 2
    return s


def nested(x: Float[ndarray, "n d"], y: Float[ndarray, "m d"]) -> Float[ndarray, "n m"]:
    def inner(a):
        b = a[None]
        return b

    out = np.empty((len(x), len(y)))
    for i, r in enumerate(x):
        for j, s in enumerate(y):
            out[i, j] = (r * s).sum()
    c = [inner(r) for r in x]
    f = np.concatenate(c) if c else x
    g = x.reshape(-1)
    h = g[: len(y)]
    g += 1
    return out
