"""Identifiers for sizes, whose names can be any text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_SPACERS = re.compile(r"_{2,}")


def identifiers(
    names: Mapping[Symbol, str], spell: Callable[[str], str], is_refused: Callable[[str], bool]
) -> dict[Symbol, str]:
    """Return an identifier for each symbol, all distinct, and the same on every run.

    ``spell`` turns a name into an identifier of a language and leaves valid ones unchanged; ``is_refused`` returns
    whether a word is reserved. Names that are valid already are kept; the others avoid them.

    >>> from symbcast.core.algebra.symbols import Symbol
    >>> names = {Symbol("x"): "a b", Symbol("y"): "a_b", Symbol("z"): "is", Symbol("t"): "?0"}
    >>> list(identifiers(names, ascii_identifier, {"is"}.__contains__).values())
    ['a_b_2', 'a_b', 'is_', 'size_0']
    """
    found: dict[Symbol, str] = {}
    taken: set[str] = set()
    for symbol, name in names.items():
        if spell(name) == name and not is_refused(name) and name not in taken:
            found[symbol] = name
            taken.add(name)
    for symbol, name in names.items():
        if symbol not in found:
            spelled = spell(name)
            found[symbol] = next(c for c in _choices(spelled, taken) if c not in taken and not is_refused(c))
            taken.add(found[symbol])
    return {symbol: found[symbol] for symbol in names}


def ascii_identifier(name: str) -> str:
    """Return a name with ``_`` for all but ASCII letters and digits, not at the front, not doubled, not at the end.

    >>> [ascii_identifier(n) for n in ("N", "decoder.45_dim_1", "?0", "45", "a  b", "%", "")]
    ['N', 'decoder_45_dim_1', 'size_0', 'size_45', 'a_b', 'size', 'size']
    """
    return tidy(re.sub(r"[^A-Za-z0-9_]", "_", name))


def tidy(name: str) -> str:
    """Return a name of letters, digits and ``_`` with a letter first, and ``_`` only between others."""
    name = _SPACERS.sub("_", name).strip("_")
    if not name:
        return "size"
    return f"size_{name}" if name[0].isdecimal() else name


def _choices(name: str, taken: set[str]) -> Iterator[str]:
    yield name
    if name not in taken:
        yield f"{name}_"  # a reserved word, with the usual trailing underscore
    base = name.rstrip("_") or "size"
    yield from (f"{base}_{n}" for n in count(2))
