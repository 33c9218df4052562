"""Functions with the idioms of numerical code: strides, writes, control by exceptions, caches, closures, pieces."""
# ruff: noqa: F722, F821

import contextlib
import functools
import warnings
from dataclasses import dataclass, replace

import numpy as np

CACHE = {}


def windows_std(x: "N", k: "s:K"):
    return np.lib.stride_tricks.sliding_window_view(x, k).std(axis=-1)


def windows_2d_max(x: "H, W"):
    return np.lib.stride_tricks.sliding_window_view(x, (3, 2)).max(axis=(-1, -2))[::2, ::2]


def strided_diagonal(x: "N, N"):
    return np.lib.stride_tricks.as_strided(x, (len(x),), (x.strides[0] + x.strides[1],)).copy()


def segment_sums(x: "N, M"):
    return np.add.reduceat(x, np.arange(0, len(x), 3), axis=0)


def segment_at(x: "N", starts: "i:K"):
    return np.add.reduceat(x, starts)


def along_axis(x: "N, M"):
    return np.apply_along_axis(np.cumsum, 0, x[:, ::2])


def along_axis_pairs(x: "N, 2"):
    return np.apply_along_axis(lambda r: np.outer(r, r), 1, x)


def vectorized(x: "N, 1", y: "M"):
    return np.vectorize(lambda a, b: a if a > b else b, otypes=[float])(x, y)


def structured(x: "N", y: "M"):
    table = np.zeros(len(x), dtype=[("a", "f8"), ("b", "f8", (2,))])
    table["a"] = x
    table["b"] = y[:, None]
    return table["b"].sum(1) + table["a"]


def bins_of(x: "N", edges: "K"):
    place = np.searchsorted(edges, x, side="right") - 1
    return np.clip(place, 0, len(edges) - 2)


def lookup(x: "N", xs: "K", ys: "L"):
    return np.interp(x, xs, ys)


def histogram_two(x: "N", y: "M"):
    found, _, _ = np.histogram2d(x, y, bins=(4, 5))
    return found


def unravelled(x: "N, M"):
    i, j = np.unravel_index(np.arange(x.size), x.shape)
    return x[i, j].reshape(x.shape[::-1])


def argmax_2d(x: "N, M"):
    return np.array(np.unravel_index(np.argmax(x), x.shape))


def contraction(x: "N, K", y: "K, L", z: "L, M"):
    return np.einsum("ij,jk,kl->il", x, y, z, optimize="greedy")


def bilinear_form(x: "B, N", w: "N, M", y: "B, M"):
    return np.einsum("bi,ij,bj->b", x, w, y)


def accumulate_into(x: "N, M", y: "K"):
    x = x.copy()
    x += y
    x[1:] -= x[:-1]
    return x


def where_out(x: "N, M", y: "M"):
    out = np.zeros((len(x), len(y)))
    np.divide(x, y, out=out, where=y != 0)
    return out


def masked_out(x: "N", y: "M"):
    out = np.empty_like(x)
    np.multiply(x, y, out=out)
    return out


def padded_modes(x: "N, M"):
    return [np.pad(x, 2, mode=m) for m in ("constant", "edge", "wrap", "reflect", "symmetric")]


def padded_to(x: "N", n: "s:K"):
    return np.pad(x, (0, n - len(x)))


def blocks(a: "N, N", b: "N, M", c: "M, M"):
    return np.block([[a, b], [b.T, c]])


def columns(x: "N", y: "M"):
    return np.c_[x, y]


def rows(x: "N", y: "M"):
    return np.r_[x, 0.0, y]


def r_2d(x: "N, M", y: "K, M"):
    return np.r_[x, y]


def solve_stack(a: "B, N, N", b: "B, N, K"):
    return np.linalg.solve(a + 3 * np.eye(a.shape[-1]), b)


def eigen_stack(a: "B, N, M"):
    values, vectors = np.linalg.eigh(a @ a.swapaxes(-1, -2))
    return vectors * values[:, None, :]


def low_rank(x: "N, M", k: "s:K"):
    u, s, v = np.linalg.svd(x, full_matrices=False)
    return (u[:, :k] * s[:k]) @ v[:k]


