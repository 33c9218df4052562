"""The arguments of an exported program as they are nested: lists, tuples, dictionaries and dataclasses of tensors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from symbcast.torch.reading.library import load


class Structure(NamedTuple):
    """A container of arguments, or one argument, whose ``place`` is its index among the flattened arguments.

    Torch wants dynamic shapes in containers of the same type, and in a list for a registered class. ``named`` is the
    class of a named tuple.
    """

    place: int | None
    kind: str = ""
    keys: Sequence[Any] = ()
    parts: tuple[Structure, ...] = ()
    named: type | None = None

    def leaves(self, given: Any) -> Iterator[tuple[int, Any]]:
        """Yield the place of each argument with its entry in dynamic shapes of the same structure."""
        if self.place is not None:
            yield self.place, given
            return
        for n, part in enumerate(self.parts):
            yield from part.leaves(_part(given, self.keys[n] if self.kind == "dict" else n))

    def text(self, said: Sequence[str]) -> str:
        """Return the text of dynamic shapes; ``said`` has the text for each argument."""
        if self.place is not None:
            return said[self.place]
        parts = [part.text(said) for part in self.parts]
        if self.kind == "dict":
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(self.keys, parts, strict=True)) + "}"
        inner = ", ".join(parts)
        if self.named is not None:
            return f"{self.named.__name__}({inner})"
        return f"({inner}{',' * (len(parts) == 1)})" if self.kind == "tuple" else f"[{inner}]"

    def classes(self) -> Iterator[type]:
        """Yield the named tuples in the structure."""
        if self.named is not None:
            yield self.named
        for part in self.parts:
            yield from part.classes()


def _part(given: Any, key: Any) -> Any:
    if isinstance(given, Mapping):
        return given.get(key)
    is_there = isinstance(given, (list, tuple)) and isinstance(key, int) and key < len(given)
    return given[key] if is_there else None


class Arguments(NamedTuple):
    """The arguments of ``forward`` by name; those of ``*args`` are one tuple."""

    names: tuple[str, ...]
    parts: tuple[Structure, ...]

    @property
    def whole(self) -> Structure:
        """All arguments as one dictionary."""
        return Structure(None, "dict", self.names, self.parts)

    def leaves(self, dynamic_shapes: Any) -> Iterator[tuple[int, Any]]:
        """Yield the place of each argument with its entry in dynamic shapes, by name or in order."""
        is_in_order = isinstance(dynamic_shapes, (list, tuple))
        return self.whole.leaves(dict(zip(self.names, dynamic_shapes, strict=False)) if is_in_order else dynamic_shapes)


def read_arguments(program: Any, gathered: str | None = None) -> Arguments:
    """Return the arguments of an exported program.

    ``gathered`` is the name of the parameter ``*args``. Without it, the guards show it if they name its elements.
    """
    places = iter(range(program.call_spec.in_spec.num_leaves))
    positional, keywords = (_children(spec) for spec in _children(program.call_spec.in_spec))
    parts = [_structure(spec, places) for spec in (*positional, *keywords)]
    kwargs = _children(program.call_spec.in_spec)[1]
    signature = program.module_call_graph[0].signature
    named = list(getattr(signature, "forward_arg_names", None) or [])[: len(positional)]
    names = [*named, *(f"args_{n}" for n in range(len(named), len(positional))), *kwargs.context]
    first = next(
        (n for n, name in enumerate(names) if name.endswith("_0") and _is_gathered(program, name, gathered)), None
    )
    if first is None:
        return Arguments(tuple(names), tuple(parts))
    name, count = names[first].removesuffix("_0"), 0
    while first + count < len(positional) and names[first + count] == f"{name}_{count}":
        count += 1
    one = Structure(None, "tuple", range(count), tuple(parts[first : first + count]))
    return Arguments((*names[:first], name, *names[first + count :]), (*parts[:first], one, *parts[first + count :]))


def _is_gathered(program: Any, name: str, gathered: str | None) -> bool:
    """Return whether the first element of ``*args`` has this name."""
    if gathered is not None:
        return name == f"{gathered}_0"
    return any(f"L['{name.removesuffix('_0')}'][0]" in guard for guard in program._guards_code)


def _children(spec: Any) -> list[Any]:
    return list(spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs)


def _structure(spec: Any, places: Iterator[int]) -> Structure:
    if spec.is_leaf():
        return Structure(next(places))
    parts = tuple(_structure(child, places) for child in _children(spec))
    if spec.type is load("torch.utils._pytree").namedtuple:
        return Structure(None, "tuple", range(len(parts)), parts, spec.context)
    if isinstance(spec.type, type) and issubclass(spec.type, dict):
        keys = spec.context[-1] if spec.type is defaultdict else spec.context
        return Structure(None, "dict", tuple(keys), parts)
    return Structure(None, "tuple" if spec.type is tuple else "list", range(len(parts)), parts)
