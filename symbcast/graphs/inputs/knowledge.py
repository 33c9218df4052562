"""Apply a caller's knowledge to the inputs that a model declares: their shapes and their elements."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.symbols import Symbol, Unknown, symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.broadcasting.unknown_rank import place_of
from symbcast.core.logic.formulas import at_most
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.shapes import is_open, shape_of
from symbcast.errors import BindingError
from symbcast.graphs.inputs.given import Contents, Given, unknown
from symbcast.graphs.inputs.unification import Unifier
from symbcast.graphs.values.contents import MAX_ELEMENTS, Elements
from symbcast.graphs.values.numbers import INTEGERS, range_of
from symbcast.graphs.values.value import OpenValue, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.whole.program import Program
    from symbcast.core.shapes import Shape

_SHORT = 8
"""The maximum length of a vector of integers that is taken to hold sizes."""


def with_names_bound(values: dict[str, Value], given: Given) -> Given:
    """Bind a declared size by its name if a given shape has a number for it; return the updated knowledge.

    The name is kept, so a report can say which size to change. A size with several given names or numbers is not bound.
    Raises `BindingError` for a size that is bound to a different number.
    """
    asked: dict[Symbol, set[Dim]] = {}
    for name, shape in given.shapes.items():
        if is_open(shape):
            continue
        for own, wanted in zip(values[name].shape or () if name in values else (), shape.dims, strict=False):
            if isinstance(own, Symbol) and not isinstance(wanted, Unknown):
                asked.setdefault(own, set()).add(wanted)
    numbers = {own: next(iter(wanted)) for own, wanted in asked.items() if len(wanted) == 1}
    found = {s: n for s, n in numbers.items() if isinstance(n, int)}
    for s, n in found.items():
        if given.bind.get(s.name, n) != n:
            raise BindingError(f"{s.name} is bound to {given.bind[s.name]}, but a given shape has {n} for it")
    known = {name: shape for name, shape in given.shapes.items() if name in values}
    shapes = {name: _left_open(shape, values[name].shape, found) for name, shape in known.items()}
    return given._replace(
        bind={**given.bind, **{s.name: n for s, n in found.items()}}, shapes={**given.shapes, **shapes}
    )


def _left_open(shape: Shape, declared: Sequence[Dim] | None, bound: Mapping[Symbol, int]) -> Shape:
    """Return a given shape without the numbers of sizes that are bound by name."""
    if declared is None or is_open(shape) or len(declared) != len(shape):
        return shape
    pairs = zip(declared, shape.dims, strict=True)
    return shape_of(Unknown() if own in bound and isinstance(wanted, int) else wanted for own, wanted in pairs)


def put_shapes(values: dict[str, Value], given: Given) -> list[Formula]:
    """Replace the declared shapes by the given shapes and by the lengths of given contents.

    Returns the additional conditions that arise if one size of the model has several given values.
    """
    unifier = Unifier()
    for name, told in given.shapes.items():
        value = _input(values, name)
        if is_open(told) and value.shape is None:
            values[name] = OpenValue(told.dims, value.dtype)
            continue
        shape = _of_rank(name, told, value.shape or ()) if is_open(told) else told
        if value.shape is None:
            value.shape = tuple(symbol(place_name(name, axis)) for axis in range(len(shape)))
        unifier.put_together(name, value.shape, shape)
    for name, contents in given.values.items():
        value = _integers(values, name)
        sizes = _sizes(name, contents, value)
        value.shape = sizes if value.shape is None else value.shape
        unifier.put_together(name, value.shape, shape_of(sizes))
    for value in values.values():
        if isinstance(value, OpenValue):
            value.ends = unifier.given(value.ends)
        value.shape = None if value.shape is None else unifier.shape(value.shape)
    return unifier.formulas()


def _of_rank(name: str, shape: Shape, declared: Sequence[Dim]) -> Shape:
    """Return a shape of unknown rank with the model's declared rank; each axis of a sequence may have any size."""
    place = place_of(shape.dims) or 0
    missing = len(declared) - len(shape.dims) + 1
    if missing < 0 or not str(shape.dims[place]).startswith("..."):
        found = f"of rank {len(declared)}: {shape_of(declared)}"
        raise BindingError(f"{name} is given as {shape}, but in the model it is {found}", "give each size")
    return shape_of((*shape.dims[:place], *(Unknown() for _ in range(missing)), *shape.dims[place + 1 :]))


