"""Handle loops and scans: walk their bodies under the condition that they run at all.

A front end describes a loop as a `Loop`: its carried values, how to walk its body, and when it ends; `looped` returns
the result. For a scan, it cuts the inputs with `slices` and walks the body with `scanned`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, at_most, equal
from symbcast.graphs.operators.control.loop_states import States
from symbcast.graphs.values.contents import Elements, listed
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.elements import truth
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.walking.walker import either
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

INT64 = 7
_FOLLOWED = 32
"""How many iterations are walked one by one, at most, if it is known for each whether it runs."""


class Turn(NamedTuple):
    """The outputs of a body in one iteration.

    Attributes:
        goes_on: Whether there is another iteration.
        carried: The values of the next iteration.
        made: Values that are concatenated over all iterations, and so need one shape.
        final: Values that are kept only from the last iteration.
    """

    goes_on: Value
    carried: Sequence[Value]
    made: Sequence[Value] = ()
    final: Sequence[Value] = ()


class Loop(NamedTuple):
    """A loop in a graph.

    Attributes:
        initial: The carried values before the first iteration.
        turn: Walks the body, given the iteration number and the carried values.
        limit: The maximum number of iterations; None if unknown, or if there is none.
        is_unlimited: Whether there is no maximum.
        start: The formula that the first iteration may run, whatever the limit; None if unknown.
        is_kept: Whether the body returns its condition unchanged.
        is_counted: Whether the body uses the iteration number.
        ends: The values that decide, with the condition, when the loop ends.
        decided_by: The positions of the inputs that decide whether the body runs at all; None for all of them.
    """

    initial: Sequence[Value]
    turn: Callable[[Value, Sequence[Value]], Turn]
    limit: Dim | None
    start: Formula | None = TRUE
    is_kept: bool = False
    is_counted: bool = False
    ends: Sequence[Value] = ()
    decided_by: Sequence[int] | None = None
    is_unlimited: bool = False


class Looped(NamedTuple):
    """The result of a loop: the number of iterations, the carried values after the last, and the outputs."""

    trips: Dim
    last: Sequence[Value]
    made: Sequence[Value]
    final: Sequence[Value]
    around: frozenset[Symbol]

    def check_alike(self, call: NodeCall, position: int, value: Value) -> None:
        """Note an output whose shape contains sizes that may change between iterations."""
        if any(not isinstance(d, int) and not d.symbols().keys() <= self.around for d in value.shape or ()):
            call.note(f"not checked: output {position} must keep its shape across iterations")


_UNNUMBERED = Value((), INT64)


def looped(call: NodeCall, loop: Loop) -> Looped:
    """Walk the body of a loop for an arbitrary iteration, and return the loop's result."""
    states = States(call, loop.initial)
    condition = _settle(states, loop)
    never_stops = loop.start == TRUE and (loop.is_kept or condition_of(condition) == TRUE)
    trips = loop.limit if never_stops else None
    is_endless = never_stops and loop.limit is None  # or as far as is known: no iteration is the last
    if not is_endless and (trips is None or states.is_open):
        turns = _followed(call, loop)
        if turns:
            return _turn_by_turn(call, loop, turns, states.around)
    if trips is not None and states.is_open:
        return _after_first(call, loop, trips, states)
    number = _numbered(call, loop, trips, states)
    runs = _runs(call, loop)
    with call.asker.under(runs):
        turn = loop.turn(number, states.carried)
    if trips is None:
        trips = call.fresh("trips", "how often the loop runs")
        if any(v.decided_by == Decider.DATA for v in (turn.goes_on, *loop.ends)):
            call.asker.undecided.discard(trips)
    last = [states.last(n, trips, value) for n, value in enumerate(turn.carried)]
    if loop.limit is None and _start(loop) is not None:
        name = f"{call.place.name}_after"
        last = [
            either(call.asker, f"{name}_{n}", runs, *pair)
            for n, pair in enumerate(zip(last, loop.initial, strict=True))
        ]
    return Looped(trips, last, turn.made, turn.final, states.around)


def _settle(states: States, loop: Loop) -> Value:
    """Find values that represent the carried values in any iteration; return whether the loop continues after one."""
    states.settle(lambda carried: loop.turn(_UNNUMBERED, carried)[:2])
    return states.condition


