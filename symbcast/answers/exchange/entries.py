"""JSON objects read member by member, with the position of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from symbcast.errors import ExchangeError, SymbcastError

_Value = TypeVar("_Value")


class Entry:
    """A JSON object whose members are read by key and kind."""

    def __init__(self, data: Any, place: str) -> None:
        if not isinstance(data, Mapping):
            raise ExchangeError(place, f"is {data!r:.40}, not an object")
        self.data = data
        self.place = place

    def get(self, key: str, kind: type | tuple[type, ...], words: str) -> Any:
        """Return a member of the given kind."""
        if key not in self.data:
            raise ExchangeError(self.place, f"has no {key!r}")
        value = self.data[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ExchangeError(f"{self.place}.{key}", f"is {value!r:.40}, not {words}")
        return value

    def text(self, key: str) -> Any:
        """Return a member that is text."""
        return self.get(key, str, "text")

    def int(self, key: str) -> int:
        """Return a member that is an integer."""
        found: int = self.get(key, int, "an integer")
        return found

    def list(self, key: str) -> list[Any]:
        """Return a member that is a list."""
        found: list[Any] = self.get(key, list, "a list")
        return found

    def read(self, key: str, reader: Callable[[], _Value]) -> _Value:
        """Return a reader's result for a member, or raise its error with the position."""
        try:
            return reader()
        except (SymbcastError, TypeError) as error:
            raise ExchangeError(f"{self.place}.{key}", str(error)) from error
