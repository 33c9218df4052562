"""A survey: functions and writers of NumPy, traced and held against real runs at all sizes from 0 to 5.

`ROWS` are the functions as data. Each is traced in a child process: where one kills its process, that is what became of
it, and the next process goes on with the next one. What the trace says at all sizes is compared with what the function
does there for arrays of several kinds of data:

- **right**: at all sizes the trace says what happens;
- **unknown**: it says that it does not know, with a reason, at some sizes, and is right at all others;
- **wrong**: at some sizes something else happens;
- **crash**: the trace itself raises; **killed**: the process died.

Run as ``python tests/paths/numpy_survey.py [NAME...]``; with ``--record`` it is written to
``tests/data/numpy_survey.json``.
"""

import itertools
import json
import math
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))
from paths.held import _evaluated, _fits, shapes_of

from symbcast.paths.answer import conclusions_of

RECORD = Path(__file__).parents[1] / "data" / "numpy_survey.json"
SIZES = range(6)
MOST = 216
"""At most so many sizes of a function are looked at, spread evenly."""

# Name, function, arguments: a shape of floats; of integers "i:", Booleans "b:", complex numbers "c:"; "s:" is a size.
ROWS = [
    # Writers.
    ("assign rows", "def f(x, y): x[1:] = y; return x", "N, M", "K, M"),
    ("assign strided", "def f(x, y): x[::2] = y; return x", "N", "M"),
    ("assign column", "def f(x, y): x[:, 0] = y; return x", "N, M", "K"),
    ("assign last", "def f(x, y): x[..., -1] = y; return x", "N, M", "K"),
    ("assign newaxis", "def f(x, y): x[:, None][:, 0] = y; return x", "N, M", "N, K"),
    ("assign transposed", "def f(x, y): x.T[:] = y; return x", "N, M", "K, L"),
    ("assign scalar index", "def f(x): x[3] = 1; return x", "N, M"),
    ("assign list index", "def f(x, v): x[[0, 2]] = v; return x", "N, M", "K"),
    ("assign index array", "def f(x, v): x[np.arange(len(v))] = v; return x", "N", "M"),
    ("assign mask", "def f(x): x[x > 0.5] = 0; return x", "N, M"),
    ("assign mask of another", "def f(x, y): x[y > 0] = 0; return x", "N, M", "K"),
    ("assign ix_", "def f(x, v): x[np.ix_([0, 1], [1])] = v; return x", "N, M", "K"),
    ("assign reshaped", "def f(x, v): x.reshape(-1)[:] = v; return x", "N, M", "K"),
    ("assign whole", "def f(x, v): x[...] = v; return x", "N, M", "K, 1"),
    ("assign diagonal", "def f(x, v): i = np.arange(len(x)); x[i, i] = v; return x", "N, M", "K"),
    ("iadd", "def f(x, y): x += y; return x", "N, M", "K, M"),
    ("iadd outer", "def f(x, y): x += y[:, None]; return x", "N, M", "K"),
    ("imatmul", "def f(x, y): x @= y; return x", "N, M", "K, L"),
    ("imul slice", "def f(x, y): x[1:] *= y[:-1]; return x", "N", "M"),
    ("copyto", "def f(x, y): np.copyto(x, y); return x", "N, M", "K"),
    ("copyto where", "def f(x, y, m): np.copyto(x, y, where=m); return x", "N", "M", "b:K"),
    ("place", "def f(x): np.place(x, x > 0, [1.0, 2.0]); return x", "N"),
    ("place mask", "def f(x, m): np.place(x, m, [1.0]); return x", "N", "b:M"),
    ("putmask", "def f(x, v): np.putmask(x, x > 0, v); return x", "N", "M"),
    ("put", "def f(x): np.put(x, [0, -1], 5); return x", "N, M"),
    ("put clip", "def f(x): np.put(x, [9], 5, mode='clip'); return x", "N"),
    ("method put", "def f(x, v): x.put([1], v); return x", "N", "M"),
    (
        "put_along_axis",
        "def f(x, v): np.put_along_axis(x, np.argmax(x, 1, keepdims=True), v, 1); return x",
        "N, M",
        "K, 1",
    ),
    ("fill_diagonal", "def f(x): np.fill_diagonal(x, 1); return x", "N, M"),
    ("fill_diagonal of three", "def f(x): np.fill_diagonal(x, 1); return x", "N, M, K"),
    ("fill_diagonal values", "def f(x, v): np.fill_diagonal(x, v); return x", "N, N", "M"),
    ("add.at", "def f(x, i): np.add.at(x, i, 1.0); return x", "N", "i:M"),
    ("add.at values", "def f(x, i, v): np.add.at(x, i, v); return x", "N", "i:M", "K"),
    ("maximum.at rows", "def f(x, v): np.maximum.at(x, [0, 1], v); return x", "N, M", "K"),
    ("negative.at", "def f(x): np.negative.at(x, [2]); return x", "N"),
    ("method fill", "def f(x): x.fill(2); return x", "N, M"),
    ("method sort", "def f(x): x.sort(axis=0); return x", "N, M"),
    ("method partition", "def f(x): x.partition(2); return x", "N"),
    ("flat slice", "def f(x, v): x.flat[1:3] = v; return x", "N, M", "K"),
    ("flat index", "def f(x): x.flat[3] = 1; return x", "N, M"),
    ("nan_to_num in place", "def f(x): return np.nan_to_num(x, copy=False)", "N, M"),
    ("add out", "def f(x, y, z): return np.add(x, y, out=z)", "N", "M", "K"),
    ("matmul out", "def f(x, y, z): return np.matmul(x, y, out=z)", "N, M", "M, K", "L, K"),
    ("sum out", "def f(x, z): return np.sum(x, axis=0, out=z)", "N, M", "K"),
    ("cumsum out", "def f(x, z): return np.cumsum(x, axis=1, out=z)", "N, M", "K, M"),
    ("clip out", "def f(x, z): return np.clip(x, 0, 1, out=z)", "N", "M"),
    ("dot out", "def f(x, y, z): return np.dot(x, y, out=z)", "N, 2", "2, M", "K, M"),
    ("take out", "def f(x, z): return np.take(x, [0, 1], out=z)", "N", "M"),
    ("group sum", "def f(v, g): z = np.zeros(3); np.add.at(z, g, v); return z", "N", "i:M"),
    ("accumulate rows", "def f(x):\n    for i in range(2): x[i + 1] += x[i]\n    return x", "N, M"),
    ("zeros then fill", "def f(x): z = np.zeros((len(x) + 1, 2)); z[1:, 0] = x; return z", "N"),
    (
        "empty then blocks",
        "def f(x, y): z = np.empty((len(x) + len(y),)); z[: len(x)] = x; z[len(x) :] = y; return z",
        "N",
        "M",
    ),
    # Functions.
    ("apply_along_axis", "def f(x): return np.apply_along_axis(np.sum, 0, x)", "N, M"),
    ("apply_over_axes", "def f(x): return np.apply_over_axes(np.sum, x, [0, 1])", "N, M"),
    ("array_equal", "def f(x, y): return np.array_equal(x, y)", "N", "M"),
    ("array_equiv", "def f(x, y): return np.array_equiv(x, y)", "N, M", "K"),
    ("atleast_3d", "def f(x): return np.atleast_3d(x)", "N, M"),
    ("average axis weights", "def f(x, w): return np.average(x, axis=0, weights=w)", "N, M", "K"),
    ("bartlett", "def f(n): return np.bartlett(n)", "s:N"),
    ("kaiser", "def f(n): return np.kaiser(n, 2.0)", "s:N"),
    ("bincount", "def f(i, w): return np.bincount(i, weights=w)", "i:N", "M"),
    ("bincount minlength", "def f(i): return np.bincount(i, minlength=4)", "i:N"),
    ("block", "def f(a, b, c, d): return np.block([[a, b], [c, d]])", "N, M", "N, K", "L, M", "L, K"),
    ("broadcast_arrays", "def f(x, y): return np.broadcast_arrays(x, y)", "N, M", "K"),
    ("broadcast_shapes", "def f(x, y): return np.zeros(np.broadcast_shapes(x.shape, y.shape))", "N, M", "K"),
    ("c_", "def f(x, y): return np.c_[x, y]", "N", "M"),
    ("r_", "def f(x, y): return np.r_[x, 0, y]", "N", "M"),
    ("choose", "def f(i, x, y): return np.choose(i % 2, [x, y])", "i:N", "M", "K"),
    ("compress", "def f(m, x): return np.compress(m, x, axis=0)", "b:N", "M, K"),
    ("corrcoef", "def f(x, y): return np.corrcoef(x, y)", "N, M", "K, L"),
    ("correlate", "def f(x, y): return np.correlate(x, y, 'valid')", "N", "M"),
    ("convolve same", "def f(x, y): return np.convolve(x, y, 'same')", "N", "M"),
    ("count_nonzero", "def f(x): return np.count_nonzero(x, axis=0)", "N, M"),
    ("cumulative_sum", "def f(x): return np.cumulative_sum(x, axis=0, include_initial=True)", "N, M"),
    ("cumprod flat", "def f(x): return np.cumprod(x)", "N, M"),
    ("cov rowvar", "def f(x): return np.cov(x, rowvar=False)", "N, M"),
    ("cross of threes", "def f(x, y): return np.linalg.cross(x, y)", "N, M", "K, M"),
    ("delete slice", "def f(x): return np.delete(x, slice(1, 3), axis=0)", "N, M"),
    ("delete list", "def f(x): return np.delete(x, [0, 2])", "N"),
    ("diagflat", "def f(x): return np.diagflat(x, 1)", "N, M"),
    ("diagonal of three", "def f(x): return np.diagonal(x, axis1=0, axis2=2)", "N, M, K"),
    ("digitize", "def f(x, b): return np.digitize(x, np.sort(b))", "N", "M"),
    ("dsplit", "def f(x): return np.dsplit(x, 2)", "N, M, K"),
    ("dstack", "def f(x, y): return np.dstack([x, y])", "N, M", "K, L"),
    ("vsplit at", "def f(x): return np.vsplit(x, [1, 3])", "N, M"),
    ("extract", "def f(m, x): return np.extract(m, x)", "b:N", "M"),
    ("fft2", "def f(x): return np.fft.fft2(x)", "N, M"),
    ("fft n", "def f(x): return np.fft.fft(x, n=4)", "N, M"),
    ("rfftn", "def f(x): return np.fft.rfftn(x)", "N, M"),
    ("hfft", "def f(x): return np.fft.hfft(x)", "c:N"),
    ("fftshift", "def f(x): return np.fft.fftshift(x, axes=1)", "N, M"),
    ("fftfreq", "def f(n): return np.fft.fftfreq(n)", "s:N"),
    ("rfftfreq", "def f(n): return np.fft.rfftfreq(n, 0.5)", "s:N"),
    ("fromfunction", "def f(x): return np.fromfunction(lambda i, j: i + j, x.shape)", "N, M"),
    ("full_like", "def f(x, y): return np.full_like(x, y)", "N, M", "K"),
    ("geomspace", "def f(n): return np.geomspace(1, 8, n)", "s:N"),
    ("gradient axes", "def f(x): return np.gradient(x, axis=(0, 1))", "N, M"),
    ("gradient spacing", "def f(x, t): return np.gradient(x, t)", "N", "M"),
    ("histogram", "def f(x): return np.histogram(x, bins=4, range=(0, 1))", "N, M"),
    ("histogram edges", "def f(x, e): return np.histogram(x, bins=np.sort(e))[0]", "N", "M"),
    ("histogram2d", "def f(x, y): return np.histogram2d(x, y, bins=3)[0]", "N", "M"),
    ("indices", "def f(x): return np.indices(x.shape)", "N, M"),
    ("inner", "def f(x, y): return np.inner(x, y)", "N, M", "K, L"),
    ("intersect1d", "def f(x, y): return np.intersect1d(x, y)", "N", "M"),
    ("isin", "def f(x, y): return np.isin(x, y)", "N, M", "K"),
    ("kron of vectors", "def f(x, y): return np.kron(x, y)", "N", "M, K"),
    ("lexsort", "def f(x, y): return np.lexsort((x, y))", "N", "M"),
    ("linalg.cond", "def f(x): return np.linalg.cond(x)", "N, M"),
    ("linalg.det", "def f(x): return np.linalg.det(x)", "N, M"),
    ("linalg.slogdet", "def f(x): return np.linalg.slogdet(x)", "K, N, M"),
    ("linalg.eigh", "def f(x): return np.linalg.eigh(x)", "N, M"),
    ("linalg.eigvals", "def f(x): return np.linalg.eigvals(x)", "N, M"),
    ("linalg.cholesky", "def f(x): return np.linalg.cholesky(x)", "N, M"),
    ("linalg.matrix_power", "def f(x): return np.linalg.matrix_power(x, 3)", "N, M"),
    ("linalg.matrix_rank", "def f(x): return np.linalg.matrix_rank(x)", "N, M"),
    ("linalg.multi_dot", "def f(x, y, z): return np.linalg.multi_dot([x, y, z])", "N, M", "K, L", "L, P"),
    ("linalg.tensorinv", "def f(x): return np.linalg.tensorinv(x, ind=1)", "N, M, K"),
    ("linalg.tensorsolve", "def f(a, b): return np.linalg.tensorsolve(a, b)", "N, M, K", "L"),
    ("linalg.vecdot", "def f(x, y): return np.linalg.vecdot(x, y)", "N, M", "K, L"),
    ("linalg.svdvals", "def f(x): return np.linalg.svdvals(x)", "N, M"),
    ("linalg.norm axis", "def f(x): return np.linalg.norm(x, ord=np.inf, axis=1)", "N, M"),
    ("linalg.matrix_norm", "def f(x): return np.linalg.matrix_norm(x, ord=2)", "N, M"),
    ("matvec", "def f(x, y): return np.matvec(x, y)", "N, M", "K"),
    ("vecmat", "def f(x, y): return np.vecmat(x, y)", "N", "M, K"),
    ("median axis", "def f(x): return np.median(x, axis=0)", "N, M"),
    ("nanmean", "def f(x): return np.nanmean(x, axis=1)", "N, M"),
    ("nanmax", "def f(x): return np.nanmax(x, axis=0)", "N, M"),
    ("nanargmin", "def f(x): return np.nanargmin(x, axis=0)", "N, M"),
    ("percentile", "def f(x, q): return np.percentile(x, np.clip(q, 0, 1), axis=0)", "N, M", "K"),
    ("quantile keepdims", "def f(x): return np.quantile(x, 0.5, keepdims=True)", "N, M"),
    ("meshgrid sparse", "def f(x, y): return np.meshgrid(x, y, sparse=True, indexing='ij')", "N", "M"),
    ("mgrid", "def f(x): return np.mgrid[0 : len(x), 0:3]", "N"),
    ("ogrid", "def f(x): return np.ogrid[0 : len(x), 1 : x.shape[1]]", "N, M"),
    ("packbits", "def f(m): return np.packbits(m, axis=0)", "b:N, M"),
    ("unpackbits", "def f(x): return np.unpackbits(x.astype('uint8'))", "N"),
    ("partition axis", "def f(x): return np.partition(x, 2, axis=0)", "N, M"),
    ("argpartition", "def f(x): return np.argpartition(x, -2)[:2]", "N"),
    ("piecewise", "def f(x): return np.piecewise(x, [x < 0, x >= 0], [-1, 1])", "N, M"),
    ("poly", "def f(x): return np.poly(x)", "N"),
    ("polyadd", "def f(x, y): return np.polyadd(x, y)", "N", "M"),
    ("polyder", "def f(x): return np.polyder(x, 2)", "N"),
    ("polydiv", "def f(x, y): return np.polydiv(x, y)", "N", "M"),
    ("polyint", "def f(x): return np.polyint(x)", "N"),
    ("polymul", "def f(x, y): return np.polymul(x, y)", "N", "M"),
    ("polyval", "def f(p, x): return np.polyval(p, x)", "N", "M, K"),
    ("ptp", "def f(x): return np.ptp(x, axis=0)", "N, M"),
    ("ravel_multi_index", "def f(i): return np.ravel_multi_index((i, i), (7, 6))", "i:N"),
    ("unravel_index", "def f(i): return np.unravel_index(i, (3, 2))", "i:N"),
    ("resize", "def f(x): return np.resize(x, (3, 2))", "N"),
    ("roll of axes", "def f(x): return np.roll(x, (1, 2), axis=(0, 1))", "N, M"),
    ("rollaxis", "def f(x): return np.rollaxis(x, 2)", "N, M, K"),
    ("roots", "def f(x): return np.roots(x)", "N"),
    ("searchsorted", "def f(x, v): return np.searchsorted(np.sort(x), v)", "N", "M, K"),
    ("select", "def f(x, y): return np.select([x > 0, y > 0], [x, y])", "N", "M"),
    ("setdiff1d", "def f(x, y): return np.setdiff1d(x, y)", "N", "M"),
    ("split in three", "def f(x): return np.split(x, 3, axis=1)", "N, M"),
    ("take mode", "def f(x): return np.take(x, [7, -9], mode='wrap')", "N"),
    ("take of indices", "def f(x, i): return np.take(x, i, axis=0)", "N, M", "i:K, L"),
    ("take_along_axis", "def f(x, i): return np.take_along_axis(x, i, axis=1)", "N, M", "i:K, L"),
    ("tile twice", "def f(x): return np.tile(x, (2, 1, 3))", "N, M"),
    ("trace", "def f(x): return np.trace(x, 1)", "N, M"),
    ("tri", "def f(n, m): return np.tri(n, m)", "s:N", "s:M"),
    ("tril_indices_from", "def f(x): return x[np.tril_indices_from(x)]", "N, M"),
    ("triu_indices", "def f(x): return x[np.triu_indices(len(x), 1)]", "N, M"),
    ("diag_indices", "def f(x): return x[np.diag_indices(len(x))]", "N, M"),
    ("trim_zeros", "def f(x): return np.trim_zeros(x)", "N"),
    ("unique counts", "def f(x): return np.unique(x, return_counts=True)", "N, M"),
    ("unique axis", "def f(x): return np.unique(x, axis=0)", "N, M"),
    ("unstack", "def f(x): return np.stack(np.unstack(x[:2]))", "N, M"),
    ("unwrap", "def f(x): return np.unwrap(x, axis=0)", "N, M"),
    ("vander", "def f(x): return np.vander(x, 4)", "N"),
    ("vander of itself", "def f(x): return np.vander(x)", "N"),
    ("vdot", "def f(x, y): return np.vdot(x, y)", "N, M", "K"),
    ("vectorize", "def f(x, y): return np.vectorize(lambda a, b: a + b)(x, y)", "N", "M"),
    ("as_strided", "def f(x): return np.lib.stride_tricks.as_strided(x, (2, 2))", "N"),
    ("astype", "def f(x): return x.astype(np.int64).cumsum(0)", "N, M"),
    ("view", "def f(x): return x.view(np.float32)", "N, M"),
    ("view complex", "def f(x): return x.view(np.complex128)", "N, M"),
    ("reshape order", "def f(x, y): return x.reshape(y.shape, order='F')", "N, M", "K, L"),
    ("repeat counts", "def f(x): return x.repeat([1, 2], axis=0)", "N, M"),
    ("method choose", "def f(i, x): return (i % 2).choose(x)", "i:N", "M, K"),
    ("nonzero", "def f(x): return np.transpose(np.nonzero(x))", "N, M"),
    ("argwhere", "def f(x): return np.argwhere(x > 0)", "N, M"),
    ("flatnonzero", "def f(x): return x.ravel()[np.flatnonzero(x)]", "N, M"),
    ("where one", "def f(x): return np.where(x > 0)[0]", "N, M"),
    ("tolist", "def f(x): return np.array(x.tolist())", "N, M"),
    ("structured", "def f(n): return np.zeros(n, dtype=[('a', 'f8', (2,))])['a']", "s:N"),
    ("mask of length 0", "def f(x): return x[np.zeros(0, bool)]", "N"),
    ("mask of a row", "def f(x, m): return x[:, m]", "N, M", "b:K"),
    ("index pair", "def f(x, i, j): return x[i, j]", "N, M", "i:K", "i:L"),
    ("index and slice", "def f(x, i): return x[i, 1:]", "N, M", "i:K"),
    ("index apart", "def f(x): return x[[0, 1], :, [1, 0]]", "N, M, K"),
    ("ix_", "def f(x, i): return x[np.ix_(i, [0])]", "N, M", "i:K"),
    ("ellipsis", "def f(x): return x[..., 2, :]", "N, M, K"),
    ("reduceat", "def f(x): return np.add.reduceat(x, [0, 2])", "N"),
    ("accumulate", "def f(x): return np.maximum.accumulate(x, axis=1)", "N, M"),
    ("ufunc outer", "def f(x, y): return np.multiply.outer(x, y)", "N, M", "K"),
    ("ufunc where", "def f(x, m): return np.add(x, 1, where=m, out=np.zeros(x.shape))", "N", "b:M"),
    ("logical reduce", "def f(x, y): return np.logical_and.reduce([x > 0, y > 0])", "N", "M"),
    ("min initial", "def f(x): return np.min(x, axis=0, initial=9)", "N, M"),
    ("sum where", "def f(x, m): return np.sum(x, axis=0, where=m)", "N, M", "b:K"),
    ("concatenate none", "def f(x, y): return np.concatenate([x, y], axis=None)", "N, M", "K"),
    ("append axis", "def f(x, y): return np.append(x, y, axis=1)", "N, M", "K, L"),
    ("insert many", "def f(x, v): return np.insert(x, [0, 1], v)", "N", "M"),
    ("pad wrap", "def f(x): return np.pad(x, (1, 2), mode='wrap')", "N"),
    ("pad symmetric", "def f(x): return np.pad(x, ((0, 1), (2, 0)), mode='symmetric')", "N, M"),
    ("rot90", "def f(x): return np.rot90(x, 3, axes=(0, 2))", "N, M, K"),
    ("einsum path", "def f(a, b, c): return np.einsum('ij,jk,kl->il', a, b, c, optimize=True)", "N, M", "K, L", "L, P"),
    ("einsum diagonal", "def f(a): return np.einsum('ii->i', a)", "N, M"),
    ("einsum dots", "def f(a, b): return np.einsum('...i,...i', a, b)", "N, M", "K, L"),
    ("tensordot axes", "def f(a, b): return np.tensordot(a, b, axes=([0], [1]))", "N, M", "K, L"),
    (
        "softmax by hand",
        "def f(x): e = np.exp(x - x.max(1, keepdims=True)); return e / e.sum(1, keepdims=True)",
        "N, M",
    ),
    ("distances", "def f(x, y): return ((x[:, None] - y[None]) ** 2).sum(-1)", "N, M", "K, L"),
    ("moving average", "def f(x): c = np.cumsum(np.insert(x, 0, 0)); return (c[3:] - c[:-3]) / 3", "N"),
    ("windows mean", "def f(x): return np.lib.stride_tricks.sliding_window_view(x, (2, 3)).mean((-1, -2))", "N, M"),
    ("one-hot", "def f(i): return np.eye(3)[i]", "i:N"),
    ("batches", "def f(x): return np.stack([x[i : i + 2] for i in range(0, 4, 2)])", "N, M"),
    ("top k", "def f(x): return np.take_along_axis(x, np.argsort(x, 1)[:, -2:], 1)", "N, M"),
    ("lower solve", "def f(a, b): return np.linalg.solve(a + np.eye(len(a)), b)", "N, M", "K, L"),
    ("random normal", "def f(x): return x + np.random.default_rng(0).normal(size=x.shape)", "N, 3"),
    ("random rand", "def f(x): return x @ np.random.rand(x.shape[1], 2)", "N, M"),
    ("random permutation", "def f(x): return x[np.random.permutation(len(x))]", "N, M"),
    ("random choice", "def f(x): return x[np.random.default_rng(0).choice(len(x), 2, replace=False)]", "N, M"),
    ("random shuffle", "def f(x): np.random.shuffle(x); return x", "N, M"),
]


