"""The inputs of a model: each of their dynamic dimensions a size, called as the model calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FALSE, Formula, equal
from symbcast.errors import SymbcastError
from symbcast.graphs.inputs.given import NOTHING, Given
from symbcast.graphs.inputs.inputs import Inputs, free_name, inputs_of
from symbcast.graphs.inputs.knowledge import identifier, place_name
from symbcast.graphs.values.value import Value
from symbcast.onnx.types import TENSORS, number, value_of

if TYPE_CHECKING:
    from symbcast.answers.public.env import ShapeEnv
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

_NAME = r"[^\W\d][\w.]*"
"""Names with hyphens between them are one name too, such as batch-size, unless one is that of a dimension elsewhere."""

_UNNAMED = ("", "?", "-1", "None", "unk", "_")


def read_inputs(graph: Any, env: ShapeEnv, given: Given = NOTHING, *, are_open: bool = True) -> Inputs:
    """Read the inputs of a graph that are not constants of it, with what the caller knows of them.

    Sizes that the caller binds are numbers in the shapes. ``are_open`` says that a tensor whose rank nobody says has a
    sequence of axes. Raises `BindingError` where what is given cannot be of these inputs.
    """
    inputs = _given(graph)
    taken = {d.dim_param for i in inputs for d in _dims(i.type)}
    flags: dict[Symbol, str] = {}
    values = {i.name: _declared(i, env, taken, flags) for i in inputs}
    return inputs_of(values, env, given, flags, are_open=are_open)


def input_names(graph: Any) -> tuple[str, ...]:
    """Return the names of the inputs of a graph that are not constants of it."""
    return tuple(i.name for i in _given(graph))


def _given(graph: Any) -> list[Any]:
    held = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    return [i for i in graph.input if i.name not in held]


def _declared(declared: Any, env: ShapeEnv, taken: set[str], flags: dict[Symbol, str]) -> Value:
    """Return an input as it is declared; how long a sequence is, and whether what may be there is, get a name each."""
    name, kind = declared.name, declared.type

    def read(dim: Any, axis: int, is_of_many: bool) -> Dim | None:
        return None if is_of_many and _is_unnamed(dim) else _read(dim, name, axis, taken)

    length: Dim = 0
    is_there: Formula = FALSE
    if _holds(kind, "sequence_type"):
        length = symbol(free_name(f"{identifier(name)}_length", taken))
    if kind.WhichOneof("value") == "optional_type":
        flag = env.named(free_name(f"{identifier(name)}_given", taken))
        flags[flag] = f"1 where the input {name} is given, 0 where it is not"
        is_there = equal(flag, 1)
    return value_of(kind, read, length, is_there)


def _holds(kind: Any, which: str) -> bool:
    """Return whether a type is of some kind, or may be."""
    found = kind.WhichOneof("value")
    return bool(found == which or (found == "optional_type" and _holds(kind.optional_type.elem_type, which)))


def _dims(kind: Any) -> Iterator[Any]:
    """Yield all sizes that a type speaks of."""
    which = kind.WhichOneof("value")
    if which in TENSORS:
        yield from getattr(kind, which).shape.dim
    elif which in ("sequence_type", "optional_type"):
        yield from _dims(getattr(kind, which).elem_type)


def _is_unnamed(dim: Any) -> bool:
    text = dim.dim_param.strip()
    return number(dim) is None and (text in _UNNAMED or text.startswith("unk__"))


def _read(dim: Any, name: str, axis: int, taken: set[str]) -> Dim:
    size = number(dim)
    if size is not None:
        return size
    if _is_unnamed(dim):
        return symbol(free_name(place_name(name, axis), taken))
    text = dim.dim_param.strip()
    if re.fullmatch(_NAME, text) or (re.fullmatch(rf"{_NAME}(-{_NAME})+", text) and taken.isdisjoint(text.split("-"))):
        return symbol(text)
    return _expression(text)


def _expression(text: str) -> Dim:
    """Return a dimension that the model gives as an expression, or by a name that is none elsewhere."""
    from symbcast.core.text import parse_shape

    try:
        (dim,) = parse_shape(text)
    except (SymbcastError, ValueError):
        return symbol(text)
    return replaced(dim, {s: symbol(s.name) for s in symbols_of([dim])})
