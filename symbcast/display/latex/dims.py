"""Dimensions as LaTeX, in the order in which text has their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import sympy

from symbcast.dims import Dim, broadcast, floordiv, mod
from symbcast.display.latex.layout import brackets, call, some
from symbcast.display.latex.names import name_latex, text_latex
from symbcast.printing import dim_text, in_order

if TYPE_CHECKING:
    from symbcast.dims import Unknown

LONGEST = 1500
"""How long the LaTeX of one dimension may be; a longer one is told by dots."""

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)


def dim_latex(dim: Dim, labels: Mapping[Unknown, str]) -> str:
    r"""Return a dimension as LaTeX; ``labels`` are what unknowns are called.

    >>> from symbcast.parsing import parse_dim
    >>> print(dim_latex(parse_dim("2*N + batch//2"), {}))
    2\,N + \left\lfloor \frac{\mathrm{batch}}{2} \right\rfloor
    """
    if isinstance(dim, int):
        return str(dim)
    if dim.has(sympy.ceiling):
        dim = dim.rewrite(sympy.floor)
    written = _Writer(labels).write(dim, _SUM)
    return written if len(written) <= LONGEST else r"\ldots"


class _Writer:
    """Writes one expression, with brackets where the place it stands in binds tighter than it does."""

    def __init__(self, labels: Mapping[Unknown, str]) -> None:
        self._labels = labels
        self._written: dict[sympy.Basic, tuple[str, int]] = {}

    def write(self, expression: sympy.Basic, place: int) -> str:
        if expression not in self._written:
            self._written[expression] = self._node(expression)
        latex, binding = self._written[expression]
        return brackets(latex) if binding < place else latex

    def _node(self, expression: sympy.Basic) -> tuple[str, int]:
        if isinstance(expression, sympy.Integer):
            return str(int(expression)), _ATOM if expression >= 0 else _UNARY
        if isinstance(expression, sympy.Symbol):
            return name_latex(self._labels.get(expression) or expression.name), _ATOM
        for kind, write in _WRITERS:
            if isinstance(expression, kind):
                return write(self, expression)
        return self._plain(expression)

    def _plain(self, expression: sympy.Basic) -> tuple[str, int]:
        return f"{{{text_latex(dim_text(expression))}}}", _SUM

    def _sum(self, expression: sympy.Add) -> tuple[str, int]:
        terms = in_order(expression)
        (minus, size), rest = terms[0], terms[1:]
        first = f"{'-' if minus else ''}{self.write(size, _PRODUCT)}"
        return " ".join([first, *some(rest, lambda t: f"{'-' if t[0] else '+'} {self.write(t[1], _PRODUCT)}")]), _SUM

    def _product(self, expression: sympy.Mul) -> tuple[str, int]:
        number, factors = expression.as_coeff_mul()
        if not number.is_Integer:
            return self._plain(expression)
        ordered = sorted(factors, key=lambda f: (not f.is_Atom and not f.is_Pow, dim_text(f)))
        texts = some(ordered, lambda f: self.write(f, _POWER))
        if abs(number) != 1:
            texts.insert(0, str(abs(int(number))))
        product = r"\,".join(texts)
        return (product, _PRODUCT) if number > 0 else (f"-{product}", _UNARY)

    def _power(self, expression: sympy.Pow) -> tuple[str, int]:
        base, exponent = expression.args
        if not exponent.is_Integer or exponent < 1:
            return self._plain(expression)
        return f"{self.write(base, _ATOM)}^{{{int(exponent)}}}", _POWER

    def _floor(self, expression: sympy.Expr) -> tuple[str, int]:
        return self._quotient(*expression.args[0].as_numer_denom())

    def _floordiv(self, expression: sympy.Expr) -> tuple[str, int]:
        return self._quotient(*expression.args)

    def _quotient(self, dividend: sympy.Expr, divisor: sympy.Expr) -> tuple[str, int]:
        fraction = rf"\frac{{{self.write(dividend, _SUM)}}}{{{self.write(divisor, _SUM)}}}"
        return rf"\left\lfloor {fraction} \right\rfloor", _ATOM

    def _mod(self, expression: sympy.Expr) -> tuple[str, int]:
        dividend, divisor = (self.write(a, _ATOM) for a in expression.args)
        # Of a product, only brackets tell which of its factors is divided.
        return rf"{dividend} \bmod {divisor}", _SUM

    def _call(self, expression: sympy.Expr) -> tuple[str, int]:
        ordered = sorted(expression.args, key=lambda a: (a.is_number, not a.is_Atom, dim_text(a)))
        return call(type(expression).__name__.lower(), some(ordered, lambda a: self.write(a, _SUM))), _ATOM


_WRITERS: tuple[tuple[Any, Callable[[_Writer, Any], tuple[str, int]]], ...] = (
    (sympy.Add, _Writer._sum),
    (sympy.Mul, _Writer._product),
    (sympy.Pow, _Writer._power),
    (sympy.floor, _Writer._floor),
    (floordiv, _Writer._floordiv),
    ((sympy.Mod, mod), _Writer._mod),
    ((sympy.Min, sympy.Max, broadcast), _Writer._call),
)
