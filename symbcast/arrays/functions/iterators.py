"""NumPy's iterators over the indices of arrays: one symbolic index for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symbcast.arrays.functions.replacements import STANDINS
from symbcast.arrays.loops.repeated import Sequence
from symbcast.arrays.symbolic.dims import as_dims, dims_of, dtype_of, here
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply, subtract
from symbcast.core.logic.formulas import Formula, at_most
from symbcast.operators.context import Dims
from symbcast.paths.values.size import dim_of, sized


@STANDINS.stands_for(np.ndindex)
def ndindex(real: Any, *shape: Any) -> Any:
    return _indices(as_dims(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape))


@STANDINS.stands_for(np.ndenumerate)
def ndenumerate(real: Any, arr: Any) -> Any:
    places = _indices(dims_of(arr))
    return Sequence(places.count, lambda index: (places.take(index), SymbolicArray((), dtype_of(arr))), places.facts)


def _indices(dims: Dims) -> Sequence:
    """Return all indices of an array of a shape, in order."""
    path = here()

    def places(index: Any) -> list[Any]:
        found = []
        for number, dim in enumerate(dims):
            place = floor_divide(index, multiply(*dims[number + 1 :]))
            found.append(modulo(place, dim) if number else place)
        return found

    def facts(index: Any) -> Iterator[Formula]:
        for place, dim in zip(places(index), dims, strict=True):
            yield at_most(0, place)
            yield at_most(place, subtract(dim, 1))

    def take(index: Any) -> tuple[Any, ...]:
        return tuple(sized(place, path) for place in places(dim_of(index)))

    return Sequence(multiply(*dims), take, facts)
