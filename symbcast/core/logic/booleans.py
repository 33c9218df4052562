"""Formulas as sympy Booleans, and back."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import sympy
from sympy.core.basic import Basic
from sympy.core.relational import Relational
from sympy.core.sorting import default_sort_key
from sympy.logic.boolalg import Boolean, BooleanFunction

from symbcast.core.algebra import door
from symbcast.core.algebra.sympy_functions import SympyDim, broadcast, guarded_broadcast
from symbcast.core.algebra.terms import Dim
from symbcast.core.logic.formulas import (
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
from symbcast.errors import AssumptionError, ShapeTypeError


class compatible(BooleanFunction):  # noqa: N801 - prints and parses under this name
    """The sizes broadcast together: those other than 1 are all equal. It is n-ary, so many sizes form one term.

    >>> from symbcast.core.algebra.sympy_functions import symbol
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
        return to_sympy(expand(Compatible(tuple(map(door.from_sympy, args)))))

    def to_nnf(self, simplify: bool = True) -> Boolean:
        """Return the formula spelled out pair by pair: negation normal form has no n-ary compatibility."""
        return self.rewrite(sympy.And).to_nnf(simplify=simplify)


_TO_RELATION: dict[Operator, Any] = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Le, "<": sympy.Lt}


@lru_cache(maxsize=4096)
def to_sympy(formula: Formula) -> Boolean:
    """Return a formula as a sympy Boolean.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> to_sympy(Compatible((symbol("N"), symbol("M"))))
    Eq(M, 1) | Eq(N, 1) | Eq(N, M)
    """
    match formula:
        case Comparison(operator, left, right):
            return _relation(operator, left, right)
        case Compatible(dims) if len(dims) > 2:
            return _compatible(dims)
        case Clashing(dims) if len(dims) > 2:
            return sympy.Not(_compatible(dims))
        case Compatible() | Clashing():
            return to_sympy(expand(formula))
        case AllOf(parts):
            return _lattice(sympy.And, map(to_sympy, parts))
        case AnyOf(parts):
            return _lattice(sympy.Or, map(to_sympy, parts))


def _compatible(dims: tuple[Dim, ...]) -> Boolean:
    members = dict.fromkeys(map(_guarded, dims))
    if any(isinstance(m, int) for m in members):
        return compatible(*members)
    # In order and distinct: `eval` would change nothing.
    made: Boolean = compatible(*sorted(members, key=default_sort_key), evaluate=len(members) < 2)
    return made


def _lattice(kind: Any, parts: Iterable[Boolean]) -> Boolean:
    """Return a conjunction or disjunction as sympy would make it, without sympy's search for implied parts.

    There is nothing to find: implied parts were dropped beforehand. sympy negates each relation and compares it
    with every other one, which takes most of the time spent on a condition.
    """
    distinct: dict[Boolean, None] = {}
    for part in parts:
        if part is kind.zero:
            return part
        if part is not kind.identity:
            distinct.update(dict.fromkeys(part.args if isinstance(part, kind) else (part,)))
    if len(distinct) < 2:
        return next(iter(distinct), kind.identity)
    made = Basic.__new__(kind, *sorted(distinct, key=_place))
    made._argset = frozenset(distinct)
    return made


def _place(part: Boolean) -> tuple[Any, ...]:
    """Return sympy's sort key of a part: its size, and then sympy's own key."""
    return _nodes(part), default_sort_key(part)


@lru_cache(maxsize=4096)
def _nodes(expression: Basic) -> int:
    return 1 + sum(map(_nodes, expression.args))


def _relation(operator: Operator, left_dim: Dim, right_dim: Dim) -> Boolean:
    left, right = _guarded(left_dim), _guarded(right_dim)
    if isinstance(left, int) and not isinstance(right, int):
        # 2 <= N reads better as N >= 2.
        turned = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Ge, "<": sympy.Gt}[operator]
        return turned(right, sympy.Integer(left), evaluate=right.is_Symbol and operator in ("<=", "<"))
    # sympy would search for milliseconds to compare terms; the relation is already decided.
    numbers = all(isinstance(d, int) for d in (left, right))
    plain = operator in ("<=", "<") and all(isinstance(d, int) or d.is_Symbol for d in (left, right))
    evaluate = left == right or numbers or plain
    return _TO_RELATION[operator](sympy.sympify(left), sympy.sympify(right), evaluate=evaluate)


def _guarded(dim: Dim) -> SympyDim:
    """Return a dimension in sympy whose joins stay unevaluated if they have no value."""
    found = door.to_sympy(dim)
    if isinstance(found, int) or found.is_Symbol or not found.has(broadcast):
        return found
    return door.plain(found.replace(lambda e: type(e) is broadcast, lambda e: guarded_broadcast(*e.args)))


def conjunction(clauses: Iterable[Formula]) -> Boolean:
    """Return the clauses of a condition as one sympy Boolean."""
    return _lattice(sympy.And, map(to_sympy, clauses))


def from_sympy(value: Any) -> Formula:
    """Return a sympy Boolean (relations joined by ``& | ~``) as a formula.

    Raises `AssumptionError` for comparisons that sizes do not support.
    """
    if value is True or value is sympy.true:
        return TRUE
    if value is False or value is sympy.false:
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
    return int(value) if isinstance(value, sympy.Integer) else door.check_dim(value)
