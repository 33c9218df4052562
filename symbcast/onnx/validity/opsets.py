"""The versions of operator sets that a model imports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from symbcast.onnx.validity.faults import Source, quoted

if TYPE_CHECKING:
    from symbcast.onnx.requirements.recorder import Runtime

_WITH_OPSETS = 3
"""The version of the IR from which on a model imports operator sets."""
_IMPORTED_BY_RUNTIME = frozenset({"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"})
"""Domains of ONNX Runtime's own, of which it knows one version: it takes them for imported (seen with 1.31)."""


def normal(domain: str) -> str:
    """Return a domain; the one of ONNX has two names."""
    return "" if domain == "ai.onnx" else domain


@cache
def newest() -> Mapping[str, int]:
    """Return the newest versions of operator sets that the installed onnx knows, by domain."""
    from onnx import defs

    return {"": defs.onnx_opset_version(), "ai.onnx.ml": defs.onnx_ml_opset_version()}


def versions(imports: Any, source: Source, runtime: Runtime, ir_version: int = _WITH_OPSETS) -> dict[str, int]:
    """Return the version of each domain that is imported; raises `ModelError` for a version that there is not.

    ONNX Runtime takes the newest version of its own domains, and of ONNX's, where a model imports none.
    """
    found = {normal(o.domain): int(o.version) for o in imports}
    for domain, version in found.items():
        name = quoted(domain or "ai.onnx")
        if version < 1:
            raise source.fault(f"version {version} of the operators of {name} is imported; versions are 1 or more")
        known = newest().get(domain, version)
        if version > known:
            raise source.fault(
                f"version {version} of the operators of {name} is imported, and the installed onnx knows {known}",
                "install a newer onnx, or export the model for an older version",
            )
    if 0 < ir_version < _WITH_OPSETS:
        found.setdefault("", 1)
    if runtime == "onnxruntime":
        found = {**newest(), **dict.fromkeys(_IMPORTED_BY_RUNTIME, 1), **found}
    return found
