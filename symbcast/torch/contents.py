"""Known elements of integer and boolean tensors that a program computes, and the requirements on indices.

A translation maps a torch operator onto functions of `symbcast.graphs.operators`. The size requirements of these
functions are dropped, because torch's own rule has already stated them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import all_of, any_of, at_most
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.text.printing import dim_text
from symbcast.errors import DimensionError
from symbcast.graphs.walking.gathering_and_slicing import SliceBounds, gathered, slice_value
from symbcast.graphs.walking.node_call import UnknownShapeError
from symbcast.graphs.walking.reshaping import content_reshaped, summed_along
from symbcast.operators.context import Dims
from symbcast.operators.indexing import meet, within
from symbcast.operators.reshaping import new_axes
from symbcast.operators.values import intervals
from symbcast.operators.values.contents import (
    BOOL,
    INTEGERS,
    Bands,
    Content,
    DistinctPlaces,
    Elements,
    IndexRamp,
    Interval,
    RampStack,
)
from symbcast.operators.values.elements import BINARY, UNARY
from symbcast.operators.values.intervals import Estimate, fitted, interval_of, places, some_of, with_estimate
from symbcast.operators.values.tensors import (
    cast,
    chosen,
    contents_joined,
    of_each,
    of_several,
    stretched,
    transposed,
    with_axes,
)
from symbcast.operators.values.value import UNNUMBERED, Decider, Value, join_deciders, symbols_of_element
from symbcast.torch.calls import TorchCall, element_of, raw_argument, shape_of_value, size_of
from symbcast.torch.library import INT64, onnx_type_number

Translation = Callable[["TorchCall", Value], "Content | None"]


# Bounds of the positions that sorts and searches return, and the elements of an inverted permutation.


_SEARCHES = frozenset(f"aten.{n}" for n in ("topk", "kthvalue", "mode", "median", "max", "min", "cummax", "cummin"))
_DISTINCT = frozenset(f"aten.{n}" for n in ("_unique", "_unique2", "unique_dim", "unique_consecutive"))


def with_positions(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return outputs; the second one of a sort, a search or a list of distinct elements has positions."""
    kind = call.node.op_type
    if kind in _DISTINCT:
        return _with_groups(call, outputs)
    if (kind != "aten.sort" and kind not in _SEARCHES) or len(outputs) != 2 or outputs[1].shape is None:
        return outputs
    dims, axis = call.dims("self"), call.number("dim", -1)
    if not dims:
        return [outputs[0], Value((), INT64, Interval(0, 0, True))]
    size, axis = dims[axis], axis % len(dims)
    positions = places(size)
    if kind in ("aten.sort", "aten.topk"):
        positions = DistinctPlaces(0, subtract(size, 1), axis, kind == "aten.sort")
    return [outputs[0], Value(outputs[1].shape, INT64, positions)]


