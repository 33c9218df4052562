"""What a dimension asks of the sizes in it: that all of it has a value, and that the value is not negative.

A term has no value where it divides by 0 or joins sizes that do not broadcast. A rule's constraints are about sizes,
so these come first: a formula says nothing of the sizes at which something in it has no value, and counts as false.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from symbcast.dims import Dim
from symbcast.formulas import AllOf, AnyOf, Compatible, Formula, all_of, any_of, at_most, different, dims_of
from symbcast.reading import term
from symbcast.terms import Atom, Operation, Term


@lru_cache(maxsize=16384)
def definedness(dim: Dim) -> tuple[Formula, ...]:
    """Return what must hold for a dimension to be a size: it is not negative, and all of it has a value.

    >>> from symbcast.dims import floordiv, symbol
    >>> N = symbol("N")
    >>> definedness(N + 1), definedness(N - 1)
    ((), (Comparison('<=', 0, N - 1),))
    """
    value = term(dim)
    found = dict.fromkeys(_operation_needs(value))
    if _may_be_negative(value):
        found[at_most(0, dim)] = None
    return tuple(found)


def with_values(formula: Formula) -> Formula:
    """Return a formula whose comparisons ask, besides, that all in them has a value: no divisor 0, every join defined.

    >>> from symbcast.dims import floordiv, symbol
    >>> N = symbol("N")
    >>> with_values(at_most(1, floordiv(7, N)))
    AllOf((Comparison('!=', N, 0), Comparison('<=', 1, floor(7/N))))
    """
    if isinstance(formula, AllOf):
        return all_of(map(with_values, formula.parts))
    if isinstance(formula, AnyOf):
        return any_of(map(with_values, formula.parts))
    needs = [need for dim in dims_of(formula) for need in _operation_needs(term(dim))]
    return all_of([*needs, formula]) if needs else formula


def _may_be_negative(value: Term) -> bool:
    bound = lower_bound(value)
    return bound is None or bound < 0


def _operation_needs(value: Term) -> Iterator[Formula]:
    for operation in value.operations():
        for arg in operation.args:
            yield from _operation_needs(arg)
        if operation.kind in ("//", "%") and not (lower_bound(operation.args[1]) or 0) > 0:
            yield different(operation.args[1].dim(), 0)
        if operation.kind == "join":
            yield Compatible(tuple(arg.dim() for arg in operation.args))
            yield from (at_most(0, arg.dim()) for arg in operation.args if _may_be_negative(arg))


@lru_cache(maxsize=16384)
def lower_bound(value: Term) -> int | None:
    """Return a lower bound of a term over sizes from 0 on, or None; sound, and exact for what shapes hold."""
    total = 0
    for monomial, coefficient in value.coefficients.items():
        low, high = 1, 1
        bounded = True
        for atom in monomial:
            atom_low, atom_high = _atom_bounds(atom)
            if atom_low is None or atom_low < 0:
                return None
            low *= atom_low
            bounded = bounded and atom_high is not None
            high *= atom_high or 0
        if coefficient < 0 and not bounded:
            return None
        total += coefficient * (low if coefficient > 0 else high)
    return total


def _atom_bounds(atom: Atom) -> tuple[int | None, int | None]:
    if not isinstance(atom, Operation):
        return 0, None
    lows = [lower_bound(arg) for arg in atom.args]
    known = [low for low in lows if low is not None]
    match atom.kind:
        case "//":
            positive = len(known) == 2 and known[0] >= 0 and known[1] >= 0
            return (0 if positive else None), None
        case "%":
            by = atom.args[1]
            if by.is_constant and by.constant > 0:
                return 0, by.constant - 1
            return (0 if len(lows) == 2 and lows[1] is not None and lows[1] >= 0 else None), None
        case "max":
            return (max(known) if known else None), None
        case _:
            return (min(known) if len(known) == len(lows) else None), None
