"""Records the models that onnx's own tests of shape inference infer, and what onnx answers for them.

    python tests/onnx/record_inference.py shape_inference_test.py

runs onnx's file of tests with the inference call patched. Those tests give a value its shape by declaring what a
Reshape of unknown target makes; here such a value is an input of the model: what is known of it is known to all.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import sys
from pathlib import Path

import onnx
import pytest
from onnx import shape_inference

SEED, TARGET = "SEED_", "UNKNOWN_SHAPE_"
DATA = Path(__file__).parents[1] / "data" / "onnx" / "inference.jsonl.gz"


def with_inputs(model):
    """Return a model in which each value that is declared by way of a Reshape is an input, and no other is declared."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    seeded = {n.output[0] for n in graph.node if n.op_type == "Reshape" and n.input[0] == f"{SEED}{n.output[0]}"}
    declared = [v for v in graph.value_info if v.name in seeded and v.type.WhichOneof("value")]
    shown = {v.name for v in declared}
    dropped = {prefix + name for prefix in (SEED, TARGET) for name in shown}
    _keep(graph.input, [*(i for i in graph.input if i.name not in dropped), *declared])
    _keep(graph.node, [n for n in graph.node if not shown.intersection(n.output)])
    del graph.value_info[:]
    for output in graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    return made


def _keep(field, items):
    copies = [type(i).FromString(i.SerializeToString()) for i in items]
    del field[:]
    field.extend(copies)


def shape_of(kind):
    """Return what onnx says of a value: its sizes, numbers or names or None; None without a rank; else what it is."""
    which = kind.WhichOneof("value")
    if which in ("sequence_type", "optional_type"):
        return {which.removesuffix("_type"): shape_of(getattr(kind, which).elem_type)}
    if which not in ("tensor_type", "sparse_tensor_type"):
        return None
    tensor = getattr(kind, which)
    if not tensor.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]


def answers(model):
    """Return what onnx says of each value that a node of the graph makes, where it says something."""
    made = {name for node in model.graph.node for name in node.output if name}
    told = {v.name: shape_of(v.type) for v in (*model.graph.value_info, *model.graph.output) if v.name in made}
    return {name: shape for name, shape in told.items() if shape is not None}


class Recorder:
    """Takes down each inference that ends well, with the name of the test that asks for it."""

    def __init__(self):
        self.rows = {}
        self.original = shape_inference.infer_shapes

    def infer_shapes(self, model, check_type=False, strict_mode=False, data_prop=False):
        inferred = self.original(model, check_type, strict_mode, data_prop)
        test = os.environ["PYTEST_CURRENT_TEST"].split("::")[-1].split(" ")[0]
        proto = model if isinstance(model, onnx.ModelProto) else onnx.ModelProto.FromString(model)
        plain = with_inputs(proto)
        try:
            found = answers(self.original(plain, check_type, strict_mode, data_prop))
        except Exception:  # onnx's tests may declare more than an input may have: the model stays as it is
            plain, found = proto, answers(inferred)
        key = plain.SerializeToString(deterministic=True)
        row = {"test": test, "model": base64.b64encode(key).decode(), "answers": found}
        self.rows.setdefault((key, json.dumps(found)), row)
        return inferred


def is_of_onnx(row):
    """Return whether onnx infers something by operators that are known where no test has registered its own."""
    if not row["answers"]:
        return False
    model = onnx.ModelProto.FromString(base64.b64decode(row["model"]))
    own = {(f.domain, f.name) for f in model.functions}
    return all((n.domain, n.op_type) in own or onnx.defs.has(n.op_type, n.domain) for n in model.graph.node)


def main(tests):
    recorder = Recorder()
    shape_inference.infer_shapes = recorder.infer_shapes
    pytest.main(["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(Path(tests).parent), tests])
    rows = [row for row in recorder.rows.values() if is_of_onnx(row)]
    with gzip.GzipFile(DATA, "wb", mtime=0) as file:
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    print(len(rows), "models,", sum(len(row["answers"]) for row in rows), "values")


if __name__ == "__main__":
    main(sys.argv[1])
