"""Parsing of dimensions and formulas: the limits, the cache, and fresh unknowns for every call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import AxisSequence, is_sequence, mentions_rest
from symbcast.core.algebra.sizes import MAX_SIZE
from symbcast.core.algebra.symbols import Unknown, free_labels, symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.logic.formulas import Formula, dims_of, with_dims
from symbcast.core.text.comparisons import FormulaBuilder
from symbcast.core.text.dialects import NAMES, einops, is_mlir, jaxtyping, mlir
from symbcast.core.text.dimensions import ANY_RANK, FITS, TOO_LARGE, DimBuilder, PlacedDim, all_bounds
from symbcast.core.text.faults import Fault, at_character, at_token
from symbcast.core.text.infix import infix_dim, infix_formula, infix_shape
from symbcast.core.text.slips import correction
from symbcast.errors import ShapeSyntaxError

if TYPE_CHECKING:
    from lark import Lark

MAX_LENGTH = 20_000
"""The longest text that is read."""
MAX_DEPTH = 100
"""How deep brackets may nest."""

NO_SIZE = "a sequence of axes is not a size"
_PLAIN = re.compile(r"(?:[^\W\d]\w*|\d{1,18})(?:, ?[^\W\d]\w*|, ?\d{1,18})*", re.ASCII)
"""Names and sizes between commas: nearly every shape that is written, read without the grammar."""
_NO_NAMES = frozenset({"None", "True", "False", "and", "or", "not"})
_BRACKETS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[()\[\]'"]""", re.DOTALL)
_Value = TypeVar("_Value")


class Template(NamedTuple, Generic[_Value]):
    """A parsed value with a placeholder for each unknown: its label and bounds."""

    value: _Value
    unknowns: tuple[tuple[Unknown, str, int, int | None], ...]
    is_of_any_rank: bool = False
    """Whether an unknown sequence of axes is in it (``...``)."""

    def fresh(self) -> dict[Symbol, Symbol]:
        """Return a new unknown for each placeholder; labelled ones are shown by their labels."""
        made: dict[Symbol, Symbol] = {}
        for held, label, lower, upper in self.unknowns:
            unknown = made[held] = Unknown(label, lower, upper)
            unknown.is_spoken = held.name != "?"
        if self.is_of_any_rank:
            made[ANY_RANK.rest()] = AxisSequence.anonymous().rest()
        return made


def parse_shape(text: str, dialect: str | None = None, max_size: int | None = MAX_SIZE) -> tuple[Dim, ...]:
    """Return the dimensions written in ``text``; every ``?`` is a fresh unknown on every call.

    ``max_size`` is the largest integer size; None for the results of operations, which may exceed 64 bits.

    >>> parse_shape("(N, 2*N + 1, 3)")
    (N, 2*N + 1, 3)
    >>> parse_shape("tensor<2x3xf32>"), parse_shape("(h w) c 1", "einops")
    ((2, 3), (h*w, c, 1))
    """
    template = _shape_template(text, dialect, max_size)
    if not template.unknowns and not template.is_of_any_rank:
        return template.value
    fresh = template.fresh()
    return tuple(replaced(d, fresh) for d in template.value)


def parse_dim(text: str) -> Dim:
    """Return the one dimension written in ``text``.

    >>> parse_dim("(N + 1)//2"), parse_dim("7 % 4")
    ((N + 1)//2, 3)
    """
    template = _dim_template(text)
    if not template.unknowns and not template.is_of_any_rank:
        return template.value
    return replaced(template.value, template.fresh())


def parse_formula(text: str) -> Formula:
    """Return the assumption or condition written in ``text``.

    >>> parse_formula("2 <= N < 5")
    AllOf((Comparison('<=', 2, N), Comparison('<', N, 5)))
    """
    template = _formula_template(text)
    if not template.unknowns:
        return template.value
    fresh = template.fresh()
    return with_dims(template.value, lambda dim: replaced(dim, fresh))


def _syntax_error(text: str, fault: Fault, start: str = "") -> ShapeSyntaxError:
    """Return an error to raise outside the fault's handler; with ``start``, it suggests a text that would be accepted.

    Then it does not hold the fault, and through it the parser: Dask pickles errors together with their context.
    """
    instead = correction(text, start == "formula", lambda other: _is_read(start, other)) if start else ""
    return ShapeSyntaxError(text, fault.span, fault.problem, fault.expected, instead)


def _is_read(start: str, text: str) -> bool:
    try:
        _check_limits(text)
        if start == "formula":
            run(start, text)
        else:
            for term in _shape_terms(text, None) if start == "shape" else (run(start, text),):
                _checked(term)
    except Fault:
        return False
    return True


@lru_cache(maxsize=1024)
def _shape_template(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
    plain = (_plain_shape(text) or infix_shape(text)) if dialect is None else None
    if plain is not None:
        return Template(plain, ())
    try:
        _check_limits(text)
        terms = _shape_terms(text, dialect)
        dims = tuple(_checked(t, max_size) for t in terms)
        sequences = [term for term, dim in zip(terms, dims, strict=True) if is_sequence(dim)]
        if len(sequences) > 1:
            raise Fault(sequences[1].span, "a shape has one sequence of axes ('...', '*name')", "sizes and names")
        return Template(dims, _unknowns(dims, all_bounds(terms)), ANY_RANK.rest() in dims)
    except Fault as fault:
        error = _syntax_error(text, fault, "shape" if dialect in (None, "default") else "")
    raise error


def _plain_shape(text: str) -> tuple[Dim, ...] | None:
    """Return a shape that consists of names and sizes; None for any other text."""
    if len(text) > MAX_LENGTH or not _PLAIN.fullmatch(text):
        return None
    words = text.replace(" ", "").split(",")
    return None if not _NO_NAMES.isdisjoint(words) else tuple([int(w) if w.isdecimal() else symbol(w) for w in words])


@lru_cache(maxsize=1024)
def _dim_template(text: str) -> Template[Dim]:
    simple = infix_dim(text)
    if simple is not None:
        return Template(simple, ())
    try:
        _check_limits(text)
        term: PlacedDim = run("dim", text)
        dim = _checked(term)
        return Template(dim, _unknowns((dim,), all_bounds((term,))), dim == ANY_RANK.rest())
    except Fault as fault:
        error = _syntax_error(text, fault, "dim")
    raise error


@lru_cache(maxsize=1024)
def _formula_template(text: str) -> Template[Formula]:
    simple = infix_formula(text)
    if simple is not None:
        return Template(simple, ())
    try:
        _check_limits(text)
        formula: Formula = run("formula", text)
        if any(mentions_rest(dim) and not is_sequence(dim) for dim in dims_of(formula)):
            raise Fault((0, len(text)), NO_SIZE)
        if any(ANY_RANK.rest() in symbols_of((dim,)) for dim in dims_of(formula)):
            raise Fault(
                (0, len(text)), "'...' names no sequence of axes", "a label, such as '...0', or a name, as '*a'"
            )
        return Template(formula, _unknowns(tuple(dims_of(formula)), {}))
    except Fault as fault:
        error = _syntax_error(text, fault, "formula")
    raise error


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
