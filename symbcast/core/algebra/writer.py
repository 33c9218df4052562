"""Terms as text that the grammar reads back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.algebra.terms import Atom, Dim, Monomial, Operation, Term

SUM, PRODUCT, UNARY, POWER, ATOM = range(5)
"""How tightly a written term binds."""

_MAX_EXPONENT = 16
_KEYWORDS = frozenset({"None", "True", "False", "and", "or", "not"})
_PLAIN_NAME = r"(?!.*[⁰¹²³⁴-⁹])[^\W\d]\w*(\.\w+)*"
"""Compiled for the first name that is not an ASCII identifier: this takes longer than most questions."""


def name_text(name: str) -> str:
    """Return a name as written in text: quoted unless it is a plain identifier."""
    is_plain = (name.isascii() and name.isidentifier()) or re.fullmatch(_PLAIN_NAME, name)
    return name if is_plain and name not in _KEYWORDS else repr(name)


def term_text(value: Term) -> str:
    """Return a term as text, every symbol by its name.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> term_text(2 * symbol("N") - 1)
    '2*N - 1'
    """
    return TermWriter({}).dim(value)


class TermWriter:
    """Writes terms, with brackets where the context binds tighter than the term does.

    ``labels`` says how some symbols are written; others are written by their names. ``order`` gives the position of
    symbols in a sum; symbols with the same position are sorted by name.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> T, P = symbol("T"), symbol("P")
    >>> TermWriter({}).dim(T + P), TermWriter({}, {T: 0, P: 1}).dim(T + P)
    ('P + T', 'T + P')
    """

    def __init__(self, labels: Mapping[Any, str], order: Mapping[Any, int] | None = None) -> None:
        self._labels = labels
        self._order = order or {}
        # Cached, as terms share their parts: otherwise the work doubles at every level.
        self._written: dict[Term, tuple[str, int]] = {}

    def dim(self, dim: Dim) -> str:
        """Return a dimension as text."""
        return str(dim) if isinstance(dim, int) else self.write(dim, SUM)

    def write(self, value: Term, place: int) -> str:
        """Return a term as text for a context of the given binding strength."""
        text, binding = self._kept(value)
        return f"({text})" if binding < place else text

    def _kept(self, value: Term) -> tuple[str, int]:
        found = self._written.get(value)
        if found is None:
            found = self._written[value] = self._atom(value) if isinstance(value, Atom) else self._sum(value)
        return found

    def products(self, value: Term) -> list[tuple[bool, Monomial, int]]:
        """Return the products of a sum in order: whether each is subtracted, its atoms, and its number without sign."""
        texts = [
            ((c < 0, not m, -len(m), self._place(m), self.product(m, abs(c))[0]), (c < 0, m, abs(c)))
            for m, c in value.coefficients.items()
        ]
        return [product for _, product in sorted(texts, key=lambda t: t[0])]

    def _place(self, monomial: Monomial) -> list[int]:
        """Return the sort key of a product among those of the same degree, based on its first symbols."""
        last = len(self._order)
        return sorted(self._order.get(s, last) for atom in monomial for s in atom.symbols()) if last else []

    def product(self, monomial: Monomial, number: int) -> tuple[str, int]:
        """Return a number times atoms as text, and how tightly it binds."""
        if not monomial:
            return str(number), ATOM if number >= 0 else UNARY
        if number == 1 and len(monomial) == 1:
            return self._kept(monomial[0])
        factors = [self._power(atom, len(list(same))) for atom, same in groupby(monomial)]
        texts = [text for _, text in sorted((isinstance(a, Operation), text) for a, text in factors)]
        text = "*".join(texts)
        if number == 1:
            return text, POWER if len(factors) == 1 and len(monomial) <= _MAX_EXPONENT else PRODUCT
        if number == -1:
            return f"-{text}", PRODUCT if len(texts) > 1 else UNARY
        return f"{number}*{text}", PRODUCT

    def _sum(self, value: Term) -> tuple[str, int]:
        if not value.coefficients:
            return "0", ATOM
        (first_minus, monomial, number), *rest = self.products(value)
        first = self.product(monomial, -number if first_minus else number)
        if not rest:
            return first
        tail = "".join(f" {'-' if minus else '+'} {self.product(m, c)[0]}" for minus, m, c in rest)
        return f"{first[0]}{tail}", SUM

    def _power(self, atom: Atom, exponent: int) -> tuple[Atom, str]:
        if exponent == 1:
            return atom, self.write(atom, POWER)
        # Exponents larger than the grammar allows are written as products.
        text = self.write(atom, ATOM)
        whole, rest = divmod(exponent, _MAX_EXPONENT)
        powers = [f"{text}**{_MAX_EXPONENT}"] * whole
        if rest:
            powers.append(f"{text}**{rest}" if rest > 1 else text)
        return atom, "*".join(powers)

    def _atom(self, atom: Atom) -> tuple[str, int]:
        if isinstance(atom, SequenceSymbol):
            return atom.name, ATOM
        if not isinstance(atom, Operation):
            return self._labels.get(atom) or name_text(getattr(atom, "name", "")), ATOM
        if atom.kind in ("//", "%"):
            operator = "//" if atom.kind == "//" else " % "
            dividend, divisor = atom.args
            # `M*N//2` is read from the left; a division within a dividend needs brackets to be parsed at all.
            nested = isinstance(dividend, Operation) and dividend.kind in ("//", "%")
            return f"{self.write(dividend, ATOM if nested else PRODUCT)}{operator}{self.write(divisor, POWER)}", PRODUCT
        texts = sorted((a.is_constant, not a.is_Symbol and not a.is_constant, self.write(a, SUM)) for a in atom.args)
        return f"{_CALLED.get(atom.kind, atom.kind)}({', '.join(t[-1] for t in texts)})", ATOM


_CALLED: Mapping[str, str] = {"join": "broadcast"}

Term.written_by = staticmethod(term_text)
