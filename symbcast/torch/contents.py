"""Known elements of integer and boolean tensors: the mechanism that operators' translations use, and index checks.

A translation stands next to its operator in `symbcast.torch.operators` and returns the elements of the first output by
the shared functions of `symbcast.operators.values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import all_of, any_of, at_most
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.text.notation import dim_text
from symbcast.errors import DimensionError
from symbcast.graphs.walking.node_call import UnknownShapeError
from symbcast.operators.indexing import meet, within
from symbcast.operators.operator import Dims
from symbcast.operators.values import contents, intervals
from symbcast.operators.values.elements import BINARY, UNARY
from symbcast.operators.values.intervals import Estimate, interval_of, places, some_of, with_estimate
from symbcast.operators.values.tensors import cast, of_each, of_several
from symbcast.operators.values.value import UNNUMBERED, Decider, Value, join_deciders, symbols_of_element
from symbcast.torch.calls import TorchCall, element_of, shape_of_value
from symbcast.torch.library import INT64, onnx_type_number

Translation = Callable[["TorchCall", Value], "contents.Content | None"]


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
        return [outputs[0], Value((), INT64, contents.Interval(0, 0, True))]
    size, axis = dims[axis], axis % len(dims)
    positions = places(size)
    if kind in ("aten.sort", "aten.topk"):
        positions = contents.DistinctPlaces(0, subtract(size, 1), axis, kind == "aten.sort")
    return [outputs[0], Value(outputs[1].shape, INT64, positions)]


def _with_groups(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return distinct elements with the bounds of the position of each original element among them."""
    first, *others = outputs
    if not others or not first.shape or others[0].shape is None:
        return outputs
    axis = 0 if call.argument("dim") is None else call.number("dim") % len(first.shape)
    return [first, Value(others[0].shape, INT64, places(first.shape[axis])), *others[1:]]


# What is known of the elements of the first part of a tensor holds for all of its parts.
_CUTS = frozenset(f"aten.{n}" for n in ("split", "split_with_sizes", "chunk", "unbind"))
_EXACT = contents.INTEGERS | {contents.BOOL}
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
    if content is None:
        return outputs
    count = len(outputs) if call.node.op_type in _CUTS else 1
    return [*(Value(output.shape, output.dtype, content) for output in outputs[:count]), *outputs[count:]]


def _content(call: TorchCall, output: Value, translate: Translation) -> contents.Content | None:
    """Return the elements that a translation computes; None if they depend on a size that it creates."""
    asker = call.asker
    before = asker.origins.keys()
    # Requirements that a translation makes are dropped: the operator has made them.
    with asker.trying(call.walk.trying()):
        try:
            content = translate(call, output)
        except (UnknownShapeError, DimensionError, ArithmeticError, LookupError, TypeError, ValueError):
            return None
        # A size that only this attempt created stands for nothing that the walk knows: elements that use it are
        # dropped.
        created = asker.origins.keys() - before
    return None if content is None or not created.isdisjoint(_symbols(content)) else content


def _symbols(content: contents.Content) -> Iterator[Symbol]:
    """Yield the symbols in a content."""
    match content:
        case contents.Elements(items):
            for item in items:
                yield from symbols_of_element(item)
        case contents.IndexRamp(start, strides):
            yield from symbols_of((start, *strides))
        case contents.Interval(low, high):
            yield from symbols_of([d for d in (low, high) if d is not None])
        case contents.RampStack(parts) | contents.Bands(_, parts):
            for part in parts:
                yield from _symbols(part)


def translation(*names: str) -> Callable[[Translation], Translation]:
    """Register a function that returns the known elements of the first output of some operators."""

    def offer(function: Translation) -> Translation:
        _TRANSLATIONS.update({f"aten.{name}": function for name in names})
        return function

    return offer


def estimated(
    output: Value, exact: contents.Content | None, estimate: Callable[[], Estimate]
) -> contents.Content | None:
    """Return exact elements, or the bounds of integers if the elements are unknown."""
    return with_estimate(Value(output.shape, output.dtype, exact), estimate).content


def operand_as(call: TorchCall, name: str, dtype: int) -> Value:
    """Return a tensor or number argument as a tensor of an element type; raises `LookupError` for others."""
    argument = call.argument(name)
    value = argument if isinstance(argument, Value) else None
    if value is None or (value.shape == () and isinstance(value.content, contents.Elements)):
        element = int(argument) if isinstance(argument, bool) else element_of(argument)
        if element is None:
            raise LookupError(name)
        return Value((), dtype, contents.Elements((element,)))
    if value.shape is None or value.dtype not in _EXACT:
        raise LookupError(name)
    if value.dtype == dtype:
        return value
    converted = Value(value.shape, dtype, cast(value, dtype, call.asker))
    return with_estimate(converted, partial(intervals.cast, value, dtype, call.bounds))


def computed(call: TorchCall, name: str, *operands: Value) -> Value:
    """Apply an operation of `symbcast.operators.values.elements` to operands of one element type."""
    dtype = operands[0].dtype
    shape = call.broadcast(*map(shape_of_value, operands)) if operands[1:] else operands[0].shape
    if name in UNARY:
        content = of_each(name, operands[0], call.bounds)
    else:
        content = of_several(BINARY[name], operands, shape, call.asker)
    computed = Value(shape, dtype, content)
    return with_estimate(computed, partial(intervals.elementwise, name, operands, dtype, call.bounds))


@translation(
    *("split", "split_with_sizes", "chunk", "unbind", "index", "take", "sort", "topk", "diagonal", "unfold"),
    *("_unique", "_unique2", "unique_dim", "unique_consecutive"),
)
def some_contents(call: TorchCall, output: Value) -> contents.Content:
    return some_of(interval_of(call.value_of("self"), call.bounds))


def indexed_by(call: TorchCall, index: Value, size: Dim, shape: Dims, *, from_end: bool = False) -> None:
    """Require exactly known indices to be within an axis; otherwise require that they can be within it.

    With ``from_end``, negative indices count from the end.
    """
    bounds = interval_of(index, call.bounds)
    if bounds.is_attained and bounds.low is not None and bounds.high is not None:
        within(call, bounds.low, bounds.high, size, shape, from_end=from_end)
        return
    meet(call, bounds.low, bounds.high, size, shape, from_end=from_end)
    nothing = call.empty(shape)
    # Positions that differ need as many places.
    if isinstance(index.content, contents.DistinctPlaces) and index.shape:
        count = index.shape[index.content.axis]
        if not call.bounds.is_at_most(count, size):
            call.require(any_of([nothing, at_most(count, size)]), "indices that differ must be within the axis")
    # Data can choose only indices that no size bounds: all others are noted, unless they are within the axis.
    if join_deciders([index]) == Decider.DATA:
        return
    if bounds.low is None or bounds.high is None:
        call.note("not checked: the indices, which sizes may decide, must be within the axis", enough=nothing)
        return
    ends = ((multiply(-1, size) if from_end else 0, bounds.low), (add(bounds.high, 1), size))
    if not all(call.bounds.is_at_most(*pair) for pair in ends):
        reason = f"not checked: indices from {dim_text(bounds.low)} to {dim_text(bounds.high)} must be within the axis"
        call.note(reason, enough=any_of([nothing, all_of(at_most(*pair) for pair in ends)]))
