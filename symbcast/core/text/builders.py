"""What the rules of the grammar build: dimensions with their position in the text, and formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import FUNCTIONS, add, floor_divide, mentioning, modulo, multiply
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    Compatible,
    Formula,
    all_of,
    any_of,
    dims_of,
    negate,
    with_values,
)
from symbcast.core.algebra.size_values import MAX_SIZE
from symbcast.core.algebra.symbols import AxisSequence, Unknown, mentions_rest, symbol
from symbcast.core.algebra.terms import MAX_BITS, Dim, Operation, Term, constant
from symbcast.core.text.corrections import SyntaxFault
from symbcast.core.text.infix import ANY_RANK, MAX_EXPONENT, MAX_POWER, comparison_of, mentioned_terms
from symbcast.core.text.words import SUPERSCRIPTS
from symbcast.errors import DimensionError

if TYPE_CHECKING:
    from lark import Token


# The parser callbacks that build dimensions, with their position in the text.


_MAX_DIGITS = len(str(2**MAX_BITS))
_MAX_NESTING = 32
TOO_LARGE = "a size is at most 2**63 - 1"
FITS = "a size that fits in 64 bits"

Bounds: TypeAlias = tuple[Unknown, int, int | None]


class PlacedDim(NamedTuple):
    """A dimension and its position in the text.

    ``depth`` is the nesting depth of divisions and functions, ``power`` the product of nested exponents. ``literal``
    says whether it is an integer literal or the unknown size -1. ``bounds`` are those given to labelled unknowns within
    it. ``lost`` are the symbols and possibly undefined terms of the text that cancelled.
    """

    dim: Dim
    start: int
    stop: int
    depth: int = 0
    power: int = 1
    literal: bool = False
    bounds: tuple[Bounds, ...] = ()
    lost: frozenset[Term] = frozenset()

    @property
    def meant(self) -> Dim:
        """The dimension, with a mention of the lost terms that it does not contain."""
        left = self.lost - mentioned_terms((self.dim,))
        if not left:
            return self.dim
        # Names that a larger term shows, such as those in a division, need no separate mention.
        covered = frozenset[Term]().union(*(mentioned_terms(t.args) for t in left if isinstance(t, Operation)))
        return mentioning(self.dim, sorted(left - covered, key=lambda t: t.key))

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.stop


Part: TypeAlias = "PlacedDim | Token"


@lru_cache(maxsize=1024)
def placeholder(label: str) -> Unknown:
    """Return a placeholder for the unknown called ``label`` until a parse creates fresh ones."""
    return Unknown(label)


def combine_parts(parts: Sequence[Part], dim: Dim, nesting: int = 0) -> PlacedDim:
    """Return the term for ``dim`` made from ``parts``, ``nesting`` levels deeper than the deepest of them."""
    terms = [p for p in parts if isinstance(p, PlacedDim)]
    start, stop = _start(parts[0]), _stop(parts[-1])
    depth = max(t.depth for t in terms) + nesting
    if depth > _MAX_NESTING:
        raise SyntaxFault((start, stop), f"divisions and functions nest more than {_MAX_NESTING} deep")
    if isinstance(dim, int) and dim.bit_length() > MAX_BITS:
        raise SyntaxFault((start, stop), TOO_LARGE)
    power = max(t.power for t in terms)
    lost = frozenset[Term]().union(
        *(t.lost for t in terms), mentioned_terms(t.dim for t in terms) - mentioned_terms((dim,))
    )
    return PlacedDim(dim, start, stop, depth, power, False, tuple(b for t in terms for b in t.bounds), lost)


def divide(operator: str, left: PlacedDim, right: PlacedDim) -> PlacedDim:
    """Return ``left // right`` or ``left % right``; a constant divisor 0 is an error."""
    if right.dim == 0:
        raise SyntaxFault(right.span, "division by zero", "a divisor other than 0")
    found = combine_parts((left, right), (floor_divide if operator == "//" else modulo)(left.dim, right.dim), 1)
    if isinstance(right.dim, int):
        return found
    # The quotient needs a divisor other than 0, even if the quotient was simplified.
    divided = any(isinstance(t, Operation) and t.args[-1] is right.dim for t in mentioned_terms((found.dim,)))
    return found if divided else found._replace(lost=found.lost | {Operation("//", (constant(0), right.dim))})


