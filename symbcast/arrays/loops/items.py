"""Items of lists that loops fill, by their number: ``rows[i]``, ``rows[-1]``, ``rows[1:]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbcast.arrays.loops.repeated import Repeated, count_of
from symbcast.arrays.loops.state import is_alike
from symbcast.arrays.symbolic.dims import here
from symbcast.arrays.symbolic.indices import sliced
from symbcast.core.algebra.arithmetic import add, replaced, subtract
from symbcast.core.logic.formulas import Comparison, at_most
from symbcast.paths.values.size import Size, dim_of, is_whole

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def item(values: Any, index: Any) -> Any:
    """Return ``values[index]``."""
    if type(values) not in (list, tuple):
        return values[index]
    has_repeated = any(type(v) is Repeated for v in values)
    if has_repeated and isinstance(index, slice):
        return _part(values, index)
    if not (is_whole(index) if has_repeated else type(index) is Size):
        return values[index]
    path, count, at = here(), count_of(values), _of_first_pass(dim_of(index))
    if not has_repeated and values:
        return values[at if isinstance(at, int) else index]
    if path.ask(Comparison("<", at, 0)):
        at = add(at, count)
    for need in (at_most(0, at), at_most(add(at, 1), count)):
        path.require(need, "list index out of range", IndexError)
    return _at(values, at, count)


def _of_first_pass(at: Dim) -> Dim:
    """Return a place for the first iteration: during the first pass, lists are as they are then."""
    firsts = {known.index: 0 for known in here().loops.running if not known.is_checking()}
    return replaced(at, firsts) if firsts else at


def _at(values: Any, at: Dim, count: Dim) -> Any:
    """Return the item at a place within a list: found from the front, from the end, or any if all are alike."""
    for whole, far in ((values, at), (values[::-1], subtract(subtract(count, 1), at))):
        place = far
        for value in whole:
            size = value.count if type(value) is Repeated else 1
            if place == 0 or (type(value) is Repeated and here().implies(Comparison("<", place, size))):
                return value.item(_place(value, at, values)) if type(value) is Repeated else value
            place = subtract(place, size)
            if not isinstance(place, int):
                break
    first, *rest = (v.value if type(v) is Repeated else v for v in values)
    is_same = all(is_alike(first, v) for v in rest) and all(v.index is None for v in values if type(v) is Repeated)
    if not is_same:
        next(v for v in values if type(v) is Repeated).refuse()
    return first


def _place(value: Repeated, at: Dim, values: Any) -> Dim:
    """Return the number of an item among those of its entry."""
    before = values[: next(n for n, v in enumerate(values) if v is value)]
    return subtract(at, count_of(before))


def _part(values: Any, part: slice) -> Any:
    """Return a list without some items at its ends, if all its items are alike."""
    (only,) = values if len(values) == 1 else (None,)
    is_plain = part.step is None and all(v is None or is_whole(v) for v in (part.start, part.stop))
    if type(only) is not Repeated or only.index is not None or not is_plain:
        next(v for v in values if type(v) is Repeated).refuse()
    count = sliced(here(), only.count, part)
    is_empty = here().ask(at_most(count, 0))
    return type(values)([] if is_empty else [Repeated(only.value, count, None, only.key)])