def _with_groups(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return distinct elements with the bounds of the position of each original element among them."""
    first, *others = outputs
    if not others or not first.shape or others[0].shape is None:
        return outputs
    axis = 0 if call.given("dim") is None else call.number("dim") % len(first.shape)
    return [first, Value(others[0].shape, INT64, places(first.shape[axis])), *others[1:]]


def all_places(size: Dim, axis: int) -> DistinctPlaces:
    """Return the positions along an axis in some order, as after a sort: each occurs."""
    return DistinctPlaces(0, subtract(size, 1), axis, True)


def part_of_positions(content: DistinctPlaces) -> DistinctPlaces:
    """Return a part of positions; those that are left still differ along their axis."""
    assert content.low is not None and content.high is not None
    return DistinctPlaces(content.low, content.high, content.axis)


def writes_all(call: TorchCall) -> bool:
    """Return whether a write by index replaces each element of a vector: its only index is a permutation."""
    indices, raw = call.given("indices"), raw_argument(call, "indices")
    if call.flag("accumulate") or not isinstance(indices, list) or len(indices) != 1:
        return False
    return isinstance(indices[0], Value) and indices[0].shape == call.dims("self") and _is_permutation(raw[0])


def _is_permutation(node: Any) -> bool:
    """Return whether a node has each position along a vector once: the order of a sort, which nothing writes to."""
    if len(getattr(node.meta.get("val"), "shape", ())) != 1 or any(_may_write_to(user, node) for user in node.users):
        return False
    operator = _name(node)
    if operator == "getitem" and node.args[1] == 1:
        return _name(node.args[0]) == "sort"
    return operator in ("argsort", "randperm")


def _name(node: Any) -> str:
    return str(getattr(node.target, "overloadpacket", None) or getattr(node.target, "__name__", "")).removeprefix(
        "aten."
    )


def _may_write_to(user: Any, node: Any) -> bool:
    """Return whether a node changes its first argument, or is a view of it, which others may change."""
    arguments = getattr(getattr(user.target, "_schema", None), "arguments", ())
    return bool(user.args and user.args[0] is node and arguments and arguments[0].alias_info is not None)


_EXACT = INTEGERS | {BOOL}
_TRANSLATIONS: dict[str, Translation] = {}


def _typed(value: Value, known: Any) -> Value:
    """Return a tensor with the element type of a recorded one, if its own is not known."""
    dtype = onnx_type_number(getattr(known, "dtype", None)) if type(value) is Value and not value.dtype else 0
    if not dtype:
        return value
    typed = value.copy()
    typed.dtype, typed.key = dtype, UNNUMBERED
    return typed


def with_contents(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a call with their element types and the known elements of integers and booleans."""
    recorded = call.node.raw.meta.get("val")
    values = recorded if isinstance(recorded, (tuple, list)) else [recorded]
    outputs = with_positions(call, [*map(_typed, outputs, values), *outputs[len(values) :]])
    translate = _TRANSLATIONS.get(call.node.op_type)
    first = outputs[0] if outputs else None
    if translate is None or first is None or first.content is not None or first.shape is None:
        return outputs
    if first.dtype not in _EXACT:
        return outputs
    content = _content(call, first, translate)
    return outputs if content is None else [Value(first.shape, first.dtype, content), *outputs[1:]]


def _content(call: TorchCall, output: Value, translate: Translation) -> Content | None:
    """Return the elements that a translation computes; None if they depend on a size that it creates."""
    asker = call.asker
    before = asker.origins.keys()
    with asker.trying(call.walk.trying()):
        try:
            content = translate(call, output)
        except (UnknownShapeError, DimensionError, ArithmeticError, LookupError, TypeError, ValueError):
            return None
        created = asker.origins.keys() - before
    return None if content is None or not created.isdisjoint(_symbols(content)) else content


def _symbols(content: Content) -> Iterator[Symbol]:
    """Yield the symbols in a content."""
    match content:
        case Elements(items):
            for item in items:
                yield from symbols_of_element(item)
        case IndexRamp(start, strides):
            yield from symbols_of((start, *strides))
        case Interval(low, high):
            yield from symbols_of([d for d in (low, high) if d is not None])
        case RampStack(parts) | Bands(_, parts):
            for part in parts:
                yield from _symbols(part)


def _translation(*names: str) -> Callable[[Translation], Translation]:
    def offer(function: Translation) -> Translation:
        _TRANSLATIONS.update({f"aten.{name}": function for name in names})
        return function

    return offer


def _estimated(output: Value, exact: Content | None, estimate: Callable[[], Estimate]) -> Content | None:
    """Return exact elements, or the bounds of integers if the elements are unknown."""
    return with_estimate(Value(output.shape, output.dtype, exact), estimate).content


def _operand(call: TorchCall, name: str, dtype: int) -> Value:
    """Return a tensor or number argument as a tensor of an element type; raises `LookupError` for others."""
    argument = call.given(name)
    value = argument if isinstance(argument, Value) else None
    if value is None or (value.shape == () and isinstance(value.content, Elements)):
        element = int(argument) if isinstance(argument, bool) else element_of(argument)
        if element is None:
            raise LookupError(name)
        return Value((), dtype, Elements((element,)))
    if value.shape is None or value.dtype not in _EXACT:
        raise LookupError(name)
    if value.dtype == dtype:
        return value
    converted = Value(value.shape, dtype, cast(value, dtype, call.asker))
    return with_estimate(converted, partial(intervals.cast, value, dtype, call.bounds))


def _computed(call: TorchCall, name: str, *operands: Value) -> Value:
    """Apply an operation of `symbcast.operators.values.elements` to operands of one element type."""
    shape, dtype = (
        call.broadcast(*map(shape_of_value, operands)) if operands[1:] else operands[0].shape,
        operands[0].dtype,
    )
    if name in UNARY:
        content = of_each(name, operands[0], call.bounds)
    else:
        content = of_several(BINARY[name], operands, shape, call.asker)
    computed = Value(shape, dtype, content)
    return with_estimate(computed, partial(intervals.elementwise, name, operands, dtype, call.bounds))


# Built from sizes.


@_translation("arange")
def _counted(call: TorchCall, output: Value) -> Content | None:
    start, step = call.size("start", 0), call.size("step", 1)
    return None if start is None or step is None or call.size("end") is None else IndexRamp(start, (step,))


@_translation("full", "new_full", "full_like", "scalar_tensor", "fill", "fill_")
def _filled(call: TorchCall, output: Value) -> Content | None:
    fill = call.given("fill_value", "s", "value")
    element = int(fill) if isinstance(fill, bool) else size_of(fill)
    return None if element is None else _of_one(output, element)


@_translation("zeros", "zeros_like", "new_zeros", "zero_", "ones", "ones_like", "new_ones")
def _constant(call: TorchCall, output: Value) -> Content:
    return _of_one(output, int("ones" in call.node.op_type))


def _of_one(output: Value, element: Dim) -> Content:
    return IndexRamp(element, (0,) * len(output.shape or ()))


# Operators that return all or some of the input's elements.


@_translation(
    "view", "reshape", "_unsafe_view", "view_as", "reshape_as", "flatten", "unflatten", "squeeze", "_reshape_copy",
    "clone", "contiguous", "alias", "detach", "detach_", "lift_fresh", "lift_fresh_copy",
    "view_copy", "squeeze_copy",
)  # fmt: skip
def _reshaped(call: TorchCall, output: Value) -> Content | None:
    value, shape = call.value_of("self"), output.shape or ()
    if value.shape == shape:
        return value.content
    return _estimated(output, content_reshaped(value, shape), lambda: interval_of(value, call.bounds))


@_translation("unsqueeze", "unsqueeze_copy")
def _unsqueezed(call: TorchCall, output: Value) -> Content | None:
    return _with_axis(call, call.value_of("self"), call.number("dim")).content


def _with_axis(call: TorchCall, value: Value, axis: int) -> Value:
    dims = shape_of_value(value)
    (place,) = new_axes(call, len(dims), [axis])
    extended = Value((*dims[:place], 1, *dims[place:]), value.dtype, with_axes(value.content, [place], len(dims)))
    return with_estimate(extended, partial(intervals.with_axes, value, [place], len(dims) + 1, call.bounds))


@_translation("expand", "expand_as", "broadcast_to", "expand_copy")
def _expanded(call: TorchCall, output: Value) -> Content | None:
    value = call.value_of("self")
    return _estimated(output, stretched(value, output.shape or ()), lambda: interval_of(value, call.bounds))


@_translation("permute", "transpose", "t", "permute_copy", "transpose_copy")
def _permuted(call: TorchCall, output: Value) -> Content | None:
    value, rank = call.value_of("self"), len(output.shape or ())
    axes = call.numbers_of("dims")
    order = list(range(rank)) if axes is None else [axis % rank for axis in axes]
    if axes is None:
        first, second = (call.number(n) % rank for n in ("dim0", "dim1")) if rank != 2 else (0, 1)
        order[first], order[second] = second, first
    exact = transposed(value.content, shape_of_value(value), order)
    return _estimated(output, exact, partial(intervals.transposed, value, order, call.bounds))


@_translation("repeat")
def _repeated(call: TorchCall, output: Value) -> Content | None:
    value, repeats = call.value_of("self"), call.known_sizes("repeats")
    dims = shape_of_value(value)
    sizes = (*[1] * (len(repeats) - len(dims)), *dims)
    is_stretched = all(r == 1 or d == 1 for d, r in zip(sizes, repeats, strict=True))
    exact = stretched(value, output.shape or ()) if is_stretched else None
    return _estimated(output, exact, lambda: interval_of(value, call.bounds))


@_translation("flip", "roll", "repeat_interleave", "tile")
def _moved(call: TorchCall, output: Value) -> Content:
    value = call.value_of("self")
    is_whole = call.node.op_type in ("aten.flip", "aten.roll") and isinstance(value.content, DistinctPlaces)
    return value.content if is_whole and value.content is not None else interval_of(value, call.bounds)


@_translation("split", "split_with_sizes", "chunk", "unbind", "index", "take", "sort", "topk", "diagonal", "unfold")
def _some(call: TorchCall, output: Value) -> Content:
    return some_of(interval_of(call.value_of("self"), call.bounds))


@_translation("slice", "slice_copy")
def _sliced(call: TorchCall, output: Value) -> Content | None:
    start, end = call.size("start", 0), call.size("end", (1 << 63) - 1)
    if start is None or end is None:
        content = call.value_of("self").content
        return part_of_positions(content) if isinstance(content, DistinctPlaces) else _some(call, output)
    return _cut(call, output, (start, end, call.number("step", 1)))


@_translation("narrow", "narrow_copy")
def _narrowed(call: TorchCall, output: Value) -> Content | None:
    start, length = call.size("start"), call.size("length")
    if start is None or length is None or not call.bounds.is_at_least(start, 0):
        content = call.value_of("self").content
        return part_of_positions(content) if isinstance(content, DistinctPlaces) else _some(call, output)
    return _cut(call, output, (start, add(start, length), 1))


def _cut(call: TorchCall, output: Value, cut: tuple[Dim, Dim, int]) -> Content | None:
    """Return the elements from a start to an end of an axis, in steps."""
    start, end, step = cut
    value, axis = call.value_of("self"), call.number("dim", 0)
    if isinstance(value.content, DistinctPlaces):
        is_whole = output.shape == value.shape
        return value.content if is_whole else part_of_positions(value.content)
    exact = slice_value(call, value, SliceBounds([start], [end], [axis], [step])).content
    part = slice(start, end, step) if isinstance(start, int) and isinstance(end, int) else None
    return _estimated(output, exact, partial(intervals.cut, value, axis % len(output.shape or ()), part, call.bounds))


@_translation("select", "select_copy")
def _selected(call: TorchCall, output: Value) -> Content | None:
    index = call.size("index")
    if index is None:
        return _some(call, output)
    return _gathered(call, output, Value((), INT64, Elements((index,))))


@_translation("index_select")
def _picked(call: TorchCall, output: Value) -> Content | None:
    return _gathered(call, output, call.value_of("index"))


def _gathered(call: TorchCall, output: Value, indices: Value) -> Content | None:
    value, axis = call.value_of("self"), call.number("dim") % len(call.dims("self"))
    return _estimated(
        output,
        gathered(value, indices, axis, call.bounds),
        partial(intervals.gathered, value, indices, axis, call.bounds),
    )


@_translation("cat", "concat", "concatenate")
def _joined(call: TorchCall, output: Value) -> Content | None:
    parts = [v for v in call.given("tensors") if isinstance(v, Value) and v.shape != (0,)]
    return _along(call, output, parts)


@_translation("stack")
def _stacked(call: TorchCall, output: Value) -> Content | None:
    return _along(call, output, [_with_axis(call, v, call.number("dim", 0)) for v in call.given("tensors")])


def _along(call: TorchCall, output: Value, parts: Sequence[Value]) -> Content | None:
    """Return the elements of tensors concatenated along an axis."""
    shape = output.shape or ()
    axis = call.number("dim", 0) % len(shape)
    return _estimated(output, contents_joined(parts, axis, shape), partial(intervals.joined, parts, axis, call.bounds))


# Computed elements.


@_translation("to", "_to_copy", "type_as")
def _cast(call: TorchCall, output: Value) -> Content | None:
    return _operand(call, "self", output.dtype).content


_OPERATIONS = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "remainder": "Mod", "maximum": "Max", "minimum": "Min",
    "eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual",
    "neg": "Neg", "abs": "Abs", "sign": "Sign",
}  # fmt: skip
_OF_TRUTHS = {
    "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not",
    "bitwise_and": "And", "bitwise_or": "Or", "bitwise_not": "Not", "__and__": "And", "__or__": "Or",
}  # fmt: skip


