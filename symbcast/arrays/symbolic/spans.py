"""Facts about the results of ufuncs: bounds of integers, and which elements are true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbcast.arrays.symbolic.contents import Contents
from symbcast.arrays.symbolic.dims import dims_of, here
from symbcast.arrays.symbolic.indices import ramp_contents
from symbcast.arrays.symbolic.integers import Span
from symbcast.arrays.symbolic.symbolic_array import contents_of, is_of_data
from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.paths.values.size import dim_of, is_whole

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.paths.runs.path import Path


def contents_after(ufunc: Any, inputs: Sequence[Any]) -> Contents:
    """Return the facts about the elements of a ufunc's result."""
    name = ufunc.__name__
    found = _of_ramp(name, inputs) or Contents(span=_span_after(name, inputs), is_data=is_of_data(*inputs))
    found.pattern = _pattern_after(name, inputs)
    if name in ("logical_not", "invert") and len(inputs) == 1:
        found.false_count = contents_of(inputs[0]).true_count
    return found


def _of_ramp(name: str, inputs: Sequence[Any]) -> Contents | None:
    """Return the ramp that results from a ramp and a single number; None for anything else."""
    ramps = [v for v in inputs if contents_of(v).ramp is not None]
    if len(ramps) != 1 or not all(v is ramps[0] or is_whole(v) for v in inputs):
        return None
    ramp, (count,) = ramps[0].contents.ramp, ramps[0].dims
    if name == "negative":
        return ramp_contents(multiply(-1, ramp.first), -ramp.step, count)
    if len(inputs) != 2:
        return None
    other = dim_of(next(v for v in inputs if v is not ramps[0]))
    if name == "add":
        return ramp_contents(add(ramp.first, other), ramp.step, count)
    if name == "subtract" and inputs[0] is ramps[0]:
        return ramp_contents(subtract(ramp.first, other), ramp.step, count)
    if name == "subtract":
        return ramp_contents(subtract(other, ramp.first), -ramp.step, count)
    if name == "multiply" and isinstance(other, int) and other:
        return ramp_contents(multiply(ramp.first, other), ramp.step * other, count)
    return None


def _pattern_after(name: str, inputs: Sequence[Any]) -> Any:
    first = contents_of(inputs[0])
    if first.pattern is None:
        return None
    if name in ("logical_not", "invert") and len(inputs) == 1:
        return first.pattern.negated if name == "logical_not" or inputs[0].dtype.kind == "b" else None
    if len(inputs) == 2 and isinstance(inputs[1], (int, float)) and inputs[1] == 0:
        if name == "not_equal" or (name == "greater" and first.span is not None and first.span.low == 0):
            return first.pattern
        return first.pattern.negated if name == "equal" else None
    return None


def _span_after(name: str, inputs: Sequence[Any]) -> Span | None:
    rule = _RULES.get(name)
    spans = [_span_of(v) for v in inputs]
    known = [s for s in spans if s is not None]
    if rule is None or len(known) < len(spans):
        return None
    path = here()
    found = rule(path, *known)
    if found is None or len(known) == 1:
        return found
    return found if _are_independent([dims_of(v) for v in inputs]) else found.bounds


def _span_of(value: Any) -> Span | None:
    if is_whole(value):
        dim = dim_of(value)
        return Span(dim, dim, "all")
    if isinstance(value, np.ndarray) and not hasattr(type(value), "dims") and value.dtype.kind not in "iu":
        return None
    return contents_of(value).span


def _are_independent(shapes: Sequence[Dims]) -> bool:
    """Return whether no two arrays share an axis, so that each element is combined with every element of the others."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return all(sum(d != 1 for d in column) < 2 for column in zip(*padded, strict=True))


def _weaker(*spans: Span) -> Any:
    """Return which bounds occur when elements of all spans are combined."""
    kinds = {s.occurs for s in spans}
    return next((k for k in ("part", "none", "ends") if k in kinds), "all")


def _add(_: Path, a: Span, b: Span) -> Span:
    return Span(add(a.low, b.low), add(a.high, b.high), _weaker(a, b))


def _negative(_: Path, a: Span) -> Span:
    return Span(multiply(-1, a.high), multiply(-1, a.low), a.occurs)


def _subtract(path: Path, a: Span, b: Span) -> Span:
    return _add(path, a, _negative(path, b))


def _multiply(path: Path, a: Span, b: Span) -> Span | None:
    for one, other in ((a, b), (b, a)):
        if one.low == one.high and isinstance(one.low, int) and one.low < 0:
            positive = _multiply(path, _negative(path, one), other)
            return None if positive is None else _negative(path, positive)
    if not (path.bounds.is_at_least(a.low, 0) and path.bounds.is_at_least(b.low, 0)):
        by = next((s for s in (a, b) if s.low == s.high and path.bounds.is_at_least(s.low, 0)), None)
        if by is None:
            return None
    is_by_one = 1 in (a.low if a.low == a.high else 0, b.low if b.low == b.high else 0)
    occurs = _weaker(a, b)
    return Span(multiply(a.low, b.low), multiply(a.high, b.high), occurs if is_by_one or occurs != "all" else "ends")


def _floor_divide(path: Path, a: Span, b: Span) -> Span | None:
    if b.low != b.high or not path.bounds.is_at_least(b.low, 1):
        return None
    return Span(floor_divide(a.low, b.low), floor_divide(a.high, b.low), a.occurs)


def _remainder(path: Path, a: Span, b: Span) -> Span | None:
    """Return the bounds of remainders; in NumPy a remainder by 0 is 0."""
    if b.low != b.high or not path.bounds.is_at_least(b.low, 0):
        return None
    most = subtract(b.low, 1)
    if a.low == 0 and a.occurs == "all":
        return Span(0, path.bounds.larger(path.bounds.smaller(a.high, most), 0), "all")
    return Span(0, path.bounds.larger(most, 0), "none" if a.occurs == "none" else "part")


def _minimum(path: Path, a: Span, b: Span) -> Span:
    smaller = path.bounds.smaller
    return Span(smaller(a.low, b.low), smaller(a.high, b.high), _of_extremes(a, b))


def _maximum(path: Path, a: Span, b: Span) -> Span:
    larger = path.bounds.larger
    return Span(larger(a.low, b.low), larger(a.high, b.high), _of_extremes(a, b))


def _of_extremes(a: Span, b: Span) -> Any:
    occurs = _weaker(a, b)
    return occurs if occurs != "all" or a.low == a.high or b.low == b.high else "ends"


def _clip(path: Path, a: Span, low: Span, high: Span) -> Span:
    return _minimum(path, _maximum(path, a, low), high)


def _same(_: Path, a: Span) -> Span:
    return a


def _absolute(path: Path, a: Span) -> Span | None:
    if path.bounds.is_at_least(a.low, 0):
        return a
    return _negative(path, a) if path.bounds.is_at_most(a.high, 0) else None


_RULES: dict[str, Callable[..., Span | None]] = {
    "absolute": _absolute,
    "add": _add,
    "clip": _clip,
    "floor_divide": _floor_divide,
    "maximum": _maximum,
    "minimum": _minimum,
    "multiply": _multiply,
    "negative": _negative,
    "positive": _same,
    "remainder": _remainder,
    "subtract": _subtract,
}
"""Result bounds of integer functions; both bounds occur if all operand bounds occur and the arrays are independent."""


def places_along(size: Dim, occurs: Any = "none") -> Span:
    """Return the span of the indices of an axis."""
    return Span(0, subtract(size, 1), occurs)
