"""Parsing of dimensions and formulas: the cache, and fresh unknowns for every call.

Plain and infix texts are read directly. The grammar, and all that only its texts need, is loaded for any other text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import Comparison, Formula, with_dims
from symbcast.core.algebra.size_values import MAX_SIZE
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.text.infix import MAX_LENGTH, Template, infix_dim, infix_formula, infix_shape

_PLAIN = re.compile(r"(?:[^\W\d]\w*|\d{1,18})(?:, ?[^\W\d]\w*|, ?\d{1,18})*", re.ASCII)
"""Names and sizes between commas: nearly every shape that is written, read without the grammar."""
_PLAIN_BOUND = re.compile(r"([^\W\d]\w*) (>=|<=|==|>|<|!=) (\d{1,18})", re.ASCII)
"""A name and a number: most assumptions."""
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
    """Return the assumption written in ``text``, and the text; a sentence is returned in the notation of the grammar.

    >>> parse_assumption("N is between 2 and 5")[1], parse_assumption(" 2<=N ")[1]
    ('2 <= N <= 5', '2<=N')
    """
    template = _formula_template(text)
    return _formula(template), template.reading or text.strip()


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


@lru_cache(maxsize=256)
def _shape_template(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
    plain = _plain_shape(text) if dialect is None else None
    if plain is None and dialect is None:
        plain = infix_shape(text)
    if plain is not None:
        return Template(plain, ())
    from symbcast.core.text.grammar import read_shape

    return read_shape(text, dialect, max_size)


@lru_cache(maxsize=256)
def _notation_template(text: str) -> Template[tuple[Dim, ...]]:
    from symbcast.core.text.grammar import read_notation

    return read_notation(text)


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
    found = _PLAIN_BOUND.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if found is None or found[1] in _NO_NAMES:
        return None
    size, number = symbol(found[1]), int(found[3])
    match found[2]:
        case ">=":
            return Comparison("<=", number, size)
        case ">":
            return Comparison("<", number, size)
        case "<=" | "<" | "==" | "!=" as operator:
            return Comparison(operator, size, number)
    return None


@lru_cache(maxsize=256)
def _dim_template(text: str) -> Template[Dim]:
    simple = infix_dim(text)
    if simple is not None:
        return Template(simple, ())
    from symbcast.core.text.grammar import read_dim

    return read_dim(text)


@lru_cache(maxsize=256)
def _formula_template(text: str) -> Template[Formula]:
    simple = plain_bound(text) or infix_formula(text)
    if simple is not None:
        return Template(simple, ())
    from symbcast.core.text.grammar import read_formula

    return read_formula(text)