def function_of(source):
    """The function that a row's source defines; its lines have text, as those of a file do."""
    space = {"np": np}
    name = f"<{source}>"
    import linecache

    linecache.cache[name] = len(source), None, [f"{line}\n" for line in source.splitlines()], name
    exec(compile(source, name, "exec"), space)
    return space["f"]


def argument(text):
    """An argument of `symbcast.trace` as a row writes it."""
    import symbcast as sb

    kind, _, shape = text.rpartition(":")
    if kind == "s":
        return sb.size(shape)
    return sb.array(shape, {"i": "int64", "b": "bool", "c": "complex128", "": "float64"}[kind])


def fillings():
    """Ways to fill an array of a shape and a kind: random numbers, zeros, ones, and regular matrices."""
    random = np.random.default_rng(7)

    def drawn(shape, dtype):
        return (random.random(shape) if dtype.kind in "fc" else random.integers(0, 2, shape)).astype(dtype)

    def regular(shape, dtype):
        one = np.eye(*shape[-2:]) * 2 if len(shape) > 1 else np.arange(1, math.prod(shape) + 1).reshape(shape)
        return np.broadcast_to(one, shape).astype(dtype)

    return [drawn, np.zeros, np.ones, regular]


def real_outcomes(function, scope, given, at):
    """What a function does at some sizes: the shapes that it returns, None where it raises, for each kind of data."""
    from symbcast.core.solver.evaluation import size_at

    found = set()
    for filled in fillings():

        def made(dims, dtype, filled=filled):
            return filled([size_at(d, at) for d in dims], np.dtype(dtype))

        args, options = given.build(scope.shapes, made, lambda dim: size_at(dim, at))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found.add(tuple(shapes_of(function(*args, **options))))
            except Exception:
                found.add(None)
    return found


