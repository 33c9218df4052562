"""Descriptions of values that are not tensors: sequences, and optional values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.answers.public.conditions import Condition
from symbcast.answers.report.json import sizes
from symbcast.core.shapes import Shape, shape_of
from symbcast.graphs.values.value import OptionalValue, SequenceValue

if TYPE_CHECKING:
    import sympy

    from symbcast.answers.explanation.names import Namer
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.value import CommonShape, Value


class SequenceShape(NamedTuple):
    """What is known about a sequence.

    Attributes:
        length: the number of its elements.
        common: the shape that its elements share, with None for a size in which they may differ; None if
            their ranks may differ.
        items: the shape of each element, if all are known.
    """

    length: int | sympy.Expr
    common: tuple[int | sympy.Expr | None, ...] | None
    items: tuple[Shape | None, ...] | None


class OptionalShape(NamedTuple):
    """The shape of an optional value if it is present, and when it is present, as far as these are known."""

    held: Shape | SequenceShape | None
    condition: Condition


def sequences_of(values: Mapping[str, Value]) -> dict[str, SequenceShape]:
    """Return the sequences among values by name."""
    return {name: _sequence(v) for name, v in values.items() if isinstance(v, SequenceValue)}


def optionals_of(values: Mapping[str, Value]) -> dict[str, OptionalShape]:
    """Return the optional values by name."""
    return {name: _optional(v) for name, v in values.items() if isinstance(v, OptionalValue)}


def _sequence(value: SequenceValue) -> SequenceShape:
    common = None if value.common is None else tuple(None if d is None else _plain(d) for d in value.common)
    items = None if value.items is None else tuple(_shape(i) for i in value.items)
    return SequenceShape(_plain(value.length), common, items)


def _optional(value: OptionalValue) -> OptionalShape:
    held = _sequence(value.held) if isinstance(value.held, SequenceValue) else _shape(value.held)
    return OptionalShape(held, Condition(value.is_there))


def _shape(value: Value | None) -> Shape | None:
    return None if value is None or value.shape is None else shape_of(value.shape)


def _plain(dim: Dim) -> Any:
    return shape_of((dim,))[0]


def sequence_to_dict(value: SequenceValue, namer: Namer) -> dict[str, Any]:
    """Return a sequence as data for JSON."""

    def told(dims: Any) -> list[int | str | None] | None:
        return None if dims is None else [None if d is None else sizes((d,), namer)[0] for d in dims]

    items = None if value.items is None else [told(i.shape) for i in value.items]
    return {"length": sizes((value.length,), namer)[0], "common": told(value.common), "items": items}


def optional_to_dict(value: OptionalValue, namer: Namer) -> dict[str, Any]:
    """Return an optional value as data for JSON."""
    held: Any = None
    if isinstance(value.held, SequenceValue):
        held = sequence_to_dict(value.held, namer)
    elif value.held is not None and value.held.shape is not None:
        held = sizes(value.held.shape, namer)
    return {"held": held, "condition": namer.formula(value.is_there)}


_SHOWN = 3
"""The maximum number of elements whose shapes are listed."""


def described(value: Value | None, text: Callable[[Dim], str]) -> str:
    """Return a description of a value that is not a tensor, its sizes formatted by ``text``; empty for tensors."""
    if isinstance(value, OptionalValue):
        held = described(value.held, text) or (_listed(value.held.shape, text) if value.held is not None else "")
        return f"optional {held}".strip()
    if not isinstance(value, SequenceValue):
        return ""
    if value.items and len(value.items) <= _SHOWN:
        return f"a sequence of {' and '.join(_listed(i.shape, text) for i in value.items)}"
    length = text(value.length)
    return f"a sequence of {length}" + (f", each {_listed(value.common, text)}" if value.common is not None else "")


def _listed(dims: CommonShape, text: Callable[[Dim], str]) -> str:
    if dims is None:
        return "an unknown shape"
    sizes = ["?" if d is None else text(d) for d in dims]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"
