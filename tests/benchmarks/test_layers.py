"""Models of repeated layers: CPU time a node, how it grows, and others on the same transformer in the same run.

python -m pytest tests/benchmarks/test_layers.py --benchmark-enable --benchmark-columns=median,rounds

The groups are named after the number of nodes; ``extra_info`` has microseconds a node. Others give shapes alone: onnx's
C++ inference (which has no condition), ONNX Runtime's symbolic shape tool, and torch's fake tensors on PyTorch's own
transformer, whose nodes are its operators.
"""

from __future__ import annotations

import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import symbcast as sb

LAYERS = {24: 1, 288: 12, 4_608: 192}
"""The number of layers by the number of nodes."""
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


def by_symbcast(layers):
    model = transformer(layers)
    return lambda: sb.onnx.check(model, runtime="onnxruntime").condition


def by_onnx(layers):
    model = transformer(layers)
    return lambda: onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


def by_onnxruntime(layers):
    tool = pytest.importorskip("onnxruntime.tools.symbolic_shape_infer")
    model = transformer(layers)
    return lambda: tool.SymbolicShapeInference.infer_shapes(model, auto_merge=True)


def by_fake_tensors(layers):
    torch = pytest.importorskip("torch")
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, activation="gelu", batch_first=True).train()
    net, modes = torch.nn.ModuleList([layer] * layers), pytest.importorskip("torch._subclasses.fake_tensor")
    shapes = pytest.importorskip("torch.fx.experimental.symbolic_shapes")

    def run():
        with modes.FakeTensorMode(shape_env=shapes.ShapeEnv(), allow_non_fake_inputs=True) as mode:
            x = mode.from_tensor(torch.zeros(3, 5, WIDTH))
            for one in net:
                x = one(x)

    return run


ASKED = {"symbcast": by_symbcast, "onnx": by_onnx, "onnxruntime": by_onnxruntime, "torch": by_fake_tensors}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("nodes", LAYERS)
def test_transformers(nodes, asked, benchmark):
    if not benchmark.enabled and (asked != "symbcast" or nodes > 288):
        pytest.skip("others and large models are asked with --benchmark-enable")
    if asked in {"onnxruntime", "torch"} and nodes > 288:
        pytest.skip(f"takes {asked} minutes")
    run = ASKED[asked](LAYERS[nodes])
    run()
    benchmark.group = f"{nodes} nodes"
    benchmark.pedantic(run, rounds=5 if benchmark.enabled else 1, warmup_rounds=0)
    start = time.process_time()
    run()
    benchmark.extra_info["microseconds a node"] = (time.process_time() - start) / nodes * 1e6


def test_the_transformer_runs_at_all_sizes():
    report = sb.onnx.check(transformer(2), runtime="onnxruntime")
    assert report.verdict is sb.Verdict.ALWAYS
    assert report.shapes["x_1"] == sb.shape("B, S, 8")
