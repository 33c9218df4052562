"""Sizes that ONNX Runtime knows in the values of a graph before it folds constants.

It keeps them as 64-bit integers even after a ``Cast`` (``Graph::SaveShapeValuesFromDataPropagation``). So a ``Range``
from a real number to a size refuses a model, because its inputs seem to have different types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symbcast.onnx.opening.scope import Types
from symbcast.onnx.opening.types import sizes_in

_INT64 = 7
_UNCHANGED = frozenset({"Cast"})


class ShapeValues:
    """The values of one graph that hold sizes: a list of numbers, or one number."""

    def __init__(self, scope: Types) -> None:
        self._scope = scope
        self._known: dict[str, list[int] | int] = {}

    def known_to(self, node: Any) -> dict[str, Any]:
        """Return the inputs of a node that hold sizes, as constants."""
        return {name: self._tensor(self._known[name]) for name in node.input if name in self._known}

    def take(self, node: Any, held: Mapping[str, Any]) -> None:
        """Record the sizes that a node passes on; ``held`` are the constants among its inputs."""
        if len(node.output) == 1:
            made = self._made(node, held)
            if made is not None:
                self._known[node.output[0]] = made

    @staticmethod
    def _tensor(value: list[int] | int) -> Any:
        from onnx import helper

        items = [value] if isinstance(value, int) else value
        return helper.make_tensor("", _INT64, () if isinstance(value, int) else (len(items),), items)

    def _made(self, node: Any, held: Mapping[str, Any]) -> list[int] | int | None:
        if node.domain not in ("", "ai.onnx") or not node.input:
            return None
        if node.op_type == "Shape":
            sizes = sizes_in(self._scope.type_of(node.input[0]))
            bounds = {a.name: a.i for a in node.attribute}
            part = None if sizes is None else sizes[bounds.get("start", 0) : bounds.get("end")]
            return None if part is None or None in part else [n for n in part if n is not None]
        known = self._known.get(node.input[0])
        if known is None:
            return None
        match node.op_type:
            case "Cast":
                return known
            case "Squeeze" if isinstance(known, list) and len(known) == 1:
                return known[0]
            case "Unsqueeze" if isinstance(known, int):
                return [known]
            case "Gather" if isinstance(known, list):
                return _gathered(known, held.get(node.input[1]))
        return None


def _gathered(sizes: list[int], indices: Any | None) -> list[int] | int | None:
    from onnx import numpy_helper

    if indices is None:
        return None
    places = numpy_helper.to_array(indices)
    if places.ndim > 1 or not all(-len(sizes) <= i < len(sizes) for i in places.ravel()):
        return None
    found = [sizes[i] for i in places.ravel()]
    return found if places.ndim else found[0]
