"""Dimensions, shapes and formulas as text that `symbcast.parsing` reads back.

Printing goes by name alone: a symbol that a user brings with other assumptions prints as ours does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

import sympy

from symbcast.dims import Dim, Unknown, broadcast, floordiv, mod
from symbcast.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of

Labels: TypeAlias = Mapping[Unknown, str]

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)
_MAX_EXPONENT = 16
_MAX_EXPANDED = 100_000
_KEYWORDS = frozenset({"None", "True", "False", "and", "or", "not"})
_PLAIN_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")
_LABEL = re.compile(r"\?\w+")
_LABEL_OR_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\?\w+""")
_MIRRORED = {"<=": ">=", "<": ">"}


def dim_text(dim: Dim) -> str:
    """Return a dimension as text.

    >>> from symbcast.parsing import parse_dim
    >>> dim_text(parse_dim("1 + N*2")), dim_text(parse_dim("-1 + (N + 1)//2"))
    ('2*N + 1', '(N + 1)//2 - 1')
    >>> dim_text(parse_dim("?")), dim_text(parse_dim("2..5")), dim_text(parse_dim("'a b'"))
    ('?', '2..5', "'a b'")
    """
    return _dim_texts((dim,))[0]


def labelled_text(dim: Dim) -> str:
    """Return a dimension as text in which every unknown goes by its label, without bounds.

    >>> from symbcast.parsing import parse_shape
    >>> [labelled_text(d) for d in parse_shape("?, 2..5, N + 1")]
    ['?0', '?1', 'N + 1']
    """
    return _text(dim, labels_of((dim,)))


def shape_text(shape: Sequence[Dim]) -> str:
    """Return a shape as text; an unknown is named only where it occurs more than once or within arithmetic.

    >>> from symbcast.parsing import parse_shape
    >>> shape_text(parse_shape("N, 3")), shape_text(parse_shape("N")), shape_text(())
    ('(N, 3)', '(N,)', '()')
    >>> shape_text(parse_shape("?, 2..5, ?a, ?a + 1"))
    '(?, 2..5, ?a, ?a + 1)'
    """
    texts = _dim_texts(shape)
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def formula_text(formula: Formula) -> str:
    """Return a formula as text; a pair that must be compatible is spelled out.

    >>> from symbcast.parsing import parse_formula
    >>> formula_text(parse_formula("2 <= N and compatible(N, M)"))
    'N >= 2 and (N == M or N == 1 or M == 1)'
    """
    return _formula(formula, labels_of(dims_of(formula)))[0]


def in_order(expression: sympy.Add) -> list[tuple[bool, sympy.Expr]]:
    """Return the terms of a sum in the order text has them: whether one is taken away, and the term without sign."""
    return [(minus, size) for minus, size, _ in _Writer(labels_of((expression,))).terms(expression)]


def _dim_texts(dims: Sequence[Dim]) -> list[str]:
    labels = labels_of(dims)
    if not labels:
        return [_text(d, labels) for d in dims]
    uses = Counter(u for d in dims for u in _unknowns(d))
    anonymous = {d for d in dims if isinstance(d, Unknown) and uses[d] == 1}
    texts = [_bounds(d) or "?" if d in anonymous else _text(d, labels) for d in dims]
    for unknown, label in labels.items():
        if _bounds(unknown) and unknown not in anonymous:
            _add_bounds(texts, label, _bounds(unknown))
    return texts


def _add_bounds(texts: list[str], label: str, bounds: str) -> None:
    """Write the bounds of an unknown at its first occurrence."""
    for place, text in enumerate(texts):
        if text == label:
            texts[place] = f"{label}:{bounds}"
            return
        for found in _LABEL_OR_QUOTED.finditer(text):
            if found[0] == label:
                texts[place] = f"{text[: found.start()]}({label}:{bounds}){text[found.end() :]}"
                return


def _bounds(unknown: Unknown) -> str:
    """Return ``2..5``, ``2..`` or ``..5``, or nothing for an unknown that may be any size."""
    if unknown.upper is None:
        return f"{unknown.lower}.." if unknown.lower else ""
    return f"{unknown.lower or ''}..{unknown.upper}"


