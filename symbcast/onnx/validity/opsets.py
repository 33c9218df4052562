"""The versions of operator sets that a model imports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeAlias

from symbcast.onnx.validity.faults import Source, quoted

Runtime: TypeAlias = Literal["spec", "onnxruntime"]
"""What is asked about: the documents, or what ONNX Runtime does."""

_WITH_OPSETS = 3
"""The version of the IR from which on a model imports operator sets."""
_IMPORTED_BY_RUNTIME = frozenset({"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"})
"""Domains of ONNX Runtime's own, of which it knows one version: it takes them for imported (seen with 1.31)."""


_NEWEST_OF_RUNTIME = {
    "": 28,
    "ai.onnx.ml": 5,
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": 1,
    "ai.onnx.training": 1,
    "com.microsoft": 1,
    "com.microsoft.experimental": 1,
    "com.microsoft.nchwc": 1,
    "com.ms.internal.nhwc": 28,
}
"""The newest versions that ONNX Runtime 1.32 takes of the domains it knows; of others it takes any."""


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
        if runtime == "onnxruntime" and version > _NEWEST_OF_RUNTIME.get(domain, version):
            raise source.fault(
                f"version {version} of the operators of {name} is imported, "
                f"and ONNX Runtime knows {_NEWEST_OF_RUNTIME[domain]}"
            )
        if version < 1 and (runtime != "onnxruntime" or not domain):
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
