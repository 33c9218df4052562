"""Equations that merely define a symbol, set aside before the rest is decided.

If a symbol occurs in only one formula and that formula defines it, the formula can be satisfied or broken whatever the
other sizes are. So the condition needs it, but it does not constrain the rest. Setting it aside may reveal another such
symbol: a long chain of definitions leaves nothing to decide. That two sizes differ defines one of them as well: the
other one and 1 more will do. A join of sizes has a value only where they broadcast: it defines a symbol if another
formula requires that of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.terms import Operation, Term, constant
from symbcast.core.logic.definedness import with_values
from symbcast.core.logic.formulas import Comparison, Compatible, Formula, clauses, equal, literals
from symbcast.core.solver.evaluation.equations import can_fall_below_0, solved_for
from symbcast.core.solver.evaluation.evaluation import may_be_undefined, size_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import ALL, SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim


class Definition(NamedTuple):
    """An equation, and the symbol that it defines."""

    symbol: Symbol
    formula: Formula


def set_aside(
    formulas: Sequence[Formula], assumptions: Iterable[Formula], domains: Mapping[Symbol, SizeSet]
) -> tuple[list[Definition], list[Formula]]:
    """Return the definitions among formulas, each before those of the sizes that it mentions, and the other formulas.

    >>> from symbcast.core.solver.sets.size_sets import ALL
    >>> from symbcast.core.text import parse_formula
    >>> chain = [parse_formula(f) for f in ("b == a + 1", "c == 2*b", "c <= 8", "d == c//2")]
    >>> definitions, others = set_aside(chain, [], dict.fromkeys(symbols_in(chain[0]) | symbols_in(chain[3]) , ALL))
    >>> definitions, others == chain[:3]
    ([Definition(symbol=d, formula=Comparison('==', d, c//2))], True)
    """
    tied = {s for f in assumptions for s in symbols_in(f)}
    numbered = dict(enumerate(formulas))
    equations = {n for n, f in numbered.items() if isinstance(f, Comparison)}
    found = met_last(numbered, tied, domains, equations, _with_joins_required(formulas))
    definitions = [Definition(symbol, formulas[n]) for n, symbol in found.items()]
    return definitions, [f for n, f in numbered.items() if n not in found]


def met_last(
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
    ready = [s for s, numbers in users.items() if len(numbers) == 1 and s not in tied]
    found: dict[int, Symbol] = {}
    while ready:
        symbol = ready.pop()
        last = next(iter(users[symbol]), None)
        if last is None or not (among is None or last in among):
            continue
        if not can_be_met(formulas[last], symbol, domains, is_defined=formulas[last] in defined):
            continue
        found[last] = symbol
        for other in symbols[last]:
            users[other].discard(last)
            if len(users[other]) == 1 and other not in tied:
                ready.append(other)
    return found


def _with_joins_required(formulas: Sequence[Formula]) -> set[Formula]:
    """Return the comparisons whose terms are defined everywhere but for joins that other formulas require."""
    users: dict[Dim, set[int]] = {}
    for number, formula in enumerate(formulas):
        for dim in formula.dims if isinstance(formula, Compatible) else ():
            users.setdefault(dim, set()).add(number)

    def is_required(need: Formula) -> bool:
        return isinstance(need, Compatible) and bool(set.intersection(*(users.get(d, set()) for d in need.dims)))

    partial = (f for f in formulas if users and isinstance(f, Comparison) and may_be_undefined(f))
    return {f for f in partial if all(is_required(need) for need in clauses(with_values(f)) if need != f)}


def can_be_met(clause: Formula, symbol: Symbol, domains: Mapping[Any, SizeSet], *, is_defined: bool = False) -> bool:
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


def completed(definitions: Sequence[Definition], sizes: Mapping[Symbol, int]) -> dict[Symbol, int]:
    """Return sizes extended by the symbols of definitions, as `set_aside` returned them."""
    found = dict(sizes)
    for symbol, formula in reversed(definitions):
        value = _value(formula, symbol, is_defined=True)
        assert value is not None
        found[symbol] = size_at(value.dim(), found)
    return found
