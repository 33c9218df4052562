"""Inner graphs: the input types that onnx's inference of ``Loop`` and ``Scan`` passes to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symbcast.onnx.opening.scope import Types
from symbcast.onnx.opening.types import has_type, shape_of, tensor_type

_INT64 = 7


def stub(graph: Any, outputs: Sequence[Any] | None) -> Any:
    """Return a graph with the inputs of another and no nodes, which declares the types that its outputs have."""
    made = type(graph)()
    made.name = graph.name
    for given in graph.input:
        made.input.add().name = given.name
    for position, declared in enumerate(graph.output):
        output = made.output.add()
        output.name = declared.name
        found = outputs[position] if outputs is not None else None
        output.type.CopyFrom(found if found is not None and has_type(found) else declared.type)
    return made


def _loop(node: Any, scope: Types) -> list[Any]:
    """The iteration number, the condition and the carried values, whose shapes may change."""
    return [
        _without_shape(tensor_type(_INT64, ())),
        scope.type_of(node.input[1]) if len(node.input) > 1 and node.input[1] else None,
        *(_without_shape(scope.type_of(name)) for name in node.input[2:]),
    ]


def _scan(node: Any, scope: Types) -> list[Any]:
    """The states, and a slice of each scanned input along its axis."""
    if scope.versions.get("", 1) < _WITHOUT_LENGTHS:
        return []
    attributes = {a.name: a for a in node.attribute}
    scanned = attributes["num_scan_inputs"].i
    states = len(node.input) - scanned
    axes = list(attributes["scan_input_axes"].ints) if "scan_input_axes" in attributes else [0] * scanned
    types = [scope.type_of(name) for name in node.input]
    return [*types[:states], *(_slice(t, axis) for t, axis in zip(types[states:], axes, strict=False))]


_WITHOUT_LENGTHS = 9
"""The first version of Scan without sequence lengths before its states."""


def _without_shape(found: Any | None) -> Any | None:
    if found is None:
        return None
    made = type(found)()
    made.CopyFrom(found)
    if made.WhichOneof("value") == "tensor_type":
        made.tensor_type.ClearField("shape")
    return made


def _slice(found: Any | None, axis: int) -> Any | None:
    shape = None if found is None else shape_of(found)
    if found is None or shape is None or not -len(shape.dim) <= axis < len(shape.dim):
        return _without_shape(found)
    made = type(found)()
    made.CopyFrom(found)
    del made.tensor_type.shape.dim[axis % len(shape.dim)]
    return made


BODIES: Mapping[str, Callable[[Any, Types], list[Any]]] = {"Loop": _loop, "Scan": _scan}
"""By operator, the function that gives a body's input types; others have no body or are not followed."""
