"""The simplest texts, read without the grammar: names, sizes, a name and a number, and relations between these.

Nearly every assumption is one of these. Importing lark and building a grammar takes longer than answering most
questions, and a first question need not wait for it. Any other text is left to the grammar, which reads these texts the
same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from symbcast.core.algebra.arithmetic import FUNCTIONS, add, floor_divide, modulo, multiply
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim
from symbcast.core.logic.formulas import Formula, all_of, any_of
from symbcast.core.text.comparisons import compare

T = TypeVar("T")

_DIM = re.compile(r" *(?:([^\W\d]\w*)(?: *(//|[-+*%]) *(\d{1,18}))?|(\d{1,18})) *", re.ASCII)
_GROUP = re.compile(r" *\(([^()]*)\) *")
_OPERATORS = re.compile(r"(==|!=|<=|>=|<|>)")
_NO_NAMES = frozenset({"None", "True", "False", "and", "or", "not", "compatible", "mod", "floordiv", *FUNCTIONS})
_MOST = 20_000


def simple_dim(text: str) -> Dim | None:
    """Return the dimension of a simple text; None for any other text.

    >>> simple_dim("N % 8"), simple_dim("4"), simple_dim("N*M")
    (N % 8, 4, None)
    """
    found = _DIM.fullmatch(text)
    if found is None:
        return None
    name, operator, number, size = found.groups()
    if size is not None:
        return int(size)
    if name in _NO_NAMES:
        return None
    if operator is None:
        return symbol(name)
    made = _operation(symbol(name), operator, int(number))
    return None if isinstance(made, int) else made  # leave it to the grammar, which keeps the name


def _operation(name: Dim, operator: str, number: int) -> Dim | None:
    match operator:
        case "+":
            return add(name, number)
        case "-":
            return add(name, -number)
        case "*":
            return multiply(name, number)
        case _ if number == 0:
            return None  # the grammar reports where the 0 is
        case "//":
            return floor_divide(name, number)
        case _:
            return modulo(name, number)


def simple_shape(text: str) -> tuple[Dim, ...] | None:
    """Return the shape of simple sizes separated by commas; None for any other text.

    >>> simple_shape("N % 8, 3"), simple_shape("(N, 3)")
    ((N % 8, 3), None)
    """
    if len(text) > _MOST:
        return None
    return _all(map(simple_dim, text.split(",")))


def simple_formula(text: str) -> Formula | None:
    """Return the formula of relations between simple sizes, or of cases in brackets; None for any other text.

    >>> simple_formula("2 <= N < 5"), simple_formula("not N == 1")
    (AllOf((Comparison('<=', 2, N), Comparison('<', N, 5))), None)
    """
    if len(text) > _MOST:
        return None
    cases: tuple[Formula, ...] | None = _all(_conjunction(case) for case in text.split(" or "))
    if cases is None:
        return None
    return cases[0] if len(cases) == 1 else any_of(cases)


def _conjunction(text: str) -> Formula | None:
    """Return the formula of relations joined by ``and``, in one pair of brackets or without."""
    group = _GROUP.fullmatch(text)
    text = text if group is None else group[1]
    parts: tuple[Formula, ...] | None = _all(_chain(part) for part in text.split(" and "))
    if parts is None:
        return None
    return parts[0] if len(parts) == 1 else all_of(parts)


def _chain(text: str) -> Formula | None:
    words = _OPERATORS.split(text)
    dims: tuple[Dim, ...] | None = _all(map(simple_dim, words[::2]))
    if dims is None or len(dims) == 1:
        return None
    return all_of(compare(*link) for link in zip(words[1::2], dims[:-1], dims[1:], strict=True))


def _all(parts: Iterable[T | None]) -> tuple[T, ...] | None:
    """Return the parts as a tuple; None if one of them is None."""
    found: list[T] = []
    for part in parts:
        if part is None:
            return None
        found.append(part)
    return tuple(found)
