"""Both arms of an ``if`` on data or on the index of a loop, run one after the other and joined."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np

from symbcast.arrays.array_facts import ArrayContents, ArrayMemory, IntegerSpan, dtype_of, example_of, here
from symbcast.arrays.loops.repeated import Repeated, copied, merged, put_back, refuse_repeated
from symbcast.arrays.loops.state import ABSENT, LoopVariables, container_contents, is_alike
from symbcast.arrays.symbolic_array import SymbolicArray, contents_of, number_of, numbering
from symbcast.core.algebra.formulas import TRUE, Comparison, Formula, at_most, different, equal, opposite
from symbcast.paths.path import Path, current
from symbcast.paths.sizes import Size, dim_of, is_whole
from symbcast.paths.steps import would_be_caught

# Join instead of fork: both arms of an ``if`` are run, one after the other from the same state, and joined.
#
# The test is an element of data, or a comparison of the index of a loop, which iterations answer differently. What an
# arm assigns replaces what was there before. If both arms lead to arrays of one shape and dtype, or to numbers, the
# code goes on with one of which nothing else is known: all that it does from there on holds for each of both. So the
# state after the ``if`` is that of all data and of all iterations, and a loop that it is in is closed by the induction
# of `loop.py`, which needs that every iteration leads from the guessed state to the next one: it does, whichever arms
# are chosen. A loop that may have no iteration for some indices of the loop around it is joined with the state before
# it alike. If the arms lead to different shapes or integers, one is chosen now, as if the question had been asked
# before.
#
# That needs three things. The arms do nothing else: they have only assignments of expressions without effects
# (`rewriting.py`). They cannot fail, nor depend on sizes: what sizes decide or require in an arm, or an error in it,
# gives the join up (`Path.begin`), and the exploration asks before the arms; so no failing path is lost. And nothing is
# said to happen that neither arm leads to: a joined number remembers its joins. If data chose the arms, a later
# decision may depend on it, but no requirement or error that comes after such a decision; if sizes did, none may.


class IndexQuestion:
    """A comparison of the index of a loop, whose answer differs between iterations; its truth value is asked for."""

    def __init__(self, formula: Formula, path: Path) -> None:
        self.formula, self._path = formula, path

    def __bool__(self) -> bool:
        return self._path.ask(self.formula)


_RELATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Formula]]] = {
    "==": (operator.eq, equal),
    "!=": (operator.ne, different),
    "<": (operator.lt, lambda a, b: Comparison("<", a, b)),
    "<=": (operator.le, at_most),
    ">": (operator.gt, lambda a, b: Comparison("<", b, a)),
    ">=": (operator.ge, lambda a, b: at_most(b, a)),
}


def compared(name: str, left: Any, right: Any) -> Any:
    """Return a comparison; one that iterations of a loop answer differently is not asked yet."""
    path = current.get()
    compare, formula_of = _RELATIONS[name]
    if path is None or not path.loops.varying or Size not in (type(left), type(right)):
        return compare(left, right)
    formula = formula_of(dim_of(left), dim_of(right)) if is_whole(left) and is_whole(right) else TRUE
    is_question = path.loops.are_in(formula) and path.is_open(formula)
    return IndexQuestion(formula, path) if is_question else compare(left, right)


def _arms_of(test: Any, key: Any) -> tuple[list[Formula], list[Formula]] | None:
    """Return what holds in each arm of a branch if both are run; None if one is chosen."""
    path = current.get()
    if path is None or path.loops.tries.get(key):
        return None
    if type(test) is SymbolicArray:
        is_known = test.dims or test.truth is not None or numbering().is_asked(number_of(test))
        return None if is_known else ([], [])
    formula = test.formula if type(test) is IndexQuestion else TRUE
    if type(test) is Size and path.loops.are_in(different(test.dim, 0)) and path.is_open(different(test.dim, 0)):
        formula = different(test.dim, 0)
    if formula == TRUE:
        return None
    path.loops.of_sizes.add(key)
    return [formula], [opposite(formula)]


def either(test: Any, key: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Return ``one() if test else other()``."""
    arms = _arms_of(test, key)
    if arms is None:
        return one() if test else other()
    path, values = here(), []
    for facts, arm in zip(arms, (one, other), strict=True):
        supposed = path.begin(key, facts)
        values.append(arm())
        path.end(supposed)
    joined = joined_value(values[0], values[1], key)
    return joined if joined is not ABSENT else values[0] if test else values[1]


def unbound_name(key: Any) -> Repeated:
    """Return the value of a name that is unbound where a join goes the other way: its use gives the join up."""
    return Repeated(ABSENT, 1, None, key)


