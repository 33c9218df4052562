"""Functions of a model or of the standard: the nodes of their bodies for one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any


def body_of(function: Any, node: Any, absent: Set[str]) -> list[Any]:
    """Return the nodes of a function for the call ``node`` without the inputs ``absent``.

    A reference to an attribute of the function is replaced by its value, or dropped if it has none.
    """
    given = {a.name: a for a in (*function.attribute_proto, *node.attribute)}
    return [_called(inner, given, absent) for inner in function.node]


def _called(node: Any, given: Mapping[str, Any], absent: Set[str]) -> Any:
    if all(absent.isdisjoint(n.input) and not any(a.ref_attr_name for a in n.attribute) for n in _with_inner(node)):
        return node
    made = type(node)()
    made.CopyFrom(node)
    _leave_out(made, absent)
    for inner in list(_with_inner(made)):
        _put_in(inner, given)
    return made


def _leave_out(node: Any, absent: Set[str]) -> None:
    """Remove the names ``absent`` from the inputs of a node and of inner nodes that do not shadow them."""
    node.input[:] = ["" if name in absent else name for name in node.input]
    for graph in _graphs(node):
        own = {t.name for t in (*graph.initializer, *graph.input)} | {name for n in graph.node for name in n.output}
        for inner in graph.node:
            _leave_out(inner, absent - own)


def _with_inner(node: Any) -> Iterator[Any]:
    """Yield a node and the nodes of the graphs that it holds."""
    yield node
    for graph in _graphs(node):
        for inner in graph.node:
            yield from _with_inner(inner)


def _graphs(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        yield from (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs)


def _put_in(node: Any, given: Mapping[str, Any]) -> None:
    for position in reversed(range(len(node.attribute))):
        attribute = node.attribute[position]
        if not attribute.ref_attr_name:
            continue
        found = given.get(attribute.ref_attr_name)
        if found is None:
            del node.attribute[position]
        else:
            name = attribute.name
            attribute.CopyFrom(found)
            attribute.name = name


def definition_of(schema: Any, node: Any, version: int, types: Sequence[Any]) -> Any:
    """Return the standard's definition of an operator by others, for a version and input types; None without one.

    ``types`` are those of all inputs of ``node``, empty where nothing is known.
    """
    from onnx import FunctionProto

    versions = [v for v in schema.function_opset_versions if v <= version]
    if versions:
        return FunctionProto.FromString(schema.get_function_with_opset_version(max(versions)))
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= version]
    if not versions:
        return None
    try:
        found = schema.get_context_dependent_function_with_opset_version(
            max(versions), node.SerializeToString(), [t.SerializeToString() for t in types]
        )
    except Exception:  # onnx's bindings raise any kind; an operator that cannot be built is inferred
        return None
    return FunctionProto.FromString(found) if found else None


def with_defaults(node: Any, schema: Any) -> Any:
    """Return a node with the attributes that it leaves at their defaults written out."""
    made = type(node)()
    made.CopyFrom(node)
    given = {a.name for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            made.attribute.add().CopyFrom(attribute.default_value)
    return made