class DimBuilder:
    """The callbacks of dims.lark and shape.lark, each called with the children of its rule."""

    def integer(self, parts: list[Token]) -> PlacedDim:
        (token,) = parts
        return PlacedDim(read_integer_token(token), *_span(token), literal=True)

    def name(self, parts: list[Token]) -> PlacedDim:
        (token,) = parts
        raised = next((n for n, character in enumerate(token) if character in SUPERSCRIPTS), None)
        if raised is not None:
            place = _start(token) + raised
            raise SyntaxFault(
                (place, place + 1), f"{token[raised]!r} is not allowed in a name", "'**' for a power, or quotes"
            )
        return PlacedDim(symbol(str(token)), *_span(token))

    def quoted(self, parts: list[Token]) -> PlacedDim:
        (token,) = parts
        name = _unescape(token, token)
        if not name:
            raise SyntaxFault(_span(token), "a name is not empty")
        return PlacedDim(symbol(name), *_span(token))

    def unknown(self, parts: list[Token]) -> PlacedDim:
        (token,) = parts
        return PlacedDim(Unknown(), *_span(token))

    def labelled(self, parts: list[Token]) -> PlacedDim:
        (token,) = parts
        return PlacedDim(placeholder(str(token)), *_span(token))

    def axis(self, parts: list[Token]) -> PlacedDim:
        (token,) = parts
        called, place = _cut(token)
        return PlacedDim(_sequence(called, token).axis(place), *_span(token))

    def rank(self, parts: list[Token]) -> PlacedDim:
        (token,) = parts
        return PlacedDim(_sequence(token.partition("(")[2][:-1].strip(), token).rank, *_span(token))

    def rest(self, parts: list[Token]) -> PlacedDim:
        token = parts[-1]
        called, place = _cut(token) if token.endswith("]") else (str(token), 0)
        span = _start(parts[0]), _stop(token)
        sequence = ANY_RANK if called in ("...", "…") else _sequence(called, token)
        return PlacedDim(sequence.rest(place), *span)

    def group(self, parts: list[Part]) -> PlacedDim:
        inner = parts[1]
        assert isinstance(inner, PlacedDim)
        # The unknown size `-1` may be in brackets; `-(1)` is a negative size, like `-(2)`.
        return inner._replace(start=_start(parts[0]), stop=_stop(parts[-1]), literal=inner.dim == -1 and inner.literal)

    def minus(self, parts: list[Part]) -> PlacedDim:
        inner = parts[-1]
        assert isinstance(inner, PlacedDim)
        odd = len(parts) % 2 == 0
        term = combine_parts(parts, multiply(-1, inner.dim) if odd else inner.dim)
        return term._replace(literal=inner.literal and inner.dim != -1 and len(parts) == 2)

    def power(self, parts: list[Part]) -> PlacedDim:
        base, _, exponent_token = parts
        assert isinstance(base, PlacedDim)
        exponent = read_integer_token(exponent_token)
        if exponent > MAX_EXPONENT:
            raise SyntaxFault(_span(exponent_token), f"an exponent is at most {MAX_EXPONENT}")
        raised = base.power * max(1, exponent)
        if raised > MAX_POWER:
            raise SyntaxFault(_span(exponent_token), f"nested exponents multiply to more than {MAX_POWER}")
        return combine_parts(parts, multiply(*[base.dim] * exponent))._replace(power=raised)

    def product(self, parts: list[Part]) -> PlacedDim:
        # `*` is gathered and multiplied at once; `//` and `%` apply to everything left of them.
        first, *rest = parts
        gathered = [_term(first)]
        for operator, factor in zip(rest[::2], map(_term, rest[1::2]), strict=True):
            if operator == "*":
                gathered.append(factor)
            else:
                gathered = [divide(str(operator), _product(gathered), factor)]
        return _product(gathered)

    def sum(self, parts: list[Part]) -> PlacedDim:
        first, *rest = parts
        signed = (
            term.dim if operator == "+" else multiply(-1, term.dim)
            for operator, term in zip(rest[::2], map(_term, rest[1::2]), strict=True)
        )
        return combine_parts(parts, add(_term(first).dim, *signed))

    def call(self, parts: list[Part]) -> PlacedDim:
        function = str(parts[0])
        arguments = [p for p in parts if isinstance(p, PlacedDim)]
        span = _start(parts[0]), _stop(parts[-1])
        if function in ("mod", "floordiv"):
            if len(arguments) != 2:
                raise SyntaxFault(span, f"'{function}' takes 2 dimensions, not {len(arguments)}")
            found = divide("%" if function == "mod" else "//", *arguments)
            return found._replace(start=span[0], stop=span[1])
        try:
            return combine_parts(parts, FUNCTIONS[function]([a.dim for a in arguments]), 1)
        except DimensionError as error:
            raise SyntaxFault(span, error.problem) from None

    def range(self, parts: list[Token]) -> PlacedDim:
        first, last = parts[0], parts[-1]
        lower = read_size_token(first) if first.type == "INT" else 0
        upper = read_size_token(last) if last.type == "INT" else None
        span = _start(first), _stop(last)
        if upper is not None and lower > upper:
            raise SyntaxFault(span, f"the lower bound {lower} is above the upper bound {upper}")
        return PlacedDim(Unknown("?", lower, upper), *span)

    def bounded(self, parts: list[Part]) -> PlacedDim:
        label, _, bounds = parts
        assert isinstance(bounds, PlacedDim) and isinstance(bounds.dim, Unknown)
        unknown = placeholder(str(label))
        found = (unknown, bounds.dim.lower, bounds.dim.upper)
        return PlacedDim(unknown, _start(label), bounds.stop, bounds=(found,))

    def shape(self, parts: list[Part]) -> list[PlacedDim]:
        return [p for p in parts if isinstance(p, PlacedDim)]

    def dim(self, parts: list[Part]) -> PlacedDim:
        return _term(parts[0])


