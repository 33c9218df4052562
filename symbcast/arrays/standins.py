"""Stand-ins for functions that cannot be dispatched, for as long as a trace lasts, where Python code reads them.

Compiled code must not get one: it casts what `numpy.empty` returns without a check. Compiled code reads `numpy.empty`
from the module `numpy`, so that module, and every other that compiled code shares, stays as it is. Stand-ins go into
the namespaces that Python code runs in: names of functions are bound to their stand-ins there, and names of shared
modules to a `ProxyModule`. Only in `builtins` are `len`, `min`, `max` and `__import__` replaced: the first three return
sizes, which compiled code can use through their methods only, and compiled code imports by other means.

Stand-ins act in the context of a trace only: any other thread or task gets what the real function gives. What was put
in is put back whatever happens, also in modules that were loaded meanwhile.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from importlib.machinery import BuiltinImporter, ExtensionFileLoader
from threading import RLock
from types import MethodType, ModuleType
from typing import Any

from symbcast.arrays.imports import imports_aside
from symbcast.arrays.proxies import ProxyModule, real_module
from symbcast.arrays.reach import Reach
from symbcast.paths.path import current

_ABSENT = object()
_KEEP = frozenset({*sys.stdlib_module_names, "builtins", "numpy"}) - {"__main__"}
"""Modules that keep the real names of Python's own."""
_SHARED = frozenset({"importlib", "math", "numpy.lib.stride_tricks", "operator"})
"""Modules in Python that compiled code reads functions from, as it reads them from NumPy's packages."""

Space = dict[str, Any]