def put_contents(values: dict[str, Value], given: Given, env: Program, sizes: Iterable[Symbol]) -> dict[Symbol, str]:
    """Give short vectors of integers their known elements, or sizes for the unknown ones: shapes may come from them.

    ``sizes`` are the sizes in the shapes of inputs. Returns the sizes that occur in no shape, each with a description.
    """
    labels = _Labels(env, sizes)
    for name, value in values.items():
        contents = given.values.get(name)
        shape = numbers_of(value.shape)
        if contents is not None:
            items = tuple(labels.told(name, n, d, shape) for n, d in enumerate(contents.items))
            _assume_range(items, value.dtype, env)
            value.content = Elements(items)
        elif value.dtype in INTEGERS and shape in ((), *((n,) for n in range(1, _SHORT + 1))):
            value.content = Elements(tuple(labels.own(name, n, shape) for n in range(prod(shape))))
    return labels.found


class _Labels:
    """Creates new sizes for the elements of inputs; ``found`` describes each."""

    def __init__(self, env: Program, sizes: Iterable[Symbol]) -> None:
        self._env = env
        self._sizes = frozenset(sizes)
        self._taken = {s.name for s in self._sizes}
        self.found: dict[Symbol, str] = {}

    def own(self, name: str, n: int, shape: tuple[int, ...] | None) -> Symbol:
        """Return a size for an element of an input that the caller did not give."""
        label = identifier(name) + (f"_{n}" if shape else "")
        while label in self._taken:
            label += "_value"
        self._taken.add(label)
        of = f"element {n} of the input {name}" if shape else f"the value of the input {name}"
        self.found[symbol(label)] = f"{of}, taken to be 0 or more"
        return symbol(label)

    def told(self, name: str, n: int, item: Dim, shape: tuple[int, ...] | None) -> Dim:
        """Return a given element in terms of the model's sizes."""
        if isinstance(item, Unknown):
            return self.own(name, n, shape)
        names = {s: self._env.named(s.name) for s in symbols_of((item,))}
        for s in names.values():
            if s not in self._sizes:
                self.found.setdefault(s, f"{s.name} in what is given for the input {name}, taken to be 0 or more")
        return replaced(item, names)


def _input(values: dict[str, Value], name: str) -> Value:
    if name not in values:
        raise unknown("input", name, list(values))
    return values[name]


def _integers(values: dict[str, Value], name: str) -> Value:
    value = _input(values, name)
    if value.dtype not in INTEGERS:
        kind = f"of {_type(value.dtype)}" if value.dtype else "no tensor"
        raise BindingError(f"contents were given for {name}, which is {kind}", "give them for inputs of integers")
    return value


def _sizes(name: str, contents: Contents, value: Value) -> tuple[int, ...]:
    """Return the shape of the contents given for an input; raises `BindingError` if it cannot hold the elements."""
    low, high = range_of(value.dtype)
    for item in contents.items:
        if isinstance(item, int) and not low <= item <= high:
            holds = f"which is of {_type(value.dtype)}, from {low} to {high}"
            raise BindingError(f"{item} was given for {name}, {holds}", "give integers that it holds")
    count = len(contents.items)
    if count > MAX_ELEMENTS:
        raise BindingError(f"{count} elements were given for {name}", f"up to {MAX_ELEMENTS} are followed")
    if contents.shape is not None:
        return contents.shape
    known = numbers_of(value.shape)
    if known is not None and prod(known) == count:
        return known
    if value.shape is not None and len(value.shape) != 1:
        raise BindingError(
            f"{count} elements were given for {name}, whose shape is {shape_of(value.shape)}",
            "give nested lists, as deep as the input has axes",
        )
    return (count,)


def _assume_range(items: Iterable[Dim], dtype: int, env: Program) -> None:
    """Assume that sizes are within the range of an element type."""
    low, high = range_of(dtype)
    for item in dict.fromkeys(items):
        if not isinstance(item, int) and high < _LARGEST:
            env.assume(Assumption(at_most(item, high)))
        if not isinstance(item, int | Symbol) and not low:
            env.assume(Assumption(at_most(0, item)))


def _type(dtype: int) -> str:
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(dtype)).lower()


_LARGEST = (1 << 31) - 1
"""Types that can hold this number are taken to hold all sizes (see `symbcast.graphs.values.numbers`)."""


def place_name(name: str, axis: int) -> str:
    """Return the name of the size of an input's axis if the model does not name it."""
    return f"{identifier(name)}_dim_{axis}"


def identifier(name: str) -> str:
    """Turn the name of an input into a valid size name."""
    return re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "input"
