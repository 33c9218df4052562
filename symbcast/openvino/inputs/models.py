"""Load models: from a file that OpenVINO reads, or an ``ov.Model``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from symbcast.errors import MissingExtraError, ModelError, ShapeTypeError
from symbcast.openvino.graph import OpenVinoGraph


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
    again = "it may be truncated; convert the model again"
    if not Path(source).is_file():
        raise ModelError(source, "there is no such file", "give the path of a model, such as model.xml")
    try:
        return openvino.Core().read_model(source)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ModelError(source, f"OpenVINO cannot read it: {lines[-1] if lines else error}", again) from error
