"""Sizes by name, read by symbol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


class SizesBySymbol(Mapping["Symbol", int]):
    """Sizes by name as sizes by symbol, without a copy: a program has many findings, each with sizes for all names."""

    def __init__(self, names: Mapping[Symbol, str], sizes: Mapping[str, int]) -> None:
        self._names = names
        self._sizes = sizes

    def __getitem__(self, symbol: Symbol) -> int:
        return self._sizes[self._names[symbol]]

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
