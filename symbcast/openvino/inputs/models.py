"""Load models: from a file that OpenVINO reads, or an ``ov.Model``.

OpenVINO's readers end the process on some files, such as ONNX's speaker model of WeSpeaker. So a child process reads a
file first, and what it survives is read here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from symbcast.batch.endings import DiedError, TimedOutError
from symbcast.batch.isolation import Isolated
from symbcast.errors import MissingExtraError, ModelError, ShapeTypeError
from symbcast.graphs.model import check_path
from symbcast.openvino.graph import OpenVinoGraph

_WAIT = 3600
"""Seconds; only a guard against a damaged file on which a reader hangs."""


def load(model: Any) -> tuple[str, OpenVinoGraph]:
    """Return the name of a model and its graph.

    Raises `ModelError` for a file that OpenVINO cannot read.
    """
    openvino = _library()
    if isinstance(model, (str, os.PathLike)):
        source = os.fsdecode(model)
        return source, OpenVinoGraph(_read(openvino, source))
    if isinstance(model, openvino.Model):
        return str(model.get_friendly_name()), OpenVinoGraph(model)
    raise ShapeTypeError(model, "a model", "give the path of a model, such as model.xml, or an openvino.Model")


def _library() -> Any:
    try:
        import openvino
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "openvino":
            raise
        raise MissingExtraError("symbcast.openvino", "openvino") from error
    return openvino


def _read(openvino: Any, source: str) -> Any:
    """Return the model in a file that a child process could read; raises `ModelError` if it could not."""
    again = "it may be truncated; convert the model again"
    check_path(source, "give the path of a model, such as model.xml")
    try:
        problem = Isolated(probe, _WAIT)(str(Path(source).absolute()))
    except DiedError:
        hint = "check it by symbcast.onnx" if source.endswith(".onnx") else again
        raise ModelError(source, "OpenVINO's reader crashes on it", hint) from None
    except TimedOutError as error:
        raise ModelError(source, f"OpenVINO's reader {error}", again) from None
    if problem:
        raise ModelError(source, f"OpenVINO cannot read it: {problem}", again)
    return openvino.Core().read_model(source)


def probe(source: str) -> str:
    """Read a file and forget it; return why that failed, or an empty text."""
    import openvino

    try:
        openvino.Core().read_model(source)
    except RuntimeError as error:
        return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), str(error))
    return ""
