"""Check a node against its operator's schema: attributes, number of inputs, number of outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symbcast.onnx.protobuf.types import normal
from symbcast.onnx.validity.faults import DAMAGED, Source, label, quoted
from symbcast.onnx.validity.schemas import KNOWN_DOMAINS, OF_RUNTIME, Schema, first_version, schema

FIELDS = (
    "",
    "f",
    "i",
    "s",
    "t",
    "g",
    "floats",
    "ints",
    "strings",
    "tensors",
    "graphs",
    "sparse_tensor",
    "sparse_tensors",
    "tp",
    "type_protos",
)
"""The field that holds an attribute of each type, by number."""
_REPEATED = frozenset({"floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos"})
_NAMES = (
    "nothing",
    "a float",
    "an integer",
    "text",
    "a tensor",
    "a graph",
    "floats",
    "integers",
    "texts",
    "tensors",
    "graphs",
    "a sparse tensor",
    "sparse tensors",
    "a type",
    "types",
)
_VALUES_OF_CONSTANT = frozenset(
    {
        "value",
        "sparse_value",
        "value_float",
        "value_floats",
        "value_int",
        "value_ints",
        "value_string",
        "value_strings",
    }
)


def check_node(node: Any, versions: Mapping[str, int], source: Source) -> None:
    """Raise `ModelError` if a node's name, attributes, inputs or outputs do not match its operator."""
    if any(isinstance(text, bytes) for text in (node.op_type, node.domain, *(a.name for a in node.attribute))):
        raise source.fault(*DAMAGED)
    if not node.op_type:
        raise source.fault(f"{label(node)} names no operator")
    domain = normal(node.domain)
    version = versions.get(domain)
    if version is None:
        raise source.fault(
            f"{label(node)} uses the domain {quoted(domain or 'ai.onnx')}, which the model does not import",
            "add it to the model's opset_import",
        )
    if version < 1:
        raise source.fault(f"{label(node)} uses the domain {quoted(domain)}, which is imported in version {version}")
    found = schema(node.op_type, version, domain) if domain in KNOWN_DOMAINS else None
    _check_attributes(node, found, version, source)
    if found is not None:
        _check_counts(node, found, version, source)
    elif domain in KNOWN_DOMAINS and not (domain == "" and node.op_type in OF_RUNTIME):
        since = first_version(node.op_type, domain)
        there = f"it exists from version {since} on" if since is not None else "no version has an operator of this name"
        raise source.fault(
            f"{label(node)} uses an operator that is not in version {version} of {domain or 'ONNX'}: {there}"
        )


def _check_attributes(node: Any, found: Schema | None, version: int, source: Source) -> None:
    given: set[str] = set()
    for attribute in node.attribute:
        name = attribute.name
        if not name:
            raise source.fault(f"{label(node)} has an attribute without a name")
        if name in given:
            raise source.fault(f"{label(node)} has the attribute {quoted(name)} twice")
        given.add(name)
        if found is None or name[:2] == "__":  # tools write such names; they are not part of the operator
            continue
        wanted = found.attributes.get(name)
        if wanted is None:
            raise source.fault(
                f"{label(node)} has the attribute {quoted(name)}, "
                f"which {node.op_type} of version {version} does not have{_elsewhere(node, name, found, version)}"
            )
        if attribute.type != wanted[0] and attribute.type < len(_NAMES):
            raise source.fault(
                f"{label(node)} has the attribute {quoted(name)} as {_NAMES[attribute.type]}; "
                f"it must be {_NAMES[wanted[0]]}"
            )
    missing = [
        n for n, (_, is_required) in (found.attributes if found else {}).items() if is_required and n not in given
    ]
    if missing:
        raise source.fault(f"{label(node)} lacks the attribute {quoted(missing[0])}, which {node.op_type} must have")
    if node.op_type == "Constant" and found is not None and given.isdisjoint(_VALUES_OF_CONSTANT):
        raise source.fault(
            f"{label(node)} holds no value: one of the attributes 'value', 'value_ints', ... must be there"
        )


def _elsewhere(node: Any, name: str, found: Schema, version: int) -> str:
    """Return the end of a message that names the earlier versions in which an operator has an attribute, if any."""
    before = found.since - 1
    while before > 0:
        older = schema(node.op_type, before, normal(node.domain))
        if older is None:
            return ""
        if name in older.attributes:
            return f"; versions up to {before} have it"
        before = older.since - 1
    return ""


def _check_counts(node: Any, found: Schema, version: int, source: Source) -> None:
    if found.is_deprecated:
        raise source.fault(
            f"{label(node)} uses a deprecated operator: version {version} of the operators is imported, "
            f"and {node.op_type} does not exist from version {found.since} on"
        )
    for what, count, (least, most) in (
        ("input", len(node.input), found.inputs),
        ("output", len(node.output), found.outputs),
    ):
        if not least <= count <= most:
            raise source.fault(
                f"{label(node)} has {_counted(count, what)}; {node.op_type} of version {version} has "
                f"{_range(least, most, what)}"
            )
    for position, name in enumerate(node.input):
        if not name and found.slot(position).is_single:
            raise source.fault(f"{label(node)} leaves out input {position}, which {node.op_type} must have")


def _range(least: int, most: int, what: str) -> str:
    if least == most:
        return _counted(least, what)
    return f"{least} or more" if most >= 2**31 - 1 else f"{least} to {most}"


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def check_held(node: Any, attribute: Any, source: Source) -> None:
    """Raise `ModelError` if an attribute's value does not match its type."""
    kind = attribute.type
    if attribute.ref_attr_name:
        return
    if not 0 < kind < len(FIELDS):
        raise source.fault(
            f"{label(node)} has the attribute {quoted(attribute.name)} of type {kind}, which does not exist"
        )
    for other, field in enumerate(FIELDS):
        if other not in (0, kind) and _is_there(attribute, field):
            raise source.fault(
                f"{label(node)} has the attribute {quoted(attribute.name)}, whose type is {_NAMES[kind]}, "
                f"and which holds {_NAMES[other]}"
            )


def _is_there(attribute: Any, field: str) -> bool:
    return bool(getattr(attribute, field)) if field in _REPEATED else bool(attribute.HasField(field))
