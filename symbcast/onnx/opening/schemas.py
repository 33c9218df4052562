"""Operators by their schemas in onnx, and whether a definition of an operator by others applies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from symbcast.onnx.protobuf.types import normal


class Operator:
    """A version of an operator, read once for all its nodes: the fields of a schema take long to read.

    Attributes:
        schema: its ``OpSchema``.
        title: its domain and name, such as ``":Add"``.
        version: the version of the operator set that defines it.
        is_deprecated, has_function: as in the schema.
        inputs, outputs: for each, the type parameter or type, and the name.
    """

    __slots__ = ("has_function", "inputs", "is_deprecated", "outputs", "schema", "title", "version")

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.title = f"{schema.domain}:{schema.name}"
        self.version: int = schema.since_version
        self.is_deprecated: bool = schema.deprecated
        self.has_function: bool = schema.has_function
        self.inputs, self.outputs = ([(s.type_str, s.name) for s in slots] for slots in (schema.inputs, schema.outputs))

    def is_typed(self, position: int) -> bool:
        """Return whether the inputs decide the element type of an output, or it can only have one."""
        slot = self.schema.outputs[min(position, len(self.outputs) - 1)]
        return len(slot.types) == 1 or any(slot.type_str == written for written, _ in self.inputs)


@lru_cache(maxsize=1024)
def operator_of(op_type: str, version: int, domain: str) -> Operator | None:
    """Return an operator of a version; None if that version does not have it."""
    from onnx import defs

    try:
        return Operator(defs.get_schema(op_type, version, domain))
    except defs.SchemaError:
        return None


def is_unchanged(function: Any, versions: Mapping[str, int]) -> bool:
    """Return whether the operators in a definition are the same in the versions that a model imports.

    Otherwise ONNX Runtime does not use it (``OpSchema::ValidateReferencedOpsInFunction``).
    """
    written = {normal(o.domain): int(o.version) for o in function.opset_import}
    for node in function.node:
        domain = normal(node.domain)
        then, now = (operator_of(node.op_type, v.get(domain, 1), domain) for v in (written, versions))
        if then is not None and now is not None and then.version != now.version:
            return False
    return True
