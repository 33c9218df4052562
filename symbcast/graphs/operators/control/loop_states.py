"""Represent the values that a loop carries: before, in any iteration, and after the last one.

A tensor size or sequence length that changes gets a new symbol within the loop; if it grows by the same amount in each
iteration, its value after the loop is known. The common shape of a sequence's elements holds in every iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import add, multiply, replaced, subtract
from symbcast.core.algebra.bounds import exact_quotient
from symbcast.core.logic.definedness import definedness
from symbcast.core.logic.formulas import at_most
from symbcast.graphs.values.contents import Elements, is_size
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.value import UNKNOWN, OptionalValue, SequenceValue, Value, common_to, limited, put_sizes
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.walker import either

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.contents import Content, Element

_ROUNDS = 6
"""How often a loop's body is walked to find the sizes that change; each round gives up at least one more."""


class States:
    """The carried values of a loop: those before the first iteration, and their representation in any iteration.

    ``around`` are the sizes from outside the loop: terms in them are the same in every iteration.
    """

    def __init__(self, call: NodeCall, initial: Sequence[Value], around: frozenset[Symbol] | None = None) -> None:
        self.call = call
        self.initial = initial
        self.around = frozenset(call.asker.env.shown) if around is None else around
        self.carried = [_in_any_turn(v) for v in initial]
        self.condition: Value = UNKNOWN
        """Whether the loop goes on after any iteration."""
        self.is_open = False
        """Whether a size changes other than by the same amount in each iteration."""
        self._let_go: set[Dim] = set()
        self._counted: dict[Any, tuple[Dim, Dim]] = {}
        """The symbols for sizes that grow by the same amount in each iteration, with the initial size and the step."""

    @property
    def is_counted(self) -> bool:
        """Whether some sizes are functions of the iteration number."""
        return bool(self._counted)

    def write_by_turn(self, number: Dim) -> None:
        """Write sizes that grow by the same amount in each iteration in terms of the iteration number (from 0)."""
        sizes = {s: add(first, multiply(step, number)) for s, (first, step) in self._counted.items()}
        for value in self.carried if sizes else ():
            put_sizes(value, sizes)
            if isinstance(value.content, Elements):
                items = (replaced(i, sizes) if is_size(i) else i for i in value.content.items)
                value.content = Elements(tuple(items))

    def _grown_by(self, pairs: Iterable[tuple[int, tuple[Value, Value]]]) -> dict[Any, tuple[Dim, Dim]]:
        """Return the initial size and the step of each size that grows by the same amount in each iteration."""
        found: dict[Any, tuple[Dim, Dim]] = {}
        for position, (before, after) in pairs:
            triples = zip(_sizes(self.initial[position]), _sizes(before), _sizes(after), strict=False)
            for first, any_one, later in triples:
                step = self._step(any_one, later) if any_one in self._let_go else None
                if step is not None:
                    found[any_one] = first, step
        return found

    def settle(self, turn: Callable[[Sequence[Value]], tuple[Value, Sequence[Value]]]) -> None:
        """Find the representation of the values in any iteration.

        ``turn`` returns whether the loop continues after an iteration, and the values after it.
        """
        for _ in range(_ROUNDS):
            with self.call.asker.trying(self.call.walk.trying()):
                self.condition, after = turn(self.carried)
            pairs = list(enumerate(zip(self.carried, after, strict=True)))
            general = [self._general(n, a, b) for n, (a, b) in pairs]
            if all(map(_is_same, self.carried, general)):
                self.is_open = any(self._is_open(a, b) for _, (a, b) in pairs)
                self._counted = self._grown_by(pairs)
                return
            self.carried = general
        self.is_open = True
        self.carried = [Value(None, v.dtype) for v in self.carried]

    def _is_open(self, before: Value, after: Value) -> bool:
        if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
            return type(before) is Value
        pairs = zip(before.shape, after.shape, strict=True)
        return any(a in self._let_go and self._step(a, b) is None for a, b in pairs)

    def after_first(self, position: int, trips: Dim, value: Value) -> Value:
        """Return a carried value after the last iteration: ``value`` if there is one, else the initial value."""
        initial, name = self.initial[position], f"{self.call.place.name}_last_{position}"
        if value.shape is not None and initial.shape is not None and len(value.shape) == len(initial.shape):
            # One formula covers growth by the same amount in each iteration, even if there are no iterations.
            pairs = zip(value.shape, initial.shape, strict=True)
            dims = tuple(a if exact_quotient((subtract(a, b),), (trips,)) is not None else b for a, b in pairs)
            initial = initial.with_sizes(dims)
        return either(self.call.asker, name, at_most(1, trips), value, initial)

    def _general(self, position: int, before: Value, after: Value) -> Value:
        """Return a value that represents a carried value both before and after an iteration."""
        if _is_same(before, _in_any_turn(after)):
            return before
        if isinstance(before, SequenceValue) and isinstance(after, SequenceValue):
            length = self._kept(position, "length", before.length, after.length)
            common = limited(common_to([before, after]), self.around)
            return SequenceValue(length, common, before.dtype or after.dtype)
        if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
            return Value(None, before.dtype)
        pairs = enumerate(zip(before.shape, after.shape, strict=True))
        made = Value(tuple(self._kept(position, n, a, b) for n, (a, b) in pairs), before.dtype)
        made.content = self._kept_content(position, before, after)
        made.decided_by = _together(before, after)
        return made

    def _kept_content(self, position: int, before: Value, after: Value) -> Content | None:
        """Return the elements in any iteration: unchanged ones are kept, and growing ones become new sizes."""
        a, b = before.content, after.content
        if a == b or a is None or before.shape != after.shape:
            return a if a == b else None
        if not (isinstance(a, Elements) and isinstance(b, Elements) and len(a.items) == len(b.items) <= _COUNTERS):
            return None
        items = [self._counter(position, n, *pair) for n, pair in enumerate(zip(a.items, b.items, strict=True))]
        return Elements(tuple(items)) if any(i is not None for i in items) else None

    def _counter(self, position: int, n: int, before: Element, after: Element) -> Element:
        """Return an element in any iteration: a new size if the element never decreases, and so is never negative."""
        if before == after:
            return before
        bounds = self.call.bounds
        if not (is_size(before) and is_size(after) and bounds.is_at_least(before, 0)):
            return None
        if not bounds.is_at_least(subtract(after, before), 0):
            return None
        return self._kept(position, f"element_{n}", before, after)

    def _kept(self, position: int, axis: int | str, before: Dim, after: Dim) -> Dim:
        """Return a size in any iteration: the initial size if it does not change, else a new size."""
        if before == after or before in self._let_go:
            return before
        text = f"{_said(position, axis)} in any iteration"
        kept = self.call.fresh(f"carried_{position}_{_label(axis)}", text)
        self._let_go.add(kept)
        return kept

    def last(self, position: int, trips: Dim, after: Value) -> Value:
        """Return a carried value after the last iteration, or the initial value if there is none.

        ``after`` is its value after any iteration.
        """
        initial, carried = self.initial[position], self.carried[position]
        if after is carried:
            return initial
        if isinstance(initial, SequenceValue) and isinstance(carried, SequenceValue):
            length = self._size_after(position, "length", trips, (initial.length, carried.length, _length(after)))
            common = limited(common_to([initial, carried]), self.around)
            return SequenceValue(length, common, initial.dtype or after.dtype)
        dtype = initial.dtype or after.dtype
        if initial.shape is None or carried.shape is None or after.shape is None:
            return Value(None, dtype)
        if len({len(v.shape or ()) for v in (initial, carried, after)}) > 1:
            return Value(None, dtype)
        sizes = enumerate(zip(initial.shape, carried.shape, after.shape, strict=True))
        made = Value(tuple(self._size_after(position, n, trips, s) for n, s in sizes), dtype)
        made.content = self._content_after(position, trips, after)
        made.decided_by = _together(initial, after)
        return made

    def _content_after(self, position: int, trips: Dim, after: Value) -> Content | None:
        """Return the elements after the last iteration; known are those that grow by the same amount each time."""
        contents = [v.content for v in (self.initial[position], self.carried[position], after)]
        if contents[0] == contents[1] == contents[2]:
            return contents[0]
        lists = [c.items for c in contents if isinstance(c, Elements)]
        if len(lists) < 3 or self.carried[position].shape != after.shape or len(set(map(len, lists))) > 1:
            return None
        items: list[Element] = []
        for first, before, later in zip(*lists, strict=True):
            step = self._step(before, later) if is_size(before) and is_size(later) else None
            items.append(add(first, multiply(trips, step)) if is_size(first) and step is not None else None)
        return Elements(tuple(items)) if any(i is not None for i in items) else None

    def _size_after(self, position: int, axis: int | str, trips: Dim, sizes: tuple[Dim, Dim, Dim | None]) -> Dim:
        """Return a size after the last iteration; ``sizes`` are its values before the first, before any, after any."""
        first, before, after = sizes
        step = None if after is None else self._step(before, after)
        if step is None:
            text = f"{_said(position, axis)} after the loop"
            return self.call.fresh(f"last_{position}_{_label(axis)}", text)
        return first if first == before and step == 0 else self._grown(position, axis, trips, (first, step))

    def _step(self, before: Dim, after: Dim) -> Dim | None:
        """Return a size's growth per iteration if it depends only on sizes from outside the loop, so is constant."""
        step = subtract(after, before)
        return step if isinstance(step, int) or step.symbols().keys() <= self.around else None

    def _grown(self, position: int, axis: int | str, trips: Dim, sizes: tuple[Dim, Dim]) -> Dim:
        """Return a size that grows by a step in each iteration; without iterations, the step may be undefined."""
        first, step = sizes
        grown = add(first, multiply(trips, step))
        has_value = all(need == at_most(0, step) for need in definedness(step))
        if isinstance(step, int) or has_value or self.call.bounds.is_at_least(trips, 1):
            return grown
        name = f"{self.call.place.name}_grown_{position}_{_label(axis)}"
        text = "its size after the loop, depending on whether the loop runs"
        return self.call.asker.by_cases(name, text, at_most(1, trips), grown, first)


