"""What ONNX Runtime computes before the first run: inferred types, folded constants, sizes, and branches removed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any, TypeAlias

from symbcast.onnx.protobuf import EXTERNAL, OnnxNode, StoredTensor
from symbcast.onnx.session.types import (
    KnownValue,
    Sizes,
    TypeScope,
    ValueType,
    tensor_shape,
    tensor_type,
    without_shape,
)
from symbcast.operators.values.contents import INT64

# onnx's inference of one node, from types and tensors as bytes.
#
# onnx turns messages into bytes for it, and the bytes that it gives into messages, which takes longer than the
# inference itself. Here they stay bytes.


Written: TypeAlias = "Mapping[str, bytes]"
Inference: TypeAlias = "Callable[[Any, Any, Written, Written, Mapping[str, int]], Written]"
"""Returns the types of a node's outputs, from a schema, the node, its inputs' types, constants among them, and the
versions of operator sets; raises onnx's errors."""


@cache
def inference() -> Inference:
    """Return the inference of the installed onnx."""
    try:
        # The function for bytes is private: it is used only if it gives what the public one gives.
        is_right = _by_bytes(*_example()) == _by_messages(*_example())
    except Exception:  # bindings raise any kind: this onnx has no such function, or takes other arguments
        is_right = False
    return _by_bytes if is_right else _by_messages


def _by_bytes(schema: Any, node: Any, types: Written, tensors: Written, versions: Mapping[str, int]) -> Written:
    from onnx import IR_VERSION

    inferred: Written = schema._infer_node_outputs(node.SerializeToString(), types, tensors, {}, versions, IR_VERSION)
    return inferred


def _by_messages(schema: Any, node: Any, types: Written, tensors: Written, versions: Mapping[str, int]) -> Written:
    from onnx import TensorProto, TypeProto, helper, shape_inference

    inferred = shape_inference.infer_node_outputs(
        schema,
        node,
        {name: TypeProto.FromString(written) for name, written in types.items()},
        {name: TensorProto.FromString(written) for name, written in tensors.items()},
        opset_imports=[helper.make_opsetid(*version) for version in versions.items()],
    )
    return {name: proto.SerializeToString(deterministic=True) for name, proto in inferred.items()}


def _example() -> tuple[Any, Any, Written, Written, Mapping[str, int]]:
    """Return a node whose shape depends on a type and on a constant."""
    from onnx import TensorProto, defs, helper

    types = {
        "x": helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 2]),
        "s": helper.make_tensor_type_proto(INT64, [2]),
    }
    tensors = {"s": helper.make_tensor("s", INT64, [2], [0, -1])}
    return (
        defs.get_schema("Reshape", 18, ""),
        helper.make_node("Reshape", ["x", "s"], ["y"]),
        {name: kind.SerializeToString() for name, kind in types.items()},
        {name: tensor.SerializeToString() for name, tensor in tensors.items()},
        {"": 18},
    )


# Sizes that ONNX Runtime knows in the values of a graph before it folds constants.
#
# It keeps them as 64-bit integers even after a ``Cast`` (``Graph::SaveShapeValuesFromDataPropagation``). So a
# ``Range`` from a real number to a size refuses a model, because its inputs seem to have different types.


def tensor_of(sizes: Sizes) -> Any:
    """Return sizes as a constant."""
    from onnx import helper

    items, dims = ([sizes], ()) if isinstance(sizes, int) else (sizes, (len(sizes),))
    return helper.make_tensor("", INT64, dims, items)


_MAKERS = frozenset({"Cast", "Gather", "Shape", "Squeeze", "Unsqueeze"})


def propagated_sizes(node: OnnxNode, inputs: Sequence[KnownValue | None]) -> Sizes | None:
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


def _gathered(sizes: tuple[int, ...], indices: KnownValue | None) -> Sizes | None:
    from onnx import numpy_helper

    # Sizes are propagated before constants are folded, so that folded indices are not known yet.
    if indices is None or indices.constant is None or indices.is_folded:
        return None
    places = numpy_helper.to_array(indices.constant.raw)
    if places.ndim > 1 or not all(-len(sizes) <= i < len(sizes) for i in places.ravel()):
        return None
    elements = tuple(sizes[i] for i in places.ravel())
    return elements if places.ndim else elements[0]


# Constants as ONNX Runtime knows them while it opens a model: those in the model, and what it folds.
#
# By default it computes each node whose inputs are all constants (``ConstantFolding``), and ``Shape`` where the sizes
# are numbers. A computation that fails is left as it was, without an error.


# Largest constant to compute, in elements; longer ones are not shapes, scales or bounds.
MAX_FOLDED = 64


