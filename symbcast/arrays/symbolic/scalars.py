"""Scalars that data decide, as Python's numbers and as text."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from symbcast.arrays.symbolic.dims import here
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import subtract
from symbcast.core.logic.formulas import at_most
from symbcast.paths.values.size import sized

MARK = "\u2063"
"""An invisible character in all text made of data, which marks the text wherever it is used."""


def integer_of(array: SymbolicArray) -> Any:
    """Return a single element as an integer that data decide, within the bounds of the elements."""
    path, span = here(), array.span
    if span is not None and span.low == span.high:
        return sized(span.low, path)
    if span is not None and path.bounds.is_at_least(span.low, 0):
        found = path.data_size("integer")
        path.suppose(at_most(span.low, found))
        path.suppose(at_most(found, span.high))
        return sized(found, path)
    above, below = path.data_size("integer"), path.data_size("integer")
    return sized(subtract(above, below), path)


class DataText(str):
    """Text that data decide: code may keep it and print it; whatever looks into it ends the path."""

    def __add__(self, other: str) -> Any:
        return DataText(str.__add__(self, other))

    def __radd__(self, other: str) -> Any:
        return DataText(str.__add__(other, self))


def _refuse(*_: Any, **__: Any) -> NoReturn:
    here().fail_to_trace("text that is made of data is compared or measured")


_KEPT = {"__new__", "__init__", "__getattribute__", "__class__", "__str__", "__repr__", "__format__", "__doc__"}
_KEPT |= {"__add__", "__radd__", "__init_subclass__", "__subclasshook__", "__setattr__", "__delattr__", "__dir__"}
for _name in set(dir(str)) - _KEPT:
    setattr(DataText, _name, _refuse)


def text(value: str) -> str:
    """Return a text; if it is made of data, as such a text."""
    return DataText(value) if type(value) is str and MARK in value else value


def shown(value: Any, spec: str = "") -> str:
    """Return an array in a format, as the text of some element. Raises what NumPy raises for the format."""
    if type(value) is not SymbolicArray:
        return str.__str__(format(value, spec))
    if value.dims:
        if spec:
            raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
        return f"{MARK}[...]"
    return f"{MARK}{np.ones((), value.dtype)[()]:{spec}}"


def percent(template: str, values: Any) -> str:
    """Return ``template % values``."""
    several = values if type(values) is tuple else (values,)
    if not any(type(v) is SymbolicArray for v in several):
        found: str = template % values
        return found
    examples = (np.ones((), v.dtype)[()] if type(v) is SymbolicArray and not v.dims else v for v in several)
    return DataText(MARK + template % tuple(examples))


SymbolicArray.shown = staticmethod(shown)
SymbolicArray.whole = staticmethod(integer_of)
