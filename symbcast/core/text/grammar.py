"""Texts that only the grammar reads: its parsers, the limits of texts, and errors with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from symbcast.core.algebra.sequences import is_sequence, mentions_rest
from symbcast.core.algebra.sizes import MAX_SIZE
from symbcast.core.algebra.symbols import Unknown, free_labels
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.logic.formulas import Formula, dims_of
from symbcast.core.text.comparisons import FormulaBuilder
from symbcast.core.text.dialects import NAMES, einops, is_mlir, jaxtyping, mlir
from symbcast.core.text.dimensions import FITS, TOO_LARGE, DimBuilder, PlacedDim, all_bounds
from symbcast.core.text.faults import Fault, at_character, at_token
from symbcast.core.text.layouts import Layout, read_layout
from symbcast.core.text.meaning import MAX_LENGTH
from symbcast.core.text.sentences import read_sentence, read_size
from symbcast.core.text.templates import ANY_RANK, Template
from symbcast.errors import ShapeSyntaxError

if TYPE_CHECKING:
    from lark import Lark

_Read = TypeVar("_Read")

MAX_DEPTH = 100
"""How deep brackets may nest."""

NO_SIZE = "a sequence of axes is not a size"
_BRACKETS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[()\[\]'"]""", re.DOTALL)


