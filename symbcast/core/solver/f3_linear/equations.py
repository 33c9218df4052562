"""Equations that determine a size: solved for it, substituted along chains, or set aside as its definition."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from symbcast.core.algebra.formulas import (
    FALSE,
    Comparison,
    Compatible,
    Formula,
    at_most,
    clauses,
    equal,
    is_total,
    literals,
    with_values,
)
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, constant, term
from symbcast.core.solver.evaluation import normal_conjuncts, replace_in_formula, size_at, symbols_in
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple


def solved_for(literal: Formula, symbol: Symbol, *, is_defined: bool = False) -> Term | None:
    """Return the value that an equation gives a symbol, if it is defined everywhere, or ``is_defined`` by others."""
    if not isinstance(literal, Comparison) or literal.operator != "==":
        return None
    if not is_defined and not is_total(literal):
        return None
    difference = _difference(literal)
    coefficient = difference.coefficients.get((symbol,), 0)
    # With another coefficient the value would be a quotient, which need not be whole.
    if abs(coefficient) != 1:
        return None
    others = {monomial: -coefficient * c for monomial, c in difference.coefficients.items()}
    del others[(symbol,)]
    rest = Term(others)
    return None if not difference.is_sum_of_symbols and symbol in rest.symbols() else rest


def can_fall_below_0(literal: Formula, symbol: Symbol) -> bool:
    """Return whether an equation may clearly give a symbol a negative value, because it subtracts another symbol."""
    if not isinstance(literal, Comparison) or literal.operator != "==":
        return False
    coefficient = _difference(literal).coefficients.get((symbol,), 0)
    return coefficient != 0 and _signs(literal)[coefficient > 0] > 1


@lru_cache(maxsize=1024)
def _signs(equation: Comparison) -> tuple[int, int]:
    """Return the number of symbols that an equation subtracts and adds."""
    signs = [
        c > 0 for m, c in _difference(equation).coefficients.items() if len(m) == 1 and not isinstance(m[0], Operation)
    ]
    return signs.count(False), signs.count(True)


@lru_cache(maxsize=1024)
def _difference(equation: Comparison) -> Term:
    """Return the left side minus the right side; called for each of its symbols."""
    return term(equation.left) - term(equation.right)


# Symbols that an equation determines from at most one other symbol, replaced by their values.
#
# A long chain of such equations leaves a single symbol, and fixed sizes leave none: then no search is needed. No
# solver detects this as quickly.


_USERS_AT_MOST = 32


class SubstitutionResult(NamedTuple):
    """The remaining formulas, and the values of the removed symbols, each in terms of symbols removed later."""

    formulas: list[Formula]
    gone: list[tuple[Symbol, Dim]]

    def completed(self, sizes: Mapping[Symbol, int]) -> dict[Symbol, int]:
        """Return sizes extended by those of the removed symbols."""
        completed = dict(sizes)
        for symbol, value in reversed(self.gone):
            completed[symbol] = value if isinstance(value, int) else size_at(value, completed)
        return completed


def substitute_equations(formulas: Iterable[Formula]) -> SubstitutionResult:
    """Return formulas in fewer symbols that hold together exactly where the given ones do.

    >>> from symbcast.core.text import parse_formula
    >>> chain = [parse_formula(f) for f in ("b == a + 1", "c == 2*b", "c <= 8")]
    >>> substitute_equations(chain).formulas
    [Comparison('<=', 2*b, 8), Comparison('<=', 0, b - 1)]
    """
    run = _Run()
    for formula in normal_conjuncts(formulas):
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

    def result(self) -> SubstitutionResult:
        while self.equations and not self.is_impossible:
            number = self.equations.pop()
            if number in self.formulas:
                self._take_out(number)
        return SubstitutionResult([FALSE] if self.is_impossible else list(self.formulas.values()), self.gone)

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
        changed: list[Formula] = [] if value.is_at_least(0) else [at_most(0, dim)]
        for number in list(self.users[symbol]):
            changed.append(replace_in_formula(self.formulas[number], {symbol: dim}))
            self._drop(number)
        for formula in normal_conjuncts(changed):
            self.add(formula)

    def _drop(self, number: int) -> None:
        for symbol in symbols_in(self.formulas.pop(number)):
            del self.users[symbol][number]


# Equations that merely define a symbol, set aside before the rest is decided.
#
# If a symbol occurs in only one formula and that formula defines it, the formula can be satisfied or broken whatever
# the other sizes are. So the condition needs it, but it does not constrain the rest. Setting it aside may reveal
# another such symbol: a long chain of definitions leaves nothing to decide. That two sizes differ defines one of them
# as well: the other one and 1 more will do. A join of sizes has a value only where they broadcast: it defines a symbol
# if another formula requires that of them.


class Definition(NamedTuple):
    """An equation, and the symbol that it defines."""

    symbol: Symbol
    formula: Formula


def set_aside(
    formulas: Sequence[Formula], assumptions: Iterable[Formula], domains: Mapping[Symbol, SizeSet]
) -> tuple[list[Definition], list[Formula]]:
    """Return the definitions among formulas, each before those of the sizes that it mentions, and the other formulas.

    >>> from symbcast.core.solver.size_sets import ALL
    >>> from symbcast.core.text import parse_formula
    >>> chain = [parse_formula(f) for f in ("b == a + 1", "c == 2*b", "c <= 8", "d == c//2")]
    >>> definitions, others = set_aside(chain, [], dict.fromkeys(symbols_in(chain[0]) | symbols_in(chain[3]) , ALL))
    >>> definitions, others == chain[:3]
    ([Definition(symbol=d, formula=Comparison('==', d, c//2))], True)
    """
    tied = {s for f in assumptions for s in symbols_in(f)}
    numbered = dict(enumerate(formulas))
    equations = {n for n, f in numbered.items() if isinstance(f, Comparison)}
    defining = satisfiable_last(numbered, tied, domains, equations, _with_joins_required(formulas))
    definitions = [Definition(symbol, formulas[n]) for n, symbol in defining.items()]
    return definitions, [f for n, f in numbered.items() if n not in defining]


def satisfiable_last(
    formulas: Mapping[int, Formula],
    tied: Container[Symbol],
    domains: Mapping[Symbol, SizeSet],
    among: Container[int] | None = None,
    defined: Container[Formula] = (),
) -> dict[int, Symbol]:
    """Return the formulas that one of their symbols can satisfy whatever the other sizes are, with that symbol.

    No later or remaining formula mentions the symbol. So sizes at which all of those hold can be changed in that symbol
    so that the formula also holds. ``tied`` are symbols that others constrain, and ``among`` are the formulas to choose
    from. Terms of the ``defined`` ones are defined where the formulas not among those hold.
    """
    symbols = {n: tuple(symbols_in(f)) for n, f in formulas.items()}
    users: dict[Symbol, set[int]] = {}
    for number, mentioned in symbols.items():
        for symbol in mentioned:
            users.setdefault(symbol, set()).add(number)
    # Setting one formula aside may leave a symbol to one other formula, which is then ready too.
    ready = [s for s, numbers in users.items() if len(numbers) == 1 and s not in tied]
    last_users: dict[int, Symbol] = {}
    while ready:
        symbol = ready.pop()
        last = next(iter(users[symbol]), None)
        if last is None or not (among is None or last in among):
            continue
        if not can_be_satisfied(formulas[last], symbol, domains, is_defined=formulas[last] in defined):
            continue
        last_users[last] = symbol
        for other in symbols[last]:
            users[other].discard(last)
            if len(users[other]) == 1 and other not in tied:
                ready.append(other)
    return last_users


def _with_joins_required(formulas: Sequence[Formula]) -> set[Formula]:
    """Return the comparisons whose terms are defined everywhere but for joins that other formulas require."""
    users: dict[Dim, set[int]] = {}
    for number, formula in enumerate(formulas):
        for dim in formula.dims if isinstance(formula, Compatible) else ():
            users.setdefault(dim, set()).add(number)

    def is_required(need: Formula) -> bool:
        return isinstance(need, Compatible) and bool(set.intersection(*(users.get(d, set()) for d in need.dims)))

    partial = (f for f in formulas if users and isinstance(f, Comparison) and not is_total(f))
    return {f for f in partial if all(is_required(need) for need in clauses(with_values(f)) if need != f)}


def can_be_satisfied(
    clause: Formula, symbol: Symbol, domains: Mapping[Any, SizeSet], *, is_defined: bool = False
) -> bool:
    """Return whether, whatever the other sizes are, this symbol has a size at which the clause holds.

    True only in clear cases: an alternative gives the symbol's value, and the symbol may have that value. A term that
    is not defined everywhere gives none, unless the clause ``is_defined`` by others.
    """
    for literal in literals(clause):
        solved = None if can_fall_below_0(literal, symbol) else _value(literal, symbol, is_defined)
        least = None if solved is None else _least(solved, domains)
        if least is not None and least >= 0 and SizeSet.interval(least, None) <= domains.get(symbol, ALL):
            return True
    return False


def _value(literal: Formula, symbol: Symbol, is_defined: bool) -> Term | None:
    """Return a value of a symbol at which a literal holds, if it is defined everywhere or ``is_defined`` there."""
    if isinstance(literal, Comparison) and literal.operator == "!=":
        other = _value(equal(literal.left, literal.right), symbol, is_defined)
        return None if other is None else other + constant(1)
    return solved_for(literal, symbol, is_defined=is_defined)


def _least(value: Term, domains: Mapping[Any, SizeSet]) -> int | None:
    """Return a lower bound of a term over the domains, None if none is found."""
    total = 0
    for monomial, coefficient in value.coefficients.items():
        bounds = [a.lower_bound if isinstance(a, Operation) else domains.get(a, ALL).least() for a in monomial]
        known = [bound for bound in bounds if bound is not None and bound >= 0]
        if (coefficient < 0 and monomial) or len(known) < len(bounds):
            return value.lower_bound
        total += coefficient * prod(known)
    return total


def with_defined_sizes(definitions: Sequence[Definition], sizes: Mapping[Symbol, int]) -> dict[Symbol, int]:
    """Return sizes extended by the symbols of definitions, as `set_aside` returned them."""
    extended = dict(sizes)
    for symbol, formula in reversed(definitions):
        value = _value(formula, symbol, is_defined=True)
        assert value is not None
        extended[symbol] = size_at(value.dim(), extended)
    return extended
