"""Keeps the shapes that ONNX Runtime's symbolic shape tool gives the values of real models.

    python tests/support/symbolic_shape_tool.py

The shapes that are kept are those of onnxruntime 1.32.0 with sympy 1.14.0 (onnx 1.23.2), as far as the tool came. Each
model has them with and without ``auto_merge``, as lists of numbers and texts; with an error, what the tool said.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path
from unittest import mock

import onnx

FOLDER = Path(__file__).parents[1] / "data" / "onnx"
MODELS = ("bilstm", "detect", "ppocr_v4_det", "silero_vad", "unet_ct", "vit_hw", "wespeaker")


def dims_of(declared):
    """Return a declared shape as numbers and texts; None for other values, and without a shape."""
    kind = declared.type.tensor_type
    if declared.type.WhichOneof("value") != "tensor_type" or not kind.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in kind.shape.dim]


def graphs_of(graph):
    """Yield a graph and all graphs in it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs_of(attribute.g)


def shapes_of(model):
    """Return the declared shapes of values of all graphs, of inputs first; those of constants are no answer."""
    constants = {tensor.name for graph in graphs_of(model.graph) for tensor in graph.initializer}
    declared = [v for g in graphs_of(model.graph) for v in (*g.input, *g.value_info, *g.output)]
    return {v.name: dims_of(v) for v in reversed(declared) if v.name not in constants and dims_of(v) is not None}


def inferred(model, auto_merge):
    """Return what the tool says of a model, and the shapes that it has by then."""
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference as Tool

    made = []
    start = Tool._preprocess
    with mock.patch.object(Tool, "_preprocess", lambda tool, given: (made.append(tool), start(tool, given))[1]):
        try:
            return "", shapes_of(Tool.infer_shapes(model, auto_merge=auto_merge))
        except Exception as error:
            return f"{type(error).__name__}: {error}".strip(": "), shapes_of(made[0].out_mp_)


if __name__ == "__main__":
    rows = {}
    for name in MODELS:
        model = onnx.load_model_from_string(gzip.decompress((FOLDER / "models" / f"{name}.onnx.gz").read_bytes()))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # where the tool leaves an incomplete model
            answers = {str(merge).lower(): inferred(model, merge) for merge in (False, True)}
            os.chdir("/")
        rows[name] = {merge: {"error": error, "shapes": shapes} for merge, (error, shapes) in answers.items()}
        print(name, {merge: (row["error"], len(row["shapes"])) for merge, row in rows[name].items()})
    text = json.dumps(rows, sort_keys=True)
    (FOLDER / "symbolic_shape_infer.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
