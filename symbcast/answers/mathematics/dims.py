"""Dimensions as LaTeX, with their parts in the same order as in text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from symbcast.answers.mathematics.layout import OMITTED, brackets, call, some
from symbcast.core.algebra.latex_names import name_latex
from symbcast.core.algebra.sequences import Axis, Rank, SequenceSymbol
from symbcast.core.algebra.terms import Atom, Dim, Monomial, Operation, Term
from symbcast.core.algebra.writer import ATOM, POWER, PRODUCT, SUM, UNARY, TermWriter

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

LONGEST = 1500
"""How long the LaTeX of one dimension may be; a longer one is replaced with dots."""


def dim_latex(dim: Dim, labels: Mapping[Symbol, str]) -> str:
    r"""Return a dimension as LaTeX; ``labels`` are the names of unknowns.

    >>> from symbcast.core.text import parse_dim
    >>> print(dim_latex(parse_dim("2*N + batch//2"), {}))
    2\,N + \left\lfloor \frac{\mathrm{batch}}{2} \right\rfloor
    """
    if isinstance(dim, int):
        return str(dim)
    written = _Writer(labels).write(dim, SUM)
    return written if len(written) <= LONGEST else OMITTED


class _Writer:
    """Writes one term, in brackets if its context binds tighter."""

    def __init__(self, labels: Mapping[Symbol, str]) -> None:
        self._labels: Mapping[Any, str] = labels
        self._text = TermWriter(labels)
        self._written: dict[Term, tuple[str, int]] = {}

    def write(self, value: Term, place: int) -> str:
        latex, binding = self._kept(value)
        return brackets(latex) if binding < place else latex

    def _kept(self, value: Term) -> tuple[str, int]:
        if value not in self._written:
            self._written[value] = self._atom(value) if isinstance(value, Atom) else self._sum(value)
        return self._written[value]

    def _sum(self, value: Term) -> tuple[str, int]:
        if not value.coefficients:
            return "0", ATOM
        (minus, monomial, number), *rest = self._text.products(value)
        if not rest:
            product, binding = self._product(monomial, number)
            return (f"-{product}", UNARY) if minus else (product, binding)
        first = f"{'-' if minus else ''}{self._product(monomial, number)[0]}"
        return " ".join([first, *some(rest, lambda t: f"{'-' if t[0] else '+'} {self._product(*t[1:])[0]}")]), SUM

    def _product(self, monomial: Monomial, number: int) -> tuple[str, int]:
        if not monomial:
            return str(number), ATOM
        if number == 1 and len(monomial) == 1:
            return self._kept(monomial[0])
        powers = [(atom, len(list(same))) for atom, same in groupby(monomial)]
        powers.sort(key=lambda p: (isinstance(p[0], Operation), self._text.dim(p[0])))
        texts = some(powers, lambda p: self._power(*p))
        if number != 1:
            texts.insert(0, str(number))
        return r"\,".join(texts), POWER if len(texts) == 1 else PRODUCT

    def _power(self, atom: Atom, exponent: int) -> str:
        return self.write(atom, POWER) if exponent == 1 else f"{self.write(atom, ATOM)}^{{{exponent}}}"

    def _atom(self, atom: Atom) -> tuple[str, int]:
        if isinstance(atom, SequenceSymbol):
            return _of_sequence(atom), ATOM
        if not isinstance(atom, Operation):
            return name_latex(str(self._labels.get(atom) or getattr(atom, "name", ""))), ATOM
        match atom.kind:
            case "//":
                dividend, divisor = (self.write(a, SUM) for a in atom.args)
                return rf"\left\lfloor \frac{{{dividend}}}{{{divisor}}} \right\rfloor", ATOM
            case "%":
                dividend, divisor = (self.write(a, ATOM) for a in atom.args)
                # In a product, only brackets show which factor is divided.
                return rf"{dividend} \bmod {divisor}", SUM
            case kind:
                ordered = sorted(atom.args, key=lambda a: (a.is_constant, not a.is_Symbol, self._text.dim(a)))
                return call({"join": "broadcast"}.get(kind, kind), some(ordered, lambda a: self.write(a, SUM))), ATOM


def _of_sequence(s: SequenceSymbol) -> str:
    r"""Return a symbol that belongs to a sequence of axes.

    >>> from symbcast.core.algebra.sequences import AxisSequence
    >>> batch = AxisSequence("batch")
    >>> print(_of_sequence(batch.axis(1)), _of_sequence(batch.rest(2)), _of_sequence(batch.rank))
    \mathrm{batch}_{-1} {*}\mathrm{batch}_{:-2} \operatorname{rank}(\mathrm{batch})
    """
    called = name_latex(s.sequence.name)
    match s:
        case Rank():
            return call("rank", [called])
        case Axis():
            return f"{called}_{{-{s.place}}}"
    return f"{'' if s.sequence.is_anonymous else '{*}'}{called}{f'_{{:-{s.place}}}' if s.place else ''}"
