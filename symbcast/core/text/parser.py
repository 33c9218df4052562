"""Parsing of dimensions and formulas: the cache, and fresh unknowns for every call.

A text that is not in our notation is read as a sentence; all that only such texts need is loaded for them alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

from symbcast.core.algebra.arithmetic import MAX_SIZE, replace_symbols
from symbcast.core.algebra.formulas import Comparison, Formula, with_dims
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import cached_uncounted
from symbcast.core.text.reader import read_dim, read_formula, read_shape
from symbcast.core.text.templates import Template
from symbcast.core.text.tokens import MAX_LENGTH, SyntaxFault
from symbcast.errors import ShapeSyntaxError

_Value = TypeVar("_Value")

_PLAIN = re.compile(r"(?:[^\W\d]\w*|\d{1,18})(?:, ?[^\W\d]\w*|, ?\d{1,18})*", re.ASCII)
"""Names and sizes between commas: nearly every shape that is written, read without the reader."""
_PLAIN_BOUND = re.compile(r"([^\W\d]\w*) (>=|<=|==|>|<|!=) (\d{1,18})", re.ASCII)
"""A name and a number: most assumptions."""
_WORD = re.compile(r"[^\W\d][\w.]*|\?\w+|'[^']*'|\"[^\"]*\"")
_NO_NAMES = frozenset({"None", "True", "False", "and", "or", "not"})


def parse_shape(text: str, dialect: str | None = None, max_size: int | None = MAX_SIZE) -> tuple[Dim, ...]:
    """Return the dimensions written in ``text``; every ``?`` is a fresh unknown on every call.

    ``max_size`` is the largest integer size; None for the results of operations, which may exceed 64 bits.

    >>> parse_shape("(N, 2*N + 1, 3)")
    (N, 2*N + 1, 3)
    >>> parse_shape("tensor<2x3xf32>"), parse_shape("(h w) c 1", "einops")
    ((2, 3), (h*w, c, 1))
    """
    return _fresh(_shape_template(text, dialect, max_size))


def parse_notation(text: str) -> tuple[Dim, ...]:
    """Return the dimensions written in ``text`` as symbcast writes them; any other text is refused.

    A model's or tool's own texts are read so: what is a sentence to us, such as ``Max(1, N)``, may be a name there.

    >>> parse_notation("max(1, N)"), parse_shape("Max(1, N)")
    ((max(N, 1),), (max(N, 1),))
    >>> parse_notation("Max(1, N)")
    Traceback (most recent call last):
        ...
    symbcast.errors.ShapeSyntaxError: there is no function 'Max'; expected one of min, max, mod, floordiv, broadcast
        Max(1, N)
        ^^^
    """
    return _fresh(_notation_template(text))


def _fresh(template: Template[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    if not template.unknowns and not template.is_of_any_rank:
        return template.value
    fresh = template.fresh()
    return tuple(replace_symbols(d, fresh) for d in template.value)


def parse_dim(text: str) -> Dim:
    """Return the one dimension written in ``text``.

    >>> parse_dim("(N + 1)//2"), parse_dim("7 % 4")
    ((N + 1)//2, 3)
    """
    template = _dim_template(text)
    if not template.unknowns and not template.is_of_any_rank:
        return template.value
    return replace_symbols(template.value, template.fresh())


def parse_formula(text: str) -> Formula:
    """Return the assumption or condition written in ``text``.

    >>> parse_formula("2 <= N < 5")
    AllOf((Comparison('<=', 2, N), Comparison('<', N, 5)))
    """
    return _formula(_formula_template(text))


def parse_assumption(text: str) -> tuple[Formula, str]:
    """Return the assumption written in ``text``, and the text; a sentence is returned in our notation.

    >>> parse_assumption("N is between 2 and 5")[1], parse_assumption(" 2<=N ")[1]
    ('2 <= N <= 5', '2<=N')
    """
    template = _formula_template(text)
    return _formula(template), template.reading or text.strip()


@lru_cache(maxsize=1024)  # constant work: a text is not long, so no effort is counted for it
def _places_in(text: str) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for word in _WORD.findall(text):
        found.setdefault(word.strip("'\""), len(found))
    return found


def symbols_as_written(dims: Iterable[Dim], written: Iterable[object]) -> tuple[Symbol, ...]:
    """Return the symbols of dimensions in order of appearance: of those in one sum or product, as in its text.

    Terms keep no order of their own. ``written`` are the texts of the dimensions, or None where one has none.

    >>> symbols_as_written(parse_shape("M*K, N"), ["M*K", "N"]), symbols_as_written(parse_shape("M*K"), [None])
    ((M, K, N), (K, M))
    """
    found: dict[Symbol, None] = {}
    for dim, text in zip(dims, written, strict=True):
        if type(dim) is Symbol:
            found[dim] = None
        elif not isinstance(dim, int):
            symbols = dim.symbols()
            places = _places_in(text) if len(symbols) > 1 and isinstance(text, str) else {}
            is_written = all(s.name in places for s in symbols)
            found.update(dict.fromkeys(sorted(symbols, key=lambda s: places[s.name]) if is_written else symbols))
    return tuple(found)


def _formula(template: Template[Formula]) -> Formula:
    if not template.unknowns:
        return template.value
    fresh = template.fresh()
    return with_dims(template.value, lambda dim: replace_symbols(dim, fresh))


def names_lost(text: str) -> tuple[Symbol, ...]:
    """Return the names in an assumption or condition that its formula does not mention.

    >>> names_lost("N == 3 and K - K == 0"), names_lost("N == 3 or True")
    ((), (N,))
    """
    return _formula_template(text).lost


@cached_uncounted(256)
def _shape_template(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
    plain = _plain_shape(text) if dialect is None else None
    if plain is not None:
        return Template(plain, ())
    if dialect in (None, "default"):
        return _read_or_correct(text, lambda t: _read_shape(t, max_size), _reworded_shape)
    return _read(text, lambda t: _read_shape(t, max_size, str(dialect)))


@cached_uncounted(256)
def _notation_template(text: str) -> Template[tuple[Dim, ...]]:
    return _read(text, _read_shape)


def _read_shape(text: str, max_size: int | None = MAX_SIZE, dialect: str = "default") -> Template[tuple[Dim, ...]]:
    """Return the shape written in a text, or raise `SyntaxFault`; a text that begins like an MLIR type is one."""
    if dialect == "default" and not text.lstrip().startswith(("tensor", "memref")):
        return read_shape(text, max_size)
    from symbcast.core.text.dialects import is_mlir, read_dialect

    if dialect != "default":
        return read_dialect(text, dialect, max_size)
    return read_dialect(text, "mlir", max_size) if is_mlir(text) else read_shape(text, max_size)


def _read(text: str, read: Callable[[str], Template[_Value]]) -> Template[_Value]:
    """Return what a text means in our notation.

    The error is raised outside the fault's handler: it does not hold the fault, and through it the reader, because Dask
    pickles errors together with their context.
    """
    try:
        return read(text)
    except SyntaxFault as fault:
        error = ShapeSyntaxError(text, fault.span, fault.problem, fault.expected)
    raise error


def _read_or_correct(
    text: str, read: Callable[[str], Template[_Value]], reword: Callable[[str], tuple[str, bool] | None]
) -> Template[_Value]:
    """Return what a text means, also if it is not in our notation but has one certain meaning.

    ``reword`` returns the text in our notation, and whether it has slips: then the error suggests that meaning.
    """
    try:
        return read(text)
    except SyntaxFault as fault:
        span, problem, expected = fault.span, fault.problem, fault.expected
    correction, is_slip = reword(text) or ("", True)
    if correction:
        try:
            template = read(correction)
        except SyntaxFault:
            correction = ""  # our notation has no such sizes, such as symbolic exponents
        else:
            if not is_slip:
                return template._replace(reading=correction)
    raise ShapeSyntaxError(text, span, problem, expected, correction)


def _reworded_shape(text: str) -> tuple[str, bool] | None:
    from symbcast.core.text.corrections import rewrite_shape

    def reads(part: str) -> bool:
        try:
            _read_shape(part)
        except SyntaxFault:
            return False
        return True

    return rewrite_shape(text, reads)


def _plain_shape(text: str) -> tuple[Dim, ...] | None:
    """Return a shape that consists of names and sizes; None for any other text."""
    if not text:
        return ()
    if len(text) > MAX_LENGTH or not _PLAIN.fullmatch(text):
        return None
    words = text.replace(" ", "").split(",")
    return None if not _NO_NAMES.isdisjoint(words) else tuple([int(w) if w.isdecimal() else symbol(w) for w in words])


def plain_bound(text: str) -> Formula | None:
    """Return the comparison of a name with a number; None for any other text."""
    match = _PLAIN_BOUND.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None or match[1] in _NO_NAMES:
        return None
    size, number = symbol(match[1]), int(match[3])
    match match[2]:
        case ">=":
            return Comparison("<=", number, size)
        case ">":
            return Comparison("<", number, size)
        case "<=" | "<" | "==" | "!=" as operator:
            return Comparison(operator, size, number)
    return None


@cached_uncounted(256)
def _dim_template(text: str) -> Template[Dim]:
    return _read_or_correct(text, read_dim, _reworded_dim)


def _reworded_dim(text: str) -> tuple[str, bool] | None:
    from symbcast.core.text.sentences import read_size_sentence

    return read_size_sentence(text)


@cached_uncounted(256)
def _formula_template(text: str) -> Template[Formula]:
    simple = plain_bound(text)
    if simple is not None:
        return Template(simple, ())
    return _read_or_correct(text, read_formula, _reworded_formula)


def _reworded_formula(text: str) -> tuple[str, bool] | None:
    from symbcast.core.text.sentences import read_sentence

    return read_sentence(text)
