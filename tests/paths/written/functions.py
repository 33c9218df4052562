"""Functions and methods of NumPy, and how people call them, with the shapes that they are traced with."""
# ruff: noqa: B007, F722, F821, N812, RUF059

import itertools

import numpy as np
from numpy import polynomial as P
from numpy.lib.stride_tricks import as_strided, sliding_window_view


def ma_mean(x: "N, M"):
    return np.ma.masked_greater(x, 0.5).mean(axis=0).filled(0)


def ma_array(x: "N, M", m: "b:K, L"):
    return np.ma.array(x, mask=m).sum(axis=1)


def ma_where(x: "N", y: "M"):
    return np.ma.masked_where(x > 0.5, y).filled(1)


def ma_compressed(x: "N, M"):
    return np.ma.masked_invalid(x).compressed()


def poly_val(x: "N", c: "M"):
    return P.polynomial.polyval(x, c)


def poly_val2d(x: "N", y: "M", c: "K, L"):
    return P.polynomial.polyval2d(x, y, c)


def poly_fit(x: "N", y: "M"):
    return P.polynomial.polyfit(x, y, 2)


def poly_vander(x: "N, M"):
    return P.legendre.legvander(x, 2)


def poly_mul(a: "N", b: "M"):
    return P.polynomial.polymul(a, b)


def poly_roots(c: "N"):
    return P.polynomial.polyroots(c)


def poly_der(c: "N"):
    return P.chebyshev.chebder(c)


def poly_class(c: "N", x: "M"):
    return P.Polynomial(c)(x)


def poly_companion(c: "N"):
    return P.polynomial.polycompanion(c)


def cheb_fit(x: "N", y: "M"):
    return P.chebyshev.chebfit(x, y, 1)


def hermite_gauss(n: "s:N"):
    return P.hermite.hermgauss(n)


def leggauss(n: "s:N"):
    return P.legendre.leggauss(n)[0]


def nditer_sum(x: "N, M"):
    total = 0
    for value in np.nditer(x):
        total = total + value
    return total


def nditer_write(x: "N, M"):
    with np.nditer(x, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = 2 * v
    return x


def nditer_pair(x: "N, M", y: "K"):
    it = np.nditer([x, y, None])
    for a, b, c in it:
        c[...] = a * b
    return it.operands[2]


def ndenumerate(x: "N, M"):
    out = np.zeros(3)
    for (i, j), v in np.ndenumerate(x):
        out[i] += v
    return out


def ndindex(x: "N, M"):
    return np.array([x[i] for i in np.ndindex(*x.shape)])


def np_broadcast(x: "N, M", y: "K"):
    b = np.broadcast(x, y)
    return np.empty(b.shape) + b.size


def flat_read(x: "N, M"):
    return x.flat[2:5]


def flat_list(x: "N, M"):
    return x.flat[[0, 3]]


def flat_mask(x: "N, M", m: "b:K"):
    return x.flat[m]


def flat_write(x: "N, M", v: "K"):
    x.flat = v
    return x


def flat_copy(x: "N, M"):
    return x.flat.copy()


def flat_iter(x: "N, M"):
    return np.fromiter(x.flat, float)


def from_iter(x: "N"):
    return np.fromiter((v * 2 for v in x), float, count=3)


def memory_view(x: "N, M"):
    return np.asarray(memoryview(x))


def frombuffer(x: "N"):
    return np.frombuffer(x.tobytes(), dtype=np.float32)


def tobytes(x: "N"):
    return np.array(list(x.tobytes()), dtype=np.uint8)


def iter_transposed(x: "N, M"):
    return [column.sum() for column in x.T]


def star_shape(x: "N, M"):
    return np.zeros((*x.shape, 2))


def ix_outer(x: "N, M"):
    return x[np.ix_(np.arange(2), np.arange(x.shape[1]))]


def ix_mask(x: "N, M", m: "b:K", n: "b:L"):
    return x[np.ix_(m, n)]


def ix_write(x: "N, M", v: "K, L"):
    x[np.ix_([0, 2], [1, 0])] = v
    return x


def r_slice(n: "s:N"):
    return np.r_[0:n, 5, 0:1:3j]


def r_matrix(x: "N, M", y: "K, L"):
    return np.r_["1", x, y]


def c_many(x: "N", y: "M, K"):
    return np.c_[x, y, x]


def mgrid_two(x: "N, M"):
    i, j = np.mgrid[: x.shape[0], : x.shape[1]]
    return x[i, j] + i


def mgrid_complex(n: "s:N"):
    return np.mgrid[0:1:5j, 0:n]


def ogrid_mask(x: "N, M"):
    i, j = np.ogrid[: x.shape[0], : x.shape[1]]
    return x[(i - 1) ** 2 + (j - 1) ** 2 <= 1]


def s_slice(x: "N, M"):
    return x[np.s_[1:, ::2]]


def index_exp(x: "N, M"):
    return x[np.index_exp[..., -2]]


def meshgrid_eval(x: "N", y: "M", z: "K"):
    a, b, c = np.meshgrid(x, y, z)
    return a * b + c


def apply_rows(x: "N, M"):
    return np.apply_along_axis(lambda row: row[:2] - row.mean(), 1, x)


def apply_sort(x: "N, M", v: "K"):
    return np.apply_along_axis(np.convolve, 1, x, v)


def vectorized(x: "N, M"):
    return np.vectorize(lambda a: a * 2, otypes=[float])(x)


def vectorized_signature(x: "N, M", y: "K, L"):
    return np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x, y)