@_translation(*_OPERATIONS)
def _operation(call: TorchCall, output: Value) -> Content | None:
    name = _OPERATIONS[call.node.op_type.removeprefix("aten.")]
    is_comparison = output.dtype == BOOL and name not in UNARY
    return _on_operands(call, name, INT64 if is_comparison else output.dtype)


@_translation(*_OF_TRUTHS)
def _of_truths(call: TorchCall, output: Value) -> Content | None:
    name = _OF_TRUTHS[call.node.op_type.removeprefix("aten.")]
    return _on_operands(call, name, BOOL) if output.dtype == BOOL else None


@_translation("rsub")
def _exchanged(call: TorchCall, output: Value) -> Content | None:
    return _on_operands(call, "Sub", output.dtype, ("other", "self"))


def _on_operands(call: TorchCall, name: str, dtype: int, of: Sequence[str] = ("self", "other")) -> Content | None:
    """Apply an operation to operands cast to an element type; return None if ``alpha`` scales one."""
    if call.given("alpha") not in (None, 1):
        return None
    return _computed(call, name, *(_operand(call, n, dtype) for n in of[: 1 if name in UNARY else 2])).content


@_translation("floor_divide", "div")
def _divided(call: TorchCall, output: Value) -> Content | None:
    """Return the quotient if no operand is negative, since both rounding modes then agree."""
    if call.node.op_type == "aten.div" and call.given("rounding_mode") is None:
        return None
    above, below = (_operand(call, name, output.dtype) for name in ("self", "other"))
    ends = [interval_of(v, call.bounds).low for v in (above, below)]
    if any(low is None or not call.bounds.is_at_least(low, n) for n, low in enumerate(ends)):
        return None
    return _computed(call, "Div", above, below).content