class StandIns:
    """What stands for functions of some packages while functions are traced.

    ``is_ours`` says of the arguments of a call whether the stand-in answers it; any other call gets the real function.
    ``meet`` registers stand-ins for packages that were loaded since it was called last.
    """

    def __init__(self, is_ours: Callable[..., bool], meet: Callable[[StandIns], None] | None = None) -> None:
        self._is_ours = is_ours
        self._meet = meet
        self._lock = RLock()
        self._users: dict[object, Reach] = {}
        self._standins: dict[int, tuple[Any, Any]] = {}
        """The real function and its stand-in, by the identity of the real one."""
        self._kinds: dict[type, Callable[[Any], Any]] = {
            ModuleType: self._of_module,
            partial: self._of_partial,
            MethodType: self._of_method,
        }
        """What makes a stand-in for a value of a type."""
        self._wrappers: dict[type, Callable[[Any], Any]] = {ProxyModule: real_module}
        """What returns the real value behind a stand-in of a type."""
        self._globals: dict[str, Any] = {}
        self._proxies: dict[int, ProxyModule] = {}
        self._partials: dict[int, tuple[Any, Any]] = {}
        self._put: list[tuple[Space, str, Any, Any]] = []
        self._put_on: list[tuple[Any, str, Any]] = []
        self._sizes: dict[int, int] = {}
        self._looked_at: dict[str, tuple[int, int, list[str]]] = {}
        """Of each module which, how many names it had, and which of them hold something that has a stand-in."""
        self._known = 0

    def stands_for(
        self, *functions: Any, is_ours: Callable[..., bool] | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Let a function of the real one and its arguments stand for some functions."""

        def register(ours: Callable[..., Any]) -> Callable[..., Any]:
            for real in functions:
                self.stands_as(real, _standin(real, ours, is_ours or self._is_ours))
            return ours

        return register

    def stands_as(self, real: Any, standin: Any) -> None:
        """Let something stand for a function or a class."""
        self._standins[id(real)] = real, standin

    def stands_for_kind(self, kind: type, wrapper: type, real_of: Callable[[Any], Any]) -> None:
        """Let a wrapper, which is made of the real value, stand for every value of a type."""
        self._kinds[kind] = wrapper
        self._wrappers[wrapper] = real_of

    def stands_for_global(self, name: str, standin: Any) -> None:
        """Let something stand for a name of Python's own, in the modules of packages but those of Python's own."""
        self._globals[name] = standin

    def of(self, value: Any) -> Any:
        """Return what stands for a function, a module or a generator of random numbers; itself, where nothing does."""
        found = self._standins.get(id(value))
        if found is not None:
            return found[1] if found[0] is value else value
        make = self._kinds.get(type(value))
        return value if make is None else make(value)

    def real_of(self, value: Any) -> Any:
        """Return what something stands for; itself, where it stands for nothing."""
        unwrap = self._wrappers.get(type(value))
        if unwrap is not None:
            return unwrap(value)
        found = self._partials.get(id(value))
        return found[0] if found is not None and found[1] is value else value

    def _of_module(self, module: ModuleType) -> ModuleType:
        return self._proxies.get(id(module), module)

    def _of_partial(self, value: Any) -> Any:
        function, arguments = self.of(value.func), [self.of(a) for a in value.args]
        if function is value.func and all(a is b for a, b in zip(arguments, value.args, strict=True)):
            return value
        found = partial(function, *arguments, **value.keywords)
        self._partials[id(found)] = value, found
        return found

    def _of_method(self, method: Any) -> Any:
        owner = method.__self__
        return getattr(self.of(owner), method.__name__) if type(owner) in self._kinds else method

    @contextmanager
    def acting(self, reach: Reach | None = None) -> Iterator[None]:
        """Put the stand-ins where Python code reads the real functions, and the real ones back at the end.

        ``reach`` is what the function that is traced reads from, other than modules. Traces in several threads, and
        one within another, share what is put in.
        """
        user = object()
        try:
            with self._lock:
                self._users[user] = reach or Reach()
                if len(self._users) == 1:
                    self._put_in()
                else:
                    self._put_into(self._users[user])
            with imports_aside(self._aside):
                yield
        finally:
            with self._lock:
                left = self._users.pop(user, None)
                if not self._users:
                    try:
                        self._put_back([] if left is None else left.spaces)
                    except BaseException:  # an interrupt, which must not leave the rest where it is
                        self._put_back([])
                        raise

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Put the real functions back for as long as a module is loaded: it may take them for something else."""
        with self._lock:
            self._put_back([])
            try:
                yield
            finally:
                if self._users:
                    self._put_in()

    def _put_in(self) -> None:
        if self._meet is not None:
            self._meet(self)
        modules = _modules()
        self._find_shared(modules)
        for name, module in modules:
            if id(module) in self._proxies:
                continue
            held = vars(module)
            self._replace(held, self._names(name, module))
            if self._globals and name.partition(".")[0] not in _KEEP:
                for own, standin in self._globals.items():
                    if own not in held:
                        self._put.append((held, own, _ABSENT, standin))
                        held[own] = standin
        self._replace(vars(builtins), [n for n, v in vars(builtins).items() if id(v) in self._standins])
        for reach in self._users.values():
            self._put_into(reach)
        self._sizes.update((id(m), len(vars(m))) for _, m in modules)

    def _put_into(self, reach: Reach) -> None:
        for space in reach.spaces:
            self._replace(space, list(space))
        for owner, name in reach.places:
            value = getattr(owner, name)
            standin = self._of_each(value)
            if standin is not value:
                self._put_on.append((owner, name, value))
                setattr(owner, name, standin)

    def _of_each(self, value: Any) -> Any:
        """Return the stand-in of a value; of defaults, which are in a tuple or in a dict, those of each."""
        if type(value) is tuple:
            found: Any = tuple(map(self.of, value))
            return value if all(a is b for a, b in zip(found, value, strict=True)) else found
        if type(value) is dict:
            found = {k: self.of(v) for k, v in value.items()}
            return value if all(found[k] is v for k, v in value.items()) else found
        return self.of(value)

    def _replace(self, held: Space, names: Iterable[str]) -> None:
        for name in names:
            value = held.get(name)
            standin = self.of(value)
            if standin is not value:
                self._put.append((held, name, value, standin))
                held[name] = standin

    def _find_shared(self, modules: Iterable[tuple[str, ModuleType]]) -> None:
        """Make the proxies of modules that stay as they are, where they have something that has a stand-in."""
        known = len(self._standins) + len(self._kinds)
        if known != self._known:
            self._known = known
            self._looked_at.clear()
        count = len(self._proxies)
        for name, module in modules:
            is_new = name not in self._looked_at and id(module) not in self._proxies
            if is_new and _is_shared(name, module) and (_is_of_numpy(name) or self._holds_some(module)):
                self._proxies[id(module)] = ProxyModule(module, self.of)
        if len(self._proxies) > count:
            self._looked_at.clear()

    def _holds_some(self, module: ModuleType) -> bool:
        return any(self.of(v) is not v for v in list(vars(module).values()))

    def _names(self, name: str, module: ModuleType) -> list[str]:
        """Return the names in a module that hold something with a stand-in."""
        held = vars(module)
        known = self._looked_at.get(name)
        if known is None or known[:2] != (id(module), len(held)):
            found = [] if _is_compiled(module) else [n for n, v in list(held.items()) if self.of(v) is not v]
            known = self._looked_at[name] = id(module), len(held), found
        return known[2]

    def _put_back(self, own: Iterable[Space]) -> None:
        changed = [vars(m) for _, m in _modules() if self._sizes.get(id(m)) != len(vars(m))]
        while self._put:
            held, name, value, standin = self._put[-1]
            if held.get(name) is standin:
                if value is _ABSENT:
                    held.pop(name, None)
                else:
                    held[name] = value
            elif name in held:
                held[name] = self.real_of(held[name])
            self._put.pop()
        while self._put_on:
            owner, name, value = self._put_on[-1]
            setattr(owner, name, value)
            self._put_on.pop()
        self._restore([*changed, *own])
        self._sizes.clear()
        self._partials.clear()

    def _restore(self, changed: Iterable[Space]) -> None:
        """Put the real functions back into namespaces that took something in meanwhile."""
        ours = {id(standin): (standin, real) for real, standin in self._standins.values()}
        for held in changed:
            for name, value in list(held.items()):
                found = ours.get(id(value))
                real = found[1] if found is not None and found[0] is value else self.real_of(value)
                if real is not value:
                    held[name] = real


def _standin(real: Any, ours: Callable[..., Any], is_ours: Callable[..., bool]) -> Any:
    @wraps(real, updated=())
    def standin(*args: Any, **options: Any) -> Any:
        if current.get() is None or not is_ours(*args, **options):
            return real(*args, **options)
        return ours(real, *args, **options)

    return standin


def _modules() -> list[tuple[str, ModuleType]]:
    return [
        (n, m)
        for n, m in list(sys.modules.items())
        if isinstance(m, ModuleType) and n.partition(".")[0] != "symbcast" and n != "builtins"
    ]


def _is_shared(name: str, module: ModuleType) -> bool:
    """Return whether compiled code reads functions from a module, or it is compiled itself: it stays as it is."""
    return name in _SHARED or _is_of_numpy(name) or _is_compiled(module)


def _is_of_numpy(name: str) -> bool:
    """Return whether a module is a package of NumPy: these have functions of others, and no code that runs in them."""
    return name.partition(".")[0] == "numpy" and hasattr(sys.modules.get(name), "__path__")


def _is_compiled(module: ModuleType) -> bool:
    held = vars(module)
    spec = held.get("__spec__")
    if spec is None and "__file__" not in held and module.__name__ != "__main__":  # compiled code may make modules
        return not any(getattr(v, "__globals__", None) is held for v in list(held.values()))
    loader = getattr(spec, "loader", None)
    return loader is BuiltinImporter or isinstance(loader, ExtensionFileLoader)
