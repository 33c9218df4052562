"""Schemas of onnx, and whether a definition of an operator by others applies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from symbcast.onnx.protobuf.types import normal


@lru_cache(maxsize=1024)
def schema(op_type: str, version: int, domain: str) -> Any:
    """Return an operator of a version; None if that version does not have it."""
    from onnx import defs

    try:
        return defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None


def is_typed(found: Any, position: int) -> bool:
    """Return whether the inputs of an operator decide the element type of an output, or there is only one."""
    slot = found.outputs[min(position, len(found.outputs) - 1)]
    return len(slot.types) == 1 or any(slot.type_str == given.type_str for given in found.inputs)


def is_unchanged(function: Any, versions: Mapping[str, int]) -> bool:
    """Return whether the operators in a definition are the same in the versions that a model imports.

    Otherwise ONNX Runtime does not use it (``OpSchema::ValidateReferencedOpsInFunction``).
    """
    written = {normal(o.domain): int(o.version) for o in function.opset_import}
    for node in function.node:
        domain = normal(node.domain)
        then, now = (schema(node.op_type, v.get(domain, 1), domain) for v in (written, versions))
        if then is not None and now is not None and then.since_version != now.since_version:
            return False
    return True
