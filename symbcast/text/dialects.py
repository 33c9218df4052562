"""The notations other than our own: MLIR types, einops patterns and jaxtyping annotations."""

from __future__ import annotations

import re
from collections.abc import Callable

from symbcast.algebra.arithmetic import multiply
from symbcast.algebra.symbols import Unknown, symbol
from symbcast.text.dimensions import PlacedDim, read_digits
from symbcast.text.faults import UNKNOWN_RANK, Fault

NAMES = ("default", "mlir", "einops", "jaxtyping")

_MLIR_SIZE = re.compile(r"\s*(\?|[0-9]+)\s*x")
_MLIR_ELEMENT = re.compile(r"\s*[^\W\d][\w.]*(\s*<[\w\s.,:<>]*>)?\s*(,[^>]*)?>\s*\Z|\s*![\w.<>,:\s]+>\s*\Z")
_EINOPS_TOKEN = re.compile(r"\(|\)|\.\.\.|…|[0-9]+(?!\w)|[^\W\d]\w*|\S")
_DOCUMENTED = re.compile(r"[^\W\d]\w*=(?=[0-9]+\Z)")


def mlir(text: str) -> list[PlacedDim]:
    """Return the dimensions of a ``tensor<2x?xf32>``."""
    head = re.compile(r"\s*tensor\s*<").match(text)
    if not head:
        start = len(text) - len(text.lstrip())
        raise Fault((start, start + 1), "this is not an MLIR tensor type", "'tensor<...>' such as 'tensor<2x?xf32>'")
    position = head.end()
    if text[position:].lstrip().startswith("*"):
        star = text.index("*", position)
        raise Fault((star, star + 1), "unknown rank ('tensor<*x...>') is not supported yet")
    terms: list[PlacedDim] = []
    while size := _MLIR_SIZE.match(text, position):
        terms.append(_size(size[1], *size.span(1)))
        position = size.end()
    if not _MLIR_ELEMENT.match(text, position):
        wanted = "an element type such as 'f32' and '>'" if terms else "sizes such as '2x?x' and an element type"
        raise Fault((position, max(position + 1, len(text.rstrip()))), "this is not an MLIR tensor type", wanted)
    return terms


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
            terms.append(PlacedDim(multiply(*(t.dim for t in group)), opened, match.end()))
            group = None
        elif token in ("...", "…"):
            raise Fault(span, UNKNOWN_RANK)
        elif token[0].isdigit() or token.isidentifier():
            (terms if group is None else group).append(_size(token, *span))
        else:
            raise Fault(span, f"unexpected {token!r}", "a name, a number" + (" or ')'" if group is not None else ""))
    if group is not None:
        end = len(text.rstrip())
        raise Fault((end, end), "the text ends too early", "a name, a number or ')'")
    return terms


def jaxtyping(text: str, parse: Callable[[str], PlacedDim]) -> list[PlacedDim]:
    """Return the dimensions of a jaxtyping annotation; ``parse`` reads the arithmetic within one word."""
    return [_jaxtyping_word(m[0], m.start(), parse) for m in re.finditer(r"\S+", text)]


def _jaxtyping_word(word: str, start: int, parse: Callable[[str], PlacedDim]) -> PlacedDim:
    stop = start + len(word)
    if word.startswith(("...", "*")):
        raise Fault((start, stop), UNKNOWN_RANK)
    if word.startswith("#"):
        raise Fault((start, stop), "a size that may broadcast ('#name') is not supported", "'name', or 1")
    if word.startswith("?") and len(word) > 1:
        raise Fault((start, stop), "a size that varies over a tree ('?name') is not supported", "'_' or a name")
    if word.startswith("_") and word.isidentifier():
        return PlacedDim(Unknown(), start, stop)
    documented = _DOCUMENTED.match(word)
    skipped = documented.end() if documented else 0
    try:
        term = parse(word[skipped:])
    except Fault as fault:
        first, last = fault.span
        raise Fault((first + start + skipped, last + start + skipped), fault.problem, fault.expected) from None
    return term._replace(start=start, stop=stop)


def _size(text: str, start: int, stop: int) -> PlacedDim:
    if text == "?":
        return PlacedDim(Unknown(), start, stop)
    if text[0].isdigit():
        return PlacedDim(read_digits(text, (start, stop)), start, stop)
    return PlacedDim(symbol(text), start, stop)