def labels_of(dims: Iterable[Dim]) -> dict[Unknown, str]:
    """Return a label for every unknown, no two alike, in order of appearance."""
    unknowns = dict.fromkeys(u for d in dims for u in _unknowns(d))
    taken: set[str] = set()
    found: dict[Unknown, str] = {}
    for unknown in unknowns:
        if _LABEL.fullmatch(unknown.name) and unknown.name not in taken:
            found[unknown] = unknown.name
            taken.add(unknown.name)
    free = (f"?{n}" for n in count() if f"?{n}" not in taken)
    return {u: found[u] if u in found else next(free) for u in unknowns}


def _unknowns(dim: Dim) -> list[Unknown]:
    if isinstance(dim, int):
        return []
    found = [s for s in dim.free_symbols if isinstance(s, Unknown)]
    return sorted(found, key=lambda u: int(u.dummy_index))


def _text(dim: Dim, labels: Labels) -> str:
    if isinstance(dim, int):
        return str(dim)
    if dim.has(sympy.ceiling):
        dim = dim.rewrite(sympy.floor)
    return _Writer(labels).write(dim, _SUM)


class _Writer:
    """Writes one expression, with brackets where the place it stands in binds tighter than it does."""

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._written: dict[sympy.Basic, tuple[str, int]] = {}

    def write(self, expression: sympy.Basic, place: int) -> str:
        # Remembered, since a term and its negation share what is in them: without, the work doubles at every level.
        if expression not in self._written:
            self._written[expression] = self._node(expression)
        text, binding = self._written[expression]
        return f"({text})" if binding < place else text

    def _node(self, expression: sympy.Basic) -> tuple[str, int]:
        if isinstance(expression, sympy.Integer):
            return str(int(expression)), _ATOM if expression >= 0 else _UNARY
        if isinstance(expression, sympy.Symbol):
            return self._labels.get(expression) or _name(expression.name), _ATOM
        for kind, write in _WRITERS:
            if isinstance(expression, kind):
                return write(self, expression)
        return str(sympy.sstr(expression)), _SUM

    def _sum(self, expression: sympy.Add) -> tuple[str, int]:
        terms = self.terms(expression)
        rest = "".join(f" {'-' if minus else '+'} {self.write(size, _PRODUCT)}" for minus, size, _ in terms[1:])
        return f"{self.write(terms[0][2], _PRODUCT)}{rest}", _SUM

    def terms(self, expression: sympy.Add) -> list[tuple[bool, sympy.Expr, sympy.Expr]]:
        """Return the terms of a sum in order: whether one is taken away, it without its sign, and as it is."""
        signed = [(bool(t.as_coeff_Mul()[0].is_negative), t) for t in expression.args]
        found = [(minus, -t if minus else t, t) for minus, t in signed]
        return sorted(found, key=lambda f: (f[0], f[2].is_number, -_degree(f[2]), self.write(f[1], _PRODUCT)))

    def _product(self, expression: sympy.Mul) -> tuple[str, int]:
        number, factors = expression.as_coeff_mul()
        if not number.is_Integer or any(f.is_Pow and not _is_whole_power(f) for f in factors):
            return str(sympy.sstr(expression)), _SUM
        texts = sorted((not f.is_Atom and not f.is_Pow, self.write(f, _POWER)) for f in factors)
        text = "*".join(t for _, t in texts)
        if number == -1 and texts[0][1].startswith("("):
            # `-(N + 1)*M` would be read as (-N - 1)*M, which is the same size but another expression.
            return f"-({text})" if len(texts) > 1 else f"-{text}", _UNARY
        if number == 1:
            return text, _PRODUCT
        if number == -1:
            return f"-{text}", _PRODUCT if len(texts) > 1 else _UNARY
        return f"{number}*{text}", _PRODUCT

    def _power(self, expression: sympy.Pow) -> tuple[str, int]:
        base, exponent = expression.args
        if not _is_whole_power(expression) or exponent > _MAX_EXPANDED:
            return str(sympy.sstr(expression)), _SUM
        # Larger exponents than the grammar takes are written as a product.
        whole, rest = divmod(int(exponent), _MAX_EXPONENT)
        text = self.write(base, _ATOM)
        powers = [f"{text}**{_MAX_EXPONENT}"] * whole
        if rest:
            powers.append(f"{text}**{rest}" if rest > 1 else text)
        return "*".join(powers), _POWER if len(powers) == 1 else _PRODUCT

    def _floor(self, expression: sympy.Expr) -> tuple[str, int]:
        numerator, denominator = expression.args[0].as_numer_denom()
        return f"{self._dividend(numerator)}//{self.write(denominator, _POWER)}", _PRODUCT

    def _division(self, expression: sympy.Expr) -> tuple[str, int]:
        dividend, divisor = expression.args
        operator = "//" if isinstance(expression, floordiv) else " % "
        return f"{self._dividend(dividend)}{operator}{self.write(divisor, _POWER)}", _PRODUCT

    def _dividend(self, expression: sympy.Basic) -> str:
        # `M*N//2` reads from the left; a division within a dividend gets brackets to be read at all.
        nested = isinstance(expression, (sympy.floor, sympy.Mod, floordiv, mod))
        return self.write(expression, _ATOM if nested else _PRODUCT)

    def _call(self, expression: sympy.Expr) -> tuple[str, int]:
        texts = sorted((a.is_number, not a.is_Atom, self.write(a, _SUM)) for a in expression.args)
        return f"{type(expression).__name__.lower()}({', '.join(t[-1] for t in texts)})", _ATOM


