"""What annotations say about values: arrays with axes, sizes, values, and structures of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from symbcast.linting.annotations.axes import Axis

Library: TypeAlias = Literal["numpy", "jax", "torch", ""]


@dataclass(frozen=True)
class ArraySpec:
    """An array: its axes, the library whose array it is (empty for any), and a dtype that is accepted.

    ``text`` is the shape as written, for expressions that its spaces divide. ``is_shaped`` is False if the annotation
    says nothing about the shape.
    """

    axes: tuple[Axis, ...]
    library: Library = ""
    dtype: str = "float"
    text: str = ""

    @property
    def is_shaped(self) -> bool:
        """Whether the annotation says anything about the shape."""
        is_said = any(a.kind != "any" or not a.is_many for a in self.axes) or not self.axes
        return is_said and self.dtype != "key"


@dataclass(frozen=True)
class SizeSpec:
    """An integer, which may be a size."""


@dataclass(frozen=True)
class ValueSpec:
    """A value of a few kinds; ``is_sample`` says that others are accepted too."""

    values: tuple[Any, ...]
    is_sample: bool = False


@dataclass(frozen=True)
class UnionSpec:
    """A value of one of several kinds."""

    parts: tuple[Spec, ...]


@dataclass(frozen=True)
class TupleSpec:
    """A tuple with these parts; if ``rest`` is given, any number of them, as a tuple or a list."""

    parts: tuple[Spec, ...]
    rest: Spec | None = None
    is_list: bool = False


@dataclass(frozen=True)
class TreeSpec:
    """A tree of any structure, whose leaves are all of one kind."""

    leaf: Spec


@dataclass(frozen=True, eq=False)
class ObjectSpec:
    """An object with annotated fields, and how it is made from their values."""

    name: str
    fields: Mapping[str, Spec]
    make: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class UnknownSpec:
    """A value about which the annotation says nothing that a trace can use."""

    text: str


Spec: TypeAlias = "ArraySpec | SizeSpec | ValueSpec | UnionSpec | TupleSpec | TreeSpec | ObjectSpec | UnknownSpec"


def arrays_in(spec: Spec, depth: int = 6) -> list[ArraySpec]:
    """Return the arrays that an annotation mentions."""
    if isinstance(spec, ArraySpec):
        return [spec]
    if isinstance(spec, TreeSpec):
        return arrays_in(spec.leaf, depth)
    inner: list[Spec] = []
    if isinstance(spec, UnionSpec):
        inner = list(spec.parts)
    elif isinstance(spec, TupleSpec):
        inner = [*spec.parts, *([spec.rest] if spec.rest is not None else [])]
    elif isinstance(spec, ObjectSpec) and depth:
        inner = list(spec.fields.values())
    return [a for s in inner for a in arrays_in(s, depth - 1)]
