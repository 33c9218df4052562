"""Bounds of terms over all sizes from 0 on, and quotients by sums that are constant there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.core.algebra.bounds import exact_quotient
from symbcast.core.algebra.lower_bounds import lower_bound
from symbcast.core.algebra.operations import operate
from symbcast.core.algebra.terms import Operation, Term, collect, constant, term

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Atom


def factors(value: Term) -> list[Atom]:
    """Return the candidate factors of a sum: all atoms of its summands."""
    return list(dict.fromkeys(atom for monomial in value.coefficients for atom in monomial))


def divisors(value: Term) -> Iterator[int]:
    """Yield the constant divisors in a term, at every depth."""
    for atom in value.operations():
        if atom.kind in ("//", "%") and atom.args[1].is_constant and atom.args[1].constant > 0:
            yield atom.args[1].constant
        for arg in atom.args:
            yield from divisors(arg)


def cancelled(value: Term) -> Term:
    """Return a term without quotients by sums that are known to be constant at all sizes from 0 on.

    >>> from symbcast.core.text import parse_dim
    >>> cancelled(parse_dim("(8*k + 16)//(k + 2)")), cancelled(parse_dim("(8*k + 21) % (2*k + 5)"))
    (8, 1)
    """
    return rebuilt(value, _cancelled_operation)


def rebuilt(value: Term, change: Callable[[Operation], Term]) -> Term:
    """Return a term with a function applied to its operations."""
    parts = []
    for monomial, coefficient in value.coefficients.items():
        product = constant(1)
        for atom in monomial:
            product *= change(atom) if isinstance(atom, Operation) else atom
        parts.append((product, coefficient))
    return collect(parts)


@lru_cache(maxsize=4096)
def _cancelled_operation(atom: Operation) -> Term:
    args = tuple(map(cancelled, atom.args))
    if atom.kind in ("//", "%") and not args[1].is_constant and is_at_least(args[1], 1):
        quotient = _quotient(*args)
        if quotient is not None:
            return quotient if atom.kind == "//" else args[0] - quotient * args[1]
    return operate(atom.kind, args)


def _quotient(above: Term, below: Term) -> Term | None:
    """Return the quotient of two terms, rounded down, if it is exact or constant; None otherwise."""
    exact = exact_quotient((above.dim(),), (below.dim(),))
    if exact is not None:
        return term(exact)
    for monomial, number in below.coefficients.items():
        if monomial and monomial in above.coefficients:
            most = above.coefficients[monomial] // number
            for times in (most, most - 1):
                rest = above - below.scaled(times)
                if is_at_least(rest, 0) and is_at_least(below - rest, 1):
                    return constant(times)
    return None


def is_at_least(value: Term, number: int) -> bool:
    """Return whether a sum or product is known to be at least ``number`` at all sizes from 0 on."""
    low = lower_bound(value)
    if low is not None and low >= number:
        return True
    offset = min(0, value.constant)
    rest, product = value - constant(offset), 1
    for atom in factors(rest):
        quotient, least = exact_quotient((rest.dim(),), (atom,)), lower_bound(atom)
        if quotient is not None and least is not None and least >= 1:
            rest, product = term(quotient), product * least
    low = lower_bound(rest)
    return low is not None and low >= 0 and low * product + offset >= number
