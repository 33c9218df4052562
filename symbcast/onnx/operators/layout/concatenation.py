"""Operators that concatenate or split tensors along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.logic.formulas import all_of, any_of, equal
from symbcast.graphs.operators.expected_shapes import expect_line, known_shape
from symbcast.graphs.operators.joining import contents_joined
from symbcast.graphs.values.contents import Content, Elements
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.concat import join_skipping_empty
from symbcast.onnx.runtime.differences import CONCAT_EMPTY, SPLIT_EMPTY
from symbcast.operators.context import Dims
from symbcast.operators.rearranging.joins import concat, split_as, split_evenly, split_rounded_up

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


@operator("Concat")
def concat_(call: NodeCall) -> Value:
    """Tensors concatenated along ``axis``; their other sizes are equal."""
    shape, axis = joined_shape(call, [call.shape(n) for n in range(len(call.inputs))])
    values = [call.value(n) for n in range(len(call.inputs))]
    return Value(shape, call.dtype(), contents_joined(values, axis, shape))


def joined_shape(call: NodeCall, shapes: Sequence[Dims]) -> tuple[Dims, int]:
    """Return the shape of tensors concatenated along the attribute ``axis``, and that axis; require that they fit."""
    axis = call.integer("axis", 1 if call.version < 4 else 0)
    skipping = partial(join_skipping_empty, call) if call.does(CONCAT_EMPTY) else None
    return concat(call, shapes, axis, skipping), call.axis(axis, len(shapes[0]))


@operator("Split")
def split(call: NodeCall) -> Sequence[Value]:
    """A tensor split along ``axis`` into parts of given sizes, or of equal size with a smaller last part."""
    dims = call.shape(0)
    axis = call.axis(call.integer("axis"), len(dims))
    count = len(call.node.outputs)
    size = dims[axis]
    parts = _part_sizes(call, size, count)
    values = []
    items = call.elements(0) if len(dims) == 1 else None
    start: Dim = 0
    for part in parts:
        content: Content | None = None
        if items is not None and isinstance(part, int) and isinstance(start, int):
            content = Elements(tuple(items[start : start + part]))
        values.append(Value((*dims[:axis], part, *dims[axis + 1 :]), call.dtype(), content))
        start = add(start, part)
    return values


def _open_parts(call: NodeCall, size: Dim, count: int) -> list[Dim]:
    """Return the sizes of parts that an input holds, which must be as many as there are outputs."""
    parts: list[Dim] = [call.fresh(f"part_{n}", f"part {n} of {call.input_name(1)}", by=[1]) for n in range(count)]
    call.equal(add(*parts), size, "the parts must add up to the size")
    (given,) = known_shape(call, 1, "the sizes of the parts") or (count,)
    if call.does(SPLIT_EMPTY):
        even = all_of([equal(given, 0), *(equal(multiply(part, count), size) for part in parts)])
        call.require(any_of([equal(given, count), even]), f"there must be {count} sizes of parts, or none")
    else:
        call.equal(given, count, f"there must be {count} sizes of parts")
    return parts


def _part_sizes(call: NodeCall, size: Dim, count: int) -> list[Dim]:
    if call.version >= 13:
        expect_line(call, 1)
    if call.version >= 18 and call.has(1) and call.attribute("num_outputs") is not None:
        call.refuse("either the sizes of the parts or num_outputs may be given, not both")
    given: Sequence[Dim] | None = call.integers("split") if call.version < 13 else call.sizes(1)
    if call.version >= 13 and call.has(1) and given is None:
        return _open_parts(call, size, count)
    if given is not None and (given or not call.does(SPLIT_EMPTY)):
        if len(given) != count:
            call.refuse(f"{len(given)} parts are requested, but {count} taken")
        return split_as(call, size, given)
    if call.version < 18 or call.attribute("num_outputs") is None:
        return split_evenly(call, size, count)
    if call.integer("num_outputs") != count:
        call.refuse(f"{call.integer('num_outputs')} parts are requested, but {count} taken")
    return split_rounded_up(call, size, count)