class Filter:
    """The iterator over one turn, or none, of the rest of a comprehension, as its condition says.

    The item of an iteration that data or its index may leave out is made, and counted by the list that it goes to.

    Attributes:
        frame: the frame of the comprehension.
        facts: what holds of the index if the item is kept; empty if data decide.
        is_counted: whether a list counts the item.
    """

    def __init__(self, test: Any, key: Any, keeps: bool = True) -> None:
        self._test, self._key, self._keeps = test, key, keeps
        self.facts: list[Formula] = []
        self.is_counted = False

    def __iter__(self) -> Iterator[None]:
        return self._started(sys._getframe(1))

    def _started(self, frame: FrameType) -> Iterator[None]:
        self.frame, path = frame, current.get()
        loops = [] if path is None else [known for known in path.loops.running if known.frame is frame]
        arms = _arms_of(self._test, self._key) if loops else None
        if path is None or arms is None:
            is_kept = bool(self._test) is self._keeps
            for known in loops:  # on another path, data may not have kept the item
                known.is_forked = known.is_forked or known.has_decided()
            if is_kept:
                yield None
            return
        self.facts = arms[0 if self._keeps else 1]
        supposed = path.begin(self._key, self.facts)
        path.loops.filters.append(self)
        yield None
        path.loops.filters.remove(self)
        path.end(supposed)
        if not self.is_counted:  # what takes the items does not count them
            path.loops.refuse(self._key)


class Arms:
    """The iterator over the arms of an ``if``: True and False if both are run, otherwise the value of its test.

    Attributes:
        key: identifies the ``if`` in the code.
    """

    def __init__(self, test: Any, key: Any, *names: tuple[str, ...]) -> None:
        self.key, self._test = key, test
        # Arrays that the arms write into, names that they increase, and lists that they append to.
        self._written, self._grown, self._appended = names

    def __iter__(self) -> Iterator[bool]:
        return self._started(sys._getframe(1))

    def _started(self, frame: FrameType) -> Iterator[bool]:
        arms = _arms_of(self._test, self.key)
        space = LoopVariables(frame)
        values = space.read()
        is_known = all(type(values.get(n)) in (SymbolicArray, list) for n in self._written)
        is_known = is_known and all(type(values.get(n)) is list and n not in self._written for n in self._appended)
        # Numbers are replaced by larger ones; an array that is increased in place has other names.
        if arms is None or not is_known or any(_has_axes(values.get(n)) for n in self._grown):
            yield bool(self._test)
            return
        path, states, added = here(), [], []
        contents = {n: container_contents(v) for n, v in values.items() if type(v) is not SymbolicArray}
        replaced = [values[n] for n in self._written if type(values[n]) is list]
        copies = [list(map(copied, replaced))]
        own = [n for n, v in values.items() if any(v is items for items in replaced)]
        lists = [values[n] for n in self._appended if type(values.get(n)) is list]
        lengths = list(map(len, lists))
        for is_first, facts in zip((True, False), arms, strict=True):
            supposed = path.begin(self.key, facts)
            yield is_first
            path.end(supposed)
            now = space.read()
            states.append(now)
            added.append([items[length:] for items, length in zip(lists, lengths, strict=True)])
            for items, length in zip(lists, lengths, strict=True):
                del items[length:]
            copies.append(list(map(copied, replaced)))
            for items, before in zip(replaced, copies[0], strict=True):
                put_back(items, before)
            # An arm did more than assign.
            kept = (n for n in contents if values[n] is now[n] and n not in own)
            if not all(is_alike(contents[n], container_contents(now[n])) for n in kept):
                path.loops.refuse(self.key)
            if is_first:
                space.write({n: v for n, v in values.items() if now.get(n) is not v})
        # Items that not all iterations add may be in a list only while nothing looks at it.
        loops = [known for known in path.loops.running if known.frame is frame]
        is_hidden = [bool(loops) and loops[-1].only_appends(items) for items in lists]
        is_hidden = [h and not would_be_caught(frame, path.root) for h in is_hidden]
        new = [self._items(a, b, arms if h else None) for a, b, h in zip(added[0], added[1], is_hidden, strict=True)]
        stored = [joined_items(a, b, self.key) for a, b in zip(copies[1], copies[2], strict=True)]
        choice = self._join(space, values, states[0], states[1], all(items is not None for items in new + stored))
        chosen: list[Any] = list(new) if choice is None else added[0 if choice else 1]
        for items, more in zip(replaced, stored if choice is None else copies[1 if choice else 2], strict=True):
            put_back(items, more or [])
        for items, more in zip(lists, chosen, strict=True):
            items.extend(more)

    def _items(
        self, one: list[Any], other: list[Any], arms: tuple[list[Formula], list[Formula]] | None
    ) -> list[Any] | None:
        """Return the items that either arm adds to a list; None if there is no form for them."""
        if len(one) == len(other):
            joined = [joined_value(a, b, self.key) for a, b in zip(one, other, strict=True)]
            return None if any(v is ABSENT for v in joined) else joined
        if (one and other) or arms is None:
            return None
        facts, items = (arms[0], one) if one else (arms[1], other)
        whole = [v if type(v) is Repeated else Repeated(v, 1, None, self.key) for v in items]
        if any(v.index is not None for v in whole):
            return None
        return [Repeated(v.value, v.count, None, self.key, (*v.tests, *facts), v.is_chosen or not facts) for v in whole]

    def _join(
        self, space: LoopVariables, before: dict[str, Any], first: dict[str, Any], now: dict[str, Any], has_items: bool
    ) -> bool | None:
        """Set the joined state; return which arm was chosen if there is none."""
        changed = [n for n in {**first, **now} if first.get(n, ABSENT) is not now.get(n, ABSENT)]
        changed += [n for n in now if n not in before and n not in changed]
        # A name that one arm alone assigns is unbound after the other one: its use gives the join up.
        unbound = [n for n in changed if n not in before and (n not in first or n not in now or first[n] is now[n])]
        changed = [n for n in changed if n not in unbound]
        joined = {n: joined_value(first.get(n, ABSENT), now.get(n, ABSENT), self.key) for n in changed}
        chosen = None
        if any(v is ABSENT for v in joined.values()) or not has_items:
            chosen = bool(self._test)
            joined = {n: first[n] for n in changed} if chosen else {}
        space.write({**joined, **{n: unbound_name(self.key) for n in unbound}})
        return chosen


