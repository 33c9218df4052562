"""What the body of a loop may change: variables, what callers and modules keep, and values that look alike."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from symbcast.arrays.array_facts import here
from symbcast.arrays.loops.repeated import Repeated, copied, put_index
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import at_most
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.paths.exploration import UNSEEN, is_of_user, places
from symbcast.paths.path import Path
from symbcast.paths.sizes import Size, dim_of, sized

ABSENT = object()
# The start of the names of variables that say which arm of an ``if`` is run.
ARM = "arm of symbcast"
_PLAIN = (bool, str, bytes, type(None), type, FunctionType, ModuleType)


class LoopVariables:
    """Names and values that loop bodies change: the locals of a frame, or the attributes of an object."""

    def __init__(self, owner: FrameType | dict[str, Any]) -> None:
        self.owner = owner

    def read(self) -> dict[str, Any]:
        values = self.owner if isinstance(self.owner, dict) else self.owner.f_locals
        return {n: v for n, v in values.items() if not n.startswith(ARM)}

    def write(self, values: dict[str, Any]) -> None:
        if not values:
            return
        if isinstance(self.owner, dict):
            self.owner.update(values)
            return
        variables = self.owner.f_locals
        variables.update(values)
        if sys.version_info < (3, 13):  # there, `f_locals` is a copy
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.owner), ctypes.c_int(0))


def loop_variables_of(frame: FrameType) -> list[LoopVariables]:
    """Return the locals of a frame, and the attributes of the objects of users' classes among them."""
    spaces = [LoopVariables(frame)]
    for value in dict(frame.f_locals).values():
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict and not isinstance(value, (type, FunctionType, ModuleType)):
            module = str(type(value).__module__).partition(".")[0]
            if module not in ("symbcast", "numpy"):
                spaces.append(LoopVariables(attributes))
    return spaces


def container_contents(value: Any) -> Any:
    """Return a container's items or the facts about an array's elements, to detect changes; None for other values."""
    if type(value) is SymbolicArray:
        known = value.contents
        return (known.truth, known.span, known.ramp, known.pattern) if known.is_data else ("sizes", known)
    if type(value) is np.ndarray and value.dtype != object:
        return value.tobytes()
    if type(value) is list:
        return copied(value)
    return dict(value) if type(value) is dict else set(value) if type(value) is set else None


def same_contents(old: Any, new: Any) -> bool:
    """Return whether two results of `container_contents`, or dicts of such, are alike; lists have alike items."""
    if type(old) is dict and type(new) is dict:
        return old.keys() == new.keys() and all(same_contents(old[k], new[k]) for k in old)
    return is_alike(old, new) if type(old) is list else bool(old == new)


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
    if type(new) is set:
        return bool(old == new)
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
        # That an integer is not negative is guessed too, so that it can be a size.
        span = (0, here().data_size("integer"), "none") if is_natural_number(value) else None
        array = SymbolicArray(value.dims, value.dtype, None, span, memory=value.memory)
        array.contents.joins = value.contents.joins
        return array
    if type(value) is Size and _is_of_iteration(value):
        is_natural = here().bounds.is_at_least(value.dim, 0)
        return SymbolicArray((), np.intp, None, (0, here().data_size("integer"), "none") if is_natural else None)
    if type(value) is Repeated:
        return value.with_value(opaque(value.value))
    return type(value)(map(opaque, value)) if type(value) in (tuple, list) else value


def _is_of_iteration(value: Size) -> bool:
    """Return whether a size is made of numbers that data decide in each iteration."""
    varying = here().loops.varying
    return any(s in varying and varying[s][1] is None for s in symbols_of((value.dim,)))


def is_natural_number(value: Any) -> bool:
    """Return whether a value is a single integer of an array that is known not to be negative."""
    is_integer = type(value) is SymbolicArray and not value.dims and value.dtype.kind in "iu"
    return is_integer and value.span is not None and here().bounds.is_at_least(value.span.low, 0)


