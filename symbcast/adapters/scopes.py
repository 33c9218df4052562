"""The sizes of a framework's scopes, and the symbols that stand for them here."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import sympy

from symbcast.core.algebra.door import read_symbol
from symbcast.core.algebra.symbols import Symbol

_numbers = count(1)


class ScopedSymbol(sympy.Dummy):
    """A size of one scope of a framework: another scope's size of that name is another size.

    Text means it by its name wherever no other size has that name.
    """

    def __new__(cls, name: str, number: int | None = None) -> ScopedSymbol:
        # Numbered by us, as `Unknown` is: the numbers sympy gives differ from run to run.
        fresh = next(_numbers) if number is None else number
        made: ScopedSymbol = super().__new__(cls, name, dummy_index=fresh, integer=True, nonnegative=True)
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.dummy_index), {}

    def _sympystr(self, printer: Any) -> str:
        return str(self.name)

    def _latex(self, printer: Any) -> str:
        return str(sympy.latex(sympy.Symbol(self.name)))


class Scopes:
    """For each scope of a framework, as long as it lives, the symbol that each name in it stands for."""

    def __init__(self) -> None:
        self._symbols: WeakKeyDictionary[Any, dict[str, Symbol]] = WeakKeyDictionary()

    def symbol(self, scope: Any, name: str) -> Symbol:
        """Return the symbol of a name in a scope: one and the same however often it is asked for."""
        known = self._symbols.setdefault(scope, {})
        if name not in known:
            known[name] = read_symbol(ScopedSymbol(name))
        return known[name]

    def __contains__(self, named: tuple[Any, str]) -> bool:
        scope, name = named
        return name in self._symbols.get(scope, {})

    def record(self, scope: Any, names: Mapping[Symbol, str]) -> None:
        """Note the symbols that a scope was written from, so that reading it gives them back."""
        self._symbols.setdefault(scope, {}).update({name: symbol for symbol, name in names.items()})
