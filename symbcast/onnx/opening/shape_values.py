"""Sizes that ONNX Runtime knows in the values of a graph before it folds constants.

It keeps them as 64-bit integers even after a ``Cast`` (``Graph::SaveShapeValuesFromDataPropagation``). So a ``Range``
from a real number to a size refuses a model, because its inputs seem to have different types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.onnx.opening.scope import Known, Sizes
from symbcast.onnx.protobuf.graph import OnnxNode

_INT64 = 7


def tensor_of(sizes: Sizes) -> Any:
    """Return sizes as a constant."""
    from onnx import helper

    items, dims = ([sizes], ()) if isinstance(sizes, int) else (sizes, (len(sizes),))
    return helper.make_tensor("", _INT64, dims, items)


_MAKERS = frozenset({"Cast", "Gather", "Shape", "Squeeze", "Unsqueeze"})


def sizes_made(node: OnnxNode, inputs: Sequence[Known | None]) -> Sizes | None:
    """Return the sizes that a node passes on, from the facts about its inputs."""
    if node.op_type not in _MAKERS or node.domain or len(node.outputs) != 1 or not inputs or inputs[0] is None:
        return None
    if node.op_type == "Shape":
        sizes, bounds = inputs[0].type.sizes, node.attributes
        part = None if sizes is None else sizes[bounds.get("start", 0) : bounds.get("end")]
        return None if part is None or None in part else tuple(n for n in part if n is not None)
    known = inputs[0].sizes
    match node.op_type:
        case "Cast":
            return known
        case "Squeeze" if isinstance(known, tuple) and len(known) == 1:
            return known[0]
        case "Unsqueeze" if isinstance(known, int):
            return (known,)
        case "Gather" if isinstance(known, tuple):
            return _gathered(known, inputs[1])
    return None


def _gathered(sizes: tuple[int, ...], indices: Known | None) -> Sizes | None:
    from onnx import numpy_helper

    if indices is None or indices.constant is None or indices.is_folded:
        return None
    places = numpy_helper.to_array(indices.constant.raw)
    if places.ndim > 1 or not all(-len(sizes) <= i < len(sizes) for i in places.ravel()):
        return None
    found = tuple(sizes[i] for i in places.ravel())
    return found if places.ndim else found[0]
