"""Operators that take elements out of a tensor, or put them in, by index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import TRUE, all_of, at_most
from symbcast.graphs.operators.gathering import check_columns, check_indices, gathered, index_length
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import GATHER_ND_BATCHES, GATHER_ND_EMPTY
from symbcast.onnx.runtime.gather_nd import divided_batches
from symbcast.operators.selecting.indexing import (
    gather,
    gather_elements,
    gather_nd,
    same_batches,
    scatter_elements,
    scatter_nd,
)

if TYPE_CHECKING:
    pass

INT64, BOOL = 7, 9


@operator("Gather")
def gather_(call: NodeCall) -> Value:
    """Slices of the data along ``axis``, selected by indices."""
    data, indices = call.shape(0), call.shape(1)
    axis = call.axis(call.integer("axis"), len(data))
    shape = gather(call, data, indices, axis)
    check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype(), gathered(call.value(0), call.value(1), axis, call.bounds))


@operator("GatherElements")
def gather_elements_(call: NodeCall) -> Value:
    """One element of the data for each index."""
    data, indices, axis = call.shape(0), call.shape(1), call.integer("axis")
    shape = gather_elements(call, data, indices, axis)
    check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype())


@operator("GatherND")
def gather_nd_(call: NodeCall) -> Value:
    """Slices of the data, one for each index vector in the last axis of the indices."""
    data, indices = call.shape(0), call.shape(1)
    batch = call.integer("batch_dims")
    if batch < 0 and call.does(GATHER_ND_BATCHES):
        call.give_up("the result of a negative batch_dims is not known")
    length = index_length(call, indices)
    batches = divided_batches if call.does(GATHER_ND_BATCHES) else same_batches
    shape = gather_nd(call, data, indices, length, batch, batches)
    # ONNX Runtime (seen with 1.31) does not check indices of empty slices.
    rest = data[batch + length :]
    is_looked_at = all_of(at_most(1, d) for d in rest) if call.does(GATHER_ND_EMPTY) else TRUE
    if call.is_known(is_looked_at) is not False:
        with call.asker.under(is_looked_at):
            check_columns(call, length, data[batch:])
    return Value(shape, call.dtype())


@operator("ScatterElements", "Scatter")
def scatter_elements_(call: NodeCall) -> Value:
    """The data with some elements replaced."""
    data, indices, updates, axis = call.shape(0), call.shape(1), call.shape(2), call.integer("axis")
    shape = scatter_elements(call, data, indices, updates, axis)
    check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype())


@operator("ScatterND")
def scatter_nd_(call: NodeCall) -> Value:
    """The data with some slices replaced."""
    data, indices, updates = call.shape(0), call.shape(1), call.shape(2)
    length = index_length(call, indices)
    shape = scatter_nd(call, data, indices, updates, length)
    check_columns(call, length, data)
    return Value(shape, call.dtype())
