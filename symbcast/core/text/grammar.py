"""Texts that only the grammar reads: its parsers, the other dialects, the limits, and errors with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import Formula, dims_of
from symbcast.core.algebra.size_values import MAX_SIZE
from symbcast.core.algebra.symbols import AxisSequence, Unknown, free_labels, is_sequence, mentions_rest, symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.text.builders import (
    FITS,
    TOO_LARGE,
    DimBuilder,
    FormulaBuilder,
    PlacedDim,
    all_bounds,
    combine_parts,
    read_digits,
)
from symbcast.core.text.corrections import (
    RewrittenShape,
    SyntaxFault,
    fault_at_character,
    fault_at_token,
    rewrite_shape,
)
from symbcast.core.text.infix import ANY_RANK, MAX_LENGTH, Template
from symbcast.core.text.sentences import read_sentence, read_size_sentence
from symbcast.errors import ShapeSyntaxError

if TYPE_CHECKING:
    from lark import Lark


# The notations other than our own: MLIR types, einops patterns and jaxtyping annotations.


DIALECTS = ("default", "mlir", "einops", "jaxtyping")

_MLIR = re.compile(r"\s*(?:tensor|memref)\s*<")
_MLIR_SIZE = re.compile(r"\s*(\?|[0-9]+)\s*x")
_MLIR_UNRANKED = re.compile(r"\s*(\*)\s*x")
_MLIR_ELEMENT = re.compile(r"\s*!?[^\W\d][\w.]*\s*(<.*>)?\s*", re.DOTALL)
_MLIR_BOUNDS = re.compile(
    r"\s*#\w+\.(?:bounds\s*<([^<>]*)>|type_extensions\w*\s*<\s*bounds\s*=\s*\[([^\[\]]*)\]\s*>)\s*"
)
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_EINOPS_TOKEN = re.compile(r"\(|\)|\.\.\.|…|[0-9]+(?!\w)|[^\W\d]\w*|\S")
_UNNAMED = re.compile(r"\*_\w*")
_DOCUMENTED = re.compile(r"[^\W\d]\w*=(?=[0-9]+\Z)")


def is_mlir(text: str) -> bool:
    """Return whether a text begins like an MLIR type that has a shape.

    >>> is_mlir("memref<?x3xf32>"), is_mlir("tensor, 3")
    (True, False)
    """
    return _MLIR.match(text) is not None


def mlir(text: str) -> list[PlacedDim]:
    """Return the dimensions of a ``tensor<2x?xf32>`` or a ``memref``, with the bounds that StableHLO gives them."""
    head = _MLIR.match(text)
    if not head:
        start = len(text) - len(text.lstrip())
        raise SyntaxFault(
            (start, start + 1), "this is not an MLIR tensor type", "'tensor<...>' such as 'tensor<2x?xf32>'"
        )
    position = head.end()
    terms: list[PlacedDim] = []
    if unranked := _MLIR_UNRANKED.match(text, position):
        terms.append(PlacedDim(ANY_RANK.rest(), *unranked.span(1)))
        position = unranked.end()
    while not unranked and (size := _MLIR_SIZE.match(text, position)):
        terms.append(_size(size[1], *size.span(1)))
        position = size.end()
    parts = _parameters(text, position)
    if parts is None or not _MLIR_ELEMENT.fullmatch(text, *parts[0]):
        wanted = "an element type such as 'f32' and '>'" if terms else "sizes such as '2x?x' and an element type"
        raise SyntaxFault((position, max(position + 1, len(text.rstrip()))), "this is not an MLIR tensor type", wanted)
    bounds = next(filter(None, (_MLIR_BOUNDS.fullmatch(text, *span) for span in parts[1:])), None)
    return terms if bounds is None else _bounded(terms, bounds)


def _parameters(text: str, start: int) -> list[tuple[int, int]] | None:
    """Return the positions of a type's parameters, the element type first; None if its brackets do not close."""
    found: list[tuple[int, int]] = []
    opened = [">"]
    for position in range(start, len(text)):
        character = text[position]
        if character in _CLOSING:
            opened.append(_CLOSING[character])
        elif character == ">" and text[position - 1] == "-":
            continue  # the arrow of an affine map
        elif character in _CLOSING.values():
            if character != opened.pop():
                return None
            if not opened:
                return None if text[position + 1 :].strip() else [*found, (start, position)]
        elif character == "," and len(opened) == 1:
            found.append((start, position))
            start = position + 1
    return None


def _bounded(terms: list[PlacedDim], bounds: re.Match[str]) -> list[PlacedDim]:
    """Return sizes with the bounds of StableHLO's type extension: one for each size, ``?`` if it has none."""
    group = 1 if bounds[1] is not None else 2
    words = [word.strip() for word in bounds[group].split(",")] if bounds[group].strip() else []
    if len(words) != len(terms):
        problem = f"the number of bounds is {len(words)}, of sizes {len(terms)}"
        raise SyntaxFault(bounds.span(group), problem, "one bound for each size, '?' where it has none")
    return [_with_bound(term, word, bounds.span(group)) for term, word in zip(terms, words, strict=True)]


