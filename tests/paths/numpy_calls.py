"""NumPy's whole public API, called in the ways it accepts, traced and compared with NumPy at all small sizes.

Calls are generated, not chosen by success: every public function of the modules in `MODULES`, every method of arrays
and every method of universal functions is tried with arguments drawn from `KINDS`; a call that NumPy runs at some sizes
is traced, and once more with each of the `OPTIONS` that NumPy accepts for it. `WRITERS` are calls that no generator finds.

A call runs in a child process, so that one that kills Python is counted and named. Run as
``python tests/paths/numpy_calls.py`` to print what became of each; ``--only TEXT`` keeps calls that contain a text,
``--part 3/8`` an eighth of them.
"""

import argparse
import collections
import inspect
import itertools
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

MODULES = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.lib.stride_tricks": np.lib.stride_tricks,
    "np.lib.array_utils": np.lib.array_utils,
}
KINDS = {
    "v": ("N", "float64"),
    "w": ("M", "float64"),
    "a": ("N, M", "float64"),
    "b": ("K, L", "float64"),
    "i": ("K", "int64"),
    "j": ("K, L", "int64"),
    "t": ("N", "bool"),
    "u": ("N, M", "bool"),
    "c": ("N, M, K", "float64"),
}
ONE = ("v", "a", "i", "t", "[v, w]", "[a, b]", "(2, 3)", "c")
TWO = ("w", "b", "i", "t", "2", "0", "1.5", "[0, 2]", "(2, -1)", "a", "u", "[i]", "[t]")
THREE = ("w", "v", "i", "1", "b")
OPTIONS = (
    "axis=0", "axis=1", "axis=-1", "axis=None", "axis=(0, 1)", "keepdims=True", "out=v", "out=b", "out=(b,)", "where=t",
    "where=u", "initial=0", "initial=1.5", "dtype='float32'", "mode='wrap'", "mode='clip'", "mode='same'", "mode='valid'",
    "mode='edge'", "k=1", "k=-1", "n=2", "weights=v", "ndmin=3", "repeats=i", "offset=1", "indices=i", "side='right'",
    "return_index=True", "return_inverse=True", "return_counts=True", "minlength=3", "full_matrices=False", "wrap=True",
    "sorter=i", "order='F'", "copy=False", "shape=(2, 3)", "n=5", "s=(2, 3)", "norm='ortho'", "rowvar=False", "ddof=1",
    "axes=(1, 0)", "ord=1", "ord='nuc'", "bins=4", "density=True", "to_end=w", "prepend=0", "append=w", "deg=2",
    "axis1=1, axis2=0", "method='lower'", "increasing=True", "N=3", "sparse=True", "indexing='ij'", "strict=True",
    "invert=True", "equal_nan=True", "trim='f'", "kth=1", "rcond=0.1", "UPLO='U'", "compute_uv=False", "keepdims=True, axis=0",
    "axis=0, out=v", "axis=0, where=u", "axis=1, initial=0", "shift=1", "stable=True", "unique=True",
)  # fmt: skip
UFUNCS = ("add", "maximum", "logical_and", "subtract", "negative", "isfinite", "divmod", "ldexp", "hypot")
UFUNC_CALLS = (
    "reduce({a})", "reduce({a}, axis=1)", "reduce({a}, axis=None)", "reduce({a}, axis=(0, 1))", "reduce({a}, keepdims=True)",
    "reduce({a}, initial=1)", "reduce({a}, where=u)", "reduce({a}, where=u, initial=0)", "reduce({a}, where=t, initial=0)",
    "reduce({a}, out=w)", "reduce({a}, out=v, axis=1)", "reduce({a}, axis=2)", "reduce({a}, axis=())", "reduce({a}, axis=-1)",
    "accumulate({a})", "accumulate({a}, axis=1)", "accumulate({a}, out=b)", "accumulate(v)", "accumulate({a}, axis=5)",
    "reduceat(v, i)", "reduceat(a, i)", "reduceat(a, i, axis=1)", "reduceat(v, [0, 2])", "reduceat(v, j)", "reduceat(v, i, out=w)",
    "outer(v, w)", "outer(a, b)", "outer(v, w, out=b)", "outer(v, 2)", "outer(v, w, where=u)",
    "at(v, i, w)", "at(v, i, 1)", "at(a, i, 1)", "at(a, i, w)", "at(a, i, b)", "at(a, (i, i), w)", "at(a, (slice(None), i), b)",
    "at(v, 2, 1)", "at(v, t, w)", "at(a, t, b)", "at(v, [0, 2], w)", "at(v, slice(1, None), w)", "at(v, i)", "at(a, (i, 1))",
    "at(a, u, w)", "at(v, j, b)", "at(v, np.arange(3), 1)", "at(v, ..., w)", "at(a, (i[:, None], i), b)", "at(v, t)",
    "({a}, b)", "(v, w)", "(v, w, out=w)", "(v, w, where=t)", "(v, w, out=v, where=t)", "(a, w, out=b)", "(v, 1, out=w)", "(v)",
    "(a)", "(v, out=w)", "(v, where=t)", "(a, out=b, where=u)", "(a, v[:, None])", "(v, i)", "(v, w, w)", "(v, out=(w,))",
    "(v, w, casting='no')", "(v, w, dtype='float32')", "(v, w, np.zeros(3))", "(v, w, out=np.zeros(3))", "(v, w, (b,))",
)  # fmt: skip
WRITERS = (
    "np.put_along_axis(a, j, b, 0)", "np.put_along_axis(a, j, 1, 1)", "np.put_along_axis(v, i, w, 0)", "np.put_along_axis(v, i, 1, None)",
    "np.put_along_axis(a, j, w, 1)", "np.put_along_axis(a, i[:, None], 1, 1)", "np.put_along_axis(a, np.argsort(a, 1)[:, :2], 0, 1)",
    "np.putmask(v, t, w)", "np.putmask(a, u, w)", "np.putmask(v, u, w)", "np.putmask(a, t, 1)", "np.putmask(v, v > 0, w)",
    "np.place(v, t, w)", "np.place(a, u, w)", "np.place(v, u, [1, 2])", "np.place(a, t, 1)", "np.place(v, v > 0, w)",
    "np.fill_diagonal(a, 1)", "np.fill_diagonal(c, 1)", "np.fill_diagonal(v, 1)", "np.fill_diagonal(a, v)", "np.fill_diagonal(a, w)",
    "np.fill_diagonal(a, b)", "np.fill_diagonal(a, 1, wrap=True)", "np.fill_diagonal(c, v)",
    "np.copyto(v, w)", "np.copyto(v, w, where=t)", "np.copyto(a, w, where=t)", "np.copyto(a, b, where=u)", "np.copyto(v, a)",
    "np.copyto(a, 1, where=v[:, None] > 0)", "np.copyto(v, 1, where=u)", "np.copyto(a, c)", "np.copyto(i, v)", "np.copyto(i, v, casting='unsafe')",
    "np.put(v, i, w)", "np.put(v, i, 1)", "np.put(a, i, w)", "np.put(v, i, w, mode='clip')", "np.put(v, i, w, mode='wrap')",
    "np.put(v, [0, 2], w)", "np.put(v, 1, w)", "np.put(v, j, w)", "np.put(v, [0], [])", "np.put(v, [], w)", "v.put(i, w)", "v.put(3, 1)",
    "v.put([0, 5], 1, mode='clip')", "np.put(v, np.arange(4), 0)", "v.put(np.arange(len(w)), 0)",
    "w.fill(1)", "a.fill(w)", "a.fill(w[:1])", "v.__setitem__(i, w)", "v.__setitem__(t, w)", "a.__setitem__(t, b)", "a.__setitem__(u, w)",
    "a.__setitem__((i, i), w)", "a.__setitem__((slice(None), i), b)", "a.__setitem__((i[:, None], i), b)", "a.__setitem__((0, i), w)",
    "a.__setitem__((t, 0), w)", "v.__setitem__(2, 1)", "v.__setitem__(slice(1, 3), w)", "a.__setitem__(Ellipsis, w)", "v.__setitem__(None, w)",
    "v.__setitem__(0, w)", "a.__setitem__(0, w)", "v.__setitem__([0, 2], w)", "v.__setitem__([], w)", "v.__setitem__(np.arange(len(w)), w)",
    "v.flat.__setitem__(slice(None), w)", "v.flat.__setitem__(i, w)", "a.flat.__setitem__(t, w)", "a.flat.__setitem__(2, 1)",
    "a.flat.__setitem__(0, w)", "a.flat.__setitem__(slice(1, 4), w)", "a.flat[i]", "a.flat[2]", "a.flat[t]", "a.flat[1:3]", "len(a.flat)",
    "a.flat[[0, 3]]", "setattr(a, 'flat', w)", "np.array(a.flat)", "list(a.flat)[:0]", "a.flat[np.arange(len(v))]",
    "v.sort()", "a.sort(axis=0)", "a.sort(axis=2)", "a.partition(2)", "a.partition(1, axis=0)", "v.partition([0, 2])", "v.partition(-3)",
    "v.resize(5)", "v.resize((len(w), 2))", "v.setfield(1, 'float64')", "v.itemset(1, 2)", "v.byteswap(inplace=True)",
    "v.__iadd__(w)", "a.__iadd__(w)", "v.__imul__(a)", "v.__itruediv__(i)", "i.__iadd__(v)", "i.__iadd__(1)", "a.__imatmul__(b)", "v.__ipow__(2)",
    "np.take(v, i, out=w)", "np.take(a, i, axis=1, out=b)", "v.take(i, out=w, mode='clip')", "np.clip(v, 0, 1, out=w)", "np.clip(v, w, a)",
    "np.clip(a, v, w, out=b)", "np.cumsum(a, axis=1, out=b)", "np.cumsum(v, out=w)", "np.cumprod(a, out=w)", "np.mean(a, axis=0, out=w)",
    "np.mean(a, axis=0, out=b)", "np.std(a, axis=1, out=v)", "np.sum(a, out=np.zeros(()))", "np.sum(a, axis=0, out=v)", "np.concatenate([v, w], out=np.zeros(5))",
    "np.concatenate([a, b], out=c)", "np.concatenate([a, b], axis=1, out=u.astype(float))", "np.stack([v, w], out=b)", "np.dot(a, b, out=u.astype(float))",
    "np.dot(v, w, out=np.zeros(()))", "np.einsum('ij,jk->ik', a, b, out=u.astype(float))", "np.einsum('i,i', v, w, out=np.zeros(2))",
    "np.matmul(a, b, out=u.astype(float))", "np.matmul(a, w, out=v)", "np.argmax(a, axis=0, out=i)", "np.argmin(v, out=i)",
    "np.choose(i, [v, w])", "np.choose(i, [1, 2, 3])", "np.choose(i, a, mode='clip')", "np.compress(t, a, axis=0)", "np.compress(t, v)",
    "np.compress(t, w)", "np.compress([True, False, True], v)", "np.extract(t, v)", "np.extract(u, v)", "np.select([t], [v])", "np.select([t, v > 1], [v, w])",
    "np.piecewise(v, [t], [1, 2])", "np.piecewise(v, [v > 0], [lambda x: x * 2])", "np.median(a, axis=0, out=w)", "np.percentile(a, 50, axis=0, out=w)",
    "np.quantile(v, [0.1, 0.5], out=w)", "np.nansum(a, axis=0, out=w)", "np.nanmax(a, axis=0)", "np.nanargmax(a, axis=1)", "np.ptp(a, axis=0)",
    "np.ptp(a, axis=0, out=w)", "np.trace(a, out=np.zeros(()))", "np.trace(c, out=v)", "np.round(a, 2, out=b)", "np.fix(v, out=w)", "np.nan_to_num(v, copy=False)",
    "np.ravel_multi_index((i, i), a.shape)", "np.ravel_multi_index((i, i), (2, 3))", "np.ravel_multi_index(j, a.shape)", "np.unravel_index(i, a.shape)",
    "np.unravel_index(2, a.shape)", "np.unravel_index(np.arange(4), a.shape)", "np.nditer([v, w])", "np.nditer(v)", "np.ndenumerate(v)", "np.broadcast(v, w).shape",
    "list(np.ndindex(2, len(v)))[:0]", "np.lib.stride_tricks.as_strided(v, (2, 3))", "np.add.reduce([v, w])", "np.array(a.tolist())", "np.array(v.tolist())",
    "np.array(c.tolist())", "len(a.tolist())", "sum(v.tolist())", "a.item()", "a.item(2)", "a.item(0, 1)", "v.item(3)", "a.item((1, 1))",
    "np.zeros(len(v), dtype=[('a', float)])['a']", "np.zeros(a.shape, dtype=[('a', float, (3,)), ('b', int)])['a']", "np.zeros(len(v), dtype=[('a', float), ('b', int)])[['a']]",
    "np.zeros(len(v), dtype=[('a', float)])['b']", "np.zeros(len(v), dtype=[('a', float)]).__setitem__('a', w)",
    "v[np.zeros(0, bool)]", "v[np.zeros(len(w), bool)]", "a[:, np.zeros(0, bool)]", "v[t]", "a[t]", "a[:, t]", "a[u]", "c[u]", "c[:, u]", "a[t, i]", "a[t, 0]",
    "v.__setitem__(np.zeros(0, bool), w)", "a[np.ix_([0, 1], [])]", "a[np.ix_([], [])]", "a[np.ix_(i, i)]", "a[np.ix_(t, [0])]", "a[np.ix_([0, 2], i)]", "a[np.ix_([], i)]",
    "a[np.ix_([0], [])] + b", "v[[]]", "v[()]", "v[np.array([], int)]", "a[[], 0]", "a[[[]]]", "v[True]", "v[False]", "v[np.True_, i]", "a[..., i]", "a[i, ..., 0]",
    "a[None, i]", "a[i, None, i]", "c[i, :, i]", "c[:, i, i]", "c[0, :, i]", "c[i, 0, :]", "c[..., i, 0]", "v[i[:, None]]", "a[i, 1:]", "a[1:, i]", "a[i][i]",
    "v[np.triu_indices(len(v), 1)]", "a[np.triu_indices(len(a), 1)]", "a[np.triu_indices(len(a))]", "a[np.tril_indices(len(a), -1)]", "a[np.triu_indices(len(a), 1, a.shape[1])]",
    "a[np.triu_indices_from(a)]", "a[np.tril_indices_from(a, 2)]", "a[np.tril_indices(2)]", "a[np.triu_indices(3, 1)]", "np.triu_indices(len(v))", "np.tril_indices(len(v), 1)",
    "np.triu_indices(len(v), -2, len(w))", "np.tril_indices(len(v), -2, len(w))", "a[np.diag_indices(len(a))]", "a[np.diag_indices_from(a)]", "a[np.diag_indices(2)]",
    "a[np.mask_indices(len(a), np.triu)]", "np.mask_indices(len(v), np.tril, -1)", "np.nonzero(np.eye(len(v)))", "np.nonzero(np.eye(len(v), len(w), 1))",
    "np.nonzero(np.ones(a.shape))", "np.nonzero(np.zeros(a.shape))", "np.nonzero(np.tri(len(v), len(w)))", "a[np.nonzero(np.eye(len(a)))]", "np.argwhere(np.tri(len(v)))",
    "np.flatnonzero(np.eye(len(v)))", "np.count_nonzero(np.tri(len(v)))", "a[np.tri(len(a), a.shape[1], dtype=bool)]", "a[np.eye(len(a), dtype=bool)]", "a[~np.eye(len(a), dtype=bool)]",
    "a[np.triu(np.ones(a.shape, bool))]", "a[np.tril(np.ones((len(a), len(a)))) > 0]", "a[np.tri(len(a), dtype=bool).T]", "np.where(np.eye(len(v)))[0] + w",
    "v[np.arange(len(w))]", "v[np.arange(len(v)) + 1]", "v[np.arange(len(v)) - 1]", "v[np.arange(len(v)) // 2]", "v[np.arange(len(w)) % len(v)]", "v[np.arange(len(w)) % 3]",
    "v[2 * np.arange(len(w))]", "v[-np.arange(len(w))]", "v[len(v) - 1 - np.arange(len(w))]", "v[np.arange(3)[:, None] + np.arange(len(w))]", "v[np.arange(2, len(w))]",
    "v[np.arange(0, len(w), 2)]", "v[np.arange(len(w), 0, -1)]", "v[np.arange(len(w))[::-1]]", "v[np.arange(len(w))[1:]]", "v[np.arange(len(w))[:-1] + 1]", "v[np.zeros(len(w), int)]",
    "v[np.ones(len(w), int)]", "v[np.full(len(w), 2)]", "v[np.cumsum(np.ones(len(w), int))]", "v[np.cumsum(np.ones(len(w), int)) - 1]", "v[np.repeat(np.arange(len(w)), 2)]",
    "v[np.tile(np.arange(len(w)), 2)]", "v[np.concatenate([np.arange(2), np.arange(len(w))])]", "v[np.minimum(np.arange(len(w)), len(v) - 1)]", "v[np.clip(np.arange(len(w)), 0, len(v) - 1)]",
    "v[np.maximum(np.arange(len(w)) - 1, 0)]", "v[np.argsort(w)]", "v[np.argsort(w)[::-1]]", "v[np.argsort(w)[:3]]", "v[np.argmax(w)]", "v[np.argmax(a, axis=1)]", "v[np.argmax(a, axis=0)]",
    "a[np.arange(len(a)), np.argmax(a, axis=1)]", "a[np.arange(len(a)), np.argmax(a, axis=0)]", "v[np.searchsorted(w, v)]", "v[np.searchsorted(v, w) - 1]", "v[np.digitize(w, v)]",
    "v[np.unique(w, return_inverse=True)[1]]", "np.unique(w)[np.unique(w, return_inverse=True)[1]]", "v[np.unique(w, return_index=True)[1]]", "v[np.unravel_index(np.arange(len(v)), a.shape)[0]]",
    "a[np.unravel_index(np.argmax(a), a.shape)]", "a.ravel()[np.ravel_multi_index((i, i), a.shape)]", "a[np.indices(a.shape)[0], 0]", "a[tuple(np.indices(b.shape))]", "a[np.meshgrid(np.arange(2), np.arange(2))[0]]",
    "a[tuple(np.meshgrid(np.arange(len(a)), np.arange(2)))]", "v[np.nonzero(w)[0]]", "v[np.flatnonzero(w > 0)]", "a[np.nonzero(b)]", "v[np.lexsort((w, w))]", "v[np.argpartition(w, 2)]",
    "v[np.random.default_rng(0).integers(0, 3, 4)]", "np.bincount(i, w)", "np.bincount(i, minlength=len(v)) + v", "np.histogram(v, bins=w)", "np.unique(v)[:, None] + w",
    "np.unique(v) + w", "v[v > 0].reshape(2, 2)", "v[v > 0] + w", "v[t].reshape(-1, 3)", "np.unique(v).reshape(3, -1)", "np.repeat(v, i) + w", "np.repeat(v, i)", "np.repeat(a, i, axis=1)", "np.delete(v, 1)",
    "np.delete(v, [0, 2])", "np.delete(a, i, axis=0)", "np.delete(a, slice(1, 3), axis=1)", "np.insert(v, [1, 2], w)", "np.insert(v, i, w)", "np.insert(a, 1, w, axis=0)", "np.append(v, w)", "np.append(a, b, axis=0)",
    "np.apply_along_axis(np.sum, 0, a)", "np.apply_along_axis(np.sort, 1, a)", "np.apply_over_axes(np.sum, a, [0, 1])", "np.vectorize(lambda x: x)(v)", "np.frompyfunc(lambda x: x, 1, 1)(v)",
    "np.r_[v, w]", "np.c_[v, w]", "np.r_[0, v]", "np.s_[v]", "np.mgrid[0:len(v), 0:2]", "np.ogrid[0:len(v), 0:2]", "a[tuple(np.ogrid[0:len(a), 0:2])]", "np.block([[a, b]])", "np.block([v, w])",
    "np.cross(a, b)", "np.linalg.multi_dot([a, b, a])", "np.einsum('ii', a)", "np.einsum('ii->i', a)", "np.einsum('ij,ij', a, b)", "np.einsum('...i,i', a, w)", "np.tensordot(a, b, 1)", "np.tensordot(a, b, ([0, 1], [1, 0]))",
    "np.fft.fftn(a, s=(2, 3))", "np.fft.rfft(a, n=3)", "np.fft.ifft(v, n=0)", "np.fft.hfft(v)", "np.fft.ihfft(v)", "np.fft.fft2(v)", "np.fft.irfftn(a)", "np.fft.fftfreq(len(v))", "np.fft.rfftfreq(len(v))",
    "np.ma.array(v)", "np.ma.masked_where(t, v)", "np.polynomial.polynomial.polyval(v, w)", "np.polynomial.polynomial.polyfit(v, w, 2)", "np.char.add(v, w)", "np.rec.array(v)", "np.save('/dev/null', v)", "np.savetxt('/dev/null', v)",
    "np.array2string(v)", "v.tobytes()", "v.tofile('/dev/null')", "v.dump('/dev/null')", "v.view('int64')", "v.view('float32')", "a.view('float32')", "v.view('complex128')", "v.astype(int)", "v.astype(bool)", "v.data", "v.ctypes",
    "memoryview(v)", "np.frombuffer(v)", "np.asarray_chkfinite(v)", "np.array([v, w])", "np.array([v, 1])", "np.array([len(v), len(w)])", "np.array([1.0, len(v)])", "np.asarray([a, b])", "np.array([[v], [w]])", "np.array(v, ndmin=3)",
    "np.min([v, w])", "np.stack([v])", "np.vstack([v, a])", "np.dstack([v, w])", "np.hstack([v, w])", "np.column_stack([v, a])", "np.split(v, 3)", "np.split(v, [1, 3])", "np.array_split(a, 3, axis=1)", "np.hsplit(a, 2)", "np.vsplit(v, 2)",
    "np.unstack(a[:2])", "np.rot90(a)", "np.rot90(v)", "np.roll(a, 1, axis=0)", "np.roll(a, (1, 2), axis=(0, 1))", "np.roll(a, (1, 2), axis=0)", "np.rollaxis(c, 2)", "np.moveaxis(c, [0, 1], [1, 2])", "np.flip(a, axis=(0, 1))", "np.fliplr(v)",
    "np.resize(v, (2, 3))", "np.resize(v, len(w))", "np.trim_zeros(v)", "np.isin(v, w)", "np.intersect1d(v, w)", "np.union1d(v, w)", "np.setdiff1d(v, w)", "np.setxor1d(v, w)", "np.unique_counts(v)", "np.unique_values(a)", "np.unique(a, axis=0)",
    "np.corrcoef(a)", "np.corrcoef(v, w)", "np.cov(a, aweights=v)", "np.cov(a, fweights=i)", "np.histogram2d(v, w)", "np.histogramdd(a)", "np.histogram(v, weights=w)", "np.histogram_bin_edges(v)", "np.digitize(a, w)", "np.digitize(v, a)",
    "np.interp(v, w, w)", "np.interp(1.5, v, w)", "np.searchsorted(v, a)", "np.searchsorted(a, v)", "np.searchsorted(v, w, sorter=i)", "np.sort_complex(v)", "np.partition(a, 2)", "np.partition(a, 5, axis=None)", "np.argpartition(a, 1, axis=0)",
    "np.lexsort((v, w))", "np.lexsort(a)", "np.msort(a)", "np.polyval(v, w)", "np.polyadd(v, w)", "np.polymul(v, w)", "np.polydiv(v, w)", "np.polyder(v)", "np.polyint(v, 2)", "np.poly(a)", "np.roots(v)", "np.vander(v)", "np.vander(v, len(w))",
    "np.kron(a, b)", "np.outer(a, b)", "np.inner(a, b)", "np.vdot(a, b)", "np.linalg.vecdot(a, b)", "np.linalg.outer(v, w)", "np.linalg.matrix_power(a, 3)", "np.linalg.tensorsolve(a, v)", "np.linalg.norm(a, 2, axis=(0, 1))", "np.linalg.cond(a)",
    "np.linalg.matrix_rank(a)", "np.linalg.slogdet(c)", "np.linalg.eigh(a)", "np.linalg.cholesky(c)", "np.linalg.diagonal(a, offset=1)", "np.linalg.trace(v)", "np.linalg.cross(a, b)", "np.diagflat(v, 1)", "np.diag(a, -1)", "np.diag(c)",
    "np.gradient(v, w)", "np.gradient(a, 2.0, v)", "np.trapezoid(a, v)", "np.trapezoid(a, axis=0)", "np.cumulative_sum(v, include_initial=True)", "np.cumulative_sum(a)", "np.convolve(v, w, 'same')", "np.correlate(v, w, 'valid')", "np.packbits(t)",
    "np.packbits(u, axis=0)", "np.unpackbits(i.astype('uint8'))", "np.unwrap(v)", "np.bartlett(len(v))", "np.kaiser(len(v), 3.0)", "np.geomspace(1, 2, len(v))", "np.logspace(v, w, 3)", "np.linspace(v, w, 4)", "np.linspace(0, 1, len(v), endpoint=False)",
    "np.broadcast_to(v, b.shape)", "np.broadcast_to(v, (3, len(w)))", "np.broadcast_arrays(v, b)", "np.expand_dims(v, (0, 2))", "np.squeeze(a, axis=1)", "np.atleast_3d(v)", "np.tile(v, (2, len(w)))", "np.tile(a, [])", "np.pad(v, (1, 2))", "np.pad(v, len(w))",
    "np.pad(a, ((1, 0), (0, 2)), mode='reflect')", "np.pad(v, 3, mode='wrap')", "np.pad(v, 2, mode='mean')", "np.pad(v, 2, mode='constant', constant_values=w)", "np.bitwise_and.reduce(t)", "np.busday_count(i, i)", "np.bmat('a')", "np.astype(v, int)",
)  # fmt: skip
FILLS = ("zeros", "ones", "mixed", "rising", "falling")
SIZES = range(6)
MOST = 216
"""At most so many sizes of one call are compared, spread evenly over all of them."""


