"""The inputs of a model: each of their dynamic dimensions a size, called as the model calls it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.algebra.arithmetic import replaced
from symbcast.algebra.symbols import symbol
from symbcast.algebra.terms import symbols_of
from symbcast.errors import SymbcastError
from symbcast.logic.formulas import equal
from symbcast.onnx.inputs.given import NOTHING, Given, unknown
from symbcast.onnx.inputs.knowledge import place_name, put_contents, put_shapes
from symbcast.onnx.values.contents import Elements, is_size
from symbcast.onnx.values.value import Value
from symbcast.program.assumptions import Assumption
from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim
    from symbcast.api.env import ShapeEnv
    from symbcast.onnx.values.value import Dims

_NAME = r"[^\W\d][\w.]*"
"""Names with hyphens between them are one name too, such as batch-size, unless one is that of a dimension elsewhere."""

_UNNAMED = ("", "?", "-1", "None", "unk", "_")


class Inputs(NamedTuple):
    """The inputs that a caller gives, and the sizes in their shapes in order of appearance."""

    values: dict[str, Value]
    symbols: tuple[Symbol, ...]
    held: dict[Symbol, str]
    """What small integer inputs may hold, each number a size of its own, and what it is."""
    named: dict[str, Dims | None]
    """The shapes of the inputs with the names of sizes that are fixed in the place of their numbers."""
    fixed: dict[Symbol, int]
    """The sizes that the caller binds."""


def read_inputs(graph: Any, env: ShapeEnv, given: Given = NOTHING) -> Inputs:
    """Read the inputs of a graph that are not constants of it, with what the caller knows of them.

    Sizes that the caller binds are numbers in the shapes. Raises `BindingError` where what is given cannot be of these
    inputs.
    """
    values = _declared(_given(graph))
    besides = put_shapes(values, given) if given != NOTHING else []
    met = symbols_of([d for v in values.values() for d in v.shape or ()])
    names = {s: env.named(s.name) for s in (*met, *(s for formula in besides for s in symbols_in(formula)))}
    env.assume(*map(Assumption, besides))
    renamed = {s: own for s, own in names.items() if own is not s}  # a caller may have symbols of their own
    for value in values.values() if renamed else ():
        value.shape = _with(value.shape, renamed)
    symbols = tuple(dict.fromkeys(names.values()))
    named = {name: value.shape for name, value in values.items()}
    found = put_contents(values, given, env, symbols)
    fixed = _fixed((*symbols, *found), given.bind, env)
    for value in values.values() if fixed else ():
        value.shape = _with(value.shape, fixed)
        if isinstance(value.content, Elements):
            value.content = Elements(tuple(replaced(d, fixed) if is_size(d) else d for d in value.content.items))
    return Inputs(values, symbols, found, named, fixed)


def input_names(graph: Any) -> tuple[str, ...]:
    """Return the names of the inputs of a graph that are not constants of it."""
    return tuple(i.name for i in _given(graph))


def _given(graph: Any) -> list[Any]:
    held = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    return [i for i in graph.input if i.name not in held]


def _declared(inputs: Sequence[Any]) -> dict[str, Value]:
    """Return inputs as a model declares them."""
    taken = {d.dim_param for i in inputs for d in _dims(i)}
    values: dict[str, Value] = {}
    for declared in inputs:
        kind = declared.type.WhichOneof("value")
        if kind not in ("tensor_type", "sparse_tensor_type"):
            values[declared.name] = Value(None)
            continue
        tensor = getattr(declared.type, kind)
        shape = None
        if tensor.HasField("shape"):
            shape = tuple(_read(d, declared.name, axis, taken) for axis, d in enumerate(tensor.shape.dim))
        values[declared.name] = Value(shape, tensor.elem_type)
    return values


def _with(shape: Dims | None, sizes: Mapping[Symbol, Dim]) -> Dims | None:
    return None if shape is None else tuple(replaced(d, sizes) for d in shape)


def _fixed(symbols: Collection[Symbol], bind: Mapping[str, int], env: ShapeEnv) -> dict[Symbol, int]:
    """Return the sizes that the caller binds; that they are these is taken for granted from now on."""
    found: dict[Symbol, int] = {}
    for name, size in bind.items():
        bound = env.named(name)
        if bound not in symbols:
            raise unknown("size", name, [s.name for s in symbols])
        env.assume(Assumption(equal(bound, size), f"{name} == {size}"))
        found[bound] = size
    return found


def _dims(declared: Any) -> Iterator[Any]:
    kind = declared.type.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        yield from getattr(declared.type, kind).shape.dim


def _read(dim: Any, name: str, axis: int, taken: set[str]) -> Dim:
    if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0:
        return int(dim.dim_value)
    text = dim.dim_param.strip()
    if text in _UNNAMED or text.startswith("unk__"):
        base = place_name(name, axis)
        while base in taken:
            base += "_"
        taken.add(base)
        return symbol(base)
    if re.fullmatch(_NAME, text) or (re.fullmatch(rf"{_NAME}(-{_NAME})+", text) and taken.isdisjoint(text.split("-"))):
        return symbol(text)
    return _expression(text)


def _expression(text: str) -> Dim:
    """Return a dimension that the model gives as an expression, or by a name that is none elsewhere."""
    from symbcast.text import parse_shape

    try:
        (dim,) = parse_shape(text)
    except (SymbcastError, ValueError):
        return symbol(text)
    return replaced(dim, {s: symbol(s.name) for s in symbols_of([dim])})
