"""Clean JAX's caches after traces: remove entries that contain our sizes before they accumulate.

These entries are never used again, but JAX keeps a trace as long as its function lives, which for JAX's own functions
is forever. `jax.clear_caches` would remove them too, but also everything that the user has compiled.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary, ref

from symbcast.jax.dimension import Dimension

MAX_ENTRIES = 512
"""How many entries a cache may gain before those with sizes are removed; searching a cache takes time."""
MAX_DEPTH = 8
"""How deep keys are searched; sizes were found at a depth of 6."""

_kept: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""How many entries each cache had after its last search."""


def remove_entries() -> None:
    """Remove traces with our sizes from those caches of JAX that have gained many entries.

    Traces of the same functions with concrete shapes are removed too; compiled code stays. If JAX cannot remove single
    entries (before 0.9), its whole trace cache is cleared, but no compiled code.
    """
    from jax._src import util

    for cache in list(util._caches):
        if not hasattr(cache, "cache_keys") or cache.cache_info().currsize - _kept.get(cache, 0) <= MAX_ENTRIES:
            continue
        if hasattr(cache, "evict_weakref"):
            _evict(cache)
        else:
            cache.cache_clear()
        _kept[cache] = cache.cache_info().currsize


def _evict(cache: Any) -> None:
    functions = {}
    for of, _, *arguments in cache.cache_keys():
        function = of() if isinstance(of, ref) else None
        if function is not None and id(function) not in functions and _has_size(arguments, MAX_DEPTH, set()):
            functions[id(function)] = function
    for function in functions.values():
        cache.evict_weakref(function)


_LEAVES = (str, bytes, int, float, type, FunctionType, CodeType, ModuleType, partial)


def _has_size(values: Iterable[Any], depth: int, seen: set[int]) -> bool:
    """Return whether values contain a size; search all referents, as keys have many types, some of them compiled."""
    for value in values:
        if type(value) is Dimension:
            return True
        if depth and id(value) not in seen and not isinstance(value, _LEAVES):
            seen.add(id(value))
            if _has_size(gc.get_referents(value), depth - 1, seen):
                return True
    return False
