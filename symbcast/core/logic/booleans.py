"""Formulas as sympy Booleans, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import sympy
from sympy.core.basic import Basic
from sympy.core.relational import Relational
from sympy.core.sorting import default_sort_key
from sympy.logic.boolalg import Boolean, BooleanFunction

from symbcast.core.algebra import door
from symbcast.core.algebra.sympy_functions import GUARDED, Coded, SympyDim
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.logic.definedness import each_member
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
    equal,
    expand,
    negate,
)
from symbcast.errors import AssumptionError, ShapeTypeError

T = TypeVar("T")


class compatible(Coded, BooleanFunction):  # noqa: N801 - prints and parses under this name
    """The sizes broadcast together: those other than 1 are all equal. It is n-ary, so many sizes form one term.

    >>> from symbcast.core.algebra.sympy_functions import symbol
    >>> a, b, c = map(symbol, "abc")
    >>> compatible(a, b, c).subs({a: 1, b: 3, c: 3}), compatible(a, b, c).subs({a: 2, b: 3})
    (True, False)
    """

    value_function: ClassVar[str] = "size_compatible"

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


_SPELLED_OUT = 3
"""The most sizes whose joint broadcast is spelled out in pairs, which any reader can evaluate.

Four sizes have six pairs of three alternatives: sympy takes long to make them, and people to read them.
"""
_TO_RELATION: dict[Operator, Any] = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Le, "<": sympy.Lt}


def to_sympy(formula: Formula) -> Boolean:
    """Return a formula as a sympy Boolean.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> to_sympy(Compatible((symbol("N"), symbol("M"))))
    Eq(M, 1) | Eq(N, 1) | Eq(N, M)
    """
    match formula:
        case AllOf(parts):
            return _lattice(sympy.And, parts)
        case AnyOf(parts):
            return _lattice(sympy.Or, parts)
        case Comparison(operator, left, right):
            spelled = each_member(formula)
            return _relation(operator, left, right) if spelled is formula else to_sympy(spelled)
        case Compatible(dims) if len(dims) > _SPELLED_OUT:
            return _compatible(dims)
        case Clashing(dims) if len(dims) > _SPELLED_OUT:
            return sympy.Not(_compatible(dims))
        case Compatible((left, right)):
            return _lattice(sympy.Or, (equal(left, right), equal(left, 1), equal(right, 1)))
        case Compatible() | Clashing():
            return to_sympy(expand(formula))


def _compatible(dims: tuple[Dim, ...]) -> Boolean:
    members = dict.fromkeys(map(_guarded, dims))
    if any(isinstance(m, int) for m in members):
        return compatible(*members)
    ordered = _by_our_key([*members]) or sorted(members, key=default_sort_key)
    # In order and distinct: `eval` would change nothing.
    made: Boolean = compatible(*ordered, evaluate=len(members) < 2)
    return made


def _lattice(kind: Any, formulas: Iterable[Formula]) -> Boolean:
    """Return a conjunction or disjunction as sympy would make it, without sympy's search for implied parts.

    There is nothing to find: implied parts were dropped beforehand. sympy negates each relation and compares it
    with every other one, which takes most of the time spent on a condition.
    """
    distinct: dict[Boolean, None] = {}
    for part in map(to_sympy, formulas):
        if part is kind.zero:
            return part
        if isinstance(part, kind):
            distinct.update(dict.fromkeys(part.args))
        elif part is not kind.identity:
            distinct[part] = None
    if len(distinct) < 2:
        return next(iter(distinct), kind.identity)
    made = Basic.__new__(kind, *_sorted(distinct))
    made._argset = frozenset(distinct)
    return made


def _sorted(parts: Iterable[Boolean]) -> list[Boolean]:
    """Return parts in the order of sympy: by size, and then by its own key."""
    found = list(parts)
    known = _by_our_key(found)
    if known is not None:
        return known
    counts = [_nodes(part) for part in found]
    if len(set(counts)) == len(counts):  # sympy's own key takes longest
        return [part for _, part in sorted(zip(counts, found, strict=True), key=_first)]
    return sorted(found, key=lambda part: (_nodes(part), default_sort_key(part)))


def _by_our_key(parts: Sequence[T]) -> list[T] | None:
    """Return formulas or symbols in the order of sympy, whose own key takes ten times as long; None for others."""
    keys = [_key(part) for part in parts]
    return None if None in keys else [part for _, part in sorted(zip(keys, parts, strict=True), key=_first)]


def _first(pair: tuple[Any, Basic]) -> Any:
    return pair[0]


_NUMBER, _SYMBOL, _COMPOUND = 1, 2, 5
"""How sympy orders kinds of expressions: `class_key` of each begins with its number."""
_COMPOUNDS = (*_TO_RELATION.values(), sympy.Ge, sympy.Gt, sympy.And, sympy.Or, sympy.Not, compatible)


def _key(part: Basic) -> tuple[int, tuple[Any, ...]] | None:
    """Return the size of a formula of symbols and integers, and a key that orders it among others as sympy's own does.

    Return None for any other part.
    """
    if type(part) is sympy.Symbol:
        return 1, (_SYMBOL, part.name)
    if isinstance(part, sympy.Integer):
        return 1, (_NUMBER, int(part))
    if type(part) not in _COMPOUNDS:
        return None
    nodes, keys = 1, []
    for arg in part.args:
        found = _key(arg)
        if found is None:
            return None
        nodes += found[0]
        keys.append(found[1])
    return nodes, (_COMPOUND, type(part).__name__, len(keys), *keys)


@lru_cache(maxsize=4096)
def _nodes(expression: Basic) -> int:
    return 1 + sum(map(_nodes, expression.args))


def _relation(operator: Operator, left_dim: Dim, right_dim: Dim) -> Boolean:
    plain = _equality(left_dim, right_dim) if operator == "==" else None
    if plain is not None:
        return plain
    left, right = _guarded(left_dim), _guarded(right_dim)
    if isinstance(left, int) and not isinstance(right, int):
        # 2 <= N reads better as N >= 2.
        turned = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Ge, "<": sympy.Gt}[operator]
        is_told = right.is_Symbol and operator in ("<=", "<") and not _is_open(operator, left_dim, right_dim)
        return turned(right, sympy.Integer(left), evaluate=is_told)
    # sympy would search for milliseconds to compare terms; the relation is already decided.
    numbers = all(isinstance(d, int) for d in (left, right))
    is_plain = operator in ("<=", "<") and all(isinstance(d, int) or d.is_Symbol for d in (left, right))
    evaluate = left == right or numbers or (is_plain and not _is_open(operator, left_dim, right_dim))
    return _TO_RELATION[operator](sympy.sympify(left), sympy.sympify(right), evaluate=evaluate)


def _equality(left: Dim, right: Dim) -> Boolean | None:
    """Return the equation of a name with 1 or another name, as `sympy.Eq` makes it unevaluated; None for any other."""
    if type(left) is Symbol and left is not right:
        if right == 1:
            return Basic.__new__(sympy.Eq, door.symbol_to_sympy(left), sympy.S.One)
        if type(right) is Symbol:
            return Basic.__new__(sympy.Eq, door.symbol_to_sympy(left), door.symbol_to_sympy(right))
    return None


def _is_open(operator: Operator, left: Dim, right: Dim) -> bool:
    """Return whether the order of two sizes is plainly undecided: sympy takes a millisecond to find that.

    A size that is only known not to be negative has a decided order only to numbers up to 0.
    """
    if type(left) is type(right) is Symbol:
        return left is not right
    if type(left) is Symbol:
        return isinstance(right, int) and right >= (operator == "<")
    return type(right) is Symbol and isinstance(left, int) and left >= (operator == "<=")


def _guarded(dim: Dim) -> SympyDim:
    """Return a dimension in sympy whose joins and divisions may lack a value: a clause says where they have one."""
    found = door.to_sympy(dim)
    if isinstance(dim, int) or dim.is_total or isinstance(found, int) or not found.has(*GUARDED):
        return found
    return door.plain(found.replace(lambda e: type(e) in GUARDED, lambda e: GUARDED[type(e)](*e.args)))


def conjunction(clauses: Iterable[Formula]) -> Boolean:
    """Return the clauses of a condition as one sympy Boolean."""
    return _lattice(sympy.And, clauses)


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
    raise ShapeTypeError(
        value,
        "a relation between sizes" if callable(value) else "an assumption",
        "write text such as 'N >= 2' or a sympy relation",
    )


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
