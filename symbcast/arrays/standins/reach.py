"""Places other than modules from which a traced function reads values: closures, defaults, globals, objects."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

_MOST = 2000
"""The maximum number of values to visit: a function in a notebook may reach everything ever created there."""


@dataclass
class Reach:
    """Places that hold values by name: ``spaces`` are dicts, ``places`` pair an object with an attribute's name."""

    spaces: list[dict[str, Any]] = field(default_factory=list)
    places: list[tuple[Any, str]] = field(default_factory=list)


def reach_of(function: Any, arguments: Iterable[Any] = ()) -> Reach:
    """Return the places from which a function reads values: its closure, its defaults, and those of functions in them.

    Module namespaces are excluded, as are attributes of objects other than the function itself and its arguments.
    """
    found, seen = Reach(), set[int]()
    waiting: list[Any] = [function, *arguments]
    _add_attributes(found, [getattr(function, "__self__", None), function, *arguments])
    while waiting and len(seen) < _MOST:
        value = waiting.pop()
        if id(value) in seen or _is_ours(value):
            continue
        seen.add(id(value))
        waiting += _inside(value)
        if type(value) is FunctionType:
            _add_places(found, value)
            space = value.__globals__
            if id(space) not in seen and not _is_of_module(space):
                seen.add(id(space))
                found.spaces.append(space)
                waiting += [v for v in space.values() if isinstance(v, (FunctionType, MethodType, partial, type))]
    return found


def _is_of_module(space: dict[str, Any]) -> bool:
    """Return whether a namespace is that of a module."""
    name = space.get("__name__")
    if getattr(sys.modules.get(str(name)), "__dict__", None) is space:
        return True
    return name is not None and any(getattr(m, "__dict__", None) is space for m in list(sys.modules.values()))


def cells_of(function: FunctionType, depth: int = 3) -> Iterator[CellType]:
    """Yield the closure cells of a function and of the functions that it wraps, except symbcast's own."""
    for cell in () if _is_ours(function) else function.__closure__ or ():
        if is_full(cell):
            yield cell
            if depth and isinstance(cell.cell_contents, FunctionType):
                yield from cells_of(cell.cell_contents, depth - 1)


def _inside(value: Any) -> Iterator[Any]:
    """Yield the values inside a function, a method, a partial function or a user's class."""
    if type(value) is FunctionType:
        yield from (c.cell_contents for c in value.__closure__ or () if is_full(c))
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
        yield getattr(value, "__wrapped__", None)
    elif isinstance(value, MethodType):
        yield value.__func__
    elif isinstance(value, partial):
        yield value.func
        yield from value.args
        yield from value.keywords.values()
    elif isinstance(value, type):
        if value.__module__ not in sys.modules:
            yield from (getattr(v, "__func__", v) for v in vars(value).values())
    elif isinstance(type(value).__dict__.get("__call__"), FunctionType):
        yield type(value).__dict__["__call__"]


def _add_places(found: Reach, function: FunctionType) -> None:
    found.places += [(c, "cell_contents") for c in function.__closure__ or () if is_full(c)]
    found.places += [(function, n) for n in ("__defaults__", "__kwdefaults__") if getattr(function, n)]


def _add_attributes(found: Reach, objects: Iterable[Any]) -> None:
    """Add the attributes of objects of user classes: one may be a random number generator."""
    for value in objects:
        space = getattr(value, "__dict__", None)
        if type(space) is dict and not isinstance(value, (type, FunctionType)):
            found.spaces.append(space)


def _is_ours(value: Any) -> bool:
    """Return whether a function belongs to this package: a stand-in's closure must keep the real function."""
    return type(value) is FunctionType and str(value.__globals__.get("__name__")).partition(".")[0] == "symbcast"


def is_full(cell: CellType) -> bool:
    """Return whether a cell holds a value."""
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
