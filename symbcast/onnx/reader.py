"""ONNX models for the walk: loaded from a file or an object, validated, and their inputs read as sizes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import FALSE, Formula, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.programs.program import Program
from symbcast.core.solver.evaluation import evaluated
from symbcast.core.text import parse_notation
from symbcast.errors import ModelError, ShapeTypeError, SymbcastError
from symbcast.graphs.inputs import NOTHING, KnownInputs, ModelInputs, free_name, identifier, inputs_of, place_name
from symbcast.graphs.model import Model, import_library
from symbcast.graphs.registry import check_front_end, wrong_model
from symbcast.graphs.walking.requirements import NodePlace, Requirements
from symbcast.graphs.walking.walk import Walk
from symbcast.onnx import files, protobuf
from symbcast.onnx.protobuf import TENSORS, OnnxGraph, OnnxNode
from symbcast.onnx.schemas import IR_WITH_OPSETS, KNOWN_DOMAINS, Runtime, check_types, other_outputs
from symbcast.onnx.session.initialization import session_refusal
from symbcast.onnx.session.types import SessionRefusal, value_of_type
from symbcast.onnx.validation import ValidModel, validated
from symbcast.onnx.walk import OnnxWalk
from symbcast.operators.values.value import UNKNOWN, Value


def load_model(model: Any) -> tuple[str, Any]:
    """Return a model's name and its ``ModelProto``; large external weights are not loaded.

    A ``ModelProto`` is returned as it is. Raises `ModelError` if it is not a model or cannot be read.
    """
    onnx = import_library("onnx", "symbcast.onnx", "onnx")
    if isinstance(model, (str, os.PathLike)):
        return _from_file(os.fsdecode(model))
    if isinstance(model, onnx.ModelProto):
        return _checked(_name(model), model)
    onnx_ir = sys.modules.get("onnx_ir")  # without it, no object can be one of its models
    if onnx_ir is not None and isinstance(model, onnx_ir.Model):
        return _from_onnx_ir(model)
    if isinstance(model, (list, tuple, set)):
        raise ShapeTypeError(model, "a model", "for several models, write check_many([...])")
    raise wrong_model(model, "a model", "give the path of one, an onnx.ModelProto or an onnx_ir.Model")


def _from_file(source: str) -> tuple[str, Any]:
    from symbcast.onnx.files import read_file

    check_front_end(source, "onnx")
    model = _checked(source, read_file(source))
    # Download caches link to files in another folder: external data next to the link's target belong to it too.
    files.read_external_data(_tensors(model[1].graph), (Path(source).parent, Path(source).resolve().parent))
    return model


def _from_onnx_ir(model: Any) -> tuple[str, Any]:
    import onnx_ir

    proto = onnx_ir.to_proto(model)
    named = _checked(_name(proto), proto)
    tensors = (v.const_value for v in model.graph.initializers.values())
    folders = {os.fspath(t.base_dir) for t in tensors if isinstance(t, onnx_ir.ExternalTensor)}
    # Tensors in several folders would each need their own: their data stay unread.
    if len(folders) == 1:
        files.read_external_data(_tensors(proto.graph), (Path(folders.pop()),))
    return named


def _name(model: Any) -> str:
    name = model.graph.name
    return name if name and isinstance(name, str) else "model"


def _checked(source: str, model: Any) -> tuple[str, Any]:
    """Return the model; raises `ModelError` if it lacks a graph or an operator set."""
    again = "it may be truncated; fetch it or export it again"
    if not model.ListFields():
        raise ModelError(source, "is empty, or not an ONNX model", "give the file of the model itself")
    if not model.HasField("graph"):
        raise ModelError(source, "the model holds no graph", again)
    if not model.opset_import and not 0 < model.ir_version < IR_WITH_OPSETS:
        raise ModelError(source, "the model names no operator set", again)
    return source, model


def _tensors(graph: Any) -> Iterator[Any]:
    """Yield the tensors that a graph holds, those of graphs within it too."""
    for inner in graphs_of(graph):
        yield from inner.initializer
        yield from (a.t for node in inner.node for a in node.attribute if a.HasField("t"))


def external_locations(model: Any) -> Iterator[str]:
    """Yield the locations of a model's external data; a file may occur several times."""
    for tensor in _tensors(model.graph):
        if tensor.data_location == tensor.EXTERNAL:
            yield from (entry.value for entry in tensor.external_data if entry.key == "location")


# Hyphenated names such as batch-size are one name, unless a part names another dimension.
_NAME = r"[^\W\d][\w.]*"

UNNAMED = ("", "?", "-1", "None", "unk", "_")


