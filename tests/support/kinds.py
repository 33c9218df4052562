"""An answer of each kind, about the same sum where that is possible."""

import numpy as np
import pytest

import symbcast as sb

MODEL = '<ir_version: 9, opset_import: ["" : 18]> g (float[N, 3] a, float[M, 1] b) => (float[P, Q] y) { y = Add(a, b) }'


def program():
    env = sb.ShapeEnv()
    env.broadcast("N, 3", "M, 1", origin="add")
    return env


def model():
    onnx = pytest.importorskip("onnx")
    return sb.onnx.check(onnx.parser.parse_model(MODEL))


def openvino_model():
    ov = pytest.importorskip("openvino")
    op = pytest.importorskip("openvino.opset13")
    a, b = (
        op.parameter(ov.PartialShape(list(dims)), np.float32, name=name)
        for dims, name in (((-1, 3), "a"), ((-1, 1), "b"))
    )
    return sb.openvino.check(ov.Model([op.add(a, b)], [a, b]))


def exported():
    torch = pytest.importorskip("torch")

    class Add(torch.nn.Module):
        def forward(self, a, b):
            return a + b

    sizes = {0: torch.export.Dim.AUTO}
    arrays = torch.ones(4, 3), torch.ones(4, 1)
    return sb.torch.check(torch.export.export(Add(), arrays, dynamic_shapes=(sizes, sizes)))


def stablehlo_module():
    pytest.importorskip("jaxlib.mlir")
    return sb.stablehlo.check("""
        func.func @main(%a: tensor<?x3xf32>, %b: tensor<?x1xf32>) -> tensor<?x?xf32> {
          %sum = chlo.broadcast_add %a, %b : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
          return %sum : tensor<?x?xf32>
        }
    """)


def jax_function():
    jnp = pytest.importorskip("jax.numpy")
    return sb.jax.trace(jnp.add, "N, 3", "M, 1")


ANSWERS = {
    "broadcast": lambda: sb.broadcast("N, 3", "M, 1"),
    "program": program,
    "model": model,
    "function": lambda: sb.trace(np.add, "N, 3", "M, 1"),
    "paths": lambda: sb.explore_paths(lambda sizes: sizes[0] // 2, "N"),
    "solution": lambda: sb.solve("N, 3", "M, 1", out="K, 3"),
    "openvino model": openvino_model,
    "exported program": exported,
    "jax function": jax_function,
    "stablehlo module": stablehlo_module,
}