def _with_bound(term: PlacedDim, word: str, span: tuple[int, int]) -> PlacedDim:
    if word in ("?", "-1"):
        return term
    if not (word.isascii() and word.isdecimal()):
        raise SyntaxFault(span, f"{word!r} is not a bound", "a number, or '?' where a size has none")
    if isinstance(term.dim, int):
        raise SyntaxFault(span, f"the size {term.dim} is fixed and has a bound", "'?' as its bound")
    upper = read_digits(word, span)
    if upper > MAX_SIZE:
        raise SyntaxFault(span, TOO_LARGE, FITS)
    return term._replace(dim=Unknown("?", 0, upper))


def einops(text: str) -> list[PlacedDim]:
    """Return the axes of an einops pattern; axes in brackets are one axis, their product."""
    terms: list[PlacedDim] = []
    group: list[PlacedDim] | None = None
    opened = 0
    for match in _EINOPS_TOKEN.finditer(text):
        token, span = match[0], match.span()
        if token == "(" and group is None:
            group, opened = [], match.start()
        elif token == ")" and group is not None:
            product = multiply(*(t.dim for t in group))
            made = combine_parts(group, product) if group else PlacedDim(product, opened, opened)
            terms.append(made._replace(start=opened, stop=match.end()))
            group = None
        elif token in ("...", "…"):
            if group is not None:
                raise SyntaxFault(span, "an ellipsis in brackets is not an axis", "'...' outside of brackets")
            terms.append(PlacedDim(ANY_RANK.rest(), *span))
        elif token[0].isdigit() or token.isidentifier():
            (terms if group is None else group).append(_size(token, *span))
        else:
            raise SyntaxFault(
                span, f"unexpected {token!r}", "a name, a number" + (" or ')'" if group is not None else "")
            )
    if group is not None:
        end = len(text.rstrip())
        raise SyntaxFault((end, end), "the text ends too early", "a name, a number or ')'")
    return terms


def jaxtyping(text: str, parse: Callable[[str], PlacedDim]) -> list[PlacedDim]:
    """Return the dimensions of a jaxtyping annotation; ``parse`` reads the arithmetic within one word."""
    return [_jaxtyping_word(m[0], m.start(), parse) for m in re.finditer(r"\S+", text)]


def _jaxtyping_word(word: str, start: int, parse: Callable[[str], PlacedDim]) -> PlacedDim:
    stop = start + len(word)
    if word == "..." or _UNNAMED.fullmatch(word):
        return PlacedDim(ANY_RANK.rest(), start, stop)
    if word.startswith(("#*", "*#")):
        raise SyntaxFault((start, stop), "axes that may broadcast ('*#name') are not supported", "'*name'")
    if word.startswith("*") and word[1:].isidentifier():
        return PlacedDim(AxisSequence(word[1:]).rest(), start, stop)
    if word.startswith("#"):
        raise SyntaxFault((start, stop), "a size that may broadcast ('#name') is not supported", "'name', or 1")
    if word.startswith("?") and len(word) > 1:
        raise SyntaxFault((start, stop), "a size that varies over a tree ('?name') is not supported", "'_' or a name")
    if word.startswith("_") and word.isidentifier():
        return PlacedDim(Unknown(), start, stop)
    documented = _DOCUMENTED.match(word)
    skipped = documented.end() if documented else 0
    try:
        term = parse(word[skipped:])
    except SyntaxFault as fault:
        first, last = fault.span
        raise SyntaxFault((first + start + skipped, last + start + skipped), fault.problem, fault.expected) from None
    return term._replace(start=start, stop=stop)


def _size(text: str, start: int, stop: int) -> PlacedDim:
    if text == "?":
        return PlacedDim(Unknown(), start, stop)
    if text[0].isdigit():
        return PlacedDim(read_digits(text, (start, stop)), start, stop)
    return PlacedDim(symbol(text), start, stop)


# Texts that only the grammar reads: its parsers, the limits of texts, and errors with a suggestion.


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
        except SyntaxFault as fault:
            error = ShapeSyntaxError(text, fault.span, fault.problem, fault.expected)
        raise error
    return _read_or_correct(text, lambda t: _shape(t, dialect, max_size), _shape_reading)


def read_notation(text: str) -> Template[tuple[Dim, ...]]:
    """Return the shape written in a text, which is no sentence: another tool's text may be a name."""
    try:
        return _shape(text, None, MAX_SIZE)
    except SyntaxFault as fault:
        error = ShapeSyntaxError(text, fault.span, fault.problem, fault.expected)
    raise error


def read_dim(text: str) -> Template[Dim]:
    """Return the one dimension written in a text."""
    return _read_or_correct(text, _dim, lambda t: _reading(read_size_sentence(t)))


def read_formula(text: str) -> Template[Formula]:
    """Return the assumption or condition written in a text."""
    return _read_or_correct(text, _formula, lambda t: _reading(read_sentence(t)))


