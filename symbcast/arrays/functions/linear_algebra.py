"""Generalized ufuncs, whose signatures name core axes, and SciPy's decompositions of one matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from symbcast.arrays.array_facts import dims_of, dtype_of, here
from symbcast.arrays.indexing import write_out
from symbcast.arrays.symbolic_array import SymbolicArray, contents_of, outputs_or_results, result_dtypes
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.operators.operator import Dims
from symbcast.paths.path import current

# Generalized ufuncs: core axes follow their signatures, and the other axes broadcast.


_OPTIONS = frozenset({"axes", "axis", "keepdims", "casting", "order", "dtype", "subok", "signature"})

# Functions that fail, at most sizes, for data that are not finite.
_NEED_FINITE = ("cholesky", "eig", "lstsq", "svd")

# The signatures of NumPy's Fourier transforms.
_OF_TRANSFORMS = ("(n),()->(m)", "(m),()->(n)")

Axes: TypeAlias = "list[tuple[int, ...]]"


def generalized(  # noqa: PLR0912 - a step for each part of a signature
    ufunc: Any, inputs: Sequence[Any], outs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    path = here()
    if ufunc.__name__ == "matmul" and not any(map(dims_of, inputs)):
        # NumPy raises different errors for zero-dimensional arrays and for scalars, which look the same here.
        path.fail_to_trace("a matrix product of scalars")
    if ufunc.__name__.startswith(_NEED_FINITE):
        for value in inputs:
            zeros = [equal(d, 0) for d in contents_of(value).divisors]
            # Each element of an array without elements is finite.
            if zeros and path.ask(any_of(zeros)) and not path.ask(path.empty(dims_of(value))):
                path.fail_to_trace(f"numpy.linalg.{ufunc.__name__.partition('_')[0]} of data that may not be finite")
    left = options.keys() - _OPTIONS
    if left or len(outs) > len(_signature(ufunc.signature)[1]):
        path.fail_to_trace(f"{ufunc.__name__} with {', '.join(sorted(left)) or 'such outputs'} is not supported")
    core_in, core_out = _signature(ufunc.signature)
    axes = _core_axes(options, core_in, core_out)
    sizes: dict[str, Dim] = {}
    loops = [
        _operand(ufunc, number, names, dims_of(value), axes, sizes)
        for number, (names, value) in enumerate(zip(core_in, inputs, strict=True))
    ]
    loop = path.broadcast(*loops) if len([x for x in loops if x]) > 1 else next((x for x in loops if x), ())
    for number, (out_dims, names) in enumerate(zip(outs, core_out, strict=False)):
        if out_dims is not None and names:
            known = [_bare(n) for n in names if not n.endswith("?") or _bare(n) in sizes]
            _output(ufunc, known, out_dims, _places(axes, len(core_in) + number, len(known)), sizes)
            if ufunc.signature in _OF_TRANSFORMS:
                points = any_of([at_most(1, sizes[known[0]]), *(equal(d, 0) for d in loop)])
                path.require(points, "Invalid number of FFT data points (0) specified")
    missing = [n for names in core_out for n in names if not n.isdecimal() and not n.endswith("?") and n not in sizes]
    if missing and set(missing) == {"p"} and {"m", "n"} <= sizes.keys():
        sizes["p"] = path.bounds.smaller(sizes["m"], sizes["n"])  # as in NumPy's decompositions
    elif missing:
        path.fail_to_trace(f"the result sizes of {ufunc.__name__} are not known")
    dtypes = result_dtypes(ufunc, tuple(dtype_of(v) for v in inputs), options.get("dtype"))
    if isinstance(options.get("signature"), str):
        dtypes = tuple(np.dtype(c) for c in options["signature"].partition("->")[2])
    results = []
    for number, names in enumerate(core_out):
        core: list[Dim] = [
            int(n) if n.isdecimal() else sizes[n] for n in map(_bare, names) if n.isdecimal() or n in sizes
        ]
        if options.get("keepdims"):
            core = [1] * len(core_in[0])
        places = _places(axes, len(core_in) + number, len(core))
        if number < len(outs) and outs[number] is not None:
            if options.get("keepdims"):
                path.fail_to_trace(f"{ufunc.__name__} with keepdims and an output is not supported")
            out_dims = dims_of(outs[number])
            taken = {p % len(out_dims) for p in places}
            rest = tuple(d for n, d in enumerate(out_dims) if n not in taken)
            if len(rest) != len(loop):
                path.fail_to_trace(f"{ufunc.__name__} with an output of another rank is not supported")
            path.broadcast(loop, rest, rule="unidirectional")
            write_out(outs[number], dtypes[number], options.get("casting", "same_kind"))
        is_last = places == tuple(range(-len(core), 0))
        results.append(SymbolicArray(_placed(loop, core, () if is_last else places), dtypes[number]))
    return outputs_or_results(outs, *results)


def _operand(  # noqa: PLR0913, PLR0917 - the context of one operand
    ufunc: Any, number: int, names: Sequence[str], dims: Dims, axes: Axes | None, sizes: dict[str, Dim]
) -> Dims:
    """Record the core sizes of an operand, and return its other axes."""
    path = here()
    if len(dims) < sum(not n.endswith("?") for n in names):
        raise ValueError(f"{ufunc.__name__}: Input operand {number} does not have enough dimensions")
    present = [n for n in names if not n.endswith("?") or len(dims) >= len(names)]
    places = [p % len(dims) for p in (axes[number] if axes is not None else range(-len(present), 0))]
    for name, place in zip(present, places, strict=True):
        size = int(name) if name.isdecimal() else sizes.setdefault(name.rstrip("?"), dims[place])
        path.equal(size, dims[place], f"mismatch in the core dimension {name} of {ufunc.__name__}")
    return tuple(d for n, d in enumerate(dims) if n not in places)


def _output(ufunc: Any, names: Sequence[str], out: Any, places: Sequence[int], sizes: dict[str, Dim]) -> None:
    """Record the core sizes of an output array; they must equal the sizes that are already known."""
    dims = dims_of(out)
    if len(names) > len(dims):
        raise ValueError(f"{ufunc.__name__}: Output operand does not have enough dimensions")
    for name, place in zip(names, places, strict=True):
        size = int(name) if name.isdecimal() else sizes.setdefault(name, dims[place])
        here().equal(size, dims[place], f"mismatch in the core dimension {name} of the output")


def _places(axes: Axes | None, number: int, count: int) -> tuple[int, ...]:
    """Return the positions of an operand's core axes."""
    return axes[number] if axes is not None and len(axes) > number else tuple(range(-count, 0))


