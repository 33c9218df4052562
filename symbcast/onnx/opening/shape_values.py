"""Sizes that ONNX Runtime knows in the values of a graph before it folds constants.

It keeps them as 64-bit integers even after a ``Cast`` (``Graph::SaveShapeValuesFromDataPropagation``). So a ``Range``
from a real number to a size refuses a model, because its inputs seem to have different types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symbcast.onnx.opening.scope import Sizes, Types
from symbcast.onnx.protobuf.constant import StoredTensor

_INT64 = 7


def tensor_of(sizes: Sizes) -> Any:
    """Return sizes as a constant."""
    from onnx import helper

    items, dims = ([sizes], ()) if isinstance(sizes, int) else (sizes, (len(sizes),))
    return helper.make_tensor("", _INT64, dims, items)


def sizes_made(node: Any, held: Mapping[str, StoredTensor], scope: Types) -> Sizes | None:
    """Return the sizes that a node passes on; ``held`` are the constants among its inputs."""
    if len(node.output) != 1 or node.domain not in ("", "ai.onnx") or not node.input:
        return None
    if node.op_type == "Shape":
        of = scope.type_of(node.input[0])
        sizes = None if of is None else of.sizes
        bounds = {a.name: a.i for a in node.attribute}
        part = None if sizes is None else sizes[bounds.get("start", 0) : bounds.get("end")]
        return None if part is None or None in part else tuple(n for n in part if n is not None)
    found = scope.values.get(node.input[0])
    known = None if found is None else found.sizes
    match node.op_type:
        case "Cast":
            return known
        case "Squeeze" if isinstance(known, tuple) and len(known) == 1:
            return known[0]
        case "Unsqueeze" if isinstance(known, int):
            return (known,)
        case "Gather" if isinstance(known, tuple):
            return _gathered(known, held.get(node.input[1]))
    return None


def _gathered(sizes: tuple[int, ...], indices: StoredTensor | None) -> Sizes | None:
    from onnx import numpy_helper

    if indices is None:
        return None
    places = numpy_helper.to_array(indices.raw)
    if places.ndim > 1 or not all(-len(sizes) <= i < len(sizes) for i in places.ravel()):
        return None
    found = tuple(sizes[i] for i in places.ravel())
    return found if places.ndim else found[0]
