"""Clauses that depend on remainders only: with what period they repeat in each size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import lcm
from typing import NamedTuple

from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, term
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula, any_of, dims_of


class Part(NamedTuple):
    """A formula that implies a clause, and its period in each size; ``is_whole``: it is the clause."""

    formula: Formula
    periods: Mapping[Symbol, int]
    is_whole: bool


def periodic_part(clause: Formula) -> Part | None:
    """Return the alternatives of a clause that depend on remainders only; None if there are none.

    >>> from symbcast.core.text import parse_formula
    >>> from symbcast.core.program.sizes.names import Names
    >>> part = periodic_part(Names().bind_formula(parse_formula("H % 4 == W % 2 or H <= 3")))
    >>> [(str(s), period) for s, period in part.periods.items()], part.is_whole
    ([('H', 4), ('W', 2)], False)
    """
    parts = clause.parts if isinstance(clause, AnyOf) else (clause,)
    known = {part: _periods(part) for part in parts}
    kept = [part for part in parts if known[part] is not None]
    if not kept:
        return None
    found: dict[Symbol, int] = {}
    for part in kept:
        _merge(found, known[part] or {})
    return Part(any_of(kept), found, len(kept) == len(parts))


def _merge(found: dict[Symbol, int], more: Mapping[Symbol, int]) -> None:
    for s, period in more.items():
        found[s] = lcm(found.get(s, 1), period)


def _periods(formula: Formula) -> dict[Symbol, int] | None:
    """Return the period of a formula in each size; None if it is not periodic."""
    if not isinstance(formula, Comparison | AllOf | AnyOf):
        return None
    found: dict[Symbol, int] = {}
    for dim in dims_of(formula):
        own = {} if isinstance(dim, int) else _of_term(term(dim), 0)
        if own is None:
            return None
        _merge(found, own)
    return found


def _of_term(found: Term, modulus: int) -> dict[Symbol, int] | None:
    """Return the period of a term modulo a number in each size, of the term itself for 0; None if it has none."""
    periods: dict[Symbol, int] = {}
    for monomial in found.coefficients:
        for atom in monomial:
            own = _of_operation(atom, modulus) if isinstance(atom, Operation) else _of_size(atom, modulus)
            if own is None:
                return None
            _merge(periods, own)
    return periods


def _of_size(atom: Atom, modulus: int) -> dict[Symbol, int] | None:
    return {atom: modulus} if isinstance(atom, Symbol) and modulus else None


def _of_operation(operation: Operation, modulus: int) -> dict[Symbol, int] | None:
    divisor = operation.args[-1]
    if operation.kind not in ("//", "%") or not divisor.is_constant or divisor.constant < 1:
        return None
    if operation.kind == "%":
        return _of_term(operation.args[0], divisor.constant)
    return _of_term(operation.args[0], divisor.constant * modulus) if modulus else None


def divisors_in(clause: Formula, symbol: Symbol) -> Iterator[int]:
    """Yield the constant divisors of terms with a size in them."""
    pending: list[Term] = [term(d) for d in dims_of(clause) if not isinstance(d, int)]
    while pending:
        for operation in pending.pop().operations():
            pending.extend(operation.args)
            divisor = operation.args[-1]
            is_division = operation.kind in ("//", "%") and divisor.is_constant and divisor.constant > 0
            if is_division and symbol in operation.args[0].symbols():
                yield divisor.constant
