"""Loop and Scan: their bodies are walked, and asked under the condition that they run at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.core.logic.formulas import TRUE, Formula, at_most, equal
from symbcast.graphs.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.operators.expected_shapes import expect, expect_numbers
from symbcast.graphs.operators.loop_states import States
from symbcast.graphs.values.contents import Elements, is_size
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.elements import truth
from symbcast.graphs.values.value import UNKNOWN, Dims, Value
from symbcast.onnx.differences import LOOP_NO_TURNS, SCAN_DECLARED, SCAN_EMPTY, SCAN_STATES
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

INT64, BOOL = 7, 9
_FOREVER = 1 << 31
"""Trip counts from here on stand for none."""


@operator("Loop")
def loop(call: NodeCall) -> Sequence[Value]:
    """The body, turn after turn: values are carried from one to the next, and others put together."""
    body = call.node.graphs["body"]
    expect_numbers(call, 0, 1)
    initial = [call.value(n) if call.has(n) else UNKNOWN for n in range(2, len(call.inputs))]
    turn = _Turn(call, body)
    states = States(call, initial)
    states.settle(turn.carried)
    limit = _trip_limit(call)
    trips = limit if limit is not None and _goes_on(call, body, states.condition) else None
    if trips is not None and states.is_open:
        return _after_first(call, turn, trips, states)
    turn.begin(trips, states)
    with call.asker.under(_runs(call, limit)):
        outputs = turn.outputs(states.carried)
    count = len(initial)
    if trips is None:
        trips = call.fresh("trips", "how often the loop runs")
        if _is_ended_by_data(call, outputs[0]):
            call.asker.undecided.discard(trips)
    last = [states.last(n, trips, value) for n, value in enumerate(outputs[1 : count + 1])]
    made = enumerate(outputs[count + 1 :], count)
    return [*last, *(_put_together(call, n, trips, v, states.around) for n, v in made)]


def _after_first(call: NodeCall, turn: _Turn, trips: Dim, states: States) -> Sequence[Value]:
    """Return the outputs of a loop whose first turn is walked by itself: sizes may change in that one alone."""
    turn.begin_first()
    with call.asker.under(at_most(1, trips)), call.walk.apart() as inner:
        first = turn.outputs(states.initial)
    count = len(states.initial)
    rest = States(call, first[1 : count + 1], states.around)
    turn.end()
    rest.settle(turn.carried)
    turn.begin(subtract(trips, 1), rest, start=1)
    with call.asker.under(at_most(2, trips)):
        outputs = turn.outputs(rest.carried)
    call.walk.keep_common(inner)
    last = [
        states.after_first(n, trips, rest.last(n, subtract(trips, 1), value))
        for n, value in enumerate(outputs[1 : count + 1])
    ]
    found: list[Value] = [*last]
    for n, (one, other) in enumerate(zip(first[count + 1 :], outputs[count + 1 :], strict=True), count):
        if one.shape != other.shape:
            with call.asker.under(at_most(2, trips)):
                _ask_alike(call, n, one.shape, other.shape)
        found.append(_put_together(call, n, trips, one, states.around))
    return found


def _ask_alike(call: NodeCall, position: int, one: Dims | None, other: Dims | None) -> None:
    """Ask that what the first turn gives be of the shape of what the others give, with which it is put together."""
    if one is None or other is None:
        call.note(f"not checked: output {position} must have one shape in every turn")
        return
    if len(one) != len(other):
        call.refuse(f"output {position} must have one rank in every turn")
    for a, b in zip(one, other, strict=True):
        call.equal(a, b, f"output {position} must have one shape in every turn")


class _Turn:
    """The body of a loop, and what stands for the number of the turn."""

    def __init__(self, call: NodeCall, body: Any) -> None:
        self.call = call
        self.body = body
        self._number = Value((), INT64)

    def begin(self, trips: Dim | None, states: States, start: int = 0) -> None:
        """Take in how many turns there are, None where that is not known: the body is walked in any of them.

        ``start`` is the number of the first one.
        """
        is_counted = states.is_counted or _mentions(self.body, self.body.inputs[0])
        if trips is None or not is_counted:
            return
        number = self.call.fresh("turn", "the number of the turn")
        self.call.asker.turns[number] = subtract(trips, 1)
        states.write_by_turn(number)
        self._number = Value((), INT64, Elements((add(number, start),)))

    def begin_first(self) -> None:
        """Take in that the body is walked in the first turn alone."""
        self._number = Value((), INT64, Elements((0,)))

    def end(self) -> None:
        """Forget the number of the turn."""
        self._number = Value((), INT64)

    def outputs(self, carried: Sequence[Value]) -> list[Value]:
        """Return what the body gives in a turn."""
        return self.call.walk.within(self.body, self.call.scope, [self._number, Value((), BOOL), *carried])

    def carried(self, carried: Sequence[Value]) -> tuple[Value, list[Value]]:
        """Return whether the loop goes on after a turn, and what becomes of the values that it carries."""
        found = self.outputs(carried)
        return found[0], found[1 : 1 + len(carried)]


def _mentions(graph: Any, name: str) -> bool:
    """Return whether nodes of a graph, or of graphs within it, have an input of some name."""
    return any(
        name in node.inputs or any(_mentions(inner, name) for inner in node.graphs.values()) for node in graph.nodes
    )


def _is_ended_by_data(call: NodeCall, kept: Value) -> bool:
    """Return whether data decide when a loop ends: by its condition, or as its number of turns."""
    ends = [kept, *(call.value(n) for n in range(2) if call.has(n))]
    return any(v.decided_by == Decider.DATA for v in ends)


def _trip_limit(call: NodeCall) -> Dim | None:
    items = call.elements(0)
    if not items or not is_size(items[0]):
        return None
    count = items[0]
    if isinstance(count, int) and count >= _FOREVER:
        return None
    return call.bounds.larger(count, 0)


def _runs(call: NodeCall, limit: Dim | None) -> Formula:
    """Return when the body runs at least once, as far as the number of turns says so."""
    items = call.elements(1)
    start = truth(items[0]) if items else TRUE if not call.has(1) else None
    if limit is None or start != TRUE:
        runs = call.fresh("runs", "1 where the body runs at all, 0 where it does not", by=[0, 1])
        call.asker.assume(at_most(runs, 1))
        return equal(runs, 1)
    return at_most(1, limit)


def _goes_on(call: NodeCall, body: Any, condition: Value) -> bool:
    """Return whether the loop is never ended by its condition."""
    if call.has(1):
        items = call.elements(1)
        if not items or truth(items[0]) != TRUE:
            return False
    kept = condition.content
    if kept is not None and getattr(kept, "items", None) and truth(kept.items[0]) == TRUE:  # type: ignore[union-attr]
        return True
    return _hands_on(body, body.outputs[0], body.inputs[1])


def _hands_on(body: Any, name: str, source: str) -> bool:
    """Return whether an output of a graph is an input of it, perhaps by way of Identity."""
    made_by = {o: n for n in body.nodes for o in n.outputs}
    while name in made_by and made_by[name].op_type in ("Identity", "Cast"):
        name = made_by.pop(name).inputs[0]
    return bool(name == source)


def _put_together(call: NodeCall, position: int, trips: Dim, value: Value, around: frozenset[Symbol]) -> Value:
    """Return what each turn gives, put together."""
    if any(not isinstance(d, int) and not d.symbols().keys() <= around for d in value.shape or ()):
        call.note(f"that output {position} is of one shape in every turn was not looked at")
    if value.shape and call.does(LOOP_NO_TURNS) and call.is_known(at_most(1, trips)) is not True:
        value = value.with_sizes(_unless_none(call, position, trips, value.shape))
    return _stacked(trips, value, 0)


def _unless_none(call: NodeCall, position: int, trips: Dim, dims: Dims) -> Dims:
    """Return the sizes of what is put together.

    Where there is no turn, ONNX Runtime (seen with 1.31) has for each of them the number that it was able to infer, or
    0; and none of them where it did not find out how many they are.
    """
    call.note(f"output {position} has no more than one axis where the loop does not run and its rank was not inferred")
    runs = at_most(1, trips)
    found: list[Dim] = []
    for n, size in enumerate(dims, 1):
        text = f"axis {n} of output {position}"
        otherwise = call.fresh(f"none_{position}_dim_{n}", f"{text} where the loop does not run")
        label = f"{call.place.name}_output_{position}_dim_{n}"
        found.append(call.asker.by_cases(label, f"{text}, by whether the loop runs", runs, size, otherwise))
    return tuple(found)


def _stacked(length: Dim, value: Value, axis: int) -> Value:
    if value.shape is None:
        return value.with_content(None)
    place = axis + len(value.shape) + 1 if axis < 0 else axis
    return value.with_content(None).with_sizes((*value.shape[:place], length, *value.shape[place:]))


@operator("Scan")
def scan(call: NodeCall) -> Sequence[Value]:
    """The body for each slice of the scanned inputs, which are of one length; states keep their shapes."""
    if call.version < 9:
        return _scan_of_a_batch(call)
    scanned = call.integer("num_scan_inputs")
    states = len(call.inputs) - scanned
    axes = call.integers("scan_input_axes") or [0] * scanned
    length, slices = _slices(call, [call.value(n) for n in range(states, len(call.inputs))], axes)
    kept = [call.value(n).with_content(None) for n in range(states)]
    last, made = _scanned(call, length, kept, slices)
    places = call.integers("scan_output_axes") or [0] * len(made)
    return [*last, *(_stacked(length, v, p) for v, p in zip(made, places, strict=True))]


def _scan_of_a_batch(call: NodeCall) -> Sequence[Value]:
    """Scan of opset 8: all has a batch in front, and what is scanned a length behind it."""
    given = [call.value(n) for n in range(1, len(call.inputs))]
    batch: Dim | None = None
    inner = []
    for n, value in enumerate(given, 1):
        dims = call.shape(n)
        if not dims:
            call.refuse("each input must have a batch in front")
        batch = dims[0] if batch is None else batch
        call.equal(batch, dims[0], "all inputs must have one batch")
        inner.append(value.with_content(None).with_sizes(dims[1:]))
    if batch is None:
        call.refuse("there must be something to scan")
    states = len(inner) - call.integer("num_scan_inputs")
    length, slices = _slices(call, inner[states:], [0] * (len(inner) - states))
    expect(call, 0, "sequence_lens", (batch,))
    if call.has(0):
        call.note("that sequence_lens are not above the length was not looked at", is_about_data=True, by=[0])
    last, made = _scanned(call, length, inner[:states], slices)
    return [_stacked(batch, v, 0) for v in (*last, *(_stacked(length, v, 0) for v in made))]


def _scanned(
    call: NodeCall, length: Dim, kept: Sequence[Value], slices: Sequence[Value]
) -> tuple[Sequence[Value], Sequence[Value]]:
    """Return the states after all turns, and what the body gives in each."""
    body, states = call.node.graphs["body"], len(kept)
    if call.does(SCAN_EMPTY):
        call.at_most(1, length, "there must be something to scan")
    with nullcontext() if call.does(SCAN_EMPTY) else call.asker.under(at_most(1, length)):
        outputs = call.walk.within(body, call.scope, [*kept, *slices])
        last = [_same_state(call, n, a, b) for n, (a, b) in enumerate(zip(kept, outputs[:states], strict=True))]
    if call.does(SCAN_DECLARED):
        _ask_declared(call, body, [*kept, *slices], outputs)
    if any(a is not b for a, b in zip(kept, last, strict=True)):
        call.note("whether states may change their shape, as the runtime has it where it infers all of the new one")
        with call.asker.under(at_most(2, length)):
            again = call.walk.within(body, call.scope, [*last, *slices])
            for n, (before, after) in enumerate(zip(last, again[:states], strict=True)):
                _ask_same(call, n, before.shape, after.shape)
    return last, outputs[states:]


def _ask_declared(call: NodeCall, body: Any, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
    """Ask that sizes of the body's outputs be those that it declares, for these or for the inputs that have them too.

    ONNX Runtime (seen with 1.31) infers the outputs by what is declared; what it infers as a number stays that.
    """
    given = {d for v in outputs for d in v.shape or () if not isinstance(d, int)}
    declared = [*zip(body.raw.input, inputs, strict=False), *zip(body.raw.output, outputs, strict=False)]
    for what, value in declared:
        dims = what.type.tensor_type.shape.dim
        if value.shape is None or len(value.shape) != len(dims):
            continue
        for size, dim in zip(value.shape, dims, strict=True):
            if size in given and dim.WhichOneof("value") == "dim_value":
                call.equal(size, dim.dim_value, "what a body's outputs hold must have the sizes that it declares")


def _slices(call: NodeCall, scanned: Sequence[Value], axes: Sequence[int]) -> tuple[Dim, list[Value]]:
    """Return how many slices there are, and a slice of each scanned input."""
    length: Dim | None = None
    found = []
    for value, axis in zip(scanned, axes, strict=True):
        dims = value.shape
        if dims is None:
            raise UnknownShapeError
        place = call.axis(axis, len(dims))
        if length is None:
            length = dims[place]
        call.equal(length, dims[place], "what is scanned must be of one length")
        found.append(value.with_content(None).with_sizes((*dims[:place], *dims[place + 1 :])))
    if length is None:
        call.refuse("there must be something to scan")
    return length, found


def _same_state(call: NodeCall, position: int, before: Value, after: Value) -> Value:
    """Return a state as it is after the first turn; ask that it be as before.

    ONNX Runtime (seen with 1.31) has it otherwise where it infers that each size is a number.
    """
    if call.does(SCAN_STATES) and _is_inferred(before.shape, after.shape):
        return after
    _ask_same(call, position, before.shape, after.shape)
    return before


def _is_inferred(before: Dims | None, after: Dims | None) -> bool:
    """Return whether a shape is one of numbers that another one, with sizes in it, may have become."""
    if before is None or after is None or len(before) != len(after) or before == after:
        return False
    pairs = zip(before, after, strict=True)
    return all(isinstance(b, int) and (a == b or not isinstance(a, int)) for a, b in pairs)


def _ask_same(call: NodeCall, position: int, before: Dims | None, after: Dims | None) -> None:
    if before is None or after is None:
        return
    if len(before) != len(after):
        call.refuse(f"state {position} must keep its rank")
    for a, b in zip(before, after, strict=True):
        call.equal(a, b, f"state {position} must keep its shape")
