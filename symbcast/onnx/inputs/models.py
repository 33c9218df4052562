"""Loading models, from a file, a ``ModelProto`` or an ``onnx_ir.Model``, and their inputs.

Each dynamic dimension of an input is a size with the model's name for it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FALSE, Formula, equal
from symbcast.errors import MissingExtraError, ModelError, ShapeTypeError, SymbcastError
from symbcast.graphs.inputs.given import NOTHING, Given
from symbcast.graphs.inputs.inputs import Inputs, free_name, inputs_of
from symbcast.graphs.inputs.knowledge import identifier, place_name
from symbcast.graphs.values.value import Value
from symbcast.onnx.inputs.external import take_in
from symbcast.onnx.protobuf.types import TENSORS, number, value_of

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.whole.program import Program


_IR_VERSION_WITH_OPSETS = 3


def load(model: Any) -> tuple[str, Any]:
    """Return a model's name and its ``ModelProto``; large external weights are not loaded.

    A ``ModelProto`` is returned as it is. Raises `ModelError` if it is not a model or cannot be read.
    """
    onnx = _library()
    if isinstance(model, (str, os.PathLike)):
        return _from_file(os.fsdecode(model))
    if isinstance(model, onnx.ModelProto):
        return _checked(_name(model), model)
    if _is_onnx_ir(model):
        return _from_onnx_ir(model)
    if isinstance(model, (list, tuple, set)):
        raise ShapeTypeError(model, "a model", "for several models, write check_many([...])")
    raise ShapeTypeError(model, "a model", "give the path of one, an onnx.ModelProto or an onnx_ir.Model")


def _library() -> Any:
    try:
        import onnx
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "onnx":
            raise
        raise MissingExtraError("symbcast.onnx", "onnx") from error
    return onnx


def _from_file(source: str) -> tuple[str, Any]:
    from symbcast.onnx.inputs.files import read

    found = _checked(source, read(source))
    # Download caches link to files in another folder: external data next to the link's target belong to it too.
    take_in(_tensors(found[1].graph), (Path(source).parent, Path(source).resolve().parent))
    return found


def _is_onnx_ir(model: Any) -> bool:
    library = sys.modules.get("onnx_ir")
    return library is not None and isinstance(model, library.Model)


def _from_onnx_ir(model: Any) -> tuple[str, Any]:
    import onnx_ir

    proto = onnx_ir.to_proto(model)
    found = _checked(_name(proto), proto)
    held = (v.const_value for v in model.graph.initializers.values())
    folders = {os.fspath(t.base_dir) for t in held if isinstance(t, onnx_ir.ExternalTensor)}
    if len(folders) == 1:
        take_in(_tensors(proto.graph), (Path(folders.pop()),))
    return found


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
    if not model.opset_import and not 0 < model.ir_version < _IR_VERSION_WITH_OPSETS:
        raise ModelError(source, "the model names no operator set", again)
    return source, model


def _tensors(graph: Any) -> Iterator[Any]:
    """Yield the tensors that a graph holds, those of graphs within it too."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
        for inner in _graphs(node):
            yield from _tensors(inner)


def _graphs(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def outside(model: Any) -> Iterator[str]:
    """Yield the locations of a model's external data; a file may occur several times."""
    for tensor in _tensors(model.graph):
        if tensor.data_location == tensor.EXTERNAL:
            yield from (entry.value for entry in tensor.external_data if entry.key == "location")


_NAME = r"[^\W\d][\w.]*"
"""Hyphenated names such as batch-size are one name, unless a part names another dimension."""

_UNNAMED = ("", "?", "-1", "None", "unk", "_")


def read_inputs(inputs: Sequence[Any], env: Program, given: Given = NOTHING, *, are_open: bool = True) -> Inputs:
    """Read the inputs of a graph, with what the caller knows of them.

    Sizes that the caller binds are numbers in the shapes. With ``are_open``, a tensor of unknown rank has a
    sequence of axes. Raises `BindingError` if the given facts cannot hold for these inputs.
    """
    taken = {d.dim_param for i in inputs for d in _dims(i.type)}
    flags: dict[Symbol, str] = {}
    values = {i.name: _declared(i, env, taken, flags) for i in inputs}
    return inputs_of(values, env, given, flags, are_open=are_open)


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
    return value_of(kind, read, length, is_there)


def _holds(kind: Any, which: str) -> bool:
    """Return whether a type is, or may be, of some kind."""
    found = kind.WhichOneof("value")
    return bool(found == which or (found == "optional_type" and _holds(kind.optional_type.elem_type, which)))


def _dims(kind: Any) -> Iterator[Any]:
    """Yield all sizes in a type."""
    which = kind.WhichOneof("value")
    if which in TENSORS:
        yield from getattr(kind, which).shape.dim
    elif which in ("sequence_type", "optional_type"):
        yield from _dims(getattr(kind, which).elem_type)


def _is_unnamed(dim: Any) -> bool:
    text = dim.dim_param.strip()
    return number(dim) is None and (text in _UNNAMED or text.startswith("unk__"))


def _read(dim: Any, name: str, axis: int, taken: set[str]) -> Dim:
    size = number(dim)
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
    from symbcast.core.text import parse_notation

    try:
        (dim,) = parse_notation(text)
    except (SymbcastError, ValueError):
        return symbol(text)
    return replaced(dim, {s: symbol(s.name) for s in symbols_of([dim])})
