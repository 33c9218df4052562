"""Our notation of sizes, shapes and formulas: read from text, and written.

Reading has a cache, and fresh unknowns for every call. A text that is not in our notation is read as a sentence; all
that only such texts need is loaded for them alone.

Written text reads back as the same. It has only names: a symbol with other assumptions that a user passes is written
like one of ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import TypeAlias, TypeVar

from symbcast.core.algebra.arithmetic import MAX_SIZE, replace_symbols
from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of, with_dims
from symbcast.core.algebra.symbols import (
    NO_NAMES,
    Rest,
    SequenceSymbol,
    TermWriter,
    Unknown,
    distinct_labels,
    mentions_rest,
    name_text,
    symbol,
)
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import cached_uncounted, uncounted
from symbcast.core.text.folding import FOLDED_FROM, MAX_UNFOLDED, folded, may_be_folded, unfolded
from symbcast.core.text.reader import read_dim, read_expression, read_formula, read_shape
from symbcast.core.text.templates import Template
from symbcast.core.text.tokens import MAX_LENGTH, SyntaxFault, check_limits
from symbcast.errors import ShapeSyntaxError

# Reading.


_Value = TypeVar("_Value")

# Names and sizes between commas: nearly every shape that is written, read without the reader.
_PLAIN = re.compile(r"(?:[^\W\d]\w*|\d{1,18})(?:, ?[^\W\d]\w*|, ?\d{1,18})*", re.ASCII)
# A name and a number: most assumptions.
_PLAIN_BOUND = re.compile(r"([^\W\d]\w*) (>=|<=|==|>|<|!=) (\d{1,18})", re.ASCII)
_WORD = re.compile(r"[^\W\d][\w.]*|\?\w+|'[^']*'|\"[^\"]*\"")


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
    return _with_fresh_unknowns(_dim_template(text))


def parse_expression(text: str) -> Dim:
    """Return the expression of sizes written in ``text``: a dimension, or a number below 0.

    >>> parse_expression("3 - 8"), parse_expression("N - 8")
    (-5, N - 8)
    """
    return _with_fresh_unknowns(_read_or_correct(text, read_expression, _reworded_dim))


def _with_fresh_unknowns(template: Template[Dim]) -> Dim:
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


@lru_cache(maxsize=256)
def _shape_template(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
    # A text of names and integers charges nothing: opening a counter would take as long as reading it.
    plain = _plain_shape(text) if dialect is None else None
    return Template(plain, ()) if plain is not None else _read_any_shape(text, dialect, max_size)


@uncounted
def _read_any_shape(text: str, dialect: str | None, max_size: int | None) -> Template[tuple[Dim, ...]]:
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
    return None if not NO_NAMES.isdisjoint(words) else tuple([int(w) if w.isdecimal() else symbol(w) for w in words])


def plain_bound(text: str) -> Formula | None:
    """Return the comparison of a name with a number; None for any other text."""
    match = _PLAIN_BOUND.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None or match[1] in NO_NAMES:
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


@lru_cache(maxsize=256)
def _formula_template(text: str) -> Template[Formula]:
    simple = plain_bound(text)
    return Template(simple, ()) if simple is not None else _read_any_formula(text)


@uncounted
def _read_any_formula(text: str) -> Template[Formula]:
    if may_be_folded(text):
        return _read(text, _read_folded)
    return _read_or_correct(text, read_formula, _reworded_formula)


def _read_folded(text: str) -> Template[Formula]:
    """Return what a folded formula stands for, or raise `SyntaxFault`, which is about all of it."""
    check_limits(text)
    try:
        return read_formula(unfolded(text), MAX_UNFOLDED)
    except SyntaxFault as fault:
        raise SyntaxFault((0, len(text)), fault.problem, fault.expected) from None


def _reworded_formula(text: str) -> tuple[str, bool] | None:
    from symbcast.core.text.sentences import read_sentence

    return read_sentence(text)


# Writing.


Labels: TypeAlias = Mapping[Symbol, str]
Order: TypeAlias = Mapping[Symbol, int] | None
"""The positions of symbols in sums; None to sort them by name."""

_LABEL_OR_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\?\w+"""
_MIRRORED = {"<=": ">=", "<": ">"}


def dim_text(dim: Dim, order: Order = None) -> str:
    """Return a dimension as text; ``order`` is the order of symbols in sums, by default that of their names.

    >>> from symbcast.core.text import parse_dim
    >>> dim_text(parse_dim("1 + N*2")), dim_text(parse_dim("-1 + (N + 1)//2"))
    ('2*N + 1', '(N + 1)//2 - 1')
    >>> dim_text(parse_dim("?")), dim_text(parse_dim("2..5")), dim_text(parse_dim("'a b'"))
    ('?', '2..5', "'a b'")
    """
    return name_text(dim.name) if type(dim) is Symbol else _dim_texts((dim,), order)[0]


def labelled_text(dim: Dim, order: Order = None) -> str:
    """Return a dimension as text in which every unknown is written as its label, without bounds.

    >>> from symbcast.core.text import parse_shape
    >>> [labelled_text(d) for d in parse_shape("?, 2..5, N + 1")]
    ['?0', '?1', 'N + 1']
    """
    return name_text(dim.name) if type(dim) is Symbol else TermWriter(labels_of((dim,)), order).dim(dim)


