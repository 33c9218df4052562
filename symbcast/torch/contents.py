"""What is known of the integers and truth values that a program computes, and what an index made of them requires.

An operator on them is evaluated as the ONNX operator that computes the same, so that one set of functions follows
contents. What that operator asks of sizes is forgotten: torch's own rule has asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FORMULA_KINDS
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import DimensionError
from symbcast.graphs.deciding import joined
from symbcast.graphs.graph import Node
from symbcast.graphs.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.requirements.recorder import Place
from symbcast.graphs.values.contents import Bands, Content, Elements, Interval, Ramp, Ratio, Stack, is_size
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.intervals import interval_of, is_constant
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Value
from symbcast.operators.indexing import meet, within
from symbcast.torch.element_types import INT64, number_of
from symbcast.torch.node_call import element_of, size_of

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.value import Dims
    from symbcast.torch.node_call import TorchCall

    Translation = Callable[["TorchCall", Value], "Value | None"]

_VERSION = 18
_EXACT = INTEGERS | {BOOL}
_TRANSLATIONS: dict[str, Translation] = {}


def with_contents(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a call with their element types, and with what is known of integers and truth values."""
    recorded = call.node.raw.meta.get("val")
    values = recorded if isinstance(recorded, (tuple, list)) else [recorded]
    for value, known in zip(outputs, values, strict=False):
        if type(value) is Value and not value.dtype:
            value.dtype = number_of(getattr(known, "dtype", None))
    translate = _TRANSLATIONS.get(call.node.op_type)
    first = outputs[0] if outputs else None
    if translate is None or first is None or first.content is not None or first.shape is None:
        return outputs
    if first.dtype not in _EXACT:
        return outputs
    found = _content(call, first, translate)
    return outputs if found is None else [Value(first.shape, first.dtype, found), *outputs[1:]]


def _content(call: TorchCall, output: Value, translate: Translation) -> Content | None:
    """Return the elements that a translation works out; None where they need a size that it makes for itself."""
    asker = call.asker
    before = asker.origins.keys()
    with asker.trying(call.walk.trying()):
        try:
            found = translate(call, output)
        except (UnknownShapeError, DimensionError, ArithmeticError, LookupError, TypeError, ValueError):
            return None
        made = asker.origins.keys() - before
    content = None if found is None else found.content
    return None if content is None or not made.isdisjoint(_symbols(content)) else content


def _symbols(content: Content) -> Iterator[Symbol]:
    """Yield the sizes that a content is made of."""
    match content:
        case Elements(items):
            for item in items:
                if isinstance(item, FORMULA_KINDS):
                    yield from symbols_in(item)
                elif isinstance(item, Ratio):
                    yield from symbols_of(item)
                elif is_size(item):
                    yield from symbols_of((item,))
        case Ramp(start, strides):
            yield from symbols_of((start, *strides))
        case Interval(low, high):
            yield from symbols_of([d for d in (low, high) if d is not None])
        case Stack(parts) | Bands(_, parts):
            for part in parts:
                yield from _symbols(part)


def _translation(*names: str) -> Callable[[Translation], Translation]:
    def offer(function: Translation) -> Translation:
        _TRANSLATIONS.update({f"aten.{name}": function for name in names})
        return function

    return offer


class _Node(Node):
    """A node of ONNX, as far as its operators look at one."""

    __slots__ = ("_attributes",)

    def __init__(self, call: TorchCall, op_type: str, count: int, attributes: Mapping[str, Any]) -> None:
        name = call.place.name
        inputs = [f"{name}.{n}" for n in range(count)]
        super().__init__(op_type, inputs, call.node.outputs, name=name, version=_VERSION)
        self._attributes = attributes

    @property
    def attributes(self) -> Mapping[str, Any]:
        return self._attributes


def _run(call: TorchCall, op_type: str, inputs: Sequence[Value | None], **attributes: int | Sequence[int]) -> Value:
    """Return the first output of an operator of ONNX."""
    from symbcast.onnx.operators.elementwise.intervals import with_intervals
    from symbcast.onnx.operators.families import OPERATORS

    node = _Node(call, op_type, len(inputs), attributes)
    own = NodeCall(Place(node.name, op_type, node, inputs), call.walk, call.scope)
    found = OPERATORS["", op_type](own)
    outputs = with_intervals(own, (found,) if isinstance(found, Value) else found)
    return outputs[0]


def _list(dims: Iterable[Dim]) -> Value:
    items = tuple(dims)
    return Value((len(items),), INT64, Elements(items))


def _operand(call: TorchCall, name: str, dtype: int) -> Value:
    """Return an argument, tensor or number, as a tensor of an element type; raises `LookupError` if it is not one."""
    given = call.given(name)
    value = given if isinstance(given, Value) else None
    if value is None or (value.shape == () and isinstance(value.content, Elements)):
        element = int(given) if isinstance(given, bool) else element_of(given)
        if element is None:
            raise LookupError(name)
        return Value((), dtype, Elements((element,)))
    if value.shape is None or value.dtype not in _EXACT:
        raise LookupError(name)
    return value if value.dtype == dtype else _run(call, "Cast", [value], to=dtype)