def public_calls():
    """The texts of calls of the public functions and methods that NumPy accepts at some sizes."""
    for prefix, module in MODULES.items():
        for name in sorted(set(getattr(module, "__all__", dir(module)))):
            function = getattr(module, name, None)
            if name.startswith("_") or not callable(function) or isinstance(function, type) or name in SKIPPED:
                continue
            yield from calls_of(f"{prefix}.{name}", function)
    for name in sorted(dir(np.ndarray)):
        method = getattr(np.ndarray, name)
        if not name.startswith("_") and callable(method) and name not in SKIPPED:
            for array in ("v", "a", "i"):
                yield from calls_of(f"{array}.{name}", method)
    for name in UFUNCS:
        for call in UFUNC_CALLS:
            dot = "" if call.startswith("(") else "."
            yield f"np.{name}{dot}{call.format(a='a')}"


SKIPPED = frozenset({
    "dump", "tofile", "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "fromfile", "genfromtxt", "info", "test",
    "show_config", "show_runtime", "setbufsize", "seterr", "seterrcall", "set_printoptions", "get_include", "fromregex",
    "getbufsize", "geterr", "geterrcall", "get_printoptions", "printoptions", "errstate", "frombuffer", "open_memmap",
})  # fmt: skip


def calls_of(text, function):
    counts = (0, 1, 2) if text[1] == "." else (1, 2, 3)
    for count in counts:
        pools = {0: [], 1: [ONE], 2: [ONE, TWO], 3: [("v", "a"), ("w", "i", "2", "b"), THREE]}[count]
        if text[1] == "." and count:
            pools = [TWO, THREE][:count]
        kept = 0
        for arguments in itertools.product(*pools):
            call = f"{text}({', '.join(arguments)})"
            if not runs(call):
                continue
            kept += 1
            yield call
            if kept <= (3 if count < 2 else 2):
                taken = named_of(function)
                for option in OPTIONS:
                    if taken is None or option.partition("=")[0] in taken:
                        more = f"{call[:-1]}{', ' * bool(arguments)}{option})"
                        if runs(more):
                            yield more
            if kept >= 14:
                break