@_translation("clamp", "clamp_min", "clamp_max", "clip")
def _clamped(call: TorchCall, output: Value) -> Content | None:
    clamped = _operand(call, "self", output.dtype)
    for name, step in (("min", "Max"), ("max", "Min")):
        if call.given(name) is not None:
            clamped = _computed(call, step, clamped, _operand(call, name, output.dtype))
    return clamped.content


@_translation("where")
def _chosen(call: TorchCall, output: Value) -> Content | None:
    others = [_operand(call, name, output.dtype) for name in ("self", "other")]
    values = [_operand(call, "condition", BOOL), *others]
    exact = chosen(call.place.name, values, call.broadcast(*map(shape_of_value, values)), call.asker)
    return _estimated(output, exact, partial(intervals.chosen, others, call.bounds))


@_translation("cumsum")
def _cumulated(call: TorchCall, output: Value) -> Content | None:
    value = _operand(call, "self", output.dtype)
    axis = call.number("dim") % len(shape_of_value(value))
    return _estimated(
        output, summed_along(value, axis, call.bounds), partial(intervals.summed_along, value, axis, call.bounds)
    )


@_translation("index_put", "index_put_")
def _replaced(call: TorchCall, output: Value) -> Content | None:
    return interval_of(_operand(call, "values", output.dtype), call.bounds) if writes_all(call) else None