def fft_convolve(x: "N", y: "M"):
    n = len(x) + len(y) - 1
    return np.fft.irfft(np.fft.rfft(x, n=n) * np.fft.rfft(y, n=n), n=n)


def spectrum(x: "N, M"):
    return np.abs(np.fft.fftshift(np.fft.fft2(x, s=(4, 8)), axes=1)) ** 2


def band_power(x: "N"):
    f = np.fft.rfftfreq(len(x), d=0.1)
    p = np.abs(np.fft.rfft(x)) ** 2
    return p * f


def design(x: "N", y: "M"):
    a = np.vander(x, 3)
    found, *_ = np.linalg.lstsq(a, y, rcond=None)
    return found


def fitted(x: "N", y: "M"):
    return np.polyval(np.polyfit(x, y, 1), x)


def pieces(x: "N, M"):
    def each():
        for row in np.array_split(x, 2):
            yield row.mean(axis=0)

    return np.stack(list(each()))


def chunks(x: "N"):
    def each(size):
        for start in range(0, 6, size):
            part = x[start : start + size]
            if not len(part):
                return
            yield part.sum()

    return np.array(list(each(2)))


@dataclass(frozen=True)
class Batch:
    values: np.ndarray
    labels: np.ndarray

    def __post_init__(self):
        if len(self.values) != len(self.labels):
            raise ValueError("lengths differ")

    def shifted(self):
        return replace(self, values=self.values - self.values.mean(0))


def batch(x: "N, M", y: "K"):
    return Batch(x, y).shifted().values * y[:, None]


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        for a in args:
            if np.ndim(a) != 2:
                raise TypeError("two axes are needed")
        return function(*args, **kwargs)

    return inner


@logged
def decorated(x: "N, M", y: "K, L"):
    return x @ y.T


def try_shapes(x: "N", y: "M"):
    try:
        return x + y
    except ValueError:
        return np.add.outer(x, y)


def try_reshape(x: "N"):
    for rows in (3, 2):
        with contextlib.suppress(ValueError):
            return x.reshape(rows, -1)
    return x[None]


def try_index(x: "N"):
    try:
        return x[3]
    except IndexError:
        return x.sum()


def try_stack(x: "N, M", y: "K, L"):
    try:
        return np.vstack([x, y])
    except ValueError as error:
        raise TypeError("cannot stack") from error


def try_empty(x: "N, M"):
    try:
        return x.max(axis=0)
    except ValueError:
        return np.full(x.shape[1], -np.inf)


def try_else_finally(x: "N", y: "M"):
    done = []
    try:
        z = x.dot(y)
    except ValueError:
        z = np.zeros(2)
    else:
        z = z * 2
    finally:
        done.append(1)
    return z, len(done)


def asserted(x: "N, M", y: "K"):
    assert x.shape[1] == y.shape[0], "widths differ"
    assert x.size, "empty"
    return x * y / x.max()


def cached_grid(x: "N"):
    key = x.ndim
    if key not in CACHE:
        CACHE[key] = np.linspace(0, 1, 4)
    return np.multiply.outer(x, CACHE[key])


@functools.lru_cache(maxsize=8)
def _window(n):
    return np.hanning(n)


def cached_window(x: "N"):
    return x * _window(len(x))


def closure_scale(x: "N, M"):
    total = 0

    def add(v):
        nonlocal total
        total = total + v.sum(axis=1)
        return v / v.shape[0]

    return add(x) + add(x.T[: x.shape[0]].T), total


