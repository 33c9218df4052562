"""The cache entries of a compiled function: which sizes each serves."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from symbcast.core.algebra.symbols import symbol
from symbcast.errors import DimensionError, ShapeTypeError
from symbcast.torch.guards.guard_texts import GuardReader
from symbcast.torch.guards.guards import Guard, Guards
from symbcast.torch.guards.log_texts import SIZE, called, shown_axis
from symbcast.torch.reading.library import load

_TENSOR = re.compile(r"check_tensor\((?P<source>.+?), \w+, .*size=\[(?P<size>[^\]]*)\]")
_LAMBDA = re.compile(r"\+- (?:LAMBDA_GUARD|SYMBOLIC_SHAPE_GUARD): (?P<guard>[^\n]*?)(?:  # (?P<place>[^\n]*))?$", re.M)


class Entry(NamedTuple):
    """A compiled version of a frame.

    Attributes:
        name: dynamo's identifier, such as ``0/1``.
        shapes: the sizes of each tensor argument that it serves; None for an open size.
        guards: the conditions on open sizes.
        axes: the axis that each size in the conditions is of.
    """

    name: str
    shapes: dict[str, tuple[int | None, ...]]
    guards: Guards
    axes: dict[str, str]

    @property
    def condition(self) -> str:
        """The sizes that it serves, in words."""
        parts = [f"{name} is ({', '.join('?' if d is None else str(d) for d in dims)}{',' * (len(dims) == 1)})"
                 for name, dims in self.shapes.items()]  # fmt: skip
        return "; ".join([*parts, *(self._spelled(c.text) for c in self.guards.clauses)]) or "everything"

    def _spelled(self, text: str) -> str:
        return re.sub(r"\w+", lambda m: self.axes.get(m[0], m[0]), text)


def entries_of(function: Any) -> list[Entry]:
    """Return the cache entries of a compiled function or module, oldest first.

    Raises `ShapeTypeError` for what ``torch.compile`` did not return.
    """
    code = code_of(function)
    listed = load("torch._dynamo.eval_frame")._debug_get_cache_entry_list(code)
    return [_entry(e) for e in reversed(listed)]


def code_of(function: Any) -> Any:
    """Return the code object that dynamo compiles for a function, a method or a module."""
    inner = getattr(function, "_orig_mod", None) or getattr(function, "_torchdynamo_orig_callable", None) or function
    inner = getattr(inner, "forward", inner)
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    if code is None:
        raise ShapeTypeError(function, "a compiled function or a log", "give what torch.compile returned, or its log")
    return code


def _entry(raw: Any) -> Entry:
    manager = raw.guard_manager
    shapes: dict[str, tuple[int | None, ...]] = {}
    for part in manager.code_parts:
        found = _TENSOR.search(part)
        if found is not None and "_parameters[" not in found["source"] and "_buffers[" not in found["source"]:
            sizes = [s.strip() for s in found["size"].split(",") if s.strip()]
            name = re.sub(r"L\['(\w+)'\]", r"\1", found["source"])
            shapes[name] = tuple(None if s == "None" else int(s) for s in sizes)
    text = str(manager)
    found_guards = [(m["guard"], m["place"] or "") for m in _LAMBDA.finditer(text) if ".size()" in m["guard"]]
    names = {source: called(source) for guard, _ in found_guards for source in SIZE.findall(guard)}
    reader = GuardReader({source: symbol(name) for source, name in names.items()})
    guards = [_guard(guard, reader, place) for guard, place in found_guards]
    axes = {name: shown_axis(source) for source, name in names.items()}
    return Entry(str(raw.compile_id), shapes, Guards(guards, names.values(), 0), axes)


def _guard(text: str, reader: GuardReader, place: str) -> Guard:
    line = re.search(r"(\S+\.py:\d+) in", place)
    where = f"line {line[1]}" if line and "site-packages" not in line[1] else ""
    try:
        return Guard(text, reader.formula(text), where)
    except DimensionError as error:
        return Guard(text, None, where, error.problem, reader.sizes_in(text))
