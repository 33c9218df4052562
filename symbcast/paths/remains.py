"""What traced code keeps: arrays without data and sizes without values in its caches, which no real call must find.

A function may keep results in a global name, in a dict, list or set of its module, in a default, in an attribute, or in
`functools.lru_cache`. Such places are copied before a trace. Where a trace leaves something symbolic in one, its state
from before the trace is restored; all other changes are effects of the function, and stay.
"""

from __future__ import annotations

import gc
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache, partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

MAX_PLACES = 2000
"""The maximum number of places to copy: a notebook may reach everything ever created there."""
MAX_ENTRIES = 4096
"""The maximum number of entries of a place that is copied: larger ones hold data, not results of calls."""
MAX_DEPTH = 3
"""How deep values are searched for something symbolic."""
_DICTS = (dict, OrderedDict, defaultdict)
_LISTS = (list, deque)
_CACHE: type = type(lru_cache(len))


@contextmanager
def without_remains(
    values: Iterable[Any], symbolic: tuple[type, ...], real_of: Callable[[Any], Any] = lambda value: value
) -> Iterator[None]:
    """Restore the places that can be reached from some values, in which a trace leaves something symbolic.

    ``symbolic`` are the types of values that mean something in a trace only, and ``real_of`` returns what a stand-in
    stands for.
    """
    before = list(_copies(values, partial(_is_symbolic, kinds=symbolic), real_of))
    try:
        yield
    finally:
        for restore in before:
            restore()


Symbolic = Callable[[Any], bool]


def _copies(
    values: Iterable[Any], is_symbolic: Symbolic, real_of: Callable[[Any], Any]
) -> Iterator[Callable[[], None]]:
    """Yield a function for each place, which restores it if necessary."""
    seen: set[int] = set()
    waiting = list(values)
    while waiting and len(seen) < MAX_PLACES:
        value = waiting.pop()
        kind = type(value)
        if id(value) in seen or kind in _PLAIN:
            continue
        seen.add(id(value))
        if kind in _DICTS or kind in _LISTS or kind is set:
            if len(value) > MAX_ENTRIES:
                continue
            copy = dict(value) if kind in _DICTS else list(value)
            yield partial(_restore, value, copy, is_symbolic, real_of)
            waiting += copy.values() if isinstance(copy, dict) else copy
        elif kind is _CACHE:
            yield partial(_clear, value, is_symbolic)
            waiting.append(value.__wrapped__)
        elif kind is CellType:
            with suppress(ValueError):  # an empty cell
                yield partial(_restore_cell, value, value.cell_contents, is_symbolic)
                waiting.append(value.cell_contents)
        else:
            waiting += _within(value, kind)


_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), range})
_PLAIN = _ATOMS | {tuple, frozenset, slice}


def _within(value: Any, kind: type) -> Iterator[Any]:
    """Yield what a function, a method, a class, a module or an object of a user's class may keep values in."""
    if kind is FunctionType:
        yield from value.__closure__ or ()
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
        yield value.__dict__
        if _is_of_user(value.__globals__.get("__name__"), value.__globals__.get("__file__")):
            yield value.__globals__
    elif kind is MethodType:
        yield from (value.__self__, value.__func__)
    elif kind is partial:
        yield from (value.func, *value.args, *value.keywords.values())
    elif kind is ModuleType:
        if _is_of_user(value.__name__, getattr(value, "__file__", None)):
            yield vars(value)
    elif isinstance(value, type):
        if _is_of_user_class(value):
            yield from list(vars(value).values())
    elif _is_of_user_class(kind):
        yield from (kind, getattr(value, "__dict__", None))


def _is_of_user_class(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return module is None or _is_of_user(kind.__module__, getattr(module, "__file__", None))


@cache
def _is_of_user(name: str | None, file: str | None) -> bool:
    """Return whether a module is the user's own: neither installed, nor of Python, nor of this package."""
    top = str(name).partition(".")[0]
    is_known = top != "__main__" and (top in sys.stdlib_module_names or top == "symbcast")
    return not is_known and "site-packages" not in str(file) and "dist-packages" not in str(file)


def _restore(place: Any, before: Any, is_symbolic: Symbolic, real_of: Callable[[Any], Any]) -> None:
    """Restore a dict, a list or a set if a value that it has got is symbolic; a stand-in becomes the real one."""
    new: Iterable[Any] = ()
    if isinstance(before, dict):
        changed = [k for k, v in place.items() if before.get(k, before) is not v]
        for key in changed:
            place[key] = real_of(place[key])
        new = [(key, place[key]) for key in changed]
    elif type(place) is set:
        new = place.difference(before)
    elif len(place) != len(before) or any(a is not b for a, b in zip(place, before, strict=True)):
        new = place
    if any(map(is_symbolic, new)):
        place.clear()
        (place.extend if type(place) in _LISTS else place.update)(before)


def _restore_cell(cell: CellType, before: Any, is_symbolic: Symbolic) -> None:
    with suppress(ValueError):  # the function has emptied it
        if cell.cell_contents is not before and is_symbolic(cell.cell_contents):
            cell.cell_contents = before


def _clear(cached: Any, is_symbolic: Symbolic) -> None:
    """Clear a cache in which a result or an argument is symbolic."""
    if cached.cache_info().currsize and any(map(is_symbolic, gc.get_referents(cached))):
        cached.cache_clear()


def _is_symbolic(value: Any, kinds: tuple[type, ...], depth: int = MAX_DEPTH) -> bool:
    """Return whether a value is symbolic or contains something symbolic."""
    kind = type(value)
    if issubclass(kind, kinds):
        return True
    if not depth or kind in _ATOMS or isinstance(value, (type, ModuleType, FunctionType)):
        return False
    return any(_is_symbolic(v, kinds, depth - 1) for v in gc.get_referents(value))
