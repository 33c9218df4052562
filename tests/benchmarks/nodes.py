"""CPU time a node of whole models: real ONNX models, and a repeated layer in each format.

A model is checked with its condition, the best of three after one that loads the modules; a row over several models has
the median. `benchmarks.speeds` prints them: ``PYTHONPATH=tests:tests/support python -m benchmarks.speeds ONNX``.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import onnx

import symbcast as sb
from benchmarks.layers import ASKED, NODES, transformer

FOLDER = Path(__file__).parents[1] / "data" / "onnx" / "models"
ROUNDS = 3
LAYERS, MANY_LAYERS = 12, 192


def microseconds(check: Callable[[], Any], nodes: int) -> float:
    """Return the CPU time of a check, for each node."""
    check()
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        check()
        best = min(best, time.process_time() - start)
    return best / nodes * 1e6


def real_models(runtime: Any) -> float:
    """Return the median of the real models in the tests."""
    models = [onnx.load_model_from_string(gzip.decompress(p.read_bytes())) for p in sorted(FOLDER.glob("*.onnx.gz"))]
    found = [(lambda m=m: sb.onnx.check(m, runtime=runtime).condition, len(m.graph.node)) for m in models]
    return median(microseconds(check, nodes) for check, nodes in found)


def onnx_layers(asked: str, layers: int) -> float:
    return microseconds(ASKED[asked](layers), layers * NODES)


def by_specification() -> float:
    model = transformer(LAYERS)
    return microseconds(lambda: sb.onnx.check(model, runtime="spec").condition, len(model.graph.node))


def openvino_layers(are_shared: bool) -> float:
    """Return the time for the IR of the transformer; conversion makes each size one of its own, unless shared again."""
    import openvino as ov

    with TemporaryDirectory() as folder:
        path = f"{folder}/layers.onnx"
        onnx.save(transformer(LAYERS), path)
        model = ov.Core().read_model(path)
        if are_shared:
            batch, length = ov.Dimension(), ov.Dimension()
            batch.set_symbol(ov.Symbol())
            length.set_symbol(ov.Symbol())
            x, mask = model.get_parameters()
            x.set_partial_shape(ov.PartialShape([batch, length, x.get_output_partial_shape(0)[2]]))
            mask.set_partial_shape(ov.PartialShape([batch, 1, length, length]))
            model.validate_nodes_and_infer_types()
        return microseconds(lambda: sb.openvino.check(model).condition, len(model.get_ordered_ops()))


def torch_layers() -> float:
    import torch

    layer = torch.nn.TransformerEncoderLayer(8, 2, 32, dropout=0.0, activation="gelu", batch_first=True).train()
    sizes = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},)
    net = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    program = torch.export.export(net, (torch.zeros(3, 5, 8),), dynamic_shapes=sizes)
    return microseconds(lambda: sb.torch.check(program).condition, len(program.graph.nodes))


def stablehlo_layers() -> float:
    import jax
    import jax.numpy as jnp

    def layers(x: Any) -> Any:
        for _ in range(LAYERS):
            x = x + jax.nn.gelu(x @ jnp.ones((8, 32))) @ jnp.ones((32, 8))
            x = (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) ** 0.5
        return x

    given = jax.ShapeDtypeStruct(jax.export.symbolic_shape("B, S, 8"), jnp.float32)
    text = jax.export.export(jax.jit(layers))(given).mlir_module()
    return microseconds(lambda: sb.stablehlo.check(text).condition, text.count(" = "))


FEW = "ONNX, a transformer of 288 nodes, ONNX Runtime"
MANY = "ONNX, a transformer of 4,608 nodes, ONNX Runtime"
ROWS: dict[str, Callable[[], float]] = {
    "ONNX, real models, ONNX Runtime": lambda: real_models("onnxruntime"),
    "ONNX, real models, specification": lambda: real_models("spec"),
    FEW: partial(onnx_layers, "symbcast", LAYERS),
    f"{FEW}, by onnx": partial(onnx_layers, "onnx", LAYERS),
    f"{FEW}, by onnxruntime's tool": partial(onnx_layers, "onnxruntime", LAYERS),
    f"{FEW}, by torch's fake tensors": partial(onnx_layers, "torch", LAYERS),
    "ONNX, a transformer of 288 nodes, specification": by_specification,
    MANY: partial(onnx_layers, "symbcast", MANY_LAYERS),
    f"{MANY}, by onnx": partial(onnx_layers, "onnx", MANY_LAYERS),
    "OpenVINO IR of the transformer of 288 nodes": partial(openvino_layers, False),
    "OpenVINO IR of it, with the sizes of the ONNX model": partial(openvino_layers, True),
    "torch, exported encoder of 12 layers": torch_layers,
    "StableHLO, 12 layers": stablehlo_layers,
}
