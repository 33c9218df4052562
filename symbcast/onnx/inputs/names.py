"""The inputs of a model: each of their dynamic dimensions a size, called as the model calls it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import AxisSequence
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FALSE, Formula, equal
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import SymbcastError
from symbcast.onnx.inputs.given import NOTHING, Given, unknown
from symbcast.onnx.inputs.knowledge import identifier, place_name, put_contents, put_shapes, with_names_bound
from symbcast.onnx.values.contents import Elements, is_size
from symbcast.onnx.values.sequences import put_sizes, sizes_in
from symbcast.onnx.values.types import TENSORS, number, value_of
from symbcast.onnx.values.value import OpenValue, Value

if TYPE_CHECKING:
    from symbcast.answers.public.env import ShapeEnv
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.onnx.values.value import Dims

_NAME = r"[^\W\d][\w.]*"
"""Names with hyphens between them are one name too, such as batch-size, unless one is that of a dimension elsewhere."""

_UNNAMED = ("", "?", "-1", "None", "unk", "_")


class Inputs(NamedTuple):
    """The inputs that a caller gives, and the sizes in their shapes in order of appearance."""

    values: dict[str, Value]
    symbols: tuple[Symbol, ...]
    held: dict[Symbol, str]
    """What small integer inputs may hold, each number a size of its own, and what it is; and ``flags``."""
    flags: tuple[Symbol, ...]
    """Sizes that are 1 where an input is given, and 0 where it is not."""
    named: dict[str, Dims | None]
    """The shapes of the inputs with the names of sizes that are fixed in the place of their numbers."""
    fixed: dict[Symbol, int]
    """The sizes that the caller binds."""
    given: Given
    """What the caller knows, with the sizes bound that a shape has a number for."""


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


def inputs_of(
    values: dict[str, Value], env: ShapeEnv, given: Given, flags: Mapping[Symbol, str], *, are_open: bool = False
) -> Inputs:
    """Return inputs as they are declared, whose sizes are symbols of their names, with what the caller knows of them.

    Raises `BindingError` where what is given cannot be of these inputs.
    """
    given = with_names_bound(values, given) if given.shapes else given
    besides = put_shapes(values, given) if given != NOTHING else []
    if are_open:
        _open(values, {*env.shown.values(), *given.names()})
    met = symbols_of([d for v in values.values() for d in sizes_in(v)])
    names = {s: env.met(s) for s in (*met, *(s for formula in besides for s in symbols_in(formula)))}
    env.assume(*map(Assumption, besides))
    renamed = {s: own for s, own in names.items() if own is not s}  # a caller may have symbols of their own
    for value in values.values() if renamed else ():
        put_sizes(value, renamed)
    symbols = tuple(dict.fromkeys(names.values()))
    named = {name: value.shape for name, value in values.items()}
    found = put_contents(values, given, env, symbols)
    fixed = _fixed((*symbols, *found), given.bind, env)
    for value in values.values() if fixed else ():
        put_sizes(value, fixed)
        if isinstance(value.content, Elements):
            value.content = Elements(tuple(replaced(d, fixed) if is_size(d) else d for d in value.content.items))
    return Inputs(values, symbols, {**found, **flags}, tuple(flags), named, fixed, given)


def _open(values: dict[str, Value], taken: set[str]) -> None:
    """Give each input whose rank nobody says a sequence of axes that is called as it is, where no size is."""
    taken |= {s.name for s in symbols_of([d for v in values.values() for d in sizes_in(v)])}
    for name, value in values.items():
        if type(value) is Value and value.shape is None and value.dtype:
            axes = AxisSequence(_free(identifier(name), taken))
            values[name] = OpenValue((axes.rest(),), value.dtype)


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
        length = symbol(_free(f"{identifier(name)}_length", taken))
    if kind.WhichOneof("value") == "optional_type":
        flag = env.named(_free(f"{identifier(name)}_given", taken))
        flags[flag] = f"1 where the input {name} is given, 0 where it is not"
        is_there = equal(flag, 1)
    return value_of(kind, read, length, is_there)


def _holds(kind: Any, which: str) -> bool:
    """Return whether a type is of some kind, or may be."""
    found = kind.WhichOneof("value")
    return bool(found == which or (found == "optional_type" and _holds(kind.optional_type.elem_type, which)))


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
        return symbol(_free(place_name(name, axis), taken))
    text = dim.dim_param.strip()
    if re.fullmatch(_NAME, text) or (re.fullmatch(rf"{_NAME}(-{_NAME})+", text) and taken.isdisjoint(text.split("-"))):
        return symbol(text)
    return _expression(text)


def _free(base: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    while base in taken:
        base += "_"
    taken.add(base)
    return base


def _expression(text: str) -> Dim:
    """Return a dimension that the model gives as an expression, or by a name that is none elsewhere."""
    from symbcast.core.text import parse_shape

    try:
        (dim,) = parse_shape(text)
    except (SymbcastError, ValueError):
        return symbol(text)
    return replaced(dim, {s: symbol(s.name) for s in symbols_of([dim])})
