"""Modules as traced code sees them: the real module, except for functions that have stand-ins."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

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
        found = getattr(real_module(self), name)
        return object.__getattribute__(self, _OF)(found)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(real_module(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(real_module(self), name)

    def __dir__(self) -> list[str]:
        return dir(real_module(self))

    def __eq__(self, other: object) -> bool:
        return other is self or other is real_module(self)

    def __hash__(self) -> int:
        return hash(real_module(self))


def real_module(proxy: ProxyModule) -> ModuleType:
    """Return the real module behind a proxy."""
    found: ModuleType = object.__getattribute__(proxy, _REAL)
    return found