def named_of(function):
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return None
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) else set(parameters)


def names_in(call):
    names = set(compile(call, "call", "eval").co_names)
    for code in compile(call, "call", "eval").co_consts:
        names |= set(getattr(code, "co_names", ()))
    return [k for k in KINDS if k in names]


def values_of(names, at, fill):
    """Arrays at some sizes: zeros, ones, values that differ within each array, or from one array to the next."""
    for number, name in enumerate(names):
        text, dtype = KINDS[name]
        shape = [at[s.strip()] for s in text.split(",")]
        if fill in ("rising", "falling"):
            yield np.full(shape, number if fill == "rising" else -number).astype(dtype)
        elif fill == "mixed":
            made = np.modf(np.arange(1, int(np.prod(shape)) + 1) * 0.6180339887498949)[0].reshape(shape)
            yield (made * 3).astype(dtype) if dtype == "int64" else made > 0.5 if dtype == "bool" else made
        else:
            yield getattr(np, fill)(shape, dtype)


def function_of(call):
    names = names_in(call)
    return names, eval(f"lambda {', '.join(names)}: {call}", {"np": np})


def runs(call):
    """Whether NumPy runs a call at some small sizes."""
    names, function = function_of(call)
    symbols = sorted({s.strip() for n in names for s in KINDS[n][0].split(",")})
    if not names:
        return False
    for values in itertools.product((1, 2, 3), repeat=len(symbols)):
        at = dict(zip(symbols, values, strict=True))
        for fill in ("zeros", "mixed"):
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    function(*values_of(names, at, fill))
            except Exception:
                continue
            return True
    return False


