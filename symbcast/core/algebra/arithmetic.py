"""Arithmetic on dimensions: integers and terms in, an integer or a term in normal form out.

The normal form makes equal sizes one object. Each step holds at all sizes at which its left side has a value.
No member of a min, max or join that may have no value is dropped; terms that cancel in a sum, or drop out of a
remainder as a multiple of the divisor, vanish together with their requirements.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from math import prod
from operator import attrgetter, index, mul
from typing import Any

from symbcast.core.algebra.term_arithmetic import (
    Substitution,
    extremum_terms,
    floordiv_terms,
    is_mention,
    join_terms,
    joined_sizes,
    joins_with_one,
    mention,
    modulo_terms,
    with_remainders,
)
from symbcast.core.algebra.terms import MAX_BITS, Dim, Operation, Term, collect, product_of_monomials, term
from symbcast.core.characters import number_hint
from symbcast.errors import DimensionError, ShapeTypeError, SymbcastError

# Sizes as integers: what an integer must be to be one, and the values of our functions at integers and NumPy arrays.
#
# `sympy.lambdify` and `sympy.pycode` name them for `broadcast`, `floordiv`, `mod`, and `compatible`. In arrays, each
# element is one value of a size. Where a function has no value, it raises, also if that is so for one element of an
# array. In code of a condition it gives NaN there instead, which fulfils no comparison: the condition says where its
# terms have values, and NumPy computes all parts of it. Nothing heavy is imported here.


# The largest size: that of a signed 64-bit integer, which every runtime uses for shapes.
MAX_SIZE = 2**63 - 1


def check_size(value: int) -> int:
    """Return ``value`` if it is a size, else raise `DimensionError`.

    >>> check_size(0)
    0
    """
    if value < 0:
        raise DimensionError(value, "a size is not negative", "write 0 or a larger integer, or '?' for an unknown size")
    if value > MAX_SIZE:
        raise DimensionError(value, "a size is at most 2**63 - 1", "write a size that fits in 64 bits")
    return value


def check_min_size(value: object) -> int:
    """Return ``min_size`` if it is a size."""
    if isinstance(value, bool) or not isinstance(value, int):
        hint = number_hint("min_size", value, "write min_size=0 or min_size=1")
        raise ShapeTypeError(value, "a least size", hint)
    if value < 0:
        raise DimensionError(value, "a size is not negative", "write 0 or more")
    return check_size(value)


def check_limit(limit: object) -> int:
    """Return a limit if it is a positive integer; raise `ShapeTypeError` for anything else."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        hint = number_hint("limit", limit, "write the maximum number of answers, 1 or more")
        raise ShapeTypeError(limit, "a limit", hint)
    return limit


def index_of(value: Any) -> int | None:
    """Return the integer that a value's ``__index__`` gives; None if it has none.

    Raises `DimensionError` from any error of a user's ``__index__``.
    """
    try:
        return index(value)
    except TypeError:
        return None
    except SymbcastError:
        raise  # a traced size explains why it has no number
    except Exception as error:
        raise DimensionError(value, f"its __index__ raised {type(error).__name__}: {error}") from error


_NAN = float("nan")


def size_join(*sizes: Any) -> Any:
    """Return the join of sizes; raise `DimensionError` where two of them differ and neither is 1.

    >>> size_join(1, 3), size_join(0, 1), size_join(1, 1)
    (3, 0, 1)
    """
    joined, clashes = _joined(sizes)
    if _any(clashes):
        raise DimensionError(f"broadcast{sizes}", "two sizes differ and neither is 1")
    return joined


def size_join_or_nan(*sizes: Any) -> Any:
    """Return the join of sizes; NaN where it has no value."""
    joined, clashes = _joined(sizes)
    return _where(clashes, _NAN, joined) if _any(clashes) else joined


def size_quotient(dividend: Any, divisor: Any) -> Any:
    """Return a quotient rounded down; raise `ZeroDivisionError` where the divisor is 0.

    >>> size_quotient(7, 2)
    3
    """
    return _not_by_zero(divisor) and dividend // divisor