def joined_items(one: list[Any], other: list[Any], key: Any) -> list[Any] | None:
    """Return items of which all that is known holds for those of two lists; None if there are none."""

    def join(a: Any, b: Any) -> Any:
        joined = joined_value(a, b, key, is_item=True)
        return NotImplemented if joined is ABSENT else joined

    return merged(one, other, join)


class Storage:
    """The target of ``values[index] = item`` for a list: the item at an index that is no number may be any of them."""

    def __init__(self, values: list[Any], key: Any, item_of: Callable[[Any, Any], Any]) -> None:
        self._values, self._key, self._item_of = values, key, item_of

    def __getitem__(self, index: Any) -> Any:
        return self._item_of(self._values, index)

    def __delitem__(self, index: Any) -> None:
        self._refuse_repeated()
        del self._values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        path, values = here(), self._values
        is_symbolic = type(index) in (Size, SymbolicArray) or any(type(v) is Repeated for v in values)
        if not is_symbolic or isinstance(index, slice) or path.loops.tries.get(self._key):
            self._refuse_repeated()
            values[index] = value
            return
        self[index]  # it must be within the list
        several = [Repeated(value, v.count, None, self._key) if type(v) is Repeated else value for v in values]
        items = joined_items(values, several, self._key)
        if items is None:
            path.loops.refuse(self._key)
        values[:] = items

    def _refuse_repeated(self) -> None:
        if any(type(v) is Repeated for v in self._values):
            refuse_repeated(self._values)


def joined_value(one: Any, other: Any, key: Any, *, is_item: bool = False) -> Any:
    """Return a value of which all that is known holds for both of two; ABSENT if there is none."""
    if one is other:
        return one
    for value in (one, other):
        if type(value) is Repeated and value.value is ABSENT:
            return value
    if type(one) is SymbolicArray and type(other) is SymbolicArray and one.dims and is_alike(one, other):
        memory = one.memory if one.memory is other.memory else ArrayMemory(one.memory, other.memory)
        return SymbolicArray(one.dims, one.dtype, contents=_joined_contents(key, one, other), memory=memory)
    if is_number(one) and is_number(other):
        dtype = np.result_type(example_of(dtype_of(one)), example_of(dtype_of(other)))
        # Outside of loops, Python's numbers are followed one by one.
        if is_item or here().loops.running or type(one) is type(other) is SymbolicArray:
            memory = ArrayMemory(is_number=True)
            return SymbolicArray((), dtype, contents=_joined_contents(key, one, other), memory=memory)
    if type(one) is tuple and type(other) is tuple and len(one) == len(other):
        parts = tuple(joined_value(a, b, key) for a, b in zip(one, other, strict=True))
        return ABSENT if any(p is ABSENT for p in parts) else parts
    is_known = type(one) not in (SymbolicArray, object) and is_alike(one, other)
    return one if is_known else ABSENT


def _joined_contents(key: Any, *values: Any) -> ArrayContents:
    spans = [IntegerSpan(dim_of(v), dim_of(v)) if is_whole(v) else contents_of(v).span for v in values]
    truths = {contents_of(v).truth for v in values}
    first, second = spans
    if first is None or second is None:
        span = None
    else:
        bounds = here().bounds
        span = IntegerSpan(bounds.smaller(first.low, second.low), bounds.larger(first.high, second.high), "none")
    return ArrayContents(truths.pop() if len(truths) == 1 else None, span, joins=(key,))


def is_number(value: Any) -> bool:
    """Return whether a value is a number, or an element of an array."""
    if type(value) is SymbolicArray:
        return not value.dims and value.dtype.kind in "biuf"
    return type(value) in (bool, int, float, Size) or isinstance(value, (np.floating, np.integer, np.bool_))


def _has_axes(value: Any) -> bool:
    return not is_number(value)
