"""Branches, loops and scans.

A front end describes a loop as a `GraphLoop`: its carried values, how to walk its body, and when it ends; `looped`
returns the result. For a scan, it cuts the inputs with `slices` and walks the body with `scanned`.

A tensor size or sequence length that changes gets a new symbol within the loop; if it grows by the same amount in each
iteration, its value after the loop is known. The common shape of a sequence's elements holds in every iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, TypeAlias

from symbcast.core.algebra.arithmetic import add, multiply, replace_symbols, subtract
from symbcast.core.algebra.bounds import exact_quotient
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, at_most, definedness, equal, negate
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.structs import NamedTuple
from symbcast.graphs.walking.node_call import Fork, NodeCall, UnknownShapeError, either
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INT64, Content, Element, Elements, is_size, listed
from symbcast.operators.values.elements import truth
from symbcast.operators.values.value import (
    NEVER,
    UNKNOWN,
    Decider,
    OptionalValue,
    SequenceValue,
    Value,
    common_to,
    limited,
    put_sizes,
)

Branch: TypeAlias = "Callable[[], Sequence[Value]]"
"""Walks through a branch, and returns its value for each output."""
Paired: TypeAlias = "Callable[[Value, Value], tuple[Value, Value]]"


def branched(call: NodeCall, chosen: Formula, yes: Branch, no: Branch, paired: Paired | None = None) -> Sequence[Value]:
    """Return the outputs of whichever branch is taken; ``paired`` may change the two values for one output.

    If the branches' outputs differ in rank, the walk continues separately for each branch.
    """
    known = call.is_known(chosen)
    if known is not None:
        return yes() if known else no()
    with call.asker.under(chosen):
        first = yes()
    with call.asker.under(negate(chosen)):
        second = no()
    if paired is not None:
        pairs = [paired(a, b) for a, b in zip(first, second, strict=True)]
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
    if NEVER not in (*first, *second) and any(_is_apart(a, b) for a, b in zip(first, second, strict=True)):
        call.walk.fork = Fork(chosen, first, second)
    outputs = zip(call.node.outputs, first, second, strict=False)
    return [either(call.asker, name, chosen, a, b) for name, a, b in outputs]


def _is_apart(yes: Value, no: Value) -> bool:
    """Return whether two values cannot be merged by cases: their ranks, or the lengths of their lists, differ."""
    are_lists = isinstance(yes.content, Elements) and isinstance(no.content, Elements)
    return rank_of(yes) != rank_of(no) or (are_lists and yes.shape != no.shape)


def rank_of(value: Value) -> int | None:
    """Return the rank of a value; None if it is unknown."""
    return None if value.shape is None else len(value.shape)


def chosen_of(call: NodeCall) -> Formula:
    """Return the formula that the first input is true; a new size, 1 if true and 0 if not, represents unknown data."""
    shape = call.value(0).shape
    if shape is not None:
        call.equal(multiply(*shape), 1, "the condition must be one truth value")
    items = call.elements(0)
    formula = truth(items[0]) if items else None
    return formula if formula is not None else taken_by_data(call, call.input_name(0))


def taken_by_data(call: NodeCall, name: str) -> Formula:
    """Return ``taken == 1`` for a new size that is 1 if the first branch is taken and 0 if not."""
    text = f"1 where {name} is true and the first branch is taken, 0 where it is not"
    taken = call.fresh("taken", text, by=[0])
    call.asker.assume(at_most(taken, 1))
    return equal(taken, 1)


# How often a loop's body is walked to find the sizes that change; each round gives up at least one more.
_ROUNDS = 6


class LoopStates:
    """The carried values of a loop: those before the first iteration, and their representation in any iteration.

    ``around`` are the sizes from outside the loop: terms in them are the same in every iteration.
    """

    def __init__(self, call: NodeCall, initial: Sequence[Value], around: frozenset[Symbol] | None = None) -> None:
        self.call = call
        self.initial = initial
        self.around = frozenset(call.asker.env.shown) if around is None else around
        self.carried = [_in_any_turn(v) for v in initial]
        # Whether the loop goes on after any iteration.
        self.condition: Value = UNKNOWN
        # Whether a size changes other than by the same amount in each iteration.
        self.is_open = False
        self._let_go: set[Dim] = set()
        # The symbols for sizes that grow by the same amount in each iteration, with the initial size and the step.
        self._counted: dict[Any, tuple[Dim, Dim]] = {}

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
                items = (replace_symbols(i, sizes) if is_size(i) else i for i in value.content.items)
                value.content = Elements(tuple(items))

    def _grown_by(self, pairs: Iterable[tuple[int, tuple[Value, Value]]]) -> dict[Any, tuple[Dim, Dim]]:
        """Return the initial size and the step of each size that grows by the same amount in each iteration."""
        growth: dict[Any, tuple[Dim, Dim]] = {}
        for position, (before, after) in pairs:
            triples = zip(_sizes(self.initial[position]), _sizes(before), _sizes(after), strict=False)
            for first, any_one, later in triples:
                step = self._step(any_one, later) if any_one in self._let_go else None
                if step is not None:
                    growth[any_one] = first, step
        return growth

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
        value = Value(tuple(self._kept(position, n, a, b) for n, (a, b) in pairs), before.dtype)
        value.content = self._kept_content(position, before, after)
        value.decided_by = _together(before, after)
        return value

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
        size = self.call.fresh(f"carried_{position}_{_label(axis)}", text)
        self._let_go.add(size)
        return size

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
        value = Value(tuple(self._size_after(position, n, trips, s) for n, s in sizes), dtype)
        value.content = self._content_after(position, trips, after)
        value.decided_by = _together(initial, after)
        return value

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


# How many changing elements of a carried value are followed one by one.
_COUNTERS = 8


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
        return OptionalValue(None if value.inner is None else _in_any_turn(value.inner), value.is_there)
    return value


def _is_same(one: Value, other: Value) -> bool:
    """Return whether two values, apart from their elements, have the same sizes."""
    if isinstance(one, SequenceValue) and isinstance(other, SequenceValue):
        return one.length == other.length and one.common == other.common and one.items == other.items
    if isinstance(one, OptionalValue) and isinstance(other, OptionalValue):
        if one.inner is None or other.inner is None:
            return one.inner is other.inner and one.is_there == other.is_there
        return one.is_there == other.is_there and _is_same(one.inner, other.inner)
    is_alike = type(one) is type(other) and one.shape == other.shape and one.decided_by == other.decided_by
    return is_alike and one.content == other.content


def _together(*values: Value) -> Decider:
    """Return what decides elements that come from any of several values; unknown deciders count as sizes."""
    decider = Decider.NUMBERS
    for value in values:
        decider |= Decider.SIZES if value.decided_by is None else value.decided_by
    return decider


# How many iterations are walked one by one, at most, if it is known for each whether it runs.
_FOLLOWED = 32


class LoopIteration(NamedTuple):
    """The outputs of a body in one iteration.

    Attributes:
        goes_on: Whether there is another iteration.
        carried: The values of the next iteration.
        collected: Values that are concatenated over all iterations, and so need one shape.
        final: Values that are kept only from the last iteration.
    """

    goes_on: Value
    carried: Sequence[Value]
    collected: Sequence[Value] = ()
    final: Sequence[Value] = ()


class GraphLoop(NamedTuple):
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
    turn: Callable[[Value, Sequence[Value]], LoopIteration]
    limit: Dim | None
    start: Formula | None = TRUE
    is_kept: bool = False
    is_counted: bool = False
    ends: Sequence[Value] = ()
    decided_by: Sequence[int] | None = None
    is_unlimited: bool = False


class LoopResult(NamedTuple):
    """The result of a loop: the number of iterations, the carried values after the last, and the outputs."""

    trips: Dim
    last: Sequence[Value]
    collected: Sequence[Value]
    final: Sequence[Value]
    around: frozenset[Symbol]

    def check_alike(self, call: NodeCall, position: int, value: Value) -> None:
        """Note an output whose shape contains sizes that may change between iterations."""
        if any(not isinstance(d, int) and not d.symbols().keys() <= self.around for d in value.shape or ()):
            call.note(f"not checked: output {position} must keep its shape across iterations")


_UNNUMBERED = Value((), INT64)


def looped(call: NodeCall, loop: GraphLoop) -> LoopResult:
    """Walk the body of a loop for an arbitrary iteration, and return the loop's result."""
    states = LoopStates(call, loop.initial)
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
    return LoopResult(trips, last, turn.collected, turn.final, states.around)