_RANDOM = frozenset(
    {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
_NOT_FOLDED = _RANDOM | {"DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear", "Constant"}


def constant_of(node: Any) -> StoredTensor | None:
    """Return the tensor that a ``Constant`` makes; None if it makes something else."""
    tensor = next((t for t in map(_tensor_of, node.attribute) if t is not None), None)
    return None if tensor is None else StoredTensor(tensor)


def _tensor_of(attribute: Any) -> Any:
    """Return the value in an attribute of a ``Constant`` as a tensor; None for others."""
    from onnx import TensorProto, helper

    match attribute.name:
        case "value":
            return attribute.t
        case "value_int":
            return helper.make_tensor("", INT64, (), [attribute.i])
        case "value_ints":
            return helper.make_tensor("", INT64, (len(attribute.ints),), list(attribute.ints))
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
    return not stored.is_long and bool(stored.raw.data_location != EXTERNAL)


def folded_constants(
    node: OnnxNode, inputs: Sequence[KnownValue | None], outputs: Sequence[ValueType | None]
) -> list[Any]:
    """Return the constants that a node makes from its inputs; none if it is not folded before the first run."""
    if node.domain or node.kind is None:
        return []
    if node.op_type in _NOT_FOLDED or not inputs:
        return []
    if node.op_type == "Shape" and inputs[0] is not None:
        return _shape(node, inputs[0].type)
    constants = [None if known is None else known.constant for known in inputs]
    if any(name and tensor is None for name, tensor in zip(node.inputs, constants, strict=True)):
        return []
    sizes = [None if t is None else t.sizes for t in outputs]
    if any(s is None or None in s or prod(n or 0 for n in s) > MAX_FOLDED for s in sizes):
        return []
    tensors = [t.written if t is not None else b"" for t in constants]
    return _computed(node.raw.SerializeToString(deterministic=True), node.version, tuple(tensors))


def _shape(node: OnnxNode, of: ValueType) -> list[Any]:
    from onnx import helper

    sizes = of.sizes
    if sizes is None or None in sizes:  # the whole shape must be known, also where a part of it is taken
        return []
    bounds = node.attributes
    part = [n for n in sizes[bounds.get("start", 0) : bounds.get("end")] if n is not None]
    return [helper.make_tensor("", INT64, (len(part),), part)]


@lru_cache(maxsize=1024)
def _computed(node: bytes, version: int, tensors: tuple[bytes, ...]) -> list[Any]:
    """Return the results of onnx's reference implementation; nothing if it fails."""
    import numpy as np
    from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    called = NodeProto.FromString(node)
    feeds = {
        n: numpy_helper.to_array(TensorProto.FromString(t)) for n, t in zip(called.input, tensors, strict=True) if n
    }
    graph = helper.make_graph(
        [called], "", [ValueInfoProto(name=n) for n in feeds], [ValueInfoProto(name=n) for n in called.output if n]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = ReferenceEvaluator(model).run(None, feeds)
        return [numpy_helper.from_array(np.asarray(a)) for a in results]
    except Exception:  # implementations raise any kind; a node that fails is not folded
        return []


# Inner graphs: the input types that onnx's inference passes to them, and the branches that ONNX Runtime removes.


def stub(graph: Any, outputs: Sequence[ValueType | None] | None) -> Any:
    """Return a graph with the inputs of another and no nodes, which declares the types that its outputs have."""
    copy = type(graph)()
    copy.name = graph.name
    for graph_input in graph.input:
        copy.input.add().name = graph_input.name
    for position, declared in enumerate(graph.output):
        output = copy.output.add()
        output.name = declared.name
        inferred = outputs[position] if outputs is not None else None
        output.type.CopyFrom(inferred.proto if inferred is not None and inferred.is_known else declared.type)
    return copy


def _loop(node: Any, scope: TypeScope) -> list[ValueType | None]:
    """The iteration number, the condition and the carried values, whose shapes may change."""
    return [
        without_shape(tensor_type(INT64, ())),
        scope.type_of(node.input[1]) if len(node.input) > 1 and node.input[1] else None,
        *(_without_shape(scope.type_of(name)) for name in node.input[2:]),
    ]


def _scan(node: Any, scope: TypeScope) -> list[ValueType | None]:
    """The states, and a slice of each scanned input along its axis."""
    if scope.versions.get("", 1) < _WITHOUT_LENGTHS:
        return []
    attributes = {a.name: a for a in node.attribute}
    scanned = attributes["num_scan_inputs"].i
    states = len(node.input) - scanned
    axes = list(attributes["scan_input_axes"].ints) if "scan_input_axes" in attributes else [0] * scanned
    types = [scope.type_of(name) for name in node.input]
    return [*types[:states], *(_slice(t, axis) for t, axis in zip(types[states:], axes, strict=False))]


# The first version of Scan without sequence lengths before its states.
_WITHOUT_LENGTHS = 9


def _without_shape(type_: ValueType | None) -> ValueType | None:
    return None if type_ is None else without_shape(type_)


def _slice(type_: ValueType | None, axis: int) -> ValueType | None:
    shape = None if type_ is None else tensor_shape(type_.proto)
    if type_ is None or shape is None or not -len(shape.dim) <= axis < len(shape.dim):
        return _without_shape(type_)
    copy = type_.copy()
    del copy.tensor_type.shape.dim[axis % len(shape.dim)]
    return ValueType.of(copy)


# By operator, the function that gives a body's input types; others have no body or are not followed.
BODIES: Mapping[str, Callable[[Any, TypeScope], list[ValueType | None]]] = {"Loop": _loop, "Scan": _scan}


def removed_branch(node: Any, scope: TypeScope) -> str:
    """Return the attribute of the branch that is removed because a constant condition never takes it."""
    from onnx import numpy_helper

    chosen = scope.find(node.input[0]) if node.op_type == "If" else None
    if chosen is None or chosen.constant is None:
        return ""
    # A condition without elements counts as false.
    return "else_branch" if bool(numpy_helper.to_array(chosen.constant.raw).ravel()[:1].any()) else "then_branch"


def branch_output_types(node: Any, scope: TypeScope) -> dict[str, ValueType]:
    """Return the types of the outputs of an ``If`` whose condition is a constant: its branch replaces the node."""
    gone = removed_branch(node, scope)
    if not gone:
        return {}
    taken = next(a.g for a in node.attribute if a.HasField("g") and a.name != gone)
    pairs = zip(node.output, taken.output, strict=False)
    types = ((name, ValueType.of(type_.type)) for name, type_ in pairs if name)
    return {name: type_ for name, type_ in types if type_.is_known}
