"""Modules, functions and partial functions as traced code sees them: the real ones, except when they are called.

Code also uses functions as values: as keys, defaults, in comparisons, pickles and signatures. So a proxy is equal to
what it stands for, and has its hash, its attributes and its class. Only ``is``, ``id``, ``type`` and pickles tell them
apart: in the user's own code, `symbcast.arrays.loops.rewriting` replaces these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodType, ModuleType
from typing import Any

from symbcast.paths.path import current

_REAL = "_real_module_of_symbcast"
_OF = "_stand_in_of_symbcast"


class ProxyModule(ModuleType):
    """A module that reads and writes another one; ``of`` replaces values that are read by their stand-ins.

    It is used instead of a module that compiled code shares, such as ``numpy``, which itself is not changed.
    """

    def __init__(self, real: ModuleType, of: Callable[[Any], Any]) -> None:
        object.__setattr__(self, _REAL, real)
        object.__setattr__(self, _OF, of)

    def __getattribute__(self, name: str) -> Any:
        value = getattr(real_module(self), name)
        return object.__getattribute__(self, _OF)(value)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(real_module(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(real_module(self), name)

    def __dir__(self) -> list[str]:
        return dir(real_module(self))

    def __eq__(self, other: object) -> bool:
        return real_of(other) is real_module(self)

    def __hash__(self) -> int:
        return hash(real_module(self))


def real_module(proxy: ProxyModule) -> ModuleType:
    """Return the real module behind a proxy."""
    module: ModuleType = object.__getattribute__(proxy, _REAL)
    return module


class _MetaOfProxies(type):
    """The class of `ProxyFunction`: `inspect` takes it for a class written in C, whose objects have no signature."""

    def __getattribute__(cls, name: str) -> Any:
        return object.__init__ if name == "__call__" else super().__getattribute__(name)


class ProxyFunction(metaclass=_MetaOfProxies):
    """A function or class whose calls go to ``ours``, with the real one as first argument, if ``is_ours`` accepts them.

    It acts only in a trace: elsewhere, each call goes to the real function.
    """

    __slots__ = ("__weakref__", "_parts")

    def __init__(self, real: Any, ours: Callable[..., Any], is_ours: Callable[..., bool]) -> None:
        object.__setattr__(self, "_parts", (real, ours, is_ours))

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        real, ours, is_ours = _parts_of(self)
        if current.get() is None or not is_ours(*args, **options):
            return real(*args, **options)
        return ours(real, *args, **options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        is_bound = instance is not None and hasattr(type(_parts_of(self)[0]), "__get__")
        return MethodType(self, instance) if is_bound else self

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name) if name in _OWN else getattr(_parts_of(self)[0], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_parts_of(self)[0], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_parts_of(self)[0], name)

    def __dir__(self) -> list[str]:
        return dir(_parts_of(self)[0])

    def __repr__(self) -> str:
        return repr(_parts_of(self)[0])

    def __str__(self) -> str:
        return str(_parts_of(self)[0])

    def __eq__(self, other: object) -> bool:
        return bool(_parts_of(self)[0] == real_of(other))

    def __hash__(self) -> int:
        return hash(_parts_of(self)[0])

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, _parts_of(self)[0])

    def __subclasscheck__(self, kind: type) -> bool:
        return issubclass(kind, _parts_of(self)[0])

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (_parts_of(self)[0],)

    def __copy__(self) -> ProxyFunction:
        return self

    def __deepcopy__(self, memo: Any) -> ProxyFunction:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        path = current.get()
        if path is not None:
            # The pickler looks the function up by its name and compares: only other bytes can be written for a proxy.
            path.fail_to_trace(f"{_parts_of(self)[0].__name__} is pickled")
        return real_of, (_parts_of(self)[0],)


# Attributes that are the proxy's; it has all others of the real function.
_OWN = frozenset({"__call__", "__get__", "__copy__", "__deepcopy__", "__reduce_ex__"})
_parts_of: Callable[[ProxyFunction], tuple[Any, Callable[..., Any], Callable[..., bool]]]
_parts_of = vars(ProxyFunction)["_parts"].__get__


class ProxyPartial(partial[Any]):
    """A partial function of a stand-in, or with stand-ins for arguments; ``real`` is the partial function behind it."""

    real: Any

    def __eq__(self, other: object) -> bool:
        return bool(self.real == real_of(other))

    def __hash__(self) -> int:
        return hash(self.real)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return real_of, (self.real,)

    def __repr__(self) -> str:
        return repr(self.real)


# Functions that return the real value behind a stand-in, by the stand-in's type.
WRAPPERS: dict[type, Callable[[Any], Any]] = {
    ProxyModule: real_module,
    ProxyFunction: lambda proxy: _parts_of(proxy)[0],
    ProxyPartial: lambda proxy: proxy.real,
}


def real_of(value: Any) -> Any:
    """Return the real value behind a stand-in; the value itself if it is not a stand-in."""
    unwrap = WRAPPERS.get(type(value))
    return value if unwrap is None else unwrap(value)