def _settle(states: LoopStates, loop: GraphLoop) -> Value:
    """Find values that represent the carried values in any iteration; return whether the loop continues after one."""
    states.settle(lambda carried: loop.turn(_UNNUMBERED, carried)[:2])
    return states.condition


def _followed(call: NodeCall, loop: GraphLoop) -> int:
    """Return how many iterations a loop has, if it is known for each whether it runs; 0 if that is unknown, or none."""
    carried, goes_on = loop.initial, loop.start
    with call.asker.trying(call.walk.trying()):
        for number in range(_FOLLOWED + 1):
            # A loop without an end is followed turn by turn, and so are the loops in each turn: without a limit, models
            # that another way decides would use up the nodes of the walk.
            # A loop without an end would be followed turn by turn, and with each turn the loops within it.
            if not call.walk.has_ample:
                return 0
            runs = _is_within(call, loop, number, goes_on)
            if runs is not True:
                return number if runs is False else 0
            turn = loop.turn(_number(number), carried)
            carried, goes_on = turn.carried, loop.start if loop.is_kept else condition_of(turn.goes_on)
    return 0


def _is_within(call: NodeCall, loop: GraphLoop, number: int, goes_on: Formula | None) -> bool | None:
    """Return whether the iteration with a number runs, after one that returned a condition; None if unknown."""
    if loop.limit is None and not loop.is_unlimited:
        return False if goes_on == FALSE else None
    is_below = TRUE if loop.limit is None else at_most(number + 1, loop.limit)
    known = call.is_known(is_below)
    if known is not True:
        return known
    return None if goes_on is None else call.is_known(goes_on)