def frompyfunc(x: "N", y: "M"):
    return np.frompyfunc(lambda a, b: a + b, 2, 1)(x, y).astype(float)


def einsum_bilinear(x: "N, A", w: "O, B, C", y: "M, D"):
    return np.einsum("na,oab,nb->no", x, w, y)


def einsum_trace(x: "N, M"):
    return np.einsum("ii", x)


def einsum_broadcast(x: "B, N, M", y: "M, K"):
    return np.einsum("...ij,jk->...ik", x, y)


def einsum_lists(x: "N, M", y: "K, L"):
    return np.einsum(x, [0, 1], y, [1, 2], [0, 2])


def einsum_out(x: "N, M", y: "K, L", z: "O, P"):
    return np.einsum("ij,jk", x, y, out=z)


def einsum_path(x: "N, M", y: "K, L"):
    path, _ = np.einsum_path("ij,jk->ik", x, y)
    return np.einsum("ij,jk->ik", x, y, optimize=path)


def split_uneven(x: "N, M"):
    return np.array_split(x, 4, axis=1)


def split_places(x: "N", y: "M"):
    return np.split(x, [len(y)])


def hsplit(x: "N, M"):
    a, b = np.hsplit(x, 2)
    return a - b


def split_cumulative(x: "N"):
    return np.split(x, np.cumsum([1, 2]))


def structured_fields(x: "N", y: "M"):
    out = np.zeros(len(x), dtype=[("a", float), ("b", float, (2,))])
    out["a"] = x
    out["b"] = y[:, None]
    return out["b"].sum(axis=1)


def structured_sort(x: "N", y: "i:M"):
    out = np.empty(len(x), dtype=[("x", "f8"), ("y", "i8")])
    out["x"], out["y"] = x, y
    return np.sort(out, order="y")["x"]


def structured_rec(x: "N", y: "M"):
    return np.rec.fromarrays([x, y], names="a,b").a


def structured_view(x: "N, M"):
    return x.view([("a", "f8"), ("b", "f8")])["a"]


def structured_index(x: "N"):
    out = np.zeros((len(x), 2), dtype="f8, i4")
    out["f0"][:, 0] = x
    return out[0]["f0"]


def where_out(x: "N", y: "M", z: "K"):
    return np.divide(x, y, out=z, where=y > 0)


def where_reduce(x: "N, M", m: "b:K, L"):
    return np.max(x, axis=0, where=m, initial=0)


def out_positional(x: "N", y: "M", z: "K"):
    np.multiply(x, y, z)
    return z


def out_self(x: "N, M", y: "K"):
    np.subtract(x, y, out=x)
    return x


def out_view(x: "N, M", y: "K"):
    np.sqrt(y, out=x[0])
    return x


def out_mean(x: "N, M", z: "K, L"):
    return x.mean(axis=1, keepdims=True, out=z)


