"""SciPy's linear algebra of one matrix, computed by LAPACK: shape requirements and result shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from symbcast.arrays.symbolic.dims import dims_of, dtype_of, here
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

IGNORED = frozenset({"overwrite_a", "check_finite", "lapack_driver", "driver", "disp", "lower", "homogeneous_eigvals"})
"""Options that do not affect shapes."""


def pairs(module: ModuleType) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """Yield the supported functions, each with its stand-in."""
    for name, (given, is_square) in _KNOWN.items():
        if hasattr(module, name):
            yield getattr(module, name), _standin(given, is_square)


def _standin(given: Callable[..., Any], is_square: bool) -> Callable[..., Any]:
    def ours(real: Any, a: Any, *args: Any, **options: Any) -> Any:
        dims = dims_of(a)
        left = {k: v for k, v in options.items() if k not in IGNORED}
        if len(dims) != 2 or args or not left.keys() <= _OPTIONS:
            return real(a, *args, **options)
        if is_square:
            here().equal(dims[0], dims[1], "expected a square matrix")
        return given(*dims, np.result_type(dtype_of(a), np.float32), **left)

    return ours


_OPTIONS = frozenset({"full_matrices", "compute_uv", "eigvals_only", "left", "right", "mode"})


def _same(rows: Dim, columns: Dim, kind: Any) -> Any:
    return SymbolicArray((rows, columns), kind)


def _of_each(rows: Dim, columns: Dim, kind: Any) -> Any:
    return SymbolicArray((rows,), kind)


def _one(rows: Dim, columns: Dim, kind: Any) -> Any:
    return SymbolicArray((), kind)


def _svd(m: Dim, n: Dim, kind: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    least = here().bounds.smaller(m, n)
    values = SymbolicArray((least,), np.empty(0, kind).real.dtype)
    if not compute_uv:
        return values
    left, right = (m, n) if full_matrices else (least, least)
    return SymbolicArray((m, left), kind), values, SymbolicArray((right, n), kind)


def _singular_values(m: Dim, n: Dim, kind: Any) -> Any:
    return _svd(m, n, kind, compute_uv=False)


def _eigh(n: Dim, _: Dim, kind: Any, eigvals_only: bool = False) -> Any:
    values = SymbolicArray((n,), np.empty(0, kind).real.dtype)
    return values if eigvals_only else (values, SymbolicArray((n, n), kind))


def _eig(n: Dim, _: Dim, kind: Any, left: bool = False, right: bool = True) -> Any:
    vectors = [SymbolicArray((n, n), complex) for is_wanted in (left, right) if is_wanted]
    values = SymbolicArray((n,), complex)
    return (values, *vectors) if vectors else values


def _qr(m: Dim, n: Dim, kind: Any, mode: str = "full") -> Any:
    rows = here().bounds.smaller(m, n) if mode == "economic" else m
    if mode not in ("full", "economic", "r"):
        return here().fail_to_trace(f"scipy.linalg.qr with the mode {mode!r} is not supported")
    upper = SymbolicArray((rows, n), kind)
    return (upper,) if mode == "r" else (SymbolicArray((m, rows), kind), upper)


def _two(n: Dim, _: Dim, kind: Any) -> Any:
    return SymbolicArray((n, n), kind), SymbolicArray((n, n), kind)


_KNOWN: dict[str, tuple[Callable[..., Any], bool]] = {
    "cholesky": (_same, True),
    "cosm": (_same, True),
    "coshm": (_same, True),
    "det": (_one, True),
    "eig": (_eig, True),
    "eigh": (_eigh, True),
    "eigvals": (_of_each, True),
    "eigvalsh": (_of_each, True),
    "expm": (_same, True),
    "inv": (_same, True),
    "qr": (_qr, False),
    "schur": (_two, True),
    "sinm": (_same, True),
    "sinhm": (_same, True),
    "sqrtm": (_same, True),
    "svd": (_svd, False),
    "svdvals": (_singular_values, False),
    "tanhm": (_same, True),
    "tanm": (_same, True),
}
"""The results of each function, and whether it requires a square matrix."""
