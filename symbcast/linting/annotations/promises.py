"""The condition under which a value is what an annotation promises."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from symbcast.core.algebra.terms import Dim
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, equal
from symbcast.core.shapes import Shape
from symbcast.linting.annotations.arguments import Form, term_text
from symbcast.linting.annotations.axes import Axis
from symbcast.linting.annotations.specs import ArraySpec, ObjectSpec, Spec, TreeSpec, TupleSpec, UnionSpec, ValueSpec


class Sizes:
    """What the names of axes stand for: the sizes of a trace or numbers, by their names in text.

    ``at`` are all sizes by name. A name that no argument has gets its size where it first occurs in a result.
    """

    def __init__(self, form: Form, at: Mapping[str, Dim]) -> None:
        numbers = {t: int(t) for texts in form.sizes.values() for t in texts if t.isdecimal()}
        self.form, self.at = form, {**numbers, **at}
        self.bound: dict[str, tuple[Dim, ...]] = {
            name: tuple(self.at[t] for t in texts)
            for name, texts in form.sizes.items()
            if all(t in self.at for t in texts)
        }

    def copy(self) -> Sizes:
        """Return a copy with the names bound so far."""
        made = Sizes(self.form, self.at)
        made.bound = dict(self.bound)
        return made

    def term(self, text: str) -> Dim | None:
        """Return the value of an expression; None if it mentions a name without a size."""
        from symbcast.core.algebra.arithmetic import replaced
        from symbcast.core.algebra.terms import symbols_of
        from symbcast.core.shapes import shape

        made = term_text(text, self.form)
        if made is None:
            return None
        (dim,) = shape(f"{made},").dims
        known = {s: self.at.get(s.name, self.bound.get(s.name, (None,))[0]) for s in symbols_of((dim,))}
        sizes = {s: size for s, size in known.items() if size is not None}
        return replaced(dim, sizes) if len(sizes) == len(known) else None


def promised(value: Any, spec: Spec, sizes: Sizes) -> Formula:
    """Return the condition under which a traced result has the shapes that an annotation promises.

    Arrays in the result are shapes, or anything with a ``shape``; parts of annotations that say nothing hold always.
    """
    match spec:
        case ArraySpec():
            dims = dims_in(value)
            return FALSE if dims is None else _axes(dims, spec, sizes)
        case UnionSpec(parts):
            return _one_of(value, parts, sizes)
        case TupleSpec(parts, rest):
            if not _is_sequence(value):
                return FALSE
            asked = [rest] * len(value) if rest is not None else list(parts)
            if len(asked) != len(value):
                return FALSE
            return all_of(promised(v, s, sizes) for v, s in zip(value, asked, strict=True) if s is not None)
        case TreeSpec(leaf):
            return all_of(_of_leaf(v, leaf, sizes, n) for n, v in enumerate(leaves(value)))
        case ObjectSpec(fields=fields):
            found = value if isinstance(value, Mapping) else {n: getattr(value, n, None) for n in fields}
            return all_of(promised(found.get(n), s, sizes) for n, s in fields.items() if isinstance(s, ArraySpec))
    return TRUE


def dims_in(value: Any) -> tuple[Dim, ...] | None:
    """Return the dimensions of an array or a number; None for any other value."""
    if isinstance(value, Shape):
        return tuple(value.dims)
    dims = getattr(value, "dims", None) if hasattr(type(value), "dims") else getattr(value, "shape", None)
    if dims is not None and not callable(dims):
        return tuple(dims)
    if value is float or isinstance(value, (bool, int, float, complex)) or hasattr(value, "free_symbols"):
        return ()
    return None


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not isinstance(value, Shape)  # a shape is a tuple too


def leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of a tree."""
    if isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key])
    elif _is_sequence(value):
        for part in value:
            yield from leaves(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, Shape)):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name, None))
    elif value is not None:
        yield value


def _of_leaf(value: Any, leaf: Spec, sizes: Sizes, number: int) -> Formula:
    """Return the condition on one leaf; sizes of its own, such as ``?n``, are those of the same leaf of arguments."""
    inner = sizes.copy()
    for name in [n for n in inner.bound if not n.startswith("*")]:
        own = sizes.at.get(f"{name}_{number}")
        if own is not None and isinstance(leaf, ArraySpec) and any(a.is_of_leaf and a.text == name for a in leaf.axes):
            inner.bound[name] = (own,)
    found = promised(value, leaf, inner)
    known = [] if not isinstance(leaf, ArraySpec) else [a.text for a in leaf.axes if not a.is_of_leaf]
    sizes.bound.update({n: d for n, d in inner.bound.items() if n.lstrip("*") in known})
    return found


def _one_of(value: Any, parts: Sequence[Spec], sizes: Sizes) -> Formula:
    found: list[Formula] = []
    first: Sizes | None = None
    for part in parts:
        if isinstance(part, ValueSpec):
            is_fitting = value in part.values if value is None or isinstance(value, (bool, str)) else part.is_sample
            found.append(TRUE if is_fitting and (value is None or dims_in(value) in (None, ())) else FALSE)
            continue
        inner = sizes.copy()
        asked = promised(value, part, inner)
        found.append(asked)
        first = first or (inner if asked != FALSE else None)
    if first is not None:
        sizes.bound = first.bound
    return any_of(found)


def _axes(dims: tuple[Dim, ...], spec: ArraySpec, sizes: Sizes) -> Formula:
    many = next((n for n, a in enumerate(spec.axes) if a.is_many), None)
    if many is None:
        if len(dims) != len(spec.axes):
            return FALSE
        return all_of(_axis(d, a, sizes) for d, a in zip(dims, spec.axes, strict=True))
    after = len(spec.axes) - many - 1
    if len(dims) < many + after:
        return FALSE
    stop = len(dims) - after
    found = [_axis(d, a, sizes) for d, a in zip(dims[:many], spec.axes[:many], strict=True)]
    found += [_axis(d, a, sizes) for d, a in zip(dims[stop:], spec.axes[many + 1 :], strict=True)]
    return all_of([*found, _many(dims[many:stop], spec.axes[many], sizes)])


def _axis(dim: Dim, axis: Axis, sizes: Sizes) -> Formula:
    asked: Dim | None
    if axis.kind == "any":
        return TRUE
    if axis.kind == "fixed":
        asked = int(axis.text)
    elif axis.kind == "term":
        asked = sizes.term(axis.text)
    else:
        asked = sizes.bound.setdefault(axis.text, (dim,))[0]
    return _is(dim, asked, axis.can_stretch)


def _many(dims: tuple[Dim, ...], axis: Axis, sizes: Sizes) -> Formula:
    if axis.kind == "any":
        return TRUE
    bound = sizes.bound.setdefault(f"*{axis.text}", dims)
    if axis.can_stretch and len(dims) <= len(bound):
        bound = bound[len(bound) - len(dims) :]
    if len(bound) != len(dims):
        return FALSE
    return all_of(_is(d, b, axis.can_stretch) for d, b in zip(dims, bound, strict=True))


def _is(dim: Dim, asked: Dim | None, can_stretch: bool) -> Formula:
    if asked is None or dim == asked:
        return TRUE
    found = _equal(dim, asked)
    return any_of([found, _equal(dim, 1)]) if can_stretch else found


def _equal(a: Dim, b: Dim) -> Formula:
    if isinstance(a, int) and isinstance(b, int):
        return TRUE if a == b else FALSE
    return equal(a, b)
