"""Random dimensions and formulas, each with the Python text that says what it means: the oracle is `eval`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from types import CodeType

from hypothesis import reject
from hypothesis import strategies as st

from symbcast.core.algebra.arithmetic import FUNCTIONS, add, floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim
from symbcast.errors import DimensionError

NAMES = ("a", "b", "c")
SYMBOLS = tuple(map(symbol, NAMES))


class UndefinedError(ArithmeticError):
    """A join of sizes that do not broadcast, or of what is no size."""


def broadcast(*sizes):
    others = {size for size in sizes if size != 1}
    if len(others) > 1 or min(sizes) < 0:
        raise UndefinedError
    return others.pop() if others else 1


def compatible(*sizes):
    return all(x in (1, y) or y == 1 for x, y in itertools.combinations(sizes, 2))


GLOBALS = {"min": min, "max": max, "broadcast": broadcast, "compatible": compatible}


@dataclass(frozen=True)
class Expression:
    """A dimension, and the same in Python."""

    text: str
    dim: Dim

    @cached_property
    def code(self) -> CodeType:
        return compile(self.text, "dim", "eval")

    def at(self, sizes):
        """Return the value at sizes by name; raise `ArithmeticError` where it has none."""
        return eval(self.code, GLOBALS, dict(zip(NAMES, sizes, strict=False)))

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Statement:
    """A formula, and the same in Python."""

    text: str
    formula: Formula

    @cached_property
    def code(self) -> CodeType:
        return compile(self.text, "formula", "eval")

    def at(self, sizes):
        return bool(eval(self.code, GLOBALS, dict(zip(NAMES, sizes, strict=False))))

    def __repr__(self) -> str:
        return self.text


def integer(value: int) -> Expression:
    return Expression(f"({value})" if value < 0 else str(value), value)


def name(letter: str) -> Expression:
    return Expression(letter, symbol(letter))


BUILDERS = {"+": add, "-": lambda a, b: add(a, multiply(-1, b)), "*": multiply, "//": floor_divide, "%": modulo}


def binary(operator: str, left: Expression, right: Expression) -> Expression:
    built = BUILDERS[operator](left.dim, right.dim)
    return Expression(f"({left.text} {operator} {right.text})", built)


def call(function: str, members: list[Expression]) -> Expression:
    try:
        built = FUNCTIONS[function]([m.dim for m in members])
    except DimensionError:  # a join that is defined nowhere
        reject()
    return Expression(f"{function}({', '.join(m.text for m in members)})", built)


def is_zero(expression: Expression) -> bool:
    return expression.dim == 0


def expressions(count=1, *, operators="+-*", divisors=(2, 3, 4), functions=(), symbolic=False, max_leaves=4):
    """Return a strategy for dimensions over the first ``count`` names.

    ``divisors`` are the integers that // and % divide by; with ``symbolic``, any dimension may divide.
    """
    leaves = st.one_of(st.sampled_from(NAMES[:count]).map(name), st.integers(0, 6).map(integer))

    def extend(inner):
        kinds = [st.builds(binary, st.sampled_from(operators), inner, inner)]
        if divisors:
            by = st.sampled_from(divisors).map(integer)
            kinds.append(st.builds(binary, st.sampled_from(["//", "%"]), inner, by))
        if symbolic:
            by = inner.filter(lambda e: not is_zero(e))
            kinds.append(st.builds(binary, st.sampled_from(["//", "%"]), inner, by))
        if functions:
            kinds.append(st.builds(call, st.sampled_from(functions), st.lists(inner, min_size=2, max_size=3)))
        return st.one_of(kinds)

    return st.recursive(leaves, extend, max_leaves=max_leaves)


def comparison(operator: str, left: Expression, right: Expression) -> Statement:
    return Statement(f"({left.text} {operator} {right.text})", Comparison(operator, left.dim, right.dim))


def of_dims(is_compatible: bool, members: list[Expression]) -> Statement:
    text = f"compatible({', '.join(m.text for m in members)})"
    dims = tuple(m.dim for m in members)
    return Statement(text, Compatible(dims)) if is_compatible else Statement(f"(not {text})", Clashing(dims))


def of_parts(is_all: bool, parts: list[Statement]) -> Statement:
    kind, word = (AllOf, " and ") if is_all else (AnyOf, " or ")
    return Statement(f"({word.join(p.text for p in parts)})", kind(tuple(p.formula for p in parts)))


def literals(dims, most=3):
    """Return a strategy for comparisons and joins of dimensions drawn from ``dims``."""
    compared = st.builds(comparison, st.sampled_from(["==", "!=", "<=", "<"]), dims, dims)
    return st.one_of(compared, st.builds(of_dims, st.booleans(), st.lists(dims, min_size=2, max_size=most)))


def statements(dims, most=3, max_leaves=4):
    """Return a strategy for formulas about dimensions drawn from ``dims``."""

    def extend(inner):
        return st.builds(of_parts, st.booleans(), st.lists(inner, min_size=1, max_size=3))

    return st.recursive(literals(dims, most), extend, max_leaves=max_leaves)


def points(count, stop):
    """Return every choice of ``count`` sizes below ``stop``."""
    return list(itertools.product(range(stop), repeat=count))


def smallness(sizes, weights=None):
    """Return what a witness has least of: zeros, then the sum, then the sizes in order."""
    counts = weights or [1] * len(sizes)
    zeros = sum(count for count, size in zip(counts, sizes, strict=True) if size == 0)
    return zeros, sum(c * s for c, s in zip(counts, sizes, strict=True)), tuple(sizes)
