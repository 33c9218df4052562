"""Check a model's imported operator sets, and its functions: each is defined once, and none calls itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, TypeAlias

from symbcast.onnx.protobuf.types import normal
from symbcast.onnx.validity.faults import Source, quoted

Runtime: TypeAlias = Literal["spec", "onnxruntime"]
"""What to follow: the documents or ONNX Runtime."""

_WITH_OPSETS = 3
"""The first version of the IR in which a model imports operator sets."""
_IMPORTED_BY_RUNTIME = frozenset({"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"})
"""ONNX Runtime's own domains, each with a single version, which it imports implicitly (seen with 1.31)."""


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
"""The newest versions that ONNX Runtime 1.32 accepts, for the domains it knows; it accepts any of other domains."""


@cache
def newest() -> Mapping[str, int]:
    """Return the newest versions of operator sets that the installed onnx knows, by domain."""
    from onnx import defs

    return {"": defs.onnx_opset_version(), "ai.onnx.ml": defs.onnx_ml_opset_version()}


def versions(imports: Any, source: Source, runtime: Runtime, ir_version: int = _WITH_OPSETS) -> dict[str, int]:
    """Return the version of each imported domain; raises `ModelError` for a version that does not exist.

    If a model does not import ONNX's domain or one of ONNX Runtime's own, the runtime uses the newest version of that
    domain.
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


Key: TypeAlias = "tuple[str, str, str]"
"""The domain, the name and the overload of a function."""


def key_of(domain: str, name: str, proto: Any) -> Key:
    """Return the key of a function or of a node that calls it; onnx before 1.16 has no overloads."""
    return normal(domain), name, str(getattr(proto, "overload", ""))


def functions_of(model: Any, source: Source) -> dict[Key, Any]:
    """Return the functions of a model; raises `ModelError` if one is defined twice or calls itself."""
    found: dict[Key, Any] = {}
    for function in model.functions:
        key = key_of(function.domain, function.name, function)
        if key in found:
            raise source.fault(f"the function {title(key)} is defined twice")
        found[key] = function
    _check_calls(found, source)
    return found


def title(key: Key) -> str:
    """Return a function's name for messages."""
    domain, name, overload = key
    return quoted(f"{domain}.{name}" + (f":{overload}" if overload else ""))


def _check_calls(functions: Mapping[Key, Any], source: Source) -> None:
    """Search the calls depth first; a function that recurs on the current path calls itself."""
    done: set[Key] = set()
    for first in functions:
        way: list[tuple[Key, Iterator[Key]]] = [] if first in done else [(first, _called(functions, first))]
        open_keys = {first}
        while way:
            key, called = way[-1]
            following = next((c for c in called if c not in done), None)
            if following is None:
                way.pop()
                open_keys.discard(key)
                done.add(key)
            elif following in open_keys:
                names = [title(k) for k, _ in way]
                circle = [*names[names.index(title(following)) :], title(following)]
                raise source.fault(f"the function {circle[0]} calls itself: {' -> '.join(circle[:8])}")
            else:
                open_keys.add(following)
                way.append((following, _called(functions, following)))


def _called(functions: Mapping[Key, Any], key: Key) -> Iterator[Key]:
    pending = [functions[key].node]
    while pending:
        for node in pending.pop():
            called = key_of(node.domain, node.op_type, node)
            if called in functions:
                yield called
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    pending.append(attribute.g.node)
                pending += [graph.node for graph in attribute.graphs]
