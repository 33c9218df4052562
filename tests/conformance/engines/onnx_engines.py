"""Engines that read ONNX models: onnx's own inference, onnx-shape-inference, and ONNX Runtime's tool."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from conformance.models import model_of
from conformance.runner import Case, Shape, Sizes, size_at


class OnnxInference:
    """`onnx.shape_inference` with all that it offers: strict mode and propagation of small integers."""

    runtime = "onnxruntime"
    package = "onnx"

    def infer(self, case: Case) -> list[Any]:
        inferred = onnx.shape_inference.infer_shapes(model_of(case), check_type=True, strict_mode=True, data_prop=True)
        return list(inferred.graph.output)

    def at(self, answer: list[Any], sizes: Sizes) -> list[Shape]:
        return [declared(value, sizes) for value in answer]


class OnnxShapeInference:
    """The package onnx-shape-inference, whose sizes are expressions."""

    runtime = "onnxruntime"
    package = "onnx-shape-inference"

    def infer(self, case: Case) -> list[Any]:
        import onnx_ir
        import onnx_shape_inference

        inferred = onnx_shape_inference.infer_symbolic_shapes(onnx_ir.serde.deserialize_model(model_of(case)))
        return list(onnx_ir.serde.serialize_model(inferred).graph.output)

    def at(self, answer: list[Any], sizes: Sizes) -> list[Shape]:
        return [declared(value, sizes) for value in answer]


class OnnxRuntimeTool:
    """``symbolic_shape_infer`` of ONNX Runtime with ``auto_merge``: merged sizes of inputs are said to be equal."""

    runtime = "onnxruntime"
    package = "onnxruntime"

    def infer(self, case: Case) -> tuple[Case, Any]:
        from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

        here = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # it leaves a model behind where it gives up
            try:
                inferred = SymbolicShapeInference.infer_shapes(model_of(case), auto_merge=True)
            finally:
                os.chdir(here)
        return case, inferred.graph

    def at(self, answer: tuple[Case, Any], sizes: Sizes) -> list[Shape] | None:
        case, graph = answer
        for value in graph.input:
            written = case.inputs[value.name][1]
            merged = [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]
            if any(_size(a, sizes) != _size(b, sizes) for a, b in zip(written, merged, strict=True)):
                return None
        return [declared(value, sizes) for value in graph.output]


def declared(value: Any, sizes: Mapping[str, int]) -> Shape:
    """Return the shape that a model declares of a value, at given sizes."""
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else size_at(d.dim_param, sizes) for d in kind.shape.dim]


def _size(dim: int | str, sizes: Sizes) -> int | None:
    return dim if isinstance(dim, int) else size_at(dim, sizes)