def _sizes(value: Value) -> list[Dim]:
    """Return the sizes of a value, and the elements that are sizes; -1 stands for other elements."""
    if isinstance(value, SequenceValue):
        return [value.length]
    items = value.content.items if isinstance(value.content, Elements) else ()
    return [*(value.shape or ()), *(i if is_size(i) else -1 for i in items)]


def _label(axis: int | str) -> str:
    return axis if isinstance(axis, str) else f"dim_{axis}"


_COUNTERS = 8
"""How many changing elements of a carried value are followed one by one."""


def _said(position: int, axis: int | str) -> str:
    what = "the length" if axis == "length" else axis.replace("_", " ") if isinstance(axis, str) else f"axis {axis}"
    return f"{what} of carried value {position}"


def _length(value: Value) -> Dim | None:
    return value.length if isinstance(value, SequenceValue) else None


def _in_any_turn(value: Value) -> Value:
    """Return a value for any iteration: the elements of a sequence may differ in the next one."""
    if isinstance(value, SequenceValue):
        return SequenceValue(value.length, value.common, value.dtype, () if value.items == () else None)
    if isinstance(value, OptionalValue):
        return OptionalValue(None if value.held is None else _in_any_turn(value.held), value.is_there)
    return value


def _is_same(one: Value, other: Value) -> bool:
    """Return whether two values, apart from their elements, have the same sizes."""
    if isinstance(one, SequenceValue) and isinstance(other, SequenceValue):
        return one.length == other.length and one.common == other.common and one.items == other.items
    if isinstance(one, OptionalValue) and isinstance(other, OptionalValue):
        if one.held is None or other.held is None:
            return one.held is other.held and one.is_there == other.is_there
        return one.is_there == other.is_there and _is_same(one.held, other.held)
    is_alike = type(one) is type(other) and one.shape == other.shape and one.decided_by == other.decided_by
    return is_alike and one.content == other.content


def _together(*values: Value) -> Decider:
    """Return what decides elements that come from any of several values; unknown deciders count as sizes."""
    found = Decider.NUMBERS
    for value in values:
        found |= Decider.SIZES if value.decided_by is None else value.decided_by
    return found
