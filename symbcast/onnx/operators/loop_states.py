"""The values that a loop carries from turn to turn: what stands for them in any turn, and what they are after the last.

A size of a tensor or the length of a sequence that changes is a size of its own in the turns; where it grows by as much
in each, it is known after them. What the elements of a sequence have in common is what they have in every turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import add, multiply, subtract
from symbcast.logic.definedness import definedness
from symbcast.logic.formulas import at_most
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.sequences import OptionalValue, SequenceValue, common_to, limited
from symbcast.onnx.values.value import Value

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim

_ROUNDS = 4
"""How often a loop's body is walked to find out which sizes change; each round lets go of one more at least."""


class States:
    """What a loop carries: the values before the first turn, and those that stand for them in any turn.

    ``around`` are the sizes from around the loop: what is said in them is the same in every turn.
    """

    def __init__(self, call: NodeCall, initial: Sequence[Value]) -> None:
        self.call = call
        self.initial = initial
        self.around: frozenset[Symbol] = frozenset(call.asker.env.shown)
        self.carried = [_in_any_turn(v) for v in initial]
        self._let_go: set[Dim] = set()

    def settle(self, turn: Callable[[Sequence[Value]], Sequence[Value]]) -> None:
        """Find what stands for the values in any turn; ``turn`` returns what becomes of them in one."""
        for _ in range(_ROUNDS):
            with self.call.asker.trying(self.call.walk.trying()):
                after = turn(self.carried)
            pairs = enumerate(zip(self.carried, after, strict=True))
            general = [self._general(n, a, b) for n, (a, b) in pairs]
            if all(map(_is_same, self.carried, general)):
                return
            self.carried = general
        self.carried = [Value(None, v.dtype) for v in self.carried]

    def _general(self, position: int, before: Value, after: Value) -> Value:
        """Return a value that stands for one before a turn and after it."""
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
        made.decided_by = _together(before, after)
        return made

    def _kept(self, position: int, axis: int | str, before: Dim, after: Dim) -> Dim:
        """Return a size in any turn: the one before the first where it stays, or else a size of its own."""
        if before == after or before in self._let_go:
            return before
        text = f"{_said(position, axis)} in any turn"
        kept = self.call.fresh(f"carried_{position}_{_label(axis)}", text)
        self._let_go.add(kept)
        return kept

    def last(self, position: int, trips: Dim, after: Value) -> Value:
        """Return a carried value as it is after the last turn, or at once where there is none.

        ``after`` is what becomes of it in any turn.
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
        made.decided_by = _together(initial, after)
        return made

    def _size_after(self, position: int, axis: int | str, trips: Dim, sizes: tuple[Dim, Dim, Dim | None]) -> Dim:
        """Return a size after the last turn: ``sizes`` are it before the first, before any and after any turn."""
        first, before, after = sizes
        step = None if after is None else self._step(before, after)
        if step is None:
            text = f"{_said(position, axis)} after the loop"
            return self.call.fresh(f"last_{position}_{_label(axis)}", text)
        return first if first == before and step == 0 else self._grown(position, axis, trips, (first, step))

    def _step(self, before: Dim, after: Dim) -> Dim | None:
        """Return by how much a size grows in a turn, where that is the same in each: of sizes from around the loop."""
        step = subtract(after, before)
        return step if isinstance(step, int) or step.symbols().keys() <= self.around else None

    def _grown(self, position: int, axis: int | str, trips: Dim, sizes: tuple[Dim, Dim]) -> Dim:
        """Return a size that grows by a step in each turn; where there is none, the step need have no value."""
        first, step = sizes
        grown = add(first, multiply(trips, step))
        has_value = all(need == at_most(0, step) for need in definedness(step))
        if isinstance(step, int) or has_value or self.call.bounds.is_at_least(trips, 1):
            return grown
        name = f"{self.call.place.name}_grown_{position}_{_label(axis)}"
        text = "how long it has grown, by whether the loop runs"
        return self.call.asker.by_cases(name, text, at_most(1, trips), grown, first)


def _label(axis: int | str) -> str:
    return axis if isinstance(axis, str) else f"dim_{axis}"


def _said(position: int, axis: int | str) -> str:
    return f"{'the length' if isinstance(axis, str) else f'axis {axis}'} of carried value {position}"


def _length(value: Value) -> Dim | None:
    return value.length if isinstance(value, SequenceValue) else None


def _in_any_turn(value: Value) -> Value:
    """Return a value without what is in it, which may be something else in the next turn."""
    if isinstance(value, SequenceValue):
        return SequenceValue(value.length, value.common, value.dtype, () if value.items == () else None)
    if isinstance(value, OptionalValue):
        return OptionalValue(None if value.held is None else _in_any_turn(value.held), value.is_there)
    return value.with_content(None)


def _is_same(one: Value, other: Value) -> bool:
    """Return whether two values, without what is in them, are of the same sizes."""
    if isinstance(one, SequenceValue) and isinstance(other, SequenceValue):
        return one.length == other.length and one.common == other.common and one.items == other.items
    if isinstance(one, OptionalValue) and isinstance(other, OptionalValue):
        if one.held is None or other.held is None:
            return one.held is other.held and one.is_there == other.is_there
        return one.is_there == other.is_there and _is_same(one.held, other.held)
    return type(one) is type(other) and one.shape == other.shape and one.decided_by == other.decided_by


def _together(*values: Value) -> Decider:
    """Return what decides elements that are of one value or another one; sizes too where that is not known."""
    found = Decider.NUMBERS
    for value in values:
        found |= Decider.SIZES if value.decided_by is None else value.decided_by
    return found
