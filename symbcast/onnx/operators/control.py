"""If, Loop and Scan: what lies in them is walked too, and asked under the condition that it runs at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symbcast.formulas import TRUE, Formula, at_most, equal, negate
from symbcast.onnx.arithmetic import truth
from symbcast.onnx.call import Call
from symbcast.onnx.contents import is_size
from symbcast.onnx.registry import operator
from symbcast.onnx.sizes import add, multiply, subtract
from symbcast.onnx.values import UNKNOWN, Dims, Value
from symbcast.onnx.walk import Fork, either

if TYPE_CHECKING:
    from symbcast.dims import Dim

INT64, BOOL = 7, 9
_ROUNDS = 4
"""How often a loop's body is walked to find out which sizes change; each round lets go of one more at least."""
_FOREVER = 1 << 31
"""Trip counts from here on stand for none."""


@operator("If")
def if_(call: Call) -> Sequence[Value]:
    """The outputs of one branch or the other; what each of them asks holds where it is taken."""
    branches = {name: call.attribute(name).g for name in ("then_branch", "else_branch")}
    chosen = _condition(call)
    known = call.asker.is_known(chosen)
    if known is not None:
        return call.walk.within(branches["then_branch" if known else "else_branch"], call.scope, ())
    with call.asker.under(chosen):
        yes = call.walk.within(branches["then_branch"], call.scope, ())
    with call.asker.under(negate(chosen)):
        no = call.walk.within(branches["else_branch"], call.scope, ())
    if any(_rank(a) != _rank(b) for a, b in zip(yes, no, strict=True)):
        call.walk.fork = Fork(chosen, yes, no)
    return [either(call.asker, name, chosen, a, b) for name, a, b in zip(call.node.output, yes, no, strict=False)]


def _rank(value: Value) -> int | None:
    return None if value.shape is None else len(value.shape)


def _condition(call: Call) -> Formula:
    """Return when the then-branch is taken: in terms of sizes, or of a size of its own that is 1 there and 0 else."""
    items = call.elements(0)
    found = truth(items[0]) if items else None
    if found is not None:
        return found
    taken = call.fresh("taken", f"1 where {call.input_name(0)} is true and the then-branch is taken, 0 where it is not")
    call.asker.assume(at_most(taken, 1))
    return equal(taken, 1)


@operator("Loop")
def loop(call: Call) -> Sequence[Value]:
    """The body, turn after turn: values are carried from one to the next, and others put together."""
    body = call.attribute("body").g
    initial = [call.value(n) if call.has(n) else UNKNOWN for n in range(2, len(call.inputs))]
    carried, steps = _steady(call, body, initial)
    limit = _trip_limit(call)
    inputs = [Value((), INT64), Value((), BOOL), *carried]
    with call.asker.under(_runs(call, limit)):
        outputs = call.walk.within(body, call.scope, inputs)
    count = len(initial)
    trips = (
        limit if limit is not None and _goes_on(call, body, outputs) else call.fresh("trips", "how often the loop runs")
    )
    last = [_after(call, n, trips, initial[n], carried[n], outputs[n + 1], steps[n]) for n in range(count)]
    return [*last, *(_stacked(trips, value, 0) for value in outputs[count + 1 :])]


def _trip_limit(call: Call) -> Dim | None:
    items = call.elements(0)
    if not items or not is_size(items[0]):
        return None
    count = items[0]
    if isinstance(count, int) and count >= _FOREVER:
        return None
    return call.bounds.larger(count, 0)


def _runs(call: Call, limit: Dim | None) -> Formula:
    """Return when the body runs at least once, as far as the number of turns says so."""
    items = call.elements(1)
    start = truth(items[0]) if items else TRUE if not call.has(1) else None
    if limit is None or start != TRUE:
        runs = call.fresh("runs", "1 where the body runs at all, 0 where it does not")
        call.asker.assume(at_most(runs, 1))
        return equal(runs, 1)
    return at_most(1, limit)


def _goes_on(call: Call, body: Any, outputs: Sequence[Value]) -> bool:
    """Return whether the loop is never ended by its condition."""
    if call.has(1):
        items = call.elements(1)
        if not items or truth(items[0]) != TRUE:
            return False
    kept = outputs[0].content
    if kept is not None and getattr(kept, "items", None) and truth(kept.items[0]) == TRUE:  # type: ignore[union-attr]
        return True
    return _hands_on(body, body.output[0].name, body.input[1].name)


def _hands_on(body: Any, name: str, source: str) -> bool:
    """Return whether an output of a graph is an input of it, perhaps by way of Identity."""
    made_by = {o: n for n in body.node for o in n.output}
    while name in made_by and made_by[name].op_type in ("Identity", "Cast"):
        name = made_by[name].input[0]
    return bool(name == source)