def read_shape(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
    """Return the shape written in a text, in a dialect."""
    if dialect not in (None, "default"):
        try:
            return _shape(text, dialect, max_size)
        except Fault as fault:
            error = ShapeSyntaxError(text, fault.span, fault.problem, fault.expected)
        raise error
    return _read_or_reworded(text, lambda t: _shape(t, dialect, max_size), _shape_reading)


def read_notation(text: str) -> Template[tuple[Dim, ...]]:
    """Return the shape written in a text, which is no sentence: another tool's text may be a name."""
    try:
        return _shape(text, None, MAX_SIZE)
    except Fault as fault:
        error = ShapeSyntaxError(text, fault.span, fault.problem, fault.expected)
    raise error


def read_dim(text: str) -> Template[Dim]:
    """Return the one dimension written in a text."""
    return _read_or_reworded(text, _dim, lambda t: _reading(read_size(t)))


def read_formula(text: str) -> Template[Formula]:
    """Return the assumption or condition written in a text."""
    return _read_or_reworded(text, _formula, lambda t: _reading(read_sentence(t)))


def _shape(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
    _check_limits(text)
    terms = _shape_terms(text, dialect)
    dims = tuple(_checked(t, max_size) for t in terms)
    sequences = [term for term, dim in zip(terms, dims, strict=True) if is_sequence(dim)]
    if len(sequences) > 1:
        raise Fault(sequences[1].span, "a shape has one sequence of axes ('...', '*name')", "sizes and names")
    return Template(dims, _unknowns(dims, all_bounds(terms)), ANY_RANK.rest() in dims)


def _dim(text: str) -> Template[Dim]:
    _check_limits(text)
    term: PlacedDim = run("dim", text)
    dim = _checked(term)
    return Template(dim, _unknowns((dim,), all_bounds((term,))), dim == ANY_RANK.rest())


def _formula(text: str) -> Template[Formula]:
    _check_limits(text)
    formula: Formula = run("formula", text)
    if any(mentions_rest(dim) and not is_sequence(dim) for dim in dims_of(formula)):
        raise Fault((0, len(text)), NO_SIZE)
    if any(ANY_RANK.rest() in symbols_of((dim,)) for dim in dims_of(formula)):
        raise Fault((0, len(text)), "'...' names no sequence of axes", "a label, such as '...0', or a name, as '*a'")
    return Template(formula, _unknowns(tuple(dims_of(formula)), {}), lost=tuple(_names_lost(text, formula)))


def _read_or_reworded(
    text: str, read: Callable[[str], Template[_Read]], reworded: Callable[[str], Layout | None]
) -> Template[_Read]:
    """Return what a text means, also if it is no notation of ours but has one certain meaning.

    If it has slips, the error suggests that meaning. The error is raised outside the fault's handler: it does not hold
    the fault, and through it the parser, because Dask pickles errors together with their context.
    """
    try:
        return read(text)
    except Fault as fault:
        found, error = fault, ShapeSyntaxError(text, fault.span, fault.problem, fault.expected)
    meant = reworded(text)
    if meant is not None:
        try:
            template = read(meant.text)
        except Fault:
            pass  # the grammar has no such sizes, such as symbolic exponents
        else:
            if not meant.is_slip:
                return template._replace(reading=meant.text)
            error = ShapeSyntaxError(text, found.span, found.problem, found.expected, meant.text)
    raise error


def _names_lost(text: str, formula: Formula) -> Iterable[Symbol]:
    """Yield the names in a text that its formula does not mention: alternatives and conjuncts of True and False."""
    if "True" not in text and "False" not in text:
        return
    kept = set(symbols_of(dims_of(formula)))
    read = {"NAME": DimBuilder().name, "QUOTED": DimBuilder().quoted}
    for token in _parser("formula").lex(text):
        if token.type in read:
            name = read[token.type]([token]).dim
            if isinstance(name, Symbol) and name not in kept:
                kept.add(name)
                yield name


def _reading(found: tuple[str, bool] | None) -> Layout | None:
    return found and Layout(*found)


def _shape_reading(text: str) -> Layout | None:
    return read_layout(text, _is_shape)


def _is_shape(text: str) -> bool:
    try:
        _shape(text, None, MAX_SIZE)
    except Fault:
        return False
    return True


def _shape_terms(text: str, dialect: str | None) -> list[PlacedDim]:
    if dialect is None or dialect == "default":
        if is_mlir(text):
            return mlir(text)
        shape: list[PlacedDim] = run("shape", text)
        return shape
    if dialect == "mlir":
        return mlir(text)
    if dialect == "einops":
        return einops(text)
    if dialect == "jaxtyping":
        return jaxtyping(text, lambda dim: run("dim", dim))
    if "," in str(dialect) or str(dialect).isupper():
        raise ShapeSyntaxError(str(dialect), (0, len(str(dialect))), "a second shape", "one shape at a time")
    known = ", ".join(NAMES)
    raise ShapeSyntaxError(str(dialect), (0, len(str(dialect))), f"there is no dialect {dialect!r}", f"one of {known}")


def run(start: str, text: str) -> Any:
    """Return the result of the grammar for ``text``, or raise `Fault`."""
    from lark import UnexpectedCharacters, UnexpectedToken

    try:
        return _parser(start).parse(text)
    except UnexpectedToken as error:
        raise at_token(text, error) from None
    except UnexpectedCharacters as error:
        raise at_character(text, error, start == "formula") from None
    except RecursionError:
        raise Fault((0, len(text)), "the text is nested too deeply") from None


@cache
def _parser(start: str) -> Lark:
    from pathlib import Path

    from lark import Lark

    own = "formula" if start == "formula" else "shape"
    grammar = "\n".join(Path(__file__).with_name(f"{name}.lark").read_text("utf-8") for name in ("dims", own))
    # The builder runs inside the parser: no tree is built, so nothing recurses, however long the text is.
    builder: Any = FormulaBuilder() if start == "formula" else DimBuilder()
    return Lark(grammar, parser="lalr", lexer="basic", start=start, transformer=builder)


def _check_limits(text: str) -> None:
    """Reject text that is too long or too deeply nested before parsing it."""
    if len(text) > MAX_LENGTH:
        raise Fault((MAX_LENGTH, MAX_LENGTH + 1), f"the text is longer than {MAX_LENGTH:,} characters")
    depth = 0
    for match in _BRACKETS.finditer(text):
        if match[0] in "'\"":
            return  # an unclosed quote: the parser reports it
        depth += 1 if match[0] in "([" else -1 if match[0] in ")]" else 0
        if depth > MAX_DEPTH:
            raise Fault(match.span(), f"brackets nest more than {MAX_DEPTH} deep")


def _checked(term: PlacedDim, max_size: int | None = MAX_SIZE) -> Dim:
    """Return the dimension of a term, an integer only if it is a size; ``-1`` is an unknown."""
    dim = term.meant
    if mentions_rest(dim) and (
        not is_sequence(dim) or (ANY_RANK.rest() in symbols_of((dim,)) and dim != ANY_RANK.rest())
    ):
        raise Fault(term.span, NO_SIZE, "'*name' by itself, or broadcast(*a, *b)")
    if not isinstance(dim, int) or (dim >= 0 and (max_size is None or dim <= max_size)):
        return dim
    if dim == -1 and term.literal:
        return Unknown()
    if dim < 0:
        raise Fault(term.span, "a size is not negative", "0 or more, or '?' for an unknown size")
    raise Fault(term.span, TOO_LARGE, FITS)


def _unknowns(
    dims: tuple[Dim, ...], bounds: dict[Unknown, tuple[int, int | None]]
) -> tuple[tuple[Unknown, str, int, int | None], ...]:
    """Return a label and bounds for every unknown in the dimensions, in order of appearance."""
    found: dict[Unknown, None] = {}
    for dim in dims:
        # Within one dimension they were created from left to right, with ascending numbers.
        found.update(dict.fromkeys(sorted(_unknowns_in(dim), key=lambda u: u.number)))
    free = free_labels({u.name for u in found})
    return tuple((u, next(free) if u.name == "?" else u.name, *bounds.get(u, (u.lower, u.upper))) for u in found)


def _unknowns_in(dim: Dim) -> Iterable[Unknown]:
    return () if isinstance(dim, int) else (s for s in dim.symbols() if isinstance(s, Unknown))