def out_argmax(x: "N, M", z: "i:K"):
    return np.argmax(x, axis=0, out=z)


def out_concatenate(x: "N", y: "M", z: "K"):
    return np.concatenate([x, y], out=z)


def out_stack(x: "N", y: "M", z: "K, L"):
    return np.stack([x, y], out=z)


def out_dot(x: "N, M", y: "K", z: "L"):
    return x.dot(y, out=z)


def out_round(x: "N, M", z: "K, L"):
    return np.round(x, 1, out=z)


def out_median(x: "N, M", z: "K"):
    return np.median(x, axis=0, out=z)


def out_percentile(x: "N, M", z: "K, L"):
    return np.percentile(x, [10, 90], axis=1, out=z)


def out_choose(i: "i:N", x: "M", z: "K"):
    return np.choose(i, [x, x], out=z)


def out_compress(x: "N, M", z: "K, L"):
    return np.compress([True, False, True], x, axis=0, out=z)


def out_modf(x: "N", a: "M", b: "K"):
    return np.modf(x, out=(a, b))


def out_accumulate(x: "N, M", z: "K, L"):
    return np.add.accumulate(x, 0, out=z)


def out_reduceat(x: "N", z: "M"):
    return np.add.reduceat(x, [0, 1], out=z)


def out_outer(x: "N", y: "M", z: "K, L"):
    return np.outer(x, y, out=z)


def at_two(x: "N, M", i: "i:K", j: "i:L"):
    np.add.at(x, (i, j), 1)
    return x


def at_slice(x: "N, M", v: "K"):
    np.subtract.at(x, (slice(None), [0, 0]), v)
    return x


def at_values(x: "N", v: "M, K"):
    np.multiply.at(x, np.array([[0, 1], [1, 0]]), v)
    return x


def at_loop(x: "N", v: "M"):
    np.maximum.at(x, np.arange(len(v)), v)
    return x


def put_many(x: "N, M", v: "K"):
    np.put(x, [0, 1, 4], v)
    return x


def put_wrap(x: "N", v: "M"):
    np.put(x, np.arange(6), v, mode="wrap")
    return x


def put_along(x: "N, M", i: "i:K, 1", v: "L, 1"):
    np.put_along_axis(x, i, v, axis=1)
    return x


def put_mask(x: "N, M", m: "b:K, L", v: "O"):
    np.putmask(x, m, v)
    return x


def copy_to_row(x: "N, M", v: "K"):
    np.copyto(x[1], v)
    return x


def copy_to_where(x: "N, M", m: "b:K", v: "L, 1"):
    np.copyto(x, v, where=m)
    return x


def fill_rows(x: "N, M"):
    for row in x:
        row.fill(0)
    return x


def fill_diagonal_wrap(x: "N, M"):
    np.fill_diagonal(x, 0, wrap=True)
    return x


def set_diagonal(x: "N, M", v: "K"):
    x[np.diag_indices_from(x)] = v
    return x


def set_triangle(x: "N, M", v: "K"):
    x[np.triu_indices(3)] = v
    return x


def set_triangle_of(x: "N, N", v: "K"):
    x[np.tril_indices(len(x), -1)] = v
    return x


def set_strided_view(x: "N", v: "M"):
    view = as_strided(x, (2, 2), (8, 8))
    view[0] = v
    return x


def set_real(x: "c:N", v: "M"):
    x.real = v
    x.imag[:] = 0
    return x


def set_shape(x: "N, M"):
    x.shape = (-1, 2)
    return x


def set_resize(x: "N"):
    y = x.copy()
    y.resize((2, 3), refcheck=False)
    return y


def in_place_ops(x: "N, M", y: "M"):
    x -= x.mean(0)
    x /= y
    x **= 2
    return x


def in_place_int(x: "i:N", y: "i:M"):
    x <<= 1
    x |= y
    x %= 3
    return x


def in_place_grow(x: "N", y: "M, K"):
    x *= y
    return x


def slice_negative_step(x: "N", v: "M"):
    x[-1:0:-2] = v
    return x


def slice_past(x: "N", v: "M"):
    x[2:9] = v
    return x