def _placed(loop: Dims, core: Sequence[Dim], places: Sequence[int]) -> Dims:
    rank = len(loop) + len(core)
    if not core or not places:
        return (*loop, *core)
    at = dict(zip((p % rank for p in places), core, strict=True))
    left = iter(loop)
    return tuple(at[n] if n in at else next(left) for n in range(rank))


def _core_axes(options: dict[str, Any], core_in: Sequence[Any], core_out: Sequence[Any]) -> Axes | None:
    if options.get("axes") is not None:
        return [a if isinstance(a, tuple) else (a,) for a in options["axes"]]
    if options.get("axis") is not None:
        return [(options["axis"],) * len(c) for c in (*core_in, *core_out)]
    return None


@lru_cache(maxsize=256)
def _signature(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return the names of the core axes of each operand, and of each result."""
    sides = text.split("->")
    groups = [[[n.strip() for n in g.split(",") if n.strip()] for g in re.findall(r"\(([^)]*)\)", s)] for s in sides]
    return groups[0], groups[1]


def _bare(name: str) -> str:
    return name.rstrip("?")


# SciPy's linear algebra of one matrix: the real function says at two small shapes what it returns, and of which shapes.


# Options that neither depend on data nor change which sizes the results have, except as the examples show.
_SHOWN = frozenset({"overwrite_a", "check_finite", "lapack_driver", "driver", "disp", "lower", "homogeneous_eigvals"})
_SHOWN |= {"full_matrices", "compute_uv", "eigvals_only", "left", "right", "mode"}


def of_matrix(real: Any, a: Any, *args: Any, **options: Any) -> Any:
    """Return the results of a function of one matrix. It needs a square one if it refuses all others."""
    dims, path = dims_of(a), here()
    if len(dims) != 2 or args or not options.keys() <= _SHOWN:
        return real(a, *args, **options)
    kind, (m, n) = np.dtype(dtype_of(a)), dims

    def shown(*shapes: tuple[int, int]) -> list[Any]:
        return [real(np.eye(*shape, dtype=kind), **options) for shape in shapes]

    token = current.set(None)
    try:
        examples = shown((5, 7), (7, 5))
        forms = {(5, 7): m, (7, 5): n, (5, 5): path.bounds.smaller(m, n)}
    except ValueError:
        examples, forms = shown((5, 5), (7, 7)), {(5, 7): m}
    finally:
        current.reset(token)
    if len(forms) == 1:
        path.equal(m, n, "expected a square matrix")

    def formed(first: Any, second: Any) -> Any:
        if isinstance(first, tuple):
            return tuple(map(formed, first, second))
        sizes = zip(np.shape(first), np.shape(second), strict=True)
        return SymbolicArray(tuple(forms[pair] for pair in sizes), first.dtype)

    return formed(*examples)


# The functions of SciPy by name, each with its stand-in.
DECOMPOSITIONS: dict[str, Callable[..., Any]] = dict.fromkeys(
    (
        *("cholesky", "cosm", "coshm", "det", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "qr", "schur"),
        *("sinm", "sinhm", "sqrtm", "svd", "svdvals", "tanhm", "tanm"),
    ),
    of_matrix,
)
