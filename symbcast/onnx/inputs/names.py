"""The inputs of a model: each of their dynamic dimensions a size, called as the model calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.algebra.arithmetic import replaced
from symbcast.algebra.bounds import numbers_of
from symbcast.algebra.symbols import symbol
from symbcast.algebra.terms import symbols_of
from symbcast.errors import SymbcastError
from symbcast.onnx.values.contents import Elements
from symbcast.onnx.values.numbers import INTEGERS
from symbcast.onnx.values.value import Value

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim
    from symbcast.api.env import ShapeEnv

_SHORT = 8
"""How long a vector of integers may be to be taken for sizes."""

_NAME = r"[^\W\d][\w.]*"
"""Names with hyphens between them are one name too, such as batch-size, unless one is that of a dimension elsewhere."""

_UNNAMED = ("", "?", "-1", "None", "unk", "_")


class Inputs(NamedTuple):
    """The inputs that a caller gives, and the sizes in their shapes in order of appearance."""

    values: dict[str, Value]
    symbols: tuple[Symbol, ...]
    held: dict[Symbol, str]
    """What small integer inputs may hold, each number a size of its own, and what it is."""


def read_inputs(graph: Any, env: ShapeEnv) -> Inputs:
    """Read the inputs of a graph that are not constants of it."""
    held = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    given = [i for i in graph.input if i.name not in held]
    taken = {d.dim_param for i in given for d in _dims(i)}
    values: dict[str, Value] = {}
    for declared in given:
        kind = declared.type.WhichOneof("value")
        if kind not in ("tensor_type", "sparse_tensor_type"):
            values[declared.name] = Value(None)
            continue
        tensor = getattr(declared.type, kind)
        shape = None
        if tensor.HasField("shape"):
            shape = tuple(_read(d, declared.name, axis, env, taken) for axis, d in enumerate(tensor.shape.dim))
        values[declared.name] = Value(shape, tensor.elem_type)
    symbols = symbols_of([d for v in values.values() for d in v.shape or ()])
    return Inputs(values, symbols, contents_of(values, {s.name for s in symbols}))


def contents_of(values: dict[str, Value], taken: set[str]) -> dict[Symbol, str]:
    """Give scalars and short vectors of integers sizes for their elements: shapes may come from them."""
    found: dict[Symbol, str] = {}
    for name, value in values.items():
        shape = numbers_of(value.shape)
        if value.dtype not in INTEGERS or shape not in ((), *((n,) for n in range(1, _SHORT + 1))):
            continue
        items = []
        for n in range(prod(shape)):
            label = identifier(name) + (f"_{n}" if shape else "")
            while label in taken:
                label += "_value"
            taken.add(label)
            items.append(symbol(label))
            of = f"element {n} of the input {name}" if shape else f"the value of the input {name}"
            found[items[-1]] = f"{of}, taken to be 0 or more"
        value.content = Elements(tuple(items))
    return found


def _dims(declared: Any) -> Iterator[Any]:
    kind = declared.type.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        yield from getattr(declared.type, kind).shape.dim


def _read(dim: Any, name: str, axis: int, env: ShapeEnv, taken: set[str]) -> Dim:
    if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0:
        return int(dim.dim_value)
    text = dim.dim_param.strip()
    if text in _UNNAMED or text.startswith("unk__"):
        base = f"{identifier(name)}_dim_{axis}"
        while base in taken:
            base += "_"
        taken.add(base)
        return env.named(base)
    if re.fullmatch(_NAME, text) or (re.fullmatch(rf"{_NAME}(-{_NAME})+", text) and taken.isdisjoint(text.split("-"))):
        return env.named(text)
    return _expression(text, env)


def _expression(text: str, env: ShapeEnv) -> Dim:
    """Return a dimension that the model gives as an expression, or by a name that is none elsewhere."""
    from symbcast.text import parse_shape

    try:
        (dim,) = parse_shape(text)
    except (SymbcastError, ValueError):
        return env.named(text)
    return replaced(dim, {s: env.named(s.name) for s in symbols_of([dim])})


def identifier(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "input"
