"""Results of ufuncs: their dtypes, and the output arrays passed in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbcast.arrays.symbolic.symbolic_array import SymbolicArray


def given_back(outs: tuple[Any, ...], *found: SymbolicArray) -> Any:
    """Return the output arrays that were passed in, or else the results."""
    whole = [o if o is not None else f for o, f in zip(outs or (None,) * len(found), found, strict=True)]
    return whole[0] if len(whole) == 1 else tuple(whole)


def resolved(ufunc: Any, dtypes: tuple[Any, ...], dtype: Any) -> Any:
    """Return the dtypes of the results. Raises `TypeError` as the ufunc does."""
    if dtype is not None:
        return (np.dtype(dtype),) * ufunc.nout
    return _resolved_of(ufunc, dtypes)


@lru_cache(maxsize=4096)
def _resolved_of(ufunc: Any, dtypes: tuple[Any, ...]) -> Any:
    given = [d if isinstance(d, np.dtype) or d in (int, float, complex) else np.dtype(d) for d in dtypes]
    if all(not isinstance(g, np.dtype) for g in given):
        given = [np.dtype(g) for g in given]
    try:
        found: tuple[Any, ...] = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))
    except (AttributeError, NotImplementedError):
        found = (*given, *(_example(ufunc, given).dtype,) * ufunc.nout)
    return found[len(dtypes) :]


def _example(ufunc: Any, dtypes: Sequence[Any]) -> Any:
    return np.asarray(ufunc(*(np.ones((), d) for d in dtypes)))


def known_type(dtype: Any) -> Any:
    return np.dtype(dtype)
