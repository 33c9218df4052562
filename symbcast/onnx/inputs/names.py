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
from symbcast.logic.formulas import FALSE, Formula, equal
from symbcast.onnx.values.contents import Elements
from symbcast.onnx.values.numbers import INTEGERS
from symbcast.onnx.values.sequences import sizes_in
from symbcast.onnx.values.types import TENSORS, number, value_of
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
    """What small integer inputs may hold, each number a size of its own, and what it is; and ``flags``."""
    flags: tuple[Symbol, ...] = ()
    """Sizes that are 1 where an input is given, and 0 where it is not."""


def read_inputs(graph: Any, env: ShapeEnv) -> Inputs:
    """Read the inputs of a graph that are not constants of it."""
    held = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    given = [i for i in graph.input if i.name not in held]
    taken = {d.dim_param for i in given for d in _dims(i.type)}
    flags: dict[Symbol, str] = {}
    values = {i.name: _declared(i, env, taken, flags) for i in given}
    symbols = symbols_of([d for v in values.values() for d in sizes_in(v)])
    contents = _contents(values, {s.name for s in symbols})
    return Inputs(values, symbols, {**contents, **flags}, tuple(flags))


def _declared(declared: Any, env: ShapeEnv, taken: set[str], flags: dict[Symbol, str]) -> Value:
    """Return an input as it is declared; how long a sequence is, and whether what may be there is, get a name each."""
    name, kind = declared.name, declared.type

    def read(dim: Any, axis: int, is_of_many: bool) -> Dim | None:
        return None if is_of_many and _is_unnamed(dim) else _read(dim, name, axis, env, taken)

    length: Dim = 0
    is_there: Formula = FALSE
    if _holds(kind, "sequence_type"):
        length = env.named(_free(f"{_identifier(name)}_length", taken))
    if kind.WhichOneof("value") == "optional_type":
        flag = env.named(_free(f"{_identifier(name)}_given", taken))
        flags[flag] = f"1 where the input {name} is given, 0 where it is not"
        is_there = equal(flag, 1)
    return value_of(kind, read, length, is_there)


def _holds(kind: Any, which: str) -> bool:
    """Return whether a type is of some kind, or may be."""
    found = kind.WhichOneof("value")
    return bool(found == which or (found == "optional_type" and _holds(kind.optional_type.elem_type, which)))


def _contents(values: dict[str, Value], taken: set[str]) -> dict[Symbol, str]:
    """Give scalars and short vectors of integers sizes for their elements: shapes may come from them."""
    found: dict[Symbol, str] = {}
    for name, value in values.items():
        shape = numbers_of(value.shape)
        if value.dtype not in INTEGERS or shape not in ((), *((n,) for n in range(1, _SHORT + 1))):
            continue
        items = []
        for n in range(prod(shape)):
            label = _identifier(name) + (f"_{n}" if shape else "")
            while label in taken:
                label += "_value"
            taken.add(label)
            items.append(symbol(label))
            of = f"element {n} of the input {name}" if shape else f"the value of the input {name}"
            found[items[-1]] = f"{of}, taken to be 0 or more"
        value.content = Elements(tuple(items))
    return found


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


def _read(dim: Any, name: str, axis: int, env: ShapeEnv, taken: set[str]) -> Dim:
    size = number(dim)
    if size is not None:
        return size
    if _is_unnamed(dim):
        return env.named(_free(f"{_identifier(name)}_dim_{axis}", taken))
    text = dim.dim_param.strip()
    if re.fullmatch(_NAME, text) or (re.fullmatch(rf"{_NAME}(-{_NAME})+", text) and taken.isdisjoint(text.split("-"))):
        return env.named(text)
    return _expression(text, env)


def _free(base: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    while base in taken:
        base += "_"
    taken.add(base)
    return base


def _expression(text: str, env: ShapeEnv) -> Dim:
    """Return a dimension that the model gives as an expression, or by a name that is none elsewhere."""
    from symbcast.text import parse_shape

    try:
        (dim,) = parse_shape(text)
    except (SymbcastError, ValueError):
        return env.named(text)
    return replaced(dim, {s: env.named(s.name) for s in symbols_of([dim])})


def _identifier(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "input"
