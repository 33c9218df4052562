"""Operators that exchange tensors between processes, as far as shapes go, and those that transfer data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.core.logic.formulas import equal
from symbcast.graphs.values.value import Value
from symbcast.operators.context import Dims
from symbcast.stablehlo.attributes import attribute_of
from symbcast.stablehlo.node_call import HloCall
from symbcast.stablehlo.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


@operator("all_reduce", constraints="C6")
@operator("collective_broadcast", constraints="C3 C4")
@operator("collective_permute", constraints="C5")
@operator("collective_reduce", constraints="C3")
@operator("cross-replica-sum")
def keeps(call: HloCall) -> list[Value]:
    """Tensors of the same shapes; a last operand without a result says which process sends each."""
    count = len(call.node.outputs)
    if len(call.inputs) > count:
        call.same_shape(call.shape(count), (count,), "the last operand must have a number for each of the others")
    return [call.made(call.shape(n), output=n) for n in range(count)]


_NOT_EMPTY = "the axis must not be empty"
"""MLIR's verifier requires it; the specification does not."""


def _group(call: HloCall) -> int | None:
    """Return how many processes a group has; None, which is noted, if something outside the operation decides that."""
    groups = call.attribute("replica_groups")
    shape: tuple[int, ...] = getattr(groups, "shape", ())
    if len(shape) != 2:
        call.note("not checked: its groups of processes are named by the axes of a mesh")
        return None
    if not all(shape):
        call.note("not checked: how many processes there are decides how many its groups have")
        return None
    channel = call.dimensions("channel_handle", "ChannelHandle").handle if call.has_attribute("channel_handle") else 0
    if channel <= 0 or call.has_attribute("use_global_device_ids"):
        return int(shape[1])
    partitions = attribute_of(call.node.program.module.operation, "mhlo.num_partitions")
    if partitions is None:
        call.note("not checked: the number of partitions decides how many processes its groups have")
        return None
    return int(shape[1]) * int(partitions)


@operator("all_gather", constraints="C6")
def all_gather(call: HloCall) -> list[Value]:
    """The tensors of all processes in a group, joined along an axis."""
    axis, count = call.integer("all_gather_dim"), _group(call)
    for dims in call.shapes():
        call.at_most(1, dims[axis], _NOT_EMPTY)
    found = []
    for n, dims in enumerate(call.shapes()):
        size = _by_group(call, n, axis) if count is None else multiply(dims[axis], count)
        found.append(call.made((*dims[:axis], size, *dims[axis + 1 :]), output=n))
    return found


def _by_group(call: HloCall, output: int, axis: int) -> Symbol:
    return call.fresh(f"{output}_{axis}", f"axis {axis} of result {output}")


@operator("reduce_scatter", constraints="C1 C8")
def reduce_scatter(call: HloCall) -> Value:
    """A part of the combined tensors of a group for each process."""
    axis, dims, count = call.integer("scatter_dimension"), call.shape(0), _group(call)
    call.at_most(1, dims[axis], _NOT_EMPTY)
    if count is None:
        return call.made((*dims[:axis], _by_group(call, 0, axis), *dims[axis + 1 :]))
    return call.made(_split(call, dims, axis, count))


@operator("all_to_all", constraints="C2 C9")
def all_to_all(call: HloCall) -> list[Value]:
    """Parts of tensors along an axis, exchanged and joined along another."""
    split, joined, count = (call.integer(n) for n in ("split_dimension", "concat_dimension", "split_count"))
    found = []
    for n, dims in enumerate(call.shapes()):
        parts = _split(call, dims, split, count)
        shape = (*parts[:joined], multiply(parts[joined], count), *parts[joined + 1 :])
        found.append(call.made(dims if split == joined else shape, output=n))
    return found


def _split(call: HloCall, dims: Dims, axis: int, count: int) -> Dims:
    call.require(equal(modulo(dims[axis], count), 0), f"axis {axis} must be a multiple of the {count} parts")
    return (*dims[:axis], floor_divide(dims[axis], count), *dims[axis + 1 :])


@operator("after_all", "create_token", "outfeed", "send")
def token(call: HloCall) -> list[Value]:
    """A token, which has no shape."""
    return [Value(None) for _ in call.node.outputs]


@operator("infeed", "recv")
def received(call: HloCall) -> list[Value]:
    """Tensors whose sizes the types give, and a token."""
    shapes = [call.declared(n) for n in range(len(call.node.outputs))]
    return [Value(None) if shape is None else call.made(shape, output=n) for n, shape in enumerate(shapes)]


@operator("partition_id", "replica_id")
def process_number(call: HloCall) -> Value:
    """The number of this process."""
    return call.made(())