def shape_text(shape: Sequence[Dim]) -> str:
    """Return a shape as text; an unlabelled unknown gets a label only if it occurs again or within arithmetic.

    >>> from symbcast.core.text import parse_shape
    >>> shape_text(parse_shape("N, 3")), shape_text(parse_shape("N")), shape_text(())
    ('(N, 3)', '(N,)', '()')
    >>> shape_text(parse_shape("?, 2..5, ?a, ?a + 1, ?b"))
    '(?, 2..5, ?a, ?a + 1, ?b)'
    """
    texts = _dim_texts(shape)
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def formula_text(formula: Formula, names: Mapping[Symbol, str] | None = None, order: Order = None) -> str:
    """Return a formula as text; the compatibility of a pair is spelled out.

    ``names`` are the names of sizes; without it, unknowns are shown by their labels and all others by their names;
    ``order`` is the order of sizes in sums.

    >>> from symbcast.core.text import parse_formula
    >>> formula_text(parse_formula("2 <= N and compatible(N, M)"))
    'N >= 2 and (N == M or N == 1 or M == 1)'
    """
    labels = labels_of(dims_of(formula)) if names is None else _labels(names)
    return write_formula(formula, TermWriter(labels, order))


def write_formula(formula: Formula, writer: TermWriter) -> str:
    """Return a formula as text whose terms a writer writes; a long one is folded: see `symbcast.core.text.folding`."""
    text = _formula_text(formula, writer)[0]
    if len(text) < FOLDED_FROM:
        return text
    shorter = _formula_text(formula, writer, folds=True)[0]
    return shorter if len(shorter) < len(text) else text


def _dim_texts(dims: Sequence[Dim], order: Order = None) -> list[str]:
    labels = labels_of(dims)
    writer = TermWriter(labels, order)
    if not labels:
        return [_sequence_text(d, dims) or writer.dim(d) for d in dims]
    uses = Counter(u for d in dims for u in _unknowns(d))
    anonymous = {d for d in dims if isinstance(d, Unknown) and uses[d] == 1 and labels[d][1:].isdecimal()}
    texts = [_bounds(d) or "?" if d in anonymous else _sequence_text(d, dims) or writer.dim(d) for d in dims]
    for s, label in labels.items():
        if isinstance(s, Unknown) and _bounds(s) and s not in anonymous:
            _add_bounds(texts, label, _bounds(s))
    return texts


def _sequence_text(dim: Dim, dims: Sequence[Dim]) -> str:
    """Return ``...`` for an unnamed sequence of axes that occurs nowhere else in a shape."""
    if not isinstance(dim, Rest) or not dim.sequence.name[3:].isdecimal() or not dim.sequence.is_anonymous:
        return ""
    uses = sum(s.sequence == dim.sequence for d in dims for s in _symbols(d) if isinstance(s, SequenceSymbol))
    return "..." if uses == 1 and not dim.place else ""


def _add_bounds(texts: list[str], label: str, bounds: str) -> None:
    """Write the bounds of an unknown at its first occurrence."""
    for place, text in enumerate(texts):
        if text == label:
            texts[place] = f"{label}:{bounds}"
            return
        # A label in quotes is part of a name.
        for match in re.finditer(_LABEL_OR_QUOTED, text):
            if match[0] == label:
                texts[place] = f"{text[: match.start()]}({label}:{bounds}){text[match.end() :]}"
                return


def _bounds(unknown: Unknown) -> str:
    """Return ``2..5``, ``2..`` or ``..5``; nothing for an unknown that may have any size."""
    if unknown.upper is None:
        return f"{unknown.lower}.." if unknown.lower else ""
    return f"{unknown.lower or ''}..{unknown.upper}"


def labels_of(dims: Iterable[Dim]) -> dict[Symbol, str]:
    """Return the written form of unknowns, and of a user's dummies that share a name with another size."""
    symbols = dict.fromkeys([s for d in dims for s in _symbols(d)])
    return _labels(names_of(symbols)) if any(s.is_Dummy for s in symbols) else {}


def names_of(symbols: Iterable[Symbol]) -> dict[Symbol, str]:
    """Return distinct names for sizes that are shown together, except that one unknown may have two labels.

    The first size with a name keeps it; another unknown gets the first free label, a user's dummy a number.
    """
    sizes = dict.fromkeys(symbols)
    names = {s: s.name for s in sizes if type(s) is Symbol}
    if len(names) == len(sizes) == len({*names.values()}):
        return names
    other = distinct_labels(s for s in sizes if isinstance(s, Unknown))
    taken = Counter(s.name for s in sizes if not isinstance(s, Unknown))
    if not other and (not taken or max(taken.values()) == 1):
        return {s: s.name for s in sizes}
    return _numbered(sizes, other)


