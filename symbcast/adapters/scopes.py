"""The sizes of a framework's scopes, and our symbols for them."""

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
    """A size of one scope of a framework; the same name in another scope is a different size.

    Its name in text refers to it unless another size has that name.
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
    """The symbol of each name in each scope of a framework, kept as long as the scope lives."""

    def __init__(self) -> None:
        self._symbols: WeakKeyDictionary[Any, dict[str, Symbol]] = WeakKeyDictionary()

    def symbol(self, scope: Any, name: str) -> Symbol:
        """Return the symbol of a name in a scope, the same one on every call."""
        known = self._symbols.setdefault(scope, {})
        if name not in known:
            known[name] = read_symbol(ScopedSymbol(name))
        return known[name]

    def __contains__(self, named: tuple[Any, str]) -> bool:
        scope, name = named
        return name in self._symbols.get(scope, {})

    def record(self, scope: Any, names: Mapping[Symbol, str]) -> None:
        """Record the symbols that a scope was written from, so that reading it returns them."""
        self._symbols.setdefault(scope, {}).update({name: symbol for symbol, name in names.items()})
