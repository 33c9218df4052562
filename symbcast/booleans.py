"""Formulas as sympy Booleans, and back."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.core.sorting import default_sort_key
from sympy.logic.boolalg import Boolean, BooleanFunction

from symbcast.dims import Dim, broadcast, guarded_broadcast, plain
from symbcast.errors import AssumptionError, ShapeTypeError
from symbcast.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    Operator,
    all_of,
    any_of,
    expand,
    negate,
)
from symbcast.reading import check_dim


class compatible(BooleanFunction):  # noqa: N801 - prints and parses under this name
    """The sizes broadcast together: those other than 1 are all equal. n-ary, so that many sizes are one term.

    >>> from symbcast.dims import symbol
    >>> a, b, c = map(symbol, "abc")
    >>> compatible(a, b, c).subs({a: 1, b: 3, c: 3}), compatible(a, b, c).subs({a: 2, b: 3})
    (True, False)
    """

    @classmethod
    def eval(cls, *args: sympy.Expr) -> Boolean | None:
        members = dict.fromkeys(a for a in args if a != 1)
        if sum(1 for m in members if m.is_Integer) > 1:
            return sympy.false
        if len(members) <= 1:
            return sympy.true
        ordered = tuple(sorted(members, key=default_sort_key))
        return None if ordered == args else cls(*ordered)

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{compatible}}\left({', '.join(map(printer._print, self.args))}\right)"

    def _eval_rewrite_as_And(self, *args: sympy.Expr, **_: Any) -> Boolean:
        return to_sympy(expand(Compatible(tuple(map(plain, args)))))

    def to_nnf(self, simplify: bool = True) -> Boolean:
        """Return the pairs spelled out: negation normal form knows no n-ary compatibility."""
        return self.rewrite(sympy.And).to_nnf(simplify=simplify)


_TO_RELATION: dict[Operator, Any] = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Le, "<": sympy.Lt}


@lru_cache(maxsize=16384)
def to_sympy(formula: Formula) -> Boolean:
    """Return a formula as a sympy Boolean.

    >>> from symbcast.dims import symbol
    >>> to_sympy(Compatible((symbol("N"), symbol("M"))))
    Eq(M, 1) | Eq(N, 1) | Eq(N, M)
    """
    match formula:
        case Comparison(operator, left, right):
            return _relation(operator, left, right)
        case Compatible(dims) if len(dims) > 2:
            return compatible(*dims)
        case Clashing(dims) if len(dims) > 2:
            return sympy.Not(compatible(*dims))
        case Compatible() | Clashing():
            return to_sympy(expand(formula))
        case AllOf(parts):
            return sympy.And(*map(to_sympy, parts))
        case AnyOf(parts):
            return sympy.Or(*map(to_sympy, parts))


def _relation(operator: Operator, left: Dim, right: Dim) -> Boolean:
    left, right = _guarded(left), _guarded(right)
    if isinstance(left, int) and not isinstance(right, int):
        # 2 <= N reads better as N >= 2.
        turned = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Ge, "<": sympy.Gt}[operator]
        return turned(right, sympy.Integer(left), evaluate=right.is_Symbol)
    # Between terms sympy looks for milliseconds whether it can tell, and that was decided already.
    evaluate = left == right or all(isinstance(d, int) or d.is_Symbol for d in (left, right))
    return _TO_RELATION[operator](sympy.sympify(left), sympy.sympify(right), evaluate=evaluate)


def _guarded(dim: Dim) -> Dim:
    """Return a dimension whose joins leave alone what they cannot evaluate."""
    if isinstance(dim, int) or dim.is_Symbol or not dim.has(broadcast):
        return dim
    return plain(dim.replace(lambda e: type(e) is broadcast, lambda e: guarded_broadcast(*e.args)))


def conjunction(clauses: Iterable[Formula]) -> Boolean:
    """Return the clauses of a condition as one sympy Boolean."""
    found = [to_sympy(c) for c in clauses]
    return found[0] if len(found) == 1 else sympy.And(*found)


def from_sympy(value: Any) -> Formula:
    """Return a sympy Boolean (relations joined by ``& | ~``) as a formula.

    Raises `AssumptionError` for what sizes are not compared by.
    """
    if value is True or value == sympy.true:
        return TRUE
    if value is False or value == sympy.false:
        return FALSE
    if isinstance(value, Relational):
        return _from_relation(value)
    if isinstance(value, compatible):
        return Compatible(tuple(map(_side, value.args)))
    if isinstance(value, sympy.Not):
        return negate(from_sympy(value.args[0]))
    if isinstance(value, sympy.And):
        return all_of(map(from_sympy, value.args))
    if isinstance(value, sympy.Or):
        return any_of(map(from_sympy, value.args))
    if isinstance(value, sympy.Implies):
        return any_of((negate(from_sympy(value.args[0])), from_sympy(value.args[1])))
    if isinstance(value, Boolean) and not isinstance(value, sympy.Symbol):
        raise AssumptionError(f"{value} is not a comparison of sizes", hint="write relations joined by &, | and ~")
    raise ShapeTypeError(value, "an assumption", "write text such as 'N >= 2' or a sympy relation")


def _from_relation(value: Relational) -> Formula:
    left, right = (_side(a) for a in value.args)
    match value:
        case sympy.Eq():
            return Comparison("==", left, right)
        case sympy.Ne():
            return Comparison("!=", left, right)
        case sympy.Le():
            return Comparison("<=", left, right)
        case sympy.Lt():
            return Comparison("<", left, right)
        case sympy.Ge():
            return Comparison("<=", right, left)
        case _:
            return Comparison("<", right, left)


def _side(value: Any) -> Dim:
    """Return a side of a relation: any integer expression, negative numbers included."""
    return int(value) if isinstance(value, sympy.Integer) else check_dim(value)
