"""Stand-ins for functions that cannot be dispatched, wherever modules hold them, for as long as a trace lasts.

They act in the context of a trace only: any other thread or task gets what the real function gives. What was put in is
put back whatever happens, also in modules that were loaded meanwhile.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from symbcast.arrays.imports import imports_aside
from symbcast.paths.path import current

_ABSENT = object()
_KEEP = frozenset({*sys.stdlib_module_names, "builtins", "numpy"}) - {"__main__"}
"""Modules that keep the real names of Python's own."""


class StandIns:
    """What stands for functions of some packages while functions are traced.

    ``is_ours`` says of the arguments of a call whether the stand-in answers it; any other call gets the real function.
    """

    def __init__(self, is_ours: Callable[..., bool]) -> None:
        self._is_ours = is_ours
        self._lock = RLock()
        self._users: set[object] = set()
        self._standins: dict[int, tuple[Any, Any]] = {}
        """The real function and its stand-in, by the identity of the real one."""
        self._globals: dict[str, Any] = {}
        self._put: list[tuple[ModuleType, str, Any]] = []
        self._sizes: dict[int, int] = {}
        self._looked_at: WeakKeyDictionary[ModuleType, tuple[int, list[str]]] = WeakKeyDictionary()
        """The names in each module that hold a function which has a stand-in, and how many names it had then."""

    def stands_for(
        self, *functions: Any, is_ours: Callable[..., bool] | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Let a function of the real one and its arguments stand for some functions."""

        def register(ours: Callable[..., Any]) -> Callable[..., Any]:
            for real in functions:
                self._standins[id(real)] = real, _standin(real, ours, is_ours or self._is_ours)
            return ours

        return register

    def stands_for_global(self, name: str, standin: Any) -> None:
        """Let something stand for a name of Python's own, in the modules of packages but those of Python's own."""
        self._globals[name] = standin

    def of(self, function: Any) -> Any:
        """Return what stands for a function; itself, where nothing does."""
        found = self._standins.get(id(function))
        return found[1] if found is not None and found[0] is function else function

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Put the stand-ins into all modules that hold the real functions, and the real ones back at the end.

        Traces in several threads, and one within another, share what is put in.
        """
        user = object()
        try:
            with self._lock:
                self._users.add(user)
                if len(self._users) == 1:
                    self._put_in()
            with imports_aside(self._aside):
                yield
        finally:
            with self._lock:
                self._users.discard(user)
                if not self._users:
                    try:
                        self._put_back()
                    except BaseException:  # an interrupt, which must not leave the rest where it is
                        self._put_back()
                        raise

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Put the real functions back for as long as a module is loaded: it may take them for something else."""
        with self._lock:
            self._put_back()
            try:
                yield
            finally:
                if self._users:
                    self._put_in()

    def _put_in(self) -> None:
        modules = _modules()
        for module in modules:
            held = vars(module)
            for name in self._names(module):
                found = self._standins.get(id(held.get(name)))
                if found is not None and found[0] is held[name]:
                    self._put.append((module, name, held[name]))
                    held[name] = found[1]
            if self._globals and module.__name__.partition(".")[0] not in _KEEP:
                for name, standin in self._globals.items():
                    if name not in held:
                        self._put.append((module, name, _ABSENT))
                        held[name] = standin
        self._sizes.update((id(m), len(vars(m))) for m in modules)

    def _names(self, module: ModuleType) -> list[str]:
        """Return the names of a module that hold a real function; those of one that was looked at are kept."""
        held = vars(module)
        known = self._looked_at.get(module)
        if known is None or known[0] != len(held):
            found = [n for n, v in list(held.items()) if id(v) in self._standins]
            known = self._looked_at[module] = len(held), found
        return known[1]

    def _put_back(self) -> None:
        changed = [m for m in _modules() if self._sizes.get(id(m)) != len(vars(m))]
        while self._put:
            module, name, value = self._put[-1]
            if value is _ABSENT:
                vars(module).pop(name, None)
            else:
                vars(module)[name] = value
            self._put.pop()
        self._restore(changed)
        self._sizes.clear()

    def _restore(self, changed: Iterable[ModuleType]) -> None:
        """Put the real functions back into modules that were loaded, or took something in, meanwhile."""
        ours = {id(standin): (standin, real) for real, standin in self._standins.values()}
        for module in changed:
            for name, value in list(vars(module).items()):
                found = ours.get(id(value))
                if found is not None and found[0] is value:
                    vars(module)[name] = found[1]


def _standin(real: Any, ours: Callable[..., Any], is_ours: Callable[..., bool]) -> Any:
    @wraps(real, updated=())
    def standin(*args: Any, **options: Any) -> Any:
        if current.get() is None or not is_ours(*args, **options):
            return real(*args, **options)
        return ours(real, *args, **options)

    return standin


def _modules() -> list[ModuleType]:
    return [m for n, m in list(sys.modules.items()) if isinstance(m, ModuleType) and not n.startswith("symbcast")]