def _numbered(symbols: Iterable[Symbol], other: Mapping[Unknown, Unknown]) -> dict[Symbol, str]:
    names: dict[Symbol, str] = {}
    holders: dict[str, Symbol] = {s.name: s for s in symbols if not s.is_Dummy}
    for s in symbols:
        if isinstance(s, Unknown):
            names[s] = other.get(s, s).name
        elif s.is_Dummy:
            choices = chain([s.name], (f"{s.name}_{n}" for n in count(1)))
            names[s] = next(name for name in choices if holders.setdefault(name, s) is s)
        else:
            names[s] = s.name
    return names


def _labels(names: Mapping[Symbol, str]) -> dict[Symbol, str]:
    """Return the written form of each size that differs from its name."""
    return {
        s: name if isinstance(s, Unknown) else name_text(name)
        for s, name in names.items()
        if isinstance(s, Unknown) or s.name != name
    }


def _symbols(dim: Dim) -> Iterable[Symbol]:
    """Return the symbols of a dimension, unknowns by age."""
    if isinstance(dim, int):
        return ()
    symbols = dim.symbols()
    return sorted(symbols, key=lambda s: s.number) if len(symbols) > 1 else symbols


def _unknowns(dim: Dim) -> list[Unknown]:
    return [s for s in _symbols(dim) if isinstance(s, Unknown)]


def _formula_text(
    formula: Formula, writer: TermWriter, is_within: bool = False, *, folds: bool = False
) -> tuple[str, str]:
    """Return the text of a formula and the word that joins its parts (``and``, ``or``), if any.

    Alternatives about sequences may differ from axis to axis, which is written as ``each``, unless they are nested.
    """
    match formula:
        case Comparison(operator, left, right):
            return _comparison(operator, left, right, writer), ""
        case AllOf(parts):
            return _joined("and", parts, writer, is_within, folds) if parts else ("True", "")
        case AnyOf(parts):
            if not is_within and any(map(mentions_rest, dims_of(formula))):
                return f"each({_joined('or', parts, writer, True, False)[0]})", ""
            return _joined("or", parts, writer, is_within, folds) if parts else ("False", "")
        case Compatible(dims) | Clashing(dims):
            word, texts = "" if isinstance(formula, Compatible) else "not ", [writer.dim(d) for d in dims]
            if any(map(mentions_rest, dims)):
                return f"{word}compatible({', '.join(texts)})", ""  # applies to each axis, so it is not spelled out
            return _compatibility(not word, texts)


def _joined(word: str, parts: Iterable[Formula], writer: TermWriter, is_within: bool, folds: bool) -> tuple[str, str]:
    parts = tuple(parts)
    written = [_formula_text(p, writer, is_within, folds=folds) for p in parts]
    if len(written) == 1:
        return written[0]
    texts = [f"({text})" if inner not in ("", word) else text for text, inner in written]
    if folds and len(texts) > 2:
        texts, heads = _with_heads(parts, texts, writer) if word == "and" else (texts, [])
        texts = folded(texts, word, heads)
        if len(texts) == 1:
            return texts[0], ""
    return f" {word} ".join(texts), word


def _with_heads(parts: Sequence[Formula], texts: list[str], writer: TermWriter) -> tuple[list[str], list[str]]:
    """Return the texts of conjuncts and the beginnings of equalities, ``a == ``; with ``b == a`` turned to match."""
    sides = [_sides(part, writer) for part in parts]
    heads = {side[0] for side in sides if side}
    turned = [side[::-1] if side and side[1] in heads and side[1].isidentifier() else side for side in sides]
    written = [
        text if now is before else f"{now[0]} == {now[1]}"
        for text, now, before in zip(texts, turned, sides, strict=True)
    ]
    return written, [f"{side[0]} == " if side else "" for side in turned]


def _sides(formula: Formula, writer: TermWriter) -> tuple[str, ...]:
    match formula:
        case Comparison("==", left, right):
            return writer.dim(left), writer.dim(right)
    return ()


def _comparison(operator: str, left: Dim, right: Dim, writer: TermWriter) -> str:
    if operator in _MIRRORED and isinstance(left, int) and not isinstance(right, int):
        operator, left, right = _MIRRORED[operator], right, left
    return f"{writer.dim(left)} {operator} {writer.dim(right)}"


def _compatibility(valid: bool, dims: list[str]) -> tuple[str, str]:
    if len(dims) == 2 and "1" in dims:
        return str(valid), ""  # 1 is compatible with any size
    if not dims:
        return str(valid), ""
    if len(dims) != 2 or all(d.isdecimal() for d in dims):
        return f"{'' if valid else 'not '}compatible({', '.join(dims)})", ""
    operator, word = ("==", "or") if valid else ("!=", "and")
    return f" {word} ".join(_pair(dims[0], dims[1], operator)), word


def _pair(left: str, right: str, operator: str) -> Iterator[str]:
    """Yield the three ways in which two dimensions are compatible, without those that a number decides."""
    if left.isdecimal():
        left, right = right, left
    if right.isdecimal():
        # The form that conditions have, so that it reads back as the same formula.
        yield f"{left} {operator} 1"
        yield f"{left} {operator} {right}"
        return
    yield f"{left} {operator} {right}"
    yield f"{left} {operator} 1"
    yield f"{right} {operator} 1"