def _turn_by_turn(call: NodeCall, loop: GraphLoop, count: int, around: frozenset[Symbol]) -> LoopResult:
    """Return the result of a loop whose iterations are walked one after the other."""
    turn = loop.turn(_number(0), loop.initial)
    for number in range(1, count):
        before = turn
        with call.walk.apart() as inner:
            turn = loop.turn(_number(number), before.carried)
        call.walk.keep_common(inner)
        for n, (one, other) in enumerate(zip(before.collected, turn.collected, strict=True), len(turn.carried)):
            require_same(call, f"output {n}", one.shape, other.shape, "across iterations")
    return LoopResult(count, turn.carried, turn.collected, turn.final, around)


def _number(number: int) -> Value:
    return Value((), INT64, Elements((number,)))


def _after_first(call: NodeCall, loop: GraphLoop, trips: Dim, states: LoopStates) -> LoopResult:
    """Return the result of a loop after walking its first iteration separately: only there may sizes change."""
    with call.asker.under(at_most(1, trips)), call.walk.apart() as inner:
        first = loop.turn(Value((), INT64, Elements((0,))), states.initial)
    rest = LoopStates(call, first.carried, states.around)
    _settle(rest, loop)
    number = _numbered(call, loop, subtract(trips, 1), rest, start=1)
    with call.asker.under(at_most(2, trips)):
        later = loop.turn(number, rest.carried)
    call.walk.keep_common(inner)
    last = [
        states.after_first(n, trips, rest.last(n, subtract(trips, 1), value)) for n, value in enumerate(later.carried)
    ]
    for n, (one, other) in enumerate(zip(first.collected, later.collected, strict=True), len(last)):
        if one.shape != other.shape:
            with call.asker.under(at_most(2, trips)):
                require_same(call, f"output {n}", one.shape, other.shape, "across iterations")
    name = f"{call.place.name}_final"
    final = [
        either(call.asker, f"{name}_{n}", at_most(2, trips), b, a)
        for n, (a, b) in enumerate(zip(first.final, later.final, strict=True))
    ]
    return LoopResult(trips, last, first.collected, final, states.around)


def _numbered(call: NodeCall, loop: GraphLoop, trips: Dim | None, states: LoopStates, start: int = 0) -> Value:
    """Return the number of an arbitrary iteration, counted from ``start``; unknown if the iteration count is."""
    if trips is None or not (states.is_counted or loop.is_counted):
        return _UNNUMBERED
    number = call.fresh("turn", "the iteration number")
    call.asker.turns[number] = subtract(trips, 1)
    states.write_by_turn(number)
    return Value((), INT64, Elements((add(number, start),)))


def _runs(call: NodeCall, loop: GraphLoop) -> Formula:
    """Return the condition that the body runs at least once, as far as sizes are known to determine it."""
    start = _start(loop)
    if start is not None:
        return start
    if loop.limit is None or loop.start != TRUE:
        return runs_by_data(call, loop.decided_by)
    return at_most(1, loop.limit)


def _start(loop: GraphLoop) -> Formula | None:
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
    sliced_axis = (1,) if keeps_axis else ()
    parts = []
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
        parts.append(value.with_content(None).with_sizes((*dims[:place], *sliced_axis, *dims[place + 1 :])))
    if length is None:
        call.refuse("there must be something to scan")
    return length, parts


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