def size_quotient_or_nan(dividend: Any, divisor: Any) -> Any:
    """Return a quotient rounded down; NaN where the divisor is 0."""
    by = _where(divisor == 0, 1, divisor)
    return _where(divisor == 0, _NAN, dividend // by) if _any(divisor == 0) else dividend // divisor


def size_remainder(dividend: Any, divisor: Any) -> Any:
    """Return a remainder with the sign of the divisor; raise `ZeroDivisionError` where that is 0.

    >>> size_remainder(7, 4)
    3
    """
    return _not_by_zero(divisor) and dividend % divisor


def size_remainder_or_nan(dividend: Any, divisor: Any) -> Any:
    """Return a remainder with the sign of the divisor; NaN where that is 0."""
    by = _where(divisor == 0, 1, divisor)
    return _where(divisor == 0, _NAN, dividend % by) if _any(divisor == 0) else dividend % divisor


def size_compatible(*sizes: Any) -> Any:
    """Return whether the sizes broadcast together.

    >>> size_compatible(1, 3, 3), size_compatible(2, 3)
    (True, False)
    """
    return _joined(sizes)[1] ^ True


def _joined(sizes: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the join of sizes, in an array of each element, and where it has no value."""
    joined: Any = 1
    clashes: Any = False
    for size in sizes:
        # No `and` or `or`: they would ask an array whether it is true.
        clashes = clashes | ((joined != size) & (joined != 1) & (size != 1))
        joined = _where(joined == 1, size, joined)
    return joined, clashes


def _any(truths: Any) -> bool:
    return bool(truths.any()) if hasattr(truths, "any") else bool(truths)


def _where(truths: Any, size: Any, other: Any) -> Any:
    if not hasattr(truths, "shape"):
        return size if truths else other
    import numpy as np

    return np.where(truths, size, other)


def _not_by_zero(divisor: Any) -> bool:
    if _any(divisor == 0):
        raise ZeroDivisionError("a size is divided by 0")  # NumPy would give 0 and a warning
    return True


# Up to how many sizes are multiplied one after the other.
_FEW = 2


def add(*dims: Dim) -> Dim:
    """Return the sum; 0 for no dimensions."""
    parts = [d for d in dims if not isinstance(d, int)]
    number = sum([d for d in dims if isinstance(d, int)]) if len(parts) < len(dims) else 0
    if not parts:
        return _bounded(number)
    if len(parts) == 1 and not number:
        return parts[0]
    return with_remainders(collect([(d, 1) for d in parts], number)).dim()


def subtract(left: Dim, right: Dim) -> Dim:
    """Return the difference."""
    if isinstance(right, int):
        return left - right if isinstance(left, int) else add(left, -right)
    return with_remainders(collect([(term(left), 1), (term(right), -1)])).dim()


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
        # A product of n names, made pair by pair, would be sorted n times.
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


def without_joins_with_one(value: Term) -> Term:
    """Return a term with each term that is joined with 1 in place of that join.

    They are equal wherever the joins have a value, so check first that no such term is negative.
    """
    sizes: dict[Operation, Term] = {}
    for join, size in joins_with_one(value).items():
        sizes[join] = Substitution(dict(sizes), of_symbols=False).term(size) if sizes else size
    return Substitution(sizes, of_symbols=False).term(value) if sizes else value


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
    (0*M + N, N)
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
    place = bisect_left(args, added.key, key=attrgetter("key"))
    if place < len(args) and args[place] is added:
        return joined
    return Operation("join", (*args[:place], added, *args[place:]))


# The functions of text, each of any number of dimensions.
FUNCTIONS: dict[str, Callable[[Sequence[Dim]], Dim]] = {"min": minimum, "max": maximum, "broadcast": defined_join}


def replace_symbols(dim: Dim, values: Mapping[Any, Dim]) -> Dim:
    """Return a dimension with some symbols replaced, all at once."""
    return Substitution(values, of_symbols=True).dim(dim)
