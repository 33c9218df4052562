"""From where to where the integers of a tensor are that a program counts with, and indexes by.

``arange`` makes them; what lays the same elements out otherwise, and adding a number, keep both ends attained. So it is
exact to ask of an index that its ends be within the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import add, multiply, subtract
from symbcast.onnx.values.contents import Elements, Interval
from symbcast.onnx.values.value import Value
from symbcast.operators.indexing import meet, within
from symbcast.torch.node_call import size_of

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.onnx.values.value import Dims
    from symbcast.torch.node_call import TorchCall

_SAME_ELEMENTS = frozenset(
    f"aten.{name}"
    for name in (
        *("view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "expand", "expand_as", "repeat", "permute"),
        *(
            "transpose",
            "t",
            "flatten",
            "unflatten",
            "clone",
            "contiguous",
            "to",
            "_to_copy",
            "alias",
            "detach",
            "detach_",
        ),
        *("lift_fresh", "lift_fresh_copy", "type_as", "view_as", "flip", "roll"),
    )
)
"""Operators of which every element of the output is one of the input, and each of these is there."""


def with_interval(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a call, the integers that it counts with the interval that they are in."""
    if len(outputs) != 1 or outputs[0].shape is None or outputs[0].content is not None:
        return outputs
    found = _interval(call, outputs[0])
    return outputs if found is None else [Value(outputs[0].shape, outputs[0].dtype, found)]


def _interval(call: TorchCall, output: Value) -> Interval | None:
    kind = call.node.op_type
    if kind == "aten.arange":
        start, end = call.size("start", 0), call.size("end")
        if start is None or end is None or call.size("step", 1) != 1:
            return None
        return Interval(start, subtract(end, 1), True)
    source = call.given("self")
    held = source.content if isinstance(source, Value) else None
    if not isinstance(held, Interval) or held.low is None or held.high is None:
        return None
    if kind in _SAME_ELEMENTS or (kind == "aten.slice" and output.shape == source.shape):
        return held
    if kind in ("aten.add", "aten.sub") and call.given("alpha") in (None, 1):
        by = size_of(call.given("other"))
        if by is not None:
            by = by if kind == "aten.add" else multiply(-1, by)
            return Interval(add(held.low, by), add(held.high, by), held.is_attained)
    return None


def indexed_by(call: TorchCall, index: Value, size: Dim, shape: Dims) -> None:
    """Require that indices be within an axis: of those that are known exactly; of others, that they can be."""
    held = index.content
    if isinstance(held, Interval) and held.is_attained and held.low is not None and held.high is not None:
        within(call, held.low, held.high, size, shape)
    elif isinstance(held, Elements) and size_of(index) is not None:
        within(call, *(size_of(index) or 0,) * 2, size, shape)
    else:
        meet(call, None, None, size, shape)
