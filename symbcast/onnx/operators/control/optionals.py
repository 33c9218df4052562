"""Operators on optional values."""

from __future__ import annotations

from symbcast.core.logic.formulas import FALSE, TRUE
from symbcast.graphs.values.contents import Element, Elements
from symbcast.graphs.values.value import UNKNOWN, OptionalValue, Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.protobuf.types import value_of
from symbcast.onnx.registry import operator

BOOL = 9


@operator("Optional")
def optional(call: NodeCall) -> Value:
    """The input as an optional value; an empty one without an input."""
    if call.has(0):
        return OptionalValue(call.value(0), TRUE)
    kind = call.attribute("type")
    return OptionalValue(None if kind is None else value_of(kind), FALSE)


@operator("OptionalGetElement")
def element(call: NodeCall) -> Value:
    """The value that an optional holds; it must not be empty."""
    given = call.value(0)
    if not isinstance(given, OptionalValue):
        if _is_unknown(given):
            call.note(f"not checked: {call.input_name(0)} must hold something", is_about_data=True)
        return given
    if given.is_there == FALSE:
        call.refuse(f"{call.input_name(0)} must hold something")
    call.require(given.is_there, f"{call.input_name(0)} must hold something")
    return UNKNOWN if given.held is None else given.held


@operator("OptionalHasElement")
def has_element(call: NodeCall) -> Value:
    """Whether the optional holds a value."""
    if not call.has(0):
        return Value((), BOOL, Elements((0,)))
    given = call.value(0)
    if _is_unknown(given):
        return Value((), BOOL)
    there: Element = given.is_there if isinstance(given, OptionalValue) else 1
    return Value((), BOOL, Elements((1 if there == TRUE else 0 if there == FALSE else there,)))


def _is_unknown(value: Value) -> bool:
    """Return whether even the kind of a value is unknown."""
    return type(value) is Value and value.shape is None