def read_inputs(
    inputs: Sequence[Any], env: Program, known: KnownInputs = NOTHING, *, are_open: bool = True
) -> ModelInputs:
    """Read the inputs of a graph, with what the caller knows of them.

    Sizes that the caller binds are numbers in the shapes. With ``are_open``, a tensor of unknown rank has a
    sequence of axes. Raises `BindingError` if the given facts cannot hold for these inputs.
    """
    taken = {d.dim_param for i in inputs for d in _dims(i.type)}
    flags: dict[Symbol, str] = {}
    values = {i.name: _declared(i, env, taken, flags) for i in inputs}
    return inputs_of(values, env, known, flags, are_open=are_open)


def _declared(declared: Any, env: Program, taken: set[str], flags: dict[Symbol, str]) -> Value:
    """Return an input as declared; the length of a sequence and the presence of an optional each get a name."""
    name, kind = declared.name, declared.type

    def read(dim: Any, axis: int, is_of_many: bool) -> Dim | None:
        return None if is_of_many and _is_unnamed(dim) else _read(dim, name, axis, taken)

    length: Dim = 0
    is_there: Formula = FALSE
    if _holds(kind, "sequence_type"):
        length = symbol(free_name(f"{identifier(name)}_length", taken))
    if kind.WhichOneof("value") == "optional_type":
        flag = env.named(free_name(f"{identifier(name)}_given", taken))
        flags[flag] = f"1 where the input {name} is given, 0 where it is not"
        is_there = equal(flag, 1)
    return protobuf.declared_value(kind, read, length, is_there)


def _holds(kind: Any, which: str) -> bool:
    """Return whether a type is, or may be, of some kind."""
    held_kind = kind.WhichOneof("value")
    return bool(held_kind == which or (held_kind == "optional_type" and _holds(kind.optional_type.elem_type, which)))


def _dims(kind: Any) -> Iterator[Any]:
    """Yield all sizes in a type."""
    which = kind.WhichOneof("value")
    if which in TENSORS:
        yield from getattr(kind, which).shape.dim
    elif which in ("sequence_type", "optional_type"):
        yield from _dims(getattr(kind, which).elem_type)


def _is_unnamed(dim: Any) -> bool:
    text = dim.dim_param.strip()
    return protobuf.number(dim) is None and (text in UNNAMED or text.startswith("unk__"))


def _read(dim: Any, name: str, axis: int, taken: set[str]) -> Dim:
    size = protobuf.number(dim)
    if size is not None:
        return size
    if _is_unnamed(dim):
        return symbol(free_name(place_name(name, axis), taken))
    text = dim.dim_param.strip()
    if re.fullmatch(_NAME, text) or (re.fullmatch(rf"{_NAME}(-{_NAME})+", text) and taken.isdisjoint(text.split("-"))):
        return symbol(text)
    return _expression(text)


def _expression(text: str) -> Dim:
    """Return a dimension that the model gives as an expression, or by a text that is not a valid name."""
    try:
        (dim,) = parse_notation(text)
    except (SymbcastError, ValueError):
        return symbol(text)
    return replace_symbols(dim, {s: symbol(s.name) for s in symbols_of([dim])})


def graphs_of(graph: Any) -> Iterator[Any]:
    """Yield a graph and all graphs nested in it."""
    pending = [graph]
    while pending:
        inner = pending.pop()
        yield inner
        for node in inner.node:
            pending.extend(protobuf.graphs_in(node))


# The element types of the values of a model, as onnx infers them.


_TENSOR = "tensor_type"
# Constants in nodes with at least this many elements are weights.
_LARGE = 1024


def element_types(model: Any) -> dict[str, int]:
    """Return the element types of tensors by name; weights are not copied for it."""
    from onnx import checker, shape_inference

    try:
        inferred = shape_inference.infer_shapes(_without_weights(model))
    except (RuntimeError, ValueError, shape_inference.InferenceError, checker.ValidationError):
        return {}  # an operator or a version that onnx does not know, or a function that calls itself
    declared = (v for g in graphs_of(inferred.graph) for v in (*g.value_info, *g.output))
    return {v.name: v.type.tensor_type.elem_type for v in declared if v.type.WhichOneof("value") == _TENSOR}


def _without_weights(model: Any) -> Any:
    """Return a model with the same nodes whose weights are replaced by typed inputs."""
    light = type(model)()
    light.ir_version = model.ir_version
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    graph = model.graph
    light.graph.name = graph.name
    light.graph.input.extend(graph.input)
    inputs = {i.name for i in graph.input}
    for output in graph.output:
        light.graph.output.add().name = output.name
    for tensor in graph.initializer:
        if tensor.name not in inputs:
            _declare(light.graph, tensor.name, tensor)
    for node in graph.node:
        weight = next((a.t for a in node.attribute if a.name == "value" and _is_large(a.t)), None)
        if node.op_type == "Constant" and weight is not None:
            _declare(light.graph, node.output[0], weight)
        else:
            light.graph.node.add().CopyFrom(node)
    return light