def _shape(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
    _check_limits(text)
    terms = _shape_terms(text, dialect)
    dims = tuple(_checked(t, max_size) for t in terms)
    sequences = [term for term, dim in zip(terms, dims, strict=True) if is_sequence(dim)]
    if len(sequences) > 1:
        raise SyntaxFault(sequences[1].span, "a shape has one sequence of axes ('...', '*name')", "sizes and names")
    return Template(dims, _unknowns(dims, all_bounds(terms)), ANY_RANK.rest() in dims)


def _dim(text: str) -> Template[Dim]:
    _check_limits(text)
    term: PlacedDim = run_grammar("dim", text)
    dim = _checked(term)
    return Template(dim, _unknowns((dim,), all_bounds((term,))), dim == ANY_RANK.rest())


def _formula(text: str) -> Template[Formula]:
    _check_limits(text)
    formula: Formula = run_grammar("formula", text)
    if any(mentions_rest(dim) and not is_sequence(dim) for dim in dims_of(formula)):
        raise SyntaxFault((0, len(text)), NO_SIZE)
    if any(ANY_RANK.rest() in symbols_of((dim,)) for dim in dims_of(formula)):
        raise SyntaxFault(
            (0, len(text)), "'...' names no sequence of axes", "a label, such as '...0', or a name, as '*a'"
        )
    return Template(formula, _unknowns(tuple(dims_of(formula)), {}), lost=tuple(_names_lost(text, formula)))


def _read_or_correct(
    text: str, read: Callable[[str], Template[_Read]], reworded: Callable[[str], RewrittenShape | None]
) -> Template[_Read]:
    """Return what a text means, also if it is no notation of ours but has one certain meaning.

    If it has slips, the error suggests that meaning. The error is raised outside the fault's handler: it does not hold
    the fault, and through it the parser, because Dask pickles errors together with their context.
    """
    try:
        return read(text)
    except SyntaxFault as fault:
        found, error = fault, ShapeSyntaxError(text, fault.span, fault.problem, fault.expected)
    meant = reworded(text)
    if meant is not None:
        try:
            template = read(meant.text)
        except SyntaxFault:
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


def _reading(found: tuple[str, bool] | None) -> RewrittenShape | None:
    return found and RewrittenShape(*found)


def _shape_reading(text: str) -> RewrittenShape | None:
    return rewrite_shape(text, _is_shape)


def _is_shape(text: str) -> bool:
    try:
        _shape(text, None, MAX_SIZE)
    except SyntaxFault:
        return False
    return True


def _shape_terms(text: str, dialect: str | None) -> list[PlacedDim]:
    if dialect is None or dialect == "default":
        if is_mlir(text):
            return mlir(text)
        shape: list[PlacedDim] = run_grammar("shape", text)
        return shape
    if dialect == "mlir":
        return mlir(text)
    if dialect == "einops":
        return einops(text)
    if dialect == "jaxtyping":
        return jaxtyping(text, lambda dim: run_grammar("dim", dim))
    if "," in str(dialect) or str(dialect).isupper():
        raise ShapeSyntaxError(str(dialect), (0, len(str(dialect))), "a second shape", "one shape at a time")
    known = ", ".join(DIALECTS)
    raise ShapeSyntaxError(str(dialect), (0, len(str(dialect))), f"there is no dialect {dialect!r}", f"one of {known}")


def run_grammar(start: str, text: str) -> Any:
    """Return the result of the grammar for ``text``, or raise `SyntaxFault`."""
    from lark import UnexpectedCharacters, UnexpectedToken

    try:
        return _parser(start).parse(text)
    except UnexpectedToken as error:
        raise fault_at_token(text, error) from None
    except UnexpectedCharacters as error:
        raise fault_at_character(text, error, start == "formula") from None
    except RecursionError:
        raise SyntaxFault((0, len(text)), "the text is nested too deeply") from None


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
        raise SyntaxFault((MAX_LENGTH, MAX_LENGTH + 1), f"the text is longer than {MAX_LENGTH:,} characters")
    depth = 0
    for match in _BRACKETS.finditer(text):
        if match[0] in "'\"":
            return  # an unclosed quote: the parser reports it
        depth += 1 if match[0] in "([" else -1 if match[0] in ")]" else 0
        if depth > MAX_DEPTH:
            raise SyntaxFault(match.span(), f"brackets nest more than {MAX_DEPTH} deep")


def _checked(term: PlacedDim, max_size: int | None = MAX_SIZE) -> Dim:
    """Return the dimension of a term, an integer only if it is a size; ``-1`` is an unknown."""
    dim = term.meant
    if mentions_rest(dim) and (
        not is_sequence(dim) or (ANY_RANK.rest() in symbols_of((dim,)) and dim != ANY_RANK.rest())
    ):
        raise SyntaxFault(term.span, NO_SIZE, "'*name' by itself, or broadcast(*a, *b)")
    if not isinstance(dim, int) or (dim >= 0 and (max_size is None or dim <= max_size)):
        return dim
    if dim == -1 and term.literal:
        return Unknown()
    if dim < 0:
        raise SyntaxFault(term.span, "a size is not negative", "0 or more, or '?' for an unknown size")
    raise SyntaxFault(term.span, TOO_LARGE, FITS)


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
