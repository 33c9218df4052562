"""Models as they come: a file, a ``ModelProto`` or an ``onnx_ir.Model``."""

from __future__ import annotations

from typing import Any


def load(model: Any) -> tuple[str, Any]:
    """Return what a model is called, and the model as a ``ModelProto``."""
    return "model", model
