"""The text of ``dynamic_shapes``, nested as the arguments are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.torch.reading.inputs import Input, Inputs


def entry(given: Input, said: dict[str, str]) -> str:
    """Return the entry of one argument in dynamic shapes, from the text of each axis that was asked to be open."""
    axes = {axis.axis: said[axis.source] for axis in given.axes if axis.source in said}
    if not axes:
        return "None"
    own = axes.get(None)
    return own if own is not None else "{" + ", ".join(f"{n}: {t}" for n, t in axes.items()) + "}"


def nested(inputs: Inputs, said: dict[str, str]) -> str:
    """Return the text of dictionaries and lists, nested as the names of arguments in torch's guards say."""
    root: dict[object, object] = {}
    for i in inputs.inputs:
        place: dict[object, object] = root
        *outer, last = _path(i.source)
        for key in outer:
            place = place.setdefault(key, {})  # type: ignore[assignment]
        place[last] = entry(i, said)
    return _text(root)


def _text(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    if value and all(isinstance(key, int) for key in value):
        return "[" + ", ".join(_text(value.get(n, "None")) for n in range(max(value) + 1)) + "]"
    return "{" + ", ".join(f"{key!r}: {_text(v)}" for key, v in value.items()) + "}"


def _path(source: str) -> list[object]:
    """Return the path to an argument in torch's guards: ``['x', 0, 'k']`` for ``L['x'][0]['k']``."""
    return list(_keys(source))


def _keys(source: str) -> Iterator[object]:
    keys = []
    node: ast.expr = ast.parse(source, mode="eval").body
    while not isinstance(node, ast.Name):
        match node:
            case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
                keys.append(key)
                node = inner
            case ast.Attribute(value=inner, attr=key):
                keys.append(key)
                node = inner
            case _:
                return
    yield from reversed(keys)
