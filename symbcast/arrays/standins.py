"""Stand-ins for functions that cannot be dispatched, wherever modules hold them, for as long as a trace lasts.

They act in the context of a trace only: any other thread or task gets what the real function gives. What was put in is
put back whatever happens, also in modules that were loaded meanwhile.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from symbcast.arrays.dims import is_symbolic
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.paths.exploration import current
from symbcast.paths.real import Real
from symbcast.paths.size import Size

_lock = RLock()
_depth = 0
_put: list[tuple[ModuleType, str, Any]] = []
_STANDINS: dict[int, tuple[Any, Any]] = {}
"""The real function and its stand-in, by the identity of the real one."""


def stands_for(
    *functions: Any, is_ours: Callable[..., bool] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function of the real one and its arguments stand for some functions."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        for real in functions:
            _STANDINS[id(real)] = real, _standin(real, ours, is_ours or _has_symbolic)
        return ours

    return register


def _standin(real: Any, ours: Callable[..., Any], is_ours: Callable[..., bool]) -> Any:
    @wraps(real, updated=())
    def standin(*args: Any, **options: Any) -> Any:
        if current.get() is None or not is_ours(*args, **options):
            return real(*args, **options)
        return ours(real, *args, **options)

    return standin


def _has_symbolic(*args: Any, **options: Any) -> bool:
    return any(map(is_symbolic, args)) or any(map(is_symbolic, options.values()))


def is_one(*args: Any, **_: Any) -> bool:
    """Return whether the only argument, or one of a few, is an array, a size or a number of sizes."""
    return any(type(v) in _SYMBOLIC for v in args)


def are_sizes(*args: Any, **_: Any) -> bool:
    values = args[0] if len(args) == 1 and type(args[0]) in (list, tuple) else args
    return any(type(v) is Size for v in values)


_SYMBOLIC = (SymbolicArray, Size, Real)


_GLOBALS: dict[str, Any] = {}
"""What stands for names of Python's own in the modules of packages; Python's own modules keep the real ones."""


def stands_for_global(name: str, standin: Any) -> None:
    """Let something stand for a name of Python's own."""
    _GLOBALS[name] = standin


@contextmanager
def standing_in() -> Iterator[None]:
    """Put the stand-ins into all modules that hold the real functions, and the real ones back at the end."""
    global _depth  # noqa: PLW0603 - traces in several threads share what is put in
    with _lock:
        _depth += 1
        if _depth == 1:
            _put_in()
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _put_back()


def _modules() -> list[ModuleType]:
    return [m for n, m in list(sys.modules.items()) if isinstance(m, ModuleType) and not n.startswith("symbcast")]


_looked_at: WeakKeyDictionary[ModuleType, tuple[int, list[str]]] = WeakKeyDictionary()
"""The names in each module that hold a function which has a stand-in, and how many names it had then."""
_sizes: dict[int, int] = {}


def _put_in() -> None:
    modules = _modules()
    for module in modules:
        held = vars(module)
        for name in _names(module):
            found = _STANDINS.get(id(held.get(name)))
            if found is not None and found[0] is held[name]:
                _put.append((module, name, held[name]))
                held[name] = found[1]
        if module.__name__.partition(".")[0] not in _KEEP:
            for name, standin in _GLOBALS.items():
                if name not in held:
                    _put.append((module, name, _ABSENT))
                    held[name] = standin
    _sizes.update((id(m), len(vars(m))) for m in modules)


def _names(module: ModuleType) -> list[str]:
    """Return the names of a module that hold a real function; those of one that was looked at are not looked for."""
    held = vars(module)
    known = _looked_at.get(module)
    if known is None or known[0] != len(held):
        found = [n for n, v in list(held.items()) if id(v) in _STANDINS]
        known = _looked_at[module] = len(held), found
    return known[1]


_ABSENT = object()
_KEEP = frozenset({*sys.stdlib_module_names, "builtins", "numpy"}) - {"__main__"}


def _put_back() -> None:
    ours = {id(standin): (standin, real) for real, standin in _STANDINS.values()}
    changed = [m for m in _modules() if _sizes.get(id(m)) != len(vars(m))]
    for module, name, value in _put:
        if value is _ABSENT:
            vars(module).pop(name, None)
        else:
            vars(module)[name] = value
    _put.clear()
    _sizes.clear()
    for module in changed:  # those that were loaded, or took something in, meanwhile
        for name, value in list(vars(module).items()):
            found = ours.get(id(value))
            if found is not None and found[0] is value:
                vars(module)[name] = found[1]