def _is_large(tensor: Any) -> bool:
    return bool(prod(tensor.dims) >= _LARGE)


def _declare(graph: Any, name: str, tensor: Any) -> None:
    declared = graph.input.add()
    declared.name = name
    declared.type.tensor_type.elem_type = tensor.data_type
    declared.type.tensor_type.shape.SetInParent()
    for size in tensor.dims:
        declared.type.tensor_type.shape.dim.add().dim_value = size


class OnnxModel(Model):
    """A model that is well formed; ``raw`` is its ``ModelProto``."""

    def __init__(self, source: str, path: Path | None, examined: ValidModel, runtime: Runtime) -> None:
        graph = OnnxGraph(examined.model.graph, examined.versions, examined.nodes, examined.tensors)
        super().__init__(source, graph, path=path, raw=examined.model, inner=examined.inner)
        self.examined = examined
        self._runtime = runtime
        constants = {*examined.tensors.names, *(t.values.name for t in examined.model.graph.sparse_initializer)}
        # The inputs that are not constants of the model.
        self._inputs = [i for i in examined.model.graph.input if i.name not in constants]

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs that are not constants of the model."""
        return tuple(i.name for i in self._inputs)

    @property
    def axes_in_file(self) -> dict[str, tuple[int | None, ...]]:
        """The shapes of inputs and outputs in the file: numbers, and None for a size with a name or without one."""
        types = {v.name: v.type.tensor_type for v in (*self.raw.graph.input, *self.raw.graph.output)}
        return {
            name: tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim)
            for name, kind in types.items()
            if kind.HasField("shape")
        }

    def read_inputs(self, env: Program, known: KnownInputs, *, are_open: bool = False) -> ModelInputs:
        """Return the inputs as values, with the caller's knowledge of them."""
        return read_inputs(self._inputs, env, known, are_open=are_open)

    @cached_property
    def _refusal(self) -> SessionRefusal | None:
        """Why ONNX Runtime does not open it, if that runtime is asked about."""
        return session_refusal(self.examined) if self._runtime == "onnxruntime" else None

    def note(self, walk: Walk) -> None:
        """Refuse a model that ONNX Runtime does not open, and note uncertain cases."""
        if self._runtime == "onnxruntime":
            self._open(walk)

    def _node(self, proto: Any) -> OnnxNode:
        (node,) = protobuf.walkable_nodes([proto], self.examined.versions)
        return node

    def _open(self, walk: Walk) -> None:
        refusal = self._refusal
        if refusal is not None and refusal.is_certain:
            reason = f"ONNX Runtime does not open the model: {refusal.text}"
            walk.refuse(self._node(refusal.node), reason, [value_of_type(t) for t in refusal.types])
        elif refusal is not None:
            walk.doubt(self._node(refusal.node), f"ONNX Runtime may not open the model: {refusal.text}")
        elif any(protobuf.canonical_domain(o.domain) not in KNOWN_DOMAINS for o in self.raw.opset_import):
            doubt = session_refusal(self.examined, walk.found)
            if doubt is not None:
                walk.doubt(self._node(doubt.node), f"ONNX Runtime may not open the model: {doubt.text}")
            for place in _impossible(walk.asker):
                if place.node.domain not in KNOWN_DOMAINS:
                    walk.leave(place, "no sizes work for it: ONNX Runtime may not open the model")

    def settle(self, walk: Walk) -> None:
        """Raise `ModelError` for wrong element types; onnx confirms any that seem wrong."""
        mistyped = cast("OnnxWalk", walk).mistyped
        outputs: dict[str, int] = {}
        if self._runtime == "onnxruntime":
            # ONNX Runtime requires outputs to have their declared types; ``onnx.checker`` does not.
            dtypes = {name: (walk.top.find(name) or UNKNOWN).dtype for name in self.graph.outputs}
            outputs = other_outputs(self.raw, dtypes)
        if mistyped or outputs:
            check_types(self.source, self.raw, mistyped, outputs, element_types(self.raw))


def _impossible(asker: Requirements) -> Iterator[NodePlace]:
    """Yield the nodes whose own requirements no sizes meet, even if they are never run."""
    for (name, _), reason in asker.reasons.items():
        if evaluated(reason.formula) == FALSE:
            yield asker.places[name]


def read(model: Any, runtime: str) -> OnnxModel:
    """Load a file, a ``ModelProto`` or an ``onnx_ir.Model``; raises `ModelError` for anything else."""
    source, loaded = load_model(model)
    path = Path(fspath(model)) if isinstance(model, (str, PathLike)) else None
    question = cast("Runtime", runtime)
    return OnnxModel(source, path, validated(source, loaded, question, protobuf.walkable_nodes), question)