def defaults(x: "N", found=None):
    found = [] if found is None else found
    found.append(x[: len(x) // 2])
    found.append(x[len(x) // 2 :])
    return np.array(found)


def warned(x: "N", y: "M"):
    if len(x) != len(y):
        warnings.warn(f"lengths {len(x)} and {len(y)} differ", stacklevel=2)
    n = min(len(x), len(y))
    return x[:n] * y[:n]


def standard_scaler(x: "N, M", y: "K, L"):
    mean, std = x.mean(0), x.std(0)
    std[std == 0] = 1
    return (y - mean) / std


def nearest_labels(x: "N, D", y: "M, D", labels: "i:M"):
    d = ((x[:, None] - y) ** 2).sum(-1)
    return labels[np.argsort(d, axis=1)[:, :3]].mean(axis=1)


def one_vs_rest(x: "N, M", w: "K, M", b: "K"):
    scores = x @ w.T + b
    return np.take_along_axis(scores, scores.argmax(1)[:, None], 1).squeeze(1)


def moving_average_filter(x: "N, M"):
    total = np.cumsum(np.insert(x, 0, 0, axis=0), axis=0)
    return (total[3:] - total[:-3]) / 3


def hankel_svd(x: "N", k: "s:K"):
    rows = len(x) - k + 1
    h = x[np.arange(rows)[:, None] + np.arange(k)]
    return np.linalg.svd(h, compute_uv=False)


def roll_differences(x: "N, M"):
    return np.stack([x - np.roll(x, s, axis=1) for s in (-1, 1)]).reshape(2, -1)


def triangular(x: "N, N"):
    i, j = np.triu_indices(len(x), k=1)
    return x[i, j] - x.T[i, j]


def scatter_add(x: "N", y: "N"):
    out = np.zeros(4)
    np.add.at(out, [0, 1, 1, 3], x[:4])
    return out[:, None] + y


def choose_columns(x: "N, M"):
    keep = np.flatnonzero(np.arange(x.shape[1]) % 2 == 0)
    return x[:, keep]


def delete_insert(x: "N"):
    return np.insert(np.delete(x, [0, 2]), 1, [7.0, 8.0])


def broadcast_write(x: "N, M", y: "K, L"):
    out = np.empty(np.broadcast_shapes(x.shape, y.shape))
    out[...] = x
    out *= y
    return out


def swap_rows(x: "N, M"):
    x = x.copy()
    x[[0, -1]] = x[[-1, 0]]
    return x


def meshgrid_eval(x: "N", y: "M"):
    a, b = np.meshgrid(x, y, indexing="ij", sparse=True)
    return np.hypot(a, b).T @ x


def cross_rows(x: "N, K", y: "M, K"):
    return np.cross(x, y)


def kron_trace(x: "N, M", y: "M, N"):
    return np.trace(np.kron(x, y))


def quantile_clip(x: "N, M"):
    low, high = np.quantile(x, [0.1, 0.9], axis=0)
    return np.clip(x, low, high)


def ix_grid(x: "N, M"):
    return x[np.ix_([0, 2], range(x.shape[1]))]


def tensordot_axes(x: "A, B, C", y: "C, B, D"):
    return np.tensordot(x, y, axes=([1, 2], [1, 0]))


def split_heads(x: "B, T, D"):
    q, k, v = np.split(x, 3, axis=-1)
    return np.einsum("btd,bsd->bts", q, k) @ v


def repeat_tile(x: "N, M"):
    return np.tile(x, (2, 1)) + np.repeat(x, 2, axis=0)


def gradient_norm(x: "N, M"):
    return np.hypot(*np.gradient(x))


def select_pieces(x: "N"):
    return np.select([x < 0.2, x < 0.5], [x, x**2], default=0.0)[1:-1]


def stack_unequal(x: "N", y: "M"):
    return np.array([x, y])


def squeeze_axis(x: "N, M, 1"):
    return x.squeeze(-1).squeeze(0)


def at_least(x: "N", y: "M, K"):
    x, y = np.atleast_2d(x), np.atleast_3d(y)
    return x + y[..., 0]


def partitioned(x: "N, M"):
    return np.partition(x, 2, axis=1)[:, :3]


def bincounted(x: "i:N", w: "M"):
    return np.bincount(x, weights=w, minlength=3)[:3]


def norm_rows(x: "N, M"):
    return x / np.linalg.norm(x, axis=1, keepdims=True).clip(1e-9) @ np.ones(x.shape[-1])


def unpacked(x: "N, M"):
    a, b, *rest = x
    return a + b, len(rest)


def sorted_by(x: "N, M"):
    return x[np.lexsort((x[:, 1], x[:, 0]))]
