"""Tensors created from sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import ceil_divide, multiply, subtract
from symbcast.core.logic.formulas import at_most
from symbcast.graphs.values.value import Value
from symbcast.operators.selecting.selection import one_hot
from symbcast.torch.contents import indexed_by
from symbcast.torch.node_call import size_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.torch.node_call import TorchCall


@operator(
    "full",
    "zeros",
    "ones",
    "empty",
    "rand",
    "randn",
    "randint",
    "new_full",
    "new_zeros",
    "new_ones",
    "new_empty",
    "empty_permuted",
    "empty_strided",
    "new_empty_strided",
)
def made(call: TorchCall) -> Value:
    """A tensor of a given shape."""
    sizes = call.known_sizes("size")
    for size in sizes:
        call.is_size(size, "a size must not be negative")
    return Value(tuple(sizes))


@operator("scalar_tensor")
def single(call: TorchCall) -> Value:
    """A scalar tensor."""
    return Value(())


@operator("arange")
def counted(call: TorchCall) -> Value:
    """Numbers from a start to an end (exclusive), in steps."""
    start, step, end = call.size("start", 0), call.size("step", 1), call.size("end")
    if step == 0:
        call.refuse("the step must not be 0")
    if start is None or end is None or not isinstance(step, int):
        return next(iter(call.recorded()))
    distance = subtract(end, start) if step > 0 else subtract(start, end)
    call.require(at_most(0, distance), "the end must not be before the start")
    return Value((ceil_divide(distance, abs(step)),))


@operator("linspace", "logspace", *(f"{kind}_window" for kind in ("hann", "hamming", "blackman", "bartlett", "kaiser")))
def spaced(call: TorchCall) -> Value:
    """A given count of evenly spaced numbers."""
    count = size_of(call.given("steps", "window_length"))
    if count is None:
        return next(iter(call.recorded()))
    call.is_size(count, "a size must not be negative")
    return Value((count,))


@operator("eye")
def unit(call: TorchCall) -> Value:
    """A matrix with ones on its main diagonal."""
    rows = call.size("n")
    columns = call.size("m", rows)
    for size in (rows, columns):
        if size is not None:
            call.is_size(size, "a size must not be negative")
    return Value((rows, columns)) if rows is not None and columns is not None else next(iter(call.recorded()))


@operator("one_hot")
def one_hot_(call: TorchCall) -> Value:
    """Class indices as one-hot rows."""
    classes = call.size("num_classes")
    if classes == -1:
        call.at_most(1, multiply(*call.dims("self")), "there must be an element to infer the number of classes from")
    if classes is None or classes == -1:
        return next(iter(call.recorded()))
    found = one_hot(call, call.dims("self"), -1, classes)
    indexed_by(call, call.value_of("self"), classes, call.dims("self"))
    return Value(found)


@operator("meshgrid")
def mesh(call: TorchCall) -> list[Value]:
    """Vectors, each along its own axis; the indexing ``xy`` swaps the first two axes."""
    shapes = call.tensors("tensors")
    if not shapes or any(len(s) > 1 for s in shapes):
        call.refuse("there must be tensors, each with at most one axis")
    sizes = [s[0] if s else 1 for s in shapes]
    found = sizes[1::-1] + sizes[2:] if call.given("indexing") == "xy" and len(sizes) > 1 else sizes
    return [Value(tuple(found))] * len(sizes)