def real_results(function, names, at):
    """What NumPy does at some sizes: the shapes for each filling, None where it fails."""
    from paths.held import shapes_of

    for fill in FILLS:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found = function(*values_of(names, at, fill))
            except np.linalg.LinAlgError as error:
                if "square" in str(error) or "dimensional" in str(error):
                    yield None
                continue
            except Exception:
                yield None
                continue
        yield tuple(shapes_of(found))


def outcome(call):
    """What became of a call: ``right``, ``unknown`` with the reason, or ``wrong`` with the sizes."""
    import symbcast as sb
    from paths.held import _evaluated, _fits, shapes_of
    from symbcast.solver.evaluation import holds_at

    names, function = function_of(call)
    report = sb.trace(function, *(sb.array(*KINDS[n]) for n in names))
    symbols = {s: str(s) for s in report.scope.names}
    data = list(report.exploration.data)
    every = list(itertools.product(SIZES, repeat=len(symbols)))
    known = 0
    for values in every[:: -(-len(every) // MOST)]:
        at = dict(zip(symbols, values, strict=True))
        reals = list(real_results(function, names, {name: at[s] for s, name in symbols.items()}))
        if not reals:
            continue
        told, is_open = set(), False
        counts = sorted({*range(4), *values, int(np.prod(values))})
        choices = [range(2) if s.upper == 1 else [n for n in counts if n >= s.lower] for s in data[:3]]
        for decided in itertools.product(*choices):
            there = {**at, **dict.fromkeys(data, 0), **dict(zip(data, decided, strict=False))}
            is_open = is_open or holds_at(report.unexplored.formula, there)
            told |= {
                None if case.error else tuple(_evaluated(shapes_of(case.value), there, data))
                for case in report.cases
                if holds_at(case.when.formula, there)
            }
        if is_open:
            continue
        known += 1
        working = [r for r in reals if r is not None]
        # Suitable data decide: where some data work, the trace must say so, and what comes out.
        if not any(_fits(t, r) for t in told for r in working or [None]):
            there = {str(s): n for s, n in at.items()}
            return "wrong", f"at {there}: told {sorted(map(str, told))}, real {reals}"
        if data == [] and report.guard()(**{str(s): n for s, n in at.items()}) != bool(working):
            return "wrong", f"the guard at {at}"
    return ("right", report.verdict.value) if known else ("unknown", report.reason)


def child():
    """Read calls from stdin, write what became of each."""
    for line in sys.stdin:
        call = json.loads(line)
        try:
            found = outcome(call)
        except Exception as error:  # what a trace raises is a mistake
            found = "raised", f"{type(error).__name__}: {error}"
        print(json.dumps([call, *found]), file=sys.__stdout__, flush=True)


def results(calls):
    """What became of each call, each run in a child process; the one at which a child dies is killed."""
    left = list(calls)
    while left:
        process = subprocess.Popen(
            [sys.executable, __file__, "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while left:
            process.stdin.write(json.dumps(left[0]) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            call = left.pop(0)
            if not line:
                yield [call, "killed", str(process.wait())]
                break
            yield json.loads(line)
        process.stdin.close()
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--writers", action="store_true", help="the listed calls alone")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.child:
        return child()
    part, parts = map(int, arguments.part.split("/"))
    calls = list(dict.fromkeys([*WRITERS, *([] if arguments.writers else public_calls())]))
    calls = [c for c in calls if arguments.only in c and names_in(c)][part - 1 :: parts]
    if arguments.list:
        print(*calls, sep="\n")
        return None
    counts = collections.Counter()
    for call, kind, text in results(calls):
        counts[kind] += 1
        print(f"{kind:8} {call}   {text}", flush=True)
    print(dict(counts))
    return None


if __name__ == "__main__":
    main()
