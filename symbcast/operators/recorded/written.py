"""The arguments of methods that have more than one form: lists of shapes, targets with -1, positions, equations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symbcast.core.algebra.sizes import index_of
from symbcast.core.shapes import Shape
from symbcast.errors import OperatorError


def several(name: str, shapes: Any) -> tuple[Any, ...]:
    """Return the shapes in a list."""
    if isinstance(shapes, (str, Shape, Mapping)) or not isinstance(shapes, Iterable):
        raise OperatorError(name, "takes a list of shapes", f"write {name}([a, b], axis=0)")
    return tuple(shapes)


_INTEGER = re.compile(r"\s*-?\d{1,18}\s*")


def check_equation(equation: Any, shapes: Sequence[Any]) -> None:
    """Raise `OperatorError` if the equation does not come first, or if the shapes are in a list."""
    texts = [s for s in shapes if isinstance(s, str) and "->" in s]
    if texts:
        raise OperatorError("einsum", "the equation comes first", f"write einsum({texts[0]!r}, ...)")


def read_target(target: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """Return a target's sizes with 1 in place of -1, the axes with -1, and the axes with 0.

    A 0 stays in the sizes: the caller decides whether it copies a size.
    """
    if isinstance(target, str):
        found = _split(target)
        return _marked(found) if found is not None else (target, (), ())
    return _marked([target] if not isinstance(target, Iterable) else list(target))


def _split(text: str) -> list[str] | None:
    """Return the sizes in a text if it contains -1 or 0; None for any other text."""
    inner = text.strip()
    if inner[:1] in "([" and inner[-1:] in ")]":
        inner = inner[1:-1]
    parts = [p.strip() for p in re.split(r",(?![^()]*\))", inner)]
    parts = parts[:-1] if parts[-1:] == [""] else parts
    return parts if {"-1", "0"} & set(parts) else None


def _marked(items: Sequence[Any]) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    numbers = [_number(item) for item in items]
    inferred = tuple(n for n, number in enumerate(numbers) if number == -1)
    zeros = tuple(n for n, number in enumerate(numbers) if number == 0)
    if len(inferred) > 1:
        raise OperatorError("reshape", "at most one size may be -1")
    return tuple(1 if n in inferred else item for n, item in enumerate(items)), inferred, zeros


def _number(item: Any) -> int | None:
    if isinstance(item, str):
        return int(item) if item in ("-1", "0") else None
    return None if isinstance(item, bool) else index_of(item)


def as_list(places: Any) -> list[Any]:
    """Return one or more positions."""
    return list(places) if isinstance(places, Iterable) and not isinstance(places, str) else [places]


def references(places: Sequence[Any], sizes: list[Any]) -> tuple[int | str | None, ...]:
    """Return positions with each non-integer replaced by a reference into ``sizes``, to which it is appended."""
    found: list[int | str | None] = []
    for place in places:
        is_text = isinstance(place, str)
        number = None if place is None or (is_text and not _INTEGER.fullmatch(place)) else _number(place)
        number = int(place) if is_text and _INTEGER.fullmatch(place) else number
        if place is None or number is not None:
            found.append(number)
        else:
            found.append(f"#{len(sizes)}")
            sizes.append(place)
    return tuple(found)
