"""Where a dimension is defined: all its parts have values, and its own value is not negative.

A term has no value where it divides by 0 or joins sizes that do not broadcast. A rule's constraints are about sizes,
so definedness comes first: where some part of a formula has no value, the formula is meaningless and counts as false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from symbcast.core.algebra.arithmetic import join_members
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, term
from symbcast.core.logic.formulas import (
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    at_most,
    different,
    dims_of,
    one_or_equal,
)


@lru_cache(maxsize=4096)
def definedness(dim: Dim) -> tuple[Formula, ...]:
    """Return the conditions for a dimension to be a size: it is not negative, and all its parts have values.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> definedness(N + 1), definedness(N - 1)
    ((), (Comparison('<=', 0, N - 1),))
    """
    value = term(dim)
    found = dict.fromkeys(_operation_needs(value, set()))
    if _may_be_negative(value):
        found[at_most(0, dim)] = None
    return tuple(found)


def with_values(formula: Formula) -> Formula:
    """Return a formula whose comparisons also require that their terms have values: no divisor is 0, joins are defined.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> with_values(at_most(1, floor_divide(7, N)))
    AllOf((Comparison('!=', N, 0), Comparison('<=', 1, 7//N)))
    """
    if isinstance(formula, AllOf):
        return all_of(map(with_values, formula.parts))
    if isinstance(formula, AnyOf):
        return any_of(map(with_values, formula.parts))
    if isinstance(formula, Comparison) and isinstance(formula.left, _PLAIN) and isinstance(formula.right, _PLAIN):
        return formula
    needs = needs_of(dims_of(formula))
    return all_of([*needs, formula]) if needs else formula


def needs_of(dims: Iterable[Dim]) -> list[Formula]:
    """Return the conditions for dimensions to have values: no divisor in them is 0, and their joins are defined."""
    seen: set[Operation] = set()
    return [need for dim in dims for need in _operation_needs(term(dim), seen)]


_PLAIN = (int, Symbol)


def _may_be_negative(value: Term) -> bool:
    bound = value.lower_bound
    return bound is None or bound < 0


def _operation_needs(value: Term, seen: set[Operation]) -> Iterator[Formula]:
    """Yield the requirements of the operations in a term, each once; ``seen`` holds those already handled."""
    if value.is_total:
        return
    for operation in value.operations():
        if operation in seen:
            continue
        seen.add(operation)
        for arg in operation.args:
            yield from _operation_needs(arg, seen)
        if operation.kind in ("//", "%") and not (operation.args[1].lower_bound or 0) > 0:
            yield different(operation.args[1].dim(), 0)
        if operation.kind == "join":
            yield Compatible(tuple(arg.dim() for arg in operation.args))
            yield from (at_most(0, arg.dim()) for arg in operation.args if _may_be_negative(arg))


def each_member(found: Comparison) -> Formula:
    """Return the equality of a join and one of its members as one for each other member: it is 1 or the same."""
    for joined, size in ((found.left, found.right), (found.right, found.left)):
        members = join_members(joined)
        if found.operator == "==" and len(members) > 1 and size in members:
            return all_of(one_or_equal(m, size) for m in members if m != size)
    return found
