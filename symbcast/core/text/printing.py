"""Dimensions, shapes and formulas as text that `symbcast.core.text` reads back.

Printing uses only names: a symbol with other assumptions that a user passes prints like one of ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import TypeAlias

from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, dims_of
from symbcast.core.algebra.symbols import (
    Rest,
    SequenceSymbol,
    TermWriter,
    Unknown,
    distinct_labels,
    mentions_rest,
    name_text,
)
from symbcast.core.algebra.terms import Dim, Symbol

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
    """Return a formula as text whose terms a writer writes."""
    return _formula(formula, writer)[0]


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


def _formula(formula: Formula, writer: TermWriter, is_within: bool = False) -> tuple[str, str]:
    """Return the text of a formula and the word that joins its parts (``and``, ``or``), if any.

    Alternatives about sequences may differ from axis to axis, which is written as ``each``, unless they are nested.
    """
    match formula:
        case Comparison(operator, left, right):
            return _comparison(operator, left, right, writer), ""
        case AllOf(parts):
            return _joined("and", parts, writer, is_within) if parts else ("True", "")
        case AnyOf(parts):
            if not is_within and any(map(mentions_rest, dims_of(formula))):
                return f"each({_joined('or', parts, writer, True)[0]})", ""
            return _joined("or", parts, writer, is_within) if parts else ("False", "")
        case Compatible(dims) | Clashing(dims):
            word, texts = "" if isinstance(formula, Compatible) else "not ", [writer.dim(d) for d in dims]
            if any(map(mentions_rest, dims)):
                return f"{word}compatible({', '.join(texts)})", ""  # applies to each axis, so it is not spelled out
            return _compatibility(not word, texts)


def _joined(word: str, parts: Iterable[Formula], writer: TermWriter, is_within: bool) -> tuple[str, str]:
    written = [_formula(p, writer, is_within) for p in parts]
    if len(written) == 1:
        return written[0]
    texts = (f"({text})" if inner not in ("", word) else text for text, inner in written)
    return f" {word} ".join(texts), word


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
