"""Inner graphs: the input types that onnx's inference passes to them, and the branches that ONNX Runtime removes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symbcast.onnx.opening.scope import Types
from symbcast.onnx.opening.types import ValueType, shape_of, tensor_type, without_shape

_INT64 = 7


def stub(graph: Any, outputs: Sequence[ValueType | None] | None) -> Any:
    """Return a graph with the inputs of another and no nodes, which declares the types that its outputs have."""
    made = type(graph)()
    made.name = graph.name
    for given in graph.input:
        made.input.add().name = given.name
    for position, declared in enumerate(graph.output):
        output = made.output.add()
        output.name = declared.name
        found = outputs[position] if outputs is not None else None
        output.type.CopyFrom(found.proto if found is not None and found.is_known else declared.type)
    return made


def _loop(node: Any, scope: Types) -> list[ValueType | None]:
    """The iteration number, the condition and the carried values, whose shapes may change."""
    return [
        without_shape(tensor_type(_INT64, ())),
        scope.type_of(node.input[1]) if len(node.input) > 1 and node.input[1] else None,
        *(_without_shape(scope.type_of(name)) for name in node.input[2:]),
    ]


def _scan(node: Any, scope: Types) -> list[ValueType | None]:
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


def _without_shape(found: ValueType | None) -> ValueType | None:
    return None if found is None else without_shape(found)


def _slice(found: ValueType | None, axis: int) -> ValueType | None:
    shape = None if found is None else shape_of(found.proto)
    if found is None or shape is None or not -len(shape.dim) <= axis < len(shape.dim):
        return _without_shape(found)
    made = found.copy()
    del made.tensor_type.shape.dim[axis % len(shape.dim)]
    return ValueType.of(made)


BODIES: Mapping[str, Callable[[Any, Types], list[ValueType | None]]] = {"Loop": _loop, "Scan": _scan}
"""By operator, the function that gives a body's input types; others have no body or are not followed."""


def removed_branch(node: Any, scope: Types) -> str:
    """Return the attribute of the branch that is removed because a constant condition never takes it."""
    from onnx import numpy_helper

    chosen = scope.find(node.input[0]) if node.op_type == "If" else None
    if chosen is None or chosen.constant is None:
        return ""
    return "else_branch" if bool(numpy_helper.to_array(chosen.constant.raw).ravel()[:1].any()) else "then_branch"


def of_taken_branch(node: Any, scope: Types) -> dict[str, ValueType]:
    """Return the types of the outputs of an ``If`` whose condition is a constant: its branch replaces the node."""
    gone = removed_branch(node, scope)
    if not gone:
        return {}
    taken = next(a.g for a in node.attribute if a.HasField("g") and a.name != gone)
    pairs = zip(node.output, taken.output, strict=False)
    found = ((name, ValueType.of(made.type)) for name, made in pairs if name)
    return {name: made for name, made in found if made.is_known}


def holds_graphs(attribute: Any) -> bool:
    """Return whether an attribute is a graph, or several."""
    return bool(attribute.HasField("g") or attribute.graphs)
