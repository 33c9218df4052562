"""Read what a caller knows about a model's inputs: sizes by name, shapes, and elements of integer inputs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple, TypeAlias

from symbcast.core.algebra.symbols import SequenceSymbol
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.characters import closest, prose_list
from symbcast.core.programs.arguments import read_given_size
from symbcast.core.shapes import Shape, ShapeLike, is_open, shape
from symbcast.core.text import parse_dim
from symbcast.errors import BindingError, ShapeSyntaxError, ShapeTypeError, SymbcastError

ContentsLike: TypeAlias = "int | str | Iterable[Any]"
"""The elements of an input: one, or lists of them nested as deep as the input has axes; or text, ``"4, N//2"``."""


class InputContents(NamedTuple):
    """The elements of an input in row-major order; ``shape`` is None if the model determines it."""

    items: tuple[Dim, ...]
    shape: tuple[int, ...] | None
    text: str


class KnownInputs(NamedTuple):
    """A caller's knowledge, by the names of sizes and inputs."""

    bind: Mapping[str, int]
    shapes: Mapping[str, Shape]
    values: Mapping[str, InputContents]

    def names(self) -> Iterator[str]:
        """Yield the names of all sizes in it."""
        yield from self.bind
        dims = [d for s in self.shapes.values() for d in s.dims]
        dims += [d for contents in self.values.values() for d in contents.items]
        for size in symbols_of(dims):
            yield size.sequence.name if isinstance(size, SequenceSymbol) else size.name

    def of(self, sizes: Collection[str], inputs: Collection[str]) -> KnownInputs:
        """Return the part that is about the sizes and inputs with the given names."""
        return KnownInputs(
            {name: size for name, size in self.bind.items() if name in sizes},
            {name: shape for name, shape in self.shapes.items() if name in inputs},
            {name: contents for name, contents in self.values.items() if name in inputs},
        )

    def texts(self) -> Iterator[str]:
        """Yield the given facts, in the wording of a report."""
        yield from (f"{name} == {size}" for name, size in self.bind.items())
        yield from (f"{name} of shape {dims}" for name, dims in self.shapes.items())
        yield from (f"{name} = {contents.text}" for name, contents in self.values.items())


def read_known_inputs(
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    min_size: int = 0,
) -> KnownInputs:
    """Read the caller's knowledge; whether a model has these inputs and sizes is not checked here.

    Raises `BindingError` for a value that is not a size or a list of sizes, and `ShapeTypeError` for a value that is
    not a mapping or a shape.
    """
    return KnownInputs(
        {name: _bound(name, size, min_size) for name, size in _items("bind", bind, "{'N': 3}")},
        {name: _shape(name, value, min_size) for name, value in _items("shapes", shapes, "{'x': 'N, 3, H, W'}")},
        {name: _contents(name, value) for name, value in _items("values", values, "{'steps': [4, 'N//2']}")},
    )


def _items(argument: str, argument_value: Any, example: str) -> list[tuple[str, Any]]:
    if argument_value is None:
        return []
    if not isinstance(argument_value, Mapping) or not all(isinstance(name, str) for name in argument_value):
        pair = (
            re.fullmatch(r"\s*([^\W\d][\w.]*)\s*={1,2}\s*(.+)", argument_value, re.DOTALL)
            if isinstance(argument_value, str)
            else None
        )
        if pair is not None:
            example = repr({pair[1]: int(pair[2]) if pair[2].strip().isdecimal() else pair[2].strip()})
        raise ShapeTypeError(argument_value, f"a mapping of names for {argument}=", f"write {argument}={example}")
    return list(argument_value.items())


def _bound(name: str, value: object, min_size: int) -> int:
    size = read_given_size(name, value)
    if size < min_size:
        raise BindingError(f"{name}={size}: sizes are at least {min_size}", f"write min_size={size} too")
    return size


def _shape(name: str, value: ShapeLike, min_size: int) -> Shape:
    try:
        read = shape(value)
    except SymbcastError as error:
        raise BindingError(f"the shape given for {name} cannot be read: {_message(error)}") from error
    if is_open(read) and min_size > 1:
        raise BindingError(f"the shape given for {name}, {read}, is of unknown rank", "write min_size=1, or 0")
    return read


def _contents(name: str, value: ContentsLike) -> InputContents:
    try:
        sizes, flat = (None, _parts(value)) if isinstance(value, str) else _flattened(value)
        items = tuple(map(_element, flat))
    except (SymbcastError, TypeError) as error:
        hint = "write integers and expressions in sizes, such as [4, 'N//2']"
        raise BindingError(f"the contents given for {name} cannot be read: {_message(error)}", hint) from error
    return InputContents(items, sizes, str(items[0]) if sizes == () else _listed(items))


def _message(error: Exception) -> str:
    """Return an error on one line: the text around it names the input instead of pointing into the text."""
    return error.message() if isinstance(error, ShapeSyntaxError) else str(error)


def _listed(items: Iterable[Dim]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _flattened(value: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Return the lengths of nested lists along each axis, and their elements in row-major order."""
    if isinstance(value, (str, bool)) or not isinstance(value, Iterable):
        return (), [value.item() if hasattr(value, "item") else value]
    parts = [_flattened(part) for part in value]
    inner = {sizes for sizes, _ in parts}
    if len(inner) > 1:
        raise BindingError("the lists in it differ in length")
    return (len(parts), *(inner.pop() if inner else ())), [item for _, items in parts for item in items]


def _element(value: Any) -> Dim:
    """Return an element; unlike a size it may be negative."""
    text = value.strip() if isinstance(value, str) else None
    if text is not None and not text.removeprefix("-").isdecimal():
        return parse_dim(text)
    if isinstance(value, bool):
        raise TypeError(f"{value} is a truth value")
    try:
        return int(text) if text is not None else index(value)
    except TypeError:
        (dim,) = shape([value]).dims
        return dim


def _parts(text: str) -> Sequence[str]:
    """Split a text at its commas, except at those within brackets."""
    inner = text.strip()
    if inner[:1] + inner[-1:] in ("[]", "()"):
        inner = inner[1:-1]
    parts, depth = [""], 0
    for character in inner:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]


NOTHING = KnownInputs({}, {}, {})


def unknown(what: str, name: str, known: Sequence[str]) -> BindingError:
    """Return the error that a model has no input or size with this name; ``known`` are the existing names."""
    close = closest(name, known)
    there = (
        f"there {'are' if len(known) > 1 else 'is'} {prose_list(known, limit=20)}" if known else "it has none at all"
    )
    hint = f"did you mean {close!r}?" if close else there
    if close and len(known) > 1 and name.casefold() != close.casefold() and what == "input":
        hint = f"{hint} There are {prose_list(known, limit=20)}"
    return BindingError(f"the model has no {what} named {name!r}", hint)