def slice_from_sizes(x: "N", y: "M"):
    return x[len(y) : 2 * len(y)] + y


def slice_negative_sizes(x: "N", y: "M"):
    return x[-len(y) :] + y


def newaxis_many(x: "N", y: "M"):
    return x[None, :, None] - y[:, None, None]


def fancy_pair(x: "N, M"):
    return x[[0, 1], [1, 0]]


def fancy_broadcast(x: "N, M", i: "i:K, 1", j: "i:L"):
    return x[i, j]


def fancy_mixed(x: "N, M, K", i: "i:L"):
    return x[i, :, 0]


def fancy_split(x: "N, M, K", i: "i:L"):
    return x[i, :, i]


def fancy_scalar(x: "N, M, K", i: "i:L"):
    return x[:, 1, i]


def fancy_two_masks(x: "N, M", m: "b:N", j: "i:K"):
    return x[m, j]


def mask_two(x: "N, M", m: "b:K, L"):
    return x[m]


def mask_last(x: "N, M", m: "b:K"):
    return x[..., m]


def mask_any(x: "N, M"):
    return x[:, x.any(axis=0)]


def mask_negate(x: "N", m: "b:M"):
    return x[~m], x[m]


def mask_of_size(x: "N"):
    m = np.ones(len(x) + 1, bool)
    m[2] = False
    return x[m[1:]]


def mask_argmax(x: "N, M"):
    return x[x.argmax(0), np.arange(x.shape[1])]


def take_fancy(x: "N, M", i: "i:K"):
    return x.take(i, axis=1)


def take_clip(x: "N, M"):
    return np.take(x, [[5, 6], [7, 8]], mode="clip", axis=0)


def take_along(x: "N, M", i: "i:K, L"):
    return np.take_along_axis(x, i, 0)


def unravel(x: "N, M"):
    return np.unravel_index(x.argmax(), x.shape)


def ravel_multi(x: "N, M", i: "i:K"):
    return x.ravel()[np.ravel_multi_index((i, i), x.shape)]


def window_pair(x: "N, M"):
    return sliding_window_view(x, (2, 2))[::2, ::2].sum((-1, -2))


def window_sizes(x: "N", y: "M"):
    return sliding_window_view(x, len(y)) @ y


def window_strided(x: "N"):
    return as_strided(x, shape=(len(x) - 2, 3), strides=x.strides * 2)


def broadcast_like(x: "N", y: "M, K"):
    return np.broadcast_to(x, y.shape)


def broadcast_new(x: "N, 1"):
    return np.broadcast_to(x, (2, len(x), 3))


def swap_move(x: "N, M, K"):
    return np.moveaxis(x, [0, 2], [2, 1]) + np.swapaxes(x, 0, 1)


def transpose_add(x: "N, M"):
    return x + x.T


def expand_many(x: "N, M"):
    return np.expand_dims(x, (0, 3))


def squeeze_axis(x: "N, M, K"):
    return np.squeeze(x, axis=1)


def squeeze_all(x: "N, M"):
    return np.squeeze(x)


def reshape_like(x: "N, M", y: "K"):
    return x.reshape(y.shape)


def reshape_two(x: "N, M"):
    return x.reshape(-1, 3, order="F")


def reshape_merge(x: "N, M, K"):
    return x.reshape(x.shape[0] * x.shape[1], -1)


def reshape_method(x: "N"):
    return x.reshape((2, -1, 2))


def ravel_order(x: "N, M", y: "K"):
    return x.ravel("K") * y


def stack_axis(x: "N, M", y: "K, L"):
    return np.stack((x, y), axis=-1)


def hstack_vectors(x: "N", y: "M, K"):
    return np.hstack((x, y))


def vstack_mixed(x: "N", y: "M, K"):
    return np.vstack((x, y))


def column_stack(x: "N", y: "M, K"):
    return np.column_stack((x, y))


def block_rows(x: "N, M", y: "K"):
    return np.block([[x], [y]])


def insert_column(x: "N, M", v: "K"):
    return np.insert(x, 1, v, axis=1)


def delete_size(x: "N, M"):
    return np.delete(x, 2, axis=1)


def append_flat(x: "N, M", v: "K"):
    return np.append(x, v)


