"""Elements read and written by index. Indices out of range are moved or ignored, so only sizes are required."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.terms import Dim
from symbcast.core.text.notation import dim_text
from symbcast.graphs.walking.gathering_and_slicing import gathered
from symbcast.operators.indexing import gather, top_k
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import Content, Elements, is_size
from symbcast.operators.values.value import FIRST, Value
from symbcast.stablehlo.graph import HloCall, operator

_BATCHED = "batch axes of the operand and of the indices must be equal"
_INDEXED = "the indices must have as many numbers as axes are indexed"


@operator("gather", constraints="C3 C9 C12 C17 C21 C22", elements=FIRST)
def gather_(call: HloCall) -> Value:
    """Slices of the operand of the sizes in the attribute, each at an index."""
    return _gathered(call, call.integers("slice_sizes") or [])


@operator("dynamic_gather", constraints="C3 C8 C11 C12 C13", elements=FIRST)
def dynamic_gather(call: HloCall) -> Value:
    """What ``gather`` does, with an operand for the sizes of slices."""
    rank = len(call.shape(0))
    sizes_held = call.places(2, rank)
    by_data = [n for n, size in enumerate(sizes_held) if size is None]
    if by_data:
        call.note_data(f"the slice on axes {by_data}", 2)
    sizes = (
        call.fresh(f"slice_{n}", f"the slice on axis {n}", by=[2]) if s is None else s for n, s in enumerate(sizes_held)
    )
    return _gathered(call, list(sizes))


def _gathered(call: HloCall, slices: Sequence[Dim]) -> Value:
    numbers = call.dimensions("dimension_numbers", "GatherDimensionNumbers")
    data, indices = call.shape(0), call.shape(1)
    collapsed, batching = list(numbers.collapsed_slice_dims), list(numbers.operand_batching_dims)
    _check_batches(call, data, indices, batching, list(numbers.start_indices_batching_dims))
    _check_index(call, indices, numbers.index_vector_dim, len(numbers.start_index_map))
    for axis, (size, whole) in enumerate(zip(slices, data, strict=True)):
        call.is_size(size, "a slice must not have a negative size")
        call.at_most(size, whole, f"the slice must be at most as long as axis {axis}")
        if axis in collapsed or axis in batching:
            call.at_most(size, 1, f"the slice must have one element on axis {axis}, which the result does not have")
    window = [s for n, s in enumerate(slices) if n not in collapsed and n not in batching]
    shape = combined(without(indices, numbers.index_vector_dim), window, list(numbers.offset_dims))
    return call.output(shape, _content(call, shape, collapsed))


def _content(call: HloCall, shape: Dims, collapsed: Sequence[int]) -> Content | None:
    """Return single elements of a tensor of one axis, if the indices are numbers; they are moved into it."""
    data, indices = call.value(0), call.numbers(1)
    if data.shape is None or len(data.shape) != 1 or list(collapsed) != [0] or indices is None:
        return None
    size = data.shape[0]
    if isinstance(size, int):
        # By the specification an index that leaves the axis is moved to its nearest end.
        indices = [max(0, min(n, size - 1)) for n in indices]
    if not all(n >= 0 for n in indices):
        return None
    return gathered(data, Value(shape, call.dtype(1), Elements(tuple(indices))), 0, call.bounds)


def without(dims: Dims, axis: int) -> Dims:
    """Return sizes without those of an axis, which may be just past the last."""
    return (*dims[:axis], *dims[axis + 1 :])


def combined(batch: Sequence[Dim], window: Sequence[Dim], places: Sequence[int]) -> Dims:
    """Return the sizes of windows at some axes, and those of the batch at the others, each in order."""
    rest, inside = iter(batch), dict(zip(places, window, strict=True))
    return tuple(inside[n] if n in inside else next(rest) for n in range(len(batch) + len(window)))


def _check_batches(call: HloCall, data: Dims, indices: Dims, own: Sequence[int], theirs: Sequence[int]) -> None:
    for left, right in zip(own, theirs, strict=True):
        call.equal(data[left], indices[right], _BATCHED)


def _check_index(call: HloCall, indices: Dims, axis: int, count: int) -> None:
    """Require that an index have ``count`` numbers; without an axis for them, it has one."""
    call.equal(indices[axis] if axis < len(indices) else 1, count, _INDEXED)


@operator("scatter", constraints="C1 C3 C4 C18 C19 C24")
def scatter(call: HloCall) -> list[Value]:
    """The inputs with some slices combined with updates; there are as many updates as inputs."""
    numbers = call.dimensions("scatter_dimension_numbers", "ScatterDimensionNumbers")
    shapes, count = call.shapes(), len(call.inputs) // 2
    data = call.alike(shapes[:count], "all inputs must have the same shape")
    updates = call.alike(shapes[count + 1 :], "all updates must have the same shape")
    indices, windows = shapes[count], list(numbers.update_window_dims)
    batching = list(numbers.input_batching_dims)
    _check_batches(call, data, indices, batching, list(numbers.scatter_indices_batching_dims))
    _check_index(call, indices, numbers.index_vector_dim, len(numbers.scattered_dims_to_operand_dims))
    gone = {*numbers.inserted_window_dims, *batching}
    whole = [d for n, d in enumerate(data) if n not in gone]
    for place, size in zip(windows, whole, strict=True):
        reason = f"axis {place} of the updates must be at most {dim_text(size)}, the size that it updates"
        call.at_most(updates[place], size, reason)
    outer = tuple(d for n, d in enumerate(updates) if n not in windows)
    call.same_shape(outer, without(indices, numbers.index_vector_dim), "updates must be as many as indices")
    return [call.output(data, position=n) for n in range(count)]


@operator("torch_index_select")
def torch_index_select(call: HloCall) -> Value:
    """Slices along an axis, whose place the axes of the indices take; batch axes are shared."""
    axis, batch = call.integer("dim"), call.integer("batch_dims")
    return call.output(gather(call, call.shape(0), call.shape(1), axis, batch))


@operator("chlo.top_k")
def top_k_(call: HloCall) -> list[Value]:
    """The ``k`` greatest elements on the last axis, and their indices."""
    shape = top_k(call, call.shape(0), -1, call.integer("k"))
    return [call.output(shape, position=n) for n in range(2)]


@operator("custom_call.stablehlo.dynamic_top_k")
def dynamic_top_k(call: HloCall) -> list[Value]:
    """What ``top_k`` does, with an operand for ``k``."""
    dims, sizes = call.shape(0), call.sizes(1)
    count = sizes[0] if sizes else call.fresh("k", "k", by=[1], most=dims[-1])
    shape = top_k(call, dims, -1, count)
    return [call.output(shape, position=n) for n in range(2)]


@operator("tensor.extract", elements=FIRST)
@operator("shape.get_extent")
def extract(call: HloCall) -> Value:
    """One element."""
    numbers = [call.numbers(n) for n in range(1, len(call.inputs))]
    if len(call.shape(0)) != 1 or len(numbers) != 1 or not numbers[0]:
        items = call.elements(0)
        return call.output((), None if items is None or len(items) != 1 else call.value(0).content)
    index = Value((), call.dtype(1), call.value(1).content)
    size = call.shape(0)[0]
    if is_size(numbers[0][0]):
        call.at_most(numbers[0][0] + 1, size, "the index must be within the axis")
    return call.output((), gathered(call.value(0), index, 0, call.bounds))