# Made of sizes.


@_translation("arange")
def _counted(call: TorchCall, output: Value) -> Value | None:
    start, step = call.size("start", 0), call.size("step", 1)
    if start is None or step is None or call.size("end") is None:
        return None
    return Value(output.shape, output.dtype, Ramp(start, (step,)))


@_translation("full", "new_full", "full_like", "scalar_tensor", "fill", "fill_")
def _filled(call: TorchCall, output: Value) -> Value | None:
    given = call.given("fill_value", "s", "value")
    element = int(given) if isinstance(given, bool) else size_of(given)
    return None if element is None else _of_one(output, element)


def _of_one(output: Value, element: Dim) -> Value:
    return Value(output.shape, output.dtype, Ramp(element, (0,) * len(output.shape or ())))


@_translation("zeros", "zeros_like", "new_zeros", "zero_")
def _zeros(call: TorchCall, output: Value) -> Value:
    return _of_one(output, 0)


@_translation("ones", "ones_like", "new_ones")
def _ones(call: TorchCall, output: Value) -> Value:
    return _of_one(output, 1)


# The same elements, or some of them.


@_translation(
    "view", "reshape", "_unsafe_view", "view_as", "reshape_as", "flatten", "unflatten", "squeeze", "_reshape_copy",
    "clone", "contiguous", "alias", "detach", "detach_", "lift_fresh", "lift_fresh_copy",
    "view_copy", "squeeze_copy",
)  # fmt: skip
def _reshaped(call: TorchCall, output: Value) -> Value:
    value = call.value_of("self")
    if value.shape == output.shape:
        return value
    return _run(call, "Reshape", [value, _list(output.shape or ())], allowzero=1)


@_translation("unsqueeze", "unsqueeze_copy")
def _unsqueezed(call: TorchCall, output: Value) -> Value:
    return _run(call, "Unsqueeze", [call.value_of("self"), _list([call.number("dim")])])


@_translation("expand", "expand_as", "broadcast_to", "expand_copy")
def _expanded(call: TorchCall, output: Value) -> Value:
    return _run(call, "Expand", [call.value_of("self"), _list(output.shape or ())])


@_translation("permute", "transpose", "t", "permute_copy", "transpose_copy")
def _permuted(call: TorchCall, output: Value) -> Value:
    value, rank = call.value_of("self"), len(output.shape or ())
    order = call.numbers_of("dims")
    if order is None:
        order = list(range(rank))
        first, second = (call.number(n) % rank for n in ("dim0", "dim1")) if rank != 2 else (0, 1)
        order[first], order[second] = second, first
    return _run(call, "Transpose", [value], perm=[axis % rank for axis in order])


@_translation("repeat")
def _repeated(call: TorchCall, output: Value) -> Value:
    value, repeats = call.value_of("self"), call.known_sizes("repeats")
    new = list(range(len(repeats) - len(value.shape or ())))
    whole = _run(call, "Unsqueeze", [value, _list(new)]) if new else value
    return _run(call, "Tile", [whole, _list(repeats)])


@_translation("flip", "roll", "repeat_interleave", "tile")
def _moved(call: TorchCall, output: Value) -> Value:
    return Value(output.shape, output.dtype, interval_of(call.value_of("self"), call.bounds))


@_translation("split", "split_with_sizes", "chunk", "unbind", "index", "take", "sort", "topk", "diagonal", "unfold")
def _some(call: TorchCall, output: Value) -> Value | None:
    found = interval_of(call.value_of("self"), call.bounds)
    return Value(output.shape, output.dtype, Interval(found.low, found.high, is_constant(found)))


@_translation("slice", "slice_copy")
def _sliced(call: TorchCall, output: Value) -> Value | None:
    start, end = call.size("start", 0), call.size("end", (1 << 63) - 1)
    if start is None or end is None:
        return _some(call, output)
    bounds = [_list([d]) for d in (start, end, call.number("dim", 0), call.number("step", 1))]
    return _run(call, "Slice", [call.value_of("self"), *bounds])


@_translation("select", "select_copy")
def _selected(call: TorchCall, output: Value) -> Value | None:
    index = call.size("index")
    if index is None:
        return _some(call, output)
    place = Value((), INT64, Elements((index,)))
    axis = call.number("dim") % len(call.dims("self"))
    return _run(call, "Gather", [call.value_of("self"), place], axis=axis)


@_translation("index_select")
def _picked(call: TorchCall, output: Value) -> Value:
    axis = call.number("dim") % len(call.dims("self"))
    return _run(call, "Gather", [call.value_of("self"), call.value_of("index")], axis=axis)


@_translation("cat", "concat", "concatenate")
def _joined(call: TorchCall, output: Value) -> Value:
    parts = [v for v in call.given("tensors") if isinstance(v, Value) and v.shape != (0,)]
    return _run(call, "Concat", parts, axis=call.number("dim", 0))