def tile_sizes(x: "N", y: "M, K"):
    return np.tile(x, (y.shape[0], 1)) + y


def repeat_sizes(x: "N", y: "M, K"):
    return np.repeat(x, y.shape[1]).reshape(-1, y.shape[1]) * y


def repeat_array(x: "N", c: "i:M"):
    return np.repeat(x, c)


def roll_axes(x: "N, M"):
    return np.roll(x, (1, -1), (0, 1)) + np.roll(x, 2)


def flip_all(x: "N, M"):
    return np.flip(x) + np.fliplr(x) + np.flipud(x)


def pad_modes(x: "N, M"):
    return np.pad(x, ((1, 0), (0, 2)), mode="edge"), np.pad(x, 1, mode="maximum")


def pad_by_sizes(x: "N", y: "M"):
    return np.pad(x, (0, len(y) - len(x)), constant_values=1) + y


def linspace_sizes(x: "N", y: "M"):
    return np.linspace(0, 1, len(x)) + y


def linspace_arrays(x: "N", y: "M"):
    return np.linspace(x, y, 4, axis=-1)


def arange_step(n: "s:N"):
    return np.arange(1, n, 3)


def arange_down(n: "s:N"):
    return np.arange(n, 0, -2)


def arange_float(n: "s:N"):
    return np.arange(0.5, n, 1.5)


def logspace_sizes(n: "s:N"):
    return np.logspace(0, 2, n + 1)


def eye_sizes(n: "s:N", m: "s:M"):
    return np.eye(n, m, k=1) @ np.ones((m, 2))


def full_sizes(n: "s:N", m: "s:M"):
    return np.full((n, m - n), 2.0)


def window_functions(n: "s:N", x: "M"):
    return np.hamming(n) * x + np.blackman(n)


def interp_values(x: "N", xp: "M", fp: "K"):
    return np.interp(x, np.sort(xp), fp)


def digitize_bins(x: "N, M"):
    return np.bincount(np.digitize(x.ravel(), [0.2, 0.5]), minlength=3)


def histogramdd(x: "N, M"):
    return np.histogramdd(x, bins=(2, 3))[0]


def histogram_weights(x: "N", w: "M"):
    return np.histogram(x, bins=3, weights=w)[0]


def searchsorted_sides(x: "N", v: "M"):
    x = np.sort(x)
    return np.searchsorted(x, v, "right") - np.searchsorted(x, v)


def cov_two(x: "N, M", y: "K, L"):
    return np.cov(x.T, y.T)


def cov_weights(x: "N, M", w: "i:K"):
    return np.cov(x, fweights=w)


def average_returned(x: "N, M", w: "K, L"):
    return np.average(x, weights=w, returned=True)


def quantile_many(x: "N, M", q: "K"):
    return np.quantile(x, np.clip(q, 0, 1), axis=(0, 1))


def nan_family(x: "N, M"):
    return np.nansum(x, 0) + np.nanstd(x, 0) + np.nanmedian(x, 0)


def cumulative(x: "N, M"):
    return np.cumsum(x, 1)[:, -1] + np.nancumsum(x)[0]


def diff_prepend(x: "N, M"):
    return np.diff(x, axis=0, prepend=np.zeros((1, x.shape[1])))


def diff_twice(x: "N", y: "M"):
    return np.diff(x, 2) + y


def ediff(x: "N"):
    return np.ediff1d(x, to_begin=[0, 1])


def gradient_two(x: "N, M"):
    gy, gx = np.gradient(x)
    return gy + gx


def cross_of_two(x: "N, 2", y: "M, 3"):
    return np.cross(np.c_[x, np.zeros(len(x))], y)


def trapezoid_axis(y: "N, M", x: "K"):
    return np.trapezoid(y, x, axis=0)


def norm_orders(x: "N, M"):
    return np.linalg.norm(x, 1), np.linalg.norm(x, axis=0, ord=0)


def norm_matrices(x: "N, M, K"):
    return np.linalg.norm(x, ord="fro", axis=(1, 2))


def det_batch(x: "B, N, M"):
    return np.linalg.det(x @ x.transpose(0, 2, 1))


def qr_modes(x: "N, M"):
    return np.linalg.qr(x, mode="r")


