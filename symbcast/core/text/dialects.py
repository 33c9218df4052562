"""The notations other than our own: MLIR types, einops patterns and jaxtyping annotations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import MAX_SIZE, multiply
from symbcast.core.algebra.symbols import AxisSequence, Unknown, symbol
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.core.text.reader import read_axis
from symbcast.core.text.templates import ANY_REST, LabelBounds, Template, checked_shape, mentioned_terms, mentioning_all
from symbcast.core.text.tokens import FITS, TOO_LARGE, SyntaxFault, check_limits, is_integer, read_digits
from symbcast.errors import ShapeSyntaxError

DIALECTS = ("default", "mlir", "einops", "jaxtyping")

_MLIR = re.compile(r"\s*(?:tensor|memref)\s*<")
_MLIR_SIZE = re.compile(r"\s*(\?|[0-9]+)\s*x")
_MLIR_UNRANKED = re.compile(r"\s*(\*)\s*x")
_MLIR_ELEMENT = re.compile(r"\s*!?[^\W\d][\w.]*\s*(<.*>)?\s*", re.DOTALL)
_MLIR_BOUNDS = re.compile(
    r"\s*#\w+\.(?:bounds\s*<([^<>]*)>|type_extensions\w*\s*<\s*bounds\s*=\s*\[([^\[\]]*)\]\s*>)\s*"
)
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_EINOPS_TOKEN = re.compile(r"\(|\)|\.\.\.|…|\w+|\S")
_UNNAMED = re.compile(r"\*_\w*")
_DOCUMENTED = re.compile(r"[^\W\d]\w*=(?=[0-9]+\Z)")


class PlacedDim(NamedTuple):
    """A dimension, its position in the text, and the bounds of labels in it."""

    dim: Dim
    start: int
    stop: int
    bounds: Sequence[LabelBounds] = ()


def read_dialect(text: str, dialect: str, max_size: int | None) -> Template[tuple[Dim, ...]]:
    """Return the shape written in a text, in a dialect other than our own, or raise `SyntaxFault`."""
    check_limits(text)
    if dialect not in _READERS:
        known = ", ".join(DIALECTS)
        problem, expected = f"there is no dialect {dialect!r}", f"one of {known}"
        if "," in str(dialect) or str(dialect).isupper():
            problem, expected = "a second shape", "one shape at a time"
        raise ShapeSyntaxError(str(dialect), (0, len(str(dialect))), problem, expected)
    placed = _READERS[dialect](text)
    bounds = [bound._replace(place=place) for place, dim in enumerate(placed) for bound in dim.bounds]
    return checked_shape([dim.dim for dim in placed], lambda place: placed[place][1:3], max_size, bounds)


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
        terms.append(PlacedDim(ANY_REST, *unranked.span(1)))
        position = unranked.end()
    while not unranked and (size := _MLIR_SIZE.match(text, position)):
        terms.append(_size(size[1], *size.span(1)))
        position = size.end()
    parts = _parameters(text, position)
    if parts is None or not _MLIR_ELEMENT.fullmatch(text, *parts[0]):
        expected = "an element type such as 'f32' and '>'" if terms else "sizes such as '2x?x' and an element type"
        raise SyntaxFault(
            (position, max(position + 1, len(text.rstrip()))), "this is not an MLIR tensor type", expected
        )
    bounds = next(filter(None, (_MLIR_BOUNDS.fullmatch(text, *span) for span in parts[1:])), None)
    return terms if bounds is None else _bounded(terms, bounds)


def _parameters(text: str, start: int) -> list[tuple[int, int]] | None:
    """Return the positions of a type's parameters, the element type first; None if its brackets do not close."""
    spans: list[tuple[int, int]] = []
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
                return None if text[position + 1 :].strip() else [*spans, (start, position)]
        elif character == "," and len(opened) == 1:
            spans.append((start, position))
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
            terms.append(PlacedDim(mentioning_all(product, mentioned_terms(t.dim for t in group)), opened, match.end()))
            group = None
        elif token in ("...", "…"):
            if group is not None:
                raise SyntaxFault(span, "an ellipsis in brackets is not an axis", "'...' outside of brackets")
            terms.append(PlacedDim(ANY_REST, *span))
        # "12a" is one token, neither a number nor a name, and "²" is a digit that `int` refuses.
        elif (token.isascii() and token.isdecimal()) or token.isidentifier():
            (terms if group is None else group).append(_size(token, *span))
        else:
            raise SyntaxFault(
                span, f"unexpected {token!r}", "a name, a number" + (" or ')'" if group is not None else "")
            )
    if group is not None:
        end = len(text.rstrip())
        raise SyntaxFault((end, end), "the text ends too early", "a name, a number or ')'")
    return terms


def jaxtyping(text: str) -> list[PlacedDim]:
    """Return the dimensions of a jaxtyping annotation."""
    return [_jaxtyping_word(m[0], m.start()) for m in re.finditer(r"\S+", text)]


def _jaxtyping_word(word: str, start: int) -> PlacedDim:
    stop = start + len(word)
    if word == "..." or _UNNAMED.fullmatch(word):
        return PlacedDim(ANY_REST, start, stop)
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
        dim, bounds = read_axis(word[skipped:])
    except SyntaxFault as fault:
        first, last = fault.span
        raise SyntaxFault((first + start + skipped, last + start + skipped), fault.problem, fault.expected) from None
    return PlacedDim(dim, start, stop, bounds)


def _size(text: str, start: int, stop: int) -> PlacedDim:
    if text == "?":
        return PlacedDim(Unknown(), start, stop)
    if is_integer(text):
        return PlacedDim(read_digits(text, (start, stop)), start, stop)
    return PlacedDim(symbol(text), start, stop)


_READERS = {"mlir": mlir, "einops": einops, "jaxtyping": jaxtyping}