def _followed(call: NodeCall, loop: Loop) -> int:
    """Return how many iterations a loop has, if it is known for each whether it runs; 0 if that is unknown, or none."""
    carried, goes_on = loop.initial, loop.start
    with call.asker.trying(call.walk.trying()):
        for number in range(_FOLLOWED + 1):
            if not call.walk.has_ample:
                return 0
            runs = _is_within(call, loop, number, goes_on)
            if runs is not True:
                return number if runs is False else 0
            turn = loop.turn(_number(number), carried)
            carried, goes_on = turn.carried, loop.start if loop.is_kept else condition_of(turn.goes_on)
    return 0


def _is_within(call: NodeCall, loop: Loop, number: int, goes_on: Formula | None) -> bool | None:
    """Return whether the iteration with a number runs, after one that returned a condition; None if unknown."""
    if loop.limit is None and not loop.is_unlimited:
        return False if goes_on == FALSE else None
    is_below = TRUE if loop.limit is None else at_most(number + 1, loop.limit)
    known = call.is_known(is_below)
    if known is not True:
        return known
    return None if goes_on is None else call.is_known(goes_on)


def _turn_by_turn(call: NodeCall, loop: Loop, count: int, around: frozenset[Symbol]) -> Looped:
    """Return the result of a loop whose iterations are walked one after the other."""
    turn = loop.turn(_number(0), loop.initial)
    for number in range(1, count):
        before = turn
        with call.walk.apart() as inner:
            turn = loop.turn(_number(number), before.carried)
        call.walk.keep_common(inner)
        for n, (one, other) in enumerate(zip(before.made, turn.made, strict=True), len(turn.carried)):
            require_same(call, f"output {n}", one.shape, other.shape, "across iterations")
    return Looped(count, turn.carried, turn.made, turn.final, around)


def _number(number: int) -> Value:
    return Value((), INT64, Elements((number,)))


def _after_first(call: NodeCall, loop: Loop, trips: Dim, states: States) -> Looped:
    """Return the result of a loop after walking its first iteration separately: only there may sizes change."""
    with call.asker.under(at_most(1, trips)), call.walk.apart() as inner:
        first = loop.turn(Value((), INT64, Elements((0,))), states.initial)
    rest = States(call, first.carried, states.around)
    _settle(rest, loop)
    number = _numbered(call, loop, subtract(trips, 1), rest, start=1)
    with call.asker.under(at_most(2, trips)):
        later = loop.turn(number, rest.carried)
    call.walk.keep_common(inner)
    last = [
        states.after_first(n, trips, rest.last(n, subtract(trips, 1), value)) for n, value in enumerate(later.carried)
    ]
    for n, (one, other) in enumerate(zip(first.made, later.made, strict=True), len(last)):
        if one.shape != other.shape:
            with call.asker.under(at_most(2, trips)):
                require_same(call, f"output {n}", one.shape, other.shape, "across iterations")
    name = f"{call.place.name}_final"
    final = [
        either(call.asker, f"{name}_{n}", at_most(2, trips), b, a)
        for n, (a, b) in enumerate(zip(first.final, later.final, strict=True))
    ]
    return Looped(trips, last, first.made, final, states.around)


def _numbered(call: NodeCall, loop: Loop, trips: Dim | None, states: States, start: int = 0) -> Value:
    """Return the number of an arbitrary iteration, counted from ``start``; unknown if the iteration count is."""
    if trips is None or not (states.is_counted or loop.is_counted):
        return _UNNUMBERED
    number = call.fresh("turn", "the iteration number")
    call.asker.turns[number] = subtract(trips, 1)
    states.write_by_turn(number)
    return Value((), INT64, Elements((add(number, start),)))


def _runs(call: NodeCall, loop: Loop) -> Formula:
    """Return the condition that the body runs at least once, as far as sizes are known to determine it."""
    start = _start(loop)
    if start is not None:
        return start
    if loop.limit is None or loop.start != TRUE:
        return runs_by_data(call, loop.decided_by)
    return at_most(1, loop.limit)


def _start(loop: Loop) -> Formula | None:
    """Return the condition that the body runs at least once, where the first condition alone decides it."""
    return loop.start if loop.is_unlimited and loop.start != TRUE else None