class HiddenState:
    """What code of a loop's body may change other than the variables of the loop: it must leave all of this as it is.

    These are the containers, cells and arrays that callers, functions and modules of the user keep, as far as they can
    be reached from a frame and its callers, and from the function that makes the items. If that is
    too much to compare, it counts as changed.
    """

    def __init__(self, frame: FrameType, spaces: Iterable[LoopVariables], take: Callable[..., Any]) -> None:
        self._frame = frame
        values = [v for space in spaces for v in space.read().values()]
        known = {id(v) for v in values} | {id(space.owner) for space in spaces}
        self._places = [
            (place, before if before is not None else container_contents(place))
            for place, before in places([take, *_roots(frame)], 20_000, 1_000_000)
            if id(place) not in known
        ]
        self._own = {n: frame.f_locals.get(n) for n in (*frame.f_code.co_cellvars, *frame.f_code.co_freevars)}

    def has_changed(self) -> bool:
        """Return whether anything but the variables of the loop is another one than before."""
        # A cell of the loop's own frame is one of its variables.
        own = [(old, self._frame.f_locals.get(n)) for n, old in self._own.items()]
        return any(self._differs(place, before, own) for place, before in self._places)

    @staticmethod
    def _differs(place: Any, before: Any, own: list[tuple[Any, Any]]) -> bool:
        if place is UNSEEN:
            return True
        if type(place) is CellType:
            try:
                now = place.cell_contents
            except ValueError:  # the body has emptied it
                return True
            return now is not before and not any(old is before and new is now for old, new in own)
        if type(place) in (np.ndarray, SymbolicArray):
            return bool(container_contents(place) != before)
        if not isinstance(before, (dict, list)):
            return False
        if isinstance(before, dict):
            return len(place) != len(before) or any(place.get(k, ABSENT) is not v for k, v in before.items())
        return len(place) != len(before) or any(a is not b for a, b in zip(list(place), before, strict=True))


def _roots(frame: FrameType | None) -> Iterator[Any]:
    """Yield the values of a frame and of its callers in code of the user, and their modules' names."""
    while frame is not None:
        if is_of_user(frame.f_globals.get("__name__"), frame.f_globals.get("__file__")):
            yield from dict(frame.f_locals).values()
            yield frame.f_globals
        frame = frame.f_back


class FrameState:
    """The locals of a frame, for a comparison with those of another turn of a loop."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._contents = {n: container_contents(v) for n, v in values.items()}

    @classmethod
    def of(cls, frame: FrameType) -> FrameState | None:
        """Return the state of a frame; None if it has objects of which not all is known."""
        values = dict(frame.f_locals)
        return cls(values) if all(map(_is_known, values.values())) else None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FrameState)
            and is_alike(self._values, other._values)
            and same_contents(self._contents, other._contents)
        )

    __hash__ = None  # type: ignore[assignment]

    def steps_from(self, other: FrameState) -> dict[str, int]:
        """Return by how much integers grew since another state; empty if anything else differs."""
        if self._values.keys() != other._values.keys() or not same_contents(self._contents, other._contents):
            return {}
        steps: dict[str, int] = {}
        for name, new in self._values.items():
            old = other._values[name]
            if is_alike(old, new):
                continue
            step = subtract(dim_of(new), dim_of(old)) if {type(old), type(new)} <= {int, Size} else 0
            if not isinstance(step, int) or step <= 0:
                return {}
            steps[name] = step
        return steps

    def let_grow(self, frame: FrameType, names: Iterable[str]) -> None:
        """Make integers of a frame ones that data decide, at least as large as they are."""
        path = here()
        for name in names:
            size = path.data_size("turns")
            path.suppose(at_most(dim_of(self._values[name]), size))
            LoopVariables(frame).write({name: sized(size, path)})


def _is_known(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_known, value))
    known = (SymbolicArray, Size, int, float, complex, np.ndarray, *_PLAIN)
    return type(value) in known or isinstance(value, np.generic)


class Increment:
    """The constant step by which an integer, or the axes of an array, grow in each iteration."""

    def __init__(self, first: Any, steps: tuple[Dim, ...]) -> None:
        self.first, self.steps = first, steps

    def at(self, count: Dim, path: Path) -> Any:
        """Return the value after some iterations."""
        if type(self.first) is SymbolicArray:
            dims = (add(d, multiply(count, s)) for d, s in zip(self.first.dims, self.steps, strict=True))
            return SymbolicArray(tuple(dims), self.first.dtype)
        return sized(add(dim_of(self.first), multiply(count, self.steps[0])), path)


def increment_of(old: Any, new: Any, path: Path) -> Increment | None:
    """Return by what an integer or the axes of an array grew; None if they are no such values."""
    if type(old) is SymbolicArray and type(new) is SymbolicArray:
        if len(old.dims) != len(new.dims) or old.dtype != new.dtype:
            return None
        steps = tuple(map(subtract, new.dims, old.dims))
    elif type(old) in (int, Size) and type(new) in (int, Size):
        steps = (subtract(dim_of(new), dim_of(old)),)
    else:
        return None
    # A step that itself depends on the index is no constant step.
    varies = not path.loops.varying.keys().isdisjoint(symbols_of(s for s in steps if not isinstance(s, int)))
    return None if varies else Increment(old, steps)
