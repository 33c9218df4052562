"""Tensors created from sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import ceil_divide, multiply, subtract
from symbcast.core.logic.formulas import all_of, any_of, at_most
from symbcast.graphs.values.value import Value
from symbcast.operators.selecting.selection import one_hot
from symbcast.torch.contents import indexed_by
from symbcast.torch.node_call import size_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
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
    if all(not isinstance(call.given(n), Value) for n in ("start", "step", "end")):
        if isinstance(step, int) and step == 0:
            call.refuse("the step must not be 0")
        if not all(isinstance(n, int) for n in (start, step, end)):
            return next(iter(call.recorded("its arguments are numbers")))
    if start is None or end is None or step is None:
        note = "not checked: the end must not be before the start, and the step not 0"
        call.note(note, is_about_data=call.is_data())
        return Value((call.count(),))
    forward = [at_most(1, step), at_most(0, subtract(end, start))]
    back = [at_most(step, -1), at_most(0, subtract(start, end))]
    if call.bounds.is_at_least(step, 0):
        call.at_most(1, step, "the step must not be 0")
        call.require(forward[1], "the end must not be before the start")
    elif call.bounds.is_at_most(step, 0):
        call.at_most(step, -1, "the step must not be 0")
        call.require(back[1], "the end must not be before the start")
    else:
        call.require(any_of([all_of(forward), all_of(back)]), "the end must not be before the start, nor the step 0")
        length = call.asker.by_cases(
            f"{call.size_prefix}_count",
            f"the number of steps [{call.place.name}]",
            forward[0],
            ceil_divide(subtract(end, start), step),
            ceil_divide(subtract(start, end), multiply(-1, step)),
        )
        return Value((length,))
    if isinstance(step, int):
        return Value((ceil_divide(subtract(end, start) if step > 0 else subtract(start, end), abs(step)),))
    if call.bounds.is_at_least(step, 0):
        return Value((ceil_divide(subtract(end, start), step),))
    return Value((ceil_divide(subtract(start, end), multiply(-1, step)),))


@operator("linspace", "logspace", *(f"{kind}_window" for kind in ("hann", "hamming", "blackman", "bartlett", "kaiser")))
def spaced(call: TorchCall) -> Value:
    """A given count of evenly spaced numbers."""
    count = size_of(call.given("steps", "window_length"))
    if count is None:
        call.note("not checked: the number must not be negative", is_about_data=call.is_data())
        return Value((call.count(),))
    call.is_size(count, "a size must not be negative")
    return Value((count,))


@operator("eye")
def unit(call: TorchCall) -> Value:
    """A matrix with ones on its main diagonal."""
    rows = call.size("n")
    columns = rows if call.given("m") is None else call.size("m")
    found: list[Dim] = []
    for size in (rows, columns):
        if size is None:
            call.note("not checked: a size must not be negative", is_about_data=call.is_data())
            found.append(call.count())
        else:
            call.is_size(size, "a size must not be negative")
            found.append(size)
    return Value(tuple(found))


@operator("one_hot")
def one_hot_(call: TorchCall) -> Value:
    """Class indices as one-hot rows."""
    classes = call.size("num_classes")
    if classes == -1:
        call.at_most(1, multiply(*call.dims("self")), "there must be an element to infer the number of classes from")
    if classes is None:
        call.note("not checked: the classes must be below their number", is_about_data=call.is_data())
    if classes is None or classes == -1:
        return Value((*call.dims("self"), call.count(text="the number of classes")))
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
