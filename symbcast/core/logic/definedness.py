"""Where a dimension is defined: all its parts have values, and its own value is not negative.

A term has no value where it divides by 0 or joins sizes that do not broadcast. A rule's constraints are about sizes,
so definedness comes first: a leaf of a formula in which a term has no value is false (`symbcast.core.logic.formulas`
states the law). Here it is written out, for readers who evaluate terms before they compare them.
"""

from __future__ import annotations

from functools import lru_cache

from symbcast.core.algebra.arithmetic import join_members
from symbcast.core.algebra.operations import joins_with_one, without_joins_with_one
from symbcast.core.algebra.terms import Dim, term
from symbcast.core.logic.formulas import (
    AllOf,
    AnyOf,
    Comparison,
    Formula,
    Leaf,
    all_of,
    any_of,
    at_most,
    clauses,
    dims_of,
    is_total,
    may_be_negative,
    needs,
    one_or_equal,
    operation_needs,
    opposite,
    with_dims,
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
    found = dict.fromkeys(operation_needs(value, set()))
    if may_be_negative(value):
        found[at_most(0, dim)] = None
    return tuple(found)


def with_values(formula: Formula) -> Formula:
    """Return the same formula with what each leaf needs written before it: no divisor is 0, joins are defined.

    Read from left to right, as programs read it, nothing in it is evaluated without having a value. An alternative
    needs nothing that an earlier one says, nor does a conjunct: in ``M == 0 or N//M != 2`` the second is only read
    where M is not 0.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> with_values(at_most(1, floor_divide(7, N)))
    AllOf((Comparison('!=', N, 0), Comparison('<=', 1, 7//N)))
    """
    return formula if is_total(formula) else _guarded(formula, frozenset())


def _guarded(formula: Formula, known: frozenset[Formula]) -> Formula:
    """Return a formula with what its leaves need, apart from what is ``known`` wherever it is read."""
    if is_total(formula):
        return formula
    found: list[Formula] = []
    match formula:
        case AllOf(parts):
            for part in parts:
                found.append(_guarded(part, known))
                known = known.union(clauses(found[-1]))
            return all_of(found)
        case AnyOf(parts):
            for part in parts:
                found.append(_guarded(part, known))
                if not isinstance(part, (AllOf, AnyOf)):
                    known = known.union((opposite(part),))
            return any_of(found)
    written = apart_from_one(formula)
    if written is not formula:
        return _guarded(written, known)
    return all_of([*(need for need in needs(formula) if need not in known), formula])


def apart_from_one(formula: Leaf) -> Formula:
    """Return a leaf without joins with 1 of terms that may be negative: each such term, which must not be negative.

    >>> from symbcast.core.algebra.arithmetic import defined_join, subtract
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> apart_from_one(at_most(N, defined_join((1, subtract(M, 3)))))
    AllOf((Comparison('<=', 0, M - 3), Comparison('<=', N, M - 3)))
    """
    terms = [term(dim) for dim in dims_of(formula) if not isinstance(dim, int)]
    sizes = dict.fromkeys(size for value in terms for size in joins_with_one(value).values())
    if not sizes:
        return formula
    needed = (at_most(0, without_joins_with_one(size).dim()) for size in sizes)
    return all_of([*needed, with_dims(formula, lambda dim: without_joins_with_one(term(dim)).dim())])


def each_member(found: Comparison) -> Formula:
    """Return the equality of a join and one of its members as one for each other member: it is 1 or the same."""
    for joined, size in ((found.left, found.right), (found.right, found.left)):
        members = join_members(joined)
        if found.operator == "==" and len(members) > 1 and size in members:
            # Where one member has no value, another that is 1 would hide it.
            inner: list[Formula] = [need for member in members for need in definedness(member)]
            return all_of([*inner, *(one_or_equal(m, size) for m in members if m != size)])
    return found