def runs_by_data(call: NodeCall, by: Sequence[int] | None = None) -> Formula:
    """Return ``runs == 1`` for a new size that is 1 if the body runs; the inputs at the positions ``by`` decide it."""
    runs = call.fresh("runs", "1 where the body runs at all, 0 where it does not", by=by)
    call.asker.assume(at_most(runs, 1))
    return equal(runs, 1)


def condition_of(value: Value) -> Formula | None:
    """Return the truth value that a tensor of one element holds; None if unknown."""
    items = listed(value.content, value.shape)
    return truth(items[0]) if items else None


def stacked(length: Dim, value: Value, axis: int) -> Value:
    """Return values of the same shape stacked along a new axis."""
    if value.shape is None:
        return value.with_content(None)
    place = axis + len(value.shape) + 1 if axis < 0 else axis
    return value.with_content(None).with_sizes((*value.shape[:place], length, *value.shape[place:]))


# Scans.


def slices(
    call: NodeCall, scanned: Sequence[Value], axes: Sequence[int], *, keeps_axis: bool = False, is_cut: bool = False
) -> tuple[Dim, list[Value]]:
    """Return the number of slices, and a slice of each scanned input, without its axis unless it is kept.

    ``is_cut`` says that inputs may be longer than the first one; their extra slices are dropped.
    """
    length: Dim | None = None
    kept = (1,) if keeps_axis else ()
    found = []
    for value, axis in zip(scanned, axes, strict=True):
        dims = value.shape
        if dims is None:
            raise UnknownShapeError
        place = call.axis(axis, len(dims))
        length = dims[place] if length is None else length
        if is_cut:
            call.at_most(length, dims[place], "scanned inputs must be at least as long as the first")
        else:
            call.equal(length, dims[place], "scanned inputs must have the same length")
        found.append(value.with_content(None).with_sizes((*dims[:place], *kept, *dims[place + 1 :])))
    if length is None:
        call.refuse("there must be something to scan")
    return length, found


Body: TypeAlias = "Callable[[Sequence[Value]], Sequence[Value]]"
"""Walks a body, given its states; returns its outputs, the states first."""
MayChange: TypeAlias = "Callable[[Dims, Dims], bool]"
"""Returns whether a runtime lets a state of one shape become one of another shape."""


def scanned(  # noqa: PLR0913 - a body, and what a runtime does otherwise
    call: NodeCall,
    runs: Formula,
    states: Sequence[Value],
    body: Body,
    *,
    may_change: MayChange | None = None,
    again: Formula = TRUE,
) -> tuple[Sequence[Value], Sequence[Value]]:
    """Return the states after a body has run any number of times, and its outputs in any iteration.

    The body runs at least once if the formula ``runs`` holds, and again if ``again`` holds. States must keep their
    shape, except for a change in the first iteration that a runtime allows: ``may_change``.
    """
    count = len(states)
    with nullcontext() if runs == TRUE else call.asker.under(runs):
        outputs = body(states)
        last = [_state(call, n, *pair, may_change) for n, pair in enumerate(zip(states, outputs[:count], strict=True))]
    if any(a is not b for a, b in zip(states, last, strict=True)):
        call.note("not checked: a state changes its shape, which the runtime allows if it infers the new shape")
        with call.asker.under(again):
            repeated = body(last)
            for n, (before, after) in enumerate(zip(last, repeated[:count], strict=True)):
                require_same(call, f"state {n}", before.shape, after.shape)
    return last, outputs


def _state(call: NodeCall, position: int, before: Value, after: Value, may_change: MayChange | None) -> Value:
    if may_change is None or before.shape is None or after.shape is None or not may_change(before.shape, after.shape):
        require_same(call, f"state {position}", before.shape, after.shape)
        return before
    return after


def require_same(call: NodeCall, what: str, one: Dims | None, other: Dims | None, when: str = "") -> None:
    """Require that an output of a body keep its shape; note the requirement as unchecked if a shape is unknown."""
    reason = f"{what} must keep its shape" if not when else f"{what} must have the same shape {when}"
    if one is None or other is None:
        call.note(f"not checked: {reason}")
    else:
        call.same_shape(one, other, reason)
