"""Operators on sequences of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from symbcast.core.algebra.arithmetic import add, ceil_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.graphs.walking.node_call import NodeCall, RefusedError
from symbcast.graphs.walking.reshaping import expect_numbers
from symbcast.onnx.operators.declarations import ML, RuntimeDifference, operator
from symbcast.onnx.operators.layout import CONCAT_EMPTY, join_skipping_empty
from symbcast.operators.joining_and_slicing import concat, split_as, stack
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import FLOAT, INT64, Elements, is_size
from symbcast.operators.values.value import (
    NEVER,
    UNKNOWN,
    SequenceParts,
    SequenceValue,
    Value,
    agreed,
    common_to,
    limited,
    sequence_of,
    whole_shape,
)

# How many elements of a sequence are tracked individually.
MAX_ITEMS = 256
# For how many elements of a sequence a graph is walked individually.
MAX_MAPPED = 16


def sequence(call: NodeCall, position: int = 0) -> SequenceValue:
    """Return an input that is a sequence; raises `UnknownShapeError` if nothing is known about it."""
    value = call.value(position)
    if not isinstance(value, SequenceValue):
        call.give_up(f"the content of the sequence {call.input_name(position)} is not known")
    return value


def _index(call: NodeCall, position: int, length: Dim, after: int = 0) -> Dim | None:
    """Return a position in a sequence, counted from the front, and require that it be within ``length``.

    Positions up to ``after`` past the last element are allowed. None if the position is data.
    """
    expect_numbers(call, position)
    items = call.elements(position)
    index = items[0] if items else None
    if not is_size(index):
        call.note_data(f"the position {call.input_name(position)} must be in the sequence", position)
        return None
    # Positions count from the end too: -length is the first element.
    for least, most in ((subtract(0, length), index), (add(index, 1), add(length, after))):
        call.refuse_if(call.is_known(at_most(least, most)) is False, "the position must be one in the sequence")
        call.at_most(least, most, "the position must be one in the sequence")
    if call.is_known(at_most(0, index)) is True:
        return index
    if call.is_known(at_most(index, -1)) is True:
        return add(length, index)
    return None


@operator("SequenceConstruct")
def construct(call: NodeCall) -> Value:
    """A sequence of the inputs."""
    call.refuse_if(not call.inputs, "there must be a tensor to insert into the sequence")
    return sequence_of(call.values())


@operator("SequenceEmpty")
def empty(call: NodeCall) -> Value:
    """A sequence without elements."""
    return sequence_of((), call.integer("dtype", FLOAT))


@operator("SequenceLength")
def length(call: NodeCall) -> Value:
    """How many elements a sequence has."""
    value = call.value(0)
    return Value((), INT64, Elements((value.length,)) if isinstance(value, SequenceValue) else None)


@operator("SequenceAt")
def at(call: NodeCall) -> Value:
    """One element of a sequence."""
    tensors = sequence(call)
    index = _index(call, 1, tensors.length)
    if tensors.items is not None and isinstance(index, int):
        return tensors.items[index]
    return _element(call, tensors, index)


def _element(call: NodeCall, tensors: SequenceValue, index: Dim | None) -> Value:
    """Return an element of a sequence at a position that may be unknown."""
    if tensors.common is None:
        return Value(None, tensors.dtype)
    dims: list[Dim] = []
    for axis, size in enumerate(tensors.common):
        length = (
            None
            if size is not None or tensors.parts is None or index is None
            else _at(call, tensors.parts, axis, index)
        )
        if length is not None:
            dims.append(length)
        elif size is None:
            dims.append(call.fresh(f"element_dim_{axis}", f"axis {axis} of an element of {call.input_name(0)}", by=[]))
        else:
            dims.append(size)
    return Value(tuple(dims), tensors.dtype)


def _at(call: NodeCall, parts: SequenceParts, axis: int, index: Dim) -> Dim:
    """Return the length of the part at a position."""
    length = parts.length_at(axis, index, call.bounds)
    if length is not None:
        return length
    text = f"axis {axis} of an element of {call.input_name(0)}, depending on whether it is the last"
    is_whole = at_most(add(index, 1), parts.whole_count)
    name = f"{call.place.name}_element_dim_{axis}"
    return call.asker.by_cases(name, text, is_whole, parts.each[axis], parts.rest[axis])


@operator("SequenceInsert")
def insert(call: NodeCall) -> Value:
    """A sequence with a tensor inserted, at the end or at a position."""
    tensors, value = sequence(call), call.value(1)
    index: Dim | None = tensors.length
    if call.has(2):
        # Counted from the end, -1 is before the last element.
        index = _index(call, 2, tensors.length, after=1)
    one = sequence_of([value], tensors.dtype)
    if tensors.items is not None and isinstance(index, int) and len(tensors.items) < MAX_ITEMS:
        return sequence_of([*tensors.items[:index], value, *tensors.items[index:]], tensors.dtype)
    return SequenceValue(add(tensors.length, 1), common_to([tensors, one]), tensors.dtype or value.dtype)


@operator("SequenceErase")
def erase(call: NodeCall) -> Value:
    """A sequence without its last tensor or the one at a position."""
    tensors = sequence(call)
    if call.has(1):
        index = _index(call, 1, tensors.length)
    else:
        call.at_most(1, tensors.length, "there must be a tensor to erase")
        index = subtract(tensors.length, 1)
    if tensors.items is not None and isinstance(index, int):
        return sequence_of([*tensors.items[:index], *tensors.items[index + 1 :]], tensors.dtype)
    return SequenceValue(subtract(tensors.length, 1), tensors.common, tensors.dtype)


# From tensors, and to them.


@operator("SplitToSequence")
def split(call: NodeCall) -> Value:
    """A tensor split along an axis: into slices, equal parts (the last may be smaller), or given sizes."""
    dims = call.shape(0)
    axis = call.axis(call.integer("axis"), len(dims))
    if not call.has(1):
        keeps = call.integer("keepdims", 1) != 0
        return _cut(call, dims, axis, 1, keeps)
    shape, sizes = call.shape(1), call.sizes(1)
    call.refuse_if(len(shape) > 1, "split must be one number or a vector of numbers")
    if not shape:
        return _cut_evenly(call, dims, axis)
    if sizes is None:
        call.note_data("the parts, which are data, must add up to the size", 1)
        return SequenceValue(shape[0], (*dims[:axis], None, *dims[axis + 1 :]), call.dtype())
    parts = split_as(call, dims[axis], sizes)
    return sequence_of([Value((*dims[:axis], p, *dims[axis + 1 :]), call.dtype()) for p in parts], call.dtype())


SPLIT_TO_SEQUENCE_KEEPDIMS = RuntimeDifference(
    "SplitToSequence",
    "leaves the axis out where keepdims is 0 and split is one number: the parts must be 1 long",
    "keepdims is ignored where split is given",
)


def _cut_evenly(call: NodeCall, dims: Dims, axis: int) -> Value:
    """Return the parts of a tensor that is split into parts of equal size, if that is known."""
    keeps = call.integer("keepdims", 1) != 0 or not call.does(SPLIT_TO_SEQUENCE_KEEPDIMS)
    each = call.size_in(1, "split", least=1)
    call.at_most(1, each, "a part must not be empty")
    if not keeps:
        is_one = equal(call.bounds.smaller(each, dims[axis]), 1)
        call.require(any_of([call.empty(dims), is_one]), "parts that lose their axis must be 1 long")
    return _cut(call, dims, axis, each, keeps)


def _cut(call: NodeCall, dims: Dims, axis: int, size: Dim, keeps: bool) -> SequenceValue:
    """Return the parts of a tensor that is split into parts of equal size, with the axis or without."""
    whole, before, after = dims[axis], dims[:axis], dims[axis + 1 :]
    count = ceil_divide(whole, size)
    if not keeps:
        rest = (*before, *after)
        items = (Value(rest, call.dtype()),) * count if isinstance(count, int) and count <= MAX_ITEMS else None
        return SequenceValue(count, rest, call.dtype(), items)
    if isinstance(count, int) and count <= MAX_ITEMS:
        sizes = [call.bounds.smaller(size, subtract(whole, multiply(n, size))) for n in range(count)]
        return sequence_of([Value((*before, s, *after), call.dtype()) for s in sizes], call.dtype())
    # Without a remainder all parts have one shape, and nothing depends on which one it is.
    if call.is_known(equal(modulo(whole, size), 0)) is True:
        return SequenceValue(count, (*before, size, *after), call.dtype())
    parts = SequenceParts((*before, size, *after), (*before, modulo(whole, size), *after), size, whole)
    return SequenceValue(count, parts.common, call.dtype(), parts=parts)


@operator("ConcatFromSequence")
def concat_from(call: NodeCall) -> Value:
    """The tensors of a sequence, concatenated or stacked along a new axis."""
    tensors, axis, is_new = sequence(call), call.integer("axis"), call.integer("new_axis") != 0
    call.at_most(1, tensors.length, "there must be a tensor to concatenate")
    if tensors.items is None:
        return _joined_alike(call, tensors, axis, is_new)
    shapes = [i.shape for i in tensors.items if i.shape is not None]
    if len(shapes) < len(tensors.items):
        call.give_up(f"the shape of a tensor in {call.input_name(0)} is unknown")
    joined = partial(join_skipping_empty, call) if call.does(CONCAT_EMPTY) else None
    return Value((stack if is_new else concat)(call, shapes, axis, joined), tensors.dtype)


def _joined_alike(call: NodeCall, tensors: SequenceValue, axis: int, is_new: bool) -> Value:
    """Concatenate a sequence if only the sizes that its tensors share are known."""
    common = tensors.common
    if common is None:
        call.give_up(f"the ranks of the tensors in {call.input_name(0)} are not known")
    place = call.axis(axis, len(common) + is_new)
    differs = [n for n, size in enumerate(common) if size is None and (is_new or n != place)]
    if tensors.parts is not None:
        return Value(_joined_parts(call, tensors, tensors.parts, axis, is_new), tensors.dtype)
    if differs:
        call.note(f"not checked: the tensors in {call.input_name(0)} must be equally long on axis {differs[0]}")
    dims = list(_element(call, tensors, None).shape or ())
    if is_new:
        return Value((*dims[:place], tensors.length, *dims[place:]), tensors.dtype)
    if common[place] is not None:
        dims[place] = multiply(tensors.length, dims[place])
    return Value(tuple(dims), tensors.dtype)


def _joined_parts(call: NodeCall, tensors: SequenceValue, parts: SequenceParts, axis: int, is_new: bool) -> Dims:
    """Return the shape of concatenated parts; require that the last, smaller part fit any others."""
    is_one = at_most(1, parts.whole_count)
    joined = partial(join_skipping_empty, call) if call.does(CONCAT_EMPTY) else None
    place = call.axis(axis, len(parts.each) + is_new)
    both: Dims | None = None
    with call.asker.under(all_of([is_one, parts.has_rest])), suppress(RefusedError):
        both = (stack if is_new else concat)(call, [parts.each, parts.rest], place, joined)
        both = (*both[:place], *both[place + 1 :]) if is_new else both
    dims: list[Dim] = []
    for n, (each, rest) in enumerate(zip(parts.each, parts.rest, strict=True)):
        if n == place and not is_new:
            dims.append(_sum_of_parts(call, parts, n))
            continue
        name, text = f"{call.place.name}_dim_{n}", f"axis {n} of the parts together"
        first = each if both is None else _by_cases(call, (name, text), parts.has_rest, both[n], each)
        dims.append(_by_cases(call, (name, text), is_one, first, rest))
    return (*dims[:place], tensors.length, *dims[place:]) if is_new else tuple(dims)


def _by_cases(call: NodeCall, called: tuple[str, str], chosen: Formula, yes: Dim, no: Dim) -> Dim:
    return yes if yes == no else call.asker.by_cases(*called, chosen, yes, no)


def _sum_of_parts(call: NodeCall, parts: SequenceParts, axis: int) -> Dim:
    each, rest = parts.each[axis], parts.rest[axis]
    # Whole parts and the remainder together are what was split.
    if (each, rest) == (parts.size, modulo(parts.whole, parts.size)):
        return parts.whole
    together = multiply(parts.whole_count, each)
    name, text = f"{call.place.name}_dim_{axis}", f"axis {axis} of all parts, depending on whether one is left"
    return call.asker.by_cases(name, text, parts.has_rest, add(together, rest), together)


# A graph for each element.


SEQUENCE_MAP_LENGTHS = RuntimeDifference(
    "SequenceMap", "accepts further sequences that are longer than the first one", "all sequences have as many tensors"
)


@operator("SequenceMap")
def mapped(call: NodeCall) -> Sequence[Value]:
    """Run a graph on each element of a sequence, with the elements of others at the same positions."""
    tensors, body = sequence(call), call.node.graphs["body"]
    others = [call.value(n) for n in range(1, len(call.inputs))]
    for other in others:
        if isinstance(other, SequenceValue):
            reason = "the sequences must have as many tensors"
            if call.does(SEQUENCE_MAP_LENGTHS):
                call.at_most(tensors.length, other.length, reason)
            else:
                call.equal(other.length, tensors.length, reason)
    if isinstance(tensors.length, int) and tensors.length <= MAX_MAPPED:
        turns = [call.walk.within(body, call.scope, _turn(call, [tensors, *others], n)) for n in range(tensors.length)]
        return [sequence_of(t[n] for t in turns) for n in range(len(call.node.outputs))]
    around = frozenset(call.asker.env.shown)
    if tensors.parts is not None:
        results = _mapped_parts(call, body, [tensors, *others], tensors.parts, around)
        if results is not None:
            return results
    with call.asker.under(at_most(1, tensors.length)):
        outputs = call.walk.within(body, call.scope, _turn(call, [tensors, *others], None))
    return [SequenceValue(tensors.length, limited(v.shape, around), v.dtype) for v in outputs]


def _mapped_parts(
    call: NodeCall, body: Any, values: Sequence[Value], parts: SequenceParts, around: frozenset[Symbol]
) -> Sequence[Value] | None:
    """Return the graph's results for a tensor's parts: for those of equal size, and for the smaller last one.

    None if another sequence is split differently, or if a size of the result differs between parts.
    """
    turns: list[list[Value]] = [[], []]
    for value in values:
        if isinstance(value, SequenceValue):
            beside = value.parts
            if value.common is None or (beside and (beside.size, beside.whole) != (parts.size, parts.whole)):
                return None
            alike = whole_shape(value.common)
            shapes = (beside.each, beside.rest) if beside else (alike, alike)
            if None in shapes:
                return None
            for turn, shape in zip(turns, shapes, strict=True):
                turn.append(Value(shape, value.dtype))
                turn[-1].decided_by = value.decided_by
        else:
            for turn in turns:
                turn.append(value)
    outputs = []
    for formula, turn in zip((at_most(1, parts.whole_count), parts.has_rest), turns, strict=True):
        with call.asker.under(formula):
            outputs.append(call.walk.within(body, call.scope, turn))
    return [_parts_of(parts, a, b, around) for a, b in zip(*outputs, strict=True)]


def _parts_of(parts: SequenceParts, each: Value, rest: Value, around: frozenset[Symbol]) -> SequenceValue:
    """Return the sequence of a graph's results for parts."""
    length = ceil_divide(parts.whole, parts.size)
    if NEVER in (each, rest):  # only the other can occur
        only = rest if each is NEVER else each
        return SequenceValue(length, limited(only.shape, around), only.dtype)
    common = [limited(v.shape, around) for v in (each, rest)]
    shapes = [whole_shape(c) for c in common]
    split_parts = None
    if shapes[0] is not None and shapes[1] is not None and len(shapes[0]) == len(shapes[1]):
        split_parts = SequenceParts(shapes[0], shapes[1], parts.size, parts.whole)
    return SequenceValue(length, agreed(common), each.dtype or rest.dtype, parts=split_parts)


def _turn(call: NodeCall, values: Sequence[Value], index: int | None) -> list[Value]:
    """Return the graph's input at one position, or at any."""
    inputs: list[Value] = []
    for value in values:
        if not isinstance(value, SequenceValue):
            inputs.append(value)
        elif value.items is not None and index is not None:
            inputs.append(value.items[index] if index < len(value.items) else UNKNOWN)
        else:
            inputs.append(_element(call, value, index))
            inputs[-1].decided_by = value.decided_by
    return inputs


@operator("ZipMap", domain=ML)
def zip_map(call: NodeCall) -> Value:
    """A map for each line; the contents of maps are not followed."""
    dims = call.rank(0, (1, 2), "what is made into maps")
    return SequenceValue(dims[0] if len(dims) == 2 else 1, None)