def _steady(call: Call, body: Any, initial: Sequence[Value]) -> tuple[list[Value], list[list[Dim | None]]]:
    """Return values that stand for those carried in any turn, and by how much each of their sizes grows in a turn.

    A size that changes is let go: a new size stands for it. By how much it grows is None where that is not one number.
    """
    carried = [Value(v.shape, v.dtype) for v in initial]
    for _ in range(_ROUNDS):
        with call.asker.trying(call.walk):
            outputs = call.walk.within(body, call.scope, [Value((), INT64), Value((), BOOL), *carried])
        after = outputs[1 : 1 + len(carried)]
        general = [_general(call, n, a, b) for n, (a, b) in enumerate(zip(carried, after, strict=True))]
        if all(a.shape == b.shape for a, b in zip(carried, general, strict=True)):
            break
        carried = general
    else:
        carried = [Value(None, v.dtype) for v in carried]
        after = carried
    return carried, [_growth(a, b) for a, b in zip(carried, after, strict=True)]


def _general(call: Call, position: int, before: Value, after: Value) -> Value:
    """Return a value that stands for one before a turn and after it."""
    if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
        return Value(None, before.dtype)
    dims = [
        a
        if a == b or a in call.asker.origins
        else call.fresh(f"carried_{position}_dim_{n}", f"axis {n} of carried value {position} in any turn")
        for n, (a, b) in enumerate(zip(before.shape, after.shape, strict=True))
    ]
    return Value(tuple(dims), before.dtype)


def _growth(before: Value, after: Value) -> list[Dim | None]:
    if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
        return []
    found: list[Dim | None] = []
    for a, b in zip(before.shape, after.shape, strict=True):
        step = subtract(b, a)
        ours = set() if isinstance(a, int) else a.free_symbols
        found.append(step if isinstance(step, int) or ours.isdisjoint(step.free_symbols) else None)
    return found


def _after(  # noqa: PLR0913, PLR0917 - a carried value before, in and after a turn
    call: Call, position: int, trips: Dim, initial: Value, carried: Value, after: Value, steps: Sequence[Dim | None]
) -> Value:
    """Return a carried value as it is after the last turn, or at once where there is none."""
    dtype = initial.dtype or after.dtype
    if carried.shape is None or initial.shape is None or after.shape is None:
        return Value(None, dtype)
    dims: list[Dim] = []
    for n, (first, size) in enumerate(zip(initial.shape, carried.shape, strict=True)):
        step = steps[n] if n < len(steps) else None
        if first == size and step == 0:
            dims.append(first)
        elif step is not None:
            dims.append(add(first, multiply(trips, step)))
        else:
            dims.append(call.fresh(f"last_{position}_dim_{n}", f"axis {n} of carried value {position} after the loop"))
    return Value(tuple(dims), dtype)


def _stacked(length: Dim, value: Value, axis: int) -> Value:
    if value.shape is None:
        return Value(None, value.dtype)
    place = axis + len(value.shape) + 1 if axis < 0 else axis
    return Value((*value.shape[:place], length, *value.shape[place:]), value.dtype)


@operator("Scan")
def scan(call: Call) -> Sequence[Value]:
    """The body for each slice of the scanned inputs, which are of one length; states keep their shapes."""
    if call.version < 9:
        call.give_up("Scan of opset 8, which has a batch, is not followed")
    body = call.attribute("body").g
    scanned = call.integer("num_scan_inputs")
    states = len(call.inputs) - scanned
    axes = call.integers("scan_input_axes") or [0] * scanned
    length, slices = _slices(call, states, axes)
    kept = [Value(call.value(n).shape, call.dtype(n)) for n in range(states)]
    with call.asker.under(at_most(1, length)):
        outputs = call.walk.within(body, call.scope, [*kept, *slices])
        for n, (before, after) in enumerate(zip(kept, outputs, strict=False)):
            _same_state(call, n, before.shape, after.shape)
    places = call.integers("scan_output_axes") or [0] * (len(outputs) - states)
    return [*kept, *(_stacked(length, v, p) for v, p in zip(outputs[states:], places, strict=True))]


def _slices(call: Call, states: int, axes: Sequence[int]) -> tuple[Dim, list[Value]]:
    """Return how many slices there are, and a slice of each scanned input."""
    length: Dim | None = None
    found = []
    for n, axis in enumerate(axes, states):
        dims = call.shape(n)
        place = call.axis(axis, len(dims))
        if length is None:
            length = dims[place]
        call.equal(length, dims[place], "what is scanned must be of one length")
        found.append(Value((*dims[:place], *dims[place + 1 :]), call.dtype(n)))
    if length is None:
        call.refuse("there must be something to scan")
    return length, found


def _same_state(call: Call, position: int, before: Dims | None, after: Dims | None) -> None:
    if before is None or after is None:
        return
    if len(before) != len(after):
        call.refuse(f"state {position} must keep its rank")
    for a, b in zip(before, after, strict=True):
        call.equal(a, b, f"state {position} must keep its shape")