def _cut(token: str) -> tuple[str, int]:
    """Return the text before the last bracket of a token, and the number inside."""
    called, _, place = token.rpartition("[")
    return called.rstrip(), int(place.strip(":-] \t\r\n\f\v"))


def _sequence(called: str, token: Token) -> AxisSequence:
    """Return the sequence that part of a token names."""
    if called[0] not in "'\"":
        return AxisSequence(called)
    name = _unescape(called, token)
    if not name or name.startswith("..."):
        problem = "a name does not begin with '...', as a label does" if name else "a name is not empty"
        raise SyntaxFault(_span(token), problem)
    return AxisSequence(name)


def read_integer_token(token: Part) -> int:
    """Return the value of a token of digits."""
    return read_digits(str(token), _span(token))


def read_size_token(token: Part) -> int:
    """Return the value of a token of digits, checked to be a size."""
    value = read_integer_token(token)
    if value > MAX_SIZE:
        raise SyntaxFault(_span(token), TOO_LARGE, FITS)
    return value


def read_digits(digits: str, span: tuple[int, int]) -> int:
    """Return the value of a run of digits, unless it is absurdly long."""
    if len(digits.lstrip("0")) > _MAX_DIGITS:
        raise SyntaxFault(span, TOO_LARGE, FITS)
    return int(digits.lstrip("0") or "0")


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