def qr_complete(x: "N, M"):
    return np.linalg.qr(x, mode="complete").Q


def svd_full(x: "N, M"):
    u, s, vh = np.linalg.svd(x)
    return u[:, : len(s)] * s @ vh[: len(s)]


def eigh_project(x: "N, M"):
    w, v = np.linalg.eigh(x.T @ x)
    return x @ v[:, -2:]


def pinv_solve(x: "N, M", y: "K"):
    return np.linalg.pinv(x) @ y


def cholesky_sample(x: "N, N", z: "M, K"):
    return np.linalg.cholesky(x @ x.T + np.eye(len(x))) @ z


def multi_dot_vectors(x: "N", a: "M, K", y: "L"):
    return np.linalg.multi_dot([x, a, y])


def kron_identity(x: "N, M"):
    return np.kron(np.eye(2), x) @ np.ones((2 * x.shape[1], 1))


def tensordot_int(x: "N, M, K", y: "K, L"):
    return np.tensordot(x, y, 1)


def tensordot_two(x: "N, M, K", y: "M, L, O"):
    return np.tensordot(x, y, ([1, 0], [0, 1]))


def inner_outer(x: "N", y: "M"):
    return np.inner(x, x) * np.outer(x, y)


def matmul_vectors(x: "N", y: "M, K"):
    return x @ y @ y.T


def matmul_broadcast(x: "B, 1, N, M", y: "C, M, K"):
    return x @ y


def vdot_mixed(x: "N, M", y: "K, L"):
    return np.vdot(x, y)


def choose_clip(i: "i:N", x: "M, 2"):
    return np.choose(i, x, mode="clip")


def select_default(x: "N, M", y: "K"):
    return np.select([x > 0.5, x > 0.2], [y, -x], default=9)


def piecewise_functions(x: "N"):
    return np.piecewise(x, [x < 0.3, x > 0.6], [lambda t: -t, lambda t: t * 2, 0])


def where_three(x: "N, 1", y: "M", z: "K, 1, 1"):
    return np.where(x > 0.5, y, z)


def nonzero_pair(x: "N, M"):
    i, j = np.nonzero(x > 0.5)
    return x[i, j]


def argwhere_rows(x: "N, M"):
    return np.argwhere(x > 0.5)[:, 0]


def unique_inverse(x: "N, M"):
    u, inverse = np.unique(x, return_inverse=True)
    return u[inverse]


def set_operations(x: "N", y: "M"):
    return np.union1d(x, y), np.setxor1d(x, y), np.isin(x, y)


def sort_axis_none(x: "N, M", y: "K"):
    return np.sort(x, axis=None) * y


def lexsort_rows(x: "N, M"):
    return x[np.lexsort(x.T)]


def argsort_gather(x: "N, M", y: "K, L"):
    return np.take_along_axis(y, np.argsort(x, axis=1), axis=1)


def partition_top(x: "N, M"):
    return -np.partition(-x, 1, axis=1)[:, :2]


def argpartition_gather(x: "N"):
    return x[np.argpartition(x, 2)[:3]]


def packbits_round(m: "b:N"):
    return np.unpackbits(np.packbits(m), count=len(m))


def bit_operations(x: "i:N", y: "i:M"):
    return np.bitwise_xor.outer(x, y) & np.left_shift(x[:, None], 2)


def astype_view(x: "N, M"):
    return x.astype(np.float32).view(np.int32) + x.view(np.uint8)[:, : x.shape[1]]


def complex_parts(x: "N", y: "M"):
    z = x + 1j * y
    return np.abs(z), np.angle(z), z.conj().imag


def view_complex(x: "N, M"):
    return x.view(complex).real


def dates(n: "s:N"):
    return np.arange(n).astype("timedelta64[D]") + np.datetime64("2020-01-01")


def strings(n: "s:N"):
    return np.char.add(np.full(n, "a"), "b")


def string_array(x: "N"):
    return np.array([str(v) for v in range(len(x))])


def object_array(x: "N"):
    out = np.empty(len(x), dtype=object)
    out[:] = [[i] for i in range(len(x))]
    return out


def matrix_class(x: "N, M", y: "K, L"):
    return np.asmatrix(x) * np.asmatrix(y)


