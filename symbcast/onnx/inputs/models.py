"""Models as they come: a file, a ``ModelProto`` or an ``onnx_ir.Model``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symbcast.errors import MissingExtraError, ModelError, ShapeTypeError
from symbcast.onnx.inputs.external import take_in

_IR_VERSION_WITH_OPSETS = 3


def load(model: Any) -> tuple[str, Any]:
    """Return what a model is called, and the model as a ``ModelProto``; large weights outside of it are left there.

    A ``ModelProto`` is returned as it is. Raises `ModelError` for what is no model or cannot be read.
    """
    onnx = _library()
    if isinstance(model, (str, os.PathLike)):
        return _from_file(os.fsdecode(model))
    if isinstance(model, onnx.ModelProto):
        return _checked(_name(model), model)
    if _is_onnx_ir(model):
        return _from_onnx_ir(model)
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
    # Caches of downloads link to files that lie somewhere together: what is beside the model there is its own too.
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
    """Return the model; raises `ModelError` where there is too little in it to be one."""
    again = "it may be cut short; fetch it or export it again"
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
    """Yield where data of a model lie that are not in it: files beside it, some several times."""
    for tensor in _tensors(model.graph):
        if tensor.data_location == tensor.EXTERNAL:
            yield from (entry.value for entry in tensor.external_data if entry.key == "location")
