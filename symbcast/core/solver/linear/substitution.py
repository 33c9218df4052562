"""Symbols that an equation determines from at most one other symbol, replaced by their values.

A long chain of such equations leaves a single symbol, and fixed sizes leave none: then no search is needed. No solver
detects this as quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.logic.formulas import FALSE, Comparison, Formula, at_most
from symbcast.core.solver.evaluation.equations import solved_for
from symbcast.core.solver.evaluation.evaluation import size_at
from symbcast.core.solver.groups.normal_form import flattened, put_in, symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim, Term

_USERS_AT_MOST = 32


class Substituted(NamedTuple):
    """The remaining formulas, and the values of the removed symbols, each in terms of symbols removed later."""

    formulas: list[Formula]
    gone: list[tuple[Symbol, Dim]]

    def completed(self, sizes: Mapping[Symbol, int]) -> dict[Symbol, int]:
        """Return sizes extended by those of the removed symbols."""
        found = dict(sizes)
        for symbol, value in reversed(self.gone):
            found[symbol] = value if isinstance(value, int) else size_at(value, found)
        return found


def substituted(formulas: Iterable[Formula]) -> Substituted:
    """Return formulas in fewer symbols that hold together exactly where the given ones do.

    >>> from symbcast.core.text import parse_formula
    >>> chain = [parse_formula(f) for f in ("b == a + 1", "c == 2*b", "c <= 8")]
    >>> substituted(chain).formulas
    [Comparison('<=', 2*b, 8), Comparison('<=', 0, b - 1)]
    """
    run = _Run()
    for formula in flattened(formulas):
        run.add(formula)
    return run.result()


class _Run:
    def __init__(self) -> None:
        self.formulas: dict[int, Formula] = {}
        self.users: dict[Symbol, dict[int, None]] = {}
        self.equations: list[int] = []
        self.gone: list[tuple[Symbol, Dim]] = []
        self.count = 0
        self.is_impossible = False

    def add(self, formula: Formula) -> None:
        self.is_impossible = self.is_impossible or formula == FALSE
        self.formulas[self.count] = formula
        for symbol in symbols_in(formula):
            self.users.setdefault(symbol, {})[self.count] = None
        if isinstance(formula, Comparison) and formula.operator == "==":
            self.equations.append(self.count)
        self.count += 1

    def result(self) -> Substituted:
        while self.equations and not self.is_impossible:
            number = self.equations.pop()
            if number in self.formulas:
                self._take_out(number)
        return Substituted([FALSE] if self.is_impossible else list(self.formulas.values()), self.gone)

    def _take_out(self, number: int) -> None:
        """Substitute the value that an equation gives a symbol, if it is short."""
        symbols = list(symbols_in(self.formulas[number]))
        if len(symbols) > 2:
            return
        for symbol in sorted(symbols, key=lambda s: len(self.users[s])):
            value = solved_for(self.formulas[number], symbol)
            if value is not None and len(self.users[symbol]) <= _USERS_AT_MOST:
                self._drop(number)
                self._replace(symbol, value)
                return

    def _replace(self, symbol: Symbol, value: Term) -> None:
        dim = value.dim()
        self.gone.append((symbol, dim))
        least = value.lower_bound
        changed: list[Formula] = [] if least is not None and least >= 0 else [at_most(0, dim)]
        for number in list(self.users[symbol]):
            changed.append(put_in(self.formulas[number], {symbol: dim}))
            self._drop(number)
        for formula in flattened(changed):
            self.add(formula)

    def _drop(self, number: int) -> None:
        for symbol in symbols_in(self.formulas.pop(number)):
            del self.users[symbol][number]


def remaining(symbols: Sequence[Symbol], found: Substituted) -> tuple[Symbol, ...]:
    """Return the symbols that were not substituted, in order."""
    gone = {symbol for symbol, _ in found.gone}
    return tuple(s for s in symbols if s not in gone)
