"""Arithmetic on dimensions: integers and terms in, an integer or a term in normal form out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from math import prod
from operator import mul
from typing import Any

from symbcast.core.algebra.operations import (
    Substitution,
    extremum_terms,
    floordiv_terms,
    is_mention,
    join_terms,
    joined_sizes,
    mention,
    modulo_terms,
)
from symbcast.core.algebra.terms import MAX_BITS, Dim, Operation, Term, collect, product_of_monomials, term
from symbcast.errors import DimensionError

_FEW = 2
"""Up to how many sizes are multiplied one after the other."""


def add(*dims: Dim) -> Dim:
    """Return the sum; 0 for no dimensions."""
    parts = [d for d in dims if not isinstance(d, int)]
    number = sum([d for d in dims if isinstance(d, int)]) if len(parts) < len(dims) else 0
    if not parts:
        return _bounded(number)
    if len(parts) == 1 and not number:
        return parts[0]
    return collect([(term(d), 1) for d in parts], number).dim()


def subtract(left: Dim, right: Dim) -> Dim:
    """Return the difference."""
    if isinstance(right, int):
        return left - right if isinstance(left, int) else add(left, -right)
    return collect([(term(left), 1), (term(right), -1)]).dim()


def multiply(*dims: Dim) -> Dim:
    """Return the product; 1 for no dimensions."""
    if len(dims) == 2:
        left, right = dims
        if type(left) is int and isinstance(right, Term):
            return right.scaled(left).dim()
        if type(right) is int and isinstance(left, Term):
            return left.scaled(right).dim()
    number = prod(d for d in dims if isinstance(d, int))
    parts = [term(d) for d in dims if not isinstance(d, int)]
    if len(parts) == 1 and number == 1:
        return parts[0].dim()
    if len(parts) > _FEW:
        parts = [product_of_monomials(parts), *(p for p in parts if len(p.coefficients) != 1)]
    return reduce(mul, parts).scaled(number).dim() if parts else _bounded(number)


def _bounded(number: int) -> int:
    if number.bit_length() > MAX_BITS:
        raise DimensionError("a number", f"has more than {MAX_BITS} bits")
    return number


def floor_divide(left: Dim, right: Dim) -> Dim:
    """Return ``left // right``; a division by the number 0 stays unevaluated, and has no value."""
    if isinstance(left, int) and isinstance(right, int) and right:
        return left // right
    return floordiv_terms(term(left), term(right)).dim()


def ceil_divide(left: Dim, right: Dim) -> Dim:
    """Return the quotient rounded up; division by the number 0 has no value."""
    return multiply(-1, floor_divide(multiply(-1, left), right))


def modulo(left: Dim, right: Dim) -> Dim:
    """Return ``left % right``, with the sign of ``right`` as in Python; division by the number 0 has no value."""
    if isinstance(left, int) and isinstance(right, int) and right:
        return left % right
    return modulo_terms(term(left), term(right)).dim()


def minimum(dims: Iterable[Dim]) -> Dim:
    """Return the minimum of some dimensions."""
    return extremum_terms("min", map(term, dims)).dim()


def maximum(dims: Iterable[Dim]) -> Dim:
    """Return the maximum of some dimensions."""
    return extremum_terms("max", map(term, dims)).dim()


def join(dims: Iterable[Dim]) -> Dim:
    """Return the join of sizes, the size of an axis on which they are broadcast together; 1 for no sizes.

    The join of two different numbers other than 1 has no value, and stays unevaluated.
    """
    return joined_sizes(map(term, dims)).dim()


def defined_join(dims: Sequence[Dim]) -> Dim:
    """Return the join of dimensions; raise `DimensionError` for two numbers without a join."""
    numbers = [d for d in dims if isinstance(d, int) and d != 1]
    if len(set(numbers)) > 1:
        text = f"broadcast({', '.join(map(str, dims))})"
        raise DimensionError(text, f"sizes {numbers[0]} and {numbers[1]} differ and neither is 1")
    return join_terms(map(term, dims)).dim()


def mentioning(dim: Dim, terms: Iterable[Term]) -> Dim:
    """Return a dimension with the same value that is defined only where some terms are, and mentions their symbols."""
    return collect([(term(dim), 1), *((mention(t), 1) for t in terms)]).dim()


def value_of(dim: Dim) -> Dim:
    """Return a dimension without the parts it only mentions; check their requirements first.

    >>> from symbcast.core.text import parse_dim
    >>> dim = parse_dim("M - M + N")
    >>> dim, value_of(dim)
    (M % 1 + N, N)
    """
    if isinstance(dim, int) or dim.is_Symbol or not any(map(is_mention, dim.atoms())):
        return dim
    return Term({m: c for m, c in dim.coefficients.items() if not any(map(is_mention, m))}).dim()


def join_members(dim: Dim) -> tuple[Dim, ...]:
    """Return the members of a join; any other dimension is its own only member."""
    if isinstance(dim, Operation) and dim.kind == "join":
        return tuple(arg.dim() for arg in dim.args)
    return (dim,)


def join_with(joined: Dim, member: Dim) -> Dim:
    """Return the join of a dimension, which may be a join, with another that is neither an integer nor a join.

    It equals ``join((joined, member))``, but the members of the first join are not sorted again.
    """
    args = tuple(term(d) for d in join_members(joined) if d != 1)
    added = term(member)
    place = bisect_left(args, added.key, key=lambda arg: arg.key)
    if place < len(args) and args[place] is added:
        return joined
    return Operation("join", (*args[:place], added, *args[place:]))


FUNCTIONS: dict[str, Callable[[Sequence[Dim]], Dim]] = {"min": minimum, "max": maximum, "broadcast": defined_join}
"""The functions of text, each of any number of dimensions."""


def replaced(dim: Dim, values: Mapping[Any, Dim]) -> Dim:
    """Return a dimension with some symbols replaced, all at once."""
    return replacing(values)(dim)


def replacing(values: Mapping[Any, Dim]) -> Callable[[Dim], Dim]:
    """Return a function that replaces symbols in dimensions; parts that the dimensions share are replaced once."""
    substitution = Substitution(values, of_symbols=True)

    def replace(dim: Dim) -> Dim:
        if isinstance(dim, int):
            return dim
        return values.get(dim, dim) if dim.is_Symbol else substitution.term(dim).dim()

    return replace