_WRITERS: tuple[tuple[Any, Callable[[_Writer, sympy.Expr], tuple[str, int]]], ...] = (
    (sympy.Add, _Writer._sum),
    (sympy.Mul, _Writer._product),
    (sympy.Pow, _Writer._power),
    (sympy.floor, _Writer._floor),
    (sympy.Mod, _Writer._division),
    ((floordiv, mod), _Writer._division),
    ((sympy.Min, sympy.Max, broadcast), _Writer._call),
)


def _is_whole_power(expression: sympy.Basic) -> bool:
    exponent = expression.args[1]
    return bool(exponent.is_Integer and exponent > 0)


def _degree(term: sympy.Expr) -> int:
    """Return the degree of a product of powers, so that ``N**2`` goes before ``N``."""
    return sum(int(f.exp) if f.is_Pow and _is_whole_power(f) else 1 for f in term.as_coeff_mul()[1])


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) and name not in _KEYWORDS else repr(name)


def _formula(formula: Formula, labels: Labels) -> tuple[str, str]:
    """Return the text of a formula and the word that joins it (``and``, ``or``), if one does."""
    match formula:
        case Comparison(operator, left, right):
            return _comparison(operator, left, right, labels), ""
        case AllOf(parts):
            return _joined("and", parts, labels) if parts else ("True", "")
        case AnyOf(parts):
            return _joined("or", parts, labels) if parts else ("False", "")
        case Compatible(dims) | Clashing(dims):
            return _compatibility(isinstance(formula, Compatible), [_text(d, labels) for d in dims])


def _joined(word: str, parts: Iterable[Formula], labels: Labels) -> tuple[str, str]:
    written = [_formula(p, labels) for p in parts]
    if len(written) == 1:
        return written[0]
    texts = (f"({text})" if inner not in ("", word) else text for text, inner in written)
    return f" {word} ".join(texts), word


def _comparison(operator: str, left: Dim, right: Dim, labels: Labels) -> str:
    if operator in _MIRRORED and isinstance(left, int) and not isinstance(right, int):
        operator, left, right = _MIRRORED[operator], right, left
    return f"{_text(left, labels)} {operator} {_text(right, labels)}"


def _compatibility(valid: bool, dims: list[str]) -> tuple[str, str]:
    if len(dims) == 2 and "1" in dims:
        return str(valid), ""  # 1 goes with any size
    if not dims:
        return str(valid), ""
    if len(dims) != 2 or all(d.isdecimal() for d in dims):
        return f"{'' if valid else 'not '}compatible({', '.join(dims)})", ""
    operator, word = ("==", "or") if valid else ("!=", "and")
    return f" {word} ".join(_pair(dims[0], dims[1], operator)), word


def _pair(left: str, right: str, operator: str) -> Iterator[str]:
    """Yield the three ways two dimensions are compatible, less the ones a number settles."""
    if left.isdecimal():
        left, right = right, left
    yield f"{left} {operator} {right}"
    yield f"{left} {operator} 1"
    if not right.isdecimal():
        yield f"{right} {operator} 1"
