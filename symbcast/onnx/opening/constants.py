"""Constants as ONNX Runtime knows them while it opens a model: those in the model, and what it folds.

By default it computes each node whose inputs are all constants (``ConstantFolding``), and ``Shape`` where the sizes are
numbers. A computation that fails is left as it was, without an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from symbcast.onnx.opening.scope import Known
from symbcast.onnx.opening.types import ValueType
from symbcast.onnx.protobuf.constant import StoredTensor
from symbcast.onnx.protobuf.graph import OnnxNode

MAX_FOLDED = 64
"""Largest constant to compute, in elements; longer ones are not shapes, scales or bounds."""
_INT64 = 7
_EXTERNAL = 1
"""The location of data outside the model, of ``TensorProto.DataLocation``."""


_RANDOM = frozenset(
    {
        "Bernoulli",
        "Dropout",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
_NOT_FOLDED = _RANDOM | {"DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear", "Constant"}


def constant_of(node: Any) -> StoredTensor | None:
    """Return the tensor that a ``Constant`` makes; None if it makes something else."""
    made = next((t for t in map(_tensor_of, node.attribute) if t is not None), None)
    return None if made is None else StoredTensor(made)


def _tensor_of(attribute: Any) -> Any:
    """Return the value in an attribute of a ``Constant`` as a tensor; None for others."""
    from onnx import TensorProto, helper

    match attribute.name:
        case "value":
            return attribute.t
        case "value_int":
            return helper.make_tensor("", _INT64, (), [attribute.i])
        case "value_ints":
            return helper.make_tensor("", _INT64, (len(attribute.ints),), list(attribute.ints))
        case "value_float":
            return helper.make_tensor("", TensorProto.FLOAT, (), [attribute.f])
        case "value_floats":
            return helper.make_tensor("", TensorProto.FLOAT, (len(attribute.floats),), list(attribute.floats))
        case "value_string":
            return helper.make_tensor("", TensorProto.STRING, (), [attribute.s])
        case "value_strings":
            return helper.make_tensor("", TensorProto.STRING, (len(attribute.strings),), list(attribute.strings))
    return None


def is_short(stored: StoredTensor) -> bool:
    """Return whether to compute with a tensor, or pass it to an inference: it is small, and not outside the model."""
    return not stored.is_long and bool(stored.raw.data_location != _EXTERNAL)


def folded(node: OnnxNode, inputs: Sequence[Known | None], made: Sequence[ValueType | None]) -> list[Any]:
    """Return the constants that a node makes; none if it is not folded before the first run.

    ``inputs`` are the facts about its inputs, and ``made`` the types of its outputs.
    """
    if node.domain or node.kind is None:
        return []
    if node.op_type in _NOT_FOLDED or not inputs:
        return []
    if node.op_type == "Shape" and inputs[0] is not None:
        return _shape(node, inputs[0].type)
    held = [None if found is None else found.constant for found in inputs]
    if any(name and tensor is None for name, tensor in zip(node.inputs, held, strict=True)):
        return []
    sizes = [None if t is None else t.sizes for t in made]
    if any(s is None or None in s or prod(n or 0 for n in s) > MAX_FOLDED for s in sizes):
        return []
    given = [t.written if t is not None else b"" for t in held]
    return _computed(node.raw.SerializeToString(deterministic=True), node.version, tuple(given))


def _shape(node: OnnxNode, of: ValueType) -> list[Any]:
    from onnx import helper

    sizes = of.sizes
    if sizes is None or None in sizes:  # the whole shape must be known, also where a part of it is taken
        return []
    bounds = node.attributes
    part = [n for n in sizes[bounds.get("start", 0) : bounds.get("end")] if n is not None]
    return [helper.make_tensor("", _INT64, (len(part),), part)]


@lru_cache(maxsize=1024)
def _computed(node: bytes, version: int, given: tuple[bytes, ...]) -> list[Any]:
    """Return the results of onnx's reference implementation; nothing if it fails."""
    import numpy as np
    from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    called = NodeProto.FromString(node)
    feeds = {n: numpy_helper.to_array(TensorProto.FromString(t)) for n, t in zip(called.input, given, strict=True) if n}
    graph = helper.make_graph(
        [called],
        "",
        [ValueInfoProto(name=n) for n in feeds],
        [ValueInfoProto(name=n) for n in called.output if n],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = ReferenceEvaluator(model).run(None, feeds)
        return [numpy_helper.from_array(np.asarray(a)) for a in found]
    except Exception:  # implementations raise any kind; a node that fails is not folded
        return []