def compared(report, function, arguments):
    """At how many sizes a report is right and says nothing, and the sizes at which it is wrong."""
    from symbcast.arrays.arguments import TraceArguments
    from symbcast.core.solver.evaluation import holds_at

    given, found = TraceArguments(arguments, {}), conclusions_of(report)
    symbols, data = list(found.scope.names), list(found.exploration.data)
    every = list(itertools.product(SIZES, repeat=len(symbols)))
    right, left, wrong = 0, 0, []
    for values in every[:: -(-len(every) // MOST)]:
        at = dict(zip(symbols, values, strict=True))
        real = real_outcomes(function, found.scope, given, at)
        counts = sorted({*range(4), *values, math.prod(values)})
        choices = [range(2) if s.upper == 1 else [n for n in counts if n >= s.lower] for s in data[:3]]
        told, is_open = set(), False
        for decided in itertools.product(*choices):
            there = {**at, **dict.fromkeys(data, 0), **dict(zip(data, decided, strict=False))}
            is_open = is_open or holds_at(report.unexplored.formula, there)
            for case in report.cases:
                if holds_at(case.condition.formula, there):
                    told.add(None if case.error else tuple(_evaluated(shapes_of(case.value), there, data)))
        # Data that do not suit fail: an error counts where there is no data for which there is none.
        expected = {r for r in real if r is not None} or real
        if is_open or len(data) > len(choices):  # of more numbers that data decide, not all are tried
            left += 1
        elif all(any(_fits(t, r) for t in told) for r in expected):
            right += 1
        else:
            wrong.append(f"{dict(zip(map(str, symbols), values, strict=True))}: told {told}, real {real}")
    return right, left, wrong


def row(name, source, *texts):
    """What became of one function."""
    import symbcast as sb

    function, arguments = function_of(source), [argument(t) for t in texts]
    start = time.process_time()
    try:
        report = sb.trace(function, *arguments, max_paths=40)
        verdict = report.verdict.value
        milliseconds = (time.process_time() - start) * 1000
        right, left, wrong = compared(report, function, arguments)
    except Exception as error:
        return {"name": name, "outcome": "crash", "reason": repr(error)[:200]}
    return {
        "name": name,
        "outcome": "wrong" if wrong else "right" if report.complete else "unknown",
        "verdict": verdict,
        "condition": str(report.condition)[:200],
        "paths": report.paths,
        "right": right,
        "open": left,
        "wrong": wrong[:2],
        "reason": report.reason[:200],
        "ms": round(milliseconds),
    }


def surveyed(names):
    """Yield what became of functions: those of a process that dies are the one that killed it, and those after it."""
    left = list(names)
    while left:
        run = subprocess.run(
            [sys.executable, __file__, "--child", *left], check=False, capture_output=True, text=True, timeout=1200
        )
        done = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{"name"')]
        yield from done
        left = left[len(done) :]
        if left and run.returncode:
            yield {"name": left.pop(0), "outcome": "killed", "reason": run.stderr[-200:]}


if __name__ == "__main__":
    asked = [a for a in sys.argv[1:] if not a.startswith("--")]
    if "--child" in sys.argv:
        for chosen in [r for name in asked for r in ROWS if r[0] == name]:
            print(json.dumps(row(*chosen)), flush=True)
        sys.exit()
    rows = []
    for found in surveyed([r[0] for r in ROWS if not asked or any(a in r[0] for a in asked)]):
        rows.append(found)
        print(found["outcome"], *(f"{k}={v}" for k, v in found.items() if k != "outcome"), flush=True)
    for kind in ("right", "unknown", "wrong", "crash", "killed"):
        print(kind, sum(r["outcome"] == kind for r in rows))
    if "--record" in sys.argv:
        kept = [{k: v for k, v in r.items() if k != "ms"} for r in rows]
        RECORD.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
