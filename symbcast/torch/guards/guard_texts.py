"""Parse torch's guards into formulas: Python text in which ``L['x'].size()[2]`` is the size of an axis.

``a / b`` is read as the quotient rounded down, as in `symbcast.adapters.torch_expressions`, because torch's guards
require that ``b`` divides ``a``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import reduce
from itertools import pairwise

from symbcast.adapters.torch_operations import OPERATIONS
from symbcast.core.algebra.operations import operate
from symbcast.core.algebra.terms import Dim, Kind, Term, constant, term
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Formula, Operator, all_of, any_of, negate
from symbcast.errors import DimensionError

_OPERATIONS: dict[type[ast.operator], Kind] = {ast.FloorDiv: "//", ast.Div: "//", ast.Mod: "%"}
_FUNCTIONS: dict[str, Kind] = {**OPERATIONS, "IntTrueDiv": "//", "max": "max", "min": "min"}
_RELATIONS: dict[type[ast.cmpop], tuple[Operator, bool]] = {
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
    ast.LtE: ("<=", False),
    ast.Lt: ("<", False),
    ast.GtE: ("<=", True),
    ast.Gt: ("<", True),
}
_RELATION_NAMES: dict[str, type[ast.cmpop]] = {
    "Eq": ast.Eq,
    "Ne": ast.NotEq,
    "Le": ast.LtE,
    "Lt": ast.Lt,
    "Ge": ast.GtE,
    "Gt": ast.Gt,
}
_MOST_POWER = 64
_NO_SIZE = (1 << 63) - 2
"""Torch's largest integers, which stand for "no end": no tensor has such a size."""
_NO_END = ("IntInfinity()", "int_oo", "oo")
"""How torch writes the upper end of an unbounded range."""


class GuardReader:
    """Reads guards; ``sizes`` maps source names in guards to the sizes of axes."""

    def __init__(self, sizes: Mapping[str, Dim]) -> None:
        self._sizes = {_normal(source): size for source, size in sizes.items()}
        self._text = b""
        self._terms: dict[bytes, Term] = {}  # by their text, because guards repeat each other's terms

    def formula(self, text: str) -> Formula:
        """Return a guard as a formula. Raises `DimensionError` for anything but comparisons of sizes.

        >>> from symbcast.core.algebra.symbols import symbol
        >>> reader = GuardReader({"L['x'].size()[0]": symbol("N")})
        >>> reader.formula("(1 + (((-1) + L['x'].size()[0]) // 2)) != 1")
        Comparison('!=', (N + 1)//2, 1)
        """
        try:
            parsed = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            raise DimensionError(text, f"torch's guard cannot be read: {error}") from error
        self._text = text.strip().encode()
        return self._formula(parsed)

    def _formula(self, node: ast.expr) -> Formula:
        match node:
            case ast.Constant(value=bool(value)):
                return TRUE if value else FALSE
            case ast.BoolOp(op=ast.And(), values=values):
                return all_of(map(self._formula, values))
            case ast.BoolOp(op=ast.Or(), values=values):
                return any_of(map(self._formula, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negate(self._formula(operand))
            case ast.Compare(left=left, ops=ops, comparators=others):
                pairs = zip(ops, pairwise((left, *others)), strict=True)
                return all_of(self._compared(op, *pair) for op, pair in pairs)
            case ast.Call(func=ast.Name(id=name), args=[left, right]) if name in _RELATION_NAMES:
                return _compared(_RELATION_NAMES[name](), self._term(left), self._term(right))
            case ast.Call(func=ast.Name(id="And"), args=args):
                return all_of(map(self._formula, args))
            case ast.Call(func=ast.Name(id="Or"), args=args):
                return any_of(map(self._formula, args))
            case ast.Call(func=ast.Name(id="Not"), args=[operand]):
                return negate(self._formula(operand))
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                return all_of(map(self._formula, (left, right)))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return any_of(map(self._formula, (left, right)))
        raise DimensionError(ast.unparse(node), "is not a comparison of sizes")

    def _compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Formula:
        if isinstance(op, (ast.Lt, ast.LtE)) and ast.unparse(right) in _NO_END:
            return TRUE
        return _compared(op, self._term(left), self._term(right))

    def _term(self, node: ast.expr) -> Term:
        if node.lineno != 1 or node.end_lineno != 1:
            return self._read_term(node)
        text = self._text[node.col_offset : node.end_col_offset]
        found = self._terms.get(text)
        if found is None:
            found = self._terms[text] = self._read_term(node)
        return found

    def _read_term(self, node: ast.expr) -> Term:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._term(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operated(op, self._term(left), self._term(right))
            case ast.Call(func=func, args=args):
                return self._called(ast.unparse(func).rpartition(".")[2], args)
        size = self._sizes.get(ast.unparse(node))
        if size is None:
            raise DimensionError(ast.unparse(node), "is not a size of an input")
        return term(size)

    def _operated(self, op: ast.operator, left: Term, right: Term) -> Term:
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Pow():
                power = right.dim()
                if isinstance(power, int) and 0 <= power <= _MOST_POWER:
                    return reduce(lambda a, b: a * b, [left] * power, constant(1))
        if type(op) in _OPERATIONS:
            return operate(_OPERATIONS[type(op)], (left, right))
        raise DimensionError(type(op).__name__, "is not an operation on sizes")

    def _called(self, name: str, args: list[ast.expr]) -> Term:
        if name in ("ceil", "CeilToInt", "ceiling") and len(args) == 1:
            return -self._quotient_of_negated(args[0])
        if name in ("floor", "trunc", "FloorToInt", "TruncToInt", "int", "Identity") and len(args) == 1:
            return self._term(args[0])
        if name not in _FUNCTIONS:
            raise DimensionError(name, "is not a function of sizes")
        terms = [self._term(arg) for arg in args if ast.unparse(arg) not in _NO_END]
        if _FUNCTIONS[name] == "min":
            terms = [t for t in terms if not t.is_constant or t.constant < _NO_SIZE] or terms
        return terms[0] if len(terms) == 1 else operate(_FUNCTIONS[name], tuple(terms))

    def _quotient_of_negated(self, node: ast.expr) -> Term:
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return operate("//", (-self._term(left), self._term(right)))
            case ast.Call(func=func, args=[left, right]) if ast.unparse(func).rpartition(".")[2] == "IntTrueDiv":
                return operate("//", (-self._term(left), self._term(right)))
        return -self._term(node)


def _compared(op: ast.cmpop, left: Term, right: Term) -> Formula:
    if type(op) not in _RELATIONS:
        raise DimensionError(type(op).__name__, "is not a comparison of sizes")
    relation, is_turned = _RELATIONS[type(op)]
    below, above = (right, left) if is_turned else (left, right)
    if any(t.is_constant and t.constant >= _NO_SIZE for t in (below, above)):
        return _with_endless(relation, below, above)
    return Comparison(relation, below.dim(), above.dim())


def _with_endless(relation: Operator, below: Term, above: Term) -> Formula:
    """Return a comparison with the number that torch writes for "to the end of the axis", which no size reaches."""
    is_upper = above.is_constant and above.constant >= _NO_SIZE
    holds = relation == "!=" or (relation in ("<=", "<") and is_upper)
    return TRUE if holds else FALSE


def _normal(source: str) -> str:
    return ast.unparse(ast.parse(source, mode="eval").body)


def shown_guard(text: str) -> str:
    """Return a guard as torch shows it, without the ``L[...]`` around argument names."""
    return re.sub(r"L\['(\w+)'\]", r"\1", text)
