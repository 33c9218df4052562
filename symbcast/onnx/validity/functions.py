"""The functions of a model: that each is there once, and none calls itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from symbcast.onnx.validity.faults import Source, quoted
from symbcast.onnx.validity.opsets import normal

Key: TypeAlias = "tuple[str, str, str]"
"""The domain, the name and the overload of a function."""


def key_of(domain: str, name: str, proto: Any) -> Key:
    """Return what a function, or a node that calls it, is found by; onnx before 1.16 knows no overloads."""
    return normal(domain), name, str(getattr(proto, "overload", ""))


def functions_of(model: Any, source: Source) -> dict[Key, Any]:
    """Return the functions of a model; raises `ModelError` where one is there twice, or calls itself."""
    found: dict[Key, Any] = {}
    for function in model.functions:
        key = key_of(function.domain, function.name, function)
        if key in found:
            raise source.fault(f"the function {title(key)} is there twice")
        found[key] = function
    _check_calls(found, source)
    return found


def title(key: Key) -> str:
    """Return what a function is called in a message."""
    domain, name, overload = key
    return quoted(f"{domain}.{name}" + (f":{overload}" if overload else ""))


def _check_calls(functions: Mapping[Key, Any], source: Source) -> None:
    """Walk depth first from each function to those that it calls: one that is met again on the way calls itself."""
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