@_translation("stack")
def _stacked(call: TorchCall, output: Value) -> Value:
    axis = call.number("dim", 0)
    parts = [_run(call, "Unsqueeze", [v, _list([axis])]) for v in call.given("tensors")]
    return _run(call, "Concat", parts, axis=axis)


# What is computed.


@_translation("to", "_to_copy", "type_as")
def _cast(call: TorchCall, output: Value) -> Value:
    return _operand(call, "self", output.dtype)


_OF_TWO = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "remainder": "Mod", "maximum": "Max", "minimum": "Min",
    "eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual",
    "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor",
}  # fmt: skip


@_translation(*_OF_TWO)
def _of_two(call: TorchCall, output: Value) -> Value | None:
    kind = _OF_TWO[call.node.op_type.removeprefix("aten.")]
    if call.given("alpha") not in (None, 1):
        return None
    dtype = BOOL if kind in ("And", "Or", "Xor") else INT64 if output.dtype == BOOL else output.dtype
    return _run(call, kind, [_operand(call, name, dtype) for name in ("self", "other")])


@_translation("bitwise_and", "bitwise_or", "bitwise_not", "logical_not", "__and__", "__or__")
def _logical(call: TorchCall, output: Value) -> Value | None:
    if output.dtype != BOOL:
        return None
    kind = call.node.op_type.strip("_").rpartition("_")[2].rpartition(".")[2].strip("_").capitalize()
    names = ("self",) if kind == "Not" else ("self", "other")
    return _run(call, kind, [_operand(call, name, BOOL) for name in names])


@_translation("floor_divide", "div")
def _divided(call: TorchCall, output: Value) -> Value | None:
    """Both ways to round are the same where nothing is below 0."""
    if call.node.op_type == "aten.div" and call.given("rounding_mode") is None:
        return None
    above, below = (_operand(call, name, output.dtype) for name in ("self", "other"))
    ends = [interval_of(v, call.bounds).low for v in (above, below)]
    if any(low is None or not call.bounds.is_at_least(low, n) for n, low in enumerate(ends)):
        return None
    return _run(call, "Div", [above, below])


@_translation("rsub")
def _exchanged(call: TorchCall, output: Value) -> Value | None:
    if call.given("alpha") not in (None, 1):
        return None
    return _run(call, "Sub", [_operand(call, name, output.dtype) for name in ("other", "self")])


@_translation("neg", "abs", "sign")
def _of_one_operand(call: TorchCall, output: Value) -> Value:
    kind = call.node.op_type.removeprefix("aten.").capitalize()
    return _run(call, kind, [_operand(call, "self", output.dtype)])


@_translation("clamp", "clamp_min", "clamp_max", "clip")
def _clamped(call: TorchCall, output: Value) -> Value:
    found = _operand(call, "self", output.dtype)
    for name, kind in (("min", "Max"), ("max", "Min")):
        if call.given(name) is not None:
            found = _run(call, kind, [found, _operand(call, name, output.dtype)])
    return found


@_translation("where")
def _chosen(call: TorchCall, output: Value) -> Value:
    others = [_operand(call, name, output.dtype) for name in ("self", "other")]
    return _run(call, "Where", [_operand(call, "condition", BOOL), *others])


@_translation("cumsum")
def _cumulated(call: TorchCall, output: Value) -> Value:
    rank = max(len(output.shape or ()), 1)
    axis = Value((), INT64, Elements((call.number("dim") % rank,)))
    return _run(call, "CumSum", [_operand(call, "self", output.dtype), axis])


@_translation("argmax", "argmin")
def _found(call: TorchCall, output: Value) -> Value | None:
    if call.given("dim") is None:
        return None
    axis = call.number("dim") % max(len(call.dims("self")), 1)
    kind = "ArgMax" if call.node.op_type.endswith("max") else "ArgMin"
    return _run(call, kind, [call.value_of("self")], axis=axis, keepdims=int(call.flag("keepdim")))


# Indices.


def indexed_by(call: TorchCall, index: Value, size: Dim, shape: Dims, *, from_end: bool = False) -> None:
    """Require that indices be within an axis: of those that are known exactly; of others, that they can be.

    ``from_end`` where indices below 0 count from the end. Where sizes may decide indices that are not known exactly,
    the call is noted as open.
    """
    held = interval_of(index, call.bounds)
    if held.is_attained and held.low is not None and held.high is not None:
        within(call, held.low, held.high, size, shape, from_end=from_end)
        return
    meet(call, held.low, held.high, size, shape, from_end=from_end)
    if joined([index]) != Decider.DATA and not _is_inside(call, held, size, from_end=from_end):
        call.note("that the indices, which sizes may decide, are within the axis was not looked at")


def _is_inside(call: TorchCall, held: Interval, size: Dim, *, from_end: bool) -> bool:
    """Return whether indices are known to be within an axis."""
    from symbcast.core.algebra.arithmetic import add, multiply

    if held.low is None or held.high is None:
        return False
    least = multiply(-1, size) if from_end else 0
    return call.bounds.is_at_most(least, held.low) and call.bounds.is_at_most(add(held.high, 1), size)


__all__: list[Any] = ["indexed_by", "with_contents"]