@_translation("sum")
def _total(call: TorchCall, output: Value) -> Content | None:
    dims, part = call.dims("self"), interval_of(call.value_of("self"), call.bounds)
    if part.low is None or part.high is None or not call.bounds.is_at_least(part.low, 0):
        return None
    axes = call.numbers_of("dim") or range(len(dims))
    most = multiply(part.high, *(dims[axis] for axis in axes))
    return fitted(Interval(0, most), output.dtype, call.bounds)


@_translation("max", "min", "amax", "amin")
def _extreme(call: TorchCall, output: Value) -> Content | None:
    return _some(call, output) if call.given("other") is None else None


@_translation("argsort", "randperm")
def _ordered(call: TorchCall, output: Value) -> Content | None:
    dims = shape_of_value(output)
    axis = call.number("dim", -1)
    return all_places(dims[axis], axis % len(dims)) if dims else Elements((0,))


@_translation("argmax", "argmin")
def _positions_found(call: TorchCall, output: Value) -> Content | None:
    dims = call.dims("self")
    return intervals.places(multiply(*dims) if call.given("dim") is None or not dims else dims[call.number("dim")])


@_translation("nonzero", "argwhere")
def _places_of_some(call: TorchCall, output: Value) -> Content | None:
    return Bands(1, tuple(map(intervals.places, call.dims("self")))) if call.dims("self") else None