def _unescape(written: str, token: Token) -> str:
    """Return the name between the quotes in a token; the escapes are those that ``repr`` writes."""

    def character(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 1:
            return _CONTROLS.get(code, code)
        if int(code[1:], 16) > 0x10FFFF:
            raise SyntaxFault(_span(token), "there is no such character")
        return chr(int(code[1:], 16))

    return _ESCAPE.sub(character, written[1:-1])


def _product(terms: list[PlacedDim]) -> PlacedDim:
    return terms[0] if len(terms) == 1 else combine_parts(terms, multiply(*(t.dim for t in terms)))


def _term(part: Part) -> PlacedDim:
    assert isinstance(part, PlacedDim)
    return part


def _start(part: Part) -> int:
    return part.start if isinstance(part, PlacedDim) else part.start_pos or 0


def _stop(part: Part) -> int:
    return part.stop if isinstance(part, PlacedDim) else part.end_pos or 0


def _span(part: Part) -> tuple[int, int]:
    return _start(part), _stop(part)


def all_bounds(terms: Iterable[PlacedDim]) -> dict[Unknown, tuple[int, int | None]]:
    """Return the bounds of each labelled unknown; raise if one label has two different bounds."""
    found: dict[Unknown, tuple[int, int | None]] = {}
    for term in terms:
        for unknown, lower, upper in term.bounds:
            if found.setdefault(unknown, (lower, upper)) != (lower, upper):
                raise SyntaxFault(term.span, f"{unknown.name} has two different bounds")
    return found


# The parser callbacks for the rules of formula.lark.


FormulaPart: TypeAlias = "Formula | Token"


class FormulaBuilder(DimBuilder):
    """The callbacks of dims.lark and formula.lark, each called with the children of its rule."""

    def true(self, parts: list[Token]) -> Formula:
        return TRUE

    def false(self, parts: list[Token]) -> Formula:
        return FALSE

    def chain(self, parts: list[PlacedDim | Token]) -> Formula:
        dims = [p.meant for p in parts if isinstance(p, PlacedDim)]
        operators = [str(p) for p in parts if not isinstance(p, PlacedDim)]
        return all_of(comparison_of(*link) for link in zip(operators, dims[:-1], dims[1:], strict=True))

    def compatible(self, parts: list[PlacedDim | Token]) -> Formula:
        return Compatible(tuple(p.meant for p in parts if isinstance(p, PlacedDim)))

    def formula_group(self, parts: list[FormulaPart]) -> FormulaPart:
        return parts[1]

    def each_axis(self, parts: list[FormulaPart]) -> FormulaPart:
        word, _, inner, bracket = parts
        assert isinstance(word, str) and isinstance(bracket, str) and not isinstance(inner, str)
        if not any(map(mentions_rest, dims_of(inner))):
            span = (word.start_pos or 0, bracket.end_pos or 0)
            raise SyntaxFault(span, "this mentions no axes of a sequence", "a sequence such as '*batch' in each(...)")
        return inner  # a formula about sequences applies to each axis, even without ``each``

    def negated(self, parts: list[FormulaPart]) -> Formula:
        inner = _formulas(parts)[0]
        if any(map(mentions_rest, dims_of(inner))):
            words = [p for p in parts if isinstance(p, str)]
            wanted = "a relation that holds on each axis, such as '*a != *b', or of one axis, such as 'a[-1] != 2'"
            problem = "a relation of all axes cannot be negated"
            raise SyntaxFault((words[0].start_pos or 0, words[-1].end_pos or 0), problem, wanted)
        return negate(with_values(inner)) if len(parts) % 2 == 0 else inner

    def conjunction(self, parts: list[FormulaPart]) -> Formula:
        return all_of(_formulas(parts))

    def disjunction(self, parts: list[FormulaPart]) -> Formula:
        return any_of(_formulas(parts))


def _formulas(parts: list[FormulaPart]) -> list[Formula]:
    return [p for p in parts if not isinstance(p, str)]
