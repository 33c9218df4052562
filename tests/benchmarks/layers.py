"""A transformer of ONNX in repeated layers, and what others do with the same layers.

Others give shapes alone: onnx's C++ inference (which has no condition), ONNX Runtime's symbolic shape tool, and torch's
fake tensors on PyTorch's own transformer, whose nodes are its operators. Each raises ImportError if it is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

import symbcast as sb

NODES = 24
"""Nodes of one layer."""
WIDTH, HEADS = 8, 2

LAYER = """
q0_{n} = MatMul({x}, wq)  q1_{n} = Add(q0_{n}, b)  q2_{n} = Reshape(q1_{n}, split)
q_{n} = Transpose<perm=[0,2,1,3]>(q2_{n})
k0_{n} = MatMul({x}, wk)  k1_{n} = Add(k0_{n}, b)  k2_{n} = Reshape(k1_{n}, split)
k_{n} = Transpose<perm=[0,2,3,1]>(k2_{n})
v0_{n} = MatMul({x}, wv)  v1_{n} = Add(v0_{n}, b)  v2_{n} = Reshape(v1_{n}, split)
v_{n} = Transpose<perm=[0,2,1,3]>(v2_{n})
s_{n} = MatMul(q_{n}, k_{n})  m_{n} = Add(s_{n}, mask)  p_{n} = Softmax<axis=-1>(m_{n})  o_{n} = MatMul(p_{n}, v_{n})
t_{n} = Transpose<perm=[0,2,1,3]>(o_{n})  u_{n} = Reshape(t_{n}, merge)  r_{n} = Add({x}, u_{n})
l_{n} = LayerNormalization(r_{n}, b, b)  f_{n} = MatMul(l_{n}, up)  g_{n} = Gelu(f_{n})  h_{n} = MatMul(g_{n}, down)
x_{n} = Add(h_{n}, l_{n})
"""


def transformer(layers: int) -> onnx.ModelProto:
    """Return a transformer of layers with 24 nodes, over a batch B and a length S."""
    body = "".join(LAYER.format(n=n, x=f"x_{n - 1}" if n else "x") for n in range(layers))
    text = f"""<ir_version: 9, opset_import: ["" : 20]>
    g (float[B, S, {WIDTH}] x, float[B, 1, S, S] mask) => (float[B, S, {WIDTH}] x_{layers - 1}) {{ {body} }}"""
    model = onnx.parser.parse_model(text)
    sizes = {"wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "b": (WIDTH,)}
    sizes |= {"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    for name, dims in sizes.items():
        zeros = np.zeros(dims, np.float32).tobytes()
        model.graph.initializer.append(helper.make_tensor(name, TensorProto.FLOAT, dims, zeros, raw=True))
    for name, items in {"split": [0, 0, HEADS, WIDTH // HEADS], "merge": [0, 0, WIDTH]}.items():
        model.graph.initializer.append(helper.make_tensor(name, TensorProto.INT64, [len(items)], items))
    return model


def by_symbcast(layers: int) -> Callable[[], Any]:
    model = transformer(layers)
    return lambda: sb.onnx.check(model, runtime="onnxruntime").condition


def by_onnx(layers: int) -> Callable[[], Any]:
    model = transformer(layers)
    return lambda: onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


def by_onnxruntime(layers: int) -> Callable[[], Any]:
    from onnxruntime.tools import symbolic_shape_infer as tool

    model = transformer(layers)
    return lambda: tool.SymbolicShapeInference.infer_shapes(model, auto_merge=True)


def by_fake_tensors(layers: int) -> Callable[[], Any]:
    import torch
    from torch._subclasses import fake_tensor as modes
    from torch.fx.experimental import symbolic_shapes as shapes

    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, activation="gelu", batch_first=True).train()
    net = torch.nn.ModuleList([layer] * layers)

    def run() -> None:
        with modes.FakeTensorMode(shape_env=shapes.ShapeEnv(), allow_non_fake_inputs=True) as mode:
            x = mode.from_tensor(torch.zeros(3, 5, WIDTH))
            for one in net:
                x = one(x)

    return run


ASKED: dict[str, Callable[[int], Callable[[], Any]]] = {
    "symbcast": by_symbcast,
    "onnx": by_onnx,
    "onnxruntime": by_onnxruntime,
    "torch": by_fake_tensors,
}
