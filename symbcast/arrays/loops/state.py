"""The variables that a loop changes: compare them before and after an iteration, and set them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from types import FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from symbcast.arrays.loops.repeated import Repeated, put_index
from symbcast.arrays.symbolic.dims import here
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import at_most
from symbcast.paths.values.size import Size, dim_of, sized

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.paths.runs.path import Path

ABSENT = object()
_PLAIN = (bool, str, bytes, type(None), type, FunctionType, ModuleType)


class Space:
    """Names and values that loop bodies change: the locals of a frame, or the attributes of an object."""

    def __init__(self, owner: FrameType | dict[str, Any]) -> None:
        self.owner = owner

    def read(self) -> dict[str, Any]:
        return dict(self.owner if isinstance(self.owner, dict) else self.owner.f_locals)

    def write(self, values: dict[str, Any]) -> None:
        if not values:
            return
        if isinstance(self.owner, dict):
            self.owner.update(values)
            return
        held = self.owner.f_locals
        held.update(values)
        if sys.version_info < (3, 13):  # there, `f_locals` is a copy
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.owner), ctypes.c_int(0))


def spaces_of(frame: FrameType) -> list[Space]:
    """Return the locals of a frame, and the attributes of the objects of users' classes among them."""
    found = [Space(frame)]
    for value in dict(frame.f_locals).values():
        held = getattr(value, "__dict__", None)
        if type(held) is dict and not isinstance(value, (type, FunctionType, ModuleType)):
            module = str(type(value).__module__).partition(".")[0]
            if module not in ("symbcast", "numpy"):
                found.append(Space(held))
    return found


def contents_of(value: Any) -> Any:
    """Return a container's items or the facts about an array's elements, to detect changes; None for other values."""
    if type(value) is SymbolicArray:
        known = value.contents
        return (known.truth, known.span, known.ramp, known.pattern) if known.is_data else ("sizes", known)
    if type(value) is list:
        return list(value)
    return dict(value) if type(value) is dict else set(value) if type(value) is set else None


def is_alike(old: Any, new: Any) -> bool:
    """Return whether nothing that a trace follows can tell two values apart."""
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if type(new) is SymbolicArray:
        return bool(old.dims == new.dims and old.dtype == new.dtype)
    if type(new) is Size:
        return bool(old.dim == new.dim)
    if type(new) is Repeated:
        value = put_index(old.value, {old.index: new.index}) if old.index and new.index else old.value
        return (
            bool(old.count == new.count) and (old.index is None) == (new.index is None) and is_alike(value, new.value)
        )
    if type(new) in (list, tuple):
        return len(old) == len(new) and all(map(is_alike, old, new))
    if type(new) is dict:
        return list(old) == list(new) and all(is_alike(old[k], new[k]) for k in new)
    if isinstance(new, np.ndarray):
        return old.dtype == new.dtype and new.dtype != object and np.array_equal(old, new)
    if isinstance(new, (int, np.generic, *_PLAIN)):
        return bool(old == new)
    return bool(type(new) in (float, complex) and old == new)


def opaque(value: Any) -> Any:
    """Return a number as one that depends on data, and arrays without facts about their elements."""
    if type(value) in (float, complex) or isinstance(value, (np.floating, np.complexfloating)):
        return SymbolicArray(
            (), type(value) if isinstance(value, np.generic) else float if type(value) is float else complex
        )
    if type(value) is SymbolicArray:
        return SymbolicArray(value.dims, value.dtype, memory=value.memory)
    return tuple(map(opaque, value)) if type(value) is tuple else value


class State:
    """The locals of a frame, for a comparison with those of another turn of a loop."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._contents = {n: contents_of(v) for n, v in values.items()}

    @classmethod
    def of(cls, frame: FrameType) -> State | None:
        """Return the state of a frame; None if it has objects of which not all is known."""
        values = dict(frame.f_locals)
        return cls(values) if all(map(_is_known, values.values())) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and is_alike(self._values, other._values) and self._contents == other._contents

    __hash__ = None  # type: ignore[assignment]

    def steps_from(self, other: State) -> dict[str, int]:
        """Return by how much integers grew since another state; empty if anything else differs."""
        if self._values.keys() != other._values.keys() or self._contents != other._contents:
            return {}
        found: dict[str, int] = {}
        for name, new in self._values.items():
            old = other._values[name]
            if is_alike(old, new):
                continue
            step = subtract(dim_of(new), dim_of(old)) if {type(old), type(new)} <= {int, Size} else 0
            if not isinstance(step, int) or step <= 0:
                return {}
            found[name] = step
        return found

    def let_grow(self, frame: FrameType, names: Iterable[str]) -> None:
        """Make integers of a frame ones that data decide, at least as large as they are."""
        path = here()
        for name in names:
            size = path.data_size("turns")
            path.suppose(at_most(dim_of(self._values[name]), size))
            Space(frame).write({name: sized(size, path)})


def _is_known(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_known, value))
    known = (SymbolicArray, Size, int, float, complex, np.ndarray, *_PLAIN)
    return type(value) in known or isinstance(value, np.generic)


class Step:
    """The constant step by which an integer, or the axes of an array, grow in each iteration."""

    def __init__(self, first: Any, steps: tuple[Dim, ...]) -> None:
        self.first, self.steps = first, steps

    def at(self, count: Dim, path: Path) -> Any:
        """Return the value after some iterations."""
        if type(self.first) is SymbolicArray:
            dims = (add(d, multiply(count, s)) for d, s in zip(self.first.dims, self.steps, strict=True))
            return SymbolicArray(tuple(dims), self.first.dtype)
        return sized(add(dim_of(self.first), multiply(count, self.steps[0])), path)


def step_of(old: Any, new: Any, path: Path) -> Step | None:
    """Return by what an integer or the axes of an array grew; None if they are no such values."""
    if type(old) is SymbolicArray and type(new) is SymbolicArray:
        if len(old.dims) != len(new.dims) or old.dtype != new.dtype:
            return None
        steps = tuple(map(subtract, new.dims, old.dims))
    elif type(old) in (int, Size) and type(new) in (int, Size):
        steps = (subtract(dim_of(new), dim_of(old)),)
    else:
        return None
    varies = not path.loops.varying.keys().isdisjoint(symbols_of(s for s in steps if not isinstance(s, int)))
    return None if varies else Step(old, steps)
