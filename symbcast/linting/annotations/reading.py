"""Python's annotation objects, read as what they say about values."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

from symbcast.core.shapes import Shape
from symbcast.linting.annotations.arrays import array_spec, ndarray_spec, shape_spec
from symbcast.linting.annotations.specs import (
    ArraySpec,
    ObjectSpec,
    SizeSpec,
    Spec,
    TreeSpec,
    TupleSpec,
    UnionSpec,
    UnknownSpec,
    ValueSpec,
)

_DEPTH = 8
"""How deep annotations of fields are followed: classes may contain themselves."""
_SAMPLES: dict[Any, ValueSpec] = {
    bool: ValueSpec((False, True)),
    float: ValueSpec((0.5,), is_sample=True),
    complex: ValueSpec((0.5j,), is_sample=True),
}


def read(annotation: Any, space: Mapping[str, Any] | None = None, depth: int = _DEPTH) -> Spec:
    """Return what an annotation says; ``space`` has the names that text in it may use.

    Raises what jaxtyping raises about the text of an annotation.
    """

    def inner(value: Any) -> Spec:
        return read(value, space, depth - 1)

    annotation = _evaluated(annotation, space)
    if depth < 0:
        return UnknownSpec(_text(annotation))
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(annotation, inner)
    if annotation is None or annotation is type(None):
        return ValueSpec((None,))
    if origin in (typing.Union, types.UnionType):
        return _union([inner(a) for a in args])
    if origin is typing.Literal:
        return ValueSpec(args)
    if origin in (typing.Final, typing.ClassVar, dataclasses.InitVar, typing.Required, typing.NotRequired):
        return inner(args[0])
    if origin is not None and not isinstance(annotation, type) and hasattr(origin, "__value__"):
        return inner(origin.__value__)
    found = array_spec(annotation) or ndarray_spec(annotation)
    if found is not None:
        return found
    if _is_tree(annotation):
        leaf = getattr(annotation, "leaftype", None)
        return UnknownSpec("PyTree") if leaf is None else TreeSpec(inner(leaf))
    if origin in (tuple, list, Sequence):
        return _sequence(origin, args, inner)
    if annotation in _SAMPLES:
        return _SAMPLES[annotation]
    return _named(annotation, inner)


def _evaluated(annotation: Any, space: Mapping[str, Any] | None) -> Any:
    """Return an annotation with its text evaluated, and with aliases and type variables replaced by their meaning."""
    for _ in range(_DEPTH):
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            annotation = _value_of(annotation, space)
        elif isinstance(annotation, typing.TypeVar):
            bound, constraints = annotation.__bound__, annotation.__constraints__
            annotation = bound if bound is not None else typing.Union[constraints] if constraints else Any  # noqa: UP007
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif hasattr(annotation, "__value__") and not isinstance(annotation, (type, enum.Enum)):
            annotation = annotation.__value__
        elif isinstance(annotation, dataclasses.InitVar):
            annotation = annotation.type
        else:
            break
    return annotation


@dataclasses.dataclass(frozen=True)
class _Unread:
    """The text of an annotation that cannot be evaluated: it may be for type checkers only."""

    text: str

    def __str__(self) -> str:
        return self.text


def _value_of(text: str, space: Mapping[str, Any] | None) -> Any:
    try:
        return eval(text, dict(space or {}))
    except Exception as error:
        if _is_of_jaxtyping(error):
            raise
        return _Unread(text)


def _is_of_jaxtyping(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith("jaxtyping")


def _annotated(annotation: Any, inner: Callable[[Any], Spec]) -> Spec:
    """Read ``Annotated``: a `symbcast.Shape` or an annotation of an array may be among the notes."""
    base = get_args(annotation)[0]
    for note in annotation.__metadata__:
        if isinstance(note, Shape):
            return shape_spec(note, base)
        found = array_spec(note)
        if found is not None:
            return found
    return inner(base)


def _union(parts: Sequence[Spec]) -> Spec:
    """Return the union of some parts; arrays that differ only by their library are one."""
    found: list[Spec] = []
    for part in parts:
        more = part.parts if isinstance(part, UnionSpec) else (part,)
        for one in more:
            alike = [f for f in found if isinstance(f, ArraySpec) and isinstance(one, ArraySpec) and f.axes == one.axes]
            if alike:
                found[found.index(alike[0])] = dataclasses.replace(alike[0], library="")
            elif one not in found:
                found.append(one)
    arrays = [f for f in found if isinstance(f, ArraySpec)]
    if any(a.dtype == "key" for a in arrays):  # which raw keys fit depends on JAX's default generator
        raw = [a for a in arrays if a.dtype == "uint32"]
        found = [f for f in found if f not in raw] + [UnknownSpec("raw key")] * bool(raw)
    scalars = (SizeSpec(), *_SAMPLES.values(), *map(UnknownSpec, ("bool", "number", "generic")))
    if any(not a.axes for a in arrays) or any(a.axes[0].is_many for a in arrays if a.axes):
        found = [f for f in found if f not in scalars]  # a number is an array without axes
    return found[0] if len(found) == 1 else UnionSpec(tuple(found))


def _sequence(origin: Any, args: tuple[Any, ...], inner: Callable[[Any], Spec]) -> Spec:
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        return TupleSpec(() if args == ((),) else tuple(map(inner, args)))
    return TupleSpec((), inner(args[0]), is_list=origin is list) if args else UnknownSpec(origin.__name__)


def _is_tree(annotation: Any) -> bool:
    return isinstance(annotation, type) and annotation.__name__.startswith("PyTree") and _package(annotation) in _TREES


_TREES = ("jaxtyping", "builtins")


def _package(value: Any) -> str:
    return str(getattr(value, "__module__", "")).partition(".")[0]


def _named(annotation: Any, inner: Callable[[Any], Spec]) -> Spec:
    """Read a class: an integer, an enumeration, or an object with annotated fields."""
    if annotation is int:
        return SizeSpec()
    kind = get_origin(annotation) or annotation
    if not isinstance(kind, type):
        return UnknownSpec(_text(annotation))
    if issubclass(kind, enum.Enum) and len(kind):
        return ValueSpec(tuple(kind), is_sample=False)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = _hints(kind)
        fields = {n: inner(hints.get(n, Any)) for n in kind._fields}
        return ObjectSpec(kind.__name__, fields, lambda values: kind(**values))
    if dataclasses.is_dataclass(kind) and not getattr(kind, "__abstractmethods__", None):
        return object_spec(kind, inner)
    return UnknownSpec(_text(annotation))


def object_spec(kind: type, inner: Callable[[Any], Spec]) -> Spec:
    """Return the fields of a dataclass; its object is made without running ``__init__``, as its fields say all."""
    hints, fields = _hints(kind), {}
    for field in dataclasses.fields(kind):
        spec = inner(hints.get(field.name, Any))
        if not isinstance(spec, (ArraySpec, TreeSpec, TupleSpec, ObjectSpec, UnionSpec)):
            spec = _default(field) or spec
        fields[field.name] = spec

    def make(values: Mapping[str, Any]) -> Any:
        made: Any = object.__new__(kind)
        for name, value in values.items():
            object.__setattr__(made, name, value)
        return made

    return ObjectSpec(kind.__name__, fields, make)


def _default(field: dataclasses.Field[Any]) -> Spec | None:
    if field.default is not dataclasses.MISSING:
        return ValueSpec((field.default,), is_sample=True)
    if field.default_factory is not dataclasses.MISSING:
        return ValueSpec((field.default_factory(),), is_sample=True)
    return None


def _hints(kind: type) -> dict[str, Any]:
    """Return the annotations of a class and its bases, evaluated one by one: one may name what is not there."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        space = {**vars(sys.modules.get(base.__module__, types)), **vars(base)}
        for name, value in vars(base).get("__annotations__", {}).items():
            try:
                found[name] = _evaluated(value, space)
            except Exception:
                found[name] = Any
    return found


def _text(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
