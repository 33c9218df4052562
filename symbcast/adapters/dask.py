"""Dask: arrays, whose number of rows is unknown where their chunks are ``nan``.

In: a size that Dask knows is that size. An axis with unknown chunks is one unknown size for each array and axis, the
same on every read: Dask's name of an array identifies its content, so equal names mean equal sizes. Arrays computed
from it, such as ``x + 1`` or ``x.T``, have names of their own, and Dask does not know that their sizes are related:
assume it where it is known. Chunks that are known on such an axis give a lower bound, in `assumptions`.

Out: sizes, and ``nan`` for an unknown size. Not supported: names, bounds, arithmetic, and unknowns that occur twice.

An answer is about whole arrays, and Dask itself follows no rule for these. While it builds a graph it refuses an
unknown size with a known one other than 0 and 1, until ``compute_chunk_sizes`` has been called. It combines arrays of
unknown sizes block by block, where blocks of size 1 are stretched one by one and a single block meets each block of the
other array: blocks of 1 and 2 rows and of 2 and 1 give 4 rows. Equal blocks give what the answer says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any
from weakref import WeakValueDictionary

import sympy

from symbcast.adapters.conversion import resolve_shapes, sizes_of
from symbcast.core.algebra.formulas import at_most
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.sympy_conversion import formula_to_sympy
from symbcast.core.algebra.terms import Dim
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, from_dim
from symbcast.errors import DimensionError

# The unknown size of an axis of an array, by the array's name: a name is the hash of what the array is computed from.
_unknowns: WeakValueDictionary[tuple[str, int], Unknown] = WeakValueDictionary()


def read(value: object) -> Shape:
    """Return the shape of an array of Dask, of its ``shape``, or of a sequence of sizes.

    >>> read((float("nan"), 4))
    Shape('(?, 4)')
    """
    return any_shape_of(_dims(value))


def read_dim(value: Any, unknowns: int = 0) -> Dim | None:
    """Return None: Dask's sizes are integers and ``nan``, which `symbcast.shape` reads without an adapter."""
    return None


def assumptions(*values: object) -> list[sympy.Basic]:
    """Return the lower bounds of unknown sizes: the sum of the chunks that Dask knows on their axis."""
    facts: dict[sympy.Basic, None] = {}
    for value in values:
        for dim, chunks in zip(_dims(value), getattr(value, "chunks", ()), strict=False):
            known = sum(int(size) for size in chunks if not isnan(size))
            if known and not isinstance(dim, int):
                facts[formula_to_sympy(at_most(known, dim))] = None
    return list(facts)


def write(shape: ShapeLike, *, assume: Assumptions = (), min_size: int = 0) -> tuple[int | float, ...]:
    """Return a shape as Dask has it: a tuple of sizes and ``nan``.

    Raises `DimensionError` for anything that Dask cannot express.

    >>> write("?, N", assume="N == 3")
    (nan, 3)
    """
    return write_all([shape], assume=assume, min_size=min_size)[0]


def write_all(
    shapes: Iterable[ShapeLike], *, assume: Assumptions = (), min_size: int = 0
) -> list[tuple[int | float, ...]]:
    """Return several shapes with shared labels and assumptions."""
    resolved = resolve_shapes(shapes, assume, min_size)
    resolved.refuse_others("Dask")
    uses = Counter(s for shape in resolved.shapes for d in shape.dims if not isinstance(d, int) for s in d.symbols())
    for s in resolved.domains:
        if uses[s] and resolved.bounds(s, "Dask") != (0, None):
            raise DimensionError(s, "Dask has no bounds of an unknown size", "omit the bound, and keep it here")
    return [tuple(_written(d, uses) for d in shape.dims) for shape in resolved.shapes]


def _dims(value: Any) -> Iterator[Dim]:
    dims = value if isinstance(value, (tuple, list)) else getattr(value, "shape", value)
    sizes = sizes_of(dims, value, "a shape of Dask", "pass an array of Dask, or its shape")
    name = getattr(value, "name", None)
    for axis, size in enumerate(sizes):
        yield _unknown(name, axis) if isinstance(name, str) and isnan(size) else from_dim(size, axis)


def _unknown(name: str, axis: int) -> Unknown:
    known = _unknowns.get((name, axis))
    if known is None:
        known = _unknowns[name, axis] = Unknown(f"?{axis}")
    return known


def _written(dim: Dim, uses: Counter[Any]) -> int | float:
    if isinstance(dim, int):
        return dim
    if not isinstance(dim, Unknown):
        raise DimensionError(dim, "a shape of Dask holds only sizes and nan", "write '?' for this axis")
    if uses[dim] > 1:
        raise DimensionError(dim, "in Dask each nan is a size of its own", "write another '?' for each axis")
    return float("nan")