def errstate(x: "N", y: "M"):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(x, y)


def assert_shapes(x: "N, M", y: "K, L"):
    np.testing.assert_equal(x.shape, y.shape)
    return x + y


def allclose(x: "N", y: "M"):
    return np.allclose(x, y)


def can_use_dtype(x: "i:N", y: "M"):
    return np.zeros(len(x), np.result_type(x, y)) + y


def rng_methods(x: "N, M"):
    rng = np.random.default_rng(3)
    return rng.permuted(x, axis=1), rng.permutation(x, axis=1), rng.choice(x, 2, axis=1)


def rng_dirichlet(a: "N"):
    return np.random.default_rng(0).dirichlet(a + 1, size=3)


def rng_multivariate(mean: "N", cov: "M, K"):
    return np.random.default_rng(0).multivariate_normal(mean, cov @ cov.T + np.eye(len(cov)), size=4)


def rng_broadcast(loc: "N", scale: "M, K"):
    return np.random.default_rng(0).normal(loc, scale + 1)


def rng_size_broadcast(loc: "N"):
    return np.random.default_rng(0).normal(loc, 1.0, size=(2, 3))


def rng_multinomial(p: "N"):
    return np.random.default_rng(0).multinomial(5, p / p.sum(), size=2)


def rng_integers(low: "i:N", n: "s:M"):
    return np.random.default_rng(0).integers(low, low + 3, size=(n, 2))


def rng_weighted(x: "N", p: "M"):
    return np.random.default_rng(0).choice(x, size=3, p=p / p.sum())


def legacy_methods(n: "s:N", m: "s:M"):
    np.random.seed(0)
    a = np.random.random_sample((n, m))
    b = np.random.poisson(2.0, size=(n, 1))
    return a + b + np.random.standard_normal(m)


def legacy_randint(x: "N"):
    return x[np.random.randint(0, len(x), size=4)]


def legacy_shuffle(x: "N, M"):
    i = np.arange(x.shape[0])
    np.random.shuffle(i)
    return x[i[:2]]


def legacy_state(n: "s:N"):
    state = np.random.RandomState(1)
    return state.binomial(3, 0.5, n) + state.gamma(2.0, size=(n,))


def product_of_shapes(x: "N, M", y: "K"):
    return np.zeros(np.prod(x.shape)) + y


def shape_arithmetic(x: "N, M"):
    n, m = np.array(x.shape) // 2
    return x[: int(n), : int(m)]


def shape_as_array(x: "N, M"):
    return np.zeros(np.subtract(x.shape, 1))


def shape_sum(x: "N, M", y: "K"):
    return np.arange(sum(x.shape)) * y


def itertools_pairs(x: "3, N"):
    return np.array([a @ b for a, b in itertools.combinations(x, 2)])


def ndim_loop(x: "N, M, K"):
    while x.ndim > 1:
        x = x.sum(axis=-1)
    return x


def dot_chain(x: "N, M", y: "K, L", z: "O"):
    return x.dot(y).dot(z)


def trace_offset(x: "N, M"):
    return np.trace(x, offset=-1) + np.diagonal(x, 1).sum()


def nan_to_num_inf(x: "N", y: "M"):
    return np.nan_to_num(np.log(x)) @ y


def clip_arrays(x: "N, M", lo: "K", hi: "L, 1"):
    return np.clip(x, lo, hi)


def minmax(x: "N, M"):
    return (x - x.min()) / (x.max() - x.min())


def zscore(x: "N, M"):
    return (x - x.mean(0)) / x.std(0, ddof=1)


def argmin_empty(x: "N, M"):
    return x.argmin(axis=1)


def reduce_empty(x: "N, M"):
    return np.max(x, initial=0), np.min(x, axis=0)


def logical_all(x: "b:N, M", y: "b:K"):
    return np.all(x | y, axis=1), np.any(x, 0)


def ufunc_types(x: "N", i: "i:M"):
    return np.ldexp(x, i), np.floor_divide(x, 2), np.isclose(x, i)


def heaviside_outer(x: "N", y: "M"):
    return np.heaviside.outer(x, y) + np.fmax.outer(x, y).T