@_translation("searchsorted", "bucketize")
def _places_between(call: TorchCall, output: Value) -> Content | None:
    sorted_dims = call.dims("sorted_sequence" if call.given("sorted_sequence") is not None else "boundaries")
    return Interval(0, sorted_dims[-1])


@_translation("multinomial")
def _categories(call: TorchCall, output: Value) -> Content | None:
    return intervals.places(call.dims("self")[-1])


@_translation("randint", "randint_like")
def _random(call: TorchCall, output: Value) -> Content | None:
    low, high = call.size("low", 0), call.size("high")
    return None if low is None or high is None else some_of(Interval(low, subtract(high, 1)))


@_translation("count_nonzero")
def _counted_nonzero(call: TorchCall, output: Value) -> Content | None:
    dims = call.dims("self")
    axes = call.numbers_of("dim") or range(len(dims))
    return Interval(0, multiply(*(dims[axis] for axis in axes)))


@_translation("one_hot")
def _zeros_and_ones(call: TorchCall, output: Value) -> Content | None:
    return Interval(0, 1)


# Indices.


def indexed_by(call: TorchCall, index: Value, size: Dim, shape: Dims, *, from_end: bool = False) -> None:
    """Require exactly known indices to be within an axis; otherwise require that they can be within it.

    With ``from_end``, negative indices count from the end. Positions that differ need as many places. Data can choose
    only indices that no size bounds: all others are reported as not fully checked, unless they are within the axis.
    """
    bounds = interval_of(index, call.bounds)
    if bounds.is_attained and bounds.low is not None and bounds.high is not None:
        within(call, bounds.low, bounds.high, size, shape, from_end=from_end)
        return
    meet(call, bounds.low, bounds.high, size, shape, from_end=from_end)
    nothing = call.empty(shape)
    if isinstance(index.content, DistinctPlaces) and index.shape:
        count = index.shape[index.content.axis]
        if not call.bounds.is_at_most(count, size):
            call.require(any_of([nothing, at_most(count, size)]), "indices that differ must be within the axis")
    if join_deciders([index]) == Decider.DATA:
        return
    if bounds.low is None or bounds.high is None:
        call.note("not checked: the indices, which sizes may decide, must be within the axis", enough=nothing)
        return
    ends = ((multiply(-1, size) if from_end else 0, bounds.low), (add(bounds.high, 1), size))
    if not all(call.bounds.is_at_most(*pair) for pair in ends):
        reason = f"not checked: indices from {dim_text(bounds.low)} to {dim_text(bounds.high)} must be within the axis"
        call.note(reason, enough=any_of([nothing, all_of(at_most(*pair) for pair in ends)]))
