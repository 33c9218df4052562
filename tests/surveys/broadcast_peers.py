"""What others answer when they are asked for the shape of ``(N, 3) + (M, 1)``, two sizes that nothing ties together.

``python tests/surveys/broadcast_peers.py`` asks those that are installed and keeps their answers in
``data/peers.json``. A peer is a function that returns the shape as text, or raises an error that is the answer.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

KEPT = Path(__file__).parents[1] / "data" / "peers.json"


def _model():
    import onnx

    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 18]>
        sum (float[N, 3] x, float[M, 1] y) => (float[a, b] z) { z = Add(x, y) }""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


def _declared(value):
    sizes = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in value.type.tensor_type.shape.dim]
    return f"({', '.join('?' if str(s).startswith('unk__') else str(s) for s in sizes)})"


def by_onnx():
    import onnx

    return _declared(onnx.shape_inference.infer_shapes(_model(), strict_mode=True).graph.output[0])


def by_onnx_shape_inference():
    import onnx_ir
    import onnx_shape_inference

    inferred = onnx_shape_inference.infer_symbolic_shapes(onnx_ir.serde.deserialize_model(_model()))
    return _declared(onnx_ir.serde.serialize_model(inferred).graph.output[0])


def by_onnxruntime():
    """Return the answer of its tool for models; without ``auto_merge`` that gives up on this one."""
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    inferred = SymbolicShapeInference.infer_shapes(_model(), auto_merge=True).graph
    x, y, z = map(_declared, (*inferred.input, *inferred.output))
    told = f"{z} of {x} + {y}"
    # Which of two names it keeps goes by the seed of hashes: the first one stands for either.
    return told if "N" in told else told.replace("M", "N")


def by_openvino():
    import numpy as np
    from openvino import PartialShape
    from openvino import opset13 as op

    operands = [op.parameter(PartialShape([-1, size]), np.float32) for size in (3, 1)]
    return f"({', '.join(str(d) for d in op.add(*operands).output(0).partial_shape)})"


def by_jax():
    import jax

    n, m = jax.export.symbolic_shape("N, M")
    operands = [jax.ShapeDtypeStruct(shape, "float32") for shape in ((n, 3), (m, 1))]
    return str(jax.eval_shape(lambda x, y: x + y, *operands).shape)


def by_torch():
    """Return which sizes are one, by an export whose sizes are left to torch and shown as 4 and 4."""
    import torch

    class Sum(torch.nn.Module):
        def forward(self, x, y):
            return x + y

    auto = {0: torch.export.Dim.AUTO}
    program = torch.export.export(Sum(), (torch.zeros(4, 3), torch.zeros(4, 1)), dynamic_shapes=(auto, auto))
    x, y, z = (node.meta["val"].shape for node in program.graph.nodes if "val" in node.meta)
    names = {str(x[0]): "N"}
    names.setdefault(str(y[0]), "M")
    return f"({names[str(z[0])]}, {z[1]}) of ({names[str(x[0])]}, {x[1]}) + ({names[str(y[0])]}, {y[1]})"


def by_tvm():
    from tvm import te, topi

    operands = [te.placeholder((te.var(name), size), name=name.lower()) for name, size in (("N", 3), ("M", 1))]
    return f"({', '.join(str(size) for size in topi.add(*operands).shape)})".replace("T.max", "max")


PEERS = {
    "onnx": by_onnx,
    "onnx-shape-inference": by_onnx_shape_inference,
    "onnxruntime": by_onnxruntime,
    "openvino": by_openvino,
    "jax": by_jax,
    "torch": by_torch,
    "apache-tvm": by_tvm,
}
"""Who is asked, by the name of the package."""


def installed(package):
    """Return which release of a package is installed, "1.23" of 1.23.2; None where it is not."""
    try:
        return re.match(r"\d+\.\d+", version(package)).group()
    except PackageNotFoundError:
        return None


def answer(package):
    """Return what a peer answers: a shape, or the first line of its error."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # onnxruntime's tool leaves a model behind where it gives up
        try:
            return {"shape": PEERS[package]()}
        except Exception as error:
            return {"error": str(error).splitlines()[0]}
        finally:
            os.chdir(here)


def main():
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for package in PEERS:
        if (release := installed(package)) is not None:
            kept[package] = {"release": release, **answer(package)}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
