"""Formulas and dimensions as Python functions of their symbols' sizes.

The source is made here from terms, with names of its own (``v0``, ``v1``); no text of a user's is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symbcast.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of
from symbcast.reading import term
from symbcast.terms import Operation, Term

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Dim


class UndefinedError(ArithmeticError):
    """A join of sizes that do not broadcast."""


def join_sizes(*sizes: int) -> int:
    """Return the join of integers; raise `UndefinedError` where it has none."""
    result = 1
    for size in sizes:
        if size not in (1, result):
            if result != 1:
                raise UndefinedError
            result = size
    return result


def _compatible(*sizes: int) -> bool:
    return len({*sizes, 1}) <= 2


_GLOBALS = {"__builtins__": {}, "min": min, "max": max, "join": join_sizes, "compatible": _compatible}


@lru_cache(maxsize=4096)
def predicate(formula: Formula, symbols: tuple[sympy.Symbol, ...]) -> Callable[..., bool]:
    """Return a function of the symbols' sizes, in order: whether the formula holds and all in it is defined."""
    names = {symbol: f"v{n}" for n, symbol in enumerate(symbols)}
    function = _function(formula_source(formula, names), names)

    def holds(*sizes: int) -> bool:
        try:
            return bool(function(*sizes))
        except (ZeroDivisionError, UndefinedError):
            return False

    return holds if may_be_undefined(formula) else function


@lru_cache(maxsize=4096)
def value_function(dim: Dim, symbols: tuple[sympy.Symbol, ...]) -> Callable[..., int]:
    """Return a function of the symbols' sizes, in order, with the dimension's size.

    It raises `ZeroDivisionError` or `UndefinedError` where the dimension has no value.
    """
    names = {symbol: f"v{n}" for n, symbol in enumerate(symbols)}
    return _function(term_source(term(dim), names), names)


def _function(source: str, names: Mapping[sympy.Symbol, str]) -> Callable[..., Any]:
    made: Callable[..., Any] = eval(f"lambda {', '.join(names.values())}: {source}", _GLOBALS)
    return made


@lru_cache(maxsize=4096)
def may_be_undefined(formula: Formula) -> bool:
    """Return whether some sizes leave a term of the formula without a value."""
    return any(not isinstance(d, int) and _has_gaps(term(d)) for d in dims_of(formula))


@lru_cache(maxsize=4096)
def _has_gaps(value: Term) -> bool:
    return any(
        operation.kind == "join"
        or (operation.kind in ("//", "%") and not (operation.args[1].is_constant and operation.args[1].constant))
        or any(map(_has_gaps, operation.args))
        for operation in value.operations()
    )


def term_source(value: Term, names: Mapping[sympy.Symbol, str]) -> str:
    """Return a Python expression for a term, the symbols written as ``names`` says."""
    parts = []
    for monomial, coefficient in value.coefficients.items():
        factors = [_operation_source(a, names) if isinstance(a, Operation) else names[a] for a in monomial]
        if coefficient != 1 or not factors:
            factors.insert(0, f"({coefficient})" if coefficient < 0 else str(coefficient))
        parts.append("*".join(factors))
    return f"({' + '.join(parts)})" if parts else "0"


def _operation_source(operation: Operation, names: Mapping[sympy.Symbol, str]) -> str:
    args = [term_source(a, names) for a in operation.args]
    if operation.kind in ("//", "%"):
        return f"({args[0]} {operation.kind} {args[1]})"
    return f"{operation.kind}({', '.join(args)})"


def formula_source(formula: Formula, names: Mapping[sympy.Symbol, str]) -> str:
    """Return a Python expression for a formula."""
    match formula:
        case Comparison(operator, left, right):
            return f"{term_source(term(left), names)} {operator} {term_source(term(right), names)}"
        case Compatible(dims) | Clashing(dims):
            call = f"compatible({', '.join(term_source(term(d), names) for d in dims)})"
            return call if isinstance(formula, Compatible) else f"not {call}"
        case AllOf(parts):
            return _joined(parts, " and ", "True", names)
        case AnyOf(parts):
            return _joined(parts, " or ", "False", names)


def _joined(parts: Sequence[Formula], word: str, empty: str, names: Mapping[sympy.Symbol, str]) -> str:
    return word.join(f"({formula_source(p, names)})" for p in parts) or empty
