"""Twenty functions of NumPy with one mistake each, in the line with a comment, which has the right code."""

# ruff: noqa: PERF401

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Complex, Float, Int
from numpy import ndarray
from numpy.lib.stride_tricks import sliding_window_view


def cumulated(x: Float[ndarray, "n m"]) -> Float[ndarray, "n m"]:
    return np.cumsum(x)  # return np.cumsum(x, axis=0)


def ranked(x: Float[ndarray, "n m"]) -> Float[ndarray, "n m"]:
    order = np.argsort(x, axis=0)
    return x[order]  # return np.take_along_axis(x, order, axis=0)


def oversampled(x: Float[ndarray, "n d"], times: int) -> Float[ndarray, "n*{times} d"]:
    return np.repeat(x, times)  # return np.repeat(x, times, axis=0)


def smoothed(x: Float[ndarray, "n"], kernel: Float[ndarray, "k"]) -> Float[ndarray, "n+k-1"]:
    return np.convolve(x, kernel, mode="same")  # return np.convolve(x, kernel, mode="full")


def spectrum(x: Float[ndarray, "t c"]) -> Complex[ndarray, "t//2+1 c"]:
    return np.fft.rfft(x)  # return np.fft.rfft(x, axis=0)


def windows(x: Float[ndarray, "n d"]) -> Float[ndarray, "n-4 d 5"]:
    return sliding_window_view(x, 5, axis=1)  # return sliding_window_view(x, 5, axis=0)


def correlations(x: Float[ndarray, "n d"]) -> Float[ndarray, "d d"]:
    return np.cov(x)  # return np.cov(x, rowvar=False)


def least_squares(a: Float[ndarray, "n d"], b: Float[ndarray, "n"]) -> Float[ndarray, "d"]:
    return np.linalg.solve(a @ a.T, a.T @ b)  # return np.linalg.solve(a.T @ a, a.T @ b)


def features(x: Float[ndarray, "n"]) -> Float[ndarray, "n 4"]:
    return np.vander(x, 5)  # return np.vander(x, 4)


def pairs_below(x: Float[ndarray, "n d"]) -> Float[ndarray, "n*(n-1)//2"]:
    i, j = np.triu_indices(len(x))  # i, j = np.triu_indices(len(x), 1)
    return ((x[i] - x[j]) ** 2).sum(1)


def centres(edges: Float[ndarray, "n"]) -> Float[ndarray, "n-1"]:
    return (edges + np.roll(edges, -1)) / 2  # return (edges[1:] + edges[:-1]) / 2


def increments(x: Float[ndarray, "n d"]) -> Float[ndarray, "n-1 d"]:
    rows = []
    for i in range(len(x)):  # for i in range(len(x) - 1):
        rows.append(x[i] * i)
    return np.stack(rows)


def quantiles(x: Float[ndarray, "n d"], q: Float[ndarray, "k"]) -> Float[ndarray, "k d"]:
    return np.quantile(x, q, axis=1)  # return np.quantile(x, q, axis=0)


def split(x: Float[ndarray, "n 2*d"]) -> tuple[Float[ndarray, "n d"], Float[ndarray, "n d"]]:
    a, b = np.split(x, 2)  # a, b = np.split(x, 2, axis=1)
    return a, b


def upsampled(image: Float[ndarray, "h w"]) -> Float[ndarray, "2*h 2*w"]:
    return np.kron(image, np.ones((2, 1)))  # return np.kron(image, np.ones((2, 2)))


def clipped(x: Float[ndarray, "n d"], low: Float[ndarray, "n"], high: Float[ndarray, "n"]) -> Float[ndarray, "n d"]:
    return np.clip(x, low, high)  # return np.clip(x, low[:, None], high[:, None])


def scored(x: Float[ndarray, "n d"], weights: Float[ndarray, "d"] | None = None) -> Float[ndarray, "n"]:
    if weights is None:
        return x.mean(0)  # return x.mean(1)
    return x @ weights


@dataclass
class Standard:
    mean: Float[ndarray, "d"]
    scale: Float[ndarray, "d"]

    def __call__(self, x: Float[ndarray, "n d"]) -> Float[ndarray, "n d"]:
        return (x - self.mean) / self.scale[:, None]  # return (x - self.mean) / self.scale


def _inner(x, y):
    return x @ y.T


def cross_kernel(train: Float[ndarray, "n d"], test: Float[ndarray, "k d"]) -> Float[ndarray, "k n"]:
    return np.exp(_inner(train, test))  # return np.exp(_inner(test, train))


def counts(labels: Int[ndarray, "n"], seen: Bool[ndarray, "n"]) -> Int[ndarray, "3"]:
    classes = range(4)  # classes = range(3)
    return np.stack([(labels * seen == c).sum() for c in classes])
